//! A compiled row function that can be run on batches.

use crate::batch::{Exit, Frame, Row};
use crate::columns::{CHUNK, Column, Loaded, bits_from};
use crate::compile::{self, Compiled, Memory};
use crate::views::Shared;
use crate::{CompileError, Output, Partial, RunError};
use arrow::array::ArrayRef;
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::DataType;
use exuvia_ir::{Module, Type};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::status;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Calls that may nest before the row bails out: fewer than CPython's limit of 1000, so
/// that a RecursionError is always its decision.
const MAX_DEPTH: u64 = 899;

/// The stack that native calls may take, well within the 2 MiB of a worker thread.
const MAX_STACK: usize = 512 << 10;

/// How a kernel is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether the code generator optimises; compiling large functions takes long then.
    pub opt_level_speed: bool,
    /// Fault injection: every check for an integer beyond 64 bits fails.
    pub fail_guards: bool,
    /// Whether a NULL in any argument gives NULL without a call.
    pub strict: bool,
}

/// The native code of a row function. It may be run by several threads at once; machine
/// code and constants are freed with it.
pub struct Kernel {
    compiled: Inspection,
    /// Constant texts that results may share.
    texts: Vec<Buffer>,
    entry: crate::batch::Loop,
    params: Vec<Parameter>,
    returns: DataType,
    strict: bool,
    valid_by_default: bool,
}

/// What is only looked at, one thread at a time: a module of the code generator cannot be
/// shared. The mutex also owns the memory of the code.
type Inspection = Mutex<Compiled>;

#[derive(Debug)]
struct Parameter {
    declared: DataType,
    loaded: Loaded,
    nullable: bool,
    /// Whether the native code looks at it.
    needed: bool,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("params", &self.params).field("returns", &self.returns).finish_non_exhaustive()
    }
}

