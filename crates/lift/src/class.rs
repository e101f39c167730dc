//! Classes written in Python: `class` statements of modules, of users and of the prelude.
//!
//! A class is known while lifting: what it defines never changes, so that every attribute and
//! every method is looked up now. Its objects are on the lifter's heap (`heap.rs`); what
//! operators do with them is in `protocol.rs`.
//!
//! Lifted are single inheritance, methods, properties, static and class methods, values of the
//! class, dataclasses and named tuples (`fields.rs`). A class that does anything else is not lifted,
//! which matters to functions that use it only.

use crate::abs::{Abs, Closure, Enclosing};
use crate::ast::{ClassDef, Expr, ExprKind, Name, Stmt, StmtKind};
use crate::bailout::Code;
use crate::fields::FieldDefault;
use crate::lifter::{Frame, Lift, Lifter, Vars, describe};
use crate::restrict::Restrictions;
use exuvia_ir::{ExcKind, Type};
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

/// The special methods that are looked at. A class with others is not lifted.
const SPECIAL: &[&str] = &[
    "__init__",
    "__post_init__",
    "__repr__",
    "__str__",
    "__format__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__bool__",
    "__len__",
    "__call__",
    "__contains__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__iter__",
    "__next__",
    "__reversed__",
    "__add__",
    "__radd__",
    "__iadd__",
    "__sub__",
    "__rsub__",
    "__isub__",
    "__mul__",
    "__rmul__",
    "__imul__",
    "__truediv__",
    "__rtruediv__",
    "__itruediv__",
    "__floordiv__",
    "__rfloordiv__",
    "__ifloordiv__",
    "__mod__",
    "__rmod__",
    "__imod__",
    "__pow__",
    "__rpow__",
    "__ipow__",
    "__and__",
    "__rand__",
    "__iand__",
    "__or__",
    "__ror__",
    "__ior__",
    "__xor__",
    "__rxor__",
    "__ixor__",
    "__matmul__",
    "__rmatmul__",
    "__imatmul__",
    "__lshift__",
    "__rlshift__",
    "__ilshift__",
    "__rshift__",
    "__rrshift__",
    "__irshift__",
    "__neg__",
    "__pos__",
    "__invert__",
    "__abs__",
    "__int__",
    "__float__",
    "__round__",
    "__enter__",
    "__exit__",
    "__doc__",
    "__slots__",
];

/// Built-in exceptions whose objects hold their arguments and nothing else.
const EXCEPTIONS: &[ExcKind] = &[
    ExcKind::Exception,
    ExcKind::ArithmeticError,
    ExcKind::AssertionError,
    ExcKind::IndexError,
    ExcKind::KeyError,
    ExcKind::LookupError,
    ExcKind::NotImplementedError,
    ExcKind::OverflowError,
    ExcKind::RuntimeError,
    ExcKind::RuntimeWarning,
    ExcKind::SyntaxError,
    ExcKind::TypeError,
    ExcKind::UserWarning,
    ExcKind::ValueError,
    ExcKind::Warning,
    ExcKind::ZeroDivisionError,
];

/// How many classes may stand above each other.
const MAX_BASES: usize = 20;

impl ClassObj {
    /// The class and those above it, nearest first.
    pub fn ancestry(class: &Rc<ClassObj>) -> impl Iterator<Item = &Rc<ClassObj>> {
        std::iter::successors(Some(class), |class| class.base.as_ref())
    }

