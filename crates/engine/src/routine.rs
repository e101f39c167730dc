//! A function of another kind than a row's: it takes tables, columns or groups, or gives rows.
//!
//! Such a function runs in CPython. What it is given and gives are streams of batches
//! ([`Routine::run`]) or, of a group, lists ([`Routine::call_groups`]).

use crate::defined::DefinedIn;
use crate::interpreter::{
    Calling, Form, Interpreter, Pulled, Pushed, PyCall, PyDefinition, PyFailure, PyFunction, PyRun,
};
use crate::whole::Whole;
use crate::{
    CallError, CallErrorKind, ColumnForm, DefineError, Definition, Invocation, NotNative, OnError, Parameter, Place,
    Settings, Volatility, place, sql, stack,
};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use arrow::error::ArrowError;
use exuvia_ir::interpreter::key;
use exuvia_lift::ast::{Asked, ClassDef};
use exuvia_lift::{Source, SourceError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use exuvia_ir::interpreter::{command, key::SAMPLED};

/// What a function takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Values of a row, for a value: [`crate::Function`].
    Row,
    /// Tables and scalars, for a table.
    Table,
    /// Values of a row, for any number of rows.
    Rows,
    /// Whole columns, for a column of as many rows.
    Column,
    /// An iterator over the columns of batches, for an iterator over columns.
    Iterator,
    /// The values of a group, for a value.
    Aggregate,
}

impl Kind {
    /// Its name, with the article that it has within a sentence.
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            Kind::Row => "a row function",
            Kind::Table => "a table function",
            Kind::Rows => "a function that gives rows",
            Kind::Column | Kind::Iterator => "a column function",
            Kind::Aggregate => "an aggregate",
        }
    }

    /// As `exuvia.functions` and OPTIONS name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Row => "row",
            Kind::Table => "table",
            Kind::Rows => "rows",
            Kind::Column | Kind::Iterator => "column",
            Kind::Aggregate => "aggregate",
        }
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct RoutineParam {
    /// Its name in SQL.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// A value, or of a column function a column, of a type.
    Value(DataType),
    /// A table, with these columns if they are declared.
    Table(Option<Fields>),
}

/// A function as `CREATE FUNCTION` declares it.
#[derive(Clone, Debug)]
pub struct RoutineDefinition {
    /// The name in SQL.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<RoutineParam>,
    /// The columns of the result: of a table or of rows those that are declared, of the other
    /// kinds the one column.
    pub returns: Option<Fields>,
    /// Whether the items of a result of rows are the values of its one column (SETOF).
    pub single_values: bool,
    /// Whether the result is declared to be a table, or rows.
    pub gives_rows: bool,
    /// The kind that is declared, where it is.
    pub kind: Option<Kind>,
    /// The body, dedented: statements with a top-level `return` or `yield`, or a module.
    pub source: String,
    /// The handler that is named.
    pub handler: Option<String>,
    /// The line of the SQL script on which the body's first line stands, from 1.
    pub first_line: u32,
    /// Whether a row with NULL in any argument is passed over.
    pub strict: bool,
    /// What was declared; `None` where it is to be inferred.
    pub volatility: Option<Volatility>,
    /// Whether CPython may run it.
    pub interpreter: crate::Interpreter,
    /// The time that a call may take.
    pub timeout: Option<Duration>,
    /// The fitted models that the module finds as its globals: names and paths.
    pub models: Vec<(String, String)>,
}

impl RoutineDefinition {
    /// The type of the one value that a column function, an aggregate or a row function gives.
    #[must_use]
    pub fn value_type(&self) -> DataType {
        let returned = self.returns.as_ref().and_then(|fields| fields.first());
        returned.map_or(DataType::Null, |field| field.data_type().clone())
    }

    /// What a function of the values of rows declares.
    #[must_use]
    pub fn of_row(self, on_error: OnError) -> Definition {
        let returns = self.value_type();
        let params = self.params.into_iter().filter_map(|param| match param.takes {
            Takes::Value(ty) => Some(Parameter { name: param.name, ty }),
            Takes::Table(_) => None,
        });
        Definition {
            name: self.name,
            params: params.collect(),
            returns,
            source: self.source,
            handler: self.handler,
            first_line: self.first_line,
            strict: self.strict,
            volatility: self.volatility,
            on_error,
            interpreter: self.interpreter,
            timeout: self.timeout,
            models: self.models,
            columns: vec![],
            whole: false,
        }
    }
}

