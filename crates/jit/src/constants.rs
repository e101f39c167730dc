//! Constant data that native code refers to by address. The kernel owns it.

use crate::CompileError;
use crate::memo::Memo;
use crate::slots;
use crate::table::Table;
use crate::translate::Boxed;
use arrow::buffer::Buffer;
use exuvia_ir::{DictObj, Int, ListObj, Object, Pattern, Type};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::OpDef;
use exuvia_ops::list::RawList;
use exuvia_ops::text::Str;
use std::collections::HashMap;
use std::sync::Arc;

/// The constants of one kernel.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    /// The text of strings. Arrow buffers, so that long results may share them.
    texts: HashMap<Arc<str>, Buffer>,
    tables: HashMap<(usize, Type), Box<Table>>,
    /// Keeps the dicts and lists alive whose addresses are keys of `tables` and `known_lists`.
    kept: Vec<Object>,
    patterns: HashMap<Arc<Pattern>, Arc<Pattern>>,
    lists: Vec<List>,
    /// The addresses of lists by theirs: one that is held twice is one list.
    known_lists: HashMap<(usize, Type), u64>,
    words: Vec<Box<[u64]>>,
    flags: Vec<Box<[u8]>>,
    boxed: Vec<Arc<Boxed>>,
    types: Vec<Box<[Type]>>,
    memos: Vec<Arc<Memo>>,
}

/// The results of an operation for every ASCII character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByCharacter {
    /// The address of the results' words.
    pub words: u64,
    /// The address of a byte for each character that says whether there is a result; none
    /// if there always is.
    pub known: Option<u64>,
}

/// A constant list. Nothing changes it: see [`exuvia_ops::constants`].
#[derive(Debug)]
struct List {
    _header: Box<RawList>,
    /// Keeps alive what the header points to.
    _words: Box<[u64]>,
}

// SAFETY: the header points to words that the same value owns; nobody writes either.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Sync for List {}

impl Constants {
    /// The address of types, and how many they are.
    pub fn types(&mut self, types: Vec<Type>) -> (u64, usize) {
        let types = types.into_boxed_slice();
        let found = (types.as_ptr() as u64, types.len());
        self.types.push(types);
        found
    }

    /// The address of what is known of a function that keeps its results.
    pub fn memo(&mut self, memo: Memo) -> u64 {
        let memo = Arc::new(memo);
        let address = std::ptr::from_ref(&*memo) as u64;
        self.memos.push(memo);
        address
    }

    /// The words of a string.
    pub fn text(&mut self, text: &Arc<str>) -> (u64, u64) {
        let buffer = self.texts.entry(text.clone()).or_insert_with(|| Buffer::from(text.as_bytes()));
        let (_, meta) = Str::new(text).words();
        // The address of an empty buffer is not null but dangling, which is what a string
        // of no bytes needs.
        (buffer.as_ptr() as u64, meta)
    }

    /// The texts that are long enough for a view to point to them.
    pub fn shareable(&self) -> impl Iterator<Item = &Buffer> {
        self.texts.values().filter(|buffer| buffer.len() > crate::views::INLINE)
    }

    /// The table of a dict or set whose values have type `value` (none for a set).
    pub fn table(&mut self, object: &Object, value: &Type) -> Result<&Table, CompileError> {
        let (address, dict): (usize, &DictObj) = match object {
            Object::Dict(dict) => (Arc::as_ptr(dict) as usize, dict),
            Object::Set(set) => (Arc::as_ptr(set) as usize, &set.members),
            other => return Err(CompileError::malformed(format!("a table of {}", other.ty()))),
        };
        let key = (address, value.clone());
        if !self.tables.contains_key(&key) {
            let mut words = Vec::new();
            for (_, item) in dict.entries() {
                self.words(item, value, &mut words)?;
            }
            self.tables.insert(key.clone(), Table::new(dict, words));
            self.kept.push(object.clone());
        }
        Ok(&self.tables[&key])
    }

    /// The address of a pattern.
    pub fn pattern(&mut self, pattern: &Arc<Pattern>) -> u64 {
        let kept = self.patterns.entry(pattern.clone()).or_insert_with(|| pattern.clone());
        Arc::as_ptr(kept) as u64
    }

    /// The address of an operation on boxed operands.
    pub fn boxed(&mut self, call: Boxed) -> u64 {
        let call = Arc::new(call);
        let address = Arc::as_ptr(&call) as u64;
        self.boxed.push(call);
        address
    }

