//! The files of `udfs/`.

use crate::programs::Program;
use anyhow::{Context, Result, anyhow, bail};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
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
    let invocation = Invocation { cancelled: Arc::new(AtomicBool::new(false)), deadline: None };
    function.invoke(args, rows, settings, &invocation).map_err(|error| anyhow!("{error}"))
}

fn definition(signature: &str, source: &str) -> Result<Definition> {
    let wrong = || format!("cannot read the signature {signature}");
    let (name, rest) = signature.split_once('(').with_context(wrong)?;
    let (params, rest) = rest.split_once(')').with_context(wrong)?;
    let rest = rest.trim().strip_prefix("RETURNS").with_context(wrong)?.trim();
    let (returns, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let params = params.split(',').filter(|param| !param.trim().is_empty());
    let params: Result<Vec<Parameter>> = params
        .map(|param| {
            let (name, ty) = param.trim().split_once(' ').with_context(wrong)?;
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
    })
}

fn data_type(name: &str) -> Result<DataType> {
    Ok(match name.trim() {
        "TEXT" => DataType::Utf8View,
        "BIGINT" => DataType::Int64,
        "DOUBLE" => DataType::Float64,
        "BOOLEAN" => DataType::Boolean,
        other => bail!("no type {other} in the benchmarks"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read() -> Result<()> {
        for (suite, count) in [("zillow", 12), ("more", 17), ("corners", 22), ("objects", 10)] {
            assert_eq!(definitions(&Suite::named(suite)?.source)?.len(), count);
        }
        let price = definition("list_price(price TEXT, area BIGINT) RETURNS BIGINT OPTIONS (on_error 'null')", "")?;
        assert_eq!((price.params.len(), price.strict, price.on_error), (2, false, OnError::Null));
        assert!(definition("f() RETURNS TEXT STRICT", "")?.strict);
        assert!(definition("f RETURNS TEXT", "").is_err());
        Ok(())
    }
}
