//! Simplifies instruction by instruction, with what is known where each stands.
//!
//! One walk over the dominator tree applies the rules of the files beside this one
//! ([`crate::fold`], [`crate::unions`], [`crate::tuples`], [`crate::algebra`]) to each
//! instruction after those that it uses. Below the edge of a branch the condition is
//! known, and with it what the condition says of other values.
//!
//! Law: a rule replaces an instruction by something with the same value, which may raise
//! less but never more, for all values of the operands that are possible there.

use crate::context::{Context, Renaming};
use crate::tags::{self, Tags};
use crate::{algebra, fold, tuples, unions};
use exuvia_ir::{BlockId, Flow, Function, Inst, Object, Opcode, Span, Terminator, Type, Value, is_constant_of};
use exuvia_ops::core::{Cmp, CoreOp};

/// What a rule makes of an instruction.
pub(crate) enum Rewrite {
    /// Its result is another value.
    Same(Value),
    /// Its result is a constant.
    Const(Object),
    /// It is another instruction that does not raise.
    To(Opcode, Vec<Value>),
}

/// Where a value is defined.
#[derive(Clone, Copy)]
enum Site {
    Param,
    Inst(BlockId, usize),
}

/// The state of the walk: what rules may ask.
pub(crate) struct Known<'a> {
    pub(crate) function: &'a mut Function,
    pub(crate) context: &'a mut Context,
    sites: Vec<Site>,
    constants: Vec<Option<Object>>,
    tags: Vec<Tags>,
    undo: Vec<Undo>,
}

enum Undo {
    Constant(Value, Option<Object>),
    Tags(Value, Tags),
}

impl Known<'_> {
    /// The constant that a value is known to be.
    pub(crate) fn constant(&self, value: Value) -> Option<&Object> {
        self.constants.get(value.index())?.as_ref()
    }

    /// The 64-bit integer that a value is known to be.
    pub(crate) fn int(&self, value: Value) -> Option<i64> {
        match self.constant(value)? {
            Object::Int(int) => int.to_i64(),
            _ => None,
        }
    }

    /// The bool that a value is known to be.
    pub(crate) fn bool(&self, value: Value) -> Option<bool> {
        match self.constant(value)? {
            Object::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// The instruction that defines a value.
    pub(crate) fn inst(&self, value: Value) -> Option<&Inst> {
        match self.sites.get(value.index())? {
            Site::Param => None,
            Site::Inst(block, at) => self.function.block(*block).insts.get(*at),
        }
    }

    /// The operands of the instruction that defines a value, if it is that core operation.
    pub(crate) fn core_args(&mut self, value: Value, op: CoreOp) -> Option<Vec<Value>> {
        let inst = self.inst(value)?;
        let Opcode::Op(name) = inst.op else { return None };
        let args = inst.args.clone();
        match self.context.def(name)?.body {
            exuvia_ops::def::Body::Core(found) if found == op => Some(args),
            _ => None,
        }
    }

    pub(crate) fn ty(&self, value: Value) -> &Type {
        self.function.ty(value)
    }

    /// The alternatives or classes that a value can have here.
    pub(crate) fn tags(&self, value: Value) -> Tags {
        self.tags.get(value.index()).copied().unwrap_or(tags::ALL)
    }

    /// A new value that is a constant.
    fn new_constant(&mut self, ty: Type, object: Object) -> Value {
        self.sites.push(Site::Param);
        self.constants.push(Some(object));
        self.tags.push(tags::ALL);
        self.function.new_value(ty)
    }

    fn set_constant(&mut self, value: Value, object: Object) {
        let old = self.constants[value.index()].replace(object);
        self.undo.push(Undo::Constant(value, old));
    }

    fn narrow(&mut self, value: Value, to: Tags) {
        let old = self.tags[value.index()];
        self.undo.push(Undo::Tags(value, old));
        self.tags[value.index()] = old & to;
    }

    /// Notes that a bool has a value from here on.
    fn assume(&mut self, cond: Value, holds: bool) {
        self.set_constant(cond, Object::Bool(holds));
        let Some(inst) = self.inst(cond) else { return };
        let args = inst.args.clone();
        match inst.op.clone() {
            Opcode::Is(wanted) => {
                let tags = tags::tags_of(self.ty(args[0]), &wanted);
                if tags != tags::ALL {
                    self.narrow(args[0], if holds { tags } else { !tags });
                }
            }
            Opcode::ExcIs(kinds) => {
                let is = |kind: &&exuvia_ir::ExcKind| kinds.iter().any(|base| kind.is_subclass(*base)) == holds;
                let all = exuvia_ir::ExcKind::ALL.iter().filter(is).fold(0, |all, kind| all | tags::class(*kind));
                self.narrow(args[0], all);
            }
            Opcode::Op(name) => {
                let Some(def) = self.context.def(name) else { return };
                let exuvia_ops::def::Body::Core(op) = def.body else { return };
                match (op, holds) {
                    (CoreOp::BoolNot, _) => self.assume(args[0], !holds),
                    (CoreOp::BoolAnd, true) | (CoreOp::BoolOr, false) => {
                        self.assume(args[0], holds);
                        self.assume(args[1], holds);
                    }
                    // Equal ints and strings are interchangeable; floats are not (0.0 and -0.0).
                    (CoreOp::IntCmp(Cmp::Eq) | CoreOp::StrEq, true) | (CoreOp::IntCmp(Cmp::Ne), false) => {
                        match (self.constant(args[0]).cloned(), self.constant(args[1]).cloned()) {
                            (Some(object), None) => self.set_constant(args[1], object),
                            (None, Some(object)) => self.set_constant(args[0], object),
                            _ => {}
                        }
                    }
                    (CoreOp::IntTruth, false) => self.set_constant(args[0], Object::int(0)),
                    (CoreOp::StrTruth, false) => self.set_constant(args[0], Object::str("")),
                    _ => {}
                }
            }
            Opcode::Const(_)
            | Opcode::Call(_)
            | Opcode::Wrap
            | Opcode::Unwrap
            | Opcode::Tuple
            | Opcode::Field(_)
            | Opcode::List
            | Opcode::NewExc(_)
            | Opcode::Poll => {}
        }
    }

    fn back_to(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Constant(value, old) => self.constants[value.index()] = old,
                Undo::Tags(value, old) => self.tags[value.index()] = old,
            }
        }
    }
}

