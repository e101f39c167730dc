//! Values at which programs tend to break, by type and by what a parameter is used for.
//!
//! Rows combine the corpora of a function's parameters: completely where that stays
//! small, else each value of each corpus in several company, chosen by a seed that hangs
//! on the case's name, so that a failure repeats.

use crate::random::Random;
use crate::signature::{Signature, SqlType};
use crate::value::{DAY, Value, decimal};
use anyhow::bail;

/// The most rows that are made for one case.
const ROWS: usize = 320;

/// Rows for a signature. `corpora` names the corpus of a parameter where it is not the
/// general one of its type.
///
/// # Errors
/// A corpus or parameter that does not exist.
pub fn rows(signature: &Signature, corpora: &[(String, String)], seed: &str) -> anyhow::Result<Vec<Vec<Value>>> {
    for (param, _) in corpora {
        if !signature.params.iter().any(|(name, _)| name == param) {
            bail!("no parameter {param}");
        }
    }
    let mut columns = Vec::new();
    for (name, ty) in &signature.params {
        let corpus = corpora.iter().find(|(param, _)| param == name).map_or("nasty", |(_, corpus)| corpus.as_str());
        columns.push(values(*ty, corpus)?);
    }
    Ok(combine(&columns, seed, ROWS))
}

/// Rows that combine the columns' values, at most `limit`.
#[must_use]
pub fn combine(columns: &[Vec<Value>], seed: &str, limit: usize) -> Vec<Vec<Value>> {
    let mut random = Random::of_text(seed);
    let product = columns.iter().try_fold(1_usize, |product, column| product.checked_mul(column.len()));
    if let Some(product) = product.filter(|product| *product <= limit) {
        return (0..product)
            .map(|mut index| {
                columns
                    .iter()
                    .map(|column| {
                        let value = column[index % column.len()].clone();
                        index /= column.len();
                        value
                    })
                    .collect()
            })
            .collect();
    }
    // Each column is a sequence of shuffled rounds through its corpus.
    let rounds: Vec<Vec<&Value>> = columns
        .iter()
        .map(|column| {
            let mut values = Vec::new();
            while values.len() < limit {
                let mut round: Vec<&Value> = column.iter().collect();
                random.shuffle(&mut round);
                values.extend(round);
            }
            values
        })
        .collect();
    (0..limit).map(|row| rounds.iter().map(|column| column[row].clone()).collect()).collect()
}

