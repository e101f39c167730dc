//! A compiled row function that can be run on batches.

use crate::batch::{Destination, Exit, Frame, Row};
use crate::border;
use crate::columns::{self, CHUNK, FIRST_CHUNK, Loaded, Reading, bits_from};
use crate::compile::{self, Compiled, Memory};
use crate::strips::{self, Strips};
use crate::tiles;
use crate::views::Shared;
use crate::{CompileError, Output, Partial, RunError, Selection, live};
use arrow::array::ArrayRef;
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::DataType;
use exuvia_ir::{Function, IntWidth, Module, Type};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::status;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// Fault injection: the memory that a turn of a loop took is given back at once.
    pub each_turn: bool,
    /// Whether a NULL in any argument gives NULL without a call.
    pub strict: bool,
    /// Whether a row may be a whole column, whose loops several threads may divide.
    pub whole: bool,
    /// How many bits ints have; the module was optimised for the same.
    pub width: IntWidth,
}

/// The native code of a row function. It may be run by several threads at once; machine
/// code and constants are freed with it.
pub struct Kernel {
    compiled: Inspection,
    /// Constant texts that results may share.
    texts: Vec<Buffer>,
    entry: crate::batch::Loop,
    params: Vec<Parameter>,
    results: Vec<Column>,
    /// For how many reasons rows are dropped.
    reasons: usize,
    /// The share of the last batch's rows that was kept, of 256: what room is made for.
    share: AtomicUsize,
    strict: bool,
    stages: Vec<Stage>,
}

/// A loop that computes operands for the rows of a chunk, and the functions of these ([`strips`]).
struct Stage {
    entry: crate::batch::Loop,
    outputs: Vec<Option<usize>>,
    calls: Vec<strips::Call>,
}

/// A column of results.
#[derive(Debug)]
struct Column {
    ty: DataType,
    /// As native code has it.
    value: Type,
    valid_by_default: bool,
}

/// What is only looked at, one thread at a time: a module of the code generator cannot be
/// shared. The mutex also owns the memory of the code: that of the loop over the rows, and of the stages before it.
type Inspection = Mutex<Vec<Compiled>>;

#[derive(Debug)]
struct Parameter {
    declared: DataType,
    loaded: Loaded,
    ty: Type,
    nullable: bool,
    reading: Reading,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("params", &self.params).field("results", &self.results).finish_non_exhaustive()
    }
}

impl Kernel {
    /// Compiles a module. Its function 0 is the row function: each parameter is int for
    /// the integer types, float for Float32 and Float64, bool for Boolean, str for the
    /// string types and dictionaries of strings, a list for List (within it a struct is a tuple of
    /// its fields), or the union of that and none where the argument may be NULL. It returns
    /// none, the type of `returns`, or their union.
    ///
    /// # Errors
    /// Why there is no native code.
    pub fn compile(
        module: &Module,
        params: &[DataType],
        returns: &DataType,
        options: &Options,
    ) -> Result<Kernel, CompileError> {
        guarded(|| {
            let row = Row::new(entry(module)?, params, returns, options.strict)?;
            Kernel::of(module, row, params, options)
        })
    }

    /// Compiles a module whose function 0 has several results and may drop rows. It returns
    /// a tuple with an element for each of `results`, typed as for [`Kernel::compile`]; if
    /// there are `reasons` to drop rows, the union of that and int: a row for which it gives
    /// an int, which is less than `reasons`, is dropped. There are no strict loops.
    ///
    /// # Errors
    /// Why there is no native code.
    pub fn compile_loop(
        module: &Module,
        params: &[DataType],
        results: &[DataType],
        reasons: u32,
        options: &Options,
    ) -> Result<Kernel, CompileError> {
        guarded(|| Kernel::of(module, Row::with_results(entry(module)?, params, results, reasons)?, params, options))
    }

