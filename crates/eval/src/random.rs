//! Random well-formed modules and arguments, for tests of what transforms or runs IR.
//!
//! The modules are structured like lifted Python: conditions, counting loops, handlers,
//! early returns and raises, unions that are tested before they are unwrapped, lists
//! that are filled and read, calls without recursion. They terminate. Every operation
//! whose operands can be made takes part.

use exuvia_ir::{
    Builder, Class, Edge, ExcKind, FuncId, Int, Module, Object, Opcode, Pattern, RecordObj, Terminator, Type, Value,
};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, Effect, Kind, OpDef};
use std::sync::Arc;

/// Marsaglia's xorshift: a seed always gives the same numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.below(2);
        random
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// One time in `n`.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A value of that type as a constant: ints may have more than 64 bits.
    fn constant(&mut self, ty: &Type) -> Object {
        const BITS: [i128; 7] =
            [(1 << 64) - 1, 1 << 64, 1 << 63, 0xcbf2_9ce4_8422_2325, -(1 << 63) - 1, -(1 << 90), 1 << 126];
        if *ty == Type::Int && self.one_in(8) { Object::Int(Int::from_i128(self.pick(&BITS))) } else { self.object(ty) }
    }

    /// A value of that type, nasty ones among them.
    pub fn object(&mut self, ty: &Type) -> Object {
        const INTS: [i64; 16] = [0, 1, -1, 2, 3, -3, 7, 10, 31, 64, 97, 255, i64::MAX, i64::MIN, 1 << 53, -(1 << 31)];
        const FLOATS: [f64; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            2.5,
            1e16,
            1e300,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            9007199254740993.0,
        ];
        const STRS: [&str; 14] = [
            "",
            "a",
            "abc",
            "3 bds , 1 ba",
            " x ",
            "-12",
            "1.5",
            "é",
            "ß\u{301}",
            "𝔘nicode",
            "a,b,,c",
            "\n\t",
            "True",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ];
        match ty {
            Type::None => Object::None,
            Type::Bool => Object::Bool(self.one_in(2)),
            Type::Int => match self.below(3) {
                0 => Object::int(self.pick(&INTS)),
                1 => Object::int(self.below(20) as i64 - 5),
                _ => Object::int(self.below(2000) as i64 - 1000),
            },
            Type::Float => Object::Float(self.pick(&FLOATS)),
            Type::Str => Object::str(self.pick(&STRS)),
            Type::Tuple(types) => Object::tuple(types.iter().map(|ty| self.object(ty)).collect()),
            Type::List(element) => {
                let items = (0..self.below(4)).map(|_| self.object(element)).collect();
                Object::list(items)
            }
            Type::Union(types) => {
                let ty = self.pick(types);
                self.object(&ty)
            }
            Type::Pattern(pattern) => Object::Pattern(pattern.clone()),
            Type::Record(class, types) => {
                let fields = types.iter().map(|ty| self.object(ty)).collect();
                Object::Record(Arc::new(RecordObj { class: *class, fields }))
            }
            Type::Boxed(_) => self.object(&node()),
            Type::Never | Type::Unbound | Type::Exc | Type::Dict(..) | Type::Set(_) => Object::Unbound,
        }
    }
}

/// The class of objects that may hold others of their kind.
const NODE: Class = Class::Object(7);

/// What the records of boxed objects hold.
fn node() -> Type {
    Type::Record(NODE, Arc::from([Type::Int, Type::Str, Type::Boxed(NODE).optional()]))
}

/// The types of values that are passed around.
fn types() -> Vec<Type> {
    vec![
        Type::Int,
        Type::Int,
        Type::Int,
        Type::Bool,
        Type::Float,
        Type::Str,
        Type::Int.optional(),
        Type::union([Type::Int, Type::Str]),
        Type::union([Type::None, Type::Bool, Type::Float]),
        Type::Tuple(Arc::from([Type::Int, Type::Str])),
        Type::Tuple(Arc::from([Type::Int.optional(), Type::Bool])),
        Type::Record(Class::RegexFlag, Arc::from([Type::Int])),
        Type::Record(Class::Match, Arc::from([Type::Str, Type::Int.optional()])).optional(),
        Type::list(Type::Int),
        Type::list(Type::Str),
        Type::Boxed(NODE),
        Type::Boxed(NODE).optional(),
    ]
}

