//! Lists whose elements are known need not be asked for them, nor be there.
//!
//! Law: a list that the function makes, and that no other value names, holds at each place what all ways there put
//! into it. What is read of it at a constant index is that value, and where all ways put in as many, its length is
//! a number. One that is only written to is not needed: `lat, lon = map(math.radians, [lat, lon])` makes two lists,
//! of which none is left.
//!
//! A value that all ways to a place put into the list was made on all of them, and since the list was made: so it
//! is there, and that of the last round.

use crate::context::{Context, Renaming, constant_ints};
use crate::duplicate;
use exuvia_ir::{Flow, Function, Inst, Object, Opcode, Value};
use exuvia_ops::core::CoreOp;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The lists of a function that are looked at, and the elements of one that are known.
const MOST_LISTS: usize = 64;
const MOST_ELEMENTS: usize = 64;

/// What is known of each list: how many elements it has, and some of these.
type State = Vec<Option<Rc<Elements>>>;
type Elements = [Option<Value>];

/// Runs the pass.
pub(crate) fn run(function: &mut Function, context: &mut Context) {
    let lists = Lists::of(function, context);
    if lists.numbers.is_empty() {
        return;
    }
    let known = lists.known(function, context);
    let unread = lists.unread(function, &known, context);
    let mut names = Renaming::new(function);
    for (number, block) in function.blocks.iter_mut().enumerate() {
        let mut at = 0;
        block.insts.retain_mut(|inst| {
            at += 1;
            match (known.get(&(number, at - 1)), inst.result) {
                (Some(Known::Element(value)), Some(result)) => {
                    names.set(result, *value);
                    false
                }
                (Some(Known::Constant(object)), _) => {
                    let known = Opcode::Const(object.clone());
                    *inst = Inst { result: inst.result, span: inst.span, ..duplicate::inst(known, Vec::new()) };
                    true
                }
                _ => list_of(inst).is_none_or(|list| !unread.contains(&list)),
            }
        });
    }
    names.apply(function);
}

/// The list that an instruction makes or does something with, if it is one.
fn list_of(inst: &Inst) -> Option<Value> {
    if inst.op == Opcode::List { inst.result } else { inst.args.first().copied() }
}

/// What is known of what an instruction does with a list.
enum Known {
    /// It reads this element.
    Element(Value),
    /// It asks what is a constant.
    Constant(Object),
    /// It puts something into a place that is there.
    Stored,
}

/// That by blocks and places in them.
type Places = HashMap<(usize, usize), Known>;

/// The lists that no other value names.
struct Lists {
    numbers: HashMap<Value, usize>,
}

impl Lists {
    fn of(function: &Function, context: &mut Context) -> Lists {
        let insts = || function.blocks.iter().flat_map(|block| &block.insts);
        let made = insts().filter(|inst| inst.op == Opcode::List).filter_map(|inst| inst.result);
        let mut numbers: HashMap<Value, usize> = made.take(MOST_LISTS).zip(0..).collect();
        if numbers.is_empty() {
            return Lists { numbers };
        }
        for inst in insts() {
            let passed = inst.unwind.iter().flat_map(|edge| &edge.args);
            named(function, inst, context).iter().chain(passed).for_each(|value| _ = numbers.remove(value));
        }
        for block in &function.blocks {
            block.term.for_each_value(|value| _ = numbers.remove(&value));
        }
        Lists { numbers }
    }

