//! Lets indices into a text be byte offsets where nobody sees them, for native code.
//!
//! Law: an index and its place in a text (`ops/src/str/place.rs` says what that is) compare alike
//! with other indices into the same text, with 0 and with negative numbers; and each operation that
//! gives or takes an index has one that gives or takes its place. So indices that come from searches,
//! lengths, constants and steps by constants, and go nowhere but into comparisons with each other,
//! into bounds of slices and searches of the same text, and into subscripts of it, may all be places.
//! Where any of them goes elsewhere, all that meet it stay indices.
//!
//! An index is one into a *value* that is a text, and a loop may make that value again. A parameter of
//! a block stands for a place in it only where the value is made before the block: then no way into the
//! block makes it anew.
//!
//! What comes out is for native code alone: a predicate of SQL and a device know the indices.

use crate::context::Context;
use crate::licm;
use exuvia_ir::{BlockId, Edge, Flow, FuncId, Function, Inst, Int, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_ops::core::CoreOp;
use exuvia_ops::str::FEW;

/// The module with places for indices, if it has any that may be places.
#[must_use]
pub fn with_places(module: &Module) -> Option<Module> {
    let uses = |function: &Function| {
        let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
        insts.any(|inst| Use::of(inst).is_some())
    };
    if !module.functions.iter().any(uses) {
        return None;
    }
    let mut module = module.clone();
    let mut context = Context::new();
    let mut changed = false;
    for id in (0..module.functions.len() as u32).map(FuncId) {
        let function = &mut module.functions[id.index()];
        if uses(function) && run(function, &mut context) {
            changed = true;
            crate::check(&module, "places", None);
            for pass in [crate::COMMON, crate::DEAD_CODE] {
                crate::run_one(&mut module, id, &mut context, pass);
            }
            crate::blocks::number_values(&mut module.functions[id.index()]);
        }
    }
    changed.then_some(module)
}

/// An operation that takes indices into its first operand.
#[derive(Clone, Copy)]
struct Use {
    /// The operation that takes places.
    place: &'static str,
    /// The first operand that is an index, and how many there may be.
    first: usize,
    most: usize,
    /// Whether its result is an index as well.
    gives: bool,
}

impl Use {
    fn of(inst: &Inst) -> Option<Use> {
        let Opcode::Op(name) = inst.op else { return None };
        let (place, first, most, gives) = match name {
            "str.find" => ("place.find", 2, 2, true),
            "str.rfind" => ("place.rfind", 2, 2, true),
            "str.index" => ("place.index", 2, 2, true),
            "str.rindex" => ("place.rindex", 2, 2, true),
            "str.startswith" => ("place.startswith", 2, 2, false),
            "str.endswith" => ("place.endswith", 2, 2, false),
            "str.count" => ("place.count", 2, 2, false),
            "str.slice" => ("place.slice", 1, 2, false),
            "str.get" => ("place.get", 1, 1, false),
            _ => return None,
        };
        Some(Use { place, first, most, gives })
    }

    /// The operands that are indices.
    fn indices(self, inst: &Inst) -> &[Value] {
        &inst.args[self.first..]
    }

    /// The indices that it takes and gives, of those that may become places.
    fn members(self, inst: &Inst, sets: &Sets) -> Vec<Value> {
        let given = inst.result.filter(|_| self.gives);
        self.indices(inst).iter().copied().chain(given).filter(|value| sets.is_member(*value)).collect()
    }
}

/// What an operand that should be an index is.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    /// A constant near 0: an index into any text.
    Constant(i64),
    /// The end of any text, as the bound of a slice or a search.
    End,
    /// The length of a text, whose place is computed where it is asked for.
    Length(Value),
    /// A value that is to become a place.
    Member,
    /// Anything else.
    Other,
}

/// The values that may become places, in sets of which all members become places or none.
struct Sets {
    members: Vec<bool>,
    parent: Vec<u32>,
    /// By the value that stands for the set.
    sets: Vec<Set>,
}

/// What is known of a set.
#[derive(Clone, Default)]
struct Set {
    /// The text into which its members are indices.
    text: Option<Value>,
    /// Whether they stay indices.
    is_dead: bool,
    /// Whether something is gained: a search or a part of a text.
    is_useful: bool,
    /// Whether a member begins as a negative constant, and whether one steps down.
    begins_negative: bool,
    steps_down: bool,
}

