//! Each operation against CPython, over values made from its parameters.
//!
//! Here an operation is called as the evaluator and the folder call it; what native code
//! makes of it is seen by the cases.

use crate::check::Answer;
use crate::corpus;
use crate::oracle::{Oracle, Outcome};
use crate::signature::SqlType;
use crate::value::Value;
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use exuvia_engine::{CallErrorKind, Function, Invocation, Rung, Settings};
use exuvia_ir::{Int, Object, Raise};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Default, Kind, OpDef, Param};
use std::sync::Arc;

/// Operations, by spelling or name, whose operands from a place on say how large the
/// result becomes, or what it is computed from.
const SIZED: &[(&str, usize)] = &[
    ("a<<b", 1),
    ("a**b", 1),
    ("a*b", 1),
    ("pow", 1),
    ("math.comb", 0),
    ("math.perm", 0),
    ("math.factorial", 0),
    ("int.round_digits", 1),
];

/// Rows of one operation.
const ROWS: usize = 400;

/// What comparing an operation gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// So many rows agree, and so many were left to a more general rung.
    Same(usize, usize),
    /// There is no Python to compare it with, or its operands are not plain values.
    Skipped,
    /// A row differs.
    Different(String),
}

/// Compares one operation with CPython.
///
/// # Errors
/// Where the oracle fails.
pub fn compare(def: &OpDef, oracle: &mut Oracle) -> anyhow::Result<Finding> {
    let column = |(index, param): (usize, &Param)| match param.kind {
        // Large sizes only take time and memory.
        Kind::Int
            if SIZED
                .iter()
                .any(|(spelling, from)| (*spelling == def.spelling || *spelling == def.name) && index >= *from) =>
        {
            corpus::values(SqlType::BigInt, "small!").ok()
        }
        kind => values(kind),
    };
    let Some(columns) = def.params.iter().enumerate().map(column).collect::<Option<Vec<_>>>() else {
        return Ok(Finding::Skipped);
    };
    let (mut same, mut left) = (0, 0);
    let required = def.params.iter().take_while(|param| param.default.is_none()).count();
    for given in required..=def.params.len() {
        let Some(source) = python(def, given) else { return Ok(Finding::Skipped) };
        let rows = corpus::combine(&columns[..given], def.name, ROWS);
        let outcomes = oracle.call(&source, &rows)?;
        for (row, outcome) in rows.iter().zip(outcomes) {
            let wanted = match outcome {
                Outcome::Skip => continue,
                Outcome::Value(value, _) => Answer::Value(value),
                Outcome::Raise { class, message, exception, line } => Answer::Raise { class, message, exception, line },
            };
            let Some(args) = arguments(def, row) else { continue };
            let mut cx = Cx::for_folding();
            let actual = match (def.eval)(&mut cx, &args) {
                Ok(object) => Answer::Value(value(&object)),
                Err(Raise::Exception { kind, args, .. }) => Answer::Raise {
                    class: kind.name().to_string(),
                    message: exuvia_ops::show::message(kind, &args),
                    exception: true,
                    line: 0,
                },
                Err(Raise::Result(message)) => Answer::BadResult(message),
                Err(Raise::Bailout(_) | Raise::Interrupted) => {
                    left += 1;
                    continue;
                }
            };
            if !wanted.same(&actual) {
                let args: Vec<String> = row.iter().map(Value::show).collect();
                return Ok(Finding::Different(format!(
                    "{} of ({}), as in\n{source}  CPython: {}\n  here:    {}",
                    def.name,
                    args.join(", "),
                    wanted.show(),
                    actual.show()
                )));
            }
            same += 1;
        }
    }
    Ok(Finding::Same(same, left))
}

/// An example of an operation's documentation.
struct Example {
    text: &'static str,
    /// The `repr` of its value, as the documentation says.
    shown: &'static str,
    /// A function `f` that gives it.
    source: String,
}

