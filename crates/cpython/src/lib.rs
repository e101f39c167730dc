//! Exuvia: cpython.
