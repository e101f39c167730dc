//! Runs one case under every variation and compares each row with CPython.
//!
//! Rows that give a value are called as one batch, in every layout of the columns; rows
//! that raise are called one by one, since a batch ends at one of them, and once more in
//! a batch with `on_error 'null'`.

use crate::case::{Case, Inputs, rung_name};
use crate::columns::{Layout, columns, values};
use crate::corpus;
use crate::oracle::{Oracle, Outcome};
use crate::panic::catch;
use crate::signature::SqlType;
use crate::value::{Value, decimal, digits};
use crate::variation::Variation;
use exuvia_engine::{
    CallError, CallErrorKind, Definition, Function, Interpreter, Invocation, OnError, Parameter, Settings,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What became of a row.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A value of the declared type.
    Value(Value),
    /// A Python exception.
    Raise {
        /// The name of its class.
        class: String,
        /// `str(exception)`.
        message: String,
        /// Whether it is an `Exception`; unknown for what the engine reports.
        exception: bool,
        /// The line of the body; 0 if unknown.
        line: u32,
    },
    /// A result that the declared type cannot hold; the engine's message.
    BadResult(String),
    /// Anything else: what no case expects.
    Failed(String),
}

impl Answer {
    /// Whether the engine's answer is CPython's, which is `self`.
    #[must_use]
    pub fn same(&self, actual: &Answer) -> bool {
        match (self, actual) {
            (Answer::Value(a), Answer::Value(b)) => a.same(b),
            (
                Answer::Raise { class, message, line, .. },
                Answer::Raise { class: actual_class, message: actual_message, line: actual_line, .. },
            ) => {
                // CPython 3.11 may name the line before for a variable that is not bound: the
                // instruction before, that it fused with the one that reads it.
                let lines = *line == 0 || *actual_line == 0 || line == actual_line || class == "UnboundLocalError";
                // Where recursion ends is ours to choose, and the message says where.
                class == actual_class && (class == "RecursionError" || message == actual_message && lines)
            }
            (Answer::BadResult(_), Answer::BadResult(_)) => true,
            _ => false,
        }
    }

    /// The answer for people.
    #[must_use]
    pub fn show(&self) -> String {
        match self {
            Answer::Value(value) => format!("{} {}", value.class(), value.show()),
            Answer::Raise { class, message, line, .. } if *line > 0 => format!("{class}: {message} (line {line})"),
            Answer::Raise { class, message, .. } => format!("{class}: {message}"),
            Answer::BadResult(message) => format!("a result outside its declared type: {message}"),
            Answer::Failed(message) => format!("a failure: {message}"),
        }
    }
}

/// A row on which a variation differs from CPython, or another broken promise.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The variation.
    pub variation: Variation,
    /// How many rows of it differ, at least.
    pub rows: usize,
    /// The first such row, if it is about one.
    pub row: Option<Vec<Value>>,
    /// What differs.
    pub text: String,
}

/// How many rows ran where, summed over cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Rows compared.
    pub rows: u64,
    /// Rows called under the first variation.
    pub native_rows: u64,
    /// Of these, rows that left native code.
    pub evaluated_rows: u64,
    /// Functions that have a form on a device.
    pub device_functions: u64,
    /// Rows that it was given.
    pub given_rows: u64,
    /// Rows that it kept.
    pub device_rows: u64,
}

/// The rows of a case and what CPython gives for them.
#[derive(Debug)]
pub struct Expected {
    /// The rows, without those whose outcome cannot be compared.
    pub rows: Vec<Vec<Value>>,
    /// CPython's answer for each.
    pub answers: Vec<Answer>,
    /// The `repr` of each value or the exception, for reports.
    pub shown: Vec<String>,
}

