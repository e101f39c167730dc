//! Runs the case files of `tests/cases`.
//!
//! `cargo test -p exuvia-testing --test cases -- FILTER` runs those whose file or heading
//! contains a filter. `EXUVIA_CASES` names another file or folder, `EXUVIA_ONLY` the
//! variations (`native,evaluator,unoptimized,python,guards,no-compiler,no-interpreter`, or `all`; else a case
//! takes some of them),
//! `EXUVIA_SHARE=4` runs every fourth case,
//! `EXUVIA_DUMP=lifted,optimized` the stages to print for cases that fail,
//! `--oracle` prints what CPython gives without running anything here, `--brief` prints
//! one line for each failure.

use exuvia_engine::{Definition, Function, Interpreter, OnError, Parameter, Settings};
use exuvia_testing::case::{self, Case};
use exuvia_testing::{check, oracle::Oracle, pins, report, suite, value::Value, variation::Variation};
use std::process::ExitCode;

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

fn run() -> anyhow::Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let filters: Vec<String> = arguments.iter().filter(|a| !a.starts_with('-')).map(|a| a.to_lowercase()).collect();
    let folder = match std::env::var("EXUVIA_CASES") {
        Ok(path) => std::env::current_dir()?.join(path),
        Err(_) => case::root().join("tests/cases"),
    };
    let all = case::load(&folder)?;
    let share = std::env::var("EXUVIA_SHARE").ok().and_then(|share| share.parse().ok()).unwrap_or(1);
    let chosen: Vec<Case> = all
        .iter()
        .step_by(std::cmp::max(share, 1))
        .filter(|case| filters.is_empty() || filters.iter().any(|filter| case.name().to_lowercase().contains(filter)))
        .cloned()
        .collect();
    if has("--list") {
        chosen.iter().for_each(|case| println!("{}: test", case.name()));
        return Ok(true);
    }
    if has("--oracle") {
        return show_expected(&chosen).map(|()| true);
    }
    let everything = filters.is_empty() && share == 1 && std::env::var("EXUVIA_CASES").is_err();

    // The panics of a case are caught and reported with it.
    exuvia_testing::panic::silence();
    println!("\nrunning {} cases", chosen.len());
    let variations = Variation::chosen();
    let results = suite::run(&chosen, &variations, |case, found| match found {
        Ok(differences) if has("--brief") => {
            let first = &differences[0];
            let which: Vec<&str> = differences.iter().map(|difference| difference.variation.name()).collect();
            let text: Vec<&str> = first.text.split_whitespace().collect();
            let line: String = text.join(" ").chars().take(200).collect();
            println!("FAILED {} [{}] {line}", case.name(), which.join(","));
        }
        Ok(differences) => println!("{}{}", report::failure(case, differences), dumps(case)),
        Err(error) => println!("FAILED {} (tests/cases/{}.md, line {})\n  {error}", case.name(), case.file, case.line),
    })?;
    let counts = results.counts;
    println!(
        "{} comparisons; of {} native rows {} left native code",
        counts.rows, counts.native_rows, counts.evaluated_rows
    );
    if counts.device_functions > 0 {
        println!(
            "{} functions on a device; of {} rows it kept {}",
            counts.device_functions, counts.given_rows, counts.device_rows
        );
    }
    if !results.by_variation.is_empty() {
        println!("failed by variation: {:?}", results.by_variation);
    }
    let mut right = results.failed.is_empty();
    if everything && let Err(error) = pins::check(&all) {
        println!("{error:#}");
        right = false;
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out\n",
        if right { "ok" } else { "FAILED" },
        results.passed,
        results.failed.len(),
        all.len() - chosen.len()
    );
    Ok(right)
}

/// The stages that `EXUVIA_DUMP` names.
fn dumps(case: &Case) -> String {
    let Ok(stages) = std::env::var("EXUVIA_DUMP") else { return String::new() };
    let settings = Settings::default();
    let definition = Definition {
        name: case.signature.name.clone(),
        params: case
            .signature
            .params
            .iter()
            .map(|(name, ty)| Parameter { name: name.clone(), ty: ty.arrow() })
            .collect(),
        returns: case.signature.returns.arrow(),
        source: case.source.clone(),
        handler: case.handler.clone(),
        first_line: 1,
        strict: case.strict,
        volatility: None,
        on_error: OnError::Raise,
        interpreter: Interpreter::Auto,
        timeout: None,
        models: vec![],
        columns: vec![],
        whole: false,
    };
    let stage = |stage: &str| match Function::define(definition.clone(), &settings) {
        Ok(function) => function.dump(stage, &settings).unwrap_or_else(|error| error),
        Err(error) => error.to_string(),
    };
    stages.split(',').map(|name| format!("--- {name}\n{}\n", stage(name))).collect()
}

/// Prints what CPython gives for each row.
fn show_expected(cases: &[Case]) -> anyhow::Result<()> {
    let mut oracle = Oracle::start()?;
    let mut failed = 0;
    for case in cases {
        println!("{} `{}`", case.name(), case.signature.show());
        match check::expect(case, &mut oracle) {
            Ok(expected) => {
                for (row, (answer, shown)) in expected.rows.iter().zip(expected.answers.iter().zip(&expected.shown)) {
                    let args: Vec<String> = row.iter().map(Value::show).collect();
                    let bad = matches!(answer, check::Answer::BadResult(_));
                    println!("  ({}) -> {shown}{}", args.join(", "), if bad { "   OUTSIDE THE TYPE" } else { "" });
                }
            }
            Err(error) => {
                failed += 1;
                println!("  {error:#}");
                oracle = Oracle::start()?;
            }
        }
    }
    println!("{} cases, {failed} refused", cases.len());
    Ok(())
}
