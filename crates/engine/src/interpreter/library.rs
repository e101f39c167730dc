//! Python inside this process: opens libpython, then the library that talks to it.

use super::discover::{self, Python};
use super::{
    CANCELLED, PrintSink, Pulled, Pushed, PyCall, PyDefinition, PyError, PyFailure, PyRun, RowFailure, took_too_long,
};
use crate::sql;
use arrow::array::{Array, ArrayRef, RecordBatch, StructArray, make_array};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use exuvia_ir::interpreter::{Abi, AbiFn, Call, Define, Limits, Listener, Report, Run, SYMBOL, Text, kind, step};
use libloading::os::unix::{Library as Object, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The opened library, which stays open as long as the process lives: threads of Python
/// may run in it at any time.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    abi: &'static Abi,
}

impl Library {
    /// Opens and starts it; [`open_python`] has succeeded.
    pub fn start(python: &Python) -> Result<Library, String> {
        let path = discover::our_library()?;
        // SAFETY: it is our own library, whose initialisers do nothing.
        let object = unsafe { Object::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| format!("{} cannot be loaded: {error}", path.display()))?;
        let stale = || format!("{} is of another build; build it with `cargo build -p exuvia-cpython`", path.display());
        // SAFETY: the symbol's name stands for its type; the table lives for ever, since
        // the library is never closed.
        let abi: &'static Abi = unsafe {
            let function = object.get::<AbiFn>(SYMBOL).map_err(|_| stale())?;
            &*function()
        };
        std::mem::forget(object);
        if abi.size != size_of::<Abi>() {
            return Err(stale());
        }
        let ear = Ear::default();
        // SAFETY: text and listener live during the call.
        let failed = ear
            .listen(&PrintSink::STDOUT, |listener| unsafe { (abi.start)(python.executable.as_str().into(), listener) });
        if failed != 0 {
            return Err(ear.report().message);
        }
        Ok(Library { abi })
    }

    /// Defines a function.
    pub fn define(&self, definition: &PyDefinition<'_>) -> Result<Function, PyError> {
        let host = |message: String| PyError { class: String::new(), message, line: None };
        let mut schema = FFI_ArrowSchema::try_from(&DataType::Struct(Fields::from(definition.fields())))
            .map_err(|error| host(error.to_string()))?;
        let result_type = sql::type_name(definition.returns);
        let models = definition.calling.models_text();
        let limits = definition.calling.limits;
        let request = Define {
            name: definition.name.into(),
            source: definition.source.into(),
            handler: definition.handler.into(),
            first_line: definition.first_line,
            strict: u32::from(definition.strict),
            form: definition.calling.form.number(),
            models: models.as_str().into(),
            schema: (&raw mut schema).cast(),
            result_type: result_type.as_str().into(),
            limits: Limits { stop: flag(limits.stop), nanos: nanos(limits.time), memory: limits.memory.bytes() },
        };
        let ear = Ear::default();
        // SAFETY: request and listener, and what they point to, live during the call.
        let handle =
            ear.listen(definition.print, |listener| unsafe { (self.abi.define)(&raw const request, listener) });
        if !handle.is_null() {
            return Ok(Function { library: *self, handle, returns: definition.returns.clone() });
        }
        let report = ear.report();
        Err(match report.kind {
            kind::TIMED_OUT => host(took_too_long(limits.time)),
            kind::INTERRUPTED => host(CANCELLED.to_string()),
            _ => PyError { line: report.line(), class: report.class, message: report.message },
        })
    }
}

