//! String views: how native code and kernels see a Python `str`.

use std::marker::PhantomData;

/// A borrowed string of valid UTF-8: where it starts, how many bytes it has, and
/// whether it is known to be ASCII.
///
/// Two machine words. `meta` holds the length in bytes in its low 63 bits; the top bit
/// set means *known to be ASCII*, clear means *unknown*: an operation that cannot tell
/// cheaply leaves it clear, and a kernel that finds it clear must be right for any text.
/// The pointer is never null (a null pointer is how a kernel reports a raise).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Str<'a> {
    ptr: *const u8,
    meta: u64,
    bytes: PhantomData<&'a [u8]>,
}

/// The bit of [`Str`]'s `meta` that says the text is known to be ASCII.
pub const ASCII_BIT: u64 = 1 << 63;

impl<'a> Str<'a> {
    /// A view of `text`; looks whether it is ASCII.
    #[must_use]
    pub fn new(text: &'a str) -> Str<'a> {
        Str::with_ascii(text, text.is_ascii())
    }

    /// A view of `text` with the flag as given: `ascii` may be true only if it is so.
    #[must_use]
    #[inline]
    pub fn with_ascii(text: &'a str, ascii: bool) -> Str<'a> {
        debug_assert!(!ascii || text.is_ascii());
        let flag = if ascii { ASCII_BIT } else { 0 };
        Str { ptr: text.as_ptr(), meta: text.len() as u64 | flag, bytes: PhantomData }
    }

    /// Rebuilds a view from its words.
    ///
    /// # Safety
    /// The words must come from [`Str::words`] of a view whose text outlives `'a`.
    #[must_use]
    #[inline]
    pub unsafe fn from_words(ptr: *const u8, meta: u64) -> Str<'a> {
        Str { ptr, meta, bytes: PhantomData }
    }

    /// The two machine words.
    #[must_use]
    #[inline]
    pub fn words(self) -> (*const u8, u64) {
        (self.ptr, self.meta)
    }

    /// The text.
    #[must_use]
    #[inline]
    pub fn as_str(self) -> &'a str {
        // SAFETY: `new`, `with_ascii` and the contract of `from_words` say that `ptr` and
        // the low bits of `meta` are those of a valid `&'a str`.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.ptr, self.byte_len())) }
    }

    /// The bytes of the text.
    #[must_use]
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.as_str().as_bytes()
    }

    /// The length in bytes.
    #[must_use]
    #[inline]
    pub fn byte_len(self) -> usize {
        (self.meta & !ASCII_BIT) as usize
    }

    /// Whether the text is known to be ASCII (false: unknown).
    #[must_use]
    #[inline]
    pub fn known_ascii(self) -> bool {
        self.meta & ASCII_BIT != 0
    }

    /// The length in code points, Python's `len`.
    #[must_use]
    #[inline]
    pub fn char_len(self) -> usize {
        if self.known_ascii() { self.byte_len() } else { count_chars(self.as_bytes()) }
    }

    /// The byte range of the view as a view with the same flag. The range must lie on
    /// character boundaries.
    #[must_use]
    #[inline]
    pub fn slice_bytes(self, start: usize, end: usize) -> Str<'a> {
        Str::with_ascii(&self.as_str()[start..end], self.known_ascii())
    }

    /// Whether the text is ASCII; looks where it is not known.
    #[must_use]
    #[inline]
    pub fn is_ascii(self) -> bool {
        self.known_ascii() || self.as_bytes().is_ascii()
    }

    /// The byte offset of the code point with that index; the byte length if the text
    /// has no more code points.
    #[must_use]
    #[inline]
    pub fn byte_offset(self, index: usize) -> usize {
        if self.known_ascii() {
            return index.min(self.byte_len());
        }
        nth_char(self.as_bytes(), index)
    }

    /// The code point index of a byte offset that lies on a character boundary.
    #[must_use]
    #[inline]
    pub fn char_index(self, offset: usize) -> usize {
        if self.known_ascii() { offset } else { count_chars(&self.as_bytes()[..offset]) }
    }
}

