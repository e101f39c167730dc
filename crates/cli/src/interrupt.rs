//! Ctrl-C: it cancels what is waited for, and ends the program where nothing else helps.
//!
//! It is heard on a thread and a runtime of its own, since queries may hold all others. A press is
//! kept until the shell reads the next line: whoever runs statements looks at it between any two
//! steps, so that none is lost on what was done the moment it came.

use exuvia::ExuviaSession;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long a cancelled query may go on until the program ends, or the shell tells that it does.
const PATIENCE: Duration = Duration::from_secs(1);

/// The exit status of a program that Ctrl-C ended.
pub(crate) const INTERRUPTED: i32 = 130;

/// What Ctrl-C would end.
enum State {
    /// Nothing that can be told: a result is being printed, say.
    Idle,
    /// Work, which is told, if somebody listens.
    Waiting(Option<oneshot::Sender<()>>),
    /// Work that was told and has not ended.
    Cancelled,
}

struct Shared {
    state: Mutex<State>,
    pressed: AtomicBool,
}

/// Whoever hears Ctrl-C, and what it is about.
pub(crate) struct Interrupts(Arc<Shared>);

impl Interrupts {
    /// Hears Ctrl-C from now on. In the shell a second one ends the program, and none does while
    /// there is nothing to cancel.
    pub(crate) fn listen(session: ExuviaSession, interactive: bool) -> std::io::Result<Interrupts> {
        let shared = Arc::new(Shared { state: Mutex::new(State::Idle), pressed: AtomicBool::new(false) });
        let heard = Arc::clone(&shared);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Before the shell's editor looks at who hears it: that is what it puts back after each line.
        let guard = runtime.enter();
        let presses = Presses::new()?;
        drop(guard);
        std::thread::Builder::new()
            .name("exuvia-interrupts".to_string())
            .spawn(move || runtime.block_on(hear(session, interactive, &heard, presses)))?;
        Ok(Interrupts(shared))
    }

    /// Work is waited for; what is returned says that it was cancelled.
    pub(crate) fn begin(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *lock(&self.0.state) = State::Waiting(Some(sender));
        receiver
    }

    /// Work is under way that sees by itself that the session's work was cancelled.
    pub(crate) fn begin_alone(&self) {
        *lock(&self.0.state) = State::Waiting(None);
    }

    /// It has ended, or nobody waits for it any more.
    pub(crate) fn end(&self) {
        *lock(&self.0.state) = State::Idle;
    }

    /// Whether Ctrl-C was pressed since the last [`Interrupts::forget`].
    pub(crate) fn pressed(&self) -> bool {
        self.0.pressed.load(Ordering::Relaxed)
    }

    /// A new line of the shell begins.
    pub(crate) fn forget(&self) {
        self.0.pressed.store(false, Ordering::Relaxed);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The presses to come.
#[cfg(unix)]
struct Presses(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Presses {
    fn new() -> std::io::Result<Presses> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Presses)
    }

    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

#[cfg(not(unix))]
struct Presses;

#[cfg(not(unix))]
impl Presses {
    fn new() -> std::io::Result<Presses> {
        Ok(Presses)
    }

    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}

async fn hear(session: ExuviaSession, interactive: bool, shared: &Shared, mut presses: Presses) {
    // When what was cancelled must have ended.
    let mut patience: Option<Instant> = None;
    loop {
        let pressed = match patience.take() {
            Some(end) => tokio::time::timeout_at(end, presses.next()).await.ok(),
            None => Some(presses.next().await),
        };
        if let Some(false) = pressed {
            // There are no signals here.
            return;
        }
        if pressed.is_some() {
            shared.pressed.store(true, Ordering::Relaxed);
        }
        let mut state = lock(&shared.state);
        match (std::mem::replace(&mut *state, State::Idle), pressed.is_some()) {
            (State::Waiting(query), true) => {
                *state = State::Cancelled;
                drop(state);
                session.cancel();
                // Whoever listens may have ended in the meantime.
                let _ = query.map(|query| query.send(()));
                patience = Some(Instant::now() + PATIENCE);
            }
            (State::Cancelled, true) => crate::leave(INTERRUPTED),
            (State::Cancelled, false) if !interactive => {
                crate::run::report("cancelled; the statement did not stop, so the program ends");
                crate::leave(INTERRUPTED)
            }
            (State::Cancelled, _) => {
                *state = State::Cancelled;
                crate::run::tell(
                    "what runs does not look whether it is to stop (a call into C, or a join of many rows); the prompt comes when it ends, and Ctrl-C again ends the program",
                );
            }
            (State::Idle, true) if !interactive => crate::leave(INTERRUPTED),
            (before, _) => *state = before,
        }
    }
}
