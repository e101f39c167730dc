//! Results of contenders compared with those of a loop in CPython.

use super::measure::{Contender, Processes, Side};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::path::Path;

/// Rows in which a query written by hand differs: what, by, rows, example.
pub(super) type Difference = (String, String, u64, String);

/// What comparisons found.
#[derive(Default)]
pub(super) struct Comparison {
    differences: Vec<Difference>,
    wrong: Vec<String>,
}

impl Comparison {
    /// Compares every contender's result with the CPython loop's; `saved` is where the Rust
    /// side writes its own.
    ///
    /// # Errors
    /// If a process ends.
    pub(super) fn add(
        &mut self,
        processes: &mut Processes,
        saved: &Path,
        what: &str,
        contenders: &[Contender],
    ) -> Result<()> {
        for contender in contenders {
            let request = match contender.side {
                Side::Python => json!({"what": what, "by": contender.name, "compare": null}),
                Side::Rust => {
                    let request = json!({"what": what, "by": contender.name, "save": saved});
                    let answer = processes.rust.ask(&request)?;
                    if let Some(error) = answer.get("error").and_then(Value::as_str) {
                        self.wrong.push(format!("{what} by {}: {error}", contender.title));
                        continue;
                    }
                    json!({"what": what, "by": null, "compare": saved})
                }
            };
            let answer = processes.python.ask(&request)?;
            let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
            match answer.get("differ").and_then(Value::as_u64) {
                Some(0) => {}
                Some(rows) if contender.title.ends_with("by hand") && contender.name != "rust" => {
                    self.differences.push((what.to_string(), contender.title.to_string(), rows, text("example")));
                }
                Some(rows) => {
                    self.wrong.push(format!("{what} by {}: {rows} rows, {}", contender.title, text("example")));
                }
                // Numba may fail to compile; everything else runs.
                None if contender.name == "numba" => {}
                None => self.wrong.push(format!("{what} by {}: {}", contender.title, text("error"))),
            }
        }
        Ok(())
    }

    /// SQL that people rewrite by hand may differ in corners of Python, which is told.
    ///
    /// # Errors
    /// If anybody else differs or fails.
    pub(super) fn end(self) -> Result<Vec<Difference>> {
        for (what, by, rows, example) in &self.differences {
            println!("{what} by {by} differs in {rows} rows: {example}");
        }
        if !self.wrong.is_empty() {
            bail!("results differ from CPython's:\n{}", self.wrong.join("\n"));
        }
        Ok(self.differences)
    }
}

/// A line of a page for each.
pub(super) fn lines(differences: &[Difference]) -> impl Iterator<Item = String> {
    differences.iter().map(|(what, by, rows, example)| {
        format!("- {what}, {by}: differs from CPython in {rows} of the rows compared; {example}")
    })
}
