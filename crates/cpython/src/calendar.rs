//! Days and fractions of a second, as Arrow and as Python count them.

use arrow::datatypes::TimeUnit;

pub use exuvia_ir::calendar::{EPOCH_ORDINAL, ORDINALS, civil};

/// Microseconds of a day.
pub const DAY_MICROS: i64 = 86_400_000_000;

/// Units of a second.
pub fn per_second(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// A count of units in microseconds; `None` where that is not exact.
pub fn micros(value: i64, unit: &TimeUnit) -> Option<i64> {
    let per_second = per_second(unit);
    if per_second <= 1_000_000 {
        return value.checked_mul(1_000_000 / per_second);
    }
    (value % 1_000 == 0).then_some(value / 1_000)
}

/// Microseconds in units; `None` where that is not exact or leaves 64 bits.
pub fn units(micros: i128, unit: &TimeUnit) -> Option<i64> {
    let per_second = i128::from(per_second(unit));
    let scaled = micros * per_second;
    if scaled % 1_000_000 != 0 {
        return None;
    }
    i64::try_from(scaled / 1_000_000).ok()
}
