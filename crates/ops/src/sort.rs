//! `sorted` of lists in their natural order. Without a key, and with elements of one
//! type, that is all there is; the prelude has the rest.

use crate::adapt::{FloatList, IntList};
use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::list::{RawList, StrListBuilder};
use crate::op;
use crate::text::{Str, short_word};
use exuvia_ir::{Class, Int, Object, Raise, Type};
use std::cmp::Ordering;

/// The operations of sorting.
pub static OPS: &[&OpDef] = &[
    &sort_int::DEF,
    &sort_float::DEF,
    &sort_array::DEF,
    &select_float::DEF,
    &sort_str::DEF,
    &sort_chars::DEF,
    &order_int::DEF,
    &order_float::DEF,
];

op! {
    /// A new, sorted list.
    ///
    /// >>> sorted([3, 1, 2])
    /// [1, 2, 3]
    sort_int = "list.sort_int" ""
    Alloc fn (cx, _items: ints, reverse: keyword_bool = Bool(false)) -> int_list fallible {
        let mut items = _items.to_vec();
        items.sort_unstable();
        if reverse {
            items.reverse();
        }
        RawList::of_words(cx, items.iter().map(|item| *item as u64)).map(IntList)
    }
    big big_sort_int
}

/// The elements of a list of ints of any size, and whether the order is the reverse.
fn big_ints(args: &[Object]) -> KernelResult<(Vec<Int>, bool)> {
    let Object::List(list) = &args[0] else { return Err(Raise::Bailout("an operand is not a list")) };
    let one = |item: &Object| match item {
        Object::Int(value) => Ok(value.clone()),
        _ => Err(Raise::Bailout("an element is not an int")),
    };
    let items = list.items().iter().map(one).collect::<KernelResult<_>>()?;
    Ok((items, crate::adapt::take::bool(&args[1])?))
}

fn big_sort_int(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (mut items, reverse) = big_ints(args)?;
    items.sort();
    if reverse {
        items.reverse();
    }
    Ok(Object::list(items.into_iter().map(Object::Int).collect()))
}

op! {
    /// A new, sorted list; equal elements (0.0 and -0.0) keep their order, also in the
    /// reverse. With NaN the order depends on how CPython happens to compare: it bails
    /// out.
    ///
    /// >>> sorted([0.5, -1.0, 0.25], reverse=True)
    /// [0.5, 0.25, -1.0]
    sort_float = "list.sort_float" ""
    Alloc fn (cx, _items: floats, reverse: keyword_bool = Bool(false)) -> float_list fallible bails Operands {
        let found = Found::of(_items);
        if found.nan {
            return Err(NAN);
        }
        if found.has_both_zeros() {
            let mut items = _items.to_vec();
            items.sort_by(|a, b| {
                let order = a.partial_cmp(b).unwrap_or(Ordering::Equal);
                if reverse { order.reverse() } else { order }
            });
            return RawList::of_words(cx, items.iter().map(|item| item.to_bits())).map(FloatList);
        }
        // What is equal has the same bits.
        let mut keys = bits_in_order(_items);
        keys.sort_unstable();
        if reverse {
            keys.reverse();
        }
        floats(cx, keys.iter().copied())
    }
}

op! {
    /// A new, sorted list, NaN at its end. With zeros of both signs, or NaN of several bits, whose order is
    /// NumPy's own, it bails out.
    ///
    /// >>> sorted([0.5, -1.0, 0.25])
    /// [-1.0, 0.25, 0.5]
    sort_array = "list.sort_array" ""
    Alloc fn (cx, _items: floats) -> float_list fallible bails Operands {
        let (nan, present): (Vec<f64>, Vec<f64>) = _items.iter().partition(|item| item.is_nan());
        if nan.iter().any(|item| item.to_bits() != nan[0].to_bits()) {
            return Err(Raise::Bailout("NaN of several bits"));
        }
        let mut keys = keys(&present)?;
        keys.sort_unstable();
        // The bits of NaN come back as they are: done twice the exchange is undone.
        keys.extend(bits_in_order(&nan));
        floats(cx, keys.iter().copied())
    }
}

const NAN: Raise = Raise::Bailout("the order of a list with NaN");

/// What is special among floats.
#[derive(Default)]
struct Found {
    nan: bool,
    zero: bool,
    negative_zero: bool,
}

impl Found {
    fn of(items: &[f64]) -> Found {
        // Without a branch for each, so that several are looked at at once.
        items.iter().fold(Found::default(), |found, item| Found {
            nan: found.nan | item.is_nan(),
            zero: found.zero | (item.to_bits() == 0),
            negative_zero: found.negative_zero | (item.to_bits() == (-0.0f64).to_bits()),
        })
    }

