//! Running statements: one after the other, each result printed, Ctrl-C ends the query.

use crate::args::Args;
use crate::command::{self, Next};
use crate::files;
use crate::interrupt::{INTERRUPTED, Interrupts};
use crate::output::{Extent, Format, Printer};
use crate::screen::{self, Paged};
use anyhow::{Context, anyhow};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionConfig;
use exuvia::{ExuviaOptions, ExuviaSession, Script, Statement, message};
use futures::StreamExt;
use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::runtime::Runtime;

/// The stack of a thread that runs queries, which walk their operators and expressions by recursion. Only what
/// is used of it takes memory.
const STACK: usize = 64 << 20;

/// A statement failed; it was reported.
#[derive(Debug)]
pub(crate) struct Failed;

/// A statement was run.
struct Done {
    /// The rows that it gave, if it is one that gives rows.
    rows: Option<usize>,
    ended: Instant,
}

impl Done {
    fn now(rows: Option<usize>) -> Done {
        Done { rows, ended: Instant::now() }
    }
}

/// What runs statements.
pub(crate) struct Runner {
    pub(crate) session: ExuviaSession,
    runtime: Runtime,
    pub(crate) format: Format,
    /// Rows that a table shows.
    pub(crate) most: Option<usize>,
    /// Whether the time of each query is told.
    pub(crate) timing: bool,
    /// Where results go that are not for the screen.
    pub(crate) output: Option<File>,
    /// Whether what is longer than the screen is shown in a pager.
    pub(crate) pager: bool,
    /// The statements that were run last, for an editor.
    pub(crate) last: String,
    interactive: bool,
    /// Files that are being run, one from within the other.
    files: usize,
    /// Whether the session's warning was shown.
    warned: Cell<bool>,
    interrupts: Interrupts,
}

impl Runner {
    pub(crate) fn new(args: &Args, interactive: bool) -> anyhow::Result<Runner> {
        // Standard output is for results. Nobody is left to be told when standard error is gone.
        let print = |text: &str| drop(std::io::stderr().write_all(text.as_bytes()));
        let mut options = ExuviaOptions::default().with_print(print);
        if args.no_interpreter {
            options = options.without_interpreter();
        }
        if let Some(memory) = &args.worker {
            let bytes = exuvia::parse_bytes(memory);
            if bytes.is_none() && memory != "off" {
                anyhow::bail!("--worker takes a number of bytes such as 4GB, not {memory}");
            }
            if bytes.is_some_and(|bytes| bytes < exuvia::LEAST_WORKER_MEMORY) {
                anyhow::bail!("--worker takes at least 64MB, which Python itself takes, not {memory}");
            }
            options = options.with_worker(bytes);
        }
        if let Some(time) = &args.timeout {
            let time = exuvia::parse_duration(time)
                .ok_or_else(|| anyhow!("--timeout takes a time such as 30s, not {time}"))?;
            options = options.with_timeout(Some(time));
        }
        let config = SessionConfig::from_env()
            .map_err(|error| anyhow!("{}", message(&error)))?
            .with_information_schema(true)
            .with_option_extension(options);
        // A worker more than cores: one may be held by a function that is interpreted.
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().thread_stack_size(STACK).build()?;
        let session = ExuviaSession::new_with_config(config).enable_url_table();
        files::register(&session).map_err(|error| anyhow!("{}", message(&error)))?;
        let interrupts = Interrupts::listen(session.clone(), interactive)?;
        for model in &args.models {
            let (name, path) = model.split_once('=').ok_or_else(|| anyhow!("--model is NAME=FILE, not {model}"))?;
            session.register_model(name, path);
        }
        for path in &args.udfs {
            session.load_functions(path).map_err(|error| anyhow!("{}", message(&error)))?;
        }
        let most = args.maxrows.or(interactive.then_some(100)).filter(|&most| most > 0);
        Ok(Runner {
            session,
            runtime,
            format: args.format,
            most,
            timing: interactive && !args.quiet,
            output: None,
            pager: interactive,
            last: String::new(),
            interactive,
            files: 0,
            warned: Cell::new(args.quiet),
            interrupts,
        })
    }

    /// The shell reads the next line.
    pub(crate) fn next_line(&self) {
        self.interrupts.forget();
    }

    /// Ends without waiting for a call that was cancelled and goes on.
    pub(crate) fn end(self) {
        self.runtime.shutdown_background();
    }

