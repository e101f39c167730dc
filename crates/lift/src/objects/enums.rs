//! Enumerations: classes below `enum.Enum` (library reference, module enum; CPython 3.11).
//!
//! A member is an object of the module with `_name_` and `_value_`, so that one of several is a
//! choice (`choice.rs`): an int at run time. What members do is written in the prelude (`enum.py`).
//! Those of an `IntEnum` or of `class H(str, Enum)` are ints or texts besides: as keys, and where an
//! operation reads such a value, they are their values.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::tables::{Table, TableKind};
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::{ClassDef, Expr, ExprKind, Name, StmtKind};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{DictObj, ExcKind, Int, Object, Type};
use std::rc::Rc;

/// What `auto()` gives in the body of such a class.
pub(crate) const AUTO: &str = "enum.auto()";

/// Methods of `str` that give nothing of the text itself, which would be the member, nor of another one.
const METHODS_OF_TEXTS: &[&str] = &[
    "upper",
    "lower",
    "title",
    "capitalize",
    "swapcase",
    "casefold",
    "strip",
    "lstrip",
    "rstrip",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "index",
    "rindex",
    "count",
    "replace",
    "zfill",
    "center",
    "ljust",
    "rjust",
    "encode",
    "removeprefix",
    "removesuffix",
    "isalpha",
    "isdigit",
    "isalnum",
    "isdecimal",
    "isnumeric",
    "isspace",
    "isupper",
    "islower",
    "istitle",
    "isidentifier",
    "isprintable",
    "isascii",
];

/// Methods with which members would be something else.
const REFUSED: &[&str] = &["__post_init__", "__eq__", "__ne__", "__hash__", "__call__", "__doc__"];

/// What a class is asked for a value that none of its members has.
const MISSING: &str = "_missing_";

/// The members of a class.
#[derive(Debug)]
pub(crate) struct Enumeration {
    /// With further names of some.
    names: Vec<(Name, Abs)>,
    /// Each once, in the order of the class, with its value.
    members: Vec<(Abs, Abs)>,
}

impl Enumeration {
    /// The members by their names.
    pub fn by_name(&self) -> Rc<Table> {
        let keys = self.names.iter().map(|(name, _)| Abs::str(name)).collect();
        let items = self.names.iter().map(|(_, member)| member.clone()).collect();
        Rc::new(Table { kind: TableKind::Dict, keys, items, site: None, stands: None })
    }

    /// What iterating over the class gives.
    pub fn all(&self) -> Rc<Table> {
        let items = self.members.iter().map(|(_, member)| member.clone()).collect();
        Rc::new(Table { kind: TableKind::View, keys: Vec::new(), items, site: None, stands: None })
    }

    fn by_value(&self) -> Rc<Table> {
        let keys = self.members.iter().map(|(value, _)| value.clone()).collect();
        Rc::new(Table { kind: TableKind::Dict, keys, items: self.all().items.clone(), site: None, stands: None })
    }
}

/// Whether a class is an enumeration, with members or without.
pub(crate) fn is_enumeration(class: &Rc<ClassObj>) -> bool {
    ClassObj::is_below(class, "Enum")
}

/// Whether the members of a class are ints.
pub(crate) fn is_of_ints(class: &Rc<ClassObj>) -> bool {
    ClassObj::is_below(class, "IntEnum")
}

/// Whether the members of a class are texts.
pub(crate) fn is_of_texts(class: &Rc<ClassObj>) -> bool {
    ClassObj::is_below(class, "TextEnum")
}

/// Whether a value is a member that is an int.
fn is_int_member(abs: &Abs) -> bool {
    matches!(abs, Abs::Instance(object) if object.module.is_some() && is_of_ints(&object.class))
}

/// Whether a value is a member that is a text.
fn is_text_member(abs: &Abs) -> bool {
    matches!(abs, Abs::Instance(object) if object.module.is_some() && is_of_texts(&object.class))
}

/// Whether an operation reads a text there, keeps nothing of it, and says the same of another value beside it.
fn reads_text(spelling: &str, at: usize) -> bool {
    match spelling {
        "a in b" => at == 1,
        "len" | "truth" | "bool" | "ord" | "a[b]" | "a[b:c]" | "a[b:c:d]" => at == 0,
        _ => false,
    }
}

