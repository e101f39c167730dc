//! Whether what was lifted may change a list of the source's module.
//!
//! Where such a list is known while lifting, changing it is refused there. Which one of several it is may show only
//! at run time, as in `ROWS[k % 2].append(k)`: the IR has a constant then, of which every other reading may have been
//! folded, and which belongs to all rows. So what was lifted is looked through. A value *is* marked where it may be a
//! list of a constant, and *has* where it may hold one. What a list holds shows at all its names, so *has* goes both
//! ways between values that may be one object or hold each other; *is* goes on with the value.

use crate::core::CoreOp;
use crate::def::{Body, OpDef};
use exuvia_ir::{Edge, Function, Inst, Module, Opcode, Span, Terminator, Type, Value};

/// Passes over a module; beyond them every list counts as one of a constant.
const MOST_PASSES: usize = 100;

const IS: u8 = 1;
const HAS: u8 = 2;

/// The operation of an instruction.
fn operation(inst: &Inst) -> Option<&'static OpDef> {
    match inst.op {
        Opcode::Op(name) => crate::by_name(name),
        _ => None,
    }
}

/// Adds the types of the lists that values of a type are and hold.
fn add_lists(ty: &Type, types: &mut Vec<Type>) {
    match ty {
        Type::List(element) => {
            if !types.contains(ty) {
                types.push(ty.clone());
            }
            add_lists(element, types);
        }
        Type::Tuple(items) | Type::Union(items) | Type::Record(_, items) => {
            items.iter().for_each(|item| add_lists(item, types));
        }
        Type::Dict(_, value) => add_lists(value, types),
        _ => {}
    }
}

/// The instructions of a module.
fn insts(module: &Module) -> impl Iterator<Item = (&Function, &Inst)> {
    let blocks =
        module.functions.iter().flat_map(|function| function.blocks.iter().map(move |block| (function, block)));
    blocks.flat_map(|(function, block)| block.insts.iter().map(move |inst| (function, inst)))
}

/// The list that an instruction changes.
fn changed(inst: &Inst) -> Option<Value> {
    operation(inst).filter(|def| def.effect.writes()).and_then(|_| inst.args.first().copied())
}

/// Where a module may change a list of a constant. Functions that some give a constant, and others a list that they
/// change, count as changing it.
#[must_use]
pub fn first_change(module: &Module) -> Option<Span> {
    let mut constants = Vec::new();
    for (function, inst) in insts(module) {
        if let (Opcode::Const(_), Some(result)) = (&inst.op, inst.result) {
            add_lists(function.ty(result), &mut constants);
        }
    }
    // Lists of different types are different lists, but for one that holds nothing, which is of any type.
    let has_empty = constants.contains(&Type::list(Type::Never));
    let is_one = |function: &Function, list: Value| has_empty || constants.contains(function.ty(list));
    if constants.is_empty()
        || !insts(module).any(|(function, inst)| changed(inst).is_some_and(|list| is_one(function, list)))
    {
        return None;
    }
    let marks = Marks::of(module);
    for (at, function) in module.functions.iter().enumerate() {
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let is_marked = |list: &Value| is_one(function, *list) && marks.values[at][list.index()] & IS != 0;
            if changed(inst).filter(is_marked).is_some() {
                return Some(inst.span);
            }
        }
    }
    None
}

/// The marks of the values of all functions, and of what they return.
struct Marks {
    values: Vec<Vec<u8>>,
    returned: Vec<u8>,
    changed: bool,
}

impl Marks {
    fn of(module: &Module) -> Marks {
        let values = module.functions.iter().map(|function| vec![0; function.values.len()]).collect();
        let mut marks = Marks { values, returned: vec![0; module.functions.len()], changed: true };
        let mut passes = 0;
        while std::mem::take(&mut marks.changed) {
            passes += 1;
            if passes > MOST_PASSES {
                marks.values.iter_mut().for_each(|values| values.fill(IS | HAS));
                break;
            }
            for (at, function) in module.functions.iter().enumerate() {
                marks.spread(module, at, function);
            }
        }
        marks
    }

    fn get(&self, at: usize, value: Value) -> u8 {
        self.values[at][value.index()]
    }

    fn add(&mut self, at: usize, value: Value, marks: u8) {
        let own = &mut self.values[at][value.index()];
        self.changed |= *own | marks != *own;
        *own |= marks;
    }