/// A random module; function 0 takes what [`arguments`] gives for the seed.
#[must_use]
pub fn module(seed: u64) -> Module {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let types = types();
    // What is boxed stays inside.
    let has_box = |ty: &Type| ty.holds(&|ty| matches!(ty, Type::Boxed(_)));
    let outside: Vec<Type> = types.iter().filter(|ty| !has_box(ty)).cloned().collect();
    let signatures: Vec<(Vec<Type>, Type)> = (0..count)
        .map(|index| {
            let types = if index == 0 { &outside } else { &types };
            ((0..random.below(4)).map(|_| random.pick(types)).collect(), random.pick(types))
        })
        .collect();
    let ops: Vec<&'static OpDef> = exuvia_ops::all().filter(|def| is_usable(def)).collect();
    let functions = (0..count)
        .map(|index| {
            let (params, ret) = &signatures[index];
            let mut body = Making {
                builder: Builder::new(format!("f{index}"), params, ret.clone()),
                random: &mut random,
                scope: Vec::new(),
                handlers: Vec::new(),
                signatures: &signatures,
                index,
                ops: &ops,
                types: &types,
                budget: 40,
            };
            for at in 0..params.len() {
                body.scope.push(body.builder.param(at));
            }
            if body.statements(0) {
                body.give_back();
            }
            body.builder.function
        })
        .collect();
    Module { functions }
}

/// Arguments for function 0 of a module.
#[must_use]
pub fn arguments(module: &Module, seed: u64) -> Vec<Object> {
    let mut random = Random::new(seed ^ 0xa5a5);
    module.functions[0].param_types().iter().map(|ty| random.object(ty)).collect()
}

/// Whether operands can be made for an operation, and its results are small.
fn is_usable(def: &OpDef) -> bool {
    let core = match def.body {
        Body::Core(op) => Some(op),
        Body::Kernel { .. } => None,
    };
    // Undefined for wrong operands, or bailing out for most.
    let excluded = matches!(
        core,
        Some(
            CoreOp::ListGetUnchecked
                | CoreOp::DictFind
                | CoreOp::DictValue
                | CoreOp::Reject
                | CoreOp::IntFits
                | CoreOp::IntShl
        )
    ) || def.name.contains("repeat")
        // An address.
        || def.name == "list.identity"
        // A number that each call has for itself.
        || def.name == "memo.new"
        // Nobody changes a list that comes from what is pure.
        || (def.effect == Effect::Pure && (def.result)(&[]).holds_list())
        // Their operands are places in a text, and no other ints.
        || def.name.starts_with("place.")
        || def.name.contains("pow");
    !excluded && def.params.iter().all(|param| !matches!(param.kind, Kind::Exc))
}

/// The body of one function while it is made.
struct Making<'a> {
    builder: Builder,
    random: &'a mut Random,
    /// Values that dominate the current point.
    scope: Vec<Value>,
    /// Handlers around the current point, innermost last.
    handlers: Vec<exuvia_ir::BlockId>,
    signatures: &'a [(Vec<Type>, Type)],
    index: usize,
    ops: &'a [&'static OpDef],
    types: &'a [Type],
    budget: usize,
}

