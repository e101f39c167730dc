//! A table of real-estate listings as a scraper leaves it: text, some of it broken.
//!
//! Of the rows 5 % carry letters beyond ASCII in every column that has words. Of the
//! cells 2 % are NULL (providers 30 %: not every listing has one) and 1 % are malformed:
//! empty, cut off, or written for people. Studios (1 %), which have no bedrooms to count,
//! are not dirt but raise in the same function.

use crate::{Batches, Random};
use arrow::array::{ArrayRef, Float64Builder, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::fmt::Write;
use std::sync::Arc;

/// Cells that are NULL, per mille.
const NULL: u64 = 20;
/// Cells that are malformed, per mille.
const MALFORMED: u64 = 10;
/// Rows with letters beyond ASCII, per mille.
const NON_ASCII: u64 = 50;

/// The columns of the table: text, but for the postal code, which the scraper read as a
/// number, so that `01801` became `1801.0`.
#[must_use]
pub fn schema() -> SchemaRef {
    let names = [
        "title",
        "address",
        "city",
        "state",
        "postal_code",
        "price",
        "facts_and_features",
        "provider",
        "url",
        "sales_date",
    ];
    let fields = names.map(|name| {
        let ty = if name == "postal_code" { DataType::Float64 } else { DataType::Utf8 };
        Field::new(name, ty, true)
    });
    Arc::new(Schema::new(fields.to_vec()))
}

/// An iterator over the batches of a table.
#[derive(Debug)]
pub struct Listings(Batches);

impl Listings {
    /// A table of `rows` rows in batches of at most `batch` rows.
    #[must_use]
    pub fn new(seed: u64, rows: usize, batch: usize) -> Listings {
        Listings(Batches::new(seed, rows, batch))
    }
}

impl Iterator for Listings {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        let (rows, random) = self.0.next()?;
        let mut columns = Columns::default();
        for _ in 0..rows {
            columns.push(random);
        }
        Some(columns.finish())
    }
}

/// What the listing offers.
#[derive(Clone, Copy, PartialEq)]
enum Offer {
    Sale,
    Rent,
    Sold,
    Foreclosed,
}

/// A batch that is being filled, with a buffer for the cell at hand.
#[derive(Default)]
struct Columns {
    title: StringBuilder,
    address: StringBuilder,
    city: StringBuilder,
    state: StringBuilder,
    postal_code: Float64Builder,
    price: StringBuilder,
    facts: StringBuilder,
    provider: StringBuilder,
    url: StringBuilder,
    sales_date: StringBuilder,
    text: String,
}

impl Columns {
    fn push(&mut self, random: &mut Random) {
        let foreign = random.chance(NON_ASCII);
        let offer = match random.below(100) {
            0..52 => Offer::Sale,
            52..78 => Offer::Rent,
            78..96 => Offer::Sold,
            _ => Offer::Foreclosed,
        };
        let area = random.between(320, 5200);
        let dollars = match offer {
            Offer::Rent => random.between(16, 160) * 50,
            _ => area * random.between(90, 640) / 100 * 100 + random.below(10) * 100,
        };
        let place = PLACES[random.below(PLACES.len() as u64) as usize];

        title(&mut self.text, random, offer, foreign);
        cell(&mut self.title, &mut self.text, random, &["", "—", "???"]);
        address(&mut self.text, random, foreign);
        cell(&mut self.address, &mut self.text, random, &["", " ", "(undisclosed address)", "#"]);
        city(&mut self.text, random, &place, foreign);
        cell(&mut self.city, &mut self.text, random, &["", "   ", "-", "02139"]);
        state(&mut self.text, random, &place, foreign);
        cell(&mut self.state, &mut self.text, random, &["", "n/a", "U.S.", "Unknown"]);
        match random.below(1000) {
            0..NULL => self.postal_code.append_null(),
            20..30 => self.postal_code.append_value([f64::NAN, f64::INFINITY, -1.0, 0.5][random.below(4) as usize]),
            _ => self.postal_code.append_value(random.between(place.zip, place.zip + 900) as f64),
        }
        price(&mut self.text, random, offer, dollars, foreign);
        cell(&mut self.price, &mut self.text, random, &["", "Contact agent", "$--", "Est. $1,2OO", "$1.2M"]);
        facts(&mut self.text, random, offer, area, dollars, foreign);
        let broken =
            ["", "--", "3 bds 2 ba 1560 sqft", "-- bds , -- ba , -- sqft", "2 bds , 1.5 ba , 1,2", "Lot , 3 acres"];
        cell(&mut self.facts, &mut self.text, random, &broken);
        if random.chance(280) {
            self.provider.append_null();
        } else {
            self.text.push_str(random.pick(if foreign { FOREIGN_PROVIDERS } else { PROVIDERS }));
            let _ = write!(self.text, " {}", random.pick(&["LLC", "Realty", "& Sons", "Group"]));
            cell(&mut self.provider, &mut self.text, random, &["", "None", "..."]);
        }
        url(&mut self.text, random, &place, foreign);
        cell(&mut self.url, &mut self.text, random, &["", "www", "http://", "?", "/homedetails"]);
        let _ = write!(
            self.text,
            "{}-{:02}-{:02}",
            random.between(2012, 2025),
            random.between(1, 12),
            random.between(1, 28)
        );
        cell(&mut self.sales_date, &mut self.text, random, &["", "tomorrow", "2019-13-45", "03/14/2019"]);
    }

