//! Restores SSA form after blocks were copied.
//!
//! A value that was defined once is now defined by several blocks. Each use gets the
//! definition that reaches it; where several do, a parameter joins them. After Braun and
//! others, "Simple and Efficient Construction of Static Single Assignment Form":
//! parameters that turn out to join one value are left to [`crate::params`].
//!
//! It needs that no defining block unwinds, so that a definition holds on every edge
//! that leaves its block, and that definitions together dominate the uses.

use exuvia_ir::{BlockId, Edge, Function, Value};

/// Where an edge starts: a block, and the instruction that unwinds or the place among
/// the terminator's edges.
#[derive(Clone, Copy)]
enum From {
    Inst(u32, u32),
    Term(u32, u32),
}

impl From {
    fn block(self) -> usize {
        match self {
            From::Inst(block, _) | From::Term(block, _) => block as usize,
        }
    }
}

/// The edges into each block.
pub(crate) struct Edges(Vec<Vec<From>>);

impl Edges {
    pub(crate) fn new(function: &Function) -> Edges {
        let mut edges = vec![Vec::new(); function.blocks.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            let at = at as u32;
            for (index, inst) in block.insts.iter().enumerate() {
                if let Some(edge) = &inst.unwind {
                    edges[edge.block.index()].push(From::Inst(at, index as u32));
                }
            }
            let mut index = 0;
            block.term.for_each_edge(|edge| {
                edges[edge.block.index()].push(From::Term(at, index));
                index += 1;
            });
        }
        Edges(edges)
    }
}

fn edge_mut(function: &mut Function, from: From, f: impl FnOnce(&mut Edge)) {
    match from {
        From::Inst(block, at) => {
            if let Some(edge) = &mut function.blocks[block as usize].insts[at as usize].unwind {
                f(edge);
            }
        }
        From::Term(block, wanted) => {
            let mut f = Some(f);
            let mut index = 0;
            function.blocks[block as usize].term.for_each_edge_mut(|edge| {
                if index == wanted
                    && let Some(f) = f.take()
                {
                    f(edge);
                }
                index += 1;
            });
        }
    }
}

/// For each of some values the blocks that use it, but for those that are left out.
pub(crate) fn users(
    function: &Function,
    defined: &[Value],
    is_left_out: impl Fn(BlockId) -> bool,
) -> Vec<Vec<BlockId>> {
    let mut users: Vec<Vec<BlockId>> = vec![Vec::new(); defined.len()];
    let mut place: Vec<u32> = vec![u32::MAX; function.values.len()];
    for (at, value) in defined.iter().enumerate() {
        place[value.index()] = at as u32;
    }
    for (at, block) in function.blocks.iter().enumerate() {
        let id = BlockId(at as u32);
        if is_left_out(id) {
            continue;
        }
        let mut note = |value: Value| {
            if let Some(list) = users.get_mut(place[value.index()] as usize)
                && list.last() != Some(&id)
            {
                list.push(id);
            }
        };
        for inst in &block.insts {
            inst.args.iter().copied().for_each(&mut note);
            inst.unwind.iter().flat_map(|edge| &edge.args).copied().for_each(&mut note);
        }
        block.term.for_each_value(&mut note);
    }
    users
}

/// Renames the uses of `value` in blocks that do not define it. `definitions` are its
/// definitions by block, the original's included. `users` are the blocks with uses.
pub(crate) fn repair(
    function: &mut Function,
    edges: &Edges,
    value: Value,
    definitions: &[(BlockId, Value)],
    users: &[BlockId],
) {
    let mut at_entry: Vec<Option<Value>> = vec![None; function.blocks.len()];
    let mut at_exit: Vec<Option<Value>> = vec![None; function.blocks.len()];
    for (block, definition) in definitions {
        at_exit[block.index()] = Some(*definition);
    }
    let ty = function.ty(value).clone();
    // Blocks whose value at entry is asked for, and joins that got a parameter.
    let mut asked: Vec<BlockId> = users.to_vec();
    let mut joins: Vec<BlockId> = Vec::new();
    while let Some(block) = asked.pop() {
        // Up the chain of single predecessors to a definition or a join.
        let mut chain = Vec::new();
        let mut at = block;
        let found = loop {
            if let Some(found) = at_entry[at.index()] {
                break found;
            }
            chain.push(at);
            if let [from] = edges.0[at.index()].as_slice() {
                if let Some(found) = at_exit[from.block()] {
                    break found;
                }
                at = BlockId(from.block() as u32);
            } else {
                joins.push(at);
                let before = edges.0[at.index()].iter().map(|from| from.block());
                asked.extend(before.filter(|block| at_exit[*block].is_none()).map(|block| BlockId(block as u32)));
                break function.add_param(at, ty.clone());
            }
        };
        for at in chain {
            at_entry[at.index()] = Some(found);
            at_exit[at.index()].get_or_insert(found);
        }
    }
    for user in users {
        let Some(new) = at_entry[user.index()] else { continue };
        let rename = |used: &mut Value| {
            if *used == value {
                *used = new;
            }
        };
        let block = function.block_mut(*user);
        for inst in &mut block.insts {
            inst.args.iter_mut().for_each(rename);
            inst.unwind.iter_mut().flat_map(|edge| &mut edge.args).for_each(rename);
        }
        block.term.for_each_value_mut(rename);
    }
    for join in joins {
        for from in &edges.0[join.index()] {
            if let Some(found) = at_exit[from.block()] {
                edge_mut(function, *from, |edge| edge.args.push(found));
            }
        }
    }
}