impl Set {
    fn is_into(&mut self, text: Value) {
        self.is_dead |= self.text.replace(text).is_some_and(|other| other != text);
    }
}

impl Sets {
    fn root(&mut self, value: Value) -> usize {
        let mut at = value.index();
        while self.parent[at] as usize != at {
            self.parent[at] = self.parent[self.parent[at] as usize];
            at = self.parent[at] as usize;
        }
        at
    }

    fn of(&mut self, value: Value) -> &mut Set {
        let root = self.root(value);
        &mut self.sets[root]
    }

    fn is_member(&self, value: Value) -> bool {
        self.members[value.index()]
    }

    fn kill(&mut self, value: Value) {
        self.of(value).is_dead = true;
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        self.parent[b] = a as u32;
        let other = std::mem::take(&mut self.sets[b]);
        let set = &mut self.sets[a];
        set.is_dead |= other.is_dead;
        set.is_useful |= other.is_useful;
        set.begins_negative |= other.begins_negative;
        set.steps_down |= other.steps_down;
        if let Some(text) = other.text {
            set.is_into(text);
        }
    }

    /// A member meets another operand: both are indices into the same text.
    fn meet(&mut self, member: Value, other: Value, operand: Operand) {
        match operand {
            Operand::Constant(_) => {}
            Operand::Length(text) => self.of(member).is_into(text),
            Operand::Member => self.join(member, other),
            Operand::End | Operand::Other => self.kill(member),
        }
    }

    /// The text into which a member is a place; `None` if it stays an index.
    fn place_in(&mut self, value: Value) -> Option<Value> {
        if !self.is_member(value) {
            return None;
        }
        let set = self.of(value);
        // Who goes down from the end by negative indices gains nothing: those are counted from there.
        let counts = set.begins_negative && set.steps_down;
        set.text.filter(|_| !set.is_dead && set.is_useful && !counts)
    }
}

/// What is known of the values of a function.
struct Facts {
    constants: Vec<Option<i64>>,
    lengths: Vec<Option<Value>>,
    nones: Vec<bool>,
}

impl Facts {
    fn of(function: &Function, context: &mut Context) -> Facts {
        let count = function.values.len();
        let nones = function.values.iter().map(|value| value.ty == Type::None).collect();
        let mut facts = Facts { constants: vec![None; count], lengths: vec![None; count], nones };
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let Some(result) = inst.result else { continue };
            match &inst.op {
                Opcode::Const(Object::Int(Int::Small(value))) => facts.constants[result.index()] = Some(*value),
                Opcode::Op("str.len") if context.core_of(inst) == Some(CoreOp::StrLen) => {
                    facts.lengths[result.index()] = Some(inst.args[0]);
                }
                _ => {}
            }
        }
        facts
    }

    fn operand(&self, sets: &Sets, value: Value) -> Operand {
        match (self.constants[value.index()], self.lengths[value.index()]) {
            (Some(near), _) if near.unsigned_abs() <= FEW as u64 => Operand::Constant(near),
            (Some(i64::MAX), _) => Operand::End,
            (None, Some(text)) => Operand::Length(text),
            (None, None) if self.nones[value.index()] => Operand::End,
            (None, None) if sets.is_member(value) => Operand::Member,
            _ => Operand::Other,
        }
    }

    /// The index from which an operation steps by a constant, and that constant.
    fn step(&self, context: &mut Context, inst: &Inst) -> Option<(Value, i64)> {
        let near = |value: Value| self.constants[value.index()].filter(|by| by.unsigned_abs() <= FEW as u64);
        match (context.core_of(inst)?, &inst.args[..]) {
            (CoreOp::IntAdd, [from, by]) if near(*by).is_some() => Some((*from, near(*by)?)),
            (CoreOp::IntAdd, [by, from]) => Some((*from, near(*by)?)),
            (CoreOp::IntSub, [from, by]) => Some((*from, -near(*by)?)),
            _ => None,
        }
    }
}

