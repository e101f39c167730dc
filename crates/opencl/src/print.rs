//! From a function of the IR to OpenCL C.
//!
//! The text says what native code does for a row, one work item for each: an SSA value becomes a
//! variable for each of its slots, a block a label, an edge assignments and a jump. Nothing here
//! reports: whatever a device cannot say of a row (an exception, an int beyond 64 bits, a last bit
//! that is not certain, a loop without end) leaves the row, and the host redoes it.

use crate::Unsupported;
use crate::slots::{Slot, alternative_start, element_start, slots};
use exuvia_ir::{Edge, ExcKind, FuncId, Function, Inst, Int, ListObj, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_jit::live::{self, Live};
use exuvia_ops::core::{Cmp, CoreOp, Ieee};
use exuvia_ops::def::{Body, OpDef};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

type Result<T> = std::result::Result<T, Unsupported>;

/// The functions of a module in OpenCL C.
#[derive(Debug)]
pub(crate) struct Printed {
    /// The functions, those that are called first.
    pub text: String,
    /// Whether anything allocates in the work item's arena.
    pub allocates: bool,
    /// Which parameters of the row function are looked at.
    pub needed: Vec<bool>,
    /// Words of constants that are tables.
    pub constants: Vec<u64>,
    /// Where those lists stand among them, by what they are.
    tables: Vec<(Arc<ListObj>, Type, usize)>,
}

/// The most instructions that are printed: a device's compiler is slow.
const MOST: usize = 4_000;

/// Prints function 0 and those that it calls.
pub(crate) fn module(module: &Module) -> Result<Printed> {
    let entry = module.functions.first().ok_or_else(|| Unsupported::new("a module without function"))?;
    if module.size() > MOST {
        return Err(Unsupported::new(format!("a function of more than {MOST} instructions")));
    }
    let live = live::analyse(entry);
    let needed = entry.block(entry.entry()).params.iter().map(|param| live.value(*param)).collect();
    let (constants, tables) = (Vec::new(), Vec::new());
    let mut printed = Printed { text: String::new(), allocates: false, needed, constants, tables };
    let mut states = vec![State::New; module.functions.len()];
    function(module, FuncId(0), &mut states, &mut printed)?;
    Ok(printed)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Begun,
    Printed,
}

fn function(module: &Module, id: FuncId, states: &mut [State], printed: &mut Printed) -> Result<()> {
    let Some(function) = module.functions.get(id.index()) else {
        return Err(Unsupported::new("a call of no function"));
    };
    match states[id.index()] {
        State::Printed => return Ok(()),
        State::Begun => return Err(Unsupported::new(format!("{} calls itself", function.name))),
        State::New => states[id.index()] = State::Begun,
    }
    let live = live::analyse(function);
    for block in &live.order {
        for inst in function.block(*block).insts.iter().filter(|inst| live.inst(inst)) {
            if let Opcode::Call(callee) = inst.op {
                self::function(module, callee, states, printed)?;
            }
        }
    }
    let constants = function
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .filter_map(|inst| match (&inst.op, inst.result) {
            (Opcode::Const(object), Some(result)) => Some((result, object)),
            _ => None,
        })
        .collect();
    let mut printer =
        Printer { module, function, live: &live, constants, out: String::new(), printed, id, temporaries: 0 };
    printer.run()?;
    let text = std::mem::take(&mut printer.out);
    printed.text.push_str(&text);
    states[id.index()] = State::Printed;
    Ok(())
}

/// The head of a function: takes the fuel, its parameters and where its result goes.
fn head(id: FuncId, function: &Function) -> Result<String> {
    let mut text = format!("static uint f{}(struct item *item", id.0);
    for param in &function.block(function.entry()).params {
        for (at, slot) in slots(function.ty(*param))?.iter().enumerate() {
            write!(text, ", {} v{}_{at}", slot.name(), param.0)?;
        }
    }
    for (at, slot) in slots(&function.ret)?.iter().enumerate() {
        write!(text, ", {} *r{at}", slot.name())?;
    }
    text.push(')');
    Ok(text)
}

struct Printer<'m, 'p> {
    module: &'m Module,
    function: &'m Function,
    live: &'p Live,
    constants: HashMap<Value, &'m Object>,
    out: String,
    printed: &'p mut Printed,
    id: FuncId,
    temporaries: usize,
}

/// An int as a literal.
fn int(value: i64) -> String {
    if value == i64::MIN { "(-9223372036854775807L - 1L)".to_string() } else { format!("{value}L") }
}

/// A float as a literal, bit for bit.
fn float(value: f64) -> String {
    format!("as_double(0x{:016x}UL)", value.to_bits())
}

fn operator(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::Eq => "==",
        Cmp::Ne => "!=",
        Cmp::Lt => "<",
        Cmp::Le => "<=",
        Cmp::Gt => ">",
        Cmp::Ge => ">=",
    }
}

/// The status of a row that is redone elsewhere.
const LEAVE: &str = "return LEAVE;";

