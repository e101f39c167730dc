//! A bound on the memory of Python's objects.
//!
//! CPython takes memory in two ways: arenas, in which objects of up to 512 bytes lie, and
//! its raw allocator, for all that is larger. Functions of ours stand before both. They count
//! what is in use and refuse what goes beyond the limit, which Python reports as it does on a
//! machine with less memory: by MemoryError, where the object would have been made. See
//! <https://docs.python.org/3/c-api/memory.html#customize-memory-allocators>.
//!
//! The limit is that of the request that began last, since what is counted is the process's.
//! Buffers that extension modules allocate past Python, as NumPy and Arrow do, are not seen.
//! Nothing is counted where Python's allocators were exchanged for its debugging ones, whose
//! blocks do not begin where the system's do; in a Python that the host has started; and on
//! systems other than Linux, which has a function that tells a block's size.

use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// Bytes of arenas and of the raw allocator that are in use, less what was so before counting
/// began and has been freed.
static USED: AtomicI64 = AtomicI64::new(0);

/// The most that may be.
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);

/// How many requests tell of an exception now, for which they may go a quarter beyond the limit:
/// its traceback still holds all that the function had.
static TELLING: AtomicUsize = AtomicUsize::new(0);

/// Python ends the process if it has no memory for a few things of its own, such as the state
/// of a thread. So blocks of up to this size may go an eighth beyond the limit.
const SMALL: usize = 4096;

/// CPython's `PyMemAllocatorEx`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Allocator {
    context: *mut c_void,
    malloc: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    calloc: Option<unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void>,
    realloc: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void>,
    free: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
}

/// CPython's `PyObjectArenaAllocator`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Arenas {
    context: *mut c_void,
    alloc: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    free: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize)>,
}

/// Python's own functions, which ours call.
#[derive(Clone, Copy)]
struct Inner {
    raw: Allocator,
    arenas: Arenas,
}

// SAFETY: the contexts are CPython's, whose functions may be called on any thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

static INNER: OnceLock<Inner> = OnceLock::new();

/// CPython's `PYMEM_DOMAIN_RAW`.
const RAW: c_int = 0;

unsafe extern "C" {
    fn PyMem_GetAllocator(domain: c_int, allocator: *mut Allocator);
    fn PyMem_SetAllocator(domain: c_int, allocator: *const Allocator);
    fn PyObject_GetArenaAllocator(arenas: *mut Arenas);
    fn PyObject_SetArenaAllocator(arenas: *const Arenas);
}

/// Begins to count, once, in a process whose Python has its usual allocators.
pub fn count(py: Python<'_>) -> PyResult<()> {
    if INNER.get().is_some() || !cfg!(target_os = "linux") || !usual(py)? {
        return Ok(());
    }
    // PyO3 makes this class when it first looks at an exception, for which there may be no memory.
    let _made = py.get_type::<pyo3::panic::PanicException>();
    let none = Allocator { context: std::ptr::null_mut(), malloc: None, calloc: None, realloc: None, free: None };
    let no_arenas = Arenas { context: std::ptr::null_mut(), alloc: None, free: None };
    let mut inner = Inner { raw: none, arenas: no_arenas };
    // SAFETY: the layouts are CPython's, from 3.5 on; it copies what it is given. Ours hand
    // every block on to the functions that were in place, so that blocks of before can be freed.
    unsafe {
        PyMem_GetAllocator(RAW, &raw mut inner.raw);
        PyObject_GetArenaAllocator(&raw mut inner.arenas);
        INNER.get_or_init(|| inner);
        let context = std::ptr::null_mut();
        let raw =
            Allocator { context, malloc: Some(malloc), calloc: Some(calloc), realloc: Some(realloc), free: Some(free) };
        let arenas = Arenas { context, alloc: Some(arena), free: Some(free_arena) };
        PyMem_SetAllocator(RAW, &raw const raw);
        PyObject_SetArenaAllocator(&raw const arenas);
    }
    Ok(())
}

/// Whether blocks are the system's.
fn usual(py: Python<'_>) -> PyResult<bool> {
    let sys = py.import("sys")?;
    let developing: bool = sys.getattr("flags")?.getattr("dev_mode")?.extract()?;
    let exchanged = py.import("os")?.getattr("environ")?.contains("PYTHONMALLOC")?;
    Ok(!developing && !exchanged && !sys.hasattr("gettotalrefcount")?)
}

