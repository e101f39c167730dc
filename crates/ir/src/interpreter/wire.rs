//! The messages between the engine and a Python that runs as a process of its own.
//!
//! They say what the C interface says. A message travels behind its length and the number
//! of the request, each in eight bytes, little-endian; batches and schemas are streams of
//! Arrow's IPC format. Each [`Request`] gets its [`Answer`] under its number, after any
//! number of [`Answer::Printed`], except [`Request::Stop`], which has the number of the
//! request to be stopped, and [`Request::Free`]; neither is answered. Requests may run side
//! by side.

/// What the engine asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// As [`super::Define`]; answered by [`Answer::Defined`].
    Define {
        /// The function's name in SQL.
        name: String,
        /// A Python module.
        source: String,
        /// The name of the callable in it.
        handler: String,
        /// The number that reports give to the module's first line.
        first_line: u32,
        /// Whether NULL in any argument gives NULL without a call.
        strict: bool,
        /// One of [`super::form`].
        form: u32,
        /// Lines `name=path`.
        models: String,
        /// A stream without batches, whose fields are the parameters and, last, the result.
        schema: Vec<u8>,
        /// The declared type of the result as errors name it.
        result_type: String,
        /// Nanoseconds that it may take.
        nanos: u64,
        /// As [`super::Limits::memory`].
        memory: u64,
    },
    /// As [`super::Call`]; answered by [`Answer::Result`].
    Call {
        /// What [`Answer::Defined`] gave.
        handle: u64,
        /// Whether a row that raises an `Exception` gives NULL.
        on_error_null: bool,
        /// Nanoseconds that it may take.
        nanos: u64,
        /// As [`super::Limits::memory`].
        memory: u64,
        /// A stream of one batch: the arguments.
        batch: Vec<u8>,
    },
    /// As [`super::Run`]; answered by [`Answer::Done`], after any number of
    /// [`Answer::Wanted`] and [`Answer::Output`], each of which waits for a [`Request::Step`].
    Run {
        /// What [`Answer::Defined`] gave.
        handle: u64,
        /// A stream without batches, with a field for each input.
        inputs: Vec<u8>,
        /// A stream without batches of the columns that are pushed; empty where they are what
        /// the function gives.
        output: Vec<u8>,
        /// A stream of one batch of one row.
        scalars: Vec<u8>,
        /// The most rows of a pushed batch.
        batch_rows: u64,
        /// As [`super::Run::call_nanos`].
        call_nanos: u64,
        /// Nanoseconds that it may take.
        nanos: u64,
        /// As [`super::Limits::memory`].
        memory: u64,
    },
    /// What [`super::Run::pull`] and [`super::Run::push`] return, to the run of the same
    /// number.
    Step {
        /// One of [`super::step`].
        step: u32,
        /// A stream of one batch, if one was wanted.
        batch: Vec<u8>,
    },
    /// Ends the request of the same number, if it still runs.
    Stop,
    /// Forgets a function.
    Free {
        /// What [`Answer::Defined`] gave.
        handle: u64,
    },
}

/// What Python answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A function is defined.
    Defined {
        /// Its number.
        handle: u64,
    },
    /// A call has ended well.
    Result {
        /// A stream of one batch with one column.
        batch: Vec<u8>,
    },
    /// The run wants a batch of an input.
    Wanted {
        /// The input.
        input: u32,
    },
    /// The run gives a batch.
    Output {
        /// A stream of one batch.
        batch: Vec<u8>,
    },
    /// A run has ended well.
    Done,
    /// As [`super::Report`].
    Failed {
        /// One of [`super::kind`].
        kind: u32,
        /// The row, of a call.
        row: u64,
        /// The line, or 0.
        line: u32,
        /// The name of the exception's class, or nothing.
        class: String,
        /// `str(exception)`, or what happened.
        message: String,
    },
    /// The function has printed; the answer is still to come.
    Printed {
        /// What.
        text: String,
    },
}

impl Request {
    /// The message's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        match self {
            Request::Define {
                name,
                source,
                handler,
                first_line,
                strict,
                form,
                models,
                schema,
                result_type,
                nanos,
                memory,
            } => {
                out.number(0);
                out.bytes(name.as_bytes());
                out.bytes(source.as_bytes());
                out.bytes(handler.as_bytes());
                out.number(u64::from(*first_line));
                out.number(u64::from(*strict));
                out.number(u64::from(*form));
                out.bytes(models.as_bytes());
                out.bytes(schema);
                out.bytes(result_type.as_bytes());
                out.number(*nanos);
                out.number(*memory);
            }
            Request::Call { handle, on_error_null, nanos, memory, batch } => {
                out.number(1);
                out.number(*handle);
                out.number(u64::from(*on_error_null));
                out.number(*nanos);
                out.number(*memory);
                out.bytes(batch);
            }
            Request::Stop => out.number(2),
            Request::Free { handle } => {
                out.number(3);
                out.number(*handle);
            }
            Request::Run { handle, inputs, output, scalars, batch_rows, call_nanos, nanos, memory } => {
                out.number(4);
                out.number(*handle);
                out.bytes(inputs);
                out.bytes(output);
                out.bytes(scalars);
                out.number(*batch_rows);
                out.number(*call_nanos);
                out.number(*nanos);
                out.number(*memory);
            }
            Request::Step { step, batch } => {
                out.number(5);
                out.number(u64::from(*step));
                out.bytes(batch);
            }
        }
        out.0
    }

    /// The message of some bytes; `None` if they are none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Request> {
        let mut from = Reader(bytes);
        let request = match from.number()? {
            0 => Request::Define {
                name: from.text()?,
                source: from.text()?,
                handler: from.text()?,
                first_line: u32::try_from(from.number()?).ok()?,
                strict: from.number()? != 0,
                form: u32::try_from(from.number()?).ok()?,
                models: from.text()?,
                schema: from.bytes()?.to_vec(),
                result_type: from.text()?,
                nanos: from.number()?,
                memory: from.number()?,
            },
            1 => Request::Call {
                handle: from.number()?,
                on_error_null: from.number()? != 0,
                nanos: from.number()?,
                memory: from.number()?,
                batch: from.bytes()?.to_vec(),
            },
            2 => Request::Stop,
            3 => Request::Free { handle: from.number()? },
            4 => Request::Run {
                handle: from.number()?,
                inputs: from.bytes()?.to_vec(),
                output: from.bytes()?.to_vec(),
                scalars: from.bytes()?.to_vec(),
                batch_rows: from.number()?,
                call_nanos: from.number()?,
                nanos: from.number()?,
                memory: from.number()?,
            },
            5 => Request::Step { step: u32::try_from(from.number()?).ok()?, batch: from.bytes()?.to_vec() },
            _ => return None,
        };
        from.0.is_empty().then_some(request)
    }
}

