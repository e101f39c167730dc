//! Expressions: their operands are evaluated in Python's order, then operations are applied.

use crate::abs::{Abs, Closure, Enclosing};
use crate::bailout::Code;
use crate::tree::ast::{Expr, ExprKind, FunctionDef};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ExcKind, Object, Opcode, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Where a condition is true, and where it is false.
pub(crate) type Sides<T> = (Vec<T>, Vec<T>);

/// Takes an element of a comprehension, of a dict's also its value.
pub(crate) type Each<'a, 'w> = dyn FnMut(&mut Lifter<'w>, Abs, Option<Abs>) -> Lift<()> + 'a;

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

    /// What stands behind a star, which is not None.
    fn starred(&mut self, value: Abs) -> Lift<Abs> {
        let Some((_, union)) = self.union_operand(std::slice::from_ref(&value)) else { return Ok(value) };
        self.dispatch(union, &mut |me, narrowed| match narrowed.same(&Abs::NONE) {
            true => me.raise_message(ExcKind::TypeError, "Value after * must be an iterable, not NoneType"),
            false => Ok(narrowed),
        })
    }

    /// An item of a display. What it puts off is done at its own place: lists that are made for two items
    /// may hold elements of two types.
    fn kept_item(&mut self, item: &Expr) -> Lift<Abs> {
        let made = self.expr(item)?;
        let outer = self.go_to(item.span);
        let kept = self.kept(&made);
        self.back_to(outer);
        kept.map(|()| made)
    }

    /// The items of a display; a list of them where `*x` has no known length, which extends it.
    fn display(&mut self, items: &[Expr]) -> Lift<Result<Vec<Abs>, Abs>> {
        let mut known = Vec::new();
        let mut list: Option<Abs> = None;
        for item in items {
            let starred = match &item.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.expr(inner)?;
                    Some(self.starred(inner)?)
                }
                _ => None,
            };
            let more = match &starred {
                _ if !self.live => return Ok(Ok(Vec::new())),
                Some(inner) => self.known_items(inner),
                None => Some(vec![self.kept_item(item)?]),
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
                    let item = self.kept_item(item)?;
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
                    if frame.locals.iter().any(|name| crate::tree::scope::mentions(def, name).is_some()) {
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
}
