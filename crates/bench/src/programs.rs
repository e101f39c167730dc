//! The twelve functions of `udfs/zillow.py`: what they are called with, and how a person
//! who knows SQL would write them for DataFusion.
//!
//! The SQL does not aim at every corner of Python: `int()` takes digits of all scripts and
//! underscores, TRY_CAST does not. Where that shows in the data the benchmark reports the
//! number of rows that differ.

/// A function of the benchmark.
#[derive(Debug)]
pub struct Program {
    /// Its name in SQL and in Python.
    pub name: &'static str,
    /// The columns that it is called with, those of the table or derived from them.
    pub columns: &'static [&'static str],
    /// The expression in DataFusion's SQL.
    pub sql: &'static str,
}

/// The columns that other functions have made: name, function.
pub const DERIVED: [(&str, &str); 3] = [("offer", "offer"), ("rate", "price_per_sqft"), ("area", "sqft")];

/// The functions, in the order of the file.
pub const PROGRAMS: [Program; 12] = [
    Program {
        name: "bedrooms",
        columns: &["facts_and_features"],
        sql: "try_cast(btrim(CASE WHEN strpos(split_part(facts_and_features, ' bd', 1), ',') > 0 \
              THEN substr(split_part(split_part(facts_and_features, ' bd', 1), ',', -1), 2) \
              ELSE split_part(facts_and_features, ' bd', 1) END) AS BIGINT)",
    },
    Program {
        name: "bathrooms",
        columns: &["facts_and_features"],
        sql: "try_cast(btrim(CASE WHEN strpos(split_part(facts_and_features, ' ba', 1), ',') > 0 \
              THEN substr(split_part(split_part(facts_and_features, ' ba', 1), ',', -1), 2) \
              ELSE split_part(facts_and_features, ' ba', 1) END) AS BIGINT)",
    },
    Program {
        name: "sqft",
        columns: &["facts_and_features"],
        sql: "try_cast(btrim(replace(CASE WHEN strpos(split_part(facts_and_features, ' sqft', 1), 'ba ,') > 0 \
              THEN substr(split_part(split_part(facts_and_features, ' sqft', 1), 'ba ,', -1), 2) \
              ELSE substr(split_part(facts_and_features, ' sqft', 1), 5) END, ',', '')) AS BIGINT)",
    },
    Program {
        name: "price_per_sqft",
        columns: &["facts_and_features"],
        sql: "CASE WHEN strpos(facts_and_features, 'Price/sqft: $') > 0 THEN try_cast(btrim(replace(\
              CASE WHEN strpos(split_part(facts_and_features, 'Price/sqft: $', 2), ' ,') > 0 \
              THEN split_part(split_part(facts_and_features, 'Price/sqft: $', 2), ' ,', 1) \
              ELSE left(split_part(facts_and_features, 'Price/sqft: $', 2), -1) END, ',', '')) AS BIGINT) END",
    },
    Program {
        name: "home_type",
        columns: &["title"],
        sql: "CASE WHEN title IS NULL THEN NULL WHEN lower(title) LIKE '%house%' THEN 'house' \
              WHEN lower(title) LIKE '%condo%' OR lower(title) LIKE '%apartment%' THEN 'condo' \
              ELSE 'unknown' END",
    },
    Program {
        name: "offer",
        columns: &["title"],
        sql: "CASE WHEN lower(title) LIKE '%sale%' THEN 'sale' WHEN lower(title) LIKE '%rent%' THEN 'rent' \
              WHEN lower(title) LIKE '%sold%' THEN 'sold' WHEN lower(title) LIKE '%foreclose%' THEN 'foreclosed' \
              ELSE lower(title) END",
    },
    Program {
        name: "list_price",
        columns: &["price", "offer", "rate", "area"],
        sql: "CASE WHEN offer = 'sold' THEN rate * area \
              WHEN offer = 'rent' THEN try_cast(btrim(replace(substr(price, 2, greatest(0, \
              CASE WHEN strpos(price, '/') > 0 THEN length(price) - strpos(reverse(price), '/') - 1 \
              ELSE length(price) - 2 END)), ',', '')) AS BIGINT) \
              ELSE try_cast(btrim(replace(substr(price, 2), ',', '')) AS BIGINT) END",
    },
    Program {
        name: "zipcode",
        columns: &["postal_code"],
        sql: "CASE WHEN postal_code < 0 THEN '-' || lpad(CAST(-try_cast(postal_code AS BIGINT) AS VARCHAR), 4, '0') \
              WHEN try_cast(postal_code AS BIGINT) > 99999 THEN CAST(try_cast(postal_code AS BIGINT) AS VARCHAR) \
              ELSE lpad(CAST(try_cast(postal_code AS BIGINT) AS VARCHAR), 5, '0') END",
    },
    Program {
        name: "city_name",
        columns: &["city"],
        sql: "upper(left(btrim(city), 1)) || lower(substr(btrim(city), 2))",
    },
    Program {
        name: "state_code",
        columns: &["state"],
        sql: "CASE WHEN length(btrim(state, ' \u{a0}')) = 2 THEN upper(btrim(state, ' \u{a0}')) ELSE \
              CASE lower(btrim(state, ' \u{a0}')) WHEN 'arizona' THEN 'AZ' WHEN 'california' THEN 'CA' \
              WHEN 'connecticut' THEN 'CT' WHEN 'florida' THEN 'FL' WHEN 'hawaii' THEN 'HI' \
              WHEN 'hawai\u{2bb}i' THEN 'HI' WHEN 'maine' THEN 'ME' WHEN 'massachusetts' THEN 'MA' \
              WHEN 'new hampshire' THEN 'NH' WHEN 'new jersey' THEN 'NJ' WHEN 'new mexico' THEN 'NM' \
              WHEN 'new york' THEN 'NY' WHEN 'puerto rico' THEN 'PR' WHEN 'rhode island' THEN 'RI' \
              WHEN 'texas' THEN 'TX' WHEN 'vermont' THEN 'VT' END END",
    },
    Program {
        name: "street",
        columns: &["address"],
        sql: "btrim(regexp_replace(split_part(address, '#', 1), '\\s+', ' ', 'g'))",
    },
    Program {
        name: "clean_url",
        columns: &["url"],
        sql: "rtrim(CASE WHEN starts_with(url, 'http://') THEN 'https://' || substr(split_part(url, '?', 1), 8) \
              ELSE split_part(url, '?', 1) END, '/')",
    },
];

