//! From a module of the IR to machine code in memory.

use crate::batch::{self, Loop, Row};
use crate::columns::{Loaded, Reading};
use crate::constants::Constants;
use crate::flags;
use crate::live::{self, Live};
use crate::sink;
use crate::size::{LARGE_SPANS, MAX_INSTRUCTIONS, MAX_SPANS};
use crate::tiles::Tiled;
use crate::translate::{Ending, Result, call_signature, load_slots, translate};
use crate::{CompileError, Options, trampoline, turns};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, FuncRef, Function as Code, InstBuilder, Signature, Type as Reg, UserFuncName,
    Value as Machine, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _};
use exuvia_ir::{Inst, IntWidth, Module, Opcode};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Bails, Body, Effect, Kind, OpDef, status};
use std::collections::{BTreeMap, HashMap};
use std::mem::{ManuallyDrop, offset_of};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The memory of a kernel's machine code. Freed when dropped, so nothing of it may run
/// any more then.
pub(crate) struct Memory(ManuallyDrop<JITModule>);

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Machine code runs only during
        // `Kernel::run`, which borrows the kernel that owns this.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() };
    }
}

impl Deref for Memory {
    type Target = JITModule;
    fn deref(&self) -> &JITModule {
        &self.0
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut JITModule {
        &mut self.0
    }
}

/// What is shared by the functions of a module while they are compiled.
pub(crate) struct Unit<'m> {
    pub source: &'m Module,
    pub module: Memory,
    pub constants: Constants,
    pub fail_guards: bool,
    /// How many bits ints have.
    pub width: IntWidth,
    /// Whether anything may allocate in the row's arena.
    pub allocates: bool,
    /// The bytes that the turns of a loop take before they are given back.
    pub turns: u64,
    /// The addresses of helpers by symbol, for the linker of the module.
    symbols: Arc<Mutex<HashMap<String, usize>>>,
    helpers: HashMap<usize, (FuncId, String)>,
    callees: HashMap<exuvia_ir::FuncId, FuncId>,
    pending: Vec<exuvia_ir::FuncId>,
    calls: BTreeMap<String, usize>,
    /// Whether what is being translated runs for few rows only.
    pub rare: bool,
    /// The loops of the row function that may be divided, with their tiles.
    pub tiles: Vec<(&'m Tiled, FuncId)>,
    /// Instructions that were given to the code generator.
    instructions: usize,
}

/// A compiled module.
pub(crate) struct Compiled {
    /// Owns the code that `entry` points to.
    _memory: Memory,
    pub entry: Loop,
    pub constants: Constants,
    /// The functions as they were given to the code generator, by name.
    pub functions: Vec<(String, Code)>,
    /// The symbols of helpers, as the code generator numbers them.
    pub symbols: BTreeMap<u32, String>,
    pub calls: BTreeMap<String, usize>,
    /// How the row function looks at each parameter.
    pub reading: Vec<Reading>,
    pub isa: OwnedTargetIsa,
    /// Instructions that were given to the code generator.
    pub instructions: usize,
}

/// The code generator for this machine.
pub(crate) fn target(speed: bool, large: bool) -> Result<OwnedTargetIsa> {
    static TARGETS: [OnceLock<std::result::Result<OwnedTargetIsa, String>>; 4] = [const { OnceLock::new() }; 4];
    let made = &TARGETS[usize::from(speed) + 2 * usize::from(large)];
    made.get_or_init(|| make_target(speed, large)).clone().map_err(CompileError::Generator)
}

fn make_target(speed: bool, large: bool) -> std::result::Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", if speed { "speed" } else { "none" }),
        ("regalloc_algorithm", if large { "single_pass" } else { "backtracking" }),
        // Functions are verified once, before they are compiled, and not after each pass.
        ("enable_verifier", "false"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // Functions return as many words as their result has slots.
        ("enable_multi_ret_implicit_sret", "true"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let isa = cranelift_native::builder()?;
    isa.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

/// Compiles the row function, function 0, into a loop over a chunk.
pub(crate) fn compile<'m>(source: &'m Module, row: &Row<'m>, options: &Options) -> Result<Compiled> {
    let spans = spans(source);
    if spans >= MAX_SPANS {
        return Err(CompileError::TooLarge(format!("values live over more than {MAX_SPANS} blocks in sum")));
    }
    let isa = target(options.opt_level_speed, spans >= LARGE_SPANS)?;
    let symbols = Arc::new(Mutex::new(HashMap::new()));
    let mut builder = JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names());
    let lookup = symbols.clone();
    builder.symbol_lookup_fn(Box::new(move |name| {
        let symbols = lookup.lock().unwrap_or_else(PoisonError::into_inner);
        symbols.get(name).map(|address| *address as *const u8)
    }));
    // Constant data belongs to all rows and threads.
    if exuvia_ops::constants::first_change(source).is_some() {
        return Err(CompileError::unsupported("a function that may change a constant list"));
    }
    let mut unit = Unit {
        source,
        module: Memory(ManuallyDrop::new(JITModule::new(builder))),
        constants: Constants::default(),
        fail_guards: options.fail_guards,
        width: options.width,
        allocates: insts(source).any(allocates) || row.params.contains(&Loaded::List),
        turns: if options.each_turn { 0 } else { turns::MUCH },
        symbols,
        helpers: HashMap::new(),
        callees: HashMap::new(),
        pending: Vec::new(),
        calls: BTreeMap::new(),
        rare: false,
        tiles: Vec::new(),
        instructions: 0,
    };
    let mut functions = Vec::new();
    let mut builders = FunctionBuilderContext::new();
    let mut context = unit.module.make_context();

    let pointer = [types::I64, types::I64];
    let entry_signature = signature(unit.module.isa().default_call_conv(), &pointer, &[]);
    let entry = unit.module.declare_anonymous_function(&entry_signature).map_err(CompileError::generator)?;
    context.func.signature = entry_signature;
    let tile_signature = signature(unit.module.isa().default_call_conv(), &[types::I64; 4], &[types::I64]);
    for tiled in row.tiles {
        let id = unit.module.declare_anonymous_function(&tile_signature).map_err(CompileError::generator)?;
        unit.tiles.push((tiled, id));
    }
    let live = live::analyse(row.function);
    let sunk = if row.reasons() > 0 { sink::places(row.function, &live) } else { vec![None; row.params.len()] };
    build(&mut unit, &mut context, &mut builders, |b, unit| batch::build(b, unit, row, &live, &sunk))?;
    define(&mut unit, &mut context, entry, format!("{} over a chunk", row.function.name), &mut functions)?;

    for (tiled, id) in unit.tiles.clone() {
        context.func.signature = tile_signature.clone();
        let live = live::analyse(&tiled.tile);
        build(&mut unit, &mut context, &mut builders, |b, unit| build_tile(b, unit, tiled, &live))?;
        define(&mut unit, &mut context, id, tiled.tile.name.clone(), &mut functions)?;
    }
    while let Some(id) = unit.pending.pop() {
        let function = &source.functions[id.index()];
        let callee = unit.callee(id)?;
        let (params, returns) = call_signature(function);
        context.func.signature = signature(CallConv::Tail, &params, &returns);
        let live = live::analyse(function);
        build(&mut unit, &mut context, &mut builders, |b, unit| build_callee(b, unit, function, &live))?;
        define(&mut unit, &mut context, callee, function.name.clone(), &mut functions)?;
    }
    unit.module.finalize_definitions().map_err(CompileError::generator)?;
    let address = unit.module.get_finalized_function(entry);
    // SAFETY: the function was compiled with exactly this signature.
    let entry = unsafe { std::mem::transmute::<*const u8, Loop>(address) };
    let symbols = unit.helpers.into_values().map(|(id, name)| (id.as_u32(), name)).collect();
    let (constants, calls, instructions) = (unit.constants, unit.calls, unit.instructions);
    let params = row.function.block(row.function.entry()).params.iter();
    let reading = params.zip(sunk).zip(flags::wanted(row.function));
    let reading = reading
        .map(|((param, sunk), flagged)| Reading { needed: live.value(*param), by_row: sunk.is_some(), flagged })
        .collect();
    Ok(Compiled { _memory: unit.module, entry, constants, functions, symbols, calls, reading, isa, instructions })
}

/// Over how many blocks the values of a module live, up to [`MAX_SPANS`].
fn spans(source: &Module) -> usize {
    source.functions.iter().fold(0, |sum, function| sum + crate::size::spans(function, MAX_SPANS - sum.min(MAX_SPANS)))
}

pub(crate) fn signature(convention: CallConv, params: &[Reg], returns: &[Reg]) -> Signature {
    let mut signature = Signature::new(convention);
    // Callees written in Rust expect bools extended by the caller, as C compilers do.
    let param = |reg: &Reg| if *reg == types::I8 { AbiParam::new(*reg).uext() } else { AbiParam::new(*reg) };
    signature.params.extend(params.iter().map(param));
    signature.returns.extend(returns.iter().map(|reg| AbiParam::new(*reg)));
    signature
}

fn build<'m>(
    unit: &mut Unit<'m>,
    context: &mut Context,
    builders: &mut FunctionBuilderContext,
    body: impl FnOnce(&mut FunctionBuilder<'_>, &mut Unit<'m>) -> Result<()>,
) -> Result<()> {
    let config = unit.module.target_config();
    let mut b = FunctionBuilder::new(&mut context.func, builders);
    body(&mut b, unit)?;
    b.seal_all_blocks();
    b.finalize(config);
    Ok(())
}

