//! The states of groups, held by Python while their values come.

use super::collect::{Collected, arguments, emitted, taken};
use crate::running::function::blocking;
use crate::running::routines::{Registered, call_error};
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, Int32Array, RecordBatch, UInt64Array, new_empty_array};
use datafusion::arrow::compute::{cast, filter_record_batch, is_not_null};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err, internal_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use exuvia_engine::interpreter::{Pulled, Pushed};
use exuvia_engine::routine::{Streams, command};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// Commands that wait for Python.
const AHEAD: usize = 2;

/// Rows from which on an ungrouped aggregate gives its values to Python while they come: a
/// window has an accumulator for each partition, and each would hold a thread.
const MANY: usize = 65_536;

/// Results of one group after which its values go to Python while they come: each further one
/// would take all of them again.
const OFTEN: usize = 16;

/// Bytes that a state is taken to have; only Python knows.
const STATE_BYTES: usize = 512;

/// Python's side: a thread that carries out commands.
#[derive(Debug)]
struct Session {
    commands: SyncSender<RecordBatch>,
    // A receiver cannot be shared, and accumulators must be able to be.
    answers: Mutex<Receiver<Result<RecordBatch>>>,
}

impl Session {
    fn start(registered: &Registered, options: &ExuviaOptions) -> Result<Session> {
        let (commands, given) = sync_channel::<RecordBatch>(AHEAD);
        let (answer, answers) = channel();
        let routine = Arc::clone(&registered.routine);
        let settings = options.settings.clone();
        let invocation = options.invocation(routine.definition().timeout);
        // A value has no name.
        let result = Field::new("", registered.value_type(), true);
        let work = move || {
            let mut pull = move |_: usize| match given.recv() {
                Ok(batch) => Pulled::Batch(batch),
                Err(_) => Pulled::End,
            };
            let answered = answer.clone();
            let mut push = move |batch: RecordBatch| match answered.send(Ok(batch)) {
                Ok(()) => Pushed::More,
                Err(_) => Pushed::Stop,
            };
            let streams = Streams {
                inputs: &[Fields::empty()],
                output: Some(Fields::from(vec![result])),
                scalars: &[],
                batch_rows: usize::MAX,
                pull: &mut pull,
                push: &mut push,
            };
            let ran = routine.run_states(streams, &settings, &invocation);
            if let Err(error) = ran {
                let _ = answer.send(Err(call_error(error)));
            }
        };
        let thread = std::thread::Builder::new().name("exuvia-states".to_string()).spawn(work);
        thread.map_err(|error| DataFusionError::Execution(format!("no thread for Python: {error}")))?;
        Ok(Session { commands, answers: Mutex::new(answers) })
    }

    fn send(&self, batch: RecordBatch) -> Result<()> {
        match blocking(|| self.commands.send(batch)) {
            Ok(()) => Ok(()),
            // The thread has ended, and says why.
            Err(_) => self.answer().map(|_| ()),
        }
    }

    fn answer(&self) -> Result<RecordBatch> {
        match blocking(|| self.answers.lock().recv()) {
            Ok(answer) => answer,
            Err(_) => exec_err!("the states of an aggregate are lost"),
        }
    }

    /// A command about groups; `columns` follow the groups.
    fn command(&self, command: i32, groups: Vec<u64>, columns: Vec<(String, ArrayRef)>) -> Result<()> {
        let rows = groups.len();
        if rows == 0 {
            return Ok(());
        }
        self.send(batch(command, groups, columns)?)
    }

    /// The answer to a command about the first groups.
    fn ask(&self, command: i32, groups: usize) -> Result<ArrayRef> {
        self.command(command, (0..groups as u64).collect(), vec![])?;
        let answer = self.answer()?;
        match answer.columns() {
            [column] if column.len() == groups => Ok(Arc::clone(column)),
            _ => internal_err!("Python gave {} results for {groups} groups", answer.num_rows()),
        }
    }
}

