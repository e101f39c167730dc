//! What the line editor asks: is the text complete, and how may a word go on.

use crate::command::{COMMANDS, elsewhere, stages};
use crate::output::Format;
use clap::ValueEnum;
use datafusion::execution::SessionState;
use exuvia::{ExuviaSession, Open, Script};
use futures::FutureExt;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;

/// Words of SQL that are worth completing, besides the names of types.
const KEYWORDS: [&str; 57] = [
    "ALL",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COPY",
    "CREATE",
    "CROSS",
    "CSV",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
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
    "THEN",
    "UNION",
    "WHERE",
];

/// Completes and validates for a session.
#[derive(Helper)]
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
        || asks_for_help(text)
        || elsewhere(text).is_some()
        || quits_within(text)
        || Script::cut(text).open.is_none()
}

/// Whether a text is `help`, with or without what about: no statement begins so.
pub(crate) fn asks_for_help(text: &str) -> bool {
    let first = text.split([' ', ';']).next().unwrap_or_default();
    first.eq_ignore_ascii_case("help") || first == "?"
}

/// Whether the last line of an unfinished statement is `\\q`, which is given up with it.
pub(crate) fn quits_within(text: &str) -> bool {
    text.trim_end()
        .rsplit_once('\n')
        .is_some_and(|(before, line)| line.trim() == "\\q" && Script::cut(before).open == Some(Open::Statement))
}

/// What a text lacks that goes on with another line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lacks(&'static str);

impl Hint for Lacks {
    fn display(&self) -> &str {
        self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

/// What an unfinished text lacks, where its last line is still empty.
fn lacks(text: &str) -> Option<Lacks> {
    let line = text.rsplit_once('\n')?.1;
    if !line.trim().is_empty() {
        return None;
    }
    Some(Lacks(match Script::cut(text).open? {
        Open::Statement => "  -- ; ends the statement, Ctrl-C drops it",
        Open::Quote => "  -- a text is open: its quote is missing",
        Open::Body => "  -- the body is open: $$ is missing",
        Open::Comment => "  -- a comment is open: */ is missing",
    }))
}

impl Hinter for SqlHelper {
    type Hint = Lacks;

    fn hint(&self, line: &str, at: usize, _: &Context<'_>) -> Option<Lacks> {
        if at < line.len() { None } else { lacks(line) }
    }
}

impl Highlighter for SqlHelper {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if std::env::var_os("NO_COLOR").is_some() { hint.into() } else { format!("\x1b[2m{hint}\x1b[0m").into() }
    }
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
        let takes_file = ["\\i ", "\\udfs ", "\\o ", "\\e "].iter().any(|command| before.starts_with(command));
        if before.matches('\'').count() % 2 == 1 || takes_file {
            return self.files.complete(line, at, context);
        }
        let (start, found) = self.words(before, line);
        // The argument of a command may follow at once.
        if let ([only], true) = (&found[..], start == 0 && before.starts_with('\\')) {
            return Ok((start, vec![Pair { display: only.clone(), replacement: format!("{only} ") }]));
        }
        Ok((start, found.iter().map(|text| pair(text)).collect()))
    }
}

impl SqlHelper {
    /// How the word before the cursor may go on, and where it begins. `text` is all that is written.
    fn words(&self, before: &str, text: &str) -> (usize, Vec<String>) {
        let state = self.session.context().state();
        let start = before
            .rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .map_or(0, |place| place + before[place..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let command = before.starts_with('\\').then(|| before.split(' ').next().unwrap_or(before));
        let names_setting = ["SET ", "RESET ", "SHOW "].iter().any(|word| {
            before.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)) && start == word.len()
        });
        if names_setting && !word.is_empty() {
            return (start, matching(state.config_options().entries().into_iter().map(|entry| entry.key), word));
        }
        if command == Some(before) {
            let commands = COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next());
            return (0, commands.filter(|command| command.starts_with(before)).map(str::to_string).collect());
        }
        let mut found = match command {
            Some("\\d" | "\\dt") => matching(tables(&state), word),
            Some("\\sf" | "\\df") => matching(self.session.functions(), word),
            Some("\\dump") => matching(self.session.functions().into_iter().chain(stages("\\dump")), word),
            Some("\\loops") => matching(stages("\\loops"), word),
            Some("\\format") => matching(Format::value_variants().iter().map(ToString::to_string), word),
            Some(_) => vec![],
            None => candidates(&state, &self.session.functions(), word, text),
        };
        found.sort();
        found.dedup();
        (start, found)
    }
}

fn pair(text: &str) -> Pair {
    Pair { display: text.to_string(), replacement: text.to_string() }
}

fn matching(names: impl IntoIterator<Item = String>, word: &str) -> Vec<String> {
    let lower = word.to_lowercase();
    names.into_iter().filter(|name| name.to_lowercase().starts_with(&lower)).collect()
}

