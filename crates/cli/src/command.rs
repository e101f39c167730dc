//! The shell's own commands, which begin with a backslash: in the shell, in -c and in files.

use crate::output::Format;
use crate::run::{Failed, Runner, report, say, tell};
use clap::ValueEnum;
use datafusion::arrow::array::AsArray;
use std::io::Write;
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
pub(crate) const COMMANDS: [(&str, &str); 18] = [
    ("\\q", "quit"),
    ("\\h", "show this"),
    ("\\d [TABLE]", "list the tables, or the columns of one"),
    ("\\dt [PATTERN]", "list the tables, or those of names such as sales_*"),
    ("\\df [PATTERN]", "list the Python functions and where they run"),
    ("\\sf FUNCTION", "show the source of a Python function"),
    ("\\dump STAGE FUNCTION", "stage: source, lifted, optimized, native, lowered, machine"),
    ("\\loops STAGE", "stage of loops: optimized, lowered, machine, helpers"),
    ("\\i FILE", "run the statements of a file"),
    ("\\udfs PATH", "create the functions of a Python file or folder"),
    ("\\e [FILE]", "edit the last statements, or a file, in $EDITOR, and run them"),
    ("\\o [FILE]", "write results to a file, or to the screen again"),
    ("\\format [FORMAT]", "print results as: table, expanded, csv, tsv, json, ndjson"),
    ("\\x [on|off]", "print a line for each column, or tables again"),
    ("\\maxrows [ROWS]", "rows that a table shows; 0 shows all"),
    ("\\pager [on|off]", "show long results in $PAGER, or no longer"),
    ("\\timing [on|off]", "tell the time of each query, or no longer"),
    ("\\echo TEXT", "print a text"),
];

/// Commands of other shells, and what stands here for them.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&[".tables", "\\dv", "\\l", "\\dn", ".databases"], "\\d lists the tables"),
    (&[".schema", "\\d+", "\\dt+"], "\\d TABLE lists the columns of a table"),
    (&[".mode", "\\a", "\\t", "\\pset"], "\\format FORMAT says how results are printed"),
    (&[".read", "\\ir"], "\\i FILE runs the statements of a file"),
    (&[".output", ".once"], "\\o FILE writes results to a file"),
    (&["\\g", "\\gx"], "a semicolon ends a statement and runs it"),
    (&[".timer"], "\\timing tells the time of each query"),
    (&[".maxrows"], "\\maxrows ROWS says how many rows a table shows"),
    (&[".help"], "\\h lists the commands"),
    (&[".quit", ".exit"], "\\q ends the shell"),
    (&[".open", "\\c"], "CREATE EXTERNAL TABLE makes a file a table, and FROM 'file.parquet' reads it"),
    (&["\\copy", ".import"], "COPY … TO 'file.csv' writes a file, and FROM 'file.csv' reads one"),
    (&["\\set"], "SET changes a setting and SHOW ALL lists them"),
    (&["\\!", ".shell", ".system"], "other programs are run from another terminal"),
    (&["\\ef"], "\\sf FUNCTION shows the source, and CREATE OR REPLACE FUNCTION changes it"),
];

fn tables(pattern: &str) -> String {
    // A pattern of schemas may stand before it.
    let (schema, name) = match pattern.split_once('.') {
        Some((schema, name)) if !pattern.starts_with('"') => (like(schema), name),
        _ => ("'%'".to_string(), pattern),
    };
    let like = like(name);
    format!(
        "SELECT table_schema, table_name, table_type FROM information_schema.tables \
         WHERE table_schema <> 'information_schema' AND table_schema LIKE {schema} AND table_name LIKE {like} \
         ORDER BY 1, 2"
    )
}

fn functions(pattern: &str) -> String {
    let like = like(pattern);
    format!(
        "SELECT name, signature, volatility, placement, fallbacks, reason FROM exuvia.functions \
         WHERE name LIKE {like} ORDER BY name"
    )
}

/// Whether what follows a command is one name, in quotes where it has blanks.
fn is_name(words: &[&str], given: &str) -> bool {
    words.len() == 1 || given.len() > 1 && given.starts_with('"') && given.ends_with('"')
}

/// A pattern of psql's, with `*` and `?`, as one of LIKE; in quotes a name as it is.
fn like(pattern: &str) -> String {
    let mut like = String::from("'");
    let quoted = pattern.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = quoted.map_or_else(|| pattern.to_string(), |name| name.replace("\"\"", "\""));
    for c in name.chars() {
        match c {
            '*' | '?' if quoted.is_some() => like.push(c),
            '*' => like.push('%'),
            '?' => like.push('_'),
            '\'' => like.push_str("''"),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            c if quoted.is_some() => like.push(c),
            c => like.extend(c.to_lowercase()),
        }
    }
    like + "'"
}

