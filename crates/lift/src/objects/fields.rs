//! Classes of fields: `dataclasses.dataclass`, `typing.NamedTuple` and `collections.namedtuple`. Their
//! methods are made as text, as CPython's own are.

use crate::abs::{Abs, Closure, Enclosing};
use crate::bailout::Code;
use crate::calls::intrinsic::MISSING;
use crate::objects::class::{ClassObj, LeftOut, Member};
use crate::objects::heap::Instance;
use crate::objects::restrict::Restrictions;
use crate::tree::ast::{Expr, ExprKind, FunctionDef, Name, StmtKind};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Object, Type};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// What a named tuple may not define.
const NAMED: &[&str] = &[
    "__init__",
    "__slots__",
    "_fields",
    "_field_defaults",
    "_field_types",
    "_make",
    "_replace",
    "_asdict",
    "_source",
    "_astuple",
];

/// What `dataclasses.field` says of a field.
pub(crate) struct FieldOf {
    pub default: Option<FieldDefault>,
    /// Whether the texts of objects show it.
    pub repr: bool,
    /// Whether comparisons and hashes look at it.
    pub compare: bool,
    /// Whether `__init__` takes it.
    pub init: bool,
}

/// What a field is that is not given.
pub(crate) enum FieldDefault {
    Value(Abs),
    Factory(Abs),
}

/// What `dataclass` was asked for.
pub(crate) struct Dataclass {
    eq: bool,
    order: bool,
    repr: bool,
    init: bool,
    frozen: bool,
    slots: bool,
    kw_only: bool,
    pub unsafe_hash: bool,
}

