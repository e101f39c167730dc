//! Runs random typed functions on every rung against CPython.
//!
//! A fixed share runs in the tests. `EXUVIA_FUZZ_SECONDS=600` goes on with new seeds for
//! that long, `EXUVIA_SEED=17` runs one program, `EXUVIA_SHOW=1` prints the programs. A
//! failure is made smaller and printed as a case file.

use exuvia_engine::Rung;
use exuvia_testing::check::{Counts, check, expect, rung};
use exuvia_testing::oracle::Oracle;
use exuvia_testing::program::{Program, generate, shrink};
use exuvia_testing::report;
use exuvia_testing::variation::Variation;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Programs in a run of the tests.
const SHARE: u64 = 150;
/// Failures after which a run ends.
const ENOUGH: usize = 5;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn run() -> anyhow::Result<bool> {
    if std::env::args().any(|argument| argument == "--list") {
        println!("random: test");
        return Ok(true);
    }
    let end = number("EXUVIA_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (first, last) = match (number("EXUVIA_SEED"), end) {
        (Some(seed), _) => (seed, seed + 1),
        (None, Some(_)) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis() as u64;
            (now, u64::MAX)
        }
        (None, None) => (0, SHARE),
    };
    println!("\nrunning random programs from seed {first}");
    exuvia_testing::panic::silence();
    let variations = Variation::chosen();
    let next = AtomicU64::new(first);
    let (passed, failed, native) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min((last - first) as usize);
    let oracles = (0..threads).map(|_| Oracle::start()).collect::<anyhow::Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for mut oracle in oracles {
            let (next, passed, failed, native, variations) = (&next, &passed, &failed, &native, &variations);
            scope.spawn(move || {
                while failed.load(Ordering::Relaxed) < ENOUGH && end.is_none_or(|end| Instant::now() < end) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= last {
                        return;
                    }
                    let program = generate(seed);
                    if number("EXUVIA_SHOW").is_some() {
                        println!("# seed {seed}: {}\n{}", program.signature.show(), program.source());
                    }
                    match one(&program, seed, &mut oracle, variations) {
                        Ok((rung, reason)) => {
                            if rung != Rung::Native {
                                println!("seed {seed} is not native: {reason}");
                            }
                            native.fetch_add(usize::from(rung == Rung::Native), Ordering::Relaxed);
                            passed.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(text) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            println!("seed {seed}: {text}");
                        }
                    }
                }
            });
        }
    });
    let (passed, failed, native) = (passed.into_inner(), failed.into_inner(), native.into_inner());
    println!("{native} of {passed} programs native");
    println!(
        "\ntest result: {}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n",
        if failed == 0 { "ok" } else { "FAILED" }
    );
    Ok(failed == 0)
}

/// Runs one program; where it fails, the report on its smallest form.
fn one(program: &Program, seed: u64, oracle: &mut Oracle, variations: &[Variation]) -> Result<(Rung, String), String> {
    let heading = format!("Seed {seed}");
    let case = program.case(heading.clone(), Rung::Native);
    let expected = expect(&case, oracle).map_err(|error| {
        // The process may have died of it.
        if let Ok(fresh) = Oracle::start() {
            *oracle = fresh;
        }
        format!("{error:#}\n{}", case.source)
    })?;
    let (placed, reason) = rung(&case).map_err(|error| {
        let small = shrink(program.clone(), 2000, |program| {
            let case = program.case(heading.clone(), Rung::Native);
            rung(&case).is_err() && expect(&case, oracle).is_ok()
        });
        let case = small.case(heading.clone(), Rung::Native);
        let error = rung(&case).err().unwrap_or(error);
        format!("{error}\n{}", case.show(&small.rows))
    })?;
    let mut counts = Counts::default();
    let differences = check(&program.case(heading.clone(), placed), &expected, variations, &mut counts);
    let Some(first) = differences.first() else { return Ok((placed, reason)) };
    let variation = [first.variation];
    let small = shrink(program.clone(), 1500, |program| {
        let case = program.case(heading.clone(), Rung::Native);
        let Ok(expected) = expect(&case, oracle) else { return false };
        let Ok((placed, _)) = rung(&case) else { return false };
        !check(&program.case(heading.clone(), placed), &expected, &variation, &mut counts).is_empty()
    });
    let case = small.case(heading.clone(), Rung::Native);
    let shown = expect(&case, oracle).ok().and_then(|expected| {
        let (placed, _) = rung(&case).ok()?;
        let case = small.case(heading, placed);
        Some(report::failure(&case, &check(&case, &expected, variations, &mut counts)))
    });
    Err(shown.unwrap_or_else(|| report::failure(&case, &differences)))
}