/// Sets the limit; see [`exuvia_ir::interpreter::Limits::memory`].
pub fn allow(bytes: u64) {
    let bytes = if bytes == 0 { machine() / 4 * 3 } else { bytes };
    LIMIT.store(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
}

/// A request that tells of an exception, until it is dropped.
pub struct Telling;

impl Telling {
    pub fn begin() -> Telling {
        TELLING.fetch_add(1, Ordering::Relaxed);
        Telling
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        TELLING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether Python might not find memory for the state of another thread.
pub fn exhausted() -> bool {
    !fits(SMALL)
}

fn fits(size: usize) -> bool {
    let limit = LIMIT.load(Ordering::Relaxed);
    let more = if size <= SMALL { limit / 8 } else { 0 };
    let telling = if TELLING.load(Ordering::Relaxed) > 0 { limit / 4 } else { 0 };
    let limit = limit.saturating_add(more).saturating_add(telling);
    i64::try_from(size).is_ok_and(|size| size <= limit.saturating_sub(USED.load(Ordering::Relaxed)))
}

/// Bytes of memory that the process may have: the machine's, or its control group's.
fn machine() -> u64 {
    static MACHINE: OnceLock<u64> = OnceLock::new();
    *MACHINE.get_or_init(|| {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let kibibytes = |line: &str| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok();
        let total = read("/proc/meminfo").lines().find_map(kibibytes).map_or(u64::MAX, |kib: u64| kib << 10);
        // Of version 2 and 1; a word where there is no limit.
        let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        groups.iter().filter_map(|path| read(path).trim().parse().ok()).fold(total, u64::min)
    })
}

/// The bytes of a block; of null none.
///
/// # Safety
/// It is null or one of the system's that is in use.
#[cfg(target_os = "linux")]
unsafe fn size_of(block: *mut c_void) -> i64 {
    unsafe extern "C" {
        fn malloc_usable_size(block: *mut c_void) -> usize;
    }
    // SAFETY: the caller's.
    i64::try_from(unsafe { malloc_usable_size(block) }).unwrap_or(i64::MAX)
}

/// See above; nothing is counted here.
#[cfg(not(target_os = "linux"))]
unsafe fn size_of(_block: *mut c_void) -> i64 {
    0
}

/// Counts a block that Python's function has given.
///
/// # Safety
/// As for [`size_of`].
unsafe fn given(block: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's.
    USED.fetch_add(unsafe { size_of(block) }, Ordering::Relaxed);
    block
}

unsafe extern "C" fn malloc(_context: *mut c_void, size: usize) -> *mut c_void {
    match INNER.get().map(|inner| inner.raw) {
        // SAFETY: as CPython calls it.
        Some(Allocator { context, malloc: Some(malloc), .. }) if fits(size) => unsafe { given(malloc(context, size)) },
        _ => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn calloc(_context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match INNER.get().map(|inner| inner.raw) {
        // SAFETY: as CPython calls it.
        Some(Allocator { context, calloc: Some(calloc), .. }) if count.checked_mul(size).is_some_and(fits) => unsafe {
            given(calloc(context, count, size))
        },
        _ => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn realloc(_context: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    let Some(Allocator { context, realloc: Some(realloc), .. }) = INNER.get().map(|inner| inner.raw) else {
        return std::ptr::null_mut();
    };
    // SAFETY: as CPython calls it; a block that could not grow is still in use.
    unsafe {
        let before = size_of(block);
        if !fits(size.saturating_sub(usize::try_from(before).unwrap_or(0))) {
            return std::ptr::null_mut();
        }
        let moved = realloc(context, block, size);
        if !moved.is_null() {
            USED.fetch_add(size_of(moved) - before, Ordering::Relaxed);
        }
        moved
    }
}

unsafe extern "C" fn free(_context: *mut c_void, block: *mut c_void) {
    if let Some(Allocator { context, free: Some(free), .. }) = INNER.get().map(|inner| inner.raw) {
        // SAFETY: as CPython calls it.
        unsafe {
            USED.fetch_sub(size_of(block), Ordering::Relaxed);
            free(context, block);
        }
    }
}

unsafe extern "C" fn arena(_context: *mut c_void, size: usize) -> *mut c_void {
    match INNER.get().map(|inner| inner.arenas) {
        Some(Arenas { context, alloc: Some(alloc), .. }) if fits(size) => {
            // SAFETY: as CPython calls it.
            let arena = unsafe { alloc(context, size) };
            if !arena.is_null() {
                USED.fetch_add(size as i64, Ordering::Relaxed);
            }
            arena
        }
        _ => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn free_arena(_context: *mut c_void, arena: *mut c_void, size: usize) {
    if let Some(Arenas { context, free: Some(free), .. }) = INNER.get().map(|inner| inner.arenas) {
        USED.fetch_sub(size as i64, Ordering::Relaxed);
        // SAFETY: as CPython calls it.
        unsafe { free(context, arena, size) };
    }
}
