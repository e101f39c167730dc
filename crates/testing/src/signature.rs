//! SQL signatures of cases: `f(a BIGINT, s TEXT) RETURNS TEXT`.
//!
//! Only the scalar types that the harness can bring into columns; the plugin's own parser
//! is tested where it lives.

use anyhow::{Context, bail};
use arrow::datatypes::{DataType, TimeUnit};

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
}

impl SqlType {
    /// Its usual name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
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
        }
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
            | SqlType::Time => None,
        }
    }

    fn parse(text: &str) -> anyhow::Result<SqlType> {
        Ok(match text.trim().to_ascii_uppercase().as_str() {
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
        let (name, rest) = text.split_once('(').context("( is missing")?;
        let (params, returns) = rest.split_once(')').context(") is missing")?;
        let returns = returns.trim().strip_prefix("RETURNS ").context("RETURNS is missing")?;
        let params = params
            .split(',')
            .filter(|param| !param.trim().is_empty())
            .map(|param| {
                let (name, ty) = param.trim().split_once(' ').context("a parameter without a type")?;
                Ok((name.to_string(), SqlType::parse(ty)?))
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Signature { name: name.trim().to_string(), params, returns: SqlType::parse(returns)? })
    }

    /// The text that [`Signature::parse`] reads.
    #[must_use]
    pub fn show(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|(name, ty)| format!("{name} {}", ty.name())).collect();
        format!("{}({}) RETURNS {}", self.name, params.join(", "), self.returns.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_round_trip() {
        let text = "f(a BIGINT, s TEXT) RETURNS DOUBLE";
        assert_eq!(Signature::parse(text).unwrap().show(), text);
        assert!(Signature::parse("f(a BLOB) RETURNS TEXT").is_err());
        assert!(Signature::parse("f(a TEXT)").is_err());
    }
}