    /// The address of a list.
    fn list(&mut self, list: &Arc<ListObj>, element: &Type) -> Result<u64, CompileError> {
        let key = (Arc::as_ptr(list) as usize, element.clone());
        if let Some(address) = self.known_lists.get(&key) {
            return Ok(*address);
        }
        let items = list.items();
        let mut words = Vec::new();
        for item in &items {
            self.words(item, element, &mut words)?;
        }
        let mut words = words.into_boxed_slice();
        let len = items.len() as u64;
        let header = Box::new(RawList { len, cap: len, data: words.as_mut_ptr() });
        let address = std::ptr::from_ref(&*header) as u64;
        self.lists.push(List { _header: header, _words: words });
        self.known_lists.insert(key, address);
        self.kept.push(Object::List(Arc::clone(list)));
        Ok(address)
    }

    /// The results of an operation for every ASCII character in place of the operand that
    /// is `None`, or nothing if it has none.
    pub fn by_character(
        &mut self,
        def: &OpDef,
        args: &[Option<Object>],
        ty: &Type,
    ) -> Result<Option<ByCharacter>, CompileError> {
        let mut cx = Cx::for_folding();
        let mut words = Vec::new();
        let mut known = [0; 128];
        for (byte, known) in (0..128u8).zip(&mut known) {
            let character = Object::str(&char::from(byte).to_string());
            let mut full: Vec<Object> =
                args.iter().map(|arg| arg.clone().unwrap_or_else(|| character.clone())).collect();
            for param in &def.params[full.len().min(def.params.len())..] {
                let Some(default) = param.default else { return Ok(None) };
                full.push(default.object());
            }
            match (def.eval)(&mut cx, &full) {
                Ok(value) if exuvia_ir::is_constant_of(&value, ty) && !is_big(&value) => {
                    self.words(&value, ty, &mut words)?;
                    *known = 1;
                }
                _ => words.extend(std::iter::repeat_n(0, slots::count(ty))),
            }
        }
        if known == [0; 128] {
            return Ok(None);
        }
        let words = words.into_boxed_slice();
        let address = words.as_ptr() as u64;
        self.words.push(words);
        let known = (known != [1; 128]).then(|| {
            self.flags.push(Box::from(known));
            self.flags.last().map_or(0, |flags| flags.as_ptr() as u64)
        });
        Ok(Some(ByCharacter { words: address, known }))
    }

    /// Appends the words of `object` as a value of type `ty`.
    pub fn words(&mut self, object: &Object, ty: &Type, out: &mut Vec<u64>) -> Result<(), CompileError> {
        if let Type::Union(alternatives) = ty {
            let index = alternative_of(object, alternatives)
                .ok_or_else(|| CompileError::malformed(format!("a constant of {} as {ty}", object.ty())))?;
            out.push(index as u64);
            for (at, alternative) in alternatives.iter().enumerate() {
                if at == index {
                    self.words(object, alternative, out)?;
                } else {
                    out.extend(std::iter::repeat_n(0, slots::count(alternative)));
                }
            }
            return Ok(());
        }
        match (object, ty) {
            (Object::None, Type::None) | (Object::Unbound, Type::Unbound) => {}
            (Object::Bool(value), Type::Bool) => out.push(u64::from(*value)),
            (Object::Int(Int::Small(value)), Type::Int) => out.push(*value as u64),
            (Object::Int(Int::Big(_)), Type::Int) => {
                return Err(CompileError::unsupported("an integer beyond 64 bits in a constant container"));
            }
            (Object::Float(value), Type::Float) => out.push(value.to_bits()),
            (Object::Str(text), Type::Str) => {
                let (ptr, meta) = self.text(text);
                out.extend([ptr, meta]);
            }
            (Object::Exc(exc), Type::Exc) => out.push(exc.kind as u64),
            (Object::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
                for (item, ty) in items.iter().zip(types.iter()) {
                    self.words(item, ty, out)?;
                }
            }
            (Object::Record(record), Type::Record(class, types)) if record.class == *class => {
                for (field, ty) in record.fields.iter().zip(types.iter()) {
                    self.words(field, ty, out)?;
                }
            }
            (Object::Pattern(pattern), Type::Pattern(_)) => out.push(self.pattern(pattern)),
            (Object::List(list), Type::List(element)) => out.push(self.list(list, element)?),
            (Object::Dict(_), Type::Dict(_, value)) => {
                out.push(std::ptr::from_ref(self.table(object, value)?) as u64);
            }
            (Object::Set(_), Type::Set(_)) => out.push(std::ptr::from_ref(self.table(object, &Type::None)?) as u64),
            _ => return Err(CompileError::malformed(format!("a constant of {} as {ty}", object.ty()))),
        }
        Ok(())
    }
}

/// Whether the object is an integer beyond 64 bits.
fn is_big(object: &Object) -> bool {
    matches!(object, Object::Int(Int::Big(_)))
}

/// The alternative that `object` is a value of.
fn alternative_of(object: &Object, alternatives: &[Type]) -> Option<usize> {
    alternatives.iter().position(|alternative| exuvia_ir::is_constant_of(object, alternative))
}
