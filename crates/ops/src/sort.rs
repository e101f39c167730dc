//! `sorted` of lists in their natural order. Without a key, and with elements of one
//! type, that is all there is; the prelude has the rest.

use crate::adapt::{FloatList, IntList};
use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::list::{RawList, StrListBuilder};
use crate::op;
use crate::text::{Str, short_word};
use exuvia_ir::{Int, Object, Raise};

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
    &order_str::DEF,
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
                let order = a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
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
    /// A new, sorted list. With NaN, or with zeros of both signs, whose order is NumPy's own, it bails
    /// out.
    ///
    /// >>> sorted([0.5, -1.0, 0.25])
    /// [-1.0, 0.25, 0.5]
    sort_array = "list.sort_array" ""
    Alloc fn (cx, _items: floats) -> float_list fallible bails Operands {
        let mut keys = keys(_items)?;
        keys.sort_unstable();
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

op! {
    /// As that of ints, by code points.
    ///
    /// >>> sorted(range(3), key=["b", "é", "a"].__getitem__)
    /// [2, 0, 1]
    order_str = "list.order_str" ""
    Alloc fn (cx, _keys: strs, reverse: keyword_bool = Bool(false)) -> int_list fallible {
        let keys = _keys.items().iter().map(|key| (first_bytes(*key), key.as_bytes()));
        RawList::of_words(cx, ordered(keys, reverse).map(|at| at as u64)).map(IntList)
    }
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
