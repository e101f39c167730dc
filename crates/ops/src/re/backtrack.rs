//! A search that tries one way after the other, as CPython's does, and gives up early.
//!
//! Where the groups of a match are asked for, an automaton must follow all ways at once, or be
//! one that never has two. Most patterns that people write have one way nearly everywhere:
//! what a loop over one set of characters leaves is what the next part begins with, so that
//! its end is known at once. For those, trying is several times faster. It has a number of
//! steps that is linear in the text; a search that needs more is the automaton's.
//!
//! What no automaton can say (look-around, references to groups, atomic, possessive and conditional
//! parts) is found by trying alone, within more steps; a search that needs more is CPython's.

use super::Leave;
use super::classes;
use super::translate::Part;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use std::cell::RefCell;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Instructions that a program may have.
const MOST_OPS: usize = 1_000;

/// Bytes with which a match may begin for this search to look for them.
const MOST_BEGINS: usize = 3;

/// A search that ends without an answer costs about as much as so many that are spared.
const FAILURE: u32 = 16;

/// As [`Program::failures`] from which a search is left to the automaton.
const MOST_FAILURES: u32 = 512;

/// As [`Program::luck`] below which other searches are asked first, and what it is at most.
const BAD_LUCK: i32 = -16;
const MOST_LUCK: i32 = 64;

/// Steps of a search that no automaton takes over, and how many there are for each byte, up to a most,
/// which takes some tenth of a second.
const STEPS_ALONE: usize = 100_000;
const STEPS_A_BYTE: usize = 64;
const MOST_STEPS_ALONE: usize = 20_000_000;

/// Bytes that are compared in one step.
const COMPARED_AT_ONCE: usize = 16;

/// What may be kept to be tried.
const MOST_FRAMES: usize = 1 << 20;

/// A position that no text has: the loop has no upper bound, the group took no part.
const NONE: usize = usize::MAX;

/// What a byte says of the character that begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// It is not in the set.
    No,
    /// It is, and has one byte.
    Yes,
    /// It is, and has several bytes.
    Wide,
    /// It has several bytes, which must be looked at.
    Look,
}

/// A set of characters.
#[derive(Debug)]
struct Set {
    begins: [Begin; 256],
    ranges: Vec<(char, char)>,
}

impl Set {
    /// Where the character at `at` ends, if it is in the set.
    #[inline]
    fn step(&self, text: &str, at: usize) -> Option<usize> {
        match self.begins[usize::from(*text.as_bytes().get(at)?)] {
            Begin::Yes => Some(at + 1),
            Begin::No => None,
            Begin::Wide => Some(at + width(text.as_bytes()[at])),
            Begin::Look => self.look(text, at),
        }
    }

    /// Whether the character that ends at `at` is in the set.
    #[inline]
    fn has_before(&self, text: &str, at: usize) -> bool {
        let bytes = &text.as_bytes()[..at];
        let begin = bytes.iter().rposition(|byte| !matches!(byte, 0x80..0xC0));
        begin.is_some_and(|begin| self.step(text, begin).is_some())
    }

    #[cold]
    fn look(&self, text: &str, at: usize) -> Option<usize> {
        let ch = text[at..].chars().next()?;
        let behind = self.ranges.partition_point(|range| range.1 < ch);
        self.ranges.get(behind).filter(|range| range.0 <= ch).map(|_| at + ch.len_utf8())
    }

    /// Where the longest run of characters of the set from `at` ends.
    #[inline]
    fn run(&self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        loop {
            while at < bytes.len() && self.begins[usize::from(bytes[at])] == Begin::Yes {
                at += 1;
            }
            match self.step(text, at) {
                Some(next) => at = next,
                None => return at,
            }
        }
    }
}

/// The bytes of a character that begins with one beyond ASCII.
fn width(begin: u8) -> usize {
    match begin {
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    }
}

/// The bytes with which a match can go on.
#[derive(Clone, Debug)]
struct First {
    bytes: Box<[bool; 256]>,
    /// It can also end.
    ends: bool,
    /// It can end where the text does.
    at_end: bool,
}

