//! The core on boxed objects: unbounded integers, CPython's messages.

use super::Cmp;
use crate::adapt::take;
use crate::cx::Cx;
use crate::hash;
use crate::list;
use exuvia_ir::{ExcKind, Int, Object, Raise};
use num_bigint::{BigInt, Sign};
use num_traits::{FromPrimitive, Signed, ToPrimitive, Zero};

type Outcome = Result<Object, Raise>;

/// Results of more bits than this leave the evaluator: CPython decides (and its memory
/// limit, not ours, is the one that counts).
const MAX_BITS: u64 = 1 << 20;

fn big(object: &Object) -> Result<BigInt, Raise> {
    match object {
        Object::Int(value) => Ok(value.to_big()),
        Object::Bool(value) => Ok(BigInt::from(u8::from(*value))),
        _ => Err(Raise::Bailout("an operand is not an int")),
    }
}

fn int_object(value: BigInt) -> Object {
    Object::Int(Int::from_big(value))
}

pub(super) fn int1(args: &[Object], f: impl Fn(BigInt) -> BigInt) -> Outcome {
    Ok(int_object(f(big(&args[0])?)))
}

pub(super) fn int2(args: &[Object], f: impl Fn(BigInt, BigInt) -> BigInt) -> Outcome {
    Ok(int_object(f(big(&args[0])?, big(&args[1])?)))
}

pub(super) fn int_mul(_: &mut Cx, args: &[Object]) -> Outcome {
    let (a, b) = (big(&args[0])?, big(&args[1])?);
    if a.bits() + b.bits() > MAX_BITS {
        return Err(Raise::Bailout("an integer of more than a million bits"));
    }
    Ok(int_object(a * b))
}

/// CPython's quotient and remainder: the remainder has the sign of the divisor.
fn divmod(args: &[Object], message: &str) -> Result<(BigInt, BigInt), Raise> {
    let (a, b) = (big(&args[0])?, big(&args[1])?);
    if b.is_zero() {
        return Err(Raise::new(ExcKind::ZeroDivisionError, message));
    }
    let mut quotient = &a / &b;
    let mut remainder = &a % &b;
    if !remainder.is_zero() && remainder.is_negative() != b.is_negative() {
        quotient -= 1;
        remainder += b;
    }
    Ok((quotient, remainder))
}

pub(super) fn int_floordiv(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(int_object(divmod(args, "integer division or modulo by zero")?.0))
}

pub(super) fn int_mod(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(int_object(divmod(args, "integer modulo by zero")?.1))
}

pub(super) fn int_shl(_: &mut Cx, args: &[Object]) -> Outcome {
    let (a, b) = (big(&args[0])?, big(&args[1])?);
    if b.is_negative() {
        return Err(Raise::new(ExcKind::ValueError, "negative shift count"));
    }
    if a.is_zero() {
        return Ok(Object::int(0));
    }
    match b.to_u64() {
        Some(count) if a.bits().saturating_add(count) <= MAX_BITS => Ok(int_object(a << count)),
        // CPython counts the digits of 30 bits in a `Py_ssize_t` (Objects/longobject.c,
        // divmod_shift).
        _ if b > BigInt::from(i64::MAX) * 30 + 29 => {
            Err(Raise::new(ExcKind::OverflowError, "too many digits in integer"))
        }
        _ => Err(Raise::Bailout("an integer of more than a million bits")),
    }
}

pub(super) fn int_shr(_: &mut Cx, args: &[Object]) -> Outcome {
    let (a, b) = (big(&args[0])?, big(&args[1])?);
    if b.is_negative() {
        return Err(Raise::new(ExcKind::ValueError, "negative shift count"));
    }
    let count = b.to_u64().unwrap_or(u64::MAX).min(MAX_BITS * 2);
    if a.bits() > MAX_BITS {
        return Err(Raise::Bailout("an integer of more than a million bits"));
    }
    Ok(int_object(a >> count))
}

