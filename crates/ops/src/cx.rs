//! What a kernel gets besides its operands: memory for results that live as long as
//! the row, and the manner of reporting exceptions.

use crate::text::Str;
use exuvia_ir::{ExcKind, Object, Raise};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The result of a kernel that may raise.
pub type KernelResult<T> = Result<T, Raise>;

/// The context of one thread that runs kernels.
///
/// It is passed by address to native code, which reads no field of it.
#[derive(Debug)]
pub struct Cx {
    chunks: Vec<Box<[u64]>>,
    current: usize,
    used: usize,
    limit: usize,
    allocated: usize,
    want_message: bool,
    poisoned: bool,
    interrupt: Arc<AtomicBool>,
}

/// The size of the first chunk of the arena; later ones double.
const FIRST_CHUNK: usize = 64 << 10;

impl Cx {
    /// A context whose arena may grow to `limit` bytes. `want_message` says whether
    /// somebody looks at the messages of exceptions: the evaluator does, native code
    /// does not.
    #[must_use]
    pub fn new(limit: usize, want_message: bool, interrupt: Arc<AtomicBool>) -> Cx {
        Cx { chunks: Vec::new(), current: 0, used: 0, limit, allocated: 0, want_message, poisoned: false, interrupt }
    }

    /// A context for tests and folding: messages wanted, 64 MiB, never interrupted.
    #[must_use]
    pub fn for_folding() -> Cx {
        Cx::new(64 << 20, true, Arc::new(AtomicBool::new(false)))
    }

    /// Forgets everything allocated: called before each row.
    pub fn reset(&mut self) {
        self.current = 0;
        self.used = 0;
    }

    /// The bytes held by the arena.
    #[must_use]
    pub fn allocated(&self) -> usize {
        self.allocated
    }

    /// Whether the query was cancelled or ran out of its time.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Notes that a kernel panicked: results since the last look are worthless.
    pub fn poison(&mut self) {
        self.poisoned = true;
    }

    /// Whether a kernel panicked since the last call of this.
    pub fn take_poison(&mut self) -> bool {
        std::mem::take(&mut self.poisoned)
    }

    /// Memory for `size` bytes, aligned to 8, that lives until [`Cx::reset`]. Its
    /// content is arbitrary but initialised.
    ///
    /// # Errors
    /// Bails out when the limit is reached, so that a more general rung decides
    /// whether this is a `MemoryError`.
    pub fn alloc(&mut self, size: usize) -> KernelResult<*mut u8> {
        let size = size.checked_add(7).ok_or(Raise::Bailout("memory limit of the row"))? & !7;
        loop {
            if let Some(chunk) = self.chunks.get_mut(self.current) {
                if chunk.len() * 8 - self.used >= size {
                    let ptr = chunk[self.used / 8..].as_mut_ptr().cast::<u8>();
                    self.used += size;
                    return Ok(ptr);
                }
                if self.current + 1 < self.chunks.len() {
                    self.current += 1;
                    self.used = 0;
                    continue;
                }
            }
            let next = self.chunks.last().map_or(FIRST_CHUNK, |chunk| chunk.len() * 16).max(size + 8);
            if self.allocated + next > self.limit.max(FIRST_CHUNK) {
                return Err(Raise::Bailout("memory limit of the row"));
            }
            self.allocated += next;
            self.chunks.push(vec![0u64; next / 8].into_boxed_slice());
            self.current = self.chunks.len() - 1;
            self.used = 0;
        }
    }

    /// A copy of `text` in the arena.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn store<'a>(&mut self, text: &str) -> KernelResult<Str<'a>> {
        let ptr = self.alloc(text.len())?;
        // SAFETY: `alloc` gave `text.len()` bytes, which nothing else refers to; the view
        // ends with the row, as the arena's contents do.
        unsafe {
            ptr.copy_from_nonoverlapping(text.as_ptr(), text.len());
            let copy = std::str::from_utf8_unchecked(std::slice::from_raw_parts(ptr, text.len()));
            Ok(Str::new(copy))
        }
    }

    /// An exception; the message is built only if somebody will look.
    pub fn raise(&self, kind: ExcKind, message: impl FnOnce() -> String) -> Raise {
        let args = if self.want_message { vec![Object::str(&message())] } else { Vec::new() };
        Raise::Exception { kind, args }
    }
}
