//! Abstract values: what the lifter knows of a Python value.

use crate::data::choice::Choice;
use crate::data::tables::Table;
use crate::objects::class::{ClassObj, Method};
use crate::objects::heap::Instance;
use crate::tree::ast::{Comprehension, FunctionDef, Name};
use crate::walk::lifter::Vars;
use exuvia_ir::{ExcKind, Object, Value};
use std::rc::Rc;
use std::sync::Arc;

/// What is known of a value while lifting. Everything but [`Abs::Dyn`] is static: it is
/// known now, and becomes IR only where a run-time value is needed.
#[derive(Clone, Debug)]
pub(crate) enum Abs {
    /// A constant. A list here belongs to the module, and no function changes it.
    Const(Object),
    /// A run-time value.
    Dyn(Value),
    /// A tuple of known length, not all of it constant.
    Tuple(Rc<[Abs]>),
    /// A function written in Python.
    Func(Rc<Closure>),
    /// A method of a receiver.
    Method(Rc<(Abs, Name)>),
    /// A built-in function or a function of a module that is lifted, by the name by which
    /// operations spell it: `len`, `math.sqrt`.
    Builtin(Name),
    /// A module.
    Module(Name),
    /// A class written in Python.
    Class(Rc<ClassObj>),
    /// An object of such a class; what it holds is in the lifter's heap.
    Instance(Rc<Instance>),
    /// A method of such a class with its receiver.
    Bound(Rc<Method>),
    /// What `super()` gives: the classes above one, and the receiver.
    Super(Rc<(Rc<ClassObj>, Abs)>),
    /// An exception class.
    ExcClass(ExcKind),
    /// The class of an exception that was raised, one of several.
    ClassOf(Rc<Abs>),
    /// An exception object that was not raised yet.
    ExcInst(Rc<(ExcKind, Vec<Abs>)>),
    /// Something that can be iterated once.
    Iter(Rc<Iter>),
    /// A list or dict with items that have no run-time form.
    Table(Rc<Table>),
    /// One of several static values.
    OneOf(Rc<Choice>),
    /// A variable before its first assignment.
    Unbound,
    /// A variable whose values on several paths have no common representation; an error
    /// only where it is read.
    Conflict,
}

/// Where the free variables of a function live.
#[derive(Clone, Debug)]
pub(crate) enum Enclosing {
    /// Nowhere: it is defined at the top level of its module.
    Module,
    /// In a frame that is still active, by its depth: it sees later assignments.
    Live(usize),
    /// In a frame that has ended.
    Ended(Rc<Captured>),
}

/// The variables of a frame that has ended.
#[derive(Debug)]
pub(crate) struct Captured {
    /// The depth that it had. Its own functions name it by that.
    pub depth: usize,
    pub vars: Vars,
    pub enclosing: Enclosing,
}

/// A function with what it closes over.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    pub def: Arc<FunctionDef>,
    /// The module whose globals it sees, an index into the lifter's modules.
    pub module: usize,
    pub enclosing: Enclosing,
    /// Whether its results are kept (`functools.lru_cache`).
    pub cached: bool,
    /// Values of the defaults, by parameter name.
    pub defaults: Vec<(Name, Abs)>,
}

/// What tells functions apart while they are unfolded: the statement, and whose variables they see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub def: *const FunctionDef,
    around: Option<Result<usize, *const Captured>>,
}

impl Closure {
    /// Whether a value is the function itself.
    pub fn is_itself(&self, value: &Abs) -> bool {
        matches!(value, Abs::Func(other) if Arc::ptr_eq(&other.def, &self.def))
    }

    pub fn identity(&self) -> Identity {
        let around = match &self.enclosing {
            Enclosing::Module => None,
            Enclosing::Live(depth) => Some(Ok(*depth)),
            Enclosing::Ended(captured) => Some(Err(Rc::as_ptr(captured))),
        };
        Identity { def: Arc::as_ptr(&self.def), around }
    }
}

impl Identity {
    /// That of a function of a module.
    pub fn of_module(def: *const FunctionDef) -> Identity {
        Identity { def, around: None }
    }

    /// That of a function which sees the variables of the frame at that depth.
    pub fn of_frame(def: *const FunctionDef, depth: usize) -> Identity {
        Identity { def, around: Some(Ok(depth)) }
    }
}

/// Something that can be iterated.
#[derive(Debug)]
pub(crate) enum Iter {
    Range {
        start: Abs,
        stop: Abs,
        step: Abs,
    },
    Enumerate {
        inner: Abs,
        start: Abs,
    },
    Zip(Vec<Abs>),
    /// The keys, values or items of a constant dict, in a tuple. Like a range it can be iterated
    /// again.
    View {
        of: ViewOf,
        dict: Object,
        items: Object,
    },
    /// The items of something backwards.
    Reversed {
        of: Abs,
        /// The position of the last one when it was made, of a list, which may change.
        last: Option<Abs>,
    },
    Map {
        func: Abs,
        inner: Abs,
    },
    Filter {
        func: Abs,
        inner: Abs,
    },
    /// A generator expression: its first iterable is evaluated at once, the rest in the
    /// frame around it when it is iterated.
    Generator {
        comp: Arc<Comprehension>,
        first: Abs,
        enclosing: Enclosing,
        module: usize,
    },
    /// What a call of a generator function gives: the function, and what its parameters are.
    Call {
        function: Abs,
        args: Vec<(Name, Abs)>,
    },
}

