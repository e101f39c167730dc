//! What the line editor asks: is the text complete, and how may a word go on.

use crate::command::COMMANDS;
use datafusion::execution::SessionState;
use exuvia::{ExuviaSession, Script};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Highlighter, Hinter};

/// Words of SQL that are worth completing.
const KEYWORDS: [&str; 64] = [
    "ALL",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BIGINT",
    "BOOLEAN",
    "BY",
    "BYTEA",
    "CASE",
    "CAST",
    "COPY",
    "CREATE",
    "CROSS",
    "CSV",
    "DATE",
    "DECIMAL",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DOUBLE",
    "DROP",
    "ELSE",
    "END",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "FALSE",
    "FROM",
    "FUNCTION",
    "GROUP",
    "HAVING",
    "IMMUTABLE",
    "IN",
    "INNER",
    "INSERT",
    "INTO",
    "IS",
    "JOIN",
    "JSON",
    "LANGUAGE",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NOT",
    "NULL",
    "OPTIONS",
    "ORDER",
    "PARQUET",
    "python",
    "REPLACE",
    "RETURNS",
    "SELECT",
    "STORED",
    "STRICT",
    "TABLE",
    "TEXT",
    "THEN",
    "UNION",
    "WHERE",
];

/// Completes and validates for a session.
#[derive(Helper, Highlighter, Hinter)]
pub(crate) struct SqlHelper {
    pub(crate) session: ExuviaSession,
    files: FilenameCompleter,
}

impl SqlHelper {
    pub(crate) fn new(session: ExuviaSession) -> SqlHelper {
        SqlHelper { session, files: FilenameCompleter::new() }
    }
}

/// Whether a text is to be run as it is, without more lines.
pub(crate) fn is_complete(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with('\\')
        || matches!(text.to_ascii_lowercase().as_str(), "quit" | "exit")
        || Script::cut(text).open.is_none()
}

impl Validator for SqlHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for SqlHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        // In a string that was begun, or behind \i, a file is meant.
        if before.matches('\'').count() % 2 == 1 || before.starts_with("\\i ") || before.starts_with("\\udfs ") {
            return self.files.complete(line, at, context);
        }
        if before.starts_with('\\') {
            let commands = COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next());
            let commands = commands.filter(|command| command.starts_with(before));
            return Ok((0, commands.map(pair).collect()));
        }
        let start = before
            .rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .map_or(0, |place| place + before[place..].chars().next().map_or(1, char::len_utf8));
        let state = self.session.context().state();
        Ok((start, candidates(&state, &self.session.table_functions(), &before[start..])))
    }
}

fn pair(text: &str) -> Pair {
    Pair { display: text.to_string(), replacement: text.to_string() }
}

/// The words that begin with `word`: keywords in the case in which it was begun, tables and
/// functions.
fn candidates(state: &SessionState, table_functions: &[String], word: &str) -> Vec<Pair> {
    if word.is_empty() {
        return vec![];
    }
    let lower = word.to_lowercase();
    let upper = word.chars().any(char::is_uppercase);
    let mut found: Vec<String> = KEYWORDS
        .iter()
        .filter(|keyword| keyword.to_lowercase().starts_with(&lower))
        .map(|keyword| if upper { keyword.to_uppercase() } else { keyword.to_lowercase() })
        .collect();
    let functions = state
        .scalar_functions()
        .keys()
        .chain(state.aggregate_functions().keys())
        .chain(state.window_functions().keys())
        .chain(state.table_functions().keys())
        .chain(table_functions)
        // Names that only we use.
        .filter(|name| !name.starts_with("__"));
    found.extend(functions.filter(|name| name.starts_with(&lower)).map(|name| format!("{name}(")));
    found.extend(tables(state).into_iter().filter(|name| name.to_lowercase().starts_with(&lower)));
    found.sort();
    found.dedup();
    found.iter().map(|text| pair(text)).collect()
}

/// The tables of the default schema by name, those of others with their schema.
fn tables(state: &SessionState) -> Vec<String> {
    let defaults = &state.config_options().catalog;
    let mut tables = vec![];
    if let Some(catalog) = state.catalog_list().catalog(&defaults.default_catalog) {
        for schema_name in catalog.schema_names() {
            let Some(schema) = catalog.schema(&schema_name) else { continue };
            for table in schema.table_names() {
                tables.push(if schema_name == defaults.default_schema {
                    table
                } else {
                    format!("{schema_name}.{table}")
                });
            }
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_ends_with_its_semicolon() {
        assert!(is_complete("SELECT 1;"));
        assert!(is_complete("\\d"));
        assert!(is_complete(""));
        assert!(!is_complete("SELECT 1"));
        assert!(!is_complete("CREATE FUNCTION f() AS $$ return 1;"));
        assert!(is_complete("CREATE FUNCTION f() AS $$ return 1; $$;"));
    }

    #[test]
    fn words_are_completed() {
        let session = ExuviaSession::new();
        let state = session.context().state();
        let texts =
            |word| -> Vec<String> { candidates(&state, &[], word).into_iter().map(|pair| pair.replacement).collect() };
        assert_eq!(texts("SEL"), ["SELECT"]);
        assert_eq!(texts("sel"), ["select"]);
        assert_eq!(texts("regexp_ma"), ["regexp_match("]);
        assert_eq!(texts("exuvia."), ["exuvia.functions"]);
    }
}
