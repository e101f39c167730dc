//! Dates, as days since 1970-01-01, and times, as microseconds since then or since midnight. The
//! methods of the classes of `datetime` stand in the prelude (`datetime/`), which alone uses these
//! operations.

mod classes;

use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::op;
use crate::text::Str;
pub use classes::{DATE, DATETIME, TIME, TIMEDELTA};
use exuvia_ir::ExcKind::ValueError;
use exuvia_ir::{Raise, calendar};
use std::fmt::Write as _;

/// The operations of this family.
pub const OPS: &[&OpDef] = &[
    &date_year::DEF,
    &date_month::DEF,
    &date_day::DEF,
    &date_from_civil::DEF,
    &date_text_op::DEF,
    &date_parse::DEF,
    &date_repr::DEF,
    &datetime_from_parts::DEF,
    &datetime_text_op::DEF,
    &datetime_repr::DEF,
    &datetime_parse::DEF,
    &datetime_strftime::DEF,
    &time_from_parts::DEF,
    &time_text_op::DEF,
    &time_repr::DEF,
    &time_parse::DEF,
    &timedelta_repr::DEF,
    &timedelta_text_op::DEF,
    &classes::own_date::DEF,
    &classes::own_datetime::DEF,
    &classes::own_time::DEF,
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
    Pure fn (cx, _year: int, _month: int, _day: int) -> int fallible [ValueError] bails Operands {
        from_civil(cx, _year, _month, _day)
    }
}

fn from_civil(cx: &Cx, year: i64, month: i64, day: i64) -> KernelResult<i64> {
    if [year, month, day].iter().any(|part| i32::try_from(*part).is_err()) {
        return Err(Raise::Bailout("a part of a date that C's int cannot hold"));
    }
    if !(1..=9999).contains(&year) {
        return Err(cx.raise(ValueError, || format!("year {year} is out of range")));
    }
    if !(1..=12).contains(&month) {
        return Err(cx.raise(ValueError, || "month must be in 1..12".into()));
    }
    if !(1..=i64::from(calendar::days_in_month(year, month as u8))).contains(&day) {
        return Err(cx.raise(ValueError, || "day is out of range for month".into()));
    }
    Ok(calendar::days(year, month as u8, day as u8))
}

/// Writes so many of the last decimal digits of a number.
fn digits(out: &mut impl std::fmt::Write, number: i64, count: usize) -> std::fmt::Result {
    let mut text = [b'0'; 6];
    let mut rest = number;
    for digit in text[..count].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text[..count].iter().try_for_each(|digit| out.write_char(char::from(*digit)))
}

/// Writes YYYY-MM-DD.
fn iso_date(out: &mut impl std::fmt::Write, (year, month, day): (i64, u8, u8)) -> std::fmt::Result {
    digits(out, year, 4)?;
    out.write_char('-')?;
    digits(out, month.into(), 2)?;
    out.write_char('-')?;
    digits(out, day.into(), 2)
}

op! {
    /// `date.isoformat`.
    date_text_op = "date.text" ""
    Pure fn (cx, _days: int) -> str fallible {
        let (year, month, day) = civil(_days);
        let mut out = cx.text(10)?;
        iso_date(&mut out, (year, month, day)).map_err(|_| Raise::ROW_MEMORY)?;
        Ok(out.finish())
    }
}

op! {
    /// `date.fromisoformat`, of texts of the forms YYYY-MM-DD, YYYYMMDD, and those of weeks.
    date_parse = "date.parse" ""
    Pure fn (cx, _text: str) -> int fallible [ValueError] bails Operands {
        // The usual form is read without looking at others.
        if let Some(days) = parsed_date(_text.as_str()) {
            return Ok(days);
        }
        if matches!(_text.as_bytes(), [b'0', b'0', b'0', b'0', ..] | [b'9', b'9', b'9', b'9', ..]) {
            return Err(Raise::Bailout("a text of a date that CPython must read"));
        }
        match iso_parts(_text.as_bytes()) {
            Some((year, month, day)) => from_civil(cx, year, month, day),
            None => Err(invalid(cx, _text)),
        }
    }
}

