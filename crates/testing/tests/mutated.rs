//! Runs changed cases on every rung against CPython; see [`exuvia_testing::seeds`].
//!
//! `EXUVIA_SHOW=1` prints the programs.

use anyhow::bail;
use exuvia_engine::Rung;
use exuvia_testing::case::{Case, Inputs, load, root};
use exuvia_testing::check::{Counts, check, expect, rung};
use exuvia_testing::mutate::mutate;
use exuvia_testing::oracle::Oracle;
use exuvia_testing::random::Random;
use exuvia_testing::seeds::{self, Seeds};
use exuvia_testing::variation::Variation;
use exuvia_testing::{corpus, report};
use std::process::ExitCode;
use std::time::Duration;

/// Why CREATE FUNCTION refuses what CPython takes.
const REFUSALS: &[&str] = &["which gives rows", "the SQL signature has", "parameter of the SQL signature"];

/// Rows of a program.
const ROWS: usize = 32;

fn main() -> ExitCode {
    let cases = match load(&root().join("tests/cases")) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let variations = Variation::chosen();
    seeds::main(Seeds { name: "mutated", share: 400, native: 82 }, |seed, oracle| {
        oracle.limit = Duration::from_millis(200);
        one(seed, &cases, oracle, &variations)
    })
}

/// Runs one program. `None`: CPython refuses it, and so does CREATE FUNCTION.
fn one(seed: u64, cases: &[Case], oracle: &mut Oracle, variations: &[Variation]) -> anyhow::Result<Option<Rung>> {
    let mut random = Random::new(seed);
    // Neighbouring seeds differ in few bits.
    random.next_u64();
    let mut case = random.pick(cases).clone();
    case.source = mutate(&case.source, &mut random);
    let mut rows = match &case.inputs {
        Inputs::Rows(rows) => rows.clone(),
        Inputs::Generated(corpora) => corpus::rows(&case.signature, corpora, &case.name())?,
    };
    random.shuffle(&mut rows);
    rows.truncate(ROWS);
    case.inputs = Inputs::Rows(rows.clone());
    case.rung = Rung::Native;
    if std::env::var_os("EXUVIA_SHOW").is_some() {
        println!("# seed {seed}\n{}", case.show(&rows));
    }
    let expected = match expect(&case, oracle) {
        Ok(expected) => expected,
        Err(refusal) => {
            let refusal = format!("{refusal:#}");
            let Some(reason) = refusal.strip_prefix("CPython refuses the function: ") else { bail!(refusal) };
            return match rung(&case) {
                // What a module's body does may be seen at the first call; of its statements that are
                // not lifted only CPython knows whether they raise.
                Ok((placed, _))
                    if (placed == Rung::Python || !cfg!(feature = "python")) && !reason.starts_with("SyntaxError") =>
                {
                    Ok(None)
                }
                Ok(_) => bail!("accepted, where CPython has {reason}\n{}", case.show(&rows)),
                Err(_) => Ok(None),
            };
        }
    };
    let placed = match rung(&case) {
        Ok((placed, _)) => placed,
        // What SQL's signature does not fit is a function to CPython.
        Err(refusal) if REFUSALS.iter().any(|reason| refusal.contains(reason)) => return Ok(None),
        Err(refusal) => bail!("{refusal}\n{}", case.show(&rows)),
    };
    if placed == Rung::Python {
        return Ok(Some(placed));
    }
    case.rung = placed;
    let mut differences = check(&case, &expected, variations, &mut Counts::default());
    // Where every call stays one, what is lifted by unfolding alone may not be.
    differences.retain(|found| found.variation != Variation::Calls || !found.text.starts_with("runs on rung python"));
    if differences.is_empty() { Ok(Some(placed)) } else { bail!(report::failure(&case, &differences)) }
}