/// An instruction that stands for none, until the end of the walk.
fn nothing() -> Inst {
    Inst {
        op: Opcode::Const(Object::Unbound),
        args: vec![],
        result: None,
        unwind: None,
        no_overflow: false,
        span: Span::default(),
    }
}

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let flow = Flow::new(function);
    let tags = tags::analyse(function, &flow, context);
    let values = function.values.len();
    let mut sites = vec![Site::Param; values];
    for (at, block) in function.blocks.iter().enumerate() {
        for (index, inst) in block.insts.iter().enumerate() {
            if let Some(result) = inst.result {
                sites[result.index()] = Site::Inst(BlockId(at as u32), index);
            }
        }
    }
    let mut names = Renaming::new(function);
    let constants = vec![None; values];
    let mut known = Known { function, context, sites, constants, tags, undo: Vec::new() };
    let mut inserted: Vec<(BlockId, usize, Inst)> = Vec::new();
    // The segments that dominate the current one, each with its mark in the undo list.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for segment in flow.tree() {
        while let Some((above, mark)) = path.last().copied() {
            if flow.dominates(above, segment) {
                break;
            }
            known.back_to(mark);
            path.pop();
        }
        path.push((segment, known.undo.len()));
        learn_from_edge(&flow, segment, &mut known);
        let part = flow.segment(segment).clone();
        for at in part.insts {
            visit(&mut known, &mut names, &mut inserted, part.block, at);
        }
        if part.last {
            end(&mut known, &mut names, part.block);
        }
    }
    names.apply(function);
    insert(function, inserted);
    for block in &mut function.blocks {
        block.insts.retain(|inst| inst.result.is_some() || !matches!(inst.op, Opcode::Const(_)));
    }
}