    fn of(module: &Module, row: Row<'_>, params: &[DataType], options: &Options) -> Result<Kernel, CompileError> {
        let divides = options.whole && options.width == IntWidth::Word;
        let split = divides.then(|| tiles::with_exits(row.function));
        let tiles = split.as_ref().map(|split| tiles::plan(split, &live::analyse(split))).unwrap_or_default();
        let mut row = Row { function: split.as_ref().unwrap_or(row.function), tiles: &tiles, ..row };
        let Strips { stages: planned, taken } = strips::plan(row.function, row.reasons() > 0);
        let (mut stages, mut loops) = (Vec::new(), Vec::new());
        for (number, stage) in planned.into_iter().enumerate() {
            let floats = vec![DataType::Float64; stage.outputs.len()];
            let mut operands = Row::with_results(entry(&stage.module)?, params, &floats, 0)?;
            let before = taken.iter().filter(|(_, computed)| computed.stage < number);
            operands.computed = before.map(|(value, computed)| (*value, *computed)).collect();
            let compiled = compile::compile(&stage.module, &operands, options)?;
            stages.push(Stage { entry: compiled.entry, outputs: stage.outputs, calls: stage.calls });
            loops.push(compiled);
        }
        row.computed = taken;
        let compiled = compile::compile(module, &row, options).or_else(|error| match error.is_size() {
            // The tiles of a loop take as much room as the loop.
            true if !tiles.is_empty() => compile::compile(module, &Row { tiles: &[], ..row.clone() }, options),
            _ => Err(error),
        })?;
        let types = row.function.param_types();
        let parameters = params.iter().enumerate().map(|(at, declared)| Parameter {
            declared: declared.clone(),
            loaded: row.params[at],
            ty: types[at].clone(),
            nullable: matches!(types[at], Type::Union(_)),
            reading: compiled.reading[at],
        });
        let values = row.result_types().unwrap_or_default().iter().cloned();
        let results = row.results.iter().zip(row.valid_by_default()).zip(values);
        Ok(Kernel {
            params: parameters.collect(),
            results: results
                .map(|((ty, valid_by_default), value)| Column { ty: ty.clone(), value, valid_by_default })
                .collect(),
            reasons: row.reasons() as usize,
            share: AtomicUsize::new(0),
            strict: row.strict,
            entry: compiled.entry,
            texts: compiled.constants.shareable().cloned().collect(),
            compiled: Mutex::new(std::iter::once(compiled).chain(loops).collect()),
            stages,
        })
    }

    /// Runs `rows` rows. An argument may come in another Arrow layout of its declared
    /// type. Constants of the kernel may be shared by the results.
    ///
    /// # Errors
    /// Why there are no results at all; exceptions are exits of their rows.
    pub fn run(&self, args: &[ArrayRef], rows: usize, cx: &mut Cx) -> Result<Output, RunError> {
        let mut batch = self.run_loop(args, rows, cx)?;
        let values = batch.values.pop().ok_or_else(|| RunError::Argument("a kernel without a result".to_string()))?;
        Ok(Output { values, exits: batch.exits })
    }

