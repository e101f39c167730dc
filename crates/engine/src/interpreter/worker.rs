//! Python as a process of its own: where a session asks for a worker, and for a Python that has no shared library.
//!
//! The process imports the same library that is otherwise opened here, and the two speak
//! through pipes ([`exuvia_ir::interpreter::wire`]). A process that ends, because a
//! function crashed it or would not stop, is replaced at the next request, and functions
//! are defined again in the new one: what their modules had changed is lost.

use super::discover::{self, Python};
use super::library::{Kept, nanos};
use super::{
    CANCELLED, Calling, ModuleLimits, PrintSink, Pulled, Pushed, PyCall, PyDefinition, PyError, PyFailure, PyRun,
    took_too_long,
};
use crate::sql;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use exuvia_ir::interpreter::wire::{Answer, Request, frame, read};
use exuvia_ir::interpreter::{kind, step};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often a waiting request looks at its stop flag and its deadline.
const PERIOD: Duration = Duration::from_millis(5);

/// How long Python may go on after it was told to stop before its process is ended: a
/// call into C that does not end cannot be broken otherwise.
const GRACE: Duration = Duration::from_secs(2);

/// The process reads requests where standard input was, and answers where standard output
/// was; what a child process prints goes to standard error. Ctrl-C is not for it.
const MAIN: &str = "\
import importlib.machinery, importlib.util, os, signal, sys
requests, answers = os.dup(0), os.dup(1)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)
os.dup2(2, 1)
signal.signal(signal.SIGINT, signal.SIG_IGN)
loader = importlib.machinery.ExtensionFileLoader('exuvia_cpython', sys.argv[1])
library = importlib.util.module_from_spec(importlib.util.spec_from_loader('exuvia_cpython', loader))
loader.exec_module(library)
if int(sys.argv[2]):
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
sys.argv = ['']
library.serve(requests, answers)
";

/// A Python process, or the next one.
#[derive(Debug)]
pub struct Worker {
    executable: String,
    library: PathBuf,
    /// The bytes that a process may map.
    memory: Option<usize>,
    process: Mutex<Option<Arc<Process>>>,
}

/// Those that wait for answers, by the numbers of their requests; `None` for ever once
/// there are no more answers.
type Waiting = Option<HashMap<u64, Sender<Answer>>>;

#[derive(Debug)]
struct Process {
    child: Mutex<Child>,
    /// What a thread writes into the pipe.
    requests: Sender<Vec<u8>>,
    waiting: Arc<Mutex<Waiting>>,
    next: AtomicU64,
}

/// Why a request has no answer.
enum Lost {
    Stopped(u32),
    Failed(String),
    /// A process that had answered others ended by itself and said nothing to this request, as one does
    /// whose pipe an earlier call has broken: it may be asked of another process.
    Unread(String),
}

/// Asks again, once, where a process ended before it had read what it was asked.
fn once_more<T>(mut ask: impl FnMut() -> Result<T, Lost>) -> Result<T, Lost> {
    match ask() {
        Err(Lost::Unread(_)) => ask(),
        other => other,
    }
}

/// The number of the first call of a function that a new process gets; its definition comes before.
const FIRST_CALL: u64 = 1;

/// How a process has ended that found no more requests.
const ENDED_BY_ITSELF: &str = "exit status: 0";

