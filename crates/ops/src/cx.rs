//! What a kernel gets besides its operands: memory for results that live as long as
//! the row, and the manner of reporting exceptions.

use crate::def::{OpDef, status};
use crate::memo::Memos;
use crate::places::{LONG, Places};
use crate::text::Str;
use exuvia_ir::{ExcKind, Object, Raise};
use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The result of a kernel that may raise.
pub type KernelResult<T> = Result<T, Raise>;

/// The context of one thread that runs kernels.
///
/// It is passed by address to native code, which touches no field of it but those that [`Cx::PLACE`] and [`Cx::FREE`] name.
#[derive(Debug)]
pub struct Cx {
    chunks: Vec<Box<[u64]>>,
    current: usize,
    /// The bytes of the chunks before the current one.
    before: usize,
    /// Where the current chunk begins, and its bytes; zero while there is none.
    start: usize,
    size: usize,
    /// The bytes of the current chunk that are taken.
    used: usize,
    /// The offset in the current chunk behind the text that was put there last, or 0 if
    /// something else was.
    text_end: usize,
    /// Texts that were copied to be appended to, the last of them first.
    growing: [Growing; GROWING],
    /// How many of these there are.
    grown: usize,
    limit: usize,
    allocated: usize,
    /// How many rows have needed more than the limit, and how often the arena was reset.
    missed: usize,
    resets: usize,
    want_message: bool,
    poisoned: bool,
    interrupt: Arc<AtomicBool>,
    /// When what is evaluated must end, where nobody waits for it.
    until: Option<Instant>,
    /// How many threads may work on one large array.
    threads: usize,
    places: Places,
    /// Where the members of an object of JSON lie that was searched last, and behind which of them the key
    /// stood: a loop over its keys finds the next one there.
    pub(crate) json_found: (usize, usize),
    /// What functions have kept of their results.
    pub memos: Memos,
    /// Where lists are sorted.
    pub(crate) sorting: crate::sort::Scratch,
}

/// Where almost all rows need more than the limit, of which so many have tried, the next may take this
/// only: they will leave, and need not take long before.
const FEW_MISSES: usize = 3;
const LIMIT_OF_MISSES: usize = 16 << 20;

/// How many texts may grow in turn.
const GROWING: usize = 4;

/// Texts shorter than this are copied where they grow.
const GROWS_FROM: usize = 64;

/// A text that was copied to be appended to: the next time it gets room to grow.
#[derive(Clone, Copy, Debug, Default)]
struct Growing {
    chunk: usize,
    /// Offsets in the chunk: the end of the text, and of the room behind it.
    end: usize,
    limit: usize,
}

/// The size of the first chunk of the arena; later ones double.
const FIRST_CHUNK: usize = 64 << 10;

thread_local! {
    /// The first chunk of the thread's last context, for its next one: a context serves a
    /// batch, and fresh memory costs the system more than most batches put into it.
    static SPARE_CHUNK: Cell<Option<Box<[u64]>>> = const { Cell::new(None) };
}

/// Later chunks of contexts that have ended, for the next ones: the large ones of a column of many
/// rows would be zeroed each time.
static SPARE: Mutex<Vec<Box<[u64]>>> = Mutex::new(Vec::new());

/// The bytes that spare chunks may have together, in a process.
const MOST_SPARE: usize = 64 << 20;

/// A spare chunk of at least `size` bytes and at most `most`.
fn spare(size: usize, most: usize) -> Option<Box<[u64]>> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = spare.iter().position(|chunk| (size..=most).contains(&(chunk.len() * 8)))?;
    Some(spare.swap_remove(at))
}

/// Keeps chunks, as far as there is room.
fn keep(chunks: impl Iterator<Item = Box<[u64]>>) {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut bytes: usize = spare.iter().map(|chunk| chunk.len() * 8).sum();
    for chunk in chunks {
        if bytes + chunk.len() * 8 <= MOST_SPARE {
            bytes += chunk.len() * 8;
            spare.push(chunk);
        }
    }
}