    fn has_both_zeros(&self) -> bool {
        self.zero && self.negative_zero
    }
}

/// Floats as ints in the same order, where -0.0 is below 0.0: they compare in one instruction.
fn bits_in_order(items: &[f64]) -> Vec<i64> {
    items.iter().map(|item| swapped(item.to_bits() as i64)).collect()
}

/// The same, of floats that have one order only.
fn keys(items: &[f64]) -> KernelResult<Vec<i64>> {
    let found = Found::of(items);
    if found.nan {
        return Err(NAN);
    }
    if found.has_both_zeros() {
        return Err(Raise::Bailout("zeros of both signs"));
    }
    Ok(bits_in_order(items))
}

/// The floats that such ints stand for.
fn floats(cx: &mut Cx, keys: impl ExactSizeIterator<Item = i64>) -> KernelResult<FloatList> {
    RawList::of_words(cx, keys.map(|key| swapped(key) as u64)).map(FloatList)
}

/// The bits of negative numbers are in the reverse; done twice it is undone.
fn swapped(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// Places that are found one by one; for more all is sorted.
const MOST_SELECTED: usize = 16;

op! {
    /// The elements that stand at those places of the sorted list. With NaN, or with zeros of both
    /// signs, which are equal and yet not the same, it bails out.
    ///
    /// >>> [sorted([0.5, -1.0, 0.25])[place] for place in [2, 0]]
    /// [0.5, -1.0]
    select_float = "list.select_float" ""
    Alloc fn (cx, _items: floats, _places: ints) -> float_list fallible bails Operands {
        let mut keys = keys(_items)?;
        let place = |place: &i64| usize::try_from(*place).ok().filter(|place| *place < _items.len());
        let places: Option<Vec<usize>> = _places.iter().map(place).collect();
        let Some(places) = places else { return Err(Raise::Bailout("a place outside of a list")) };
        order_at(&mut keys, &places);
        floats(cx, places.iter().map(|place| keys[*place]))
    }
}

/// Puts those keys into their places that stand at these once all are sorted.
fn order_at(keys: &mut [i64], places: &[usize]) {
    if places.len() > MOST_SELECTED {
        return keys.sort_unstable();
    }
    let mut rising = places.to_vec();
    rising.sort_unstable();
    rising.dedup();
    // What is behind a place is not below it.
    let mut from = 0;
    for place in rising {
        keys[from..].select_nth_unstable(place - from);
        from = place + 1;
    }
}

/// The first bytes of a text as a number, in which most texts differ.
fn first_bytes(text: Str<'_>) -> u64 {
    let bytes = text.as_bytes();
    short_word(&bytes[..bytes.len().min(8)]).swap_bytes()
}

op! {
    /// A new list, sorted by code points.
    ///
    /// >>> sorted(["b", "é", "a"])
    /// ['a', 'b', 'é']
    sort_str = "list.sort_str" ""
    Alloc fn (cx, _items: strs, reverse: keyword_bool = Bool(false)) -> str_list fallible {
        let mut keyed: Vec<(u64, Str<'_>)> = _items.items().iter().map(|item| (first_bytes(*item), *item)).collect();
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.as_bytes().cmp(b.1.as_bytes())));
        let mut sorted = StrListBuilder::with_capacity(cx, keyed.len())?;
        keyed.iter().try_for_each(|(_, item)| sorted.push(cx, *item))?;
        if reverse {
            sorted.reverse();
        }
        Ok(sorted.finish())
    }
}

/// The positions of values in their order: of equal ones the first first, also in the reverse.
fn ordered<K: Ord>(keys: impl Iterator<Item = K>, reverse: bool) -> impl ExactSizeIterator<Item = usize> {
    let mut keyed: Vec<(K, usize)> = keys.enumerate().map(|(at, key)| (key, at)).collect();
    if reverse {
        keyed.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    } else {
        keyed.sort_unstable();
    }
    keyed.into_iter().map(|(_, at)| at)
}

/// The same as a list, of words: with its position each is one number, which compares without a branch.
fn order_words(cx: &mut Cx, keys: impl Iterator<Item = i64>, reverse: bool) -> KernelResult<IntList> {
    let numbered = |(at, key): (usize, i64)| {
        let key = key.cast_unsigned() ^ (1 << 63);
        (u128::from(if reverse { !key } else { key }) << 64) | at as u128
    };
    let mut numbered: Vec<u128> = keys.enumerate().map(numbered).collect();
    numbered.sort_unstable();
    RawList::of_words(cx, numbered.into_iter().map(|number| number as u64)).map(IntList)
}

