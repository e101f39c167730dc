//! Runs a test of one program a seed, on all processors.
//!
//! A fixed share runs in the tests. `EXUVIA_FUZZ_SECONDS=600` goes on with new seeds for
//! that long, `EXUVIA_SEED=17` runs one program.

use crate::oracle::Oracle;
use exuvia_engine::Rung;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Failures after which a run ends.
const ENOUGH: usize = 5;

/// What the programs of a test are.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// The name of the test.
    pub name: &'static str,
    /// How many programs run in the tests.
    pub share: u64,
    /// How many of a hundred that say something run natively, at least, and half of all say something: fewer
    /// show that tests lost their subject.
    pub native: usize,
}

/// A number in the environment.
#[must_use]
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs `one` for each seed as a test program does, with its output and exit status. It gives
/// the rung of a program that passed, `None` for one that says nothing, or what is wrong.
pub fn main(seeds: Seeds, one: impl Fn(u64, &mut Oracle) -> anyhow::Result<Option<Rung>> + Sync) -> ExitCode {
    match run(seeds, &one) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(seeds: Seeds, one: &(impl Fn(u64, &mut Oracle) -> anyhow::Result<Option<Rung>> + Sync)) -> anyhow::Result<bool> {
    if std::env::args().any(|argument| argument == "--list") {
        println!("{}: test", seeds.name);
        return Ok(true);
    }
    let end = number("EXUVIA_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (first, last) = match (number("EXUVIA_SEED"), end) {
        (Some(seed), _) => (seed, seed + 1),
        (None, Some(_)) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis() as u64;
            (now, u64::MAX)
        }
        (None, None) => (0, seeds.share),
    };
    println!("\nrunning {} programs from seed {first}", seeds.name);
    crate::panic::silence();
    let next = AtomicU64::new(first);
    let (passed, failed, native) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min((last - first) as usize);
    let oracles = (0..threads).map(|_| Oracle::start()).collect::<anyhow::Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for mut oracle in oracles {
            let (next, passed, failed, native) = (&next, &passed, &failed, &native);
            scope.spawn(move || {
                while failed.load(Ordering::Relaxed) < ENOUGH && end.is_none_or(|end| Instant::now() < end) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= last {
                        return;
                    }
                    match one(seed, &mut oracle) {
                        Ok(rung) => {
                            native.fetch_add(usize::from(rung == Some(Rung::Native)), Ordering::Relaxed);
                            passed.fetch_add(usize::from(rung.is_some()), Ordering::Relaxed);
                        }
                        Err(error) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            println!("seed {seed}: {error:#}");
                            // CPython may have died of it.
                            if let Ok(fresh) = Oracle::start() {
                                oracle = fresh;
                            }
                        }
                    }
                }
            });
        }
    });
    let (passed, failed, native) = (passed.into_inner(), failed.into_inner(), native.into_inner());
    println!("{native} of {passed} programs native");
    let whole = (first, last) == (0, seeds.share) && failed == 0;
    let few = native * 100 < seeds.native * passed || (passed as u64) * 2 < seeds.share;
    if whole && few {
        println!("{} of a hundred are expected, and half of all programs to say something", seeds.native);
    }
    let ok = failed == 0 && !(whole && few);
    println!(
        "\ntest result: {}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n",
        if ok { "ok" } else { "FAILED" }
    );
    Ok(ok)
}
