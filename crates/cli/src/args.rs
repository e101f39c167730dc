//! The command line.

use crate::demo;
use crate::output::Format;
use clap::{ArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Runs SQL with Python functions, natively where it can.
///
/// Without -c and -f it reads statements from a shell, or from standard input where that
/// is no terminal.
#[derive(Debug, Parser)]
#[command(name = "exuvia", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Statements, or a file of them, to run before exiting, as with -c and -f.
    #[arg(value_name = "SQL_OR_FILE")]
    pub(crate) plain: Vec<String>,
    /// Run these statements and exit; may be repeated.
    #[arg(short = 'c', long = "command", value_name = "SQL", allow_hyphen_values = true)]
    pub(crate) commands: Vec<String>,
    /// Run the statements of this file and exit, of standard input for -; may be repeated.
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print results and errors only.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Create the functions of this Python file, or of a folder's, that declare their SQL
    /// signature in a comment `# sql: name(arg TYPE, …) RETURNS TYPE …` above their def;
    /// may be repeated.
    #[arg(long, value_name = "FOLDER_OR_FILE")]
    pub(crate) udfs: Vec<PathBuf>,
    /// Make a fitted model known by a name, for functions with OPTIONS (models 'NAME'); may be
    /// repeated.
    #[arg(long = "model", value_name = "NAME=FILE")]
    pub(crate) models: Vec<String>,
    /// Never run CPython: what cannot run without it is refused.
    #[arg(long)]
    pub(crate) no_interpreter: bool,
    /// Run CPython in a process of its own, so that a function that crashes it fails its query
    /// and nothing else; with BYTES, such as 4GB, that is the memory which it may map.
    #[arg(long, value_name = "BYTES", num_args = 0..=1, default_missing_value = "off", conflicts_with = "no_interpreter")]
    pub(crate) worker: Option<String>,
    /// The time that the Python calls of a query may take, such as 30s: SET can only shorten it.
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
    /// Rows that a table shows; 0 shows all. In the shell 100, else all.
    #[arg(long, value_name = "ROWS")]
    pub(crate) maxrows: Option<usize>,
    /// Something else than SQL.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What the command does beside running SQL.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Generate real-estate listings and clean them with Python functions.
    Demo(demo::Args),
    /// Print the completions for a shell of the system.
    Completions {
        /// That shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// Something to run.
#[derive(Debug)]
pub(crate) enum Input {
    /// A text and the name that its errors carry, if any.
    Text { name: String, text: String },
    /// A file of statements.
    File(PathBuf),
}

impl Input {
    /// What is neither given by -c nor by -f: a file where there is one or it looks like one.
    fn plain(text: &str) -> Input {
        let of_sql = |c: char| c.is_whitespace() || matches!(c, ';' | '(' | '*');
        let is_sql = text.is_empty() || text.starts_with('\\') || text.contains(of_sql);
        if text == "-" || Path::new(text).exists() || !is_sql {
            Input::File(PathBuf::from(text))
        } else {
            Input::Text { name: String::new(), text: text.to_string() }
        }
    }
}

/// The arguments of the program, where a statement that begins with a comment is no option.
pub(crate) fn given() -> Vec<OsString> {
    let is_comment = |arg: &OsString| {
        let comment = arg.to_str().and_then(|text| text.strip_prefix("--"));
        comment.is_some_and(|rest| rest.starts_with(char::is_whitespace) || rest.contains('\n'))
    };
    let shifted = |mut arg: OsString| {
        if is_comment(&arg) {
            arg = OsString::from(format!(" {}", arg.to_string_lossy()));
        }
        arg
    };
    std::env::args_os().map(shifted).collect()
}

impl Args {
    /// The -c and -f in the order in which they were given.
    pub(crate) fn inputs(&self, matches: &ArgMatches) -> Vec<Input> {
        let places = |name| matches.indices_of(name).into_iter().flatten();
        let commands = self.commands.iter().map(|text| Input::Text { name: String::new(), text: text.clone() });
        let files = self.files.iter().map(|path| Input::File(path.clone()));
        let plain = self.plain.iter().map(|text| Input::plain(text));
        let mut inputs: Vec<(usize, Input)> = places("commands")
            .zip(commands)
            .chain(places("files").zip(files))
            .chain(places("plain").zip(plain))
            .collect();
        inputs.sort_by_key(|(place, _)| *place);
        inputs.into_iter().map(|(_, input)| input).collect()
    }
}