fn ended_so(how: &str) -> String {
    format!("the Python process ended: {how}")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// Starts the first process.
    pub fn start(python: &Python, memory: Option<usize>) -> Result<Arc<Worker>, String> {
        let worker = Arc::new(Worker {
            executable: python.executable.clone(),
            library: discover::our_library()?,
            memory,
            process: Mutex::new(None),
        });
        // A definition that works shows that the library could be imported.
        let definition = PyDefinition {
            name: "exuvia",
            source: "def exuvia(): pass",
            handler: "exuvia",
            first_line: 1,
            strict: false,
            calling: Calling::default(),
            param_names: &[],
            params: &[],
            returns: &DataType::Int64,
            print: &PrintSink::STDOUT,
        };
        worker
            .define(&definition)
            .map_err(|error| format!("Python at {} cannot be used: {}", python.executable, error.message))?;
        Ok(worker)
    }

    /// The process, which is started if there is none.
    fn process(&self) -> Result<Arc<Process>, Lost> {
        let mut process = lock(&self.process);
        // One that has ended since it answered the last request is no longer one.
        if let Some(process) = process.as_ref().filter(|process| !process.has_ended()) {
            return Ok(Arc::clone(process));
        }
        let started = Arc::new(self.spawn().map_err(Lost::Failed)?);
        *process = Some(Arc::clone(&started));
        Ok(started)
    }

    /// Gives up a process; says how it ended.
    fn give_up(&self, process: &Arc<Process>) -> String {
        let mut current = lock(&self.process);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, process)) {
            *current = None;
        }
        drop(current);
        process.end()
    }

    fn spawn(&self) -> Result<Process, String> {
        let failed = |error: std::io::Error| format!("{} did not start: {error}", self.executable);
        let mut child = discover::apart(&mut Command::new(&self.executable))
            .args(["-c", MAIN])
            .arg(&self.library)
            .arg(self.memory.unwrap_or(0).to_string())
            .env("PYTHONHASHSEED", "0")
            // The folder in which the engine runs is no place for modules, as it is none
            // for a Python inside this process.
            .env("PYTHONSAFEPATH", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let missing = || format!("{} has no pipes", self.executable);
        let mut pipe = child.stdin.take().ok_or_else(missing)?;
        let mut answers = child.stdout.take().ok_or_else(missing)?;
        let waiting = Arc::new(Mutex::new(Some(HashMap::new()) as Waiting));
        let hearing = Arc::clone(&waiting);
        let hear = move || {
            while let Some((number, message)) = read(&mut answers) {
                let Some(answer) = Answer::decode(&message) else { break };
                if let Some(sender) = lock(&hearing).as_ref().and_then(|waiting| waiting.get(&number)) {
                    // Whoever does not wait any more does not want the answer.
                    let _ = sender.send(answer);
                }
            }
            *lock(&hearing) = None;
        };
        std::thread::Builder::new().name("exuvia-python".to_string()).spawn(hear).map_err(failed)?;
        // A process that does not read must not hold who sends: a request has a time.
        let (requests, queued) = channel::<Vec<u8>>();
        let tell = move || {
            for request in queued {
                if pipe.write_all(&request).and_then(|()| pipe.flush()).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("exuvia-requests".to_string()).spawn(tell).map_err(failed)?;
        Ok(Process { child: Mutex::new(child), requests, waiting, next: AtomicU64::new(0) })
    }

    /// Defines a function.
    pub fn define(self: &Arc<Worker>, definition: &PyDefinition<'_>) -> Result<Function, PyError> {
        let host = |message: String| PyError { class: String::new(), message, line: None };
        let schema = StreamWriter::try_new(Vec::new(), &Schema::new(definition.fields()))
            .and_then(StreamWriter::into_inner)
            .map_err(|error| host(error.to_string()))?;
        let request = Request::Define {
            name: definition.name.to_string(),
            source: definition.source.to_string(),
            handler: definition.handler.to_string(),
            first_line: definition.first_line,
            strict: definition.strict,
            form: definition.calling.form.number(),
            models: definition.calling.models_text(),
            schema,
            result_type: sql::type_name(definition.returns),
            nanos: nanos(definition.calling.limits.time),
            memory: definition.calling.limits.memory.bytes(),
        };
        let function = Function {
            worker: Arc::clone(self),
            definition: request,
            defined: Mutex::new(None),
            returns: definition.returns.clone(),
        };
        let ModuleLimits { stop, time, memory } = definition.calling.limits;
        // The process watches the time too, and can say what it ran; this is for one that cannot.
        let deadline = Instant::now().checked_add(time);
        let limits = PyCall { print: definition.print, stop, deadline, memory, ..PyCall::default() };
        match once_more(|| function.handle(&self.process()?, &limits)) {
            Ok(Ok(_)) => Ok(function),
            Ok(Err(kept)) if kept.kind == kind::TIMED_OUT => Err(host(took_too_long(time))),
            Ok(Err(kept)) if kept.kind == kind::INTERRUPTED => Err(host(CANCELLED.to_string())),
            Ok(Err(kept)) => Err(PyError { line: kept.line(), class: kept.class, message: kept.message }),
            Err(Lost::Failed(message) | Lost::Unread(message)) => Err(host(message)),
            Err(Lost::Stopped(kind::TIMED_OUT)) => Err(host(took_too_long(time))),
            Err(Lost::Stopped(_)) => Err(host(CANCELLED.to_string())),
        }
    }

    /// Sends a request and waits for its answer.
    fn ask(
        &self,
        process: &Arc<Process>,
        request: &Request,
        limits: &PyCall<'_>,
        run: Option<&mut PyRun<'_>>,
    ) -> Result<Answer, Lost> {
        let number = process.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answers) = channel();
        match lock(&process.waiting).as_mut() {
            Some(waiting) => drop(waiting.insert(number, sender)),
            // Nobody hears any more, so the channel is closed.
            None => drop(sender),
        }
        let answer = self.wait(process, request, number, &answers, limits, run);
        if let Some(waiting) = lock(&process.waiting).as_mut() {
            waiting.remove(&number);
        }
        answer
    }

    fn wait(
        &self,
        process: &Arc<Process>,
        request: &Request,
        number: u64,
        answers: &Receiver<Answer>,
        limits: &PyCall<'_>,
        mut run: Option<&mut PyRun<'_>>,
    ) -> Result<Answer, Lost> {
        let mut stopped = None;
        let mut gone = false;
        let mut heard = false;
        let unread = |heard: bool, how: String| match !heard && number > FIRST_CALL && how == ENDED_BY_ITSELF {
            true => Lost::Unread(ended_so(&how)),
            false => Lost::Failed(ended_so(&how)),
        };
        process.send(number, request);
        loop {
            let received = answers.recv_timeout(PERIOD);
            heard |= received.is_ok();
            match received {
                Ok(Answer::Printed { text }) => limits.print.print(&text),
                Ok(answer @ (Answer::Wanted { .. } | Answer::Output { .. })) => {
                    let (step, batch) = match run.as_mut() {
                        Some(run) => next_step(run, answer).map_err(|error| Lost::Failed(error.to_string()))?,
                        None => (step::STOP, vec![]),
                    };
                    process.send(number, &Request::Step { step, batch });
                }
                // Python does not know why it was stopped.
                Ok(Answer::Failed { kind: kind::INTERRUPTED, .. }) => {
                    return Err(Lost::Stopped(stopped.map_or(kind::INTERRUPTED, |(_, ended)| ended)));
                }
                Ok(answer) => return Ok(answer),
                // Another request, which had the same time, may have ended the process.
                Err(RecvTimeoutError::Disconnected) => {
                    if let ended @ 1.. = stopped.map_or_else(|| ended(limits), |(_, ended)| ended) {
                        self.give_up(process);
                        return Err(Lost::Stopped(ended));
                    }
                    return Err(unread(heard, self.give_up(process)));
                }
                // What it has forked may hold its pipes. An answer may still be on its way.
                Err(RecvTimeoutError::Timeout) if process.has_ended() => {
                    if std::mem::replace(&mut gone, true) {
                        return Err(unread(heard, self.give_up(process)));
                    }
                }
                Err(RecvTimeoutError::Timeout) => match (stopped, ended(limits)) {
                    (None, 0) => {}
                    (None, ended) => {
                        stopped = Some((Instant::now(), ended));
                        process.send(number, &Request::Stop);
                    }
                    (Some((since, ended)), _) if since.elapsed() > GRACE => {
                        self.give_up(process);
                        return Err(Lost::Stopped(ended));
                    }
                    (Some(_), _) => {}
                },
            }
        }
    }
}

impl Process {
    fn send(&self, number: u64, request: &Request) {
        // Should it be gone, waiting for its answer shows it.
        let _ = self.requests.send(frame(number, &request.encode()));
    }

    /// Whether it has ended by itself.
    fn has_ended(&self) -> bool {
        matches!(lock(&self.child).try_wait(), Ok(Some(_)))
    }

    /// Ends the process and says how it ended.
    fn end(&self) -> String {
        let mut child = lock(&self.child);
        // One that has ended by itself keeps its own status.
        if !matches!(child.try_wait(), Ok(Some(_))) {
            std::thread::sleep(PERIOD);
        }
        let ended = child.try_wait();
        kill(&mut child);
        let status = match ended {
            Ok(Some(status)) => Ok(status),
            _ => child.wait(),
        };
        status.map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody waits for what it may still be doing.
        let mut child = lock(&self.child);
        kill(&mut child);
        let _ = child.wait();
    }
}

/// Ends a process and those that it has started; some of them may have ended before.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        use nix::sys::signal::{Signal, killpg};
        let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.kill();
}

