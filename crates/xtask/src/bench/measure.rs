//! Rounds of measurements and what is said of them.

use super::process::Process;
use anyhow::Result;
use serde_json::{Value, json};

/// Who runs something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    /// The process of Rust.
    Rust,
    /// The process of Python.
    Python,
}

/// A contender: its name, its process, and how a report shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contender {
    /// Its name in requests.
    pub(super) name: &'static str,
    /// Its process.
    pub(super) side: Side,
    /// Its name for people.
    pub(super) title: &'static str,
}

/// What became of a contender.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// The seconds of its rounds.
    Times(Vec<f64>),
    /// Why it cannot.
    Fails(String),
}

impl Outcome {
    /// The median of the seconds.
    pub(super) fn median(&self) -> Option<f64> {
        match self {
            Outcome::Times(times) => median(times),
            Outcome::Fails(_) => None,
        }
    }

    /// Whether nobody wrote it for that contender.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Outcome::Fails(why) if why.starts_with("no hand-written "))
    }

    /// For the file of results.
    pub(super) fn json(&self) -> Value {
        match self {
            Outcome::Times(times) => json!({"median": median(times), "seconds": times}),
            Outcome::Fails(why) => json!({"fails": why}),
        }
    }
}

/// The two processes.
pub(super) struct Processes {
    /// Rust.
    pub(super) rust: Process,
    /// Python.
    pub(super) python: Process,
}

/// The seconds that a turn lasts at least. After those of the others, the caches know nothing of a contender:
/// what runs for milliseconds would be measured by how it starts, not by how it runs.
const TURN: f64 = 0.05;

/// How often a contender runs in a turn, where one run takes so many seconds; of more than one, the first warms it.
fn runs(seconds: f64) -> usize {
    if seconds < TURN { (TURN / seconds.max(1e-3)).ceil() as usize + 1 } else { 1 }
}

impl Processes {
    /// The process of a side.
    pub(super) fn of(&mut self, side: Side) -> &mut Process {
        match side {
            Side::Rust => &mut self.rust,
            Side::Python => &mut self.python,
        }
    }

    /// Warms the contenders and runs them in turn. Each round begins with the next
    /// contender, so that nobody always follows the same one; a turn lasts [`TURN`] at least.
    pub(super) fn rounds(&mut self, what: &str, contenders: &[Contender], rounds: usize) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        let mut warm = Vec::new();
        for contender in contenders {
            let first = self.of(contender.side).time(what, contender.name)?;
            warm.push(*first.as_ref().unwrap_or(&0.0));
            outcomes.push(match first {
                Ok(_) => Outcome::Times(vec![]),
                Err(why) => Outcome::Fails(why),
            });
        }
        for round in 0..rounds {
            for index in 0..contenders.len() {
                let index = (index + round) % contenders.len();
                let contender = contenders[index];
                // What takes seconds is not disturbed by milliseconds.
                if warm[index] > 4.0 && round >= 3 {
                    continue;
                }
                let Outcome::Times(times) = &mut outcomes[index] else { continue };
                match self.turn(what, contender, runs(warm[index]))? {
                    Ok(seconds) => times.push(seconds),
                    Err(why) => outcomes[index] = Outcome::Fails(why),
                }
            }
        }
        Ok(outcomes)
    }

    /// The seconds of a contender's turn: the median of its runs after the first, or that of its only one.
    fn turn(&mut self, what: &str, contender: Contender, runs: usize) -> Result<Result<f64, String>> {
        let mut seconds = Vec::with_capacity(runs);
        for _ in 0..runs {
            match self.of(contender.side).time(what, contender.name)? {
                Ok(taken) => seconds.push(taken),
                Err(why) => return Ok(Err(why)),
            }
        }
        let warmed = if runs > 1 { &seconds[1..] } else { &seconds };
        Ok(median(warmed).ok_or_else(|| "a turn without a run".to_string()))
    }
}

/// The median.
pub(super) fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The geometric mean.
pub(super) fn geometric_mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for number in numbers {
        sum += number.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / count as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::{geometric_mean, median, runs};

    #[test]
    fn a_turn_lasts() {
        assert_eq!(runs(3.0), 1);
        assert_eq!(runs(0.05), 1);
        assert_eq!(runs(0.02), 4);
        assert_eq!(runs(0.0), 51);
    }

    #[test]
    fn middle_and_mean() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert!(geometric_mean([2.0, 8.0]).is_some_and(|mean| (mean - 4.0).abs() < 1e-12));
        assert_eq!(geometric_mean([]), None);
    }
}
