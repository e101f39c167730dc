//! The shape of a function's control flow: order and dominance.
//!
//! An instruction that unwinds leaves its block in the middle, and its own result does
//! not exist where it unwinds to. Therefore the graph's nodes are not blocks but
//! [`Segment`]s: a block is cut after each instruction with an unwind edge. The result
//! of such an instruction belongs to the segment that follows it.
//!
//! A `Flow` describes the function as it was when it was made; who changes edges makes
//! another.

use crate::{BlockId, Function};
use std::ops::Range;

/// Instructions of one block between which control does not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The block.
    pub block: BlockId,
    /// The instructions. The last one unwinds unless this is the block's last segment.
    pub insts: Range<usize>,
    /// Whether the block's terminator ends this segment.
    pub last: bool,
}

/// The control flow of a function.
#[derive(Clone, Debug)]
pub struct Flow {
    segments: Vec<Segment>,
    first: Vec<u32>,
    order: Vec<u32>,
    position: Vec<u32>,
    parent: Vec<u32>,
    tree: Vec<u32>,
    enter: Vec<u32>,
    leave: Vec<u32>,
    pred_start: Vec<u32>,
    preds: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Flow {
    /// The control flow of `function`.
    #[must_use]
    pub fn new(function: &Function) -> Flow {
        let mut segments = Vec::with_capacity(function.blocks.len());
        let mut first = Vec::with_capacity(function.blocks.len());
        for (at, block) in function.blocks.iter().enumerate() {
            first.push(segments.len() as u32);
            let id = BlockId(at as u32);
            let mut start = 0;
            for (index, inst) in block.insts.iter().enumerate() {
                if inst.unwind.is_some() {
                    segments.push(Segment { block: id, insts: start..index + 1, last: false });
                    start = index + 1;
                }
            }
            segments.push(Segment { block: id, insts: start..block.insts.len(), last: true });
        }
        let count = segments.len();
        let mut flow = Flow {
            segments,
            first,
            order: Vec::with_capacity(count),
            position: vec![NONE; count],
            parent: vec![NONE; count],
            tree: Vec::with_capacity(count),
            enter: vec![NONE; count],
            leave: vec![NONE; count],
            pred_start: vec![0; count + 1],
            preds: Vec::new(),
        };
        flow.order_segments(function);
        flow.find_predecessors(function);
        flow.find_parents();
        flow.number_tree();
        flow
    }

    /// The number of segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are no segments: never, a function has an entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// A segment.
    #[must_use]
    pub fn segment(&self, at: usize) -> &Segment {
        &self.segments[at]
    }

    /// The first segment of a block.
    #[must_use]
    pub fn first(&self, block: BlockId) -> usize {
        self.first[block.index()] as usize
    }

    /// The segment in which the block's terminator stands.
    #[must_use]
    pub fn last(&self, block: BlockId) -> usize {
        self.first.get(block.index() + 1).map_or(self.segments.len(), |next| *next as usize) - 1
    }

    /// The reachable segments, each before its successors except along back edges.
    pub fn order(&self) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        self.order.iter().map(|at| *at as usize)
    }

    /// The place of a segment in [`Flow::order`]; `None` where it is never reached.
    #[must_use]
    pub fn position(&self, at: usize) -> Option<usize> {
        let position = self.position[at];
        (position != NONE).then_some(position as usize)
    }