/// The kind of a function by its declaration and its source; [`Kind::Row`] is for
/// [`crate::Function`] to define.
///
/// # Errors
/// A body that cannot be a function, or not one that is so declared.
pub fn kind_of(definition: &RoutineDefinition) -> Result<Kind, DefineError> {
    let resolved = resolve(definition)?;
    let def = &resolved.handler;
    let tables = definition.params.iter().any(|param| matches!(param.takes, Takes::Table(_)));
    let failed = |message: String| {
        let span = resolved.class.as_ref().map_or(def.span, |class| class.span);
        Err(error(definition, SourceError { message, span: Some(span) }))
    };
    let asks = |index: usize| def.asked.get(index).copied().unwrap_or_default();
    let columns = definition.params.iter().enumerate().any(|(index, param)| match &param.takes {
        // A list may be an array, and a struct a frame of its fields.
        Takes::Value(ty) if is_list(ty) => false,
        Takes::Value(DataType::Struct(_)) => matches!(asks(index), Asked::Column | Asked::Table),
        _ => asks(index) == Asked::Column,
    });
    let returned = definition.returns.as_ref().and_then(|fields| fields.first());
    let gives_value = match def.gives {
        Asked::Value => true,
        Asked::List => returned.is_some_and(|field| is_list(field.data_type())),
        _ => false,
    };
    if def.asynchronous {
        return failed(format!("{} is a coroutine; a handler must return its result", def.name));
    }
    let kind = match definition.kind {
        Some(kind) => kind,
        None if tables => Kind::Table,
        None if definition.gives_rows => Kind::Rows,
        None if resolved.class.is_some() => Kind::Aggregate,
        None if asks(0) == Asked::Iterator => Kind::Iterator,
        None if columns && gives_value => Kind::Aggregate,
        None if columns => Kind::Column,
        None => Kind::Row,
    };
    if tables && kind != Kind::Table {
        return failed(format!("{} takes a table, and {} does not", definition.name, kind.described()));
    }
    if definition.params.is_empty() && matches!(kind, Kind::Column | Kind::Iterator | Kind::Aggregate) {
        return failed(format!("{} has a parameter", kind.described()));
    }
    match kind {
        Kind::Table if !tables => failed("a table function has a parameter of type TABLE".to_string()),
        Kind::Table if !definition.gives_rows => {
            failed(format!("{} takes a table; declare RETURNS TABLE (…), of one column for one value", definition.name))
        }
        Kind::Rows if definition.returns.is_none() => {
            failed("the columns of its rows must be declared: RETURNS TABLE (name TYPE, …)".to_string())
        }
        Kind::Rows => match &resolved.class {
            Some(class) if lacks(class, "process") && lacks(class, "eval") => {
                let whole = if lacks(class, "end_partition") {
                    ""
                } else {
                    "; what sees a partition as a whole is a function of a TABLE parameter"
                };
                failed(format!("the class {} has no method process or eval, which gives the rows{whole}", class.name))
            }
            _ => Ok(kind),
        },
        Kind::Table => match &resolved.class {
            Some(class) => failed(format!(
                "{} is a class, and {} is a function: a def that takes the tables and returns or yields one",
                class.name,
                kind.described()
            )),
            None => Ok(kind),
        },
        _ if definition.gives_rows => failed(format!("{} does not return a table", kind.described())),
        Kind::Aggregate => match &resolved.class {
            Some(class) => match ["accumulate", "finish"].iter().find(|method| lacks(class, method)) {
                Some(method) => failed(format!("the class {} has no method {method}", class.name)),
                None => Ok(kind),
            },
            None if def.generator => failed(format!("{} is a generator; an aggregate returns one value", def.name)),
            None => Ok(kind),
        },
        Kind::Column | Kind::Iterator | Kind::Row => {
            if let Some(why) = resolved.more_than_row().filter(|_| kind != Kind::Iterator) {
                return Err(error(definition, why));
            }
            Ok(kind)
        }
    }
}

/// Whether a class has no such method; it may have it from a base, which Python knows.
fn lacks(class: &ClassDef, method: &str) -> bool {
    class.bases.is_empty() && !class.methods.iter().any(|own| **own == *method)
}

