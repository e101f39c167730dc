//! Calls: of functions written in Python (unfolded here, or specialised, see `specialise.rs`), of
//! methods, and of built-ins that are about static things.

use crate::abs::{Abs, Closure, Enclosing, Iter, ViewOf};
use crate::ast::{Expr, ExprKind, Name};
use crate::bailout::Code;
use crate::class::{ClassObj, Member, Method};
use crate::classes::ClassRef;
use crate::intrinsic::NAMES;
use crate::lifter::{Ctx, Frame, Lift, Lifter, describe};
use crate::templates::Arguments;
use exuvia_ir::{Class, ClassRow, DictObj, ExcKind, Object, Objects, Type};
use exuvia_ops::{attributes, operands};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deep calls are unfolded into each other.
pub(crate) const MAX_DEPTH: usize = 40;

/// How often a function of the prelude is unfolded within itself, as `sum` of a generator whose elements
/// are sums, and one of the user's.
const MAX_WITHIN: usize = 6;
const MAX_WITHIN_OWN: usize = 3;

/// Whether an argument is code that runs where it is used: a generator, a function with variables of
/// another. A call with it is always unfolded, so that one within another need be no recursion.
fn is_code(abs: &Abs) -> bool {
    match abs {
        Abs::Iter(_) | Abs::Bound(_) => true,
        Abs::Func(closure) => !matches!(closure.enclosing, Enclosing::Module),
        Abs::Tuple(items) => items.iter().any(is_code),
        _ => false,
    }
}

/// Whether it is `get` of a constant dict of containers.
fn is_look_up(callee: &Abs) -> bool {
    let container = |object: &Object| matches!(object, Object::Dict(_) | Object::List(_) | Object::Set(_));
    let holds_containers = |abs: &Abs| matches!(abs, Abs::Const(Object::Dict(dict)) if dict.entries().iter().any(|entry| container(&entry.1)));
    match callee {
        Abs::Method(method) => &*method.1 == "get" && holds_containers(&method.0),
        Abs::OneOf(choice) => choice.of.iter().all(|(_, item)| is_look_up(item)),
        _ => false,
    }
}

/// Whether it only reads the lists that it is given, keeps none, and takes tuples as well.
fn only_reads_lists(callee: &Abs) -> bool {
    match callee {
        Abs::Builtin(name) => name.starts_with("numpy."),
        Abs::Bound(method) => method.owner.prelude && &*method.closure.def.name == "isin",
        _ => false,
    }
}

