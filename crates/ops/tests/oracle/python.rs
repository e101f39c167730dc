//! The oracle: a CPython process that answers calls.

use crate::process::Process;
use exuvia_ir::{Int, Object};
use num_bigint::BigInt;
use serde_json::{Value, json};

/// What CPython answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A value.
    Value(Object),
    /// An exception: class and message.
    Exception(String, String),
    /// A value that has no counterpart here, such as a complex number.
    Strange,
}

/// A running CPython.
pub struct Python(Process);

impl Python {
    /// Starts the CPython that `EXUVIA_PYTHON` names, or `python3`; `None`, with a message,
    /// where it is not one of the semantic level.
    pub fn start() -> Option<Python> {
        Process::start(include_str!("answer.py")).map(Python)
    }

    /// The answers of a function, given as Python source, to some calls.
    pub fn ask(&mut self, function: &str, calls: &[Vec<Object>]) -> Vec<Answer> {
        let calls: Vec<Value> = calls.iter().map(|args| args.iter().map(encode).collect()).collect();
        let line = json!({ "function": function, "calls": calls }).to_string();
        let reply = self.0.ask(&line);
        let reply: Vec<Value> = serde_json::from_str(&reply).unwrap_or_else(|_| panic!("{function}: {reply}"));
        reply.iter().map(answer).collect()
    }
}

fn answer(reply: &Value) -> Answer {
    let text = |key: &str| reply[key].as_str().unwrap_or_default().to_string();
    if let Some(value) = reply.get("value") {
        Answer::Value(decode(value))
    } else if reply.get("class").is_some() {
        Answer::Exception(text("class"), text("message"))
    } else {
        Answer::Strange
    }
}

fn encode(object: &Object) -> Value {
    match object {
        Object::None => Value::Null,
        Object::Bool(value) => json!(value),
        Object::Int(value) => json!({ "int": value.to_big().to_str_radix(16) }),
        Object::Float(value) => json!({ "float": format!("{:016x}", value.to_bits()) }),
        Object::Str(text) => json!(&**text),
        Object::List(list) => json!({ "list": list.items().iter().map(encode).collect::<Vec<_>>() }),
        other => panic!("an operand of another type: {other:?}"),
    }
}

fn decode(value: &Value) -> Object {
    match value {
        Value::Null => Object::None,
        Value::Bool(value) => Object::Bool(*value),
        Value::String(text) => Object::str(text),
        Value::Object(fields) => match fields.iter().next() {
            Some((kind, Value::String(text))) if kind == "int" => {
                Object::Int(Int::from_big(BigInt::parse_bytes(text.as_bytes(), 16).expect("hexadecimal")))
            }
            Some((kind, Value::String(text))) if kind == "float" => {
                Object::Float(f64::from_bits(u64::from_str_radix(text, 16).expect("hexadecimal")))
            }
            Some((_, Value::Array(items))) => Object::list(items.iter().map(decode).collect()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
