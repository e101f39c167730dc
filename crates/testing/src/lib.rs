//! Exuvia: testing.
