//! Mistakes in statements: where they are, and how that is shown.

use crate::Statement;
use crate::statements::elsewhere::{self};
use crate::statements::script::{Origin, Script};
use crate::statements::statement::words;
use datafusion::common::DataFusionError;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Span, Tokenizer};
use exuvia_engine::Place;

/// The error of a statement that cannot be parsed: that of the parser's, or that it creates a function in
/// no language that there is.
pub(crate) fn unparsed(statement: &Statement<'_>, error: DataFusionError) -> DataFusionError {
    match not_python(statement) {
        // One that is not finished may be in Python yet.
        Some(message) if !crate::message(&error).contains("found: EOF") => DataFusionError::Plan(message),
        _ => show_place(statement.origin(), error),
    }
}

/// An error of planning, of a function in another language what there is instead.
pub(crate) fn unplanned(statement: &Statement<'_>, error: DataFusionError) -> DataFusionError {
    let message = crate::message(&error);
    match not_python(statement) {
        Some(ours) if !message.contains(elsewhere::RUNS_PYTHON) => {
            let shown = message.lines().next().unwrap_or_default();
            DataFusionError::Plan(format!("{ours}\n  DataFusion, which plans functions in SQL, says: {shown}"))
        }
        _ => error,
    }
}

/// What to say of a CREATE FUNCTION that is in no language that there is; `None` for any other statement.
fn not_python(statement: &Statement<'_>) -> Option<String> {
    let text = statement.text();
    text.get(..6).filter(|word| word.eq_ignore_ascii_case("CREATE"))?;
    let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location().ok()?;
    elsewhere::not_python(words(&tokens))
}

/// What sqlparser expected and found, in our words.
pub(crate) fn reworded(message: &str) -> String {
    let message = message.strip_prefix("Expected: ").map_or(message.to_string(), |rest| format!("expected {rest}"));
    message.replace(", found: EOF", ", found the end").replace(", found: ", ", found ")
}

/// A syntax error of sqlparser's with its place in the script; other errors as they are.
pub(crate) fn show_place(origin: Origin<'_>, error: DataFusionError) -> DataFusionError {
    let mut inner = &error;
    while let DataFusionError::Context(_, within) | DataFusionError::Diagnostic(_, within) = inner {
        inner = within;
    }
    if !matches!(inner, DataFusionError::SQL(_, _)) {
        return error;
    }
    let text = crate::message(&error);
    let (message, numbers) = text.rsplit_once(" at Line: ").unwrap_or((&text, ""));
    let place = || {
        // What has no end is shown where it begins.
        if message.starts_with("Unterminated")
            && let Some(opened) = Script::cut(origin.text).opened
        {
            let before = &origin.text[..opened];
            let (line, column) =
                (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
            let (line, column) = (line as u64, column as u64);
            return Some(place(origin, &Span::new((line, column).into(), (line, column + 1).into())).to_string());
        }
        let (line, column) = numbers.split_once(", Column: ")?;
        let (line, column): (u64, u64) = (line.parse().ok()?, column.parse().ok()?);
        let found = message.rsplit_once(", found: ").map_or(1, |(_, token)| token.chars().count());
        Some(place(origin, &Span::new((line, column).into(), (line, column + found as u64).into())).to_string())
    };
    let shown = format!("syntax error: {}{}", reworded(message), place().unwrap_or_default());
    DataFusionError::SQL(Box::new(ParserError::ParserError(shown)), None)
}

/// An error that says where the name is that is wrong with its place in the script; none where it
/// does not.
pub(crate) fn show_span(origin: Origin<'_>, error: DataFusionError) -> Option<DataFusionError> {
    let span = error.diagnostic()?.span.filter(|span| span.start.line > 0)?;
    let (start, end) = (span.start, span.end);
    let shown = place(origin, &Span::new((start.line, start.column).into(), (end.line, end.column).into()));
    let message = crate::message(&error);
    let from = shown.columns.map_or(0, |(start, _)| start as usize);
    let mut written = shown.text.chars().skip(from);
    let hint = if message.starts_with("No field named") && written.next() == Some('"') {
        let named: String = written.skip_while(|c| *c == '"').take_while(|c| *c != '"').collect();
        format!("\n  hint: \"{named}\" is the name of a column; a text is '{}'", named.replace('\'', "''"))
    } else if let Some(file) = message.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"))
        && [".csv", ".parquet", ".json"].iter().any(|ending| file.ends_with(ending))
    {
        let file = file.split_once('.').map_or(file, |(_, file)| file);
        format!("\n  hint: a file is named in quotes: FROM '{file}'")
    } else {
        String::new()
    };
    Some(DataFusionError::Plan(format!("{message}{shown}{hint}")))
}

/// The place of a span of tokens in its script.
pub(crate) fn place(origin: Origin<'_>, span: &Span) -> Place {
    let line = origin.line(span.start.line);
    let at = usize::try_from(span.start.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let text = origin.text.lines().nth(at).unwrap_or_default().to_string();
    let column = |column: u64| u32::try_from(column.saturating_sub(1)).unwrap_or(0);
    let start = column(span.start.column);
    let end = if span.end.line == span.start.line { column(span.end.column) } else { start + 1 };
    Place { line, text, columns: Some((start, end.max(start + 1))) }
}