    /// What a name means in a class: with the class that defines it.
    pub fn find(class: &Rc<ClassObj>, name: &str) -> Option<(Rc<ClassObj>, Member)> {
        ClassObj::ancestry(class).find_map(|one| Some((Rc::clone(one), one.members.get(name)?.clone())))
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

    /// The values that it and its bases hold.
    pub fn constants(self: &Rc<ClassObj>) -> impl Iterator<Item = &Abs> {
        ClassObj::ancestry(self).flat_map(|class| class.members.values()).map(|member| match member {
            Member::Value(value) | Member::Static(value) | Member::OfClass(value) => value,
            Member::Property { get, .. } | Member::Cached(get) => get,
        })
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

/// What the body of a class defines.
#[derive(Default)]
struct Body {
    members: BTreeMap<Name, Member>,
    /// What makes the defaults of fields.
    factories: BTreeMap<Name, Abs>,
    left_out: LeftOut,
    abstract_methods: BTreeSet<Name>,
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
    /// A `class` statement, of those decorators.
    pub fn class_statement(&mut self, def: &ClassDef, decorators: &[Expr]) -> Lift<()> {
        if let [decorator, inner @ ..] = decorators
            && !self.says_how(decorator)
        {
            let decorator = self.expr(decorator)?;
            self.class_statement(def, inner)?;
            let class = self.get_hidden(&def.name);
            if self.live {
                let made = self.call_value(&decorator, vec![class], Vec::new())?;
                self.bind_name(&def.name, made)?;
            }
            return Ok(());
        }
        if !(self.module_mode && self.current == 0) {
            return self.bail(Code::Statement, "a class within a function");
        }
        if let Some(what) = def.unsupported {
            return self.bail(Code::Statement, what);
        }
        let enumerated = self.enum_base(&def.bases)?;
        let flagged = self.flag_base(&def.bases)?;
        let base_of_enum = enumerated.as_ref().or(flagged.as_ref());
        let (plain_bases, is_abc) = self.plain_bases(&def.bases);
        let is_unique = matches!(decorators, [one] if self.is_of_module(one, "enum", "unique"));
        let (is_ordered, decorators) = match decorators {
            [first, rest @ ..] if self.is_of_module(first, "functools", "total_ordering") => (true, rest),
            all => (false, all),
        };
        let dataclass = match (base_of_enum, is_unique) {
            (Some(_), true) => None,
            _ => self.class_decorators(decorators)?,
        };
        let is_named = matches!(&def.bases[..], [base] if self.is_of_module(base, "typing", "NamedTuple"));
        let is_class_var = |of: &Expr| !is_named && self.is_of_module(of, "typing", "ClassVar");
        if !def.class_vars.iter().all(is_class_var) {
            return self
                .bail(Code::Statement, "a class with another ClassVar than that of typing, or a named tuple with it");
        }
        let (base, exception) = match (is_named, base_of_enum) {
            (true, _) => (Some(self.tuple_class()?), None),
            (false, Some(base)) => (Some(Rc::clone(base)), None),
            (false, None) => self.bases(&plain_bases)?,
        };
        let depth = self.frames.len();
        let module = self.frames[0].module;
        let locals = crate::scope::locals(&crate::ast::Params::default(), &def.body);
        self.frames.push(Frame {
            vars: Vars::default(),
            def: None,
            locals: locals.into(),
            enclosing: Enclosing::Module,
            module,
            path: 0,
            class_body: true,
            owner: None,
        });
        self.current = depth;
        let members = self.class_body(&def.body, dataclass.is_some(), flagged.is_some());
        self.current = 0;
        let Body { mut members, factories, left_out, abstract_methods } = members?;
        // What follows is about the class, not about the last statement of its body.
        self.go_to(def.span);
        if base.as_ref().is_some_and(ClassObj::is_named) {
            // Its objects have no attributes besides in any case.
            members.remove("__slots__");
        }
        self.frames.truncate(depth);
        if !self.live {
            return Ok(());
        }
        let prelude = self.in_prelude(module) || self.world.loading_prelude;
        let key = ((!prelude).then_some(module), def.span.start, def.name.clone());
        let unknown = members.keys().find(|name| name.starts_with("__") && !SPECIAL.contains(&&***name));
        if let (Some(name), false) = (unknown, prelude) {
            return self.bail(Code::Statement, format!("a class with {name}"));
        }
        let restrictions = self.restrictions(base.as_ref(), is_abc, &members, abstract_methods)?;
        let mut class = ClassObj {
            restrictions,
            name: def.name.clone(),
            key,
            frozen: base.as_ref().is_some_and(|base| base.frozen),
            base,
            exception,
            members,
            prelude,
            fields: Vec::new(),
            factories,
            left_out,
        };
        if enumerated.is_some() && !prelude {
            return match dataclass {
                _ if is_ordered => self.bail(Code::Statement, "an enumeration with total_ordering"),
                Some(_) => self.bail(Code::Statement, "an enumeration that is a dataclass"),
                None => self.enumeration(def, class, is_unique),
            };
        }
        if flagged.is_some() && !prelude {
            return match dataclass {
                None if !is_ordered && !is_unique => self.flags(def, class),
                _ => self.bail(Code::Statement, "a class of flags that is decorated"),
            };
        }
        // Equality without a hash makes a class unhashable; neither is looked at elsewhere.
        match dataclass {
            Some(_) if class.base.as_ref().is_some_and(ClassObj::is_named) => {
                return self.bail(Code::Statement, "a named tuple that is a dataclass");
            }
            Some(dataclass) => self.dataclass(&mut class, &dataclass, &def.fields, module)?,
            None if is_named => self.named_tuple(&mut class, &def.fields, module)?,
            None => {}
        }
        if is_ordered {
            self.order_totally(&mut class)?;
        }
        self.bind_name(&def.name, Abs::Class(Rc::new(class)))?;
        Ok(())
    }

    /// Gives a class the comparisons that it lacks (Lib/functools.py, `total_ordering`).
    fn order_totally(&mut self, class: &mut ClassObj) -> Lift<()> {
        const COMPARISONS: [&str; 4] = ["__lt__", "__le__", "__gt__", "__ge__"];
        let short = |name: &str| name.trim_matches('_').to_string();
        let base = class.base.clone();
        let has = |class: &ClassObj, name: &str| {
            class.members.contains_key(name) || base.as_ref().is_some_and(|base| ClassObj::find(base, name).is_some())
        };
        let Some(root) = COMPARISONS.into_iter().find(|name| has(class, name)) else {
            return self.bail(Code::Statement, "total_ordering of a class without a comparison");
        };
        for name in COMPARISONS.into_iter().filter(|name| *name != root) {
            if has(class, name) {
                continue;
            }
            let made = self.prelude_function("functools", &format!("_{}_from_{}", short(name), short(root)))?;
            if let Some(made) = made {
                class.members.insert(Name::from(name), Member::Value(made));
            }
        }
        Ok(())
    }

    fn bases(&mut self, bases: &[&Expr]) -> Lift<(Option<Rc<ClassObj>>, Option<ExcKind>)> {
        let base = match bases {
            [] => return Ok((None, None)),
            [base] => base,
            several => {
                let (base, exception) = self.several_bases(several)?;
                return Ok((Some(base), exception));
            }
        };
        match self.expr(base)? {
            Abs::Class(base) if base.prelude && !self.world.loading_prelude => {
                self.bail(Code::Statement, format!("a class whose base is {}", base.name))
            }
            Abs::Class(base) => {
                if ClassObj::ancestry(&base).count() >= MAX_BASES {
                    return self.bail(Code::Budget, "a class below too many others");
                }
                let exception = base.exception;
                Ok((Some(base), exception))
            }
            Abs::ExcClass(kind) if EXCEPTIONS.contains(&kind) => Ok((None, Some(kind))),
            Abs::Builtin(name) if &*name == "object" => Ok((None, None)),
            other => self.bail(Code::Statement, format!("a class whose base is {}", describe(&other))),
        }
    }

    /// The class behind one of several bases, with those behind that: copies in the order of all
    /// (language reference, section 3.3.3.1; Objects/typeobject.c, `mro_implementation`).
    fn several_bases(&mut self, bases: &[&Expr]) -> Lift<(Rc<ClassObj>, Option<ExcKind>)> {
        let (mut classes, mut exceptions) = (Vec::new(), Vec::new());
        for (at, base) in bases.iter().enumerate() {
            let base = match self.expr(base)? {
                Abs::Class(base) => base,
                // It comes behind all classes that are written in Python.
                Abs::ExcClass(kind) if EXCEPTIONS.contains(&kind) && at + 1 == bases.len() && at > 0 => {
                    exceptions.push(kind);
                    continue;
                }
                _ => return self.bail(Code::Statement, "a class with several bases, of which one is built in"),
            };
            exceptions.extend(base.exception);
            let is_plain = |class: &Rc<ClassObj>| {
                !class.prelude
                    && class.restrictions.slots.is_none()
                    && (at == 0 || class.fields.is_empty() && !class.frozen)
            };
            if !ClassObj::ancestry(&base).all(is_plain) || ClassObj::is_named(&base) {
                return self.bail(Code::Statement, "a class with several such bases");
            }
            classes.push(base);
        }
        let mut lists: Vec<Vec<Rc<ClassObj>>> =
            classes.iter().map(|class| ClassObj::ancestry(class).cloned().collect()).collect();
        lists.push(classes);
        let mut order: Vec<Rc<ClassObj>> = Vec::new();
        while lists.iter().any(|list| !list.is_empty()) {
            let is_free = |class: &Rc<ClassObj>| !lists.iter().any(|list| list.iter().skip(1).any(|one| one.is(class)));
            let Some(next) = lists.iter().filter_map(|list| list.first()).find(|class| is_free(class)).cloned() else {
                return self.bail(Code::Statement, "bases in no consistent order");
            };
            for list in &mut lists {
                list.retain(|class| !class.is(&next));
            }
            order.push(next);
        }
        if order.len() >= MAX_BASES {
            return self.bail(Code::Budget, "a class below too many others");
        }
        // The built-in exception behind all is the lowest of theirs, if that is below each.
        let lowest = exceptions.iter().find(|kind| exceptions.iter().all(|other| kind.is_subclass(*other))).copied();
        if lowest.is_none() && !exceptions.is_empty() {
            return self.bail(Code::Statement, "a class below several exceptions of which none is below the others");
        }
        let is_abc = order.iter().any(|class| class.restrictions.is_abc);
        let is_abstract = |name: &&Name| {
            let first = order.iter().find(|class| class.members.contains_key(*name));
            first.is_none_or(|class| class.restrictions.abstract_methods.contains(*name))
        };
        let all = order.iter().flat_map(|class| &class.restrictions.abstract_methods);
        let mut abstract_methods: BTreeSet<Name> = all.filter(is_abstract).cloned().collect();
        let mut behind: Option<Rc<ClassObj>> = None;
        for (at, class) in order.into_iter().enumerate().rev() {
            let mut copy = (*class).clone();
            copy.base = behind;
            copy.restrictions.is_abc = is_abc;
            if at == 0 {
                copy.restrictions.abstract_methods = std::mem::take(&mut abstract_methods);
            }
            behind = Some(Rc::new(copy));
        }
        match behind {
            Some(first) => Ok((first, lowest)),
            None => self.bail(Code::Statement, "a class with several bases"),
        }
    }

    /// Runs the body of a class in the frame on top.
    fn class_body(&mut self, body: &[Stmt], is_dataclass: bool, is_flag: bool) -> Lift<Body> {
        let mut factories = BTreeMap::new();
        let mut left_out = LeftOut::default();
        let mut abstract_methods = BTreeSet::new();
        let mut wrapped: BTreeMap<Name, Member> = BTreeMap::new();
        for stmt in body {
            self.go_to(stmt.span);
            self.step()?;
            match &stmt.kind {
                StmtKind::FunctionDef(def) => {
                    let closure = self.closure(def)?;
                    let (decorators, is_abstract) = self.abstract_method(def);
                    abstract_methods.remove(&def.name);
                    if is_abstract {
                        abstract_methods.insert(def.name.clone());
                    }
                    let member = match decorators {
                        [] => Member::Value(closure.clone()),
                        [one] if self.is_of_module(one, "functools", "cached_property") => {
                            Member::Cached(closure.clone())
                        }
                        [one] => match self.method_kind(one) {
                            Some("staticmethod") => Member::Static(closure.clone()),
                            Some("classmethod") => Member::OfClass(closure.clone()),
                            Some("property") => Member::Property { get: closure.clone(), set: None },
                            None if let Some(get) = getter_of(one, &def.name, &wrapped) => {
                                Member::Property { get, set: Some(closure.clone()) }
                            }
                            _ => return self.bail(Code::Statement, format!("a method {} that is decorated", def.name)),
                        },
                        _ => return self.bail(Code::Statement, format!("a method {} that is decorated", def.name)),
                    };
                    wrapped.insert(def.name.clone(), member);
                    self.bind_name(&def.name, closure)?;
                }
                StmtKind::Assign { targets, value } if targets.iter().all(is_name) => {
                    for target in targets {
                        if let ExprKind::Name(name) = &target.kind {
                            wrapped.remove(name);
                            abstract_methods.remove(name);
                            factories.remove(name);
                            left_out.repr.remove(name);
                            left_out.compare.remove(name);
                            left_out.init.remove(name);
                        }
                    }
                    let field = if is_dataclass { self.field_call(value)? } else { None };
                    match (targets.as_slice(), field) {
                        (_, None) => {
                            self.stmts(std::slice::from_ref(stmt))?;
                            if is_flag {
                                self.number_flags(targets)?;
                            }
                        }
                        ([Expr { kind: ExprKind::Name(name), .. }], Some(field)) => {
                            left_out.repr.extend((!field.repr).then(|| name.clone()));
                            left_out.compare.extend((!field.compare).then(|| name.clone()));
                            left_out.init.extend((!field.init).then(|| name.clone()));
                            match field.default {
                                Some(FieldDefault::Value(value)) => self.bind_name(name, value)?,
                                Some(FieldDefault::Factory(factory)) => drop(factories.insert(name.clone(), factory)),
                                None => {}
                            }
                        }
                        (_, Some(_)) => return self.bail(Code::Statement, "such a field of a dataclass"),
                    }
                }
                StmtKind::Assign { targets, .. } if !is_dataclass && targets.iter().all(is_tuple_of_names) => {
                    self.stmts(std::slice::from_ref(stmt))?;
                }
                StmtKind::Expr(Expr { kind: ExprKind::Const(_), .. }) | StmtKind::Pass => {}
                StmtKind::Annotation(annotation) => self.annotation(annotation)?,
                _ => return self.bail(Code::Statement, "a statement in the body of a class"),
            }
            if !self.live {
                return Ok(Body::default());
            }
        }
        let vars = self.frames[self.current].vars.clone();
        let mut members = BTreeMap::new();
        for (name, value) in vars.iter() {
            let member = wrapped.remove(name).unwrap_or_else(|| Member::Value(value.clone()));
            if matches!(value, Abs::Dyn(_) | Abs::Conflict | Abs::Unbound) {
                return self.bail(Code::ModuleBody, format!("{name} of a class is not constant"));
            }
            members.insert(name.clone(), member);
        }
        Ok(Body { members, factories, left_out, abstract_methods })
    }

    /// Whether a decorator says how a class is made, which is known before it is.
    fn says_how(&self, decorator: &Expr) -> bool {
        let callee = match &decorator.kind {
            ExprKind::Call { func, .. } => func,
            _ => decorator,
        };
        self.is_of_module(callee, "dataclasses", "dataclass")
            || self.is_of_module(callee, "functools", "total_ordering")
            || self.is_of_module(callee, "enum", "unique")
    }

    /// The kind of method that a decorator makes, if it is a built-in.
    fn method_kind(&self, decorator: &Expr) -> Option<&'static str> {
        let ExprKind::Name(name) = &decorator.kind else { return None };
        let kind = ["staticmethod", "classmethod", "property"].into_iter().find(|kind| *kind == &**name)?;
        self.lookup(name).is_none().then_some(kind)
    }

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
        if crate::enums::is_enumeration(class) {
            return self.bail(Code::Callee, "an enumeration without members");
        }
        if let (true, Some((_, Member::Static(make)))) = (class.prelude, ClassObj::find(class, "_make")) {
            return self.call_value(&make, args, named);
        }
        if !self.refuse_abstract(class)? {
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

    /// Gives a new object what its class holds for those that set no other value.
    fn take_defaults(&mut self, object: &crate::heap::Instance) {
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
        if crate::enums::is_enumeration(class) && name.starts_with('_') {
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
                self.bail(Code::Callee, format!("attribute {name} of {}", crate::heap::of_kind(&class.name)))
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
            None if matches!(&**name, "__init__" | "__str__" | "__repr__") && class.exception.is_some() => {
                Ok(Abs::Method(Rc::new((receiver.clone(), name.clone()))))
            }
            None => self.bail(Code::Callee, format!("super().{name}")),
        }
    }
}

impl ClassObj {
    pub fn ancestry_of(class: &ClassObj, name: &str) -> bool {
        class.members.contains_key(name) || class.base.as_ref().is_some_and(|base| ClassObj::find(base, name).is_some())
    }
}

fn is_tuple_of_names(target: &Expr) -> bool {
    matches!(&target.kind, ExprKind::Tuple(items) if items.iter().all(is_name))
}

fn is_name(target: &Expr) -> bool {
    matches!(target.kind, ExprKind::Name(_))
}

/// The getter of a property to which `@name.setter` adds a setter.
fn getter_of(decorator: &Expr, name: &Name, members: &BTreeMap<Name, Member>) -> Option<Abs> {
    match (&decorator.kind, members.get(name)) {
        (ExprKind::Attribute { value, name: setter }, Some(Member::Property { get, .. }))
            if &**setter == "setter" && matches!(&value.kind, ExprKind::Name(of) if of == name) =>
        {
            Some(get.clone())
        }
        _ => None,
    }
}