/// The words that begin with `word`: keywords in the case in which it was begun, tables, functions, and
/// columns of the tables that the text names.
fn candidates(state: &SessionState, python: &[String], word: &str, text: &str) -> Vec<String> {
    if word.is_empty() {
        return vec![];
    }
    let lower = word.to_lowercase();
    let upper = word.chars().any(char::is_uppercase);
    let mut found: Vec<String> = KEYWORDS
        .iter()
        .chain(&exuvia::TYPE_NAMES)
        .filter(|keyword| keyword.to_lowercase().starts_with(&lower))
        .map(|keyword| if upper { keyword.to_uppercase() } else { keyword.to_lowercase() })
        .collect();
    let functions = state
        .scalar_functions()
        .keys()
        .chain(state.aggregate_functions().keys())
        .chain(state.window_functions().keys())
        .chain(state.table_functions().keys())
        .chain(python)
        // Names that only we use.
        .filter(|name| !name.starts_with("__"));
    found.extend(functions.filter(|name| name.starts_with(&lower)).map(|name| format!("{name}(")));
    let tables = tables(state);
    let names: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').collect();
    for (at, name) in names.iter().enumerate() {
        let Some(table) = tables.iter().find(|table| table.eq_ignore_ascii_case(name)) else { continue };
        let columns = columns(state, table);
        found.extend(matching(columns.iter().cloned(), word));
        // By the table, or by the name behind it.
        let alias = names[at + 1..].iter().find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("as"));
        for qualifier in alias.into_iter().chain([name]).filter(|_| word.contains('.')) {
            found.extend(matching(columns.iter().map(|column| format!("{qualifier}.{column}")), word));
        }
    }
    found.extend(matching(tables, word));
    found
}

/// The columns of a table, where they are known at once.
fn columns(state: &SessionState, table: &str) -> Vec<String> {
    let defaults = &state.config_options().catalog;
    let (schema, table) = table.split_once('.').unwrap_or((&defaults.default_schema, table));
    let catalog = state.catalog_list().catalog(&defaults.default_catalog);
    let schema = catalog.and_then(|catalog| catalog.schema(schema));
    let found = schema.and_then(|schema| schema.table(table).now_or_never()?.ok()?);
    let quoted = |name: &String| exuvia::engine::identifier(name).into_owned();
    found.map_or(vec![], |table| table.schema().fields().iter().map(|field| quoted(field.name())).collect())
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
        assert!(is_complete(".tables") && is_complete("help") && is_complete("help create function"));
        assert!(is_complete("SELECT 1\n\\q") && !is_complete("SELECT '1\n\\q"));
    }

    #[test]
    fn an_empty_line_says_what_is_missing() {
        assert_eq!(lacks("SELECT 1"), None);
        assert_eq!(lacks("SELECT 1\nFROM"), None);
        assert!(lacks("SELECT 1\n").is_some_and(|lacks| lacks.display().contains("; ends")));
        assert!(lacks("SELECT '\n").is_some_and(|lacks| lacks.display().contains("quote")));
        assert!(lacks("CREATE FUNCTION f() AS $$\n  ").is_some_and(|lacks| lacks.display().contains("$$")));
        assert!(lacks("SELECT 1;\n").is_none());
    }

    #[tokio::test]
    async fn words_are_completed() {
        let helper = SqlHelper::new(ExuviaSession::new());
        let create = "CREATE TABLE trips AS SELECT 1 AS fare, 2 AS \"Far off\";
                      CREATE FUNCTION farther(x BIGINT) RETURNS BIGINT LANGUAGE python AS 'return x'";
        helper.session.sql(create).await.expect("statements that run");
        let texts = |before: &str, behind: &str| helper.words(before, &format!("{before}{behind}")).1;
        assert_eq!(texts("SEL", ""), ["SELECT"]);
        assert_eq!(texts("sel", ""), ["select"]);
        assert_eq!(texts("SELECT regexp_ma", ""), ["regexp_match("]);
        assert_eq!(texts("SELECT * FROM exuvia.", ""), ["exuvia.functions"]);
        assert_eq!(texts("SELECT far", " FROM trips"), ["fare", "farther("]);
        assert_eq!(texts("SELECT t.f", " FROM trips AS t"), ["t.fare"]);
        assert_eq!(texts("SELECT * FROM trips WHERE trips.", ""), ["trips.\"Far off\"", "trips.fare"]);
        assert_eq!(texts("\\d tr", ""), ["trips"]);
        assert_eq!(texts("\\sf ", ""), ["farther"]);
        assert_eq!(texts("\\format t", ""), ["table", "tsv"]);
        assert_eq!(texts("SET exuvia.ti", ""), ["exuvia.timeout"]);
        assert_eq!(texts("\\loops l", ""), ["lowered"]);
        assert_eq!(texts("\\ti", ""), ["\\timing"]);
    }
}
