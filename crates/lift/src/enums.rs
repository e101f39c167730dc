//! Enumerations: classes below `enum.Enum` (library reference, module enum; CPython 3.11).
//!
//! A member is an object of the module with `_name_` and `_value_`, so that one of several is a
//! [`Choice`]: an int at run time. What members do is written in the prelude (`enum.py`); members
//! of `IntEnum`, `StrEnum` and of classes that are an int or a str besides do what their values do.

use crate::abs::Abs;
use crate::ast::{ClassDef, Expr, ExprKind, Name, StmtKind};
use crate::bailout::Code;
use crate::choice::{Choice, Table, TableKind};
use crate::class::{ClassObj, Member};
use crate::lifter::{Lift, Lifter};
use exuvia_ir::{DictObj, ExcKind, Int, Object};
use std::rc::Rc;

/// What `auto()` gives in the body of such a class.
pub(crate) const AUTO: &str = "enum.auto()";

/// Methods with which members would be something else.
const REFUSED: &[&str] = &["__init__", "__post_init__", "__eq__", "__ne__", "__hash__", "__call__", "__doc__"];

/// The members of a class.
#[derive(Debug)]
pub(crate) struct Enumeration {
    /// With further names of some.
    names: Vec<(Name, Abs)>,
    /// Each once, in the order of the class, with its value.
    members: Vec<(Object, Abs)>,
}

impl Enumeration {
    /// The members by their names.
    pub fn by_name(&self) -> Rc<Table> {
        let keys = self.names.iter().map(|(name, _)| Abs::str(name)).collect();
        let items = self.names.iter().map(|(_, member)| member.clone()).collect();
        Rc::new(Table { kind: TableKind::Dict, keys, items })
    }

    /// What iterating over the class gives.
    pub fn all(&self) -> Rc<Table> {
        let items = self.members.iter().map(|(_, member)| member.clone()).collect();
        Rc::new(Table { kind: TableKind::View, keys: Vec::new(), items })
    }

    fn by_value(&self) -> Rc<Table> {
        let keys = self.members.iter().map(|(value, _)| Abs::Const(value.clone())).collect();
        Rc::new(Table { kind: TableKind::Dict, keys, items: self.all().items.clone() })
    }
}

/// Whether a class is below one of the prelude's of that name.
fn is_below(class: &Rc<ClassObj>, name: &str) -> bool {
    ClassObj::ancestry(class).any(|class| class.prelude && &*class.name == name)
}

/// Whether members of a class are ints or texts besides.
pub(crate) fn is_mixed(class: &Rc<ClassObj>) -> bool {
    is_below(class, "_Mixed")
}

/// Whether a class is an enumeration, with members or without.
pub(crate) fn is_enumeration(class: &Rc<ClassObj>) -> bool {
    is_below(class, "Enum")
}

