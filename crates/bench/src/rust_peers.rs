//! The functions of `udfs/zillow.py`, and eight of `udfs/language.py`, written by hand in Rust over Arrow.
//!
//! They are what a Rust programmer would write for DataFusion who was told to give
//! CPython's answers: the same checks, the same treatment of NULL and of errors, searches
//! by prepared `memmem` finders, one buffer for what must be built, the ASCII case first.
//! They take and give the layouts that DataFusion uses for text read from Parquet
//! (string views). Nothing is shared with the engine's own kernels.

mod language;
mod logs;
mod python_int;
mod python_str;
mod z1;

pub use logs::{BadAddresses, Taking, logs};
pub use z1::z1;

use anyhow::{Context, Result};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, ByteView, Float64Array, Int64Array, Int64Builder, StringViewArray, StringViewBuilder,
};
use datafusion::arrow::datatypes::{Float64Type, Int64Type};
use memchr::{memchr, memmem, memrchr};
use python_int::{int, whole_number};
use python_str::{is_space, lower};
use std::fmt::Write;
use std::sync::Arc;

/// Runs the peer of a function on a batch.
///
/// # Errors
/// If there is no such peer or an argument has another type than it takes.
pub fn run(function: &str, args: &[ArrayRef]) -> Result<ArrayRef> {
    let text = |index: usize| args[index].as_string_view_opt().context("a column of string views is wanted");
    let long = |index: usize| args[index].as_primitive_opt::<Int64Type>().context("a column of BIGINT is wanted");
    Ok(match function {
        "bedrooms" => Arc::new(before(text(0)?, " bd")),
        "bathrooms" => Arc::new(before(text(0)?, " ba")),
        "sqft" => Arc::new(sqft(text(0)?)),
        "price_per_sqft" => Arc::new(price_per_sqft(text(0)?)),
        "home_type" => Arc::new(home_type(text(0)?)),
        "offer" => Arc::new(offer(text(0)?)),
        "list_price" => Arc::new(list_price(text(0)?, text(1)?, long(2)?, long(3)?)),
        "zipcode" => {
            let codes = args[0].as_primitive_opt::<Float64Type>().context("a column of DOUBLE is wanted")?;
            Arc::new(zipcode(codes))
        }
        "city_name" => Arc::new(city_name(text(0)?)),
        "state_code" => Arc::new(state_code(text(0)?)),
        "street" => Arc::new(street(text(0)?)),
        "clean_url" => Arc::new(clean_url(text(0)?)),
        other => match language::run(other, args)? {
            Some(result) => result,
            None => anyhow::bail!("no hand-written {other}"),
        },
    })
}

/// A column of integers from a column of text, NULL where the row gives none.
fn integers(column: &StringViewArray, row: impl Fn(&str) -> Option<i64>) -> Int64Array {
    let mut out = Int64Builder::with_capacity(column.len());
    for text in column {
        out.append_option(text.and_then(&row));
    }
    out.finish()
}

/// `bedrooms` and `bathrooms`.
fn before(column: &StringViewArray, mark: &str) -> Int64Array {
    let mark = memmem::Finder::new(mark);
    integers(column, |facts| number_before(facts, &mark))
}

fn number_before(facts: &str, mark: &memmem::Finder<'_>) -> Option<i64> {
    let head = mark.find(facts.as_bytes()).map_or(facts, |end| &facts[..end]);
    match memrchr(b',', head.as_bytes()) {
        None => int(head),
        Some(comma) => {
            let mut rest = head[comma + 1..].chars();
            rest.next();
            int(rest.as_str())
        }
    }
}

fn sqft(column: &StringViewArray) -> Int64Array {
    let area = Area::new();
    integers(column, |facts| area.of(facts))
}

/// The searches of `sqft`.
struct Area(memmem::Finder<'static>, memmem::FinderRev<'static>);

impl Area {
    fn new() -> Area {
        Area(memmem::Finder::new(" sqft"), memmem::FinderRev::new("ba ,"))
    }

