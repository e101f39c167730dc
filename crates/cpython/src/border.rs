//! The functions that the engine calls; see [`exuvia_ir::interpreter`].

use crate::failure::Failure;
use crate::function::{Definition, Function};
use crate::request::{self, Streams};
use arrow::array::{Array, StructArray};
use arrow::datatypes::{DataType, Field};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use exuvia_ir::interpreter::{Abi, Call, Define, Listener, Report, Run, Text};
use pyo3::prelude::*;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

static ABI: Abi = Abi { size: size_of::<Abi>(), start, define, call, run, free };

/// The library's functions.
#[unsafe(no_mangle)]
pub extern "C" fn exuvia_cpython_v4() -> *const Abi {
    &raw const ABI
}

/// The text.
///
/// # Safety
/// It is readable UTF-8 for as long as the result is used.
pub unsafe fn text<'a>(text: Text) -> &'a str {
    if text.len == 0 {
        return "";
    }
    // SAFETY: the caller's.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.ptr, text.len)) }
}

/// Runs a request; what it cannot do, panics included, is told to the listener.
///
/// # Safety
/// The listener is readable.
unsafe fn request<T>(listener: *const Listener, run: impl FnOnce(&Listener) -> Result<T, Failure>) -> Option<T> {
    // SAFETY: the caller's.
    let listener = unsafe { &*listener };
    let result =
        catch_unwind(AssertUnwindSafe(|| run(listener))).unwrap_or_else(|panic| Err(Failure::panicked(&*panic)));
    let failure = match result {
        Ok(value) => return Some(value),
        Err(failure) => failure,
    };
    let report = Report {
        kind: failure.kind,
        line: failure.line,
        row: failure.row as u64,
        class: Text::from(failure.class.as_str()),
        message: Text::from(failure.message.as_str()),
    };
    // SAFETY: the listener is the caller's; the report lives during the call.
    unsafe { (listener.report)(listener.context, &raw const report) };
    None
}

unsafe extern "C" fn start(executable: Text, listener: *const Listener) -> u32 {
    // SAFETY: the interface's contract.
    let started = unsafe { request(listener, |_| crate::start::start(text(executable)).map_err(Failure::host)) };
    u32::from(started.is_none())
}

unsafe extern "C" fn define(define: *const Define, listener: *const Listener) -> *mut c_void {
    // SAFETY: the interface's contract.
    let function = unsafe {
        request(listener, |listener| {
            let define = &*define;
            let schema = &*define.schema.cast::<FFI_ArrowSchema>();
            let fields = fields(schema)?;
            let own = |said: Text| text(said).to_string();
            let (name, source, handler) = (own(define.name), own(define.source), own(define.handler));
            let (models, result_type) = (own(define.models), own(define.result_type));
            let (first_line, strict, form) = (define.first_line, define.strict != 0, define.form);
            request::run(&define.limits, listener, None, move |own| {
                let definition = Definition {
                    name: &name,
                    source: &source,
                    handler: &handler,
                    first_line,
                    strict,
                    form,
                    models: &models,
                    fields: &fields,
                    result_type: &result_type,
                };
                Python::attach(|py| Function::define(py, &definition, &own.limits(), &own.listener()))
            })
        })
    };
    function.map_or(std::ptr::null(), |function| Arc::into_raw(Arc::new(function))).cast_mut().cast()
}

/// A function that a request keeps for as long as it runs.
///
/// # Safety
/// The handle is one of `define`'s that was not freed.
unsafe fn function(handle: *const c_void) -> Arc<Function> {
    let handle = handle.cast::<Function>();
    // SAFETY: the caller's.
    unsafe {
        Arc::increment_strong_count(handle);
        Arc::from_raw(handle)
    }
}

fn fields(schema: &FFI_ArrowSchema) -> Result<Vec<Field>, Failure> {
    match DataType::try_from(schema) {
        Ok(DataType::Struct(fields)) => Ok(fields.iter().map(|field| field.as_ref().clone()).collect()),
        Ok(other) => Err(Failure::host(format!("a schema of type {other}"))),
        Err(error) => Err(Failure::host(error.to_string())),
    }
}

unsafe extern "C" fn call(handle: *const c_void, call: *const Call, listener: *const Listener) -> u32 {
    // SAFETY: the interface's contract.
    let done = unsafe {
        request(listener, |listener| {
            let (function, call) = (function(handle), &*call);
            let array = FFI_ArrowArray::from_raw(call.args.cast());
            let host = |error: arrow::error::ArrowError| Failure::host(error.to_string());
            let data = from_ffi(array, &*call.schema.cast::<FFI_ArrowSchema>()).map_err(host)?;
            let args = StructArray::from(data);
            let on_error_null = call.on_error_null != 0;
            let result = request::run(&call.limits, listener, None, move |own| {
                Python::attach(|py| {
                    // Whoever is the last to drop a function needs Python's lock.
                    let function = function;
                    function.call(py, &args, on_error_null, &own.limits(), &own.listener())
                })
            })?;
            let (array, schema) = to_ffi(&result.to_data()).map_err(host)?;
            call.result.cast::<FFI_ArrowArray>().write(array);
            call.result_schema.cast::<FFI_ArrowSchema>().write(schema);
            Ok(())
        })
    };
    u32::from(done.is_none())
}

unsafe extern "C" fn run(handle: *const c_void, run: *const Run, listener: *const Listener) -> u32 {
    // SAFETY: the interface's contract.
    let done = unsafe {
        request(listener, |listener| {
            let (function, run) = (function(handle), &*run);
            let opened = crate::run::open(run)?;
            let (batch_rows, call_nanos) = (run.batch_rows, run.call_nanos);
            request::run(&run.limits, listener, Some(Streams::of(run)), move |own| {
                Python::attach(|py| {
                    let function = function;
                    function.run(py, opened, &own.run(batch_rows, call_nanos), &own.listener())
                })
            })
        })
    };
    u32::from(done.is_none())
}

unsafe extern "C" fn free(handle: *mut c_void) {
    // SAFETY: the interface's contract: the handle is one of `define`'s and unused.
    let function = unsafe { Arc::from_raw(handle.cast::<Function>()) };
    // A panic while Python ends has nobody to be told to.
    let _ = catch_unwind(AssertUnwindSafe(|| Python::attach(|_| drop(function))));
}