fn define(
    unit: &mut Unit<'_>,
    context: &mut Context,
    id: FuncId,
    name: String,
    functions: &mut Vec<(String, Code)>,
) -> Result<()> {
    context.func.name = UserFuncName::user(0, id.as_u32());
    unit.instructions += context.func.dfg.num_insts();
    if unit.instructions > MAX_INSTRUCTIONS {
        return Err(CompileError::TooLarge(format!("more than {MAX_INSTRUCTIONS} instructions")));
    }
    cranelift_codegen::verify_function(&context.func, unit.module.isa())
        .map_err(|errors| CompileError::Generator(format!("{name}: {errors}\n{}", context.func.display())))?;
    functions.push((name, context.func.clone()));
    unit.module.define_function(id, context).map_err(CompileError::generator)?;
    unit.module.clear_context(context);
    Ok(())
}

/// Begins a function: the values that it is given, and where it goes with a status.
fn begin(b: &mut FunctionBuilder<'_>) -> (Vec<Machine>, Block, Machine) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    let exit = b.create_block();
    let code = b.append_block_param(exit, types::I64);
    b.set_cold_block(exit);
    b.switch_to_block(entry);
    (b.block_params(entry).to_vec(), exit, code)
}

/// Builds a function that other functions call: it takes the frame, how many calls may
/// nest, and the slots of its parameters; it returns a status and the slots of its result.
fn build_callee<'m>(
    b: &mut FunctionBuilder<'_>,
    unit: &mut Unit<'m>,
    function: &'m exuvia_ir::Function,
    live: &Live,
) -> Result<()> {
    let (values, exit, code) = begin(b);
    let (frame, depth) = (values[0], values[1]);
    let env = batch::environment(b, frame, Some(depth), exit);
    let limit_at = offset_of!(batch::Frame, stack_limit) as i32;
    let limit = b.ins().load(types::I64, crate::translate::trusted(), frame, limit_at);
    let stack = b.ins().get_stack_pointer(types::I64);
    let too_deep = b.ins().icmp(IntCC::UnsignedLessThan, stack, limit);
    let bailout = b.ins().iconst(types::I64, status::BAILOUT as i64);
    let go_on = b.create_block();
    b.ins().brif(too_deep, exit, &[BlockArg::Value(bailout)], go_on, &[]);

    b.switch_to_block(exit);
    let mut results = vec![code];
    for reg in crate::slots::registers(&function.ret) {
        results.push(if reg == types::F64 { b.ins().f64const(0.0) } else { b.ins().iconst(reg, 0) });
    }
    b.ins().return_(&results);

    b.switch_to_block(go_on);
    batch::poll(b, env);
    let mut rest = values[2..].iter().copied();
    let params =
        function.param_types().iter().map(|ty| rest.by_ref().take(crate::slots::count(ty)).collect()).collect();
    translate(b, unit, function, live, params, env, Ending::Call)
}

