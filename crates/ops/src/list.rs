//! Lists as native code sees them.

use crate::adapt::TextList;
use crate::cx::{Cx, KernelResult};
use crate::text::Str;

/// The header of a list: it has identity, its elements may move when it grows.
///
/// An element takes as many 8-byte slots as its type needs: one for int, float, bool
/// and references, two for a string, the tag and the slots of every alternative for a
/// union, the sum of the elements for a tuple.
#[derive(Debug)]
#[repr(C)]
pub struct RawList {
    /// The number of elements.
    pub len: u64,
    /// The number of elements that `data` has room for; 0 where they belong to somebody else, who
    /// lends them to be read.
    pub cap: u64,
    /// The slots; any value while there are no elements and no room.
    pub data: *mut u64,
}

/// By how many places to the left `len` elements, at least one, move, where they move by `by`.
#[must_use]
pub fn rotation(by: i64, len: usize) -> usize {
    by.rem_euclid(len as i64) as usize
}

impl RawList {
    /// An empty list in the row's arena, with room for `cap` elements.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn new(cx: &mut Cx, cap: usize, slots: usize) -> KernelResult<*mut RawList> {
        // The elements lie behind the header.
        let bytes = cap.checked_mul(slots * 8).and_then(|bytes| bytes.checked_add(size_of::<RawList>()));
        let Some(bytes) = bytes else { return Err(exuvia_ir::Raise::ROW_MEMORY) };
        let header = cx.alloc(bytes)?.cast::<RawList>();
        // SAFETY: `alloc` gave room for a header, aligned to 8, and for the elements.
        unsafe {
            let data = header.add(1).cast::<u64>();
            header.write(RawList { len: 0, cap: cap as u64, data });
        }
        Ok(header)
    }

    /// A list in the row's arena of elements of one word.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn of_words(cx: &mut Cx, words: impl ExactSizeIterator<Item = u64>) -> KernelResult<*mut RawList> {
        let (list, slots) = RawList::filled(cx, words.len())?;
        slots.iter_mut().zip(words).for_each(|(slot, word)| *slot = word);
        Ok(list)
    }

    /// A list in the row's arena of so many elements of one word, and those: any value, for the
    /// caller to set.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn filled<'a>(cx: &mut Cx, len: usize) -> KernelResult<(*mut RawList, &'a mut [u64])> {
        let list = RawList::new(cx, len, 1)?;
        // SAFETY: the list was made with room for so many elements, whose memory is initialised
        // and lives as long as the row; nobody else knows it yet.
        let slots = unsafe {
            (*list).len = len as u64;
            if len == 0 { &mut [] } else { std::slice::from_raw_parts_mut((*list).data, len) }
        };
        Ok((list, slots))
    }

    /// Room for one more element at the end; returns its slots. The caller writes them.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn push(&mut self, cx: &mut Cx, slots: usize) -> KernelResult<*mut u64> {
        if self.len >= self.cap {
            self.grow(cx, (self.len * 2).max(8), slots)?;
        }
        let at = self.len as usize * slots;
        self.len += 1;
        // SAFETY: `len <= cap` elements of `slots` slots each lie within `data`.
        Ok(unsafe { self.data.add(at) })
    }

    /// Makes room for `more` elements at the end, if that takes no more than a quarter of what the row may
    /// have: they may never come.
    pub fn reserve(&mut self, cx: &mut Cx, more: u64, slots: usize) {
        let len = self.len.saturating_add(more);
        if len <= self.cap || slots == 0 {
            return;
        }
        let cap = len.max(self.len.saturating_mul(2));
        let bytes = usize::try_from(cap).ok().and_then(|cap| cap.checked_mul(slots * 8));
        if bytes.is_some_and(|bytes| bytes <= cx.limit() / 4) {
            // Without room the list grows as it must.
            let _ = self.grow(cx, cap, slots);
        }
    }

    /// Makes room for an element for each number from `start` to before `end`, which are elements from now on and
    /// hold what was in the memory. Gives where that of zero would lie.
    ///
    /// # Errors
    /// There is no memory for so many.
    pub fn fill(&mut self, cx: &mut Cx, start: i64, end: i64, slots: usize) -> KernelResult<i64> {
        let more = end.checked_sub(start).ok_or_else(exuvia_ir::Raise::row_memory)?.max(0) as u64;
        self.reserve(cx, more, slots);
        let len = self.len.saturating_add(more);
        if len > self.cap && slots > 0 {
            self.grow(cx, len, slots)?;
        }
        let before = (self.len as i64).wrapping_sub(start).wrapping_mul(8 * slots as i64);
        self.len = len;
        Ok((self.data as i64).wrapping_add(before))
    }

    /// Makes room for `cap` elements: behind them where nothing else lies, as where a loop appends to one list
    /// alone, else they are taken elsewhere.
    fn grow(&mut self, cx: &mut Cx, cap: u64, slots: usize) -> KernelResult<()> {
        let bytes = (cap as usize).checked_mul(slots * 8).ok_or_else(exuvia_ir::Raise::row_memory)?;
        // CPython's take a word each also where there is nothing to say of them.
        if slots == 0 && cap > cx.limit() as u64 / 8 {
            return Err(exuvia_ir::Raise::ROW_MEMORY);
        }
        let has = self.cap as usize * slots * 8;
        if has > 0 && cx.extend(self.data.cast(), has, bytes - has) {
            self.cap = cap;
            return Ok(());
        }
        let data = cx.alloc(bytes)?.cast::<u64>();
        if self.len > 0 {
            // SAFETY: both regions hold at least `len` elements and are distinct.
            unsafe { data.copy_from_nonoverlapping(self.data, self.len as usize * slots) };
        }
        self.cap = cap;
        self.data = data;
        Ok(())
    }

    /// Appends `count` elements that lie at `from`, not within room that the list has left, so many times; not
    /// at all below one.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    ///
    /// # Safety
    /// `from` must be the address of `count` live elements of `slots` slots each; any value where
    /// there are none.
    pub unsafe fn extend(
        &mut self,
        cx: &mut Cx,
        from: *const u64,
        count: u64,
        times: i64,
        slots: usize,
    ) -> KernelResult<()> {
        let more = count.checked_mul(times.max(0) as u64);
        let len = more.and_then(|more| self.len.checked_add(more)).ok_or_else(exuvia_ir::Raise::row_memory)?;
        if len > self.cap {
            let cap = if self.cap == 0 { len } else { len.max(self.cap * 2) };
            self.grow(cx, cap, slots)?;
        }
        let (once, words) = (count as usize * slots, (len - self.len) as usize * slots);
        if words > 0 {
            // SAFETY: the caller vouches for `from`; what lies there, the list's own elements perhaps, is no part of
            // the room behind them, which is that of `words`. What was written is copied to behind it.
            unsafe {
                let to = self.data.add(self.len as usize * slots);
                to.copy_from_nonoverlapping(from, once);
                let mut written = once;
                while written < words {
                    let more = written.min(words - written);
                    to.add(written).copy_from_nonoverlapping(to, more);
                    written += more;
                }
            }
        }
        self.len = len;
        Ok(())
    }
}

