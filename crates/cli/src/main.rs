//! The exuvia command.
fn main() {}