    /// Runs `rows` rows of a kernel with several results.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    pub fn run_loop(&self, args: &[ArrayRef], rows: usize, cx: &mut Cx) -> Result<Selection, RunError> {
        let selects = self.reasons > 0;
        let mut columns = self.columns(args, rows)?;
        let strict = if self.strict { missing_argument(&columns) } else { None };
        // Nobody knows how many rows are kept; about as many as last time, and some more.
        let expected = rows * (self.share.load(Ordering::Relaxed) + 16) / 256;
        let room = if selects { expected.max(CHUNK).min(rows) } else { rows };
        let mut values =
            self.results.iter().map(|result| self.partial(result, &columns, room)).collect::<Result<Vec<_>, _>>()?;
        let mut exits = Vec::new();
        let mut left: Vec<Exit> = Vec::with_capacity(CHUNK.min(rows));
        let mut kept: Vec<u32> = Vec::new();
        let mut kept_rows = if selects { vec![0; CHUNK.min(rows)] } else { Vec::new() };
        let mut dropped = vec![0; self.reasons];
        let mut computed = Computed::new(&self.stages, CHUNK.min(rows));
        cx.reset();
        cx.take_poison();
        // What is large shows in few rows; the others are not run in vain.
        let mut chunk = if values.iter().any(Partial::may_be_full) { FIRST_CHUNK } else { CHUNK };
        let mut next = 0;
        while next < rows {
            if cx.interrupted() {
                return Err(RunError::Interrupted);
            }
            let start = next;
            let count = chunk.min(rows - start);
            next += count;
            chunk = (chunk * 4).min(CHUNK);
            let arguments: Vec<_> = columns.iter_mut().map(|column| column.chunk(start, count)).collect();
            let (strict, strict_bit) = bits_from(strict.as_ref(), start);
            // Where a loop drops rows, the results of the others follow each other.
            let position = if selects { kept.len() } else { start };
            for (values, result) in values.iter_mut().zip(&self.results) {
                values.grow(position + count, rows, result.valid_by_default);
            }
            let destinations: Vec<Destination> = values.iter_mut().map(|values| values.from(position)).collect();
            let before = dropped.clone();
            let marker = 0u8;
            let mut frame = Frame {
                interrupt: cx.interrupt_address(),
                cx,
                depth: MAX_DEPTH,
                stack_limit: (std::ptr::from_ref(&marker) as usize).saturating_sub(MAX_STACK) as u64,
                exits: left.as_mut_ptr(),
                exit_count: 0,
                results: destinations.as_ptr(),
                kept: 0,
                kept_rows: kept_rows.as_mut_ptr(),
                dropped: dropped.as_mut_ptr(),
                strict,
                strict_bit,
                arguments: arguments.as_ptr(),
                computed: computed.addresses.as_ptr(),
                tiled_from: if cx.threads() > 1 { tiles::LEAST as i64 } else { i64::MAX },
            };
            for stage in &self.stages {
                // SAFETY: the frame describes `count` rows of arguments, which live until the call returns, and
                // `left` has room for all of them; `self` keeps the machine code and its constants.
                unsafe { computed.run(stage, frame, count) };
            }
            // SAFETY: the frame describes `count` rows of arguments and results, which live
            // until the call returns, and `left` and `kept_rows` have room for all of them;
            // `self` keeps the machine code and its constants.
            unsafe { (self.entry)(&mut frame, count as u64) };
            let exit_count = (frame.exit_count as usize).min(count);
            let kept_count = (frame.kept as usize).min(kept_rows.len());
            // SAFETY: there is room for `count`, and the loop wrote one for each that it counted.
            unsafe { left.set_len(exit_count) };
            if cx.take_poison() {
                // A kernel panicked and its result was made up: nothing of the chunk counts.
                for (values, result) in values.iter_mut().zip(&self.results) {
                    values.forget_from(position);
                    if result.valid_by_default {
                        values.assume_valid_from(if selects { position } else { start + count });
                    }
                }
                dropped = before;
                exits.extend((start..start + count).map(|row| (row as u32, status::BAILOUT)));
                continue;
            }
            if values.iter().any(Partial::is_full) {
                return Err(RunError::OutputTooLarge);
            }
            kept.extend(kept_rows[..kept_count].iter().map(|row| start as u32 + row));
            for exit in &left {
                if exit.status == status::INTERRUPTED {
                    return Err(RunError::Interrupted);
                }
                let row = start + exit.row as usize;
                if !selects {
                    values.iter_mut().for_each(|values| values.clear(row));
                }
                exits.push((row as u32, exit.status));
            }
        }
        if let Some(share) = (kept.len() * 256).checked_div(rows)
            && selects
        {
            self.share.store(share, Ordering::Relaxed);
        }
        for values in &mut values {
            values.offer(columns.iter().map(columns::Column::text_bytes).collect());
            if selects {
                values.truncate(kept.len());
            }
        }
        Ok(Selection { values, kept: selects.then_some(kept), dropped, exits })
    }

    /// A column of results to be filled in.
    fn partial(&self, result: &Column, arguments: &[columns::Column], rows: usize) -> Result<Partial, RunError> {
        let mut shared = Vec::new();
        if border::layout(&result.ty) == DataType::Utf8View {
            for (at, column) in arguments.iter().enumerate() {
                shared.extend(column.texts().into_iter().map(|buffer| Shared::new(buffer, Some(at))));
            }
            shared.extend(self.texts.iter().map(|buffer| Shared::new(buffer.clone(), None)));
        }
        let mut values = Partial::sharing(&result.ty, rows, shared, &result.value)
            .ok_or_else(|| RunError::Argument(format!("results of type {}", result.ty)))?;
        if result.valid_by_default {
            values.assume_valid_from(0);
        }
        Ok(values)
    }

    fn columns(&self, args: &[ArrayRef], rows: usize) -> Result<Vec<columns::Column>, RunError> {
        if args.len() != self.params.len() {
            return Err(RunError::Argument(format!("{} instead of {}", args.len(), self.params.len())));
        }
        if u32::try_from(rows).is_err() {
            return Err(RunError::Argument("a batch of more than 2^32 rows".to_string()));
        }
        let mut columns = Vec::new();
        for (array, param) in args.iter().zip(&self.params) {
            let column = columns::Column::new(array, &param.declared, (param.loaded, &param.ty), param.reading)?;
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

    fn inspect<R>(&self, look: impl FnMut(&Compiled) -> R) -> Vec<R> {
        self.compiled.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter().map(look).collect()
    }

    /// The instructions that were given to the code generator: a measure of its work.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.inspect(|compiled| compiled.instructions).iter().sum()
    }

    /// A stage as text: `lowered`, `machine` or `helpers`, a line for each.
    #[must_use]
    pub fn dump(&self, stage: &str) -> Option<String> {
        match stage {
            "lowered" => Some(self.lowered()),
            "machine" => Some(self.machine_code()),
            "helpers" => Some(self.helper_calls().iter().map(|(name, count)| format!("{name} {count}\n")).collect()),
            _ => None,
        }
    }

    /// The machine code as text.
    #[must_use]
    pub fn machine_code(&self) -> String {
        self.inspect(Compiled::machine_code).concat()
    }

    /// The functions as they were given to the code generator, as text.
    #[must_use]
    pub fn lowered(&self) -> String {
        self.inspect(Compiled::lowered).concat()
    }

    /// How many places in the native code call which helper: operations by name, and
    /// `emit`, `arena.reset` of the loop. `(rare)` marks places that few rows reach, `strip of` operations that are
    /// done for all rows of a chunk before.
    #[must_use]
    pub fn helper_calls(&self) -> Vec<(String, usize)> {
        let mut calls = BTreeMap::new();
        self.inspect(|compiled| {
            for (name, count) in &compiled.calls {
                *calls.entry(name.clone()).or_default() += count;
            }
        });
        for call in self.stages.iter().flat_map(|stage| &stage.calls) {
            *calls.entry(format!("strip of {}", call.name)).or_default() += 1;
        }
        calls.into_iter().collect()
    }
}

