//! Query Z1 written by hand: one loop over the rows of a batch, the conditions first.

use super::python_int::whole_number;
use super::python_str::lower;
use super::{Area, append_state, append_url, number_before, write_city, write_street, write_zip};
use anyhow::{Context, Result};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Builder, RecordBatch, StringViewArray, StringViewBuilder,
};
use datafusion::arrow::datatypes::Float64Type;
use memchr::memmem;
use std::sync::Arc;

/// Runs the query on a batch of listings.
///
/// # Errors
/// If a column is missing or has another type.
pub fn z1(batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |name: &str| batch.column_by_name(name).with_context(|| format!("no column {name}"));
    let text =
        |name: &str| -> Result<&StringViewArray> { column(name)?.as_string_view_opt().context("no string views") };
    let (titles, addresses, cities, states) = (text("title")?, text("address")?, text("city")?, text("state")?);
    let (prices, facts, urls) = (text("price")?, text("facts_and_features")?, text("url")?);
    let codes = column("postal_code")?.as_primitive_opt::<Float64Type>().context("no DOUBLE")?;

    let area = Area::new();
    let [bedrooms_mark, bathrooms_mark, sale, house] = [" bd", " ba", "sale", "house"].map(memmem::Finder::new);
    let mut out: [StringViewBuilder; 7] = std::array::from_fn(|_| StringViewBuilder::new());
    let mut numbers: [Int64Builder; 4] = std::array::from_fn(|_| Int64Builder::new());
    let blocks: Vec<u32> = urls.data_buffers().iter().map(|buffer| out[0].append_block(buffer.clone())).collect();
    let mut buffer = String::new();
    for row in 0..batch.num_rows() {
        if titles.is_null(row) || facts.is_null(row) || prices.is_null(row) {
            continue;
        }
        let title = lower(titles.value(row), &mut buffer).as_bytes();
        // A title with "sale" is for sale; with "house" it is a house.
        if sale.find(title).is_none() || house.find(title).is_none() {
            continue;
        }
        let facts = facts.value(row);
        let Some(bedrooms) = number_before(facts, &bedrooms_mark).filter(|bedrooms| *bedrooms < 10) else { continue };
        let mut price = prices.value(row).chars();
        price.next();
        let price = whole_number(price.as_str()).filter(|price| 100_000 < *price && *price < 20_000_000);
        let Some(price) = price else { continue };

        let [url, zipcode, address, city, state, offer, kind] = &mut out;
        if urls.is_null(row) {
            url.append_null();
        } else {
            append_url(urls, row, &blocks, &mut buffer, url);
        }
        if codes.is_null(row) || !codes.value(row).is_finite() {
            zipcode.append_null();
        } else {
            write_zip(codes.value(row), &mut buffer);
            zipcode.append_value(&buffer);
        }
        if addresses.is_null(row) {
            address.append_null();
        } else {
            write_street(addresses.value(row), &mut buffer);
            address.append_value(&buffer);
        }
        if cities.is_null(row) {
            city.append_null();
        } else {
            write_city(cities.value(row), &mut buffer);
            city.append_value(&buffer);
        }
        if states.is_null(row) {
            state.append_null();
        } else {
            append_state(states.value(row), &mut buffer, state);
        }
        offer.append_value("sale");
        kind.append_value("house");
        let [beds, baths, areas, listed] = &mut numbers;
        beds.append_value(bedrooms);
        baths.append_option(number_before(facts, &bathrooms_mark));
        areas.append_option(area.of(facts));
        listed.append_value(price);
    }
    let [url, zipcode, address, city, state, offer, kind] = out.map(|mut out| Arc::new(out.finish()) as ArrayRef);
    let [beds, baths, areas, listed] = numbers.map(|mut out| Arc::new(out.finish()) as ArrayRef);
    Ok(RecordBatch::try_from_iter([
        ("url", url),
        ("zipcode", zipcode),
        ("address", address),
        ("city", city),
        ("state", state),
        ("bedrooms", beds),
        ("bathrooms", baths),
        ("sqft", areas),
        ("offer", offer),
        ("type", kind),
        ("price", listed),
    ])?)
}