fn is_list(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(..)
            | DataType::ListView(_)
            | DataType::LargeListView(_)
    )
}

fn resolve(definition: &RoutineDefinition) -> Result<Source, DefineError> {
    let names: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
    let resolve = || Source::resolve(&definition.source, &definition.name, definition.handler.as_deref(), &names);
    stack::on_large_stack(resolve).map_err(|why| error(definition, why))
}

fn error(definition: &RoutineDefinition, why: SourceError) -> DefineError {
    DefineError {
        function: definition.name.clone(),
        message: why.message,
        place: why.span.and_then(|span| place::of_span(&definition.source, span, definition.first_line)),
    }
}

/// A defined function of another kind than a row's. Shared by all threads of a session.
#[derive(Debug)]
pub struct Routine {
    definition: RoutineDefinition,
    kind: Kind,
    source: Source,
    volatility: Volatility,
    /// Whether an aggregate's class can merge states.
    merges: bool,
    /// The column function natively over whole columns, or why it is not.
    whole: OnceLock<Result<Whole, NotNative>>,
    python: DefinedIn<PyFunction>,
    states: DefinedIn<PyFunction>,
    calls: AtomicU64,
    rows: AtomicU64,
}

/// What [`Routine::run`] reads and writes.
pub struct Streams<'a> {
    /// The columns of each input.
    pub inputs: &'a [Fields],
    /// The columns of the result, if they are known.
    pub output: Option<Fields>,
    /// The scalar arguments, of one row each.
    pub scalars: &'a [ArrayRef],
    /// The most rows of a batch of the result.
    pub batch_rows: usize,
    /// Gives the next batch of an input.
    pub pull: &'a mut (dyn FnMut(usize) -> Pulled + Send),
    /// Takes a batch of the result.
    pub push: &'a mut (dyn FnMut(RecordBatch) -> Pushed + Send),
}

impl Routine {
    /// Checks and prepares a function; its module is run where there is a CPython.
    ///
    /// # Errors
    /// What is wrong with the body, with its place; or that CPython may not be used.
    pub fn define(definition: RoutineDefinition, kind: Kind, settings: &Settings) -> Result<Routine, DefineError> {
        let source = resolve(&definition)?;
        let merges = source.class.as_ref().is_some_and(|class| class.methods.iter().any(|method| &**method == "merge"));
        let routine = Routine {
            volatility: definition.volatility.unwrap_or_else(|| crate::volatility::infer(&source)),
            definition,
            kind,
            source,
            merges,
            whole: OnceLock::new(),
            python: DefinedIn::default(),
            states: DefinedIn::default(),
            calls: AtomicU64::new(0),
            rows: AtomicU64::new(0),
        };
        if !routine.may_interpret(settings) {
            let span = routine.source.class.as_ref().map_or(routine.source.handler.span, |class| class.span);
            let message = format!("{} runs in CPython, which is off for this function or session", kind.described());
            return Err(error(&routine.definition, SourceError { message, span: Some(span) }));
        }
        if let Err(CallError { kind: CallErrorKind::Python { class, message }, place, .. }) = routine.python(settings) {
            return Err(crate::error::of_module(&routine.definition.name, &class, &message, place));
        }
        Ok(routine)
    }

