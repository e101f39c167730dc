//! Expressions. Nothing here knows what an operator means; it only evaluates operands in
//! Python's order and applies operations.

use crate::abs::{Abs, Closure, Enclosing, Iter};
use crate::ast::{CmpOp, Collects, Comprehension, Expr, ExprKind, FunctionDef, Name};
use crate::bailout::{Bailout, Code};
use crate::class::ClassObj;
use crate::intrinsic::NAMES;
use crate::lifter::{Frame, Lift, Lifter, Split, State, Vars};
use crate::member_sets::StaticSet;
use crate::merge::Arm;
use exuvia_ir::{ExcKind, Object, Opcode, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Where a condition is true, and where it is false.
type Sides<T> = (Vec<T>, Vec<T>);

/// Takes an element of a comprehension, of a dict's also its value.
type Each<'a, 'w> = dyn FnMut(&mut Lifter<'w>, Abs, Option<Abs>) -> Lift<()> + 'a;

/// What CPython says of a variable without a value.
fn unbound(name: &Name, local: bool) -> (ExcKind, String) {
    if local {
        let message = format!("cannot access local variable '{name}' where it is not associated with a value");
        return (ExcKind::UnboundLocalError, message);
    }
    let message =
        format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope");
    (ExcKind::NameError, message)
}

impl<'w> Lifter<'w> {
    pub fn expr(&mut self, expr: &Expr) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let outer = self.go_to(expr.span);
        self.step()?;
        let result = self.expr_kind(&expr.kind, expr).map(|made| self.seen(made));
        if let (false, Ok(made)) = (matches!(expr.kind, ExprKind::Const(_) | ExprKind::Name(_)), &result) {
            self.check_size(made)?;
        }
        if let Ok(made) = &result
            && !matches!(made, Abs::Const(_) | Abs::Dyn(_) | Abs::Builtin(_) | Abs::Module(_) | Abs::Table(_))
        {
            self.held.push(made.clone());
        }
        self.back_to(outer);
        result
    }

    fn expr_kind(&mut self, kind: &ExprKind, whole: &Expr) -> Lift<Abs> {
        match kind {
            ExprKind::Const(object) => Ok(Abs::Const(object.clone())),
            ExprKind::Name(name) => self.read(name),
            ExprKind::BoolOp { and, values } => self.bool_op(*and, values),
            ExprKind::Named { target, value } => {
                let value = self.expr(value)?;
                let value = self.keep_iterator(value)?;
                self.kept(&value)?;
                self.assign_around(target, value.clone())?;
                Ok(value)
            }
            ExprKind::Binary { op, left, right } => {
                let held = self.held.len();
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                let made = self.binary(op, left, right);
                self.held.truncate(held);
                made
            }
            ExprKind::Unary { op, operand } => {
                let held = self.held.len();
                let operand = self.expr(operand)?;
                let made = self.apply(op, &[operand]);
                self.held.truncate(held);
                made
            }
            ExprKind::Not(_) | ExprKind::Compare { .. } => self.condition_value(whole),
            ExprKind::Lambda(def) => self.closure(def),
            ExprKind::IfExp { test, body, orelse } => {
                let (yes, no) = self.split(test)?;
                let mut arms = Vec::new();
                let held = self.held.len();
                for (states, value) in [(yes, body), (no, orelse)] {
                    self.enter_any(states)?;
                    let value = self.expr(value)?;
                    self.kept(&value)?;
                    self.held.truncate(held);
                    arms.extend(self.state().map(|state| (state, vec![value])));
                }
                Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
            }
            ExprKind::Tuple(items) => {
                let held = self.display(items)?;
                match held {
                    _ if !self.live => Ok(Abs::Unbound),
                    Ok(items) => Ok(Abs::tuple(items)),
                    Err(list) => self.long_tuple(list),
                }
            }
            ExprKind::List(items) => self.list_display(items),
            ExprKind::Set(items, folded) => self.set_display(items, *folded),
            ExprKind::Dict(items) => self.dict_display(items),
            ExprKind::Comprehension(comp) => self.comprehension(comp),
            ExprKind::Call { func, args, keywords } => self.call(func, args, keywords),
            ExprKind::FString(parts) => self.f_string(parts),
            ExprKind::Attribute { value, name } => {
                if let Some(found) = self.name_of_type(value, name)? {
                    return Ok(found);
                }
                let value = self.expr(value)?;
                self.attribute(value, name)
            }
            ExprKind::Subscript { value, index } => {
                let value = self.expr(value)?;
                self.subscript(value, index)
            }
            ExprKind::Slice { .. } => self.bail(Code::Expression, "a slice outside of brackets"),
            ExprKind::Starred(_) => self.bail(Code::Expression, "* in this place"),
            ExprKind::Unsupported(what) => self.bail(Code::Expression, *what),
        }
    }

    /// `[a, *b, c]`.
    fn list_display(&mut self, items: &[Expr]) -> Lift<Abs> {
        if items.is_empty()
            && let Some(empty) = self.constant_empty(Object::list(Vec::new()))
        {
            return Ok(empty);
        }
        match self.display(items)? {
            _ if !self.live => Ok(Abs::Unbound),
            Ok(items) => self.new_list(&items),
            Err(list) => Ok(list),
        }
    }

    /// The items of a display; a list of them where `*x` has no known length, which extends it.
    fn display(&mut self, items: &[Expr]) -> Lift<Result<Vec<Abs>, Abs>> {
        let mut known = Vec::new();
        let mut list: Option<Abs> = None;
        for item in items {
            let starred = match &item.kind {
                ExprKind::Starred(inner) => Some(self.expr(inner)?),
                _ => None,
            };
            let more = match &starred {
                Some(inner) => self.known_items(inner),
                None => {
                    let item = self.expr(item)?;
                    self.kept(&item)?;
                    Some(vec![item])
                }
            };
            match (more, starred, &list) {
                (Some(more), _, None) => known.extend(more),
                (Some(more), _, Some(list)) => {
                    for item in more {
                        self.apply(".append", &[list.clone(), item])?;
                    }
                }
                (None, Some(inner), _) if items.len() == 1 && self.extends(&inner) => {
                    return self.copy_to_list(&inner).map(Err);
                }
                (None, Some(inner), _) if !self.module_mode && self.extends(&inner) => {
                    let to = match &list {
                        Some(list) => list.clone(),
                        None => self.new_list(&known)?,
                    };
                    self.call_spelled(".extend", vec![to.clone(), inner], Vec::new())?;
                    list = Some(to);
                }
                _ => return self.bail(Code::Expression, "* of such a value of unknown length"),
            }
            if !self.live {
                return Ok(Ok(Vec::new()));
            }
        }
        Ok(list.map_or(Ok(known), Err))
    }

    /// Whether a list can be extended by a value, with the errors that a display has.
    pub fn extends(&self, abs: &Abs) -> bool {
        match abs {
            Abs::Iter(_) => true,
            Abs::Instance(object) => object.class.prelude,
            other => self.type_of(other).is_some_and(|ty| ty.is_document() || matches!(ty, Type::List(_) | Type::Str)),
        }
    }

    /// Elements of a display, with `*x` unpacked where its length is known.
    pub fn items_with_stars(&mut self, items: &[Expr]) -> Lift<Vec<Abs>> {
        let mut out = Vec::new();
        for item in items {
            match &item.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.expr(inner)?;
                    match self.known_items(&inner) {
                        Some(items) => out.extend(items),
                        None => return self.bail(Code::Expression, "* of a value of unknown length"),
                    }
                }
                _ => {
                    let item = self.expr(item)?;
                    self.kept(&item)?;
                    out.push(item);
                }
            }
        }
        Ok(out)
    }

    /// The elements of what has a length that is known now.
    pub fn known_items(&mut self, abs: &Abs) -> Option<Vec<Abs>> {
        let items = self.items_of(abs)?;
        // They are copied.
        self.world.budget.take(4 * items.len());
        Some(items)
    }

    fn items_of(&mut self, abs: &Abs) -> Option<Vec<Abs>> {
        match abs {
            Abs::Const(Object::List(list)) => Some(list.items().into_iter().map(Abs::Const).collect()),
            Abs::Const(Object::Set(set)) => Some(set.in_order()?.into_iter().map(Abs::Const).collect()),
            Abs::Const(Object::Str(text)) => Some(text.chars().map(|c| Abs::str(c.encode_utf8(&mut [0; 4]))).collect()),
            Abs::Const(Object::Dict(dict)) => Some(dict.entries().iter().map(|e| Abs::Const(e.0.clone())).collect()),
            Abs::Dyn(value) => match self.b.function.ty(*value).clone() {
                Type::Tuple(types) => Some(
                    types
                        .iter()
                        .enumerate()
                        .map(|(index, ty)| {
                            let field = self.b.inst(Opcode::Field(index as u32), vec![*value], ty.clone(), None);
                            self.seen(Abs::Dyn(field))
                        })
                        .collect(),
                ),
                _ => None,
            },
            Abs::Instance(_) => self.named_items(abs),
            Abs::Table(table) => Some(table.iterated().to_vec()),
            Abs::Class(_) => self.members_of(abs).map(|table| table.items.clone()),
            other => other.shown().tuple_items(),
        }
    }

    // ---- names ----

    /// Reads a variable.
    /// The variable that a name means here, and whether it is the function's own; `None` for
    /// a global or a built-in.
    pub fn variable(&self, name: &Name) -> Option<(Abs, bool)> {
        let frame = self.frames.get(self.current)?;
        if frame.binds(name) {
            return Some((frame.vars.get(name).cloned().unwrap_or(Abs::Unbound), true));
        }
        Some((self.read_enclosing(name, &frame.enclosing)?, false))
    }

    /// What a name means here, as it is; `None` for a built-in or a name that nothing binds.
    pub fn lookup(&self, name: &Name) -> Option<Abs> {
        match self.variable(name) {
            Some((found, _)) => Some(found),
            None => self.globals(self.frames.get(self.current)?.module).get(name).cloned(),
        }
    }

    pub fn read(&mut self, name: &Name) -> Lift<Abs> {
        let Some(frame) = self.frames.get(self.current) else { return self.bail(Code::ModuleBody, "no frame") };
        let Some((found, local)) = self.variable(name) else { return self.read_global(name, frame.module) };
        match found {
            // The body of a class sees the module's variables behind its own.
            Abs::Unbound if local && frame.class_body => self.read_global(name, frame.module),
            Abs::Unbound => {
                let (kind, message) = unbound(name, local);
                self.raise_message(kind, &message)
            }
            Abs::Conflict => match self.world.modules[frame.module].failed.get(name).filter(|_| self.module_mode) {
                Some(reason) => Err(reason.clone().into()),
                None => self.bail(Code::Join, format!("variable {name} holds values of unrelated kinds on two paths")),
            },
            Abs::Dyn(value) if self.b.function.ty(value).alternatives().contains(&Type::Unbound) => {
                let (kind, message) = unbound(name, local);
                self.dispatch(value, &mut |me, narrowed| match narrowed {
                    Abs::Unbound => me.raise_message(kind, &message),
                    other => Ok(other),
                })
            }
            found => Ok(self.seen(found)),
        }
    }

    pub fn read_enclosing(&self, name: &Name, enclosing: &Enclosing) -> Option<Abs> {
        match enclosing {
            Enclosing::Module => None,
            Enclosing::Live(depth) => {
                let frame = self.frames.get(*depth)?;
                if frame.binds(name) {
                    return Some(frame.vars.get(name).cloned().unwrap_or(Abs::Unbound));
                }
                self.read_enclosing(name, &frame.enclosing)
            }
            Enclosing::Ended(captured) => match captured.vars.get(name) {
                Some(found) => Some(crate::leave::rebound(found, captured, &self.world.budget)),
                None => self.read_enclosing(name, &captured.enclosing),
            },
        }
    }

    /// What a module has defined so far.
    fn globals(&self, module: usize) -> &Vars {
        match self.frames.first() {
            Some(frame) if self.module_mode && frame.module == module => &frame.vars,
            _ => &self.world.modules[module].globals,
        }
    }

    fn read_global(&mut self, name: &Name, module: usize) -> Lift<Abs> {
        let own = self.globals(module).get(name);
        // Behind a variable that was deleted stands the built-in of its name.
        if let Some(found) = own.filter(|found| !matches!(found, Abs::Unbound)) {
            return match found {
                Abs::Conflict => match self.world.modules[module].failed.get(name) {
                    Some(reason) => Err(reason.clone().into()),
                    None => match self.world.modules[module].changed.get(name).cloned() {
                        Some(by) => {
                            let detail = format!("a statement that is not lifted may change {name}: {}", by.detail);
                            Err(Bailout::new(Code::ModuleBody, by.span, detail).into())
                        }
                        None => self.bail(Code::ModuleBody, format!("the global {name} is not constant")),
                    },
                },
                found => Ok(found.clone()),
            };
        }
        if self.sees_intrinsics(module)
            && let Some(found) = self.read_intrinsic(name)?
        {
            return Ok(found);
        }
        match crate::names::builtin(name) {
            Some(found) => Ok(found),
            // A module's name is that of the SQL function.
            None if &**name == "__name__" && !self.sees_intrinsics(module) => Ok(Abs::str(&self.world.name)),
            None if crate::names::is_python_builtin(name) => {
                self.bail(Code::Callee, format!("built-in {name} is not lifted"))
            }
            None => self.raise_message(ExcKind::NameError, &format!("name '{name}' is not defined")),
        }
    }

    /// A name that only modules of the prelude see: an exception class that needs an import elsewhere, an
    /// intrinsic, what these modules share.
    fn read_intrinsic(&mut self, name: &Name) -> Lift<Option<Abs>> {
        if let Some(kind) = ExcKind::from_name(name) {
            return Ok(Some(Abs::ExcClass(kind)));
        }
        if !name.starts_with('_') {
            return Ok(None);
        }
        if NAMES.contains(&&**name) {
            return Ok(Some(Abs::Builtin(name.clone())));
        }
        self.prelude_function("builtins", name)
    }

    /// Assigns to a variable where it is bound: `:=` inside a comprehension in the function around it,
    /// what a `nonlocal` names in one further out.
    pub fn assign_around(&mut self, target: &Name, value: Abs) -> Lift<()> {
        if &**target == crate::footprint::BUILTINS {
            return self.bail(Code::ModuleBody, "__builtins__ is assigned");
        }
        self.assign_from(self.current, target, value)
    }

    /// Assigns to a variable of a frame, or of the nearest around it that binds the name.
    pub fn assign_from(&mut self, mut depth: usize, target: &Name, value: Abs) -> Lift<()> {
        while !self.frames[depth].binds(target) {
            match self.frames[depth].enclosing {
                Enclosing::Live(outer) => depth = outer,
                Enclosing::Module => break,
                Enclosing::Ended(_) => {
                    return self.bail(Code::StaticValue, format!("{target} of a function that has returned changes"));
                }
            }
        }
        self.frames[depth].vars.insert(target.clone(), value);
        Ok(())
    }

    // ---- conditions ----

    /// The value of a comparison or negation: a bool where it is one.
    fn condition_value(&mut self, expr: &Expr) -> Lift<Abs> {
        match &expr.kind {
            ExprKind::Not(operand) => {
                let operand = self.expr(operand)?;
                let truth = self.truth(&operand)?;
                match truth {
                    Abs::Const(Object::Bool(value)) => Ok(Abs::bool(!value)),
                    other => {
                        let value = self.value(&other)?;
                        if self.live { Ok(Abs::Dyn(self.named("bool.not", vec![value])?)) } else { Ok(Abs::Unbound) }
                    }
                }
            }
            ExprKind::Compare { left, rest } => {
                if let Some((yes, no)) = self.split_class(expr)? {
                    let arms = |states: Vec<State>, holds| {
                        states.into_iter().map(move |state| (state, vec![Abs::bool(holds)]))
                    };
                    let arms = arms(yes, true).chain(arms(no, false)).collect();
                    return Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound));
                }
                let mut left = self.expr(left)?;
                let mut exits = Vec::new();
                for (index, (op, right)) in rest.iter().enumerate() {
                    let right = self.expr(right)?;
                    let result = self.compare(*op, &left, &right)?;
                    if index + 1 == rest.len() {
                        if exits.is_empty() {
                            return Ok(result);
                        }
                        exits.extend(self.state().map(|state| (state, vec![result])));
                        break;
                    }
                    // a < b < c is (a < b) and (b < c) with b evaluated once.
                    let (yes, no) = self.split_value(&result)?;
                    exits.extend(no.into_iter().map(|state| (state, vec![result.clone()])));
                    self.enter_any(yes)?;
                    left = right;
                }
                Ok(self.join(exits)?.pop().unwrap_or(Abs::Unbound))
            }
            _ => self.expr(expr),
        }
    }

    pub fn compare(&mut self, op: CmpOp, left: &Abs, right: &Abs) -> Lift<Abs> {
        match op {
            CmpOp::Is => self.identical(left, right),
            CmpOp::IsNot => {
                let same = self.identical(left, right)?;
                self.negate(same)
            }
            CmpOp::In => self.apply("a in b", &[left.clone(), right.clone()]),
            CmpOp::NotIn => {
                let found = self.apply("a in b", &[left.clone(), right.clone()])?;
                self.negate(found)
            }
            CmpOp::Eq | CmpOp::Ne => self.equal(op == CmpOp::Eq, left, right),
            CmpOp::Lt => self.apply("a<b", &[left.clone(), right.clone()]),
            CmpOp::Le => self.apply("a<=b", &[left.clone(), right.clone()]),
            CmpOp::Gt => self.apply("a>b", &[left.clone(), right.clone()]),
            CmpOp::Ge => self.apply("a>=b", &[left.clone(), right.clone()]),
        }
    }

    pub fn negate(&mut self, abs: Abs) -> Lift<Abs> {
        match abs {
            Abs::Const(Object::Bool(value)) => Ok(Abs::bool(!value)),
            Abs::Dyn(value) if self.live => Ok(Abs::Dyn(self.named("bool.not", vec![value])?)),
            other => Ok(other),
        }
    }

    /// `==` or `!=`: values of unrelated classes are never equal.
    fn equal(&mut self, eq: bool, left: &Abs, right: &Abs) -> Lift<Abs> {
        let args = [left.clone(), right.clone()];
        if let Some(result) =
            self.compare_choices(&args, false, !eq, &mut |me, left, right| me.equal(eq, left, right))?
        {
            return Ok(result);
        }
        let spelling = if eq { "a==b" } else { "a!=b" };
        if let Some(result) = self.operator_of_static_sets(spelling, &args)? {
            return Ok(result);
        }
        if let Some(result) = self.apply_to_object(spelling, &args)? {
            return Ok(result);
        }
        if let Some((_, value)) = self.union_operand(&args) {
            return self.dispatch(value, &mut |me, narrowed| {
                let left = left.replace(value, &narrowed).unwrap_or_else(|| left.clone());
                let right = right.replace(value, &narrowed).unwrap_or_else(|| right.clone());
                me.equal(eq, &left, &right)
            });
        }
        let (Some(a), Some(b)) = (self.type_of(left), self.type_of(right)) else {
            if [left, right].iter().any(|abs| matches!(abs, Abs::Tuple(_))) {
                return self.apply(spelling, &args);
            }
            return match Self::same_class(left, right) {
                Some(same) => Ok(Abs::bool(same == eq)),
                None => {
                    self.changes(left)?;
                    self.changes(right)?;
                    self.bail(Code::StaticValue, "comparison of static values")
                }
            };
        };
        if a == Type::None && b == Type::None {
            return Ok(Abs::bool(eq));
        }
        let numeric = |ty: &Type| matches!(ty, Type::Bool | Type::Int | Type::Float);
        let simple = |ty: &Type| numeric(ty) || matches!(ty, Type::None | Type::Str | Type::List(_) | Type::Tuple(_));
        if simple(&a) && simple(&b) && a.python_name() != b.python_name() && !(numeric(&a) && numeric(&b)) {
            return Ok(Abs::bool(!eq));
        }
        let spelling = if eq { "a==b" } else { "a!=b" };
        // An object of another class decides, which says the same from either side.
        if matches!(b, Type::Record(..)) && !matches!(a, Type::Record(..)) {
            return self.apply(spelling, &[right.clone(), left.clone()]);
        }
        self.apply(spelling, &args)
    }

    /// `is`: only where identity is that of `None`, `True` and `False`, or certain.
    pub fn identical(&mut self, left: &Abs, right: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let (left, right) = (&self.seen(left.clone()), &self.seen(right.clone()));
        self.refuse_identity(left, right)?;
        let is_missing = crate::protocol::is_not_implemented;
        match (left, right) {
            (left, right) if is_missing(left) && is_missing(right) => return Ok(Abs::bool(true)),
            (one, other) | (other, one)
                if is_missing(one)
                    && matches!(other, Abs::Dyn(_) | Abs::Const(_) | Abs::Instance(_) | Abs::Tuple(_)) =>
            {
                return Ok(Abs::bool(false));
            }
            _ => {}
        }
        if let Some(result) = self.is_one_flag(left, right)? {
            return Ok(result);
        }
        let args = [left.clone(), right.clone()];
        if let Some(result) =
            self.compare_choices(&args, true, false, &mut |me, left, right| me.identical(left, right))?
        {
            return Ok(result);
        }
        // What nobody changes may have become another object.
        let is_frozen = |abs: &Abs| matches!(abs, Abs::Instance(set) if ClassObj::is_below(&set.class, "frozenset"));
        let is_tuple = |ty: &Type| matches!(ty, Type::Tuple(_));
        let may_be_tuple = |abs: &Abs| self.type_of(abs).is_some_and(|ty| ty.alternatives().iter().any(is_tuple));
        let is_unknown = match (self.is_long_tuple(left), self.is_long_tuple(right)) {
            (true, true) => true,
            (true, false) => may_be_tuple(right),
            (false, true) => may_be_tuple(left),
            (false, false) => is_frozen(left) && is_frozen(right) && !left.same(right),
        };
        if is_unknown && !self.is_in_prelude() {
            return self.bail(Code::StaticValue, "the identity of tuples and frozensets");
        }
        if let (Abs::Instance(_), Abs::Instance(_)) = (left, right) {
            return self.is_one_object(left, right);
        }
        if let Some(same) = Self::is_one(left, right) {
            return Ok(Abs::bool(same));
        }
        if let Some(same) = Self::same_class(left, right) {
            return Ok(Abs::bool(same));
        }
        for (side, other) in [(left, right), (right, left)] {
            if let Some(union) = self.union_with_objects(side) {
                return self.dispatch(union, &mut |me, narrowed| {
                    let other = other.replace(union, &narrowed).unwrap_or_else(|| other.clone());
                    me.identical(&narrowed, &other)
                });
            }
        }
        let object = |abs: &Abs| matches!(abs, Abs::Instance(_) | Abs::Class(_));
        let value = |abs: &Abs| matches!(abs, Abs::Const(_) | Abs::Dyn(_) | Abs::Tuple(_));
        if object(left) && value(right) || value(left) && object(right) {
            return Ok(Abs::bool(false));
        }
        let singleton = |abs: &Abs| matches!(abs, Abs::Const(Object::None | Object::Bool(_)));
        let (value, constant) = match (singleton(left), singleton(right)) {
            (_, true) => (left, right),
            (true, false) => (right, left),
            (false, false) => return self.bail(Code::Operands, "is between values other than None, True and False"),
        };
        if let Abs::Dyn(v) = value
            && let Type::Union(_) = self.b.function.ty(*v)
        {
            let constant = constant.clone();
            return self.dispatch(*v, &mut |me, narrowed| me.identical(&narrowed, &constant));
        }
        if value.as_const().is_some() {
            return Ok(Abs::bool(value.same(constant)));
        }
        match (self.type_of(value), constant) {
            (Some(Type::Bool), Abs::Const(Object::Bool(wanted))) => {
                if *wanted {
                    Ok(value.clone())
                } else {
                    self.negate(value.clone())
                }
            }
            (Some(Type::None), Abs::Const(Object::None)) => Ok(Abs::bool(true)),
            _ => Ok(Abs::bool(false)),
        }
    }

    /// `and`, `or` as values: the operand that decides, narrowed by its truth.
    fn bool_op(&mut self, and: bool, values: &[Expr]) -> Lift<Abs> {
        let Some((last, values)) = values.split_last() else { return Ok(Abs::Unbound) };
        let mut arms = Vec::new();
        for value in values {
            let (yes, no) = self.tested(value)?;
            let (decided, open) = if and { (no, yes) } else { (yes, no) };
            arms.extend(decided);
            self.enter_any(open.into_iter().map(|arm| arm.0).collect())?;
        }
        let value = self.expr(last)?;
        arms.extend(self.state().map(|state| (state, vec![value])));
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    /// Evaluates an operand of `and` and `or`: where it is true and where false, with its value. Each is
    /// asked once for its truth, also those of an `and` within an `or`.
    fn tested(&mut self, operand: &Expr) -> Lift<Sides<Arm>> {
        if let ExprKind::BoolOp { and, values } = &operand.kind {
            return self.decide(*and, values, Self::tested, |arm| arm.0);
        }
        let value = self.expr(operand)?;
        // The value is kept in a variable, so that splitting narrows it too.
        let hidden = self.hidden_name("bool");
        self.set_var(&hidden, value.clone());
        let (yes, no) = self.split_value(&value)?;
        let mut with_value = |states: Vec<State>| {
            let arm = |state| {
                self.enter(state);
                let narrowed = self.get_hidden(&hidden);
                self.remove_var(&hidden);
                self.state().map(|state| (state, vec![narrowed]))
            };
            states.into_iter().filter_map(arm).collect::<Vec<Arm>>()
        };
        Ok((with_value(yes), with_value(no)))
    }

    /// Continues where any of the states arrive.
    pub fn enter_any(&mut self, states: Vec<State>) -> Lift<()> {
        self.join(states.into_iter().map(|state| (state, Vec::new())).collect())?;
        Ok(())
    }

    /// Evaluates a condition: the states in which it is true, and those in which it is
    /// false, with variables narrowed by what that says of them.
    pub fn split(&mut self, expr: &Expr) -> Lift<Split> {
        if !self.live {
            return Ok((Vec::new(), Vec::new()));
        }
        let outer = self.go_to(expr.span);
        if let Some(split) = self.split_class(expr)? {
            self.back_to(outer);
            return Ok(split);
        }
        let result = match &expr.kind {
            ExprKind::Not(operand) => self.split(operand).map(|(yes, no)| (no, yes)),
            ExprKind::BoolOp { and, values } => self.decide(*and, values, Self::split, |state| state),
            ExprKind::Compare { left, rest } if rest.len() == 1 && matches!(rest[0].0, CmpOp::Is | CmpOp::IsNot) => {
                self.split_is(left, rest[0].0, &rest[0].1)
            }
            _ => {
                let value = self.expr(expr)?;
                self.split_value(&value)
            }
        };
        self.back_to(outer);
        result
    }

    /// Tests the operands of `and` or `or` until one decides: where all of it is true, and where false.
    fn decide<T>(
        &mut self,
        and: bool,
        values: &[Expr],
        test: fn(&mut Self, &Expr) -> Lift<Sides<T>>,
        state: fn(T) -> State,
    ) -> Lift<Sides<T>> {
        let (mut decided, mut open) = (Vec::new(), Vec::new());
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.enter_any(open.into_iter().map(state).collect())?;
            }
            let (yes, no) = test(self, value)?;
            let (now, later) = if and { (no, yes) } else { (yes, no) };
            decided.extend(now);
            open = later;
        }
        Ok(if and { (open, decided) } else { (decided, open) })
    }

    fn split_is(&mut self, left: &Expr, op: CmpOp, right: &Expr) -> Lift<Split> {
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        self.refuse_identity(&left, &right)?;
        let (yes, no) = match (&left, &right) {
            (Abs::Dyn(value), Abs::Const(Object::None))
                if self.b.function.ty(*value).alternatives().contains(&Type::None) =>
            {
                self.split_type(*value, &|ty| *ty == Type::None)?
            }
            (Abs::OneOf(choice), other) if choice.of.iter().all(|(_, item)| Self::is_one(item, other).is_some()) => {
                self.split_choice(&Rc::clone(choice), &|item| Self::is_one(item, other) == Some(true))?
            }
            // One of several values may be an object of the module: `found is MISSING`.
            (Abs::Dyn(value), other)
                if matches!(self.b.function.ty(*value), Type::Union(_)) && self.is_numbered(other) =>
            {
                let mut sides = (Vec::new(), Vec::new());
                self.dispatch(*value, &mut |me, one| {
                    let same = me.identical(&one, other)?;
                    let (yes, no) = me.split_value(&same)?;
                    sides.0.extend(yes);
                    sides.1.extend(no);
                    me.die();
                    Ok(Abs::Unbound)
                })?;
                sides
            }
            _ => {
                let same = self.identical(&left, &right)?;
                self.split_value(&same)?
            }
        };
        Ok(if op == CmpOp::Is { (yes, no) } else { (no, yes) })
    }

    /// Splits on which alternative of its union a value holds, and narrows it.
    pub fn split_type(&mut self, value: exuvia_ir::Value, test: &dyn Fn(&Type) -> bool) -> Lift<Split> {
        let ty = self.b.function.ty(value).clone();
        let mut out = (Vec::new(), Vec::new());
        let mut rest = ty.alternatives().to_vec();
        while !rest.is_empty() {
            let alternative = rest.remove(0);
            let mut otherwise = None;
            if !rest.is_empty() {
                let is = self.b.inst(Opcode::Is(alternative.clone()), vec![value], Type::Bool, None);
                let (yes, no) = self.branch(is);
                self.enter(yes);
                otherwise = Some(no);
            }
            self.narrow_to(value, &alternative);
            let state = self.state();
            if test(&alternative) {
                out.0.extend(state)
            } else {
                out.1.extend(state)
            }
            match otherwise {
                Some(state) => self.enter(state),
                None => break,
            }
        }
        Ok(out)
    }

    /// The states in which a value is true and false.
    pub fn split_value(&mut self, value: &Abs) -> Lift<Split> {
        if !self.live {
            return Ok((Vec::new(), Vec::new()));
        }
        if let Abs::Dyn(v) = value
            && let Type::Union(alternatives) = self.b.function.ty(*v).clone()
        {
            let mut out = (Vec::new(), Vec::new());
            let mut rest = &alternatives[..];
            while let Some((alternative, others)) = rest.split_first() {
                rest = others;
                let mut otherwise = None;
                if !rest.is_empty() {
                    let is = self.b.inst(Opcode::Is(alternative.clone()), vec![*v], Type::Bool, None);
                    let (yes, no) = self.branch(is);
                    self.enter(yes);
                    otherwise = Some(no);
                }
                let narrowed = self.narrow_to(*v, alternative);
                let (yes, no) = self.split_value(&narrowed)?;
                out.0.extend(yes);
                out.1.extend(no);
                match otherwise {
                    Some(state) => self.enter(state),
                    None => break,
                }
            }
            return Ok(out);
        }
        if let Abs::OneOf(choice) = value
            && choice.of.iter().all(|(_, item)| Self::known_truth(item).is_some())
        {
            return self.split_choice(&Rc::clone(choice), &|item| Self::known_truth(item) == Some(true));
        }
        let truth = self.truth(value)?;
        let Some(state) = self.state() else { return Ok((Vec::new(), Vec::new())) };
        match truth {
            Abs::Const(Object::Bool(true)) => Ok((vec![state], Vec::new())),
            Abs::Const(Object::Bool(false)) => Ok((Vec::new(), vec![state])),
            other => {
                let cond = self.value(&other)?;
                let (yes, no) = self.branch(cond);
                Ok((vec![yes], vec![no]))
            }
        }
    }

    // ---- functions, displays, comprehensions ----

    pub fn closure(&mut self, def: &Arc<FunctionDef>) -> Lift<Abs> {
        let mut defaults = Vec::new();
        for (name, default) in def.params.positional.iter().chain(&def.params.keyword) {
            if let Some(default) = default {
                defaults.push((name.clone(), self.expr(default)?));
            }
        }
        for annotation in &def.annotations {
            self.annotation(annotation)?;
        }
        let depth = self.current;
        let module = self.frames[depth].module;
        let top = depth == 0 || self.frames[depth].class_body;
        // One whose parameters have defaults may hold variables by those.
        let sees_none = self.module_mode && top || defaults.is_empty() && !self.mentions_variables(def, depth);
        let enclosing = if sees_none {
            Enclosing::Module
        } else {
            self.makes(depth, true);
            Enclosing::Live(depth)
        };
        Ok(Abs::Func(Rc::new(Closure { def: def.clone(), module, enclosing, cached: false, defaults })))
    }

    /// Whether a function mentions variables of those in which it is made.
    fn mentions_variables(&self, def: &FunctionDef, depth: usize) -> bool {
        let mut enclosing = Enclosing::Live(depth);
        loop {
            enclosing = match enclosing {
                Enclosing::Module => return false,
                Enclosing::Ended(_) => return true,
                Enclosing::Live(depth) => {
                    let Some(frame) = self.frames.get(depth) else { return true };
                    self.world.budget.take(frame.locals.len() / 4);
                    if frame.locals.iter().any(|name| crate::scope::mentions(def, name).is_some()) {
                        return true;
                    }
                    frame.enclosing.clone()
                }
            };
        }
    }

    /// What a `def` with its decorators gives; the body of a class knows those of its methods.
    pub fn decorated(&mut self, def: &Arc<FunctionDef>) -> Lift<Abs> {
        let decorators = def.decorators.iter().map(|decorator| self.expr(decorator)).collect::<Lift<Vec<Abs>>>()?;
        let mut made = self.closure(def)?;
        for decorator in decorators.iter().rev() {
            made = self.call_value(decorator, vec![made], Vec::new())?;
        }
        Ok(made)
    }

    /// What a loop goes over.
    pub fn iterated(&mut self, iter: &Expr) -> Lift<Abs> {
        match self.iterated_display(iter)? {
            Some(display) => Ok(display),
            None => self.expr(iter),
        }
    }

    fn comprehension(&mut self, comp: &Arc<Comprehension>) -> Lift<Abs> {
        let depth = self.current;
        let module = self.frames[depth].module;
        if self.frames[depth].class_body {
            return self.bail(Code::Statement, "a comprehension in the body of a class");
        }
        // The first iterable is evaluated in the frame around (language reference 6.2.4).
        let first = self.iterated(&comp.clauses[0].iter)?;
        if comp.collects == Collects::Generator {
            let first = self.iterable(first)?;
            // Those of the prelude go nowhere else.
            if !self.in_prelude(module) {
                self.makes(depth, true);
            }
            let iter = Iter::Generator { comp: comp.clone(), first, enclosing: Enclosing::Live(depth), module };
            return Ok(Abs::Iter(Rc::new(iter)));
        }
        if comp.collects == Collects::List {
            let list = self.new_list(&[])?;
            return self.collect(comp, first, Enclosing::Live(depth), module, list);
        }
        if !self.module_mode {
            return self.collect_entries(comp, &first, Enclosing::Live(depth), module);
        }
        // A set or dict must come out constant: its elements are collected now.
        let mut set = StaticSet::empty(false);
        let mut entries: Vec<(Option<Abs>, Abs)> = Vec::new();
        self.generate(comp, &first, &Enclosing::Live(depth), module, &mut |me, element, value| {
            if !me.live {
                return Ok(());
            }
            match (element, value) {
                (key, Some(value)) => entries.push((Some(key), value)),
                (key, None) => me.add_to(&mut set, &key)?,
            }
            Ok(())
        })?;
        if comp.collects == Collects::Dict {
            return self.dict_of_entries(entries);
        }
        self.static_set(set)
    }

    /// What `iter()` of a value does at once: a value that cannot be iterated raises.
    pub fn iterable(&mut self, value: Abs) -> Lift<Abs> {
        if let Abs::Instance(object) = &value {
            return self.iterator_of(&Rc::clone(object));
        }
        if let Some((_, v)) = self.union_operand(std::slice::from_ref(&value)) {
            return self.dispatch(v, &mut |me, narrowed| me.iterable(narrowed));
        }
        if let Some(ty) = self.type_of(&value)
            && let Some((kind, message)) = exuvia_ops::operands::error("iter", &[ty])
        {
            return self.raise_message(kind, &message);
        }
        Ok(value)
    }

    /// Runs a comprehension and appends its elements to a list.
    fn collect(
        &mut self,
        comp: &Comprehension,
        first: Abs,
        enclosing: Enclosing,
        module: usize,
        list: Abs,
    ) -> Lift<Abs> {
        let hidden = self.hidden_name("list");
        self.set_var(&hidden, list);
        let depth = self.current;
        self.generate(comp, &first, &enclosing, module, &mut |me, element, _| {
            let list = me.frames[depth].vars.get(&hidden).cloned().unwrap_or(Abs::Unbound);
            me.apply(".append", &[list, element])?;
            Ok(())
        })?;
        let list = self.get_hidden(&hidden);
        self.remove_var(&hidden);
        Ok(list)
    }

    /// Runs the clauses of a comprehension in a frame of their own and hands each element
    /// to `each`.
    pub fn generate(
        &mut self,
        comp: &Comprehension,
        first: &Abs,
        enclosing: &Enclosing,
        module: usize,
        each: &mut Each<'_, 'w>,
    ) -> Lift<()> {
        let mut locals = Vec::new();
        for clause in &comp.clauses {
            crate::scope::target_names(&clause.target, &mut locals);
        }
        locals.sort();
        let path = self.frames.get(self.current).map_or(0, |frame| frame.path);
        let consumer = self.current;
        self.frames.push(Frame {
            vars: Vars::default(),
            def: None,
            locals: locals.into(),
            enclosing: enclosing.clone(),
            module,
            path,
            class_body: false,
            owner: None,
        });
        let depth = self.frames.len() - 1;
        self.makes(depth, false);
        self.current = depth;
        // What takes the elements is code of the frame around, and has its places.
        let outer = (self.span_locked, self.b.span);
        self.span_locked = self.in_prelude(module);
        let result = self.generate_clause(comp, 0, Some(first.clone()), &mut |me, element, value| {
            let own = (me.span_locked, me.b.span);
            (me.span_locked, me.b.span) = outer;
            me.current = consumer;
            let result = each(me, element, value);
            me.current = depth;
            (me.span_locked, me.b.span) = own;
            result
        });
        (self.span_locked, self.b.span) = outer;
        self.current = consumer;
        result?;
        if self.live {
            self.end_frames(depth);
        }
        Ok(())
    }

    fn generate_clause(
        &mut self,
        comp: &Comprehension,
        index: usize,
        first: Option<Abs>,
        each: &mut Each<'_, 'w>,
    ) -> Lift<()> {
        let Some(clause) = comp.clauses.get(index) else {
            let element = self.expr(&comp.element)?;
            let value = comp.value.as_ref().map(|value| self.expr(value)).transpose()?;
            for made in [Some(&element), value.as_ref()].into_iter().flatten() {
                // It would see what the variables of the comprehension are later.
                if crate::leave::refers_to(made, self.current, &self.world.budget) {
                    return self.bail(Code::StaticValue, "a function made within a comprehension outlives its turn");
                }
            }
            return each(self, element, value);
        };
        let iterable = match first {
            Some(first) => first,
            None => self.iterated(&clause.iter)?,
        };
        let outer = self.go_to(clause.iter.span);
        self.for_each(&iterable, &mut |me, item| {
            me.assign(&clause.target, item)?;
            let mut skipped = Vec::new();
            for condition in &clause.conditions {
                let (yes, no) = me.split(condition)?;
                skipped.extend(no);
                me.enter_any(yes)?;
            }
            if me.live {
                me.generate_clause(comp, index + 1, None, each)?;
            }
            skipped.extend(me.state());
            me.enter_any(skipped)
        })?;
        self.back_to(outer);
        Ok(())
    }
}