/// Runs over one function; says whether it changed anything.
fn run(function: &mut Function, context: &mut Context) -> bool {
    let facts = Facts::of(function, context);
    let mut sets = gather(function, context, &facts);
    let flow = Flow::new(function);
    forget_others(function, &flow, &mut sets);
    rewrite(function, context, &flow, &facts, &mut sets)
}

/// The sets of values that meet each other.
fn gather(function: &Function, context: &mut Context, facts: &Facts) -> Sets {
    let count = function.values.len();
    let mut sets =
        Sets { members: vec![false; count], parent: (0..count as u32).collect(), sets: vec![Set::default(); count] };
    for (at, block) in function.blocks.iter().enumerate() {
        for param in block.params.iter().filter(|param| at > 0 && *function.ty(**param) == Type::Int) {
            sets.members[param.index()] = true;
        }
        for inst in &block.insts {
            let gives = Use::of(inst).is_some_and(|taken| taken.gives);
            if let Some(result) = inst.result
                && (gives || facts.step(context, inst).is_some())
            {
                sets.members[result.index()] = true;
            }
        }
    }
    for block in &function.blocks {
        for inst in &block.insts {
            visit(context, facts, &mut sets, inst);
            if let Some(edge) = &inst.unwind {
                // The target's first parameter is the exception.
                enter(function, facts, &mut sets, edge, 1);
            }
        }
        match &block.term {
            Terminator::Jump(_) | Terminator::Branch(..) => {
                block.term.for_each_edge(|edge| enter(function, facts, &mut sets, edge, 0));
            }
            other => other.for_each_value(|value| sets.kill(value)),
        }
    }
    sets
}

/// The arguments of an edge meet the parameters of its target behind the first `skipped`.
fn enter(function: &Function, facts: &Facts, sets: &mut Sets, edge: &Edge, skipped: usize) {
    for (param, arg) in function.block(edge.block).params[skipped..].iter().zip(&edge.args) {
        if sets.is_member(*param) {
            let operand = facts.operand(sets, *arg);
            sets.of(*param).begins_negative |= matches!(operand, Operand::Constant(..0));
            sets.meet(*param, *arg, operand);
        } else {
            sets.kill(*arg);
        }
    }
}

/// The operands and the result of an instruction meet.
fn visit(context: &mut Context, facts: &Facts, sets: &mut Sets, inst: &Inst) {
    if let Some(taken) = Use::of(inst) {
        let text = inst.args[0];
        let fits = taken.indices(inst).iter().all(|index| is_into(facts, sets, *index, text));
        let members = taken.members(inst, sets);
        if let [first, others @ ..] = &members[..] {
            others.iter().for_each(|other| sets.join(*first, *other));
            let set = sets.of(*first);
            set.is_into(text);
            set.is_useful = true;
            set.is_dead |= !fits;
        }
        return;
    }
    if let Some((from, by)) = facts.step(context, inst)
        && let Some(result) = inst.result
    {
        sets.of(result).steps_down |= by < 0;
        match facts.operand(sets, from) {
            // The sum of constants is no index into anything.
            Operand::Constant(_) => sets.kill(result),
            operand => sets.meet(result, from, operand),
        }
        return;
    }
    if let (Some(CoreOp::IntCmp(_)), [a, b]) = (context.core_of(inst), &inst.args[..]) {
        let operands = [facts.operand(sets, *a), facts.operand(sets, *b)];
        for (member, (other, operand)) in [(*a, (*b, operands[1])), (*b, (*a, operands[0]))] {
            if sets.is_member(member) {
                sets.meet(member, other, operand);
            }
        }
        return;
    }
    inst.args.iter().for_each(|arg| sets.kill(*arg));
}

/// Whether an operand may be an index into a text, as far as it is known by itself.
fn is_into(facts: &Facts, sets: &Sets, index: Value, text: Value) -> bool {
    match facts.operand(sets, index) {
        Operand::Constant(_) | Operand::End | Operand::Member => true,
        Operand::Length(of) => of == text,
        Operand::Other => false,
    }
}

