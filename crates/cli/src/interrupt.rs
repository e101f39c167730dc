//! Ctrl-C: it cancels the query that is waited for, and ends the program where nothing else
//! helps.
//!
//! It is heard on a thread and a runtime of its own, since queries may hold all others.

use exuvia::ExuviaSession;
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
    /// No query: a result is being printed, say.
    Idle,
    /// A query, which is told.
    Waiting(oneshot::Sender<()>),
    /// A query that was told and has not ended.
    Cancelled,
}

/// Whoever hears Ctrl-C, and what it is about.
pub(crate) struct Interrupts(Arc<Mutex<State>>);

impl Interrupts {
    /// Hears Ctrl-C from now on. In the shell a second one ends the program, and none does while
    /// there is no query.
    pub(crate) fn listen(session: ExuviaSession, interactive: bool) -> std::io::Result<Interrupts> {
        let state = Arc::new(Mutex::new(State::Idle));
        let heard = Arc::clone(&state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new()
            .name("exuvia-interrupts".to_string())
            .spawn(move || runtime.block_on(hear(session, interactive, &heard)))?;
        Ok(Interrupts(state))
    }

    /// A query is waited for; what is returned says that it was cancelled.
    pub(crate) fn begin(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *lock(&self.0) = State::Waiting(sender);
        receiver
    }

    /// The query has ended, or nobody waits for it any more.
    pub(crate) fn end(&self) {
        *lock(&self.0) = State::Idle;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn hear(session: ExuviaSession, interactive: bool, state: &Mutex<State>) {
    // When a query that was cancelled must have ended.
    let mut patience: Option<Instant> = None;
    loop {
        let pressed = match patience.take() {
            Some(end) => tokio::time::timeout_at(end, tokio::signal::ctrl_c()).await.ok(),
            None => Some(tokio::signal::ctrl_c().await),
        };
        if let Some(Err(_)) = pressed {
            // There are no signals here.
            return;
        }
        let mut state = lock(state);
        match (std::mem::replace(&mut *state, State::Idle), pressed.is_some()) {
            (State::Waiting(query), true) => {
                *state = State::Cancelled;
                drop(state);
                session.cancel();
                let _ = query.send(());
                patience = Some(Instant::now() + PATIENCE);
            }
            (State::Cancelled, true) => std::process::exit(INTERRUPTED),
            (State::Cancelled, false) if !interactive => {
                eprintln!("error: cancelled; the statement did not stop, so the program ends");
                std::process::exit(INTERRUPTED)
            }
            (State::Cancelled, _) => {
                *state = State::Cancelled;
                eprintln!("waiting for a call that cannot be interrupted; Ctrl-C again ends the program");
            }
            (State::Idle, true) if !interactive => std::process::exit(INTERRUPTED),
            (before, _) => *state = before,
        }
    }
}
