//! What a failing case prints: what differs, and a case file that shows it.

use crate::case::Case;
use crate::check::Difference;
use crate::value::Value;
use std::fmt::Write as _;

/// The text for a case with differences.
#[must_use]
pub fn failure(case: &Case, differences: &[Difference]) -> String {
    let mut text = format!("FAILED {} (tests/cases/{}.md, line {})\n", case.name(), case.file, case.line);
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for difference in differences {
        let _ = write!(text, "  {}", difference.variation.name());
        if let Some(row) = &difference.row {
            let args: Vec<String> = row.iter().map(Value::show).collect();
            let _ = write!(text, ", {} rows, ({})", difference.rows, args.join(", "));
            if !rows.iter().any(|other| other.iter().zip(row).all(|(a, b)| a.same(b))) {
                rows.push(row.clone());
            }
        }
        let _ = writeln!(text, "\n    {}", difference.text);
    }
    if !rows.is_empty() {
        let _ = writeln!(text, "{}", case.show(&rows));
    }
    text
}