/// Parameters of blocks before which their text is not yet made are no places.
fn forget_others(function: &Function, flow: &Flow, sets: &mut Sets) {
    let homes = licm::homes(function, flow);
    for (at, block) in function.blocks.iter().enumerate().skip(1) {
        let here = flow.first(BlockId(at as u32));
        for param in &block.params {
            let Some(text) = sets.place_in(*param) else { continue };
            let home = homes[text.index()];
            let before = home != here
                && flow.position(here).is_some()
                && flow.position(home).is_some()
                && flow.dominates(home, here);
            if !before {
                sets.kill(*param);
            }
        }
    }
}

/// Puts the operations on places where those on indices were.
fn rewrite(function: &mut Function, context: &mut Context, flow: &Flow, facts: &Facts, sets: &mut Sets) -> bool {
    let early = flow.order().any(|at| flow.is_head(at)).then(Vec::new);
    let mut new = New { function, out: Vec::new(), early };
    let mut changed = false;
    for at in 0..new.function.blocks.len() {
        for mut inst in std::mem::take(&mut new.function.blocks[at].insts) {
            changed |= replace(&mut new, context, facts, sets, &mut inst);
            if let Some(mut edge) = inst.unwind.take() {
                pass(&mut new, facts, sets, &mut edge, 1);
                inst.unwind = Some(edge);
            }
            new.out.push(inst);
        }
        let mut term = std::mem::replace(&mut new.function.blocks[at].term, Terminator::Open);
        term.for_each_edge_mut(|edge| pass(&mut new, facts, sets, edge, 0));
        new.function.blocks[at].insts = std::mem::take(&mut new.out);
        new.function.blocks[at].term = term;
    }
    new.make_early();
    if changed {
        reach(function);
    }
    changed
}

/// A step whose place only bounds parts of its text need not go beyond the end.
fn reach(function: &mut Function) {
    let mut only_bounds = vec![true; function.values.len()];
    for block in &function.blocks {
        for inst in &block.insts {
            // The first operand of a slice is the text.
            let others = if inst.op.is_op("place.slice") { 1 } else { inst.args.len() };
            let passed = inst.unwind.iter().flat_map(|edge| &edge.args);
            inst.args[..others].iter().chain(passed).for_each(|value| only_bounds[value.index()] = false);
        }
        block.term.for_each_value(|value| only_bounds[value.index()] = false);
    }
    for inst in function.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if inst.op.is_op("place.step") && inst.result.is_some_and(|result| only_bounds[result.index()]) {
            inst.op = named("place.reach");
        }
    }
}

/// The arguments of an edge whose parameters are places.
fn pass(new: &mut New<'_>, facts: &Facts, sets: &mut Sets, edge: &mut Edge, skipped: usize) {
    for (at, arg) in edge.args.iter_mut().enumerate() {
        let param = new.function.block(edge.block).params[skipped + at];
        if let Some(text) = sets.place_in(param) {
            *arg = new.place(text, *arg, facts.operand(sets, *arg));
        }
    }
}

/// Makes an instruction one on places if its operands become places.
fn replace(new: &mut New<'_>, context: &mut Context, facts: &Facts, sets: &mut Sets, inst: &mut Inst) -> bool {
    if let Some(taken) = Use::of(inst) {
        let text = inst.args[0];
        let indices = taken.indices(inst).to_vec();
        let becomes = match taken.members(inst, sets).first() {
            Some(member) => sets.place_in(*member).is_some(),
            // Nobody else sees constants and lengths.
            None => {
                let operands: Vec<Operand> = indices.iter().map(|index| facts.operand(sets, *index)).collect();
                let counted = |operand: &Operand| !matches!(operand, Operand::Constant(0) | Operand::End);
                indices.iter().all(|index| is_into(facts, sets, *index, text)) && operands.iter().any(counted)
            }
        };
        if !becomes {
            return false;
        }
        for (at, index) in indices.into_iter().enumerate() {
            let operand = facts.operand(sets, index);
            inst.args[taken.first + at] = new.place(text, index, operand);
        }
        // What the operation leaves out.
        for at in inst.args.len()..taken.first + taken.most {
            let end = if at == taken.first { 0 } else { i64::MAX };
            inst.args.push(new.constant(end));
        }
        inst.op = named(taken.place);
        return true;
    }
    if let Some((from, by)) = facts.step(context, inst) {
        let Some(text) = inst.result.and_then(|result| sets.place_in(result)) else { return false };
        let operand = facts.operand(sets, from);
        let from = new.place(text, from, operand);
        let by = new.constant(by);
        inst.op = named("place.step");
        inst.args = vec![text, from, by];
        return true;
    }
    if let (Some(CoreOp::IntCmp(_)), [a, b]) = (context.core_of(inst), &inst.args[..]) {
        let text = [*a, *b].into_iter().find_map(|value| sets.place_in(value));
        let Some(text) = text else { return false };
        for at in 0..2 {
            let operand = facts.operand(sets, inst.args[at]);
            inst.args[at] = new.place(text, inst.args[at], operand);
        }
        return true;
    }
    false
}