    fn finish(mut self) -> RecordBatch {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.title.finish()),
            Arc::new(self.address.finish()),
            Arc::new(self.city.finish()),
            Arc::new(self.state.finish()),
            Arc::new(self.postal_code.finish()),
            Arc::new(self.price.finish()),
            Arc::new(self.facts.finish()),
            Arc::new(self.provider.finish()),
            Arc::new(self.url.finish()),
            Arc::new(self.sales_date.finish()),
        ];
        RecordBatch::try_new(schema(), columns).expect("the columns have the schema's types and one length")
    }
}

/// Appends the text, or instead of it NULL or something broken, and empties it.
fn cell(column: &mut StringBuilder, text: &mut String, random: &mut Random, broken: &[&str]) {
    match random.below(1000) {
        0..NULL => column.append_null(),
        roll if roll < NULL + MALFORMED => {
            // Half of what is broken is the right text, cut off somewhere.
            if random.chance(500) && !text.is_empty() {
                let mut end = random.below(text.len() as u64) as usize;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                column.append_value(&text[..end]);
            } else {
                column.append_value(random.pick(broken));
            }
        }
        _ => column.append_value(&*text),
    }
    text.clear();
}

/// `House For Sale`, `Apartment For Rent`, `Sold: New construction condo` and so on.
fn title(text: &mut String, random: &mut Random, offer: Offer, foreign: bool) {
    let kind = random.pick(&[
        "House",
        "House",
        "House",
        "Condo",
        "Apartment",
        "Townhouse",
        "Lot / Land",
        "New construction house",
        "Multi-family home",
        "Penthouse apartment",
        "Condo",
    ]);
    if foreign {
        let prefix =
            ["Casa José • ", "Près du café – ", "İzmir-style ", "日当たり良好 ", "Chalet Björn: ", "Ünique ", "🏡 "];
        text.push_str(random.pick(&prefix));
    }
    let _ = match offer {
        Offer::Sale if random.chance(80) => write!(text, "For Sale by Owner: {kind}"),
        Offer::Sale => write!(text, "{kind} For Sale"),
        Offer::Rent => write!(text, "{kind} For Rent"),
        Offer::Sold => write!(text, "Sold {kind}"),
        Offer::Foreclosed => write!(text, "{kind}, Foreclosed"),
    };
    if random.chance(60) {
        text.make_ascii_uppercase();
    } else if random.chance(60) {
        text.push_str(random.pick(&[" - open house Sunday", " (coming soon)", ", price reduced"]));
    }
}

/// `27  Elm Street #4`, with blanks where a scraper leaves them.
fn address(text: &mut String, random: &mut Random, foreign: bool) {
    if random.chance(150) {
        text.push(' ');
    }
    let blank = if random.chance(100) { "  " } else { " " };
    let street = random.pick(if foreign { FOREIGN_STREETS } else { STREETS });
    let way = random.pick(&["St", "Ave", "Road", "Blvd", "Lane", "Court", "Terrace"]);
    let _ = write!(text, "{}{blank}{street} {way}", random.between(1, 9999));
    match random.below(10) {
        0 => drop(write!(text, " #{}", random.between(1, 60))),
        1 => drop(write!(text, " # {}{}", random.between(1, 9), random.pick(&["A", "B", "C"]))),
        2 => text.push(' '),
        _ => {}
    }
}