/// The values of a corpus; NULL is always among them.
///
/// # Errors
/// A corpus that does not exist for the type.
pub fn values(ty: SqlType, corpus: &str) -> anyhow::Result<Vec<Value>> {
    let (corpus, nulls) = match corpus.strip_suffix('!') {
        Some(corpus) => (corpus, false),
        None => (corpus, true),
    };
    let mut values: Vec<Value> = match (ty, corpus) {
        (SqlType::Boolean, "nasty") => vec![Value::Bool(false), Value::Bool(true)],
        (SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt, _) => {
            let (low, high) = ty.range().unwrap_or((i64::MIN, i64::MAX));
            let mut all = ints(corpus)?;
            if corpus == "nasty" {
                all.extend([low, low + 1, high - 1, high]);
            }
            all.retain(|value| low <= *value && *value <= high);
            all.sort_unstable();
            all.dedup();
            all.into_iter().map(Value::int).collect()
        }
        (SqlType::Double, _) => floats(corpus)?.into_iter().map(Value::Float).collect(),
        (SqlType::Real, _) => floats(corpus)?.into_iter().map(|value| Value::Float(f64::from(value as f32))).collect(),
        (SqlType::Bytea, "nasty") => bytes(),
        (SqlType::Date, "nasty") => DATES.map(Value::Date).to_vec(),
        (SqlType::Timestamp, "nasty") => datetimes().map(Value::Datetime).collect(),
        (SqlType::Time, "nasty") => TIMES.map(Value::Time).to_vec(),
        (SqlType::Decimal(precision, scale), "nasty") => {
            let most = 10i128.pow(u32::from(precision)) - 1;
            let unit = 10i128.pow(u32::from(scale.unsigned_abs()));
            let mut all =
                vec![0, 1, -1, 5, 15, -25, 995, -1005, 12345, unit, -unit, 7 * unit, 3 * unit / 2, most, -most];
            all.retain(|digits| digits.abs() <= most);
            all.into_iter().map(|digits| decimal(digits, scale)).collect()
        }
        (SqlType::Text, _) => strings(corpus)?.into_iter().map(Value::Str).collect(),
        (SqlType::Array(element), _) => {
            let items = values(*element, corpus)?;
            let mut lists = vec![Value::List(Vec::new()), Value::List(vec![Value::None])];
            let lengths = [1, 2, 3, 1, 5, 17];
            let mut rest = &items[..];
            for length in lengths.into_iter().cycle().take(24) {
                if rest.len() < length {
                    rest = &items[..];
                }
                let (list, others) = rest.split_at(length.min(rest.len()));
                lists.push(Value::List(list.to_vec()));
                rest = others;
            }
            lists
        }
        (SqlType::Map(ty), _) => {
            let items = values(*ty, corpus)?;
            let keys = ["a", "b", "é", "", "key 1", "日本"];
            let mut maps = vec![Value::Dict(Vec::new()), Value::Dict(vec![("a".to_string(), Value::None)])];
            for (turn, start) in (0..items.len()).step_by(3).enumerate() {
                let entries = items.iter().skip(start).zip(keys.iter().cycle().skip(turn)).take(turn % 6 + 1);
                maps.push(Value::Dict(entries.map(|(item, key)| ((*key).to_string(), item.clone())).collect()));
            }
            maps
        }
        (SqlType::Struct(fields), _) => {
            let columns = fields.iter().map(|field| values(field.1, corpus)).collect::<anyhow::Result<Vec<_>>>()?;
            let most = columns.iter().map(Vec::len).max().unwrap_or(0);
            let row = |row: usize| {
                let named = fields.iter().zip(&columns);
                named.map(|((name, _), column)| (name.clone(), column[(row * 7) % column.len()].clone())).collect()
            };
            (0..most).map(|at| Value::Dict(row(at))).collect()
        }
        (ty, corpus) => bail!("no corpus {corpus} of {}", ty.name()),
    };
    if nulls {
        values.push(Value::None);
    }
    Ok(values)
}

/// Midnight, noon, what is near them, and each part by itself.
const TIMES: [i64; 12] = [
    0,
    1,
    999_999,
    1_000_000,
    59_999_999,
    60_000_000,
    3_599_999_999,
    3_600_000_000,
    43_200_000_000,
    43_199_000_001,
    45_296_789_012,
    86_399_999_999,
];

/// Each time of the day on the dates that nanoseconds reach, by turns, and their ends.
fn datetimes() -> impl Iterator<Item = i64> {
    let days = DATES.into_iter().filter(|days| (-106_000..106_000).contains(days));
    let joined = days.zip(TIMES.into_iter().cycle()).map(|(days, time)| i64::from(days) * DAY + time);
    joined.chain([-1, 0, -9_223_372_036_854_775, 9_223_372_036_854_775, 1_709_210_096_789_012])
}

/// Bytes that are text in UTF-8, that nearly are, and all there are.
fn bytes() -> Vec<Value> {
    let texts: [&[u8]; 22] = [
        b"",
        b"a",
        b"abc",
        b" a,b ,c\n",
        b"\0",
        b"'",
        b"'\"",
        b"\\x41\t\r",
        "\u{e4}\u{20ac}\u{1f600}".as_bytes(),
        b"\x80",
        b"\xff\xfe",
        b"\xc3",
        b"a\xc3b",
        b"\xe2\x82",
        b"\xe2\x82a\xac",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
        b"\xc0\xaf",
        b"\x85\xa0\x1c \x0b",
        b"longer than a view holds inline, all of it ASCII",
        b"longer than a view holds inline, \xfcnd not ASCII",
    ];
    let all: Vec<u8> = (0..=255).collect();
    texts.into_iter().chain([&all[..]]).map(|bytes| Value::Bytes(bytes.to_vec())).collect()
}