/// The nearest double of an integer, ties to even (Objects/longobject.c, PyLong_AsDouble).
pub(crate) fn nearest_float(value: &BigInt) -> Option<f64> {
    if let Some(small) = value.to_i64() {
        return Some(small as f64);
    }
    let bits = value.bits();
    if bits > 1024 {
        return None;
    }
    // Keep 64 bits and a sticky bit: rounding those to 53 bits is rounding the whole.
    let shift = bits - 64;
    let magnitude = value.magnitude();
    let mut top = (magnitude >> shift).to_u64()?;
    if magnitude.trailing_zeros().is_some_and(|zeros| zeros < shift) {
        top |= 1;
    }
    let scaled = top as f64 * 2f64.powi(i32::try_from(shift).ok()?);
    if scaled.is_infinite() {
        return None;
    }
    Some(if value.sign() == Sign::Minus { -scaled } else { scaled })
}

/// The float next to an int, where there is a finite one.
#[must_use]
pub fn float_near(value: &Int) -> Option<f64> {
    nearest_float(&value.to_big())
}

/// The float that is an int, where there is one.
#[must_use]
pub fn float_equal(value: &Int) -> Option<f64> {
    let big = value.to_big();
    nearest_float(&big).filter(|float| BigInt::from_f64(*float) == Some(big))
}

pub(super) fn int_to_float(_: &mut Cx, args: &[Object]) -> Outcome {
    match nearest_float(&big(&args[0])?) {
        Some(value) => Ok(Object::Float(value)),
        None => Err(Raise::new(ExcKind::OverflowError, "int too large to convert to float")),
    }
}

/// The quotient of two ints of 64 bits, `b` not zero, correctly rounded
/// (Objects/longobject.c, long_true_divide).
pub(crate) fn nearest_quotient(a: i64, b: i64) -> f64 {
    let (numerator, denominator) = (u128::from(a.unsigned_abs()), u128::from(b.unsigned_abs()));
    // 56 bits of the quotient or more, of which the last stands for all that follow: two
    // more than rounding looks at.
    let shift = (56 + numerator.leading_zeros()).saturating_sub(denominator.leading_zeros());
    let (numerator, shift) = if numerator == 0 { (0, 0) } else { (numerator << shift, shift) };
    let quotient = (numerator / denominator) | u128::from(numerator % denominator != 0);
    let magnitude = quotient as f64 / (1u128 << shift) as f64;
    if (a < 0) == (b < 0) { magnitude } else { -magnitude }
}

/// The quotient of two ints of 128 bits, `b` not zero, correctly rounded.
pub(crate) fn nearest_wide_quotient(cx: &mut Cx, a: i128, b: i128) -> f64 {
    // Division by a power of two rounds nothing: no quotient is so small that it would.
    if b > 0 && b.count_ones() == 1 {
        return a as f64 / b as f64;
    }
    match int_truediv(cx, &[Object::Int(Int::from_i128(a)), Object::Int(Int::from_i128(b))]) {
        Ok(Object::Float(quotient)) => quotient,
        // No quotient of 128 bits outgrows a float.
        _ => f64::NAN,
    }
}

