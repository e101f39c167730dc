//! Loops that count: `while i < n`, with `i += 1` in each round.

use exuvia_ir::{BlockId, Edge, Flow, Function, Object, Opcode, Terminator, Type, Value};

/// The end of a block where control goes on by one edge while an int is below another, and leaves by the other.
#[derive(Clone, Copy, Debug)]
pub struct Test<'f> {
    /// The int.
    pub counter: Value,
    /// What it must be below.
    pub bound: Value,
    /// The edge while it is.
    pub stays: &'f Edge,
    /// The edge when it is not.
    pub leaves: &'f Edge,
}

impl<'f> Test<'f> {
    /// That of a block, if it ends so.
    #[must_use]
    pub fn of(function: &'f Function, block: BlockId) -> Option<Test<'f>> {
        let block = function.block(block);
        let Terminator::Branch(test, stays, leaves) = &block.term else { return None };
        let made = block.insts.iter().find(|inst| inst.result == Some(*test))?;
        let [counter, bound] = made.args[..] else { return None };
        let is_int = |value: Value| *function.ty(value) == Type::Int;
        let is_test = made.op.is_op("int.lt") && is_int(counter) && is_int(bound);
        is_test.then_some(Test { counter, bound, stays, leaves })
    }
}

/// What a parameter of a loop's head is before the first round, and after each.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Its place among the parameters.
    pub place: usize,
    /// What it is before the first round, for each edge into the loop.
    pub starts: Vec<Value>,
    /// What it is in the next round, for each edge back to the head.
    pub nexts: Vec<Value>,
}

impl Steps {
    /// Those of a value, if it is such a parameter, in a loop given by its head and whether each segment belongs to
    /// it.
    #[must_use]
    pub fn of(function: &Function, flow: &Flow, head: usize, body: &[bool], value: Value) -> Option<Steps> {
        let block = flow.segment(head).block;
        let place = function.block(block).params.iter().position(|param| *param == value)?;
        let (mut starts, mut nexts) = (Vec::new(), Vec::new());
        // A segment stands among the predecessors once for each of its edges.
        let mut before: Vec<usize> = flow.predecessors(head).collect();
        before.dedup();
        for at in before {
            if !flow.segment(at).last {
                return None;
            }
            let of = if body[at] { &mut nexts } else { &mut starts };
            for edge in function.block(flow.segment(at).block).term.edges() {
                if edge.block == block {
                    of.push(*edge.args.get(place)?);
                }
            }
        }
        Some(Steps { place, starts, nexts })
    }
}

/// A counter of a loop: a parameter of its head, which stays while that is below a bound.
#[derive(Clone, Debug)]
pub struct Counter<'f> {
    /// The test at the end of the head.
    pub test: Test<'f>,
    /// What the counter is.
    pub steps: Steps,
}

impl<'f> Counter<'f> {
    /// That of a loop, given by its head and whether each segment belongs to it. The loop may have other ends.
    #[must_use]
    pub fn of(function: &'f Function, flow: &Flow, head: usize, body: &[bool]) -> Option<Counter<'f>> {
        let segment = flow.segment(head);
        let block = segment.block;
        let test = Test::of(function, block).filter(|_| segment.last && flow.first(block) == head)?;
        let is_inside = |block: BlockId| body[flow.first(block)];
        if !is_inside(test.stays.block) || is_inside(test.leaves.block) {
            return None;
        }
        let steps = Steps::of(function, flow, head, body, test.counter)?;
        Some(Counter { test, steps })
    }

    /// Whether each round adds one.
    #[must_use]
    pub fn goes_up_by_one(&self, function: &Function) -> bool {
        let is_one = |value: Value| known_int(function, value) == Some(1);
        self.steps.nexts.iter().all(|next| {
            function.made_by(*next).is_some_and(|inst| {
                let counter = self.test.counter;
                inst.op.is_op("int.add")
                    && matches!(inst.args[..], [a, b] if a == counter && is_one(b) || b == counter && is_one(a))
            })
        })
    }
}

/// The constant that a value is, if it is an int of 64 bits.
fn known_int(function: &Function, value: Value) -> Option<i64> {
    match &function.made_by(value)?.op {
        Opcode::Const(Object::Int(int)) => int.to_i64(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(text: &str) -> Vec<(usize, usize, bool)> {
        let name = |name: &str| crate::by_name(name).map(|def| def.name);
        let module = exuvia_ir::parse_module(text, &name).unwrap_or_else(|error| panic!("{error}"));
        let function = &module.functions[0];
        let flow = Flow::new(function);
        let heads = flow.order().filter(|at| flow.is_head(*at));
        let of = |head: usize| Counter::of(function, &flow, head, &flow.body(head));
        let found = heads.filter_map(of);
        found
            .map(|counter| (counter.steps.starts.len(), counter.steps.nexts.len(), counter.goes_up_by_one(function)))
            .collect()
    }

    const LOOP: &str = r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: int = const 0
  v2: int = const 1
  jump b1(v1)
b1(v3: int):
  v4: bool = int.lt v3 v0
  branch v4 b2 b5
b2:
  poll
  v5: int = int.add v3 v2
  v6: bool = int.lt v5 v2
  branch v6 b3 b4
b3:
  jump b1(v5)
b4:
  jump b1(v5)
b5:
  return v3
}
"#;

    #[test]
    fn a_loop_that_counts() {
        assert_eq!(counters(LOOP), [(1, 2, true)]);
    }

    #[test]
    fn other_steps_and_tests() {
        assert_eq!(counters(&LOOP.replace("v2: int = const 1", "v2: int = const 2")), [(1, 2, false)]);
        assert_eq!(counters(&LOOP.replace("int.add v3 v2", "int.add v2 v3")), [(1, 2, true)]);
        assert_eq!(counters(&LOOP.replace("int.lt v3 v0", "int.le v3 v0")), []);
        // The other way round it stays when it is not below.
        assert_eq!(counters(&LOOP.replace("branch v4 b2 b5", "branch v4 b5 b2")), []);
        assert_eq!(counters(&LOOP.replace("int.lt v3 v0", "int.lt v1 v0")), []);
    }
}