/// Words that are zero; `None` where the machine has no memory for so many.
fn zeroed(words: usize) -> Option<Box<[u64]>> {
    let layout = Layout::array::<u64>(words).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout is of a size that is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    if !start.is_null() && words * 8 >= LARGE {
        in_huge_pages(start, words * 8);
    }
    let start = start.cast::<u64>();
    // SAFETY: what is not null is memory of that layout from the allocator that a box gives it back
    // to, and zeroes are numbers.
    (!start.is_null()).then(|| unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, words)) })
}

/// Chunks from this size on are in huge pages where the system has them.
const LARGE: usize = 4 << 20;

/// Asks for huge pages for memory that nobody has touched: a loop that takes fresh memory at each turn
/// has a page fault for each of them, which with small ones costs more than what it puts there.
fn in_huge_pages(start: *mut u8, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 4096;
        let skipped = start.align_offset(PAGE);
        // SAFETY: the pages lie within the memory, and the advice changes nothing of what it holds; where
        // it is refused nothing happens.
        unsafe {
            libc::madvise(start.wrapping_add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, libc::MADV_HUGEPAGE)
        };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, bytes);
}

/// The time that this thread has had, where the system tells: on a machine with other work, what it waits for
/// the processor is not its own.
fn thread_time() -> Duration {
    #[cfg(all(unix, not(miri)))]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes to the structure that it is given, which is alive.
        let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        if let (0, Ok(seconds), Ok(nanos)) = (status, u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec)) {
            return Duration::new(seconds, nanos);
        }
    }
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

impl Drop for Cx {
    fn drop(&mut self) {
        let mut chunks = self.chunks.drain(..);
        let Some(first) = chunks.next() else { return };
        if first.len() * 8 == FIRST_CHUNK {
            // While a thread ends there is nobody to keep it for.
            let _ = SPARE_CHUNK.try_with(|spare| spare.set(Some(first)));
        }
        if chunks.len() > 0 {
            keep(chunks);
        }
    }
}

impl Cx {
    /// A context whose arena may grow to `limit` bytes. `want_message` says whether
    /// somebody looks at the messages of exceptions: the evaluator does, native code
    /// does not.
    #[must_use]
    pub fn new(limit: usize, want_message: bool, interrupt: Arc<AtomicBool>) -> Cx {
        Cx {
            chunks: Vec::new(),
            current: 0,
            before: 0,
            start: 0,
            size: 0,
            used: 0,
            text_end: 0,
            growing: [Growing::default(); GROWING],
            grown: 0,
            limit,
            allocated: 0,
            missed: 0,
            resets: 0,
            want_message,
            poisoned: false,
            interrupt,
            until: None,
            threads: 1,
            places: Places::default(),
            json_found: (0, 0),
            memos: Memos::default(),
            sorting: crate::sort::Scratch::default(),
        }
    }

    /// A context for tests and folding: messages wanted, 64 MiB, never interrupted.
    #[must_use]
    pub fn for_folding() -> Cx {
        Cx::new(64 << 20, true, Arc::new(AtomicBool::new(false)))
    }