    /// What was declared.
    #[must_use]
    pub fn definition(&self) -> &RoutineDefinition {
        &self.definition
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The declared volatility, or what was inferred.
    #[must_use]
    pub fn volatility(&self) -> Volatility {
        self.volatility
    }

    /// Whether states of the aggregate can be made apart and merged.
    #[must_use]
    pub fn merges(&self) -> bool {
        self.merges
    }

    /// Whether the handler is a class, which takes values one after the other.
    #[must_use]
    pub fn is_class(&self) -> bool {
        self.source.class.is_some()
    }

    /// How often it was called, and the rows that it was given.
    #[must_use]
    pub fn counted(&self) -> (u64, u64) {
        (self.calls.load(Ordering::Relaxed), self.rows.load(Ordering::Relaxed))
    }

    fn may_interpret(&self, settings: &Settings) -> bool {
        settings.interpreter && self.definition.interpreter == crate::Interpreter::Auto
    }

    fn failed(&self, kind: CallErrorKind) -> CallError {
        CallError { function: self.definition.name.clone(), kind, place: None, arguments: Vec::new() }
    }

    fn form(&self) -> Form {
        match self.kind {
            Kind::Row => Form::Row,
            Kind::Table => Form::Table,
            Kind::Rows => Form::Rows,
            Kind::Column => Form::Columns,
            Kind::Iterator => Form::Iterator,
            Kind::Aggregate => Form::Values,
        }
    }

    fn python(&self, settings: &Settings) -> Result<Arc<PyFunction>, CallError> {
        self.defined(&self.python, self.form(), settings)
    }

    fn defined(
        &self,
        interpreters: &DefinedIn<PyFunction>,
        form: Form,
        settings: &Settings,
    ) -> Result<Arc<PyFunction>, CallError> {
        if !self.may_interpret(settings) {
            return Err(self.failed(CallErrorKind::NoInterpreter(crate::function::NO_INTERPRETER.to_string())));
        }
        interpreters.get(settings, || self.define_as(form, settings))
    }

    fn define_as(&self, form: Form, settings: &Settings) -> Result<PyFunction, CallError> {
        let definition = &self.definition;
        let interpreter = Interpreter::of(settings)
            .map_err(|why| self.failed(CallErrorKind::NoInterpreter(format!("this call needs CPython: {why}"))))?;
        let names: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let tables: Vec<bool> = definition.params.iter().map(|param| matches!(param.takes, Takes::Table(_))).collect();
        let params: Vec<DataType> = definition
            .params
            .iter()
            .map(|param| match &param.takes {
                Takes::Value(ty) if form == Form::Values => DataType::LargeList(item(ty)),
                Takes::Value(ty) => ty.clone(),
                Takes::Table(Some(fields)) => DataType::Struct(fields.clone()),
                Takes::Table(None) => DataType::Null,
            })
            .collect();
        let returns = match (&definition.returns, self.kind) {
            (Some(fields), Kind::Table | Kind::Rows) => DataType::Struct(fields.clone()),
            _ => definition.value_type(),
        };
        let request = PyDefinition {
            name: &definition.name,
            source: &self.source.python,
            handler: &self.source.python_name,
            first_line: definition.first_line.saturating_sub(self.source.python_shift),
            strict: definition.strict,
            calling: Calling {
                form,
                tables: &tables,
                single_values: definition.single_values,
                models: &definition.models,
                limits: settings.module_limits(),
            },
            param_names: &names,
            params: &params,
            returns: &returns,
            print: &settings.print,
        };
        interpreter.define(request).map_err(|error| CallError {
            place: error.line.and_then(|line| self.script_place(line)),
            ..self.failed(CallErrorKind::Python { class: error.class, message: error.message })
        })
    }

    /// A line that CPython reports, as a place in the SQL script.
    fn script_place(&self, line: u32) -> Option<Place> {
        let first = self.definition.first_line;
        place::of_line(&self.source.text, (line + 1).checked_sub(first)?, first)
    }

    /// Runs a function that takes or gives streams. It blocks.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn run(&self, mut streams: Streams<'_>, settings: &Settings, invocation: &Invocation) -> Result<(), CallError> {
        let Some(batch) = self.run_whole(&mut streams, settings, invocation)? else { return Ok(()) };
        let mut first = Some(batch);
        let given = streams.pull;
        let mut pull = |input: usize| first.take().unwrap_or_else(|| given(input));
        let Streams { inputs, output, scalars, batch_rows, push, .. } = streams;
        let streams = Streams { inputs, output, scalars, batch_rows, pull: &mut pull, push };
        self.run_as(&*self.python(settings)?, streams, settings, invocation)
    }

