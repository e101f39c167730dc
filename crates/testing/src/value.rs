//! Values of rows, as the oracle and the engine exchange them with the harness.

use anyhow::Context;
use exuvia_ir::calendar::{EPOCH_ORDINAL, civil};
use exuvia_ir::{Class, Object, RecordObj};
use exuvia_ops::bytes::{from_text, repr, to_text};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// A Python value that a row takes or gives.
#[derive(Clone, Debug)]
pub enum Value {
    /// `None`, SQL's NULL.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int` of any size, as decimal text.
    Int(String),
    /// A `float`.
    Float(f64),
    /// A `str` without lone surrogates.
    Str(String),
    /// A `bytes`.
    Bytes(Vec<u8>),
    /// A `datetime.date`, as days since 1970-01-01.
    Date(i32),
    /// A `datetime.datetime` without a zone, as microseconds since 1970-01-01.
    Datetime(i64),
    /// A `datetime.time` without a zone, as microseconds since midnight.
    Time(i64),
    /// A `decimal.Decimal`, as its `str`.
    Decimal(String),
    /// A `list`.
    List(Vec<Value>),
    /// A `tuple`.
    Tuple(Vec<Value>),
    /// A `dict` whose keys are texts, or an object of a dataclass by its fields.
    Dict(Vec<(String, Value)>),
    /// Anything else: its class and its `repr`.
    Other(String, String),
}

impl Value {
    /// Whether something that it holds is NULL; not itself.
    #[must_use]
    pub fn holds_none(&self) -> bool {
        let is_none = |value: &Value| matches!(value, Value::None) || value.holds_none();
        match self {
            Value::List(items) | Value::Tuple(items) => items.iter().any(is_none),
            Value::Dict(entries) => entries.iter().any(|entry| is_none(&entry.1)),
            _ => false,
        }
    }

    /// An int.
    #[must_use]
    pub fn int(value: i64) -> Value {
        Value::Int(value.to_string())
    }

    /// A string.
    #[must_use]
    pub fn str(text: &str) -> Value {
        Value::Str(text.to_string())
    }

    /// The `bool`.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }

    /// The `str`.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Value::Str(text) = self { Some(text) } else { None }
    }

    /// The `bytes`.
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The days of a date.
    pub(crate) fn as_days(&self) -> Option<i32> {
        if let Value::Date(days) = self { Some(*days) } else { None }
    }

    /// The nanoseconds of a datetime or a time.
    pub(crate) fn as_nanos(&self) -> Option<i64> {
        if let Value::Datetime(micros) | Value::Time(micros) = self { micros.checked_mul(1000) } else { None }
    }

    /// The name of its class.
    #[must_use]
    pub fn class(&self) -> &str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Bytes(_) => "bytes",
            Value::Date(_) => "date",
            Value::Datetime(_) => "datetime",
            Value::Time(_) => "time",
            Value::Decimal(_) => "Decimal",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Dict(_) => "dict",
            Value::Other(class, _) => class,
        }
    }

    /// Whether two values have the same class and cannot be told apart: floats by their
    /// bits, any NaN being as good as any other because Python shows no difference.
    #[must_use]
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b))
            | (Value::Str(a), Value::Str(b))
            | (Value::Decimal(a), Value::Decimal(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Datetime(a), Value::Datetime(b)) | (Value::Time(a), Value::Time(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            // In any order.
            (Value::Dict(a), Value::Dict(b)) => {
                a.len() == b.len() && a.iter().all(|(name, a)| b.iter().any(|(other, b)| name == other && a.same(b)))
            }
            (Value::Other(a, c), Value::Other(b, d)) => a == b && c == d,
            _ => false,
        }
    }

    /// The value as Python source, or nearly.
    #[must_use]
    pub fn show(&self) -> String {
        match self {
            Value::None => "None".to_string(),
            Value::Bool(value) => if *value { "True" } else { "False" }.to_string(),
            Value::Int(text) => text.clone(),
            Value::Float(value) => format!("{value:?}"),
            Value::Str(text) => show_str(text),
            Value::Bytes(bytes) => repr(&to_text(bytes)),
            Value::Date(days) => format!("date.fromordinal({} + {EPOCH_ORDINAL})", days),
            Value::Datetime(micros) => show_record(Class::Datetime, *micros),
            Value::Time(micros) => show_record(Class::Time, *micros),
            Value::Decimal(text) => format!("Decimal('{text}')"),
            Value::List(items) => format!("[{}]", show_items(items)),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", show_items(items)),
            Value::Tuple(items) => format!("({})", show_items(items)),
            Value::Dict(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{}: {}", show_str(name), value.show())).collect();
                format!("{{{}}}", fields.join(", "))
            }
            Value::Other(class, repr) => format!("<{class} {repr}>"),
        }
    }

    /// The encoding that the oracle reads.
    #[must_use]
    pub fn to_oracle(&self) -> Json {
        match self {
            Value::None => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Int(text) => json!({ "i": text }),
            Value::Float(value) => json!({ "f": value.to_bits().to_string() }),
            Value::Str(text) => json!(text),
            Value::Bytes(bytes) => json!({ "b": to_text(bytes) }),
            Value::Date(days) => json!({ "d": (i64::from(*days) + EPOCH_ORDINAL).to_string() }),
            Value::Datetime(micros) => json!({ "m": micros.to_string() }),
            Value::Time(micros) => json!({ "c": micros.to_string() }),
            Value::Decimal(text) => json!({ "n": text }),
            Value::List(items) => json!({ "l": items.iter().map(Value::to_oracle).collect::<Vec<_>>() }),
            Value::Tuple(items) => json!({ "t": items.iter().map(Value::to_oracle).collect::<Vec<_>>() }),
            Value::Dict(fields) => {
                let fields: Vec<Json> = fields.iter().map(|(name, value)| json!([name, value.to_oracle()])).collect();
                json!({ "s": fields })
            }
            Value::Other(_, repr) => json!(repr),
        }
    }

    /// Reads what the oracle wrote.
    ///
    /// # Errors
    /// Where it is not such a value.
    pub fn from_oracle(json: &Json) -> anyhow::Result<Value> {
        Ok(match json {
            Json::Null => Value::None,
            Json::Bool(value) => Value::Bool(*value),
            Json::String(text) => Value::Str(text.clone()),
            Json::Object(map) => {
                let items = |name: &str| map.get(name).and_then(Json::as_array);
                if let Some(items) = items("l") {
                    return Ok(Value::List(items.iter().map(Value::from_oracle).collect::<anyhow::Result<_>>()?));
                }
                if let Some(items) = items("t") {
                    return Ok(Value::Tuple(items.iter().map(Value::from_oracle).collect::<anyhow::Result<_>>()?));
                }
                if let Some(items) = items("s") {
                    let field = |item: &Json| {
                        let name = item.get(0).and_then(Json::as_str).context("a name")?;
                        Ok((name.to_string(), Value::from_oracle(item.get(1).context("a value")?)?))
                    };
                    return Ok(Value::Dict(items.iter().map(field).collect::<anyhow::Result<_>>()?));
                }
                let field = |name: &str| map.get(name).and_then(Json::as_str);
                if let Some(text) = field("i") {
                    Value::Int(text.to_string())
                } else if let Some(bits) = field("f") {
                    Value::Float(f64::from_bits(bits.parse()?))
                } else if let Some(bytes) = field("b") {
                    Value::Bytes(from_text(bytes).context("bytes as a text")?)
                } else if let Some(ordinal) = field("d") {
                    Value::Date(i32::try_from(ordinal.parse::<i64>()? - EPOCH_ORDINAL)?)
                } else if let Some(micros) = field("m") {
                    Value::Datetime(micros.parse()?)
                } else if let Some(micros) = field("c") {
                    Value::Time(micros.parse()?)
                } else if let Some(text) = field("n") {
                    Value::Decimal(text.to_string())
                } else if let Some(class) = field("o") {
                    Value::Other(class.to_string(), map.get("r").map(text_of).unwrap_or_default())
                } else if let Some(bytes) = field("x") {
                    Value::Other("str".to_string(), bytes.to_string())
                } else {
                    anyhow::bail!("not a value: {json}")
                }
            }
            Json::Number(_) | Json::Array(_) => anyhow::bail!("not a value: {json}"),
        })
    }

    /// The form in which case files give rows: JSON with `"nan"`, `"inf"` and `"-inf"`
    /// for the floats that JSON lacks.
    #[must_use]
    pub fn to_case(&self) -> Json {
        match self {
            Value::None => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Int(text) => match text.parse::<i64>() {
                Ok(value) => json!(value),
                Err(_) => json!(text),
            },
            Value::Float(value) if value.is_nan() => json!("nan"),
            Value::Float(value) if value.is_infinite() => json!(if *value > 0.0 { "inf" } else { "-inf" }),
            Value::Float(value) => json!(value),
            Value::Str(text) => json!(text),
            Value::Bytes(bytes) => json!(to_text(bytes)),
            Value::Date(days) => json!(days),
            Value::Datetime(micros) => {
                let (year, month, day) = civil(micros.div_euclid(DAY));
                json!(format!("{year:04}-{month:02}-{day:02}T{}", clock(micros.rem_euclid(DAY))))
            }
            Value::Time(micros) => json!(clock(*micros)),
            Value::Decimal(text) => json!(text),
            Value::List(items) | Value::Tuple(items) => items.iter().map(Value::to_case).collect(),
            Value::Dict(fields) => {
                Json::Object(fields.iter().map(|(name, value)| (name.clone(), value.to_case())).collect())
            }
            Value::Other(_, repr) => json!(repr),
        }
    }
}

