//! Calling the entry of native code with words.

use crate::inputs::Random;
use exuvia_ir::{Int, Object};
use exuvia_ops::adapt::{FloatList, IntList, Pair, Returned, TextList};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Body, Kind, OpDef};
use exuvia_ops::list::RawList;
use exuvia_ops::text::Str;

/// Stands for the status of a call whose operands have no words: integers beyond 64 bits.
pub const IMPOSSIBLE: u64 = u64::MAX;

/// The result of the native entry, or its status; `None` where the operation has no such
/// entry or takes something that has no words here.
pub fn call(def: &OpDef, args: &[Object], random: &mut Random) -> Option<Result<Object, u64>> {
    let Body::Kernel { invoke, result, .. } = def.body else { return None };
    let mut cx = Cx::for_folding();
    // Where the operands do not fit native code would not have come this far.
    let Some(words) = words(&mut cx, def, args, random) else { return Some(Err(IMPOSSIBLE)) };
    // SAFETY: the words are those of operands of the parameters' kinds, which live in
    // `args` and in the context.
    let Pair(first, second) = unsafe { invoke(&mut cx, &words) };
    if result == Kind::Str {
        if first == 0 {
            return Some(Err(second));
        }
        // SAFETY: the words are those of a string of the operands, of the arena or of a
        // constant.
        let text = unsafe { Str::from_words(first as *const u8, second) };
        assert!(!text.known_ascii() || text.as_str().is_ascii(), "{}: the flag is wrong", def.name);
        return Some(Ok(Object::str(std::str::from_utf8(text.as_bytes()).expect("valid UTF-8"))));
    }
    if first != 0 {
        return Some(Err(first));
    }
    Some(Ok(match result {
        Kind::Bool => Object::Bool(second != 0),
        Kind::Int => Object::int(second as i64),
        Kind::Float => Object::Float(f64::from_bits(second)),
        Kind::StrList => TextList(second as *mut RawList).object(),
        Kind::IntList => IntList(second as *mut RawList).object(),
        Kind::FloatList => FloatList(second as *mut RawList).object(),
        other => panic!("a result of kind {other:?}"),
    }))
}

fn words(cx: &mut Cx, def: &OpDef, args: &[Object], random: &mut Random) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    for (arg, param) in args.iter().zip(def.params) {
        match arg {
            Object::None => {}
            Object::Bool(value) => words.push(u64::from(*value)),
            Object::Int(Int::Small(value)) => words.push(*value as u64),
            // A bound is clamped before native code passes it on.
            Object::Int(value @ Int::Big(_)) if param.kind == Kind::Index => words.push(value.clamp_i64() as u64),
            Object::Int(Int::Big(_)) => return None,
            Object::Float(value) => words.push(value.to_bits()),
            Object::Str(text) => words.extend(text_words(text, random)),
            Object::Pattern(pattern) => words.push(std::sync::Arc::as_ptr(pattern) as u64),
            Object::List(list) => {
                let items = list.items();
                let slots = usize::from(matches!(items.first(), Some(Object::Str(_)))) + 1;
                let raw = RawList::new(cx, items.len(), slots).expect("memory");
                for item in &items {
                    let item = match item {
                        Object::Str(text) => text_words(text, random).to_vec(),
                        Object::Int(Int::Small(value)) => vec![*value as u64],
                        Object::Float(value) => vec![value.to_bits()],
                        _ => return None,
                    };
                    // SAFETY: the list is live, and `push` gives room for an element.
                    unsafe {
                        let to = (*raw).push(cx, slots).expect("memory");
                        to.copy_from_nonoverlapping(item.as_ptr(), slots);
                    }
                }
                words.push(raw as u64);
            }
            _ => return None,
        }
    }
    Some(words)
}

/// The words of a text; that it is ASCII is sometimes unknown.
fn text_words(text: &str, random: &mut Random) -> [u64; 2] {
    let view = if random.one_in(2) { Str::with_ascii(text, false) } else { Str::new(text) };
    let (ptr, meta) = view.words();
    [ptr as u64, meta]
}
