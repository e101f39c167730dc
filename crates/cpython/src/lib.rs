//! CPython for the functions that nothing else can run.
//!
//! This is a library that the engine opens at run time, after libpython; see
//! [`exuvia_ir::interpreter`] for the interface between the two. The engine and the
//! binary link neither to libpython nor to this crate, and start without both.
//!
//! *How it gets built.* The crate is a `cdylib` and, so that cargo accepts it as an
//! ordinary dependency, an `rlib`. A package that names it as a dependency (the command
//! line does, and the tests that need an interpreter) makes cargo write
//! `target/<profile>/deps/libexuvia_cpython.so`, which the engine finds beside the
//! running executable. Nobody uses it from Rust.
//!
//! *What holds here.* One build serves every CPython from 3.11 on, since it uses the
//! stable ABI only. The GIL is taken once per request. Nothing unwinds into the caller,
//! no Python exception stays set, and every failure is told to the caller's listener.
//!
//! *What it leaves out.* It knows no SQL and no lifting: the engine says which module to
//! run, which callable is the handler and which rows to call it on.

mod argument;
mod arrow_capsule;
mod border;
mod calendar;
mod call;
mod classes;
mod failure;
mod function;
mod imports;
mod memory;
mod port;
mod print;
mod request;
mod result;
mod run;
mod serve;
mod start;
mod strings;
mod watch;

pub use border::exuvia_cpython_v4;
