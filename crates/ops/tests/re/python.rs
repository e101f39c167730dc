//! A CPython process that answers searches.

use crate::process::Process;
use serde_json::{Value, json};

/// A running CPython.
pub struct Python(Process);

/// What CPython makes of a pattern.
pub struct Answer {
    pub flags: u32,
    pub groups: usize,
    pub names: Vec<(String, usize)>,
    /// For each text what `search`, `match` and `fullmatch` found: offsets in characters.
    /// Empty where it took very long.
    pub found: Vec<[Option<Vec<i64>>; 3]>,
    /// For each text all matches from its beginning, one after the other.
    pub every: Vec<Vec<Vec<i64>>>,
}

impl Python {
    /// Starts the CPython that `EXUVIA_PYTHON` names, or `python3`; `None`, with a message,
    /// where it is not one of the semantic level.
    pub fn start() -> Option<Python> {
        Process::start(include_str!("answer.py")).map(Python)
    }

    fn ask(&mut self, question: &Value) -> Value {
        let reply = self.0.ask(&question.to_string());
        serde_json::from_str(&reply).unwrap_or_else(|_| panic!("{question}: {reply}"))
    }

    /// What it makes of a pattern, and finds in some texts from a character on; `None` for
    /// a pattern that it refuses or warns of.
    pub fn search(&mut self, pattern: &str, flags: u32, searches: &[(&str, usize)]) -> Option<Answer> {
        let reply = self.ask(&json!({ "pattern": pattern, "flags": flags, "searches": searches }));
        let spans = |found: &Value| found.as_array().map(|spans| spans.iter().map(|at| at.as_i64().unwrap()).collect());
        reply.as_object()?;
        Some(Answer {
            flags: u32::try_from(reply["flags"].as_u64()?).ok()?,
            groups: usize::try_from(reply["groups"].as_u64()?).ok()?,
            names: serde_json::from_value(reply["names"].clone()).expect("names"),
            found: (reply["found"].as_array()?.iter())
                .map(|found| [spans(&found[0]), spans(&found[1]), spans(&found[2])])
                .collect(),
            every: serde_json::from_value(reply["every"].clone()).expect("offsets"),
        })
    }

    /// The offsets, in characters, of all matches of each pattern in a text.
    pub fn find_all(&mut self, patterns: &[String], flags: u32, text: &str) -> Vec<Vec<usize>> {
        let reply = self.ask(&json!({ "patterns": patterns, "flags": flags, "text": text }));
        serde_json::from_value(reply).expect("offsets")
    }
}