/// The elements of a native list whose elements take one word.
///
/// # Safety
/// `list` must point to a live list of such elements, which nobody changes during `'a`;
/// `T` must be `i64`, `u64` or `f64`.
#[must_use]
pub unsafe fn words<'a, T>(list: *const RawList) -> &'a [T] {
    // SAFETY: the caller vouches for the list.
    unsafe {
        let list = &*list;
        if list.len == 0 { &[] } else { std::slice::from_raw_parts(list.data.cast::<T>(), list.len as usize) }
    }
}

/// A list of strings, as a kernel takes it.
#[derive(Clone, Copy, Debug)]
pub struct StrList<'a>(&'a [Str<'a>]);

impl<'a> StrList<'a> {
    /// The elements.
    #[must_use]
    pub fn items(self) -> &'a [Str<'a>] {
        self.0
    }

    /// A list of those elements.
    #[must_use]
    pub fn new(items: &'a [Str<'a>]) -> StrList<'a> {
        StrList(items)
    }

    /// The elements of a native list.
    ///
    /// # Safety
    /// `list` must point to a live list whose elements are strings.
    #[must_use]
    pub unsafe fn from_raw(list: *const RawList) -> StrList<'a> {
        // SAFETY: the caller vouches for the list; a `Str` is two slots.
        unsafe {
            let list = &*list;
            if list.len == 0 {
                return StrList(&[]);
            }
            StrList(std::slice::from_raw_parts(list.data.cast::<Str<'a>>(), list.len as usize))
        }
    }
}

/// A list of strings that a kernel builds in the row's arena.
#[derive(Debug)]
pub struct StrListBuilder {
    list: *mut RawList,
}

impl StrListBuilder {
    /// An empty list.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn new(cx: &mut Cx) -> KernelResult<StrListBuilder> {
        Ok(StrListBuilder { list: RawList::new(cx, 8, 2)? })
    }

    /// An empty list with room for `cap` items.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn with_capacity(cx: &mut Cx, cap: usize) -> KernelResult<StrListBuilder> {
        Ok(StrListBuilder { list: RawList::new(cx, cap, 2)? })
    }

    /// Appends `item`, whose text must live as long as the row.
    ///
    /// # Errors
    /// As [`Cx::alloc`].
    pub fn push(&mut self, cx: &mut Cx, item: Str<'_>) -> KernelResult<()> {
        let (ptr, meta) = item.words();
        // SAFETY: `list` was made by `RawList::new` in this row's arena; `push` gives two
        // slots.
        unsafe {
            let slots = (*self.list).push(cx, 2)?;
            slots.write(ptr as u64);
            slots.add(1).write(meta);
        }
        Ok(())
    }

    /// Turns the order of the items round.
    pub fn reverse(&mut self) {
        // SAFETY: `list` was made by `RawList::new` in this row's arena; its elements are
        // pairs of words that were written.
        unsafe {
            let list = &*self.list;
            if list.len > 0 {
                std::slice::from_raw_parts_mut(list.data.cast::<[u64; 2]>(), list.len as usize).reverse();
            }
        }
    }

    /// The finished list.
    #[must_use]
    pub fn finish(self) -> TextList {
        TextList(self.list)
    }
}
