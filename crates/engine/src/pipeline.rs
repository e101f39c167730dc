//! The stages: source to lifted IR to optimised IR to native code.
//!
//! Each stage is kept, so that it can be shown ([`Compiled::dump`]). A stage that fails
//! is no error: the function runs on the rung below, and [`Compiled::reason`] says why.

use crate::offload::{Offloaded, Printable};
use crate::spread::{self, Nulls};
use crate::sql;
use crate::{ColumnForm, Definition, Settings};
use arrow::datatypes::DataType;
use exuvia_eval::Program;
use exuvia_ir::{IntWidth, Module, Opcode, Span, Terminator};
use exuvia_jit::{Kernel, Options};
use exuvia_lift::{Calls, Lifted, Param, Source, SqlReturn};
use std::time::Instant;

/// A function compiled for arguments of its declared types, with or without NULLs.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub stages: Result<Stages, Reason>,
    /// Nanoseconds that all of it took.
    pub nanos: u64,
}

/// What lifting gave.
#[derive(Debug)]
pub(crate) struct Stages {
    pub lifted: Module,
    /// Whether CPython must say that the top level raises nothing ([`Lifted::unchecked`]).
    pub unchecked: bool,
    pub optimized: Module,
    /// The module of native code, where it is another: with places for indices.
    placed: Option<Module>,
    /// The steps that lifting took.
    pub steps: u64,
    /// Whether NaN in the result is NULL ([`Lifted::nan_is_null`]).
    pub nan_is_null: bool,
    /// For the evaluator.
    pub program: Program,
    pub kernel: Result<Kernel, Reason>,
    /// What native code takes and gives.
    pub types: Vec<DataType>,
    pub returns: DataType,
    /// Whether a NULL in any argument gives NULL.
    pub strict: bool,
    /// Whether it has ints of 128 bits.
    pub is_wide: bool,
    /// Its way to a device.
    pub offloaded: Offloaded,
}

/// Why a stage was not reached.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    /// A stable code.
    pub code: String,
    pub message: String,
    pub span: Span,
}

/// Instructions from which on native code is made at a lower level, in less time.
const FAST_COMPILE_FROM: usize = 1500;

/// Compiles a function for arguments that can be NULL somewhere; with ints of 128 bits, if they are to
/// be `wide`.
pub(crate) fn compile(
    definition: &Definition,
    source: &Source,
    nulls: Nulls,
    wide: bool,
    settings: &Settings,
) -> Compiled {
    let start = Instant::now();
    let stages = stages(definition, source, nulls, wide, settings);
    Compiled { stages, nanos: u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX) }
}

