//! `cargo xtask check`: everything that must hold before a change is merged.

use crate::{cargo, dialect, docs, edges, spread, succeed, test};
use anyhow::bail;

/// Checks, the quick ones first.
///
/// # Errors
/// What does not hold.
pub fn run() -> anyhow::Result<()> {
    succeed(cargo().args(["fmt", "--all", "--check"]))?;
    edges::check()?;
    dialect::check()?;
    spread::check()?;
    let stale = docs::stale()?;
    if !stale.is_empty() {
        bail!("run `cargo xtask docs`: {} not current", stale.join(", "));
    }
    // What only one set of features compiles is found here, not behind an hour of tests.
    for targets in [vec!["--all-targets"], test::without_default_features()] {
        succeed(cargo().args(["clippy", "--workspace"]).args(targets).args(["--", "-D", "warnings"]))?;
    }
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items"]).env("RUSTDOCFLAGS", "-D warnings");
    succeed(&mut doc)?;
    test::run(&[])
}
