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
    pub unsafe fn from_words(ptr: *const u8, meta: u64) -> Str<'a> {
        Str { ptr, meta, bytes: PhantomData }
    }

    /// The two machine words.
    #[must_use]
    pub fn words(self) -> (*const u8, u64) {
        (self.ptr, self.meta)
    }

    /// The text.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        // SAFETY: `new`, `with_ascii` and the contract of `from_words` say that `ptr` and
        // the low bits of `meta` are those of a valid `&'a str`.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.ptr, self.byte_len())) }
    }

    /// The length in bytes.
    #[must_use]
    pub fn byte_len(self) -> usize {
        (self.meta & !ASCII_BIT) as usize
    }

    /// Whether the text is known to be ASCII (false: unknown).
    #[must_use]
    pub fn known_ascii(self) -> bool {
        self.meta & ASCII_BIT != 0
    }

    /// The length in code points, Python's `len`.
    #[must_use]
    pub fn char_len(self) -> usize {
        if self.known_ascii() { self.byte_len() } else { count_chars(self.as_str().as_bytes()) }
    }

    /// The byte range of the view as a view with the same flag. The range must lie on
    /// character boundaries.
    #[must_use]
    pub fn slice_bytes(self, start: usize, end: usize) -> Str<'a> {
        Str::with_ascii(&self.as_str()[start..end], self.known_ascii())
    }

    /// The byte offset of the code point with that index; the byte length if the text
    /// has no more code points.
    #[must_use]
    pub fn byte_offset(self, index: usize) -> usize {
        if self.known_ascii() {
            return index.min(self.byte_len());
        }
        self.as_str().char_indices().nth(index).map_or(self.byte_len(), |(at, _)| at)
    }

    /// The code point index of a byte offset that lies on a character boundary.
    #[must_use]
    pub fn char_index(self, offset: usize) -> usize {
        if self.known_ascii() { offset } else { count_chars(&self.as_str().as_bytes()[..offset]) }
    }
}

/// The number of code points in valid UTF-8: bytes that are not continuation bytes.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte as i8) >= -64).count()
}