/// What is a command of another shell's is said in the words of this one.
pub(crate) fn elsewhere(line: &str) -> Option<&'static str> {
    let name = line.split_whitespace().next()?;
    let known = ELSEWHERE.iter().find(|(names, _)| names.contains(&name)).map(|(_, here)| *here);
    // No statement begins so.
    let dotted = name.strip_prefix('.').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    known.or(dotted.then_some("\\h lists the commands"))
}

/// The stages that a command shows, as its help lists them.
pub(crate) fn stages(command: &str) -> impl Iterator<Item = String> {
    let help = COMMANDS.iter().find(|(form, _)| form.split(' ').next() == Some(command)).map_or("", |(_, help)| help);
    let list = help.rsplit_once(": ").map_or("", |(_, list)| list);
    list.split(", ").map(str::to_string)
}

/// Prints the commands.
pub(crate) fn help() -> Result<(), String> {
    shown("Statements end with a semicolon, and may take several lines.")?;
    COMMANDS.iter().try_for_each(|(command, help)| shown(&format!("{command:22} {help}")))
}

/// Runs a command.
pub(crate) fn run(runner: &mut Runner, line: &str) -> Result<Next, Failed> {
    let line = line.trim().trim_end_matches(';').trim_end();
    let words: Vec<&str> = line.split_whitespace().collect();
    // A path is all that follows, with blanks in it or in quotes.
    let name = words.first().copied().unwrap_or("\\");
    let given = line.strip_prefix(name).unwrap_or("").trim();
    let rest = unquoted(given);
    let done: Result<(), String> = match words[..] {
        ["\\q" | "\\quit"] => return Ok(Next::Quit),
        ["\\d" | "\\dt"] => return sql(runner, &tables("*")),
        ["\\dt", ref rest @ ..] if is_name(rest, given) => return sql(runner, &tables(given)),
        ["\\d", pattern] if pattern.contains(['*', '?']) && !pattern.starts_with('"') => {
            return sql(runner, &tables(given));
        }
        ["\\d", ref rest @ ..] if is_name(rest, given) => return sql(runner, &format!("DESCRIBE {given}")),
        ["\\df"] => return sql(runner, &functions("*")),
        ["\\df", ref rest @ ..] if is_name(rest, given) => return sql(runner, &functions(given)),
        ["\\sf", _, ..] => source(runner, given),
        ["\\dump", stage, function] => match runner.session.dump(stage, function) {
            Ok(text) => shown(text.trim_end()),
            Err(error) => Err(exuvia::message(&error)),
        },
        ["\\loops", stage] => match &runner.session.dump_loops(stage)[..] {
            [] => shown(&format!("there are no loops over several functions, or they have no stage {stage}")),
            loops => loops.iter().try_for_each(|text| shown(&format!("{}\n", text.trim_end()))),
        },
        ["\\i", _, ..] => return runner.file(Path::new(rest)).map(|()| Next::Continue),
        ["\\udfs", _, ..] => runner.load_functions(rest).map(|names| tell(&format!("created {}", names.join(", ")))),
        ["\\e"] => return edit(runner, None),
        ["\\e", _, ..] => return edit(runner, Some(Path::new(rest))),
        ["\\o"] => {
            runner.output = None;
            Ok(())
        }
        ["\\o", first, ..] if first.starts_with('|') => {
            Err("\\o writes to a file; for a program, pipe the output of exuvia -c".to_string())
        }
        ["\\o", _, ..] => match std::fs::File::create(rest) {
            Ok(file) => {
                runner.output = Some(file);
                Ok(())
            }
            Err(error) => Err(format!("cannot write {rest}: {error}")),
        },
        ["\\format"] => shown(&format!("{}", runner.format)),
        ["\\format", format] => match Format::from_str(format, true) {
            Ok(format) => {
                runner.format = format;
                Ok(())
            }
            Err(_) => {
                let formats = stages("\\format").collect::<Vec<_>>().join(", ");
                Err(format!("there is no format {format}; there are {formats}"))
            }
        },
        ["\\x", ref switch @ ..] if let Some(expanded) = turned(switch, runner.format == Format::Expanded) => {
            runner.format = if expanded { Format::Expanded } else { Format::Table };
            tell(&format!("format is {}", runner.format));
            Ok(())
        }
        ["\\maxrows"] => shown(&runner.most.map_or("0".to_string(), |most| most.to_string())),
        ["\\maxrows", rows] => match rows.parse::<usize>() {
            Ok(rows) => {
                runner.most = Some(rows).filter(|&rows| rows > 0);
                Ok(())
            }
            Err(_) => Err(format!("{rows} is no number of rows, such as 100; 0 shows all")),
        },
        ["\\pager", ref switch @ ..] if let Some(pager) = turned(switch, runner.pager) => {
            runner.pager = pager;
            tell(&format!("pager is {}", if runner.pager { "on" } else { "off" }));
            Ok(())
        }
        ["\\timing", ref switch @ ..] if let Some(timing) = turned(switch, runner.timing) => {
            runner.timing = timing;
            tell(&format!("timing is {}", if runner.timing { "on" } else { "off" }));
            Ok(())
        }
        ["\\echo", ..] => shown(rest),
        ["\\h" | "\\?" | "\\help"] => help(),
        _ => Err(match (usage(name), elsewhere(name)) {
            (Some(usage), _) => format!("usage: {usage}"),
            (None, Some(here)) => format!("there is no command {name}: {here}"),
            (None, None) => format!("there is no command {name}; \\h lists them"),
        }),
    };
    match done {
        Ok(()) => Ok(Next::Continue),
        Err(error) => {
            report(&error);
            Err(Failed)
        }
    }
}