fn examples(def: &OpDef) -> impl Iterator<Item = Example> {
    let mut lines = def.doc.lines().map(str::trim);
    std::iter::from_fn(move || {
        let text = lines.find_map(|line| line.strip_prefix(">>> "))?;
        let source = format!("import math, unicodedata\ndef f():\n    return repr({text})\n");
        Some(Example { text, shown: lines.next().unwrap_or_default(), source })
    })
}

/// The examples of an operation's documentation that CPython answers otherwise.
///
/// # Errors
/// Where the oracle fails.
pub fn wrong_examples(def: &OpDef, oracle: &mut Oracle) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for Example { text: example, shown, source } in examples(def) {
        let answer = match oracle.call(&source, &[vec![]]) {
            Ok(outcomes) => match outcomes.into_iter().next() {
                Some(Outcome::Value(Value::Str(repr), _)) => repr,
                Some(Outcome::Raise { class, message, .. }) => format!("{class}: {message}"),
                other => format!("{other:?}"),
            },
            Err(error) => error.to_string(),
        };
        if answer != shown {
            wrong.push(format!("{}: {example} gives {answer} and not {shown}", def.name));
        }
    }
    Ok(wrong)
}

/// The examples of an operation's documentation that Exuvia answers otherwise, and how many of them it does not
/// lift: what it runs has no CPython.
///
/// # Errors
/// Where a function cannot be defined.
pub fn wrong_here(def: &OpDef) -> anyhow::Result<(Vec<String>, usize)> {
    let (mut wrong, mut left) = (Vec::new(), 0);
    for Example { text: example, shown, source } in examples(def) {
        let Some(answer) = answered(&source)? else {
            left += 1;
            continue;
        };
        if answer != shown {
            wrong.push(format!("{}: {example} gives {answer} here and not {shown}", def.name));
        }
    }
    Ok((wrong, left))
}

/// What a function without parameters gives, or raises; `None` where CPython must run it.
fn answered(source: &str) -> anyhow::Result<Option<String>> {
    let settings = Settings { interpreter: false, ..<Settings as std::default::Default>::default() };
    let definition = crate::definition(source, Vec::new(), DataType::Utf8);
    let function = Function::define(definition, &settings).map_err(|error| anyhow::anyhow!("{}", error.message))?;
    if function.placement(&settings).rung == Rung::Python {
        return Ok(None);
    }
    let invocation = Invocation { cancelled: Arc::default(), deadline: None, without_python: false };
    Ok(match function.invoke(&[], 1, &settings, &invocation) {
        Ok(values) => Some(cast(&values, &DataType::Utf8)?.as_string::<i32>().value(0).to_string()),
        Err(error) => match error.kind {
            CallErrorKind::Python { class, message } => Some(format!("{class}: {message}")),
            _ => None,
        },
    })
}

/// A function that does the operation with so many arguments.
fn python(def: &OpDef, given: usize) -> Option<String> {
    let names = ["a", "b", "c", "d", "e", "g", "h"];
    let args = names.get(..given)?;
    let spelling = def.spelling;
    // What has a name and a default may be open to keywords only.
    let passed: Vec<String> = args
        .iter()
        .zip(def.params)
        .map(|(arg, param)| match param.default {
            Some(_) if !param.name.starts_with('_') => format!("{}={arg}", param.name),
            Some(_) | None => (*arg).to_string(),
        })
        .collect();
    let expression = match spelling {
        "" => return None,
        // Statements, and what depends on identity or changes its operands.
        "a[b]=c" | ".append" | ".pop" | "a is b" => return None,
        "truth" => "bool(a)".to_string(),
        "a[b:c]" | "a[b:c:d]" => {
            let bounds: Vec<&str> = (1..4).map(|at| *args.get(at).unwrap_or(&"")).collect();
            format!("a[{}]", bounds.join(":"))
        }
        _ if spelling.starts_with('.') => format!("a{spelling}({})", passed.get(1..)?.join(", ")),
        _ if spelling.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_') => {
            format!("{spelling}({})", passed.join(", "))
        }
        _ => spelling.to_string(),
    };
    Some(format!("import math, unicodedata\ndef f({}):\n    return {expression}\n", args.join(", ")))
}