/// A function while its operations are replaced.
struct New<'a> {
    function: &'a mut Function,
    /// What stands before the next instruction.
    out: Vec<Inst>,
    /// The places of constants that are made once, where their text is made: in a function with loops.
    early: Option<Vec<(Value, i64, Value)>>,
}

impl New<'_> {
    /// The place of an index into a text.
    fn place(&mut self, text: Value, index: Value, operand: Operand) -> Value {
        match operand {
            Operand::Constant(near) if near > 0 => {
                let Some(early) = &mut self.early else { return self.step(text, near) };
                if let Some((.., place)) = early.iter().find(|made| (made.0, made.1) == (text, near)) {
                    return *place;
                }
                let place = self.function.new_value(Type::Int);
                early.push((text, near, place));
                place
            }
            Operand::Length(_) => self.make(named("str.byte_len"), vec![text]),
            Operand::End => self.constant(i64::MAX),
            Operand::Constant(_) | Operand::Member | Operand::Other => index,
        }
    }

    /// The place of a constant index.
    fn step(&mut self, text: Value, near: i64) -> Value {
        let place = self.function.new_value(Type::Int);
        self.step_to(place, text, near);
        place
    }

    fn step_to(&mut self, place: Value, text: Value, near: i64) {
        let args = vec![text, self.constant(0), self.constant(near)];
        self.add(named("place.step"), args, place);
    }

    fn constant(&mut self, value: i64) -> Value {
        self.make(Opcode::Const(Object::int(value)), vec![])
    }

    /// Adds an instruction that makes an int.
    fn make(&mut self, op: Opcode, args: Vec<Value>) -> Value {
        let result = self.function.new_value(Type::Int);
        self.add(op, args, result);
        result
    }

    fn add(&mut self, op: Opcode, args: Vec<Value>, result: Value) {
        let no_overflow = matches!(op, Opcode::Op(_));
        self.out.push(Inst { op, args, result: Some(result), no_overflow, ..licm::nothing() });
    }

    /// Puts the places of constants behind what makes their texts.
    fn make_early(&mut self) {
        for (text, near, place) in self.early.take().unwrap_or_default() {
            self.step_to(place, text, near);
            for block in &mut self.function.blocks {
                let behind = match block.insts.iter().position(|inst| inst.result == Some(text)) {
                    Some(at) => at + 1,
                    None if block.params.contains(&text) => 0,
                    None => continue,
                };
                block.insts.splice(behind..behind, self.out.drain(..));
                break;
            }
        }
    }
}

/// The operation of that name: passes know operations by the addresses of their names.
fn named(name: &'static str) -> Opcode {
    Opcode::Op(exuvia_ops::by_name(name).map_or(name, |def| def.name))
}