    /// What is known of the instructions that do something with the lists, by their places.
    fn known(&self, function: &Function, context: &mut Context) -> Places {
        let ints = constant_ints(function);
        let count = self.numbers.values().max().map_or(0, |most| most + 1);
        let flow = Flow::new(function);
        // What is known at the beginning of each segment; nothing at the function's.
        let mut before: Vec<Option<State>> = vec![None; flow.len()];
        before[0] = Some(vec![None; count]);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in flow.order() {
                let Some(mut state) = before[at].clone() else { continue };
                let segment = flow.segment(at);
                for inst in &function.block(segment.block).insts[segment.insts.clone()] {
                    self.step(inst, &ints, &mut state, context);
                }
                flow.for_each_successor(function, at, |next| changed |= meet(&mut before[next], &state));
            }
        }
        let mut found = HashMap::new();
        for at in flow.order() {
            let Some(mut state) = before[at].take() else { continue };
            let segment = flow.segment(at);
            for index in segment.insts.clone() {
                let inst = &function.block(segment.block).insts[index];
                if let Some(known) = self.step(inst, &ints, &mut state, context) {
                    found.insert((segment.block.index(), index), known);
                }
            }
        }
        found
    }

    /// Those that nobody asks for anything but what is known.
    fn unread(&self, function: &Function, known: &Places, context: &mut Context) -> HashSet<Value> {
        let mut unread: HashSet<Value> = self.numbers.keys().copied().collect();
        for (number, block) in function.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                let fills = matches!(context.core_of(inst), Some(CoreOp::ListAppend | CoreOp::ListReserve));
                let first = match fills && is_statement(inst) || known.contains_key(&(number, at)) {
                    true => 1,
                    false => 0,
                };
                inst.args.iter().skip(first).for_each(|arg| _ = unread.remove(arg));
            }
        }
        unread
    }

    /// What an instruction does with a list, and what is known of that.
    fn step(&self, inst: &Inst, ints: &HashMap<Value, i64>, state: &mut State, context: &mut Context) -> Option<Known> {
        if let (Opcode::List, Some(result)) = (&inst.op, inst.result) {
            let number = *self.numbers.get(&result)?;
            state[number] = (inst.args.len() <= MOST_ELEMENTS).then(|| inst.args.iter().copied().map(Some).collect());
            return None;
        }
        let number = *self.numbers.get(inst.args.first()?)?;
        if !context.may_write(inst) {
            let elements = state[number].as_ref()?;
            return match context.core_of(inst)? {
                CoreOp::ListLen => Some(Known::Constant(Object::int(elements.len() as i64))),
                CoreOp::ListTruth => Some(Known::Constant(Object::Bool(!elements.is_empty()))),
                CoreOp::ListGet | CoreOp::ListGetUnchecked => {
                    elements[index(elements, *ints.get(&inst.args[1])?)?].map(Known::Element)
                }
                _ => None,
            };
        }
        let elements = state[number].take()?;
        if inst.unwind.is_some() {
            return None;
        }
        match context.core_of(inst)? {
            CoreOp::ListReserve => state[number] = Some(elements),
            CoreOp::ListAppend if elements.len() < MOST_ELEMENTS => {
                state[number] = Some(elements.iter().copied().chain([Some(inst.args[1])]).collect());
            }
            CoreOp::ListSet => {
                let at = ints.get(&inst.args[1]).and_then(|at| index(&elements, *at));
                let mut elements = elements.to_vec();
                match at {
                    Some(at) => elements[at] = Some(inst.args[2]),
                    None => elements.fill(None),
                }
                state[number] = Some(elements.into());
                return at.filter(|_| is_statement(inst)).map(|_| Known::Stored);
            }
            _ => {}
        }
        None
    }
}

/// The operands of which an instruction may make another name, or put them where there is one.
fn named<'i>(function: &Function, inst: &'i Inst, context: &mut Context) -> &'i [Value] {
    let is_element = |op| matches!(op, CoreOp::ListGet | CoreOp::ListGetUnchecked | CoreOp::ListPop);
    let gives_list = inst.result.is_some_and(|result| function.ty(result).holds_list());
    let gives_other = context.is_allocation(inst) || context.core_of(inst).is_some_and(is_element);
    match inst.op {
        Opcode::Op(_) if gives_list && !gives_other => &inst.args,
        // What is written to is the first.
        Opcode::Op(_) if context.may_write(inst) => inst.args.get(1..).unwrap_or_default(),
        Opcode::Op(_) => &[],
        _ => &inst.args,
    }
}

/// Whether nobody uses what an instruction gives, or is where it unwinds to.
fn is_statement(inst: &Inst) -> bool {
    inst.result.is_none() && inst.unwind.is_none()
}

/// Where an index lies, which may be negative.
pub(crate) fn index<T>(elements: &[T], index: i64) -> Option<usize> {
    let len = elements.len() as i64;
    let at = if index < 0 { index.checked_add(len)? } else { index };
    usize::try_from(at).ok().filter(|at| *at < elements.len())
}