impl<'m> Printer<'m, '_> {
    fn run(&mut self) -> Result<()> {
        let head = head(self.id, self.function)?;
        writeln!(self.out, "// {}\n{head} {{", self.function.name.replace(|c: char| !c.is_ascii_graphic(), "?"))?;
        self.declare()?;
        let order = self.live.order.clone();
        for id in order {
            writeln!(self.out, "b{}: ;", id.0)?;
            let data = self.function.block(id);
            for inst in &data.insts {
                if self.live.inst(inst) {
                    self.inst(inst)?;
                }
            }
            self.terminator(&data.term)?;
        }
        self.out.push_str("}\n\n");
        Ok(())
    }

    /// Declares the variables of every value that is needed but the parameters'.
    fn declare(&mut self) -> Result<()> {
        let entry = self.function.entry();
        for id in &self.live.order {
            let block = self.function.block(*id);
            let params = block.params.iter().copied().filter(|_| *id != entry);
            let results = block.insts.iter().filter(|inst| !matches!(inst.op, Opcode::Const(_)));
            for value in params.chain(results.filter_map(|inst| inst.result)) {
                if !self.live.value(value) {
                    continue;
                }
                for (at, slot) in slots(self.function.ty(value))?.iter().enumerate() {
                    writeln!(self.out, "  {} v{}_{at} = {};", slot.name(), value.0, slot.zero())?;
                }
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str) {
        self.out.push_str("  ");
        self.out.push_str(line);
        self.out.push('\n');
    }

    // Operands.

    /// The slots of a value as expressions.
    fn slots(&mut self, value: Value) -> Result<Vec<String>> {
        let ty = self.function.ty(value);
        if let Some(object) = self.constants.get(&value) {
            return self.constant(object, ty);
        }
        Ok((0..slots(ty)?.len()).map(|at| format!("v{}_{at}", value.0)).collect())
    }

    fn constant(&mut self, object: &Object, ty: &Type) -> Result<Vec<String>> {
        match (object, ty) {
            (Object::None, Type::None) | (Object::Unbound, Type::Unbound) => Ok(Vec::new()),
            (Object::Bool(value), Type::Bool) => Ok(vec![i32::from(*value).to_string()]),
            (Object::Int(value), Type::Int) => match value.to_i64() {
                Some(value) => Ok(vec![int(value)]),
                None => Err(Unsupported::new("an int beyond 64 bits")),
            },
            (Object::Float(value), Type::Float) => Ok(vec![float(*value)]),
            (Object::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
                let mut all = Vec::new();
                for (item, ty) in items.iter().zip(types.iter()) {
                    all.extend(self.constant(item, ty)?);
                }
                Ok(all)
            }
            (object, Type::Union(_)) => {
                let from = object.ty();
                let slots = self.constant(object, &from)?;
                self.widen(&slots, &from, ty)
            }
            (Object::List(_), Type::List(element)) => {
                let at = self.table(object, element)?;
                Ok(vec![format!("(item->tables + {at})")])
            }
            _ => Err(Unsupported::new(format!("a constant of type {ty}"))),
        }
    }

    /// Puts a constant list among the constants; gives the position of its header.
    fn table(&mut self, object: &Object, element: &Type) -> Result<usize> {
        let Object::List(list) = object else { return Err(Unsupported::new("a table that is no list")) };
        let known = |(there, ty, _): &&(Arc<ListObj>, Type, usize)| Arc::ptr_eq(there, list) && ty == element;
        if let Some((_, _, at)) = self.printed.tables.iter().find(known) {
            return Ok(*at);
        }
        let width = slots(element)?.len();
        let mut words = Vec::new();
        let items = list.items();
        for item in &items {
            let before = words.len();
            words_of(item, element, &mut words)?;
            if words.len() - before != width {
                return Err(Unsupported::new(format!("a constant list of {element}")));
            }
        }
        let at = self.printed.constants.len();
        // The length, the room and where the elements begin, as lists have them: 0, behind these.
        self.printed.constants.extend([items.len() as u64, items.len() as u64, 0]);
        self.printed.constants.extend(words);
        self.printed.tables.push((Arc::clone(list), element.clone(), at));
        Ok(at)
    }

    fn operand(&self, inst: &Inst, index: usize) -> Result<Value> {
        inst.args.get(index).copied().ok_or_else(|| Unsupported::new("an operation that lacks an operand"))
    }

    fn known(&self, inst: &Inst, index: usize) -> Option<&'m Object> {
        self.constants.get(inst.args.get(index)?).copied()
    }

    fn known_int(&self, inst: &Inst, index: usize) -> Option<i64> {
        match self.known(inst, index)? {
            Object::Int(value) => value.to_i64(),
            _ => None,
        }
    }

    /// The only slot of an operand.
    fn one(&mut self, inst: &Inst, index: usize) -> Result<String> {
        let value = self.operand(inst, index)?;
        match self.slots(value)?.as_slice() {
            [slot] => Ok(slot.clone()),
            _ => Err(Unsupported::new(format!("an operand of type {}", self.function.ty(value)))),
        }
    }

    /// An operand as an int; a bool counts as 0 or 1.
    fn int(&mut self, inst: &Inst, index: usize) -> Result<String> {
        let value = self.operand(inst, index)?;
        match self.function.ty(value) {
            Type::Int | Type::Exc => self.one(inst, index),
            Type::Bool => Ok(format!("(long)({})", self.one(inst, index)?)),
            other => Err(Unsupported::new(format!("{other} as an int"))),
        }
    }

    /// An operand as a float, converted as `float()` does.
    fn float(&mut self, inst: &Inst, index: usize) -> Result<String> {
        let value = self.operand(inst, index)?;
        match (self.function.ty(value), self.known(inst, index)) {
            (Type::Int, Some(Object::Int(Int::Big(_)))) => Err(Unsupported::new("an int beyond 64 bits")),
            (Type::Float, _) => self.one(inst, index),
            (Type::Int | Type::Bool, _) => Ok(format!("(double)({})", self.one(inst, index)?)),
            (other, _) => Err(Unsupported::new(format!("{other} as a float"))),
        }
    }

    // Ways out.

    /// What stands where an exception is raised: a jump to the handler or the row's end.
    fn raise(&mut self, kind: &str, inst: &Inst) -> Result<String> {
        match &inst.unwind {
            None => Ok(LEAVE.to_string()),
            Some(edge) => self.jump(edge, Some(kind)),
        }
    }

    fn raise_if(&mut self, cond: &str, kind: ExcKind, inst: &Inst) -> Result<()> {
        let raise = self.raise(&int(kind as i64), inst)?;
        self.line(&format!("if ({cond}) {{ {raise} }}"));
        Ok(())
    }

    fn leave_if(&mut self, cond: &str) {
        self.line(&format!("if ({cond}) {LEAVE}"));
    }

    /// The assignments and the jump of an edge; `exception` is that of an unwind edge.
    fn jump(&mut self, edge: &Edge, exception: Option<&str>) -> Result<String> {
        let params = &self.function.block(edge.block).params;
        let mut rest = params.as_slice();
        let mut before = String::new();
        let mut after = String::new();
        let mut assign = |at: usize, param: Value, slot: Slot, value: &str| -> Result<()> {
            write!(before, "{} t{}_{at} = {value}; ", slot.name(), param.0)?;
            write!(after, "v{}_{at} = t{}_{at}; ", param.0, param.0)?;
            Ok(())
        };
        if let Some(exception) = exception {
            let (first, others) =
                params.split_first().ok_or_else(|| Unsupported::new("a handler without parameter"))?;
            rest = others;
            if self.live.value(*first) {
                assign(0, *first, Slot::Int, exception)?;
            }
        }
        for (param, arg) in rest.iter().zip(&edge.args) {
            if !self.live.value(*param) || param == arg {
                continue;
            }
            let kinds = slots(self.function.ty(*param))?;
            if let Some(Object::Int(Int::Big(_))) = self.constants.get(arg) {
                return Ok(LEAVE.to_string());
            }
            for (at, (slot, value)) in kinds.into_iter().zip(self.slots(*arg)?).enumerate() {
                assign(at, *param, slot, &value)?;
            }
        }
        Ok(format!("{{ {before}{after}goto b{}; }}", edge.block.0))
    }

    fn terminator(&mut self, term: &Terminator) -> Result<()> {
        let line = match term {
            Terminator::Jump(edge) => self.jump(edge, None)?,
            Terminator::Branch(cond, yes, no) => {
                let cond = self.slots(*cond)?.concat();
                let (yes, no) = (self.jump(yes, None)?, self.jump(no, None)?);
                format!("if ({cond}) {yes} else {no}")
            }
            Terminator::Return(value) => {
                let mut line = String::new();
                for (at, slot) in self.slots(*value)?.iter().enumerate() {
                    write!(line, "*r{at} = {slot}; ")?;
                }
                line + "return 0;"
            }
            // A caller may catch it.
            Terminator::Raise(kind, ..) if self.id.0 > 0 => format!("return {};", *kind as u64),
            Terminator::Reraise(value, _) if self.id.0 > 0 => {
                format!("return (uint)({});", self.slots(*value)?.concat())
            }
            Terminator::Raise(..) | Terminator::Reraise(..) => LEAVE.to_string(),
            Terminator::Bailout(..) | Terminator::Open | Terminator::Unreachable => LEAVE.to_string(),
        };
        self.line(&line);
        Ok(())
    }

    // Instructions.

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        let values = match &inst.op {
            Opcode::Const(_) => return Ok(()),
            Opcode::Op(name) => {
                let def = exuvia_ops::by_name(name).ok_or_else(|| Unsupported::new(format!("the operation {name}")))?;
                match &def.body {
                    Body::Core(op) => self.core(*op, inst)?,
                    Body::Kernel { .. } => self.kernel(def, inst)?,
                }
            }
            Opcode::Call(callee) => self.call(*callee, inst)?,
            Opcode::Wrap => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                let to = self.result_type(inst)?.clone();
                self.widen(&slots, &self.function.ty(operand).clone(), &to)?
            }
            Opcode::Is(ty) => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                vec![is(&slots, self.function.ty(operand), ty)]
            }
            Opcode::Unwrap => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                let to = self.result_type(inst)?.clone();
                self.narrow(&slots, &self.function.ty(operand).clone(), &to)?
            }
            Opcode::Tuple | Opcode::Record(_) => {
                let (Type::Tuple(types) | Type::Record(_, types)) = self.result_type(inst)?.clone() else {
                    return Err(Unsupported::new("a tuple of another type"));
                };
                let mut all = Vec::new();
                for (arg, ty) in inst.args.iter().zip(types.iter()) {
                    let slots = self.slots(*arg)?;
                    all.extend(self.widen(&slots, &self.function.ty(*arg).clone(), ty)?);
                }
                all
            }
            Opcode::Field(index) => {
                let tuple = self.operand(inst, 0)?;
                let (Type::Tuple(types) | Type::Record(_, types)) = self.function.ty(tuple) else {
                    return Err(Unsupported::new("an element of something that is no tuple"));
                };
                let start = element_start(types, *index as usize)?;
                let ty = types.get(*index as usize).ok_or_else(|| Unsupported::new("an element outside a tuple"))?;
                let count = slots(ty)?.len();
                self.slots(tuple)?[start..start + count].to_vec()
            }
            Opcode::List => self.list_new(inst)?,
            Opcode::NewExc(kind) => vec![int(*kind as i64)],
            Opcode::ExcIs(kinds) => {
                let code = self.one(inst, 0)?;
                let set = ExcKind::ALL
                    .iter()
                    .filter(|kind| kinds.iter().any(|base| kind.is_subclass(*base)))
                    .fold(0u64, |set, kind| set | 1 << (*kind as u32));
                vec![format!("(int)((0x{set:x}UL >> {code}) & 1UL)")]
            }
            Opcode::Poll => {
                self.leave_if("item->fuel-- == 0");
                return Ok(());
            }
        };
        self.assign(inst, &values)
    }

    fn result_type(&self, inst: &Inst) -> Result<&'m Type> {
        let result = inst.result.ok_or_else(|| Unsupported::new("an operation without result"))?;
        Ok(self.function.ty(result))
    }

    fn assign(&mut self, inst: &Inst, values: &[String]) -> Result<()> {
        let Some(result) = inst.result.filter(|result| self.live.value(*result)) else {
            return Ok(());
        };
        let count = slots(self.function.ty(result))?.len();
        if count != values.len() {
            return Err(Unsupported::new(format!("{} slots for {}", values.len(), self.function.ty(result))));
        }
        let mut line = String::new();
        for (at, value) in values.iter().enumerate() {
            write!(line, "v{}_{at} = {value}; ", result.0)?;
        }
        self.line(line.trim_end());
        Ok(())
    }

    /// A fresh variable.
    fn temporary(&mut self, slot: Slot, value: &str) -> String {
        self.temporaries += 1;
        let name = format!("x{}", self.temporaries);
        // Declared at once, since a jump must not pass a declaration's initialiser over.
        let declared = format!("{} {name};", slot.name());
        let line = format!("{name} = {value};");
        self.out.push_str(&format!("  {declared} {line}\n"));
        name
    }

    fn call(&mut self, callee: FuncId, inst: &Inst) -> Result<Vec<String>> {
        let function = &self.module.functions[callee.index()];
        let params = function.param_types();
        let mut args = vec!["item".to_string()];
        for (ty, arg) in params.iter().zip(&inst.args) {
            let slots = self.slots(*arg)?;
            args.extend(self.widen(&slots, &self.function.ty(*arg).clone(), ty)?);
        }
        let mut results = Vec::new();
        for slot in slots(&function.ret)? {
            let name = self.temporary(slot, slot.zero());
            args.push(format!("&{name}"));
            results.push(name);
        }
        self.leave_if("item->fuel-- == 0");
        let status = self.temporary(Slot::Int, &format!("(long)f{}({})", callee.0, args.join(", ")));
        let raise = self.raise(&status, inst)?;
        self.line(&format!("if ({status} != 0) {{ if ({status} >= LEAVE) {LEAVE} {raise} }}"));
        Ok(results)
    }

    fn core(&mut self, op: CoreOp, inst: &Inst) -> Result<Vec<String>> {
        use CoreOp::{
            BoolAnd, BoolNot, BoolOr, BoolToInt, BoolXor, ExcCode, ExcMessage, FloatAbs, FloatAdd, FloatCmp, FloatDiv,
            FloatMul, FloatNeg, FloatSqrt, FloatSub, FloatTruth, Identity, IntAbs, IntAdd, IntAnd, IntCmp, IntFits,
            IntFloorDiv, IntInvert, IntMod, IntMul, IntNeg, IntOr, IntShl, IntShr, IntSub, IntToFloat, IntTrueDiv,
            IntTruth, IntXor, Reject,
        };
        let value = match op {
            IntAdd | IntSub | IntMul => {
                let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
                let (sign, check) = match op {
                    IntAdd => ("+", "add_overflows"),
                    IntSub => ("-", "sub_overflows"),
                    _ => ("*", "mul_overflows"),
                };
                if !inst.no_overflow {
                    self.leave_if(&format!("{check}({a}, {b})"));
                }
                format!("(long)((ulong)({a}) {sign} (ulong)({b}))")
            }
            IntFloorDiv | IntMod => {
                let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
                let known = self.known_int(inst, 1).filter(|divisor| *divisor != 0);
                if known.is_none() {
                    self.raise_if(&format!("{b} == 0"), ExcKind::ZeroDivisionError, inst)?;
                }
                if op == IntMod {
                    format!("floor_mod({a}, {b})")
                } else {
                    if known.is_none_or(|divisor| divisor == -1) {
                        self.leave_if(&format!("{b} == -1 && {a} == {}", int(i64::MIN)));
                    }
                    format!("floor_div({a}, {b})")
                }
            }
            IntAnd => format!("({}) & ({})", self.int(inst, 0)?, self.int(inst, 1)?),
            IntOr => format!("({}) | ({})", self.int(inst, 0)?, self.int(inst, 1)?),
            IntXor => format!("({}) ^ ({})", self.int(inst, 0)?, self.int(inst, 1)?),
            IntShl => {
                let (a, count) = (self.int(inst, 0)?, self.int(inst, 1)?);
                self.raise_if(&format!("{count} < 0"), ExcKind::ValueError, inst)?;
                self.leave_if(&format!("shift_overflows({a}, {count})"));
                format!("({count} > 63 ? 0L : (long)((ulong)({a}) << {count}))")
            }
            IntShr => {
                let (a, count) = (self.int(inst, 0)?, self.int(inst, 1)?);
                self.raise_if(&format!("{count} < 0"), ExcKind::ValueError, inst)?;
                format!("(({a}) >> min((long)({count}), 63L))")
            }
            IntNeg | IntAbs => {
                let a = self.int(inst, 0)?;
                if !inst.no_overflow {
                    self.leave_if(&format!("{a} == {}", int(i64::MIN)));
                }
                if op == IntNeg { format!("(long)(0UL - (ulong)({a}))") } else { format!("(long)abs({a})") }
            }
            IntInvert => format!("~({})", self.int(inst, 0)?),
            IntCmp(cmp) => self.compare(cmp, inst)?,
            IntTruth => format!("(int)(({}) != 0)", self.int(inst, 0)?),
            BoolToInt => self.int(inst, 0)?,
            BoolAnd => format!("({}) & ({})", self.one(inst, 0)?, self.one(inst, 1)?),
            BoolOr => format!("({}) | ({})", self.one(inst, 0)?, self.one(inst, 1)?),
            BoolXor => format!("({}) ^ ({})", self.one(inst, 0)?, self.one(inst, 1)?),
            BoolNot => format!("({}) ^ 1", self.one(inst, 0)?),
            IntToFloat => self.float(inst, 0)?,
            IntTrueDiv => {
                let (a, b) = (self.int(inst, 0)?, self.int(inst, 1)?);
                if self.known_int(inst, 1).is_none_or(|divisor| divisor == 0) {
                    self.raise_if(&format!("{b} == 0"), ExcKind::ZeroDivisionError, inst)?;
                }
                self.leave_if(&format!("!is_exact({a}) || !is_exact({b})"));
                format!("(double)({a}) / (double)({b})")
            }
            FloatAdd => format!("({}) + ({})", self.float(inst, 0)?, self.float(inst, 1)?),
            FloatSub => format!("({}) - ({})", self.float(inst, 0)?, self.float(inst, 1)?),
            FloatMul => format!("({}) * ({})", self.float(inst, 0)?, self.float(inst, 1)?),
            FloatDiv => {
                let (a, b) = (self.float(inst, 0)?, self.float(inst, 1)?);
                self.raise_if(&format!("{b} == 0.0"), ExcKind::ZeroDivisionError, inst)?;
                format!("({a}) / ({b})")
            }
            FloatNeg => format!("-({})", self.float(inst, 0)?),
            FloatAbs => format!("fabs({})", self.float(inst, 0)?),
            FloatSqrt => {
                let a = self.float(inst, 0)?;
                self.raise_if(&format!("{a} < 0.0"), ExcKind::ValueError, inst)?;
                format!("sqrt({a})")
            }
            CoreOp::Ieee(op) => {
                let a = self.float(inst, 0)?;
                match op {
                    Ieee::Div => format!("({a}) / ({})", self.float(inst, 1)?),
                    Ieee::Sqrt => format!("sqrt({a})"),
                    Ieee::Floor => format!("floor({a})"),
                    Ieee::Ceil => format!("ceil({a})"),
                    Ieee::Trunc => format!("trunc({a})"),
                    Ieee::Nearest => format!("rint({a})"),
                }
            }
            FloatTruth => format!("(int)(({}) != 0.0)", self.float(inst, 0)?),
            FloatCmp(cmp) => {
                format!("(int)(({}) {} ({}))", self.float(inst, 0)?, operator(cmp), self.float(inst, 1)?)
            }
            Identity => match self.result_type(inst)? {
                Type::Int => self.int(inst, 0)?,
                Type::Float => self.float(inst, 0)?,
                _ => return self.slots(self.operand(inst, 0)?),
            },
            IntFits => self.int(inst, 0)?,
            ExcCode => return self.slots(self.operand(inst, 0)?),
            ExcMessage | Reject => {
                self.line(LEAVE);
                return match inst.result {
                    Some(result) => {
                        Ok(slots(self.function.ty(result))?.iter().map(|slot| slot.zero().into()).collect())
                    }
                    None => Ok(Vec::new()),
                };
            }
            CoreOp::ListLen
            | CoreOp::ListIs
            | CoreOp::ListTruth
            | CoreOp::ListGet
            | CoreOp::ListGetUnchecked
            | CoreOp::ListSet
            | CoreOp::ListAppend
            | CoreOp::ListReserve
            | CoreOp::ListExtend
            | CoreOp::ListSlice
            | CoreOp::ListStride
            | CoreOp::ListPop => return self.list_op(op, inst),
            other => return Err(Unsupported::new(format!("the operation {other:?}"))),
        };
        Ok(vec![value])
    }

    fn compare(&mut self, cmp: Cmp, inst: &Inst) -> Result<String> {
        // Every int of 64 bits lies between the big ints of either sign.
        for (side, cmp) in [(1, cmp), (0, mirrored(cmp))] {
            if let Some(Object::Int(big @ Int::Big(_))) = self.known(inst, side) {
                let less = *big > Int::Small(0);
                let holds = match cmp {
                    Cmp::Eq => false,
                    Cmp::Ne => true,
                    Cmp::Lt | Cmp::Le => less,
                    Cmp::Gt | Cmp::Ge => !less,
                };
                return Ok(i32::from(holds).to_string());
            }
        }
        Ok(format!("(int)(({}) {} ({}))", self.int(inst, 0)?, operator(cmp), self.int(inst, 1)?))
    }

    /// An operation whose body is a kernel, by the function of `device.cl` that has its name.
    fn kernel(&mut self, def: &'static OpDef, inst: &Inst) -> Result<Vec<String>> {
        let Some(row) = KERNELS.iter().find(|row| row.name == def.name) else {
            return Err(Unsupported::new(format!("{} has no form on a device", shown(def))));
        };
        if !HAS_GLIBC && OF_THE_LIBRARY.contains(&row.function) {
            return Err(Unsupported::new(format!("{} of another C library than glibc", shown(def))));
        }
        let mut args = Vec::new();
        for (at, kind) in row.takes.iter().enumerate() {
            args.push(match kind {
                Slot::Float => self.float(inst, at)?,
                _ => self.int(inst, at)?,
            });
        }
        if inst.args.len() != args.len() {
            return Err(Unsupported::new(format!("{} with {} operands", shown(def), inst.args.len())));
        }
        if OF_THE_LIBRARY.contains(&row.function) {
            self.leave_if(&format!("item->fuel < {ELEMENTARY}"));
            self.line(&format!("item->fuel -= {ELEMENTARY};"));
        }
        let result = self.temporary(row.gives, row.gives.zero());
        args.push(format!("&{result}"));
        let status = format!("{}({})", row.function, args.join(", "));
        // What raises leaves too: the host has the exception, whether somebody catches it or not.
        self.leave_if(&format!("{status} != 0"));
        Ok(vec![result])
    }

    // Unions and tuples.

    fn widen(&mut self, value: &[String], from: &Type, to: &Type) -> Result<Vec<String>> {
        if from == to {
            return Ok(value.to_vec());
        }
        match (from, to) {
            (Type::Never, _) => zeros(to),
            (Type::Union(alternatives), Type::Union(wider)) => self.remap(value, alternatives, wider),
            (from, Type::Union(alternatives)) => {
                let tag = place(from, alternatives)?;
                let mut out = vec![int(tag as i64)];
                for (at, alternative) in alternatives.iter().enumerate() {
                    if at == tag {
                        out.extend(self.widen(value, from, alternative)?);
                    } else {
                        out.extend(zeros(alternative)?);
                    }
                }
                Ok(out)
            }
            (Type::Tuple(from), Type::Tuple(to)) if from.len() == to.len() => {
                let mut out = Vec::new();
                for (at, (from_item, to_item)) in from.iter().zip(to.iter()).enumerate() {
                    let start = element_start(from, at)?;
                    let count = slots(from_item)?.len();
                    out.extend(self.widen(&value[start..start + count], from_item, to_item)?);
                }
                Ok(out)
            }
            (Type::List(element), Type::List(_)) if **element == Type::Never => Ok(value.to_vec()),
            _ => Err(Unsupported::new(format!("{from} converted to {to}"))),
        }
    }

    /// The slots of a union as those of another.
    fn remap(&mut self, value: &[String], from: &[Type], to: &[Type]) -> Result<Vec<String>> {
        let places: Vec<Option<usize>> = from.iter().map(|ty| place(ty, to).ok()).collect();
        let mut tag = "0L".to_string();
        for (at, place) in places.iter().enumerate().rev() {
            if let Some(place) = place {
                tag = format!("({} == {at}L ? {place}L : {tag})", value[0]);
            }
        }
        let mut out = vec![tag];
        for (at, alternative) in to.iter().enumerate() {
            let mut slots_of: Option<Vec<String>> = None;
            for (source, _) in places.iter().enumerate().filter(|(_, place)| **place == Some(at)) {
                let start = alternative_start(from, source)?;
                let count = slots(&from[source])?.len();
                let taken = self.widen(&value[start..start + count], &from[source], alternative)?;
                slots_of = Some(match slots_of {
                    None => taken,
                    Some(before) => taken
                        .into_iter()
                        .zip(before)
                        .map(|(yes, no)| format!("({} == {source}L ? {yes} : {no})", value[0]))
                        .collect(),
                });
            }
            match slots_of {
                Some(slots) => out.extend(slots),
                None => out.extend(zeros(alternative)?),
            }
        }
        Ok(out)
    }

    fn narrow(&mut self, value: &[String], from: &Type, to: &Type) -> Result<Vec<String>> {
        match (from, to) {
            (from, to) if from == to => Ok(value.to_vec()),
            (Type::Union(alternatives), Type::Union(narrower)) => self.remap(value, alternatives, narrower),
            (Type::Union(alternatives), to) => {
                let at = alternatives.iter().position(|ty| ty == to);
                let at = at.ok_or_else(|| Unsupported::new(format!("{to} is not in {from}")))?;
                let start = alternative_start(alternatives, at)?;
                Ok(value[start..start + slots(to)?.len()].to_vec())
            }
            _ => Err(Unsupported::new(format!("{from} is known to hold {to}"))),
        }
    }

    // Lists: the length, the room and the address of the elements, in the work item's arena.

    fn list_new(&mut self, inst: &Inst) -> Result<Vec<String>> {
        let Type::List(element) = self.result_type(inst)?.clone() else {
            return Err(Unsupported::new("a list of another type"));
        };
        self.printed.allocates = true;
        let width = slots(&element)?.len();
        let room = if width == 0 || !inst.args.is_empty() { inst.args.len() } else { 4 };
        let list = self.temporary(Slot::List, &format!("list_new(item, {room}UL, {width}UL)"));
        self.leave_if(&format!("{list} == 0"));
        for arg in &inst.args {
            self.append(&list, *arg, &element, width)?;
        }
        Ok(vec![list])
    }

    fn append(&mut self, list: &str, value: Value, element: &Type, width: usize) -> Result<()> {
        let slots_of = self.slots(value)?;
        let from = self.function.ty(value).clone();
        let values = self.widen(&slots_of, &from, element)?;
        let kinds = slots(element)?;
        let at = self.temporary(Slot::List, &format!("list_append(item, {list}, {width}UL)"));
        self.leave_if(&format!("{at} == 0"));
        for (index, (kind, value)) in kinds.iter().zip(values).enumerate() {
            self.line(&format!("{at}[{index}] = {};", kind.to_word(&value)));
        }
        Ok(())
    }

    fn list_op(&mut self, op: CoreOp, inst: &Inst) -> Result<Vec<String>> {
        let list = self.one(inst, 0)?;
        let operand = self.operand(inst, 0)?;
        let Type::List(element) = self.function.ty(operand).clone() else {
            return Err(Unsupported::new("an operation of lists of something else"));
        };
        let kinds = slots(&element)?;
        let width = kinds.len();
        let load = |at: &str| -> Vec<String> {
            kinds.iter().enumerate().map(|(index, kind)| kind.of_word(&format!("{at}[{index}]"))).collect()
        };
        match op {
            CoreOp::ListLen => Ok(vec![format!("(long){list}[0]")]),
            CoreOp::ListTruth => Ok(vec![format!("(int)({list}[0] != 0)")]),
            CoreOp::ListIs => Ok(vec![format!("(int)({list} == {})", self.one(inst, 1)?)]),
            CoreOp::ListGet | CoreOp::ListGetUnchecked => {
                let index = self.int(inst, 1)?;
                let index = if op == CoreOp::ListGet { self.position(&list, &index, inst)? } else { index };
                let at = self.temporary(Slot::List, &format!("list_at({list}, {index}, {width}UL)"));
                Ok(load(&at))
            }
            CoreOp::ListSet => {
                let index = self.int(inst, 1)?;
                let index = self.position(&list, &index, inst)?;
                let value = self.operand(inst, 2)?;
                self.not_constant(operand)?;
                let slots_of = self.slots(value)?;
                let from = self.function.ty(value).clone();
                let values = self.widen(&slots_of, &from, &element)?;
                let at = self.temporary(Slot::List, &format!("list_at({list}, {index}, {width}UL)"));
                for (index, (kind, value)) in kinds.iter().zip(values).enumerate() {
                    self.line(&format!("{at}[{index}] = {};", kind.to_word(&value)));
                }
                Ok(Vec::new())
            }
            CoreOp::ListAppend => {
                self.not_constant(operand)?;
                self.printed.allocates = true;
                let value = self.operand(inst, 1)?;
                self.append(&list, value, &element, width)?;
                Ok(Vec::new())
            }
            CoreOp::ListExtend => {
                self.not_constant(operand)?;
                self.printed.allocates = true;
                let other = self.one(inst, 1)?;
                self.leave_if(&format!("!list_extend(item, {list}, {other}, {width}UL)"));
                Ok(Vec::new())
            }
            CoreOp::ListSlice => {
                let start = self.index(inst, 1, 0)?;
                let stop = self.index(inst, 2, i64::MAX)?;
                self.copied(&format!("list_slice(item, {list}, {start}, {stop}, {width}UL)"))
            }
            CoreOp::ListStride => {
                let (start, step, count) = (self.int(inst, 1)?, self.int(inst, 2)?, self.int(inst, 3)?);
                self.copied(&format!("list_stride(item, {list}, {start}, {step}, {count}, {width}UL)"))
            }
            // Room is made when it is needed.
            CoreOp::ListReserve => Ok(Vec::new()),
            CoreOp::ListPop => {
                self.raise_if(&format!("{list}[0] == 0"), ExcKind::IndexError, inst)?;
                self.line(&format!("{list}[0] -= 1;"));
                let at = self.temporary(Slot::List, &format!("list_at({list}, (long){list}[0], {width}UL)"));
                Ok(load(&at))
            }
            other => Err(Unsupported::new(format!("the operation {other:?}"))),
        }
    }

    /// A list that is made by a call.
    fn copied(&mut self, call: &str) -> Result<Vec<String>> {
        self.printed.allocates = true;
        let made = self.temporary(Slot::List, call);
        self.leave_if(&format!("{made} == 0"));
        Ok(vec![made])
    }

    /// A bound of a slice; `absent` where it is missing or None.
    fn index(&mut self, inst: &Inst, at: usize, absent: i64) -> Result<String> {
        match (inst.args.get(at).map(|value| self.function.ty(*value)), self.known(inst, at)) {
            (None | Some(Type::None), _) => Ok(int(absent)),
            (_, Some(Object::Int(known))) => Ok(int(known.clamp_i64())),
            _ => self.int(inst, at),
        }
    }

    /// Constant tables belong to all rows.
    fn not_constant(&self, list: Value) -> Result<()> {
        let is_table = |value: &Value| self.function.ty(*value).holds_list();
        if self.constants.contains_key(&list) || self.constants.keys().any(is_table) {
            return Err(Unsupported::new("a function that has constant lists and changes lists"));
        }
        Ok(())
    }

    /// The position of an element, counted from the end where the index is negative.
    fn position(&mut self, list: &str, index: &str, inst: &Inst) -> Result<String> {
        let at = self.temporary(Slot::Int, &format!("({index}) < 0 ? ({index}) + (long){list}[0] : ({index})"));
        self.raise_if(&format!("(ulong){at} >= {list}[0]"), ExcKind::IndexError, inst)?;
        Ok(at)
    }
}