/// Builds the tiles of a loop, as [`crate::tiles::Tile`] says.
fn build_tile<'m>(b: &mut FunctionBuilder<'_>, unit: &mut Unit<'m>, tiled: &'m Tiled, live: &Live) -> Result<()> {
    let (values, exit, code) = begin(b);
    let [frame, taken, first, end] = values[..] else {
        return Err(CompileError::malformed("a tile of other parameters"));
    };
    let env = batch::environment(b, frame, None, exit);
    let mut params = Vec::new();
    let mut at = 0;
    for value in &tiled.taken {
        let ty = tiled.tile.ty(*value);
        let address = b.ins().iadd_imm_s(taken, 8 * at);
        params.push(load_slots(b, ty, address));
        at += crate::slots::count(ty) as i64;
    }
    params.extend([vec![first], vec![end]]);
    translate(b, unit, &tiled.tile, live, params, env, Ending::Call)?;
    b.switch_to_block(exit);
    b.ins().return_(&[code]);
    Ok(())
}

impl Unit<'_> {
    /// A function outside the compiled code, of the machine's calling convention.
    pub fn helper(&mut self, name: &str, address: *const u8, params: &[Reg], returns: &[Reg]) -> Result<FuncId> {
        *self.calls.entry(name.to_string()).or_default() += 1;
        let signature = signature(self.module.isa().default_call_conv(), params, returns);
        self.import_at(name, address as usize, &signature)
    }

    /// The same where few rows call it, by a [`trampoline`].
    pub fn rare_helper(&mut self, name: &str, address: *const u8, params: &[Reg], returns: &[Reg]) -> Result<FuncId> {
        let name = format!("{name} (rare)");
        *self.calls.entry(name.clone()).or_default() += 1;
        let address = trampoline::to(address as usize, params, returns)?;
        let signature = signature(CallConv::PreserveAll, &trampoline::params(params, returns), &[]);
        self.import_at(&name, address, &signature)
    }

    fn import_at(&mut self, name: &str, address: usize, signature: &Signature) -> Result<FuncId> {
        if let Some((id, _)) = self.helpers.get(&address) {
            return Ok(*id);
        }
        let symbol = format!("{name}@{address:x}");
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).insert(symbol.clone(), address);
        let id = self.module.declare_function(&symbol, Linkage::Import, signature).map_err(CompileError::generator)?;
        self.helpers.insert(address, (id, name.to_string()));
        Ok(id)
    }

    /// A function of the module, compiled later if it is not yet.
    pub fn callee(&mut self, function: exuvia_ir::FuncId) -> Result<FuncId> {
        if let Some(id) = self.callees.get(&function) {
            return Ok(*id);
        }
        let (params, returns) = call_signature(&self.source.functions[function.index()]);
        let signature = signature(CallConv::Tail, &params, &returns);
        let id = self.module.declare_anonymous_function(&signature).map_err(CompileError::generator)?;
        self.callees.insert(function, id);
        self.pending.push(function);
        Ok(id)
    }

    /// Makes a function callable from another.
    pub fn import(&mut self, id: FuncId, code: &mut Code) -> FuncRef {
        self.module.declare_func_in_func(id, code)
    }
}