/// A segment that is entered by one edge of one branch knows the condition.
fn learn_from_edge(flow: &Flow, segment: usize, known: &mut Known<'_>) {
    let mut predecessors = flow.predecessors(segment);
    let (Some(before), None) = (predecessors.next(), predecessors.next()) else { return };
    let part = flow.segment(before);
    if !part.last {
        return;
    }
    if let Terminator::Branch(cond, yes, no) = &known.function.block(part.block).term {
        let (cond, holds) = (*cond, yes.block == flow.segment(segment).block);
        if yes.block != no.block {
            known.assume(cond, holds);
        }
    }
}

fn visit(
    known: &mut Known<'_>,
    names: &mut Renaming,
    inserted: &mut Vec<(BlockId, usize, Inst)>,
    block: BlockId,
    at: usize,
) {
    let mut inst = std::mem::replace(&mut known.function.block_mut(block).insts[at], nothing());
    names.apply_inst(&mut inst);
    // A rule may enable another: a wrapped wrap, a comparison that became a negation.
    for _ in 0..8 {
        let Some(rewrite) = rewrite(known, &inst) else { break };
        match rewrite {
            Rewrite::Same(value) => {
                if let Some(result) = inst.result {
                    debug_assert_eq!(known.function.ty(result), known.function.ty(value), "{inst:?}");
                    names.set(result, value);
                }
                return;
            }
            Rewrite::Const(object) => {
                let Some(result) = inst.result else { break };
                let ty = known.function.ty(result).clone();
                // Constants of other types are met only where control never comes.
                if !ty.alternatives().iter().any(|ty| is_constant_of(&object, ty)) {
                    break;
                }
                inst.args.clear();
                inst.unwind = None;
                inst.no_overflow = false;
                if let Type::Union(types) = &ty {
                    // A constant has no union type: it is made with its own and wrapped.
                    let Some(own) = alternative(&object, types) else { break };
                    let made = known.new_constant(own, object.clone());
                    let constant = Inst { op: Opcode::Const(object), result: Some(made), ..inst.clone() };
                    inserted.push((block, at, constant));
                    inst.op = Opcode::Wrap;
                    inst.args.push(made);
                } else {
                    inst.op = Opcode::Const(object);
                }
                break;
            }
            Rewrite::To(op, args) => {
                inst.op = op;
                inst.args = args;
                inst.unwind = None;
                inst.no_overflow = false;
            }
        }
    }
    if inst.unwind.is_some() && !known.context.may_raise(&inst) {
        inst.unwind = None;
    }
    if let Some(result) = inst.result {
        if let Some(object) = constant_of(known, &inst) {
            known.constants[result.index()] = Some(object);
        }
        if tags::has_tags(known.function.ty(result)) {
            let new = tags::of_inst(known.function, &inst, result, &known.tags);
            known.tags[result.index()] &= new;
        }
    }
    known.function.block_mut(block).insts[at] = inst;
}

/// The alternative whose values an object is one of.
fn alternative(object: &Object, types: &[Type]) -> Option<Type> {
    let exact = object.ty();
    if types.contains(&exact) {
        return Some(exact);
    }
    types.iter().find(|ty| is_constant_of(object, ty)).cloned()
}

/// The constant that an instruction makes: its own, or what it passes on.
fn constant_of(known: &Known<'_>, inst: &Inst) -> Option<Object> {
    match &inst.op {
        Opcode::Const(object) => Some(object.clone()),
        Opcode::Wrap => known.constant(inst.args[0]).cloned(),
        // Where another alternative is held the point is never reached.
        Opcode::Unwrap => {
            let object = known.constant(inst.args[0])?;
            let fits = |ty: &Type| ty.alternatives().iter().any(|ty| is_constant_of(object, ty));
            fits(known.ty(inst.result?)).then(|| object.clone())
        }
        Opcode::Tuple => {
            let items = inst.args.iter().map(|arg| known.constant(*arg).cloned());
            items.collect::<Option<Vec<_>>>().map(Object::tuple)
        }
        Opcode::Op(_)
        | Opcode::Call(_)
        | Opcode::Is(_)
        | Opcode::Field(_)
        | Opcode::List
        | Opcode::NewExc(_)
        | Opcode::ExcIs(_)
        | Opcode::Poll => None,
    }
}

