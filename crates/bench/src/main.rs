//! The Rust side of the benchmarks.
fn main() {}