/// How an operation is spelled, for people.
fn shown(def: &OpDef) -> String {
    if def.spelling.is_empty() { def.name.to_string() } else { def.spelling.to_string() }
}

fn zeros(ty: &Type) -> Result<Vec<String>> {
    Ok(slots(ty)?.iter().map(|slot| slot.zero().to_string()).collect())
}

/// The alternative of a union that takes values of a type.
fn place(from: &Type, to: &[Type]) -> Result<usize> {
    let same = to.iter().position(|ty| ty == from);
    same.or_else(|| to.iter().position(|ty| widens(from, ty)))
        .ok_or_else(|| Unsupported::new(format!("{from} among other types")))
}

fn widens(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (from, to) if from == to => true,
        (Type::Never, _) => true,
        (Type::Union(from), _) => from.iter().all(|from| widens(from, to)),
        (from, Type::Union(to)) => place(from, to).is_ok(),
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| widens(from, to))
        }
        (Type::List(from), Type::List(_)) => **from == Type::Never,
        _ => false,
    }
}

fn is(value: &[String], from: &Type, ty: &Type) -> String {
    let Type::Union(alternatives) = from else { return i32::from(from.is_within(ty)).to_string() };
    let tests: Vec<String> = alternatives
        .iter()
        .enumerate()
        .filter(|(_, alternative)| alternative.is_within(ty))
        .map(|(at, _)| format!("({} == {at}L)", value[0]))
        .collect();
    if tests.is_empty() { "0".to_string() } else { format!("(int)({})", tests.join(" | ")) }
}