/// Days since 1970-01-01: the first and the last that Python knows, leap days, ends of months,
/// years and centuries, and what lies around them.
const DATES: [i32; 30] = [
    -719_162, -719_161, -718_798, -719_103, -354_285, -141_428, -141_427, -25_509, -25_508, -25_567, -1, 0, 1, 58, 59,
    364, 365, 11_016, 11_017, 10_956, 10_957, 19_723, 19_782, 19_783, 20_088, 20_089, 47_540, 47_541, 2_932_895,
    2_932_896,
];

fn ints(corpus: &str) -> anyhow::Result<Vec<i64>> {
    Ok(match corpus {
        "nasty" => {
            let mut values = vec![0, 1, 2, 3, 5, 7, 10, 63, 64, 100, 255, 256, 1000, 65535, 65536, 4_294_967_296];
            for bits in [31, 32, 53, 62] {
                values.extend([(1 << bits) - 1, 1 << bits, (1 << bits) + 1]);
            }
            values.extend([999_999_999, 1_000_000_007, 3_037_000_499, 3_037_000_500]);
            values.extend(values.clone().iter().map(|value: &i64| -value));
            values.extend([i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1]);
            values
        }
        "small" => vec![-17, -10, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 10, 12, 17, 30],
        "tiny" => (-1..=4).collect(),
        "deep" => vec![0, 3, 150, 190, 212, 238, 262, 300, 318, 345, 400, 480, 515, 600, 890, 980, 1010],
        "index" => vec![-100, -7, -3, -2, -1, 0, 1, 2, 3, 4, 6, 12, 13, 100, i64::MAX, i64::MIN],
        "bits" => vec![0, 1, 2, 7, 8, 31, 32, 33, 53, 61, 62, 63, 64, 65, 100, 200, -1],
        "codepoints" => {
            vec![-1, 0, 10, 65, 0x7f, 0x80, 0xe9, 0x7ff, 0x800, 0x20ac, 0xfffd, 0xffff, 0x1_0000, 0x1_f600, 0x10_ffff]
        }
        "digits" => vec![-400, -310, -20, -3, -2, -1, 0, 1, 2, 3, 5, 10, 15, 16, 17, 20, 22, 100, 323, 324, 400],
        other => bail!("no corpus {other} of integers"),
    })
}

fn floats(corpus: &str) -> anyhow::Result<Vec<f64>> {
    Ok(match corpus {
        "nasty" => {
            let mut values = vec![
                0.0,
                0.1,
                0.5,
                1.0,
                1.5,
                2.0,
                2.5,
                2.675,
                3.0,
                0.3,
                1e-5,
                1e-4,
                123_456.789,
                1e15,
                1e16,
                1e17,
                9_007_199_254_740_992.0,
                9_007_199_254_740_993.0,
                9.3e18,
                9_223_372_036_854_775_807.0,
                1e22,
                1e100,
                1e308,
                f64::MAX,
                f64::MIN_POSITIVE,
                5e-324,
                f64::INFINITY,
                std::f64::consts::PI,
                f64::EPSILON,
            ];
            values.extend(values.clone().iter().map(|value: &f64| -value));
            values.push(f64::NAN);
            values
        }
        "small" => vec![-7.5, -2.0, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 100.0],
        "ties" => vec![
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
            -2.5,
            0.125,
            0.375,
            2.675,
            1.005,
            1.115,
            2.665,
            0.045,
            5e-324,
            1e22,
            4.35,
            0.285,
            1e-7,
            123_456_789.125,
            99.995,
            0.000_05,
            25.0,
            35.0,
            250.0,
            1_234_500.0,
        ],
        other => bail!("no corpus {other} of floats"),
    })
}

