//! SQL signatures of cases: `f(a BIGINT, s TEXT) RETURNS TEXT`.
//!
//! Only the types that the harness can bring into columns; the plugin's own parser
//! is tested where it lives.

use anyhow::{Context, bail};
use arrow::datatypes::{DataType, Field, TimeUnit};
use std::sync::Arc;

/// A type of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlType {
    /// 8 bits, signed.
    TinyInt,
    /// 16 bits, signed.
    SmallInt,
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    BigInt,
    /// 32-bit float.
    Real,
    /// 64-bit float.
    Double,
    /// Truth values.
    Boolean,
    /// Strings.
    Text,
    /// Bytes.
    Bytea,
    /// Days.
    Date,
    /// Nanoseconds since 1970-01-01, without a zone.
    Timestamp,
    /// Nanoseconds since midnight.
    Time,
    /// Decimal numbers: the digits, and those behind the point.
    Decimal(u8, i8),
    /// An array of a type.
    Array(&'static SqlType),
    /// A map from texts.
    Map(&'static SqlType),
    /// A struct of named fields.
    Struct(&'static [(String, SqlType)]),
}

impl SqlType {
    /// Its usual name.
    #[must_use]
    pub fn name(self) -> String {
        let name = match self {
            SqlType::Array(element) => return format!("{}[]", element.name()),
            SqlType::Map(value) => return format!("MAP<TEXT, {}>", value.name()),
            SqlType::Decimal(precision, scale) => return format!("DECIMAL({precision}, {scale})"),
            SqlType::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name} {}", ty.name())).collect();
                return format!("STRUCT<{}>", fields.join(", "));
            }
            SqlType::TinyInt => "TINYINT",
            SqlType::SmallInt => "SMALLINT",
            SqlType::Int => "INT",
            SqlType::BigInt => "BIGINT",
            SqlType::Real => "REAL",
            SqlType::Double => "DOUBLE",
            SqlType::Boolean => "BOOLEAN",
            SqlType::Text => "TEXT",
            SqlType::Bytea => "BYTEA",
            SqlType::Date => "DATE",
            SqlType::Timestamp => "TIMESTAMP",
            SqlType::Time => "TIME",
        };
        name.to_string()
    }

    /// The Arrow type that DataFusion declares for it.
    #[must_use]
    pub fn arrow(self) -> DataType {
        match self {
            SqlType::TinyInt => DataType::Int8,
            SqlType::SmallInt => DataType::Int16,
            SqlType::Int => DataType::Int32,
            SqlType::BigInt => DataType::Int64,
            SqlType::Real => DataType::Float32,
            SqlType::Double => DataType::Float64,
            SqlType::Boolean => DataType::Boolean,
            SqlType::Text => DataType::Utf8View,
            SqlType::Bytea => DataType::Binary,
            SqlType::Date => DataType::Date32,
            SqlType::Timestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
            SqlType::Time => DataType::Time64(TimeUnit::Nanosecond),
            SqlType::Decimal(precision, scale) => DataType::Decimal128(precision, scale),
            SqlType::Array(element) => DataType::new_list(element.arrow(), true),
            SqlType::Map(value) => {
                let entry = [Field::new("key", DataType::Utf8View, false), Field::new("value", value.arrow(), true)];
                let entries = DataType::Struct(entry.into_iter().collect());
                DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
            }
            SqlType::Struct(fields) => {
                DataType::Struct(fields.iter().map(|(name, ty)| Field::new(name, ty.arrow(), true)).collect())
            }
        }
    }

    /// The smallest and the largest value, where it is an integer type.
    #[must_use]
    pub fn range(self) -> Option<(i64, i64)> {
        match self {
            SqlType::TinyInt => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
            SqlType::SmallInt => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
            SqlType::Int => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
            SqlType::BigInt => Some((i64::MIN, i64::MAX)),
            SqlType::Real
            | SqlType::Double
            | SqlType::Boolean
            | SqlType::Text
            | SqlType::Bytea
            | SqlType::Date
            | SqlType::Timestamp
            | SqlType::Time
            | SqlType::Decimal(..)
            | SqlType::Array(_)
            | SqlType::Map(_)
            | SqlType::Struct(_) => None,
        }
    }

    fn parse(text: &str) -> anyhow::Result<SqlType> {
        let text = text.trim();
        if let Some(element) = text.strip_suffix("[]") {
            // A test knows few types, and they are at hand until its end.
            return Ok(SqlType::Array(Box::leak(Box::new(SqlType::parse(element)?))));
        }
        if let Some(value) = text.strip_prefix("MAP<TEXT,").and_then(|rest| rest.strip_suffix('>')) {
            return Ok(SqlType::Map(Box::leak(Box::new(SqlType::parse(value)?))));
        }
        if let Some(fields) = text.strip_prefix("STRUCT<").and_then(|rest| rest.strip_suffix('>')) {
            return Ok(SqlType::Struct(Box::leak(named(fields)?.into_boxed_slice())));
        }
        if let Some(digits) = text.strip_prefix("DECIMAL(").and_then(|rest| rest.strip_suffix(')')) {
            let (precision, scale) = digits.split_once(',').context("the digits behind the point")?;
            return Ok(SqlType::Decimal(precision.trim().parse()?, scale.trim().parse()?));
        }
        Ok(match text.to_ascii_uppercase().as_str() {
            "TINYINT" => SqlType::TinyInt,
            "SMALLINT" => SqlType::SmallInt,
            "INT" | "INTEGER" => SqlType::Int,
            "BIGINT" => SqlType::BigInt,
            "REAL" => SqlType::Real,
            "DOUBLE" => SqlType::Double,
            "BOOLEAN" => SqlType::Boolean,
            "TEXT" | "VARCHAR" => SqlType::Text,
            "BYTEA" => SqlType::Bytea,
            "DATE" => SqlType::Date,
            "TIMESTAMP" => SqlType::Timestamp,
            "TIME" => SqlType::Time,
            other => bail!("unknown type {other}"),
        })
    }
}

