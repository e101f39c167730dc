//! Constant sets, and the table in which CPython keeps the members of a set, which gives their order.
//!
//! A table has a power of two of places, 8 at first (Objects/setobject.c of CPython 3.11). A member lies
//! where the low bits of its hash point or, if that place is taken, in one of the nine after it, as far as
//! the table reaches so far; then other bits of the hash say where to go on. A table that is three fifths
//! full is made anew, four times as large as it has members. A set is iterated in the order of its places:
//!
//! ```
//! # use exuvia_ir::SetTable;
//! let mut table = SetTable::default();
//! // {9, 2, 1}: the hash of a small int is the int, and 9 lies at 9 & 7.
//! for (member, hash) in [9, 2, 1].into_iter().enumerate() {
//!     table.add(hash, member);
//! }
//! assert_eq!(table.order(), [0, 1, 2]);
//! ```

use crate::object::{DictObj, Object};

/// Places of the smallest table (`PySet_MINSIZE`).
const LEAST: usize = 8;
/// How many places after the first are looked at (`LINEAR_PROBES`).
const LINEAR: usize = 9;
/// By how many bits a hash is shifted to find the next one (`PERTURB_SHIFT`).
const SHIFT: u32 = 5;
/// From how many members on a table only doubles.
const LARGE: usize = 50_000;

/// Puts a member, of that hash, into the first free place; free places hold `free`.
pub fn place<T: Copy + PartialEq>(table: &mut [T], hash: i64, free: T, member: T) {
    let mask = table.len() - 1;
    let mut rest = hash as u64;
    let mut at = hash as usize & mask;
    loop {
        let last = if at + LINEAR <= mask { at + LINEAR } else { at };
        if let Some(found) = (at..=last).find(|at| table[*at] == free) {
            table[found] = member;
            return;
        }
        rest >>= SHIFT;
        at = at.wrapping_mul(5).wrapping_add(1).wrapping_add(rest as usize) & mask;
    }
}

/// How many places a table has that is made for that many members (`set_table_resize`).
#[must_use]
pub fn places_for(members: usize) -> usize {
    (members + 1).next_power_of_two().max(LEAST)
}

/// Whether a table of so many places, so many of them taken, is too full.
#[must_use]
pub fn is_full(places: usize, taken: usize) -> bool {
    taken * 5 >= (places - 1) * 3
}

/// For how many members a table is made anew that is too full with so many.
#[must_use]
pub fn grown(members: usize) -> usize {
    if members > LARGE { members * 2 } else { members * 4 }
}

/// Which member lies where, of a set from which nothing was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTable {
    places: Vec<Option<u32>>,
    hashes: Vec<i64>,
}

impl Default for SetTable {
    fn default() -> SetTable {
        SetTable { places: vec![None; LEAST], hashes: Vec::new() }
    }
}

impl SetTable {
    /// Adds a member that is not there yet.
    pub fn add(&mut self, hash: i64, member: usize) {
        place(&mut self.places, hash, None, Some(member as u32));
        self.hashes.push(hash);
        if is_full(self.places.len(), self.hashes.len()) {
            self.resize(grown(self.hashes.len()));
        }
    }

    fn resize(&mut self, members: usize) {
        let size = places_for(members);
        if size == LEAST && self.places.len() == LEAST {
            return;
        }
        let mut places = vec![None; size];
        for member in self.places.iter().flatten() {
            place(&mut places, self.hashes[*member as usize], None, Some(*member));
        }
        self.places = places;
    }

    /// Makes room for members that are added (`set_merge`, `set_update_internal`).
    fn reserve(&mut self, members: usize) {
        let members = self.hashes.len() + members;
        if is_full(self.places.len(), members) {
            self.resize(members * 2);
        }
    }

    /// The members in the order in which the set is iterated.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        self.places.iter().flatten().map(|member| *member as usize).collect()
    }

    /// What lies at each place: a member, or nothing.
    #[must_use]
    pub fn places(&self) -> &[Option<u32>] {
        &self.places
    }

    /// The hashes of the members, in the order in which they were added.
    #[must_use]
    pub fn hashes(&self) -> &[i64] {
        &self.hashes
    }
}

/// A set or frozenset that is constant.
#[derive(Clone, Debug)]
pub struct SetObj {
    /// The members as keys of a dict, in the order in which they were added.
    pub members: DictObj,
    /// Whether it is a `frozenset`.
    pub frozen: bool,
    /// Where they lie in CPython; `None` where that is not known, as of `None`, whose hash is its
    /// address.
    pub table: Option<SetTable>,
}

impl SetObj {
    /// An empty set.
    #[must_use]
    pub fn empty(frozen: bool) -> SetObj {
        SetObj { members: DictObj::default(), frozen, table: Some(SetTable::default()) }
    }

    /// A set whose order nobody asks for.
    #[must_use]
    pub fn without_order(members: DictObj, frozen: bool) -> SetObj {
        SetObj { members, frozen, table: None }
    }

    /// Adds a member with its hash, if that is known. Returns false for one that is unhashable or not
    /// supported.
    pub fn add(&mut self, member: Object, hash: Option<i64>) -> bool {
        let before = self.members.len();
        if !self.members.insert(member, Object::None) {
            return false;
        }
        if self.members.len() == before {
            return true;
        }
        match (hash, &mut self.table) {
            (Some(hash), Some(table)) => table.add(hash, before),
            _ => self.table = None,
        }
        true
    }

    /// Makes room for the keys of a dict, which are added next.
    pub fn reserve(&mut self, members: usize) {
        if let Some(table) = &mut self.table {
            table.reserve(members);
        }
    }

    /// Adds the members of another set (`set_merge`).
    pub fn merge(&mut self, other: &SetObj) {
        if other.members.is_empty() {
            return;
        }
        let (Some(table), Some(theirs)) = (&mut self.table, &other.table) else {
            self.table = None;
            for (member, _) in other.members.entries() {
                self.members.insert(member.clone(), Object::None);
            }
            return;
        };
        table.reserve(theirs.hashes.len());
        if self.members.is_empty() && table.places.len() == theirs.places.len() {
            self.members = other.members.clone();
            self.table.clone_from(&other.table);
            return;
        }
        let hashes = theirs.hashes.clone();
        for at in theirs.order() {
            self.add(other.members.entries()[at].0.clone(), Some(hashes[at]));
        }
    }

    /// The members as CPython iterates over them; `None` where that is not known.
    #[must_use]
    pub fn in_order(&self) -> Option<Vec<Object>> {
        let member = |at: usize| self.members.entries()[at].0.clone();
        match &self.table {
            _ if self.members.len() <= 1 => Some((0..self.members.len()).map(member).collect()),
            Some(table) => Some(table.order().into_iter().map(member).collect()),
            None => None,
        }
    }
}
