//! Calls that few rows make, at no cost for the others.
//!
//! By the system's convention a function may change most registers, all those of floats among
//! them. So what lives across a call lies on the stack, also for the rows that pass the call by: a
//! sum in a loop with a rare `pow` goes through memory in each round. The way out is a function
//! between the two that changes no register, by Cranelift's convention `preserve_all`, and has
//! none for results either: they are written where its last argument says.
//!
//! Such a function is compiled once for a process and stays, as the helpers behind it do.

use crate::CompileError;
use crate::compile::{signature, target};
use crate::translate::Result;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type as Reg, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module as _;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, PoisonError};

/// What is called, and the registers that it takes and returns.
type Key = (usize, Vec<Reg>, Vec<Reg>);

static MADE: Mutex<Option<HashMap<Key, usize>>> = Mutex::new(None);

/// The registers that a trampoline takes for a function that takes and returns those.
pub(crate) fn params(params: &[Reg], returns: &[Reg]) -> Vec<Reg> {
    let results = if returns.is_empty() { &[][..] } else { &[types::I64] };
    params.iter().chain(results).copied().collect()
}

/// The address of a function that calls the helper at `address` and changes no register. It takes
/// the helper's arguments and, where that returns anything, the address of a word for each.
pub(crate) fn to(address: usize, takes: &[Reg], returns: &[Reg]) -> Result<usize> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_with(HashMap::new);
    let key = (address, takes.to_vec(), returns.to_vec());
    if let Some(trampoline) = made.get(&key) {
        return Ok(*trampoline);
    }
    let trampoline = make(address, takes, returns)?;
    made.insert(key, trampoline);
    Ok(trampoline)
}

fn make(address: usize, takes: &[Reg], returns: &[Reg]) -> Result<usize> {
    let builder = JITBuilder::with_isa(target(true, false)?, cranelift_module::default_libcall_names());
    // Never dropped, and its code so never freed.
    let mut module = ManuallyDrop::new(JITModule::new(builder));
    let mut context = module.make_context();
    context.func.signature = signature(CallConv::PreserveAll, &params(takes, returns), &[]);
    let id = module.declare_anonymous_function(&context.func.signature).map_err(CompileError::generator)?;
    let helper = signature(module.isa().default_call_conv(), takes, returns);
    let config = module.target_config();
    let mut builders = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut context.func, &mut builders);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let args = b.block_params(entry).to_vec();
    let helper = b.import_signature(helper);
    let target = b.ins().iconst(types::I64, address as i64);
    let call = b.ins().call_indirect(helper, target, &args[..takes.len()]);
    for (at, result) in b.inst_results(call).to_vec().into_iter().enumerate() {
        b.ins().store(MemFlagsData::trusted(), result, args[takes.len()], 8 * at as i32);
    }
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(config);
    module.define_function(id, &mut context).map_err(CompileError::generator)?;
    module.finalize_definitions().map_err(CompileError::generator)?;
    Ok(module.get_finalized_function(id) as usize)
}
