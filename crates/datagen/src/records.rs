//! A table of records with what small functions are written for: accounts, names, cards,
//! addresses of mail and web, dates, amounts, places.
//!
//! Of the rows 5 % carry letters beyond ASCII in their words, of the cells 2 % are NULL and
//! 1 % are malformed.

use crate::{Batches, Random};
use arrow::array::{ArrayRef, Float64Builder, Int64Builder, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use std::fmt::Write;
use std::sync::Arc;

const TEXTS: [&str; 9] = ["iban", "name", "other", "card", "email", "title", "url", "date", "amount"];
const FLOATS: [&str; 5] = ["income", "lat1", "lon1", "lat2", "lon2"];

/// An iterator over the batches of a table.
#[derive(Debug)]
pub struct Records(Batches);

impl Records {
    /// A table of `rows` rows in batches of at most `batch` rows.
    #[must_use]
    pub fn new(seed: u64, rows: usize, batch: usize) -> Records {
        Records(Batches::new(seed, rows, batch))
    }
}

impl Iterator for Records {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        let (rows, random) = self.0.next()?;
        let mut texts: [StringBuilder; 9] = std::array::from_fn(|_| StringBuilder::new());
        let mut floats: [Float64Builder; 5] = std::array::from_fn(|_| Float64Builder::new());
        let (mut children, mut currency) = (Int64Builder::new(), StringBuilder::new());
        for _ in 0..rows {
            let foreign = random.chance(50);
            let name = name(random, foreign);
            let row = [
                iban(random),
                name.clone(),
                misspelt(random, &name),
                card(random),
                email(random, foreign),
                title(random, foreign),
                url(random, foreign),
                format!("{}-{:02}-{:02}", random.between(1990, 2030), random.between(1, 12), random.between(1, 31)),
                amount(random),
            ];
            for (column, text) in texts.iter_mut().zip(row) {
                match random.below(1000) {
                    0..20 => column.append_null(),
                    20..25 => column.append_value(""),
                    25..30 => column.append_value(text.chars().rev().collect::<String>()),
                    _ => column.append_value(text),
                }
            }
            let numbers = [
                random.below(40_000_000) as f64 / 100.0,
                random.below(180_000_000) as f64 / 1e6 - 90.0,
                random.below(360_000_000) as f64 / 1e6 - 180.0,
                random.below(180_000_000) as f64 / 1e6 - 90.0,
                random.below(360_000_000) as f64 / 1e6 - 180.0,
            ];
            for (column, number) in floats.iter_mut().zip(numbers) {
                column.append_option((!random.chance(20)).then_some(number));
            }
            children.append_option((!random.chance(20)).then(|| random.below(8) as i64));
            match random.below(100) {
                0 | 1 => currency.append_null(),
                2 => currency.append_value("XXX"),
                _ => currency.append_value(random.pick(&["EUR", "USD", "GBP", "CHF", "JPY", "SEK", "usd", "eur"])),
            }
        }
        let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
        for (name, mut column) in TEXTS.into_iter().chain(["currency"]).zip(texts.into_iter().chain([currency])) {
            columns.push((Field::new(name, DataType::Utf8, true), Arc::new(column.finish())));
        }
        for (name, mut column) in FLOATS.into_iter().zip(floats) {
            columns.push((Field::new(name, DataType::Float64, true), Arc::new(column.finish())));
        }
        columns.push((Field::new("children", DataType::Int64, true), Arc::new(children.finish())));
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        Some(RecordBatch::try_new(schema, columns).expect("the columns have the schema's types and one length"))
    }
}

fn name(random: &mut Random, foreign: bool) -> String {
    let first = ["Anna", "Bernard", "Carla", "Dmitri", "Eleanor", "Francis", "Greta", "Hassan", "Ingrid", "Jonathan"];
    let last = ["Abbott", "Bergman", "Castillo", "Dubois", "Eriksen", "Fitzgerald", "Grant", "Hoffmann", "Ivanov"];
    let foreign_last = ["Łukasiewicz", "Müller", "Peña", "Ångström", "Đorđević", "村上", "Σωκράτης"];
    let last = if foreign { random.pick(&foreign_last) } else { random.pick(&last) };
    format!("{} {last}", random.pick(&first))
}