op! {
    /// The positions of the elements in their order, of equal ones the first first, also in the reverse.
    ///
    /// >>> sorted(range(3), key=[30, 10, 20].__getitem__)
    /// [1, 2, 0]
    order_int = "list.order_int" ""
    Alloc fn (cx, _keys: ints, reverse: keyword_bool = Bool(false)) -> int_list fallible {
        order_words(cx, _keys.iter().copied(), reverse)
    }
    big big_order_int
}

fn big_order_int(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    let (keys, reverse) = big_ints(args)?;
    Ok(Object::list(ordered(keys.iter(), reverse).map(|at| Object::int(at as i64)).collect()))
}

op! {
    /// As that of ints. With NaN the order depends on how CPython happens to compare: it bails out.
    ///
    /// >>> sorted(range(3), key=[0.5, -1.0, 0.25].__getitem__)
    /// [1, 2, 0]
    order_float = "list.order_float" ""
    Alloc fn (cx, _keys: floats, reverse: keyword_bool = Bool(false)) -> int_list fallible bails Operands {
        if _keys.iter().any(|key| key.is_nan()) {
            return Err(NAN);
        }
        // Zeros are equal.
        order_words(cx, _keys.iter().map(|key| swapped((*key + 0.0).to_bits() as i64)), reverse)
    }
}

/// What a value that is compared is made of, four bits for each of its parts, the first ones lowest.
const INT: u64 = 1;
const TWO_INTS: u64 = INT << 4 | INT;
const THREE_INTS: u64 = TWO_INTS << 4 | INT;
const FLOAT: u64 = 2;
const BOOL: u64 = 3;
const STR: u64 = 4;
/// The tag of a union, the rest of which is there where it is another than 0, or than 1.
const OTHER_THAN_0: u64 = 5;
const OTHER_THAN_1: u64 = 6;

/// How values of a type are compared, where all of them have one order, which nothing but NaN disturbs: numbers,
/// texts and times, and tuples of them of at most sixteen parts.
#[must_use]
pub fn order_of(ty: &Type) -> Option<u64> {
    fn add(ty: &Type, parts: &mut Vec<u64>) -> bool {
        match ty {
            Type::Int => parts.push(INT),
            Type::Float => parts.push(FLOAT),
            Type::Bool => parts.push(BOOL),
            Type::Str => parts.push(STR),
            Type::Tuple(items) => return items.iter().all(|item| add(item, parts)),
            Type::Record(Class::Date | Class::Datetime | Class::Time, fields) if **fields == [Type::Int] => {
                parts.push(INT);
            }
            Type::Never => {}
            _ => return false,
        }
        true
    }
    let mut parts = Vec::new();
    (add(ty, &mut parts) && parts.len() <= 16).then(|| parts.iter().rev().fold(0, |order, part| order << 4 | part))
}

/// How values of a type are told apart: as [`order_of`] says, of which some may be None too.
#[must_use]
pub fn key_order_of(ty: &Type) -> Option<u64> {
    match ty {
        Type::Union(alternatives) => {
            let none = alternatives.iter().position(|ty| *ty == Type::None)?;
            let [other] = &alternatives.iter().filter(|ty| **ty != Type::None).collect::<Vec<_>>()[..] else {
                return None;
            };
            let tag = if none == 0 { OTHER_THAN_0 } else { OTHER_THAN_1 };
            order_of(other).filter(|order| order >> 60 == 0).map(|order| order << 4 | tag)
        }
        _ => order_of(ty),
    }
}

/// The first part of a value as a number in the same order, as far as that goes.
///
/// # Safety
/// The value must be one of a type of that order, where that is not 0.
unsafe fn rank(value: *const u64, order: u64) -> u64 {
    // SAFETY: the caller vouches for the words.
    unsafe {
        match order & 15 {
            INT => *value ^ (1 << 63),
            // Zeros are equal.
            FLOAT => swapped((f64::from_bits(*value) + 0.0).to_bits() as i64).cast_unsigned() ^ (1 << 63),
            BOOL => *value & 1,
            STR => first_bytes(Str::from_words(*value as *const u8, *value.add(1))),
            _ => 0,
        }
    }
}