fn lost(lost: Lost) -> PyFailure {
    match lost {
        Lost::Stopped(kind) => Kept { kind, ..Kept::default() }.failure(),
        Lost::Failed(message) | Lost::Unread(message) => PyFailure::Host(message),
    }
}

/// Does what a run asks for: one of [`step`] and a stream of one batch, if one was wanted.
fn next_step(run: &mut PyRun<'_>, asked: Answer) -> Result<(u32, Vec<u8>), ArrowError> {
    Ok(match asked {
        Answer::Wanted { input } => match (run.pull)(input as usize) {
            Pulled::Batch(batch) => (step::BATCH, stream_of(&batch)?),
            Pulled::End => (step::END, vec![]),
            Pulled::Stop => (step::STOP, vec![]),
        },
        Answer::Output { batch } => {
            let batch = StreamReader::try_new(batch.as_slice(), None).and_then(|mut reader| reader.next().transpose());
            match batch?.map(|batch| (run.push)(batch)) {
                Some(Pushed::More) => (step::BATCH, vec![]),
                Some(Pushed::Stop) | None => (step::STOP, vec![]),
            }
        }
        _ => (step::STOP, vec![]),
    })
}

/// Nanoseconds until the deadline.
fn time_left(call: &PyCall<'_>) -> u64 {
    call.deadline.map_or(u64::MAX, |deadline| nanos(deadline.saturating_duration_since(Instant::now())))
}

