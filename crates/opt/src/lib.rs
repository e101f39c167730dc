//! Exuvia: opt.
