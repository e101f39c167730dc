//! Methods of values of built-in classes, by their spelling.

use crate::abs::{Abs, Iter, ViewOf};
use crate::bailout::Code;
use crate::objects::class::ClassObj;
use crate::tree::ast::Name;
use crate::walk::describe::describe;
use crate::walk::lifter::{Lift, Lifter};
use crate::walk::operate::is_lazy;
use crate::walk::templates::Arguments;
use exuvia_ir::{ExcKind, Object, Type};
use exuvia_ops::operands;
use std::rc::Rc;

impl Lifter<'_> {
    pub fn call_method(&mut self, receiver: &Abs, name: &Name, args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
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
        // A method may keep what it is given, as `append` does.
        if spelling.starts_with('.') {
            args.iter().skip(1).try_for_each(|arg| self.kept(arg))?;
        }
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
                Some(ty) => crate::walk::describe::type_for_people(&ty),
                None => describe(arg),
            };
            let shown: Vec<String> = args.iter().map(shown).collect();
            let detail = format!("{} of ({})", spelling.trim_start_matches('.'), shown.join(", "));
            return self.refuse_alternative(Code::Callee, detail);
        }
        // An operation takes no union; a function of the prelude may.
        let is_operation = !exuvia_ops::by_spelling(spelling).is_empty();
        let all = args.iter().chain(named.iter().map(|(_, value)| value).filter(|_| is_operation));
        let all: Vec<Abs> = all.cloned().collect();
        if let Some((_, value)) = self.union_operand(&all).filter(|_| !is_lazy(spelling)) {
            return self.dispatch(value, &mut |me, narrowed| {
                let replaced = |arg: &Abs| arg.replace(value, &narrowed).unwrap_or_else(|| arg.clone());
                let named = named.iter().map(|(name, value)| (name.clone(), replaced(value))).collect();
                me.call_spelled(spelling, args.iter().map(replaced).collect(), named)
            });
        }
        let mut error = None;
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
            error = error.or_else(|| operands::error(spelling, &types));
        }
        if let Some((kind, message)) = error {
            return self.raise_message(kind, &message);
        }
        let spelled = spelling.trim_start_matches('.');
        let (module, spelled) = match (spelled.contains('.'), args.first().and_then(|arg| self.type_of(arg))) {
            (true, _) => crate::tree::names::in_module(spelled),
            (false, Some(ty)) if spelling.starts_with('.') => (ty.path(), spelled),
            _ => ("builtins", spelled),
        };
        if let Some(module) = exuvia_ops::prelude::named(module)
            && let Some(function) = self.prelude_function(module, spelled)?
        {
            return self.call_value(&function, args, named);
        }
        self.refuse_alternative(Code::Arguments, format!("keyword arguments of {spelled}"))
    }
}
