//! SQL's types: from the text of a declaration to Arrow, and from Arrow to the name that a
//! person reads in a message.

use datafusion::arrow::compute::can_cast_types;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::utils::datafusion_strsim::levenshtein;
use datafusion::common::{DFSchema, DataFusionError, Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Cast, Expr};
use datafusion::sql::sqlparser::ast;
pub(crate) use exuvia_engine::{identifier, type_name as name};
use std::sync::Arc;

/// Gives a type, and those within it, the name that it has here: BigQuery's numbers, the long names of
/// standard SQL, other names of bytes and of integers.
pub(crate) fn named_here(ty: &mut ast::DataType) {
    match ty {
        ast::DataType::Float64 => *ty = ast::DataType::DoublePrecision,
        ast::DataType::Int64 => *ty = ast::DataType::BigInt(None),
        ast::DataType::CharacterVarying(length)
        | ast::DataType::CharVarying(length)
        | ast::DataType::Nvarchar(length) => {
            *ty = ast::DataType::Varchar(*length);
        }
        ast::DataType::Character(length) => *ty = ast::DataType::Char(*length),
        ast::DataType::Dec(digits) => *ty = ast::DataType::Decimal(*digits),
        ast::DataType::Binary(_) | ast::DataType::Varbinary(_) | ast::DataType::Blob(_) | ast::DataType::Bytes(_) => {
            *ty = ast::DataType::Bytea
        }
        ast::DataType::Custom(name, modifiers) if modifiers.is_empty() => {
            match name.to_string().to_ascii_uppercase().as_str() {
                "LONG" => *ty = ast::DataType::BigInt(None),
                "SHORT" => *ty = ast::DataType::SmallInt(None),
                "BYTE" => *ty = ast::DataType::TinyInt(None),
                _ => {}
            }
        }
        ast::DataType::Array(
            ast::ArrayElemTypeDef::SquareBracket(element, _)
            | ast::ArrayElemTypeDef::AngleBracket(element)
            | ast::ArrayElemTypeDef::Parenthesis(element),
        ) => named_here(element),
        ast::DataType::Struct(fields, _) => fields.iter_mut().for_each(|field| named_here(&mut field.field_type)),
        ast::DataType::Map(key, value) => {
            named_here(key);
            named_here(value);
        }
        _ => {}
    }
}

/// The Arrow type of a declared type, by DataFusion's own rules where it has one.
pub(crate) fn plan(state: &SessionState, ty: &ast::DataType) -> Result<DataType> {
    match ty {
        // DataFusion plans no MAP; the field names are those that Arrow's writers use.
        ast::DataType::Map(key, value) => {
            let key = Field::new("key", plan(state, key)?, false);
            let value = Field::new("value", plan(state, value)?, true);
            let entries = DataType::Struct(Fields::from(vec![key, value]));
            Ok(DataType::Map(Arc::new(Field::new("entries", entries, false)), false))
        }
        ast::DataType::Array(
            ast::ArrayElemTypeDef::AngleBracket(element)
            | ast::ArrayElemTypeDef::SquareBracket(element, None)
            | ast::ArrayElemTypeDef::Parenthesis(element),
        ) if holds_map(element) => Ok(DataType::new_list(plan(state, element)?, true)),
        ast::DataType::Struct(fields, _)
            if fields.iter().all(|field| field.field_name.is_some())
                && fields.iter().any(|field| holds_map(&field.field_type)) =>
        {
            let fields = fields.iter().map(|field| {
                let name = field.field_name.as_ref().map_or_else(String::new, |name| name.value.clone());
                Ok(Field::new(name, plan(state, &field.field_type)?, true))
            });
            Ok(DataType::Struct(fields.collect::<Result<_>>()?))
        }
        // As Snowflake, BigQuery and MySQL name a time without a zone.
        ast::DataType::Datetime(precision) | ast::DataType::TimestampNtz(precision) => {
            plan(state, &ast::DataType::Timestamp(*precision, ast::TimezoneInfo::None))
        }
        ty => {
            // The planner maps types where a CAST names them.
            let null = ast::Expr::Value(ast::Value::Null.into());
            let cast = ast::Expr::Cast {
                kind: ast::CastKind::Cast,
                expr: Box::new(null),
                data_type: ty.clone(),
                array: false,
                format: None,
            };
            let cast = ast::ExprWithAlias { expr: cast, alias: None };
            match state.create_logical_expr_from_sql_expr(cast, &DFSchema::empty()) {
                Ok(Expr::Cast(Cast { field, .. })) => Ok(match (field.data_type(), ty) {
                    // Without a session time zone DataFusion forgets that there is to be one.
                    (
                        DataType::Timestamp(unit, None),
                        ast::DataType::Timestamp(_, ast::TimezoneInfo::WithTimeZone | ast::TimezoneInfo::Tz),
                    ) => DataType::Timestamp(*unit, Some("+00:00".into())),
                    (planned, _) => planned.clone(),
                }),
                Ok(_) | Err(DataFusionError::NotImplemented(_)) => {
                    let hint = match (meant(&ty.to_string()), ty) {
                        (Some(name), _) => format!("; did you mean {name}?"),
                        (None, ast::DataType::Custom(..)) => format!(
                            "; there are {}, INTERVAL, TIME, arrays of them (BIGINT[]), STRUCT<a BIGINT, b TEXT> and \
                             MAP(TEXT, BIGINT)",
                            NAMES.join(", ")
                        ),
                        (None, _) => String::new(),
                    };
                    plan_err!("the type {ty} is not supported{hint}")
                }
                Err(error) => Err(error),
            }
        }
    }
}