fn mirrored(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Eq => Cmp::Eq,
        Cmp::Ne => Cmp::Ne,
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
    }
}

/// The words of a constant in memory.
fn words_of(object: &Object, ty: &Type, words: &mut Vec<u64>) -> Result<()> {
    match (object, ty) {
        (Object::None, Type::None) => Ok(()),
        (Object::Bool(value), Type::Bool) => {
            words.push(u64::from(*value));
            Ok(())
        }
        (Object::Int(value), Type::Int) => {
            let value = value.to_i64().ok_or_else(|| Unsupported::new("an int beyond 64 bits"))?;
            words.push(value as u64);
            Ok(())
        }
        (Object::Float(value), Type::Float) => {
            words.push(value.to_bits());
            Ok(())
        }
        (Object::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            items.iter().zip(types.iter()).try_for_each(|(item, ty)| words_of(item, ty, words))
        }
        _ => Err(Unsupported::new(format!("a table that holds {ty}"))),
    }
}

/// Whether the C library is the one whose errors `device.cl` knows.
const HAS_GLIBC: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// The functions that give what the C library gives.
const OF_THE_LIBRARY: &[&str] =
    &["float_pow", "math_acos", "math_asin", "math_atan", "math_atan2", "math_cos", "math_exp", "math_log", "math_sin"];