impl Lifter<'_> {
    /// What `dataclasses.field(…)` says of a field, if that is called.
    pub fn field_call(&mut self, value: &Expr) -> Lift<Option<FieldOf>> {
        let ExprKind::Call { func, args, keywords } = &value.kind else { return Ok(None) };
        if !self.is_of_module(func, "dataclasses", "field") {
            return Ok(None);
        }
        let mut field = FieldOf { default: None, repr: true, compare: true, init: true };
        for (name, value) in keywords {
            match (name.as_deref(), &value.kind) {
                (Some("default" | "default_factory"), _) if field.default.is_some() => {
                    return self.bail(Code::Statement, "a field of a dataclass with two defaults");
                }
                (Some("default"), _) => field.default = Some(FieldDefault::Value(self.expr(value)?)),
                (Some("default_factory"), _) => field.default = Some(FieldDefault::Factory(self.expr(value)?)),
                (Some("repr"), ExprKind::Const(Object::Bool(is_on))) => field.repr = *is_on,
                (Some("init"), ExprKind::Const(Object::Bool(is_on))) => field.init = *is_on,
                (Some("compare"), ExprKind::Const(Object::Bool(is_on))) => field.compare = *is_on,
                _ => return self.bail(Code::Statement, "a field of a dataclass with such options"),
            }
        }
        if args.is_empty() {
            Ok(Some(field))
        } else {
            self.bail(Code::Statement, "a field of a dataclass with such options")
        }
    }

    /// Whether an expression is a name of a module.
    pub fn is_of_module(&self, expr: &Expr, of: &str, wanted: &str) -> bool {
        let is = |name: &Name, module: &str| matches!(self.lookup(name), Some(Abs::Module(found)) if *found == *module);
        match &expr.kind {
            ExprKind::Name(name) => is(name, &format!("{of}.{wanted}")),
            ExprKind::Attribute { value, name } => {
                matches!(&value.kind, ExprKind::Name(module) if is(module, of)) && **name == *wanted
            }
            _ => false,
        }
    }

    /// The default of a field that its factory makes for an object.
    pub fn made_default(&mut self, class: &Rc<ClassObj>, name: &str) -> Lift<Abs> {
        match ClassObj::ancestry(class).find_map(|class| class.factories.get(name).cloned()) {
            Some(factory) => self.call_value(&factory, Vec::new(), Vec::new()),
            None => self.bail(Code::Callee, format!("the default of {name}")),
        }
    }

    /// The decorators of a class: none, or `dataclass`.
    pub fn class_decorators(&mut self, decorators: &[Expr]) -> Lift<Option<Dataclass>> {
        let [decorator] = decorators else {
            return match decorators {
                [] => Ok(None),
                _ => self.bail(Code::Statement, "a class that is decorated twice"),
            };
        };
        let mut made = Dataclass {
            eq: true,
            order: false,
            repr: true,
            init: true,
            frozen: false,
            slots: false,
            kw_only: false,
            unsafe_hash: false,
        };
        let (callee, keywords) = match &decorator.kind {
            ExprKind::Call { func, args, keywords } if args.is_empty() => (&**func, keywords.as_slice()),
            _ => (decorator, [].as_slice()),
        };
        if !self.is_of_module(callee, "dataclasses", "dataclass") {
            return self.bail(Code::Statement, "a class that is decorated");
        }
        for (name, value) in keywords {
            let (Some(name), ExprKind::Const(Object::Bool(value))) = (name, &value.kind) else {
                return self.bail(Code::Statement, "a dataclass with such an option");
            };
            match &**name {
                "eq" => made.eq = *value,
                "order" => made.order = *value,
                "repr" => made.repr = *value,
                "init" => made.init = *value,
                "frozen" => made.frozen = *value,
                "slots" => made.slots = *value,
                "kw_only" => made.kw_only = *value,
                "unsafe_hash" => made.unsafe_hash = *value,
                other => return self.bail(Code::Statement, format!("a dataclass with {other}")),
            }
        }
        if made.slots && !made.init {
            return self.bail(Code::Statement, "a dataclass with slots and without init");
        }
        if made.order && !made.eq {
            return self.bail(Code::Statement, "a dataclass with order and without eq");
        }
        Ok(Some(made))
    }

    /// What `dataclass` adds to a class (library reference, module dataclasses).
    pub fn dataclass(&mut self, class: &mut ClassObj, asked: &Dataclass, own: &[Name], module: usize) -> Lift<()> {
        let mut fields: Vec<(Name, Option<Abs>)> = Vec::new();
        if let Some(base) = &class.base {
            fields.extend(base.fields.iter().cloned());
            class.left_out.inherit(&base.left_out, own);
        }
        for name in own {
            let default = match class.members.get(name) {
                _ if class.factories.contains_key(name) => Some(Abs::Builtin(MISSING.into())),
                None => None,
                Some(Member::Value(value @ Abs::Const(object))) => {
                    let is_mutable = match object {
                        Object::List(_) | Object::Dict(_) => true,
                        Object::Set(set) => !set.frozen,
                        _ => false,
                    };
                    if is_mutable {
                        return self
                            .bail(Code::Statement, format!("a dataclass whose field {name} has a mutable default"));
                    }
                    Some(value.clone())
                }
                Some(Member::Value(value)) if self.is_constant_object(value) => Some(value.clone()),
                // One that has a hash; CPython refuses others.
                Some(Member::Value(value @ Abs::Instance(object)))
                    if !object.class.prelude && (object.class.frozen || object.class.lacks_equality()) =>
                {
                    Some(value.clone())
                }
                Some(_) => {
                    let what = format!("a dataclass whose field {name} has a default that is no constant");
                    return self.bail(Code::Statement, what);
                }
            };
            match fields.iter_mut().find(|field| field.0 == *name) {
                Some(field) => field.1 = default,
                None => fields.push((name.clone(), default)),
            }
        }
        let ordered = ["__lt__", "__le__", "__gt__", "__ge__"];
        if asked.order && ordered.iter().any(|method| class.members.contains_key(*method)) {
            return self.bail(Code::Statement, "a dataclass with order that defines an order");
        }
        if class.base.as_ref().is_some_and(|base| !base.fields.is_empty() && base.frozen != asked.frozen) {
            return self.bail(Code::Statement, "a frozen dataclass below one that is not, or the other way");
        }
        let taken: Vec<_> = fields.iter().filter(|field| !class.left_out.init.contains(&field.0)).collect();
        let optional = taken.iter().position(|field| field.1.is_some()).unwrap_or(taken.len());
        if !asked.kw_only && taken[optional..].iter().any(|field| field.1.is_none()) {
            return self.bail(Code::Statement, "a dataclass with a field without default behind one with");
        }
        if class.base.as_ref().is_some_and(|base| !base.fields.is_empty() && base.left_out.keywords != asked.kw_only) {
            return self.bail(Code::Statement, "a dataclass with kw_only below one without, or the other way");
        }
        class.left_out.keywords = asked.kw_only;
        let names: Vec<&Name> = fields.iter().map(|field| &field.0).collect();
        if names.iter().any(|name| name.starts_with("__")) {
            return self.bail(Code::Statement, "a dataclass with a field of such a name");
        }
        let has_post = ClassObj::ancestry_of(class, "__post_init__");
        let made: Vec<&Name> = fields
            .iter()
            .filter(|field| field.1.as_ref().is_some_and(|value| value.same(&Abs::Builtin(MISSING.into()))))
            .map(|field| &field.0)
            .collect();
        let text = dataclass_text(class, asked, &names, &made, has_post);
        class.frozen = asked.frozen;
        self.add_made(class, &text, fields, module)?;
        if asked.slots {
            if class.restrictions.slots.is_some() {
                return self.bail(Code::Statement, "a dataclass with slots that has __slots__");
            }
            // The defaults are those of `__init__` alone.
            own.iter().for_each(|name| drop(class.members.remove(name)));
            class.restrictions.slots = Some(own.to_vec());
        }
        Ok(())
    }

    /// Adds methods that are made as text to a class of those fields.
    fn add_made(
        &mut self,
        class: &mut ClassObj,
        text: &str,
        fields: Vec<(Name, Option<Abs>)>,
        module: usize,
    ) -> Lift<()> {
        let Ok(parsed) = crate::tree::parse::parse_source(text, &[]) else {
            return self.bail(Code::Statement, "a class with such fields");
        };
        for stmt in &parsed.module.body {
            let StmtKind::FunctionDef(def) = &stmt.kind else { continue };
            let defaults = match &*def.name {
                "__init__" => fields.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect(),
                "_replace" => fields.iter().map(|(name, _)| (name.clone(), Abs::Builtin(MISSING.into()))).collect(),
                _ => Vec::new(),
            };
            // The body has no places of its own: errors are shown where it is called.
            let closure =
                Closure { def: Arc::clone(def), module, enclosing: Enclosing::Module, cached: false, defaults };
            self.world.made.push(Arc::clone(def));
            class.members.insert(def.name.clone(), Member::Value(Abs::Func(Rc::new(closure))));
        }
        class.fields = fields;
        Ok(())
    }

    /// The class of the prelude that stands for `tuple` above named tuples.
    pub fn tuple_class(&mut self) -> Lift<Rc<ClassObj>> {
        match self.prelude_function("typing", "tuple")? {
            Some(Abs::Class(class)) => Ok(class),
            _ => self.bail(Code::Import, "the prelude of typing"),
        }
    }

    /// What `typing.NamedTuple` adds to a class of those fields (library reference, collections.namedtuple).
    pub fn named_tuple(&mut self, class: &mut ClassObj, own: &[Name], module: usize) -> Lift<()> {
        let mut fields: Vec<(Name, Option<Abs>)> = Vec::new();
        for name in own {
            let default = match class.members.remove(name) {
                None => None,
                Some(Member::Value(Abs::Const(Object::List(_) | Object::Dict(_) | Object::Set(_)))) => {
                    return self
                        .bail(Code::Statement, format!("a named tuple whose field {name} has a mutable default"));
                }
                Some(Member::Value(value @ Abs::Const(_))) => Some(value),
                Some(Member::Value(value)) if self.is_constant_object(&value) => Some(value),
                Some(_) => {
                    let what = format!("a named tuple whose field {name} has a default that is no constant");
                    return self.bail(Code::Statement, what);
                }
            };
            fields.push((name.clone(), default));
        }
        self.make_named(class, fields, module)
    }

    fn make_named(&mut self, class: &mut ClassObj, fields: Vec<(Name, Option<Abs>)>, module: usize) -> Lift<()> {
        let optional = fields.iter().position(|field| field.1.is_some()).unwrap_or(fields.len());
        let is_new = |at: usize| fields[..at].iter().all(|other| other.0 != fields[at].0);
        let is_name = |name: &Name| !name.starts_with('_') && crate::tree::parse::is_name(name);
        if fields[optional..].iter().any(|field| field.1.is_none())
            || !fields.iter().all(|field| is_name(&field.0))
            || !(0..fields.len()).all(is_new)
            || class.members.keys().any(|name| NAMED.contains(&&**name))
        {
            return self.bail(Code::Statement, "a named tuple that CPython refuses");
        }
        let names: Vec<&Name> = fields.iter().map(|field| &field.0).collect();
        let asked = Dataclass {
            eq: false,
            order: false,
            repr: true,
            init: true,
            frozen: true,
            slots: false,
            kw_only: false,
            unsafe_hash: false,
        };
        let mut text = dataclass_text(class, &asked, &names, &[], false);
        let each = |one: &dyn Fn(&Name) -> String| names.iter().map(|name| one(name)).collect::<String>();
        let _ = writeln!(text, "def _astuple(self):\n    return ({})", each(&|name| format!("self.{name}, ")));
        let _ =
            writeln!(text, "def _asdict(self):\n    return {{{}}}", each(&|name| format!("'{name}': self.{name}, ")));
        if !names.is_empty() {
            let new = each(&|name| format!("{name}=self.{name} if _is_missing({name}) else {name}, "));
            let params = names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "def _replace(self, /, *, {params}):\n    return _type(self)({new})");
        }
        let listed = fields.iter().map(|field| Object::str(&field.0)).collect();
        self.add_made(class, &text, fields, module)?;
        class.members.insert("_fields".into(), Member::Value(Abs::Const(Object::tuple(listed))));
        class.frozen = true;
        Ok(())
    }

    /// `collections.namedtuple(name, fields, defaults=values)`.
    pub fn call_of_namedtuple(&mut self, args: &[Abs], named: &[(Name, Abs)]) -> Lift<Abs> {
        let refused = |me: &mut Self| me.bail(Code::Callee, "namedtuple with such arguments");
        let [Abs::Const(Object::Str(name)), fields] = args else { return refused(self) };
        let names: Vec<Name> = match fields {
            Abs::Const(Object::Str(text)) => text.replace(',', " ").split_whitespace().map(Name::from).collect(),
            other => {
                let Some(items) = self.known_items(other) else { return refused(self) };
                let text = |item: &Abs| match item {
                    Abs::Const(Object::Str(text)) => Some(Name::from(&**text)),
                    _ => None,
                };
                match items.iter().map(text).collect::<Option<_>>() {
                    Some(names) => names,
                    None => return refused(self),
                }
            }
        };
        let defaults = match named {
            [] => Vec::new(),
            [(name, values)] if &**name == "defaults" => match self.known_items(values) {
                Some(values) if values.iter().all(|value| value.as_const().is_some()) => values,
                _ => return refused(self),
            },
            _ => return refused(self),
        };
        if !self.module_mode || defaults.len() > names.len() || !crate::tree::parse::is_name(name) {
            return refused(self);
        }
        let required = names.len() - defaults.len();
        let default = |at: usize| at.checked_sub(required).and_then(|at| defaults.get(at).cloned());
        let fields = names.iter().enumerate().map(|(at, name)| (name.clone(), default(at))).collect();
        let module = self.frames[0].module;
        let mut class = ClassObj {
            late: Rc::default(),
            name: Name::from(&**name),
            key: (Some(module), self.place.start, Name::from(&**name)),
            base: Some(self.tuple_class()?),
            members: BTreeMap::new(),
            prelude: false,
            exception: None,
            frozen: true,
            fields: Vec::new(),
            left_out: LeftOut::default(),
            factories: BTreeMap::new(),
            restrictions: Restrictions::default(),
        };
        self.make_named(&mut class, fields, module)?;
        Ok(Abs::Class(Rc::new(class)))
    }

    /// `dataclasses.asdict(object)`, or `astuple`: what the fields hold, copied as deeply.
    pub fn fields_of_dataclass(&mut self, object: &Abs, as_dict: bool) -> Lift<Abs> {
        let Abs::Instance(instance) = object else {
            return self.bail(Code::Operands, "the fields of something else than a dataclass");
        };
        if !ClassObj::is_dataclass(&instance.class) || instance.class.prelude {
            return self.bail(Code::Operands, "the fields of something else than a dataclass");
        }
        let mut entries = Vec::new();
        for (name, _) in &instance.class.fields {
            let value = self.value_of_field(instance, name)?;
            if !self.live {
                return Ok(Abs::Unbound);
            }
            let nested = matches!(&value, Abs::Instance(inner) if ClassObj::is_dataclass(&inner.class));
            let value = match self.type_of(&value) {
                _ if nested => self.fields_of_dataclass(&value, as_dict)?,
                Some(ty) if !ty.holds_list() && !ty.holds_object() && !matches!(value, Abs::Instance(_)) => value,
                Some(Type::List(_)) => self.copied(&value, true)?,
                _ => return self.bail(Code::Operands, format!("a copy of the field {name}")),
            };
            entries.push((Abs::str(name), value));
        }
        if as_dict {
            return self.dict_of_fields(entries);
        }
        Ok(Abs::tuple(entries.into_iter().map(|entry| entry.1).collect()))
    }

    fn value_of_field(&mut self, object: &Rc<Instance>, name: &Name) -> Lift<Abs> {
        match self.own_attribute(object, name)? {
            // It may not be there on every path.
            Some(_) => self.instance_attribute(object, name),
            None => self.bail(Code::Operands, format!("the field {name}, which was deleted")),
        }
    }

    /// `dataclasses.replace(object, …)`: an object with other values of some fields.
    pub fn replaced(&mut self, object: &Rc<Instance>, changes: Vec<(Name, Abs)>) -> Lift<Abs> {
        let class = Rc::clone(&object.class);
        if !ClassObj::is_dataclass(&class) || class.prelude {
            return self.bail(Code::Operands, "dataclasses.replace of something else than a dataclass");
        }
        let mut named = changes;
        for (name, _) in &class.fields {
            if named.iter().all(|(given, _)| given != name) {
                let value = self.value_of_field(object, name)?;
                if !self.live {
                    return Ok(Abs::Unbound);
                }
                named.push((name.clone(), value));
            }
        }
        self.instantiate(&class, Vec::new(), named)
    }

    /// The fields of an object of a frozen dataclass whose equality and hash are those that `dataclass`
    /// writes, as a tuple; None of another value.
    pub fn hashed_fields(&mut self, abs: &Abs) -> Lift<Abs> {
        let class = match abs {
            Abs::Instance(object) => Some(Rc::clone(&object.class)),
            other => self.class_of_module(other),
        };
        let Some(class) = class.filter(|class| class.frozen && !class.fields.is_empty()) else { return Ok(Abs::NONE) };
        let made = match class.members.get("__eq__") {
            Some(Member::Value(Abs::Func(closure))) => self.is_made(Arc::as_ptr(&closure.def)),
            _ => false,
        };
        if !made || ClassObj::find(&class, "__hash__").is_some() {
            return Ok(Abs::NONE);
        }
        let compared = |name: &&Name| !class.left_out.compare.contains(*name);
        let names: Vec<Name> = class.fields.iter().map(|field| &field.0).filter(compared).cloned().collect();
        let items = names.iter().map(|name| self.attribute(abs.clone(), name)).collect::<Lift<Vec<_>>>()?;
        Ok(Abs::tuple(items))
    }

    /// What a named tuple holds; `None` of another value.
    pub fn named_items(&mut self, abs: &Abs) -> Option<Vec<Abs>> {
        let Abs::Instance(object) = abs else { return None };
        if !ClassObj::is_named(&object.class) {
            return None;
        }
        let names = ClassObj::field_names(&object.class);
        names.iter().map(|name| self.own_attribute(object, name).ok().flatten()).collect()
    }

    /// Whether a function was made as text, by `dataclass`.
    pub fn is_made(&self, def: *const FunctionDef) -> bool {
        self.world.made.iter().any(|made| Arc::as_ptr(made) == def)
    }
}

