//! How many cases of each corpus are native: `tests/pins.json`.
//!
//! A case file says where its case runs, so a case that no longer lifts could be made to
//! pass by editing it; the pins make such a loss visible.

use crate::case::{Case, root};
use exuvia_engine::Rung;
use std::collections::BTreeMap;

/// Native cases by corpus, which is the folder of the case file.
#[must_use]
pub fn count(cases: &[Case]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for case in cases {
        let corpus = case.file.split('/').next().unwrap_or(&case.file);
        *counts.entry(corpus.to_string()).or_insert(0) += u64::from(case.rung == Rung::Native);
    }
    counts
}

/// Compares with the file, or rewrites it where `EXUVIA_PINS` is `write`.
///
/// # Errors
/// A corpus with fewer native cases than pinned, or a file that cannot be read.
pub fn check(cases: &[Case]) -> anyhow::Result<()> {
    let path = root().join("tests/pins.json");
    let counts = count(cases);
    if std::env::var("EXUVIA_PINS").is_ok_and(|value| value == "write") {
        std::fs::write(&path, serde_json::to_string_pretty(&counts)? + "\n")?;
        println!("wrote {}", path.display());
        return Ok(());
    }
    let pinned: BTreeMap<String, u64> = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    let mut grown = false;
    for (corpus, pin) in &pinned {
        let count = counts.get(corpus).copied().unwrap_or(0);
        anyhow::ensure!(
            count >= *pin,
            "only {count} cases of {corpus} are native, {pin} are pinned in tests/pins.json"
        );
        grown |= count > *pin;
    }
    if grown || counts.keys().any(|corpus| !pinned.contains_key(corpus)) {
        println!("more cases are native than tests/pins.json says: run `cargo xtask pins`");
    }
    Ok(())
}
