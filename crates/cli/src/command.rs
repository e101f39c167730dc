//! The shell's own commands, which begin with a backslash.

use crate::run::{Failed, Runner, report, say, tell};
use std::path::Path;

/// What the shell does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Read on.
    Continue,
    /// End.
    Quit,
}

/// The commands and what they do.
pub(crate) const COMMANDS: [(&str, &str); 9] = [
    ("\\q", "quit"),
    ("\\d [TABLE]", "list the tables, or the columns of one"),
    ("\\df", "list the Python functions and where they run"),
    ("\\dump STAGE FUNCTION", "show a stage: source, snapshot, lifted, optimized, lowered, machine"),
    ("\\loops STAGE", "show a stage of each loop over several functions: optimized, lowered, machine, helpers"),
    ("\\i FILE", "run the statements of a file"),
    ("\\timing", "tell the time of each query, or no longer"),
    ("\\h", "show this"),
    ("\\udfs PATH", "create the functions of a Python file or folder"),
];

const TABLES: &str = "SELECT table_schema, table_name, table_type FROM information_schema.tables \
     WHERE table_schema <> 'information_schema' ORDER BY 1, 2";

const FUNCTIONS: &str =
    "SELECT name, signature, volatility, placement, fallbacks, reason FROM exuvia.functions ORDER BY name";

/// Runs a command.
pub(crate) fn run(runner: &mut Runner, line: &str) -> Result<Next, Failed> {
    let words: Vec<&str> = line.trim().trim_end_matches(';').split_whitespace().collect();
    let done: Result<(), String> = match words[..] {
        ["\\q" | "\\quit"] => return Ok(Next::Quit),
        ["\\d"] => return sql(runner, TABLES),
        ["\\d", table] => return sql(runner, &format!("DESCRIBE {table}")),
        ["\\df"] => return sql(runner, FUNCTIONS),
        ["\\dump", stage, function] => match runner.session.dump(stage, function) {
            Ok(text) => shown(text.trim_end()),
            Err(error) => Err(exuvia::message(&error)),
        },
        ["\\loops", stage] => match &runner.session.dump_loops(stage)[..] {
            [] => shown(&format!("there are no loops over several functions, or they have no stage {stage}")),
            loops => loops.iter().try_for_each(|text| shown(&format!("{}\n", text.trim_end()))),
        },
        ["\\i", path] => return runner.file(Path::new(path)).map(|()| Next::Continue),
        ["\\udfs", path] => runner.load_functions(path).map(|names| tell(&format!("created {}", names.join(", ")))),
        ["\\timing"] => {
            runner.timing = !runner.timing;
            tell(&format!("timing is {}", if runner.timing { "on" } else { "off" }));
            Ok(())
        }
        ["\\h" | "\\?" | "\\help"] => {
            COMMANDS.iter().try_for_each(|(command, help)| shown(&format!("{command:22} {help}")))
        }
        _ => {
            let name = words.first().copied().unwrap_or("\\");
            let known = COMMANDS.iter().find(|(usage, _)| usage.split(' ').next() == Some(name));
            Err(match known {
                Some((usage, _)) => format!("usage: {usage}"),
                None => format!("there is no command {name}; \\h lists them"),
            })
        }
    };
    match done {
        Ok(()) => Ok(Next::Continue),
        Err(error) => {
            report(&error);
            Err(Failed)
        }
    }
}

fn shown(text: &str) -> Result<(), String> {
    say(text).map_err(|error| error.to_string())
}

fn sql(runner: &mut Runner, text: &str) -> Result<Next, Failed> {
    runner.script(None, text).map(|()| Next::Continue)
}