/// The methods that `dataclass` makes, as text.
fn dataclass_text(class: &ClassObj, asked: &Dataclass, names: &[&Name], made: &[&Name], has_post: bool) -> String {
    let mut text = String::new();
    let own = |name: &str| class.members.contains_key(name);
    let compared = names.iter().filter(|name| !class.left_out.compare.contains(**name));
    let listed = |of: &str| compared.clone().fold(String::new(), |list, name| list + &format!("{of}.{name}, "));
    if asked.init && !own("__init__") {
        let takes = |name: &&&Name| !class.left_out.init.contains(**name);
        let params: String = names.iter().filter(takes).map(|name| format!(", {name}")).collect();
        // Defaults are given by the closure; the parser only wants them in order.
        let star = if asked.kw_only && !params.is_empty() { ", *" } else { "" };
        let _ = writeln!(text, "def __init__(self{star}{params}):\n    pass");
        for name in names {
            let value = match (takes(&name), made.contains(name)) {
                (true, true) => format!("_made(self, '{name}') if _is_missing({name}) else {name}"),
                (true, false) => name.to_string(),
                (false, true) => format!("_made(self, '{name}')"),
                // It is the attribute of the class, if that has one.
                (false, false) => continue,
            };
            let _ = writeln!(text, "    self.{name} = {value}");
        }
        if has_post {
            text.push_str("    self.__post_init__()\n");
        }
    }
    if asked.repr && !own("__repr__") {
        let shown = names.iter().filter(|name| !class.left_out.repr.contains(**name));
        let shown: Vec<String> = shown.map(|name| format!("{name}={{self.{name}!r}}")).collect();
        let _ = writeln!(text, "def __repr__(self):\n    return f'{{_type_name(self)}}({})'", shown.join(", "));
    }
    let compared: &[(&str, &str)] = match (asked.eq, asked.order) {
        (false, _) => &[],
        (true, false) => &[("__eq__", "==")],
        (true, true) => &[("__eq__", "=="), ("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">=")],
    };
    for (method, symbol) in compared.iter().filter(|(method, _)| !own(method)) {
        let _ = writeln!(
            text,
            "def {method}(self, other):\n    if _same_class(self, other):\n        return ({}) {symbol} ({})\n    return NotImplemented",
            listed("self"),
            listed("other"),
        );
    }
    text
}
