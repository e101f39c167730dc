//! What defining large functions takes: `cargo xtask bench compile` runs it.
//!
//! For each program: the work in units, where the function runs and why not natively, and
//! the seconds for arguments with NULL and without.

use exuvia_engine::{Rung, Settings};
use exuvia_testing::large;
use std::time::Instant;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("| | steps of lifting | lifted | optimised | native | rung | s | s, STRICT |");
    println!("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |");
    for program in large::programs() {
        if !wanted.is_empty() && !wanted.iter().any(|word| program.name.contains(word.as_str())) {
            continue;
        }
        let timed = |strict: bool| {
            let start = Instant::now();
            (program.define(strict), start.elapsed().as_secs_f64())
        };
        let (defined, seconds) = timed(false);
        let (_, strict) = timed(true);
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