/// What two ways know alike; whether that is less than before.
fn meet(known: &mut Option<State>, state: &State) -> bool {
    let Some(known) = known else {
        *known = Some(state.clone());
        return true;
    };
    let mut changed = false;
    for (known, other) in known.iter_mut().zip(state) {
        let Some(elements) = known.as_ref().filter(|_| known != other) else { continue };
        let both = other.as_ref().filter(|other| other.len() == elements.len());
        let alike = both.map(|other| {
            let pairs = elements.iter().zip(other.iter());
            pairs.map(|(one, other)| one.filter(|_| one == other)).collect::<Rc<Elements>>()
        });
        changed |= *known != alike;
        *known = alike;
    }
    changed
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::{Expect, expect};

    fn elements(input: &str, expect: Expect) {
        check(&[("elements of lists", super::run)], input, expect);
    }

    #[test]
    fn what_was_put_into_a_list_is_read_of_it() {
        elements(
            r#"
fn f0 "f"(v0: int, v1: int) -> tuple[int, int, int, bool] {
b0:
  v2: int = const 0
  v3: int = const -1
  v4: list[int] = list v0
  list.append v4 v1
  v5: int = list.get v4 v2
  v6: int = list.get v4 v3
  list.set v4 v2 v6
  list.reserve v4 v1
  v7: int = list.get_unchecked v4 v2
  v8: int = int.add v5 v7
  v9: int = list.len v4
  v10: bool = list.truth v4
  v11: tuple[int, int, int, bool] = tuple v6 v8 v9 v10
  return v11
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: int) -> tuple[int, int, int, bool] {
                b0:
                  v2: int = const 0
                  v3: int = const -1
                  v4: int = int.add v0 v1
                  v5: int = const 2
                  v6: bool = const true
                  v7: tuple[int, int, int, bool] = tuple v1 v4 v5 v6
                  return v7
                }
            "#]],
        );
    }

    #[test]
    fn what_ways_put_differently_is_not_known() {
        elements(
            r#"
fn f0 "f"(v0: int, v1: bool) -> tuple[int, int, int, int, int] {
b0:
  v2: int = const 0
  v3: list[int] = list v0 v0
  v4: list[int] = list v0
  branch v1 b1 b2
b1:
  v5: int = const 1
  list.set v3 v5 v2
  list.append v4 v2
  jump b2
b2:
  v6: int = list.get v3 v2
  v7: int = list.len v4
  v8: int = list.get v4 v2
  list.set v3 v6 v2
  v9: int = list.len v3
  v10: int = list.get v3 v2
  v11: tuple[int, int, int, int, int] = tuple v6 v7 v8 v9 v10
  return v11
}"#,
            expect![[r#"
                fn f0 "f"(v0: int, v1: bool) -> tuple[int, int, int, int, int] {
                b0:
                  v2: int = const 0
                  v3: list[int] = list v0 v0
                  v4: list[int] = list v0
                  branch v1 b1 b2
                b1:
                  v5: int = const 1
                  list.set v3 v5 v2
                  list.append v4 v2
                  jump b2
                b2:
                  v6: int = list.len v4
                  v7: int = list.get v4 v2
                  list.set v3 v0 v2
                  v8: int = const 2
                  v9: int = list.get v3 v2
                  v10: tuple[int, int, int, int, int] = tuple v0 v6 v7 v8 v9
                  return v10
                }
            "#]],
        );
    }

    #[test]
    fn a_round_does_not_know_the_list_of_the_one_before() {
        elements(
            r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: int = const 0
  v2: int = const 1
  v3: list[int] = list v1
  v4: list[int] = list v0
  jump b1(v1)
b1(v5: int):
  v6: bool = int.lt v5 v0
  branch v6 b2 b3
b2:
  v7: int = list.get v3 v1
  v8: int = int.add v5 v2
  list.set v3 v1 v8
  v9: int = list.get v3 v1
  v10: list[int] = list v9 v7
  v11: int = list.get v10 v2
  v12: int = list.get v4 v1
  poll
  jump b1(v8)
b3:
  v13: int = list.get v3 v1
  return v13
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> int {
                b0:
                  v1: int = const 0
                  v2: int = const 1
                  v3: list[int] = list v1
                  jump b1(v1)
                b1(v4: int):
                  v5: bool = int.lt v4 v0
                  branch v5 b2 b3
                b2:
                  v6: int = list.get v3 v1
                  v7: int = int.add v4 v2
                  list.set v3 v1 v7
                  poll
                  jump b1(v7)
                b3:
                  v8: int = list.get v3 v1
                  return v8
                }
            "#]],
        );
    }

    #[test]
    fn lists_with_other_names_are_left() {
        elements(
            r#"
fn f0 "f"(v0: int) -> tuple[int, int, int, list[int]] {
b0:
  v1: int = const 0
  v2: list[int] = list v0
  v3: list[list[int]] = list v2
  v4: list[int] = list.get v3 v1
  list.append v4 v1
  v5: int = list.len v2
  v6: list[int] = list v0
  list.extend v6 v6 v0
  v7: int = list.len v6
  v8: list[int] = list v0
  v9: int = list.pop v8
  v10: int = list.len v8
  v11: list[int] = list v0
  v12: tuple[int, int, int, list[int]] = tuple v5 v7 v10 v11
  return v12
}"#,
            expect![[r#"
                fn f0 "f"(v0: int) -> tuple[int, int, int, list[int]] {
                b0:
                  v1: int = const 0
                  v2: list[int] = list v0
                  list.append v2 v1
                  v3: int = list.len v2
                  v4: list[int] = list v0
                  list.extend v4 v4 v0
                  v5: int = list.len v4
                  v6: list[int] = list v0
                  v7: int = list.pop v6
                  v8: int = list.len v6
                  v9: list[int] = list v0
                  v10: tuple[int, int, int, list[int]] = tuple v3 v5 v8 v9
                  return v10
                }
            "#]],
        );
    }
}
