//! Which lists nobody changes, and between which points nobody changes any.
//!
//! Laws: operations that read a list that nobody changes give the same wherever they are
//! done; operations that read a list give the same as long as no list that could be the same
//! is changed in between. A list has one element type, so lists of different types are
//! different objects; and a list that the function made is another than those that have no
//! name in common with it, as long as it is put nowhere where others could find it.

use crate::context::Context;
use exuvia_ir::{BlockId, Flow, Function, Inst, Opcode, Type, Value};
use exuvia_ops::def::Effect;

/// For each value whether it is a list that keeps its elements while the function runs,
/// or no list at all.
///
/// That is every list where the function changes none and calls nothing that could. Else
/// it is a list that the function itself made, or a constant, and only reads: it is
/// passed to nothing but reading operations, so no other name for it exists.
pub(crate) fn frozen(function: &Function, context: &mut Context) -> Vec<bool> {
    unchanged(function, context, Context::may_write)
}

/// As [`frozen`], for lists that keep their lengths: others may come to stand in the places of their elements.
pub(crate) fn of_fixed_length(function: &Function, context: &mut Context) -> Vec<bool> {
    unchanged(function, context, Context::may_resize)
}

fn unchanged(function: &Function, context: &mut Context, changes: fn(&mut Context, &Inst) -> bool) -> Vec<bool> {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    if insts().all(|inst| !changes(context, inst)) {
        return vec![true; function.values.len()];
    }
    let is_list = |value: Value| function.ty(value).holds_list();
    let mut kept: Vec<bool> = function.values.iter().map(|value| !value.ty.holds_list()).collect();
    for inst in insts() {
        if let Some(result) = inst.result
            && is_list(result)
        {
            kept[result.index()] = match &inst.op {
                Opcode::Const(_) | Opcode::List => true,
                Opcode::Op(_) => context.def_of(inst).is_some_and(|def| def.effect == Effect::Alloc),
                _ => false,
            };
        }
    }
    for block in &function.blocks {
        for inst in &block.insts {
            let only_reads = match inst.op {
                Opcode::Op(_) | Opcode::Call(_) => !changes(context, inst),
                _ => false,
            };
            // An element that is a list is another name for it, and so is the place that it is put into.
            let reads = only_reads && inst.result.is_none_or(|result| !is_list(result) || context.is_allocation(inst));
            let read = match reads {
                true if context.may_write(inst) => 1,
                true => inst.args.len(),
                false => 0,
            };
            inst.args.iter().skip(read).filter(|arg| is_list(**arg)).for_each(|arg| kept[arg.index()] = false);
            for arg in inst.unwind.iter().flat_map(|edge| &edge.args).filter(|arg| is_list(**arg)) {
                kept[arg.index()] = false;
            }
        }
        block.term.for_each_value(|value| {
            if is_list(value) {
                kept[value.index()] = false;
            }
        });
    }
    kept
}

/// The state of the lists of each group at a point: a number that changes when one of
/// them may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State(Vec<u32>);

/// The states at the points of a function.
pub(crate) struct States {
    groups: Groups,
    /// The state at the start of each reachable segment.
    entry: Vec<Option<State>>,
    /// The number of a change: this plus the place of the instruction in the function.
    first: Vec<u32>,
}

impl States {
    pub(crate) fn new(function: &Function, flow: &Flow, context: &mut Context) -> States {
        let groups = Groups::new(function, context);
        let mut first = Vec::with_capacity(function.blocks.len());
        let mut count = flow.len() as u32;
        for block in &function.blocks {
            first.push(count);
            count += block.insts.len() as u32;
        }
        let mut states = States { groups, entry: vec![None; flow.len()], first };
        let mut exit: Vec<Option<State>> = vec![None; flow.len()];
        for segment in flow.order() {
            let state = states.at_entry(function, flow, context, &exit, segment);
            states.entry[segment] = Some(state.clone());
            exit[segment] = Some(state);
            if let Some(state) = &mut exit[segment] {
                let part = flow.segment(segment);
                for at in part.insts.clone() {
                    states.after(state, function, context, part.block, at);
                }
            }
        }
        states
    }

