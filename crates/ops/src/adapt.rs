//! The adapters between kernels and their callers, used by [`op!`](crate::op!).

use crate::cx::{Cx, KernelResult};
use crate::def::status;
use crate::list::{RawList, StrList};
use crate::text::Str;
use exuvia_ir::{ExcKind, Int, Object, Pattern, Raise};

/// Two machine words in registers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair(pub u64, pub u64);

/// A result in the registers in which a kernel that cannot fail returns it.
pub trait PlainWords {
    /// The result as native code stores it in memory: the two words of a string, else
    /// zero and the word.
    fn words(self) -> Pair;
}

impl PlainWords for u8 {
    fn words(self) -> Pair {
        Pair(0, u64::from(self))
    }
}

impl PlainWords for i64 {
    fn words(self) -> Pair {
        Pair(0, self as u64)
    }
}

impl PlainWords for u64 {
    fn words(self) -> Pair {
        Pair(0, self)
    }
}

impl PlainWords for f64 {
    fn words(self) -> Pair {
        Pair(0, self.to_bits())
    }
}

impl PlainWords for Pair {
    fn words(self) -> Pair {
        self
    }
}

/// A result of a kernel, by how native code and the evaluator take it.
pub trait Returned: Sized {
    /// The form in which it is returned where the operation cannot fail.
    type Plain;
    /// The value in that form.
    fn plain(self) -> Self::Plain;
    /// A value to return after a panic, where the caller cannot be told otherwise.
    fn poison() -> Self::Plain;
    /// The value as a pair of words, for an operation that can fail.
    fn pair(self) -> Pair;
    /// A failure as a pair of words.
    fn failure(code: u64) -> Pair {
        Pair(code, 0)
    }
    /// The value as an object.
    fn object(self) -> Object;
}

impl Returned for bool {
    type Plain = u8;
    fn plain(self) -> u8 {
        u8::from(self)
    }
    fn poison() -> u8 {
        0
    }
    fn pair(self) -> Pair {
        Pair(0, u64::from(self))
    }
    fn object(self) -> Object {
        Object::Bool(self)
    }
}

impl Returned for i64 {
    type Plain = i64;
    fn plain(self) -> i64 {
        self
    }
    fn poison() -> i64 {
        0
    }
    fn pair(self) -> Pair {
        Pair(0, self as u64)
    }
    fn object(self) -> Object {
        Object::int(self)
    }
}

impl Returned for f64 {
    type Plain = f64;
    fn plain(self) -> f64 {
        self
    }
    fn poison() -> f64 {
        0.0
    }
    fn pair(self) -> Pair {
        Pair(0, self.to_bits())
    }
    fn object(self) -> Object {
        Object::Float(self)
    }
}

impl Returned for Str<'_> {
    type Plain = Pair;
    fn plain(self) -> Pair {
        let (ptr, meta) = self.words();
        Pair(ptr as u64, meta)
    }
    fn poison() -> Pair {
        Str::new("").plain()
    }
    fn pair(self) -> Pair {
        self.plain()
    }
    fn failure(code: u64) -> Pair {
        Pair(0, code)
    }
    fn object(self) -> Object {
        Object::str(self.as_str())
    }
}

/// A list of strings that a kernel built in the row's arena.
#[derive(Clone, Copy, Debug)]
pub struct TextList(pub *mut RawList);

/// A list of ints that a kernel built in the row's arena.
#[derive(Clone, Copy, Debug)]
pub struct IntList(pub *mut RawList);

/// A list of floats that a kernel built in the row's arena.
#[derive(Clone, Copy, Debug)]
pub struct FloatList(pub *mut RawList);

macro_rules! word_list {
    ($name:ident, $element:ty, $object:expr) => {
        impl Returned for $name {
            type Plain = u64;
            fn plain(self) -> u64 {
                self.0 as u64
            }
            fn poison() -> u64 {
                0
            }
            fn pair(self) -> Pair {
                Pair(0, self.0 as u64)
            }
            fn object(self) -> Object {
                // SAFETY: kernels return lists that they just built, of such elements.
                let items = unsafe { crate::list::words::<$element>(self.0) };
                Object::list(items.iter().copied().map($object).collect())
            }
        }
    };
}

word_list!(IntList, i64, Object::int);
word_list!(FloatList, f64, Object::Float);

impl Returned for TextList {
    type Plain = u64;
    fn plain(self) -> u64 {
        self.0 as u64
    }
    fn poison() -> u64 {
        0
    }
    fn pair(self) -> Pair {
        Pair(0, self.0 as u64)
    }
    fn object(self) -> Object {
        // SAFETY: kernels return lists that they just built, of strings.
        let list = unsafe { StrList::from_raw(self.0) };
        Object::list(list.items().iter().map(|item| Object::str(item.as_str())).collect())
    }
}

/// Runs a kernel for native code where it can fail.
///
/// # Safety
/// `cx` must be the address of a context that nothing else uses during the call.
#[inline(always)]
pub unsafe fn call_fallible<R: Returned>(cx: *mut Cx, kernel: impl FnOnce(&mut Cx) -> KernelResult<R>) -> Pair {
    // SAFETY: the caller vouches for the context.
    let cx = unsafe { &mut *cx };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kernel(cx))) {
        Ok(Ok(value)) => value.pair(),
        Ok(Err(raise)) => R::failure(cx.status(raise)),
        Err(panic) => R::failure(panicked(panic)),
    }
}