    /// Whether control can reach a block.
    #[must_use]
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[self.first(block)] != NONE
    }

    /// The reachable segments, each after the one that immediately dominates it; the
    /// segments dominated by one follow it without a gap.
    pub fn tree(&self) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        self.tree.iter().map(|at| *at as usize)
    }

    /// The segment that immediately dominates another; `None` for the entry and for what
    /// is never reached.
    #[must_use]
    pub fn parent(&self, at: usize) -> Option<usize> {
        let parent = self.parent[at];
        (parent != NONE && parent as usize != at).then_some(parent as usize)
    }

    /// Whether every way to segment `b` leads through the end of `a` or `a` is `b`. Both
    /// are reachable.
    #[must_use]
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.enter[a] <= self.enter[b] && self.leave[b] <= self.leave[a]
    }

    /// The last segment through which every way to `a` and every way to `b` leads. Both are
    /// reachable.
    #[must_use]
    pub fn meet(&self, a: usize, b: usize) -> usize {
        self.common(a as u32, b as u32) as usize
    }

    /// The reachable segments from which control comes to `at`, the last in [`Flow::order`]
    /// first; twice the same where two edges do.
    pub fn predecessors(&self, at: usize) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        let range = self.pred_start[at] as usize..self.pred_start[at + 1] as usize;
        self.preds[range].iter().map(|at| *at as usize)
    }

    /// Whether a segment is the head of a loop.
    #[must_use]
    pub fn is_head(&self, at: usize) -> bool {
        self.predecessors(at).any(|before| self.dominates(at, before))
    }

    /// The segments from which a loop comes back to its head; none where it is no head.
    #[must_use]
    pub fn latches(&self, head: usize) -> Vec<usize> {
        self.predecessors(head).filter(|before| self.dominates(head, *before)).collect()
    }

    /// Whether each segment belongs to the loop of a head.
    #[must_use]
    pub fn body(&self, head: usize) -> Vec<bool> {
        let mut body = vec![false; self.len()];
        body[head] = true;
        let mut work = self.latches(head);
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut body[at], true) {
                work.extend(self.predecessors(at));
            }
        }
        body
    }

    /// Walks what is left of a round of a loop behind some of its segments, as far as segments where it stops:
    /// whether a way comes to the end of the round, and whether one comes to a stop.
    #[must_use]
    pub fn rest_of_round(
        &self,
        function: &Function,
        (head, body): (usize, &[bool]),
        behind: &[usize],
        stops: &[usize],
    ) -> (bool, bool) {
        let (mut ends, mut stopped) = (false, false);
        let mut seen = vec![false; self.len()];
        let mut open = behind.to_vec();
        while let Some(at) = open.pop() {
            self.for_each_successor(function, at, |next| {
                if next == head {
                    ends = true;
                } else if stops.contains(&next) {
                    stopped = true;
                } else if body[next] && !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            });
        }
        (ends, stopped)
    }

    /// Calls `f` with each segment to which control goes from `at`.
    pub fn for_each_successor(&self, function: &Function, at: usize, mut f: impl FnMut(usize)) {
        let segment = &self.segments[at];
        let block = function.block(segment.block);
        if segment.last {
            block.term.for_each_edge(|edge| f(self.first(edge.block)));
        } else {
            if let Some(edge) = block.insts[segment.insts.end - 1].unwind.as_ref() {
                f(self.first(edge.block));
            }
            f(at + 1);
        }
    }

    fn order_segments(&mut self, function: &Function) {
        // Depth first with an explicit stack: (segment, successors still to visit).
        let mut seen = vec![false; self.segments.len()];
        let mut stack: Vec<(usize, Vec<u32>)> = Vec::new();
        let successors = |flow: &Flow, at: usize| {
            let mut all = Vec::with_capacity(2);
            flow.for_each_successor(function, at, |next| all.push(next as u32));
            all
        };
        let mut order = std::mem::take(&mut self.order);
        seen[0] = true;
        stack.push((0, successors(self, 0)));
        while let Some((at, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) => {
                    let next = next as usize;
                    if !seen[next] {
                        seen[next] = true;
                        stack.push((next, successors(self, next)));
                    }
                }
                None => {
                    order.push(*at as u32);
                    stack.pop();
                }
            }
        }
        order.reverse();
        for (position, at) in order.iter().enumerate() {
            self.position[*at as usize] = position as u32;
        }
        self.order = order;
    }

    fn find_predecessors(&mut self, function: &Function) {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(self.order.len() * 2);
        // The last come first: then the way up from each to what is above all before it is
        // short in a chain of conditions that all lead to one place.
        for at in self.order.iter().rev() {
            self.for_each_successor(function, *at as usize, |next| edges.push((next as u32, *at)));
        }
        for (to, _) in &edges {
            self.pred_start[*to as usize + 1] += 1;
        }
        for at in 0..self.segments.len() {
            self.pred_start[at + 1] += self.pred_start[at];
        }
        let mut fill = self.pred_start.clone();
        self.preds = vec![0; edges.len()];
        for (to, from) in edges {
            self.preds[fill[to as usize] as usize] = from;
            fill[to as usize] += 1;
        }
    }

    /// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    fn find_parents(&mut self) {
        self.parent[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for index in 1..self.order.len() {
                let at = self.order[index] as usize;
                let mut new = NONE;
                let range = self.pred_start[at] as usize..self.pred_start[at + 1] as usize;
                for &pred in &self.preds[range] {
                    if self.parent[pred as usize] == NONE {
                        continue;
                    }
                    new = if new == NONE { pred } else { self.common(new, pred) };
                }
                if self.parent[at] != new {
                    self.parent[at] = new;
                    changed = true;
                }
            }
        }
    }

    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            while self.position[a as usize] > self.position[b as usize] {
                a = self.parent[a as usize];
            }
            while self.position[b as usize] > self.position[a as usize] {
                b = self.parent[b as usize];
            }
        }
        a
    }

    fn number_tree(&mut self) {
        // Children as linked lists, in the order of `order`.
        let count = self.segments.len();
        let mut child = vec![NONE; count];
        let mut sibling = vec![NONE; count];
        for index in (1..self.order.len()).rev() {
            let at = self.order[index];
            let parent = self.parent[at as usize] as usize;
            sibling[at as usize] = child[parent];
            child[parent] = at;
        }
        let mut at = 0usize;
        let mut clock = 0;
        'walk: loop {
            self.tree.push(at as u32);
            self.enter[at] = clock;
            clock += 1;
            if child[at] != NONE {
                at = child[at] as usize;
                continue;
            }
            loop {
                self.leave[at] = clock;
                clock += 1;
                if at == 0 {
                    break 'walk;
                }
                if sibling[at] != NONE {
                    at = sibling[at] as usize;
                    continue 'walk;
                }
                at = self.parent[at] as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_module;

    fn flow(text: &str) -> (Function, Flow) {
        let module = parse_module(text, &|name| Some(Box::leak(name.to_string().into_boxed_str()))).expect("parses");
        let function = module.functions[0].clone();
        let flow = Flow::new(&function);
        (function, flow)
    }

    #[test]
    fn a_block_is_cut_where_it_unwinds() {
        let (_, flow) = flow(
            "fn f0 \"f\"(v0: int) -> int {
b0:
  v1: int = int.mod v0 v0 unwind b1
  v2: int = int.add v1 v1
  return v2
b1(v3: exc):
  return v0
}",
        );
        assert_eq!(flow.len(), 3);
        assert_eq!(flow.segment(0).insts, 0..1);
        assert_eq!(flow.segment(1).insts, 1..2);
        assert!(flow.dominates(0, 1) && flow.dominates(0, 2) && !flow.dominates(1, 2));
        assert_eq!(flow.parent(2), Some(0));
    }

    #[test]
    fn loops_joins_and_dead_blocks() {
        let (_, flow) = flow(
            "fn f0 \"f\"(v0: bool) -> bool {
b0:
  jump b1
b1:
  branch v0 b2 b3
b2:
  jump b1
b3:
  return v0
b4:
  jump b3
}",
        );
        assert_eq!(flow.order().collect::<Vec<_>>().len(), 4);
        assert!(!flow.is_reachable(BlockId(4)));
        assert!(flow.dominates(1, 2) && flow.dominates(1, 3) && !flow.dominates(2, 3));
        assert_eq!(flow.predecessors(1).count(), 2);
        assert_eq!(flow.tree().next(), Some(0));
    }
}