/// Why a request must end: a [`kind`], or 0.
fn ended(limits: &PyCall<'_>) -> u32 {
    if limits.stop.is_some_and(|stop: &AtomicBool| stop.load(Ordering::Relaxed)) {
        kind::INTERRUPTED
    } else if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        kind::TIMED_OUT
    } else {
        0
    }
}

/// A defined function.
#[derive(Debug)]
pub struct Function {
    worker: Arc<Worker>,
    definition: Request,
    defined: Mutex<Option<Defined>>,
    returns: DataType,
}

/// Where a function is defined, and its number there.
#[derive(Debug)]
struct Defined {
    process: Weak<Process>,
    handle: u64,
}

impl Function {
    /// The function's number in a process, where it is defined first if need be.
    fn handle(&self, process: &Arc<Process>, limits: &PyCall<'_>) -> Result<Result<u64, Kept>, Lost> {
        let mut defined = lock(&self.defined);
        if let Some(defined) = defined.as_ref().filter(|defined| defined.process.as_ptr() == Arc::as_ptr(process)) {
            return Ok(Ok(defined.handle));
        }
        match self.worker.ask(process, &self.definition, limits, None)? {
            Answer::Defined { handle } => {
                *defined = Some(Defined { process: Arc::downgrade(process), handle });
                Ok(Ok(handle))
            }
            other => Ok(Err(kept(other)?)),
        }
    }