/// The results of a chunk's rows that are computed before its loop.
struct Computed {
    /// By their numbers, a float for each row.
    results: Vec<Vec<f64>>,
    addresses: Vec<*const f64>,
    /// What a stage computes for them.
    operands: Vec<Vec<f64>>,
}

impl Computed {
    fn new(stages: &[Stage], rows: usize) -> Computed {
        let operands = stages.iter().map(|stage| stage.outputs.len()).max().unwrap_or(0);
        let kept = |stage: &Stage| stage.outputs.iter().flatten().count();
        let count = stages.iter().map(|stage| stage.calls.len() + kept(stage)).sum();
        let results = vec![vec![f64::NAN; rows]; count];
        let addresses = results.iter().map(|result| result.as_ptr()).collect();
        Computed { results, addresses, operands: vec![vec![f64::NAN; rows]; operands] }
    }

    /// Computes what a stage does.
    ///
    /// # Safety
    /// The frame must describe so many rows of arguments and have room for that many exits, and the stage's
    /// machine code must live.
    unsafe fn run(&mut self, stage: &Stage, mut frame: Frame, rows: usize) {
        let outputs = stage.outputs.iter().enumerate();
        let destinations: Vec<Destination> = outputs
            .map(|(at, kept)| {
                let floats = kept.map_or(&mut self.operands[at], |kept| &mut self.results[kept]);
                // Rows that leave have none.
                floats[..rows].fill(f64::NAN);
                Destination { values: floats.as_mut_ptr().cast(), validity: null_mut(), strings: null_mut() }
            })
            .collect();
        frame.results = destinations.as_ptr();
        // SAFETY: by what the caller promises; the results are floats that are never NULL, of which there is room
        // for one a row.
        unsafe { (stage.entry)(&mut frame, rows as u64) };
        for strips::Call { strip, args, result, .. } in &stage.calls {
            let args: Vec<&[f64]> = args.iter().map(|at| &self.operands[*at][..rows]).collect();
            let result = &mut self.results[*result];
            strip.run(&args, &mut result[..rows]);
        }
    }
}

/// The row function of a module.
fn entry(module: &Module) -> Result<&Function, CompileError> {
    module.functions.first().ok_or_else(|| CompileError::malformed("a module without function"))
}

/// Compiles, and takes a panic for an error: the code generator asserts its invariants, and
/// its bugs must not fail a query.
fn guarded(compile: impl FnOnce() -> Result<Kernel, CompileError>) -> Result<Kernel, CompileError> {
    catch_unwind(AssertUnwindSafe(compile)).unwrap_or_else(|panic| {
        let message =
            panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(CompileError::Generator(message.unwrap_or("panicked").to_string()))
    })
}

/// The rows in which every argument is there; `None` if all are.
fn missing_argument(columns: &[columns::Column]) -> Option<NullBuffer> {
    columns.iter().fold(None, |all, column| NullBuffer::union(all.as_ref(), column.nulls()))
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<Kernel>();
    const fn sent<T: Send>() {}
    sent::<Memory>();
};
