//! The files of `udfs/`, as CREATE FUNCTION statements and as the engine's definitions.

use anyhow::{Context, Result, bail};
use datafusion::arrow::datatypes::DataType;
use exuvia::engine::{Definition, Interpreter, OnError, Parameter};

/// The twelve functions over listings.
pub const ZILLOW: &str = include_str!("../../../udfs/zillow.py");

/// Ten functions of other kinds.
pub const MORE: &str = include_str!("../../../udfs/more.py");

/// The text behind each line `# sql:` of a file of functions: what CREATE FUNCTION has
/// between the name and AS.
fn signatures(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| line.strip_prefix("# sql: "))
}

/// A statement for every signature of a file. The body of each is the whole file, since
/// functions share its constants and helpers.
#[must_use]
pub fn statements(source: &str) -> Vec<String> {
    signatures(source)
        .map(|signature| format!("CREATE FUNCTION {signature} LANGUAGE python AS $file$\n{source}\n$file$"))
        .collect()
}

/// The same for the engine, to measure it without SQL around it.
///
/// # Errors
/// If a signature uses more of SQL than these files do.
pub fn definitions(source: &str) -> Result<Vec<Definition>> {
    signatures(source).map(|signature| definition(signature, source)).collect()
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
        assert_eq!(definitions(ZILLOW)?.len(), 12);
        assert_eq!(definitions(MORE)?.len(), 10);
        let price = definition("list_price(price TEXT, area BIGINT) RETURNS BIGINT OPTIONS (on_error 'null')", "")?;
        assert_eq!((price.params.len(), price.strict, price.on_error), (2, false, OnError::Null));
        assert!(definition("f() RETURNS TEXT STRICT", "")?.strict);
        assert!(definition("f RETURNS TEXT", "").is_err());
        Ok(())
    }
}
