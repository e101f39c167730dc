//! What is printed is read back as it was: random functions, well formed in syntax only.

use exuvia_ir::{
    BlockId, Class, DictObj, Edge, ExcKind, ExcObj, FuncId, Function, Inst, Int, Module, Object, Opcode, SetObj, Span,
    Terminator, Type, Value, parse_module,
};
use std::sync::Arc;

const NAMES: [&str; 5] = ["int.add", "str.find", "abs", "list.get_unchecked", "is"];

/// Marsaglia's xorshift: a seed always gives the same functions.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn many<T>(&mut self, most: usize, mut item: impl FnMut(&mut Random) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| item(self)).collect()
    }

    fn ty(&mut self, depth: usize) -> Type {
        let scalars =
            [Type::Never, Type::Unbound, Type::None, Type::Bool, Type::Int, Type::Float, Type::Str, Type::Exc];
        match self.below(if depth == 0 { 1 } else { 7 }) {
            0 => self.pick(&scalars),
            1 => Type::Tuple(self.many(3, |random| random.ty(depth - 1)).into()),
            2 => Type::list(self.ty(depth - 1)),
            3 => Type::Dict(Arc::new(self.ty(depth - 1)), Arc::new(self.ty(depth - 1))),
            4 => Type::Set(Arc::new(self.ty(depth - 1))),
            5 => Type::Boxed(Class::Object(self.below(3) as u32)),
            _ => Type::union(self.many(4, |random| random.ty(depth - 1))),
        }
    }

    fn key(&mut self) -> Object {
        let texts = ["", "a b", "\"\\", "\n\t\r\0\u{7f}", "é", "\u{301}\u{200b}", "𝔘# {} @1..2", "\u{2028}"];
        match self.below(4) {
            0 => Object::str(self.pick(&texts)),
            1 => Object::int(self.pick(&[0, -1, 42, i64::MIN, i64::MAX])),
            2 => Object::Int(Int::from_big("-123456789012345678901234567890".parse().expect("a number"))),
            _ => Object::None,
        }
    }

    fn object(&mut self, depth: usize) -> Object {
        let floats = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            1e300,
            5e-324,
            1e16,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::from_bits(0xfff8_0000_0000_0001),
        ];
        match self.below(if depth == 0 { 4 } else { 9 }) {
            0 => self.key(),
            1 => Object::Float(self.pick(&floats)),
            2 => Object::Bool(self.below(2) == 0),
            3 => Object::Unbound,
            4 => Object::tuple(self.many(3, |random| random.object(depth - 1))),
            5 => Object::list(self.many(3, |random| random.object(depth - 1))),
            6 => {
                let mut dict = DictObj::default();
                for (key, value) in self.many(3, |random| (random.key(), random.object(depth - 1))) {
                    assert!(dict.insert(key, value));
                }
                Object::Dict(Arc::new(dict))
            }
            7 => {
                let mut set = SetObj::without_order(DictObj::default(), self.below(2) == 0);
                for key in self.many(3, Random::key) {
                    assert!(set.members.insert(key, Object::None));
                }
                Object::Set(Arc::new(set))
            }
            _ => {
                let args = self.many(2, |random| random.object(depth - 1));
                Object::Exc(Arc::new(ExcObj { kind: self.pick(ExcKind::ALL), args, span: Span::default() }))
            }
        }
    }

    fn values(&mut self, defined: &[Value]) -> Vec<Value> {
        if defined.is_empty() { vec![] } else { self.many(3, |random| random.pick(defined)) }
    }

    fn edge(&mut self, defined: &[Value], blocks: usize) -> Edge {
        Edge { block: BlockId(self.below(blocks) as u32), args: self.values(defined) }
    }

    fn span(&mut self) -> Span {
        if self.below(2) == 0 { Span::default() } else { Span { start: self.below(99) as u32, end: 99 } }
    }

    fn opcode(&mut self) -> Opcode {
        match self.below(15) {
            0 => Opcode::Const(self.object(2)),
            1 | 2 => Opcode::Op(self.pick(&NAMES)),
            3 => Opcode::Call(FuncId(self.below(2) as u32)),
            4 => Opcode::Wrap,
            5 => Opcode::Is(self.ty(2)),
            6 => Opcode::Unwrap,
            7 => Opcode::Tuple,
            8 => Opcode::Field(self.below(3) as u32),
            9 => Opcode::List,
            10 => Opcode::NewExc(self.pick(ExcKind::ALL)),
            11 => Opcode::Message(self.pick(&NAMES)),
            12 => Opcode::Box,
            13 => Opcode::Unbox,
            _ => Opcode::ExcIs(self.many(3, |random| random.pick(ExcKind::ALL))),
        }
    }

    fn function(&mut self) -> Function {
        let mut function = Function::new(self.pick(&["f", "a \"name\""]), self.ty(2));
        let blocks = 1 + self.below(5);
        while function.blocks.len() < blocks {
            function.new_block();
        }
        let mut defined = Vec::new();
        for id in (0..blocks as u32).map(BlockId) {
            for ty in self.many(3, |random| random.ty(2)) {
                defined.push(function.add_param(id, ty));
            }
            for _ in 0..self.below(6) {
                let args = self.values(&defined);
                let result = (self.below(4) > 0).then(|| function.new_value(self.ty(2)));
                let unwind = (self.below(4) == 0).then(|| self.edge(&defined, blocks));
                let (op, no_overflow) = (self.opcode(), self.below(4) == 0);
                function.block_mut(id).insts.push(Inst { op, args, result, unwind, no_overflow, span: self.span() });
                defined.extend(result);
            }
            if defined.is_empty() {
                defined.push(function.add_param(id, Type::Int));
            }
            function.block_mut(id).term = match self.below(7) {
                0 => Terminator::Jump(self.edge(&defined, blocks)),
                1 => Terminator::Branch(self.pick(&defined), self.edge(&defined, blocks), self.edge(&defined, blocks)),
                2 => Terminator::Return(self.pick(&defined)),
                3 => Terminator::Raise(self.pick(ExcKind::ALL), self.values(&defined), self.span()),
                4 => Terminator::Reraise(self.pick(&defined), self.span()),
                5 => Terminator::Bailout("a \"reason\"", self.span()),
                _ => Terminator::Unreachable,
            };
        }
        function
    }
}

fn op(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

#[test]
fn random_modules() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2000 {
        let module = Module { functions: vec![random.function(), random.function()] };
        let text = format!("{module:#}");
        match parse_module(&text, &op) {
            Ok(read) => assert_eq!(read, module, "{text}"),
            Err(error) => panic!("{error}\n{text}"),
        }
        assert_eq!(parse_module(&module.to_string(), &op).expect("parses").to_string(), module.to_string());
    }
}

#[test]
fn errors_name_the_line() {
    let error = |text: &str| parse_module(text, &op).expect_err("does not parse").to_string();
    assert_eq!(error("fn f0 \"f\"() -> int {\nb0:\n  v0: int = nothing\n}"), "line 3: no operation 'nothing'");
    assert_eq!(error("fn f0 \"f\"() -> int {\nb0:"), "line 2: the function is not closed");
    assert_eq!(error("fn f0 \"f\"() -> number {"), "line 1: no type 'number'");
    assert_eq!(error("fn f0 \"f\"(v0: int) -> int {\nb0:\n  v0: int = abs\n}"), "line 3: v0 is defined twice");
}