    /// Creates the functions of a Python file or folder.
    pub(crate) fn load_functions(&self, path: &str) -> Result<Vec<String>, String> {
        self.interrupts.begin_alone();
        let loaded = caught(|| self.session.load_functions(path)).and_then(|loaded| loaded.map_err(|e| message(&e)));
        self.interrupts.end();
        if self.interrupts.pressed() { Err(CANCELLED.to_string()) } else { loaded }
    }

    /// Runs the statements of a file up to the first that fails.
    pub(crate) fn file(&mut self, path: &Path) -> Result<(), Failed> {
        if self.files == MOST_FILES {
            report(&format!("{}: files that run files are {MOST_FILES} deep", path.display()));
            return Err(Failed);
        }
        let read = if path == Path::new("-") {
            std::io::read_to_string(std::io::stdin()).context("cannot read standard input")
        } else {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        };
        match read {
            Ok(text) => {
                self.files += 1;
                let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
                // What ends a file ends nothing else.
                let ran = self.script(Some(&name), &text).map(|_| ());
                self.files -= 1;
                ran
            }
            Err(error) => {
                report(&format!("{error:#}"));
                Err(Failed)
            }
        }
    }

    /// The rows of a query.
    pub(crate) fn collect(&self, query: &str) -> Result<Vec<RecordBatch>, String> {
        self.interruptible(|| async { self.session.sql(query).await?.collect().await })
    }

