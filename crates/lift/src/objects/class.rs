//! Classes written in Python: `class` statements of modules, of users and of the prelude.
//!
//! A class is known while lifting: what it defines never changes, so that every attribute and
//! every method is looked up now. Its objects are on the lifter's heap (`heap.rs`); what
//! operators do with them is in `protocol.rs`.
//!
//! Lifted are single inheritance, methods, properties, static and class methods, values of the
//! class, dataclasses and named tuples (`fields.rs`). A class that does anything else is not lifted,
//! which matters to functions that use it only.

use crate::abs::{Abs, Closure};
use crate::bailout::Code;
use crate::objects::restrict::Restrictions;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ExcKind, Type};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What tells a class from others: its module, or that it is the prelude's, where its statement
/// stands there, and its name.
pub(crate) type ClassKey = (Option<usize>, u32, Name);

/// A class.
#[derive(Clone, Debug)]
pub(crate) struct ClassObj {
    pub name: Name,
    pub key: ClassKey,
    /// The class behind it in the order in which attributes are looked up (`__mro__`), unless that is
    /// `object`: its base. Below a class of several bases that order is one of copies of its own.
    pub base: Option<Rc<ClassObj>>,
    pub members: BTreeMap<Name, Member>,
    /// What the module makes of them once the class is there; copies of the class share it.
    pub late: Rc<RefCell<BTreeMap<Name, Member>>>,
    /// Whether the prelude defines it: it stands for a class of CPython's.
    pub prelude: bool,
    /// Of a class of exceptions the built-in one above it.
    pub exception: Option<ExcKind>,
    /// Whether its objects do not change once they are made.
    pub frozen: bool,
    /// The fields of a dataclass with their defaults.
    pub fields: Vec<(Name, Option<Abs>)>,
    /// What makes the defaults of fields that have one of their own for each object.
    pub factories: BTreeMap<Name, Abs>,
    /// The fields that its methods do without.
    pub left_out: LeftOut,
    /// What it forbids.
    pub restrictions: Restrictions,
}

/// What a class defines.
#[derive(Clone, Debug)]
pub(crate) enum Member {
    /// A value, or a method if it is a function.
    Value(Abs),
    Static(Abs),
    OfClass(Abs),
    Property {
        get: Abs,
        set: Option<Abs>,
    },
    /// `functools.cached_property`: what the object has under that name, once it was asked for.
    Cached(Abs),
}

/// A method with its receiver.
#[derive(Debug)]
pub(crate) struct Method {
    pub closure: Rc<Closure>,
    /// The class that defines it.
    pub owner: Rc<ClassObj>,
    /// An object, or for class methods the class.
    pub receiver: Abs,
}

impl ClassObj {
    /// The class and those above it, nearest first.
    pub fn ancestry(class: &Rc<ClassObj>) -> impl Iterator<Item = &Rc<ClassObj>> {
        std::iter::successors(Some(class), |class| class.base.as_ref())
    }

    /// What a name means in a class: with the class that defines it.
    pub fn find(class: &Rc<ClassObj>, name: &str) -> Option<(Rc<ClassObj>, Member)> {
        ClassObj::ancestry(class).find_map(|one| Some((Rc::clone(one), one.own(name)?)))
    }

    /// What it defines itself under a name.
    fn own(&self, name: &str) -> Option<Member> {
        self.late.borrow().get(name).or_else(|| self.members.get(name)).cloned()
    }

    /// Whether its objects are equal to themselves only, having no methods that say otherwise.
    pub fn lacks_equality(self: &Rc<ClassObj>) -> bool {
        ["__eq__", "__ne__", "__hash__"].iter().all(|name| ClassObj::find(self, name).is_none())
            && !ClassObj::is_named(self)
    }

    /// Whether its objects say how they are iterated.
    pub fn is_iterable(class: &Rc<ClassObj>) -> bool {
        ["__iter__", "__getitem__"].iter().any(|name| ClassObj::find(class, name).is_some())
    }

    /// Whether it is one of the prelude that has no name in CPython, where several classes do its work.
    pub fn stands_for_several(&self) -> bool {
        self.prelude && self.name.starts_with('_')
    }

    /// Whether it is a class or below it.
    pub fn is_subclass(class: &Rc<ClassObj>, of: &Rc<ClassObj>) -> bool {
        ClassObj::ancestry(class).any(|one| one.is(of))
    }