#[derive(Debug)]
enum Op {
    Literal(Box<[u8]>),
    /// One character of a set.
    One(usize),
    /// As many characters of a set as there are, at first, or as few.
    Loop {
        set: usize,
        min: usize,
        max: usize,
        greedy: bool,
        /// No other number than the largest can lead to a match.
        only: bool,
    },
    /// The instruction behind, or if that leads to no match another one.
    Try(usize),
    /// Another instruction, or if that leads to no match the one behind.
    Prefer(usize),
    Jump(usize),
    Save(usize),
    Look(Look),
    /// The edge of a word, of the characters of a set, or no such edge.
    Boundary {
        word: usize,
        negated: bool,
    },
    /// The character before, or the next, is one of a set, or it is not or there is none.
    Near {
        set: usize,
        behind: bool,
        negated: bool,
    },
    /// What stands behind must match here or so many characters before, or must not; another instruction
    /// goes on from here.
    Around {
        behind: Option<usize>,
        negated: bool,
        next: usize,
    },
    /// What stands behind matches in one way; another instruction goes on behind it.
    Once(usize),
    /// The text of a group, whose offsets begin at a slot.
    Same(usize),
    /// The instruction behind if the group of a slot took part, else another one.
    If(usize, usize),
    /// The end of a match, or of what [`Op::Around`] and [`Op::Once`] match.
    Match,
}

/// A pattern compiled for this search.
pub(super) struct Program {
    ops: Vec<Op>,
    sets: Vec<Set>,
    /// What a match can go on with at the beginning, behind loops and behind forks.
    firsts: Vec<Option<First>>,
    /// The set of a loop with which the pattern begins, of which each run is tried once.
    leading: Option<usize>,
    /// Whether a match can only begin where the text does.
    at_start: bool,
    /// Whether no automaton is asked.
    alone: bool,
    /// Whether a match begins with one of few bytes, so that trying is as fast as any search.
    selective: bool,
    /// What searches that ended without an answer have cost more than others have spared.
    failures: AtomicU32,
    /// How often more a match began where it could first than it did not.
    luck: AtomicI32,
}

/// What is to be tried if what is being tried fails.
#[derive(Clone, Copy)]
enum Frame {
    Branch {
        op: usize,
        at: usize,
    },
    Restore {
        slot: usize,
        old: usize,
    },
    /// A loop that ends before `at`, but not before `least`.
    Shorter {
        op: usize,
        at: usize,
        least: usize,
    },
    /// A loop that has come to `at` and may take so many characters more.
    Longer {
        op: usize,
        at: usize,
        more: usize,
    },
}

thread_local! {
    static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// A search that took too many steps.
struct Tired;

/// What a search has still to try, and how much it may do.
struct Work<'s> {
    stack: &'s mut Vec<Frame>,
    steps: usize,
}

impl Work<'_> {
    #[inline]
    fn take(&mut self, steps: usize) -> Result<(), Tired> {
        self.steps = self.steps.checked_sub(steps).filter(|_| self.stack.len() <= MOST_FRAMES).ok_or(Tired)?;
        Ok(())
    }

    /// Whether a text begins with another. Only what begins alike costs more than a step.
    #[inline]
    fn begins(&mut self, text: &[u8], with: &[u8]) -> Result<bool, Tired> {
        match with.split_at_checked(COMPARED_AT_ONCE) {
            Some((head, rest)) if text.starts_with(head) => {
                self.take(rest.len() / COMPARED_AT_ONCE)?;
                Ok(text[head.len()..].starts_with(rest))
            }
            Some(_) => Ok(false),
            None => Ok(text.starts_with(with)),
        }
    }

    /// What is to be tried next of what lies above others.
    #[inline]
    fn pop(&mut self, others: usize) -> Option<Frame> {
        if self.stack.len() > others { self.stack.pop() } else { None }
    }
}