    /// One whose kernels may take so many threads for one large array.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Cx {
        self.threads = threads.max(1);
        self
    }

    /// How many threads may work on one large array, that of the caller among them.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// A context of the same query for another thread, for what takes no memory.
    #[must_use]
    pub fn beside(&self) -> Cx {
        let mut beside = Cx::new(1 << 16, false, Arc::clone(&self.interrupt));
        beside.until = self.until;
        beside
    }

    /// Forgets everything allocated: called before each row.
    pub fn reset(&mut self) {
        self.current = 0;
        self.before = 0;
        self.used = 0;
        self.text_end = 0;
        self.grown = 0;
        self.places.clear();
        self.memos.end_row(self.limit);
        self.resets += 1;
        while self.allocated > self.limit.max(FIRST_CHUNK) {
            // The limit was lowered.
            self.allocated -= self.chunks.pop().map_or(self.allocated, |chunk| chunk.len() * 8);
        }
        self.enter_chunk();
    }

    /// The offsets of the two words whose sum is [`Cx::position`].
    pub const PLACE: [usize; 2] = [std::mem::offset_of!(Cx, before), std::mem::offset_of!(Cx, used)];

    /// The offsets of what native code needs to take memory by itself: where the current chunk begins,
    /// its bytes, those that are taken, and the end of the text that may grow, which is to become 0.
    pub const FREE: [usize; 4] = [
        std::mem::offset_of!(Cx, start),
        std::mem::offset_of!(Cx, size),
        std::mem::offset_of!(Cx, used),
        std::mem::offset_of!(Cx, text_end),
    ];

    /// Notes where the current chunk lies, after another one became it.
    fn enter_chunk(&mut self) {
        let chunk = self.chunks.get_mut(self.current);
        (self.start, self.size) = chunk.map_or((0, 0), |chunk| (chunk.as_mut_ptr() as usize, chunk.len() * 8));
    }

    /// The place in the arena behind what was put there last.
    #[must_use]
    pub fn position(&self) -> usize {
        self.before + self.used
    }

    /// Whether so many bytes, at least one, are the arena's and end behind a place in it.
    #[must_use]
    pub fn is_behind(&self, start: *const u8, bytes: usize, place: usize) -> bool {
        let mut before = 0;
        for chunk in self.chunks.iter().take(self.current + 1) {
            let at = (start as usize).wrapping_sub(chunk.as_ptr() as usize);
            if at < chunk.len() * 8 {
                return before + at + bytes > place;
            }
            before += chunk.len() * 8;
        }
        false
    }

    /// Forgets what was allocated behind a place of before.
    pub fn go_back(&mut self, place: usize) {
        let bytes = |cx: &Cx, chunk: usize| cx.chunks.get(chunk).map_or(0, |chunk| chunk.len() * 8);
        let (mut current, mut before) = (0, 0);
        while current < self.current && place > before + bytes(self, current) {
            before += bytes(self, current);
            current += 1;
        }
        // Texts that grow where there is room before the place stay there.
        let mut kept = 0;
        for at in 0..self.grown {
            let text = self.growing[at];
            if text.chunk < current || text.chunk == current && text.limit <= place - before {
                self.growing[kept] = text;
                kept += 1;
            }
        }
        self.grown = kept;
        if cfg!(debug_assertions) {
            // Whoever still reads it is found out.
            let (last, used) = (self.current, self.used.div_ceil(8));
            for (at, chunk) in self.chunks.iter_mut().enumerate().take(last + 1).skip(current) {
                let from = if at == current { (place - before).div_ceil(8) } else { 0 };
                let until = if at == last { used } else { chunk.len() };
                chunk[from.min(until)..until].fill(0xa5a5_a5a5_a5a5_a5a5);
            }
        }
        (self.current, self.before, self.used) = (current, before, place - before);
        self.enter_chunk();
        self.text_end = 0;
        self.places.clear();
    }

    /// The status of a kernel of native code that failed. What it raised ends here, so that a kernel that
    /// raises nothing, as almost all do, has nothing to drop.
    #[cold]
    #[expect(clippy::needless_pass_by_value, reason = "it is dropped here, out of the way of those that succeed")]
    pub(crate) fn status(&mut self, raise: Raise) -> u64 {
        let code = status::of(&raise);
        if code == status::ROW_MEMORY {
            self.missed += 1;
            // A loop resets the arena behind a row that leaves, and behind each sixteenth.
            if self.missed >= FEW_MISSES && self.missed * 9 > self.resets * 8 {
                self.limit = self.limit.min(LIMIT_OF_MISSES);
            }
        }
        code
    }

    /// Whether places in a text are kept. Texts of native code stay where they are until the next
    /// reset; those of the evaluator may make room for others of the same length.
    #[inline]
    pub(crate) fn keeps_place(&self, s: Str<'_>) -> bool {
        !s.known_ascii() && s.byte_len() >= LONG && !self.want_message
    }

    /// [`Str::byte_offset`]; in native code it takes as long as the way from where it was asked
    /// for last, if that was before, and no longer than a few characters once it often was not.
    #[inline]
    pub fn byte_offset(&mut self, s: Str<'_>, index: usize) -> usize {
        if self.keeps_place(s) { self.places.byte_offset(s, index) } else { s.byte_offset(index) }
    }

    /// [`Str::char_len`], counted once for a long text.
    #[inline]
    pub fn char_len(&mut self, s: Str<'_>) -> usize {
        if self.keeps_place(s) { self.places.char_len(s) } else { s.char_len() }
    }

    /// [`Str::char_index`], likewise.
    #[inline]
    pub fn char_index(&mut self, s: Str<'_>, offset: usize) -> usize {
        if self.keeps_place(s) { self.places.char_index(s, offset) } else { s.char_index(offset) }
    }

    /// The bytes that a row may take.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes held by the arena.
    #[must_use]
    pub fn allocated(&self) -> usize {
        self.allocated
    }

    /// Whether the query was cancelled or ran out of its time.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed) || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Evaluates an operation on constants and says how long that took. It is interrupted after that
    /// time where it asks: it does not have to be done before the query runs.
    pub fn timed(&mut self, def: &OpDef, args: &[Object], longest: Duration) -> (Result<Object, Raise>, Duration) {
        let started = thread_time();
        self.until = Some(Instant::now() + longest);
        let value = (def.eval)(self, args);
        self.until = None;
        (value, thread_time().saturating_sub(started))
    }

    /// The address of the byte that becomes 1 when the query is cancelled, for native
    /// code to look at in loops. It stays as long as this context.
    #[must_use]
    pub fn interrupt_address(&self) -> *const u8 {
        self.interrupt.as_ptr().cast::<u8>().cast_const()
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
    #[inline]
    pub fn alloc(&mut self, size: usize) -> KernelResult<*mut u8> {
        let (ptr, room) = self.room(size)?;
        // `room` is a multiple of 8, so the rounded size fits too.
        debug_assert!(size <= room);
        self.used += size.next_multiple_of(8);
        self.text_end = 0;
        Ok(ptr)
    }

    /// Adds `more` bytes to the `has` at an address, if they are what was last allocated and there is room
    /// behind them.
    pub(crate) fn extend(&mut self, start: *const u8, has: usize, more: usize) -> bool {
        let Some(chunk) = self.chunks.get(self.current) else { return false };
        let free = chunk.as_ptr().cast::<u8>().wrapping_add(self.used);
        // What lies elsewhere may end where the chunk begins.
        let is_last = has <= self.used && start.wrapping_add(has) == free;
        let fits = is_last && more <= chunk.len() * 8 - self.used;
        if fits {
            self.used += more.next_multiple_of(8);
            self.text_end = 0;
        }
        fits
    }

    /// The free end of the arena, which has room for at least `size` bytes: where it
    /// begins and how long it is, a multiple of 8.
    #[inline]
    fn room(&mut self, size: usize) -> KernelResult<(*mut u8, usize)> {
        if let Some(chunk) = self.chunks.get_mut(self.current) {
            let room = chunk.len() * 8 - self.used;
            if room >= size {
                return Ok((chunk[self.used / 8..].as_mut_ptr().cast::<u8>(), room));
            }
        }
        self.next_room(size)
    }

    #[cold]
    fn next_room(&mut self, size: usize) -> KernelResult<(*mut u8, usize)> {
        while self.current + 1 < self.chunks.len() {
            self.before += self.chunks[self.current].len() * 8;
            self.current += 1;
            self.used = 0;
            self.text_end = 0;
            self.enter_chunk();
            let chunk = &mut self.chunks[self.current];
            if chunk.len() * 8 >= size {
                return Ok((chunk.as_mut_ptr().cast::<u8>(), chunk.len() * 8));
            }
        }
        let needed = size.checked_next_multiple_of(8).ok_or_else(Raise::row_memory)?;
        let doubled = self.chunks.last().map_or(FIRST_CHUNK, |chunk| chunk.len() * 16);
        let limit = self.limit.max(FIRST_CHUNK);
        // Near the limit a part of what remains.
        let remains = limit.saturating_sub(self.allocated);
        let next = if doubled > remains { needed.max(remains / 4 / 8 * 8) } else { doubled.max(needed) };
        if self.allocated.saturating_add(next) > limit {
            return Err(Raise::ROW_MEMORY);
        }
        let spare = match next == FIRST_CHUNK {
            true => SPARE_CHUNK.try_with(Cell::take).ok().flatten(),
            // One that is much larger is for somebody else.
            false => spare(next, next.saturating_mul(2).min(limit - self.allocated)),
        };
        let chunk = spare.or_else(|| zeroed(next / 8)).ok_or_else(Raise::row_memory)?;
        let next = chunk.len() * 8;
        self.allocated += next;
        self.chunks.push(chunk);
        self.current = self.chunks.len() - 1;
        self.before = self.allocated - next;
        self.used = 0;
        self.text_end = 0;
        self.enter_chunk();
        let chunk = &mut self.chunks[self.current];
        Ok((chunk.as_mut_ptr().cast::<u8>(), next))
    }

    /// A copy of `text` in the arena.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn store<'a>(&mut self, text: &str) -> KernelResult<Str<'a>> {
        let mut copy = self.text(text.len())?;
        copy.push_str(text)?;
        Ok(copy.finish())
    }

    /// The two texts, one after the other. Where the first is what was last put into the
    /// arena it is not copied: its bytes stay what they are, and the second is put behind
    /// them, so that a loop that appends takes linear time.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    #[inline]
    pub fn append<'a>(&mut self, a: Str<'a>, b: Str<'a>) -> KernelResult<Str<'a>> {
        let (left, right) = (a.as_bytes(), b.as_bytes());
        let ascii = a.known_ascii() && b.known_ascii();
        if let Some(chunk) = self.chunks.get_mut(self.current) {
            let start = chunk.as_mut_ptr().cast::<u8>();
            let end = (left.as_ptr() as usize).wrapping_add(left.len()).wrapping_sub(start as usize);
            if self.text_end != 0 && end == self.text_end && chunk.len() * 8 - end >= right.len() {
                self.text_end = end + right.len();
                self.used = self.text_end.next_multiple_of(8);
                // SAFETY: the first text ends where the used part of this chunk does, so it
                // lies in the chunk; nothing refers to the bytes behind it, which have room
                // for the second one.
                unsafe {
                    let tail = start.add(end);
                    tail.copy_from_nonoverlapping(right.as_ptr(), right.len());
                    let whole = tail.sub(left.len());
                    let whole = std::slice::from_raw_parts(whole, left.len() + right.len());
                    return Ok(Str::with_ascii(std::str::from_utf8_unchecked(whole), ascii));
                }
            }
        }
        if left.len() >= GROWS_FROM {
            return self.append_long(left, right, ascii);
        }
        self.joined(left, right, ascii, left.len() + right.len())
    }

    /// As [`Cx::append`] for a first text that something else was put behind: the second time that it
    /// is copied it gets as much room again as it takes, so that texts which grow in turn take linear
    /// time and memory too.
    fn append_long<'a>(&mut self, left: &[u8], right: &[u8], ascii: bool) -> KernelResult<Str<'a>> {
        let end = (left.as_ptr() as usize).wrapping_add(left.len());
        let total = left.len() + right.len();
        let chunks = &mut self.chunks;
        let is_it = |text: &Growing| {
            let start = chunks.get(text.chunk).map_or(0, |chunk| chunk.as_ptr() as usize);
            start != 0 && start + text.end == end && text.end >= left.len()
        };
        let Some(at) = self.growing[..self.grown].iter().position(is_it) else {
            let copy = self.joined(left, right, ascii, total)?;
            // The latest first, the oldest is forgotten.
            self.growing.rotate_right(1);
            self.grown = (self.grown + 1).min(GROWING);
            self.growing[0] = Growing { chunk: self.current, end: self.text_end, limit: self.text_end };
            return Ok(copy);
        };
        let text = self.growing[at];
        if text.limit - text.end >= right.len() {
            self.growing[at].end += right.len();
            let chunk = chunks[text.chunk].as_mut_ptr().cast::<u8>();
            // SAFETY: the first text ends at that offset of the chunk and is no longer than that, so it
            // lies in the chunk; nothing refers to the bytes behind it up to the limit, which have room
            // for the second one.
            unsafe {
                let tail = chunk.add(text.end);
                tail.copy_from_nonoverlapping(right.as_ptr(), right.len());
                let whole = std::slice::from_raw_parts(tail.sub(left.len()), total);
                return Ok(Str::with_ascii(std::str::from_utf8_unchecked(whole), ascii));
            }
        }
        let Ok(copy) = self.joined(left, right, ascii, total.saturating_mul(2)) else {
            return self.joined(left, right, ascii, total);
        };
        let end = self.text_end;
        let limit = (end + total).min(self.chunks[self.current].len() * 8);
        self.growing[at] = Growing { chunk: self.current, end, limit };
        // What is put into the arena next comes behind the room.
        self.used = limit.next_multiple_of(8);
        self.text_end = 0;
        Ok(copy)
    }

    /// Both texts at the end of the arena, where there are so many bytes.
    #[inline]
    fn joined<'a>(&mut self, left: &[u8], right: &[u8], ascii: bool, room: usize) -> KernelResult<Str<'a>> {
        let total = left.len() + right.len();
        let mut out = self.text(room)?;
        let spare = &mut out.spare(total)?[..total];
        spare[..left.len()].copy_from_slice(left);
        spare[left.len()..].copy_from_slice(right);
        // SAFETY: two valid texts were written.
        unsafe { out.advance(total) };
        Ok(out.finish_as(ascii))
    }

    /// Begins a text at the end of the arena, with room for `capacity` bytes.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    #[inline]
    pub fn text(&mut self, capacity: usize) -> KernelResult<Text<'_>> {
        let (ptr, room) = self.room(capacity)?;
        Ok(Text { cx: self, ptr, len: 0, room })
    }

    /// Runs something that raises with messages.
    pub fn with_messages<R>(&mut self, run: impl FnOnce(&mut Cx) -> R) -> R {
        let before = std::mem::replace(&mut self.want_message, true);
        let result = run(self);
        self.want_message = before;
        result
    }

    /// Whether somebody looks at the messages of exceptions.
    #[must_use]
    pub fn wants_message(&self) -> bool {
        self.want_message
    }

    /// An exception; the message is built only if somebody will look.
    pub fn raise(&self, kind: ExcKind, message: impl FnOnce() -> String) -> Raise {
        let args = if self.want_message { vec![Object::str(&message())] } else { Vec::new() };
        Raise::Exception { kind, args }
    }
}