fn rewrite(known: &mut Known<'_>, inst: &Inst) -> Option<Rewrite> {
    match &inst.op {
        Opcode::Op(name) => {
            let def = known.context.def(name)?;
            fold::op(known, inst, def).or_else(|| algebra::op(known, inst, def))
        }
        Opcode::Wrap => unions::wrap(known, inst),
        Opcode::Unwrap => unions::unwrap(known, inst),
        Opcode::Is(wanted) => unions::is(known, inst, wanted),
        Opcode::ExcIs(kinds) => {
            tags::are_instances(known.tags(inst.args[0]), kinds).map(|is| Rewrite::Const(Object::Bool(is)))
        }
        Opcode::Field(index) => tuples::field(known, inst, *index as usize),
        Opcode::Tuple => tuples::tuple(known, inst),
        Opcode::Const(_) | Opcode::Call(_) | Opcode::List | Opcode::NewExc(_) | Opcode::Poll => None,
    }
}

/// Decides a block's branch where its condition is known, and turns a negated one round.
fn end(known: &mut Known<'_>, names: &mut Renaming, block: BlockId) {
    let mut term = std::mem::replace(&mut known.function.block_mut(block).term, Terminator::Unreachable);
    term.for_each_value_mut(|value| *value = names.get(*value));
    while let Terminator::Branch(cond, yes, no) = term {
        if let Some(holds) = known.bool(cond) {
            term = Terminator::Jump(if holds { yes } else { no });
        } else if let Some(args) = known.core_args(cond, CoreOp::BoolNot) {
            term = Terminator::Branch(args[0], no, yes);
        } else {
            term = Terminator::Branch(cond, yes, no);
            break;
        }
    }
    known.function.block_mut(block).term = term;
}