#[cold]
fn panicked(panic: Box<dyn std::any::Any + Send>) -> u64 {
    drop(panic);
    status::BAILOUT
}

/// Runs a kernel for native code where it cannot fail.
///
/// # Safety
/// As [`call_fallible`].
#[inline(always)]
pub unsafe fn call_plain<R: Returned>(cx: *mut Cx, kernel: impl FnOnce(&mut Cx) -> R) -> R::Plain {
    // SAFETY: the caller vouches for the context.
    let cx = unsafe { &mut *cx };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kernel(cx))) {
        Ok(value) => value.plain(),
        Err(_) => {
            cx.poison();
            R::poison()
        }
    }
}

/// Operands taken out of objects, for the evaluator.
pub mod take {
    use super::*;

    const MISTYPED: Raise = Raise::Bailout("an operand has another type than the operation takes");

    /// A bool.
    pub fn bool(object: &Object) -> Result<bool, Raise> {
        match object {
            Object::Bool(value) => Ok(*value),
            _ => Err(MISTYPED),
        }
    }

    /// An integer of 64 bits.
    pub fn int(object: &Object) -> Result<i64, Raise> {
        match object {
            Object::Int(Int::Small(value)) => Ok(*value),
            Object::Int(Int::Big(_)) => Err(Raise::Bailout("an integer beyond 64 bits")),
            Object::Bool(value) => Ok(i64::from(*value)),
            _ => Err(MISTYPED),
        }
    }

    /// An integer that CPython passes to C as a `Py_ssize_t` (Objects/abstract.c,
    /// PyNumber_AsSsize_t).
    pub fn ssize(object: &Object) -> Result<i64, Raise> {
        match object {
            Object::Int(Int::Big(_)) => {
                Err(Raise::new(ExcKind::OverflowError, "Python int too large to convert to C ssize_t"))
            }
            other => int(other),
        }
    }

    /// An integer by which a sequence is indexed (Objects/abstract.c, PyObject_GetItem).
    pub fn subscript(object: &Object) -> Result<i64, Raise> {
        match object {
            Object::Int(Int::Big(_)) => {
                Err(Raise::new(ExcKind::IndexError, "cannot fit 'int' into an index-sized integer"))
            }
            other => int(other),
        }
    }

    /// An integer by which a sequence is repeated (Objects/abstract.c, sequence_repeat).
    pub fn repeat(object: &Object) -> Result<i64, Raise> {
        match object {
            Object::Int(Int::Big(_)) => {
                Err(Raise::new(ExcKind::OverflowError, "cannot fit 'int' into an index-sized integer"))
            }
            other => int(other),
        }
    }

    /// `None`.
    pub fn none(object: &Object) -> Result<(), Raise> {
        match object {
            Object::None => Ok(()),
            _ => Err(MISTYPED),
        }
    }

    fn list<T>(object: &Object, one: impl Fn(&Object) -> Result<T, Raise>) -> Result<Vec<T>, Raise> {
        match object {
            Object::List(list) => list.read(|items| items.iter().map(one).collect()),
            _ => Err(MISTYPED),
        }
    }

    /// The items of a list of ints.
    pub fn ints(object: &Object) -> Result<Vec<i64>, Raise> {
        list(object, int)
    }

    /// The items of a list of floats.
    pub fn floats(object: &Object) -> Result<Vec<f64>, Raise> {
        list(object, float)
    }

    /// Whether one of the operands is an integer, or a list with one, beyond 64 bits.
    #[must_use]
    pub fn any_big(args: &[Object]) -> bool {
        args.iter().any(|arg| match arg {
            Object::Int(Int::Big(_)) => true,
            Object::List(list) => list.read(|items| items.iter().any(|item| matches!(item, Object::Int(Int::Big(_))))),
            _ => false,
        })
    }

    /// An integer clamped to 64 bits.
    pub fn index(object: &Object) -> Result<i64, Raise> {
        match object {
            Object::Int(value) => Ok(value.clamp_i64()),
            other => int(other),
        }
    }

    /// A float.
    pub fn float(object: &Object) -> Result<f64, Raise> {
        match object {
            Object::Float(value) => Ok(*value),
            _ => Err(MISTYPED),
        }
    }

    /// A string.
    pub fn str(object: &Object) -> Result<Str<'_>, Raise> {
        match object {
            Object::Str(text) => Ok(Str::new(text)),
            _ => Err(MISTYPED),
        }
    }

    /// A compiled pattern.
    pub fn pattern(object: &Object) -> Result<&Pattern, Raise> {
        match object {
            Object::Pattern(pattern) => Ok(pattern),
            _ => Err(MISTYPED),
        }
    }

    /// The strings of a list.
    pub fn strs(object: &Object) -> Result<Vec<std::sync::Arc<str>>, Raise> {
        list(object, |item| match item {
            Object::Str(text) => Ok(text.clone()),
            _ => Err(MISTYPED),
        })
    }
}