impl Lifter<'_> {
    /// The bases of an enumeration: the class of the prelude or of a user, and what its members are
    /// besides; `None` if it is none.
    pub fn enum_bases(&mut self, bases: &[Expr]) -> Lift<Option<(Rc<ClassObj>, Option<&'static str>)>> {
        let class_of = |me: &Self, expr: &Expr| match &expr.kind {
            ExprKind::Name(name) => match me.lookup(name) {
                Some(Abs::Class(class)) if is_below(&class, "Enum") => Some(class),
                _ => None,
            },
            _ => None,
        };
        // `enum.Enum`.
        let dotted = |me: &mut Self, expr: &Expr| -> Lift<Option<Rc<ClassObj>>> {
            for name in ["Enum", "IntEnum", "StrEnum"] {
                if me.is_of_module(expr, "enum", name)
                    && let Some(Abs::Class(class)) = me.prelude_function("enum", name)?
                {
                    return Ok(Some(class));
                }
            }
            Ok(None)
        };
        let Some(last) = bases.last() else { return Ok(None) };
        let Some(base) = class_of(self, last).map_or_else(|| dotted(self, last), |class| Ok(Some(class)))? else {
            return Ok(None);
        };
        let mixed = |expr: &Expr, name: &'static str| {
            matches!(&expr.kind, ExprKind::Name(found) if &**found == name && self.lookup(found).is_none())
                .then_some(name)
        };
        match bases {
            [_] => {
                let own = if is_below(&base, "IntEnum") { Some("int") } else { None };
                let own = if is_below(&base, "StrEnum") { Some("str") } else { own };
                Ok(Some((Rc::clone(&base), own.or(base.mixin))))
            }
            [first, _] if base.prelude && &*base.name == "Enum" => {
                let mixin = mixed(first, "int").or_else(|| mixed(first, "str"));
                match (mixin, self.prelude_function("enum", "_Mixed")?) {
                    (Some(mixin), Some(Abs::Class(base))) => Ok(Some((base, Some(mixin)))),
                    _ => self.bail(Code::Statement, "an enumeration with several bases"),
                }
            }
            _ => self.bail(Code::Statement, "an enumeration with several bases"),
        }
    }

    /// Takes the members out of what the body of an enumeration defines, and binds the class.
    pub fn enumeration(&mut self, def: &ClassDef, mut class: ClassObj, unique: bool) -> Lift<()> {
        if let Some(name) = class.members.keys().find(|name| REFUSED.contains(&&***name)) {
            return self.bail(Code::Statement, format!("an enumeration with {name}"));
        }
        let mut written: Vec<Name> = Vec::new();
        for stmt in &def.body {
            if let StmtKind::Assign { targets, .. } = &stmt.kind {
                for target in targets {
                    match &target.kind {
                        ExprKind::Name(name) if !written.contains(name) => written.push(name.clone()),
                        _ => return self.bail(Code::Statement, "an enumeration that assigns a name twice"),
                    }
                }
            }
        }
        let mut values: Vec<(Name, Object)> = Vec::new();
        for name in written {
            if name.starts_with('_') {
                return self.bail(Code::Statement, format!("an enumeration with {name}"));
            }
            let value = match class.members.remove(&name) {
                Some(Member::Value(Abs::Const(value))) => value,
                Some(Member::Value(Abs::Builtin(auto))) if &*auto == AUTO => match class.mixin {
                    Some("str") if class.base.as_ref().is_some_and(|base| is_below(base, "StrEnum")) => {
                        Object::str(&name.to_lowercase())
                    }
                    Some("str") => return self.bail(Code::Statement, "auto() of a text"),
                    _ => match values.last() {
                        None => Object::int(1),
                        Some((_, Object::Int(Int::Small(last)))) if *last < i64::MAX => Object::int(last + 1),
                        Some(_) => return self.bail(Code::Statement, "auto() behind such a value"),
                    },
                },
                _ => return self.bail(Code::Statement, format!("a member {name} that is no constant")),
            };
            let fits = match (class.mixin, &value) {
                (None, value) => DictObj::default().insert(value.clone(), Object::None),
                (Some("int"), value) => matches!(value, Object::Int(_)),
                (Some(_), value) => matches!(value, Object::Str(_)),
            };
            if !fits {
                return self.bail(Code::Statement, format!("a member {name} with such a value"));
            }
            values.push((name, value));
        }
        if values.is_empty() && (class.mixin.is_some() || class.base.as_ref().is_some_and(|base| !base.prelude)) {
            return self.bail(Code::Statement, "an enumeration without members");
        }
        if class.base.as_ref().is_some_and(|base| self.world.enums.contains_key(&base.key)) {
            return self.bail(Code::Statement, "a class below an enumeration with members");
        }
        class.frozen = true;
        let class = Rc::new(class);
        let mut known = DictObj::default();
        let mut made = Enumeration { names: Vec::new(), members: Vec::new() };
        for (name, value) in values {
            if let Some(at) = known.position(&value) {
                if unique {
                    return self.bail(Code::Statement, "an enumeration with two names of one value");
                }
                let member = made.members[at].1.clone();
                made.names.push((name, member));
                continue;
            }
            known.insert(value.clone(), Object::None);
            let member = self.new_instance(&class);
            if let (Abs::Instance(object), Some(frame)) = (&member, self.frames.first_mut()) {
                frame.vars.insert(object.cell("_name_"), Abs::str(&name));
                frame.vars.insert(object.cell("_value_"), Abs::Const(value.clone()));
            }
            made.names.push((name, member.clone()));
            made.members.push((value, member));
        }
        if !made.members.is_empty() {
            self.world.enums.insert(class.key.clone(), Rc::new(made));
        }
        self.bind_name(&def.name, Abs::Class(class))?;
        Ok(())
    }

    /// The members of an enumeration.
    pub fn enum_of(&self, class: &ClassObj) -> Option<Rc<Enumeration>> {
        self.world.enums.get(&class.key).cloned()
    }

    /// A class that is iterated, or asked for its length: its members.
    pub fn members_of(&self, abs: &Abs) -> Option<Rc<Table>> {
        match abs {
            Abs::Class(class) => self.enum_of(class).map(|found| found.all()),
            _ => None,
        }
    }

    /// `Class.name` of a member.
    pub fn member_named(&self, class: &ClassObj, name: &str) -> Option<Abs> {
        let found = self.enum_of(class)?;
        found.names.iter().find(|(known, _)| **known == *name).map(|(_, member)| member.clone())
    }

    /// `Class(value)`.
    pub fn member_of_value(&mut self, class: &Rc<ClassObj>, found: &Enumeration, value: &Abs) -> Lift<Abs> {
        let is_member = |abs: &Abs| matches!(abs, Abs::Instance(object) if object.class.is(class));
        match value {
            Abs::OneOf(choice) if choice.of.iter().all(|(_, item)| is_member(item)) => return Ok(value.clone()),
            Abs::OneOf(choice) => {
                return self.choose(&Rc::clone(choice), &mut |me, value| me.member_of_value(class, found, &value));
            }
            value if is_member(value) => return Ok(value.clone()),
            Abs::Const(_) | Abs::Dyn(_) => {}
            _ => return self.bail(Code::Operands, "an enumeration of such a value"),
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(union, &mut |me, narrowed| me.member_of_value(class, found, &narrowed));
        }
        let table = found.by_value();
        let at = match self.type_of(value) {
            Some(exuvia_ir::Type::None) => {
                let none = found.members.iter().position(|(known, _)| *known == Object::None);
                Abs::int(none.map_or(-1, |at| at as i64))
            }
            _ => self.table_position(&table, value)?,
        };
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let missing = self.apply("a<b", &[at.clone(), Abs::int(0)])?;
        let (yes, no) = self.split_value(&missing)?;
        self.enter_any(yes)?;
        if self.live {
            let shown = self.apply("repr", std::slice::from_ref(value))?;
            let message = self.apply("a+b", &[shown, Abs::str(&format!(" is not a valid {}", class.name))])?;
            self.raise(ExcKind::ValueError, vec![message])?;
        }
        self.enter_any(no)?;
        self.pick(&at, crate::choice::numbered(&table.items))
    }

    /// The value of a member that is an int or a text besides.
    pub fn mixed_value(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        match abs {
            Abs::Instance(object) if is_mixed(&object.class) => self.own_attribute(object, "_value_"),
            _ => Ok(None),
        }
    }

    /// The values of members between which one is chosen, if all are ints or texts besides and no
    /// method of the user's stands in the way.
    pub fn mixed_values(&mut self, choice: &Choice) -> Lift<Option<Abs>> {
        let mut values = Vec::new();
        for (position, item) in &choice.of {
            // A user's own operators come before those of the value.
            if let Abs::Instance(object) = item
                && ClassObj::ancestry(&object.class)
                    .any(|class| !class.prelude && class.members.keys().any(|name| name.starts_with("__")))
            {
                return Ok(None);
            }
            match self.mixed_value(item)? {
                Some(value) => values.push((*position, value)),
                None => return Ok(None),
            }
        }
        self.pick(&Abs::Dyn(choice.at), values).map(Some)
    }
}
