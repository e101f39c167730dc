//! Starts Python inside this process.
//!
//! It starts as the given executable would, so that the packages of its virtual
//! environment are found, with three differences: string hashes have seed 0, as our own
//! sets have; it leaves signals to the host; and it has no arguments. NumPy runs at its baseline
//! instructions, unless somebody said otherwise, so that what it computes is the same on
//! each machine: its elementary functions differ in the last digits by what the CPU has. It is never
//! finalised: the process ends under it, and handlers of `atexit` do not run.

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, CString, c_char, c_int, c_ulong, c_void};
use std::sync::{Mutex, PoisonError};

/// CPython's `PyStatus`.
#[repr(C)]
struct Status {
    kind: c_int,
    function: *const c_char,
    message: *const c_char,
    exit_code: c_int,
}

/// The first fields of CPython's `PyConfig`, which are the same from 3.8 to 3.14, and room
/// for the others, which take less than 600 bytes so far.
#[repr(C)]
struct Config {
    init: c_int,
    isolated: c_int,
    use_environment: c_int,
    dev_mode: c_int,
    install_signal_handlers: c_int,
    use_hash_seed: c_int,
    hash_seed: c_ulong,
    rest: [u64; 1024],
}

unsafe extern "C" {
    fn PyConfig_InitPythonConfig(config: *mut Config);
    fn PyConfig_SetBytesArgv(config: *mut Config, count: isize, values: *const *const c_char) -> Status;
    fn PyConfig_Clear(config: *mut Config);
    fn Py_InitializeFromConfig(config: *const Config) -> Status;
    fn PyOS_getsig(signal: c_int) -> *const c_void;
    fn PyOS_setsig(signal: c_int, handler: *const c_void) -> *const c_void;
}

const SIGINT: c_int = 2;

impl Status {
    fn check(&self) -> Result<(), String> {
        if self.kind == 0 {
            return Ok(());
        }
        let text = |text: *const c_char| match text.is_null() {
            true => String::new(),
            // SAFETY: CPython's texts here are literals.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        };
        match self.kind {
            1 => Err(format!("Python did not start: {}", text(self.message))),
            _ => Err(format!("Python did not start: it exited with status {}", self.exit_code)),
        }
    }
}

/// Starts Python inside this process, and the thread that watches over requests.
pub fn start(executable: &str) -> Result<(), String> {
    static STARTED: Mutex<bool> = Mutex::new(false);
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if *started {
        return Ok(());
    }
    let executable = CString::new(executable).map_err(|_| "the executable's path has a NUL".to_string())?;
    let (told, done) = std::sync::mpsc::channel();
    // Python calls the thread that starts it the main one, so it should never end; and a
    // thread that stays can as well be the one that watches.
    std::thread::Builder::new()
        .name("exuvia-python".to_string())
        .stack_size(8 << 20)
        .spawn(move || {
            let result = initialize(&executable);
            let failed = result.is_err();
            let _ = told.send(result);
            if !failed {
                crate::watch::run();
            }
        })
        .map_err(|error| error.to_string())?;
    done.recv().map_err(|_| "Python did not start".to_string())??;
    *started = true;
    Ok(())
}

/// Importing `signal` installs Python's handler of SIGINT where there is none yet, whatever
/// the configuration says, and nobody would see what it notes: Ctrl-C would be lost. So it
/// is imported here, and the handler taken off.
///
/// # Safety
/// The GIL is held.
unsafe fn leave_interrupts() {
    // SAFETY: the handler is the one that was in place.
    unsafe {
        let handler = PyOS_getsig(SIGINT);
        let module = ffi::PyImport_ImportModule(c"signal".as_ptr());
        ffi::Py_XDECREF(module);
        ffi::PyErr_Clear();
        // An own handler is left alone, and setting it again would lose its flags.
        if PyOS_getsig(SIGINT) != handler {
            PyOS_setsig(SIGINT, handler);
        }
    }
}

/// Lets ints have as many digits in texts as native code does, whatever PYTHONINTMAXSTRDIGITS says.
pub fn usual_digits(py: Python<'_>) -> PyResult<()> {
    const DIGITS: u32 = 4300;
    match py.import("sys")?.getattr_opt("set_int_max_str_digits")? {
        Some(set) => set.call1((DIGITS,)).map(drop),
        None => Ok(()),
    }
}

/// Has NumPy, which reads this when it is imported, use no instructions beyond its baseline.
pub fn baseline_numpy(py: Python<'_>) -> PyResult<()> {
    let environment = py.import("os")?.getattr("environ")?;
    environment.call_method1("setdefault", ("NPY_DISABLE_CPU_FEATURES", "X86_V4 X86_V3"))?;
    Ok(())
}

fn initialize(executable: &CStr) -> Result<(), String> {
    // SAFETY: it has no preconditions.
    let own = unsafe { ffi::Py_IsInitialized() } == 0;
    if own {
        // SAFETY: the configuration is initialised by CPython before it is used, has its
        // layout where we write, and is cleared once; the argument outlives the calls;
        // after a successful start this thread holds the GIL and gives it up.
        unsafe {
            let mut config = Box::new(std::mem::zeroed::<Config>());
            PyConfig_InitPythonConfig(&raw mut *config);
            config.install_signal_handlers = 0;
            config.use_hash_seed = 1;
            config.hash_seed = 0;
            let args = [executable.as_ptr()];
            let mut result = PyConfig_SetBytesArgv(&raw mut *config, 1, args.as_ptr()).check();
            if result.is_ok() {
                result = Py_InitializeFromConfig(&raw const *config).check();
            }
            PyConfig_Clear(&raw mut *config);
            result?;
            leave_interrupts();
            ffi::PyEval_SaveThread();
        }
    }
    Python::attach(usual_digits).map_err(|error| format!("Python did not start: {error}"))?;
    Python::attach(baseline_numpy).map_err(|error| format!("Python did not start: {error}"))?;
    if own {
        // In a Python that somebody else has started, threads may allocate while its allocators change.
        Python::attach(crate::memory::count).map_err(|error| format!("Python did not start: {error}"))?;
    }
    Python::attach(crate::print::install).map_err(|error| format!("Python did not start: {error}"))
}
