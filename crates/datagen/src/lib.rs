//! Seeded tables for the demo and the benchmarks.
//!
//! A table is an iterator of record batches: the caller writes it to Parquet or keeps it
//! in memory. The same seed and number of rows give the same bytes on every machine, so
//! a table can be named by them. No cell is filled with a constant, and every table has
//! the dirt that its documentation states.

mod listings;
mod logs;
mod orders;
mod random;
mod records;

pub use listings::{Listings, schema as listings_schema};
pub use logs::{Logs, bad_addresses, schema as logs_schema};
pub use orders::Orders;
pub use random::Random;
pub use records::Records;

/// How a table is cut into batches.
#[derive(Debug)]
struct Batches {
    random: Random,
    left: usize,
    batch: usize,
}

impl Batches {
    /// `rows` rows in batches of at most `batch` rows.
    fn new(seed: u64, rows: usize, batch: usize) -> Batches {
        Batches { random: Random::new(seed), left: rows, batch: batch.max(1) }
    }

    /// The rows of the next batch, if there is one, and what chooses them.
    fn next(&mut self) -> Option<(usize, &mut Random)> {
        let rows = self.left.min(self.batch);
        self.left -= rows;
        (rows > 0).then_some((rows, &mut self.random))
    }
}