op! {
    /// `repr` of a date.
    date_repr = "date.repr" ""
    Pure fn (cx, _days: int) -> str fallible {
        cx.store(&shown_date(_days))
    }
}

/// `repr` of a date.
fn shown_date(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("datetime.date({year}, {month}, {day})")
}

op! {
    /// The microseconds since 1970-01-01 of a year, month, day, hour, minute, second and microsecond.
    datetime_from_parts = "datetime.from_parts" ""
    Pure fn (
        cx, _year: int, _month: int, _day: int, _hour: int, _minute: int, _second: int, _micro: int
    ) -> int fallible [ValueError] bails Operands {
        let clock = Clock { hour: _hour, minute: _minute, second: _second, micro: _micro };
        clock.fits_c()?;
        let days = from_civil(cx, _year, _month, _day)?;
        Ok(days * DAY + clock.micros(cx)?)
    }
}

op! {
    /// The microseconds since midnight of an hour, minute, second and microsecond.
    time_from_parts = "time.from_parts" ""
    Pure fn (cx, _hour: int, _minute: int, _second: int, _micro: int) -> int fallible [ValueError] bails Operands {
        let clock = Clock { hour: _hour, minute: _minute, second: _second, micro: _micro };
        clock.fits_c()?;
        clock.micros(cx)
    }
}

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The precision that shows what a time has.
const AUTO: i64 = 5;

/// A time of the day by its parts.
#[derive(Clone, Copy)]
struct Clock {
    hour: i64,
    minute: i64,
    second: i64,
    micro: i64,
}

impl Clock {
    /// That of so many microseconds since midnight of some day.
    fn of(micros: i64) -> Clock {
        let micros = micros.rem_euclid(DAY);
        let seconds = micros / 1_000_000;
        Clock { hour: seconds / 3600, minute: seconds / 60 % 60, second: seconds % 60, micro: micros % 1_000_000 }
    }

    /// The microseconds since midnight, of parts in their ranges.
    fn micros(self, cx: &Cx) -> KernelResult<i64> {
        let Clock { hour, minute, second, micro } = self;
        let parts = [
            (hour, 23, "hour must be in 0..23"),
            (minute, 59, "minute must be in 0..59"),
            (second, 59, "second must be in 0..59"),
            (micro, 999_999, "microsecond must be in 0..999999"),
        ];
        match parts.iter().find(|(part, most, _)| !(0..=*most).contains(part)) {
            Some((_, _, message)) => Err(cx.raise(ValueError, || (*message).into())),
            None => Ok(((hour * 60 + minute) * 60 + second) * 1_000_000 + micro),
        }
    }

    /// Refuses parts that CPython's conversion of arguments does.
    fn fits_c(self) -> KernelResult<()> {
        let parts = [self.hour, self.minute, self.second, self.micro];
        match parts.iter().any(|part| i32::try_from(*part).is_err()) {
            true => Err(Raise::Bailout("a part of a time that C's int cannot hold")),
            false => Ok(()),
        }
    }

    /// Writes it as `isoformat` does, up to its hour, minute, second, millisecond, microsecond, or
    /// what it takes.
    fn write(self, out: &mut impl std::fmt::Write, precision: i64) -> std::fmt::Result {
        let Clock { hour, minute, second, micro } = self;
        digits(out, hour, 2)?;
        if precision >= 1 {
            out.write_char(':')?;
            digits(out, minute, 2)?;
        }
        if precision >= 2 {
            out.write_char(':')?;
            digits(out, second, 2)?;
        }
        match precision {
            3 => {
                out.write_char('.')?;
                digits(out, micro / 1000, 3)
            }
            4 | AUTO if precision == 4 || micro != 0 => {
                out.write_char('.')?;
                digits(out, micro, 6)
            }
            _ => Ok(()),
        }
    }

    /// The parts as `repr` shows them.
    fn shown(self) -> String {
        let Clock { hour, minute, second, micro } = self;
        match (second, micro) {
            (0, 0) => format!("{hour}, {minute}"),
            (_, 0) => format!("{hour}, {minute}, {second}"),
            _ => format!("{hour}, {minute}, {second}, {micro}"),
        }
    }
}

