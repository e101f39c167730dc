//! What a search costs, beside the crate `regex`; run by hand, optimised.

use exuvia_ops::re::{Anchor, Regex};
use std::hint::black_box;
use std::time::Instant;

const LOG: &str = r#"^(\S+) (\S+) (\S+) \[([\w:/]+\s[+\-]\d{4})\] "(\S+) (\S+)\s*(\S*)" (\d{3}) (\S+)"#;

fn lines(text: &str) -> Vec<String> {
    let line = |at: usize| {
        let (host, path, size) = (at % 251, at.wrapping_mul(2_654_435_761) % 100_000, at * 37 % 90_000);
        let day = 1 + at % 28;
        format!(
            "10.0.{host}.{} - {text} [{day:02}/Jul/1995:{:02}:{:02}:01 -0400] \"GET /shuttle/{path}/index.html HTTP/1.0\" 200 {size}",
            at % 17,
            at % 24,
            at % 60
        )
    };
    (0..4000).map(line).collect()
}

/// The fastest of some runs, in nanoseconds for each line.
fn time(lines: &[String], mut search: impl FnMut(&str) -> bool) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..40 {
        let start = Instant::now();
        for line in lines {
            assert!(black_box(search(black_box(line))));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / lines.len() as f64);
    }
    best
}

#[test]
#[ignore = "measures time"]
fn costs_no_more_than_the_crate_regex() {
    let patterns = [
        (LOG, "frank"),
        (LOG, "françois"),
        (r"(\d{1,2})/(\w+)/(\d{4})", "frank"),
        (r#""(\S+) (\S+)"#, "frank"),
        (r"\w+/index\.html", "frank"),
        (r"(\w+)\.html", "frank"),
        (r"\d{3} \d+$", "frank"),
        (r"GET|POST", "frank"),
        (r"HTTP/1\.[01]", "frank"),
        (r"\bfrank\b", "frank"),
    ];
    for (pattern, user) in patterns {
        let lines = lines(user);
        let ours = Regex::new(pattern, 0).expect("compiles");
        let theirs = regex::Regex::new(pattern).expect("compiles");
        let mut spans = vec![0; 2 * ours.groups() + 2];
        let mut locations = theirs.capture_locations();
        let find = time(&lines, |line| ours.find(Anchor::Search, line, 0, &mut spans).expect("for us"));
        let read = time(&lines, |line| theirs.captures_read(&mut locations, line).is_some());
        let span = time(&lines, |line| ours.find_span(Anchor::Search, line, 0).expect("for us").is_some());
        let theirs_span = time(&lines, |line| theirs.find(line).is_some());
        let full = time(&lines, |line| ours.is_match(Anchor::Search, line).expect("for us"));
        eprintln!(
            "{pattern} ({user}): find {find:.0} ns, captures_read {read:.0} ns, ratio {:.2}; find_span {span:.0} ns, regex's find {theirs_span:.0} ns; is_match {full:.0} ns",
            find / read
        );
    }
}

#[test]
#[ignore = "measures time"]
fn compiles_in_bounded_time() {
    for pattern in [
        LOG,
        "a",
        r"\w+",
        r"\w{50}",
        r"\w{500}",
        r"(?i)[^\W\d_]{900}",
        r"(?:\w{30}\s){30}",
        r"(?:(?:\w\d){40}){40}",
        "(?:(?:a{1000}){1000}){1000}",
    ] {
        let start = Instant::now();
        let regex = Regex::new(pattern, 0);
        let new = start.elapsed();
        let start = Instant::now();
        let found = regex.as_ref().map(|regex| regex.is_match(Anchor::Search, "ascii"));
        eprintln!(
            "{pattern}: compiled in {new:?} ({:?}), for ASCII in {:?} ({found:?})",
            regex.as_ref().err(),
            start.elapsed()
        );
    }
}