impl Answer {
    /// The message's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        match self {
            Answer::Defined { handle } => {
                out.number(0);
                out.number(*handle);
            }
            Answer::Result { batch } => {
                out.number(1);
                out.bytes(batch);
            }
            Answer::Failed { kind, row, line, class, message } => {
                out.number(2);
                out.number(u64::from(*kind));
                out.number(*row);
                out.number(u64::from(*line));
                out.bytes(class.as_bytes());
                out.bytes(message.as_bytes());
            }
            Answer::Printed { text } => {
                out.number(3);
                out.bytes(text.as_bytes());
            }
            Answer::Wanted { input } => {
                out.number(4);
                out.number(u64::from(*input));
            }
            Answer::Output { batch } => {
                out.number(5);
                out.bytes(batch);
            }
            Answer::Done => out.number(6),
        }
        out.0
    }

    /// The message of some bytes; `None` if they are none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Answer> {
        let mut from = Reader(bytes);
        let answer = match from.number()? {
            0 => Answer::Defined { handle: from.number()? },
            1 => Answer::Result { batch: from.bytes()?.to_vec() },
            2 => Answer::Failed {
                kind: u32::try_from(from.number()?).ok()?,
                row: from.number()?,
                line: u32::try_from(from.number()?).ok()?,
                class: from.text()?,
                message: from.text()?,
            },
            3 => Answer::Printed { text: from.text()? },
            4 => Answer::Wanted { input: u32::try_from(from.number()?).ok()? },
            5 => Answer::Output { batch: from.bytes()?.to_vec() },
            6 => Answer::Done,
            _ => return None,
        };
        from.0.is_empty().then_some(answer)
    }
}

/// A message of a request's number, ready to be written.
#[must_use]
pub fn frame(number: u64, message: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(message.len() + 16);
    frame.extend((message.len() as u64).to_le_bytes());
    frame.extend(number.to_le_bytes());
    frame.extend(message);
    frame
}

/// Reads the number of a request and a message; `None` where there is no more.
pub fn read(from: &mut impl std::io::Read) -> Option<(u64, Vec<u8>)> {
    use std::io::Read as _;
    let (mut length, mut number, mut message) = ([0; 8], [0; 8], Vec::new());
    from.read_exact(&mut length).ok()?;
    from.read_exact(&mut number).ok()?;
    let length = u64::from_le_bytes(length);
    // The length may be anything, if a function writes into the pipe: memory is taken as bytes come.
    let read = from.take(length).read_to_end(&mut message).ok()?;
    (read as u64 == length).then(|| (u64::from_le_bytes(number), message))
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Request, frame, read};

    #[test]
    fn messages_survive_the_way() {
        let requests = [
            Request::Define {
                name: "f".to_string(),
                source: "def f(): return 'é'".to_string(),
                handler: "f".to_string(),
                first_line: 7,
                strict: true,
                form: 4,
                models: "m=a.pkl".to_string(),
                schema: vec![1, 2, 3],
                result_type: "TEXT".to_string(),
                nanos: u64::MAX,
                memory: 0,
            },
            Request::Call { handle: 2, on_error_null: false, nanos: 3, memory: 9, batch: vec![] },
            Request::Stop,
            Request::Free { handle: 2 },
            Request::Run {
                handle: 2,
                inputs: vec![1],
                output: vec![],
                scalars: vec![2, 3],
                batch_rows: 8192,
                call_nanos: 5,
                nanos: 4,
                memory: 1 << 30,
            },
            Request::Step { step: 1, batch: vec![4, 5] },
        ];
        for request in requests {
            let bytes = request.encode();
            assert_eq!(Request::decode(&bytes), Some(request));
            assert_eq!(Request::decode(&bytes[..bytes.len() - 1]), None);
        }
        let answers = [
            Answer::Defined { handle: 1 },
            Answer::Result { batch: vec![0; 9] },
            Answer::Failed { kind: 1, row: 2, line: 3, class: "KeyError".to_string(), message: "'k'".to_string() },
            Answer::Printed { text: String::new() },
        ];
        for answer in answers {
            let bytes = answer.encode();
            assert_eq!(Answer::decode(&bytes), Some(answer));
            assert_eq!(Answer::decode(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(Answer::decode(&[9; 8]), None);
        let frames = [frame(7, b"seven"), frame(8, b"")].concat();
        let mut from = frames.as_slice();
        assert_eq!(read(&mut from), Some((7, b"seven".to_vec())));
        assert_eq!(read(&mut from), Some((8, vec![])));
        assert_eq!(read(&mut from), None);
    }
}