op! {
    /// `datetime.isoformat` with a separator, as far as a precision says.
    datetime_text_op = "datetime.text" ""
    Pure fn (cx, _micros: int, _sep: str, _precision: int) -> str fallible {
        let (year, month, day) = civil(_micros.div_euclid(DAY));
        let mut out = cx.text(30)?;
        let written = iso_date(&mut out, (year, month, day)).and_then(|()| out.write_str(_sep.as_str()));
        written.and_then(|()| Clock::of(_micros).write(&mut out, _precision)).map_err(|_| Raise::ROW_MEMORY)?;
        Ok(out.finish())
    }
}

op! {
    /// `repr` of a datetime.
    datetime_repr = "datetime.repr" ""
    Pure fn (cx, _micros: int) -> str fallible {
        cx.store(&shown_datetime(_micros))
    }
}

/// `repr` of a datetime.
fn shown_datetime(micros: i64) -> String {
    let (year, month, day) = civil(micros.div_euclid(DAY));
    format!("datetime.datetime({year}, {month}, {day}, {})", Clock::of(micros).shown())
}

op! {
    /// `time.isoformat`, as far as a precision says.
    time_text_op = "time.text" ""
    Pure fn (cx, _micros: int, _precision: int) -> str fallible {
        let mut out = cx.text(20)?;
        Clock::of(_micros).write(&mut out, _precision).map_err(|_| Raise::ROW_MEMORY)?;
        Ok(out.finish())
    }
}

op! {
    /// `repr` of a time.
    time_repr = "time.repr" ""
    Pure fn (cx, _micros: int) -> str fallible {
        cx.store(&shown_time(_micros))
    }
}

/// `repr` of a time.
fn shown_time(micros: i64) -> String {
    format!("datetime.time({})", Clock::of(micros).shown())
}

op! {
    /// `repr` of a timedelta.
    timedelta_repr = "timedelta.repr" ""
    Pure fn (cx, _days: int, _seconds: int, _micros: int) -> str fallible {
        cx.store(&shown_timedelta(_days, _seconds, _micros))
    }
}

/// `repr` of a timedelta.
fn shown_timedelta(days: i64, seconds: i64, micros: i64) -> String {
    let parts = [("days", days), ("seconds", seconds), ("microseconds", micros)];
    let shown: Vec<String> =
        parts.iter().filter(|part| part.1 != 0).map(|(name, value)| format!("{name}={value}")).collect();
    let shown = if shown.is_empty() { "0".to_string() } else { shown.join(", ") };
    format!("datetime.timedelta({shown})")
}

op! {
    /// `str` of a timedelta.
    timedelta_text_op = "timedelta.text" ""
    Pure fn (cx, _days: int, _seconds: int, _micros: int) -> str fallible {
        cx.store(&timedelta_text(_days, _seconds, _micros))
    }
}