    /// What it defines itself, by name.
    pub fn own_members(&self) -> Vec<(Name, Member)> {
        let late = self.late.borrow();
        let early = self.members.iter().filter(|(name, _)| !late.contains_key(*name));
        early.chain(late.iter()).map(|(name, member)| (name.clone(), member.clone())).collect()
    }

    /// Calls `f` with each value that it holds itself, by name.
    pub fn each_value(&self, f: &mut dyn FnMut(&Name, &Abs)) {
        let late = self.late.borrow();
        let early = self.members.iter().filter(|(name, _)| !late.contains_key(*name));
        for (name, member) in early.chain(late.iter()) {
            if let Member::Value(value) = member {
                f(name, value);
            }
        }
    }

    /// Gives it a value from now on.
    pub fn hold(&self, name: &Name, value: Abs) {
        self.late.borrow_mut().insert(name.clone(), Member::Value(value));
    }

    /// Whether a class is one of the prelude's of that name, or below it.
    pub fn is_below(class: &Rc<ClassObj>, name: &str) -> bool {
        ClassObj::ancestry(class).any(|class| class.prelude && &*class.name == name)
    }

    /// Whether its objects are dicts.
    pub fn is_dict(class: &Rc<ClassObj>) -> bool {
        ClassObj::is_below(class, "dict")
    }

    /// Whether its objects are named tuples.
    pub fn is_named(class: &Rc<ClassObj>) -> bool {
        ClassObj::is_below(class, "tuple") && !ClassObj::is_long_tuple(class)
    }

    /// Whether its objects are tuples whose length is not known.
    pub fn is_long_tuple(class: &ClassObj) -> bool {
        class.prelude && &*class.name == "tuple" && class.members.contains_key("__getpart__")
    }

    /// The names of its fields, its own or those that it inherits.
    pub fn field_names(class: &Rc<ClassObj>) -> Vec<Name> {
        let declared = ClassObj::ancestry(class).find(|class| !class.fields.is_empty());
        declared.map_or_else(Vec::new, |class| class.fields.iter().map(|field| field.0.clone()).collect())
    }

    /// Those of them that `__init__` takes, which patterns go by.
    pub fn field_names_of_init(class: &Rc<ClassObj>) -> Vec<Name> {
        let mut names = ClassObj::field_names(class);
        if let Some(declared) = ClassObj::ancestry(class).find(|class| !class.fields.is_empty()) {
            names.retain(|name| !declared.left_out.init.contains(name) && !declared.left_out.keywords);
        }
        names
    }

    /// Whether it is a dataclass.
    pub fn is_dataclass(class: &Rc<ClassObj>) -> bool {
        !class.fields.is_empty() && !ClassObj::is_named(class)
    }

    /// Whether both are one class; one may be of an earlier attempt.
    pub fn is(&self, other: &ClassObj) -> bool {
        self.key == other.key
    }
}

/// Fields of a dataclass that methods do without.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOut {
    pub repr: BTreeSet<Name>,
    pub compare: BTreeSet<Name>,
    pub init: BTreeSet<Name>,
    /// Whether `__init__` takes its fields as keywords only.
    pub keywords: bool,
}

impl LeftOut {
    /// Adds those of a class above, but for the fields that a class has of its own.
    pub fn inherit(&mut self, base: &LeftOut, own: &[Name]) {
        for (all, above) in
            [(&mut self.repr, &base.repr), (&mut self.compare, &base.compare), (&mut self.init, &base.init)]
        {
            all.extend(above.iter().filter(|name| !own.contains(name)).cloned());
        }
    }
}

