//! Exuvia: eval.