/// `str` of a timedelta.
fn timedelta_text(days: i64, seconds: i64, micros: i64) -> String {
    let days = match days {
        0 => String::new(),
        1 | -1 => format!("{days} day, "),
        _ => format!("{days} days, "),
    };
    let micros = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{days}{}:{:02}:{:02}{micros}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `str` of a date.
fn date_text(days: i64) -> String {
    let mut text = String::new();
    // A text takes whatever is written into it.
    let _ = iso_date(&mut text, civil(days));
    text
}

/// `str` of a time.
fn time_text(micros: i64) -> String {
    let mut text = String::new();
    let _ = Clock::of(micros).write(&mut text, AUTO);
    text
}

/// `str` of a datetime.
fn datetime_text(micros: i64) -> String {
    format!("{} {}", date_text(micros.div_euclid(DAY)), time_text(micros))
}

op! {
    /// `datetime.fromisoformat` of a date of the form YYYY-MM-DD and, after `T` or a space, a time
    /// of the forms that `time.parse` reads; CPython reads the others.
    datetime_parse = "datetime.parse" ""
    Pure fn (cx, _text: str) -> int fallible [ValueError] bails Operands {
        let text = _text.as_str();
        let (date, clock) = match text.as_bytes().get(10) {
            None => (Some(text), Some(0)),
            Some(b'T' | b' ') => (text.get(..10), text.get(11..).and_then(parsed_clock)),
            Some(_) => (None, None),
        };
        match date.and_then(parsed_date).zip(clock) {
            Some((days, clock)) => Ok(days * DAY + clock),
            // Whatever form it has, a year stands first.
            None if text.len() < 7 || number(&text.as_bytes()[..4]).is_none() => Err(invalid(cx, _text)),
            None => match (text.len(), iso_parts(text.as_bytes())) {
                (10, Some((year, month, day))) if text.as_bytes()[7] == b'-' => {
                    Ok(from_civil(cx, year, month, day)? * DAY)
                }
                _ => Err(Raise::Bailout("a text of a datetime that CPython must read")),
            },
        }
    }
}

op! {
    /// `time.fromisoformat` of the forms HH:MM, HH:MM:SS and HH:MM:SS.f; CPython reads the others.
    time_parse = "time.parse" ""
    Pure fn (cx, _text: str) -> int fallible [ValueError] bails Operands {
        parsed_clock(_text.as_str()).ok_or_else(|| Raise::bailout("a text of a time that CPython must read"))
    }
}

/// The number that digits write.
fn number(digits: &[u8]) -> Option<i64> {
    let digit = |sum: i64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'));
    digits.iter().try_fold(0, digit)
}

/// What `fromisoformat` says of a text that has no form it knows.
fn invalid(cx: &Cx, text: Str<'_>) -> Raise {
    cx.raise(ValueError, || format!("Invalid isoformat string: {}", crate::text_repr::repr(text.as_str())))
}

/// The year, month and day that a text says, whether there is such a day or not (Modules/_datetimemodule.c,
/// `parse_isoformat_date`); what is behind them is not looked at.
fn iso_parts(text: &[u8]) -> Option<(i64, i64, i64)> {
    if !matches!(text.len(), 7 | 8 | 10) {
        return None;
    }
    let (year, mut rest) = (number(text.get(..4)?)?, &text[4..]);
    let is_separated = rest.first() == Some(&b'-');
    let separator = |rest: &mut &[u8]| match (is_separated, rest.first()) {
        (false, _) => Some(()),
        (true, Some(b'-')) => {
            *rest = &rest[1..];
            Some(())
        }
        (true, _) => None,
    };
    let take = |rest: &mut &[u8], count: usize| {
        let found = number(rest.get(..count)?)?;
        *rest = &rest[count..];
        Some(found)
    };
    separator(&mut rest)?;
    if rest.first() != Some(&b'W') {
        let month = take(&mut rest, 2)?;
        separator(&mut rest)?;
        return Some((year, month, take(&mut rest, 2)?));
    }
    rest = &rest[1..];
    let week = take(&mut rest, 2)?;
    let mut day = 1;
    if !rest.is_empty() {
        separator(&mut rest)?;
        day = take(&mut rest, 1)?;
    }
    // `iso_to_ymd`: the days of a week 53 are only in years that have one.
    let first = calendar::days(year, 1, 1);
    let weekday = (first + 3).rem_euclid(7);
    let is_leap = calendar::days_in_month(year, 2) == 29;
    let weeks = if weekday == 3 || weekday == 2 && is_leap { 53 } else { 52 };
    if !(1..=weeks).contains(&week) || !(1..=7).contains(&day) {
        return None;
    }
    let monday = if weekday > 3 { first + 7 - weekday } else { first - weekday };
    let (year, month, day) = calendar::civil(monday + (week - 1) * 7 + day - 1);
    Some((year, i64::from(month), i64::from(day)))
}

/// The day of a text of the form YYYY-MM-DD.
fn parsed_date(text: &str) -> Option<i64> {
    let [year @ .., b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
    let (year, month, day) = (number(year).filter(|_| year.len() == 4)?, number(&[*m1, *m2])?, number(&[*d1, *d2])?);
    let is_month = year >= 1 && (1..=12).contains(&month);
    (is_month && (1..=i64::from(calendar::days_in_month(year, month as u8))).contains(&day))
        .then(|| calendar::days(year, month as u8, day as u8))
}

/// The microseconds of a text of the form HH:MM, HH:MM:SS or HH:MM:SS.f.
fn parsed_clock(text: &str) -> Option<i64> {
    let (seconds, micro) = match text.split_once('.') {
        Some((seconds, digits)) if !digits.is_empty() && seconds.len() == 8 => {
            // Digits below a microsecond are cut off.
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let kept = &digits[..digits.len().min(6)];
            (seconds, number(kept.as_bytes())? * 10_i64.pow(6 - kept.len() as u32))
        }
        Some(_) => return None,
        None => (text, 0),
    };
    let (hour, minute, second) = match seconds.as_bytes() {
        [h1, h2, b':', m1, m2] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?, 0),
        [h1, h2, b':', m1, m2, b':', s1, s2] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?),
        _ => return None,
    };
    (hour < 24 && minute < 60 && second < 60).then_some(((hour * 60 + minute) * 60 + second) * 1_000_000 + micro)
}

