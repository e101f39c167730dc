//! The verifier: checks the invariants of a module.

use crate::Module;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{function}: {message}")]
pub struct VerifyError {
    /// The function.
    pub function: String,
    /// What is wrong.
    pub message: String,
}

/// Checks a module.
///
/// # Errors
/// The first broken invariant.
pub fn verify(_module: &Module) -> Result<(), VerifyError> {
    Ok(())
}