/// Puts instructions before those at their places.
fn insert(function: &mut Function, mut inserted: Vec<(BlockId, usize, Inst)>) {
    // From the back, so that places stay valid.
    inserted.sort_by_key(|(block, at, _)| (*block, *at));
    for (block, at, inst) in inserted.into_iter().rev() {
        function.block_mut(block).insts.insert(at, inst);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn simplify(input: &str, expect: Expect) {
        check(
            &[("simplify", super::run), ("dead code", crate::dce::run), ("blocks", crate::blocks::run)],
            input,
            expect,
        );
    }

    #[test]
    fn constants_fold_but_raising_stays() {
        simplify(
            r#"
fn f0 "f"(v0: int) -> tuple[int, str, int] {
b0:
  v1: int = const 9223372036854775807
  v2: int = int.add v1 v1
  v3: int = const 0
  v4: int = const 7
  v5: int = int.mod v4 v3
  v6: str = const "abc"
  v7: int = str.len v6
  v8: bool = int.lt v7 v4
  branch v8 b1(v5) b2
b1(v9: int):
  v10: tuple[int, str, int] = tuple v2 v6 v9
  v11: str = field 1 v10
  v12: tuple[int, str, int] = tuple v7 v11 v9
  return v12
b2:
  v13: tuple[int, str, int] = tuple v0 v6 v0
  return v13
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> tuple[int, str, int] {
                b0:
                  v1: int = const 0
                  v2: int = const 7
                  v3: int = int.mod v2 v1
                  v4: str = const "abc"
                  v5: int = const 3
                  v6: tuple[int, str, int] = tuple v5 v4 v3
                  return v6
                }
            "#]],
        );
    }

    #[test]
    fn branches_teach_what_unions_hold() {
        simplify(
            r#"
fn f0 "f"(v0: union[none, bool, int]) -> int {
b0:
  v1: bool = is none v0
  v2: bool = bool.not v1
  branch v2 b1 b2
b1:
  v3: bool = is none v0
  branch v3 b2 b3
b3:
  v4: union[bool, int] = unwrap v0
  v5: bool = is bool v4
  branch v5 b4 b5
b4:
  v6: bool = unwrap v4
  v7: bool = is int v0
  branch v7 b2 b6
b6:
  v8: int = bool.to_int v6
  return v8
b5:
  v9: int = unwrap v4
  v10: bool = is int v0
  branch v10 b7 b2
b7:
  return v9
b2:
  v11: int = const 0
  return v11
}"#,
            expect![[r#"
                fn f0 "f"(v0: union[none, bool, int]) -> int {
                b0:
                  v1: bool = is none v0
                  branch v1 b1 b2
                b1:
                  v2: int = const 0
                  return v2
                b2:
                  v3: bool = is bool v0
                  branch v3 b3 b4
                b3:
                  v4: bool = unwrap v0
                  v5: int = bool.to_int v4
                  return v5
                b4:
                  v6: int = unwrap v0
                  return v6
                }
            "#]],
        );
    }

    #[test]
    fn loops_keep_the_alternatives_that_they_feed_back() {
        simplify(
            r#"
fn f0 "f"(v0: int) -> bool {
b0:
  v1: union[none, int, str] = wrap v0
  jump b1(v1)
b1(v2: union[none, int, str]):
  v3: bool = is none v2
  branch v3 b2 b3
b2:
  return v3
b3:
  v4: union[int, str] = unwrap v2
  v5: bool = is str v4
  branch v5 b2 b4
b4:
  poll
  v6: union[none, int, str] = wrap v4
  jump b1(v6)
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> bool {
                b0:
                  jump b1
                b1:
                  v1: bool = const false
                  poll
                  jump b1
                }
            "#]],
        );
    }

    #[test]
    fn handlers_know_what_can_be_raised() {
        simplify(
            r#"
fn f0 "f"(v0: int, v1: int) -> int {
b0:
  v2: int = int.mod v0 v1 unwind b1
  v3: int = int.add v0 v2 unwind b1
  return v3
b1(v4: exc):
  v5: bool = exc_is [ValueError, ArithmeticError] v4
  branch v5 b2 b3
b2:
  return v0
b3:
  reraise v4
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: int) -> int {
                b0:
                  v2: int = int.mod v0 v1 unwind b1
                  v3: int = int.add v0 v2
                  return v3
                b1(v4: exc):
                  return v0
                }
            "#]],
        );
    }

    #[test]
    fn equality_teaches_the_value() {
        simplify(
            r#"
fn f0 "f"(v0: str, v1: float) -> bool {
b0:
  v2: str = const "x"
  v3: float = const 0.0
  v4: bool = str.eq v0 v2
  branch v4 b1 b2
b1:
  v5: bool = str.eq v2 v0
  return v5
b2:
  v6: bool = float.eq v1 v3
  branch v6 b3 b4
b3:
  v7: float = float.neg v1
  v8: bool = float.eq v7 v3
  return v8
b4:
  v9: bool = str.eq v0 v2
  return v9
}"#,
            expect![[r#"
                fn f0 "f"(v0: str, v1: float) -> bool {
                b0:
                  v2: str = const "x"
                  v3: float = const 0.0
                  v4: bool = str.eq v0 v2
                  branch v4 b1 b2
                b1:
                  v5: bool = const true
                  return v5
                b2:
                  v6: bool = float.eq v1 v3
                  branch v6 b3 b4
                b3:
                  v7: float = float.neg v1
                  v8: bool = float.eq v7 v3
                  return v8
                b4:
                  v9: bool = str.eq v0 v2
                  return v9
                }
            "#]],
        );
    }

    #[test]
    fn laws_of_integers_and_bools() {
        simplify(
            r#"
fn f0 "f"(v0: int, v1: bool, v2: float) -> tuple[int, bool, float, bool] {
b0:
  v3: int = const 0
  v4: int = const 1
  v5: int = int.add v3 v0
  v6: int = int.mul v5 v4
  v7: int = int.sub v3 v6
  v8: int = int.neg v7
  v9: bool = bool.not v1
  v10: bool = bool.not v9
  v11: int = bool.to_int v10
  v12: bool = int.eq v11 v4
  v13: float = const 0.0
  v14: float = float.add v2 v13
  v15: bool = int.lt v8 v3
  v16: bool = bool.not v15
  v17: tuple[int, bool, float, bool] = tuple v8 v12 v14 v16
  return v17
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: bool, v2: float) -> tuple[int, bool, float, bool] {
                b0:
                  v3: int = const 0
                  v4: float = const 0.0
                  v5: float = float.add v2 v4
                  v6: bool = int.ge v0 v3
                  v7: tuple[int, bool, float, bool] = tuple v0 v1 v5 v6
                  return v7
                }
            "#]],
        );
    }
}
