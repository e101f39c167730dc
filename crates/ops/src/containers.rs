//! What lists and dicts do that is a call from native code: the rest is core operations.

use crate::cx::{Cx, KernelResult};
use crate::def::OpDef;
use crate::op;
use exuvia_ir::ExcKind::{IndexError, KeyError};
use exuvia_ir::{Object, Raise};

/// The operations of containers.
pub static OPS: &[&OpDef] = &[&equal_ints::DEF, &no_item::DEF, &no_key::DEF];

op! {
    /// Whether two lists have equal elements.
    ///
    /// >>> [1, 2] == [1, 2]
    /// True
    equal_ints = "list.equal_ints" ""
    Read fn (_cx, _x: ints, _y: ints) -> bool { _x == _y }
    big big_equal_ints
}

fn big_equal_ints(_: &mut Cx, args: &[Object]) -> KernelResult<Object> {
    match (&args[0], &args[1]) {
        (Object::List(a), Object::List(b)) => Ok(Object::Bool(a.items() == b.items())),
        _ => Err(Raise::Bailout("an operand is not a list")),
    }
}

op! {
    /// What a list says of an index at which it has no element.
    no_item = "list.no_item" ""
    Pure fn (cx, _index: subscript) -> str fallible [IndexError] {
        Err(cx.raise(IndexError, || "list index out of range".into()))
    }
}

op! {
    /// Raises KeyError for a key that is no object at run time: what it is is CPython's to tell.
    no_key = "dict.no_key" ""
    Pure fn (cx) -> int fallible [KeyError] {
        match cx.wants_message() {
            true => Err(Raise::Bailout("a KeyError with an object")),
            false => Err(Raise::Exception { kind: KeyError, args: Vec::new() }),
        }
    }
}