/// Whether a declared type holds a MAP, which DataFusion plans nowhere.
fn holds_map(ty: &ast::DataType) -> bool {
    match ty {
        ast::DataType::Map(..) => true,
        ast::DataType::Array(
            ast::ArrayElemTypeDef::AngleBracket(element)
            | ast::ArrayElemTypeDef::SquareBracket(element, _)
            | ast::ArrayElemTypeDef::Parenthesis(element),
        ) => holds_map(element),
        ast::DataType::Struct(fields, _) => fields.iter().any(|field| holds_map(&field.field_type)),
        _ => false,
    }
}

/// Names of types that are mistyped, or begun.
pub const NAMES: [&str; 13] = [
    "BIGINT",
    "INTEGER",
    "SMALLINT",
    "TINYINT",
    "DOUBLE",
    "REAL",
    "BOOLEAN",
    "TEXT",
    "VARCHAR",
    "DECIMAL",
    "DATE",
    "TIMESTAMP",
    "BYTEA",
];

/// The SQL type for which Python, Arrow or another system has this name.
fn meant(name: &str) -> Option<&'static str> {
    let base = name.split(['(', '<', '[']).next().unwrap_or(name);
    Some(match base.trim().to_ascii_lowercase().as_str() {
        "str" | "utf8" | "uuid" | "enum" => "TEXT",
        "json" | "jsonb" | "variant" | "object" | "super" => "TEXT, which json.loads reads and json.dumps writes",
        "int8" => "TINYINT",
        "int16" => "SMALLINT",
        "int32" => "INT",
        "int64" | "long" => "BIGINT",
        "float32" => "REAL",
        "float64" => "DOUBLE",
        "bytes" | "varbyte" | "image" => "BYTEA",
        "oid" | "xid" => "BIGINT",
        "uint" | "unsigned" | "uint64" => "BIGINT UNSIGNED",
        "uint32" => "INT UNSIGNED",
        "geometry" | "geography" => "TEXT, which may hold WKT or GeoJSON",
        "anyelement" | "any" | "anyarray" => "the type of what it is called with, for there is one function for each",
        "timedelta" => "INTERVAL",
        "number" | "money" | "bignumeric" => "DECIMAL(p, s)",
        "hugeint" | "int128" => "DECIMAL(38, 0)",
        "timestamp_tz" | "timestamp_ltz" => "TIMESTAMP WITH TIME ZONE",
        "hstore" => "MAP(TEXT, TEXT)",
        "array" | "list" => "T[], such as TEXT[]",
        "record" | "row" | "tuple" => "STRUCT<a BIGINT, b TEXT>",
        "bpchar" | "citext" | "name" => "TEXT",
        "void" | "none" => "TEXT, which may be NULL",
        other => {
            let other = other.to_ascii_uppercase();
            // Two letters that changed places count as one mistake.
            let letters = |name: &str| {
                let mut letters: Vec<char> = name.chars().collect();
                letters.sort_unstable();
                letters
            };
            let is_meant = |known: &&str| {
                let mistakes = levenshtein(known, &other);
                mistakes == 1 || mistakes == 2 && letters(known) == letters(&other)
            };
            return NAMES.iter().copied().find(is_meant);
        }
    })
}

/// What to write for an argument `sql` of type `from` where `to` is needed, as the last line
/// of a message; nothing where SQL has no such cast.
pub(crate) fn cast_hint(sql: &str, from: &DataType, to: &DataType) -> String {
    if !can_cast_types(from, to) {
        return String::new();
    }
    match to {
        // A CAST cannot name these.
        DataType::Map(_, _) => String::new(),
        DataType::Float16 => format!("\n  hint: arrow_cast({sql}, '{to}')"),
        // Without `SET timezone` that would be one without a time zone.
        DataType::Timestamp(_, Some(_)) => {
            format!("\n  hint: arrow_cast({sql}, '{to}') takes it as UTC")
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView if sql.starts_with('\'') => {
            format!("\n  hint: CAST({sql} AS {}) is the text in UTF-8; a literal of bytes is X'00ff'", name(to))
        }
        to => format!("\n  hint: CAST({sql} AS {})", name(to)),
    }
}
