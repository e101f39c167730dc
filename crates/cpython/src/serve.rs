//! The same library inside a Python process that the engine has started, for a Python
//! that has no shared library; see [`exuvia_ir::interpreter::wire`].
//!
//! Each request runs on a thread of its own, as in the engine's process, so that requests
//! take turns and one can be stopped while it runs.

use crate::failure::Failure;
use crate::function::{Definition, Function};
use arrow::array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use exuvia_ir::interpreter::wire::{Answer, Request, frame, read};
use exuvia_ir::interpreter::{Limits, Listener, Report, Run, Text, step};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The module that the process imports.
#[pymodule]
fn exuvia_cpython(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(pyo3::wrap_pyfunction!(serve, module)?)
}

/// Serves requests from one descriptor on another, until the engine closes it.
#[pyfunction]
fn serve(py: Python<'_>, requests: i32, answers: i32) -> PyResult<()> {
    crate::start::usual_digits(py)?;
    crate::start::baseline_numpy(py)?;
    crate::memory::count(py)?;
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
        let watch = std::thread::Builder::new().spawn(|| crate::watch::run());
        watch.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
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
    /// The requests that run.
    running: Mutex<HashMap<u64, Running>>,
    answers: Mutex<File>,
}

/// A request that runs.
struct Running {
    /// Stops it.
    stop: Arc<AtomicBool>,
    /// What the engine answers to the batches that it asks for and gives.
    steps: Sender<Step>,
}

/// One of [`step`], and a stream of one batch if one was asked for.
type Step = (u32, Vec<u8>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    fn serve(self: &Arc<Server>, number: u64, request: Request) {
        match request {
            Request::Stop => {
                if let Some(running) = lock(&self.running).get(&number) {
                    running.stop.store(true, Ordering::Relaxed);
                }
            }
            Request::Free { handle } => {
                let function = lock(&self.functions).remove(&handle);
                Python::attach(|_| drop(function));
            }
            Request::Step { step, batch } => {
                if let Some(running) = lock(&self.running).get(&number) {
                    // Whoever does not wait for it has ended.
                    let _ = running.steps.send((step, batch));
                }
            }
            Request::Define { .. } | Request::Call { .. } | Request::Run { .. } => {
                let stop = Arc::new(AtomicBool::new(false));
                let (steps, taken) = channel();
                lock(&self.running).insert(number, Running { stop: Arc::clone(&stop), steps });
                let server = Arc::clone(self);
                let run = move || {
                    let answer = catch_unwind(AssertUnwindSafe(|| server.answer(number, &request, &stop, &taken)))
                        .unwrap_or_else(|panic| Err(Failure::panicked(&*panic)));
                    lock(&server.running).remove(&number);
                    server.send(number, &answer.unwrap_or_else(failed));
                };
                if let Err(error) = crate::request::builder().spawn(run) {
                    lock(&self.running).remove(&number);
                    self.send(number, &failed(Failure::host(error.to_string())));
                }
            }
        }
    }

    fn answer(
        &self,
        number: u64,
        request: &Request,
        stopped: &AtomicBool,
        steps: &Receiver<Step>,
    ) -> Result<Answer, Failure> {
        let context = (self, number);
        let listener = Listener { context: std::ptr::from_ref(&context).cast_mut().cast(), report, print };
        let stop = std::ptr::from_ref(stopped).cast();
        let function = |handle: &u64| {
            let function = lock(&self.functions).get(handle).cloned();
            function.ok_or_else(|| Failure::host("a call of an unknown function"))
        };
        match request {
            Request::Call { handle, on_error_null, nanos, memory, batch } => {
                let function = function(handle)?;
                let limits = Limits { stop, nanos: *nanos, memory: *memory };
                let result = call(&function, batch, *on_error_null, &limits, &listener);
                // The last to drop a function needs Python's lock.
                Python::attach(|_| drop(function));
                Ok(Answer::Result { batch: result? })
            }
            Request::Define { nanos, memory, .. } => {
                let limits = Limits { stop, nanos: *nanos, memory: *memory };
                let function = define(request, &limits, &listener)?;
                let handle = self.defined.fetch_add(1, Ordering::Relaxed);
                lock(&self.functions).insert(handle, Arc::new(function));
                Ok(Answer::Defined { handle })
            }
            Request::Run { handle, nanos, memory, .. } => {
                let limits = Limits { stop, nanos: *nanos, memory: *memory };
                let function = function(handle)?;
                let way = Way { server: self, number, stopped, steps };
                let result = run(&function, request, &limits, &way, &listener);
                Python::attach(|_| drop(function));
                result.map(|()| Answer::Done)
            }
            Request::Stop | Request::Free { .. } | Request::Step { .. } => {
                Err(Failure::host("a request without an answer"))
            }
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
    let Request::Define { name, source, handler, first_line, strict, form, models, schema, result_type, .. } = request
    else {
        return Err(Failure::host("no definition"));
    };
    let schema = StreamReader::try_new(schema.as_slice(), None).map_err(host)?.schema();
    let fields: Vec<Field> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
    let definition = Definition {
        name,
        source,
        handler,
        first_line: *first_line,
        strict: *strict,
        form: *form,
        models,
        fields: &fields,
        result_type,
    };
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
    stream_of(&RecordBatch::try_new(schema, vec![column])?)
}

fn stream_of(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(batch)?;
    writer.into_inner()
}

/// The batch of a stream of one, as a struct.
fn struct_of(bytes: &[u8]) -> Result<StructArray, Failure> {
    let batch = StreamReader::try_new(bytes, None).map_err(host)?.next();
    let batch = batch.ok_or_else(|| Failure::host("a stream without a batch"))?.map_err(host)?;
    let rows = batch.num_rows();
    let (schema, columns, _) = batch.into_parts();
    StructArray::try_new_with_length(schema.fields().clone(), columns, None, rows).map_err(host)
}

/// The schema of a stream, as that of a struct.
fn schema_of(bytes: &[u8]) -> Result<FFI_ArrowSchema, Failure> {
    let schema = StreamReader::try_new(bytes, None).map_err(host)?.schema();
    FFI_ArrowSchema::try_from(&DataType::Struct(schema.fields().clone())).map_err(host)
}

/// The way of a run to the engine, through the pipes.
struct Way<'a> {
    server: &'a Server,
    number: u64,
    stopped: &'a AtomicBool,
    steps: &'a Receiver<Step>,
}

impl Way<'_> {
    fn wait(&self) -> Step {
        loop {
            match self.steps.recv_timeout(PERIOD) {
                Ok(step) => return step,
                Err(RecvTimeoutError::Timeout) if !self.stopped.load(Ordering::Relaxed) => {}
                Err(_) => return (step::STOP, vec![]),
            }
        }
    }
}