fn strings(corpus: &str) -> anyhow::Result<Vec<String>> {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
    Ok(match corpus {
        "nasty" => {
            let mut values = own(NASTY);
            values.push("a".repeat(300));
            values.push("ab é".repeat(50));
            values
        }
        "short" => {
            own(&["", "a", "b", "ab", "A", " ", "é", "l", "ll", "o,", ",", "ß", "日", "😀", "\u{301}", "0", "abc"])
        }
        "numbers" => own(NUMBERS),
        "amounts" => own(AMOUNTS),
        "spaces" => own(SPACES),
        "words" => own(WORDS),
        "orders" => own(ORDERS),
        "listings" => own(LISTINGS),
        "documents" => own(DOCUMENTS),
        "expressions" => own(EXPRESSIONS),
        other => bail!("no corpus {other} of strings"),
    })
}

/// Terms of a small language, and what is none.
const EXPRESSIONS: &[&str] = &[
    "",
    "x",
    "1+2*3",
    "-(x-4)*y+10",
    "2*(3",
    "é",
    "((1))*-x",
    "1-",
    "+",
    "12*",
    "(x+y)*(x-y)*2",
    "--3",
    "日*2",
    "x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*9",
];

const AMOUNTS: &[&str] = &[
    "0",
    "-0",
    "0.00",
    "-0.000",
    "1",
    "1.5",
    "1.50",
    "-2.5",
    "3.14159",
    "0.005",
    "0.015",
    "-0.025",
    "2.675",
    "999.995",
    "1234567.891",
    "-1234567.895",
    "12345678901234567890.125",
    "9999999999999999999999999999",
    "99999999999999999999999999995",
    "0.3333333333333333333333333333",
    "-0.0000001",
    "0.000001",
    "1E+3",
    "1e-7",
    "-12.34E5",
    "7E-30",
    "100",
    "1_000.25",
    " 42.10 ",
    "+7",
    ".5",
    "5.",
    "007.10",
];

const NASTY: &[&str] = &[
    "",
    "a",
    "A",
    " ",
    "  a b  ",
    "abc",
    "abcabc",
    "ABC def",
    "aaaa",
    "hello, world",
    "Hello, World! 123",
    "a,b,,c,",
    ",,",
    "0",
    "42",
    "-17",
    "3.14",
    "1e5",
    "nan",
    "exactly 12 b",
    "exactly 13 by",
    "\0",
    "a\0b",
    "\t\n\r\x0b\x0c",
    "line\nline\r\nline\rend\n",
    "\x1c\x1d\x1e\x1f",
    "\u{85}\u{a0}",
    "a\u{2028}b\u{2029}c",
    "\u{2003}em\u{3000}",
    "tab\tand 'quotes' \"double\" \\",
    "{} %s {x} %%",
    "it's they'RE o'NEILL",
    "é",
    "École à São Paulo",
    "e\u{301}cole",
    "ÀÉÎÕÜ àéîõü",
    "ß straße STRASSE ẞ",
    "ı İ i I ſ",
    "ǅ ǆ Ǆ",
    "ﬁ ﬂ ﬃ ŉ",
    "ΣΑΣ ΟΔΟΣ σς Σ",
    "Ѐ Привет, мир",
    "שלום עולם",
    "مرحبا ١٢٣",
    "नमस्ते १२३",
    "日本語のテキスト",
    "中文字符 １２３",
    "한국어 ㄱ",
    "ไทย ๑๒๓",
    "½ ² ⅷ ① Ⅻ",
    "𝟘𝟙𝟚 𝔘𝔫𝔦",
    "😀",
    "👩\u{200d}👩\u{200d}👧 🇩🇪",
    "𐐀𐐨 Deseret",
    "a😀b😀",
    "\u{feff}bom",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{300}\u{301}",
    "\u{ad}\u{200b}\u{200d}",
    "$1,234,567.89",
    "John Smith <john.smith@example.com>",
];

