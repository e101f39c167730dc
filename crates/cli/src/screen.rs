//! What is printed to a screen: how large it is, and a pager for what is longer.

use std::io::{IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// The columns and lines of the terminal that standard output is; `None` where it is none.
pub(crate) fn size() -> Option<(usize, usize)> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let (terminal_size::Width(width), terminal_size::Height(height)) = terminal_size::terminal_size()?;
    Some((usize::from(width), usize::from(height))).filter(|(width, height)| *width > 0 && *height > 0)
}

/// A writer that shows what has more lines than the screen in a pager.
pub(crate) struct Paged {
    /// What was written so far, while it fits.
    held: Vec<u8>,
    lines: usize,
    most: usize,
    pager: Option<Child>,
}

impl Paged {
    /// A writer for a screen of so many lines.
    pub(crate) fn new(height: usize) -> Paged {
        // The prompt and the time stand below.
        Paged { held: Vec::new(), lines: 0, most: height.saturating_sub(3), pager: None }
    }

    /// Waits until what was written is read.
    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        match self.pager.take() {
            Some(mut pager) => {
                drop(pager.stdin.take());
                pager.wait().map(|_| ())
            }
            None => {
                let mut out = std::io::stdout();
                out.write_all(&self.held)?;
                out.flush()
            }
        }
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            // The screen is its own until it ends.
            let _ = pager.wait();
        }
    }
}

impl Write for Paged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(stdin) = self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            return stdin.write(bytes);
        }
        self.held.extend_from_slice(bytes);
        self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count();
        if self.lines > self.most {
            match start() {
                Some(mut pager) => {
                    if let Some(stdin) = &mut pager.stdin {
                        stdin.write_all(&self.held)?;
                    }
                    self.held = Vec::new();
                    self.pager = Some(pager);
                }
                None => {
                    std::io::stdout().write_all(&self.held)?;
                    self.held.clear();
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            Some(stdin) => stdin.flush(),
            None => Ok(()),
        }
    }
}

/// The pager that `PAGER` names, or `less`; `None` where there is none.
fn start() -> Option<Child> {
    let named = std::env::var("PAGER").ok();
    let pager = match named.as_deref() {
        Some("") => return None,
        // It may be given with options.
        Some(pager) if pager.split_whitespace().next().is_some_and(is_there) => pager,
        _ if is_there("less") => "less",
        _ => return None,
    };
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // End where it fits, keep colours, do not wrap, leave the text on the screen.
        command.env("LESS", "-FRSX");
    }
    command.spawn().ok()
}

fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