/// A text that grows at the end of the arena. While it grows nothing else can be
/// allocated; dropped unfinished it leaves nothing behind.
#[derive(Debug)]
pub struct Text<'c> {
    cx: &'c mut Cx,
    ptr: *mut u8,
    len: usize,
    room: usize,
}

impl Text<'_> {
    /// Makes room for `more` bytes and returns them, to be written. They become part of
    /// the text by [`Text::advance`].
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    #[inline]
    pub fn spare(&mut self, more: usize) -> KernelResult<&mut [u8]> {
        if self.room - self.len < more {
            self.grow(more)?;
        }
        // SAFETY: `room` bytes at `ptr` belong to the free end of the arena, are
        // initialised, and the builder holds the arena exclusively.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.ptr.add(self.len), self.room - self.len) })
    }

    #[cold]
    fn grow(&mut self, more: usize) -> KernelResult<()> {
        let needed = self.len.checked_add(more).ok_or_else(Raise::row_memory)?;
        let (ptr, room) = match self.cx.room(needed.saturating_mul(2)) {
            Ok(found) => found,
            Err(_) => self.cx.room(needed)?,
        };
        // SAFETY: `len` bytes are written at the old place, and the new one has room for
        // them; both are in the arena, and chunks never move. They may be the same chunk
        // after a failed attempt, but then begin at different offsets or are equal.
        unsafe { std::ptr::copy(self.ptr, ptr, self.len) };
        self.ptr = ptr;
        self.room = room;
        Ok(())
    }

    /// Makes the first `count` of the spare bytes part of the text.
    ///
    /// # Safety
    /// They must have been written so that the text is valid UTF-8 when it is finished.
    #[inline]
    pub unsafe fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.room - self.len);
        self.len += count;
    }

    /// Appends text.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    #[inline]
    pub fn push_str(&mut self, text: &str) -> KernelResult<()> {
        self.spare(text.len())?[..text.len()].copy_from_slice(text.as_bytes());
        // SAFETY: valid UTF-8 was written.
        unsafe { self.advance(text.len()) };
        Ok(())
    }

    /// Appends a character.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    #[inline]
    pub fn push(&mut self, ch: char) -> KernelResult<()> {
        let count = ch.encode_utf8(&mut self.spare(4)?[..4]).len();
        // SAFETY: valid UTF-8 was written.
        unsafe { self.advance(count) };
        Ok(())
    }

    /// Appends text several times.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn push_repeated(&mut self, text: &str, times: usize) -> KernelResult<()> {
        let total = text.len().checked_mul(times).ok_or_else(Raise::row_memory)?;
        if total == 0 {
            return Ok(());
        }
        let spare = &mut self.spare(total)?[..total];
        if let [byte] = text.as_bytes() {
            spare.fill(*byte);
        } else {
            // What is there is doubled: short texts are not copied one by one.
            spare[..text.len()].copy_from_slice(text.as_bytes());
            let mut done = text.len();
            while done < total {
                let more = done.min(total - done);
                spare.copy_within(..more, done);
                done += more;
            }
        }
        // SAFETY: whole copies of valid UTF-8 were written.
        unsafe { self.advance(total) };
        Ok(())
    }

    /// As [`Cx::interrupted`].
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.cx.interrupted()
    }

    /// The bytes written so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes at `ptr` were written.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }

    /// The finished text, which lives as long as the row; looks whether it is ASCII.
    #[must_use]
    #[inline]
    pub fn finish<'a>(self) -> Str<'a> {
        let ascii = self.as_bytes().is_ascii();
        self.finish_as(ascii)
    }

    /// The finished text with the flag as given: `ascii` may be true only if it is so.
    #[must_use]
    #[inline]
    pub fn finish_as<'a>(self, ascii: bool) -> Str<'a> {
        self.cx.text_end = self.cx.used + self.len;
        self.cx.used += self.len.next_multiple_of(8);
        // SAFETY: what was pushed is valid UTF-8; the bytes live until the arena is reset,
        // which ends the row, and so does whatever refers to them.
        let text = unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.ptr, self.len)) };
        Str::with_ascii(text, ascii)
    }
}