/// The correctly rounded quotient (Objects/longobject.c, long_true_divide).
pub(super) fn int_truediv(_: &mut Cx, args: &[Object]) -> Outcome {
    if let [Object::Int(Int::Small(a)), Object::Int(Int::Small(b @ (..=-1 | 1..)))] = args {
        return Ok(Object::Float(nearest_quotient(*a, *b)));
    }
    let (a, b) = (big(&args[0])?, big(&args[1])?);
    if b.is_zero() {
        return Err(Raise::new(ExcKind::ZeroDivisionError, "division by zero"));
    }
    if a.is_zero() {
        return Ok(Object::Float(if b.is_negative() { -0.0 } else { 0.0 }));
    }
    let overflow = || Raise::new(ExcKind::OverflowError, "integer division result too large for a float");
    let negative = a.is_negative() != b.is_negative();
    let (a, b) = (a.abs(), b.abs());
    let scale = i64::try_from(a.bits()).map_err(|_| overflow())? - i64::try_from(b.bits()).map_err(|_| overflow())?;
    if scale > 1024 {
        return Err(overflow());
    }
    if scale < -1200 {
        return Ok(Object::Float(if negative { -0.0 } else { 0.0 }));
    }
    // Scale so that the integer quotient has 66 or 67 bits, then round once. Results in
    // the subnormal range keep fewer bits, so the rounding position is chosen there.
    let shift = 66 - scale;
    let (numerator, denominator) = if shift >= 0 { (a << shift, b) } else { (a, b << -shift) };
    let mut quotient = &numerator / &denominator;
    let sticky = !(&numerator % &denominator).is_zero();
    let exponent = i64::try_from(quotient.bits()).unwrap_or(0) - 1 - shift;
    let keep = if exponent < -1022 { 53 + (exponent + 1022) } else { 53 };
    let drop = i64::try_from(quotient.bits()).unwrap_or(0) - keep;
    let mut scaled_by = shift;
    if drop > 0 {
        let mask = (BigInt::from(1) << drop) - 1;
        let rest = &quotient & &mask;
        let half = BigInt::from(1) << (drop - 1);
        quotient >>= drop;
        if rest > half || (rest == half && (sticky || quotient.bit(0))) {
            quotient += 1;
        }
        scaled_by -= drop;
    }
    let mut value = quotient.to_f64().unwrap_or(f64::INFINITY);
    // Two steps, so that the power itself neither overflows nor vanishes.
    let power = i32::try_from(-scaled_by).unwrap_or(0);
    value *= 2f64.powi(power / 2);
    value *= 2f64.powi(power - power / 2);
    if value.is_infinite() {
        return Err(overflow());
    }
    Ok(Object::Float(if negative { -value } else { value }))
}

pub(super) fn bool_to_int(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::int(i64::from(take::bool(&args[0])?)))
}

pub(super) fn bool_not(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::Bool(!take::bool(&args[0])?))
}

pub(super) fn bool2(args: &[Object], f: impl Fn(bool, bool) -> bool) -> Outcome {
    Ok(Object::Bool(f(take::bool(&args[0])?, take::bool(&args[1])?)))
}

pub(super) fn identity(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(args[0].clone())
}

pub(super) fn int_truth(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::Bool(!big(&args[0])?.is_zero()))
}

pub(super) fn float_truth(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::Bool(take::float(&args[0])? != 0.0))
}

pub(super) fn str_truth(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::Bool(take::str(&args[0])?.byte_len() != 0))
}

pub(super) fn list_truth(_: &mut Cx, args: &[Object]) -> Outcome {
    read_list(&args[0], |items| Object::Bool(!items.is_empty()))
}

pub(super) fn float1(args: &[Object], f: impl Fn(f64) -> f64) -> Outcome {
    Ok(Object::Float(f(take::float(&args[0])?)))
}

pub(super) fn float2(args: &[Object], f: impl Fn(f64, f64) -> f64) -> Outcome {
    Ok(Object::Float(f(take::float(&args[0])?, take::float(&args[1])?)))
}

pub(super) fn float_div(_: &mut Cx, args: &[Object]) -> Outcome {
    let divisor = take::float(&args[1])?;
    if divisor == 0.0 {
        return Err(Raise::new(ExcKind::ZeroDivisionError, "float division by zero"));
    }
    float2(args, |a, b| a / b)
}

pub(super) fn float_sqrt(_: &mut Cx, args: &[Object]) -> Outcome {
    let value = take::float(&args[0])?;
    if value < 0.0 {
        return Err(Raise::new(ExcKind::ValueError, "math domain error"));
    }
    Ok(Object::Float(value.sqrt()))
}