const NUMBERS: &[&str] = &[
    "",
    " ",
    "0",
    "00",
    "007",
    "1",
    "-1",
    "+1",
    "--1",
    "+-1",
    "- 1",
    "-",
    "+",
    " 42 ",
    "\t42\n",
    "\u{a0}42\u{2003}",
    "\x1c42\x1f",
    "4 2",
    "1_000",
    "1__000",
    "_1",
    "1_",
    "1,000",
    "0x1f",
    "0X_1F",
    "0b101",
    "0o17",
    "ff",
    "z",
    "2147483647",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "١٢٣",
    "１２.５",
    "१२३",
    "𝟘𝟙",
    "²",
    "½",
    "1.0",
    "1.",
    ".5",
    ".",
    "-.5",
    "1.5e3",
    "1e",
    "1e+",
    "1e+05",
    "1E-5",
    "1e400",
    "-1e400",
    "1e-400",
    "1_0.5_0e1_0",
    "1_.5",
    "1._5",
    "inf",
    "-inf",
    "+Infinity",
    "infinit",
    "nan",
    "-nan",
    "NaN",
    "nan(1)",
    "0.1",
    "2.5",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "4.9e-324",
    "2.4703282292062327e-324",
    "9007199254740993",
    "9007199254740992.5",
    "0.1000000000000000055511151231257827021181583404541015625",
    "1 2",
    "1\0",
    "\0",
    "abc",
    "é",
    "12abc",
    "True",
    "None",
    "1e5",
    "1-2",
    "1\u{301}",
    "''",
    "1'2\"3",
    "a\nb",
];

const SPACES: &[&str] = &[
    "",
    " ",
    "   ",
    "a",
    " a",
    "a ",
    "  a  b  ",
    "\ta\n",
    "a\tb\nc\rd",
    "\x0ba\x0c",
    "\x1ca\x1db\x1ec\x1f",
    "\u{85}a\u{85}",
    "\u{a0}a\u{a0}b\u{a0}",
    "\u{1680}a\u{2000}b\u{200a}",
    "a\u{2028}b\u{2029}",
    "\u{202f}a\u{205f}b\u{3000}",
    "\u{200b}a\u{200b}",
    "\u{feff}a",
    "\u{180e}a",
    "a\r\nb\n\rc\n\n",
    "\r\n",
    "\n",
    "a\u{85}b\u{2028}c\x0bd\x0ce\x1cf\x1dg\x1eh\x1fi",
    "é \u{3000} 日 本",
    "xxaxx",
    "xyxayxx",
    "a b c d e f",
    "one  two   three",
    ",a,,b,",
];

/// Records of a name, a price and a number; some are malformed.
const ORDERS: &[&str] = &[
    "",
    "a:1.5:2",
    "a:1.5:2,b:2.5:3,a:0.5:1",
    "é:1:1,日本:2:2,é:3:1",
    "a:1:1,a:2:2,c:3:3,b:2:9",
    "x:0:0",
    "b:2:2,a:2:2,a:1:7,b:3:-4",
    "a:1",
    "a:x:1",
    "a:1:x,b:1:1",
    "a:nan:1,a:2:1,b:nan:3",
    "k1:10:1,k2:20:2,k3:30:3,k4:40:4,k5:50:5,k6:60:6,k7:70:7,k1:80:8",
    ":::,:::",
    "one, two: three",
];