impl Program {
    /// Compiles a pattern, if it is small and has nothing that this search does not know.
    /// With `alone` it is asked for all matches.
    pub fn new(part: &Part, alone: bool) -> Option<Program> {
        let mut program = Program {
            alone,
            ops: vec![],
            sets: vec![],
            firsts: vec![],
            leading: None,
            at_start: false,
            selective: false,
            failures: AtomicU32::new(0),
            luck: AtomicI32::new(0),
        };
        program.part(part)?;
        program.ops.push(Op::Match);
        let asked = |op: usize| op == 0 || matches!(program.ops[op - 1], Op::Loop { .. } | Op::Try(_));
        program.firsts = (0..program.ops.len()).map(|op| asked(op).then(|| program.first(op))).collect();
        for op in 0..program.ops.len() {
            if let Op::Loop { set, greedy: true, .. } = program.ops[op] {
                let set = &program.sets[set].begins;
                let apart = |next: &First| {
                    !next.ends && set.iter().zip(&*next.bytes).all(|(begin, next)| *begin == Begin::No || !next)
                };
                let only = program.firsts[op + 1].as_ref().is_some_and(apart);
                if let Op::Loop { only: known, .. } = &mut program.ops[op] {
                    *known = only;
                }
            }
        }
        let few = |first: &First| !first.ends && first.bytes.iter().filter(|begins| **begins).count() <= MOST_BEGINS;
        program.selective = program.firsts[0].as_ref().is_some_and(few);
        let begin = program.ops.iter().find(|op| !matches!(op, Op::Save(_)));
        program.at_start = matches!(begin, Some(Op::Look(Look::Start)));
        program.leading = match begin {
            // A reference would be to less of it.
            Some(Op::Loop { set, max: NONE, only: true, .. }) if !program.alone => Some(*set),
            _ => None,
        };
        Some(program)
    }

    /// The memory that it takes, in bytes, about.
    pub fn memory(&self) -> usize {
        let sets: usize = self.sets.iter().map(|set| size_of_val(set) + size_of_val(&*set.ranges)).sum();
        self.ops.len() * (size_of::<Op>() + size_of::<First>()) + sets
    }

    fn part(&mut self, part: &Part) -> Option<()> {
        if self.ops.len() > MOST_OPS {
            return None;
        }
        match part {
            Part::Plain(hir) => self.add(hir)?,
            Part::Concat(parts) => parts.iter().try_for_each(|part| self.part(part))?,
            Part::Alternate(branches) => self.alternation(branches, Program::part)?,
            Part::Repeat { min, max, greedy, body } => {
                self.repetition(*min, *max, *greedy, &mut |me: &mut Program| me.part(body))?;
            }
            Part::Capture(index, body) => {
                self.group_of(*index, |me| me.part(body))?;
            }
            Part::Around { behind, negated, body } => {
                let (behind, negated) = (*behind, *negated);
                if let (Part::Plain(hir), None | Some(1)) = (&**body, behind)
                    && let Some(set) = self.set(hir)
                {
                    self.ops.push(Op::Near { set, behind: behind.is_some(), negated });
                    return Some(());
                }
                self.apart(body, |next| Op::Around { behind, negated, next })?;
            }
            Part::Atomic(body) => self.apart(body, Op::Once)?,
            Part::Same(group) => self.ops.push(Op::Same(2 * group)),
            Part::If(group, then, otherwise) => {
                let fork = self.ops.len();
                self.ops.push(Op::Match);
                self.part(then)?;
                let jump = self.ops.len();
                self.ops.push(Op::Match);
                self.ops[fork] = Op::If(2 * group, self.ops.len());
                self.part(otherwise)?;
                self.ops[jump] = Op::Jump(self.ops.len());
            }
        }
        (self.ops.len() <= MOST_OPS).then_some(())
    }

    fn group_of(&mut self, index: usize, add: impl FnOnce(&mut Program) -> Option<()>) -> Option<()> {
        self.ops.push(Op::Save(2 * index));
        add(self)?;
        self.ops.push(Op::Save(2 * index + 1));
        Some(())
    }

    /// What is matched apart from what follows it.
    fn apart(&mut self, body: &Part, op: impl FnOnce(usize) -> Op) -> Option<()> {
        let begin = self.ops.len();
        self.ops.push(Op::Match);
        self.part(body)?;
        self.ops.push(Op::Match);
        self.ops[begin] = op(self.ops.len());
        Some(())
    }

