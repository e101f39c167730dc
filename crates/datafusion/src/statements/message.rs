//! An error as a person reads it.
//!
//! DataFusion wraps errors on their way up and prefixes each layer with its kind; inside a
//! message about a user's function that only hides the sentence that matters.

use datafusion::common::DataFusionError;
use exuvia_engine::{CallError, CallErrorKind, DefineError};
use std::collections::HashSet;
use std::error::Error;

/// The message of an error without the prefixes of the layers that it passed.
///
/// An error of a Python function reads as `CallError` and `DefineError` show it; others
/// read as DataFusion's own sentence.
#[must_use]
pub fn message(error: &DataFusionError) -> String {
    if let Some(call) = call_error(error) {
        return call.to_string();
    }
    let text = match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => return message(inner),
        DataFusionError::Shared(inner) => return message(inner),
        DataFusionError::Collection(errors) => {
            // A name that is not there is an error at each of its places.
            let mut messages: Vec<String> = errors.iter().map(message).collect();
            let mut seen = HashSet::new();
            messages.retain(|message| seen.insert(message.clone()));
            return messages.join("\n");
        }
        DataFusionError::External(inner) => match inner.downcast_ref::<DefineError>() {
            Some(define) => return define.to_string(),
            None => match inner.downcast_ref::<DataFusionError>() {
                Some(inner) => return message(inner),
                None => inner.to_string(),
            },
        },
        DataFusionError::SQL(error, _) => error.to_string().trim_start_matches("sql parser error: ").to_string(),
        error => error.strip_backtrace(),
    };
    strip(&text)
}

/// Whether a batch failed since its results are too large, so that fewer rows may do.
pub(crate) fn is_too_large(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
        || call_error(error).is_some_and(|error| error.kind == CallErrorKind::TooLarge)
}

/// The failed call behind an error, if one is.
#[must_use]
pub fn call_error(error: &DataFusionError) -> Option<&CallError> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(call) = current.downcast_ref::<CallError>() {
            return Some(call);
        }
        cause = match current.downcast_ref::<DataFusionError>() {
            // `source()` skips the boxed error itself and asks for its source.
            Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::Shared(inner)) => Some(inner.as_ref()),
            _ => current.source(),
        };
    }
    None
}

/// Takes DataFusion's prefixes off a message that was printed into another.
fn strip(text: &str) -> String {
    const PREFIXES: [&str; 10] = [
        "Arrow error: ",
        "Csv error: ",
        "Parquet error: ",
        "Error during planning: ",
        "Execution error: ",
        "External error: ",
        "Invalid or Unsupported Configuration: ",
        "This feature is not implemented: ",
        "SQL error: ",
        "Schema error: ",
    ];
    let mut text = text;
    loop {
        let before = text;
        for prefix in PREFIXES {
            text = text.strip_prefix(prefix).unwrap_or(text);
        }
        if text.starts_with("Function '")
            && let Some((_, rest)) = text.split_once("user-defined coercion failed with: ")
        {
            text = rest;
        }
        if text == before {
            break;
        }
    }
    if let Some(missing) = missing_file(text) {
        return missing;
    }
    if text.contains("Json error: Expected JSON record to be an object, found Array")
        || text.contains("Json error: Not valid JSON: EOF while parsing a list at line 1")
    {
        return "a file of JSON has an object a line where it is read by its path\n  hint: CREATE EXTERNAL TABLE t STORED AS \
                JSON LOCATION '…' OPTIONS ('format.newline_delimited' 'false') reads one array"
            .to_string();
    }
    let reader = text.strip_prefix("table function 'read_").and_then(|rest| rest.strip_suffix("' not found"));
    if let Some(kind) = reader.and_then(|reader| reader.split('_').next()) {
        return format!(
            "{text}\n  hint: a file is read by its path, FROM 'path/file.{kind}', or as a table of \
                        CREATE EXTERNAL TABLE, whose OPTIONS say how"
        );
    }
    if text.contains("Error while parsing value '")
        && let Some((wrong, _)) = text.split_once(". Row data: ")
    {
        return format!(
            "{wrong}\n  hint: the types of columns are those of the first 1000 rows; CREATE EXTERNAL TABLE … OPTIONS \
             ('format.schema_infer_max_rec' '100000') looks at more, and a list of columns behind the name says them"
        );
    }
    if let Some((name, meant)) =
        text.strip_prefix("Invalid function '").and_then(|rest| rest.split_once("'.\nDid you mean '"))
        && let Some(meant) = meant.strip_suffix("'?")
        && meant != name
        && meant.to_lowercase() == name
    {
        return format!("{text}\n  hint: a name with capitals stands in double quotes: \"{meant}\"(…)");
    }
    if text == "Compression feature is not enabled" {
        return "compressed files of text are not read\n  hint: unpack it first, or make it a file of Parquet"
            .to_string();
    }
    if text.starts_with("Nested type ") && text.ends_with(" is not supported in CSV") {
        return format!("{text}\n  hint: a file of JSON or Parquet has it; exuvia --format csv writes it as text");
    }
    // DataFusion takes whatever happens while a file is closed for a fault of its own.
    if text.starts_with("Internal error: Error encountered while finalizing writes!") {
        return "the file could not be written to its end; is its disk full?".to_string();
    }
    // Our sentence says it already.
    text.split(". No function matches the given name and argument types").next().unwrap_or(text).to_string()
}

/// A file named as a table is looked for like one, in the default schema.
fn missing_file(text: &str) -> Option<String> {
    let name = text.strip_prefix("table '")?.strip_suffix("' not found")?;
    let file = name.splitn(3, '.').nth(2)?;
    let named = file.contains('/') || [".parquet", ".csv", ".json"].iter().any(|ending| file.ends_with(ending));
    named.then(|| match unreadable(file) {
        Some(why) => format!("'{file}' is no table, and the file cannot be read: {why}"),
        None if [".parquet", ".csv", ".tsv", ".json", ".ndjson", ".jsonl"]
            .iter()
            .any(|ending| file.ends_with(ending)) =>
        {
            format!("'{file}' is neither a table nor a file that can be read")
        }
        None => format!(
            "'{file}' is no table, and files are read by paths that end in .parquet, .csv, .tsv, .json, .ndjson or \
             .jsonl\n  hint: CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{file}' reads one of another name"
        ),
    })
}

/// Why the file or the folder at a path of this machine cannot be read, if it cannot.
fn unreadable(path: &str) -> Option<String> {
    if path.contains("://") && !path.starts_with("file://") {
        return Some("files of this machine are read by their paths, not URLs".to_string());
    }
    let path = std::path::Path::new(path.strip_prefix("file://").unwrap_or(path));
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => match std::fs::read_dir(path) {
            Ok(mut files) => files.next().is_none().then(|| "the folder is empty".to_string()),
            Err(error) => Some(error.to_string()),
        },
        // It may be a pipe, which opening waits for.
        Ok(found) if found.is_file() => std::fs::File::open(path).err().map(|error| error.to_string()),
        Ok(_) => None,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let place = if path.is_relative() { "the working folder has none" } else { "there is none" };
            Some(format!("{place} of that name"))
        }
        Err(error) => Some(error.to_string()),
    }
}