    fn of(&self, facts: &str) -> Option<i64> {
        let head = self.0.find(facts.as_bytes()).map_or(facts, |end| &facts[..end]);
        // Five characters past the label, of which the label is four; without a label
        // rfind gives -1, and four characters from the start are left out.
        let (rest, skipped) = match self.1.rfind(head.as_bytes()) {
            Some(start) => (&head[start + 4..], 1),
            None => (head, 4),
        };
        let mut rest = rest.chars();
        for _ in 0..skipped {
            rest.next();
        }
        whole_number(rest.as_str())
    }
}

fn price_per_sqft(column: &StringViewArray) -> Int64Array {
    let label = memmem::Finder::new("Price/sqft: $");
    let mark = memmem::Finder::new(" ,");
    integers(column, |facts| {
        let start = label.find(facts.as_bytes())? + "Price/sqft: $".len();
        let rest = &facts[start..];
        match mark.find(rest.as_bytes()) {
            Some(end) => whole_number(&rest[..end]),
            // find gives -1, and a slice up to -1 leaves out the last character.
            None => {
                let mut rest = rest.chars();
                rest.next_back();
                whole_number(rest.as_str())
            }
        }
    })
}

fn home_type(column: &StringViewArray) -> StringViewArray {
    let finders = ["condo", "apartment", "house"].map(memmem::Finder::new);
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for title in column {
        out.append_option(title.map(|title| {
            let title = lower(title, &mut buffer).as_bytes();
            if finders[2].find(title).is_some() {
                "house"
            } else if finders[0].find(title).is_some() || finders[1].find(title).is_some() {
                "condo"
            } else {
                "unknown"
            }
        }));
    }
    out.finish()
}

fn offer(column: &StringViewArray) -> StringViewArray {
    let words = ["sale", "rent", "sold"].map(|word| (word, memmem::Finder::new(word)));
    let foreclose = memmem::Finder::new("foreclose");
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for title in column {
        let Some(title) = title else {
            out.append_null();
            continue;
        };
        let title = lower(title, &mut buffer);
        let word = words.iter().find(|(_, finder)| finder.find(title.as_bytes()).is_some());
        out.append_value(match word {
            Some((word, _)) => word,
            None if foreclose.find(title.as_bytes()).is_some() => "foreclosed",
            None => title,
        });
    }
    out.finish()
}

fn list_price(
    prices: &StringViewArray,
    offers: &StringViewArray,
    rates: &Int64Array,
    areas: &Int64Array,
) -> Int64Array {
    let mut out = Int64Builder::with_capacity(prices.len());
    for (row, (price, offer)) in prices.iter().zip(offers).enumerate() {
        let value = match (offer, price) {
            (Some("sold"), _) if rates.is_null(row) || areas.is_null(row) => None,
            (Some("sold"), _) => rates.value(row).checked_mul(areas.value(row)),
            (_, None) => None,
            (Some("rent"), Some(price)) => {
                let mut rest = price.chars();
                rest.next();
                let rest = rest.as_str();
                let skipped = price.len() - rest.len();
                // Without a slash rfind gives -1, which leaves out the last character.
                let end = match memrchr(b'/', price.as_bytes()) {
                    Some(end) => end.max(skipped) - skipped,
                    None => rest.char_indices().next_back().map_or(0, |(end, _)| end),
                };
                whole_number(&rest[..end])
            }
            (_, Some(price)) => {
                let mut rest = price.chars();
                rest.next();
                whole_number(rest.as_str())
            }
        };
        out.append_option(value);
    }
    out.finish()
}

fn zipcode(column: &Float64Array) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for code in column {
        let Some(code) = code.filter(|code| code.is_finite()) else {
            out.append_null();
            continue;
        };
        write_zip(code, &mut buffer);
        out.append_value(&buffer);
    }
    out.finish()
}

fn write_zip(code: f64, buffer: &mut String) {
    buffer.clear();
    // Writing to a String cannot fail.
    let _ =
        if code.abs() < 9e18 { write!(buffer, "{:05}", code as i64) } else { write!(buffer, "{:.0}", code.trunc()) };
}

fn city_name(column: &StringViewArray) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for city in column {
        let Some(city) = city else {
            out.append_null();
            continue;
        };
        write_city(city, &mut buffer);
        out.append_value(&buffer);
    }
    out.finish()
}

