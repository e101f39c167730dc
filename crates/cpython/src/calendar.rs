//! Days and fractions of a second, as Arrow and as Python count them.

use arrow::datatypes::TimeUnit;

/// The proleptic Gregorian ordinal of 1970-01-01, as in `date.toordinal`.
pub const EPOCH_ORDINAL: i64 = 719_163;
/// The ordinals that `datetime.date` can hold, 0001-01-01 to 9999-12-31.
pub const ORDINALS: std::ops::RangeInclusive<i64> = 1..=3_652_059;
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

/// Year, month and day of a day counted from 1970-01-01.
///
/// The method is the usual one: count years from March, so that the leap day is the last
/// of a year, in cycles of 400 years that all have the same number of days.
pub fn civil(days: i64) -> (i64, u8, u8) {
    const CYCLE: i64 = 146_097;
    // Days from 0000-03-01.
    let shifted = days + 719_468;
    let (cycle, day) = (shifted.div_euclid(CYCLE), shifted.rem_euclid(CYCLE));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + i64::from(month <= 2), month as u8, day_of_month as u8)
}
