//! Exuvia: jit.
