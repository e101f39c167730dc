//! Calls: of kernels of operations, and of other functions of the module.

use super::shortcut::Kernel;
use super::{Result, Translator};
use crate::{CompileError, slots};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type as Reg, Value as Machine, types};
use exuvia_ir::{FuncId, Inst, Object, Type};
use exuvia_ops::def::{Kind, OpDef, Param, status};

/// The type in which an argument of that kind is passed.
fn passed_as(kind: Kind) -> Option<Type> {
    Some(match kind {
        Kind::Bool => Type::Bool,
        Kind::Int | Kind::Index => Type::Int,
        Kind::Float | Kind::Number => Type::Float,
        Kind::Str => Type::Str,
        Kind::StrList => Type::list(Type::Str),
        Kind::IntList => Type::list(Type::Int),
        Kind::FloatList => Type::list(Type::Float),
        Kind::None => Type::None,
        Kind::Any | Kind::Key | Kind::List | Kind::OrderedList | Kind::KeyList | Kind::Exc | Kind::Pattern => {
            return None;
        }
    })
}

impl Translator<'_, '_, '_> {
    /// Calls the kernel of an operation; see [`exuvia_ops::def::Body::Kernel`].
    pub(super) fn kernel(&mut self, Kernel { def, address, result }: Kernel, inst: &Inst) -> Result<Vec<Machine>> {
        if inst.args.len() > def.params.len() {
            return Err(CompileError::malformed(format!("{} with {} operands", def.name, inst.args.len())));
        }
        let mut args = vec![self.env.cx];
        for (at, param) in def.params.iter().enumerate() {
            args.extend(self.kernel_argument(def, param, inst, at)?);
        }
        let registers = passed_as(result).map(|ty| slots::registers(&ty));
        let registers = registers.ok_or_else(|| CompileError::unsupported(format!("the result of {}", def.name)))?;
        if !def.can_fail() {
            return self.call_helper(def.name, address, &registers, &args);
        }
        let pair = self.call_helper(def.name, address, &[types::I64, types::I64], &args)?;
        let (first, second) = (pair[0], pair[1]);
        if result == Kind::Str {
            let failed = self.b.ins().icmp_imm_s(IntCC::Equal, first, 0);
            self.fail_if(failed, second, inst)?;
            return Ok(vec![first, second]);
        }
        self.fail_if(first, first, inst)?;
        Ok(match registers.as_slice() {
            [] => Vec::new(),
            [types::I8] => vec![self.b.ins().ireduce(types::I8, second)],
            [types::F64] => vec![self.b.ins().bitcast(types::F64, MemFlagsData::new(), second)],
            _ => vec![second],
        })
    }

    fn kernel_argument(&mut self, def: &OpDef, param: &Param, inst: &Inst, at: usize) -> Result<Vec<Machine>> {
        let wrong = |what: &str| CompileError::malformed(format!("{} takes no {what} for {}", def.name, param.name));
        let default = |translator: &mut Self| {
            let default = param.default.ok_or_else(|| wrong("missing operand"))?.object();
            let ty = default.ty();
            translator.constant(&default, &ty)
        };
        let Some(value) = inst.args.get(at).copied() else { return default(self) };
        let ty = self.function.ty(value).clone();
        if ty == Type::None && param.kind == Kind::Index && param.default.is_some() {
            return default(self);
        }
        if let (Kind::Index, Some(Object::Int(big))) = (param.kind, self.known(inst, at)) {
            return Ok(vec![self.word(big.clamp_i64())]);
        }
        if let (Kind::Number, Some(known)) = (param.kind, self.known_big_float(inst, at)) {
            return Ok(vec![self.b.ins().f64const(known)]);
        }
        if param.kind == Kind::Number
            && let Some(float) = self.float_of_wide(value)?
        {
            return Ok(vec![float]);
        }
        let slots = self.slots(value)?;
        match (param.kind, &ty) {
            (Kind::Int | Kind::Index, Type::Int | Type::Bool) => Ok(vec![self.extend(slots[0])]),
            (Kind::Number, Type::Float | Type::Int | Type::Bool) => Ok(vec![self.float_of(slots[0])]),
            (Kind::Pattern, Type::Pattern(_)) => Ok(slots),
            (kind, ty) if passed_as(kind).as_ref() == Some(ty) => Ok(slots),
            // An empty list of no type yet has the same representation.
            (Kind::StrList | Kind::IntList | Kind::FloatList, Type::List(element)) if **element == Type::Never => {
                Ok(slots)
            }
            (_, ty) => Err(wrong(&ty.to_string())),
        }
    }

    /// Calls another function of the module: status, then the slots of the result.
    pub(super) fn call(&mut self, callee: FuncId, inst: &Inst) -> Result<Vec<Machine>> {
        let Some(function) = self.unit.source.functions.get(callee.index()) else {
            return Err(CompileError::malformed(format!("a call of {callee}")));
        };
        let params = &function.block(function.entry()).params;
        if params.len() != inst.args.len() {
            return Err(CompileError::malformed(format!(
                "a call of {} with {} values",
                function.name,
                inst.args.len()
            )));
        }
        let depth = self.b.ins().iadd_imm_s(self.env.depth, -i64::from(self.function.frames));
        let too_deep = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, depth, 0);
        self.guard(too_deep, status::BAILOUT);
        let mut args = vec![self.env.frame, depth];
        for (param, arg) in params.iter().zip(&inst.args) {
            let slots = self.slots(*arg)?;
            let from = self.function.ty(*arg).clone();
            args.extend(self.widen(&slots, &from, function.ty(*param))?);
        }
        let id = self.unit.callee(callee)?;
        let callee = self.import(id);
        let call = self.b.ins().call(callee, &args);
        let results = self.b.inst_results(call).to_vec();
        self.fail_if(results[0], results[0], inst)?;
        Ok(results[1..].to_vec())
    }
}

/// The registers that a function of the module takes and returns.
pub(crate) fn signature(function: &exuvia_ir::Function) -> (Vec<Reg>, Vec<Reg>) {
    let mut params = vec![types::I64, types::I64];
    for ty in function.param_types() {
        params.extend(slots::registers(&ty));
    }
    let mut returns = vec![types::I64];
    returns.extend(slots::registers(&function.ret));
    (params, returns)
}