/// Opens libpython so that the libraries opened later find its symbols. Many a Python has
/// none: Debian's is a package of its own, and pyenv does not build it unless told to.
pub fn open_python(python: &Python) -> bool {
    python.libraries.iter().filter(|path| path.is_file()).any(|path| {
        // SAFETY: libpython's initialisers do nothing.
        let object = unsafe { Object::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        object.map(std::mem::forget).is_ok()
    })
}

/// A defined function.
#[derive(Debug)]
pub struct Function {
    library: Library,
    handle: *mut c_void,
    returns: DataType,
}

// SAFETY: the library may be called from any thread, and its functions are shared: they
// take Python's lock before they touch anything.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Calls it.
    pub fn call(&self, args: &[ArrayRef], rows: usize, call: &PyCall<'_>) -> Result<ArrayRef, PyFailure> {
        let host = |error: arrow::error::ArrowError| PyFailure::Host(error.to_string());
        let fields: Fields = args
            .iter()
            .enumerate()
            .map(|(index, arg)| Field::new(index.to_string(), arg.data_type().clone(), true))
            .collect();
        let args = StructArray::try_new_with_length(fields, args.to_vec(), None, rows).map_err(host)?;
        let (mut array, schema) = to_ffi(&args.to_data()).map_err(host)?;
        drop(args);
        let limits = limits(call);
        let (mut result, mut result_schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
        let request = Call {
            args: (&raw mut array).cast(),
            schema: (&raw const schema).cast(),
            on_error_null: u32::from(call.on_error_null),
            limits,
            result: (&raw mut result).cast(),
            result_schema: (&raw mut result_schema).cast(),
        };
        let ear = Ear::default();
        // SAFETY: request and listener, and what they point to, live during the call; the
        // handle lives as long as `self`.
        let failed = ear.listen(call.print, |listener| unsafe {
            (self.library.abi.call)(self.handle, &raw const request, listener)
        });
        if failed != 0 {
            return Err(ear.report().failure());
        }
        // SAFETY: a call that succeeds has written both.
        let data = unsafe { from_ffi(result, &result_schema) }.map_err(host)?;
        if data.data_type() != &self.returns {
            return Err(PyFailure::Host(format!("Python gave {} for {}", data.data_type(), self.returns)));
        }
        Ok(make_array(data))
    }
}

impl Function {
    /// Runs it.
    pub fn run(&self, run: &mut PyRun<'_>, call: &PyCall<'_>) -> Result<(), PyFailure> {
        let host = |error: arrow::error::ArrowError| PyFailure::Host(error.to_string());
        let inputs = run.inputs.iter().enumerate();
        let inputs: Fields =
            inputs.map(|(index, fields)| Field::new_struct(index.to_string(), fields.clone(), false)).collect();
        let inputs = FFI_ArrowSchema::try_from(&DataType::Struct(inputs)).map_err(host)?;
        let output = run.output.clone().map(|fields| FFI_ArrowSchema::try_from(&DataType::Struct(fields)));
        let output = output.transpose().map_err(host)?;
        let fields: Fields = run
            .scalars
            .iter()
            .enumerate()
            .map(|(index, scalar)| Field::new(index.to_string(), scalar.data_type().clone(), true))
            .collect();
        let scalars = StructArray::try_new_with_length(fields, run.scalars.to_vec(), None, 1).map_err(host)?;
        let (mut scalars, scalars_schema) = to_ffi(&scalars.to_data()).map_err(host)?;
        let request = Run {
            inputs: ptr::from_ref(&inputs).cast(),
            output: output.as_ref().map_or(ptr::null(), |output| ptr::from_ref(output).cast()),
            scalars: (&raw mut scalars).cast(),
            scalars_schema: (&raw const scalars_schema).cast(),
            batch_rows: run.batch_rows as u64,
            call_nanos: run.call_time.map_or(u64::MAX, nanos),
            limits: limits(call),
            context: ptr::from_mut(run).cast(),
            pull,
            push,
        };
        let ear = Ear::default();
        // SAFETY: request and listener, and what they point to, live during the call; nobody
        // else uses the run meanwhile; the handle lives as long as `self`.
        let failed = ear.listen(call.print, |listener| unsafe {
            (self.library.abi.run)(self.handle, &raw const request, listener)
        });
        if failed == 0 { Ok(()) } else { Err(ear.report().failure()) }
    }
}

/// A flag as the library takes it.
fn flag(stop: Option<&AtomicBool>) -> *const c_void {
    stop.map_or(ptr::null(), |stop| ptr::from_ref(stop).cast())
}

fn limits(call: &PyCall<'_>) -> Limits {
    Limits {
        stop: flag(call.stop),
        nanos: call.deadline.map_or(u64::MAX, |deadline| nanos(deadline.saturating_duration_since(Instant::now()))),
        memory: call.memory.bytes(),
    }
}

unsafe extern "C" fn pull(context: *mut c_void, input: u32, array: *mut c_void, schema: *mut c_void) -> u32 {
    // SAFETY: the context is the run's, which only this thread uses now.
    let run = unsafe { &mut *context.cast::<PyRun<'_>>() };
    let pulled = catch_unwind(AssertUnwindSafe(|| match (run.pull)(input as usize) {
        Pulled::Batch(batch) => to_ffi(&StructArray::from(batch).to_data()).map_err(|_| step::STOP),
        Pulled::End => Err(step::END),
        Pulled::Stop => Err(step::STOP),
    }));
    match pulled.unwrap_or(Err(step::STOP)) {
        Ok((batch, batch_schema)) => {
            // SAFETY: the library gives writable places for both.
            unsafe {
                array.cast::<FFI_ArrowArray>().write(batch);
                schema.cast::<FFI_ArrowSchema>().write(batch_schema);
            }
            step::BATCH
        }
        Err(step) => step,
    }
}

unsafe extern "C" fn push(context: *mut c_void, array: *mut c_void, schema: *mut c_void) -> u32 {
    // SAFETY: as for `pull`; the library gives array and schema away.
    let (run, data) = unsafe {
        let array = FFI_ArrowArray::from_raw(array.cast());
        (&mut *context.cast::<PyRun<'_>>(), from_ffi(array, &*schema.cast::<FFI_ArrowSchema>()))
    };
    let Ok(data) = data else { return step::STOP };
    let pushed = catch_unwind(AssertUnwindSafe(|| (run.push)(RecordBatch::from(StructArray::from(data)))));
    match pushed {
        Ok(Pushed::More) => step::BATCH,
        Ok(Pushed::Stop) | Err(_) => step::STOP,
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle any more.
        unsafe { (self.library.abi.free)(self.handle) };
    }
}

/// Nanoseconds, as many as 64 bits hold.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A report, kept.
#[derive(Debug, Default)]
pub struct Kept {
    pub kind: u32,
    pub row: usize,
    pub line: u32,
    pub class: String,
    pub message: String,
}

impl Kept {
    /// The line, if one is known.
    pub fn line(&self) -> Option<u32> {
        (self.line > 0).then_some(self.line)
    }

    /// The failure of a call.
    pub fn failure(self) -> PyFailure {
        let kind = match self.kind {
            kind::EXCEPTION => RowFailure::Exception,
            kind::BASE_EXCEPTION => RowFailure::BaseException,
            kind::RESULT => RowFailure::Result,
            kind::ARGUMENT => RowFailure::Argument,
            kind::INTERRUPTED => return PyFailure::Interrupted,
            kind::TIMED_OUT => return PyFailure::TimedOut,
            kind::FULL => return PyFailure::Full,
            _ => return PyFailure::Host(self.message),
        };
        PyFailure::Row { row: self.row, line: self.line(), class: self.class, message: self.message, kind }
    }
}

/// Hears what the library has to tell during one request.
#[derive(Default)]
struct Ear {
    heard: std::cell::RefCell<Option<Kept>>,
}

struct Context<'a> {
    ear: &'a Ear,
    print: &'a PrintSink,
}

impl Ear {
    fn listen<T>(&self, print: &PrintSink, request: impl FnOnce(*const Listener) -> T) -> T {
        let context = Context { ear: self, print };
        let listener = Listener { context: ptr::from_ref(&context).cast_mut().cast(), report, print: print_text };
        request(&raw const listener)
    }

    fn report(self) -> Kept {
        self.heard.into_inner().unwrap_or_else(|| Kept {
            kind: kind::HOST,
            message: "the Python library does not say why it failed".to_string(),
            ..Kept::default()
        })
    }
}

unsafe extern "C" fn report(context: *mut c_void, report: *const Report) {
    // SAFETY: the context is ours, and the report and its texts live during the call.
    unsafe {
        let (context, report) = (&*context.cast::<Context<'_>>(), &*report);
        *context.ear.heard.borrow_mut() = Some(Kept {
            kind: report.kind,
            row: report.row as usize,
            line: report.line,
            class: text(report.class).to_string(),
            message: text(report.message).to_string(),
        });
    }
}

unsafe extern "C" fn print_text(context: *mut c_void, printed: Text) {
    // SAFETY: the context is ours, and the text lives during the call.
    let (context, printed) = unsafe { (&*context.cast::<Context<'_>>(), text(printed)) };
    context.print.print(printed);
}

/// # Safety
/// The text is UTF-8 and lives as long as the result.
unsafe fn text<'a>(text: Text) -> &'a str {
    if text.len == 0 {
        return "";
    }
    // SAFETY: the caller's.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.ptr, text.len)) }
}