fn stages(
    definition: &Definition,
    source: &Source,
    nulls: Nulls,
    wide: bool,
    settings: &Settings,
) -> Result<Stages, Reason> {
    let reason = |code: &str, message: String| Reason { code: code.to_string(), message, span: Span::default() };
    if !settings.lift {
        return Err(reason("S001", "the setting exuvia.lift is off".to_string()));
    }
    if !definition.models.is_empty() {
        return Err(reason("S004", "its module has fitted models, which are objects of CPython's".to_string()));
    }
    let mut params = Vec::new();
    for (at, param) in definition.params.iter().enumerate() {
        let (class, of) = match definition.columns.get(at) {
            Some(form @ ColumnForm::Series) => (sql::column(&param.ty, *form), "a Series of "),
            Some(form @ ColumnForm::Array) => (sql::column(&param.ty, *form), "an array of "),
            None => (sql::array(&param.ty, source.annotation(at)).or_else(|| sql::class(&param.ty)), ""),
        };
        let Some(class) = class else {
            let message = format!("parameter {} is {of}{}", param.name, sql::type_name(&param.ty));
            return Err(reason(exuvia_lift::Code::SqlType.code(), message));
        };
        params.push(Param { class, nullable: nulls.rows, inner: nulls.inner });
    }
    let class = match definition.columns.first() {
        Some(_) => sql::column_result(&definition.returns),
        None => sql::class(&definition.returns),
    };
    let Some(class) = class else {
        let message = format!("the result is {}", sql::type_name(&definition.returns));
        return Err(reason(exuvia_lift::Code::SqlType.code(), message));
    };
    let errors_are_null = definition.on_error == crate::OnError::Null;
    let name = sql::type_name(&definition.returns);
    let returns = SqlReturn { class, name, errors_are_null, whole: definition.whole };
    let calls = if settings.fault == "calls" { Calls::All } else { Calls::Large };
    let Lifted { module: lifted, unchecked, steps, nan_is_null, .. } =
        exuvia_lift::lift(source, &params, &returns, calls).map_err(|bailout| Reason {
            code: bailout.code.code().to_string(),
            message: format!("{}: {}", bailout.code.title(), bailout.detail),
            span: bailout.span,
        })?;
    let mut insts = lifted.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts);
    let bounded = |op: &Opcode| matches!(op, Opcode::Op(name) if exuvia_ops::ufunc::BOUNDED.contains(name));
    if settings.exact && insts.any(|inst| bounded(&inst.op)) {
        let message = "NumPy has other last bits, by the processor, and the setting exuvia.exact is 'strict'";
        return Err(reason("S005", message.to_string()));
    }
    // What breaks a law of the IR is not run: CPython does it.
    if let Err(error) = exuvia_opt::verify(&lifted) {
        return Err(reason("N002", format!("internal error: {error}")));
    }
    if let Some(span) = exuvia_opt::changes_constant(&lifted) {
        let code = exuvia_lift::Code::Mutation;
        let message = format!("{}: a module-level list may be changed", code.title());
        return Err(Reason { code: code.code().to_string(), message, span });
    }
    let types = spread::types(definition, nulls);
    let ints: Vec<_> = types.iter().map(sql::range).collect();
    let (optimized, width) = match (wide, settings.optimize) {
        (false, true) => exuvia_opt::optimized(&lifted, &ints, exuvia_opt::LARGE),
        (false, false) => (lifted.clone(), exuvia_opt::width_of(&lifted)),
        (true, optimize) => {
            let mut wide = lifted.clone();
            if optimize {
                exuvia_opt::optimize(&mut wide, &ints, IntWidth::Double, exuvia_opt::LARGE);
            }
            (wide, IntWidth::Double)
        }
    };
    if let Some((why, span)) = leaves_always(&optimized) {
        let code = exuvia_lift::Code::Callee;
        let message = format!("{}: {why}", code.title());
        return Err(Reason { code: code.code().to_string(), message, span });
    }
    let placed = if settings.optimize { exuvia_opt::with_places(&optimized) } else { None };
    let program = Program::new(&optimized);
    let returned = sql::without_maps(&definition.returns);
    let strict = definition.strict && !spread::is_spread(definition);
    let kernel = if !settings.native {
        Err(reason("S002", "the setting exuvia.native is off".to_string()))
    } else if settings.fault == "compile" {
        Err(reason("S003", "the setting exuvia.fault fails every compilation".to_string()))
    } else {
        let options = Options {
            opt_level_speed: optimized.size() < FAST_COMPILE_FROM,
            fail_guards: settings.fault == "guards",
            each_turn: settings.fault == "turns",
            strict,
            whole: definition.whole,
            width,
        };
        let module = placed.as_ref().unwrap_or(&optimized);
        let kernel = match &returned {
            DataType::Struct(_) => {
                let results = spread::results(&definition.returns);
                Kernel::compile_loop(module, &types, &results, 0, &options)
            }
            returns => Kernel::compile(module, &types, returns, &options),
        };
        match kernel {
            Err(error) if error.is_malformed() => return Err(reason("N002", format!("internal error: {error}"))),
            kernel => kernel.map_err(|error| reason(if error.is_size() { "N003" } else { "N001" }, error.to_string())),
        }
    };
    Ok(Stages {
        lifted,
        unchecked,
        steps,
        nan_is_null,
        optimized,
        placed,
        program,
        kernel,
        types,
        returns: returned,
        strict,
        is_wide: width != IntWidth::Word,
        offloaded: Offloaded::default(),
    })
}

/// Why every row would leave native code.
fn leaves_always(module: &Module) -> Option<(&'static str, Span)> {
    let ends = || module.functions[0].blocks.iter().map(|block| &block.term);
    if ends().any(|end| matches!(end, Terminator::Return(_) | Terminator::Raise(..) | Terminator::Reraise(..))) {
        return None;
    }
    ends().rev().find_map(|end| match end {
        Terminator::Bailout(why, span) => Some((*why, *span)),
        _ => None,
    })
}

impl Stages {
    /// What a device's kernel is printed of.
    pub fn printable(&self) -> Printable<'_> {
        Printable {
            module: &self.optimized,
            types: &self.types,
            returns: &self.returns,
            strict: self.strict,
            is_wide: self.is_wide,
        }
    }
}

impl Compiled {
    /// What there is where a stage panicked.
    pub fn failed() -> Compiled {
        let message = "internal error while compiling".to_string();
        let reason = Reason { code: "N002".to_string(), message, span: Span::default() };
        Compiled { stages: Err(reason), nanos: 0 }
    }

    /// Why the function is not native.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.stages {
            Ok(stages) => stages.kernel.as_ref().err(),
            Err(reason) => Some(reason),
        }
    }

    /// The text of a stage.
    pub fn dump(&self, stage: &str) -> Result<String, String> {
        let stages =
            self.stages.as_ref().map_err(|reason| format!("not lifted: {} {}", reason.code, reason.message))?;
        let kernel = || stages.kernel.as_ref().map_err(|reason| format!("no native code: {}", reason.message));
        match stage {
            "lifted" => Ok(stages.lifted.to_string()),
            "optimized" => Ok(stages.optimized.to_string()),
            "native" => {
                kernel()?;
                Ok(stages.placed.as_ref().unwrap_or(&stages.optimized).to_string())
            }
            "opencl" => kernel().and_then(|_| stages.offloaded.text(stages.printable())),
            stage @ ("lowered" | "machine" | "helpers") => Ok(kernel()?.dump(stage).unwrap_or_default()),
            other => Err(format!(
                "no stage {other}: source, snapshot, lifted, optimized, native, lowered, machine, helpers, opencl"
            )),
        }
    }
}