/// The rounds of a loop that one of them takes as long as.
const ELEMENTARY: u32 = 64;

/// A kernel's function in `device.cl`.
struct KernelRow {
    name: &'static str,
    function: &'static str,
    takes: &'static [Slot],
    gives: Slot,
}

macro_rules! kernels {
    ($($name:literal $function:literal ($($take:ident),*) -> $give:ident;)*) => {
        &[$(KernelRow {
            name: $name, function: $function, takes: &[$(Slot::$take),*], gives: Slot::$give
        }),*]
    };
}

/// The operations that a device has beside the core.
const KERNELS: &[KernelRow] = kernels! {
    "float.floordiv" "float_floordiv" (Float, Float) -> Float;
    "float.mod" "float_mod" (Float, Float) -> Float;
    "ufunc.floor_divide" "ufunc_floor_divide" (Float, Float) -> Float;
    "ufunc.remainder" "ufunc_remainder" (Float, Float) -> Float;
    "ufunc.fmod" "ufunc_fmod" (Float, Float) -> Float;
    "math.fmod" "math_fmod" (Float, Float) -> Float;
    "float.int" "float_trunc" (Float) -> Int;
    "float.trunc" "float_trunc" (Float) -> Int;
    "float.floor" "float_floor" (Float) -> Int;
    "float.ceil" "float_ceil" (Float) -> Int;
    "float.round" "float_round" (Float) -> Int;
    "float.is_integer" "float_is_integer" (Float) -> Bool;
    "math.fabs" "math_fabs" (Float) -> Float;
    "math.copysign" "math_copysign" (Float, Float) -> Float;
    "math.degrees" "math_degrees" (Float) -> Float;
    "math.radians" "math_radians" (Float) -> Float;
    "math.isnan" "math_isnan" (Float) -> Bool;
    "math.isinf" "math_isinf" (Float) -> Bool;
    "math.isfinite" "math_isfinite" (Float) -> Bool;
    "float.pow" "float_pow" (Float, Float) -> Float;
    "float.pow_call" "float_pow" (Float, Float) -> Float;
    "math.pow" "float_pow" (Float, Float) -> Float;
    "ufunc.power" "float_pow" (Float, Float) -> Float;
    "int.pow" "int_pow" (Int, Int) -> Int;
    "int.bit_length" "int_bit_length" (Int) -> Int;
    "math.exp" "math_exp" (Float) -> Float;
    "ufunc.exp" "math_exp" (Float) -> Float;
    "math.log" "math_log" (Float) -> Float;
    "ufunc.log" "math_log" (Float) -> Float;
    "math.sin" "math_sin" (Float) -> Float;
    "ufunc.sin" "math_sin" (Float) -> Float;
    "math.cos" "math_cos" (Float) -> Float;
    "ufunc.cos" "math_cos" (Float) -> Float;
    "math.asin" "math_asin" (Float) -> Float;
    "ufunc.arcsin" "math_asin" (Float) -> Float;
    "math.acos" "math_acos" (Float) -> Float;
    "ufunc.arccos" "math_acos" (Float) -> Float;
    "math.atan" "math_atan" (Float) -> Float;
    "ufunc.arctan" "math_atan" (Float) -> Float;
    "math.atan2" "math_atan2" (Float, Float) -> Float;
    "ufunc.arctan2" "math_atan2" (Float, Float) -> Float;
    "int_float.eq" "int_float_eq" (Int, Float) -> Bool;
    "float_int.eq" "float_int_eq" (Float, Int) -> Bool;
    "int_float.ne" "int_float_ne" (Int, Float) -> Bool;
    "float_int.ne" "float_int_ne" (Float, Int) -> Bool;
    "int_float.lt" "int_float_lt" (Int, Float) -> Bool;
    "float_int.lt" "float_int_lt" (Float, Int) -> Bool;
    "int_float.le" "int_float_le" (Int, Float) -> Bool;
    "float_int.le" "float_int_le" (Float, Int) -> Bool;
    "int_float.gt" "int_float_gt" (Int, Float) -> Bool;
    "float_int.gt" "float_int_gt" (Float, Int) -> Bool;
    "int_float.ge" "int_float_ge" (Int, Float) -> Bool;
    "float_int.ge" "float_int_ge" (Float, Int) -> Bool;
};
