//! Errors that a user sees.

use std::fmt;

/// A function cannot be created.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineError {
    /// The function; empty where its name is not known.
    pub function: String,
    /// What is wrong, one line.
    pub message: String,
    /// Where, if it is a place in the body.
    pub place: Option<Place>,
}

/// A call failed.
#[derive(Clone, Debug, PartialEq)]
pub struct CallError {
    /// The function.
    pub function: String,
    /// What happened.
    pub kind: CallErrorKind,
    /// Where in the body, if known.
    pub place: Option<Place>,
    /// The row's arguments: name and value as Python shows it, shortened.
    pub arguments: Vec<(String, String)>,
}

/// What happened to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallErrorKind {
    /// A Python exception: class and message.
    Python {
        /// The name of the class.
        class: String,
        /// `str(exception)`.
        message: String,
    },
    /// A result that the declared type cannot hold.
    Result(String),
    /// The query was cancelled.
    Cancelled,
    /// The function's or the session's time is over.
    TimedOut,
    /// CPython is needed and there is none, or it may not be used; why, one line.
    NoInterpreter(String),
    /// The results of the batch have more text than one may have; it may be divided.
    TooLarge,
    /// Something outside Python failed.
    Host(String),
}

/// Why native code does not run a function.
#[derive(Clone, Debug, PartialEq)]
pub struct NotNative {
    /// A stable code, such as `E004`.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// Where, if it is a place of the body.
    pub place: Option<Place>,
}

/// A place in a function's body.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The line of the SQL script, from 1.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// The first column and one past the last, in characters from 0, where known.
    pub columns: Option<(u32, u32)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let (text, columns) = self.excerpt();
        write!(f, "\n{margin} |\n{number} | {text}")?;
        if let Some((start, end)) = columns {
            let carets = "^".repeat(end.saturating_sub(start).max(1));
            write!(f, "\n{margin} | {}{carets}", " ".repeat(start))?;
        }
        Ok(())
    }
}

impl fmt::Display for DefineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.function.is_empty() {
            write!(f, "cannot create function {}: ", self.function)?;
        }
        f.write_str(&self.message)?;
        match &self.place {
            Some(place) => write!(f, "{place}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DefineError {}

/// An exception as the last line of CPython's traceback shows it; what happened where there is
/// none.
pub(crate) fn raised(class: &str, message: &str) -> String {
    match (class, shown(message)) {
        (class, "") => class.to_string(),
        ("", message) => message.to_string(),
        (class, shown) if shown.len() < message.len() => {
            format!("{class}: {shown}… ({} characters in all)", message.chars().count())
        }
        (class, message) => format!("{class}: {message}"),
    }
}

/// The error of a definition whose module raises an exception.
pub(crate) fn of_module(function: &str, class: &str, message: &str, place: Option<Place>) -> DefineError {
    DefineError { function: function.to_string(), message: raised(class, message) + &hint(class, message), place }
}

/// What to do about an exception, where that is plain; as the last line of an error.
fn hint(class: &str, message: &str) -> String {
    let said = match class {
        "ModuleNotFoundError" => {
            let module = message.split('\'').nth(1).unwrap_or_default();
            let module = module.split('.').next().unwrap_or_default();
            match PYTHON_2.iter().find(|(old, _)| *old == module) {
                Some((_, "")) => "Snowflake's own module, which there is not here".to_string(),
                Some((old, new)) => format!("{old} is a module of Python 2; in Python 3 it is {new}"),
                None => "install the package into the Python that runs functions (EXUVIA_PYTHON names it); \
                         a module of your own is found in the folders of PYTHONPATH"
                    .to_string(),
            }
        }
        "NameError" => {
            let name = message.split('\'').nth(1).unwrap_or_default();
            match PYTHON_2_NAMES.iter().find(|(old, _)| *old == name) {
                Some((old, new)) => format!("{old} is Python 2's; in Python 3 it is {new}"),
                None => return String::new(),
            }
        }
        _ => return String::new(),
    };
    format!("\n  hint: {said}")
}

/// Modules that only Python 2 has, by what they are in Python 3; nothing for those of other systems.
const PYTHON_2: [(&str, &str); 12] = [
    ("_snowflake", ""),
    ("urllib2", "urllib.request"),
    ("urlparse", "urllib.parse"),
    ("StringIO", "io"),
    ("cStringIO", "io"),
    ("cPickle", "pickle"),
    ("ConfigParser", "configparser"),
    ("Queue", "queue"),
    ("HTMLParser", "html.parser"),
    ("httplib", "http.client"),
    ("__builtin__", "builtins"),
    ("htmlentitydefs", "html.entities"),
];

/// Names that only Python 2 has, by what they are in Python 3.
const PYTHON_2_NAMES: [(&str, &str); 8] = [
    ("unicode", "str"),
    ("xrange", "range"),
    ("unichr", "chr"),
    ("long", "int"),
    ("basestring", "str"),
    ("raw_input", "input"),
    ("reduce", "functools.reduce"),
    ("cmp", "(a > b) - (a < b)"),
];

/// As much of a message as an error shows.
fn shown(message: &str) -> &str {
    const MOST: usize = 64 * 1024;
    &message[..message.floor_char_boundary(MOST)]
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            CallErrorKind::Python { class, message } => f.write_str(&raised(class, message))?,
            CallErrorKind::Result(message) | CallErrorKind::NoInterpreter(message) | CallErrorKind::Host(message) => {
                f.write_str(shown(message))?;
            }
            CallErrorKind::Cancelled => f.write_str("cancelled")?,
            CallErrorKind::TimedOut => f.write_str("ran out of its time")?,
            CallErrorKind::TooLarge => f.write_str(&exuvia_ir::results_too_large())?,
        }
        write!(f, "\n  in function {}", self.function)?;
        if let Some(place) = &self.place {
            write!(f, ", line {}{place}", place.line)?;
        }
        if !self.arguments.is_empty() {
            let arguments: Vec<String> =
                self.arguments.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            write!(f, "\n  called with {}", arguments.join(", "))?;
        }
        if let CallErrorKind::Python { class, message, .. } = &self.kind {
            f.write_str(&hint(class, message))?;
        }
        Ok(())
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_message_a_part_is_shown() {
        assert_eq!(raised("ValueError", "é"), "ValueError: é");
        assert_eq!(raised("ValueError", ""), "ValueError");
        let long = raised("ValueError", &"é".repeat(10_000_000));
        assert!(long.ends_with("é… (10000000 characters in all)"), "{}", &long[long.len() - 50..]);
        assert!(long.len() < 100_000);
    }
}
