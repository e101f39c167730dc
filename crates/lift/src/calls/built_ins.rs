//! Built-in functions that the lifter knows itself, since they take or give what has no run-time form:
//! iterators, ranges, constructors.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::calls::intrinsic::NAMES;
use crate::objects::class::ClassObj;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Class, ClassRow, DictObj, ExcKind, Object, Objects, Terminator, Type};
use exuvia_ops::operands;
use std::rc::Rc;
use std::sync::Arc;

impl Lifter<'_> {
    pub fn call_builtin(&mut self, name: &Name, mut args: Vec<Abs>, named: Vec<(Name, Abs)>) -> Lift<Abs> {
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
        if let ("sorted" | "min" | "max", [of]) = (&**name, &args[..])
            && let Some(ranked) = self.ranked(name, &of.clone(), &named)?
        {
            return Ok(ranked);
        }
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
                ("object.__init__" | "object.__init_subclass__", []) => return Ok(Abs::NONE),
                ("setattr", [Abs::Instance(object), Abs::Const(Object::Str(name)), value])
                    if object.class.exception.is_none() && ClassObj::find(&object.class, "__setattr__").is_none() =>
                {
                    self.set_attribute(object, &Name::from(&**name), value.clone())?;
                    return Ok(Abs::NONE);
                }
                ("setattr", [class @ Abs::Class(_), Abs::Const(Object::Str(name)), value]) => {
                    self.store_attribute(class, &Name::from(&**name), value.clone())?;
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
        // `dict.__init__(self, …)` in a class below.
        if let (Some(method), Some((receiver @ Abs::Instance(object), rest))) =
            (name.strip_prefix("dict.").filter(|method| *method != "fromkeys"), args.split_first())
            && !object.class.prelude
            && ClassObj::is_dict(&object.class)
            && let Some(dict) = ClassObj::ancestry(&object.class).find(|class| class.prelude)
            && let Some((owner, member)) = ClassObj::find(dict, method)
        {
            let method = self.member(owner, member, &receiver.clone())?;
            return self.call_value(&method, rest.to_vec(), named);
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
        let is_array = |ty: &Type| matches!(ty, Type::Record(Class::JsonArray, _));
        if walked.len() > 1 && walked.iter().any(|ty| is_array(ty)) {
            // A document has objects and texts beside arrays, which are rarely meant: such rows leave.
            return self.dispatch(value, &mut |me, narrowed| {
                let ty = me.type_of(&narrowed);
                if ty.is_some_and(|ty| !is_array(&ty) && operands::error("iter", &[ty]).is_none()) {
                    let span = me.b.span;
                    me.end(Terminator::Bailout("a document of which several kinds of values are walked at once", span));
                    return Ok(Abs::Unbound);
                }
                Ok(narrowed)
            });
        }
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
}

/// Whether it is an iterator that may be read at several places.
fn is_list_iterator(abs: &Abs) -> bool {
    matches!(abs, Abs::Instance(object) if object.class.prelude && ClassObj::is_below(&object.class, "list_iterator"))
}