/// Asks CPython.
///
/// # Errors
/// Where the function cannot be defined there or its inputs cannot be made.
pub fn expect(case: &Case, oracle: &mut Oracle) -> anyhow::Result<Expected> {
    let rows = match &case.inputs {
        Inputs::Rows(rows) => rows.clone(),
        Inputs::Generated(corpora) => corpus::rows(&case.signature, corpora, &case.name())?,
    };
    let outcomes = oracle.run(case, &rows)?;
    let mut expected = Expected { rows: vec![], answers: vec![], shown: vec![] };
    for (row, outcome) in rows.into_iter().zip(outcomes) {
        let (answer, shown) = match outcome {
            Outcome::Skip => continue,
            Outcome::Value(value, repr) => (convert(value, case.signature.returns), repr),
            Outcome::Raise { class, message, exception, line } => {
                let shown = format!("{class}: {message}");
                (Answer::Raise { class, message, exception, line }, shown)
            }
        };
        expected.rows.push(row);
        expected.answers.push(answer);
        expected.shown.push(shown);
    }
    Ok(expected)
}

/// What the declared type makes of a result: an int serves for a float, REAL rounds, and
/// everything else must fit as it is.
fn convert(value: Value, returns: SqlType) -> Answer {
    let bad = |value: &Value| Answer::BadResult(value.show());
    match (returns, &value) {
        (_, Value::None)
        | (SqlType::Boolean, Value::Bool(_))
        | (SqlType::Double, Value::Float(_))
        | (SqlType::Bytea, Value::Bytes(_))
        | (SqlType::Date, Value::Date(_))
        | (SqlType::Time, Value::Time(_))
        | (SqlType::Text, Value::Str(_)) => Answer::Value(value),
        // In nanoseconds.
        (SqlType::Timestamp, Value::Datetime(micros)) if micros.checked_mul(1000).is_some() => Answer::Value(value),
        (SqlType::Decimal(precision, scale), Value::Decimal(text) | Value::Int(text)) => {
            let most = 10i128.pow(u32::from(precision));
            match digits(text, scale).filter(|digits| digits.abs() < most) {
                Some(digits) => Answer::Value(decimal(digits, scale)),
                None => bad(&value),
            }
        }
        (SqlType::Real, Value::Float(number)) => Answer::Value(Value::Float(f64::from(*number as f32))),
        (SqlType::Real | SqlType::Double, Value::Int(text)) => match text.parse::<f64>() {
            // Both round half to even, as Python's float() does.
            Ok(number) if number.is_finite() => convert(Value::Float(number), returns),
            _ => bad(&value),
        },
        (SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt, Value::Int(text)) => {
            let range = returns.range().unwrap_or((i64::MIN, i64::MAX));
            match text.parse::<i64>() {
                Ok(number) if range.0 <= number && number <= range.1 => Answer::Value(value),
                _ => bad(&value),
            }
        }
        (SqlType::Array(element), Value::List(items) | Value::Tuple(items)) => {
            let mut held = Vec::new();
            for item in items {
                match convert(item.clone(), *element) {
                    Answer::Value(item) => held.push(item),
                    _ => return bad(&value),
                }
            }
            Answer::Value(Value::List(held))
        }
        (SqlType::Map(ty), Value::Dict(entries)) => {
            let mut held = Vec::new();
            for (key, item) in entries {
                match convert(item.clone(), *ty) {
                    Answer::Value(item) => held.push((key.clone(), item)),
                    _ => return bad(&value),
                }
            }
            Answer::Value(Value::Dict(held))
        }
        (SqlType::Struct(fields), Value::Tuple(items) | Value::List(items)) if items.len() == fields.len() => {
            let names = fields.iter().map(|field| field.0.clone());
            match convert(Value::Dict(names.zip(items.iter().cloned()).collect()), returns) {
                Answer::Value(held) => Answer::Value(held),
                _ => bad(&value),
            }
        }
        (SqlType::Struct(fields), Value::Dict(entries)) if entries.len() == fields.len() => {
            let mut held = Vec::new();
            for (name, ty) in fields {
                let entry = entries.iter().find(|entry| entry.0 == *name);
                match entry.map(|entry| convert(entry.1.clone(), *ty)) {
                    Some(Answer::Value(item)) => held.push((name.clone(), item)),
                    _ => return bad(&value),
                }
            }
            Answer::Value(Value::Dict(held))
        }
        _ => bad(&value),
    }
}

