//! A table of orders with columns of every shape: texts that hold lists and pairs, arrays,
//! structs, times, decimals, numbers.
//!
//! Of the rows 5 % carry letters beyond ASCII in their texts, of the cells 2 % are NULL. No cell is
//! malformed: what is wrong in a text is the business of its reader, and part of it.

use crate::{Batches, Random};
use arrow::array::{
    ArrayRef, Decimal128Builder, Float64Array, Float64Builder, Int64Builder, ListBuilder, RecordBatch, StringBuilder,
    StructArray, TimestampMicrosecondBuilder,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use std::fmt::Write;
use std::sync::Arc;

/// A column's name and how a cell of it is made; `true` asks for letters beyond ASCII.
type Texts = [(&'static str, fn(&mut Random, bool) -> String); 9];

const TEXTS: Texts = [
    ("note", note),
    ("name", name),
    ("other", name),
    ("lines", lines),
    ("events", |random, _| events(random)),
    ("pairs", pairs),
    ("formula", |random, _| formula(random)),
    ("signal", signal),
    ("access", access),
];

/// Of so many cells in a thousand nothing is known.
const NULLS: u64 = 20;

/// An iterator over the batches of a table.
#[derive(Debug)]
pub struct Orders(Batches);

impl Orders {
    /// A table of `rows` rows in batches of at most `batch` rows.
    #[must_use]
    pub fn new(seed: u64, rows: usize, batch: usize) -> Orders {
        Orders(Batches::new(seed, rows, batch))
    }
}

impl Iterator for Orders {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        let (rows, random) = self.0.next()?;
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        for (name, cell) in TEXTS {
            let mut column = StringBuilder::new();
            for _ in 0..rows {
                let foreign = random.chance(50);
                let text = cell(random, foreign);
                column.append_option((!random.chance(NULLS)).then_some(text));
            }
            columns.push((name, Arc::new(column.finish())));
        }
        let [readings, xs, ys] = polygons(random, rows);
        columns.extend([("readings", readings), ("xs", xs), ("ys", ys), ("bounds", bounds(random, rows))]);
        columns.push(("tags", tags(random, rows)));
        let [opened, closed] = times(random, rows);
        columns.extend([("opened", opened), ("closed", closed)]);
        columns.extend([("place", places(random, rows)), ("price", prices(random, rows))]);
        let mut rate = StringBuilder::new();
        let mut number = Int64Builder::new();
        let [mut least, mut most, mut by] = std::array::from_fn(|_| Float64Builder::new());
        for _ in 0..rows {
            rate.append_option((!random.chance(NULLS)).then(|| random.pick(&["0.07", "0.19", "0.055", "0.2"])));
            number.append_option((!random.chance(NULLS)).then(|| random.below(4000) as i64));
            least.append_option((!random.chance(NULLS)).then(|| random.below(400) as f64 / 10.0));
            most.append_option((!random.chance(NULLS)).then(|| 50.0 + random.below(400) as f64 / 10.0));
            by.append_option((!random.chance(NULLS)).then(|| random.below(7200) as f64 / 10.0 - 360.0));
        }
        columns.extend([("rate", Arc::new(rate.finish()) as ArrayRef), ("number", Arc::new(number.finish()))]);
        columns.push(("least", Arc::new(least.finish())));
        columns.extend([("most", Arc::new(most.finish()) as ArrayRef), ("by", Arc::new(by.finish()))]);
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        Some(RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length"))
    }
}

fn note(random: &mut Random, foreign: bool) -> String {
    let words = ["please", "deliver", "to", "the", "back", "door,", "ring", "twice.", "Fragile!", "gift", "the", "box"];
    let foreign_words = ["s'il", "vous", "plaît", "schöne", "Grüße,", "ありがとう", "большое", "спасибо!"];
    let words: &[&str] = if foreign { &foreign_words } else { &words };
    let count = random.between(4, 16);
    (0..count).map(|_| random.pick(words)).collect::<Vec<_>>().join(" ")
}

fn name(random: &mut Random, foreign: bool) -> String {
    let first = ["Annelie", "Bernardo", "Carlotta", "Friedrich", "Eleonora", "Giovanni"];
    let last = ["Abbott", "Bergmann", "Castillo", "Dubois", "Eriksen", "Fitzgerald", "Hoffman"];
    let foreign_last = ["Łukasiewicz", "Müller-Lüdenscheidt", "Ångström", "Đorđević", "村上春樹", "Σωκράτης"];
    let last = if foreign { random.pick(&foreign_last) } else { random.pick(&last) };
    format!("{} {last}", random.pick(&first))
}

/// `A17:2:19.95;B3:1:4.50`.
fn lines(random: &mut Random, foreign: bool) -> String {
    let mut out = String::new();
    for index in 0..random.between(1, 6) {
        if index > 0 {
            out.push(';');
        }
        let group = if foreign { "Ö" } else { random.pick(&["A", "B", "C", "D"]) };
        let (article, quantity) = (random.below(30), random.between(1, 12));
        let _ = write!(out, "{group}{article}:{quantity}:{}.{:02}", random.below(200), random.below(100));
    }
    out
}

fn events(random: &mut Random) -> String {
    let usual = ["pay", "ship", "deliver", "return"];
    let mut events: Vec<&str> = usual[..random.between(1, 4) as usize].to_vec();
    while random.chance(300) {
        let at = random.below(events.len() as u64 + 1) as usize;
        events.insert(at, random.pick(&["cancel", "call", "mail", "pay"]));
    }
    events.join(",")
}

/// `mode=fast;retries=4;timeout=30`.
fn pairs(random: &mut Random, foreign: bool) -> String {
    let mut pairs = vec![format!("mode={}", random.pick(&["fast", "safe", "off"]))];
    if random.chance(700) {
        pairs.push(format!("retries={}", random.below(10)));
    }
    if random.chance(600) {
        pairs.push(format!("timeout={}", random.below(100)));
    }
    pairs.push(if foreign { "größe=groß".to_string() } else { format!("user=u{}", random.below(1000)) });
    if random.chance(100) {
        pairs.push("verbose".to_string());
    }
    let first = random.below(pairs.len() as u64) as usize;
    pairs.rotate_left(first);
    pairs.join(";")
}

/// `3 4 + 7 *`.
fn formula(random: &mut Random) -> String {
    let mut out = format!("{}", random.below(100));
    for _ in 0..random.between(1, 6) {
        let _ = write!(out, " {} {}", random.below(100), random.pick(&["+", "-", "*"]));
    }
    out
}

fn signal(random: &mut Random, foreign: bool) -> String {
    let letters = if foreign { ["α", "β", "γ"] } else { ["a", "b", "c"] };
    let mut out = String::new();
    for _ in 0..random.between(3, 10) {
        let letter = random.pick(&letters);
        (0..random.between(1, 12)).for_each(|_| out.push_str(letter));
    }
    out
}

/// `anna.b@10.0.0.7 [2024-05-17 08:15] 404`, of which one in twenty is none.
fn access(random: &mut Random, foreign: bool) -> String {
    if random.chance(50) {
        return format!("-- {} --", random.below(100_000));
    }
    let user = if foreign { "josé.n" } else { random.pick(&["anna.b", "carla", "dmitri_77"]) };
    let (month, day) = (random.between(1, 12), random.between(1, 28));
    let (hour, minute) = (random.below(24), random.below(60));
    let code = random.pick(&["200", "200", "301", "404", "500"]);
    format!("{user}@10.0.0.{} [2024-{month:02}-{day:02} {hour:02}:{minute:02}] {code}", random.below(256))
}

/// Three arrays of floats, of which the second and the third have equal lengths.
fn polygons(random: &mut Random, rows: usize) -> [ArrayRef; 3] {
    let mut arrays: [ListBuilder<Float64Builder>; 3] = std::array::from_fn(|_| ListBuilder::new(Float64Builder::new()));
    for _ in 0..rows {
        let lengths = [random.below(25), random.between(3, 9)];
        for (array, length) in arrays.iter_mut().zip([lengths[0], lengths[1], lengths[1]]) {
            for _ in 0..length {
                array.values().append_value(random.below(1000) as f64 / 10.0);
            }
            array.append(!random.chance(NULLS));
        }
    }
    arrays.map(|mut array| Arc::new(array.finish()) as ArrayRef)
}

/// Starts and ends of intervals in turn.
fn bounds(random: &mut Random, rows: usize) -> ArrayRef {
    let mut array = ListBuilder::new(Int64Builder::new());
    for _ in 0..rows {
        for _ in 0..random.below(9) {
            let start = random.below(1000) as i64;
            array.values().append_value(start);
            array.values().append_value(start + random.between(1, 200) as i64);
        }
        array.append(!random.chance(NULLS));
    }
    Arc::new(array.finish())
}

fn tags(random: &mut Random, rows: usize) -> ArrayRef {
    let mut array = ListBuilder::new(StringBuilder::new());
    for _ in 0..rows {
        let foreign = random.chance(50);
        for _ in 0..random.below(8) {
            let plain = ["new", "Sale", " gift", "fragile", "express ", "SALE", "return"];
            array.values().append_value(if foreign {
                random.pick(&["größe", "Été ", "日本", "ЗАКАЗ"])
            } else {
                random.pick(&plain)
            });
        }
        array.append(!random.chance(NULLS));
    }
    Arc::new(array.finish())
}

/// Two times of which the second is up to nine days behind the first.
fn times(random: &mut Random, rows: usize) -> [ArrayRef; 2] {
    const SECOND: u64 = 1_000_000;
    let [mut opened, mut closed] = std::array::from_fn(|_| TimestampMicrosecondBuilder::new());
    for _ in 0..rows {
        // From 1990 to 2030.
        let start = random.between(631_152_000, 1_893_456_000) * SECOND + random.below(SECOND);
        let end = start + random.below(9 * 86_400) * SECOND;
        opened.append_option((!random.chance(NULLS)).then_some(start as i64));
        closed.append_option((!random.chance(NULLS)).then_some(end as i64));
    }
    [Arc::new(opened.finish()), Arc::new(closed.finish())]
}

fn places(random: &mut Random, rows: usize) -> ArrayRef {
    let lats: Float64Array = (0..rows).map(|_| Some(random.below(180_000_000) as f64 / 1e6 - 90.0)).collect();
    let lons: Float64Array = (0..rows).map(|_| Some(random.below(360_000_000) as f64 / 1e6 - 180.0)).collect();
    let exist: NullBuffer = (0..rows).map(|_| !random.chance(NULLS)).collect();
    let field = |name: &str| Field::new(name, DataType::Float64, true);
    let fields = Fields::from(vec![field("lat"), field("lon")]);
    Arc::new(StructArray::new(fields, vec![Arc::new(lats), Arc::new(lons)], Some(exist)))
}

fn prices(random: &mut Random, rows: usize) -> ArrayRef {
    let mut column = Decimal128Builder::new().with_data_type(DataType::Decimal128(12, 2));
    for _ in 0..rows {
        column.append_option((!random.chance(NULLS)).then(|| i128::from(random.below(10_000_000))));
    }
    Arc::new(column.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array;

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let first: Vec<RecordBatch> = Orders::new(1, 500, 200).collect();
        assert_eq!(first, Orders::new(1, 500, 200).collect::<Vec<_>>());
        assert_eq!((first.len(), first[0].num_columns()), (3, 23));
        assert!(first[0].columns().iter().all(|column| (1..50).contains(&column.null_count())));
    }
}
