//! Looking for and taking parts by byte offsets instead of indices of code points.
//!
//! An index `i` into a text of `n` code points has its *place* `p(i)`: the byte offset of the
//! code point where there is one, the length in bytes and what `i` lies beyond the end where
//! `i >= n`, and `i` itself where it is negative, which counts from the end. So `p` is strictly
//! monotone and `p(0) = 0`: places compare as the indices do. The operations here are those of
//! `search.rs` and `slice.rs` with places for indices: what takes `i` there takes `p(i)` here,
//! what gives `i` there gives `p(i)` here. No program names them; the optimiser puts them where
//! nobody sees the indices themselves, because then nobody has to count code points.

use super::search::{begins, count, ends, first, last, not_found};
use super::slice::{character, offset_from_end, width};
use crate::cx::Cx;
use crate::op;
use crate::text::Str;

/// The most characters over which native code looks at once: two words that overlap. Steps by more, and
/// constants that are more, are no places.
pub const FEW: i64 = 16;

/// The byte offset of a bound, clamped to the text.
#[inline]
fn bound(cx: &mut Cx, s: Str<'_>, place: i64) -> usize {
    if place >= 0 {
        (place as u64).min(s.byte_len() as u64) as usize
    } else {
        offset_from_end(cx, s, place.unsigned_abs() as usize).unwrap_or(0)
    }
}

/// The byte range between two places, or `None` where the start lies behind the end of it.
#[inline]
fn window(cx: &mut Cx, s: Str<'_>, start: i64, end: i64) -> Option<(usize, usize)> {
    if start > s.byte_len() as i64 {
        return None;
    }
    let (from, to) = (bound(cx, s, start), bound(cx, s, end));
    (from <= to).then_some((from, to))
}

/// A byte offset as Rust has it, from one that may lie within a character where the operand is no place.
#[inline]
fn whole(s: Str<'_>, (from, to): (usize, usize)) -> Option<Str<'_>> {
    let text = s.as_str();
    (text.is_char_boundary(from) && text.is_char_boundary(to)).then(|| s.slice_bytes(from, to))
}

/// The place that a search between two places finds.
#[inline]
fn find<'a>(
    cx: &mut Cx,
    (s, sub): (Str<'a>, Str<'a>),
    (start, end): (i64, i64),
    search: impl Fn(Str<'a>, Str<'a>, (usize, usize)) -> Option<usize>,
) -> Option<i64> {
    search(s, sub, window(cx, s, start, end)?).map(|at| at as i64)
}

op! {
    /// The lowest place between two places where the substring begins, or -1.
    place_find = "place.find" ""
    Pure fn (cx, _s: str, _sub: str, _start: int, _end: int) -> int {
        find(cx, (_s, _sub), (_start, _end), first).unwrap_or(-1)
    }
}

op! {
    /// The highest place between two places where the substring begins, or -1.
    place_rfind = "place.rfind" ""
    Pure fn (cx, _s: str, _sub: str, _start: int, _end: int) -> int {
        find(cx, (_s, _sub), (_start, _end), last).unwrap_or(-1)
    }
}

op! {
    /// As `place.find`, but raises `ValueError` where the substring is not found.
    place_index = "place.index" ""
    Pure fn (cx, _s: str, _sub: str, _start: int, _end: int) -> int fallible [ValueError] {
        find(cx, (_s, _sub), (_start, _end), first).ok_or_else(|| not_found(cx))
    }
}

op! {
    /// As `place.rfind`, but raises `ValueError` where the substring is not found.
    place_rindex = "place.rindex" ""
    Pure fn (cx, _s: str, _sub: str, _start: int, _end: int) -> int fallible [ValueError] {
        find(cx, (_s, _sub), (_start, _end), last).ok_or_else(|| not_found(cx))
    }
}

op! {
    /// How often the substring occurs between two places without overlap.
    place_count = "place.count" ""
    Pure fn (cx, _s: str, _sub: str, _start: int, _end: int) -> int {
        let part = window(cx, _s, _start, _end).and_then(|range| whole(_s, range));
        part.map_or(0, |part| count(part, _sub))
    }
}

op! {
    /// Whether what stands between two places begins with the prefix.
    place_startswith = "place.startswith" ""
    Pure fn (cx, _s: str, _prefix: str, _start: int, _end: int) -> bool {
        window(cx, _s, _start, _end).is_some_and(|range| begins(_s, _prefix, range))
    }
}

op! {
    /// Whether what stands between two places ends with the suffix.
    place_endswith = "place.endswith" ""
    Pure fn (cx, _s: str, _suffix: str, _start: int, _end: int) -> bool {
        window(cx, _s, _start, _end).is_some_and(|range| ends(_s, _suffix, range))
    }
}

op! {
    /// The part between two places, clamped to the text.
    place_slice = "place.slice" ""
    Pure fn (cx, _s: str, _start: int, _stop: int) -> str {
        let (start, stop) = (bound(cx, _s, _start), bound(cx, _s, _stop));
        whole(_s, (start, stop.max(start))).unwrap_or(Str::with_ascii("", true))
    }
}

op! {
    /// The character at a place.
    place_get = "place.get" ""
    Pure fn (cx, _s: str, _place: int) -> str fallible [IndexError] {
        let offset = if _place >= 0 {
            usize::try_from(_place).ok()
        } else {
            offset_from_end(cx, _s, _place.unsigned_abs() as usize)
        };
        character(cx, _s, offset)
    }
}

