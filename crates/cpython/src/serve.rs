//! The same library inside a Python process that the engine has started, for a Python
//! that has no shared library; see [`exuvia_ir::interpreter::wire`].
//!
//! Each request runs on a thread of its own, as in the engine's process, so that requests
//! take turns and one can be stopped while it runs.

use crate::failure::Failure;
use crate::function::{Definition, Function};
use arrow::array::{ArrayRef, RecordBatch, StructArray};
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use exuvia_ir::interpreter::wire::{Answer, Request, frame, read};
use exuvia_ir::interpreter::{Limits, Listener, Report, Text};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The module that the process imports.
#[pymodule]
fn exuvia_cpython(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(pyo3::wrap_pyfunction!(serve, module)?)
}

/// Serves requests from one descriptor on another, until the engine closes it.
#[pyfunction]
fn serve(py: Python<'_>, requests: i32, answers: i32) -> PyResult<()> {
    crate::print::install(py)?;
    // SAFETY: the process was started with these descriptors for us alone.
    let (mut requests, answers) = unsafe { (File::from_raw_fd(requests), File::from_raw_fd(answers)) };
    let server = Arc::new(Server {
        functions: Mutex::default(),
        defined: AtomicU64::new(0),
        running: Mutex::default(),
        answers: Mutex::new(answers),
    });
    py.detach(|| {
        std::thread::spawn(|| crate::watch::run());
        while let Some((number, message)) = read(&mut requests) {
            match Request::decode(&message) {
                Some(request) => server.serve(number, request),
                None => break,
            }
        }
        // The engine is gone, and with it whoever waits for what may still run.
        std::process::exit(0)
    })
}

struct Server {
    functions: Mutex<HashMap<u64, Arc<Function>>>,
    defined: AtomicU64,
    /// The flags that stop the requests that run.
    running: Mutex<HashMap<u64, Arc<AtomicBool>>>,
    answers: Mutex<File>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    fn serve(self: &Arc<Server>, number: u64, request: Request) {
        match request {
            Request::Stop => {
                if let Some(stop) = lock(&self.running).get(&number) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            Request::Free { handle } => {
                let function = lock(&self.functions).remove(&handle);
                Python::attach(|_| drop(function));
            }
            Request::Define { .. } | Request::Call { .. } => {
                let stop = Arc::new(AtomicBool::new(false));
                lock(&self.running).insert(number, Arc::clone(&stop));
                let server = Arc::clone(self);
                let run = move || {
                    let answer = catch_unwind(AssertUnwindSafe(|| server.answer(number, &request, &stop)))
                        .unwrap_or_else(|panic| Err(Failure::panicked(&*panic)));
                    lock(&server.running).remove(&number);
                    server.send(number, &answer.unwrap_or_else(failed));
                };
                if let Err(error) = crate::stack::builder().spawn(run) {
                    lock(&self.running).remove(&number);
                    self.send(number, &failed(Failure::host(error.to_string())));
                }
            }
        }
    }

    fn answer(&self, number: u64, request: &Request, stop: &AtomicBool) -> Result<Answer, Failure> {
        let context = (self, number);
        let listener = Listener { context: std::ptr::from_ref(&context).cast_mut().cast(), report, print };
        let stop = std::ptr::from_ref(stop).cast();
        match request {
            Request::Call { handle, on_error_null, nanos, batch } => {
                let function = lock(&self.functions).get(handle).cloned();
                let function = function.ok_or_else(|| Failure::host("a call of an unknown function"))?;
                let limits = Limits { stop, nanos: *nanos };
                let result = call(&function, batch, *on_error_null, &limits, &listener);
                // The last to drop a function needs Python's lock.
                Python::attach(|_| drop(function));
                Ok(Answer::Result { batch: result? })
            }
            Request::Define { nanos, .. } => {
                let function = define(request, &Limits { stop, nanos: *nanos }, &listener)?;
                let handle = self.defined.fetch_add(1, Ordering::Relaxed);
                lock(&self.functions).insert(handle, Arc::new(function));
                Ok(Answer::Defined { handle })
            }
            Request::Stop | Request::Free { .. } => Err(Failure::host("a request without an answer")),
        }
    }

    fn send(&self, number: u64, answer: &Answer) {
        // Should the engine be gone, the reading thread ends the process.
        let _ = lock(&self.answers).write_all(&frame(number, &answer.encode()));
    }
}

fn failed(failure: Failure) -> Answer {
    Answer::Failed {
        kind: failure.kind,
        row: failure.row as u64,
        line: failure.line,
        class: failure.class,
        message: failure.message,
    }
}

fn define(request: &Request, limits: &Limits, listener: &Listener) -> Result<Function, Failure> {
    let Request::Define { name, source, handler, first_line, strict, schema, result_type, .. } = request else {
        return Err(Failure::host("no definition"));
    };
    let schema = StreamReader::try_new(schema.as_slice(), None).map_err(host)?.schema();
    let fields: Vec<Field> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
    let definition =
        Definition { name, source, handler, first_line: *first_line, strict: *strict, fields: &fields, result_type };
    // SAFETY: flag and listener live during the call.
    Python::attach(|py| unsafe { Function::define(py, &definition, limits, listener) })
}

fn call(
    function: &Function,
    batch: &[u8],
    on_error_null: bool,
    limits: &Limits,
    listener: &Listener,
) -> Result<Vec<u8>, Failure> {
    let batch = StreamReader::try_new(batch, None)
        .map_err(host)?
        .next()
        .ok_or_else(|| Failure::host("a call without a batch"))?
        .map_err(host)?;
    let rows = batch.num_rows();
    let (schema, columns, _) = batch.into_parts();
    let args = StructArray::try_new_with_length(schema.fields().clone(), columns, None, rows).map_err(host)?;
    // SAFETY: flag and listener live during the call.
    let result = Python::attach(|py| unsafe { function.call(py, &args, on_error_null, limits, listener) })?;
    stream(result).map_err(host)
}

fn stream(column: ArrayRef) -> Result<Vec<u8>, ArrowError> {
    let schema = Arc::new(Schema::new(vec![Field::new("result", column.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column])?;
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&batch)?;
    writer.into_inner()
}

fn host(error: ArrowError) -> Failure {
    Failure::host(error.to_string())
}

/// Failures are returned here, not reported.
unsafe extern "C" fn report(_context: *mut c_void, _report: *const Report) {}

unsafe extern "C" fn print(context: *mut c_void, text: Text) {
    // SAFETY: the context is the request's, which outlives its call; the text lives during
    // this one.
    let ((server, number), text) = unsafe { (&*context.cast::<(&Server, u64)>(), crate::border::text(text)) };
    server.send(*number, &Answer::Printed { text: text.to_string() });
}