/// Runs the case under each variation.
#[must_use]
pub fn check(case: &Case, expected: &Expected, variations: &[Variation], counts: &mut Counts) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut bad_results: HashMap<usize, String> = HashMap::new();
    for variation in variations {
        if case.rung == exuvia_engine::Rung::Python
            && !matches!(variation, Variation::Native | Variation::Python | Variation::NoInterpreter)
        {
            continue;
        }
        if case.rung == exuvia_engine::Rung::Python && !cfg!(feature = "python") {
            continue;
        }
        let run = catch(|| run(case, expected, *variation, &mut bad_results, counts));
        match run {
            Ok(Ok(())) => {}
            Ok(Err(difference)) => differences.push(difference),
            Err(text) => differences.push(Difference { variation: *variation, rows: 0, row: None, text }),
        }
    }
    differences
}

/// The rung on which a function runs as users run it, and why not a better one.
///
/// # Errors
/// Why it is refused.
pub fn rung(case: &Case) -> Result<(exuvia_engine::Rung, String), String> {
    let placement = catch(|| {
        let subject = Subject::define(case, Variation::Native.settings(), OnError::Raise)?;
        Ok::<_, String>(subject.function.placement(&subject.settings))
    })
    .flatten()?;
    Ok((placement.rung, placement.reason.map_or(String::new(), |(code, text)| format!("{code}: {text}"))))
}

/// What is known of how a function fares on a device, where every one goes that can.
///
/// # Errors
/// Why it is refused.
pub fn offloading(case: &Case) -> Result<Option<exuvia_engine::Offloading>, String> {
    catch(|| {
        let subject = Subject::define(case, Variation::Device.settings(), OnError::Raise)?;
        Ok::<_, String>(subject.function.placement(&subject.settings).offloading)
    })
    .flatten()
}

/// A defined function with what is needed to call it.
struct Subject<'a> {
    case: &'a Case,
    types: Vec<SqlType>,
    function: Function,
    settings: Settings,
}

impl Subject<'_> {
    fn define(case: &Case, settings: Settings, on_error: OnError) -> Result<Subject<'_>, String> {
        let definition = Definition {
            name: case.signature.name.clone(),
            params: case
                .signature
                .params
                .iter()
                .map(|(name, ty)| Parameter { name: name.clone(), ty: ty.arrow() })
                .collect(),
            returns: case.signature.returns.arrow(),
            source: case.source.clone(),
            handler: case.handler.clone(),
            first_line: 1,
            strict: case.strict,
            volatility: None,
            on_error,
            interpreter: Interpreter::Auto,
            timeout: None,
            models: vec![],
            columns: vec![],
            whole: false,
        };
        let function = Function::define(definition, &settings).map_err(|error| error.to_string())?;
        let types = case.signature.params.iter().map(|(_, ty)| *ty).collect();
        Ok(Subject { case, types, function, settings })
    }

    /// Calls a batch: the rows' values, or the error.
    fn call(&self, rows: &[&[Value]], layout: Layout) -> Result<Vec<Value>, Answer> {
        let failed = |error: anyhow::Error| Answer::Failed(format!("{error:#}"));
        let arrays = columns(&self.types, rows, layout).map_err(failed)?;
        let invocation = Invocation {
            cancelled: Arc::new(AtomicBool::new(false)),
            deadline: Some(Instant::now() + Duration::from_secs(60)),
            without_python: false,
        };
        let result = self.function.invoke(&arrays, rows.len(), &self.settings, &invocation).map_err(answer_of)?;
        let values = values(self.case.signature.returns, &result).map_err(failed)?;
        if values.len() != rows.len() {
            return Err(Answer::Failed(format!("{} rows give {} results", rows.len(), values.len())));
        }
        Ok(values)
    }
}

fn answer_of(error: CallError) -> Answer {
    let line = error.place.as_ref().map_or(0, |place| place.line);
    match error.kind {
        CallErrorKind::Python { class, message } => Answer::Raise { class, message, exception: true, line },
        CallErrorKind::Result(message) => Answer::BadResult(message),
        CallErrorKind::Cancelled
        | CallErrorKind::TimedOut
        | CallErrorKind::NoInterpreter(_)
        | CallErrorKind::TooLarge
        | CallErrorKind::Host(_) => Answer::Failed(error.to_string()),
    }
}