impl Program {
    /// The function of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> anyhow::Result<&'static Program> {
        PROGRAMS.iter().find(|program| program.name == name).ok_or_else(|| anyhow::anyhow!("no function {name}"))
    }
}

/// Query Z1 with the Python functions.
pub const Z1: &str = include_str!("../../../sql/zillow_z1.sql");

/// Query Z1 in DataFusion's SQL without Python: the expressions above in place of the calls.
#[must_use]
pub fn z1_by_hand() -> String {
    let sql = |name: &str| PROGRAMS.iter().find(|program| program.name == name).map_or("", |program| program.sql);
    format!(
        "SELECT url, zipcode, address, city, state, bedrooms, bathrooms, sqft, offer, type, price FROM (\
         SELECT *, {price} AS price FROM (SELECT {url} AS url, {zipcode} AS zipcode, {street} AS address, \
         {city} AS city, {state} AS state, {bedrooms} AS bedrooms, {bathrooms} AS bathrooms, {sqft} AS sqft, \
         {rate} AS rate, {offer} AS offer, {kind} AS type, price AS listed FROM listings)) \
         WHERE bedrooms < 10 AND type = 'house' AND offer = 'sale' AND 100000 < price AND price < 20000000",
        price = sql("list_price").replace("price", "listed").replace("area", "sqft"),
        url = sql("clean_url"),
        zipcode = sql("zipcode"),
        street = sql("street"),
        city = sql("city_name"),
        state = sql("state_code"),
        bedrooms = sql("bedrooms"),
        bathrooms = sql("bathrooms"),
        sqft = sql("sqft"),
        rate = sql("price_per_sqft"),
        offer = sql("offer"),
        kind = sql("home_type"),
    )
}
