//! Days of the proleptic Gregorian calendar, counted from 1970-01-01 as Arrow counts them.

use std::ops::RangeInclusive;

/// The proleptic Gregorian ordinal of 1970-01-01, as in `date.toordinal`.
pub const EPOCH_ORDINAL: i64 = 719_163;
/// The ordinals that `datetime.date` can hold, 0001-01-01 to 9999-12-31.
pub const ORDINALS: RangeInclusive<i64> = 1..=3_652_059;
/// The same as days.
pub const DAYS: RangeInclusive<i64> = 1 - EPOCH_ORDINAL..=3_652_059 - EPOCH_ORDINAL;

/// Days of 400 years.
const CYCLE: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const MARCH: i64 = 719_468;

/// Year, month and day of a day, one of [`DAYS`].
///
/// Years are counted from March, so that the leap day is the last of a year. A quotient and its
/// remainder are the halves of one product (Neri and Schneider, "Euclidean affine functions and
/// their application to calendar algorithms", 2023).
#[must_use]
pub fn civil(days: i64) -> (i64, u8, u8) {
    debug_assert!(DAYS.contains(&days));
    let quarters = 4 * (days + MARCH) as u32 + 3;
    let (century, of_century) = (quarters / CYCLE as u32, quarters % CYCLE as u32 / 4);
    let years = 2_939_745 * u64::from(4 * of_century + 3);
    let day_of_year = years as u32 / 2_939_745 / 4;
    let months = 2_141 * day_of_year + 197_913;
    let (month, day) = (months >> 16, (months & 0xFFFF) / 2_141 + 1);
    // The first months belong to the year before, as March has it.
    let next = u32::from(day_of_year >= 306);
    let year = 100 * century + (years >> 32) as u32 + next;
    (i64::from(year), (month - 12 * next) as u8, day as u8)
}

/// The day of a year, month and day that exist; the inverse of [`civil`].
#[must_use]
pub fn days(year: i64, month: u8, day: u8) -> i64 {
    let year = year - i64::from(month <= 2);
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = i64::from(if month > 2 { month - 3 } else { month + 9 });
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    cycle * CYCLE + 365 * year + year / 4 - year / 100 + day_of_year - MARCH
}

/// The number of days of a month.
#[must_use]
pub fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_year_month_and_day_that_they_have() {
        let mut before = None;
        for day in DAYS {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
            assert!(of_month <= days_in_month(year, month));
            // Consecutive days follow each other.
            let follows = |(y, m, d): (i64, u8, u8)| {
                (year, month, of_month) == (y, m, d + 1)
                    || (of_month == 1
                        && d == days_in_month(y, m)
                        && (year, month) == if m == 12 { (y + 1, 1) } else { (y, m + 1) })
            };
            assert!(before.is_none_or(follows), "{year}-{month}-{of_month}");
            before = Some((year, month, of_month));
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!((civil(*DAYS.start()), civil(*DAYS.end())), ((1, 1, 1), (9999, 12, 31)));
    }
}
