//! Gives back what the turns of a loop took from the row's memory.
//!
//! The memory of a row is an arena that only grows. A loop that makes a text or a list in each turn
//! would walk through fresh memory, which the processor has to fetch, until the row's limit, where
//! CPython uses the same few kilobytes again and again.
//!
//! At the head of a loop only the parameters of that block, and what was made before the loop, can be
//! used again. So where the turns have taken much, what the parameters hold is moved down to where the
//! loop began, and the rest is free. This holds for loops that write into nothing which was there
//! before the turn ([`heads`]): otherwise an old list may point to what is new.

use crate::alias::{Shared, may_write};
use crate::compile::allocates;
use crate::live::Live;
use crate::slots;
use exuvia_ir::{BlockId, Flow, Function, Type, Value};
use exuvia_ops::adapt::{Pair, call_fallible};
use exuvia_ops::cx::{Cx, KernelResult};
use exuvia_ops::list::RawList;
use exuvia_ops::text::Str;
use std::cell::Cell;
use std::collections::HashMap;

/// The bytes that turns take before they are given back: well within the second cache.
pub(crate) const MUCH: u64 = 256 << 10;

/// The loops of a function that are looked at, those that come first: each look goes over the function.
const MOST_LOOPS: usize = 64;

/// The words that parameters with texts or lists may have.
const MOST_WORDS: usize = 64;

/// The head of a loop whose turns give back what they took.
#[derive(Debug)]
pub(crate) struct Head {
    /// The blocks from which the loop is entered, by their ends.
    pub before: Vec<BlockId>,
    /// The parameters that may hold what a turn made.
    pub carried: Vec<Value>,
}

/// Whether values of a type may hold memory of the row.
fn holds_memory(ty: &Type) -> bool {
    match ty {
        Type::Str | Type::List(_) | Type::Boxed(_) => true,
        Type::Tuple(types) | Type::Record(_, types) | Type::Union(types) => types.iter().any(holds_memory),
        // Dicts, sets and patterns are constants.
        Type::Never
        | Type::Unbound
        | Type::None
        | Type::Bool
        | Type::Int
        | Type::Float
        | Type::Exc
        | Type::Dict(..)
        | Type::Set(_)
        | Type::Pattern(_) => false,
    }
}

/// The loops whose turns may give back what they took, by the block of their head.
pub(crate) fn heads(function: &Function, live: &Live) -> Vec<(BlockId, Head)> {
    let mut found = Vec::new();
    if !function.blocks.iter().flat_map(|block| &block.insts).any(|inst| live.inst(inst) && allocates(inst)) {
        return found;
    }
    let flow = Flow::new(function);
    let at_heads = flow.order().filter(|at| flow.is_head(*at));
    for head in at_heads.take(MOST_LOOPS) {
        let block = flow.segment(head).block;
        let before: Vec<usize> = flow.predecessors(head).filter(|from| !flow.dominates(head, *from)).collect();
        // A loop begins at a block, not behind an instruction, and is entered by the ends of blocks.
        if flow.first(block) != head || before.is_empty() || before.iter().any(|from| !flow.segment(*from).last) {
            continue;
        }
        let body = flow.body(head);
        let insts = || {
            let parts = (0..flow.len()).filter(|at| body[*at]).map(|at| flow.segment(at));
            parts.flat_map(|part| &function.block(part.block).insts[part.insts.clone()]).filter(|inst| live.inst(inst))
        };
        if !insts().any(allocates) {
            continue;
        }
        let params = &function.block(block).params;
        if insts().any(|inst| may_write(inst) && inst.args.iter().any(|arg| function.ty(*arg).holds_list())) {
            // What a turn makes and writes to is its own.
            let own: Vec<bool> = made_in(function, &flow, &body);
            let older = Shared::from(function, |value| !own[value.index()] || params.contains(&value));
            if older.is_changed_by(insts()) {
                continue;
            }
        }
        let carried = params.iter().copied().filter(|param| live.value(*param) && holds_memory(function.ty(*param)));
        let carried: Vec<Value> = carried.collect();
        // What a box holds no type says.
        if carried.iter().any(|param| function.ty(*param).holds(&|ty| matches!(ty, Type::Boxed(_)))) {
            continue;
        }
        if carried.iter().map(|param| slots::count(function.ty(*param))).sum::<usize>() > MOST_WORDS {
            continue;
        }
        let before = before.into_iter().map(|from| flow.segment(from).block).collect();
        found.push((block, Head { before, carried }));
    }
    found
}

