//! The files of `udfs/`.

use crate::programs::Program;
use anyhow::{Context, Result, anyhow, bail};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use exuvia::engine::{Definition, Function, Interpreter, Invocation, OnError, Parameter, Settings};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A file of functions and the table that they are run over.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The file's text.
    pub source: String,
    /// Where it is.
    pub path: &'static str,
    /// The name of the table's Arrow file.
    pub table: &'static str,
}

impl Suite {
    /// The suite of a benchmark.
    ///
    /// # Errors
    /// If there is no such benchmark or its file cannot be read.
    pub fn named(name: &str) -> Result<Suite> {
        let (path, table) = match name {
            "zillow" => (concat!(env!("CARGO_MANIFEST_DIR"), "/../../udfs/zillow.py"), "listings.arrow"),
            "more" => (concat!(env!("CARGO_MANIFEST_DIR"), "/../../udfs/more.py"), "records.arrow"),
            "corners" => (concat!(env!("CARGO_MANIFEST_DIR"), "/../../udfs/corners.py"), "records.arrow"),
            "language" => (concat!(env!("CARGO_MANIFEST_DIR"), "/../../udfs/language.py"), "orders.arrow"),
            "objects" => (concat!(env!("CARGO_MANIFEST_DIR"), "/../../udfs/objects.py"), "records.arrow"),
            other => bail!("no benchmark {other}"),
        };
        let source = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        Ok(Suite { source, path, table })
    }

    /// The columns that each function is called with: those of the programs, else those
    /// that are named as the parameters.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn columns(&self) -> Result<Vec<(String, Vec<String>)>> {
        let columns = definitions(&self.source)?.into_iter().map(|definition| {
            let columns = match Program::named(&definition.name) {
                Ok(program) => program.columns.iter().map(|column| (*column).to_string()).collect(),
                Err(_) => definition.params.iter().map(|param| param.name.clone()).collect(),
            };
            (definition.name, columns)
        });
        Ok(columns.collect())
    }
}

/// The text behind each line `# sql:` of a file of functions: what CREATE FUNCTION has
/// between the name and AS.
fn signatures(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| line.strip_prefix("# sql: "))
}

/// The functions of a file for the engine, to measure it without SQL around it.
///
/// # Errors
/// If a signature uses more of SQL than these files do.
pub fn definitions(source: &str) -> Result<Vec<Definition>> {
    signatures(source).map(|signature| definition(signature, source)).collect()
}

/// Defines the function of one signature and source.
///
/// # Errors
/// If the signature cannot be read or the engine refuses the function.
pub fn define(signature: &str, source: &str, settings: &Settings) -> Result<Function> {
    defined(definition(signature, source)?, settings)
}

/// Defines a function.
///
/// # Errors
/// If the engine refuses it.
pub fn defined(definition: Definition, settings: &Settings) -> Result<Function> {
    Function::define(definition, settings).map_err(|error| anyhow!("{error}"))
}

/// Calls a function on a batch.
///
/// # Errors
/// If a row fails.
pub fn call(function: &Function, args: &[ArrayRef], rows: usize, settings: &Settings) -> Result<ArrayRef> {
    let invocation = Invocation { cancelled: Arc::new(AtomicBool::new(false)), deadline: None, without_python: false };
    function.invoke(args, rows, settings, &invocation).map_err(|error| anyhow!("{error}"))
}

fn definition(signature: &str, source: &str) -> Result<Definition> {
    let wrong = || format!("cannot read the signature {signature}");
    let (name, rest) = signature.split_once('(').with_context(wrong)?;
    let (params, rest) = rest.split_once(") RETURNS ").with_context(wrong)?;
    let ends = [" STRICT", " OPTIONS"].iter().filter_map(|word| rest.find(word));
    let (returns, rest) = rest.split_at(ends.min().unwrap_or(rest.len()));
    let params: Result<Vec<Parameter>> = parts(params)
        .map(|param| {
            let (name, ty) = param.split_once(' ').with_context(wrong)?;
            Ok(Parameter { name: name.to_string(), ty: data_type(ty)? })
        })
        .collect();
    Ok(Definition {
        name: name.to_string(),
        params: params?,
        returns: data_type(returns)?,
        source: source.to_string(),
        handler: None,
        first_line: 1,
        strict: rest.contains("STRICT"),
        volatility: None,
        on_error: if rest.contains("on_error 'null'") { OnError::Null } else { OnError::Raise },
        interpreter: Interpreter::Auto,
        timeout: None,
        models: vec![],
        columns: vec![],
        whole: false,
    })
}

fn data_type(name: &str) -> Result<DataType> {
    Ok(match name.trim() {
        "TEXT" => DataType::Utf8View,
        "BIGINT" => DataType::Int64,
        "DOUBLE" => DataType::Float64,
        "BOOLEAN" => DataType::Boolean,
        "TIMESTAMP" => DataType::Timestamp(TimeUnit::Microsecond, None),
        other => {
            if let Some(item) = other.strip_suffix("[]") {
                return Ok(DataType::new_list(data_type(item)?, true));
            }
            if let Some(digits) = inside(other, "DECIMAL(", ")") {
                let (precision, scale) = digits.split_once(',').with_context(|| format!("no scale in {other}"))?;
                return Ok(DataType::Decimal128(precision.parse()?, scale.trim().parse()?));
            }
            let fields = inside(other, "STRUCT<", ">").with_context(|| format!("no type {other} in the benchmarks"))?;
            let field = |field: &str| {
                let (name, ty) = field.split_once(' ').with_context(|| format!("no type in {field}"))?;
                Ok(Field::new(name, data_type(ty)?, true))
            };
            DataType::Struct(parts(fields).map(field).collect::<Result<_>>()?)
        }
    })
}

/// What stands between the begin and the end of a text.
fn inside<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    text.strip_prefix(begin)?.strip_suffix(end)
}

/// The parts between commas that stand in no brackets.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = list.split(move |c| {
        depth += i32::from(matches!(c, '(' | '<')) - i32::from(matches!(c, ')' | '>'));
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read() -> Result<()> {
        for (suite, count) in [("zillow", 12), ("more", 17), ("corners", 22), ("objects", 10), ("language", 25)] {
            assert_eq!(definitions(&Suite::named(suite)?.source)?.len(), count);
        }
        let price = definition("list_price(price TEXT, area BIGINT) RETURNS BIGINT OPTIONS (on_error 'null')", "")?;
        assert_eq!((price.params.len(), price.strict, price.on_error), (2, false, OnError::Null));
        assert!(definition("f() RETURNS TEXT STRICT", "")?.strict);
        assert!(definition("f RETURNS TEXT", "").is_err());
        Ok(())
    }
}
