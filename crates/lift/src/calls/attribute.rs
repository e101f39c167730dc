//! Attributes: of modules, classes, objects and values of built-in classes.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::objects::classes::ClassRef;
use crate::tree::ast::Name;
use crate::walk::describe::describe;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ClassRow, ExcKind, Object, Objects, Type};
use exuvia_ops::attributes;
use exuvia_ops::prelude::{self, Defined};
use std::rc::Rc;

impl Lifter<'_> {
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
            Abs::OneOf(choice) => {
                self.change_of_choice(&value, name)?;
                return self.attribute_of_choice(&Rc::clone(choice), name);
            }
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
                return self
                    .bail(Code::Callee, format!("attribute {name} of {}", crate::walk::describe::type_for_people(ty)));
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
                Abs::Func(closure)
                    if &**name == "__name__"
                        && !self.in_prelude(closure.module)
                        && !self.world.renamed.contains(&(std::sync::Arc::as_ptr(&closure.def) as usize)) =>
                {
                    Ok(Abs::str(&closure.def.name))
                }
                other => self.bail(Code::Callee, format!("attribute {name} of {}", describe(other))),
            },
        }
    }

    /// The function of the prelude that a class method is: `datetime.date_fromordinal`.
    fn class_method(&self, class: &str, name: &str) -> Option<String> {
        let (module, class) = class.split_once('.').unwrap_or(("builtins", class));
        let function = format!("{class}_{name}");
        (prelude::defined(module, &function) == Some(Defined::Function)).then(|| format!("{module}.{function}"))
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
        if let Some(constant) = crate::tree::names::module_constant(module, name) {
            return Ok(Abs::Const(constant));
        }
        if &**module == "numpy.linalg" {
            return self.module_attribute(&"numpy".into(), &format!("_linalg_{name}").into());
        }
        let spelling = format!("{module}.{name}");
        let prelude = prelude::named(module);
        let defined = prelude::defined(module, name);
        if let Some(module) = prelude
            && crate::tree::standard::has_name(module, name)
            && defined == Some(Defined::Class)
            && let Some(class @ Abs::Class(_)) = self.prelude_function(module, name)?
        {
            return Ok(class);
        }
        if let Some(kind) = ExcKind::from_name(name).filter(|kind| kind.module() == Some(module)) {
            return Ok(Abs::ExcClass(kind));
        }
        if let Some(module) = prelude
            && !name.starts_with('_')
            && defined == Some(Defined::Variable)
            && let Some(constant) = self.prelude_global(module, name)?
        {
            return Ok(constant);
        }
        let is_class = ClassRow::spelled(&spelling).is_some_and(|class| class.objects == Objects::None);
        if is_class || !exuvia_ops::by_spelling(&spelling).is_empty() || defined == Some(Defined::Function) {
            return Ok(Abs::Builtin(spelling.into()));
        }
        // What importing the one imports too.
        if spelling == "numpy.linalg" || spelling == "os.path" && prelude::named("os.path").is_some() {
            return Ok(Abs::Module(spelling.into()));
        }
        // A module of a package, which an import by that path has given to it.
        if let Some(found @ Abs::Module(_)) = self.lookup(&crate::tree::parse::hidden(&spelling)) {
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
        let spelling = spelling.replace("numpy._linalg_", "numpy.linalg.");
        self.bail(if prelude.is_some() { Code::Callee } else { Code::Import }, spelling)
    }
}