    fn alternation<T>(&mut self, branches: &[T], add: impl Fn(&mut Program, &T) -> Option<()>) -> Option<()> {
        let mut ends = vec![];
        for (at, branch) in branches.iter().enumerate() {
            let last = at + 1 == branches.len();
            let fork = self.ops.len();
            if !last {
                self.ops.push(Op::Try(0));
            }
            add(self, branch)?;
            if !last {
                ends.push(self.ops.len());
                self.ops.push(Op::Jump(0));
                self.ops[fork] = Op::Try(self.ops.len());
            }
        }
        let end = self.ops.len();
        ends.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(end));
        Some(())
    }

    fn repetition(
        &mut self,
        min: u32,
        max: Option<u32>,
        greedy: bool,
        add: &mut dyn FnMut(&mut Program) -> Option<()>,
    ) -> Option<()> {
        let fork = |to| if greedy { Op::Try(to) } else { Op::Prefer(to) };
        for _ in 0..min {
            add(self)?;
        }
        let Some(max) = max else {
            let begin = self.ops.len();
            self.ops.push(Op::Match);
            add(self)?;
            self.ops.push(Op::Jump(begin));
            self.ops[begin] = fork(self.ops.len());
            return Some(());
        };
        let mut forks = vec![];
        for _ in min..max {
            forks.push(self.ops.len());
            self.ops.push(Op::Match);
            add(self)?;
        }
        let end = self.ops.len();
        forks.into_iter().for_each(|at| self.ops[at] = fork(end));
        Some(())
    }

    fn add(&mut self, hir: &Hir) -> Option<()> {
        if self.ops.len() > MOST_OPS {
            return None;
        }
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => self.ops.push(Op::Literal(literal.0.clone())),
            HirKind::Class(_) => {
                let set = self.set(hir)?;
                self.ops.push(Op::One(set));
            }
            HirKind::Look(look @ (Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::WordAscii)) => {
                self.ops.push(Op::Look(*look));
            }
            HirKind::Look(look) if self.alone => {
                let (unicode, negated) = match look {
                    Look::WordUnicode => (true, false),
                    Look::WordUnicodeNegate => (true, true),
                    Look::WordAsciiNegate => (false, true),
                    _ => return None,
                };
                let word = self.set_of(classes::word(!unicode));
                self.ops.push(Op::Boundary { word, negated });
            }
            HirKind::Look(_) => return None,
            HirKind::Capture(capture) => {
                self.group_of(capture.index as usize, |me| me.add(&capture.sub))?;
            }
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.add(part))?,
            HirKind::Alternation(branches) => self.alternation(branches, Program::add)?,
            HirKind::Repetition(repetition) => {
                let (min, max) = (repetition.min, repetition.max);
                if let Some(set) = self.set(&repetition.sub) {
                    let (min, max) = (min as usize, max.map_or(NONE, |max| max as usize));
                    self.ops.push(Op::Loop { set, min, max, greedy: repetition.greedy, only: false });
                    return Some(());
                }
                self.repetition(min, max, repetition.greedy, &mut |me: &mut Program| me.add(&repetition.sub))?;
            }
        }
        (self.ops.len() <= MOST_OPS).then_some(())
    }

    /// The number of a set of characters, if the expression is one.
    fn set(&mut self, hir: &Hir) -> Option<usize> {
        let ranges: Vec<(char, char)> = match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                class.ranges().iter().map(|range| (range.start(), range.end())).collect()
            }
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                let mut characters = text.chars();
                let only = characters.next().filter(|_| characters.next().is_none())?;
                vec![(only, only)]
            }
            _ => return None,
        };
        Some(self.set_of(ranges))
    }

    fn set_of(&mut self, ranges: Vec<(char, char)>) -> usize {
        if let Some(known) = self.sets.iter().position(|set| set.ranges == ranges) {
            return known;
        }
        let mut begins = [Begin::No; 256];
        for (byte, begin) in (0u8..128).zip(&mut begins) {
            if ranges.iter().any(|range| (range.0..=range.1).contains(&char::from(byte))) {
                *begin = Begin::Yes;
            }
        }
        let wide = if ranges.last().is_some_and(|range| range.0 <= '\u{80}' && range.1 == char::MAX) {
            Begin::Wide
        } else if ranges.last().is_some_and(|range| range.1 >= '\u{80}') {
            Begin::Look
        } else {
            Begin::No
        };
        begins[128..].fill(wide);
        self.sets.push(Set { begins, ranges });
        self.sets.len() - 1
    }

    /// What a match can go on with from an instruction.
    fn first(&self, op: usize) -> First {
        let mut first = First { bytes: Box::new([false; 256]), ends: false, at_end: false };
        let mut seen = vec![false; self.ops.len()];
        let mut work = vec![op];
        while let Some(op) = work.pop() {
            if std::mem::replace(&mut seen[op], true) {
                continue;
            }
            match &self.ops[op] {
                Op::Literal(literal) => match literal.first() {
                    Some(byte) => first.bytes[usize::from(*byte)] = true,
                    None => work.push(op + 1),
                },
                Op::One(set) | Op::Loop { set, .. } | Op::Near { set, behind: false, negated: false } => {
                    for (byte, begin) in first.bytes.iter_mut().zip(&self.sets[*set].begins) {
                        *byte |= *begin != Begin::No;
                    }
                    if matches!(self.ops[op], Op::Loop { min: 0, .. }) {
                        work.push(op + 1);
                    }
                }
                Op::Try(to) | Op::Prefer(to) => work.extend([op + 1, *to]),
                Op::Jump(to) => work.push(*to),
                // Nothing but a newline stands behind these.
                Op::Look(Look::End) => first.at_end = true,
                Op::Look(Look::EndLF) => {
                    first.at_end = true;
                    first.bytes[usize::from(b'\n')] = true;
                }
                Op::Save(_) | Op::Look(_) | Op::Boundary { .. } | Op::Near { .. } => work.push(op + 1),
                Op::Around { behind: None, negated: false, .. } => work.push(op + 1),
                Op::Around { next, .. } => work.push(*next),
                Op::If(_, to) => work.extend([op + 1, *to]),
                // What they match may be empty.
                Op::Once(_) | Op::Same(_) | Op::Match => first.ends = true,
            }
        }
        first
    }

    /// Finds the first match that begins at `at` or later, or only there, and writes its offsets
    /// as [`super::Matcher::find`] does. `None` if another search is faster: `at` is then where
    /// that may begin.
    pub fn find(&self, text: &str, at: &mut usize, anchored: bool, spans: &mut [i64]) -> Option<bool> {
        let failures = self.failures.load(Ordering::Relaxed);
        if failures > 0 {
            self.failures.store(failures - 1, Ordering::Relaxed);
        }
        if failures >= MOST_FAILURES {
            return None;
        }
        STACK.with(|stack| {
            let mut stack = stack.try_borrow_mut().ok()?;
            stack.clear();
            let mut work = Work { stack: &mut stack, steps: 8 * (text.len() - *at) + 256 };
            match self.search(text, at, anchored, false, spans, &mut work) {
                Ok(found) => found,
                Err(Tired) => {
                    self.failures.store(failures + FAILURE, Ordering::Relaxed);
                    None
                }
            }
        })
    }

    /// As [`Program::find`], where no automaton is asked; with `advances` a match at `at` must not be
    /// empty.
    ///
    /// # Errors
    /// [`Leave`] if it takes too many steps.
    pub fn find_alone(
        &self,
        text: &str,
        mut at: usize,
        anchored: bool,
        advances: bool,
        spans: &mut [i64],
    ) -> Result<bool, Leave> {
        STACK.with(|stack| {
            let mut stack = stack.try_borrow_mut().map_err(|_| Leave)?;
            stack.clear();
            let steps = MOST_STEPS_ALONE.min(STEPS_ALONE + STEPS_A_BYTE * (text.len() - at));
            let mut work = Work { stack: &mut stack, steps };
            match self.search(text, &mut at, anchored, advances, spans, &mut work) {
                Ok(Some(found)) => Ok(found),
                Ok(None) | Err(Tired) => Err(Leave),
            }
        })
    }

    fn search(
        &self,
        text: &str,
        at: &mut usize,
        anchored: bool,
        advances: bool,
        spans: &mut [i64],
        work: &mut Work<'_>,
    ) -> Result<Option<bool>, Tired> {
        let bytes = text.as_bytes();
        let not_to = if advances { *at } else { NONE };
        // A way that fails leaves them so.
        spans.fill(-1);
        loop {
            if !anchored && !self.at_start {
                match (*at..bytes.len()).find(|at| self.may_go_on(0, bytes, *at)) {
                    Some(next) => *at = next,
                    None if self.may_go_on(0, bytes, bytes.len()) => *at = bytes.len(),
                    None => return Ok(Some(false)),
                }
            }
            let gambles = !(anchored || self.at_start || self.selective || self.alone);
            let luck = self.luck.load(Ordering::Relaxed);
            if gambles && luck < BAD_LUCK {
                return Ok(None);
            }
            let end = self.run(text, *at, 0, if *at == not_to { not_to } else { NONE }, spans, work)?;
            work.stack.clear();
            if gambles && luck < MOST_LUCK {
                self.luck.store(if end.is_some() { luck + 1 } else { luck - 1 }, Ordering::Relaxed);
            }
            if let Some(end) = end {
                if let [first, second, ..] = spans {
                    (*first, *second) = (*at as i64, end as i64);
                }
                return Ok(Some(true));
            }
            if anchored || self.at_start || *at >= bytes.len() {
                return Ok(Some(false));
            }
            work.take(1)?;
            *at = match self.leading {
                // The loop would end where it did.
                Some(set) => self.sets[set].run(text, *at).max(*at + 1),
                None => *at + 1,
            };
            while !text.is_char_boundary(*at) {
                *at += 1;
            }
            if !self.selective && !self.alone {
                return Ok(None);
            }
        }
    }

    /// Whether a match can go on, or end, with an instruction at `at`.
    #[inline]
    fn may_go_on(&self, op: usize, text: &[u8], at: usize) -> bool {
        let Some(first) = &self.firsts[op] else { return true };
        first.ends || text.get(at).map_or(first.at_end, |byte| first.bytes[usize::from(*byte)])
    }

    /// Where a match that begins at `at` with an instruction ends, which is not at `not_to`. What is still
    /// to be tried then stays on the stack, above what was there before.
    fn run(
        &self,
        text: &str,
        mut at: usize,
        mut op: usize,
        not_to: usize,
        spans: &mut [i64],
        work: &mut Work<'_>,
    ) -> Result<Option<usize>, Tired> {
        let bytes = text.as_bytes();
        let base = work.stack.len();
        loop {
            work.take(1)?;
            let goes_on = match &self.ops[op] {
                Op::Literal(literal) => {
                    let matches = work.begins(&bytes[at..], literal)?;
                    at += literal.len();
                    op += 1;
                    matches
                }
                Op::One(set) => match self.sets[*set].step(text, at) {
                    Some(next) => {
                        at = next;
                        op += 1;
                        true
                    }
                    None => false,
                },
                Op::Loop { set, min, max, greedy, only } => {
                    let set = &self.sets[*set];
                    let mut taken = 0;
                    let mut least = at;
                    // Steps are counted for what is looked at again and again.
                    while taken < *min
                        && let Some(next) = set.step(text, least)
                    {
                        least = next;
                        taken += 1;
                    }
                    work.take(taken / 4)?;
                    if taken < *min {
                        false
                    } else if *greedy {
                        let mut end = least;
                        if *max == NONE {
                            end = set.run(text, least);
                        } else {
                            while taken < *max
                                && let Some(next) = set.step(text, end)
                            {
                                end = next;
                                taken += 1;
                            }
                        }
                        work.take((end - least) / 4)?;
                        op += 1;
                        if !only && end > least {
                            work.stack.push(Frame::Shorter { op, at: end, least });
                        }
                        at = end;
                        true
                    } else {
                        let more = if *max == NONE { NONE } else { max - min };
                        if more > 0 {
                            work.stack.push(Frame::Longer { op, at: least, more });
                        }
                        at = least;
                        op += 1;
                        true
                    }
                }
                Op::Try(to) => {
                    // What cannot even begin is not begun.
                    if self.may_go_on(op + 1, bytes, at) {
                        work.stack.push(Frame::Branch { op: *to, at });
                        op += 1;
                    } else {
                        op = *to;
                    }
                    true
                }
                Op::Prefer(to) => {
                    work.stack.push(Frame::Branch { op: op + 1, at });
                    op = *to;
                    true
                }
                Op::Jump(to) => {
                    op = *to;
                    true
                }
                Op::Save(slot) => {
                    if let Some(span) = spans.get_mut(*slot) {
                        work.stack.push(Frame::Restore { slot: *slot, old: usize::try_from(*span).unwrap_or(NONE) });
                        *span = at as i64;
                    }
                    op += 1;
                    true
                }
                Op::Look(look) => {
                    op += 1;
                    holds(*look, bytes, at)
                }
                Op::Near { set, behind, negated } => {
                    op += 1;
                    let set = &self.sets[*set];
                    let belongs = if *behind { set.has_before(text, at) } else { set.step(text, at).is_some() };
                    belongs != *negated
                }
                Op::Boundary { word, negated } => {
                    op += 1;
                    let word = &self.sets[*word];
                    (word.has_before(text, at) != word.step(text, at).is_some()) != *negated
                }
                Op::Around { behind, negated, next } => {
                    let start = match behind {
                        None | Some(0) => Some(at),
                        Some(characters) => {
                            work.take(characters / 4)?;
                            text[..at].char_indices().rev().nth(characters - 1).map(|(start, _)| start)
                        }
                    };
                    let found = match start {
                        Some(start) => self.once(text, start, op + 1, spans, work)?.is_some(),
                        None => false,
                    };
                    op = *next;
                    found != *negated
                }
                Op::Once(next) => match self.once(text, at, op + 1, spans, work)? {
                    Some(end) => {
                        (at, op) = (end, *next);
                        true
                    }
                    None => false,
                },
                Op::Same(slot) => match self.group(*slot, spans) {
                    Some((start, end)) => {
                        let matches = work.begins(&bytes[at..], &bytes[start..end])?;
                        at += end - start;
                        op += 1;
                        matches
                    }
                    None => false,
                },
                Op::If(slot, otherwise) => {
                    op = if self.group(*slot, spans).is_some() { op + 1 } else { *otherwise };
                    true
                }
                Op::Match if at == not_to => false,
                Op::Match => return Ok(Some(at)),
            };
            if goes_on {
                continue;
            }
            loop {
                work.take(1)?;
                match work.pop(base) {
                    None => return Ok(None),
                    Some(Frame::Restore { slot, old }) => {
                        spans[slot] = if old == NONE { -1 } else { old as i64 };
                    }
                    Some(Frame::Branch { op: other, at: from }) => {
                        (op, at) = (other, from);
                        break;
                    }
                    Some(Frame::Shorter { op: next, at: end, least }) => {
                        let mut end = end;
                        let mut fits = false;
                        while end > least && !fits {
                            work.take(1)?;
                            end -= 1;
                            while !text.is_char_boundary(end) {
                                end -= 1;
                            }
                            fits = self.may_go_on(next, bytes, end);
                        }
                        if fits {
                            if end > least {
                                work.stack.push(Frame::Shorter { op: next, at: end, least });
                            }
                            (op, at) = (next, end);
                            break;
                        }
                    }
                    Some(Frame::Longer { op: loops, at: end, more }) => {
                        let Op::Loop { set, .. } = &self.ops[loops] else { continue };
                        let (mut end, mut more, mut fits) = (end, more, false);
                        while more > 0
                            && !fits
                            && let Some(next) = self.sets[*set].step(text, end)
                        {
                            work.take(1)?;
                            end = next;
                            more -= usize::from(more != NONE);
                            fits = self.may_go_on(loops + 1, bytes, end);
                        }
                        if fits {
                            if more > 0 {
                                work.stack.push(Frame::Longer { op: loops, at: end, more });
                            }
                            (op, at) = (loops + 1, end);
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Where the first way ends in which what begins with an instruction matches. No other is tried
    /// later; the offsets of its groups are set back where what follows fails.
    fn once(
        &self,
        text: &str,
        at: usize,
        op: usize,
        spans: &mut [i64],
        work: &mut Work<'_>,
    ) -> Result<Option<usize>, Tired> {
        let base = work.stack.len();
        let end = self.run(text, at, op, NONE, spans, work)?;
        let mut kept = base;
        for above in base..work.stack.len() {
            if let Frame::Restore { .. } = work.stack[above] {
                work.stack[kept] = work.stack[above];
                kept += 1;
            }
        }
        work.stack.truncate(kept);
        Ok(end)
    }

    /// The offsets of a group that took part.
    fn group(&self, slot: usize, spans: &[i64]) -> Option<(usize, usize)> {
        let offset = |at: usize| usize::try_from(*spans.get(at)?).ok();
        Some((offset(slot)?, offset(slot + 1)?)).filter(|(start, end)| start <= end)
    }
}

/// Whether an assertion holds between the byte before `at` and that behind.
fn holds(look: Look, text: &[u8], at: usize) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    match look {
        Look::Start => at == 0,
        Look::End => at == text.len(),
        Look::StartLF => before.is_none_or(|byte| *byte == b'\n'),
        Look::EndLF => text.get(at).is_none_or(|byte| *byte == b'\n'),
        Look::WordAscii => word(before) != word(text.get(at)),
        _ => false,
    }
}
