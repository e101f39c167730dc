//! Seeded tables for the demo and the benchmarks.
//!
//! A table is an iterator of record batches: the caller writes it to Parquet or keeps it
//! in memory. The same seed and number of rows give the same bytes on every machine, so
//! a table can be named by them. No cell is filled with a constant, and every table has
//! the dirt that its documentation states.

mod listings;
mod logs;
mod random;
mod records;

pub use listings::{Listings, schema as listings_schema};
pub use logs::{Logs, bad_addresses, schema as logs_schema};
pub use random::Random;
pub use records::Records;
