//! Searching bytes in bytes, for the sizes that rows have.
//!
//! The texts of a column are short (tens of bytes) and so are needles, and each search
//! starts afresh, so that preparing a searcher costs more than searching. Short texts are
//! therefore compared sixteen positions at a time by the needle's first and last byte;
//! long ones go to `memchr::memmem`.

/// Texts longer than this are worth a prepared searcher.
const LONG_TEXT: usize = 512;
/// How far a long text is searched without one: where there are many places the next is near.
const NEAR: usize = 128;
/// With longer needles the comparison of candidates could take quadratic time.
const LONG_NEEDLE: usize = 32;

/// The lowest offset where the needle begins.
#[inline]
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(0),
        [byte] if text.len() < 16 => text.iter().position(|other| other == byte),
        [byte] if text.len() <= 64 => match occurrences(text, *byte) {
            0 => None,
            bits => Some(bits.trailing_zeros() as usize),
        },
        [byte] => memchr::memchr(*byte, text),
        _ if needle.len() > text.len() => None,
        _ if needle.len() > LONG_NEEDLE => memchr::memmem::find(text, needle),
        _ if text.len() > LONG_TEXT => find_short(&text[..NEAR], needle).or_else(|| {
            let from = NEAR + 1 - needle.len();
            Some(from + memchr::memmem::find(&text[from..], needle)?)
        }),
        _ => find_short(text, needle),
    }
}

/// How often the needle, of several bytes, occurs.
pub(super) fn count(text: &[u8], needle: &[u8]) -> i64 {
    /// Places after which it is known how near they are.
    const SEEN: i64 = 4;
    let (mut rest, mut count) = (text, 0);
    while count < SEEN {
        let Some(at) = find(rest, needle) else { return count };
        count += 1;
        rest = &rest[at + needle.len()..];
    }
    // Where there are many, each search costs more than the bytes up to the next place.
    if text.len() - rest.len() < SEEN as usize * (needle.len() + 8) {
        count + count_near(rest, needle)
    } else {
        count + memchr::memmem::find_iter(rest, needle).count() as i64
    }
}

/// How often the needle occurs, place by place.
fn count_near(text: &[u8], needle: &[u8]) -> i64 {
    let (mut at, mut count) = (0, 0);
    while let Some(part) = text.get(at..at + needle.len()) {
        if part[0] == needle[0] && same(part, needle) {
            count += 1;
            at += needle.len();
        } else {
            at += 1;
        }
    }
    count
}

/// The highest offset where the needle begins.
#[inline]
pub(super) fn rfind(text: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(text.len()),
        [byte] if text.len() < 16 => text.iter().rposition(|other| other == byte),
        [byte] if text.len() <= 64 => match occurrences(text, *byte) {
            0 => None,
            bits => Some(63 - bits.leading_zeros() as usize),
        },
        [byte] => memchr::memrchr(*byte, text),
        _ if needle.len() > text.len() => None,
        _ if text.len() > LONG_TEXT || needle.len() > LONG_NEEDLE => memchr::memmem::rfind(text, needle),
        _ => rfind_short(text, needle),
    }
}

/// A bit for each place of a byte in 16 to 64 bytes.
#[inline]
fn occurrences(text: &[u8], byte: u8) -> u64 {
    let wanted = splat(byte);
    let block = |at: usize| u64::from(equal(wanted, text, at)) << at;
    let last = text.len() - 16;
    // The last block begins within the one before it.
    (0..last).step_by(16).fold(block(last), |bits, at| bits | block(at))
}

/// Whether two slices of one length are equal; unlike `==` not a call for short ones, and
/// without a loop: words at both ends, which overlap where the length is no power of two.
#[inline]
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    let (long, short) = (|text: &[u8], at: usize| word::<8>(text, at), |text: &[u8], at: usize| word::<4>(text, at));
    match a.len() {
        0 => true,
        len @ 1..4 => a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1],
        len @ 4..8 => short(a, 0) == short(b, 0) && short(a, len - 4) == short(b, len - 4),
        len @ 8..=16 => long(a, 0) == long(b, 0) && long(a, len - 8) == long(b, len - 8),
        _ => a == b,
    }
}

#[inline]
fn word<const N: usize>(text: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&text[at..at + N]);
    u64::from_le_bytes(bytes)
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
    // Two blocks at once: they do not wait for each other, and there is one branch.
    while at + 32 <= positions {
        let bits = ends.candidates(text, at) | ends.candidates(text, at + 16) << 16;
        if bits != 0
            && let Some(found) = lowest(text, needle, at, bits)
        {
            return Some(found);
        }
        at += 32;
    }
    if at == positions {
        return None;
    }
    if at + 16 < positions {
        // The second block begins within the first one.
        let last = positions - 16 - at;
        let bits = ends.candidates(text, at) | ends.candidates(text, at + last) << last;
        return lowest(text, needle, at, bits);
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
    while positions >= 32 {
        positions -= 32;
        let bits = ends.candidates(text, positions) | ends.candidates(text, positions + 16) << 16;
        if bits != 0
            && let Some(found) = highest(text, needle, positions, bits)
        {
            return Some(found);
        }
    }
    if positions == 0 {
        return None;
    }
    // What is left are fewer than 32 positions: two blocks, the second within the first,
    // or one that holds some that were looked at before.
    let last = positions.saturating_sub(16);
    highest(text, needle, 0, ends.candidates(text, 0) | ends.candidates(text, last) << last)
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
        for len in 0..=70 {
            for byte in [0, b'a', 0x80, 0xff] {
                let mut text = vec![b'b'; len];
                assert_eq!((super::find(&text, &[byte]), super::rfind(&text, &[byte])), (None, None));
                for (first, last) in [(0, 0), (len / 3, len / 2), (len / 2, len.saturating_sub(1))] {
                    if last < len {
                        text.fill(byte ^ 1);
                        (text[first], text[last]) = (byte, byte);
                        let found = (super::find(&text, &[byte]), super::rfind(&text, &[byte]));
                        assert_eq!(found, (Some(first), Some(last)), "{text:?}");
                    }
                }
            }
        }
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