fn run(
    case: &Case,
    expected: &Expected,
    variation: Variation,
    bad_results: &mut HashMap<usize, String>,
    counts: &mut Counts,
) -> Result<(), Difference> {
    let difference = |text: String| Difference { variation, rows: 0, row: None, text };
    let settings = variation.settings();
    let rung = variation.rung(case.rung);
    let subject = match Subject::define(case, settings.clone(), OnError::Raise) {
        Ok(subject) => subject,
        Err(_) if rung.is_none() => return Ok(()),
        Err(error) => return Err(difference(error)),
    };
    let on_device = || {
        let placement = subject.function.placement(&settings);
        matches!(placement.offloading, Some(exuvia_engine::Offloading::On { .. }))
    };
    if variation == Variation::Device && !on_device() {
        return Ok(());
    }
    let Some(rung) = rung else {
        // Types may decide only at the call that CPython is needed; then the call refuses.
        let rows: Vec<&[Value]> = expected.rows.iter().map(Vec::as_slice).collect();
        return match subject.call(&rows, Layout::Plain) {
            Err(Answer::Failed(_)) => Ok(()),
            _ => Err(difference("needs CPython, but runs in a session without it".to_string())),
        };
    };

    // Without an interpreter a row that only CPython can finish is refused, and that is the
    // right answer for it.
    let without = variation == Variation::NoInterpreter || !cfg!(feature = "python");
    let refused = |row: &usize| {
        without
            && matches!(subject.call(&[expected.rows[*row].as_slice()], Layout::Plain),
                Err(Answer::Failed(text)) if text.contains("this call needs CPython"))
    };
    let all: Vec<usize> = (0..expected.rows.len()).filter(|row| !refused(row)).collect();
    let complete = all.len() == expected.rows.len();
    let (calm, raising): (Vec<usize>, Vec<usize>) =
        all.iter().partition(|row| matches!(expected.answers[**row], Answer::Value(_)));
    let row = |index: &usize| expected.rows[*index].as_slice();
    let layouts: &[Layout] =
        if matches!(variation, Variation::Native | Variation::Python) { &Layout::ALL } else { &[Layout::Plain] };
    for layout in layouts.iter().filter(|layout| layout.matters(subject.types.iter().copied())) {
        // Rows that come twice are called once where equal arguments are.
        let times = if variation == Variation::Memoized { 2 } else { 1 };
        let batch = || std::iter::repeat_n(&calm, times).flatten();
        let rows: Vec<&[Value]> = batch().map(row).collect();
        let wanted: Vec<&Answer> = batch().map(|row| &expected.answers[*row]).collect();
        compare(&subject, variation, &rows, &wanted, *layout)?;
        // Native code is another where nothing within the arguments is NULL, and lists lie where they are.
        let whole = |row: &&usize| !expected.rows[**row].iter().any(Value::holds_none);
        let whole: Vec<&usize> = batch().filter(whole).collect();
        if whole.len() < rows.len() {
            let rows: Vec<&[Value]> = whole.iter().map(|at| row(at)).collect();
            let wanted: Vec<&Answer> = whole.iter().map(|row| &expected.answers[**row]).collect();
            compare(&subject, variation, &rows, &wanted, *layout)?;
        }
    }
    for index in &raising {
        let actual = subject
            .call(&[row(index)], Layout::Plain)
            .map_or_else(|answer| answer, |mut values| Answer::Value(values.swap_remove(0)));
        if !expected.answers[*index].same(&actual) {
            return Err(unlike(variation, raising.len(), row(index), &expected.answers[*index], &actual));
        }
        // There is no oracle for these messages, so the rungs must agree among themselves.
        if let Answer::BadResult(message) = actual {
            let first = bad_results.entry(*index).or_insert_with(|| message.clone());
            // Where a NaN lies in a set hangs on its address.
            if *first != message && !message.contains("nan") {
                return Err(Difference {
                    variation,
                    rows: 1,
                    row: Some(row(index).to_vec()),
                    text: format!("says {message:?} where another rung says {first:?}"),
                });
            }
        }
    }
    if !raising.is_empty() && !calm.is_empty() {
        let rows: Vec<&[Value]> = all.iter().map(row).collect();
        let actual = subject.call(&rows, Layout::Plain);
        let legal = actual.as_ref().is_err_and(|answer| raising.iter().any(|row| expected.answers[*row].same(answer)));
        if !legal {
            let actual = actual.map_or_else(|answer| answer.show(), |_| "values".to_string());
            return Err(difference(format!("a batch with rows that raise gives {actual}")));
        }
        if complete {
            null_on_error(case, expected, variation, settings.clone())?;
        }
    }
    counts.rows += all.len() as u64;
    let placement = subject.function.placement(&settings);
    if variation == Variation::Native {
        counts.native_rows += placement.rows;
        counts.evaluated_rows += placement.evaluated_rows;
    }
    if variation == Variation::Device {
        counts.device_functions += 1;
        counts.given_rows += placement.rows;
        counts.device_rows += placement.offloaded_rows;
    }
    if placement.rung != rung {
        let reason = placement.reason.map_or(String::new(), |(code, text)| format!(": {code}: {text}"));
        let place = placement.place.map_or(String::new(), |place| place.to_string());
        return Err(difference(format!(
            "runs on rung {} and not {}{reason}{place}",
            rung_name(placement.rung),
            rung_name(rung)
        )));
    }
    Ok(())
}

