//! What defining large functions takes: `cargo xtask bench compile` runs it.
//!
//! First ordinary functions of several lengths, then programs that are large in some way;
//! `ordinary` as an argument stops after the first, other words choose among the second; one that
//! ends with `.py` is the path of a module, whose function `f` takes a text and returns an int.
//! For each program: the work in units, where the function runs and why not natively, and
//! the seconds for arguments with NULL and without.

use arrow::datatypes::DataType;
use exuvia_engine::{Function, Rung, Settings};
use exuvia_testing::large::{self, Large};
use std::time::Instant;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What defining a function takes, and what was defined.
fn timed(program: &Large, strict: bool) -> (anyhow::Result<Function>, f64) {
    let start = Instant::now();
    (program.define(strict), start.elapsed().as_secs_f64())
}

/// The times of functions as people write them, of some lengths.
fn ordinary() {
    println!(
        "| lines | functions | native | ms, median | ms, 95 of 100 | steps | ns a step, with optimising and compiling |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let settings = Settings::default();
    for (length, count) in [(50, 100), (300, 40), (1000, 20)] {
        let (mut times, mut native, mut steps) = (Vec::new(), 0, 0);
        for seed in 0..count {
            let (defined, seconds) = timed(&large::ordinary(length, seed), false);
            if let Ok(function) = defined {
                native += usize::from(function.placement(&settings).rung == Rung::Native);
                steps += function.work(&settings).steps;
            }
            times.push(seconds * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let sum: f64 = times.iter().sum();
        let at = |part: f64| times[((times.len() as f64 * part) as usize).min(times.len() - 1)];
        let each = sum * 1e6 / steps.max(1) as f64;
        println!("| {length} | {count} | {native} | {:.1} | {:.1} | {steps} | {each:.0} |", at(0.5), at(0.95));
    }
    println!();
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() || wanted == ["ordinary"] {
        ordinary();
    }
    if wanted == ["ordinary"] {
        return;
    }
    println!("| | steps of lifting | lifted | optimised | native | rung | s | s, STRICT |");
    println!("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |");
    let (files, wanted): (Vec<String>, Vec<String>) = wanted.into_iter().partition(|word| word.ends_with(".py"));
    let files = files.into_iter().map(|path| {
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Large { name: path.leak(), param: DataType::Utf8, returns: DataType::Int64, source }
    });
    let files: Vec<Large> = files.collect();
    let is_wanted = |program: &Large| match wanted.is_empty() {
        true => files.is_empty(),
        false => wanted.iter().any(|word| program.name.contains(word.as_str())),
    };
    let programs = large::programs();
    for program in programs.iter().filter(|program| is_wanted(program)).chain(&files) {
        let (defined, seconds) = timed(program, false);
        let (_, strict) = timed(program, true);
        let line = match defined {
            Ok(function) => {
                let settings = Settings::default();
                let (work, placement) = (function.work(&settings), function.placement(&settings));
                let rung = match placement.rung {
                    Rung::Native => "native".to_string(),
                    rung => format!("{rung:?}: {}", placement.reason.map_or(String::new(), |(code, _)| code)),
                };
                format!("{} | {} | {} | {} | {rung}", work.steps, work.lifted, work.optimized, work.instructions)
            }
            Err(error) => format!("| | | | {error}"),
        };
        println!("| {} | {line} | {seconds:.2} | {strict:.2} |", program.name);
    }
}