pub(super) fn int_cmp(cmp: Cmp, args: &[Object]) -> Outcome {
    Ok(Object::Bool(cmp.holds(&big(&args[0])?, &big(&args[1])?)))
}

pub(super) fn float_cmp(cmp: Cmp, args: &[Object]) -> Outcome {
    Ok(Object::Bool(cmp.holds(&take::float(&args[0])?, &take::float(&args[1])?)))
}

pub(super) fn str_eq(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::Bool(take::str(&args[0])?.as_str() == take::str(&args[1])?.as_str()))
}

pub(super) fn str_ne(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::Bool(take::str(&args[0])?.as_str() != take::str(&args[1])?.as_str()))
}

pub(super) fn str_len(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::int(take::str(&args[0])?.char_len() as i64))
}

pub(super) fn str_byte_len(_: &mut Cx, args: &[Object]) -> Outcome {
    Ok(Object::int(take::str(&args[0])?.byte_len() as i64))
}

fn with_list<R>(object: &Object, f: impl FnOnce(&mut Vec<Object>) -> R) -> Result<R, Raise> {
    Ok(list_of(object)?.with(f))
}

fn read_list<R>(object: &Object, f: impl FnOnce(&[Object]) -> R) -> Result<R, Raise> {
    Ok(list_of(object)?.read(f))
}

fn list_of(object: &Object) -> Result<&exuvia_ir::ListObj, Raise> {
    match object {
        Object::List(list) => Ok(list),
        _ => Err(Raise::Bailout("an operand is not a list")),
    }
}

/// A position from an index that may be negative.
fn position(index: &Object, len: usize, message: &str) -> Result<usize, Raise> {
    let len = len as i64;
    match index {
        Object::Int(Int::Big(_)) => {
            Err(Raise::new(ExcKind::IndexError, "cannot fit 'int' into an index-sized integer"))
        }
        other => {
            let index = take::int(other)?;
            let at = if index < 0 { index + len } else { index };
            if (0..len).contains(&at) { Ok(at as usize) } else { Err(Raise::new(ExcKind::IndexError, message)) }
        }
    }
}

pub(super) fn list_is(_: &mut Cx, args: &[Object]) -> Outcome {
    match args {
        [Object::List(a), Object::List(b)] => Ok(Object::Bool(std::sync::Arc::ptr_eq(a, b))),
        _ => Err(Raise::Bailout("an operand that is no list")),
    }
}

pub(super) fn list_identity(_: &mut Cx, args: &[Object]) -> Outcome {
    match args {
        [Object::List(list)] => Ok(Object::int(std::sync::Arc::as_ptr(list).addr() as i64)),
        _ => Err(Raise::Bailout("an operand that is no list")),
    }
}

pub(super) fn list_len(_: &mut Cx, args: &[Object]) -> Outcome {
    read_list(&args[0], |items| Object::int(items.len() as i64))
}

pub(super) fn list_get(_: &mut Cx, args: &[Object]) -> Outcome {
    read_list(&args[0], |items| Ok(items[position(&args[1], items.len(), "list index out of range")?].clone()))?
}

pub(super) fn list_set(_: &mut Cx, args: &[Object]) -> Outcome {
    let list = list_of(&args[0])?;
    let len = list.read(<[Object]>::len);
    list.replace(position(&args[1], len, "list assignment index out of range")?, args[2].clone());
    Ok(Object::None)
}

/// Elements after which a list leaves the evaluator: CPython decides.
const MAX_ITEMS: usize = 1 << 24;

pub(super) fn list_append(cx: &mut Cx, args: &[Object]) -> Outcome {
    match list_of(&args[0])?.append(args[1].clone(), MAX_ITEMS, cx.limit()) {
        Ok(()) => Ok(Object::None),
        Err(_) => Err(Raise::ROW_MEMORY),
    }
}

pub(super) fn list_reserve(_: &mut Cx, _: &[Object]) -> Outcome {
    Ok(Object::None)
}