    /// Compiles a column function for whole columns, which native code runs from then on; `None` where
    /// not all of its parameters are arrays.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn whole(&self, settings: &Settings) -> Option<Result<(), NotNative>> {
        let is_text = |param: &RoutineParam| matches!(&param.takes, Takes::Value(ty) if ty.is_string());
        let asks = |at: usize| matches!(self.source.annotation(at), Some("ndarray" | "Series"));
        // Those of texts are lifted where they are elementwise, and then have the better reason.
        if !(0..self.definition.params.len()).all(asks) || self.definition.params.iter().any(is_text) {
            return None;
        }
        Some(self.whole.get_or_init(|| Whole::of(self, settings)).as_ref().map(|_| ()).map_err(Clone::clone))
    }

    /// Runs a column function natively, as far as that goes: gives the first batch that CPython is to
    /// be called with, if there is one.
    fn run_whole(
        &self,
        streams: &mut Streams<'_>,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<Option<Pulled>, CallError> {
        let may = self.kind == Kind::Column && settings.compiles();
        let Some(Ok(whole)) = self.whole.get().filter(|_| may) else { return Ok(Some((streams.pull)(0))) };
        loop {
            let Pulled::Batch(batch) = (streams.pull)(0) else { return Ok(None) };
            let output = streams.output.clone().unwrap_or_default();
            let Some(result) = whole.call(&batch, &output, settings, invocation)? else {
                return Ok(Some(Pulled::Batch(batch)));
            };
            self.calls.fetch_add(1, Ordering::Relaxed);
            if matches!((streams.push)(result), Pushed::Stop) {
                return Ok(None);
            }
        }
    }

    /// Runs the states of an aggregate that merges, under the commands that it pulls
    /// ([`exuvia_ir::interpreter::command`]). It blocks.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn run_states(
        &self,
        streams: Streams<'_>,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<(), CallError> {
        self.run_as(&*self.defined(&self.states, Form::States, settings)?, streams, settings, invocation)
    }

    fn run_as(
        &self,
        function: &PyFunction,
        streams: Streams<'_>,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<(), CallError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut last = None;
        let given = streams.pull;
        let mut pull = |input: usize| {
            let pulled = given(input);
            if let Pulled::Batch(batch) = &pulled {
                self.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                if self.kind == Kind::Rows {
                    last = Some(batch.clone());
                }
            }
            pulled
        };
        let mut run = PyRun {
            inputs: streams.inputs,
            output: streams.output.as_ref().map(named_types),
            scalars: streams.scalars,
            batch_rows: streams.batch_rows,
            call_time: self.definition.timeout,
            pull: &mut pull,
            push: streams.push,
        };
        let ran = function.run(&mut run, &self.circumstances(settings, invocation));
        ran.map_err(|failure| {
            let args = last.as_ref().map(RecordBatch::columns).unwrap_or_default();
            self.call_error(failure, args)
        })
    }

    /// Calls an aggregate for groups: each argument is a column of lists, a list for a group.
    /// It blocks.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn call_groups(
        &self,
        args: &[ArrayRef],
        groups: usize,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<ArrayRef, CallError> {
        let function = self.python(settings)?;
        self.calls.fetch_add(groups as u64, Ordering::Relaxed);
        let called = function.call(args, groups, &self.circumstances(settings, invocation));
        called.map_err(|failure| self.call_error(failure, &[]))
    }

    /// What it takes and gives as a row function, if it takes columns only.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn row_definition(&self) -> Result<Definition, NotNative> {
        let definition = &self.definition;
        let code = exuvia_lift::Code::Handler.code();
        let refuse = |message| Err(NotNative { code: code.to_string(), message, place: None });
        if self.kind != Kind::Column {
            return refuse(format!("{} runs in CPython", self.kind.described()));
        }
        let mut columns = Vec::new();
        for (at, param) in definition.params.iter().enumerate() {
            columns.push(match self.source.annotation(at) {
                Some("Series") => ColumnForm::Series,
                Some("ndarray") => ColumnForm::Array,
                _ => return refuse(format!("the parameter {} is neither a Series nor an ndarray", param.name)),
            });
        }
        Ok(Definition { columns, ..definition.clone().of_row(OnError::Raise) })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Calls a column function on columns of those rows. It blocks.
    ///
    /// # Errors
    /// Why there is no result.
    pub(crate) fn call_column(
        &self,
        args: &[ArrayRef],
        rows: usize,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<ArrayRef, CallError> {
        let failed = |error: ArrowError| self.failed(CallErrorKind::Host(error.to_string()));
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for (param, arg) in self.definition.params.iter().zip(args) {
            let ty = plain(arg.data_type());
            fields.push(Field::new(&param.name, ty.clone(), true));
            columns.push(cast(arg, &ty).map_err(failed)?);
        }
        let fields = Fields::from(fields);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::new(Schema::new(fields.clone()));
        let batch = RecordBatch::try_new_with_options(schema, columns, &options).map_err(failed)?;
        let output =
            self.definition.returns.iter().flatten().map(|field| Field::new("", plain(field.data_type()), true));
        let (mut given, mut taken) = (Some(batch), None);
        let mut pull = |_| given.take().map_or(Pulled::End, Pulled::Batch);
        let mut push = |batch: RecordBatch| {
            taken = Some(batch);
            Pushed::More
        };
        let streams = Streams {
            inputs: &[fields],
            output: Some(output.collect()),
            scalars: &[],
            batch_rows: rows,
            pull: &mut pull,
            push: &mut push,
        };
        self.run(streams, settings, invocation)?;
        let column = taken.filter(|batch| batch.num_rows() == rows && batch.num_columns() == 1);
        let column = column.map(|batch| Arc::clone(batch.column(0)));
        column.ok_or_else(|| self.failed(CallErrorKind::Host("a column function gave no column".to_string())))
    }

    /// Adds to the rows that an aggregate was given.
    pub fn count_rows(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    fn circumstances<'a>(&self, settings: &'a Settings, invocation: &'a Invocation) -> PyCall<'a> {
        PyCall {
            on_error_null: false,
            stop: Some(&invocation.cancelled),
            deadline: invocation.deadline,
            memory: settings.python_memory,
            print: &settings.print,
        }
    }

    fn call_error(&self, failure: PyFailure, args: &[ArrayRef]) -> CallError {
        use crate::interpreter::RowFailure;
        let failed = |kind| self.failed(kind);
        match failure {
            PyFailure::Row { row, class, message, line, kind } => CallError {
                place: line.and_then(|line| self.script_place(line)),
                arguments: match args.first() {
                    Some(first) if row < first.len() => {
                        let named = self.definition.params.iter().zip(args);
                        named.map(|(param, arg)| (param.name.clone(), sql::shown(arg, row))).collect()
                    }
                    _ => vec![],
                },
                ..failed(match kind {
                    RowFailure::Exception | RowFailure::BaseException => CallErrorKind::Python { class, message },
                    RowFailure::Result => CallErrorKind::Result(message),
                    RowFailure::Argument => CallErrorKind::Host(message),
                })
            },
            PyFailure::Interrupted => failed(CallErrorKind::Cancelled),
            PyFailure::TimedOut => failed(CallErrorKind::TimedOut),
            PyFailure::Full => failed(CallErrorKind::TooLarge),
            PyFailure::Host(message) => failed(CallErrorKind::Host(message)),
        }
    }

    /// The text of a stage: `source` or `snapshot`; of what runs natively over whole columns, any.
    ///
    /// # Errors
    /// Why the function has no such stage.
    pub fn dump(&self, stage: &str, settings: &Settings) -> Result<String, String> {
        match stage {
            "source" => return Ok(self.source.text.to_string()),
            "snapshot" => return Ok(format!("{:#?}\n", self.source.module)),
            _ => {}
        }
        let compiled = self.kind == Kind::Column && self.whole(settings).is_some();
        match self.whole.get().filter(|_| compiled) {
            Some(Ok(whole)) => whole.dump(stage, settings),
            Some(Err(why)) => Err(format!("not native: {} {}", why.code, why.message)),
            None => Err(format!("{} runs in CPython and has no such stage", self.kind.described())),
        }
    }
}

/// The field of the items of a list of values.
pub fn item(ty: &DataType) -> FieldRef {
    Arc::new(Field::new("item", ty.clone(), true))
}

/// Columns that know what their types are called in SQL.
fn named_types(fields: &Fields) -> Fields {
    fields
        .iter()
        .map(|field| {
            let mut metadata = field.metadata().clone();
            metadata.insert(key::TYPE.to_string(), sql::type_name(field.data_type()));
            field.as_ref().clone().with_metadata(metadata)
        })
        .collect()
}

/// The type in which columns go to pyarrow and pandas: the oldest layout of the same values.
#[must_use]
pub fn plain(ty: &DataType) -> DataType {
    let field = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(plain(field.data_type())));
    match ty {
        DataType::Utf8View => DataType::LargeUtf8,
        DataType::BinaryView => DataType::LargeBinary,
        DataType::Dictionary(_, value) => plain(value),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        DataType::List(item) | DataType::ListView(item) => DataType::List(field(item)),
        DataType::LargeList(item) | DataType::LargeListView(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(field(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}
