//! CPython inside this process, or where it has no shared library in one of its own.
#![cfg(feature = "python")]

mod cases;

use exuvia_engine::interpreter::Interpreter;

fn python() -> &'static Interpreter {
    Interpreter::get().unwrap()
}