impl Lifter<'_> {
    /// The int that a member is, or that one of several is; `None` of what is no such member.
    pub fn int_of_member(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        self.value_of_member_that(is_int_member, abs)
    }

    /// The text that a member is, in the same way.
    pub fn text_of_member(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        self.value_of_member_that(is_text_member, abs)
    }

    /// The int or the text that a member is, in the same way.
    pub fn plain_member(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        match self.int_of_member(abs)? {
            Some(int) => Ok(Some(int)),
            None => self.text_of_member(abs),
        }
    }

    fn value_of_member_that(&mut self, is: fn(&Abs) -> bool, abs: &Abs) -> Lift<Option<Abs>> {
        let seen = self.seen_of_module(abs);
        match seen.as_ref().unwrap_or(abs) {
            member @ Abs::Instance(object) if is(member) => self.own_attribute(object, "_value_"),
            Abs::OneOf(choice) if choice.of.iter().all(|(_, item)| is(item)) => {
                self.attribute_of_choice(&Rc::clone(choice), &"_value_".into()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The arguments of a method of a text, where none of them is a member.
    pub fn texts_for_method(&mut self, name: &str, args: &[Abs]) -> Lift<Option<Vec<Abs>>> {
        let mut found = None;
        for (at, arg) in args.iter().enumerate() {
            let Some(text) = self.text_of_member(arg)? else {
                if arg.tuple_items().is_some_and(|items| items.iter().any(|item| self.may_be_text_member(item))) {
                    return self.bail(Code::Operands, "members that are texts in a tuple");
                }
                continue;
            };
            if !METHODS_OF_TEXTS.contains(&name) {
                return self.bail(Code::Operands, format!("a member that is a text for {name}"));
            }
            found.get_or_insert_with(|| args.to_vec())[at] = text;
        }
        Ok(found)
    }

    fn may_be_text_member(&self, abs: &Abs) -> bool {
        match abs {
            Abs::OneOf(choice) => choice.of.iter().any(|(_, item)| is_text_member(item)),
            other => is_text_member(other) || self.class_of_module(other).is_some_and(|class| is_of_texts(&class)),
        }
    }

    /// A method of the text that a member is.
    pub fn method_of_text(&mut self, text: Abs, name: &Name) -> Lift<Abs> {
        if METHODS_OF_TEXTS.contains(&&**name) {
            return self.attribute(text, name);
        }
        self.bail(Code::Callee, format!("attribute {name} of a member that is a text"))
    }

    /// The operands with the texts of members where an operation reads those; `None` where it reads none.
    pub fn texts_of_members(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Vec<Abs>>> {
        let mut found = None;
        let are_texts = |me: &mut Self| -> Lift<bool> {
            for arg in args {
                if me.type_of(arg) != Some(Type::Str) && me.text_of_member(arg)?.is_none() {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let both = match spelling {
            "a+b" | "a==b" | "a!=b" | "a<b" | "a<=b" | "a>b" | "a>=b" | "a in b" => are_texts(self)?,
            "a*b" => args.iter().any(|arg| self.type_of(arg) == Some(Type::Int)),
            _ => false,
        };
        for (at, arg) in args.iter().enumerate() {
            if (both || reads_text(spelling, at))
                && let Some(text) = self.text_of_member(arg)?
            {
                found.get_or_insert_with(|| args.to_vec())[at] = text;
            }
        }
        Ok(found)
    }

    /// The base of an enumeration: the class of the prelude or one of a user's below that; `None` if
    /// it is none.
    pub fn enum_base(&mut self, bases: &[Expr]) -> Lift<Option<Rc<ClassObj>>> {
        let Some(last) = bases.last() else { return Ok(None) };
        let named = match &last.kind {
            _ if self.is_of_module(last, "enum", "Enum") => self.prelude_function("enum", "Enum")?,
            _ if self.is_of_module(last, "enum", "IntEnum") => self.prelude_function("enum", "IntEnum")?,
            _ if self.is_of_module(last, "enum", "StrEnum") => self.prelude_function("enum", "StrEnum")?,
            ExprKind::Name(name) => self.lookup(name),
            _ => None,
        };
        match named {
            Some(Abs::Class(class)) if is_enumeration(&class) => {
                let mixed = match bases {
                    [_] => return Ok(Some(class)),
                    [mixed, _] if class.prelude && &*class.name == "Enum" => self.expr(mixed)?,
                    _ => Abs::Unbound,
                };
                let name = match &mixed {
                    Abs::Builtin(name) if &**name == "str" => "TextEnum",
                    Abs::Builtin(name) if &**name == "int" => "MixedInt",
                    _ => return self.bail(Code::Statement, "an enumeration with such bases"),
                };
                match self.prelude_function("enum", name)? {
                    Some(Abs::Class(class)) => Ok(Some(class)),
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// Takes the members out of what the body of an enumeration defines, and binds the class.
    pub fn enumeration(&mut self, def: &ClassDef, mut class: ClassObj, unique: bool) -> Lift<()> {
        // `_generate_next_value_` and its like are asked by the class itself.
        let is_hook =
            |name: &Name| name.starts_with('_') && !name.starts_with("__") && name.ends_with('_') && **name != *MISSING;
        if let Some(name) = class.members.keys().find(|name| REFUSED.contains(&&***name) || is_hook(name)) {
            return self.bail(Code::Statement, format!("an enumeration with {name}"));
        }
        // What members are besides asks for them in other places than these.
        let is_mixed = class.base.as_ref().is_some_and(|base| is_of_ints(base) || is_of_texts(base));
        if let (true, Some(name)) = (is_mixed, class.members.keys().find(|name| name.starts_with("__"))) {
            return self.bail(Code::Statement, format!("an enumeration of ints or texts with {name}"));
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
        let mut values: Vec<(Name, Abs)> = Vec::new();
        for name in written {
            if name.starts_with('_') {
                return self.bail(Code::Statement, format!("an enumeration with {name}"));
            }
            let value = match class.members.remove(&name) {
                Some(Member::Value(value @ Abs::Const(_))) => value,
                Some(Member::Value(Abs::Builtin(auto)))
                    if &*auto == AUTO
                        && class.base.as_ref().is_some_and(|base| ClassObj::is_below(base, "StrEnum")) =>
                {
                    Abs::str(&name.to_lowercase())
                }
                Some(Member::Value(Abs::Builtin(auto))) if &*auto == AUTO => match values.last() {
                    None => Abs::int(1),
                    Some((_, Abs::Const(Object::Int(Int::Small(last))))) if *last < i64::MAX => Abs::int(last + 1),
                    Some(_) => return self.bail(Code::Statement, "auto() behind such a value"),
                },
                Some(Member::Value(value)) if self.is_constant_value(&value) => value,
                _ => return self.bail(Code::Statement, format!("a member {name} that is no constant")),
            };
            if class.base.as_ref().is_some_and(is_of_ints) && !matches!(value, Abs::Const(Object::Int(Int::Small(_)))) {
                return self.bail(Code::Statement, format!("a member {name} of ints with another value"));
            }
            if class.base.as_ref().is_some_and(is_of_texts) && !matches!(value, Abs::Const(Object::Str(_))) {
                return self.bail(Code::Statement, format!("a member {name} of texts with another value"));
            }
            if matches!(&value, Abs::Const(value) if !DictObj::default().insert(value.clone(), Object::None)) {
                return self.bail(Code::Statement, format!("a member {name} with such a value"));
            }
            values.push((name, value));
        }
        if class.base.as_ref().is_some_and(|base| self.world.enums.contains_key(&base.key)) {
            return self.bail(Code::Statement, "a class below an enumeration with members");
        }
        let open = Rc::new(ClassObj { frozen: false, ..class.clone() });
        let initial = ClassObj::find(&open, "__init__");
        class.frozen = true;
        let class = Rc::new(class);
        let mut known = DictObj::default();
        let mut made = Enumeration { names: Vec::new(), members: Vec::new() };
        for (name, value) in values {
            if let Some(at) = self.equal_member(&made, &known, &value)? {
                if unique || initial.is_some() {
                    return self.bail(Code::Statement, "an enumeration with two names of one value");
                }
                let member = made.members[at].1.clone();
                made.names.push((name, member));
                continue;
            }
            let member = self.new_instance(&class);
            let Abs::Instance(object) = &member else { continue };
            if let Some(frame) = self.frames.first_mut() {
                frame.vars.insert(object.cell("_name_"), Abs::str(&name));
                frame.vars.insert(object.cell("_value_"), value.clone());
            }
            if let Some((owner, init)) = &initial {
                // As long as it is made its attributes can be set (Lib/enum.py, `_proto_member`).
                let made = Rc::new(object.open(&open));
                // With the items of its value, or the value.
                let args = value.tuple_items().unwrap_or_else(|| vec![value.clone()]);
                self.initialise(Rc::clone(owner), init.clone(), &Abs::Instance(Rc::clone(&made)), args, Vec::new())?;
                if !self.live {
                    return Ok(());
                }
                if self.own_attribute(&made, "_value_")?.is_none_or(|now| !now.same(&value)) {
                    return self.bail(Code::Statement, "a member that sets its value");
                }
            }
            if let Abs::Const(value) = &value {
                known.insert(value.clone(), Object::int(made.members.len() as i64));
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

    /// Whether a value is made of constants and objects of the module that nothing changes.
    fn is_constant_value(&self, value: &Abs) -> bool {
        match value {
            Abs::Const(value) => DictObj::default().insert(value.clone(), Object::None),
            Abs::Tuple(items) => items.iter().all(|item| self.is_constant_value(item)),
            other => self.is_constant_object(other),
        }
    }

    /// Which of the members has an equal value; those with constants are known.
    fn equal_member(&mut self, made: &Enumeration, known: &DictObj, value: &Abs) -> Lift<Option<usize>> {
        if let Abs::Const(value) = value
            && let Some(Object::Int(at)) = known.get(value)
        {
            return Ok(at.to_i64().and_then(|at| usize::try_from(at).ok()));
        }
        for (at, (known, _)) in made.members.iter().enumerate() {
            if known.as_const().is_some() && value.as_const().is_some() {
                continue;
            }
            match self.apply("a==b", &[known.clone(), value.clone()])? {
                Abs::Const(Object::Bool(false)) => {}
                Abs::Const(Object::Bool(true)) => return Ok(Some(at)),
                _ => return self.bail(Code::Statement, "a member whose value may be that of another"),
            }
        }
        Ok(None)
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
        if found.members.iter().any(|(known, _)| known.as_const().is_none()) {
            return self.bail(Code::Operands, "a member looked up by a value that is no constant");
        }
        let table = found.by_value();
        let at = match self.type_of(value) {
            Some(Type::None) => {
                let none = found.members.iter().position(|(known, _)| known.same(&Abs::NONE));
                Abs::int(none.map_or(-1, |at| at as i64))
            }
            // What has no hash is compared with each.
            Some(Type::List(_) | Type::Dict(..) | Type::Set(_)) => {
                let is_alike = |(known, _): &(Abs, _)| {
                    matches!(known, Abs::Const(Object::List(_) | Object::Dict(_) | Object::Set(_)))
                };
                if found.members.iter().any(is_alike) {
                    return self.bail(Code::Operands, "an enumeration of values without a hash");
                }
                Abs::int(-1)
            }
            _ => self.table_position(&table, value)?,
        };
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let (yes, no) = self.split_missing(&at)?;
        let mut arms = Vec::new();
        self.enter_any(yes)?;
        if self.live {
            let found = match ClassObj::find(class, MISSING).filter(|(owner, _)| !owner.prelude) {
                Some((owner, missing)) => {
                    let missing = self.member(owner, missing, &Abs::Class(Rc::clone(class)))?;
                    let member = self.call_value(&missing, vec![value.clone()], Vec::new())?;
                    self.member_of_missing(class, member, value)?
                }
                None => self.no_member(class, value)?,
            };
            arms.extend(self.state().map(|state| (state, vec![found])));
        }
        self.enter_any(no)?;
        let known = self.pick(&at, crate::data::choice::numbered(&table.items))?;
        arms.extend(self.state().map(|state| (state, vec![known])));
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    /// What `_missing_` returned: a member or None.
    fn member_of_missing(&mut self, class: &Rc<ClassObj>, found: Abs, value: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let found = self.seen(found);
        match &found {
            Abs::OneOf(choice) => {
                self.choose(&Rc::clone(choice), &mut |me, found| me.member_of_missing(class, found, value))
            }
            Abs::Instance(object) if object.class.is(class) => Ok(found),
            found if self.type_of(found) == Some(Type::None) => self.no_member(class, value),
            found if let Some((_, union)) = self.union_operand(std::slice::from_ref(found)) => {
                self.dispatch(union, &mut |me, found| me.member_of_missing(class, found, value))
            }
            _ => self.bail(Code::Operands, "_missing_ that returns something else than a member or None"),
        }
    }

    /// Raises what a value without a member does.
    fn no_member(&mut self, class: &Rc<ClassObj>, value: &Abs) -> Lift<Abs> {
        let shown = self.apply("repr", std::slice::from_ref(value))?;
        let message = self.apply("a+b", &[shown, Abs::str(&format!(" is not a valid {}", class.name))])?;
        self.raise(ExcKind::ValueError, vec![message])?;
        Ok(Abs::Unbound)
    }
}
