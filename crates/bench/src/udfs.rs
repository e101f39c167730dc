//! The files of `udfs/` as CREATE FUNCTION statements.

/// The twelve functions over listings.
pub const ZILLOW: &str = include_str!("../../../udfs/zillow.py");

/// A statement for every line `# sql: SIGNATURE` of a file of functions. The body of each
/// is the whole file, since functions share its constants and helpers.
#[must_use]
pub fn statements(source: &str) -> Vec<String> {
    let signatures = source.lines().filter_map(|line| line.strip_prefix("# sql: "));
    signatures.map(|signature| format!("CREATE FUNCTION {signature} LANGUAGE python AS $file$\n{source}\n$file$")).collect()
}
