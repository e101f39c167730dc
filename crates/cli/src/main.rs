//! The command `exuvia`: an SQL shell with Python functions, and a batch runner.
//!
//! Everything about SQL is the plugin's; here are arguments, input, output and signals.

mod args;
mod command;
mod complete;
mod demo;
mod files;
mod interrupt;
mod output;
mod run;
mod screen;
mod shell;
mod table;

use args::{Args, Command, Input};
use clap::{CommandFactory, FromArgMatches};
use std::io::{IsTerminal, Read, Write};
use std::sync::Mutex;

/// Scans and loops take and give back buffers of some MiB for every batch, whose pages the allocator of the C
/// library asks of the system again and again: a scan of Parquet takes 1.7 times as long with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What panicked last, and where.
static PANICKED: Mutex<Option<String>> = Mutex::new(None);

fn main() {
    // A statement that panics is told as an error, once.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|info| {
            if let Ok(mut last) = PANICKED.lock() {
                *last = Some(info.to_string().replace('\n', " "));
            }
        }));
    }
    let matches = Args::command().get_matches_from(args::given());
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let inputs = args.inputs(&matches);
    let ran = std::panic::catch_unwind(move || start(args, &inputs)).unwrap_or_else(|_| {
        let what = PANICKED.lock().map_or_else(|_| None, |mut last| last.take());
        Err(anyhow::anyhow!("the program failed, which is a bug: {}", what.as_deref().unwrap_or("unknown")))
    });
    match ran {
        Ok(()) => leave(0),
        // A reader that went away, as `head` does, wanted no more.
        Err(error) if run::is_broken_pipe(&error) => leave(0),
        Err(error) => {
            run::report(&format!("{error:#}"));
            leave(1)
        }
    }
}

/// Ends the process with a status. What libraries do at its end is not done where Python runs in it: threads
/// that functions have started may still be in such a library.
pub(crate) fn leave(status: i32) -> ! {
    let _ = std::io::stdout().flush();
    exuvia::engine::end_process(status)
}

fn start(args: Args, inputs: &[Input]) -> anyhow::Result<()> {
    match args.command {
        Some(Command::Demo(demo)) => {
            demo::run(demo)?;
            return Ok(());
        }
        Some(Command::Completions { shell }) => {
            // Its writer panics where its reader goes away, as `head` does.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "exuvia", &mut script);
            std::io::stdout().write_all(&script)?;
            return Ok(());
        }
        Some(Command::Man) => {
            clap_mangen::Man::new(Args::command()).render(&mut std::io::stdout())?;
            return Ok(());
        }
        None => {}
    }
    let interactive = inputs.is_empty() && std::io::stdin().is_terminal();
    let mut runner = run::Runner::new(&args, interactive)?;
    if interactive {
        let ended = shell::run(&mut runner, args.quiet);
        runner.end();
        return ended;
    }
    let read;
    let inputs = if inputs.is_empty() {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        read = [Input::Text { name: "standard input".to_string(), text }];
        &read[..]
    } else {
        inputs
    };
    for input in inputs {
        let ran = match input {
            Input::Text { name, text } => {
                runner.script(Some(name.as_str()).filter(|name| !name.is_empty()), text).map(|_| ())
            }
            Input::File(path) => runner.file(path),
        };
        // What failed was reported; what follows may depend on it.
        if ran.is_err() {
            // A query that was cancelled may hold a thread for long, which nobody waits for.
            leave(runner.failure());
        }
    }
    runner.end();
    Ok(())
}
