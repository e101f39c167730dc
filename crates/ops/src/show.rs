//! `repr` and `str` of objects, and the messages of exceptions.

use crate::classes::{Shown, ValueClass};
use exuvia_ir::{ExcKind, Int, Object, Raise, RecordObj};

/// `repr(object)`.
#[must_use]
pub fn repr(object: &Object) -> String {
    let items = |items: &[Object]| items.iter().map(repr).collect::<Vec<_>>().join(", ");
    match object {
        Object::None => "None".to_string(),
        Object::Bool(true) => "True".to_string(),
        Object::Bool(false) => "False".to_string(),
        Object::Int(value) => value.to_string(),
        Object::Float(value) => crate::float::repr(*value),
        Object::Str(text) => crate::text_repr::repr(text),
        Object::Tuple(tuple) if tuple.len() == 1 => format!("({},)", repr(&tuple[0])),
        Object::Tuple(tuple) => format!("({})", items(tuple)),
        Object::List(list) => format!("[{}]", items(&list.items())),
        Object::Dict(dict) => {
            let entries: Vec<String> =
                dict.entries().iter().map(|(key, value)| format!("{}: {}", repr(key), repr(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Object::Set(set) => {
            let added = || set.members.entries().iter().map(|entry| entry.0.clone()).collect();
            let members: Vec<Object> = set.in_order().unwrap_or_else(added);
            match (set.frozen, members.is_empty()) {
                (false, true) => "set()".to_string(),
                (true, true) => "frozenset()".to_string(),
                (false, false) => format!("{{{}}}", items(&members)),
                (true, false) => format!("frozenset({{{}}})", items(&members)),
            }
        }
        Object::Exc(exc) if exc.args.len() == 1 => format!("{}({})", exc.kind.name(), repr(&exc.args[0])),
        Object::Exc(exc) => format!("{}({})", exc.kind.name(), items(&exc.args)),
        Object::Record(record) if let Some(shown) = of_record(record, |class| class.repr) => shown,
        // Neither is shown to anybody: the lifter has no text of them.
        Object::Pattern(pattern) => format!("re.compile({})", crate::text_repr::repr(&pattern.source)),
        Object::Record(record) => format!("<{} object>", record.class.name()),
        Object::Unbound => "<unbound>".to_string(),
    }
}

/// What an error shows of a result: its `repr`, or what stands for one that CPython cannot make.
#[must_use]
pub fn of_result(object: &Object) -> String {
    if is_printable(object) { repr(object) } else { exuvia_ir::unprintable(object.ty().python_name()) }
}

/// Whether no int has more digits than CPython writes.
fn is_printable(object: &Object) -> bool {
    match object {
        Object::Int(Int::Big(value)) => crate::int::decimal_text(value).is_ok(),
        Object::Tuple(items) => items.iter().all(is_printable),
        Object::List(list) => list.items().iter().all(is_printable),
        Object::Dict(dict) => dict.entries().iter().all(|(key, value)| is_printable(key) && is_printable(value)),
        Object::Set(set) => set.members.entries().iter().all(|(key, _)| is_printable(key)),
        _ => true,
    }
}

/// What a class of values shows of an object.
fn of_record(record: &RecordObj, shown: fn(&ValueClass) -> Shown) -> Option<String> {
    shown(ValueClass::of(record.class)?)(&record.fields)
}

/// `str(object)`.
#[must_use]
pub fn text(object: &Object) -> String {
    match object {
        Object::Str(text) => text.to_string(),
        Object::Exc(exc) => message(exc.kind, &exc.args),
        Object::Record(record) if let Some(shown) = of_record(record, |class| class.text) => shown,
        other => repr(other),
    }
}

/// The text that `str(exception)` gives.
#[must_use]
pub fn message(kind: ExcKind, args: &[Object]) -> String {
    match args {
        [] => String::new(),
        // KeyError shows the repr of its key (Objects/exceptions.c, KeyError_str).
        [one] if kind == ExcKind::KeyError => repr(one),
        [one] => text(one),
        many => repr(&Object::tuple(many.to_vec())),
    }
}

/// A raise as the last line of a traceback shows it: class, colon, message.
#[must_use]
pub fn raise(raise: &Raise) -> String {
    match raise {
        Raise::Exception { kind, args } => {
            let message = message(*kind, args);
            if message.is_empty() { kind.name().to_string() } else { format!("{}: {message}", kind.name()) }
        }
        Raise::Result(message) => message.clone(),
        Raise::Bailout(reason) => format!("bailout: {reason}"),
        Raise::Interrupted => "interrupted".to_string(),
    }
}
