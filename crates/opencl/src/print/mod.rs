//! From a function of the IR to OpenCL C.
//!
//! The text says what native code does for a row, one work item for each: an SSA value becomes a
//! variable for each of its slots, a block a label, an edge assignments and a jump. Nothing here
//! reports: whatever a device cannot say of a row (an exception, an int beyond 64 bits, a last bit
//! that is not certain, a loop without end) leaves the row, and the host redoes it.

mod core;
mod kernels;
mod lists;
mod unions;

use crate::Unsupported;
use crate::slots::{Slot, element_start, slots};
use exuvia_ir::{Edge, ExcKind, FuncId, Function, Inst, Int, ListObj, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_jit::live::{self, Live};
use exuvia_ops::core::Cmp;
use exuvia_ops::def::Body;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

type Result<T> = std::result::Result<T, Unsupported>;

/// The functions of a module in OpenCL C.
#[derive(Debug, Default)]
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
    if module.size() > MOST {
        return Err(Unsupported::new(format!("a function of more than {MOST} instructions")));
    }
    let mut printed = Printed::default();
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
        return Err(Unsupported::new("a function that is not there"));
    };
    match states[id.index()] {
        State::Printed => return Ok(()),
        State::Begun => return Err(Unsupported::new(format!("{} calls itself", function.name))),
        State::New => states[id.index()] = State::Begun,
    }
    if function.keeps.is_some() {
        return Err(Unsupported::new(format!("{} keeps its results", function.name)));
    }
    let live = live::analyse(function);
    if id.0 == 0 {
        printed.needed = function.block(function.entry()).params.iter().map(|param| live.value(*param)).collect();
    }
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
                self.widened(operand, self.result_type(inst)?)?
            }
            Opcode::Is(ty) => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                vec![unions::is(&slots, self.function.ty(operand), ty)]
            }
            Opcode::Unwrap => {
                let operand = self.operand(inst, 0)?;
                let slots = self.slots(operand)?;
                self.narrow(&slots, self.function.ty(operand), self.result_type(inst)?)?
            }
            Opcode::Tuple | Opcode::Record(_) => {
                let (Type::Tuple(types) | Type::Record(_, types)) = self.result_type(inst)? else {
                    return Err(Unsupported::new("a tuple of another type"));
                };
                let mut all = Vec::new();
                for (arg, ty) in inst.args.iter().zip(types.iter()) {
                    all.extend(self.widened(*arg, ty)?);
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
            Opcode::Box | Opcode::Unbox => return Err(Unsupported::new("objects that hold others of their kind")),
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
            Opcode::Message(_) => return Err(Unsupported::new("the text of an exception")),
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
        self.line(&format!("{} {name} = {value};", slot.name()));
        name
    }

    fn call(&mut self, callee: FuncId, inst: &Inst) -> Result<Vec<String>> {
        let function = &self.module.functions[callee.index()];
        let params = function.param_types();
        let mut args = vec!["item".to_string()];
        for (ty, arg) in params.iter().zip(&inst.args) {
            args.extend(self.widened(*arg, ty)?);
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
        self.line(&format!("if ({status} != 0) {{ if ({status} >= LEAVE) return (uint){status}; {raise} }}"));
        Ok(results)
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