/// How often a run that waits looks at its flag.
const PERIOD: Duration = Duration::from_millis(5);

fn run(
    function: &Function,
    request: &Request,
    limits: &Limits,
    way: &Way<'_>,
    listener: &Listener,
) -> Result<(), Failure> {
    let Request::Run { inputs, output, scalars, batch_rows, call_nanos, .. } = request else {
        return Err(Failure::host("no run"));
    };
    let inputs = schema_of(inputs)?;
    let output = if output.is_empty() { None } else { Some(schema_of(output)?) };
    let (mut scalars, scalars_schema) = to_ffi(&struct_of(scalars)?.to_data()).map_err(host)?;
    let run = Run {
        inputs: std::ptr::from_ref(&inputs).cast(),
        output: output.as_ref().map_or(std::ptr::null(), |output| std::ptr::from_ref(output).cast()),
        scalars: (&raw mut scalars).cast(),
        scalars_schema: (&raw const scalars_schema).cast(),
        batch_rows: *batch_rows,
        call_nanos: *call_nanos,
        limits: *limits,
        context: std::ptr::from_ref(way).cast_mut().cast(),
        pull,
        push,
    };
    // SAFETY: all that the run refers to lives during the call.
    unsafe {
        let opened = crate::run::open(&run)?;
        Python::attach(|py| function.run(py, opened, &run, listener))
    }
}

unsafe extern "C" fn pull(context: *mut c_void, input: u32, array: *mut c_void, schema: *mut c_void) -> u32 {
    // SAFETY: the context is the run's, which outlives its call.
    let way = unsafe { &*context.cast::<Way<'_>>() };
    way.server.send(way.number, &Answer::Wanted { input });
    let (given, batch) = way.wait();
    if given != step::BATCH {
        return given;
    }
    let batch = struct_of(&batch).ok().and_then(|batch| to_ffi(&batch.to_data()).ok());
    let Some((batch, batch_schema)) = batch else { return step::STOP };
    // SAFETY: the caller gives writable places for both.
    unsafe {
        array.cast::<FFI_ArrowArray>().write(batch);
        schema.cast::<FFI_ArrowSchema>().write(batch_schema);
    }
    step::BATCH
}

unsafe extern "C" fn push(context: *mut c_void, array: *mut c_void, schema: *mut c_void) -> u32 {
    // SAFETY: as for `pull`; the caller gives array and schema away.
    let (way, data) = unsafe {
        let array = FFI_ArrowArray::from_raw(array.cast());
        (&*context.cast::<Way<'_>>(), from_ffi(array, &*schema.cast::<FFI_ArrowSchema>()))
    };
    let Some(batch) = data.ok().and_then(|data| stream_of(&RecordBatch::from(StructArray::from(data))).ok()) else {
        return step::STOP;
    };
    way.server.send(way.number, &Answer::Output { batch });
    way.wait().0
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