/// The digits of a decimal's text with so many behind the point; `None` where it has others.
#[must_use]
pub fn digits(text: &str, scale: i8) -> Option<i128> {
    let (mantissa, exponent) = text.split_once('E').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()? + i32::from(scale);
    if digits == 0 {
        return Some(0);
    }
    for _ in 0..places.unsigned_abs() {
        digits = match places > 0 {
            true => digits.checked_mul(10)?,
            false if digits % 10 == 0 => digits / 10,
            false => return None,
        };
    }
    Some(digits)
}

/// The decimal of so many digits behind the point.
#[must_use]
pub fn decimal(digits: i128, scale: i8) -> Value {
    let places = usize::try_from(scale).unwrap_or(0);
    let text = format!("{:0>width$}", digits.unsigned_abs(), width = places + 1);
    let (whole, fraction) = text.split_at(text.len() - places);
    let (sign, point) = (if digits < 0 { "-" } else { "" }, if places > 0 { "." } else { "" });
    Value::Decimal(format!("{sign}{whole}{point}{fraction}"))
}

/// The microseconds of a day.
pub const DAY: i64 = 86_400_000_000;

fn clock(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    format!("{:02}:{:02}:{:02}.{:06}", seconds / 3600, seconds / 60 % 60, seconds % 60, micros % 1_000_000)
}

fn show_record(class: Class, field: i64) -> String {
    let record = RecordObj { class, fields: vec![Object::int(field)] };
    exuvia_ops::show::repr(&Object::Record(Arc::new(record)))
}

fn show_items(items: &[Value]) -> String {
    items.iter().map(Value::show).collect::<Vec<_>>().join(", ")
}

/// A string of the oracle's encoding, lone surrogates as the hexadecimal of their bytes.
#[must_use]
pub fn text_of(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Object(map) => map.get("x").and_then(Json::as_str).unwrap_or_default().to_string(),
        _ => String::new(),
    }
}

/// A string with everything invisible escaped, so that a report can be read and copied.
fn show_str(text: &str) -> String {
    let mut shown = String::from("'");
    for (at, c) in text.chars().enumerate() {
        if at == 200 {
            let _ = write!(shown, "'… ({} characters)", text.chars().count());
            return shown;
        }
        match c {
            '\'' | '\\' => {
                shown.push('\\');
                shown.push(c);
            }
            ' '..='~' => shown.push(c),
            c if c.is_alphanumeric() => shown.push(c),
            c if (c as u32) < 0x100 => {
                let _ = write!(shown, "\\x{:02x}", c as u32);
            }
            c if (c as u32) < 0x10000 => {
                let _ = write!(shown, "\\u{:04x}", c as u32);
            }
            c => {
                let _ = write!(shown, "\\U{:08x}", c as u32);
            }
        }
    }
    shown.push('\'');
    shown
}
