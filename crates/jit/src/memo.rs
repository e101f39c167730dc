//! Functions that keep their results: what native code calls for it (see [`exuvia_ops::memo`]).
//!
//! A key is the words of the parameters that belong to it. Words that say the same are made equal first:
//! a text becomes the one of the memos that is equal to it, and of a union only what it holds counts.

use crate::slots;
use exuvia_ir::{Function, Type};
use exuvia_ops::adapt::{Pair, call_fallible};
use exuvia_ops::cx::{Cx, KernelResult};
use exuvia_ops::text::Str;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is known of a function that keeps its results.
#[derive(Debug)]
pub(crate) struct Memo {
    /// A number that no other function has in this process: a context may serve several kernels.
    function: u64,
    /// The type of its keys, a tuple.
    key: Type,
    result: Type,
    /// Their words, and whether each of them has parts that are settled first.
    key_words: usize,
    result_words: usize,
    settles: [bool; 2],
}

/// Whether words of a type may say the same and be others.
fn is_settled(ty: &Type) -> bool {
    match ty {
        Type::Str | Type::Union(_) => true,
        Type::Tuple(types) | Type::Record(_, types) => types.iter().any(is_settled),
        _ => false,
    }
}

/// The words that a key or a result may have.
const MOST_WORDS: usize = 64;

impl Memo {
    /// Of a function that has one.
    pub fn of(function: &Function) -> Option<Memo> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let keys = function.keeps.as_ref()?;
        let keys = function.param_types().into_iter().zip(keys).filter(|(_, is_key)| **is_key).map(|(ty, _)| ty);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (key, result) = (Type::Tuple(keys.collect()), function.ret.clone());
        Some(Memo {
            function: number,
            key_words: slots::count(&key),
            result_words: slots::count(&result),
            settles: [is_settled(&key), is_settled(&result)],
            key,
            result,
        })
    }

    /// Whether keys or results have more words than native code keeps.
    pub fn is_wide(&self) -> bool {
        self.key_words().max(self.result_words()) > MOST_WORDS
    }

    pub fn key_words(&self) -> usize {
        self.key_words
    }

    pub fn result_words(&self) -> usize {
        self.result_words
    }
}

/// Looks for what a function has kept: status, and whether `result` holds it now. The words of the key
/// change as the module says.
///
/// # Safety
/// `cx` must be the address of a context that nothing else uses during the call, `memo` that of a memo, `key`
/// that of the words of live values of its types, and `result` that of room for those of a result.
pub(crate) unsafe extern "C" fn find(cx: *mut Cx, memo: *const Memo, key: *mut u64, result: *mut u64) -> Pair {
    // SAFETY: the caller vouches for all of them.
    let find = |cx: &mut Cx| unsafe {
        let memo = &*memo;
        let key = words(key, memo.key_words());
        if memo.settles[0] {
            settle(cx, &memo.key, key, true)?;
        }
        let results = memo.result_words();
        let found = cx.memos.find(memo.function, key, results);
        let Some(found) = found else { return Ok(false) };
        // A few words: a loop is sooner there than a call.
        for (to, from) in words(result, results).iter_mut().zip(found) {
            *to = *from;
        }
        Ok(true)
    };
    // SAFETY: as above.
    unsafe { call_fallible(cx, find) }
}

/// Keeps a result: status.
///
/// # Safety
/// As [`find`], which has been called with the key; `result` must be the address of the words of a live value.
pub(crate) unsafe extern "C" fn keep(cx: *mut Cx, memo: *const Memo, key: *mut u64, result: *mut u64) -> Pair {
    // SAFETY: the caller vouches for all of them.
    let keep = |cx: &mut Cx| unsafe {
        let memo = &*memo;
        let (key, result) = (words(key, memo.key_words()), words(result, memo.result_words()));
        if memo.settles[1] {
            settle(cx, &memo.result, result, false)?;
        }
        let limit = cx.limit();
        cx.memos.keep(memo.function, key, result, limit)?;
        Ok(true)
    };
    // SAFETY: as above.
    unsafe { call_fallible(cx, keep) }
}

/// # Safety
/// `start` must be the address of so many words that nothing else uses, if there are any.
unsafe fn words<'a>(start: *mut u64, count: usize) -> &'a mut [u64] {
    // SAFETY: the caller vouches for the words.
    if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start, count) } }
}

/// Makes texts those of the memos; in a key, words that say the same become equal.
///
/// # Safety
/// The words must be those of a live value of the type.
unsafe fn settle(cx: &mut Cx, ty: &Type, words: &mut [u64], is_key: bool) -> KernelResult<()> {
    match ty {
        Type::Str => {
            // SAFETY: the caller vouches for the words.
            let text = unsafe { Str::from_words(words[0] as *const u8, words[1]) };
            let limit = cx.limit();
            let kept = cx.memos.keep_text(text.as_bytes(), limit)?;
            words[0] = kept.as_ptr() as u64;
            if is_key {
                words[1] = kept.len() as u64;
            }
        }
        Type::Tuple(types) | Type::Record(_, types) => {
            let mut rest = words;
            for ty in types.iter() {
                let (own, others) = rest.split_at_mut(slots::count(ty));
                // SAFETY: as above.
                unsafe { settle(cx, ty, own, is_key) }?;
                rest = others;
            }
        }
        Type::Union(types) => {
            let holds = (words[0] as usize).min(types.len());
            let start = slots::alternative_start(types, holds);
            let end = start + types.get(holds).map_or(0, slots::count);
            if is_key {
                words[1..start].fill(0);
                words[end..].fill(0);
            }
            if let Some(ty) = types.get(holds) {
                // SAFETY: as above; the tag says which of the alternatives is alive.
                unsafe { settle(cx, ty, &mut words[start..end], is_key) }?;
            }
        }
        _ => {}
    }
    Ok(())
}
