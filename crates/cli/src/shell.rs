//! The interactive shell.

use crate::command::{self, Next};
use crate::complete::{SqlHelper, asks_for_help, quits_within};
use crate::run::{Runner, report, say};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, KeyCode, KeyEvent,
    Modifiers, RepeatCount,
};
use std::path::PathBuf;

/// Reads and runs statements until the user leaves.
pub(crate) fn run(runner: &mut Runner, quiet: bool) -> anyhow::Result<()> {
    if !quiet {
        let version = env!("CARGO_PKG_VERSION");
        say(&format!("exuvia {version}: SQL with Python functions. help lists the commands, \\q ends."))?;
    }
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(10_000)?
        .history_ignore_space(true)
        .auto_add_history(true)
        .build();
    let mut editor: Editor<SqlHelper, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(SqlHelper::new(runner.session.clone())));
    editor.bind_sequence(KeyEvent(KeyCode::Tab, Modifiers::NONE), EventHandler::Conditional(Box::new(Indent)));
    let history = history_file();
    if let Some(file) = &history {
        // There is none on the first start.
        let _ = editor.load_history(file);
    }
    loop {
        match editor.readline("exuvia> ") {
            Ok(text) => {
                runner.next_line();
                let next = line(runner, &text);
                if let Some(file) = &history {
                    // The shell works without a history.
                    let _ = editor.append_history(file);
                }
                if next == Next::Quit {
                    return Ok(());
                }
            }
            // Ctrl-C drops the text, Ctrl-D leaves.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            // Bytes that are no UTF-8 are no statement.
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                report(&format!("the line is no valid text: {error}"));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The Tab key where there is nothing to complete: it indents.
struct Indent;

impl ConditionalEventHandler for Indent {
    fn handle(&self, _: &Event, count: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let before = &context.line()[..context.pos()];
        let line = before.rsplit('\n').next().unwrap_or(before);
        (before.len() > line.len() && line.trim().is_empty()).then(|| Cmd::Insert(count, "    ".to_string()))
    }
}

fn line(runner: &mut Runner, text: &str) -> Next {
    let text = text.trim();
    if asks_for_help(text) {
        if let Err(error) = command::help() {
            report(&error);
        }
        return Next::Continue;
    }
    if matches!(text.trim_end_matches(';').trim_end().to_ascii_lowercase().as_str(), "quit" | "exit") {
        return Next::Quit;
    }
    if quits_within(text) {
        return Next::Quit;
    }
    // What fails was reported, and the shell goes on.
    if text.starts_with('\\') && !text.contains('\n') {
        return command::run(runner, text).unwrap_or(Next::Continue);
    }
    match command::elsewhere(text) {
        Some(here) => report(&format!("that is no command here: {here}")),
        None => return runner.script(None, text).unwrap_or(Next::Continue),
    }
    Next::Continue
}

/// The history's file in the user's data folder, which is made if need be.
fn history_file() -> Option<PathBuf> {
    let folder = match std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = PathBuf::from(std::env::var_os("HOME")?);
            if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { home.join(".local/share") }
        }
    };
    let folder = folder.join("exuvia");
    match std::fs::create_dir_all(&folder) {
        // What is no file, such as a pipe, may never end.
        Ok(()) => Some(folder.join("history")).filter(|file| std::fs::metadata(file).map_or(true, |is| is.is_file())),
        Err(error) => {
            report(&format!("no history is kept: {}: {error}", folder.display()));
            None
        }
    }
}
