//! Boxed Python values: constants of the IR and the evaluator's run-time values.

use crate::set::SetObj;
use crate::{Class, ExcKind, Int, Pattern, RecordObj, Span, Type};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock};

/// A Python value.
#[derive(Clone, Debug)]
pub enum Object {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of any size.
    Int(Int),
    /// A float.
    Float(f64),
    /// A string of valid UTF-8.
    Str(Arc<str>),
    /// A tuple.
    Tuple(Arc<[Object]>),
    /// A list; clones share identity.
    List(Arc<ListObj>),
    /// A dict that nobody mutates.
    Dict(Arc<DictObj>),
    /// A set or frozenset that nobody mutates.
    Set(Arc<SetObj>),
    /// A compiled pattern of `re`.
    Pattern(Arc<Pattern>),
    /// An object of a class of the standard library.
    Record(Arc<RecordObj>),
    /// A caught exception.
    Exc(Arc<ExcObj>),
    /// The content of a local variable before its first assignment.
    Unbound,
}

/// The shared, mutable part of a list.
#[derive(Debug, Default)]
pub struct ListObj(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    items: Vec<Object>,
    /// Their types, if those were asked for.
    kinds: Option<Kinds>,
    /// What this list has added to [`KEPT`].
    kept: usize,
}

/// The types of the items of a list, kept while items come and go: a list is asked for its type at each
/// step of a loop that fills it.
#[derive(Debug)]
struct Kinds {
    /// Each type with the number of items that have it.
    counted: HashMap<Type, usize>,
    /// Their union.
    union: Type,
    /// [`CHANGES`] when they were counted, if the items hold lists, whose types change by themselves.
    at: Option<u64>,
}

/// How often a list that was asked for the type of its items became one of another.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// About how many bytes the lists take that this thread has made.
    static KEPT: Cell<usize> = const { Cell::new(0) };

    /// How many items, and types of items, were looked at for types.
    static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
}

fn look_at(items: usize) {
    LOOKED_AT.set(LOOKED_AT.get().saturating_add(items));
}

impl Kinds {
    #[expect(clippy::mutable_key_type, reason = "a pattern is known by its source, whatever matches it")]
    fn of(items: &[Object]) -> Kinds {
        let at = CHANGES.load(Ordering::Relaxed);
        let mut counted = HashMap::new();
        for item in items {
            *counted.entry(item.ty()).or_insert(0) += 1;
        }
        look_at(items.len() + counted.len());
        let union = Type::union(counted.keys().cloned());
        let at = union.holds_list().then_some(at);
        Kinds { counted, union, at }
    }

    /// Whether they still are the types of the items.
    fn are_known(&self) -> bool {
        self.at.is_none_or(|at| at == CHANGES.load(Ordering::Relaxed))
    }

    fn add(&mut self, item: &Object) {
        let ty = item.ty();
        if let Some(count) = self.counted.get_mut(&ty) {
            *count += 1;
            return;
        }
        self.counted.insert(ty.clone(), 1);
        look_at(self.union.alternatives().len());
        self.change(Type::union([self.union.clone(), ty]));
    }

    /// Whether the item was one of those that were counted.
    fn remove(&mut self, item: &Object) -> bool {
        let ty = item.ty();
        let Some(count) = self.counted.get_mut(&ty) else { return false };
        *count -= 1;
        if *count == 0 {
            self.counted.remove(&ty);
            look_at(self.counted.len());
            self.change(Type::union(self.counted.keys().cloned()));
        }
        true
    }

    /// Has another union; lists that hold this one then have another type.
    fn change(&mut self, union: Type) {
        if union == self.union {
            return;
        }
        let before = CHANGES.fetch_add(1, Ordering::Relaxed);
        let known = self.at.is_none_or(|at| at == before);
        self.union = union;
        self.at = self.union.holds_list().then_some(if known { before + 1 } else { before });
    }
}

/// What an item of a list takes: twice its place, as a list grows by doubling, and what is its own.
/// A text that many refer to counts nothing.
fn size_of_item(item: &Object) -> usize {
    const FEW: usize = 3;
    const SHARED: usize = 16;
    let text = |object: &Object| match object {
        Object::Str(text) if Arc::strong_count(text) <= FEW => SHARED + text.len(),
        _ => 0,
    };
    let parts =
        |parts: &[Object]| 2 * SHARED + parts.iter().map(|part| size_of::<Object>() + text(part)).sum::<usize>();
    let own = match item {
        Object::Tuple(items) => parts(items),
        Object::Record(record) => parts(&record.fields),
        Object::Int(Int::Big(value)) => 2 * SHARED + (value.bits() / 8) as usize,
        other => text(other),
    };
    2 * size_of::<Object>() + own
}

