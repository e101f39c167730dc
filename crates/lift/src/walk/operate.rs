//! Applying operations: the one way by which operators, methods and built-in functions
//! get their meaning. A union operand is split first; then an operation that accepts the
//! types is looked for, then a prelude function; what is left is CPython's TypeError.

use crate::abs::{Abs, Iter, ViewOf};
use crate::bailout::{Bailout, Code};
use crate::budget;
use crate::walk::lifter::{Lift, Lifter};
use crate::walk::protocol::operator_method;
use exuvia_ir::{Class, ExcKind, Int, Object, Raise, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, Effect, Kind, OpDef};
use exuvia_ops::operands;
use std::sync::Arc;

/// Whether a function gives an iterator or a function, which looks at nothing before it is asked: it is not called
/// for each alternative of an operand, since iterators or functions of two kinds have nothing in common.
pub fn is_lazy(spelling: &str) -> bool {
    spelling.starts_with("itertools.") || spelling == "functools.partial"
}

impl Lifter<'_> {
    /// A binary operator, by its symbol.
    pub fn binary(&mut self, symbol: &str, left: Abs, right: Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if symbol == "%" && self.type_of(&left) == Some(Type::Str) {
            return self.percent(&left, &right);
        }
        self.apply(&format!("a{symbol}b"), &[left, right])
    }

    /// The items of a tuple of known length.
    pub fn items_of_tuple(&mut self, abs: &Abs) -> Option<Vec<Abs>> {
        match abs {
            Abs::Dyn(value) if matches!(self.b.function.ty(*value), Type::Tuple(_)) => self.known_items(abs),
            other => other.tuple_items(),
        }
    }

    /// Applies the operation with that spelling.
    pub fn apply(&mut self, spelling: &str, args: &[Abs]) -> Lift<Abs> {
        if let Some(result) = self.try_apply(spelling, args)? {
            return Ok(result);
        }
        let types = self.operand_types(spelling, args)?;
        match operands::error(spelling, &types) {
            Some((kind, message)) => {
                let message = if self.augmented { operands::augmented(spelling, &message) } else { message };
                self.raise_message(kind, &message)
            }
            // What None does here is not known, or a part of a document; CPython finishes the rows that have it.
            None if self.none_alternative || types.iter().any(Type::is_document) => {
                let why = match self.none_alternative {
                    true => "an operation on None",
                    false => "an operation on what json.loads made",
                };
                let span = self.b.span;
                self.end(Terminator::Bailout(why, span));
                Ok(Abs::Unbound)
            }
            None => {
                // What is written as a constant dict may have to be one that is made.
                args.iter().filter(|arg| matches!(arg, Abs::Dyn(_))).try_for_each(|arg| self.changes(arg))?;
                let detail = format!("{spelling} with {}", crate::walk::describe::types_for_people(&types));
                self.refuse_alternative(Code::Operands, detail)
            }
        }
    }

    /// Something is not lifted. Where that is of one alternative of a union, only rows with it are CPython's.
    pub fn refuse_alternative(&mut self, code: Code, detail: String) -> Lift<Abs> {
        if self.arms == 0 {
            return self.bail(code, detail);
        }
        let span = self.b.span;
        self.end(Terminator::Bailout(exuvia_ir::interned(&detail), span));
        self.refused.get_or_insert(Bailout::new(code, span, detail));
        Ok(Abs::Unbound)
    }

    fn operand_types(&mut self, spelling: &str, args: &[Abs]) -> Lift<Vec<Type>> {
        let mut types = Vec::new();
        for arg in args {
            match self.type_of(arg) {
                Some(ty) => types.push(ty),
                None => {
                    self.changes(arg)?;
                    return self.bail(
                        Code::StaticValue,
                        format!("{} as an operand of {spelling}", crate::walk::describe::describe(arg)),
                    );
                }
            }
        }
        Ok(types)
    }

    /// The position of an operand that is a run-time union, with its value.
    pub fn union_operand(&self, args: &[Abs]) -> Option<(usize, Value)> {
        args.iter().enumerate().find_map(|(index, arg)| match arg {
            Abs::Dyn(value) if matches!(self.b.function.ty(*value), Type::Union(_)) => Some((index, *value)),
            _ => None,
        })
    }

    /// As [`Lifter::apply`], but `None` where neither an operation nor the prelude knows
    /// operands of these types.
    pub fn try_apply(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if !self.live {
            return Ok(Some(Abs::Unbound));
        }
        let seen: Vec<Abs> = args.iter().map(|arg| self.seen(arg.clone())).collect();
        let args = &seen[..];
        if let Some(def) = self.stores_object(spelling, args) {
            let args = args.iter().map(|arg| self.escaped(arg)).collect::<Lift<Vec<_>>>()?;
            return self.use_operation(def, &args).map(Some);
        }
        if let Some(texts) = self.texts_of_members(spelling, args)? {
            return self.try_apply(spelling, &texts);
        }
        if let Some(views) = self.views_of_constants(spelling, args)? {
            return self.try_apply(spelling, &views);
        }
        if let Some(result) = self.apply_to_choice(spelling, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.apply_to_object(spelling, args)? {
            return Ok(Some(result));
        }
        self.apply_to_values(spelling, args)
    }

    /// The operands where one is an object and the other the keys of a constant dict, those as an object:
    /// `found - TABLE.keys()`.
    fn views_of_constants(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<[Abs; 2]>> {
        let keys = |abs: &Abs| match abs {
            Abs::Iter(iter) if let Iter::View { of: ViewOf::Keys, items, .. } = &**iter => {
                Some(Abs::Const(items.clone()))
            }
            _ => None,
        };
        let ([left, right], true) = (args, spelling.starts_with('a') && spelling != "a in b") else { return Ok(None) };
        let (keys, is_left) = match (keys(left), keys(right)) {
            (Some(keys), None) if matches!(right, Abs::Instance(_)) => (keys, true),
            (None, Some(keys)) if matches!(left, Abs::Instance(_)) => (keys, false),
            _ => return Ok(None),
        };
        let Some(function) = self.prelude_function("collections", "_keys_of_constant")? else { return Ok(None) };
        let view = self.call_value(&function, vec![keys], Vec::new())?;
        Ok(Some(if is_left { [view, right.clone()] } else { [left.clone(), view] }))
    }

    /// An operation that only puts an object of the module into a list.
    fn stores_object(&self, spelling: &str, args: &[Abs]) -> Option<&'static OpDef> {
        if !args.iter().skip(1).any(|arg| self.is_numbered(arg)) {
            return None;
        }
        let stores = |def: &&&'static OpDef| {
            def.effect.writes()
                && def.params.len() == args.len()
                && args.iter().zip(def.params).all(|(arg, param)| match self.type_of(arg) {
                    Some(ty) => param.kind.accepts(&ty),
                    None => param.kind == Kind::Any && self.is_numbered(arg),
                })
        };
        exuvia_ops::by_spelling(spelling).iter().find(stores).copied()
    }

    /// [`Lifter::try_apply`] on what is neither one of several static values nor an object.
    fn apply_to_values(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if is_lazy(spelling)
            && let Some(result) = self.prelude_operation(spelling, args)?
        {
            return Ok(Some(result));
        }
        if let Some((_, value)) = self.union_operand(args) {
            let result = self.dispatch(value, &mut |me, narrowed| {
                let args: Vec<Abs> =
                    args.iter().map(|arg| arg.replace(value, &narrowed).unwrap_or_else(|| arg.clone())).collect();
                let none = me.none_alternative || narrowed.same(&Abs::NONE);
                let outer = std::mem::replace(&mut me.none_alternative, none);
                let result = me.apply(spelling, &args);
                me.none_alternative = outer;
                result
            })?;
            return Ok(Some(result));
        }
        if let ("a+b", [left, right]) = (spelling, args)
            && let (Some(a), Some(b)) = (self.items_of_tuple(left), self.items_of_tuple(right))
        {
            self.world.budget.take(a.len() + b.len());
            return Ok(Some(Abs::tuple([a, b].concat())));
        }
        // A tuple of static things has a length though it has no run-time type.
        if spelling == "len"
            && let [Abs::Tuple(items)] = args
        {
            return Ok(Some(Abs::int(items.len() as i64)));
        }
        let Some(types) = args.iter().map(|arg| self.type_of(arg)).collect::<Option<Vec<_>>>() else {
            if let Some(result) = self.of_range(spelling, args)? {
                return Ok(Some(result));
            }
            if let Some(result) = self.prelude_operation(spelling, args)? {
                return Ok(Some(result));
            }
            // What is left takes run-time values.
            if !args.iter().any(|arg| self.holds_static_object(arg)) {
                return Ok(None);
            }
            let args = args.iter().map(|arg| self.escaped(arg)).collect::<Lift<Vec<_>>>()?;
            return if args.iter().all(|arg| self.type_of(arg).is_some()) {
                self.apply_to_values(spelling, &args)
            } else {
                Ok(None)
            };
        };
        if let Some(result) = self.list_of_never(spelling, args, &types)? {
            return Ok(Some(result));
        }
        // An operation for exactly these types comes before one that would convert them.
        let candidates = exuvia_ops::by_spelling(spelling);
        let exact = |def: &&&'static OpDef| {
            let mut pairs = types.iter().zip(def.params);
            def.accepts(&types) && pairs.all(|(ty, param)| param.kind.converts_to(ty).is_none())
        };
        let found = candidates.iter().find(exact).or_else(|| candidates.iter().find(|def| def.accepts(&types)));
        if let Some(def) = found {
            return self.use_operation(def, args).map(Some);
        }
        if let Some(result) = self.of_known_shape(spelling, args, &types)? {
            return Ok(Some(result));
        }
        self.prelude_operation(spelling, args)
    }

    /// Uses an operation whose parameters accept the arguments.
    pub fn use_operation(&mut self, def: &'static OpDef, args: &[Abs]) -> Lift<Abs> {
        self.world.budget.take(4);
        if def.effect.writes() && !self.watched.is_empty() {
            self.changes_watched(args.first());
        }
        let mut args = args.to_vec();
        for (index, param) in def.params.iter().enumerate() {
            let default = || param.default.map_or(Object::None, |default| default.object());
            if index >= args.len() {
                args.push(Abs::Const(default()));
            } else if param.kind == Kind::Index && self.type_of(&args[index]) == Some(Type::None) {
                args[index] = Abs::Const(default());
            }
        }
        if let Some(folded) = self.fold(def, &args)? {
            return Ok(folded);
        }
        if let Some(result) = self.append_checked(def, &args)? {
            return Ok(result);
        }
        let mut values = Vec::new();
        for (arg, param) in args.iter().zip(def.params) {
            let value = if def.effect.writes() { self.value(arg)? } else { self.value_to_read(arg)? };
            let ty = self.b.function.ty(value).clone();
            values.push(match param.kind.converts_to(&ty) {
                Some(Type::Int) => self.named("bool.to_int", vec![value])?,
                Some(Type::Float) => {
                    let int = if ty == Type::Bool { self.named("bool.to_int", vec![value])? } else { value };
                    self.named("int.to_float", vec![int])?
                }
                _ => value,
            });
        }
        // A key is looked for as what the keys are.
        if let (Body::Core(CoreOp::HashFind | CoreOp::SetFind), [_, _, keys, key, _]) = (def.body, &values[..])
            && let Type::List(element) = self.b.function.ty(*keys).clone()
            && *element != Type::Never
        {
            values[3] = self.convert(*key, &element)?;
        }
        // A slice of a list is a list of the same elements, made where that one was.
        let sites = matches!(def.body, Body::Core(op) if op.copies_lists())
            .then(|| self.sites.get(&values[0]).cloned())
            .flatten();
        let first = values.first().copied();
        let result = self.operation(def, values)?;
        match (sites, first) {
            (Some(sites), _) => {
                self.sites.insert(result, sites);
            }
            (None, Some(first)) => self.read_from(first, result),
            (None, None) => {}
        }
        Ok(self.seen(Abs::Dyn(result)))
    }

    /// Appends an operation by its name.
    pub fn named(&mut self, name: &str, args: Vec<Value>) -> Lift<Value> {
        match exuvia_ops::by_name(name) {
            Some(def) => self.operation(def, args),
            None => self.bail(Code::Callee, format!("operation {name}")),
        }
    }

    /// Uses an operation by its name on abstract values.
    pub fn apply_named(&mut self, name: &str, args: &[Abs]) -> Lift<Abs> {
        match exuvia_ops::by_name(name) {
            Some(def) => self.use_operation(def, args),
            None => self.bail(Code::Callee, format!("operation {name}")),
        }
    }

    /// Computes an operation now where the operands are constants.
    fn fold(&mut self, def: &'static OpDef, args: &[Abs]) -> Lift<Option<Abs>> {
        let Some(objects) = args.iter().map(|arg| arg.as_const().cloned()).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let foldable = match def.effect {
            Effect::Pure | Effect::Read => true,
            // At the top level of a module lists are made and changed now.
            Effect::Alloc | Effect::Store | Effect::Write => self.module_mode,
        };
        if !foldable || matches!(def.body, Body::Core(CoreOp::Reject)) {
            return Ok(None);
        }
        let mut operands = Vec::new();
        for (object, param) in objects.iter().zip(def.params) {
            operands.push(match (param.kind, object) {
                (Kind::Int | Kind::Index, Object::Bool(value)) => Object::int(i64::from(*value)),
                (Kind::Number, Object::Bool(value)) => Object::Float(f64::from(u8::from(*value))),
                (Kind::Number, Object::Int(_)) => match self.evaluate("int.to_float", std::slice::from_ref(object)) {
                    Some(Ok(float)) => float,
                    _ => return Ok(None),
                },
                _ => object.clone(),
            });
        }
        if def.effect.writes()
            && let Some(Object::List(list)) = operands.first()
            && self.walked.contains(&(Arc::as_ptr(list) as usize))
        {
            return self.bail(Code::Mutation, "a list of the module is changed while a loop goes over it");
        }
        // Nothing that is lifted could be said of a list that holds itself.
        if def.effect.writes()
            && let [Object::List(list), put @ ..] = &operands[..]
            && put.iter().any(|object| list.is_within(object))
        {
            return self.bail(Code::Mutation, "a list that holds itself");
        }
        self.world.budget.take(operands.iter().map(|operand| budget::read(def, operand)).sum());
        self.world.cx.reset();
        let value = match def.body {
            Body::Core(_) => (def.eval)(&mut self.world.cx, &operands),
            // How long a search takes shows only when it is made.
            _ => {
                let (value, took) = self.world.cx.timed(def, &operands, budget::LONGEST_OPERATION);
                self.world.budget.take(budget::waited(took));
                value
            }
        };
        match value {
            Ok(object) => {
                self.world.budget.take(budget::made(&object));
                Ok(Some(Abs::Const(object)))
            }
            Err(Raise::Exception { kind, args }) => {
                self.raise(kind, args.into_iter().map(Abs::Const).collect())?;
                Ok(Some(Abs::Unbound))
            }
            Err(Raise::Bailout(_) | Raise::Interrupted | Raise::Result(_)) => Ok(None),
        }
    }

    fn evaluate(&mut self, name: &str, args: &[Object]) -> Option<Result<Object, Raise>> {
        exuvia_ops::by_name(name).map(|def| (def.eval)(&mut self.world.cx, args))
    }

    /// Storing into a list requires that it can hold the value.
    fn append_checked(&mut self, def: &'static OpDef, args: &[Abs]) -> Lift<Option<Abs>> {
        let Body::Core(CoreOp::ListAppend | CoreOp::ListSet) = def.body else { return Ok(None) };
        let Abs::Dyn(list) = args[0] else {
            return self.bail(Code::Mutation, "a module-level list is changed");
        };
        let element_of = |me: &Self| match me.b.function.ty(list) {
            Type::List(element) => (**element).clone(),
            _ => Type::Never,
        };
        let mut element = element_of(self);
        let last = args.len() - 1;
        let Some(ty) = self.type_of(&args[last]) else {
            return self
                .bail(Code::StaticValue, format!("a list holds {}", crate::walk::describe::describe(&args[last])));
        };
        let ty = self.stored_type(&ty, true);
        if element.join(&ty) != element {
            self.widen_element(list, &ty)?;
            element = element_of(self);
        }
        let mut values = vec![list];
        for (index, arg) in args.iter().enumerate().skip(1) {
            let value = if index == last {
                let item = self.value(arg)?;
                self.put_into(list, item);
                self.convert(item, &element)?
            } else {
                let value = self.value(arg)?;
                if self.b.function.ty(value) == &Type::Bool { self.named("bool.to_int", vec![value])? } else { value }
            };
            values.push(value);
        }
        self.operation(def, values)?;
        Ok(Some(Abs::NONE))
    }

    /// Appends the elements of a list to another, so many times, where both have elements of one type that
    /// holds nothing else; whether it did.
    pub fn extend_at_once(&mut self, list: &Abs, other: &Abs, times: &Abs) -> Lift<bool> {
        let (Abs::Dyn(into), Some(Type::List(element))) = (list, self.type_of(other)) else { return Ok(false) };
        let Type::List(held) = self.b.function.ty(*into).clone() else { return Ok(false) };
        if !is_plain(&element) {
            return Ok(false);
        }
        if held.join(&element) != *held {
            // Lifting begins again with a list that can hold them.
            self.widen_element(*into, &element)?;
            return Ok(true);
        }
        if held != element {
            return Ok(false);
        }
        let from = self.value_to_read(other)?;
        match exuvia_ops::by_name("list.extend") {
            Some(def) => {
                let times = self.value(times)?;
                let is_bool = self.b.function.ty(times) == &Type::Bool;
                let times = if is_bool { self.named("bool.to_int", vec![times])? } else { times };
                self.operation(def, vec![*into, from, times]).map(|_| true)
            }
            None => Ok(false),
        }
    }

    /// Lengths of tuples and constant containers, and what constant dicts and sets hold.
    fn of_known_shape(&mut self, spelling: &str, args: &[Abs], types: &[Type]) -> Lift<Option<Abs>> {
        match (spelling, args, types) {
            ("truth" | "bool", _, [Type::None]) => Ok(Some(Abs::bool(false))),
            ("truth" | "bool", [Abs::Const(set @ Object::Set(_))], _) => Ok(constant_truth(set).map(Abs::bool)),
            ("str" | "repr", _, [Type::None]) => Ok(Some(Abs::str("None"))),
            ("repr", [caught @ Abs::Dyn(exc)], [Type::Exc])
                if let Some(arguments) = self.arguments.get(exc).and_then(Abs::tuple_items) =>
            {
                let class = self.exception_name(caught)?;
                self.shown_exception(class, &arguments).map(Some)
            }
            ("str" | "repr", [Abs::Const(dict @ Object::Dict(_))], [ty]) if ty.has_repr() => {
                Ok(Some(Abs::str(&exuvia_ops::show::repr(dict))))
            }
            ("str" | "repr", [Abs::Const(set @ Object::Set(of))], _) => match of.in_order() {
                Some(_) => Ok(Some(Abs::str(&exuvia_ops::show::repr(set)))),
                None => self.bail(Code::SetOrder, "the text of a set"),
            },
            ("len", _, [Type::Tuple(items)]) => Ok(Some(Abs::int(items.len() as i64))),
            ("len", [Abs::Const(Object::Dict(dict))], _) => Ok(Some(Abs::int(dict.len() as i64))),
            ("len", [Abs::Const(Object::Set(set))], _) => Ok(Some(Abs::int(set.members.len() as i64))),
            // One of them at least is looked up in a constant.
            ("a|b", [left, right], [Type::Dict(..), Type::Dict(..)]) if !self.augmented => {
                self.dict_of_entries(vec![(None, left.clone()), (None, right.clone())]).map(Some)
            }
            ("a|b" | "a&b" | "a-b" | "a^b", [Abs::Const(Object::Set(a)), Abs::Const(Object::Set(b))], _)
                if !self.augmented =>
            {
                self.operator_of_constant_sets(spelling, a, b).map(Some)
            }
            (
                "a==b" | "a!=b" | "a<=b" | "a>=b" | "a<b" | "a>b",
                [Abs::Const(Object::Set(a)), Abs::Const(Object::Set(b))],
                _,
            ) => Ok(Some(Abs::bool(crate::data::sets::compared(spelling, a, b)))),
            ("a in b", [item, container], [_, Type::Dict(..) | Type::Set(_)]) => {
                let at = self.dict_position(container, item)?;
                self.apply("a>=b", &[at, Abs::int(0)]).map(Some)
            }
            (".get", [dict, key], [Type::Dict(..), _]) => self.dict_get(dict, key, &Abs::NONE).map(Some),
            (".get", [dict, key, default], [Type::Dict(..), _, _]) => self.dict_get(dict, key, default).map(Some),
            _ => Ok(None),
        }
    }

    /// Length and membership of a range, by arithmetic, and of a view of a dict.
    fn of_range(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if let Some(Abs::Iter(iter)) = args.last()
            && let Iter::View { of, dict, items } = &**iter
        {
            return match (spelling, args, of) {
                ("len", [_], _) => self.try_apply(spelling, &[Abs::Const(items.clone())]),
                ("a in b", [item, _], ViewOf::Keys) => {
                    self.try_apply(spelling, &[item.clone(), Abs::Const(dict.clone())])
                }
                ("a in b", [item, _], ViewOf::Values) => {
                    self.try_apply(spelling, &[item.clone(), Abs::Const(items.clone())])
                }
                _ => Ok(None),
            };
        }
        let (name, mut operands, range) = match (spelling, args) {
            ("len", [Abs::Iter(iter)]) => ("_range_len", Vec::new(), iter),
            ("a in b", [item, Abs::Iter(iter)]) => match self.type_of(item) {
                Some(Type::Int | Type::Bool) => ("_in_range", vec![item.clone()], iter),
                Some(Type::Float) => ("_float_in_range", vec![item.clone()], iter),
                // No number is equal to it.
                Some(Type::None | Type::Str | Type::Tuple(_) | Type::List(_))
                    if matches!(**iter, Iter::Range { .. }) =>
                {
                    return Ok(Some(Abs::bool(false)));
                }
                _ => return Ok(None),
            },
            ("a[b]", [Abs::Iter(iter), index]) if matches!(self.type_of(index), Some(Type::Int | Type::Bool)) => {
                ("_range_item", vec![index.clone()], iter)
            }
            _ => return Ok(None),
        };
        let Iter::Range { start, stop, step } = &**range else { return Ok(None) };
        operands.extend([start.clone(), stop.clone(), step.clone()]);
        match self.prelude_function("builtins", name)? {
            Some(function) => self.call_value(&function, operands, Vec::new()).map(Some),
            None => Ok(None),
        }
    }

    /// `d.get(key, default)` of a constant dict.
    fn dict_get(&mut self, dict: &Abs, key: &Abs, default: &Abs) -> Lift<Abs> {
        let at = self.dict_position(dict, key)?;
        let found = self.apply("a>=b", &[at.clone(), Abs::int(0)])?;
        let (yes, no) = self.split_value(&found)?;
        self.enter_any(yes)?;
        let mut arms = Vec::new();
        if self.live {
            let value = self.dict_value_at(dict, &at)?;
            arms.extend(self.state().map(|state| (state, vec![value])));
        }
        self.enter_any(no)?;
        arms.extend(self.state().map(|state| (state, vec![default.clone()])));
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    /// A list that certainly is empty has no element type that an operation on lists of
    /// strings would accept.
    fn list_of_never(&mut self, spelling: &str, args: &[Abs], types: &[Type]) -> Lift<Option<Abs>> {
        if spelling == ".join" && types.len() == 2 && types[1] == Type::list(Type::Never) && types[0] == Type::Str {
            return Ok(Some(Abs::str("")));
        }
        if types.first() == Some(&Type::list(Type::Never)) && matches!(spelling, "a[b]" | ".pop") {
            // Other operands are told of by who takes lists of anything.
            let message = match (spelling, args, types) {
                (".pop", [_], _) => "pop from empty list",
                ("a[b]", [_, Abs::Const(Object::Int(Int::Big(_)))], _) => {
                    "cannot fit 'int' into an index-sized integer"
                }
                ("a[b]", _, [_, Type::Int | Type::Bool]) => "list index out of range",
                _ => return Ok(None),
            };
            return self.raise_message(ExcKind::IndexError, message).map(Some);
        }
        Ok(None)
    }

    /// A prelude function: by the type of the first operand for methods and operators, of
    /// `builtins` otherwise.
    fn prelude_operation(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if spelling == "a*b"
            && let Some(repeated) = self.repeated_tuple(args)
        {
            return Ok(Some(repeated));
        }
        if spelling == "a*b"
            && let [times, repeated] = args
            && matches!(
                (self.type_of(times), self.type_of(repeated)),
                (Some(Type::Int | Type::Bool), Some(Type::List(_) | Type::Tuple(_) | Type::Record(..)))
                    | (Some(Type::Float), Some(Type::Record(Class::Timedelta, _)))
            )
        {
            return self.prelude_operation(spelling, &[repeated.clone(), times.clone()]);
        }
        if matches!(spelling, "a+b" | "a*b") && !self.prelude_operands(spelling, args) {
            return Ok(None);
        }
        let Some((module, name)) = self.prelude_name(spelling, args) else { return Ok(None) };
        if exuvia_ops::prelude::named(module).is_none() {
            return Ok(None);
        }
        match self.prelude_function(module, &name)? {
            Some(function) => self.call_value(&function, args.to_vec(), Vec::new()).map(Some),
            None => Ok(None),
        }
    }

    /// A tuple several times, where it is known how often.
    fn repeated_tuple(&mut self, args: &[Abs]) -> Option<Abs> {
        const MOST: usize = 1000;
        let is_tuple =
            |abs: &Abs| !matches!(abs, Abs::Instance(_)) && matches!(self.type_of(abs), Some(Type::Tuple(_)));
        let (tuple, times) = match args {
            [tuple, times] if is_tuple(tuple) => (tuple, times),
            [times, tuple] if is_tuple(tuple) => (tuple, times),
            _ => return None,
        };
        let times = match times {
            Abs::Const(Object::Int(times)) => usize::try_from(times.to_i64()?.max(0)).ok()?,
            Abs::Const(Object::Bool(times)) => usize::from(*times),
            _ => return None,
        };
        let items = self.known_items(tuple)?;
        let count = items.len().checked_mul(times).filter(|count| *count <= MOST)?;
        Some(Abs::tuple(items.iter().cycle().take(count).cloned().collect()))
    }

    /// Whether the prelude's `+` and `*` take these operands.
    fn prelude_operands(&self, spelling: &str, args: &[Abs]) -> bool {
        let types: Vec<Option<Type>> = args.iter().map(|arg| self.type_of(arg)).collect();
        matches!(
            (spelling, types.as_slice()),
            ("a+b", [Some(Type::List(_)), Some(Type::List(_))])
                | ("a*b", [Some(Type::List(_) | Type::Tuple(_)), Some(Type::Int | Type::Bool)])
                | (_, [Some(Type::Record(..)), Some(_)])
        )
    }

    /// Where the prelude would define an operation.
    fn prelude_name(&self, spelling: &str, args: &[Abs]) -> Option<(&'static str, String)> {
        let of_type = |abs: &Abs| match abs {
            Abs::Tuple(_) => Some("tuple"),
            other => match self.type_of(other)? {
                Type::Str => Some("str"),
                Type::List(_) => Some("list"),
                Type::Tuple(_) => Some("tuple"),
                Type::Int | Type::Bool => Some("int"),
                Type::Float => Some("float"),
                Type::Dict(..) => Some("dict"),
                Type::Set(_) => Some("set"),
                ty @ (Type::Pattern(_) | Type::Record(..) | Type::Boxed(_)) => Some(ty.path()),
                Type::Never | Type::Unbound | Type::None | Type::Exc | Type::Union(_) => None,
            },
        };
        if let Some(method) = spelling.strip_prefix('.') {
            return Some((of_type(args.first()?)?, method.to_string()));
        }
        let dunder = match spelling {
            "str" => "__str__",
            "repr" => "__repr__",
            "format" => "__format__",
            "truth" => "__bool__",
            "len" => "__len__",
            "abs" => "__abs__",
            spelling if let Some(method) = operator_method(spelling) => method,
            "a in b" => {
                // The operands come as (item, container).
                return Some((of_type(args.get(1)?)?, "__contains__".to_string()));
            }
            _ => {
                let known = spelling.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                let (module, name) = crate::tree::names::in_module(spelling);
                let module = exuvia_ops::prelude::named(module)?;
                return known.then(|| (module, name.to_string()));
            }
        };
        Some((of_type(args.first()?)?, dunder.to_string()))
    }

    /// The truth of a value, as a constant or a run-time bool. Not for unions that should
    /// narrow: see [`Lifter::split`].
    pub fn truth(&mut self, abs: &Abs) -> Lift<Abs> {
        match abs {
            Abs::Const(object) => {
                if let Some(value) = constant_truth(object) {
                    return Ok(Abs::bool(value));
                }
            }
            Abs::Tuple(items) => return Ok(Abs::bool(!items.is_empty())),
            Abs::Dyn(value) => match self.b.function.ty(*value).clone() {
                Type::Bool => return Ok(abs.clone()),
                Type::Tuple(items) => return Ok(Abs::bool(!items.is_empty())),
                Type::Exc | Type::Pattern(_) => return Ok(Abs::bool(true)),
                Type::List(_) => {
                    let len = self.apply("len", std::slice::from_ref(abs))?;
                    return self.apply("a!=b", &[len, Abs::int(0)]);
                }
                _ => {}
            },
            known if is_true(known) => return Ok(Abs::bool(true)),
            Abs::Iter(iter) => {
                if let Iter::View { items: Object::Tuple(items), .. } = &**iter {
                    return Ok(Abs::bool(!items.is_empty()));
                }
            }
            _ => {}
        }
        self.apply("truth", std::slice::from_ref(abs))
    }
}