/// The name with up to three letters changed, left out or doubled.
fn misspelt(random: &mut Random, name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    for _ in 0..random.below(4) {
        let at = random.below(letters.len() as u64) as usize;
        match random.below(3) {
            0 => letters[at] = char::from(b'a' + random.below(26) as u8),
            1 if letters.len() > 3 => drop(letters.remove(at)),
            _ => letters.insert(at, letters[at]),
        }
    }
    letters.into_iter().collect()
}

/// A German account with the right check digits in nine of ten cases, in groups of four.
fn iban(random: &mut Random) -> String {
    let mut account = String::new();
    for _ in 0..18 {
        account.push(char::from(b'0' + random.below(10) as u8));
    }
    // D is 13 and E is 14; the check digits are chosen for a remainder of 1.
    let rest = format!("{account}131400").bytes().fold(0, |rest, digit| (rest * 10 + u64::from(digit - b'0')) % 97);
    let check = if random.chance(900) { 98 - rest } else { random.between(2, 98) };
    let text = format!("DE{check:02}{account}");
    let mut out = String::new();
    for (index, letter) in text.chars().enumerate() {
        if index % 4 == 0 && index > 0 {
            out.push(' ');
        }
        out.push(letter);
    }
    if random.chance(100) { out.to_lowercase() } else { out }
}

fn card(random: &mut Random) -> String {
    let mut out = String::new();
    for group in 0..4 {
        if group > 0 {
            out.push(if random.chance(700) { ' ' } else { '-' });
        }
        let _ = write!(out, "{:04}", random.below(10_000));
    }
    out
}

fn email(random: &mut Random, foreign: bool) -> String {
    let user =
        if foreign { "josé.núñez" } else { random.pick(&["anna.b", "Carla", "dmitri_77", "E.Grant", "h.h.h"]) };
    let tag = random.pick(&["", "", "+news", "+Shop2024"]);
    let domain = random.pick(&["gmail.com", "GoogleMail.com", "example.org", "mail.example.co.uk", "localhost"]);
    let blank = if random.chance(100) { " " } else { "" };
    format!("{user}{}{tag}@{domain}{blank}", random.below(1000))
}

fn title(random: &mut Random, foreign: bool) -> String {
    let words = ["The", "Great", "Old", "Sea", "and", "a", "Man's", "War:", "Peace", "(revised)", "Vol.", "Night", "—"];
    let foreign_words = ["Élégie", "Über", "straße", "Война", "東京", "naïve"];
    let mut out = String::new();
    for index in 0..random.between(3, 9) {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(if foreign && index % 2 == 0 { random.pick(&foreign_words) } else { random.pick(&words) });
    }
    // The dash is in the common words: those titles count as foreign too, so it goes.
    if foreign { out } else { out.replace('—', "-") }
}

fn url(random: &mut Random, foreign: bool) -> String {
    let host = random.pick(&["www.Example.com", "shop.example.org:8080", "[::1]:443", "me:pw@intranet", "10.0.0.7"]);
    let path = if foreign { "straße/naïve" } else { random.pick(&["", "index.html", "a/b/c", "search"]) };
    let query = random.pick(&["", "", "?q=1", "#top", "?a=b@c"]);
    format!("{}://{host}/{path}{query}{}", random.pick(&["http", "https", "ftp"]), random.below(100))
}

/// `1.234,50`.
fn amount(random: &mut Random) -> String {
    let whole = random.below(10_000_000) / 10u64.pow(random.below(6) as u32);
    let cents = random.below(100);
    if whole >= 1000 {
        format!("{}.{:03},{cents:02}", whole / 1000, whole % 1000)
    } else {
        format!("{whole},{cents:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let first: Vec<RecordBatch> = Records::new(1, 500, 200).collect();
        assert_eq!(first, Records::new(1, 500, 200).collect::<Vec<_>>());
        assert_eq!(first[0].num_columns(), 16);
    }
}