/// Whether an instruction may allocate in the row's arena, but for what a function does that it calls.
pub(crate) fn allocates(inst: &Inst) -> bool {
    matches!(inst.op, Opcode::List | Opcode::Box)
        || live::definition(inst).is_some_and(|def| {
            let may_bail = def.bails != Bails::Never && !matches!(def.body, Body::Core(CoreOp::IntFits));
            def.effect == Effect::Alloc || (may_bail && !is_of_numbers(def))
        })
}

/// Whether an operation makes a number from numbers.
fn is_of_numbers(def: &OpDef) -> bool {
    def.bails != Bails::Memory && is_kernel_of_numbers(def)
}

/// Whether an operation is a kernel that takes and gives numbers.
pub(crate) fn is_kernel_of_numbers(def: &OpDef) -> bool {
    let number = |kind: Kind| matches!(kind, Kind::Bool | Kind::Int | Kind::Index | Kind::Float | Kind::Number);
    matches!(def.body, Body::Kernel { result, .. } if number(result))
        && def.params.iter().all(|param| number(param.kind))
}

fn insts(source: &Module) -> impl Iterator<Item = &Inst> {
    source.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts)
}

impl Compiled {
    /// The functions before optimisation, as the code generator prints them.
    pub fn lowered(&self) -> String {
        self.functions
            .iter()
            .map(|(name, code)| format!("; {name}\n{}{}\n", self.legend(code), code.display()))
            .collect()
    }

    /// The helpers that a function imports.
    fn legend(&self, code: &Code) -> String {
        let mut out = String::new();
        for (reference, data) in &code.dfg.ext_funcs {
            if let cranelift_codegen::ir::ExternalName::User(name) = data.name {
                let index = code.params.user_named_funcs()[name].index;
                if let Some(symbol) = self.symbols.get(&index) {
                    out.push_str(&format!("; {reference} = {symbol}\n"));
                }
            }
        }
        out
    }

    /// The machine code as text. Compiles the functions again, as text is not kept.
    pub fn machine_code(&self) -> String {
        let mut out = String::new();
        for (name, code) in &self.functions {
            let mut context = Context::for_function(code.clone());
            context.set_disasm(true);
            out.push_str(&format!("; {name}\n"));
            match context.compile(self.isa.as_ref(), &mut ControlPlane::default()) {
                Ok(compiled) => {
                    out.push_str(&format!("; {} bytes\n", compiled.code_buffer().len()));
                    out.push_str(compiled.vcode.as_deref().unwrap_or_default());
                }
                Err(error) => out.push_str(&format!("; {:?}\n", error.inner)),
            }
            out.push('\n');
        }
        out
    }
}