/// What of a dict a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewOf {
    Keys,
    Values,
    Items,
}

impl Iter {
    /// Whether it can be iterated again.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Iter::Range { .. } | Iter::View { .. })
    }
}

impl Abs {
    /// What a view shows, as a tuple, or the members of a set in order; anything else as it is.
    pub fn shown(&self) -> Abs {
        match self {
            Abs::Const(object @ Object::Set(set)) => {
                Abs::Const(set.in_order().map_or_else(|| object.clone(), Object::list))
            }
            Abs::Iter(iter) => match &**iter {
                Iter::View { items, .. } => Abs::Const(items.clone()),
                _ => self.clone(),
            },
            other => other.clone(),
        }
    }

    /// Whether it is an object of a class of the prelude that has that member.
    pub fn is_of_prelude_with(&self, member: &str) -> bool {
        let Abs::Instance(object) = self else { return false };
        object.class.prelude && ClassObj::find(&object.class, member).is_some()
    }

    pub fn int(value: i64) -> Abs {
        Abs::Const(Object::int(value))
    }

    pub fn str(text: &str) -> Abs {
        Abs::Const(Object::str(text))
    }

    pub fn bool(value: bool) -> Abs {
        Abs::Const(Object::Bool(value))
    }

    pub const NONE: Abs = Abs::Const(Object::None);

    /// A tuple; a constant where all elements are.
    pub fn tuple(items: Vec<Abs>) -> Abs {
        if items.iter().all(|item| matches!(item, Abs::Const(_))) {
            let objects = items.iter().filter_map(|item| item.as_const().cloned()).collect();
            return Abs::Const(Object::tuple(objects));
        }
        Abs::Tuple(items.into())
    }

    pub fn as_const(&self) -> Option<&Object> {
        match self {
            Abs::Const(object) => Some(object),
            _ => None,
        }
    }

    /// The elements of a tuple of known length.
    pub fn tuple_items(&self) -> Option<Vec<Abs>> {
        match self {
            Abs::Tuple(items) => Some(items.to_vec()),
            Abs::Const(Object::Tuple(items)) => Some(items.iter().cloned().map(Abs::Const).collect()),
            _ => None,
        }
    }

    /// Whether both are certainly the same value.
    pub fn same(&self, other: &Abs) -> bool {
        match (self, other) {
            // Two constant lists are the same only by identity.
            (Abs::Const(Object::List(a)), Abs::Const(Object::List(b))) => Arc::ptr_eq(a, b),
            (Abs::Const(a), Abs::Const(b)) => a == b,
            (Abs::Dyn(a), Abs::Dyn(b)) => a == b,
            (Abs::Tuple(a), Abs::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b)),
            (Abs::Func(a), Abs::Func(b)) => Rc::ptr_eq(a, b),
            (Abs::Method(a), Abs::Method(b)) => a.1 == b.1 && a.0.same(&b.0),
            (Abs::Class(a), Abs::Class(b)) => a.is(b),
            (Abs::Instance(a), Abs::Instance(b)) => a.is(b),
            (Abs::Bound(a), Abs::Bound(b)) => Rc::ptr_eq(&a.closure, &b.closure) && a.receiver.same(&b.receiver),
            (Abs::Builtin(a), Abs::Builtin(b)) | (Abs::Module(a), Abs::Module(b)) => a == b,
            (Abs::ExcClass(a), Abs::ExcClass(b)) => a == b,
            (Abs::ClassOf(a), Abs::ClassOf(b)) => a.same(b),
            (Abs::ExcInst(a), Abs::ExcInst(b)) => Rc::ptr_eq(a, b),
            (Abs::Iter(a), Abs::Iter(b)) => Rc::ptr_eq(a, b),
            (Abs::Table(a), Abs::Table(b)) => Rc::ptr_eq(a, b),
            (Abs::OneOf(a), Abs::OneOf(b)) => {
                // Several choices may have one position.
                let alike = |(a, b): (&(i64, Abs), &(i64, Abs))| a.0 == b.0 && a.1.same(&b.1);
                Rc::ptr_eq(a, b) || a.at == b.at && a.of.len() == b.of.len() && a.of.iter().zip(&b.of).all(alike)
            }
            (Abs::Unbound, Abs::Unbound) | (Abs::Conflict, Abs::Conflict) => true,
            _ => false,
        }
    }

    /// The value with `from` replaced by `to`, also within tuples.
    pub fn replace(&self, from: Value, to: &Abs) -> Option<Abs> {
        match self {
            Abs::Dyn(value) if *value == from => Some(to.clone()),
            Abs::ClassOf(exception) => exception.replace(from, to).map(|of| Abs::ClassOf(Rc::new(of))),
            Abs::Tuple(items) => Abs::renewed(items, |item| item.replace(from, to)),
            _ => None,
        }
    }

    /// The tuple of items of which some become others; `None` if none does.
    pub fn renewed(items: &[Abs], new: impl FnMut(&Abs) -> Option<Abs>) -> Option<Abs> {
        let renewed: Vec<Option<Abs>> = items.iter().map(new).collect();
        renewed.iter().any(Option::is_some).then(|| {
            let items = renewed.into_iter().zip(items);
            Abs::tuple(items.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect())
        })
    }
}