/// A function's name, parameters and result.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The parameters: name and type.
    pub params: Vec<(String, SqlType)>,
    /// The type of the result.
    pub returns: SqlType,
}

impl Signature {
    /// Reads `f(a BIGINT, s TEXT) RETURNS TEXT`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> anyhow::Result<Signature> {
        let (head, returns) = text.split_once(" RETURNS ").context("RETURNS is missing")?;
        let (name, params) = head.split_once('(').context("( is missing")?;
        let params = params.trim_end().strip_suffix(')').context(") is missing")?;
        let params = named(params)?;
        Ok(Signature { name: name.trim().to_string(), params, returns: SqlType::parse(returns)? })
    }

    /// The text that [`Signature::parse`] reads.
    #[must_use]
    pub fn show(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|(name, ty)| format!("{name} {}", ty.name())).collect();
        format!("{}({}) RETURNS {}", self.name, params.join(", "), self.returns.name())
    }
}

/// Names and types, with commas between them that are within no struct.
fn named(text: &str) -> anyhow::Result<Vec<(String, SqlType)>> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    let one = |part: &str| {
        let (name, ty) = part.trim().split_once(' ').context("a name without a type")?;
        Ok((name.to_string(), SqlType::parse(ty)?))
    };
    parts.into_iter().filter(|part| !part.trim().is_empty()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_round_trip() {
        for text in [
            "f(a BIGINT, s TEXT) RETURNS DOUBLE",
            "f(a DECIMAL(10, 2)) RETURNS DECIMAL(4, 0)",
            "f(r STRUCT<x INT, y TEXT[]>, b BYTEA[][]) RETURNS TEXT[]",
        ] {
            assert_eq!(Signature::parse(text).unwrap().show(), text);
        }
        assert!(Signature::parse("f(a BLOB) RETURNS TEXT").is_err());
        assert!(Signature::parse("f(a TEXT)").is_err());
    }
}