impl Kernel {
    /// Compiles a module. Its function 0 is the row function: each parameter is int for
    /// the integer types, float for Float32 and Float64, bool for Boolean, str for the
    /// string types and dictionaries of strings, or the union of that and none where the
    /// argument may be NULL. It returns none, the type of `returns`, or their union.
    ///
    /// # Errors
    /// Why there is no native code.
    pub fn compile(
        module: &Module,
        params: &[DataType],
        returns: &DataType,
        options: &Options,
    ) -> Result<Kernel, CompileError> {
        // The code generator asserts its invariants; its bugs must not fail a query.
        catch_unwind(AssertUnwindSafe(|| Kernel::compile_unguarded(module, params, returns, options))).unwrap_or_else(
            |panic| {
                let message = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied());
                Err(CompileError::Generator(message.unwrap_or("panicked").to_string()))
            },
        )
    }

    fn compile_unguarded(
        module: &Module,
        params: &[DataType],
        returns: &DataType,
        options: &Options,
    ) -> Result<Kernel, CompileError> {
        let function = module.functions.first().ok_or_else(|| CompileError::malformed("a module without function"))?;
        let row = Row::new(function, params, returns, options.strict)?;
        let compiled = compile::compile(module, &row, options)?;
        let types = function.param_types();
        let parameters = params.iter().enumerate().map(|(at, declared)| Parameter {
            declared: declared.clone(),
            loaded: row.params[at],
            nullable: matches!(types[at], Type::Union(_)),
            needed: compiled.needed[at],
        });
        Ok(Kernel {
            params: parameters.collect(),
            returns: returns.clone(),
            strict: options.strict,
            valid_by_default: row.valid_by_default(),
            entry: compiled.entry,
            texts: compiled.constants.shareable().cloned().collect(),
            compiled: Mutex::new(compiled),
        })
    }

    /// Runs `rows` rows. An argument may come in another Arrow layout of its declared
    /// type. Constants of the kernel may be shared by the results.
    ///
    /// # Errors
    /// Why there are no results at all; exceptions are exits of their rows.
    pub fn run(&self, args: &[ArrayRef], rows: usize, cx: &mut Cx) -> Result<Output, RunError> {
        let mut columns = self.columns(args, rows)?;
        let strict = if self.strict { missing_argument(&columns) } else { None };
        let mut shared = Vec::new();
        if self.returns == DataType::Utf8View {
            for (at, column) in columns.iter().enumerate() {
                shared.extend(column.texts().into_iter().map(|buffer| Shared::new(buffer, Some(at))));
            }
            shared.extend(self.texts.iter().map(|buffer| Shared::new(buffer.clone(), None)));
        }
        let mut values = Partial::sharing(&self.returns, rows, shared)
            .ok_or_else(|| RunError::Argument(format!("results of type {}", self.returns)))?;
        if self.valid_by_default {
            values.assume_valid_from(0);
        }
        let mut exits = Vec::new();
        let mut left: Vec<Exit> = Vec::with_capacity(CHUNK.min(rows));
        cx.reset();
        cx.take_poison();
        for start in (0..rows).step_by(CHUNK) {
            if cx.interrupted() {
                return Err(RunError::Interrupted);
            }
            let count = CHUNK.min(rows - start);
            let arguments: Vec<_> = columns.iter_mut().map(|column| column.chunk(start, count)).collect();
            let (strict, strict_bit) = bits_from(strict.as_ref(), start);
            let marker = 0u8;
            let mut frame = Frame {
                interrupt: cx.interrupt_address(),
                cx,
                depth: MAX_DEPTH,
                stack_limit: (std::ptr::from_ref(&marker) as usize).saturating_sub(MAX_STACK) as u64,
                exits: left.as_mut_ptr(),
                exit_count: 0,
                values: values.values_from(start),
                validity: values.validity_from(start),
                strings: values.strings(start),
                strict,
                strict_bit,
                arguments: arguments.as_ptr(),
            };
            // SAFETY: the frame describes `count` rows of arguments and results, which live
            // until the call returns, and `left` has room for all of them; `self` keeps the
            // machine code and its constants.
            unsafe { (self.entry)(&mut frame, count as u64) };
            let exit_count = (frame.exit_count as usize).min(count);
            // SAFETY: there is room for `count`, and the loop wrote one for each that it counted.
            unsafe { left.set_len(exit_count) };
            if cx.take_poison() {
                // A kernel panicked and its result was made up: nothing of the chunk counts.
                values.forget_from(start);
                if self.valid_by_default {
                    values.assume_valid_from(start + count);
                }
                exits.extend((start..start + count).map(|row| (row as u32, status::BAILOUT)));
                continue;
            }
            for exit in &left {
                if exit.status == status::INTERRUPTED {
                    return Err(RunError::Interrupted);
                }
                let row = start + exit.row as usize;
                values.clear(row);
                exits.push((row as u32, exit.status));
            }
        }
        values.offer(columns.iter().map(Column::text_bytes).collect());
        Ok(Output { values, exits })
    }

    fn columns(&self, args: &[ArrayRef], rows: usize) -> Result<Vec<Column>, RunError> {
        if args.len() != self.params.len() {
            return Err(RunError::Argument(format!("{} instead of {}", args.len(), self.params.len())));
        }
        if u32::try_from(rows).is_err() {
            return Err(RunError::Argument("a batch of more than 2^32 rows".to_string()));
        }
        let mut columns = Vec::new();
        for (array, param) in args.iter().zip(&self.params) {
            let column = Column::new(array, &param.declared, param.loaded, param.needed)?;
            if column.len() != rows {
                return Err(RunError::Argument(format!("{} rows instead of {rows}", column.len())));
            }
            if column.nulls().is_some() && !param.nullable && !self.strict {
                return Err(RunError::Argument("a NULL for a parameter that has no case for it".to_string()));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    fn inspect<R>(&self, look: impl FnOnce(&Compiled) -> R) -> R {
        look(&self.compiled.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// The machine code as text.
    #[must_use]
    pub fn machine_code(&self) -> String {
        self.inspect(Compiled::machine_code)
    }

    /// The functions as they were given to the code generator, as text.
    #[must_use]
    pub fn lowered(&self) -> String {
        self.inspect(Compiled::lowered)
    }

    /// How many places in the native code call which helper: operations by name, and
    /// `emit`, `arena.reset` of the loop. `(rare)` marks places that few rows reach.
    #[must_use]
    pub fn helper_calls(&self) -> Vec<(String, usize)> {
        self.inspect(|compiled| compiled.calls.iter().map(|(name, count)| (name.clone(), *count)).collect())
    }
}

/// The rows in which every argument is there; `None` if all are.
fn missing_argument(columns: &[Column]) -> Option<NullBuffer> {
    columns.iter().fold(None, |all, column| NullBuffer::union(all.as_ref(), column.nulls()))
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<Kernel>();
    const fn sent<T: Send>() {}
    sent::<Memory>();
};