    /// Runs the statements of a text up to the first that fails. `name` is where the text
    /// comes from, for errors.
    pub(crate) fn script(&mut self, name: Option<&str>, text: &str) -> Result<Next, Failed> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let statements = Script::cut(text).statements;
        for statement in &statements {
            if self.interrupts.pressed() {
                report(CANCELLED);
                return Err(Failed);
            }
            let place = || name.map(|name| format!("{name}:{}: ", statement.line())).unwrap_or_default();
            if statement.text().starts_with('\\') {
                match command::run(self, statement.text()) {
                    Ok(Next::Continue) => continue,
                    // The rest of the script is left.
                    Ok(Next::Quit) => return Ok(Next::Quit),
                    Err(failed) => {
                        if !place().is_empty() {
                            tell(&format!("  in {}{}", place(), statement.text()));
                        }
                        return Err(failed);
                    }
                }
            }
            self.last = statement.text().to_string() + ";";
            if let Err(error) = self.statement(statement) {
                // An error that shows lines of the script shows the statement.
                let several = statements.len() > 1 && !error.contains(" | ") && error != CANCELLED;
                let which = if several {
                    format!("\n  in the statement {}", beginning(statement.text()))
                } else {
                    String::new()
                };
                report(&format!("{}{error}{which}", place()));
                return Err(Failed);
            }
        }
        Ok(Next::Continue)
    }

    /// Runs a statement and prints its rows; an error as a person reads it.
    pub(crate) fn statement(&self, statement: &Statement<'_>) -> Result<(), String> {
        let start = Instant::now();
        let planned = self.interruptible(|| async { self.session.statement(statement).await });
        let done = planned.and_then(|frame| self.print(frame));
        if !self.warned.get()
            && let Some(warning) = self.session.warning()
        {
            tell(&format!("warning: {warning}"));
            self.warned.set(true);
        }
        for notice in self.session.take_notices() {
            tell(&format!("notice: {notice}"));
        }
        let done = done?;
        if self.timing {
            let rows = done.rows.map(|rows| format!("{rows} row{}, ", if rows == 1 { "" } else { "s" }));
            let time = done.ended.duration_since(start);
            tell(&format!("{}{:.3} s", rows.unwrap_or_default(), time.as_secs_f64()));
        }
        Ok(())
    }

    /// Prints the rows of a query, if it has columns.
    fn print(&self, frame: DataFrame) -> Result<Done, String> {
        if let LogicalPlan::Copy(copy) = frame.logical_plan() {
            takes_files(&copy.output_url)?;
            let parts = Parts::of(&copy.output_url);
            let written = self.rows(frame);
            parts.end(written.is_ok());
            return written;
        }
        self.rows(frame)
    }

    fn rows(&self, frame: DataFrame) -> Result<Done, String> {
        let changes = matches!(frame.logical_plan(), LogicalPlan::Dml(_) | LogicalPlan::Copy(_));
        let for_people = matches!(self.format, Format::Table | Format::Expanded);
        // The number of rows that were written is no result that a program would read.
        if frame.schema().fields().is_empty() || (changes && !for_people) {
            return self.interruptible(|| async { frame.collect().await }).map(|_| Done::now(None));
        }
        let explains = matches!(frame.logical_plan(), LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
        let mut stream = self.interruptible(|| async { frame.execute_stream().await })?;
        let screen = screen::size().filter(|_| self.interactive && self.output.is_none());
        // Plans are as wide as they are.
        let extent = Extent { rows: self.most, width: screen.map(|(width, _)| width).filter(|_| !explains) };
        let sink = match (&self.output, screen) {
            (Some(file), _) => Sink::File(file),
            (None, Some((_, height))) if self.pager => Sink::Paged(Paged::new(height)),
            _ => Sink::Standard(standard_output().map_err(|error| error.to_string())?),
        };
        // A table is made as a whole, and may be large.
        let sink = Stoppable { sink, interrupts: &self.interrupts };
        let mut out = std::io::BufWriter::new(sink);
        let mut printer = Printer::new(self.format, &mut out, stream.schema(), extent);
        let mut rows = 0;
        let printed = loop {
            let next = self.interruptible(|| async { stream.next().await.transpose() });
            match next {
                Ok(Some(batch)) => {
                    rows += batch.num_rows();
                    if let Err(error) = printer.write(&batch) {
                        break Err(error);
                    }
                }
                Ok(None) => break printer.finish(),
                Err(error) => break Err(anyhow!(error)),
            }
        };
        let flushed = out.flush().map_err(anyhow::Error::from);
        // Reading takes its own time.
        let done = Done::now(Some(rows));
        let flushed = flushed.and_then(|()| match out.into_parts().0.sink {
            Sink::Paged(paged) => Ok(paged.finish()?),
            Sink::Standard(_) | Sink::File(_) => Ok(()),
        });
        match printed.and(flushed) {
            Err(_) if self.interrupts.pressed() => Err(CANCELLED.to_string()),
            // A reader that went away, as `head` does, wanted no more.
            Err(error) if !is_broken_pipe(&error) => Err(error.to_string()),
            _ => Ok(done),
        }
    }

    /// The status of a program whose script has failed.
    pub(crate) fn failure(&self) -> i32 {
        if self.interrupts.pressed() { INTERRUPTED } else { 1 }
    }

    /// Waits for a part of a query. Ctrl-C cancels the session's queries, which ends it;
    /// what does not end soon, as a call into C in a Python function, ends with the program: in
    /// the shell by a second one.
    fn interruptible<T, F>(&self, part: impl FnOnce() -> F) -> Result<T, String>
    where
        F: Future<Output = Result<T, DataFusionError>>,
    {
        if self.interrupts.pressed() {
            return Err(CANCELLED.to_string());
        }
        let work = async {
            let cancelled = self.interrupts.begin();
            tokio::select! {
                result = part() => result.map_err(|error| message(&error)),
                Ok(()) = cancelled => Err(CANCELLED.to_string()),
            }
        };
        let result = caught(|| exuvia::on_large_stack(|| self.runtime.block_on(work)));
        self.interrupts.end();
        // What was done the moment it came counts for nothing.
        if self.interrupts.pressed() { Err(CANCELLED.to_string()) } else { result? }
    }
}

const CANCELLED: &str = "cancelled";

/// Files that run files.
const MOST_FILES: usize = 50;

/// Where results are printed.
enum Sink<'a> {
    Standard(File),
    File(&'a File),
    Paged(Paged),
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Sink::Standard(out) => out.write(bytes),
            Sink::File(file) => file.write(bytes),
            Sink::Paged(paged) => paged.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Sink::Standard(out) => out.flush(),
            Sink::File(file) => file.flush(),
            Sink::Paged(paged) => paged.flush(),
        }
    }
}

/// What is written to until Ctrl-C is pressed.
struct Stoppable<'a> {
    sink: Sink<'a>,
    interrupts: &'a Interrupts,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Of the kind `Interrupted` it would be tried again.
        if self.interrupts.pressed() { Err(std::io::Error::other(CANCELLED)) } else { self.sink.write(bytes) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

/// The first line of a statement, as far as it is short.
fn beginning(statement: &str) -> String {
    const MOST: usize = 60;
    let line = statement.lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < statement.len() => format!("{line} …"),
        None => line.to_string(),
    }
}

/// What a part gives, or that it panicked: a library may, on a file that is damaged, and that is no
/// reason to end the shell.
fn caught<T>(part: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(part)).map_err(|_| {
        let what = crate::PANICKED.lock().map_or_else(|_| None, |mut last| last.take());
        format!("a part of the program failed, which is a bug: {}", what.as_deref().unwrap_or("unknown"))
    })
}