/// The values that a parameter is tried with; `None` where there are none.
fn values(kind: Kind) -> Option<Vec<Value>> {
    let corpus = |ty, corpus: &str| corpus::values(ty, corpus).ok();
    let lists = |lists: &[&[Value]]| Some(lists.iter().map(|items| Value::List(items.to_vec())).collect());
    let s = Value::str;
    match kind {
        Kind::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        Kind::Int => {
            let mut values = corpus(SqlType::BigInt, "small!")?;
            values.extend(corpus(SqlType::BigInt, "nasty!")?);
            Some(values)
        }
        Kind::Index => corpus(SqlType::BigInt, "index!"),
        Kind::Float | Kind::Number => {
            let mut values = corpus(SqlType::Double, "nasty!")?;
            values.extend(corpus(SqlType::Double, "small!")?);
            Some(values)
        }
        Kind::Str => {
            let mut values = corpus(SqlType::Text, "short!")?;
            values.extend(corpus(SqlType::Text, "nasty!")?);
            Some(values)
        }
        Kind::None => Some(vec![Value::None]),
        Kind::StrList => lists(&[&[], &[s("a")], &[s("b"), s(""), s("é😀"), s("ab"), s("B")]]),
        Kind::IntList => lists(&[
            &[],
            &[Value::int(5)],
            &[Value::int(3), Value::int(-1), Value::int(i64::MIN), Value::int(3)],
            &[Value::int(i64::MAX), Value::int(1)],
        ]),
        Kind::FloatList => lists(&[
            &[],
            &[Value::Float(-0.0)],
            &[Value::Float(2.5), Value::Float(f64::NAN), Value::Float(-1.0), Value::Float(f64::INFINITY)],
            &[Value::Float(0.1), Value::Float(0.2), Value::Float(0.3), Value::Float(1e16)],
        ]),
        Kind::Any | Kind::Key | Kind::List | Kind::OrderedList | Kind::KeyList | Kind::Exc | Kind::Pattern => None,
    }
}

/// The row as the operation's operands: what is missing is the parameter's default.
fn arguments(def: &OpDef, row: &[Value]) -> Option<Vec<Object>> {
    def.params
        .iter()
        .enumerate()
        .map(|(index, param)| match row.get(index) {
            Some(value) => object(value),
            None => param.default.map(Default::object),
        })
        .collect()
}

fn object(value: &Value) -> Option<Object> {
    Some(match value {
        Value::None => Object::None,
        Value::Bool(value) => Object::Bool(*value),
        Value::Int(text) => Object::int(text.parse::<i64>().ok()?),
        Value::Float(value) => Object::Float(*value),
        Value::Str(text) => Object::str(text),
        Value::Bytes(_) | Value::Date(_) | Value::Datetime(_) | Value::Time(_) | Value::Decimal(_) => return None,
        Value::List(items) => Object::list(items.iter().map(object).collect::<Option<_>>()?),
        Value::Tuple(items) => Object::Tuple(items.iter().map(object).collect::<Option<Vec<_>>>()?.into()),
        Value::Dict(_) | Value::Other(..) => return None,
    })
}

fn value(object: &Object) -> Value {
    match object {
        Object::None => Value::None,
        Object::Bool(value) => Value::Bool(*value),
        Object::Int(Int::Small(value)) => Value::int(*value),
        Object::Int(value) => Value::Int(value.to_string()),
        Object::Float(value) => Value::Float(*value),
        Object::Str(text) => Value::str(text),
        Object::Tuple(items) => Value::Tuple(items.iter().map(value).collect()),
        Object::List(items) => Value::List(items.items().iter().map(value).collect()),
        Object::Dict(_)
        | Object::Set(_)
        | Object::Pattern(_)
        | Object::Record(_)
        | Object::Exc(_)
        | Object::Unbound => Value::Other("object".to_string(), format!("{object:?}")),
    }
}