impl Held {
    /// The types of the items, if they are known.
    fn kinds(&mut self) -> Option<&mut Kinds> {
        if self.kinds.as_ref().is_some_and(|kinds| !kinds.are_known()) {
            self.kinds = None;
        }
        self.kinds.as_mut()
    }

    /// The items may be of other types from now on.
    fn forget_kinds(&mut self) {
        if self.kinds.take().is_some() {
            CHANGES.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn keep(&mut self, more: usize) {
        self.kept += more;
        KEPT.set(KEPT.get().saturating_add(more));
    }

    fn release(&mut self, less: usize) {
        let less = less.min(self.kept);
        self.kept -= less;
        KEPT.set(KEPT.get().saturating_sub(less));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Where the thread ends nobody counts any more.
        let _ = KEPT.try_with(|kept| kept.set(kept.get().saturating_sub(self.kept)));
    }
}

impl ListObj {
    /// A list of `items`.
    #[must_use]
    pub fn new(items: Vec<Object>) -> ListObj {
        let mut held = Held { items, kinds: None, kept: 0 };
        held.keep(held.items.len() * size_of::<Object>());
        ListObj(Mutex::new(held))
    }

    /// Begins to count anew what the lists of this thread take.
    pub fn count_anew() {
        KEPT.set(0);
    }

    /// How many items this thread has looked at for their types since it was asked the last time.
    #[must_use]
    pub fn looked_at() -> usize {
        LOOKED_AT.replace(0)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Runs `f` on the items, which it may change. `f` must not touch the same list again.
    pub fn with<R>(&self, f: impl FnOnce(&mut Vec<Object>) -> R) -> R {
        let mut held = self.held();
        held.forget_kinds();
        f(&mut held.items)
    }

    /// Runs `f` on the items. `f` must not touch the same list again.
    pub fn read<R>(&self, f: impl FnOnce(&[Object]) -> R) -> R {
        f(&self.held().items)
    }

    /// Adds an item at the end; gives it back where there are `most`, or where the lists of this
    /// thread would then take more than `bytes`.
    ///
    /// # Errors
    /// The list is full.
    pub fn append(&self, item: Object, most: usize, bytes: usize) -> Result<(), Object> {
        let mut held = self.held();
        let more = size_of_item(&item);
        if held.items.len() >= most || KEPT.get().saturating_add(more) > bytes {
            return Err(item);
        }
        held.keep(more);
        if let Some(kinds) = held.kinds() {
            kinds.add(&item);
        }
        held.items.push(item);
        Ok(())
    }

    /// Takes the last item off.
    pub fn pop(&self) -> Option<Object> {
        let mut held = self.held();
        let item = held.items.pop()?;
        if held.kinds().is_some_and(|kinds| !kinds.remove(&item)) {
            held.forget_kinds();
        }
        held.release(size_of_item(&item));
        Some(item)
    }

    /// Puts an item in the place of another; `at` is a position of the list.
    pub fn replace(&self, at: usize, item: Object) {
        let mut held = self.held();
        let old = &held.items[at];
        let (less, more) = (size_of_item(old), size_of_item(&item));
        let old = std::mem::replace(&mut held.items[at], Object::None);
        let known = held.kinds().is_none_or(|kinds| {
            kinds.add(&item);
            kinds.remove(&old)
        });
        if !known {
            held.forget_kinds();
        }
        held.items[at] = item;
        held.release(less);
        held.keep(more);
    }

    /// The type of the items.
    fn element(&self) -> Type {
        let mut held = self.held();
        if let Some(kinds) = held.kinds() {
            return kinds.union.clone();
        }
        let kinds = Kinds::of(&held.items);
        held.kinds.insert(kinds).union.clone()
    }

    /// Whether an object is this list or holds it, or is too large to say.
    #[must_use]
    pub fn is_within(&self, object: &Object) -> bool {
        const MOST: usize = 100_000;
        let mut open = vec![object.clone()];
        let mut seen = 0;
        while let Some(object) = open.pop() {
            seen += 1;
            match object {
                _ if seen > MOST => return true,
                Object::List(other) if std::ptr::eq(self, &*other) => return true,
                // What its items are is known already, mostly, and numbers and texts hold nothing.
                Object::List(other) if !other.element().holds_list() => {}
                Object::List(other) => open.extend(other.containers()),
                Object::Tuple(items) => open.extend(items.iter().filter(|item| item.is_container()).cloned()),
                Object::Dict(dict) => {
                    open.extend(
                        dict.entries.iter().map(|entry| &entry.1).filter(|value| value.is_container()).cloned(),
                    );
                }
                _ => {}
            }
        }
        false
    }

    /// Those of the items that hold others.
    #[must_use]
    pub fn containers(&self) -> Vec<Object> {
        let containers: Vec<Object> =
            self.read(|items| items.iter().filter(|item| item.is_container()).cloned().collect());
        look_at(containers.len());
        containers
    }

    /// A copy of the items.
    #[must_use]
    pub fn items(&self) -> Vec<Object> {
        self.held().items.clone()
    }
}

/// A dict in insertion order.
#[derive(Clone, Debug, Default)]
pub struct DictObj {
    entries: Vec<(Object, Object)>,
    index: HashMap<Key, usize>,
    /// The types of keys and values, once asked for, where no list can change them.
    types: OnceLock<(Arc<Type>, Arc<Type>)>,
}

/// A caught exception object.
#[derive(Debug)]
pub struct ExcObj {
    /// Its class.
    pub kind: ExcKind,
    /// Its arguments.
    pub args: Vec<Object>,
    /// Where it was raised first; a traceback ends there, wherever it is raised again.
    pub span: Span,
}

/// A hashable object reduced so that equality is Python's: `1 == 1.0 == True`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    None,
    Int(Int),
    Float(u64),
    Str(Arc<str>),
    Tuple(Vec<Key>),
    Record(Class, Vec<Key>),
}

impl Key {
    fn of(object: &Object) -> Option<Key> {
        look_at(match object {
            Object::Str(text) => 1 + text.len() / 64,
            Object::Tuple(items) => 1 + items.len(),
            _ => 1,
        });
        Some(match object {
            Object::None => Key::None,
            Object::Bool(value) => Key::Int(Int::Small(i64::from(*value))),
            Object::Int(value) => Key::Int(value.clone()),
            Object::Float(value) => match num_traits::FromPrimitive::from_f64(*value) {
                Some(big) if value.trunc() == *value => Key::Int(Int::from_big(big)),
                // NaN is a key equal only to itself by identity; it has no value here.
                _ if value.is_nan() => return None,
                _ => Key::Float(value.to_bits()),
            },
            Object::Str(text) => Key::Str(text.clone()),
            Object::Tuple(items) => Key::Tuple(items.iter().map(Key::of).collect::<Option<_>>()?),
            Object::Record(record) if record.class.is_value() => {
                Key::Record(record.class, record.fields.iter().map(Key::of).collect::<Option<_>>()?)
            }
            Object::List(_)
            | Object::Dict(_)
            | Object::Set(_)
            | Object::Pattern(_)
            | Object::Record(_)
            | Object::Exc(_)
            | Object::Unbound => return None,
        })
    }
}

impl DictObj {
    /// Inserts or replaces, keeping the first key and its position as CPython does.
    ///
    /// Returns false for a key that is unhashable or not supported (NaN).
    pub fn insert(&mut self, key: Object, value: Object) -> bool {
        let Some(reduced) = Key::of(&key) else { return false };
        self.types = OnceLock::new();
        if let Some(&at) = self.index.get(&reduced) {
            self.entries[at].1 = value;
        } else {
            self.index.insert(reduced, self.entries.len());
            self.entries.push((key, value));
        }
        true
    }

    /// The position of `key` in insertion order.
    #[must_use]
    pub fn position(&self, key: &Object) -> Option<usize> {
        self.index.get(&Key::of(key)?).copied()
    }

    /// The value stored for `key`.
    #[must_use]
    pub fn get(&self, key: &Object) -> Option<&Object> {
        Some(&self.entries[self.position(key)?].1)
    }

    /// Keys and values in insertion order.
    #[must_use]
    pub fn entries(&self) -> &[(Object, Object)] {
        &self.entries
    }

    /// The types of the keys and of the values.
    fn types(&self) -> (Arc<Type>, Arc<Type>) {
        if let Some((key, value)) = self.types.get() {
            return (Arc::clone(key), Arc::clone(value));
        }
        look_at(2 * self.entries.len());
        let key = Arc::new(Type::union(self.entries.iter().map(|entry| entry.0.ty())));
        let value = Arc::new(Type::union(self.entries.iter().map(|entry| entry.1.ty())));
        if !value.holds_list() {
            let _ = self.types.set((Arc::clone(&key), Arc::clone(&value)));
        }
        (key, value)
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Object {
    /// Whether it holds other objects.
    #[must_use]
    pub fn is_container(&self) -> bool {
        use Object::{Dict, Exc, List, Record, Set, Tuple};
        matches!(self, Tuple(_) | List(_) | Dict(_) | Set(_) | Record(_) | Exc(_))
    }

    /// A string.
    #[must_use]
    pub fn str(text: &str) -> Object {
        // Loops over characters make these over and over.
        static CHARACTERS: LazyLock<[Arc<str>; 128]> =
            LazyLock::new(|| std::array::from_fn(|byte| Arc::from(char::from(byte as u8).to_string())));
        match text.as_bytes() {
            [byte @ ..128] => Object::Str(Arc::clone(&CHARACTERS[usize::from(*byte)])),
            _ => Object::Str(Arc::from(text)),
        }
    }

    /// A small integer.
    #[must_use]
    pub fn int(value: i64) -> Object {
        Object::Int(Int::Small(value))
    }

    /// A tuple.
    #[must_use]
    pub fn tuple(items: Vec<Object>) -> Object {
        Object::Tuple(items.into())
    }

    /// A new list.
    #[must_use]
    pub fn list(items: Vec<Object>) -> Object {
        Object::List(Arc::new(ListObj::new(items)))
    }

    /// The exact type of the value; a container's element type is the join over its
    /// elements.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Object::None => Type::None,
            Object::Bool(_) => Type::Bool,
            Object::Int(_) => Type::Int,
            Object::Float(_) => Type::Float,
            Object::Str(_) => Type::Str,
            Object::Exc(_) => Type::Exc,
            Object::Pattern(pattern) => Type::Pattern(pattern.clone()),
            Object::Record(record) => Type::Record(record.class, record.fields.iter().map(Object::ty).collect()),
            Object::Unbound => Type::Unbound,
            Object::Tuple(items) => {
                look_at(items.len());
                Type::Tuple(items.iter().map(Object::ty).collect())
            }
            Object::List(list) => Type::list(list.element()),
            Object::Dict(dict) => {
                let (key, value) = dict.types();
                Type::Dict(key, value)
            }
            Object::Set(set) => Type::Set(set.members.types().0),
        }
    }
}

/// Identity of data for tests and for the folding of constants, *not* Python's `==`:
/// `1` and `True` differ, floats are compared by their bits.
impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        match (self, other) {
            (Object::None, Object::None) | (Object::Unbound, Object::Unbound) => true,
            (Object::Bool(a), Object::Bool(b)) => a == b,
            (Object::Int(a), Object::Int(b)) => a == b,
            (Object::Float(a), Object::Float(b)) => a.to_bits() == b.to_bits(),
            (Object::Str(a), Object::Str(b)) => a == b,
            (Object::Tuple(a), Object::Tuple(b)) => a == b,
            (Object::List(a), Object::List(b)) => Arc::ptr_eq(a, b) || a.items() == b.items(),
            (Object::Dict(a), Object::Dict(b)) => Arc::ptr_eq(a, b) || a.entries == b.entries,
            (Object::Set(a), Object::Set(b)) => {
                Arc::ptr_eq(a, b) || (a.frozen == b.frozen && a.members.entries == b.members.entries)
            }
            (Object::Pattern(a), Object::Pattern(b)) => a == b,
            (Object::Record(a), Object::Record(b)) => a == b,
            (Object::Exc(a), Object::Exc(b)) => a.kind == b.kind && a.args == b.args,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(at: usize) -> Object {
        Object::str(&format!("{at:0100}"))
    }

    /// How many items a list takes within a megabyte.
    fn most(item: impl Fn(usize) -> Object) -> usize {
        let list = ListObj::new(vec![]);
        (0..).take_while(|at| list.append(item(*at), usize::MAX, 1 << 20).is_ok()).count()
    }

    #[test]
    fn lists_count_what_they_keep() {
        ListObj::count_anew();
        let place = 2 * size_of::<Object>();
        assert_eq!(most(|at| Object::int(at as i64)), (1 << 20) / place);
        // What a list kept is free again when it is gone.
        assert_eq!(most(|at| Object::int(at as i64)), (1 << 20) / place);
        let texts = most(text);
        assert!(((1 << 20) / 256..(1 << 20) / 116).contains(&texts), "{texts}");
        let pairs = most(|at| Object::tuple(vec![text(at), text(at + 1)]));
        assert!(((1 << 20) / 512..(1 << 20) / 232).contains(&pairs), "{pairs}");
        // One text in many places is there once.
        let shared = vec![text(0); 8];
        assert_eq!(most(|at| shared[at % 8].clone()), (1 << 20) / place);
        // What was taken off makes room.
        let list = ListObj::new(vec![]);
        for at in 0..100_000 {
            list.append(text(at), usize::MAX, 1 << 20).expect("room");
            assert!(list.pop().is_some());
        }
        // All lists of a thread count together.
        let lists: Vec<ListObj> = (0..64).map(|_| ListObj::new(vec![])).collect();
        let taken = (0..).take_while(|at| lists[at % 64].append(Object::None, usize::MAX, 1 << 20).is_ok()).count();
        assert_eq!(taken, (1 << 20) / place);
    }
}
