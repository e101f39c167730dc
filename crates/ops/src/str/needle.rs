//! Searching bytes in bytes, for the sizes that rows have.
//!
//! The texts of a column are short (tens of bytes) and so are needles, and each search
//! starts afresh, so that preparing a searcher costs more than searching. Short texts are
//! therefore compared sixteen positions at a time by the needle's first and last byte;
//! long ones go to `memchr::memmem`.

/// Texts longer than this are worth a prepared searcher.
const LONG_TEXT: usize = 512;
/// With longer needles the comparison of candidates could take quadratic time.
const LONG_NEEDLE: usize = 32;

/// The lowest offset where the needle begins.
#[inline]
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(0),
        [byte] if text.len() < 16 => text.iter().position(|other| other == byte),
        [byte] => memchr::memchr(*byte, text),
        _ if needle.len() > text.len() => None,
        _ if text.len() > LONG_TEXT || needle.len() > LONG_NEEDLE => memchr::memmem::find(text, needle),
        _ => find_short(text, needle),
    }
}

/// The highest offset where the needle begins.
#[inline]
pub(super) fn rfind(text: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(text.len()),
        [byte] if text.len() < 16 => text.iter().rposition(|other| other == byte),
        [byte] => memchr::memrchr(*byte, text),
        _ if needle.len() > text.len() => None,
        _ if text.len() > LONG_TEXT || needle.len() > LONG_NEEDLE => memchr::memmem::rfind(text, needle),
        _ => rfind_short(text, needle),
    }
}

/// Whether two slices of one length are equal; unlike `==` not a call for short ones.
#[inline]
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() <= 8 { a.iter().zip(b).all(|(a, b)| a == b) } else { a == b }
}

/// Whether the needle begins at `at`, where its first and last bytes are known to agree.
#[inline]
fn agrees(text: &[u8], needle: &[u8], at: usize) -> bool {
    let inner = needle.len() - 1;
    same(&text[at + 1..at + inner], &needle[1..inner])
}

/// The lowest of the positions whose bits are set, counted from `start`, where the needle
/// begins.
#[inline]
fn lowest(text: &[u8], needle: &[u8], start: usize, mut bits: u32) -> Option<usize> {
    while bits != 0 {
        let at = start + bits.trailing_zeros() as usize;
        if agrees(text, needle, at) {
            return Some(at);
        }
        bits &= bits - 1;
    }
    None
}

#[inline]
fn highest(text: &[u8], needle: &[u8], start: usize, mut bits: u32) -> Option<usize> {
    while bits != 0 {
        let bit = 31 - bits.leading_zeros();
        if agrees(text, needle, start + bit as usize) {
            return Some(start + bit as usize);
        }
        bits &= !(1 << bit);
    }
    None
}

/// The needle's first and last byte, ready to be compared with sixteen bytes at once.
#[derive(Clone, Copy)]
struct Ends {
    first: Block,
    last: Block,
    /// The distance between them.
    inner: usize,
}

impl Ends {
    #[inline]
    fn new(needle: &[u8]) -> Ends {
        let inner = needle.len() - 1;
        Ends { first: splat(needle[0]), last: splat(needle[inner]), inner }
    }

    /// A bit for each of the sixteen positions from `at` where both ends agree. The needle
    /// must fit at all of them.
    #[inline]
    fn candidates(self, text: &[u8], at: usize) -> u32 {
        equal(self.first, text, at) & equal(self.last, text, at + self.inner)
    }

    /// The same for all positions of a text that has fewer than sixteen of them.
    #[inline]
    fn few_candidates(self, text: &[u8], positions: usize) -> u32 {
        let within = (1u32 << positions) - 1;
        if text.len() >= 16 {
            // The last sixteen bytes hold the end of the needle at each position, the
            // first position's as many bytes in as there are fewer positions.
            let heads = equal(self.first, text, 0);
            let tails = equal(self.last, text, text.len() - 16) >> (16 - positions);
            return heads & tails & within;
        }
        let mut buffer = [0; 32];
        buffer[..text.len()].copy_from_slice(text);
        equal(self.first, &buffer, 0) & equal(self.last, &buffer, self.inner) & within
    }
}

fn find_short(text: &[u8], needle: &[u8]) -> Option<usize> {
    let positions = text.len() - needle.len() + 1;
    let ends = Ends::new(needle);
    if positions < 16 {
        return lowest(text, needle, 0, ends.few_candidates(text, positions));
    }
    let mut at = 0;
    while at + 16 < positions {
        if let Some(found) = lowest(text, needle, at, ends.candidates(text, at)) {
            return Some(found);
        }
        at += 16;
    }
    // The last positions are looked at together with some that were looked at before.
    lowest(text, needle, positions - 16, ends.candidates(text, positions - 16))
}

fn rfind_short(text: &[u8], needle: &[u8]) -> Option<usize> {
    let mut positions = text.len() - needle.len() + 1;
    let ends = Ends::new(needle);
    if positions < 16 {
        return highest(text, needle, 0, ends.few_candidates(text, positions));
    }
    while positions > 16 {
        positions -= 16;
        if let Some(found) = highest(text, needle, positions, ends.candidates(text, positions)) {
            return Some(found);
        }
    }
    highest(text, needle, 0, ends.candidates(text, 0))
}

#[cfg(target_arch = "x86_64")]
type Block = std::arch::x86_64::__m128i;

#[cfg(target_arch = "x86_64")]
#[inline]
fn splat(byte: u8) -> Block {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { std::arch::x86_64::_mm_set1_epi8(byte.cast_signed()) }
}

/// A bit for each of the sixteen bytes from `at` that is the block's.
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal(block: Block, text: &[u8], at: usize) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};
    let bytes = &text[at..at + 16];
    // SAFETY: SSE2 is part of x86-64; the slice holds sixteen bytes.
    unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_loadu_si128(bytes.as_ptr().cast::<Block>()))) as u32 }
}

#[cfg(not(target_arch = "x86_64"))]
type Block = u8;

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn splat(byte: u8) -> Block {
    byte
}

/// As above, for the compiler to vectorise.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn equal(block: Block, text: &[u8], at: usize) -> u32 {
    let bytes = &text[at..at + 16];
    bytes.iter().enumerate().fold(0, |bits, (bit, byte)| bits | u32::from(*byte == block) << bit)
}

#[cfg(test)]
mod tests {
    /// Every needle of up to 40 bytes in texts of every length around the block size,
    /// over an alphabet so small that candidates abound.
    #[test]
    fn short_searches_agree_with_the_obvious() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for round in 0..40_000 {
            let text: Vec<u8> = (0..random() % 70).map(|_| b'a' + (random() % 2) as u8).collect();
            let needle: Vec<u8> = if round % 2 == 0 && !text.is_empty() {
                let start = random() % text.len();
                text[start..(start + random() % 40).min(text.len())].to_vec()
            } else {
                (0..random() % 6).map(|_| b'a' + (random() % 2) as u8).collect()
            };
            let fits = |at: &usize| text[*at..].starts_with(&needle);
            assert_eq!(super::find(&text, &needle), (0..=text.len()).find(fits), "{text:?} {needle:?}");
            assert_eq!(super::rfind(&text, &needle), (0..=text.len()).rfind(fits), "{text:?} {needle:?}");
        }
    }
}
