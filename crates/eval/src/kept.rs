//! What functions keep of their results while a row runs (see [`exuvia_ir::Function::keeps`]).

use exuvia_ir::{FuncId, Int, Object, Raise};
use std::collections::HashMap;

/// The bytes that an entry takes besides its key, about.
const ENTRY: usize = 96;

/// The results, by what tells a call of the function from others.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    results: HashMap<(FuncId, Vec<u8>), Object>,
    bytes: usize,
}

impl Kept {
    /// Forgets all of them: another row begins.
    pub(crate) fn clear(&mut self) {
        if !self.results.is_empty() {
            *self = Kept::default();
        }
    }

    pub(crate) fn find(&self, key: &(FuncId, Vec<u8>)) -> Option<&Object> {
        self.results.get(key)
    }

    /// # Errors
    /// Bails out where they take more bytes than `limit`.
    pub(crate) fn keep(&mut self, key: (FuncId, Vec<u8>), result: Object, limit: usize) -> Result<(), Raise> {
        self.bytes += key.1.len() + ENTRY + text_bytes(&result);
        if self.bytes > limit {
            return Err(Raise::ROW_MEMORY);
        }
        self.results.insert(key, result);
        Ok(())
    }
}

fn text_bytes(object: &Object) -> usize {
    match object {
        Object::Str(text) => text.len(),
        Object::Tuple(items) => items.iter().map(|item| ENTRY + text_bytes(item)).sum(),
        _ => 0,
    }
}

/// What tells the call of a function with these arguments from its others; `None` where one of them could
/// change.
pub(crate) fn key(function: FuncId, args: &[Object], keys: &[bool]) -> Option<(FuncId, Vec<u8>)> {
    let mut out = Vec::new();
    for (arg, _) in args.iter().zip(keys).filter(|(_, is_key)| **is_key) {
        write(arg, &mut out)?;
    }
    Some((function, out))
}

/// Writes what an object is, so that no two different ones look alike.
fn write(object: &Object, out: &mut Vec<u8>) -> Option<()> {
    let sized = |out: &mut Vec<u8>, tag: u8, len: usize| {
        out.push(tag);
        out.extend_from_slice(&(len as u64).to_le_bytes());
    };
    match object {
        Object::None => out.push(0),
        Object::Bool(value) => out.extend([1, u8::from(*value)]),
        Object::Int(Int::Small(value)) => {
            out.push(2);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Object::Int(Int::Big(value)) => {
            let bytes = value.to_signed_bytes_le();
            sized(out, 3, bytes.len());
            out.extend_from_slice(&bytes);
        }
        Object::Float(value) => {
            out.push(4);
            out.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Object::Str(text) => {
            sized(out, 5, text.len());
            out.extend_from_slice(text.as_bytes());
        }
        Object::Tuple(items) => {
            sized(out, 6, items.len());
            items.iter().try_for_each(|item| write(item, out))?;
        }
        // The types of a function's parameters say the class.
        Object::Record(record) => {
            sized(out, 7, record.fields.len());
            record.fields.iter().try_for_each(|field| write(field, out))?;
        }
        _ => return None,
    }
    Some(())
}
