//! Native code: from a function of the IR to a loop over Arrow batches.
//!
//! [`Kernel::compile`] translates a module whose function 0 is the row function with
//! Cranelift; [`Kernel::run`] runs it on a batch. A row that the native code cannot
//! finish (an exception, an integer of too many bits, memory) is reported with a status,
//! and somebody else fills it in through [`Partial::set`]. A kernel of
//! [`Kernel::compile_loop`] has several results and drops rows.
//!
//! | file | holds |
//! | --- | --- |
//! | `compile.rs` | the module of the code generator, its symbols, functions that are called |
//! | `batch.rs` | the loop over the rows of a chunk |
//! | `translate/` | the instructions, by family |
//! | `size.rs` | what is too large to be compiled in bounded time |
//! | `width.rs` | how many bits ints have |
//! | `live.rs`, `sink.rs`, `flags.rs` | what need not be computed natively, where arguments are needed, and whether as ASCII |
//! | `alias.rs` | which lists belong to somebody else, and whether they are changed |
//! | `choices.rs` | branches that only choose between values |
//! | `strips.rs` | elementary functions of a chunk's rows, computed before its loop |
//! | `tiles.rs` | loops over one large array, a part of it by each thread |
//! | `turns.rs` | the memory that turns of loops give back |
//! | `slots.rs` | how types are spread over registers and memory |
//! | `columns.rs`, `output.rs`, `views.rs`, `text.rs` | arguments from Arrow, results to Arrow |
//! | `items.rs` | the same for lists |
//! | `constants.rs`, `table.rs`, `helpers.rs` | what native code points to and calls |
//! | `trampoline.rs` | calls that few rows make |
//!
//! The crate knows no SQL, no cache and no other rung.

mod alias;
mod batch;
pub mod border;
mod choices;
mod columns;
mod compile;
mod constants;
mod error;
mod flags;
mod headers;
mod helpers;
mod items;
mod kernel;
pub mod live;
mod memo;
mod output;
mod polls;
mod sink;
mod size;
mod slots;
mod strips;
mod table;
mod text;
mod tiles;
mod trampoline;
mod translate;
mod turns;
mod views;
mod width;

pub use error::{CompileError, RunError};
pub use kernel::{Kernel, Options};
pub use output::{Misfit, Output, Partial, Selection};
