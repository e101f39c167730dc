//! What a function is in each interpreter that has run it.

use crate::interpreter::OwnProcess;
use crate::{CallError, Settings};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// Waited for by concurrent first uses.
type Cell<T> = Arc<OnceLock<Result<Arc<T>, CallError>>>;

/// A function in CPython, by interpreter: that of the process, or a process of its own. It is
/// defined where it is first used.
#[derive(Debug)]
pub(crate) struct DefinedIn<T>(Mutex<Vec<(Option<OwnProcess>, Cell<T>)>>);

impl<T> Default for DefinedIn<T> {
    fn default() -> Self {
        DefinedIn(Mutex::new(Vec::new()))
    }
}

impl<T> DefinedIn<T> {
    /// The function in the interpreter of the settings.
    ///
    /// # Errors
    /// Why it could not be defined, the first time and ever after.
    pub fn get(&self, settings: &Settings, define: impl FnOnce() -> Result<T, CallError>) -> Result<Arc<T>, CallError> {
        let mut all = self.0.lock();
        let found = all.iter().find(|(process, _)| *process == settings.worker).map(|(_, cell)| Arc::clone(cell));
        let cell = found.unwrap_or_else(|| {
            let cell = Cell::default();
            all.push((settings.worker.clone(), Arc::clone(&cell)));
            cell
        });
        drop(all);
        cell.get_or_init(|| define().map(Arc::new)).clone()
    }
}