/// Compares two values.
///
/// # Safety
/// Both must be values of a type of that order.
pub(crate) unsafe fn compared(mut a: *const u64, mut b: *const u64, mut order: u64) -> Ordering {
    while order != 0 {
        // SAFETY: the caller vouches for the words of each part.
        let (found, words) = unsafe {
            match order & 15 {
                STR => {
                    let text = |value: *const u64| Str::from_words(*value as *const u8, *value.add(1));
                    (text(a).as_bytes().cmp(text(b).as_bytes()), 2)
                }
                tag @ (OTHER_THAN_0 | OTHER_THAN_1) => {
                    let (first, second) = (*a & 0xFF, *b & 0xFF);
                    if first == second && first == tag - OTHER_THAN_0 {
                        return Ordering::Equal;
                    }
                    (first.cmp(&second), 1)
                }
                _ => (rank(a, order).cmp(&rank(b, order)), 1),
            }
        };
        if found != Ordering::Equal {
            return found;
        }
        // SAFETY: as above.
        (a, b) = unsafe { (a.add(words), b.add(words)) };
        order >>= 4;
    }
    Ordering::Equal
}

/// Whether a part of a value is NaN.
///
/// # Safety
/// It must be a value of a type of that order.
unsafe fn has_nan(mut value: *const u64, mut order: u64) -> bool {
    while order != 0 {
        // SAFETY: the caller vouches for the words.
        unsafe {
            if order & 15 == FLOAT && f64::from_bits(*value).is_nan() {
                return true;
            }
            value = value.add(if order & 15 == STR { 2 } else { 1 });
        }
        order >>= 4;
    }
    false
}

/// Memory that sorting needs beside the list, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The ranks of the keys and their positions.
    ranks: Vec<(u64, usize)>,
    /// The elements as they were.
    words: Vec<u64>,
}

/// The words that are kept: those of lists that sorts are often asked for.
const KEPT: usize = 1 << 12;

/// Sorts rows of so many ints.
fn sort_ints<const WIDTH: usize>(words: &mut [u64], reverse: bool) {
    let rows = words.as_chunks_mut::<WIDTH>().0;
    let ints = |row: &[u64; WIDTH]| row.map(u64::cast_signed);
    if reverse {
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(ints(row)));
    } else {
        rows.sort_unstable_by_key(ints);
    }
}

/// Sorts a list of elements of `width` words by keys of `key_width`: see the operation `list.sort_by`.
///
/// # Errors
/// Bails out at NaN.
///
/// # Safety
/// Both must be live lists, which may be one, of elements of so many words; those of the keys are of a type of
/// that order. Nothing else looks at them during the call.
pub unsafe fn sort_by(
    cx: &mut Cx,
    (list, width): (*mut RawList, usize),
    (keys_list, key_width): (*const RawList, usize),
    order: u64,
    reverse: bool,
) -> KernelResult<()> {
    // SAFETY: the caller vouches for the lists.
    let (len, data) = unsafe { ((*list).len as usize, (*list).data) };
    // SAFETY: as above.
    let (known, keys) = unsafe { ((*keys_list).len as usize, (*keys_list).data) };
    let len = len.min(known);
    // SAFETY: so many keys lie there.
    let key = |at: usize| unsafe { keys.cast_const().add(at * key_width) };
    // SAFETY: as above.
    let is_nan = |at: usize| unsafe { has_nan(key(at), order) };
    let parts = std::iter::successors(Some(order), |order| Some(order >> 4)).take_while(|order| *order != 0);
    if parts.into_iter().any(|order| order & 15 == FLOAT) && (0..known).any(is_nan) {
        return Err(NAN);
    }
    if len < 2 || width == 0 {
        return Ok(());
    }
    // What is equal among ints by themselves is the same.
    if std::ptr::addr_eq(list, keys_list) {
        // SAFETY: so many words lie there.
        let words = unsafe { std::slice::from_raw_parts_mut(data, len * width) };
        let sort = match (order, width) {
            (INT, 1) => Some(sort_ints::<1> as fn(&mut [u64], bool)),
            (TWO_INTS, 2) => Some(sort_ints::<2> as _),
            (THREE_INTS, 3) => Some(sort_ints::<3> as _),
            _ => None,
        };
        if let Some(sort) = sort {
            sort(words, reverse);
            return Ok(());
        }
    }
    let Scratch { ranks, words: before } = &mut cx.sorting;
    ranks.clear();
    // What comes first in the reverse has the least rank there; equal ones stay in their order.
    let turned = if reverse { u64::MAX } else { 0 };
    // SAFETY: as above.
    ranks.extend((0..len).map(|at| (unsafe { rank(key(at), order) } ^ turned, at)));
    // What the rank says in full is not compared again.
    let rest = if order & 15 == STR { order } else { order >> 4 };
    let skipped = usize::from(rest != order);
    if rest == 0 {
        ranks.sort_unstable();
    } else {
        ranks.sort_unstable_by(|a, b| {
            let others = || {
                let (first, second) = if reverse { (b, a) } else { (a, b) };
                // SAFETY: both are positions of keys, whose first part is skipped where that is compared.
                unsafe { compared(key(first.1).add(skipped), key(second.1).add(skipped), rest) }
            };
            a.0.cmp(&b.0).then_with(others).then(a.1.cmp(&b.1))
        });
    }
    // SAFETY: as above; the keys are not looked at any more.
    let words = unsafe { std::slice::from_raw_parts_mut(data, len * width) };
    before.clear();
    before.extend_from_slice(words);
    for (at, (_, from)) in ranks.iter().enumerate() {
        for word in 0..width {
            words[at * width + word] = before[from * width + word];
        }
    }
    ranks.shrink_to(KEPT);
    before.shrink_to(KEPT);
    Ok(())
}

