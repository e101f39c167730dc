//! Reading the text form back; [`crate::print`](crate) describes it.
//!
//! Blocks and values may be numbered with gaps and blocks may stand in any order, so
//! that tests are easy to write: a missing block becomes one that is never reached, a
//! missing value a table entry of type `never`. Text after `#` is a comment. Nothing is
//! verified here.

use crate::{
    BlockData, BlockId, Class, DictObj, Edge, ExcKind, ExcObj, FuncId, Function, Inst, Int, Module, Object, Opcode,
    Pattern, RecordObj, SetObj, Span, Terminator, Type, Value, ValueData,
};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Why a text is not a module.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

type Parsed<T> = Result<T, String>;

/// Finds the static name of an operation.
type OpNames<'a> = &'a dyn Fn(&str) -> Option<&'static str>;

/// Parses a module; `op` finds the static name of an operation.
///
/// # Errors
/// The first line that does not parse.
pub fn parse_module(text: &str, op: &dyn Fn(&str) -> Option<&'static str>) -> Result<Module, ParseError> {
    let mut module = Module::default();
    let mut open: Option<Open> = None;
    let mut last = 1;
    for (index, line) in text.lines().enumerate() {
        last = index + 1;
        let mut cursor = Cursor { rest: line, op };
        cursor.space();
        if cursor.rest.is_empty() {
            continue;
        }
        cursor.line(&mut module, &mut open).map_err(|message| ParseError { line: last, message })?;
    }
    match open {
        Some(_) => Err(ParseError { line: last, message: "the function is not closed".to_string() }),
        None => Ok(module),
    }
}

/// A function whose closing brace was not met yet.
struct Open {
    function: Function,
    defined: Vec<bool>,
    block: Option<BlockId>,
}

impl Open {
    fn define(&mut self, value: Value, ty: Type) -> Parsed<Value> {
        let index = value.index();
        if index > 1 << 20 {
            return Err(format!("{value} is too large a number"));
        }
        if self.function.values.len() <= index {
            self.function.values.resize(index + 1, ValueData { ty: Type::Never });
            self.defined.resize(index + 1, false);
        }
        if std::mem::replace(&mut self.defined[index], true) {
            return Err(format!("{value} is defined twice"));
        }
        self.function.values[index].ty = ty;
        Ok(value)
    }

    fn block(&mut self) -> Parsed<&mut BlockData> {
        let id = self.block.ok_or("an instruction before the first block")?;
        match self.function.block(id).term {
            Terminator::Open => Ok(self.function.block_mut(id)),
            _ => Err("an instruction after the end of the block".to_string()),
        }
    }

    fn finish(self) -> Function {
        let mut function = self.function;
        for block in function.blocks.iter_mut().filter(|block| block.term == Terminator::Open) {
            block.term = Terminator::Unreachable;
        }
        function
    }
}

/// What is left of a line.
struct Cursor<'a> {
    rest: &'a str,
    op: OpNames<'a>,
}

impl<'a> Cursor<'a> {
    fn line(&mut self, module: &mut Module, open: &mut Option<Open>) -> Parsed<()> {
        let Some(current) = open else {
            self.keyword("fn")?;
            let id: FuncId = FuncId(self.entity('f')?);
            if id.index() != module.functions.len() {
                return Err(format!("functions are numbered in order: {id} is number {}", module.functions.len()));
            }
            *open = Some(self.head()?);
            return self.end();
        };
        if self.eat("}") {
            self.end()?;
            module.functions.extend(open.take().map(Open::finish));
            return Ok(());
        }
        match self.entity_name() {
            Some('b') => self.label(current),
            Some('v') => {
                let value = Value(self.entity('v')?);
                self.expect(":")?;
                let ty = self.ty()?;
                self.expect("=")?;
                let result = current.define(value, ty)?;
                let word = self.word();
                let inst = self.inst(word, Some(result))?;
                current.block()?.insts.push(inst);
                Ok(())
            }
            _ => {
                let word = self.word();
                match self.term(word)? {
                    Some(term) => current.block()?.term = term,
                    None => {
                        let inst = self.inst(word, None)?;
                        current.block()?.insts.push(inst);
                    }
                }
                Ok(())
            }
        }?;
        self.end()
    }

