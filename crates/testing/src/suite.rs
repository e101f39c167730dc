//! Runs many cases on several threads and counts.

use crate::case::Case;
use crate::check::{Counts, Difference, check, expect};
use crate::oracle::Oracle;
use crate::panic::catch;
use crate::variation::Variation;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run of cases gave.
#[derive(Debug, Default)]
pub struct Results {
    /// How many cases agree in everything.
    pub passed: usize,
    /// The cases that do not, with what was found or why they could not be run.
    pub failed: Vec<(Case, Result<Vec<Difference>, String>)>,
    /// Rows.
    pub counts: Counts,
    /// Cases with a difference, by variation.
    pub by_variation: BTreeMap<&'static str, usize>,
}

/// Runs cases; `tell` hears of each failure at once.
///
/// # Errors
/// Where the oracle cannot be started.
pub fn run(
    cases: &[Case],
    variations: &[Variation],
    tell: impl Fn(&Case, &Result<Vec<Difference>, String>) + Sync,
) -> anyhow::Result<Results> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(cases.len()).max(1);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Results::default());
    let oracles = (0..threads).map(|_| Oracle::start()).collect::<anyhow::Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for mut oracle in oracles {
            let (next, results, tell) = (&next, &results, &tell);
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut counts = Counts::default();
                    let found = one(case, &mut oracle, variations, &mut counts);
                    let Ok(mut results) = results.lock() else { return };
                    results.counts.rows += counts.rows;
                    results.counts.native_rows += counts.native_rows;
                    results.counts.evaluated_rows += counts.evaluated_rows;
                    results.counts.device_functions += counts.device_functions;
                    results.counts.given_rows += counts.given_rows;
                    results.counts.device_rows += counts.device_rows;
                    match found {
                        Ok(differences) if differences.is_empty() => results.passed += 1,
                        found => {
                            tell(case, &found);
                            for difference in found.iter().flatten() {
                                *results.by_variation.entry(difference.variation.name()).or_default() += 1;
                            }
                            results.failed.push((case.clone(), found));
                        }
                    }
                }
            });
        }
    });
    results.into_inner().map_err(|_| anyhow::anyhow!("a thread of the harness panicked"))
}

fn one(
    case: &Case,
    oracle: &mut Oracle,
    variations: &[Variation],
    counts: &mut Counts,
) -> Result<Vec<Difference>, String> {
    let expected = match expect(case, oracle) {
        Ok(expected) => expected,
        Err(error) => {
            // The process may have died of this case; the next one needs another.
            if let Ok(fresh) = Oracle::start() {
                *oracle = fresh;
            }
            return Err(format!("{error:#}"));
        }
    };
    let variations = Variation::of(&case.name(), variations);
    catch(|| check(case, &expected, &variations, counts))
}
