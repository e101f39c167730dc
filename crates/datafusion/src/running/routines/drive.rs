//! A running call: a thread of its own, streams of batches to it, and what it does in order.
//!
//! The function pulls and pushes on its thread, where it may block; tasks of the async runtime
//! read the inputs ahead of it. Whoever drops the [`Run`] ends the call.

use super::call_error;
use crate::running::slice::Slice;
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::Fields;
use datafusion::common::runtime::JoinSet;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use exuvia_engine::Invocation;
use exuvia_engine::interpreter::{Pulled, Pushed};
use exuvia_engine::routine::{Routine, Streams};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

/// Batches that wait on their way.
const AHEAD: usize = 2;

/// As long as a call without a time limit may take.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A batch for the function, and what its caller keeps of the same rows.
pub(super) struct Fed {
    pub(super) given: RecordBatch,
    /// In as many batches as the rows came.
    pub(super) kept: Vec<RecordBatch>,
}

/// What a running function does.
#[derive(Debug)]
pub(super) enum Event {
    /// It has pulled the batch of which these were kept.
    Pulled(Vec<RecordBatch>),
    /// It has pushed a batch.
    Output(RecordBatch),
}

/// What a run is given.
pub(super) struct Start {
    pub(super) routine: Arc<Routine>,
    pub(super) inputs: Vec<BoxStream<'static, Result<Fed>>>,
    pub(super) input_fields: Vec<Fields>,
    pub(super) output: Option<Fields>,
    pub(super) scalars: Vec<ArrayRef>,
    pub(super) batch_rows: usize,
    pub(super) options: ExuviaOptions,
    /// Charged for the batches that are pulled, this many times their size.
    pub(super) reservation: MemoryReservation,
    pub(super) copies: usize,
}

/// A function that runs, as the stream of what it does.
pub(super) struct Run {
    events: mpsc::Receiver<Result<Event>>,
    _feeders: JoinSet<()>,
    slice: Slice,
}

enum Message {
    Batch(Fed),
    End,
    Failed(DataFusionError),
}

impl Run {
    /// Starts a function.
    pub(super) fn start(start: Start) -> Run {
        let Start { routine, inputs, input_fields, output, scalars, batch_rows, options, reservation, copies } = start;
        let (events_out, events) = mpsc::channel(AHEAD);
        let mut feeders = JoinSet::new();
        let mut receivers = vec![];
        for mut input in inputs {
            let (sender, receiver) = mpsc::channel(AHEAD);
            receivers.push(receiver);
            feeders.spawn(async move {
                let mut last = Message::End;
                while let Some(next) = input.next().await {
                    let message = match next {
                        Ok(fed) => Message::Batch(fed),
                        Err(error) => {
                            last = Message::Failed(error);
                            break;
                        }
                    };
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
                // Nobody may wait for it any more.
                let _ = sender.send(last).await;
            });
        }
        // The function's own time is that of each call, which Python's side measures.
        let invocation = options.invocation(None);
        let slice = Slice::start(FOREVER, Arc::clone(&invocation.cancelled));
        let invocation = Invocation { cancelled: slice.flag(), ..invocation };
        let settings = options.settings.clone();
        let work = move || {
            let mut failed = None;
            let mut pull = |input: usize| match receivers.get_mut(input).and_then(mpsc::Receiver::blocking_recv) {
                Some(Message::Batch(fed)) => {
                    let size = fed.given.get_array_memory_size().saturating_mul(copies);
                    if let Err(error) = reservation.try_grow(size) {
                        failed = Some(too_large(routine.definition().name.as_str(), &error));
                        return Pulled::Stop;
                    }
                    if !fed.kept.is_empty() && events_out.blocking_send(Ok(Event::Pulled(fed.kept))).is_err() {
                        return Pulled::Stop;
                    }
                    Pulled::Batch(fed.given)
                }
                Some(Message::End) => {
                    // A function may ask again.
                    if let Some(receiver) = receivers.get_mut(input) {
                        let (sender, ended) = mpsc::channel(1);
                        *receiver = ended;
                        let _ = sender.try_send(Message::End);
                    }
                    Pulled::End
                }
                Some(Message::Failed(error)) => {
                    failed = Some(error);
                    Pulled::Stop
                }
                None => Pulled::Stop,
            };
            let mut push = |batch: RecordBatch| match events_out.blocking_send(Ok(Event::Output(batch))) {
                Ok(()) => Pushed::More,
                Err(_) => Pushed::Stop,
            };
            let streams = Streams {
                inputs: &input_fields,
                output,
                scalars: &scalars,
                batch_rows,
                pull: &mut pull,
                push: &mut push,
            };
            let ran = catch_unwind(AssertUnwindSafe(|| routine.run(streams, &settings, &invocation)));
            let result = match (failed, ran) {
                (Some(error), _) => Err(error),
                (None, Ok(ran)) => ran.map_err(call_error),
                (None, Err(_)) => Err(DataFusionError::Execution("internal error: a call has panicked".to_string())),
            };
            if let Err(error) = result {
                // Whoever does not listen has given the call up.
                let _ = events_out.blocking_send(Err(error));
            }
        };
        tokio::task::spawn_blocking(work);
        Run { events, _feeders: feeders, slice }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.slice.flag().store(true, Ordering::Relaxed);
    }
}

impl Stream for Run {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_recv(cx)
    }
}

/// What to say where the memory pool has no room for a function's input.
fn too_large(function: &str, error: &DataFusionError) -> DataFusionError {
    DataFusionError::ResourcesExhausted(format!(
        "{function}: its input does not fit into the memory pool, and it takes all of it at once: {error}"
    ))
}