op! {
    /// `strftime` in the C locale, in which CPython starts; CPython does what is left to the C
    /// library.
    datetime_strftime = "datetime.strftime" ""
    Pure fn (cx, _micros: int, _format: str) -> str fallible [ValueError] bails Operands {
        let mut out = cx.text(_format.byte_len() + 16)?;
        let mut chars = _format.as_str().chars();
        while let Some(ch) = chars.next() {
            if ch == '%' {
                directive(&mut out, _micros, chars.next())?;
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
fn directive(out: &mut crate::cx::Text<'_>, micros: i64, directive: Option<char>) -> KernelResult<()> {
    let days = micros.div_euclid(DAY).clamp(*calendar::DAYS.start(), *calendar::DAYS.end());
    let (year, month, day) = civil(days);
    let clock @ Clock { hour, minute, second, micro } = Clock::of(micros);
    let month_name = MONTHS[usize::from(month) - 1];
    // 1970-01-01 was a Thursday.
    let weekday = (days + 3).rem_euclid(7) as usize;
    let day_of_year = days - calendar::days(year, 1, 1);
    let half_day = if hour < 12 { "AM" } else { "PM" };
    let hour_of_half = (hour + 11) % 12 + 1;
    let written = match directive {
        // C libraries differ on whether smaller years have leading zeros.
        Some('Y' | 'y' | 'F' | 'D' | 'x' | 'c') if year < 1000 => return Err(FORMAT),
        Some('Y') => digits(out, year, 4),
        Some('y') => digits(out, year, 2),
        Some('m') => digits(out, month.into(), 2),
        Some('d') => digits(out, day.into(), 2),
        Some('e') => write!(out, "{day:2}"),
        Some('F') => iso_date(out, (year, month, day)),
        Some('D' | 'x') => write!(out, "{month:02}/{day:02}/{:02}", year % 100),
        Some('j') => digits(out, day_of_year + 1, 3),
        Some('B') => out.write_str(month_name),
        Some('b' | 'h') => out.write_str(&month_name[..3]),
        Some('A') => out.write_str(WEEKDAYS[weekday]),
        Some('a') => out.write_str(&WEEKDAYS[weekday][..3]),
        Some('u') => write!(out, "{}", weekday + 1),
        Some('w') => write!(out, "{}", (weekday + 1) % 7),
        // Weeks that begin with the first Sunday or Monday of the year.
        Some('U') => write!(out, "{:02}", (day_of_year + 7 - (weekday as i64 + 1) % 7) / 7),
        Some('W') => write!(out, "{:02}", (day_of_year + 7 - weekday as i64) / 7),
        Some('H') => digits(out, hour, 2),
        Some('I') => digits(out, hour_of_half, 2),
        Some('p') => out.write_str(half_day),
        Some('M') => digits(out, minute, 2),
        Some('S') => digits(out, second, 2),
        Some('f') => digits(out, micro, 6),
        Some('T' | 'X') => clock.write(out, 2),
        Some('R') => clock.write(out, 1),
        Some('c') => {
            let (weekday, month_name) = (&WEEKDAYS[weekday][..3], &month_name[..3]);
            write!(out, "{weekday} {month_name} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
        }
        // There is no zone.
        Some('z' | 'Z') => Ok(()),
        Some('%') => out.write_str("%"),
        _ => return Err(FORMAT),
    };
    written.map_err(|_| Raise::ROW_MEMORY)
}