/// The name of a city in the spelling of the day: `BOSTON`, `boston`, ` Boston`.
fn city(text: &mut String, random: &mut Random, place: &Place, foreign: bool) {
    let name = if foreign { random.pick(FOREIGN_CITIES) } else { place.city };
    match random.below(10) {
        0..3 => text.push_str(&name.to_uppercase()),
        3 => text.push_str(&name.to_lowercase()),
        4 => drop(write!(text, " {name} ")),
        _ => text.push_str(name),
    }
}

/// `MA`, `ma`, or the name in full.
fn state(text: &mut String, random: &mut Random, place: &Place, foreign: bool) {
    if foreign {
        text.push_str(random.pick(&["Hawaiʻi", "HAWAIʻI", "hawaiʻi ", "MA\u{a0}", "Nuevo México"]));
        return;
    }
    match random.below(10) {
        0 => text.push_str(&place.code.to_lowercase()),
        1 => drop(write!(text, "{} ", place.code)),
        2 | 3 => text.push_str(place.state),
        4 => text.push_str(&place.state.to_uppercase()),
        _ => text.push_str(place.code),
    }
}

/// `$489,000`, `$3,650/mo`, and for sold ones often nothing that counts.
fn price(text: &mut String, random: &mut Random, offer: Offer, dollars: u64, foreign: bool) {
    let sign = if foreign { random.pick(&["€", "£", "＄"]) } else { "$" };
    text.push_str(sign);
    thousands(text, dollars);
    match offer {
        Offer::Rent => text.push_str("/mo"),
        Offer::Sold if random.chance(300) => {
            text.clear();
            let _ = write!(text, "SOLD: {sign}{}K", dollars / 1000);
        }
        Offer::Sale | Offer::Sold | Offer::Foreclosed => {}
    }
}

/// `3 bds , 1 ba , 1,560 sqft`, and before it the price of a square foot for sold ones.
fn facts(text: &mut String, random: &mut Random, offer: Offer, area: u64, dollars: u64, foreign: bool) {
    if foreign && random.chance(400) {
        text.push_str(random.pick(&["★ ", "Vue mer , ", "Café en bas , ", "眺望良好 , "]));
    }
    if offer == Offer::Sold || random.chance(40) {
        text.push_str("Price/sqft: $");
        thousands(text, (dollars / area).max(1));
        text.push_str(" , ");
    }
    if random.chance(10) {
        text.push_str("Studio , ");
    } else {
        let bedrooms = (1 + area / 700 + random.below(3)).min(12);
        let _ = write!(text, "{bedrooms} {} , ", if bedrooms == 1 { "bd" } else { "bds" });
    }
    let _ = write!(text, "{} ba , ", 1 + area / 1300 + random.below(2));
    thousands(text, area);
    text.push_str(" sqft");
    if foreign {
        text.push_str(random.pick(&[" – à rénover", " ½ acre", " · piñon floors", " ✔"]));
    }
}

/// `https://www.example.com/homedetails/27-Elm-St-Boston-MA/5612345_zpid/?utm=x`.
fn url(text: &mut String, random: &mut Random, place: &Place, foreign: bool) {
    text.push_str(if random.chance(250) { "http" } else { "https" });
    let street = random.pick(if foreign { FOREIGN_STREETS } else { STREETS });
    let _ = write!(text, "://www.example.com/homedetails/{}-", random.between(1, 9999));
    for part in street.split(' ').chain(place.city.split(' ')) {
        let _ = write!(text, "{part}-");
    }
    let _ = write!(text, "{}/{}_zpid/", place.code, random.between(1_000_000, 2_100_000_000));
    if random.chance(300) {
        let _ = write!(text, "?{}={}", random.pick(&["utm_source", "ref", "id"]), random.bits() >> 40);
    }
}