    /// The answer to a request about it, which gets its number in the process that is asked and the time left.
    fn answer(
        &self,
        mut request: Request,
        call: &PyCall<'_>,
        mut run: Option<&mut PyRun<'_>>,
    ) -> Result<Answer, PyFailure> {
        let answer = once_more(|| {
            let process = self.worker.process()?;
            let number = match self.handle(&process, call)? {
                Ok(number) => number,
                Err(kept) => return Ok(Err(kept)),
            };
            if let Request::Call { handle, nanos, memory, .. } | Request::Run { handle, nanos, memory, .. } =
                &mut request
            {
                (*handle, *nanos, *memory) = (number, time_left(call), call.memory.bytes());
            }
            self.worker.ask(&process, &request, call, run.as_deref_mut()).map(Ok)
        });
        answer.map_err(lost)?.map_err(Kept::failure)
    }

    /// Runs it.
    pub fn run(&self, run: &mut PyRun<'_>, call: &PyCall<'_>) -> Result<(), PyFailure> {
        let host = |error: ArrowError| PyFailure::Host(error.to_string());
        match ended(call) {
            0 => {}
            ended => return Err(lost(Lost::Stopped(ended))),
        }
        let schema = |fields: Fields| {
            StreamWriter::try_new(Vec::new(), &Schema::new(fields)).and_then(StreamWriter::into_inner).map_err(host)
        };
        let inputs = run.inputs.iter().enumerate();
        let inputs = inputs.map(|(index, fields)| Field::new_struct(index.to_string(), fields.clone(), false));
        let request = Request::Run {
            handle: 0,
            inputs: schema(inputs.collect())?,
            output: run.output.clone().map_or(Ok(vec![]), schema)?,
            scalars: stream(run.scalars, 1).map_err(host)?,
            batch_rows: run.batch_rows as u64,
            call_nanos: run.call_time.map_or(u64::MAX, nanos),
            nanos: 0,
            memory: 0,
        };
        match self.answer(request, call, Some(run))? {
            Answer::Done => Ok(()),
            other => Err(kept(other).map_err(lost)?.failure()),
        }
    }

    /// Calls it.
    pub fn call(&self, args: &[ArrayRef], rows: usize, call: &PyCall<'_>) -> Result<ArrayRef, PyFailure> {
        let host = |error: ArrowError| PyFailure::Host(error.to_string());
        match ended(call) {
            0 => {}
            ended => return Err(lost(Lost::Stopped(ended))),
        }
        let batch = stream(args, rows).map_err(host)?;
        let request = Request::Call { handle: 0, on_error_null: call.on_error_null, nanos: 0, memory: 0, batch };
        let answer = self.answer(request, call, None)?;
        let Answer::Result { batch } = answer else {
            return Err(kept(answer).map_err(lost)?.failure());
        };
        let batch = StreamReader::try_new(batch.as_slice(), None)
            .and_then(|mut reader| reader.next().transpose())
            .map_err(host)?
            .ok_or_else(|| PyFailure::Host("Python gave no batch".to_string()))?;
        match batch.columns() {
            [column] if column.data_type() == &self.returns && column.len() == rows => Ok(Arc::clone(column)),
            _ => Err(PyFailure::Host(format!("Python gave a batch that is not one of {}", self.returns))),
        }
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let defined = self.defined.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(Defined { process, handle }) = defined
            && let Some(process) = process.upgrade()
        {
            process.send(0, &Request::Free { handle: *handle });
        }
    }
}

fn kept(answer: Answer) -> Result<Kept, Lost> {
    match answer {
        Answer::Failed { kind, row, line, class, message } => {
            Ok(Kept { kind, row: usize::try_from(row).unwrap_or(0), line, class, message })
        }
        other @ (Answer::Defined { .. }
        | Answer::Result { .. }
        | Answer::Printed { .. }
        | Answer::Wanted { .. }
        | Answer::Output { .. }
        | Answer::Done) => Err(Lost::Failed(format!("Python gave an answer to another request: {other:?}"))),
    }
}

fn stream(args: &[ArrayRef], rows: usize) -> Result<Vec<u8>, ArrowError> {
    let fields: Vec<Field> = args
        .iter()
        .enumerate()
        .map(|(index, arg)| Field::new(index.to_string(), arg.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), args.to_vec(), &options)?;
    stream_of(&batch)
}

fn stream_of(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(batch)?;
    writer.into_inner()
}