    /// The state where a segment begins: the one of all ways to it, and a new one of what differs between
    /// them or what a loop changes that comes back to it.
    fn at_entry(
        &self,
        function: &Function,
        flow: &Flow,
        context: &mut Context,
        exit: &[Option<State>],
        segment: usize,
    ) -> State {
        let mut before = flow.predecessors(segment).filter_map(|before| exit[before].as_ref());
        let unknown = || State(vec![segment as u32; self.groups.count]);
        let mut state = before.next().cloned().unwrap_or_else(unknown);
        for other in before {
            for (mine, other) in state.0.iter_mut().zip(&other.0) {
                if mine != other {
                    *mine = segment as u32;
                }
            }
        }
        let mut open = flow.predecessors(segment).filter(|before| exit[*before].is_none()).peekable();
        if self.groups.count == 0 || open.peek().is_none() {
            return state;
        }
        if !open.all(|before| flow.dominates(segment, before)) {
            return unknown();
        }
        let body = flow.body(segment);
        for part in flow.order().filter(|at| body[*at]).map(|at| flow.segment(at)) {
            for inst in &function.block(part.block).insts[part.insts.clone()] {
                self.groups.for_each_change(inst, context, |group| state.0[group as usize] = segment as u32);
            }
        }
        state
    }

    /// The state at the start of a segment.
    pub(crate) fn entry(&self, segment: usize) -> State {
        self.entry[segment].clone().unwrap_or_else(|| State(vec![segment as u32; self.groups.count]))
    }

    /// Brings a state past an instruction.
    pub(crate) fn after(
        &self,
        state: &mut State,
        function: &Function,
        context: &mut Context,
        block: BlockId,
        at: usize,
    ) {
        let number = self.first[block.index()] + at as u32;
        let inst = &function.block(block).insts[at];
        self.groups.for_each_change(inst, context, |group| state.0[group as usize] = number);
    }

    /// The number of the state of a list; 0 for one that is never changed. `None` for lists that hold
    /// lists, through which an operation could look, and for what may hold one.
    pub(crate) fn of(&self, state: &State, list: Value) -> Option<u32> {
        match self.groups.of.get(list.index())? {
            Group::Unknown => None,
            Group::Unchanged => Some(0),
            Group::At(group) => Some(state.0[*group as usize]),
        }
    }
}

/// What changes with a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Nobody changes it, or it is no list.
    Unchanged,
    /// It changes with the others of that group.
    At(u32),
    /// A list of lists, or something that may be or hold a list.
    Unknown,
}

/// The lists that may be the same object, of those that are changed.
struct Groups {
    /// By value.
    of: Vec<Group>,
    count: usize,
    /// The groups that a call may change.
    by_calls: Vec<u32>,
}

impl Groups {
    /// So many lists have groups of their own; further ones are as those from elsewhere, so that the states
    /// of all segments stay small.
    const OWN: usize = 48;

    fn new(function: &Function, context: &mut Context) -> Groups {
        let plain = |value: Value| matches!(function.ty(value), Type::List(element) if !element.holds_list());
        let group =
            |value: &exuvia_ir::ValueData| if value.ty.holds_list() { Group::Unknown } else { Group::Unchanged };
        let mut groups = Groups { of: function.values.iter().map(group).collect(), count: 0, by_calls: Vec::new() };
        let insts = || function.blocks.iter().flat_map(|block| &block.insts);
        let writes = insts().any(|inst| context.may_write(inst));
        let mut names = writes.then(|| Names::new(function, context));
        let lists = (0..function.values.len() as u32).map(Value).filter(|value| plain(*value));
        let Some(names) = &mut names else {
            lists.for_each(|list| groups.of[list.index()] = Group::Unchanged);
            return groups;
        };
        let mut changed = vec![false; function.values.len()];
        let mut types: Vec<(&Type, u32)> = Vec::new();
        let called = insts().any(|inst| matches!(inst.op, Opcode::Call(_)) && context.may_write(inst));
        for inst in insts().filter(|inst| matches!(inst.op, Opcode::Op(_))) {
            if context.may_write(inst) {
                inst.args.iter().for_each(|arg| changed[names.root(*arg)] = true);
            }
        }
        let mut own: Vec<(usize, u32)> = Vec::new();
        // Lists from elsewhere change together where one of their type is changed.
        let mut places = vec![u32::MAX; function.values.len()];
        for list in lists.clone() {
            let root = names.root(list);
            let is_own = !names.shared[root];
            if places[root] != u32::MAX || !changed[root] && (is_own || !called) {
                continue;
            }
            if is_own && own.len() < Self::OWN {
                own.push((root, groups.count as u32));
                places[root] = groups.count as u32;
                groups.count += 1;
                continue;
            }
            let ty = function.ty(list);
            let known = types.iter().find(|(other, _)| *other == ty).map(|(_, at)| *at);
            places[root] = known.unwrap_or_else(|| {
                types.push((ty, groups.count as u32));
                groups.count += 1;
                groups.count as u32 - 1
            });
        }
        for list in lists {
            let root = names.root(list);
            let of_type = || types.iter().find(|(ty, _)| *ty == function.ty(list)).map(|(_, at)| *at);
            let place = match places[root] {
                u32::MAX if names.shared[root] => of_type(),
                u32::MAX => None,
                place => Some(place),
            };
            groups.of[list.index()] = place.map_or(Group::Unchanged, Group::At);
        }
        if called {
            groups.by_calls = types.iter().map(|(_, at)| *at).collect();
        }
        groups
    }

