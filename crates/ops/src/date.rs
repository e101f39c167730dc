//! Dates, as days since 1970-01-01. The methods of `datetime.date` and `datetime.timedelta`
//! stand in the prelude (`date.py`, `timedelta.py`), which alone uses these operations.

use crate::cx::KernelResult;
use crate::def::OpDef;
use crate::op;
use exuvia_ir::ExcKind::ValueError;
use exuvia_ir::{Raise, calendar};
use std::fmt::Write as _;

/// The operations of this family.
pub const OPS: &[&OpDef] = &[
    &date_year::DEF,
    &date_month::DEF,
    &date_day::DEF,
    &date_from_civil::DEF,
    &date_text::DEF,
    &date_parse::DEF,
    &date_strftime::DEF,
];

/// The year, month and day of a day, of the nearest that a date can hold.
fn civil(days: i64) -> (i64, u8, u8) {
    calendar::civil(days.clamp(*calendar::DAYS.start(), *calendar::DAYS.end()))
}

op! {
    /// The year of a day.
    date_year = "date.year" ""
    Pure fn (cx, _days: int) -> int {
        civil(_days).0
    }
}

op! {
    /// The month of a day, 1 to 12.
    date_month = "date.month" ""
    Pure fn (cx, _days: int) -> int {
        i64::from(civil(_days).1)
    }
}

op! {
    /// The day of the month of a day, 1 to 31.
    date_day = "date.day" ""
    Pure fn (cx, _days: int) -> int {
        i64::from(civil(_days).2)
    }
}

op! {
    /// The day of a year, month and day of the month.
    date_from_civil = "date.from_civil" ""
    Pure fn (cx, _year: int, _month: int, _day: int) -> int fallible [ValueError] {
        if [_year, _month, _day].iter().any(|part| i32::try_from(*part).is_err()) {
            return Err(Raise::Bailout("a part of a date that C's int cannot hold"));
        }
        if !(1..=9999).contains(&_year) {
            return Err(cx.raise(ValueError, || format!("year {_year} is out of range")));
        }
        if !(1..=12).contains(&_month) {
            return Err(cx.raise(ValueError, || "month must be in 1..12".into()));
        }
        let month = _month as u8;
        if !(1..=i64::from(calendar::days_in_month(_year, month))).contains(&_day) {
            return Err(cx.raise(ValueError, || "day is out of range for month".into()));
        }
        Ok(calendar::days(_year, month, _day as u8))
    }
}

op! {
    /// `date.isoformat`.
    date_text = "date.text" ""
    Pure fn (cx, _days: int) -> str fallible {
        let (year, month, day) = civil(_days);
        let mut out = cx.text(10)?;
        write!(out, "{year:04}-{month:02}-{day:02}").map_err(|_| Raise::ROW_MEMORY)?;
        Ok(out.finish())
    }
}

op! {
    /// `date.fromisoformat` of a date of the form YYYY-MM-DD; CPython reads the others.
    date_parse = "date.parse" ""
    Pure fn (cx, _text: str) -> int fallible {
        let number = |digits: &[u8]| {
            let digit = |sum: i64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'));
            digits.iter().try_fold(0, digit)
        };
        let date = match _text.as_bytes() {
            [year @ .., b'-', m1, m2, b'-', d1, d2] if year.len() == 4 => {
                number(year).zip(number(&[*m1, *m2])).zip(number(&[*d1, *d2]))
            }
            _ => None,
        };
        match date {
            Some(((year @ 1.., month @ 1..=12), day @ 1..))
                if day <= i64::from(calendar::days_in_month(year, month as u8)) =>
            {
                Ok(calendar::days(year, month as u8, day as u8))
            }
            _ => Err(Raise::Bailout("a text of a date that CPython must read")),
        }
    }
}

op! {
    /// `date.strftime` in the C locale, in which CPython starts; CPython does what is left
    /// to the C library.
    date_strftime = "date.strftime" ""
    Pure fn (cx, _days: int, _format: str) -> str fallible {
        let mut out = cx.text(_format.byte_len() + 16)?;
        let mut chars = _format.as_str().chars();
        while let Some(ch) = chars.next() {
            if ch == '%' {
                directive(&mut out, _days, chars.next())?;
            } else if ch.is_ascii() && ch != '\0' {
                out.push(ch)?;
            } else {
                return Err(FORMAT);
            }
        }
        Ok(out.finish())
    }
}

const FORMAT: Raise = Raise::Bailout("a format of a date that CPython must use");

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Writes what a directive of a format stands for.
fn directive(out: &mut crate::cx::Text<'_>, days: i64, directive: Option<char>) -> KernelResult<()> {
    let (year, month, day) = civil(days);
    let month_name = MONTHS[usize::from(month) - 1];
    // 1970-01-01 was a Thursday.
    let weekday = (days.clamp(*calendar::DAYS.start(), *calendar::DAYS.end()) + 3).rem_euclid(7) as usize;
    let written = match directive {
        // C libraries differ on whether smaller years have leading zeros.
        Some('Y') if year >= 1000 => write!(out, "{year}"),
        Some('y') if year >= 1000 => write!(out, "{:02}", year % 100),
        Some('m') => write!(out, "{month:02}"),
        Some('d') => write!(out, "{day:02}"),
        Some('F') if year >= 1000 => write!(out, "{year}-{month:02}-{day:02}"),
        Some('j') => write!(out, "{:03}", days - calendar::days(year, 1, 1) + 1),
        Some('B') => out.write_str(month_name),
        Some('b' | 'h') => out.write_str(&month_name[..3]),
        Some('A') => out.write_str(WEEKDAYS[weekday]),
        Some('a') => out.write_str(&WEEKDAYS[weekday][..3]),
        Some('u') => write!(out, "{}", weekday + 1),
        Some('w') => write!(out, "{}", (weekday + 1) % 7),
        Some('H' | 'M' | 'S') => out.write_str("00"),
        Some('%') => out.write_str("%"),
        _ => return Err(FORMAT),
    };
    written.map_err(|_| Raise::ROW_MEMORY)
}
