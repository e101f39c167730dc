//! The classes of `datetime` whose objects are values, and their hashes: those of the bytes that CPython holds
//! (Modules/_datetimemodule.c), of a timedelta that of the tuple of its parts.

use super::{DAY, date_text, datetime_text, shown_date, shown_datetime, shown_time, shown_timedelta};
use super::{time_text, timedelta_text};
use crate::classes::ValueClass;
use crate::op;
use crate::own_hash::{of_bytes, of_tuple};
use exuvia_ir::{Class, Int, Object, calendar};

/// `datetime.date`.
pub static DATE: ValueClass = ValueClass {
    class: Class::Date,
    methods: include_str!("../prelude/datetime/date.py"),
    repr: |fields| int(fields).map(shown_date),
    text: |fields| int(fields).map(date_text),
    hash: |fields| int(fields).map(of_date),
};

/// `datetime.timedelta`.
pub static TIMEDELTA: ValueClass = ValueClass {
    class: Class::Timedelta,
    methods: include_str!("../prelude/datetime/timedelta.py"),
    repr: |fields| parts(fields).map(|[days, seconds, micros]| shown_timedelta(days, seconds, micros)),
    text: |fields| parts(fields).map(|[days, seconds, micros]| timedelta_text(days, seconds, micros)),
    hash: of_tuple,
};

/// `datetime.datetime`, without a zone.
pub static DATETIME: ValueClass = ValueClass {
    class: Class::Datetime,
    methods: include_str!("../prelude/datetime/datetime.py"),
    repr: |fields| int(fields).map(shown_datetime),
    text: |fields| int(fields).map(datetime_text),
    hash: |fields| int(fields).map(of_datetime),
};

/// `datetime.time`, without a zone.
pub static TIME: ValueClass = ValueClass {
    class: Class::Time,
    methods: include_str!("../prelude/datetime/time.py"),
    repr: |fields| int(fields).map(shown_time),
    text: |fields| int(fields).map(time_text),
    hash: |fields| int(fields).map(of_time),
};

/// The one field of an object.
fn int(fields: &[Object]) -> Option<i64> {
    match fields {
        [Object::Int(Int::Small(value))] => Some(*value),
        _ => None,
    }
}

/// The days, seconds and microseconds of a timedelta.
fn parts(fields: &[Object]) -> Option<[i64; 3]> {
    match fields {
        [days, seconds, micros] => Some([
            int(std::slice::from_ref(days))?,
            int(std::slice::from_ref(seconds))?,
            int(std::slice::from_ref(micros))?,
        ]),
        _ => None,
    }
}

fn date_bytes(days: i64) -> [u8; 4] {
    let (year, month, day) = calendar::civil(days.clamp(*calendar::DAYS.start(), *calendar::DAYS.end()));
    [(year >> 8) as u8, year as u8, month, day]
}

fn time_bytes(microseconds: i64) -> [u8; 6] {
    let (seconds, fraction) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    [hour as u8, minute as u8, second as u8, (fraction >> 16) as u8, (fraction >> 8) as u8, fraction as u8]
}

fn of_date(days: i64) -> i64 {
    of_bytes(&date_bytes(days))
}

fn of_time(microseconds: i64) -> i64 {
    of_bytes(&time_bytes(microseconds))
}

fn of_datetime(microseconds: i64) -> i64 {
    let mut bytes = [0; 10];
    bytes[..4].copy_from_slice(&date_bytes(microseconds.div_euclid(DAY)));
    bytes[4..].copy_from_slice(&time_bytes(microseconds.rem_euclid(DAY)));
    of_bytes(&bytes)
}

op! {
    /// `hash` of a date by its day.
    own_date = "own.date" ""
    Pure fn (cx, _days: int) -> int { of_date(_days) }
}

op! {
    /// `hash` of a datetime without a zone by its microseconds.
    own_datetime = "own.datetime" ""
    Pure fn (cx, _us: int) -> int { of_datetime(_us) }
}

op! {
    /// `hash` of a time of day without a zone by its microseconds.
    own_time = "own.time" ""
    Pure fn (cx, _us: int) -> int { of_time(_us) }
}