/// Whether each value is made in the loop.
fn made_in(function: &Function, flow: &Flow, body: &[bool]) -> Vec<bool> {
    let mut made = vec![false; function.values.len()];
    for at in (0..flow.len()).filter(|at| body[*at]) {
        let part = flow.segment(at);
        let block = function.block(part.block);
        let params = if flow.first(part.block) == at { &block.params[..] } else { &[] };
        let results = block.insts[part.insts.clone()].iter().filter_map(|inst| inst.result);
        params.iter().copied().chain(results).for_each(|value| made[value.index()] = true);
    }
    made
}

/// What a loop knows of the memory while it runs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct State {
    /// The place in the arena where the loop began.
    pub mark: u64,
    /// The place beyond which what the turns took is given back.
    pub trigger: u64,
}

thread_local! {
    /// Room for what is moved, for the next time.
    static SPARE: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Gives back what the turns of a loop took, but for what the values in `words` hold, which are of
/// `types`: they are moved, and their words changed. The first word of the result is the status.
///
/// # Safety
/// `cx` must be the address of a context that nothing else uses during the call, `state` that of the loop's
/// state, `types` that of `count` types of values, and `words` that of their words. Nothing else that was
/// made since the loop began may be used any more.
pub(crate) unsafe extern "C" fn give_back(
    cx: *mut Cx,
    state: *mut State,
    types: *const Type,
    count: u64,
    words: *mut u64,
    much: u64,
) -> Pair {
    // SAFETY: the caller vouches for all of them; the words are as many as the types take.
    let give_back = |cx: &mut Cx| unsafe {
        let (state, types) = (&mut *state, std::slice::from_raw_parts(types, count as usize));
        let count = types.iter().map(slots::count).sum();
        let words = if count == 0 { &mut [] } else { std::slice::from_raw_parts_mut(words, count) };
        state.turn(cx, types, words, much as usize)?;
        Ok(0i64)
    };
    // SAFETY: the caller vouches for the context.
    unsafe { call_fallible(cx, give_back) }
}

impl State {
    /// # Safety
    /// `words` must be those of live values of the types.
    unsafe fn turn(&mut self, cx: &mut Cx, types: &[Type], words: &mut [u64], much: usize) -> KernelResult<()> {
        let taken = cx.position() - self.mark as usize;
        // What is carried on is no more than half of what was taken, or there is little to gain.
        let most = if much == 0 { usize::MAX } else { taken / 2 };
        let room = SPARE.take();
        let mut moved = Moved { cx, mark: self.mark as usize, most, room, lists: HashMap::new(), pointers: Vec::new() };
        moved.room.clear();
        // The values' words are moved as well, and taken from there again.
        let at = moved.put(words);
        // SAFETY: the caller vouches for the words.
        let fits = at.is_some_and(|at| unsafe { moved.all(types, at) }.is_some());
        let Moved { room, pointers, .. } = moved;
        let bytes = room.len() * 8;
        if fits {
            cx.go_back(self.mark as usize);
            // The values' words stay where they were.
            let live = bytes - words.len() * 8;
            if live > 0 {
                let to = cx.alloc(live)?;
                // SAFETY: `live` bytes at `to` are the arena's and nobody's, and the room behind the values'
                // words has so many.
                unsafe { to.copy_from_nonoverlapping(room[words.len()..].as_ptr().cast::<u8>(), live) };
                words.copy_from_slice(&room[..words.len()]);
                for Pointer { at, to: target } in pointers {
                    let address = to.wrapping_add((target - words.len()) * 8) as u64;
                    match words.get_mut(at) {
                        Some(word) => *word = address,
                        // SAFETY: the word lies in what was copied.
                        None => unsafe { to.cast::<u64>().add(at - words.len()).write(address) },
                    }
                }
            }
            let until = if much == 0 { 0 } else { much.max(4 * live) };
            self.trigger = (cx.position() + until) as u64;
        } else {
            self.trigger = (cx.position() + taken.max(much)) as u64;
        }
        if room.capacity() * 8 <= KEPT {
            SPARE.set(room);
        }
        Ok(())
    }
}

/// The room that is kept for the next time.
const KEPT: usize = 4 << 20;

/// A word of the room that is to point to another.
struct Pointer {
    at: usize,
    to: usize,
}

/// What is moved: texts and lists that lie behind the mark are copied to a room of their own, in words.
struct Moved<'c> {
    cx: &'c Cx,
    mark: usize,
    /// The bytes that may be moved.
    most: usize,
    room: Vec<u64>,
    /// Where lists went: one that is held twice stays one.
    lists: HashMap<u64, usize>,
    pointers: Vec<Pointer>,
}