/// Tells something on standard error. Nobody is left to be told when that is gone.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Standard output without the buffer of the standard library, which would show what is left of a cancelled
/// result before the next one.
#[cfg(unix)]
fn standard_output() -> std::io::Result<File> {
    use std::os::fd::AsFd;
    let mut out = std::io::stdout();
    out.flush()?;
    Ok(File::from(out.as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn standard_output() -> std::io::Result<File> {
    use std::os::windows::io::AsHandle;
    let mut out = std::io::stdout();
    out.flush()?;
    Ok(File::from(out.as_handle().try_clone_to_owned()?))
}

/// Writes text and a line end to standard output.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{text}").and_then(|()| out.flush()).or_else(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error.into()),
    })
}

/// Whether the reader of the output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| match cause.downcast_ref::<ArrowError>() {
        Some(ArrowError::IoError(_, error)) => is_broken(error),
        _ => cause.downcast_ref::<std::io::Error>().is_some_and(is_broken),
    })
}

/// What COPY leaves where it fails: unfinished files beside the file that it writes, to which DataFusion's
/// store of local files gives a number behind a `#`, and an empty file in the place of the one before.
struct Parts {
    target: PathBuf,
    before: HashSet<PathBuf>,
    /// Another name of the file that was there, if it was one.
    kept: Option<PathBuf>,
    /// Whether there was nothing.
    is_new: bool,
}

impl Parts {
    fn of(target: &str) -> Parts {
        let target = PathBuf::from(target.strip_prefix("file://").unwrap_or(target));
        let before = Parts::found(&target);
        let found = std::fs::symlink_metadata(&target).ok();
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kept = target.with_file_name(format!(".{name}.{}", std::process::id()));
        // A file system without links keeps nothing.
        let is_file = found.as_ref().is_some_and(std::fs::Metadata::is_file);
        let kept = (is_file && std::fs::hard_link(&target, &kept).is_ok()).then_some(kept);
        Parts { target, before, kept, is_new: found.is_none() }
    }

    /// Puts back what was there where the statement failed.
    fn end(self, succeeded: bool) {
        // What is to be removed may be gone already.
        let _ = match &self.kept {
            Some(kept) if succeeded => std::fs::remove_file(kept),
            Some(kept) => std::fs::rename(kept, &self.target),
            None if self.is_new && !succeeded && self.target.is_file() => std::fs::remove_file(&self.target),
            None => Ok(()),
        };
        if !succeeded {
            self.remove();
        }
    }

    fn found(target: &Path) -> HashSet<PathBuf> {
        let Some(name) = target.file_name().and_then(|name| name.to_str()) else { return HashSet::new() };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_part = |path: &Path| {
            let number = path.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('#')?;
            Some(!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| is_part(path) == Some(true)).collect()
    }

    /// Removes those that were made since.
    fn remove(&self) {
        for part in Parts::found(&self.target).difference(&self.before) {
            // It may be gone already.
            let _ = std::fs::remove_file(part);
        }
    }
}

/// Shows an error on standard error.
pub(crate) fn report(text: &str) {
    let mut err = std::io::stderr();
    let colour = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let label = if colour { "\x1b[31merror\x1b[0m" } else { "error" };
    // Nobody is left to be told when standard error is gone.
    let _ = writeln!(err, "{label}: {text}");
}

/// Whether a file can be made where COPY wants one. DataFusion's store of local files tries
/// without end where a folder is there but takes none, such as `/proc`.
fn takes_files(target: &str) -> Result<(), String> {
    let path = target.strip_prefix("file://").unwrap_or(target);
    if path.contains("://") {
        return Ok(());
    }
    let path = std::path::absolute(path).map_err(|error| format!("cannot write to {target}: {error}"))?;
    if std::fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(format!("cannot write to {target}: it is neither a file nor a folder"));
    }
    let Some(folder) = path.ancestors().skip(1).find(|ancestor| ancestor.exists()) else { return Ok(()) };
    if !folder.is_dir() {
        return Err(format!("cannot write to {target}: {} is no folder", folder.display()));
    }
    let probe = folder.join(format!(".exuvia-{}", std::process::id()));
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&probe);
    made.and_then(|_| std::fs::remove_file(&probe)).map_err(|error| format!("cannot write to {target}: {error}"))
}
