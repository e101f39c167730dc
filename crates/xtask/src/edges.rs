//! Which crate may depend on which: the architecture's table, checked over `cargo metadata`.
//!
//! Edges for tests only are not counted.

use crate::cargo;
use anyhow::{Context, bail};
use serde_json::Value as Json;

/// The crates of the project, each with those that it may use directly.
const EDGES: &[(&str, &[&str])] = &[
    ("exuvia-ir", &[]),
    ("exuvia-ops", &["exuvia-ir"]),
    ("exuvia-lift", &["exuvia-ir", "exuvia-ops"]),
    ("exuvia-opt", &["exuvia-ir", "exuvia-ops"]),
    ("exuvia-eval", &["exuvia-ir", "exuvia-ops"]),
    ("exuvia-jit", &["exuvia-ir", "exuvia-ops"]),
    ("exuvia-opencl", &["exuvia-ir", "exuvia-ops", "exuvia-jit"]),
    ("exuvia-cpython", &["exuvia-ir"]),
    (
        "exuvia-engine",
        &["exuvia-ir", "exuvia-ops", "exuvia-lift", "exuvia-opt", "exuvia-eval", "exuvia-jit", "exuvia-opencl"],
    ),
    ("exuvia", &["exuvia-engine"]),
    // Binaries name the interpreter's library so that Cargo builds it beside them; they
    // open it at run time.
    ("exuvia-cli", &["exuvia", "exuvia-datagen", "exuvia-cpython"]),
    ("exuvia-datagen", &[]),
    ("exuvia-bench", &["exuvia", "exuvia-datagen", "exuvia-cpython"]),
    ("exuvia-testing", &["exuvia-ir", "exuvia-ops", "exuvia-lift", "exuvia-engine", "exuvia-cpython"]),
    ("xtask", &["exuvia-ops", "exuvia-lift"]),
];

/// Dependencies that only some crates may have: each by the beginning of its name.
const FENCES: &[(&str, &[&str])] = &[
    ("cranelift", &["exuvia-jit"]),
    ("ruff_", &["exuvia-lift"]),
    ("pyo3", &["exuvia-cpython"]),
    ("ocl", &["exuvia-opencl"]),
    ("regex-", &["exuvia-ops"]),
    ("rayon", &["exuvia-ops"]),
    ("datafusion", &["exuvia", "exuvia-cli", "exuvia-bench"]),
    (
        "arrow",
        &[
            "exuvia-jit",
            "exuvia-opencl",
            "exuvia-cpython",
            "exuvia-engine",
            "exuvia",
            "exuvia-cli",
            "exuvia-datagen",
            "exuvia-bench",
            "exuvia-testing",
        ],
    ),
];

/// Checks the workspace.
///
/// # Errors
/// The edges that the table does not have.
pub fn check() -> anyhow::Result<()> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version=1"]).output()?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let wrong = violations(&serde_json::from_slice(&output.stdout)?)?;
    if !wrong.is_empty() {
        bail!("dependencies that the architecture does not have:\n  {}", wrong.join("\n  "));
    }
    Ok(())
}

fn violations(metadata: &Json) -> anyhow::Result<Vec<String>> {
    let list = |json: &Json, key: &str| json.get(key).and_then(Json::as_array).cloned().context("not metadata");
    let name = |json: &Json| json.get("name").and_then(Json::as_str).unwrap_or_default().to_string();
    let mut wrong = Vec::new();
    for package in list(metadata, "packages")? {
        let from = name(&package);
        let Some((_, allowed)) = EDGES.iter().find(|(crate_, _)| *crate_ == from) else {
            wrong.push(format!("{from}: the table does not know it"));
            continue;
        };
        for dependency in list(&package, "dependencies")? {
            if dependency.get("kind").and_then(Json::as_str) == Some("dev") {
                continue;
            }
            let to = name(&dependency);
            let ours = EDGES.iter().any(|(crate_, _)| *crate_ == to);
            let fenced =
                !ours && FENCES.iter().any(|(start, crates)| to.starts_with(start) && !crates.contains(&from.as_str()));
            if (ours && !allowed.contains(&to.as_str())) || fenced {
                wrong.push(format!("{from} -> {to}"));
            }
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_has_no_other_edges() {
        check().unwrap();
    }

    #[test]
    fn other_edges_are_found() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "exuvia-ir", "dependencies": [
                { "name": "exuvia-engine", "kind": "dev" },
                { "name": "exuvia-ops" },
                { "name": "pyo3" },
                { "name": "thiserror" },
            ]},
            { "name": "exuvia-extra", "dependencies": [] },
        ]});
        let wrong = violations(&metadata).unwrap();
        assert_eq!(wrong, ["exuvia-ir -> exuvia-ops", "exuvia-ir -> pyo3", "exuvia-extra: the table does not know it"]);
    }
}