impl Moved<'_> {
    /// Puts words into the room; where. None where that is too much.
    fn put(&mut self, words: &[u64]) -> Option<usize> {
        let at = self.room.len();
        ((at + words.len()) * 8 <= self.most).then(|| self.room.extend_from_slice(words))?;
        Some(at)
    }

    /// Moves what values of the types hold, whose words lie in the room one after the other.
    ///
    /// # Safety
    /// The words must be those of live values.
    unsafe fn all(&mut self, types: &[Type], mut at: usize) -> Option<()> {
        for ty in types {
            // SAFETY: the caller vouches for the words.
            unsafe { self.value(ty, at) }?;
            at += slots::count(ty);
        }
        Some(())
    }

    /// Moves what a value holds whose words lie in the room.
    ///
    /// # Safety
    /// As [`Moved::all`].
    unsafe fn value(&mut self, ty: &Type, at: usize) -> Option<()> {
        if !holds_memory(ty) {
            return Some(());
        }
        match ty {
            // SAFETY: the caller vouches for the words.
            Type::Str => unsafe { self.text(at) },
            // SAFETY: as above.
            Type::List(element) => unsafe { self.list(element, at) },
            // SAFETY: as above.
            Type::Tuple(types) | Type::Record(_, types) => unsafe { self.all(types, at) },
            Type::Union(types) => {
                let holds = usize::try_from(self.room[at]).ok()?;
                let start = slots::alternative_start(types, holds.min(types.len()));
                // SAFETY: as above; the tag says which of the alternatives is alive.
                types.get(holds).map_or(Some(()), |ty| unsafe { self.value(ty, at + start) })
            }
            _ => Some(()),
        }
    }

    /// # Safety
    /// As [`Moved::all`], for a text.
    unsafe fn text(&mut self, at: usize) -> Option<()> {
        let (start, meta) = (self.room[at] as *const u8, self.room[at + 1]);
        // SAFETY: the caller vouches for the words of the text.
        let text = unsafe { Str::from_words(start, meta) };
        let bytes = text.byte_len();
        if bytes == 0 || !self.cx.is_behind(start, bytes, self.mark) {
            return Some(());
        }
        let to = self.room.len();
        let words = bytes.div_ceil(8);
        ((to + words) * 8 <= self.most).then_some(())?;
        self.room.resize(to + words, 0);
        // SAFETY: the text is alive, and the room has so many words more.
        unsafe { self.room.as_mut_ptr().add(to).cast::<u8>().copy_from_nonoverlapping(start, bytes) };
        self.pointers.push(Pointer { at, to });
        Some(())
    }

    /// # Safety
    /// As [`Moved::all`], for a list of such elements.
    unsafe fn list(&mut self, element: &Type, at: usize) -> Option<()> {
        let address = self.room[at];
        let header = address as *const RawList;
        if !self.cx.is_behind(header.cast(), size_of::<RawList>(), self.mark) {
            // What is older holds nothing that is new.
            return Some(());
        }
        if let Some(to) = self.lists.get(&address) {
            self.pointers.push(Pointer { at, to: *to });
            return Some(());
        }
        // SAFETY: the caller vouches for the list.
        let RawList { len, cap, data } = unsafe { &*header };
        let (len, width) = (*len as usize, slots::count(element));
        let words = len * width;
        let is_new = words > 0 && self.cx.is_behind(data.cast(), words * 8, self.mark);
        let cap = if is_new { len as u64 } else { (*cap).min(len as u64) };
        let to = self.put(&[len as u64, if words == 0 { 0 } else { cap }, *data as u64])?;
        self.lists.insert(address, to);
        self.pointers.push(Pointer { at, to });
        if is_new {
            // SAFETY: the list is alive, so are so many words of its elements.
            let elements = self.put(unsafe { std::slice::from_raw_parts(*data, words) })?;
            self.pointers.push(Pointer { at: to + 2, to: elements });
            if holds_memory(element) {
                for turn in 0..len {
                    // SAFETY: the elements of a live list are alive.
                    unsafe { self.value(element, elements + turn * width) }?;
                }
            }
        }
        Some(())
    }
}

// The fields are written and read by place.
const _: () = assert!(std::mem::offset_of!(RawList, len) == 0);
const _: () = assert!(std::mem::offset_of!(RawList, cap) == 8);
const _: () = assert!(std::mem::offset_of!(RawList, data) == 16 && size_of::<RawList>() == 24);
