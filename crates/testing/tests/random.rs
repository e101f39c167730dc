//! Runs random typed functions on every rung against CPython; see [`exuvia_testing::seeds`].
//!
//! `EXUVIA_SHOW=1` prints the programs. A failure is made smaller and printed as a case file.

use anyhow::{Context, bail};
use exuvia_engine::Rung;
use exuvia_testing::check::{Counts, check, expect, rung};
use exuvia_testing::oracle::Oracle;
use exuvia_testing::program::{Program, generate, shrink};
use exuvia_testing::report;
use exuvia_testing::seeds::{self, Seeds};
use exuvia_testing::variation::Variation;
use std::process::ExitCode;

fn main() -> ExitCode {
    let variations = Variation::chosen();
    seeds::main(Seeds { name: "random", share: 150, native: 93 }, |seed, oracle| {
        let program = generate(seed);
        if std::env::var_os("EXUVIA_SHOW").is_some() {
            println!("# seed {seed}: {}\n{}", program.signature.show(), program.source());
        }
        one(&program, seed, oracle, &variations)
    })
}

/// Runs one program; where it fails, the report on its smallest form.
fn one(program: &Program, seed: u64, oracle: &mut Oracle, variations: &[Variation]) -> anyhow::Result<Option<Rung>> {
    let heading = format!("Seed {seed}");
    let case = program.case(heading.clone(), Rung::Native);
    let expected = expect(&case, oracle).with_context(|| case.source.clone())?;
    let placed = match rung(&case) {
        Ok((placed, reason)) => {
            if placed != Rung::Native {
                println!("seed {seed} is not native: {reason}");
            }
            placed
        }
        Err(error) => {
            let small = shrink(program.clone(), 2000, |program| {
                let case = program.case(heading.clone(), Rung::Native);
                rung(&case).is_err() && expect(&case, oracle).is_ok()
            });
            let case = small.case(heading.clone(), Rung::Native);
            bail!("{}\n{}", rung(&case).err().unwrap_or(error), case.show(&small.rows));
        }
    };
    let mut counts = Counts::default();
    let differences = check(&program.case(heading.clone(), placed), &expected, variations, &mut counts);
    let Some(first) = differences.first() else { return Ok(Some(placed)) };
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
    bail!(shown.unwrap_or_else(|| report::failure(&case, &differences)))
}
