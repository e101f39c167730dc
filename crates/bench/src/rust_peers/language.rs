//! Eight functions of `udfs/language.py` by hand, as [the others](super).

use super::python_str::{is_space, lower};
use anyhow::{Context, Result};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Float64Builder, Int64Array, ListArray, StringViewArray, StringViewBuilder,
};
use datafusion::arrow::datatypes::{Float64Type, Int64Type};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

/// Runs the peer of a function on a batch, if there is one.
pub(super) fn run(function: &str, args: &[ArrayRef]) -> Result<Option<ArrayRef>> {
    let text = |index: usize| args[index].as_string_view_opt().context("a column of string views is wanted");
    let list = |index: usize| args[index].as_list_opt::<i32>().context("a column of lists is wanted");
    Ok(Some(match function {
        "word_counts" => Arc::new(texts(text(0)?, word_counts)),
        "alike" => Arc::new(alike(text(0)?, text(1)?)),
        "final_state" => Arc::new(texts(text(0)?, |events, out| out.push_str(final_state(events)))),
        "deviation" => Arc::new(deviation(list(0)?)),
        "covered" => Arc::new(covered(list(0)?)),
        "area" => Arc::new(area(list(0)?, list(1)?)),
        "roman" => {
            let numbers = args[0].as_primitive_opt::<Int64Type>().context("a column of BIGINT is wanted")?;
            Arc::new(roman(numbers))
        }
        "common_part" => Arc::new(common_part(text(0)?, text(1)?)),
        _ => return Ok(None),
    }))
}

/// A column of text from a column of text.
fn texts(column: &StringViewArray, mut row: impl FnMut(&str, &mut String)) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for text in column {
        match text {
            Some(text) => {
                buffer.clear();
                row(text, &mut buffer);
                out.append_value(&buffer);
            }
            None => out.append_null(),
        }
    }
    out.finish()
}

fn word_counts(note: &str, out: &mut String) {
    let mut buffer = String::new();
    let note = lower(note, &mut buffer);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in note.split(is_space).filter(|word| !word.is_empty()) {
        *counts.entry(word.trim_matches([',', '.', '!'])).or_default() += 1;
    }
    let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
    ranked.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    for (index, (word, count)) in ranked.iter().take(3).enumerate() {
        let _ = write!(out, "{}{word}={count}", if index > 0 { ", " } else { "" });
    }
}

fn alike(names: &StringViewArray, others: &StringViewArray) -> Float64Array {
    fn pairs(text: &str, into: &mut HashSet<String>) {
        let mut buffer = String::new();
        into.clear();
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        into.extend(places.windows(3).map(|at| lower(&text[at[0]..at[2]], &mut buffer).to_string()));
    }
    let (mut a, mut b) = (HashSet::new(), HashSet::new());
    let rows = names.iter().zip(others).map(|(name, other)| {
        pairs(name?, &mut a);
        pairs(other?, &mut b);
        let both = a.intersection(&b).count();
        let union = a.len() + b.len() - both;
        Some(if union > 0 { both as f64 / union as f64 } else { 0.0 })
    });
    rows.collect()
}

fn final_state(events: &str) -> &'static str {
    let mut state = "new";
    for event in events.split(',') {
        state = match (state, event) {
            ("new", "pay") => "paid",
            ("paid", "ship") => "shipped",
            ("shipped", "deliver") => "delivered",
            ("new" | "paid", "cancel") => "cancelled",
            ("delivered", "return") => "returned",
            _ => state,
        };
    }
    state
}

/// The rows of a column of arrays of floats.
fn floats(column: &ListArray) -> impl Iterator<Item = Option<&[f64]>> {
    let values = column.values().as_primitive::<Float64Type>().values();
    (0..column.len()).map(move |row| {
        let ends = column.value_offsets();
        (!column.is_null(row)).then(|| &values[ends[row] as usize..ends[row + 1] as usize])
    })
}

fn deviation(readings: &ListArray) -> Float64Array {
    let rows = floats(readings).map(|readings| {
        let readings = readings.filter(|readings| readings.len() >= 2)?;
        let mean = readings.iter().fold(0.0, |sum, x| sum + x) / readings.len() as f64;
        // C's `pow`, which is what CPython's answer is: the product that a known exponent becomes differs from it in
        // the last place of some.
        let exponent = std::hint::black_box(2.0);
        let squares = readings.iter().fold(0.0, |sum, x| sum + f64::powf(x - mean, exponent));
        Some((squares / (readings.len() - 1) as f64).sqrt())
    });
    let mut out = Float64Builder::with_capacity(readings.len());
    rows.for_each(|row| out.append_option(row));
    out.finish()
}

fn covered(bounds: &ListArray) -> Int64Array {
    let values = bounds.values().as_primitive::<Int64Type>().values();
    let ends = bounds.value_offsets();
    let mut spans: Vec<(i64, i64)> = Vec::new();
    let rows = (0..bounds.len()).map(|row| {
        if bounds.is_null(row) {
            return None;
        }
        spans.clear();
        let pairs = values[ends[row] as usize..ends[row + 1] as usize].chunks_exact(2);
        spans.extend(pairs.map(|pair| (pair[0], pair[1])));
        spans.sort_unstable();
        let (mut total, mut current) = (0i64, None::<(i64, i64)>);
        for &(start, end) in &spans {
            current = Some(match current {
                Some((first, last)) if start <= last => (first, last.max(end)),
                done => {
                    total += done.map_or(0, |(first, last)| last - first);
                    (start, end)
                }
            });
        }
        Some(total + current.map_or(0, |(first, last)| last - first))
    });
    rows.collect()
}

fn area(xs: &ListArray, ys: &ListArray) -> Float64Array {
    let rows = floats(xs).zip(floats(ys)).map(|(xs, ys)| {
        let (xs, ys) = (xs?, ys?);
        let count = xs.len().min(ys.len());
        let mut total = 0.0;
        for at in 0..count {
            let next = if at + 1 < count { at + 1 } else { 0 };
            total += xs[at] * ys[next] - xs[next] * ys[at];
        }
        Some(f64::abs(total) / 2.0)
    });
    rows.collect()
}

fn roman(numbers: &Int64Array) -> StringViewArray {
    const DIGITS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut out = StringViewBuilder::with_capacity(numbers.len());
    let mut buffer = String::new();
    for number in numbers {
        let Some(mut number) = number else {
            out.append_null();
            continue;
        };
        buffer.clear();
        for (value, digits) in DIGITS {
            (0..number.div_euclid(value)).for_each(|_| buffer.push_str(digits));
            number = number.rem_euclid(value);
        }
        out.append_value(&buffer);
    }
    out.finish()
}

fn common_part(names: &StringViewArray, others: &StringViewArray) -> Int64Array {
    let (mut above, mut row): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    let mut letters: Vec<char> = Vec::new();
    let rows = names.iter().zip(others).map(|(name, other)| {
        let (name, other) = (name?, other?);
        letters.clear();
        letters.extend(other.chars());
        row.clear();
        row.resize(letters.len() + 1, 0);
        for a in name.chars() {
            above.clone_from(&row);
            for (at, b) in letters.iter().enumerate() {
                row[at + 1] = if a == *b { above[at] + 1 } else { above[at + 1].max(row[at]) };
            }
        }
        row.last().copied()
    });
    rows.collect()
}