/// How many bytes are ASCII before the first that is not.
pub(crate) fn ascii_run(bytes: &[u8]) -> usize {
    let is_ascii = |word: &&[u8]| word.is_ascii();
    let whole = 16 * bytes.chunks_exact(16).take_while(is_ascii).count();
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

/// Up to eight bytes as a word, the first one lowest, zeros behind them: overlapping reads
/// instead of a loop.
#[inline]
pub(crate) fn short_word(bytes: &[u8]) -> u64 {
    let four = |at: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[at..at + 4]);
        u64::from(u32::from_le_bytes(word))
    };
    let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
    match bytes.len() {
        0 => 0,
        len @ 1..4 => byte(0) | byte(len / 2) | byte(len - 1),
        len => four(0) | four(len - 4) << (8 * (len - 4)),
    }
}

/// The number of code points in valid UTF-8: bytes that are not continuation bytes.
fn count_chars(bytes: &[u8]) -> usize {
    let mut words = bytes.chunks_exact(8);
    let mut count = 0;
    for word in &mut words {
        count += leading_bytes(word) as usize;
    }
    count + words.remainder().iter().filter(|byte| (**byte as i8) >= -64).count()
}

/// How many of eight bytes begin a code point.
#[inline]
fn leading_bytes(word: &[u8]) -> u32 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(word);
    let word = u64::from_le_bytes(bytes);
    // A continuation byte has its top bit set and the next one clear.
    let continuation = (word >> 7) & !(word >> 6) & 0x0101_0101_0101_0101;
    8 - continuation.count_ones()
}

/// The offset of the code point with that index in valid UTF-8; the length if there are
/// no more.
fn nth_char(bytes: &[u8], index: usize) -> usize {
    let (mut at, mut left) = (0, index);
    while let Some(word) = bytes.get(at..at + 8) {
        let count = leading_bytes(word) as usize;
        if count > left {
            break;
        }
        left -= count;
        at += 8;
    }
    for (offset, byte) in bytes[at..].iter().enumerate() {
        if (*byte as i8) >= -64 {
            if left == 0 {
                return at + offset;
            }
            left -= 1;
        }
    }
    bytes.len()
}

/// Whether two texts are equal: short ones, which keys mostly are, by words and without a call.
#[inline]
#[must_use]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && match (a, b) {
            ([a], [b]) => a == b,
            ([a, c], [b, d]) => a == b && c == d,
            ([a, c, e], [b, d, f]) => a == b && c == d && e == f,
            ([], _) => true,
            _ if a.len() < 8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
            _ if a.len() <= 16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
            _ => a == b,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_ascii() {
        for (text, run) in [
            ("", 0),
            ("é", 0),
            ("abc", 3),
            ("0123456789abcdefé", 16),
            ("0123456789abcdé", 14),
            ("0123456789abcdef0123456789abcdefxyzé", 35),
        ] {
            assert_eq!(ascii_run(text.as_bytes()), run, "{text}");
        }
    }

    #[test]
    fn short_words() {
        for len in 0..=8 {
            let mut bytes = [0; 8];
            bytes[..len].copy_from_slice(&b"\x81bc\xffefgh"[..len]);
            assert_eq!(short_word(&bytes[..len]), u64::from_le_bytes(bytes), "{len}");
        }
    }

    #[test]
    fn offsets_and_indices_are_those_of_the_characters() {
        let text = "aé€𝄞 plain ascii in between éé€€𝄞𝄞 and after it all";
        let view = Str::with_ascii(text, false);
        let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        assert_eq!(view.char_len(), offsets.len() - 1);
        for (index, offset) in offsets.iter().enumerate() {
            assert_eq!((view.byte_offset(index), view.char_index(*offset)), (*offset, index));
        }
        assert_eq!(view.byte_offset(1000), text.len());
    }
}
