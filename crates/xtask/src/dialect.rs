//! Whether the dialect that counts (`crates/datafusion/src/statements/parsing.rs`) passes on every question that
//! sqlparser's trait knows: one that it missed would be answered for a dialect of its own.

use crate::cargo;
use anyhow::{Context, bail};
use serde_json::Value as Json;
use std::path::Path;

/// Checks the list against the source of the version that the workspace uses.
///
/// # Errors
/// The methods that are missing.
pub fn check() -> anyhow::Result<()> {
    let output = cargo().args(["metadata", "--format-version=1"]).output()?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Json = serde_json::from_slice(&output.stdout)?;
    let packages = metadata.get("packages").and_then(Json::as_array).context("not metadata")?;
    let text = |package: &Json, key: &str| package.get(key).and_then(Json::as_str).unwrap_or_default().to_string();
    let sqlparser = packages.iter().find(|package| text(package, "name") == "sqlparser").context("no sqlparser")?;
    let manifest = text(sqlparser, "manifest_path");
    let folder = Path::new(&manifest).parent().context("a manifest in no folder")?;
    let of_trait = std::fs::read_to_string(folder.join("src/dialect/mod.rs"))?;
    let root = metadata.get("workspace_root").and_then(Json::as_str).context("not metadata")?;
    let ours = std::fs::read_to_string(Path::new(root).join("crates/datafusion/src/statements/parsing.rs"))?;
    let missing = missing(&of_trait, &ours)?;
    if !missing.is_empty() {
        bail!("crates/datafusion/src/statements/parsing.rs does not pass on: {}", missing.join(", "));
    }
    Ok(())
}

/// The methods of the trait that the list lacks.
fn missing(of_trait: &str, ours: &str) -> anyhow::Result<Vec<String>> {
    let start = of_trait.find("pub trait Dialect").context("no trait")?;
    let body = of_trait[start..].split("\n}\n").next().context("no end of the trait")?;
    let (_, list) = ours.split_once("forward! {\n").context("no list")?;
    let has = |method: &&str| list.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == *method);
    let methods: Vec<&str> =
        body.lines().filter_map(|line| line.strip_prefix("    fn ")?.split(['(', '<']).next()).collect();
    if methods.len() < 100 {
        bail!("the trait Dialect has {} methods only: is it read aright?", methods.len());
    }
    Ok(methods.into_iter().filter(|method| !has(method)).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_passed_on() {
        check().expect("all methods");
    }

    #[test]
    fn a_new_question_is_found() {
        let methods: String = (0..100).map(|at| format!("    fn m{at}(&self) -> bool {{\n    }}\n")).collect();
        let of_trait = format!("pub trait Dialect {{\n{methods}\n}}\n");
        let ours: String = (0..99).map(|at| format!("m{at} ")).collect();
        let found = missing(&of_trait, &format!("forward! {{\n{ours}")).expect("a list");
        assert_eq!(found, ["m99"]);
    }
}
