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

fn find_short(text: &[u8], needle: &[u8]) -> Option<usize> {
    let positions = text.len() - needle.len() + 1;
    let mut at = 0;
    while at + 16 <= positions {
        let mut candidates = candidates(text, needle, at);
        while candidates != 0 {
            let candidate = at + candidates.trailing_zeros() as usize;
            if agrees(text, needle, candidate) {
                return Some(candidate);
            }
            candidates &= candidates - 1;
        }
        at += 16;
    }
    if at < positions && positions >= 16 {
        // The last positions are looked at together with some that were looked at.
        let start = positions - 16;
        let mut candidates = candidates(text, needle, start) >> (at - start) << (at - start);
        while candidates != 0 {
            let candidate = start + candidates.trailing_zeros() as usize;
            if agrees(text, needle, candidate) {
                return Some(candidate);
            }
            candidates &= candidates - 1;
        }
        return None;
    }
    let (first, last, inner) = (needle[0], needle[needle.len() - 1], needle.len() - 1);
    (at..positions).find(|at| text[*at] == first && text[*at + inner] == last && agrees(text, needle, *at))
}

fn rfind_short(text: &[u8], needle: &[u8]) -> Option<usize> {
    let mut positions = text.len() - needle.len() + 1;
    while positions >= 16 {
        let start = positions - 16;
        let mut candidates = candidates(text, needle, start);
        while candidates != 0 {
            let bit = 31 - candidates.leading_zeros();
            if agrees(text, needle, start + bit as usize) {
                return Some(start + bit as usize);
            }
            candidates &= !(1 << bit);
        }
        positions = start;
    }
    let (first, last, inner) = (needle[0], needle[needle.len() - 1], needle.len() - 1);
    (0..positions).rfind(|at| text[*at] == first && text[*at + inner] == last && agrees(text, needle, *at))
}

/// A bit for each of the sixteen positions from `at` where the first and the last byte of
/// the needle agree. All of them must be positions where the needle fits.
#[cfg(target_arch = "x86_64")]
#[inline]
fn candidates(text: &[u8], needle: &[u8], at: usize) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
    };
    let last = needle.len() - 1;
    let (heads, tails) = (&text[at..at + 16], &text[at + last..at + last + 16]);
    // SAFETY: SSE2 is part of x86-64; both slices hold sixteen bytes.
    unsafe {
        let head =
            _mm_cmpeq_epi8(_mm_loadu_si128(heads.as_ptr().cast::<__m128i>()), _mm_set1_epi8(needle[0].cast_signed()));
        let tail = _mm_cmpeq_epi8(
            _mm_loadu_si128(tails.as_ptr().cast::<__m128i>()),
            _mm_set1_epi8(needle[last].cast_signed()),
        );
        _mm_movemask_epi8(_mm_and_si128(head, tail)) as u32
    }
}

/// As above, for the compiler to vectorise.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn candidates(text: &[u8], needle: &[u8], at: usize) -> u32 {
    let last = needle.len() - 1;
    let (heads, tails) = (&text[at..at + 16], &text[at + last..at + last + 16]);
    let agree = heads.iter().zip(tails).map(|(head, tail)| *head == needle[0] && *tail == needle[last]);
    agree.enumerate().fold(0, |bits, (bit, agree)| bits | u32::from(agree) << bit)
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