impl Making<'_> {
    fn ty(&self, value: Value) -> Type {
        self.builder.function.ty(value).clone()
    }

    /// A value of that type: from the scope or a new constant.
    fn value(&mut self, ty: &Type) -> Value {
        let known: Vec<Value> = self.scope.iter().copied().filter(|value| self.ty(*value) == *ty).collect();
        if !known.is_empty() && !self.random.one_in(4) {
            return self.random.pick(&known);
        }
        match ty {
            Type::Union(alternatives) => {
                let alternative = self.random.pick(alternatives);
                let value = self.value(&alternative);
                self.inst(Opcode::Wrap, vec![value], ty.clone(), None)
            }
            Type::Tuple(types) => {
                let items = types.iter().map(|ty| self.value(ty)).collect();
                self.inst(Opcode::Tuple, items, ty.clone(), None)
            }
            Type::Record(class, types) => {
                let fields = types.iter().map(|ty| self.value(ty)).collect();
                self.inst(Opcode::Record(*class), fields, ty.clone(), None)
            }
            Type::Boxed(_) => {
                let record = self.value(&node());
                self.inst(Opcode::Box, vec![record], ty.clone(), None)
            }
            // A constant list would be shared by all rows.
            Type::List(element) => {
                let items = (0..self.random.below(3)).map(|_| self.value(element)).collect();
                self.inst(Opcode::List, items, ty.clone(), None)
            }
            ty => {
                let object = self.random.constant(ty);
                self.inst(Opcode::Const(object), vec![], ty.clone(), None)
            }
        }
    }

    fn inst(&mut self, op: Opcode, args: Vec<Value>, ty: Type, unwind: Option<Edge>) -> Value {
        let value = self.builder.inst(op, args, ty, unwind);
        self.scope.push(value);
        value
    }

    /// An edge to the innermost handler, most times where there is one.
    fn unwind(&mut self) -> Option<Edge> {
        let block = *self.handlers.last()?;
        if self.random.one_in(8) {
            return None;
        }
        let wanted = self.builder.function.block(block).params[1..].to_vec();
        let args = wanted.into_iter().map(|param| self.value(&self.ty(param))).collect();
        Some(Edge { block, args })
    }

    /// Appends statements; false where control does not come out at the end.
    fn statements(&mut self, depth: usize) -> bool {
        for _ in 0..2 + self.random.below(6) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            let goes_on = match self.random.below(if depth < 3 { 14 } else { 8 }) {
                0..=4 => {
                    self.operation();
                    true
                }
                5 => {
                    self.shape();
                    true
                }
                6 => {
                    self.call();
                    true
                }
                7 => {
                    self.scanning();
                    true
                }
                8 | 9 => self.condition(depth),
                10 => self.union(depth),
                11 => self.counting(depth),
                12 => self.handled(depth),
                _ if depth > 0 => {
                    self.leave();
                    false
                }
                _ => true,
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn operation(&mut self) {
        let def = self.random.pick(self.ops);
        let mut element = None;
        let mut args = Vec::with_capacity(def.params.len());
        for param in def.params {
            let ty = match param.kind {
                Kind::Bool => Type::Bool,
                Kind::Int | Kind::Index => Type::Int,
                Kind::Float | Kind::Number => Type::Float,
                Kind::Str => Type::Str,
                Kind::None => Type::None,
                Kind::StrList => Type::list(Type::Str),
                Kind::IntList => Type::list(Type::Int),
                Kind::FloatList => Type::list(Type::Float),
                Kind::OrderedList | Kind::KeyList => {
                    let ty = self.random.pick(&[Type::Int, Type::Float, Type::Str]);
                    element.get_or_insert(ty.clone());
                    Type::list(ty)
                }
                Kind::Exc => Type::Exc,
                Kind::Pattern => {
                    const SOURCES: [&str; 4] = ["a", r"(\d+)|(é?b)", r"[^,\s]+", "x*"];
                    Type::Pattern(Arc::new(Pattern::new(self.random.pick(&SOURCES).into(), 0)))
                }
                Kind::List => {
                    // A second list is of the type of the first.
                    let ty = element.clone().unwrap_or_else(|| self.random.pick(&[Type::Int, Type::Str]));
                    element = Some(ty.clone());
                    Type::list(ty)
                }
                Kind::Any | Kind::Key => element.clone().unwrap_or(Type::Int),
            };
            // Lists that nobody else has keep the interesting ones from growing for ever.
            args.push(self.value(&ty));
        }
        let types: Vec<Type> = args.iter().map(|arg| self.ty(*arg)).collect();
        let result = (def.result)(&types);
        let unwind = self.unwind();
        self.inst(Opcode::Op(def.name), args, result, unwind);
    }

    /// Makes or takes apart a tuple or a union.
    fn shape(&mut self) {
        let has_fields = |ty: &Type| matches!(ty, Type::Tuple(_) | Type::Record(..) | Type::Boxed(_));
        let tuples: Vec<Value> = self.scope.iter().copied().filter(|value| has_fields(&self.ty(*value))).collect();
        if tuples.is_empty() || self.random.one_in(2) {
            let ty = self.random.pick(self.types);
            let value = self.value(&ty);
            let wider = ty.join(&Type::Exc);
            if self.random.one_in(3) {
                self.inst(Opcode::Wrap, vec![value], wider, None);
            }
            return;
        }
        let mut tuple = self.random.pick(&tuples);
        if matches!(self.ty(tuple), Type::Boxed(_)) {
            tuple = self.inst(Opcode::Unbox, vec![tuple], node(), None);
        }
        if let Type::Tuple(types) | Type::Record(_, types) = self.ty(tuple)
            && !types.is_empty()
        {
            let at = self.random.below(types.len());
            self.inst(Opcode::Field(at as u32), vec![tuple], types[at].clone(), None);
        }
    }

    fn call(&mut self) {
        // Only functions behind this one: no recursion.
        let first = self.index + 1;
        if first >= self.signatures.len() {
            return self.operation();
        }
        let callee = first + self.random.below(self.signatures.len() - first);
        let (params, ret) = &self.signatures[callee];
        let args = params.iter().map(|ty| self.value(ty)).collect();
        let unwind = self.unwind();
        self.inst(Opcode::Call(FuncId(callee as u32)), args, ret.clone(), unwind);
    }

    /// What an arm passes to the block where arms meet.
    fn pass(&mut self, to: exuvia_ir::BlockId, types: &[Type]) {
        let args = types.iter().map(|ty| self.value(ty)).collect();
        self.builder.jump(to, args);
    }

    fn pick_types(&mut self) -> Vec<Type> {
        (0..self.random.below(3)).map(|_| self.random.pick(self.types)).collect()
    }

    /// Goes on in a block with new parameters.
    fn enter(&mut self, block: exuvia_ir::BlockId, types: &[Type]) {
        self.builder.block = block;
        for ty in types {
            let param = self.builder.function.add_param(block, ty.clone());
            self.scope.push(param);
        }
    }

    fn arms(&mut self, depth: usize, blocks: [exuvia_ir::BlockId; 2]) -> bool {
        let types = self.pick_types();
        let join = self.builder.function.new_block();
        let mark = self.scope.len();
        let mut reached = false;
        for block in blocks {
            self.builder.block = block;
            if self.statements(depth + 1) {
                self.pass(join, &types);
                reached = true;
            }
            self.scope.truncate(mark);
        }
        if reached {
            self.enter(join, &types);
        } else {
            self.builder.function.block_mut(join).term = Terminator::Unreachable;
        }
        reached
    }

    fn condition(&mut self, depth: usize) -> bool {
        let cond = self.value(&Type::Bool);
        let (yes, no) = self.builder.branch(cond);
        self.arms(depth, [yes, no])
    }

    fn union(&mut self, depth: usize) -> bool {
        let unions: Vec<Type> = self.types.iter().filter(|ty| matches!(ty, Type::Union(_))).cloned().collect();
        let ty = self.random.pick(&unions);
        let value = self.value(&ty);
        let wanted = self.random.pick(ty.alternatives());
        let is = self.inst(Opcode::Is(wanted.clone()), vec![value], Type::Bool, None);
        let (yes, no) = self.builder.branch(is);
        let types = self.pick_types();
        let join = self.builder.function.new_block();
        let mark = self.scope.len();
        let mut reached = false;
        let rest = Type::union(ty.alternatives().iter().filter(|other| **other != wanted).cloned());
        for (block, ty) in [(yes, wanted), (no, rest)] {
            self.builder.block = block;
            self.inst(Opcode::Unwrap, vec![value], ty, None);
            if self.statements(depth + 1) {
                self.pass(join, &types);
                reached = true;
            }
            self.scope.truncate(mark);
        }
        if reached {
            self.enter(join, &types);
        } else {
            self.builder.function.block_mut(join).term = Terminator::Unreachable;
        }
        reached
    }

    /// `for i in range(n)`, with values that each round passes to the next.
    fn counting(&mut self, depth: usize) -> bool {
        let types = self.pick_types();
        let zero = self.inst(Opcode::Const(Object::int(0)), vec![], Type::Int, None);
        let one = self.inst(Opcode::Const(Object::int(1)), vec![], Type::Int, None);
        let mut table = None;
        let bound = match self.random.below(3) {
            0 => {
                let text = self.value(&Type::Str);
                self.inst(Opcode::Op("str.len"), vec![text], Type::Int, None)
            }
            _ => {
                let bound = self.random.below(5);
                // A table of which each round reads a row.
                if self.random.one_in(2) {
                    let ty = self.random.pick(&[Type::Int, Type::Str, Type::Float]);
                    let rows = Object::list((0..bound).map(|_| self.random.object(&ty)).collect());
                    table = Some((self.index_of(Opcode::Const(rows), vec![], Type::list(ty.clone()), None), ty));
                }
                self.inst(Opcode::Const(Object::int(bound as i64)), vec![], Type::Int, None)
            }
        };
        // A list to which each round appends, which the rounds may see or not.
        let filled = self.random.one_in(2).then(|| self.index_of(Opcode::List, vec![], Type::list(Type::Int), None));
        let seen = self.random.one_in(3);
        self.scope.extend(filled.filter(|_| seen));
        let mut first = vec![zero];
        first.extend(types.iter().map(|ty| self.value(ty)).collect::<Vec<_>>());
        let header = self.builder.function.new_block();
        self.builder.jump(header, first);
        let mark = self.scope.len();
        let mut all = vec![Type::Int];
        all.extend(types.clone());
        self.enter(header, &all);
        let counter = self.scope[mark];
        self.builder.effect(Opcode::Poll, vec![], None);
        let more = self.inst(Opcode::Op("int.lt"), vec![counter, bound], Type::Bool, None);
        let (body, after) = self.builder.branch(more);
        let in_header = self.scope.len();
        self.builder.block = body;
        if let Some((table, ty)) = table {
            self.inst(Opcode::Op("list.get_unchecked"), vec![table, counter], ty, None);
        }
        if self.statements(depth + 1) {
            if let Some(list) = filled {
                let item = self.value(&Type::Int);
                self.builder.effect(Opcode::Op("list.append"), vec![list, item], None);
            }
            let next = self.inst(Opcode::Op("int.add"), vec![counter, one], Type::Int, None);
            let mut args = vec![next];
            args.extend(types.iter().map(|ty| self.value(ty)).collect::<Vec<_>>());
            self.builder.jump(header, args);
        }
        self.scope.truncate(in_header);
        self.builder.block = after;
        if let Some(list) = filled.filter(|_| self.random.one_in(2)) {
            self.append_numbers(list, [zero, one, bound]);
        }
        self.scope.extend(filled.filter(|_| !seen));
        true
    }

    /// A loop that appends the numbers below a bound to a list.
    fn append_numbers(&mut self, list: Value, [zero, one, bound]: [Value; 3]) {
        let header = self.builder.function.new_block();
        self.builder.jump(header, vec![zero]);
        self.builder.block = header;
        let at = self.builder.function.add_param(header, Type::Int);
        let more = self.index_of(Opcode::Op("int.lt"), vec![at, bound], Type::Bool, None);
        let (body, after) = self.builder.branch(more);
        self.builder.block = body;
        self.builder.effect(Opcode::Op("list.append"), vec![list, at], None);
        self.builder.effect(Opcode::Poll, vec![], None);
        let next = self.index(Opcode::Op("int.add"), vec![at, one]);
        self.builder.jump(header, vec![next]);
        self.builder.block = after;
    }

    /// Looks for something in a text and takes parts of it by where that is, at times in a loop. Few of
    /// the indices are seen by anything else.
    fn scanning(&mut self) {
        let text = self.value(&Type::Str);
        let zero = self.index(Opcode::Const(Object::int(0)), vec![]);
        let mut indices = vec![zero];
        self.scan(text, &mut indices);
        self.scan(text, &mut indices);
        if self.random.one_in(2) {
            let first = self.random.pick(&indices);
            let header = self.builder.function.new_block();
            self.builder.jump(header, vec![first]);
            self.builder.block = header;
            let at = self.builder.function.add_param(header, Type::Int);
            self.builder.effect(Opcode::Poll, vec![], None);
            let bound = if self.random.one_in(2) {
                self.index(Opcode::Op("str.len"), vec![text])
            } else {
                self.random.pick(&indices)
            };
            let more = self.index_of(Opcode::Op("int.lt"), vec![at, bound], Type::Bool, None);
            indices.push(at);
            let (body, after) = self.builder.branch(more);
            self.builder.block = body;
            let (mark, outside) = (self.scope.len(), indices.len());
            self.scan(text, &mut indices);
            self.scan(text, &mut indices);
            let by = Object::int(1 + self.random.below(3) as i64);
            let by = self.index(Opcode::Const(by), vec![]);
            let next = self.index(Opcode::Op("int.add"), vec![at, by]);
            self.builder.jump(header, vec![next]);
            self.scope.truncate(mark);
            indices.truncate(outside);
            self.builder.block = after;
        }
        self.scan(text, &mut indices);
        if self.random.one_in(4) {
            let seen = self.random.pick(&indices);
            self.scope.push(seen);
        }
    }

    /// Some operations on a text and indices into it.
    fn scan(&mut self, text: Value, indices: &mut Vec<Value>) {
        const SOUGHT: [&str; 6] = ["a", ",", "é", "", " b", "aa"];
        let found = ["str.find", "str.rfind", "str.index", "str.rindex"];
        let asked = ["str.startswith", "str.endswith"];
        for _ in 0..1 + self.random.below(3) {
            let name = match self.random.below(8) {
                0 | 1 => self.random.pick(&found),
                2 => self.random.pick(&asked),
                3 => self.random.pick(&["int.add", "int.sub"]),
                4 => self.random.pick(&["int.lt", "int.eq", "int.ge"]),
                5 => "str.get",
                6 => "str.len",
                _ => "str.slice",
            };
            let mut args = if name.starts_with("str.") { vec![text] } else { vec![self.random.pick(indices)] };
            if found.contains(&name) || asked.contains(&name) {
                let sought = self.random.pick(&SOUGHT);
                args.push(self.index_of(Opcode::Const(Object::str(sought)), vec![], Type::Str, None));
            }
            let bounds = if args.len() == 2 || name == "str.slice" { 2 } else { usize::from(name != "str.len") };
            for bound in 0..bounds {
                let constant = match self.random.below(4) {
                    0 if bounds == 2 && bound == 0 => 0,
                    0 | 1 if bounds == 2 => i64::MAX,
                    2 => self.random.below(5) as i64 - 2,
                    _ if name.ends_with("add") || name.ends_with("sub") => 1 + self.random.below(3) as i64,
                    _ => {
                        args.push(self.random.pick(indices));
                        continue;
                    }
                };
                args.push(self.index(Opcode::Const(Object::int(constant)), vec![]));
            }
            let ty = match name {
                "str.get" | "str.slice" => Type::Str,
                "int.lt" | "int.eq" | "int.ge" | "str.startswith" | "str.endswith" => Type::Bool,
                _ => Type::Int,
            };
            let unwind = if name == "str.get" || name.ends_with("index") { self.unwind() } else { None };
            let result = self.index_of(Opcode::Op(name), args, ty.clone(), unwind);
            if ty == Type::Int { indices.push(result) } else { self.scope.push(result) }
        }
    }

    /// An index that nothing else sees.
    fn index(&mut self, op: Opcode, args: Vec<Value>) -> Value {
        self.index_of(op, args, Type::Int, None)
    }

    fn index_of(&mut self, op: Opcode, args: Vec<Value>, ty: Type, unwind: Option<Edge>) -> Value {
        self.builder.inst(op, args, ty, unwind)
    }

    /// `try: … except: …`
    fn handled(&mut self, depth: usize) -> bool {
        let passed = self.pick_types();
        let types = self.pick_types();
        let handler = self.builder.function.new_block();
        let join = self.builder.function.new_block();
        let mark = self.scope.len();
        let exc = self.builder.function.add_param(handler, Type::Exc);
        for ty in &passed {
            self.builder.function.add_param(handler, ty.clone());
        }
        self.handlers.push(handler);
        let mut reached = self.statements(depth + 1);
        self.handlers.pop();
        if reached {
            self.pass(join, &types);
        }
        self.scope.truncate(mark);
        self.builder.block = handler;
        self.scope.extend(self.builder.function.block(handler).params.clone());
        let kinds = self.random.pick(&[vec![ExcKind::ArithmeticError], vec![ExcKind::ValueError, ExcKind::KeyError]]);
        let is = self.inst(Opcode::ExcIs(kinds), vec![exc], Type::Bool, None);
        let (yes, no) = self.builder.branch(is);
        self.builder.block = no;
        self.builder.end(Terminator::Reraise(exc, exuvia_ir::Span::default()));
        self.builder.block = yes;
        if self.statements(depth + 1) {
            self.pass(join, &types);
            reached = true;
        }
        self.scope.truncate(mark);
        if reached {
            self.enter(join, &types);
        } else {
            self.builder.function.block_mut(join).term = Terminator::Unreachable;
        }
        reached
    }

    /// Returns, or raises: to the handler where there is one.
    fn leave(&mut self) {
        if !self.random.one_in(3) {
            return self.give_back();
        }
        let kind = self.random.pick(&[ExcKind::ValueError, ExcKind::ZeroDivisionError, ExcKind::KeyError]);
        let argument = self.value(&Type::Str);
        match self.handlers.last().copied() {
            Some(handler) => {
                let exc = self.inst(Opcode::NewExc(kind), vec![argument], Type::Exc, None);
                let wanted = self.builder.function.block(handler).params[1..].to_vec();
                let mut args = vec![exc];
                args.extend(wanted.into_iter().map(|param| self.value(&self.ty(param))).collect::<Vec<_>>());
                self.builder.jump(handler, args);
            }
            None => self.builder.raise(kind, vec![argument]),
        }
    }

    fn give_back(&mut self) {
        let ret = self.builder.function.ret.clone();
        let value = self.value(&ret);
        self.builder.end(Terminator::Return(value));
    }
}

/// Whether two outcomes are the same for Python: exceptions with class and arguments.
/// Where the first is a bailout the second may be anything, as a more general rung would
/// have decided.
#[must_use]
pub fn agrees(before: &Result<Object, crate::Failure>, after: &Result<Object, crate::Failure>) -> bool {
    match (before, after) {
        (Ok(a), Ok(b)) => a == b,
        (Err(a), _) if matches!(a.raise, exuvia_ir::Raise::Bailout(_)) => true,
        (Err(a), Err(b)) => a.raise == b.raise,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}
