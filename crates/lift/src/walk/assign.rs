//! Assignment: to names, attributes, items and slices, in place, and to several targets at once.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::objects::class::ClassObj;
use crate::tree::ast::{Expr, ExprKind, Name};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ExcKind, Object, Type, Value};
use std::rc::Rc;

impl Lifter<'_> {
    pub fn bind_name(&mut self, name: &Name, value: Abs) -> Lift<()> {
        if self.live { self.assign_around(name, value) } else { Ok(()) }
    }

    pub fn assign(&mut self, target: &Expr, value: Abs) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        self.kept(&value)?;
        match &target.kind {
            ExprKind::Name(name) => {
                let value = match self.has_one_user(name, &value) {
                    true => value,
                    // Items that nobody can ask for before are read where a loop does that, once each turn.
                    false if self.is_read_each_turn(name, &value) => value,
                    false => self.keep_iterator(value)?,
                };
                self.bind_name(name, value)?;
                Ok(())
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => self.unpack(targets, value),
            ExprKind::Subscript { value: container, index } => {
                let container = self.expr(container)?;
                if let (Abs::Instance(object), Some(parts)) = (&container, self.parts(&container, index)?) {
                    if self.live {
                        self.call_special(object, "__setparts__", vec![parts, value])?;
                    }
                    return Ok(());
                }
                if let Some([lower, upper, step]) = self.bounds(index)? {
                    return self.store_slice("a[b:c:d]=e", vec![container, lower, upper, step, value]);
                }
                let index = self.expr(index)?;
                if !self.live {
                    return Ok(());
                }
                self.store_item(container, index, value)
            }
            ExprKind::Attribute { value: object, name } => {
                let object = self.expr(object)?;
                self.store_attribute(&object, name, value)
            }
            ExprKind::Starred(_) => self.bail(Code::Statement, "a starred target"),
            _ => self.bail(Code::Statement, "such an assignment"),
        }
    }

    /// Notes that a user's code keeps a value: what the prelude's classes put off is done before somebody
    /// else can see it.
    pub fn kept(&mut self, value: &Abs) -> Lift<()> {
        if self.is_in_prelude() { Ok(()) } else { self.force(value) }
    }

    /// Has objects do what they put off.
    pub fn force(&mut self, value: &Abs) -> Lift<()> {
        match value {
            Abs::Instance(object) if object.class.prelude => {
                self.call_special(object, "_kept", Vec::new())?;
                Ok(())
            }
            Abs::Bound(method) => self.force(&method.receiver),
            Abs::Tuple(items) => self.force_each(items),
            Abs::Table(table) => self.force_each(table.iterated()),
            _ => Ok(()),
        }
    }

    fn force_each(&mut self, items: &[Abs]) -> Lift<()> {
        items.iter().enumerate().try_for_each(|(at, item)| self.apart(at, |me| me.force(item)))
    }

    /// `container[index] = value`.
    fn store_item(&mut self, container: Abs, index: Abs, value: Abs) -> Lift<()> {
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(&container)) {
            return self.for_each_alternative(union, &mut |me, narrowed| {
                let value = value.replace(union, &narrowed).unwrap_or_else(|| value.clone());
                me.store_item(narrowed, index.clone(), value)
            });
        }
        match (&container, self.type_of(&container)) {
            (Abs::Instance(_), _) | (_, Some(Type::List(_))) => {
                self.apply("a[b]=c", &[container, index, value])?;
                Ok(())
            }
            (Abs::Const(dict @ Object::Dict(_)), _) if self.module_mode => match (index, value) {
                (Abs::Const(key), Abs::Const(value)) => {
                    self.change_while_loading(dict, |mut dict| dict.insert(key, value)).map(drop)
                }
                (key, value) => self.store_while_loading(&container, &key, &value),
            },
            (Abs::Table(_), _) if self.module_mode => self.store_while_loading(&container, &index, &value),
            (Abs::Table(_), _) => {
                self.changes(&container)?;
                self.bail(Code::Mutation, "a table of functions or objects is changed")
            }
            (_, Some(Type::Dict(..))) => {
                self.changes(&container)?;
                self.bail(Code::Mutation, "a dict of the module is changed")
            }
            (_, Some(ty @ (Type::Str | Type::Tuple(_) | Type::None | Type::Int | Type::Float | Type::Bool))) => {
                let message = format!("'{}' object does not support item assignment", ty.message_name());
                self.raise_message(ExcKind::TypeError, &message)?;
                Ok(())
            }
            _ => {
                self.changes(&container)?;
                self.bail(Code::Mutation, "assignment to an element")
            }
        }
    }

    /// `del container[index]`.
    pub fn delete_item(&mut self, container: Abs, index: Abs) -> Lift<()> {
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(&container)) {
            return self.for_each_alternative(union, &mut |me, narrowed| me.delete_item(narrowed, index.clone()));
        }
        match &container {
            _ if !self.live => {}
            Abs::Instance(_) => {
                self.apply("del a[b]", &[container, index])?;
            }
            Abs::Dyn(list) if matches!(self.b.function.ty(*list), Type::List(_)) => {
                self.apply("del a[b]", &[container, index])?;
            }
            none if none.same(&Abs::NONE) => {
                self.raise_message(ExcKind::TypeError, "'NoneType' object does not support item deletion")?;
            }
            _ => {
                self.changes(&container)?;
                return self.bail(Code::Statement, "del of an element");
            }
        }
        Ok(())
    }

    /// What stores a slice of a list, or deletes it: `args` begin with the list.
    pub fn store_slice(&mut self, spelling: &str, args: Vec<Abs>) -> Lift<()> {
        if let Some((_, union)) = self.union_operand(&args[..1]) {
            return self.for_each_alternative(union, &mut |me, narrowed| {
                let args = args.iter().map(|arg| arg.replace(union, &narrowed).unwrap_or_else(|| arg.clone()));
                me.store_slice(spelling, args.collect())
            });
        }
        match &args[0] {
            _ if !self.live => Ok(()),
            none if none.same(&Abs::NONE) => {
                let what = if spelling.starts_with("del") { "deletion" } else { "assignment" };
                let message = format!("'NoneType' object does not support item {what}");
                self.raise_message(ExcKind::TypeError, &message)?;
                Ok(())
            }
            Abs::Dyn(list) if matches!(self.b.function.ty(*list), Type::List(_)) => {
                self.apply(spelling, &args)?;
                Ok(())
            }
            Abs::Instance(object) if ClassObj::find(&object.class, "__setslice__").is_some() => {
                self.apply(spelling, &args)?;
                Ok(())
            }
            container => {
                self.changes(container)?;
                self.bail(Code::Mutation, "a slice of such a value is changed")
            }
        }
    }

    /// `object.name = value`.
    pub fn store_attribute(&mut self, object: &Abs, name: &Name, value: Abs) -> Lift<()> {
        if let Some(union) = self.union_with_objects(object) {
            return self.for_each_alternative(union, &mut |me, narrowed| {
                let value = value.replace(union, &narrowed).unwrap_or_else(|| value.clone());
                me.store_attribute(&narrowed, name, value)
            });
        }
        match object {
            _ if !self.live => Ok(()),
            Abs::Instance(object) => self.set_attribute(&Rc::clone(object), name, value),
            Abs::Class(class) if self.module_mode && !class.prelude && !name.starts_with("__") => {
                let is_taken =
                    ClassObj::is_dict(class) && crate::objects::class_statement::is_taken_below_dict(class, name);
                if is_taken
                    || crate::objects::enums::is_enumeration(class)
                    || !crate::data::choice::is_fixed(&value, &self.world.budget)
                {
                    return self.bail(Code::Mutation, format!("assignment to attribute {name} of such a class"));
                }
                class.hold(name, value);
                Ok(())
            }
            known if known.same(&Abs::NONE) && !name.starts_with("__") => {
                self.raise_message(ExcKind::AttributeError, &format!("'NoneType' object has no attribute '{name}'"))?;
                Ok(())
            }
            _ => self.bail(Code::Mutation, format!("assignment to attribute {name}")),
        }
    }

    fn for_each_alternative(&mut self, union: Value, f: &mut dyn FnMut(&mut Self, Abs) -> Lift<()>) -> Lift<()> {
        self.dispatch(union, &mut |me, narrowed| {
            f(me, narrowed)?;
            Ok(if me.live { Abs::NONE } else { Abs::Unbound })
        })?;
        Ok(())
    }

    /// An iterator is used up by its first user, so it may not have a second: what has a
    /// name could.
    pub fn refuse_iterator(&self, value: &Abs) -> Lift<()> {
        match value {
            Abs::Iter(iter) if !iter.is_lasting() => self.bail(Code::StaticValue, "an iterator in a variable"),
            Abs::Tuple(items) => items.iter().try_for_each(|item| self.refuse_iterator(item)),
            _ => Ok(()),
        }
    }

    /// Whether an iterator that is put into a variable is read at one place after that. It runs
    /// there, as lazily as in CPython; but objects are asked for their iterators before.
    fn has_one_user(&self, name: &Name, value: &Abs) -> bool {
        fn is_lazy(value: &Abs) -> bool {
            let Abs::Iter(iter) = value else {
                return match value {
                    Abs::Instance(object) => object.class.prelude && &*object.class.name == "StringIO",
                    _ => true,
                };
            };
            match &**iter {
                Iter::Zip(inner) => inner.iter().all(is_lazy),
                Iter::Enumerate { inner, .. } | Iter::Map { inner, .. } | Iter::Filter { inner, .. } => is_lazy(inner),
                Iter::Generator { first, .. } => is_lazy(first),
                Iter::Call { args, .. } => args.iter().all(|(_, arg)| is_lazy(arg)),
                Iter::Range { .. } | Iter::View { .. } | Iter::Reversed { .. } => true,
            }
        }
        let def = self.frames.get(self.current).and_then(|frame| frame.def.as_ref());
        matches!(value, Abs::Iter(_))
            && is_lazy(value)
            && def.is_some_and(|def| crate::tree::scope::is_used_once(def, name))
    }

    fn is_read_each_turn(&self, name: &Name, value: &Abs) -> bool {
        let def = self.frames.get(self.current).and_then(|frame| frame.def.as_ref());
        matches!(value, Abs::Iter(iter) if matches!(**iter, Iter::Generator { .. }))
            && !self.is_quiet(value)
            && def.is_some_and(|def| crate::tree::scope::is_read_each_turn(def, name))
    }

    fn unpack(&mut self, targets: &[Expr], value: Abs) -> Lift<()> {
        let value = self.seen(value);
        let value = self.named_items(&value).map_or(value, Abs::tuple);
        if let Abs::Dyn(v) = &value
            && matches!(self.b.function.ty(*v), Type::Union(_))
        {
            self.dispatch(*v, &mut |me, narrowed| {
                me.unpack(targets, narrowed)?;
                Ok(Abs::NONE)
            })?;
            return Ok(());
        }
        let value = match value {
            Abs::Instance(object) if ClassObj::is_iterable(&object.class) => self.iterator_of(&object)?,
            other => other,
        };
        if !self.live {
            return Ok(());
        }
        if let Abs::Iter(iter) = &value
            && let Iter::Call { function: Abs::Func(closure), .. } = &**iter
            && &*closure.def.name == "_turns"
            && targets.iter().any(|target| matches!(target.kind, ExprKind::Starred(_)))
        {
            return self.bail(Code::Operands, "a target with a star, which asks the iterator for its iterator");
        }
        let star = targets.iter().position(|target| matches!(target.kind, ExprKind::Starred(_)));
        if let Some(items) = self.known_items(&value) {
            let after = star.map_or(0, |at| targets.len() - at - 1);
            match star {
                None if items.len() != targets.len() => return self.wrong_count(targets.len(), items.len()),
                Some(_) if items.len() < targets.len() - 1 => {
                    let message = format!(
                        "not enough values to unpack (expected at least {}, got {})",
                        targets.len() - 1,
                        items.len()
                    );
                    self.raise_message(ExcKind::ValueError, &message)?;
                    return Ok(());
                }
                _ => {}
            }
            let mut items = items.into_iter();
            for target in targets {
                if let ExprKind::Starred(inner) = &target.kind {
                    let count = items.len() - after;
                    let rest: Vec<Abs> = items.by_ref().take(count).collect();
                    let list = self.new_list(&rest)?;
                    self.assign(inner, list)?;
                } else if let Some(item) = items.next() {
                    self.assign(target, item)?;
                }
            }
            return Ok(());
        }
        let value = match self.type_of(&value) {
            Some(Type::List(_)) => value,
            _ if self.is_long_tuple(&value) => self.copy_to_list(&value)?,
            Some(ty) if ty == Type::Str || ty.is_document() => self.copy_to_list(&value)?,
            None if star.is_some() && matches!(value, Abs::Iter(_)) => self.copy_to_list(&value)?,
            // One more than is wanted tells that there are too many, and no other is made.
            None if matches!(value, Abs::Iter(_)) => {
                let most = Abs::int(targets.len() as i64 + 1);
                self.call_of_prelude("_first", vec![value, most])?
            }
            Some(ty) if matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float) => {
                let message = format!("cannot unpack non-iterable {} object", ty.message_name());
                self.raise_message(ExcKind::TypeError, &message)?;
                return Ok(());
            }
            _ => return self.bail(Code::Operands, "unpacking of such a value"),
        };
        if !self.live {
            return Ok(());
        }
        let len = self.apply("len", std::slice::from_ref(&value))?;
        if let Some(star) = star {
            return self.unpack_rest(targets, star, &value, &len);
        }
        let wanted = targets.len();
        let equal = self.apply("a==b", &[len.clone(), Abs::int(wanted as i64)])?;
        let (yes, no) = self.split_value(&equal)?;
        self.enter_any(no)?;
        if self.live {
            self.count_error(&len, wanted)?;
        }
        self.enter_any(yes)?;
        for (at, target) in targets.iter().enumerate() {
            if self.live {
                let item = self.apply("a[b]", &[value.clone(), Abs::int(at as i64)])?;
                // Lists that are made to unpack it are different ones.
                self.apart(at, |me| me.assign(target, item))?;
            }
        }
        Ok(())
    }

    /// Unpacks a list where the target at `star` takes what the others leave.
    fn unpack_rest(&mut self, targets: &[Expr], star: usize, list: &Abs, len: &Abs) -> Lift<()> {
        let least = targets.len() - 1;
        let few = self.apply("a<b", &[len.clone(), Abs::int(least as i64)])?;
        let (yes, no) = self.split_value(&few)?;
        self.enter_any(yes)?;
        if self.live {
            self.few_values(&format!("at least {least}"), len)?;
        }
        self.enter_any(no)?;
        let behind = (targets.len() - star - 1) as i64;
        for (at, target) in targets.iter().enumerate() {
            if !self.live {
                break;
            }
            if let ExprKind::Starred(inner) = &target.kind {
                let end = self.apply("a-b", &[len.clone(), Abs::int(behind)])?;
                let rest = self.apply("a[b:c]", &[list.clone(), Abs::int(star as i64), end])?;
                self.assign(inner, rest)?;
            } else {
                let at = if at < star { at as i64 } else { at as i64 - targets.len() as i64 };
                let item = self.apply("a[b]", &[list.clone(), Abs::int(at)])?;
                self.assign(target, item)?;
            }
        }
        Ok(())
    }

    fn few_values(&mut self, wanted: &str, len: &Abs) -> Lift<()> {
        let text = self.apply("str", std::slice::from_ref(len))?;
        let head = format!("not enough values to unpack (expected {wanted}, got ");
        let message = self.apply("a+b", &[Abs::str(&head), text])?;
        let message = self.apply("a+b", &[message, Abs::str(")")])?;
        self.raise(ExcKind::ValueError, vec![message])?;
        Ok(())
    }

    /// The error for a list of another length than the targets.
    fn count_error(&mut self, len: &Abs, wanted: usize) -> Lift<()> {
        let more = self.apply("a>b", &[len.clone(), Abs::int(wanted as i64)])?;
        let (yes, no) = self.split_value(&more)?;
        self.enter_any(yes)?;
        if self.live {
            self.raise_message(ExcKind::ValueError, &format!("too many values to unpack (expected {wanted})"))?;
        }
        self.enter_any(no)?;
        if self.live {
            self.few_values(&wanted.to_string(), len)?;
        }
        Ok(())
    }

    pub fn aug_assign(&mut self, target: &Expr, op: &'static str, value: &Expr) -> Lift<()> {
        match &target.kind {
            ExprKind::Name(name) => {
                let old = self.read(name)?;
                let value = self.expr(value)?;
                let new = self.in_place(op, old, value)?;
                self.kept(&new)?;
                self.bind_name(name, new)?;
                Ok(())
            }
            ExprKind::Subscript { value: container, index } if !matches!(index.kind, ExprKind::Slice { .. }) => {
                let container = self.expr(container)?;
                let index = self.expr(index)?;
                self.changes(&container)?;
                let old = self.item(container.clone(), index.clone())?;
                let value = self.expr(value)?;
                let new = self.in_place(op, old, value)?;
                if !self.live {
                    return Ok(());
                }
                self.store_item(container, index, new)
            }
            ExprKind::Subscript { value: container, index } => {
                let container = self.expr(container)?;
                let (Abs::Instance(_), Some([lower, upper, step])) = (&container, self.bounds(index)?) else {
                    return self.bail(Code::Statement, "such an augmented assignment");
                };
                let part = vec![container, lower, upper, step];
                let old = self.apply("a[b:c:d]", &part)?;
                let value = self.expr(value)?;
                let new = self.in_place(op, old, value)?;
                self.store_slice("a[b:c:d]=e", part.into_iter().chain([new]).collect())
            }
            ExprKind::Attribute { value: object, name } => {
                let object = self.expr(object)?;
                let old = self.attribute(object.clone(), name)?;
                let value = self.expr(value)?;
                let new = self.in_place(op, old, value)?;
                self.store_attribute(&object, name, new)
            }
            _ => self.bail(Code::Statement, "such an augmented assignment"),
        }
    }

    /// What an augmented assignment assigns: lists and containers change and stay what they are.
    fn in_place(&mut self, op: &str, old: Abs, value: Abs) -> Lift<Abs> {
        if let (Some((0, union)), true) = (self.union_operand(std::slice::from_ref(&old)), self.live) {
            let holds_list = self.b.function.ty(union).alternatives().iter().any(|ty| matches!(ty, Type::List(_)));
            if holds_list {
                return self.dispatch(union, &mut |me, narrowed| {
                    let value = value.replace(union, &narrowed).unwrap_or_else(|| value.clone());
                    me.in_place(op, narrowed, value)
                });
            }
        }
        if self.live {
            self.in_place_of_one(&old)?;
        }
        match (op, &old, self.type_of(&old)) {
            ("+", _, Some(Type::List(_))) => {
                self.call_spelled(".extend", vec![old.clone(), value], Vec::new())?;
                Ok(old)
            }
            ("*", _, Some(Type::List(_))) => {
                if !matches!(self.type_of(&value), Some(Type::Int | Type::Bool)) {
                    return match self.type_of(&value) {
                        Some(Type::Union(_)) | None => self.bail(Code::Mutation, "*= of a list"),
                        Some(_) => self.augmented_binary(op, old, value),
                    };
                }
                self.call_spelled(".__imul__", vec![old.clone(), value], Vec::new())?;
                Ok(old)
            }
            ("|", Abs::Const(object @ Object::Dict(_)), _) if self.module_mode => match &value {
                Abs::Const(Object::Dict(other)) => self.updated_while_loading(object, other),
                _ => self.bail(Code::Mutation, "a dict of the module is changed"),
            },
            (_, Abs::Const(Object::Dict(_)), _) => {
                self.changes(&old)?;
                self.bail(Code::Mutation, "a dict of the module is changed")
            }
            (_, Abs::Const(Object::Set(set)), _) if !set.frozen => {
                self.changes(&old)?;
                self.bail(Code::Mutation, "a set of the module is changed")
            }
            _ => self.augmented_binary(op, old, value),
        }
    }

    fn augmented_binary(&mut self, op: &str, old: Abs, value: Abs) -> Lift<Abs> {
        let outer = std::mem::replace(&mut self.augmented, true);
        let result = self.binary(op, old, value);
        self.augmented = outer;
        result
    }
}
