//! Lines of a web server's access log.
//!
//! Of the lines 5 % come from listed bad addresses, 5 % ask for a path with letters beyond
//! ASCII, 2 % are NULL and 2 % malformed: cut off, without protocol, or no log line at all.

use crate::{Batches, Random};
use arrow::array::{ArrayRef, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::fmt::Write;
use std::sync::Arc;

/// Lines from bad addresses, with letters beyond ASCII, NULL and malformed, per mille.
const BAD: u64 = 50;
const NON_ASCII: u64 = 50;
const NULL: u64 = 20;
const MALFORMED: u64 = 20;
/// How many bad addresses are listed.
const LISTED: u64 = 200;

const METHODS: [&str; 8] = ["GET", "GET", "GET", "GET", "GET", "POST", "HEAD", "PUT"];
const USERS: [&str; 12] =
    ["bob", "ann", "kurt", "maria", "li", "x9", "jean-luc", "o_brien", "root", "søren", "zoë", "mallory"];
const FOLDERS: [&str; 8] = ["images", "docs", "cgi-bin", "static", "news", "shop", "api", "archive"];
const ABROAD: [&str; 4] = ["größe", "日本", "ελλάδα", "москва"];
const FILES: [&str; 6] = ["index.html", "logo.gif", "list.php", "a.css", "report.pdf", "q"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const CODES: [&str; 8] = ["200", "200", "200", "200", "304", "404", "301", "500"];

/// The table's only column, `line`.
#[must_use]
pub fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("line", DataType::Utf8, true)]))
}

/// The listed bad addresses, as a table with the one column `ip`.
///
/// # Panics
/// Never: the column has the type of the schema.
#[must_use]
pub fn bad_addresses() -> RecordBatch {
    let addresses: Vec<String> = (0..LISTED).map(bad_address).collect();
    let column: ArrayRef = Arc::new(StringArray::from(addresses));
    RecordBatch::try_from_iter([("ip", column)]).expect("one column is a table")
}

fn bad_address(number: u64) -> String {
    format!("66.{}.{}.{}", number % 7 + 200, number * 37 % 251, number * 91 % 241)
}

/// An iterator over the batches of a log.
#[derive(Debug)]
pub struct Logs(Batches);

impl Logs {
    /// A log of `rows` lines in batches of at most `batch` rows.
    #[must_use]
    pub fn new(seed: u64, rows: usize, batch: usize) -> Logs {
        Logs(Batches::new(seed, rows, batch))
    }
}

impl Iterator for Logs {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        let (rows, random) = self.0.next()?;
        let mut lines = StringBuilder::new();
        let mut buffer = String::new();
        for _ in 0..rows {
            if random.chance(NULL) {
                lines.append_null();
                continue;
            }
            buffer.clear();
            line(random, &mut buffer);
            if random.chance(MALFORMED) {
                spoil(random, &mut buffer);
            }
            lines.append_value(&buffer);
        }
        let column: ArrayRef = Arc::new(lines.finish());
        RecordBatch::try_from_iter_with_nullable([("line", column, true)]).ok()
    }
}

/// A whole line. Writing to a text cannot fail.
fn line(random: &mut Random, out: &mut String) {
    let _ = if random.chance(BAD) {
        out.push_str(&bad_address(random.below(LISTED)));
        Ok(())
    } else {
        write!(out, "{}.{}.{}.{}", random.between(1, 223), random.below(256), random.below(256), random.below(256))
    };
    let user = if random.chance(300) { random.pick(&USERS) } else { "-" };
    let _ = write!(
        out,
        " - {user} [{:02}/{}/{}:{:02}:{:02}:{:02} +0{}00] \"{} ",
        random.between(1, 28),
        random.pick(&MONTHS),
        random.between(2019, 2026),
        random.below(24),
        random.below(60),
        random.below(60),
        random.below(3),
        random.pick(&METHODS)
    );
    if random.chance(250) {
        let _ = write!(out, "/~{}", random.pick(&USERS));
    }
    let folder = if random.chance(NON_ASCII) { random.pick(&ABROAD) } else { random.pick(&FOLDERS) };
    let _ = write!(out, "/{folder}/{}", random.pick(&FILES));
    if random.chance(200) {
        let _ = write!(out, "?id={}", random.below(100_000));
    }
    let _ = write!(out, " HTTP/1.{}\" {} ", random.below(2), random.pick(&CODES));
    if random.chance(60) {
        out.push('-');
    } else {
        let _ = write!(out, "{}", random.below(200_000));
    }
}

/// Makes a line one of the kinds that parsers stumble over.
fn spoil(random: &mut Random, line: &mut String) {
    match random.below(5) {
        0 => line.clear(),
        1 => *line = line.replace(" HTTP/1.0", "").replace(" HTTP/1.1", ""),
        2 => {
            let at = random.below(line.len() as u64 + 1) as usize;
            let at = (0..=at).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            line.truncate(at);
        }
        3 => *line = format!("-- restarted {} --", random.below(1000)),
        _ => line.push_str(" x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;

    #[test]
    fn lines_are_as_stated() {
        let rows = 20_000;
        let batches: Vec<RecordBatch> = Logs::new(7, rows, 6000).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows);
        let listed = bad_addresses();
        let listed: Vec<_> = listed.column(0).as_string::<i32>().iter().flatten().map(str::to_string).collect();
        let (mut nulls, mut bad, mut whole, mut abroad) = (0, 0, 0, 0);
        for batch in &batches {
            for line in batch.column(0).as_string::<i32>() {
                let Some(line) = line else {
                    nulls += 1;
                    continue;
                };
                bad += usize::from(line.split(' ').next().is_some_and(|ip| listed.iter().any(|bad| bad == ip)));
                whole += usize::from(line.split(' ').count() == 10 && line.contains("HTTP/1."));
                abroad += usize::from(ABROAD.iter().any(|folder| line.contains(folder)));
            }
        }
        let near = |found: usize, per_mille: u64| (found as f64 / rows as f64 - per_mille as f64 / 1e3).abs() < 0.01;
        assert!(near(nulls, NULL) && near(bad, BAD) && near(abroad, NON_ASCII), "{nulls} {bad} {abroad}");
        assert!(near(whole, (1000 - NULL) * (1000 - MALFORMED) / 1000), "{whole}");
        assert_eq!(batches, Logs::new(7, rows, 6000).collect::<Vec<_>>());
    }
}