pub(super) fn list_extend(cx: &mut Cx, args: &[Object]) -> Outcome {
    let (list, other, times) = (list_of(&args[0])?, list_of(&args[1])?.items(), take::int(&args[2])?);
    let times = usize::try_from(times).unwrap_or(0);
    if other.len().checked_mul(times).is_none_or(|more| more > MAX_ITEMS) {
        return Err(Raise::ROW_MEMORY);
    }
    let times = if other.is_empty() { 0 } else { times };
    for item in (0..times).flat_map(|_| &other) {
        list.append(item.clone(), MAX_ITEMS, cx.limit()).map_err(|_| Raise::ROW_MEMORY)?;
    }
    Ok(Object::None)
}

pub(super) fn list_concat(_: &mut Cx, args: &[Object]) -> Outcome {
    let (mut items, others) = (list_of(&args[0])?.items(), list_of(&args[1])?.items());
    if items.len() + others.len() > MAX_ITEMS {
        return Err(Raise::ROW_MEMORY);
    }
    items.extend(others);
    Ok(Object::list(items))
}

pub(super) fn list_pop(_: &mut Cx, args: &[Object]) -> Outcome {
    list_of(&args[0])?.pop().ok_or_else(|| Raise::new(ExcKind::IndexError, "pop from empty list"))
}

pub(super) fn list_rotate(_: &mut Cx, args: &[Object]) -> Outcome {
    let by = take::int(&args[3])?;
    with_list(&args[0], |items| {
        let at = |arg| position(arg, items.len(), "list index out of range");
        let (first, last) = (at(&args[1])?, at(&args[2])?);
        if first <= last {
            let part = &mut items[first..=last];
            part.rotate_left(list::rotation(by, part.len()));
        }
        Ok(Object::None)
    })?
}

pub(super) fn list_reverse(_: &mut Cx, args: &[Object]) -> Outcome {
    with_list(&args[0], |items| {
        let at = |arg| position(arg, items.len(), "list index out of range");
        let (first, last) = (at(&args[1])?, at(&args[2])?);
        if first <= last {
            items[first..=last].reverse();
        }
        Ok(Object::None)
    })?
}

/// Where the key `args[3]` of the hash `args[4]` is in the table, hashes and keys before them.
fn find<const OF_SET: bool>(args: &[Object]) -> Outcome {
    let (index, hashes, keys) = (list_of(&args[0])?, list_of(&args[1])?, list_of(&args[2])?);
    let hash = take::int(&args[4])?;
    let word = |list: &exuvia_ir::ListObj, at: usize| match list.read(|items| items.get(at).cloned()) {
        Some(Object::Int(Int::Small(value))) => value,
        _ => i64::MAX,
    };
    let len = |list: &exuvia_ir::ListObj| list.read(|items| items.len());
    let entries = len(hashes).min(len(keys));
    let held = |at: usize| if at < entries { word(hashes, at) } else { 0 };
    let is = |at: usize| {
        at < entries
            && held(at) == hash
            && keys.read(|keys| keys.get(at).is_some_and(|key| crate::sort::is_same(key, &args[3])))
    };
    let places = len(index);
    let index = |at: usize| word(index, at);
    Ok(Object::int(match OF_SET {
        true => hash::look_in_set(places, index, held, is, hash),
        false => hash::look(places, index, is, hash),
    }))
}

pub(super) fn hash_find(_: &mut Cx, args: &[Object]) -> Outcome {
    find::<false>(args)
}

pub(super) fn set_find(_: &mut Cx, args: &[Object]) -> Outcome {
    find::<true>(args)
}

pub(super) fn list_compact(_: &mut Cx, args: &[Object]) -> Outcome {
    let stays: Vec<bool> = read_list(&args[1], |hashes| hashes.iter().map(|hash| *hash != Object::int(-1)).collect())?;
    with_list(&args[0], |items| {
        let mut stays = stays.iter();
        items.retain(|_| stays.next().is_none_or(|stays| *stays));
        Object::None
    })
}