impl Lifter<'_> {
    pub fn call(&mut self, func: &Expr, args: &[Expr], keywords: &[(Option<Name>, Expr)]) -> Lift<Abs> {
        let held = self.held.len();
        let callee = match &func.kind {
            // A method is looked up on its receiver before the arguments are evaluated.
            ExprKind::Attribute { value, name } => {
                let receiver = self.expr(value)?;
                self.attribute(receiver, name)?
            }
            _ => self.expr(func)?,
        };
        let mut positional = Vec::new();
        // What follows from the first `*` of unknown length on.
        let mut rest = None;
        for arg in args {
            match &arg.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.expr(inner)?;
                    match (self.known_items(&inner), &rest) {
                        (Some(items), None) => {
                            positional.extend(items);
                            self.check_count(positional.len())?;
                        }
                        _ => rest = Some(self.more_arguments(rest, &inner)?),
                    }
                }
                _ if rest.is_some() => {
                    let arg = self.expr(arg)?;
                    rest = Some(self.more_arguments(rest, &Abs::tuple(vec![arg]))?);
                }
                ExprKind::List(items) if rest.is_none() && only_reads_lists(&callee) => {
                    let items = self.items_with_stars(items)?;
                    positional.push(Abs::tuple(items));
                }
                _ if positional.len() == 1 && is_look_up(&callee) => positional.push(self.default_of_look_up(arg)?),
                _ => positional.push(self.expr(arg)?),
            }
        }
        let mut named = Vec::new();
        // The dict behind a `**` whose keys are not known.
        let mut unknown = None;
        for (name, value) in keywords {
            let value = self.expr(value)?;
            match name {
                Some(name) => named.push((name.clone(), value)),
                None => match self.named_by(&value)? {
                    Some(entries) => named.extend(entries),
                    None if unknown.is_none() => unknown = Some(value),
                    None => return self.bail(Code::Arguments, "two ** of dicts whose keys are not known in a call"),
                },
            }
        }
        if (1..named.len()).any(|at| named[..at].iter().any(|other| other.0 == named[at].0)) {
            return self.bail(Code::Arguments, "a keyword argument that is given twice");
        }
        // The arguments are the variables of the callee now.
        self.held.truncate(held);
        if let Some(dict) = unknown {
            named = self.named_in(&callee, positional.len(), named, &dict)?;
        }
        match rest {
            _ if !self.live => Ok(Abs::Unbound),
            Some(rest) => self.call_with_rest(&callee, positional, &rest, named),
            None => self.call_value(&callee, positional, named),
        }
    }

    /// Calls a function of the prelude that stands beside the built-in ones.
    pub fn call_of_prelude(&mut self, name: &str, args: Vec<Abs>) -> Lift<Abs> {
        match self.prelude_function("builtins", name)? {
            Some(function) => self.call_value(&function, args, Vec::new()),
            None => self.bail(Code::Callee, format!("no {name}")),
        }
    }

    /// The default of a look-up among constants that may be containers: an empty one is a constant
    /// too, until something changes it.
    fn default_of_look_up(&mut self, arg: &Expr) -> Lift<Abs> {
        let outer = self.go_to(arg.span);
        let site = self.site();
        self.back_to(outer);
        self.world.constant_empty.insert(site);
        self.expr(arg)
    }

    /// Calls a value.
    pub fn call_value(&mut self, callee: &Abs, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        match callee {
            Abs::Func(closure) => self.call_function(&closure.clone(), args, named),
            Abs::Method(method) => {
                let (receiver, name) = (method.0.clone(), method.1.clone());
                self.call_method(&receiver, &name, args, named)
            }
            Abs::Bound(method) => self.call_bound(&Rc::clone(method), args, named),
            Abs::Class(class) => self.instantiate(&Rc::clone(class), args, named),
            Abs::Instance(object) => {
                let object = Rc::clone(object);
                match ClassObj::find(&object.class, "__call__") {
                    Some((owner, Member::Value(Abs::Func(closure)))) => {
                        let receiver = Abs::Instance(object);
                        self.call_bound(&Method { closure, owner, receiver }, args, named)
                    }
                    Some(_) => self.bail(Code::Callee, "__call__ is no function"),
                    None => {
                        let message = format!("'{}' object is not callable", self.class_shown(&object.class)?);
                        self.raise_message(ExcKind::TypeError, &message)
                    }
                }
            }
            Abs::OneOf(choice) => {
                self.choose(&Rc::clone(choice), &mut |me, callee| me.call_value(&callee, args.clone(), named.clone()))
            }
            Abs::Module(name)
                if matches!(&**name, "dataclasses.asdict" | "dataclasses.astuple") && named.is_empty() =>
            {
                match &args[..] {
                    [object] => self.fields_of_dataclass(object, &**name == "dataclasses.asdict"),
                    _ => self.bail(Code::Arguments, format!("{name} with such arguments")),
                }
            }
            Abs::Module(name)
                if &**name == "dataclasses.replace"
                    && args.len() == 1
                    && let Some((_, union)) = self.union_operand(&args) =>
            {
                self.dispatch(union, &mut |me, object| me.call_value(callee, vec![object], named.clone()))
            }
            Abs::Module(name) if &**name == "dataclasses.replace" => match &args[..] {
                [Abs::Instance(object)] => self.replaced(&Rc::clone(object), named),
                [Abs::OneOf(choice)] => self
                    .choose(&Rc::clone(choice), &mut |me, object| me.call_value(callee, vec![object], named.clone())),
                [of @ Abs::Dyn(_)] if let seen @ Abs::Instance(_) = self.seen(of.clone()) => {
                    self.call_value(callee, vec![seen], named)
                }
                _ => self.bail(Code::Arguments, "dataclasses.replace of something else than a dataclass"),
            },
            Abs::Module(name) if &**name == "enum.auto" && args.is_empty() && named.is_empty() => {
                Ok(Abs::Builtin(crate::enums::AUTO.into()))
            }
            Abs::Module(name) if &**name == "collections.namedtuple" => self.call_of_namedtuple(&args, &named),
            Abs::Builtin(name) => self.call_builtin(&name.clone(), args, named),
            // They take several arguments, of which their text is made.
            Abs::ExcClass(kind)
                if *kind == ExcKind::JSONDecodeError
                    || *kind != ExcKind::UnicodeError && kind.is_subclass(ExcKind::UnicodeError) =>
            {
                self.bail(Code::Callee, format!("an object of {}", kind.name()))
            }
            Abs::ExcClass(ExcKind::SyntaxError) if args.len() != 1 => {
                self.bail(Code::Callee, "a SyntaxError of more than a message")
            }
            // An error number chooses the class.
            Abs::ExcClass(kind) if kind.is_subclass(ExcKind::OSError) && args.len() > 1 => {
                self.bail(Code::Callee, format!("an object of {} with an error number", kind.name()))
            }
            Abs::ExcClass(kind) if named.is_empty() => Ok(Abs::ExcInst(Rc::new((*kind, args)))),
            Abs::Const(object) => {
                let message = format!("'{}' object is not callable", object.ty().message_name());
                self.raise_message(ExcKind::TypeError, &message)
            }
            other => self.bail(Code::Callee, format!("a call of {}", describe(other))),
        }
    }

    /// `value.name`.
    pub fn attribute(&mut self, value: Abs, name: &Name) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        match &value {
            Abs::Module(module) => return self.module_attribute(module, name),
            Abs::Instance(object) => return self.instance_attribute(&Rc::clone(object), name),
            Abs::Class(class) => return self.class_attribute(&Rc::clone(class), name),
            Abs::Super(of) => return self.super_attribute(&of.0, &of.1, name),
            Abs::OneOf(choice) => return self.attribute_of_choice(&Rc::clone(choice), name),
            Abs::Table(_) => return Ok(Abs::Method(Rc::new((value, name.clone())))),
            Abs::Iter(iter) => match (&**iter, &**name) {
                (Iter::Range { start, .. }, "start") => return Ok(start.clone()),
                (Iter::Range { stop, .. }, "stop") => return Ok(stop.clone()),
                (Iter::Range { step, .. }, "step") => return Ok(step.clone()),
                _ => {}
            },
            _ => {}
        }
        let ty = self.type_of(&value);
        if let Some(ty) = &ty {
            // What is no method: these of every object, and what an exception has beside a text.
            if let (Abs::Dyn(exc), "args") = (&value, &**name)
                && let Some(arguments) = self.arguments.get(exc)
            {
                return Ok(arguments.clone());
            }
            let is_text = matches!(&**name, "__class__" | "msg" | "pos" | "lineno" | "colno" | "doc");
            if matches!(&**name, "__doc__" | "__hash__") || ty.alternatives().contains(&Type::Exc) && !is_text {
                return self.bail(Code::Callee, format!("attribute {name} of {}", crate::lifter::type_for_people(ty)));
            }
        }
        if let Abs::Dyn(v) = &value
            && matches!(self.b.function.ty(*v), Type::Union(_))
        {
            // A method is chosen by the class, so the union is split where it is called;
            // classes without the attribute raise here, before the arguments.
            let ty = self.b.function.ty(*v).clone();
            for alternative in ty.alternatives() {
                if self.holds_attribute(alternative, name)? {
                    return self.dispatch(*v, &mut |me, narrowed| me.attribute(narrowed, name));
                }
            }
            let lacking: Vec<Type> =
                ty.alternatives().iter().filter(|a| attributes::has(a, name) == Some(false)).cloned().collect();
            if lacking.is_empty() {
                return Ok(Abs::Method(Rc::new((value, name.clone()))));
            }
            return self.dispatch_attribute(*v, name);
        }
        if &**name == "__class__" && ty.is_some() {
            return self.type_value(&value);
        }
        match ty {
            Some(ty) if attributes::has(&ty, name) == Some(false) => {
                let message = format!("'{}' object has no attribute '{name}'", ty.message_name());
                self.raise_message(ExcKind::AttributeError, &message)
            }
            Some(Type::Record(..) | Type::Pattern(_)) => self.attribute_of_object(value, name),
            Some(Type::Exc) if matches!(&**name, "msg" | "pos" | "lineno" | "colno" | "doc") => {
                match self.prelude_function("json", "_error_part")? {
                    Some(function) => self.call_value(&function, vec![value, Abs::str(name)], Vec::new()),
                    None => self.bail(Code::Callee, format!("attribute {name} of an exception")),
                }
            }
            Some(Type::Int | Type::Bool) if matches!(&**name, "real" | "numerator") => self.apply("int", &[value]),
            Some(Type::Int | Type::Bool) if &**name == "imag" => Ok(Abs::int(0)),
            Some(Type::Int | Type::Bool) if &**name == "denominator" => Ok(Abs::int(1)),
            Some(Type::Float) if &**name == "real" => Ok(value),
            Some(Type::Float) if &**name == "imag" => Ok(Abs::Const(Object::Float(0.0))),
            Some(_) => Ok(Abs::Method(Rc::new((value, name.clone())))),
            None => match &value {
                Abs::ClassOf(exception) if &**name == "__name__" => self.exception_name(exception),
                class
                    if &**name == "__name__"
                        && let Some(class) = ClassRef::of_name(class) =>
                {
                    Ok(Abs::str(class.name()))
                }
                Abs::Builtin(class) if let Some(function) = self.class_method(class, name) => {
                    Ok(Abs::Builtin(function.into()))
                }
                Abs::Builtin(class) if matches!(&**class, "str" | "int" | "float" | "list" | "dict") => {
                    if attributes::of_class(class, name) == Some(false) {
                        let message = format!("type object '{class}' has no attribute '{name}'");
                        return self.raise_message(ExcKind::AttributeError, &message);
                    }
                    Ok(Abs::Builtin(format!("{class}.{name}").into()))
                }
                Abs::Builtin(class)
                    if let Some(("datetime", class)) = class.split_once('.')
                        && let Some(value) = self.prelude_function("datetime", &format!("_{class}_{name}"))? =>
                {
                    self.call_value(&value, Vec::new(), Vec::new())
                }
                Abs::Builtin(class)
                    if matches!(&**name, "today" | "now" | "utcnow") && class.starts_with("datetime.") =>
                {
                    self.bail(Code::Volatile, format!("{class}.{name}"))
                }
                Abs::Builtin(class) if &**class == "object" && &**name == "__setattr__" => {
                    Ok(Abs::Builtin("object.__setattr__".into()))
                }
                Abs::ExcClass(kind) if &**name == "__init__" => {
                    Ok(Abs::Builtin(format!("{}.__init__", kind.name()).into()))
                }
                // `functools.wraps` gives a function another name.
                Abs::Func(closure)
                    if &**name == "__name__" && closure.def.decorators.iter().all(|one| self.keeps_name(one)) =>
                {
                    Ok(Abs::str(&closure.def.name))
                }
                other => self.bail(Code::Callee, format!("attribute {name} of {}", describe(other))),
            },
        }
    }

    /// Whether what a decorator makes of a function cannot be named after another.
    fn keeps_name(&self, decorator: &Expr) -> bool {
        let ExprKind::Name(name) = &decorator.kind else { return false };
        match self.lookup(name) {
            Some(Abs::Func(closure)) => !self.in_prelude(closure.module),
            Some(Abs::Module(_) | Abs::Builtin(_)) => true,
            _ => false,
        }
    }

    /// The function of the prelude that a class method is: `datetime.date_fromordinal`.
    fn class_method(&self, class: &str, name: &str) -> Option<String> {
        let (module, class) = class.split_once('.').unwrap_or(("builtins", class));
        let function = format!("{class}_{name}");
        self.prelude_has(module, &function).then(|| format!("{module}.{function}"))
    }

    /// The attribute of a union of which some alternatives lack it: those raise; what is
    /// left is narrowed.
    fn dispatch_attribute(&mut self, value: exuvia_ir::Value, name: &Name) -> Lift<Abs> {
        let hidden = self.hidden_name("recv");
        self.set_var(&hidden, Abs::Dyn(value));
        let (yes, no) = {
            let name = name.clone();
            self.split_type(value, &move |ty| attributes::has(ty, &name) != Some(false))?
        };
        for state in no {
            self.enter(state);
            if let Some(ty) = {
                let abs = self.get_hidden(&hidden);
                self.type_of(&abs)
            } {
                let message = format!("'{}' object has no attribute '{name}'", ty.message_name());
                self.raise_message(ExcKind::AttributeError, &message)?;
            }
        }
        self.enter_any(yes)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let narrowed = self.get_hidden(&hidden);
        self.remove_var(&hidden);
        match self.type_of(&narrowed) {
            Some(Type::Union(_)) | None => Ok(Abs::Method(Rc::new((narrowed, name.clone())))),
            Some(_) => self.attribute(narrowed, name),
        }
    }

    fn module_attribute(&mut self, module: &Name, name: &Name) -> Lift<Abs> {
        if let Some(constant) = crate::names::module_constant(module, name) {
            return Ok(Abs::Const(constant));
        }
        if &**module == "numpy.linalg" {
            return self.module_attribute(&"numpy".into(), &format!("_linalg_{name}").into());
        }
        let spelling = format!("{module}.{name}");
        let entry = exuvia_ops::prelude::MODULES.iter().find(|entry| entry.0 == &**module);
        let prelude = entry.is_some();
        if let Some(entry) = entry
            && crate::standard::has_name(module, name)
            && self.prelude_defines(module, "class", name)
            && let Some(class @ Abs::Class(_)) = self.prelude_function(entry.0, name)?
        {
            return Ok(class);
        }
        if let Some(kind) = ExcKind::from_name(name).filter(|kind| kind.module() == Some(module)) {
            return Ok(Abs::ExcClass(kind));
        }
        if let Some(entry) = entry
            && !name.starts_with('_')
            && entry.1.contains(&format!("\n{name} = "))
            && let Some(constant) = self.prelude_global(entry.0, name)?
        {
            return Ok(constant);
        }
        let is_class = ClassRow::spelled(&spelling).is_some_and(|class| class.objects == Objects::None);
        if is_class || !exuvia_ops::by_spelling(&spelling).is_empty() || (prelude && self.prelude_has(module, name)) {
            return Ok(Abs::Builtin(spelling.into()));
        }
        // What importing the one imports too.
        if spelling == "numpy.linalg" || spelling == "os.path" && exuvia_ops::prelude::named("os.path").is_some() {
            return Ok(Abs::Module(spelling.into()));
        }
        // A module of a package, which an import by that path has given to it.
        if let Some(found @ Abs::Module(_)) = self.lookup(&crate::parse::hidden(&spelling)) {
            return Ok(found);
        }
        if matches!(&**module, "random" | "time" | "datetime" | "os" | "uuid" | "secrets") {
            return self.bail(Code::Volatile, spelling);
        }
        // What makes classes is no value.
        if matches!(
            &*spelling,
            "collections.namedtuple"
                | "typing.NamedTuple"
                | "enum.auto"
                | "enum.unique"
                | "functools.cached_property"
                | "dataclasses.asdict"
                | "dataclasses.replace"
                | "dataclasses.astuple"
        ) {
            return Ok(Abs::Module(spelling.into()));
        }
        // Of a module of which other names are lifted it is that function.
        self.bail(if prelude { Code::Callee } else { Code::Import }, spelling)
    }

    fn prelude_has(&self, module: &str, name: &str) -> bool {
        self.prelude_defines(module, "def", name)
    }

    fn prelude_defines(&self, module: &str, keyword: &str, name: &str) -> bool {
        let begins = |end: char| format!("\n{keyword} {name}{end}");
        exuvia_ops::prelude::module(module)
            .is_some_and(|source| source.contains(&begins('(')) || source.contains(&begins(':')))
    }

    fn call_method(&mut self, receiver: &Abs, name: &Name, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        if let Abs::Dyn(value) = receiver
            && matches!(self.b.function.ty(*value), Type::Union(_))
        {
            return self
                .dispatch(*value, &mut |me, narrowed| me.call_method(&narrowed, name, args.clone(), named.clone()));
        }
        if self.type_of(receiver) == Some(Type::Str)
            && let Some(texts) = self.texts_for_method(name, &args)?
        {
            return self.call_method(receiver, name, texts, named);
        }
        if let Abs::Instance(object) = receiver
            && object.class.exception.is_none()
        {
            let method = self.attribute(receiver.clone(), name)?;
            return self.call_value(&method, args, named);
        }
        if let Abs::Instance(object) = receiver {
            // Those of the built-in class above one of exceptions.
            return match &**name {
                "__init__" if named.is_empty() => {
                    self.set_arguments(object, &args)?;
                    Ok(Abs::NONE)
                }
                "__str__" if args.is_empty() => self.text_of_exception(&Rc::clone(object), false),
                "__repr__" if args.is_empty() => self.text_of_exception(&Rc::clone(object), true),
                _ => self.bail(Code::Callee, format!("method {name} of an exception")),
            };
        }
        if let Abs::Table(table) = receiver
            && named.is_empty()
        {
            return self.method_of_table(&Rc::clone(table), name, &args);
        }
        let receiver = &self.known_pattern(receiver);
        if let (true, Abs::Const(Object::Dict(_)), "update") = (self.module_mode, receiver, &**name)
            && args.len() < 2
            && !(named.is_empty() && matches!(args.first(), Some(Abs::Const(Object::Dict(_)) | Abs::Table(_))))
        {
            // `d.update(other, key=value)` is `d.update(dict(other, key=value))`.
            let more = self.dict_of_named(&args, named)?;
            return match more {
                Abs::Const(_) | Abs::Table(_) => self.call_method(receiver, name, vec![more], Vec::new()),
                _ => self.bail(Code::Mutation, "a dict updated at the top level by such a value"),
            };
        }
        if let (true, true, Abs::Const(object)) = (self.module_mode, named.is_empty(), receiver)
            && let Some(result) = self.changed_by_method(object, name, &args)?
        {
            return Ok(result);
        }
        if &**name == "sort" && args.is_empty() && self.sort_while_loading(receiver, &named)? {
            return Ok(Abs::NONE);
        }
        if let ("__getitem__", [index]) = (&**name, &args[..])
            && named.is_empty()
        {
            return self.item(receiver.clone(), index.clone());
        }
        self.change_of_constant(receiver, name)?;
        if let Some(result) = self.static_method(receiver, name, &args, &named)? {
            return Ok(result);
        }
        let mut all = vec![receiver.clone()];
        all.extend(args);
        self.call_spelled(&format!(".{name}"), all, named)
    }

    /// Methods of constant containers that give something to iterate.
    fn static_method(&mut self, receiver: &Abs, name: &str, args: &[Abs], named: &[(Name, Abs)]) -> Lift<Option<Abs>> {
        if name == "format" && self.type_of(receiver) == Some(Type::Str) {
            return self.format_method(receiver, &Arguments { positional: args, named, mapping: None }).map(Some);
        }
        if !named.is_empty() {
            return Ok(None);
        }
        match (receiver, name, args) {
            (Abs::Const(object @ Object::Dict(dict)), "keys" | "values" | "items", []) => {
                let entries = dict.entries().iter();
                let (of, items) = match name {
                    "keys" => (ViewOf::Keys, entries.map(|e| e.0.clone()).collect()),
                    "values" => (ViewOf::Values, entries.map(|e| e.1.clone()).collect()),
                    _ => (ViewOf::Items, entries.map(|e| Object::tuple(vec![e.0.clone(), e.1.clone()])).collect()),
                };
                let items = Object::tuple(items);
                Ok(Some(Abs::Iter(Rc::new(Iter::View { of, dict: object.clone(), items }))))
            }
            (Abs::Const(Object::Dict(_)), "copy", []) if !self.module_mode => self.dict_of(Some(receiver)).map(Some),
            (Abs::Const(Object::Set(set)), "copy", []) if set.frozen => Ok(Some(receiver.clone())),
            (Abs::Const(Object::Set(_)), "copy", []) if !self.module_mode => self.set_of(Some(receiver)).map(Some),
            (Abs::Const(Object::Set(_)), "isdisjoint" | "issuperset" | "issubset" | "symmetric_difference", [_])
            | (Abs::Const(Object::Set(_)), "union" | "intersection" | "difference", [_, ..])
                if !self.module_mode =>
            {
                match self.prelude_function("collections", &format!("_constant_{name}"))? {
                    Some(function) => {
                        let all = std::iter::once(receiver).chain(args).cloned().collect();
                        self.call_value(&function, all, Vec::new()).map(Some)
                    }
                    None => Ok(None),
                }
            }
            (receiver, "format_map", [mapping])
                if self.type_of(receiver) == Some(Type::Str) && self.is_dict(mapping) =>
            {
                let arguments = Arguments { positional: &[], named: &[], mapping: Some(mapping) };
                self.format_method(receiver, &arguments).map(Some)
            }
            (receiver, "join", [iterable]) if self.type_of(receiver) == Some(Type::Str) => {
                // What is not a list yet becomes one, as in CPython.
                let mut join = |me: &mut Self, item| me.call_method(receiver, &"join".into(), vec![item], Vec::new());
                if let Abs::OneOf(choice) = iterable {
                    return self.choose(&Rc::clone(choice), &mut join).map(Some);
                }
                if let Some((_, union)) = self.union_operand(std::slice::from_ref(iterable)) {
                    return self.dispatch(union, &mut join).map(Some);
                }
                let iterable = &self.seen(iterable.clone());
                match self.type_of(iterable) {
                    Some(Type::List(_)) => return Ok(None),
                    Some(Type::None | Type::Bool | Type::Int | Type::Float) => {
                        return self.raise_message(ExcKind::TypeError, "can only join an iterable").map(Some);
                    }
                    _ => {}
                }
                if let Abs::Instance(object) = iterable
                    && !ClassObj::is_iterable(&object.class)
                {
                    return self.bail(Code::Operands, "join of an object");
                }
                let list = self.calling_back(|me| me.listed(iterable))?;
                if !self.live {
                    return Ok(Some(Abs::Unbound));
                }
                self.apply(".join", &[receiver.clone(), list]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Calls what is spelled so: an operation with keyword arguments bound by name, else
    /// the prelude.
    pub fn call_spelled(&mut self, spelling: &str, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        if named.is_empty() {
            if let Some(result) = self.try_apply(spelling, &args)? {
                return Ok(result);
            }
            let types: Option<Vec<Type>> = args.iter().map(|arg| self.type_of(arg)).collect();
            if let Some((kind, message)) = types.as_deref().and_then(|types| operands::error(spelling, types)) {
                return self.raise_message(kind, &message);
            }
            args.iter().filter(|arg| matches!(arg, Abs::Dyn(_))).try_for_each(|arg| self.changes(arg))?;
            let shown = |arg: &Abs| match self.type_of(arg) {
                Some(ty) => crate::lifter::type_for_people(&ty),
                None => describe(arg),
            };
            let shown: Vec<String> = args.iter().map(shown).collect();
            return self.bail(Code::Callee, format!("{} of ({})", spelling.trim_start_matches('.'), shown.join(", ")));
        }
        if let Some((_, value)) = self.union_operand(&args) {
            return self.dispatch(value, &mut |me, narrowed| {
                let args =
                    args.iter().map(|arg| arg.replace(value, &narrowed).unwrap_or_else(|| arg.clone())).collect();
                me.call_spelled(spelling, args, named.clone())
            });
        }
        for &def in exuvia_ops::by_spelling(spelling) {
            let mut bound: Vec<Option<Abs>> = args.iter().cloned().map(Some).collect();
            bound.resize(def.params.len().max(args.len()), None);
            let fits = args.len() <= def.positional()
                && named.iter().all(|(name, value)| match def.params.iter().position(|param| param.name == &**name) {
                    Some(at) if bound[at].is_none() => {
                        bound[at] = Some(value.clone());
                        true
                    }
                    _ => false,
                });
            let complete: Option<Vec<Abs>> = bound
                .into_iter()
                .zip(def.params)
                .map(|(value, param)| value.or_else(|| param.default.map(|default| Abs::Const(default.object()))))
                .collect();
            let Some(complete) = complete.filter(|_| fits) else { continue };
            let Some(types) = complete.iter().map(|arg| self.type_of(arg)).collect::<Option<Vec<_>>>() else {
                continue;
            };
            if def.accepts(&types) {
                return self.use_operation(def, &complete);
            }
        }
        let spelled = spelling.trim_start_matches('.');
        let (module, spelled) = match (spelled.contains('.'), args.first().and_then(|arg| self.type_of(arg))) {
            (true, _) => crate::names::in_module(spelled),
            (false, Some(ty)) if spelling.starts_with('.') => (ty.path(), spelled),
            _ => ("builtins", spelled),
        };
        if let Some(module) = exuvia_ops::prelude::named(module)
            && let Some(function) = self.prelude_function(module, spelled)?
        {
            return self.call_value(&function, args, named);
        }
        self.bail(Code::Arguments, format!("keyword arguments of {spelled}"))
    }

    fn call_builtin(&mut self, name: &Name, mut args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        if let ("int", [_], [(keyword, base)]) = (&**name, &args[..], &named[..])
            && &**keyword == "base"
        {
            args.push(base.clone());
            return self.call_builtin(name, args, Vec::new());
        }
        if ClassRow::spelled(name).is_some_and(|class| class.objects == Objects::None) {
            return self.bail(Code::Callee, format!("{name} is not lifted"));
        }
        // They iterate over what they get, and a named tuple is as good as a tuple for that.
        let iterates = match &**name {
            "sum" | "sorted" | "any" | "all" | "list" | "tuple" | "set" | "frozenset" | "enumerate" | "reversed" => {
                true
            }
            "max" | "min" => args.len() == 1,
            _ => false,
        };
        if let (true, Some(first)) = (iterates, args.first_mut())
            && let Some(items) = self.named_items(first)
        {
            *first = Abs::tuple(items);
        }
        if let ("sorted", [items]) = (&**name, &args[..])
            && let Some(sorted) = self.sorted_while_loading(items, &named)?
        {
            return Ok(sorted);
        }
        if let ("list" | "tuple" | "set" | "frozenset" | "dict" | "float" | "bool", [_, _, ..]) = (&**name, &args[..]) {
            let message = format!("{name} expected at most 1 argument, got {}", args.len());
            return self.raise_message(ExcKind::TypeError, &message);
        }
        if named.is_empty() {
            match (&**name, args.as_slice()) {
                ("range", [_] | [_, _] | [_, _, _]) => {
                    let bounds = args.iter().map(|arg| self.as_index(arg.clone())).collect::<Lift<Vec<_>>>()?;
                    return if self.live { self.range(&bounds) } else { Ok(Abs::Unbound) };
                }
                ("enumerate", [inner]) => return self.enumerate(inner, &Abs::int(0)),
                ("enumerate", [inner, start]) => return self.enumerate(inner, start),
                ("zip", _) => return self.zip(&args),
                ("reversed", [inner]) => return self.reversed(inner),
                ("map" | "filter", [func, inner]) => {
                    let inner = self.iterable(inner.clone())?;
                    let func = func.clone();
                    return Ok(match (self.live, &**name) {
                        (false, _) => Abs::Unbound,
                        (_, "map") => Abs::Iter(Rc::new(Iter::Map { func, inner })),
                        _ => Abs::Iter(Rc::new(Iter::Filter { func, inner })),
                    });
                }
                ("map", [func, _, _, ..]) => {
                    let inner = self.zip(&args[1..])?;
                    return self.call_of_prelude("_map_all", vec![func.clone(), inner]);
                }
                ("object", []) => return self.call_of_prelude("_Sentinel", Vec::new()),
                ("list", [inner @ (Abs::Table(_) | Abs::Class(_))]) => return self.listed(inner),
                ("isinstance", [value, classes]) => return self.isinstance(value, classes),
                ("issubclass", [class, classes]) => return self.issubclass(class, classes),
                (name, args) if NAMES.contains(&name) => return self.intrinsic(name, args),
                ("super", []) => return self.super_(),
                ("type", [value]) => return self.type_value(value),
                ("object.__init__", []) => return Ok(Abs::NONE),
                ("setattr", [Abs::Instance(object), Abs::Const(Object::Str(name)), value])
                    if object.class.exception.is_none() && ClassObj::find(&object.class, "__setattr__").is_none() =>
                {
                    self.set_attribute(object, &Name::from(&**name), value.clone())?;
                    return Ok(Abs::NONE);
                }
                ("object.__setattr__", [Abs::Instance(object), Abs::Const(Object::Str(name)), value]) => {
                    self.set_attribute_of_frozen(object, &Name::from(&**name), value.clone())?;
                    return Ok(Abs::NONE);
                }
                ("list", []) => return self.new_list(&[]),
                ("list", [iterable]) => return self.copy_to_list(iterable),
                ("tuple", []) => return Ok(Abs::tuple(Vec::new())),
                ("tuple", [iterable]) => return self.tuple_of(iterable),
                ("set", args) if !self.module_mode => return self.set_of(args.first()),
                ("frozenset", args) if !self.module_mode => return self.frozenset_of(args.first()),
                ("set" | "frozenset", args) => return self.constant_set(args.first(), &**name == "frozenset"),
                ("dict", args @ ([] | [_])) if !self.module_mode => return self.dict_of(args.first()),
                ("dict", []) => return Ok(Abs::Const(Object::Dict(Arc::default()))),
                // What tells it from the other is where it lies.
                ("dict", [Abs::Const(Object::Dict(dict))]) => {
                    return Ok(Abs::Const(Object::Dict(Arc::new(DictObj::clone(dict)))));
                }
                ("dict", [pairs @ (Abs::Iter(_) | Abs::Tuple(_) | Abs::Const(Object::List(_) | Object::Tuple(_)))]) => {
                    return self.constant_dict(pairs);
                }
                ("str", []) => return Ok(Abs::str("")),
                ("int", []) => return Ok(Abs::int(0)),
                ("float", []) => return Ok(Abs::Const(Object::Float(0.0))),
                ("bool", []) => return Ok(Abs::bool(false)),
                ("bool", [value]) => return self.bool_of(value),
                ("str", [Abs::ExcInst(exc)]) if exc.1.len() == 1 => return self.apply("str", &exc.1),
                _ => {}
            }
        }
        if &**name == "dict" && args.len() <= 1 && !named.is_empty() {
            return self.dict_of_named(&args, named);
        }
        if let ("zip", [(strict, Abs::Const(Object::Bool(strictly)))]) = (&**name, &named[..])
            && &**strict == "strict"
        {
            return if *strictly { self.call_of_prelude("_zip_strict", args) } else { self.zip(&args) };
        }
        if &**name == "enumerate" && args.len() == 1 && named.len() == 1 && &*named[0].0 == "start" {
            return self.enumerate(&args[0], &named[0].1);
        }
        if let Some(of) = name.strip_suffix(".__init__").and_then(ExcKind::from_name)
            && let Some((receiver @ Abs::Instance(object), rest)) = args.split_first()
            && object.class.exception.is_some_and(|kind| kind.is_subclass(of))
        {
            return self.call_method(&receiver.clone(), &"__init__".into(), rest.to_vec(), named);
        }
        // `str.upper` as a function takes the receiver as its first argument; those that take the class
        // are no functions of that kind.
        if let Some((class, method)) = name.split_once('.')
            && matches!(class, "str" | "int" | "float" | "list" | "dict")
            && !matches!(method, "fromhex" | "from_bytes" | "fromkeys" | "maketrans")
            && let Some((receiver, rest)) = args.split_first()
        {
            if let Some((_, union)) = self.union_operand(&args[..1]) {
                return self.dispatch(union, &mut |me, narrowed| {
                    let args = std::iter::once(narrowed).chain(rest.iter().cloned()).collect();
                    me.call_builtin(name, args, named.clone())
                });
            }
            match self.type_of(receiver) {
                Some(ty) if ty.python_name() == class => {}
                Some(ty @ (Type::None | Type::Int | Type::Float | Type::Str | Type::List(_) | Type::Tuple(_))) => {
                    let given = ty.message_name();
                    let message =
                        format!("descriptor '{method}' for '{class}' objects doesn't apply to a '{given}' object");
                    return self.raise_message(ExcKind::TypeError, &message);
                }
                _ => return self.bail(Code::Callee, format!("{name} of another type")),
            }
            return self.call_method(&receiver.clone(), &method.into(), rest.to_vec(), named);
        }
        self.call_spelled(name, args, named)
    }

    fn enumerate(&mut self, inner: &Abs, start: &Abs) -> Lift<Abs> {
        if let Some((_, value)) = self.union_operand(std::slice::from_ref(start)) {
            return self.dispatch(value, &mut |me, narrowed| me.enumerate(inner, &narrowed));
        }
        if !matches!(self.type_of(start), Some(Type::Int)) {
            return match self.type_of(start) {
                Some(ty @ (Type::None | Type::Float | Type::Str)) => {
                    let message = format!("'{}' object cannot be interpreted as an integer", ty.message_name());
                    self.raise_message(ExcKind::TypeError, &message)
                }
                _ => self.bail(Code::Operands, "enumerate with such a start"),
            };
        }
        let inner = self.iterable(inner.clone())?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        Ok(Abs::Iter(Rc::new(Iter::Enumerate { inner, start: start.clone() })))
    }

    fn zip(&mut self, args: &[Abs]) -> Lift<Abs> {
        let mut args: Vec<Abs> = args.iter().map(|arg| self.walked_as_one(arg)).collect::<Lift<_>>()?;
        // A generator that comes first runs while the other is read.
        if let [first @ Abs::Iter(iter), second] = &args[..]
            && matches!(&**iter, Iter::Call { .. } | Iter::Generator { .. } | Iter::Map { .. } | Iter::Filter { .. })
            && !self.is_quiet(first)
            && matches!(self.type_of(second), Some(Type::List(_) | Type::Str | Type::Tuple(_)))
        {
            let second = self.call_of_prelude("_in_turns", vec![second.clone()])?;
            return self.call_of_prelude("_zip_two", vec![first.clone(), second]);
        }
        if args.iter().any(is_list_iterator) {
            for arg in args.iter_mut().filter(|arg| matches!(arg, Abs::Iter(_))) {
                *arg = self.keep_iterator(arg.clone())?;
            }
            return self.call_of_prelude("_zip_turns", args);
        }
        if self.live { self.zip_of_known(&args) } else { Ok(Abs::Unbound) }
    }

    /// What may be of several types of sequences, as a list that is read only.
    pub fn walked_as_one(&mut self, abs: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Abs::OneOf(choice) = abs
            && choice.of.iter().all(|(_, item)| {
                let is_view = matches!(item, Abs::Iter(iter) if matches!(**iter, Iter::View { .. }));
                (is_view || item.as_const().is_some()) && self.known_items(item).is_some()
            })
        {
            return self.choose(&Rc::clone(choice), &mut |me, item| {
                let items = me.known_items(&item).unwrap_or_default();
                me.new_list(&items)
            });
        }
        let Some((_, value)) = self.union_operand(std::slice::from_ref(abs)) else { return Ok(abs.clone()) };
        let ty = self.b.function.ty(value).clone();
        let walked: Vec<&Type> =
            ty.alternatives().iter().filter(|ty| operands::error("iter", &[(*ty).clone()]).is_none()).collect();
        if walked.len() < 2 || !walked.iter().all(|ty| matches!(ty, Type::List(_) | Type::Tuple(_) | Type::Str)) {
            return Ok(abs.clone());
        }
        self.dispatch(value, &mut |me, narrowed| {
            let is_walked = me.type_of(&narrowed).is_some_and(|ty| operands::error("iter", &[ty]).is_none());
            match (is_walked, me.known_items(&narrowed)) {
                (true, Some(items)) => me.new_list(&items),
                (true, None) => me.listed(&narrowed),
                (false, _) => Ok(narrowed),
            }
        })
    }

    fn zip_of_known(&mut self, args: &[Abs]) -> Lift<Abs> {
        if let Some((_, value)) = self.union_operand(args) {
            return self.dispatch(value, &mut |me, narrowed| {
                let args: Vec<Abs> =
                    args.iter().map(|arg| arg.replace(value, &narrowed).unwrap_or_else(|| arg.clone())).collect();
                me.zip_of_known(&args)
            });
        }
        for arg in args {
            if let Some(ty) = self.type_of(arg)
                && let Some((kind, message)) = operands::error("iter", &[ty])
            {
                return self.raise_message(kind, &message);
            }
        }
        Ok(Abs::Iter(Rc::new(Iter::Zip(args.to_vec()))))
    }

    /// `bool(x)`, keeping what is known of unions.
    fn bool_of(&mut self, value: &Abs) -> Lift<Abs> {
        if let Abs::Dyn(v) = value
            && matches!(self.b.function.ty(*v), Type::Union(_))
        {
            return self.dispatch(*v, &mut |me, narrowed| me.truth(&narrowed));
        }
        self.truth(value)
    }

    fn range(&mut self, args: &[Abs]) -> Lift<Abs> {
        let mut ints = Vec::new();
        for arg in args {
            if let Abs::Dyn(v) = arg
                && matches!(self.b.function.ty(*v), Type::Union(_))
            {
                let v = *v;
                return self.dispatch(v, &mut |me, narrowed| {
                    let args: Vec<Abs> =
                        args.iter().map(|arg| arg.replace(v, &narrowed).unwrap_or_else(|| arg.clone())).collect();
                    // An iterator cannot be joined over alternatives; at most one survives.
                    me.range(&args)
                });
            }
            match self.type_of(arg) {
                Some(Type::Int) => ints.push(arg.clone()),
                Some(Type::Bool) => {
                    let value = self.value(arg)?;
                    ints.push(Abs::Dyn(self.named("bool.to_int", vec![value])?));
                }
                Some(Type::Record(Class::RegexFlag, _)) => {
                    return self.bail(Code::Operands, "a flag of re as a number");
                }
                Some(ty) => {
                    let message = format!("'{}' object cannot be interpreted as an integer", ty.message_name());
                    return self.raise_message(ExcKind::TypeError, &message);
                }
                None => return self.bail(Code::StaticValue, "range of a static value"),
            }
        }
        let mut ints = ints.into_iter();
        let (start, stop, step) = match (ints.next(), ints.next(), ints.next()) {
            (Some(stop), None, None) => (Abs::int(0), stop, Abs::int(1)),
            (Some(start), Some(stop), None) => (start, stop, Abs::int(1)),
            (Some(start), Some(stop), Some(step)) => (start, stop, step),
            _ => return self.bail(Code::Arguments, "range without arguments"),
        };
        if !matches!(&step, Abs::Const(_)) {
            let zero = self.apply("a==b", &[step.clone(), Abs::int(0)])?;
            let (yes, no) = self.split_value(&zero)?;
            for state in yes {
                self.enter(state);
                self.raise_message(ExcKind::ValueError, "range() arg 3 must not be zero")?;
            }
            self.enter_any(no)?;
        } else if step.same(&Abs::int(0)) {
            return self.raise_message(ExcKind::ValueError, "range() arg 3 must not be zero");
        }
        Ok(Abs::Iter(Rc::new(Iter::Range { start, stop, step })))
    }

    // ---- functions written in Python ----

    /// Binds arguments to parameters (language reference, "Calls").
    pub fn bind(&mut self, closure: &Closure, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<BTreeMap<Name, Abs>> {
        let def = &closure.def;
        let params = &def.params;
        let mut vars = BTreeMap::new();
        let count = args.len();
        let mut args = args.into_iter();
        for ((name, _), arg) in params.positional.iter().zip(args.by_ref()) {
            vars.insert(name.clone(), arg);
        }
        let rest: Vec<Abs> = args.collect();
        match (&params.rest, self.rest.take()) {
            (Some(name), Some(all)) => {
                vars.insert(name.clone(), all);
            }
            (Some(name), None) => {
                let rest = Abs::tuple(rest);
                self.check_size(&rest)?;
                vars.insert(name.clone(), rest);
            }
            (None, _) if !rest.is_empty() => {
                return self.wrong_call(format!("{}() is called with {count} positional arguments", def.name));
            }
            (None, _) => {}
        }
        let mut others: Vec<(Abs, Abs)> = Vec::new();
        for (name, value) in named {
            let known = params.positional[params.positional_only..].iter().chain(&params.keyword).any(|p| p.0 == name);
            let free = if known { !vars.contains_key(&name) } else { params.keyword_rest.is_some() };
            if !free {
                return self.wrong_call(format!("{}() and keyword argument {name}", def.name));
            }
            if known {
                vars.insert(name, value);
            } else {
                others.push((Abs::str(&name), value));
            }
        }
        if let Some(name) = &params.keyword_rest {
            // The prelude has them as pairs, which cost nothing.
            let all = match self.in_prelude(closure.module) {
                true => Abs::tuple(others.into_iter().map(|(name, value)| Abs::tuple(vec![name, value])).collect()),
                // Most functions only hand on what they are not given.
                false if others.is_empty() && !self.module_mode && !self.is_changing() => {
                    self.written(Object::Dict(Arc::default()))
                }
                false => self.dict_of_fields(others)?,
            };
            vars.insert(name.clone(), all);
        }
        for (name, default) in &closure.defaults {
            vars.entry(name.clone()).or_insert_with(|| default.clone());
        }
        for (name, _) in params.positional.iter().chain(&params.keyword) {
            if !vars.contains_key(name) {
                return self.wrong_call(format!("{}() is called without {name}", def.name));
            }
        }
        Ok(vars)
    }

    /// A call that CPython refuses: of one of several functions, in rows that come to it.
    fn wrong_call(&mut self, what: String) -> Lift<BTreeMap<Name, Abs>> {
        if self.arms == 0 {
            return self.bail(Code::Arguments, what);
        }
        self.leave_call_to_python();
        Ok(BTreeMap::new())
    }

    /// The arguments that `**` of a dict gives; `None` where its keys are not known.
    fn named_by(&mut self, dict: &Abs) -> Lift<Option<Vec<(Name, Abs)>>> {
        if !self.live {
            return Ok(Some(Vec::new()));
        }
        let name = |(key, value): (Abs, Abs)| match key {
            Abs::Const(Object::Str(name)) => Some((Name::from(&*name), value)),
            _ => None,
        };
        // Those that a function of the prelude hands on.
        let pair = |pair: &Abs| <[Abs; 2]>::try_from(pair.tuple_items()?).ok().map(|[name, value]| (name, value));
        let entries = match dict.tuple_items().filter(|_| self.is_in_prelude()) {
            Some(pairs) => pairs.iter().map(pair).collect(),
            None => self.known_entries(&[(None, dict.clone())])?,
        };
        Ok(entries.and_then(|entries| entries.into_iter().map(name).collect()))
    }

    /// Whether a value is an object that puts work off: what such objects ask of each other ends, since
    /// each is made by an expression of its own.
    fn defers(&self, value: &Abs) -> bool {
        match value {
            Abs::Tuple(items) => items.iter().any(|item| self.defers(item)),
            value => value.is_of_prelude_with("_kept"),
        }
    }

    fn call_function(&mut self, closure: &Rc<Closure>, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
        let def = closure.def.clone();
        let owner = self.next_owner.take();
        if def.asynchronous {
            return self.bail(Code::Handler, format!("{} is asynchronous", def.name));
        }
        if closure.cached {
            let is_plain = named.is_empty() && args.len() == def.params.positional.len();
            self.refuse_changes(closure, is_plain)?;
        }
        let mut vars = self.bind(closure, args, named)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if !self.in_prelude(closure.module) {
            vars.values().try_for_each(|value| self.force(value))?;
            for (name, value) in &mut vars {
                if self.refuse_iterator(value).is_err() && !crate::scope::is_read_once(&def, name) {
                    *value = self.keep_iterator(value.clone())?;
                }
            }
        }
        if def.generator {
            let args = vars.into_iter().collect();
            return Ok(Abs::Iter(Rc::new(Iter::Call { function: Abs::Func(Rc::clone(closure)), args })));
        }
        if closure.cached {
            self.refuse_cache(&def, &vars)?;
        }
        let prelude = self.in_prelude(closure.module);
        let identity = closure.identity();
        let within = self.unfolding.iter().filter(|around| **around == identity).count();
        let again = within > 0 && {
            let most = if prelude { MAX_WITHIN } else { MAX_WITHIN_OWN };
            prelude && vars.values().any(|value| self.defers(value))
                || within < most && !closure.cached && vars.values().any(is_code)
        };
        if within > 0 && !again || self.is_kept(closure) {
            return self.recursion(closure, &vars);
        }
        if self.unfolding.len() >= MAX_DEPTH {
            return self.bail(Code::Budget, "calls nest too deeply");
        }
        if let Some(result) = self.shared(closure, &vars)? {
            return Ok(result);
        }
        let before = self.b.function.values.len();
        let result = self.unfold(closure, vars, owner)?;
        if closure.cached {
            self.refuse_kept(&def, &result)?;
        }
        let size = self.b.function.values.len().saturating_sub(before);
        self.world.sizes.insert(Arc::as_ptr(&def), size);
        Ok(result)
    }

    /// Whether a module is one of the prelude's.
    pub fn in_prelude(&self, module: usize) -> bool {
        self.world.prelude.values().chain(self.world.border.values()).any(|index| *index == module)
    }

    /// Lifts the body of a function in place of the call.
    fn unfold(
        &mut self,
        closure: &Rc<Closure>,
        vars: BTreeMap<Name, Abs>,
        owner: Option<(Rc<ClassObj>, Abs)>,
    ) -> Lift<Abs> {
        self.world.budget.take(16 + 2 * vars.len());
        let def = closure.def.clone();
        let depth = self.frames.len();
        let caller = self.current;
        let augmented = std::mem::replace(&mut self.augmented, false);
        let outer_path = self.frames.get(caller).map_or(0, |frame| frame.path);
        let path = mix(outer_path, self.place.start);
        // What the prelude does is reported where it was called.
        let prelude = self.in_prelude(closure.module) || self.is_made(Arc::as_ptr(&def));
        let locked = std::mem::replace(&mut self.span_locked, prelude);
        self.frames.push(Frame { owner, ..closure.frame(vars, path) });
        self.makes(depth, false);
        self.current = depth;
        self.contexts.push(Ctx::Call { returns: Vec::new(), depth, generator: false });
        self.unfolding.push(closure.identity());
        let (span, place) = (self.b.span, self.place);
        let ran = self.stmts(&def.body);
        self.span_locked = locked;
        self.b.span = span;
        self.place = place;
        self.unfolding.pop();
        ran?;
        if self.live {
            self.leave_call(Abs::NONE);
        }
        self.current = caller;
        self.augmented = augmented;
        let Some(Ctx::Call { returns, .. }) = self.contexts.pop() else {
            return self.bail(Code::Budget, "contexts are out of step");
        };
        Ok(self
            .join(returns.into_iter().map(|(state, value)| (state, vec![value])).collect())?
            .pop()
            .unwrap_or(Abs::Unbound))
    }

    /// Ends an unfolded call with a result.
    pub fn leave_call(&mut self, value: Abs) {
        let Some(at) = self.contexts.iter().rposition(|ctx| matches!(ctx, Ctx::Call { .. })) else { return };
        let Some(mut state) = self.state() else { return };
        if let Ctx::Call { returns, depth, .. } = &mut self.contexts[at] {
            let value = crate::leave::leave(&value, *depth, &state.frames, &self.world.budget).unwrap_or(Abs::Conflict);
            crate::leave::end_frames(&mut state.frames, *depth, &self.makers, &self.world.budget);
            returns.push((state, value));
        }
        self.die();
    }

    /// The function or class of a prelude module, lifted when it is first needed.
    pub fn prelude_function(&mut self, module: &'static str, name: &str) -> Lift<Option<Abs>> {
        Ok(self.prelude_global(module, name)?.filter(|abs| matches!(abs, Abs::Func(_) | Abs::Class(_))))
    }

    fn prelude_global(&mut self, module: &'static str, name: &str) -> Lift<Option<Abs>> {
        if module == "decimal" && self.world.changes_context {
            return self.bail(Code::Import, "decimals in a context that the module changes");
        }
        let index = match self.world.prelude.get(module) {
            Some(index) => *index,
            None => {
                let outer = std::mem::replace(&mut self.world.loading_prelude, true);
                let index = crate::module::load_prelude(self.world, module);
                self.world.loading_prelude = outer;
                let index = index?;
                self.world.prelude.insert(module, index);
                index
            }
        };
        Ok(self.world.modules[index].globals.get(name).filter(|abs| !matches!(abs, Abs::Conflict)).cloned())
    }
}

/// A call path from the one around and the place of the call.
pub(crate) fn mix(path: u64, place: u32) -> u64 {
    (path ^ u64::from(place).wrapping_add(0x9e37_79b9)).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
}

/// Whether it is an iterator that may be read at several places.
fn is_list_iterator(abs: &Abs) -> bool {
    matches!(abs, Abs::Instance(object) if object.class.prelude && ClassObj::is_below(&object.class, "list_iterator"))
}