/// A number with commas: 1560 is `1,560`.
fn thousands(text: &mut String, number: u64) {
    if number >= 1000 {
        thousands(text, number / 1000);
        let _ = write!(text, ",{:03}", number % 1000);
    } else {
        let _ = write!(text, "{number}");
    }
}

/// A city, its state and the first of its postal codes.
#[derive(Clone, Copy)]
struct Place {
    city: &'static str,
    state: &'static str,
    code: &'static str,
    zip: u64,
}

const fn place(city: &'static str, state: &'static str, code: &'static str, zip: u64) -> Place {
    Place { city, state, code, zip }
}

const PLACES: &[Place] = &[
    place("Boston", "Massachusetts", "MA", 2108),
    place("Woburn", "Massachusetts", "MA", 1801),
    place("Jamaica Plain", "Massachusetts", "MA", 2130),
    place("Cambridge", "Massachusetts", "MA", 2138),
    place("Portland", "Maine", "ME", 4101),
    place("Nashua", "New Hampshire", "NH", 3060),
    place("Burlington", "Vermont", "VT", 5401),
    place("Providence", "Rhode Island", "RI", 2901),
    place("Hartford", "Connecticut", "CT", 6101),
    place("Newark", "New Jersey", "NJ", 7101),
    place("New York", "New York", "NY", 10001),
    place("Miami Beach", "Florida", "FL", 33109),
    place("San Antonio", "Texas", "TX", 78201),
    place("Phoenix", "Arizona", "AZ", 85001),
    place("Santa Fe", "New Mexico", "NM", 87501),
    place("San Luis Obispo", "California", "CA", 93401),
    place("Los Angeles", "California", "CA", 90001),
    place("Honolulu", "Hawaii", "HI", 96801),
];

const STREETS: &[&str] = &[
    "Elm",
    "Massachusetts",
    "Beacon",
    "Oak Hill",
    "Washington",
    "River",
    "Old County",
    "Maple",
    "Prospect",
    "Chestnut",
    "Martin Luther King",
    "Cedar Point",
    "Lakeview",
    "Second",
    "Highland",
    "Park",
    "Mount Auburn",
    "Juniper",
];

const FOREIGN_STREETS: &[&str] =
    &["Peñón", "Doña Ana", "Rue Évangéline", "Königsberg", "Cañada Vista", "Kalākaua", "Österreich Hill", "São Jorge"];

const FOREIGN_CITIES: &[&str] = &[
    "Cañon City",
    "Española",
    "Kīhei",
    "Mayagüez",
    "Peñasco",
    "Élan Village",
    "Ñuñoa",
    "La Cañada Flintridge",
    "東京町",
];

const PROVIDERS: &[&str] =
    &["Keller & Finch", "Century Homes", "Coldwater", "Blue Door", "Redwood", "Compass Rose", "Harbor View"];

const FOREIGN_PROVIDERS: &[&str] = &["Peña Hermanos", "Björk Immobilien", "Maison Lefèvre", "Łódź Homes"];

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};

    fn share(of: usize, all: usize) -> f64 {
        of as f64 / all as f64
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let first: Vec<RecordBatch> = Listings::new(1, 1000, 300).collect();
        let second: Vec<RecordBatch> = Listings::new(1, 1000, 300).collect();
        assert_eq!(first, second);
        assert_eq!(first.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [300, 300, 300, 100]);
        assert_ne!(first, Listings::new(2, 1000, 300).collect::<Vec<_>>());
    }

    #[test]
    fn the_dirt_is_as_stated() {
        let batch = Listings::new(1, 50_000, 50_000).next().expect("a batch");
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let nulls = share(column.null_count(), column.len());
            let wanted = if field.name() == "provider" { 0.29 } else { 0.02 };
            assert!((nulls - wanted).abs() < 0.01, "{}: {nulls} NULL", field.name());
            if let Some(column) = column.as_string_opt::<i32>() {
                let foreign = column.iter().flatten().filter(|text| !text.is_ascii()).count();
                let foreign = share(foreign, column.len() - column.null_count());
                let words = field.name() != "sales_date";
                assert!((foreign - if words { 0.05 } else { 0.0 }).abs() < 0.015, "{}: {foreign}", field.name());
            }
        }
    }
}