/// With `on_error 'null'` what raises an `Exception` becomes NULL in the same batch.
fn null_on_error(case: &Case, expected: &Expected, variation: Variation, settings: Settings) -> Result<(), Difference> {
    let subject = Subject::define(case, settings, OnError::Null).map_err(|text| Difference {
        variation,
        rows: 0,
        row: None,
        text,
    })?;
    let null = Answer::Value(Value::None);
    let mut rows: Vec<&[Value]> = vec![];
    let mut wanted = vec![];
    for (row, answer) in expected.rows.iter().zip(&expected.answers) {
        match answer {
            Answer::Value(_) => wanted.push(answer),
            Answer::Raise { exception: true, .. } => wanted.push(&null),
            Answer::Raise { .. } | Answer::BadResult(_) | Answer::Failed(_) => continue,
        }
        rows.push(row);
    }
    compare(&subject, variation, &rows, &wanted, Layout::Plain)
}

/// Calls a batch of rows that all give a value.
fn compare(
    subject: &Subject<'_>,
    variation: Variation,
    rows: &[&[Value]],
    wanted: &[&Answer],
    layout: Layout,
) -> Result<(), Difference> {
    if rows.is_empty() {
        return Ok(());
    }
    let actual: Vec<Answer> = match subject.call(rows, layout) {
        Ok(values) => values.into_iter().map(Answer::Value).collect(),
        // One row by one tells which it was.
        Err(answer) => {
            let each: Vec<Answer> = rows
                .iter()
                .map(|row| match subject.call(&[row], layout) {
                    Ok(mut values) => Answer::Value(values.swap_remove(0)),
                    Err(answer) => answer,
                })
                .collect();
            if each.iter().zip(wanted).all(|(actual, wanted)| wanted.same(actual)) {
                let text = format!("right row by row, but a batch ({layout:?}) gives {}", answer.show());
                return Err(Difference { variation, rows: rows.len(), row: None, text });
            }
            each
        }
    };
    let wrong: Vec<usize> = (0..rows.len()).filter(|index| !wanted[*index].same(&actual[*index])).collect();
    match wrong.first() {
        None => Ok(()),
        Some(first) => {
            let mut difference = unlike(variation, wrong.len(), rows[*first], wanted[*first], &actual[*first]);
            if layout != Layout::Plain {
                difference.text += &format!(" (columns: {layout:?})");
            }
            Err(difference)
        }
    }
}

fn unlike(variation: Variation, rows: usize, row: &[Value], wanted: &Answer, actual: &Answer) -> Difference {
    let text = format!("CPython: {}\n    here:    {}", wanted.show(), actual.show());
    Difference { variation, rows, row: Some(row.to_vec()), text }
}