/// Documents of JSON, and texts that nearly are.
const DOCUMENTS: &[&str] = &[
    "",
    " ",
    "{}",
    "[]",
    " {\n} ",
    "null",
    "true",
    "false",
    "nul",
    "truE",
    "0",
    "-0",
    "-",
    "01",
    "1.",
    "1.5",
    "-1.5e3",
    "1e",
    "1E+2",
    "1e400",
    "12345678901234567890",
    "NaN",
    "-Infinity",
    "Infinity",
    "\"\"",
    "\"a\"",
    "\"é日😀\"",
    "\"unfinished",
    "\"a\\",
    "\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
    "\"\\u00e9\\u65e5\\ud83d\\ude00\"",
    "\"\\u00e\"",
    "\"\\u00\"",
    "\"\\u00eg\"",
    "\"\\u00e9",
    "\"\\ud83d\"",
    "\"\\ud83d\\u0041\"",
    "\"\\ud83d\\ude0g\"",
    "\"\\ude00\"",
    "\"\\x\"",
    "\"\\é\"",
    "\"a\nb\"",
    "\"a\u{7f}\u{2028}\"",
    "\u{feff}{}",
    "{} {}",
    "[1, 2.5, \"a\", null, true, [], {}]",
    "[1,2,3,]",
    "[1 2]",
    "[",
    "[1",
    "[1,",
    "[,]",
    "[[1, [2, [3]]], [\"a\"]]",
    "[\n1,\n2,\n  x]",
    "{",
    "{\"a\"",
    "{\"a\":",
    "{\"a\" 1}",
    "{\"a\": }",
    "{\"a\": 1",
    "{\"a\": 1,",
    "{\"a\": 1,}",
    "{a: 1}",
    "{'a': 1}",
    "{\"é\": 1, 日: 2}",
    "{\"a\": 1}",
    "{\"a\": 1, \"b\": 2}",
    "{\"a\": 1, \"a\": 2, \"b\": 0}",
    "{\"b\": \"x\", \"a\": null}",
    "{\"a\": \"x\", \"items\": []}",
    "{\"a\": 1.5, \"b\": true, \"items\": [1, 2.5, 3]}",
    "{\"a\": {\"b\": {\"c\": 7}}, \"items\": [{\"qty\": 2, \"price\": 1.5}, {\"qty\": 1, \"price\": 3}]}",
    "{\"items\": [{\"qty\": 2}, {\"price\": \"x\"}]}",
    "{\"items\": {\"qty\": 2}, \"a\": [1, \"b\"]}",
    "{\"items\": \"text\", \"user\": {\"name\": \"Zo\\u00eb\", \"tags\": [\"a\", \"b\"]}}",
    "{\"user\": {\"name\": \"日本\", \"tags\": null}, \"a\": -3}",
    "{\"user\": null, \"a\": false, \"\": 0}",
    "{\"user\": [], \"a\": \"12\"}",
    " {\"a\" : 1 , \"items\" : [ 1 , { \"x\" : [ ] } ] } ",
    "{\"a\": \"{[\\\"]}\", \"b\": [\"]\", \"}\"]}",
];

const WORDS: &[&str] = &[
    "",
    "a",
    "abc",
    "ABC",
    "Abc Def",
    "aBC dEF",
    "abc123",
    "123",
    "123abc",
    "abc_def",
    "_",
    "class",
    "a b",
    "a-b",
    "it's",
    "they're bill's",
    "é",
    "É",
    "Émile zola",
    "ß",
    "ẞ",
    "ŉa",
    "ﬁne",
    "ǆ",
    "ǅ",
    "Ǆ",
    "ΑΣ",
    "ΑΣΑ",
    "Σ",
    "σ ς",
    "ΑΣ.",
    "ΑΣ'Α",
    "İstanbul",
    "ıi",
    "ſ",
    "ª",
    "ⅷ",
    "Ⅷ",
    "ⓐ",
    "Ⓐ",
    "½",
    "²",
    "١",
    "१",
    "日本",
    "ー",
    "ͅ",
    "ᾳ",
    "ᾼ",
    "𐐀",
    "𐐨",
    "😀",
    "a😀",
    "\u{301}",
    "a\u{301}",
    " ",
    "\t",
    "\u{a0}",
    "\0",
    "\x7f",
    "\u{ad}",
    "\u{e000}",
    "Ა",
    "ა",
    "Ꭰ",
    "ꭰ",
    "ḯ",
    "ᾀ",
    "ﬓ",
];

const LISTINGS: &[&str] = &[
    "",
    "3 bds , 2 ba , 1,560 sqft",
    "3 bds, 2 ba, 1,560 sqft",
    "-- bds , -- ba , -- sqft",
    "Studio , 1 ba , 550 sqft",
    "4 bds , 2.5 ba , 2,004 sqft",
    "House For Sale",
    "Condo for sale",
    "LOT / LAND FOR SALE",
    "Foreclosed",
    "$329,900",
    "$1,250/mo",
    "$2.5M",
    "Price unknown",
    "02139",
    "2139.0",
    "BOSTON",
    "  new york ",
    "são paulo",
    "https://www.example.com/homes/123_zpid/?x=1",
    "12 Main St, Cambridge, MA 02139",
    "bds",
    ", ,",
    "1 bd , 1 ba , -- sqft",
    "3 bds , 2 ba , 1 560 sqft",
    "３ bds , 2 ba , １,560 sqft",
];