    /// `to` is what `from` is.
    fn pass(&mut self, (at, from): (usize, Value), (to_at, to): (usize, Value)) {
        self.add(to_at, to, self.get(at, from));
        self.add(at, from, self.get(to_at, to) & HAS);
    }

    /// `part` is a part of `whole`, or may be taken out of it.
    fn part(&mut self, at: usize, whole: Value, part: Value, is_taken: bool) {
        if is_taken && self.get(at, whole) != 0 {
            self.add(at, part, IS | HAS);
        }
        if self.get(at, part) & if is_taken { HAS } else { IS | HAS } != 0 {
            self.add(at, whole, HAS);
        }
        if !is_taken && self.get(at, whole) & HAS != 0 && self.get(at, part) == 0 {
            self.add(at, part, HAS);
        }
    }

    fn spread(&mut self, module: &Module, at: usize, function: &Function) {
        let is_object = |ty: &Type| matches!(ty, Type::List(_) | Type::Boxed(_) | Type::Exc);
        let lists: Vec<bool> = function.values.iter().map(|value| value.ty.holds(&is_object)).collect();
        let holds = |value: &Value| lists[value.index()];
        for block in &function.blocks {
            for inst in &block.insts {
                self.inst(module, at, inst, &holds);
                if let Some(edge) = &inst.unwind {
                    self.edge(at, function, edge, 1);
                }
            }
            for edge in block.term.edges() {
                self.edge(at, function, edge, 0);
            }
            if let Terminator::Return(value) = &block.term {
                self.changed |= self.returned[at] | self.get(at, *value) != self.returned[at];
                self.returned[at] |= self.get(at, *value);
                self.add(at, *value, self.returned[at] & HAS);
            }
        }
    }

    fn edge(&mut self, at: usize, function: &Function, edge: &Edge, skip: usize) {
        let params = &function.block(edge.block).params;
        for (param, arg) in params.iter().skip(skip).zip(&edge.args) {
            self.pass((at, *arg), (at, *param));
        }
    }

    fn inst(&mut self, module: &Module, at: usize, inst: &Inst, holds: &impl Fn(&Value) -> bool) {
        let result = inst.result.filter(|result| holds(result));
        let args = || inst.args.iter().copied().filter(|arg| holds(arg));
        match (&inst.op, result) {
            (Opcode::Const(_), Some(result)) => self.add(at, result, IS | HAS),
            (Opcode::Wrap | Opcode::Unwrap, Some(result)) => args().for_each(|arg| self.pass((at, arg), (at, result))),
            (Opcode::Tuple | Opcode::Record(_) | Opcode::Box | Opcode::List | Opcode::NewExc(_), Some(result)) => {
                args().for_each(|arg| self.part(at, result, arg, false));
            }
            (Opcode::Field(_) | Opcode::Unbox, Some(result)) => {
                args().for_each(|arg| self.part(at, arg, result, true));
            }
            (Opcode::Call(callee), _) => {
                let callee = callee.index();
                let params = &module.functions[callee].block(module.functions[callee].entry()).params;
                for (param, arg) in params.iter().zip(&inst.args) {
                    self.pass((at, *arg), (callee, *param));
                }
                if let Some(result) = inst.result {
                    self.add(at, result, self.returned[callee]);
                    let back = self.get(at, result) & HAS;
                    self.changed |= self.returned[callee] | back != self.returned[callee];
                    self.returned[callee] |= back;
                }
            }
            (Opcode::Op(_), result) => {
                let Some(def) = operation(inst) else { return };
                let Body::Core(op) = def.body else { return };
                match (op, result) {
                    // A new list of what the other holds.
                    (op, Some(result)) if op.copies_lists() => args().for_each(|arg| {
                        if self.get(at, arg) != 0 {
                            self.add(at, result, HAS);
                        }
                        self.add(at, arg, self.get(at, result) & HAS);
                    }),
                    (CoreOp::Identity, Some(result)) => args().for_each(|arg| self.pass((at, arg), (at, result))),
                    (_, Some(result)) => args().for_each(|arg| self.part(at, arg, result, true)),
                    (_, None) if def.effect.writes() => {
                        let mut args = args();
                        if let Some(list) = args.next() {
                            args.for_each(|arg| self.part(at, list, arg, false));
                        }
                    }
                    (_, None) => {}
                }
            }
            _ => {}
        }
    }
}
