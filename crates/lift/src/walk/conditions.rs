//! Conditions: comparisons, `is`, `and`, `or`, `not`, and the states in which they are true and false, where
//! variables are known more exactly.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::objects::class::ClassObj;
use crate::objects::merge::Arm;
use crate::tree::ast::{CmpOp, Expr, ExprKind};
use crate::walk::expr::Sides;
use crate::walk::lifter::{Lift, Lifter, Split, State};
use exuvia_ir::{Class, Object, Opcode, Type};
use std::rc::Rc;

impl Lifter<'_> {
    /// The value of a comparison or negation: a bool where it is one.
    pub fn condition_value(&mut self, expr: &Expr) -> Lift<Abs> {
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
        // A list is equal to itself, which is not looked at: lists may hold others very often.
        let nests = |ty: &Type| ty.holds(&|ty| matches!(ty, Type::Boxed(Class::List)));
        if nests(&a) && matches!((&a, &b), (Type::List(_), Type::List(_))) {
            let same = self.apply_named("list.is", &args)?;
            let (yes, no) = self.split_value(&same)?;
            self.enter_any(yes)?;
            let mut arms: Vec<Arm> = self.state().map(|state| (state, vec![Abs::bool(eq)])).into_iter().collect();
            self.enter_any(no)?;
            if self.live {
                let equal = self.apply(spelling, &args)?;
                arms.extend(self.state().map(|state| (state, vec![equal])));
            }
            return Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound));
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
        let is_missing = crate::walk::protocol::is_not_implemented;
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
        let object = |abs: &Abs| {
            matches!(abs, Abs::Instance(_) | Abs::Class(_) | Abs::Builtin(_) | Abs::ExcClass(_) | Abs::Func(_))
        };
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
    pub fn bool_op(&mut self, and: bool, values: &[Expr]) -> Lift<Abs> {
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
}