fn batch(command: i32, groups: Vec<u64>, columns: Vec<(String, ArrayRef)>) -> Result<RecordBatch> {
    let mut fields = vec![Field::new("command", DataType::Int32, false), Field::new("group", DataType::UInt64, false)];
    let mut arrays: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![command; groups.len()])), Arc::new(UInt64Array::from(groups))];
    for (name, column) in columns {
        fields.push(Field::new(name, column.data_type().clone(), true));
        arrays.push(column);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// The states of the groups of an aggregation.
#[derive(Debug)]
pub(super) struct States {
    registered: Registered,
    options: ExuviaOptions,
    session: Option<Session>,
    groups: usize,
}

impl States {
    pub(super) fn new(registered: Registered, options: ExuviaOptions) -> States {
        States { registered, options, session: None, groups: 0 }
    }

    fn session(&mut self) -> Result<&Session> {
        let started = match self.session.take() {
            Some(session) => session,
            None => Session::start(&self.registered, &self.options)?,
        };
        Ok(self.session.insert(started))
    }

    fn update(&mut self, values: &[ArrayRef], groups: Vec<u64>, wanted: Option<&BooleanArray>) -> Result<()> {
        let values = arguments(&self.registered, values)?;
        let wanted = taken(&self.registered, &values, wanted)?;
        let names = self.registered.routine.definition().params.iter().map(|param| param.name.clone());
        let mut command = batch(command::UPDATE, groups, names.zip(values).collect())?;
        if let Some(wanted) = wanted {
            command = filter_record_batch(&command, &wanted)?;
        }
        match command.num_rows() {
            0 => Ok(()),
            _ => self.session()?.send(command),
        }
    }

    fn finish(&mut self, count: usize) -> Result<ArrayRef> {
        let ty = self.registered.value_type();
        if count == 0 {
            return Ok(new_empty_array(&ty));
        }
        Ok(cast(&self.session()?.ask(command::FINISH, count)?, &ty)?)
    }

    /// The results so far, of states that go on.
    fn peek(&mut self, count: usize) -> Result<ArrayRef> {
        let ty = self.registered.value_type();
        Ok(cast(&self.session()?.ask(command::PEEK, count)?, &ty)?)
    }

    fn pickles(&mut self, count: usize) -> Result<ArrayRef> {
        match count {
            0 => Ok(new_empty_array(&DataType::Binary)),
            _ => self.session()?.ask(command::STATE, count),
        }
    }

    fn merge(&mut self, states: &ArrayRef, groups: Vec<u64>) -> Result<()> {
        let columns = vec![("state".to_string(), Arc::clone(states))];
        let command = batch(command::MERGE, groups, columns)?;
        let present = filter_record_batch(&command, &is_not_null(states)?)?;
        match present.num_rows() {
            0 => Ok(()),
            _ => self.session()?.send(present),
        }
    }

    fn drop_groups(&mut self, count: usize) -> Result<()> {
        self.groups = self.groups.saturating_sub(count);
        match self.groups {
            // Nothing is left, and with it nothing to hold a thread for.
            0 => self.session = None,
            _ => self.session()?.command(command::DROP, vec![0; count], vec![])?,
        }
        Ok(())
    }
}

impl GroupsAccumulator for States {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups = total_num_groups;
        self.update(values, group_indices.iter().map(|group| *group as u64).collect(), opt_filter)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let count = emitted(emit_to, self.groups);
        let results = self.finish(count)?;
        self.drop_groups(count)?;
        Ok(results)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let count = emitted(emit_to, self.groups);
        let states = self.pickles(count)?;
        self.drop_groups(count)?;
        Ok(vec![states])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.groups = total_num_groups;
        let [states] = values else { return internal_err!("a state has one column") };
        self.merge(states, group_indices.iter().map(|group| *group as u64).collect())
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |column| column.len());
        let mut each = States::new(self.registered.clone(), self.options.clone());
        each.groups = rows;
        each.update(values, (0..rows as u64).collect(), opt_filter)?;
        Ok(vec![each.pickles(rows)?])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.groups * STATE_BYTES
    }
}

/// One group, whose values are collected until they are many.
#[derive(Debug)]
pub(super) struct Buffered {
    collected: Collected,
    states: Option<States>,
    /// How often its result was asked for: of a growing window for each row.
    asked: usize,
}

impl Buffered {
    pub(super) fn new(collected: Collected) -> Buffered {
        Buffered { collected, states: None, asked: 0 }
    }

    /// The state in Python, with all that was collected.
    fn states(&mut self) -> Result<&mut States> {
        let mut states = match self.states.take() {
            Some(states) => states,
            None => {
                let mut states = States::new(self.collected.registered.clone(), self.collected.options.clone());
                states.groups = 1;
                states
            }
        };
        let rows = self.collected.rows();
        if rows > 0 {
            states.update(&self.collected.arguments()?, vec![0; rows], None)?;
            let (registered, options) = (self.collected.registered.clone(), self.collected.options.clone());
            self.collected = Collected::new(registered, options, false, vec![]);
        }
        Ok(self.states.insert(states))
    }
}

impl Accumulator for Buffered {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Accumulator::update_batch(&mut self.collected, values)?;
        if self.states.is_some() || self.collected.rows() > MANY && self.collected.registered.routine.merges() {
            self.states()?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.asked += 1;
        if self.asked == OFTEN {
            self.states()?;
        }
        match self.states {
            None => Accumulator::evaluate(&mut self.collected),
            Some(_) => ScalarValue::try_from_array(&self.states()?.peek(1)?, 0),
        }
    }

    fn size(&self) -> usize {
        Accumulator::size(&self.collected) + self.states.as_ref().map_or(0, |_| STATE_BYTES)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        if !self.collected.registered.routine.merges() {
            return Accumulator::state(&mut self.collected);
        }
        let state = self.states()?.pickles(1)?;
        Ok(vec![ScalarValue::try_from_array(&state, 0)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        if !self.collected.registered.routine.merges() {
            return Accumulator::merge_batch(&mut self.collected, states);
        }
        let [state] = states else { return internal_err!("a state has one column") };
        let rows = state.len();
        self.states()?.merge(state, vec![0; rows])
    }
}