/// Formatting into the arena fails where the arena is full.
impl std::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push_str(text).map_err(|_| std::fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::Cx;
    use crate::text::Str;
    use std::sync::Arc;

    #[test]
    fn texts_that_grow_in_turn_take_linear_memory() {
        // Copied whenever they grow they would take gigabytes.
        let mut cx = Cx::new(16 << 20, false, Arc::default());
        let mut texts = [Str::new(""), Str::new(""), Str::new("")];
        let mut wanted = [String::new(), String::new(), String::new()];
        for turn in 0..30_000 {
            for (at, (text, wanted)) in texts.iter_mut().zip(&mut wanted).enumerate() {
                let piece = if turn % 7 == 0 { "é" } else { "ab" };
                let piece = cx.store(&piece[..piece.len() * usize::from(turn % 3 != at)]).expect("room");
                let before = *text;
                *text = cx.append(before, piece).expect("room");
                // What grew from the same text is another one.
                if turn % 1000 == 0 {
                    let other = cx.append(before, piece).expect("room");
                    assert_eq!(other.as_str(), text.as_str());
                }
                wanted.push_str(piece.as_str());
            }
        }
        for (text, wanted) in texts.iter().zip(&wanted) {
            assert_eq!(text.as_str(), wanted);
        }
    }

    #[test]
    fn places_in_long_texts_are_those_of_the_characters() {
        let texts = ["aé日😀 ".repeat(80), "日".repeat(200), "é".repeat(64) + &"a".repeat(300), "ñ".to_string()];
        let mut cx = Cx::new(1 << 20, false, Arc::default());
        let orders: [fn(usize, usize) -> usize; 4] =
            [|at, _| at, |at, len| len - at, |at, len| at * 7919 % (len + 1), |at, len| (at / 2 * 3) % (len + 2)];
        for order in orders {
            for text in &texts {
                let s = Str::new(text);
                for at in 0..=s.char_len() {
                    let index = order(at, s.char_len());
                    let offset = cx.byte_offset(s, index);
                    assert_eq!(offset, s.byte_offset(index));
                    assert_eq!(cx.char_index(s, offset), s.char_index(offset));
                }
                let part = s.slice_bytes(s.byte_offset(1), s.byte_len());
                assert_eq!(cx.byte_offset(part, 5), part.byte_offset(5));
            }
        }
    }
}