pub(super) fn list_sort_by(_: &mut Cx, args: &[Object]) -> Outcome {
    let reverse = take::bool(&args[2])?;
    let keys = list_of(&args[1])?.items();
    let order = crate::sort::order_of_objects(&keys, reverse)?;
    with_list(&args[0], |items| {
        let order = order.into_iter().filter(|at| *at < items.len());
        let sorted: Vec<Object> = order.map(|at| items[at].clone()).collect();
        items[..sorted.len()].clone_from_slice(&sorted);
        Object::None
    })
}

/// The range of elements that a slice without step takes.
#[must_use]
pub fn slice_range(start: i64, stop: i64, len: usize) -> std::ops::Range<usize> {
    let len = len as i64;
    let clamp = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at.min(len) };
    let (start, stop) = (clamp(start), clamp(stop));
    start as usize..stop.max(start) as usize
}

pub(super) fn list_slice(_: &mut Cx, args: &[Object]) -> Outcome {
    let (start, stop) = (take::index(&args[1])?, take::index(&args[2])?);
    read_list(&args[0], |items| Object::list(items[slice_range(start, stop, items.len())].to_vec()))
}

pub(super) fn list_stride(_: &mut Cx, args: &[Object]) -> Outcome {
    let (start, step, count) = (take::int(&args[1])?, take::int(&args[2])?, take::int(&args[3])?);
    read_list(&args[0], |items| {
        let at = |turn: i64| usize::try_from(start.checked_add(turn.checked_mul(step)?)?).ok();
        let taken = (0..count).map(|turn| items.get(at(turn)?).cloned()).collect::<Option<Vec<_>>>();
        taken.map(Object::list).ok_or_else(|| Raise::bailout("a stride beyond the list"))
    })?
}

pub(super) fn dict_find(_: &mut Cx, args: &[Object]) -> Outcome {
    let at = match &args[0] {
        Object::Dict(dict) => dict.position(&args[1]),
        Object::Set(set) => set.members.position(&args[1]),
        _ => return Err(Raise::Bailout("an operand is neither dict nor set")),
    };
    Ok(Object::int(at.map_or(-1, |at| at as i64)))
}

pub(super) fn dict_value(_: &mut Cx, args: &[Object]) -> Outcome {
    match &args[0] {
        // Folding also looks at code behind a lookup that finds nothing.
        Object::Dict(dict) => match usize::try_from(take::int(&args[1])?).ok().and_then(|at| dict.entries().get(at)) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(Raise::Bailout("no entry of the dict is at that place")),
        },
        _ => Err(Raise::Bailout("an operand is not a dict")),
    }
}

pub(super) fn exc_code(_: &mut Cx, args: &[Object]) -> Outcome {
    match &args[0] {
        Object::Exc(exc) => Ok(Object::int(exc.kind as i64)),
        _ => Err(Raise::Bailout("an operand is not an exception")),
    }
}

pub(super) fn exc_message(_: &mut Cx, args: &[Object]) -> Outcome {
    match &args[0] {
        Object::Exc(exc) => Ok(Object::str(&crate::show::message(exc.kind, &exc.args))),
        _ => Err(Raise::Bailout("an operand is not an exception")),
    }
}

pub(super) fn int_fits(_: &mut Cx, args: &[Object]) -> Outcome {
    let value = take::int(&args[0])?;
    match value.to_i64() {
        Some(_) => Ok(args[0].clone()),
        None => Err(Raise::Bailout("an int of more than 64 bits")),
    }
}

pub(super) fn reject(_: &mut Cx, args: &[Object]) -> Outcome {
    let sql_type = take::str(&args[0])?.as_str();
    let value = crate::show::of_result(&args[1]);
    Err(Raise::Result(exuvia_ir::result_error(&value, args[1].ty().python_name(), sql_type, None)))
}