impl Lifter<'_> {
    /// `C(…)`.
    pub fn instantiate(&mut self, class: &Rc<ClassObj>, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        if let Some(flags) = self.flags_of(class) {
            return match (&args[..], &named[..]) {
                ([value], []) => self.flag_of_value(class, &flags, value),
                _ => self.bail(Code::Arguments, "flags called with other arguments than a value"),
            };
        }
        if let Some(found) = self.enum_of(class) {
            return match (&args[..], &named[..]) {
                ([value], []) => self.member_of_value(class, &found, value),
                _ => self.bail(Code::Arguments, "an enumeration called with other arguments than a value"),
            };
        }
        if crate::objects::enums::is_enumeration(class) {
            return self.bail(Code::Callee, "an enumeration without members");
        }
        if let (true, Some((_, Member::Static(make)))) = (class.prelude, ClassObj::find(class, "_make")) {
            return self.call_value(&make, args, named);
        }
        // `object.__new__` refuses abstract classes, and no other.
        let is_of_object = class.exception.is_none() && !ClassObj::is_dict(class);
        if is_of_object && !self.refuse_abstract(class)? {
            return Ok(Abs::Unbound);
        }
        if class.exception == Some(ExcKind::SyntaxError)
            && (args.len() != 1 || ClassObj::find(class, "__init__").is_some())
        {
            return self.bail(Code::Callee, "a SyntaxError of more than a message");
        }
        if let Some(make) = self.constructor(class) {
            let vars = self.bind(&make, args, named)?;
            return self.recursion(&make, &vars);
        }
        let object = self.new_instance(class);
        if let Abs::Instance(made) = &object {
            self.take_defaults(made);
        }
        if ClassObj::is_dict(class) && !class.prelude {
            self.make_dict(&object)?;
        }
        if let (Some(_), Abs::Instance(made)) = (class.exception, &object) {
            // `BaseException.__new__` keeps what it is given.
            self.set_arguments(made, &args)?;
        }
        match ClassObj::find(class, "__init__") {
            Some((owner, init)) => self.initialise(owner, init, &object, args, named)?,
            None if class.exception.is_some() && named.is_empty() => {}
            None if class.exception.is_some() => {
                return self.bail(Code::Arguments, "keyword arguments of an exception");
            }
            None if !args.is_empty() || !named.is_empty() => {
                return self.raise_message(ExcKind::TypeError, &format!("{}() takes no arguments", class.name));
            }
            None => {}
        }
        Ok(if self.live { object } else { Abs::Unbound })
    }

    /// What `dict.__new__` does for an object of a class below: it is empty, whatever its `__init__` does.
    fn make_dict(&mut self, object: &Abs) -> Lift<()> {
        if let Some(Abs::Class(dict)) = self.prelude_function("collections", "dict")?
            && let Some((owner, init)) = ClassObj::find(&dict, "__init__")
        {
            self.initialise(owner, init, object, Vec::new(), Vec::new())?;
        }
        Ok(())
    }

    /// Gives a new object what its class holds for those that set no other value.
    fn take_defaults(&mut self, object: &crate::objects::heap::Instance) {
        let is_of_it = |(key, _): &&(ClassKey, Name)| ClassObj::ancestry(&object.class).any(|class| class.key == *key);
        let held: Vec<(Name, Abs)> = (self.world.defaults.iter().filter(is_of_it))
            .filter_map(|(_, name)| match ClassObj::find(&object.class, name) {
                Some((_, Member::Value(value @ Abs::Const(_)))) => Some((object.cell(name), value)),
                _ => None,
            })
            .collect();
        if let Some(frame) = self.frames.first_mut().filter(|_| object.module.is_none()) {
            frame.vars.extend(held);
        }
    }

    /// Calls the `__init__` of an object that a class has.
    pub fn initialise(
        &mut self,
        owner: Rc<ClassObj>,
        init: Member,
        object: &Abs,
        args: Vec<Abs>,
        named: Vec<(Name, Abs)>,
    ) -> Lift<()> {
        let Member::Value(init @ Abs::Func(_)) = init else {
            return self.bail(Code::Callee, "__init__ is no function");
        };
        let mut all = vec![object.clone()];
        all.extend(args);
        self.next_owner = Some((owner, object.clone()));
        let result = self.call_value(&init, all, named)?;
        if self.live && self.type_of(&result) != Some(Type::None) {
            return self.bail(Code::Callee, "__init__ returns a value");
        }
        Ok(())
    }

    /// What a member of a class is when it is read from `receiver`, an object or a class.
    pub fn member(&mut self, owner: Rc<ClassObj>, member: Member, receiver: &Abs) -> Lift<Abs> {
        let class = match receiver {
            Abs::Instance(object) => Some(Rc::clone(&object.class)),
            _ => None,
        };
        match (member, class) {
            (Member::Value(Abs::Func(closure)), Some(_)) => {
                Ok(Abs::Bound(Rc::new(Method { closure, owner, receiver: receiver.clone() })))
            }
            (Member::Value(value) | Member::Static(value), _) => Ok(value),
            (Member::OfClass(Abs::Func(closure)), class) => {
                let receiver = class.map_or_else(|| receiver.clone(), Abs::Class);
                Ok(Abs::Bound(Rc::new(Method { closure, owner, receiver })))
            }
            (Member::Property { get: Abs::Func(closure), .. }, Some(_)) => {
                self.next_owner = Some((owner, receiver.clone()));
                self.call_value(&Abs::Func(closure), vec![receiver.clone()], Vec::new())
            }
            _ => self.bail(Code::Callee, "such an attribute of a class"),
        }
    }

    /// `C.name`.
    pub fn class_attribute(&mut self, class: &Rc<ClassObj>, name: &Name) -> Lift<Abs> {
        if let Some(member) = self.member_named(class, name) {
            return Ok(member);
        }
        if let Some(flag) = self.flag_named(class, name) {
            return Ok(flag);
        }
        if &**name == "__members__"
            && let Some(found) = self.enum_of(class)
        {
            return Ok(Abs::Table(found.by_name()));
        }
        if crate::objects::enums::is_enumeration(class) && name.starts_with('_') {
            return self.bail(Code::Callee, format!("attribute {name} of an enumeration"));
        }
        match ClassObj::find(class, name) {
            Some((owner, member)) => self.member(owner, member, &Abs::Class(Rc::clone(class))),
            None if &**name == "__name__" => Ok(Abs::str(&class.name)),
            // That of a built-in exception, as a function of the object and its arguments.
            None if let ("__init__", Some(kind)) = (&**name, class.exception) => {
                Ok(Abs::Builtin(format!("{}.__init__", kind.name()).into()))
            }
            None if name.starts_with("__") => self.bail(Code::Callee, format!("attribute {name} of a class")),
            None if ClassObj::is_named(class) => {
                self.bail(Code::Callee, format!("attribute {name} of a class of named tuples"))
            }
            None if self.enum_of(class).is_some() => self.raise_message(ExcKind::AttributeError, name),
            None if class.prelude
                && let Some(value) = self.prelude_function("datetime", &format!("_{}_{name}", class.name))? =>
            {
                self.call_value(&value, Vec::new(), Vec::new())
            }
            // The prelude has not all that CPython's has.
            None if ClassObj::ancestry(class).any(|class| class.prelude) => {
                self.bail(Code::Callee, format!("attribute {name} of {}", crate::objects::heap::of_kind(&class.name)))
            }
            None => {
                let message = format!("type object '{}' has no attribute '{name}'", class.name);
                self.raise_message(ExcKind::AttributeError, &message)
            }
        }
    }

    /// `super()`.
    pub fn super_(&mut self) -> Lift<Abs> {
        match self.frames.get(self.current).and_then(|frame| frame.owner.clone()) {
            // It is about what the first parameter holds now.
            Some(owner) if self.frames[self.current].vars.values().any(|value| value.same(&owner.1)) => {
                Ok(Abs::Super(Rc::new(owner)))
            }
            Some(_) => self.bail(Code::Callee, "super() where the first parameter was assigned"),
            None => self.bail(Code::Callee, "super() outside of a method"),
        }
    }

    /// `super().name`.
    pub fn super_attribute(&mut self, class: &ClassObj, receiver: &Abs, name: &Name) -> Lift<Abs> {
        let found = class.base.as_ref().and_then(|base| ClassObj::find(base, name));
        match found {
            Some((owner, member)) => self.member(owner, member, receiver),
            // That of `object`, which does nothing.
            None if &**name == "__init__" && class.exception.is_none() => Ok(Abs::Builtin("object.__init__".into())),
            None if &**name == "__init_subclass__" => Ok(Abs::Builtin("object.__init_subclass__".into())),
            None if matches!(&**name, "__init__" | "__str__" | "__repr__") && class.exception.is_some() => {
                Ok(Abs::Method(Rc::new((receiver.clone(), name.clone()))))
            }
            None => self.bail(Code::Callee, format!("super().{name}")),
        }
    }
}

impl ClassObj {
    pub fn ancestry_of(class: &ClassObj, name: &str) -> bool {
        class.own(name).is_some() || class.base.as_ref().is_some_and(|base| ClassObj::find(base, name).is_some())
    }
}