#[cfg(test)]
mod tests {
    use crate::testing::module;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let module = module(text);
        let placed = super::with_places(&module);
        expect.assert_eq(&placed.map_or("as it was".to_string(), |placed| placed.to_string()));
    }

    #[test]
    fn what_is_found_is_where_a_part_ends() {
        check(
            r#"
fn f0 "f"(v0: str) -> str {
b0:
  v1: str = const ":"
  v2: int = const 0
  v3: int = const 9223372036854775807
  v4: int = str.find v0 v1 v2 v3
  v5: bool = int.lt v4 v2
  branch v5 b1 b2(v4)
b1:
  v6: int = str.len v0
  jump b2(v6)
b2(v7: int):
  v8: int = const 2
  v9: int = int.add v7 v8
  v10: str = str.slice v0 v9 v3
  return v10
}"#,
            expect![[r#"
                fn f0 "f"(v0: str) -> str {
                b0:
                  v1: str = const ":"
                  v2: int = const 0
                  v3: int = const 9223372036854775807
                  v4: int = place.find v0 v1 v2 v3
                  v5: bool = int.lt v4 v2
                  branch v5 b1 b2(v4)
                b1:
                  v6: int = str.byte_len v0 fits
                  jump b2(v6)
                b2(v7: int):
                  v8: int = const 2
                  v9: int = place.reach v0 v7 v8
                  v10: str = place.slice v0 v9 v3
                  return v10
                }
            "#]],
        );
    }

    #[test]
    fn an_index_that_is_returned_stays_one() {
        check(
            r#"
fn f0 "f"(v0: str) -> int {
b0:
  v1: str = const ":"
  v2: int = const 0
  v3: int = const 9223372036854775807
  v4: int = str.find v0 v1 v2 v3
  v5: str = str.slice v0 v4 v3
  v6: int = str.find v5 v1 v2 v3
  v7: bool = int.lt v6 v2
  branch v7 b1 b2
b1:
  return v2
b2:
  return v4
}"#,
            expect![[r#"
                fn f0 "f"(v0: str) -> int {
                b0:
                  v1: str = const ":"
                  v2: int = const 0
                  v3: int = const 9223372036854775807
                  v4: int = str.find v0 v1 v2 v3
                  v5: str = str.slice v0 v4 v3
                  v6: int = place.find v5 v1 v2 v3
                  v7: bool = int.lt v6 v2
                  branch v7 b1 b2
                b1:
                  return v2
                b2:
                  return v4
                }
            "#]],
        );
    }

    #[test]
    fn an_index_into_one_text_is_none_into_another() {
        check(
            r#"
fn f0 "f"(v0: str, v1: str) -> str {
b0:
  v2: int = const 0
  v3: int = const 9223372036854775807
  v4: int = str.find v0 v1 v2 v3
  v5: str = str.slice v1 v4 v3
  return v5
}"#,
            expect!["as it was"],
        );
    }

    #[test]
    fn a_scan_steps_by_characters() {
        check(
            r#"
fn f0 "f"(v0: str, v1: str) -> str {
b0:
  v2: int = const 0
  v3: int = const 1
  v4: int = str.len v0
  jump b1(v2)
b1(v5: int):
  v6: bool = int.lt v5 v4
  branch v6 b2 b4
b2:
  v7: str = str.get v0 v5
  v8: bool = str.eq v7 v1
  v9: int = int.add v5 v3
  branch v8 b4 b3
b3:
  poll
  jump b1(v9)
b4:
  v10: str = str.slice v0 v2 v5
  return v10
}"#,
            expect![[r#"
                fn f0 "f"(v0: str, v1: str) -> str {
                b0:
                  v2: int = const 0
                  v3: int = const 1
                  jump b1(v2)
                b1(v4: int):
                  v5: int = str.byte_len v0 fits
                  v6: bool = int.lt v4 v5
                  branch v6 b2 b4
                b2:
                  v7: str = place.get v0 v4
                  v8: bool = str.eq v7 v1
                  v9: int = place.step v0 v4 v3
                  branch v8 b4 b3
                b3:
                  poll
                  jump b1(v9)
                b4:
                  v10: str = place.slice v0 v2 v4
                  return v10
                }
            "#]],
        );
    }

    #[test]
    fn a_text_that_a_loop_makes_anew_has_other_places() {
        check(
            r#"
fn f0 "f"(v0: str, v1: str) -> str {
b0:
  v2: int = const 0
  v3: int = const 9223372036854775807
  jump b1(v0, v2)
b1(v4: str, v5: int):
  v6: int = str.find v4 v1 v5 v3
  v7: bool = int.lt v6 v2
  branch v7 b3 b2
b2:
  v8: str = str.slice v4 v6 v3
  poll
  jump b1(v8, v6)
b3:
  return v4
}"#,
            expect!["as it was"],
        );
    }
}