fn write_city(city: &str, buffer: &mut String) {
    let city = city.trim_matches(is_space);
    buffer.clear();
    if city.is_ascii() {
        buffer.push_str(city);
        buffer.make_ascii_lowercase();
        if let Some(first) = buffer.get_mut(..1) {
            first.make_ascii_uppercase();
        }
    } else {
        python_str::capitalize(city, buffer);
    }
}

fn state_code(column: &StringViewArray) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for state in column {
        let Some(state) = state else {
            out.append_null();
            continue;
        };
        append_state(state, &mut buffer, &mut out);
    }
    out.finish()
}

fn append_state(state: &str, buffer: &mut String, out: &mut StringViewBuilder) {
    let state = state.trim_matches(is_space);
    if state.len() == 2 && state.is_ascii() {
        buffer.clear();
        buffer.push_str(state);
        buffer.make_ascii_uppercase();
        out.append_value(&*buffer);
    } else if state.chars().count() == 2 {
        out.append_value(state.to_uppercase());
    } else {
        out.append_option(match lower(state, buffer) {
            "arizona" => Some("AZ"),
            "california" => Some("CA"),
            "connecticut" => Some("CT"),
            "florida" => Some("FL"),
            "hawaii" | "hawaiʻi" => Some("HI"),
            "maine" => Some("ME"),
            "massachusetts" => Some("MA"),
            "new hampshire" => Some("NH"),
            "new jersey" => Some("NJ"),
            "new mexico" => Some("NM"),
            "new york" => Some("NY"),
            "puerto rico" => Some("PR"),
            "rhode island" => Some("RI"),
            "texas" => Some("TX"),
            "vermont" => Some("VT"),
            _ => None,
        });
    }
}

fn street(column: &StringViewArray) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(column.len());
    let mut buffer = String::new();
    for address in column {
        let Some(address) = address else {
            out.append_null();
            continue;
        };
        write_street(address, &mut buffer);
        out.append_value(&buffer);
    }
    out.finish()
}

fn write_street(address: &str, buffer: &mut String) {
    let address = memchr(b'#', address.as_bytes()).map_or(address, |unit| &address[..unit]);
    buffer.clear();
    for word in address.split(is_space).filter(|word| !word.is_empty()) {
        if !buffer.is_empty() {
            buffer.push(' ');
        }
        buffer.push_str(word);
    }
}

fn clean_url(column: &StringViewArray) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(column.len());
    // Most results are a part of their input, so they point into its buffers.
    let blocks: Vec<u32> = column.data_buffers().iter().map(|buffer| out.append_block(buffer.clone())).collect();
    let mut buffer = String::new();
    for row in 0..column.len() {
        if column.is_null(row) {
            out.append_null();
        } else {
            append_url(column, row, &blocks, &mut buffer, &mut out);
        }
    }
    out.finish()
}

/// Appends a cleaned address; `blocks` are the column's buffers in `out`.
fn append_url(column: &StringViewArray, row: usize, blocks: &[u32], buffer: &mut String, out: &mut StringViewBuilder) {
    let url = column.value(row);
    let head = memchr(b'?', url.as_bytes()).map_or(url, |query| &url[..query]);
    if let Some(rest) = head.strip_prefix("http://") {
        buffer.clear();
        buffer.push_str("https://");
        buffer.push_str(rest);
        out.append_value(buffer.trim_end_matches('/'));
        return;
    }
    let head = head.trim_end_matches('/');
    if url.len() <= 12 {
        out.append_value(head);
    } else {
        let view = ByteView::from(column.views()[row]);
        // SAFETY: the view is that of a valid array with its buffer at that block, and the
        // prefix of its text ends at the border of a character.
        unsafe { out.append_view_unchecked(blocks[view.buffer_index as usize], view.offset, head.len() as u32) };
    }
}

/// An empty function's work: one column of integers copied.
#[must_use]
pub fn copy(column: &Int64Array) -> Int64Array {
    Int64Array::new(column.values().to_vec().into(), column.nulls().cloned())
}
