//! `class` statements: bases, bodies, decorators.

use crate::abs::{Abs, Enclosing};
use crate::bailout::Code;
use crate::objects::class::{ClassObj, LeftOut, Member};
use crate::objects::fields::FieldDefault;
use crate::tree::ast::{ClassDef, Expr, ExprKind, Name, Stmt, StmtKind};
use crate::walk::describe::describe;
use crate::walk::lifter::{Frame, Lift, Lifter, Scope, Vars};
use exuvia_ir::ExcKind;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What the body of a class defines.
#[derive(Default)]
struct Body {
    members: BTreeMap<Name, Member>,
    /// What makes the defaults of fields.
    factories: BTreeMap<Name, Abs>,
    left_out: LeftOut,
    abstract_methods: BTreeSet<Name>,
}

/// The special methods that are looked at. A class with others is not lifted.
const SPECIAL: &[&str] = &[
    "__init__",
    "__init_subclass__",
    "__missing__",
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

/// The special methods that classes below `dict` may have of their own: those of CPython's dicts go past them, or
/// have none of these.
const OF_DICTS: &[&str] = &[
    "__init__",
    "__init_subclass__",
    "__doc__",
    "__missing__",
    "__setitem__",
    "__repr__",
    "__str__",
    "__format__",
    "__call__",
    "__enter__",
    "__exit__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
];

/// Whether a name is one that objects of the prelude's classes keep their parts under.
pub(crate) fn is_inner(name: &str) -> bool {
    name.starts_with('_') && !name.starts_with("__")
}

/// Whether a class below `dict` may not have a member of that name: methods of the prelude's would see it.
pub(crate) fn is_taken_below_dict(base: &Rc<ClassObj>, name: &str) -> bool {
    !OF_DICTS.contains(&name)
        && (name.starts_with('_') || ClassObj::find(base, name).is_some_and(|(owner, _)| owner.prelude))
}

/// What the class above is told of a new one by.
const INIT_SUBCLASS: &str = "__init_subclass__";

/// How many classes may stand above each other.
const MAX_BASES: usize = 20;

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
        let (plain_bases, is_below_abc) = self.plain_bases(&def.bases);
        let is_meta = |(name, of): &&(Name, Expr)| &**name == "metaclass" && self.is_of_module(of, "abc", "ABCMeta");
        let is_abc = is_below_abc || def.keywords.iter().any(|keyword| is_meta(&keyword));
        let keywords: Vec<&(Name, Expr)> = def.keywords.iter().filter(|keyword| !is_meta(keyword)).collect();
        if keywords.iter().any(|(name, _)| &**name == "metaclass") {
            return self.bail(Code::Statement, "a class with a metaclass");
        }
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
        let locals = crate::tree::scope::locals(&crate::tree::ast::Params::default(), &def.body);
        let scope = Scope {
            def: None,
            locals: locals.into(),
            enclosing: Enclosing::Module,
            module,
            path: 0,
            class_body: true,
            owner: None,
        };
        self.frames.push(Frame::new(Vars::default(), scope));
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
        if let Some(Member::Value(hook)) = members.remove(INIT_SUBCLASS) {
            members.insert(INIT_SUBCLASS.into(), Member::OfClass(hook));
        }
        let hook = base.as_ref().and_then(|base| ClassObj::find(base, INIT_SUBCLASS));
        if hook.is_some() && (is_named || base_of_enum.is_some()) || hook.is_none() && !keywords.is_empty() {
            return self.bail(Code::Statement, "such a class with keywords or __init_subclass__");
        }
        if let Some(base) = base.as_ref().filter(|base| ClassObj::is_dict(base) && !prelude) {
            if is_ordered || dataclass.is_some() {
                return self.bail(Code::Statement, "a class below dict with such a decorator");
            }
            if let Some(name) = members.keys().find(|name| is_taken_below_dict(base, name)) {
                return self.bail(Code::Statement, format!("a class below dict with its own {name}"));
            }
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
            late: Rc::default(),
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
        let is_dataclass = dataclass.is_some();
        let hashes_fields = dataclass.as_ref().is_some_and(|dataclass| dataclass.unsafe_hash);
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
        if !prelude && !is_named && !hashes_fields && !class.members.contains_key("__hash__") {
            let is_frozen = is_dataclass && class.frozen;
            if is_frozen && class.base.as_ref().is_some_and(|base| ClassObj::find(base, "__hash__").is_some()) {
                return self.bail(Code::Statement, "a frozen dataclass below a class with a hash");
            }
            // Equality without a hash makes a class unhashable (language reference, section 3.3.1).
            if !is_frozen && class.members.contains_key("__eq__") {
                class.members.insert("__hash__".into(), Member::Value(Abs::NONE));
            }
        }
        let class = Rc::new(class);
        self.classes.push(Rc::clone(&class));
        if let Some((owner, hook)) = hook {
            self.begin_below(&class, owner, hook, &keywords)?;
        }
        self.bind_name(&def.name, Abs::Class(class))?;
        Ok(())
    }

    /// Calls the `__init_subclass__` of the class above a new one (language reference, section 3.3.3.6).
    fn begin_below(
        &mut self,
        class: &Rc<ClassObj>,
        owner: Rc<ClassObj>,
        hook: Member,
        keywords: &[&(Name, Expr)],
    ) -> Lift<()> {
        let mut named = Vec::new();
        for (name, value) in keywords {
            named.push((name.clone(), self.expr(value)?));
        }
        if let Member::OfClass(Abs::Func(closure)) = &hook {
            let receiver = Abs::Class(Rc::clone(class));
            let method =
                Abs::Bound(Rc::new(crate::objects::class::Method { closure: Rc::clone(closure), owner, receiver }));
            self.call_value(&method, Vec::new(), named)?;
            return Ok(());
        }
        self.bail(Code::Statement, "an __init_subclass__ that is no function")
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
            Abs::Builtin(name) if &*name == "dict" => match self.prelude_function("collections", "_DictBase")? {
                Some(Abs::Class(base)) => Ok((Some(base), None)),
                _ => self.bail(Code::Statement, "a class below dict"),
            },
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
                StmtKind::Assign { targets, value, .. } if targets.iter().all(is_name) => {
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