/// `bool(object)`.
pub(crate) fn constant_truth(object: &Object) -> Option<bool> {
    Some(match object {
        Object::None => false,
        Object::Bool(value) => *value,
        Object::Int(value) => *value != Int::Small(0),
        Object::Float(value) => *value != 0.0,
        Object::Str(text) => !text.is_empty(),
        Object::Tuple(items) => !items.is_empty(),
        Object::List(list) => list.read(|items| !items.is_empty()),
        Object::Dict(dict) => !dict.is_empty(),
        Object::Set(set) => !set.members.is_empty(),
        Object::Exc(_) | Object::Pattern(_) => true,
        Object::Record(_) | Object::Unbound => return None,
    })
}

/// Whether values of a type hold nothing that has identity.
pub(crate) fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::None | Type::Bool | Type::Int | Type::Float | Type::Str => true,
        Type::Tuple(types) | Type::Union(types) => types.iter().all(is_plain),
        _ => false,
    }
}

/// Whether a value is true whatever it holds: functions, classes and exceptions are.
pub(crate) fn is_true(abs: &Abs) -> bool {
    matches!(
        abs,
        Abs::Func(_)
            | Abs::Method(_)
            | Abs::Bound(_)
            | Abs::Class(_)
            | Abs::Builtin(_)
            | Abs::Module(_)
            | Abs::ExcClass(_)
            | Abs::ClassOf(_)
            | Abs::ExcInst(_)
    )
}