/// What a switch becomes: what is said, or the other thing where nothing is; `None` for anything else.
fn turned(words: &[&str], is_on: bool) -> Option<bool> {
    match words {
        [] => Some(!is_on),
        ["on"] => Some(true),
        ["off"] => Some(false),
        _ => None,
    }
}

fn usage(name: &str) -> Option<&'static str> {
    COMMANDS.iter().map(|(usage, _)| *usage).find(|usage| usage.split(' ').next() == Some(name))
}

/// A path without the quotes around it.
fn unquoted(path: &str) -> &str {
    let within = |quote| path.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    within('\'').or_else(|| within('"')).unwrap_or(path)
}

fn shown(text: &str) -> Result<(), String> {
    say(text).map_err(|error| error.to_string())
}

fn sql(runner: &mut Runner, text: &str) -> Result<Next, Failed> {
    runner.script(None, text)
}

/// Shows a function as a statement that would create it.
fn source(runner: &Runner, function: &str) -> Result<(), String> {
    // As in SQL, a name in quotes is taken as it is.
    let quoted = function.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = quoted.map_or_else(|| function.to_string(), |name| name.replace("\"\"", "\"")).replace('\'', "''");
    let lower = if quoted.is_none() { format!(" OR name = lower('{name}')") } else { String::new() };
    let query = format!("SELECT statement FROM exuvia.functions WHERE name = '{name}'{lower}");
    let batches = runner.collect(&query)?;
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Err(format!("there is no Python function {function}; \\df lists them"));
    }
    for batch in &batches {
        for text in batch.column(0).as_string_opt::<i32>().into_iter().flatten().flatten() {
            shown(text)?;
        }
    }
    Ok(())
}

/// Edits a file, or the last statements in a file of its own, and runs what it then says.
fn edit(runner: &mut Runner, path: Option<&Path>) -> Result<Next, Failed> {
    let failed = |error: &str| {
        report(error);
        Failed
    };
    let own = std::env::temp_dir().join(format!("exuvia-{}.sql", std::process::id()));
    let path = match path {
        Some(path) => path,
        None => {
            // A file of that name is somebody else's.
            let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&own);
            made.and_then(|mut file| writeln!(file, "{}", runner.last.trim_end()))
                .map_err(|error| failed(&format!("cannot write {}: {error}", own.display())))?;
            &own
        }
    };
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let editor = named.unwrap_or_else(|| "vi".to_string());
    let saved_at = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let before = (saved_at(path), std::fs::read(path).ok());
    // An editor may be given with options, and is then a command of the system's shell.
    let ended = std::process::Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path).status();
    let text = std::fs::read_to_string(path);
    let is_saved = before.0 != saved_at(path) || before.1.as_deref() != text.as_ref().ok().map(String::as_bytes);
    if *path == *own {
        // It may be gone already.
        let _ = std::fs::remove_file(path);
    }
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failed(&format!("{editor}: {status}; nothing is run"))),
        Err(error) => return Err(failed(&format!("cannot run {editor}: {error}; set EDITOR to an editor"))),
    }
    let text = text.map_err(|error| failed(&format!("cannot read {}: {error}", path.display())))?;
    if !is_saved {
        tell("nothing was saved, and nothing is run");
        return Ok(Next::Continue);
    }
    tell(text.trim_end());
    runner.script(None, &text)
}