    fn head(&mut self) -> Parsed<Open> {
        let name = self.string()?;
        let mut open = Open { function: Function::new(name, Type::Never), defined: vec![], block: None };
        let params = self.params(&mut open)?;
        open.function.blocks[0].params = params;
        self.expect("->")?;
        open.function.ret = self.ty()?;
        if self.eat("frames") {
            open.function.frames = self.number()?;
        }
        if self.eat("keeps") {
            self.expect("(")?;
            let keys = self.list(")", |cursor| Ok(Value(cursor.entity('v')?)))?;
            let params = &open.function.blocks[0].params;
            match keys.iter().find(|key| !params.contains(key)) {
                Some(key) => return Err(format!("{key} is no parameter")),
                None => open.function.keeps = Some(params.iter().map(|param| keys.contains(param)).collect()),
            }
        }
        self.expect("{")?;
        Ok(open)
    }

    fn params(&mut self, open: &mut Open) -> Parsed<Vec<Value>> {
        self.expect("(")?;
        self.list(")", |cursor| {
            let value = Value(cursor.entity('v')?);
            cursor.expect(":")?;
            let ty = cursor.ty()?;
            open.define(value, ty)
        })
    }

    fn label(&mut self, open: &mut Open) -> Parsed<()> {
        let id = BlockId(self.entity('b')?);
        if id.index() > 1 << 20 {
            return Err(format!("{id} is too large a number"));
        }
        while open.function.blocks.len() <= id.index() {
            open.function.new_block();
        }
        if open.function.block(id).term != Terminator::Open || !open.function.block(id).insts.is_empty() {
            return Err(format!("{id} stands twice"));
        }
        if id != open.function.entry() && self.peek("(") {
            let params = self.params(open)?;
            open.function.block_mut(id).params = params;
        }
        self.expect(":")?;
        open.block = Some(id);
        Ok(())
    }

    fn inst(&mut self, word: &str, result: Option<Value>) -> Parsed<Inst> {
        let op = match word {
            "const" => Opcode::Const(self.object()?),
            "op" => {
                let name = self.word();
                self.operation(name)?
            }
            "call" => Opcode::Call(FuncId(self.entity('f')?)),
            "wrap" => Opcode::Wrap,
            "is" => Opcode::Is(self.ty()?),
            "unwrap" => Opcode::Unwrap,
            "tuple" => Opcode::Tuple,
            "record" => Opcode::Record(self.class()?),
            "field" => Opcode::Field(self.number()?),
            "box" => Opcode::Box,
            "unbox" => Opcode::Unbox,
            "list" => Opcode::List,
            "new_exc" => Opcode::NewExc(self.exc_kind()?),
            "exc_is" => {
                self.expect("[")?;
                Opcode::ExcIs(self.list("]", Cursor::exc_kind)?)
            }
            "message" => {
                let name = self.word();
                (self.op)(name).map(Opcode::Message).ok_or_else(|| format!("no operation '{name}'"))?
            }
            "poll" => Opcode::Poll,
            name => self.operation(name)?,
        };
        let args = self.values()?;
        let no_overflow = self.eat_word("fits");
        let unwind = if self.eat_word("unwind") { Some(self.edge()?) } else { None };
        let span = self.span()?;
        Ok(Inst { op, args, result, unwind, no_overflow, span })
    }

    fn operation(&self, name: &str) -> Parsed<Opcode> {
        (self.op)(name).map(Opcode::Op).ok_or_else(|| format!("no operation '{name}'"))
    }

    fn term(&mut self, word: &str) -> Parsed<Option<Terminator>> {
        Ok(Some(match word {
            "open" => Terminator::Open,
            "jump" => Terminator::Jump(self.edge()?),
            "branch" => Terminator::Branch(Value(self.entity('v')?), self.edge()?, self.edge()?),
            "return" => Terminator::Return(Value(self.entity('v')?)),
            "raise" => Terminator::Raise(self.exc_kind()?, self.values()?, self.span()?),
            "reraise" => Terminator::Reraise(Value(self.entity('v')?), self.span()?),
            "bailout" => Terminator::Bailout(interned(&self.string()?), self.span()?),
            "unreachable" => Terminator::Unreachable,
            _ => return Ok(None),
        }))
    }

    fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut values = Vec::new();
        while self.entity_name() == Some('v') {
            values.push(Value(self.entity('v')?));
        }
        Ok(values)
    }

    fn edge(&mut self) -> Parsed<Edge> {
        let block = BlockId(self.entity('b')?);
        let args = if self.eat("(") { self.list(")", |cursor| Ok(Value(cursor.entity('v')?)))? } else { Vec::new() };
        Ok(Edge { block, args })
    }

    fn span(&mut self) -> Parsed<Span> {
        if !self.eat("@") {
            return Ok(Span::default());
        }
        let start = self.number()?;
        self.expect("..")?;
        Ok(Span { start, end: self.number()? })
    }

    fn exc_kind(&mut self) -> Parsed<ExcKind> {
        let name = self.word();
        ExcKind::from_name(name).ok_or_else(|| format!("no exception '{name}'"))
    }

    fn class(&mut self) -> Parsed<Class> {
        let name = self.word();
        Class::from_name(name).ok_or_else(|| format!("no class '{name}'"))
    }

    fn pattern(&mut self) -> Parsed<Arc<Pattern>> {
        Ok(Arc::new(Pattern::new(self.string()?.into(), self.number()?)))
    }

    fn ty(&mut self) -> Parsed<Type> {
        let name = self.word();
        match name {
            "pattern" => return self.pattern().map(Type::Pattern),
            "boxed" => return self.class().map(Type::Boxed),
            "record" => {
                let class = self.class()?;
                self.expect("[")?;
                return Ok(Type::Record(class, self.list("]", Cursor::ty)?.into()));
            }
            _ => {}
        }
        let mut args = if self.eat("[") { self.list("]", Cursor::ty)? } else { Vec::new() };
        let count = args.len();
        let mut boxed = || Arc::new(args.remove(0));
        Ok(match name {
            "never" => Type::Never,
            "unbound" => Type::Unbound,
            "none" => Type::None,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "float" => Type::Float,
            "str" => Type::Str,
            "exc" => Type::Exc,
            "tuple" => Type::Tuple(args.into()),
            "union" => Type::union(args),
            "list" | "set" | "dict" => match (name, count) {
                ("list", 1) => Type::List(boxed()),
                ("set", 1) => Type::Set(boxed()),
                ("dict", 2) => Type::Dict(boxed(), boxed()),
                _ => return Err(format!("'{name}' with {count} arguments")),
            },
            _ => return Err(format!("no type '{name}'")),
        })
    }

    fn object(&mut self) -> Parsed<Object> {
        self.space();
        if self.peek("\"") {
            return Ok(Object::str(&self.string()?));
        }
        if self.eat("(") {
            return Ok(Object::tuple(self.list(")", Cursor::object)?));
        }
        if self.eat("[") {
            return Ok(Object::list(self.list("]", Cursor::object)?));
        }
        if self.eat("{") {
            let mut dict = DictObj::default();
            self.list("}", |cursor| {
                let key = cursor.object()?;
                cursor.expect(":")?;
                let value = cursor.object()?;
                if dict.insert(key, value) { Ok(()) } else { Err("a key that is not hashable".to_string()) }
            })?;
            return Ok(Object::Dict(Arc::new(dict)));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return self.number_object();
        }
        match self.word() {
            "none" => Ok(Object::None),
            "true" => Ok(Object::Bool(true)),
            "false" => Ok(Object::Bool(false)),
            "inf" => Ok(Object::Float(f64::INFINITY)),
            "nan" if self.eat(":") => {
                let bits = u64::from_str_radix(self.word(), 16).map_err(|error| error.to_string())?;
                Ok(Object::Float(f64::from_bits(bits)))
            }
            "nan" => Ok(Object::Float(f64::from_bits(0x7ff8_0000_0000_0000))),
            "unbound" => Ok(Object::Unbound),
            word @ ("set" | "frozenset") => {
                self.expect("{")?;
                let mut set = SetObj::without_order(DictObj::default(), word == "frozenset");
                for member in self.list("}", Cursor::object)? {
                    if !set.members.insert(member, Object::None) {
                        return Err("a member that is not hashable".to_string());
                    }
                }
                Ok(Object::Set(Arc::new(set)))
            }
            "pattern" => self.pattern().map(Object::Pattern),
            "record" => {
                let class = self.class()?;
                self.expect("(")?;
                Ok(Object::Record(Arc::new(RecordObj { class, fields: self.list(")", Cursor::object)? })))
            }
            "exc" => {
                let kind = self.exc_kind()?;
                self.expect("(")?;
                Ok(Object::Exc(Arc::new(ExcObj { kind, args: self.list(")", Cursor::object)?, span: Span::default() })))
            }
            word => Err(format!("no constant '{word}'")),
        }
    }

    fn number_object(&mut self) -> Parsed<Object> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-')))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        if text.contains(['.', 'e', 'i']) {
            return text.parse().map(Object::Float).map_err(|_| format!("no number '{text}'"));
        }
        match text.parse::<num_bigint::BigInt>() {
            Ok(value) => Ok(Object::Int(Int::from_big(value))),
            Err(_) => Err(format!("no number '{text}'")),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        self.expect("\"")?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match chars.next().map(|next| next.1) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('u') => {
                        let hex: String = chars.by_ref().map(|next| next.1).take_while(|c| *c != '}').skip(1).collect();
                        let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                        text.push(code.ok_or_else(|| format!("no character '{hex}'"))?);
                    }
                    Some(c @ ('"' | '\\')) => text.push(c),
                    _ => return Err("an unknown escape".to_string()),
                },
                c => text.push(c),
            }
        }
        Err("the string is not closed".to_string())
    }

    /// Items between commas up to `close`, which may follow a comma.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Cursor<'a>) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        loop {
            if self.eat(close) {
                return Ok(items);
            }
            items.push(item(self)?);
            if !self.eat(",") && !self.peek(close) {
                return Err(format!("expected ',' or '{close}' at '{}'", self.rest));
            }
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('#') {
            self.rest = "";
        }
    }

    fn end(&mut self) -> Parsed<()> {
        self.space();
        if self.rest.is_empty() { Ok(()) } else { Err(format!("'{}' is left over", self.rest)) }
    }

    fn peek(&mut self, text: &str) -> bool {
        self.space();
        self.rest.starts_with(text)
    }

    fn eat(&mut self, text: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(format!("expected '{text}' at '{}'", self.rest)) }
    }

    /// A name with dots, such as an operation's.
    fn word(&mut self) -> &'a str {
        self.space();
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let before = self.rest;
        if self.word() == word {
            return true;
        }
        self.rest = before;
        false
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(format!("expected '{word}' at '{}'", self.rest)) }
    }

    /// The letter of the entity that comes next, such as the `v` of `v12`.
    fn entity_name(&mut self) -> Option<char> {
        self.space();
        let mut chars = self.rest.chars();
        let letter = chars.next()?;
        let digits = chars.as_str().trim_start_matches(|c: char| c.is_ascii_digit());
        let ends = !digits.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
        (digits.len() < chars.as_str().len() && ends).then_some(letter)
    }

    fn entity(&mut self, letter: char) -> Parsed<u32> {
        if self.entity_name() != Some(letter) {
            return Err(format!("expected '{letter}' and a number at '{}'", self.rest));
        }
        self.rest = &self.rest[letter.len_utf8()..];
        self.number()
    }

    fn number(&mut self) -> Parsed<u32> {
        self.space();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().map_err(|_| format!("expected a number at '{digits}{rest}'"))
    }
}

/// A static copy of a bailout's reason. Each distinct text is kept once, for ever: they are those of the
/// prelude, and of what tests and tools parse.
#[must_use]
pub fn interned(text: &str) -> &'static str {
    static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(found) = known.get(text) {
        return found;
    }
    let kept: &'static str = Box::leak(text.to_string().into_boxed_str());
    known.insert(kept);
    kept
}