    fn for_each_change(&self, inst: &Inst, context: &mut Context, mut f: impl FnMut(u32)) {
        if self.count == 0 || !context.may_write(inst) {
            return;
        }
        if let Opcode::Call(_) = inst.op {
            self.by_calls.iter().copied().for_each(&mut f);
        }
        for arg in &inst.args {
            if let Some(Group::At(group)) = self.of.get(arg.index()) {
                f(*group);
            }
        }
    }
}

/// Which values are names of one list.
struct Names {
    parents: Vec<u32>,
    /// By root: whether there may be other names for it, which are not values of the function.
    shared: Vec<bool>,
}

impl Names {
    fn new(function: &Function, context: &mut Context) -> Names {
        let count = function.values.len();
        let mut names = Names { parents: (0..count as u32).collect(), shared: vec![false; count] };
        let is_list = |value: Value| matches!(function.ty(value), Type::List(_));
        for block in &function.blocks {
            for inst in &block.insts {
                if let Some(edge) = &inst.unwind {
                    names.pass(&edge.args, &function.block(edge.block).params[1..]);
                }
                let is_op = matches!(inst.op, Opcode::Op(_));
                let is_new = matches!(inst.op, Opcode::List) || context.is_allocation(inst);
                let gives_list = inst.result.is_some_and(|result| function.ty(result).holds_list());
                if let Some(result) = inst.result.filter(|_| !is_new) {
                    names.share(result);
                }
                // An operation keeps no name of what it reads or changes, only of what it puts there; a new list of
                // lists may hold what it was made of.
                let holds_lists =
                    |value: Value| matches!(function.ty(value), Type::List(element) if element.holds_list());
                let is_flat = is_new && !inst.result.is_some_and(holds_lists);
                let looks = is_op && (is_flat || !gives_list);
                let kept = match looks {
                    true if context.may_write(inst) => 1,
                    true => inst.args.len(),
                    false => 0,
                };
                inst.args.iter().skip(kept).filter(|arg| is_list(**arg)).for_each(|arg| names.share(*arg));
            }
            block.term.for_each_edge(|edge| names.pass(&edge.args, &function.block(edge.block).params));
        }
        function.block(function.entry()).params.iter().for_each(|param| names.share(*param));
        names
    }

    fn pass(&mut self, args: &[Value], params: &[Value]) {
        for (arg, param) in args.iter().zip(params) {
            let (arg, param) = (self.root(*arg), self.root(*param));
            self.shared[arg] |= self.shared[param];
            self.parents[param] = arg as u32;
        }
    }

    fn share(&mut self, value: Value) {
        let root = self.root(value);
        self.shared[root] = true;
    }

    fn root(&mut self, value: Value) -> usize {
        let mut at = value.index();
        while self.parents[at] as usize != at {
            let above = self.parents[at] as usize;
            self.parents[at] = self.parents[above];
            at = above;
        }
        at
    }
}