op! {
    /// The place of the index that is so much greater than that of a place.
    place_step = "place.step" ""
    Pure fn (cx, _s: str, _place: int, _by: int) -> int {
        step(_s, _place, _by)
    }
}

op! {
    /// The same, but no more than the length.
    place_reach = "place.reach" ""
    Pure fn (cx, _s: str, _place: int, _by: int) -> int {
        step(_s, _place, _by).min(_s.byte_len() as i64)
    }
}

fn step(s: Str<'_>, place: i64, by: i64) -> i64 {
    if by >= 0 { forward(s, place, by) } else { backward(s, place, by.saturating_neg()) }
}

fn forward(s: Str<'_>, place: i64, by: i64) -> i64 {
    let (from, left) = if place < 0 { (0, place.saturating_add(by)) } else { (place, by) };
    if left < 0 {
        return left;
    }
    let len = s.byte_len() as i64;
    if s.known_ascii() || from >= len {
        return from.saturating_add(left);
    }
    let (bytes, mut at, mut left) = (s.as_bytes(), from as usize, left);
    while left > 0 && at < bytes.len() {
        at += width(bytes[at]);
        left -= 1;
    }
    (at as i64).saturating_add(left)
}

fn backward(s: Str<'_>, place: i64, by: i64) -> i64 {
    let len = s.byte_len() as i64;
    if place <= 0 || s.known_ascii() || place.saturating_sub(by) >= len {
        return place.saturating_sub(by);
    }
    let (bytes, mut at, mut left) = (s.as_bytes(), place.min(len) as usize, by - (place - len).max(0));
    while left > 0 && at > 0 {
        at -= 1;
        while at > 0 && bytes[at] & 0xc0 == 0x80 {
            at -= 1;
        }
        left -= 1;
    }
    (at as i64).saturating_sub(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exuvia_ir::{Object, Raise};

    const TEXTS: [&str; 7] = ["", "a", "é", "abc,de", "aé,€b𝄞", "€€", "aaaaé,aaaaaaaaa,aaaaaaaa€b"];
    const SUBS: [&str; 6] = ["", "a", ",", "é", "𝄞", "aa"];

    /// The place of an index.
    fn place(text: &str, index: i64) -> i64 {
        let offsets: Vec<i64> = text.char_indices().map(|(at, _)| at as i64).chain([text.len() as i64]).collect();
        let len = offsets.len() as i64 - 1;
        if (0..=len).contains(&index) {
            offsets[index as usize]
        } else {
            index + (text.len() as i64 - len) * i64::from(index > 0)
        }
    }

    fn run(name: &str, args: &[Object]) -> Result<Object, Raise> {
        (crate::by_name(name).unwrap().eval)(&mut Cx::for_folding(), args)
    }

    fn same(indices: Result<Object, Raise>, places: Result<Object, Raise>, text: Option<&str>, what: &str) {
        let of_place = |object| match (object, text) {
            (Object::Int(exuvia_ir::Int::Small(index)), Some(text)) => Object::int(place(text, index)),
            (object, _) => object,
        };
        assert_eq!(format!("{:?}", indices.map(of_place)), format!("{places:?}"), "{what}");
    }

    #[test]
    fn places_stand_for_indices() {
        let mut tried = 0;
        for text in TEXTS {
            let count = text.chars().count() as i64;
            let s = Object::str(text);
            let bounds: Vec<i64> = (-count - 2..=count + 2).chain([i64::MAX]).collect();
            for (&start, &end) in bounds.iter().flat_map(|start| bounds.iter().map(move |end| (start, end))) {
                let of = |index: i64| Object::int(if index == i64::MAX { index } else { place(text, index) });
                let [i, j] = [Object::int(start), Object::int(end)];
                let what = format!("{text:?} {start} {end}");
                for (sub, (name, is_place)) in SUBS.iter().flat_map(|sub| {
                    let names = [("find", true), ("rfind", true), ("index", true), ("rindex", true)];
                    let others = [("count", false), ("startswith", false), ("endswith", false)];
                    names.into_iter().chain(others).map(move |name| (sub, name))
                }) {
                    let sub = Object::str(sub);
                    let indices = run(&format!("str.{name}"), &[s.clone(), sub.clone(), i.clone(), j.clone()]);
                    let places = run(&format!("place.{name}"), &[s.clone(), sub.clone(), of(start), of(end)]);
                    same(indices, places, is_place.then_some(text), &format!("{what} {name} {sub:?}"));
                    tried += 1;
                }
                same(
                    run("str.slice", &[s.clone(), i.clone(), j.clone()]),
                    run("place.slice", &[s.clone(), of(start), of(end)]),
                    None,
                    &what,
                );
                if start != i64::MAX && end != i64::MAX {
                    same(
                        run("int.add", &[i.clone(), j.clone()]),
                        run("place.step", &[s.clone(), of(start), j.clone()]),
                        Some(text),
                        &what,
                    );
                    same(run("str.get", &[s.clone(), i]), run("place.get", &[s.clone(), of(start)]), None, &what);
                }
            }
        }
        assert!(tried > 10_000, "{tried}");
    }
}