/// Compares two values that have an order.
fn compared_objects(a: &Object, b: &Object) -> KernelResult<Ordering> {
    let all = |a: &[Object], b: &[Object]| {
        for (a, b) in a.iter().zip(b) {
            match compared_objects(a, b)? {
                Ordering::Equal => {}
                other => return Ok(other),
            }
        }
        Ok(a.len().cmp(&b.len()))
    };
    match (a, b) {
        (Object::Int(a), Object::Int(b)) => Ok(a.cmp(b)),
        (Object::Bool(a), Object::Bool(b)) => Ok(a.cmp(b)),
        (Object::Str(a), Object::Str(b)) => Ok(a.as_bytes().cmp(b.as_bytes())),
        (Object::Float(a), Object::Float(b)) => a.partial_cmp(b).ok_or(NAN),
        (Object::Tuple(a), Object::Tuple(b)) => all(a, b),
        (Object::Record(a), Object::Record(b)) if a.class == b.class => all(&a.fields, &b.fields),
        _ => Err(Raise::Bailout("elements without an order")),
    }
}

/// Whether two values that have an order are the same in it.
pub(crate) fn is_same(a: &Object, b: &Object) -> bool {
    (*a == Object::None && *b == Object::None) || compared_objects(a, b).is_ok_and(Ordering::is_eq)
}

/// The positions of such keys in their order, as objects.
///
/// # Errors
/// Bails out at NaN, and at what has no order.
pub(crate) fn order_of_objects(keys: &[Object], reverse: bool) -> KernelResult<Vec<usize>> {
    fn has_nan(key: &Object) -> bool {
        match key {
            Object::Float(value) => value.is_nan(),
            Object::Tuple(items) => items.iter().any(has_nan),
            _ => false,
        }
    }
    if keys.iter().any(has_nan) {
        return Err(NAN);
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut failed = Ok(());
    order.sort_by(|a, b| {
        let (first, second) = if reverse { (b, a) } else { (a, b) };
        let found = compared_objects(&keys[*first], &keys[*second]);
        found.unwrap_or_else(|raise| {
            failed = Err(raise);
            Ordering::Equal
        })
    });
    failed.map(|()| order)
}

op! {
    /// The characters of a string, sorted.
    ///
    /// >>> sorted("banane")
    /// ['a', 'a', 'b', 'e', 'n', 'n']
    sort_chars = "str.sorted_chars" ""
    Alloc fn (cx, _s: str, reverse: keyword_bool = Bool(false)) -> str_list fallible {
        let mut sorted = StrListBuilder::with_capacity(cx, _s.byte_len())?;
        if _s.is_ascii() {
            // As many of each as there are, of those that there are.
            let (mut counts, mut found) = ([0usize; 128], 0u128);
            for byte in _s.as_bytes() {
                counts[usize::from(*byte)] += 1;
                found |= 1 << byte;
            }
            while found != 0 {
                let byte = found.trailing_zeros() as u8;
                found &= found - 1;
                let text = crate::str::ascii_char(byte);
                (0..counts[usize::from(byte)]).try_for_each(|_| sorted.push(cx, text))?;
            }
        } else {
            let mut characters: Vec<Str<'_>> =
                _s.as_str().char_indices().map(|(at, ch)| _s.slice_bytes(at, at + ch.len_utf8())).collect();
            characters.sort_unstable_by_key(|ch| ch.as_str().chars().next());
            characters.iter().try_for_each(|ch| sorted.push(cx, *ch))?;
        }
        if reverse {
            sorted.reverse();
        }
        Ok(sorted.finish())
    }
}
