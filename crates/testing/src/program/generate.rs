//! Writes a random program: typed, ending, and of bounded size.
//!
//! Every loop runs over a small range or a short slice, and what is assigned within one
//! is cut (ints by a remainder, strings and lists by a slice), so that no program runs
//! for long or needs much memory, whatever its inputs.

use super::rules::{hole, literals, templates};
use super::{Clause, Expr, Part, Program, Stmt, Ty};
use crate::corpus;
use crate::random::Random;
use crate::signature::{Signature, SqlType};

/// How many rows a program is called on.
const ROWS: usize = 48;

/// The program of a seed.
#[must_use]
pub fn generate(seed: u64) -> Program {
    let mut writer = Writer { random: Random::new(seed), scope: vec![], functions: vec![], loops: 0, names: 0 };
    writer.program()
}

#[derive(Clone)]
struct Variable {
    name: String,
    ty: Ty,
    /// Loop variables and counters stay as they are.
    fixed: bool,
}

/// A function that expressions may call, as a template.
struct Callable {
    template: String,
    ty: Ty,
}

struct Writer {
    random: Random,
    /// What is bound at this place.
    scope: Vec<Variable>,
    functions: Vec<Callable>,
    /// How many loops surround this place.
    loops: usize,
    names: usize,
}

/// Where statements are written.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    returns: Ty,
}

impl Writer {
    fn program(&mut self) -> Program {
        let mut module = vec![];
        for _ in 0..[0, 0, 1, 2][self.random.below(4)] {
            module.push(self.helper());
        }
        let types = [SqlType::BigInt, SqlType::Text, SqlType::Double, SqlType::Boolean, SqlType::BigInt, SqlType::Text];
        let mut params = vec![];
        for index in 0..=self.random.below(3) {
            params.push((format!("p{index}"), *self.random.pick(&types)));
        }
        let returns = *self.random.pick(&types);
        self.scope = params
            .iter()
            .map(|(name, ty)| Variable { name: name.clone(), ty: python_type(*ty), fixed: false })
            .collect();
        let mut body = vec![];
        for (name, ty) in &params {
            // Without this most rows with a NULL would end at the first operation on it.
            if !self.random.one_in(4) {
                let test = format!("if {name} is None:");
                let value = self.literal(python_type(*ty));
                let set = if self.random.one_in(3) {
                    line("return @", vec![self.literal(python_type(returns))])
                } else {
                    line(&format!("{name} = @"), vec![value])
                };
                body.push(Stmt { clauses: vec![Clause { line: text(&test), body: Some(vec![set]) }] });
            }
        }
        let place = Place { depth: 3, returns: python_type(returns) };
        let length = 2 + self.random.below(5);
        body.extend(self.block(place, length));
        body.push(self.return_(place));
        let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
        module.push(Stmt {
            clauses: vec![Clause { line: text(&format!("def f({}):", names.join(", "))), body: Some(body) }],
        });
        let signature = Signature { name: "f".to_string(), params, returns };
        let rows = self.rows(&signature);
        Program { signature, module, rows }
    }

    fn rows(&mut self, signature: &Signature) -> Vec<Vec<crate::value::Value>> {
        let corpora: Vec<(String, String)> = signature
            .params
            .iter()
            .filter_map(|(name, ty)| {
                let corpora: &[&str] = match ty {
                    SqlType::BigInt => &["nasty", "small", "small"],
                    SqlType::Double => &["nasty", "small"],
                    SqlType::Text => &["nasty", "numbers", "spaces", "words", "short"],
                    SqlType::TinyInt
                    | SqlType::SmallInt
                    | SqlType::Int
                    | SqlType::Real
                    | SqlType::Boolean
                    | SqlType::Bytea
                    | SqlType::Date
                    | SqlType::Timestamp
                    | SqlType::Time
                    | SqlType::Decimal(..)
                    | SqlType::Array(_)
                    | SqlType::Map(_)
                    | SqlType::Struct(_) => {
                        return None;
                    }
                };
                Some((name.clone(), (*self.random.pick(corpora)).to_string()))
            })
            .collect();
        let mut rows = corpus::rows(signature, &corpora, "random").unwrap_or_default();
        self.random.shuffle(&mut rows);
        rows.truncate(ROWS);
        rows
    }

    /// A function of the module, that later code may call.
    fn helper(&mut self) -> Stmt {
        let name = self.fresh("h");
        let types = [Ty::Int, Ty::Str, Ty::Float, Ty::Bool, Ty::Any];
        let params: Vec<Variable> = (0..=self.random.below(2))
            .map(|index| Variable { name: format!("a{index}"), ty: *self.random.pick(&types), fixed: false })
            .collect();
        let returns = *self.random.pick(&types[..4]);
        let mut declared: Vec<String> = params.iter().map(|param| param.name.clone()).collect();
        let mut holes: Vec<String> = params.iter().map(|param| format!("@{}", letter(param.ty))).collect();
        if self.random.one_in(2) {
            let last = declared.len() - 1;
            declared[last] = format!("{}={}", declared[last], self.random.pick(literals(params[last].ty)));
            if self.random.one_in(2) {
                holes.pop();
            } else {
                holes[last] = format!("{}={}", params[last].name, holes[last]);
            }
        }
        let outer = std::mem::replace(&mut self.scope, params);
        let loops = std::mem::take(&mut self.loops);
        let place = Place { depth: 2, returns };
        let length = self.random.below(3);
        let mut body = self.block(place, length);
        body.push(self.return_(place));
        self.scope = outer;
        self.loops = loops;
        self.functions.push(Callable { template: format!("{name}({})", holes.join(", ")), ty: returns });
        Stmt {
            clauses: vec![Clause { line: text(&format!("def {name}({}):", declared.join(", "))), body: Some(body) }],
        }
    }

    /// Statements whose new variables are unknown behind them.
    fn nested(&mut self, place: Place, bound: &[Variable]) -> Vec<Stmt> {
        let (variables, functions) = (self.scope.len(), self.functions.len());
        self.scope.extend_from_slice(bound);
        let length = 1 + self.random.below(3);
        let block = self.block(Place { depth: place.depth - 1, ..place }, length);
        // One in a while such a variable is used where it may be unbound.
        if !self.random.one_in(12) {
            self.scope.truncate(variables);
        }
        self.functions.truncate(functions);
        block
    }

    fn block(&mut self, place: Place, length: usize) -> Vec<Stmt> {
        (0..length).map(|_| self.statement(place)).collect()
    }

    fn statement(&mut self, place: Place) -> Stmt {
        if place.depth == 0 {
            return self.assign();
        }
        match self.random.below(24) {
            0..=6 => self.assign(),
            7..=9 => self.augment(),
            10..=12 => self.if_(place),
            13 | 14 if self.loops < 2 => self.for_(place),
            15 if self.loops < 2 => self.while_(place),
            16 | 17 => self.try_(place),
            18 => self.append(),
            19 => self.unpack(),
            20 if self.loops > 0 => self.leave_loop(),
            21 => self.raise(place),
            22 => self.closure(),
            23 => {
                let condition = self.expr(Ty::Bool, 2);
                let value = self.return_(place);
                Stmt { clauses: vec![Clause { line: parts("if @:", vec![condition]), body: Some(vec![value]) }] }
            }
            _ => self.assign(),
        }
    }

    fn assign(&mut self) -> Stmt {
        let ty = *self.random.pick(&[Ty::Int, Ty::Int, Ty::Float, Ty::Bool, Ty::Str, Ty::Str, Ty::Ints, Ty::Strs]);
        let value = self.expr(ty, 3);
        let value = self.cut(value);
        let candidates: Vec<usize> = (0..self.scope.len())
            .filter(|index| {
                let variable = &self.scope[*index];
                !variable.fixed && (variable.ty == ty || variable.ty == Ty::Any)
            })
            .collect();
        let others: Vec<usize> = (0..self.scope.len()).filter(|index| !self.scope[*index].fixed).collect();
        let name = if !others.is_empty() && self.random.one_in(14) {
            // The variable takes another type; from here on it may have either.
            let index = *self.random.pick(&others);
            self.scope[index].ty = Ty::Any;
            self.scope[index].name.clone()
        } else if !candidates.is_empty() && !self.random.one_in(3) {
            self.scope[*self.random.pick(&candidates)].name.clone()
        } else {
            let name = self.fresh("v");
            self.scope.push(Variable { name: name.clone(), ty, fixed: false });
            name
        };
        line(&format!("{name} = @"), vec![value])
    }

    fn augment(&mut self) -> Stmt {
        let variables: Vec<Variable> = self.scope.iter().filter(|variable| !variable.fixed).cloned().collect();
        if variables.is_empty() {
            return self.assign();
        }
        let variable = self.random.pick(&variables).clone();
        let name = &variable.name;
        let operators: &[&str] = match variable.ty {
            Ty::Int => &["+=", "-=", "+=", "//=", "%=", "&=", "|=", "^="],
            Ty::Float => &["+=", "-=", "*=", "/=", "%="],
            Ty::Str => &["+="],
            Ty::Bool | Ty::Ints | Ty::Strs | Ty::Any => return self.assign(),
        };
        let operator = *self.random.pick(operators);
        let value = self.expr(variable.ty, 2);
        if variable.ty == Ty::Str && self.loops > 0 {
            return line(&format!("{name} = ({name} + @)[:40]"), vec![value]);
        }
        line(&format!("{name} {operator} @"), vec![value])
    }

    fn unpack(&mut self) -> Stmt {
        let (first, second) = (self.expr(Ty::Int, 2), self.expr(Ty::Str, 2));
        let (first, second) = (self.cut(first), self.cut(second));
        let names = (self.fresh("v"), self.fresh("v"));
        self.scope.push(Variable { name: names.0.clone(), ty: Ty::Int, fixed: false });
        self.scope.push(Variable { name: names.1.clone(), ty: Ty::Str, fixed: false });
        line(&format!("{}, {} = @, @", names.0, names.1), vec![first, second])
    }

    fn append(&mut self) -> Stmt {
        let lists: Vec<Variable> =
            self.scope.iter().filter(|variable| matches!(variable.ty, Ty::Ints | Ty::Strs)).cloned().collect();
        if lists.is_empty() {
            return self.assign();
        }
        let list = self.random.pick(&lists).clone();
        let element = if list.ty == Ty::Ints { Ty::Int } else { Ty::Str };
        let value = self.expr(element, 2);
        let value = self.cut(value);
        if self.random.one_in(4) {
            let index = self.expr(Ty::Int, 1);
            return line(&format!("{}[@] = @", list.name), vec![index, value]);
        }
        line(&format!("{}.append(@)", list.name), vec![value])
    }

    fn if_(&mut self, place: Place) -> Stmt {
        let condition_type = *self.random.pick(&[Ty::Bool, Ty::Bool, Ty::Bool, Ty::Int, Ty::Str]);
        let condition = self.expr(condition_type, 2);
        let body = self.nested(place, &[]);
        let mut clauses = vec![Clause { line: parts("if @:", vec![condition]), body: Some(body) }];
        if self.random.one_in(3) {
            let condition = self.expr(Ty::Bool, 2);
            let body = self.nested(place, &[]);
            clauses.push(Clause { line: parts("elif @:", vec![condition]), body: Some(body) });
        }
        if self.random.one_in(2) {
            let body = self.nested(place, &[]);
            clauses.push(Clause { line: text("else:"), body: Some(body) });
        }
        Stmt { clauses }
    }

    fn for_(&mut self, place: Place) -> Stmt {
        let name = self.fresh("i");
        let (header, ty) = *self.random.pick(&[
            ("in range(@i % 7):", Ty::Int),
            ("in range(@i % 5, 8, 2):", Ty::Int),
            ("in range(6, @i % 4, -1):", Ty::Int),
            ("in @s[:7]:", Ty::Str),
            ("in @I[:5]:", Ty::Int),
            ("in @S[:5]:", Ty::Str),
            ("in (2, 3, 5):", Ty::Int),
            ("in reversed(@s[:5]):", Ty::Str),
            ("enumerate(@s[:6]):", Ty::Str),
            ("zip(@I[:5]):", Ty::Str),
        ]);
        let mut bound = vec![Variable { name: name.clone(), ty, fixed: true }];
        let template = if header.starts_with("in ") {
            format!("for {name} {header}")
        } else {
            let index = self.fresh("i");
            bound.push(Variable { name: index.clone(), ty: Ty::Int, fixed: true });
            if header.starts_with("zip") {
                format!("for {index}, {name} in zip(@I[:5], @s[:5]):")
            } else {
                format!("for {index}, {name} in {header}")
            }
        };
        let line = self.fill(&template, 2);
        self.loops += 1;
        let body = self.nested(place, &bound);
        self.loops -= 1;
        let mut clauses = vec![Clause { line, body: Some(body) }];
        if self.random.one_in(6) {
            let body = self.nested(place, &[]);
            clauses.push(Clause { line: text("else:"), body: Some(body) });
        }
        Stmt { clauses }
    }

    /// A loop with a counter that nothing else changes. It stands under `if True:` so
    /// that the counter and the loop stay one statement.
    fn while_(&mut self, place: Place) -> Stmt {
        let counter = self.fresh("k");
        let start = self.fill(&format!("{counter} = @i % 9"), 2);
        let condition = self.fill(&format!("while {counter} > 0 and @b:"), 2);
        self.loops += 1;
        let bound = [Variable { name: counter.clone(), ty: Ty::Int, fixed: true }];
        let mut body = vec![line(&format!("{counter} -= 1"), vec![])];
        body.extend(self.nested(place, &bound));
        self.loops -= 1;
        let block = vec![
            Stmt { clauses: vec![Clause { line: start, body: None }] },
            Stmt { clauses: vec![Clause { line: condition, body: Some(body) }] },
        ];
        Stmt { clauses: vec![Clause { line: text("if True:"), body: Some(block) }] }
    }

    fn try_(&mut self, place: Place) -> Stmt {
        let body = self.nested(place, &[]);
        let mut clauses = vec![Clause { line: text("try:"), body: Some(body) }];
        let classes = [
            "ValueError",
            "(ValueError, TypeError)",
            "ZeroDivisionError",
            "IndexError",
            "ArithmeticError",
            "LookupError",
            "Exception",
            "(IndexError, ValueError, ZeroDivisionError, TypeError, OverflowError)",
        ];
        for _ in 0..=self.random.below(2) {
            let class = *self.random.pick(&classes);
            let clause = if self.random.one_in(2) {
                let name = self.fresh("e");
                let functions = self.functions.len();
                self.functions.push(Callable { template: format!("str({name})"), ty: Ty::Str });
                let body = self.nested(place, &[]);
                self.functions.truncate(functions);
                Clause { line: text(&format!("except {class} as {name}:")), body: Some(body) }
            } else {
                let body = self.nested(place, &[]);
                Clause { line: text(&format!("except {class}:")), body: Some(body) }
            };
            clauses.push(clause);
        }
        if self.random.one_in(4) {
            let body = self.nested(place, &[]);
            clauses.push(Clause { line: text("else:"), body: Some(body) });
        }
        if self.random.one_in(4) {
            let body = self.nested(place, &[]);
            clauses.push(Clause { line: text("finally:"), body: Some(body) });
        }
        Stmt { clauses }
    }

    fn raise(&mut self, place: Place) -> Stmt {
        let condition = self.expr(Ty::Bool, 2);
        let template = *self.random.pick(&[
            "raise ValueError(@s)",
            "raise ValueError",
            "raise KeyError(@i)",
            "raise TypeError(f'{@a!r}')",
            "raise IndexError('out', @i)",
            "assert @b, @s",
        ]);
        let raise = Stmt { clauses: vec![Clause { line: self.fill(template, 2), body: None }] };
        let _ = place;
        Stmt { clauses: vec![Clause { line: parts("if @:", vec![condition]), body: Some(vec![raise]) }] }
    }

    fn leave_loop(&mut self) -> Stmt {
        let condition = self.expr(Ty::Bool, 2);
        let word = *self.random.pick(&["break", "continue"]);
        let leave = line(word, vec![]);
        Stmt { clauses: vec![Clause { line: parts("if @:", vec![condition]), body: Some(vec![leave]) }] }
    }

    /// A nested function over the variables around it.
    fn closure(&mut self) -> Stmt {
        let name = self.fresh("g");
        let ty = *self.random.pick(&[Ty::Int, Ty::Str, Ty::Float, Ty::Bool]);
        let param = *self.random.pick(&[Ty::Int, Ty::Str]);
        let variables = self.scope.len();
        self.scope.push(Variable { name: "q".to_string(), ty: param, fixed: true });
        let value = self.expr(ty, 2);
        self.scope.truncate(variables);
        self.functions.push(Callable { template: format!("{name}(@{})", letter(param)), ty });
        if self.random.one_in(2) {
            return line(&format!("{name} = lambda q: @"), vec![value]);
        }
        let body = vec![line("return @", vec![value])];
        Stmt { clauses: vec![Clause { line: text(&format!("def {name}(q):")), body: Some(body) }] }
    }

    fn return_(&mut self, place: Place) -> Stmt {
        if self.random.one_in(15) {
            return line("return None", vec![]);
        }
        let value = self.expr(place.returns, 3);
        // Most ints should fit the column, or every row would end in the same error.
        if place.returns == Ty::Int && !self.random.one_in(5) {
            let modulus = *self.random.pick(&["1000007", "2 ** 62", "97"]);
            return line(&format!("return @ % ({modulus})"), vec![value]);
        }
        line("return @", vec![value])
    }

    /// What is assigned in a loop must not grow from round to round without bound.
    fn cut(&mut self, value: Expr) -> Expr {
        let template = match value.ty {
            Ty::Int => *self.random.pick(&["(@ % 1000003)", "(@ % 2 ** 64)", "(@ & 255)", "(@ % 2 ** 70)", "(@ % 97)"]),
            Ty::Str => "@[:40]",
            Ty::Ints | Ty::Strs => "@[:12]",
            Ty::Float | Ty::Bool | Ty::Any => return value,
        };
        if self.loops == 0 && !self.functions.is_empty() && value.ty == Ty::Int && self.random.one_in(2) {
            return value;
        }
        if self.loops == 0 {
            return value;
        }
        Expr { ty: value.ty, parts: parts(template, vec![value]) }
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> Expr {
        let variables: Vec<&Variable> =
            self.scope.iter().filter(|variable| variable.ty == ty || ty == Ty::Any).collect();
        if !variables.is_empty() && (depth == 0 || self.random.below(10) < 4) {
            let name = self.random.pick(&variables).name.clone();
            return Expr::leaf(ty, name);
        }
        if depth == 0 || self.random.one_in(8) {
            return self.literal(ty);
        }
        let functions: Vec<String> = self
            .functions
            .iter()
            .filter(|function| function.ty == ty)
            .map(|function| function.template.clone())
            .collect();
        // A call of a helper repeats all its work; few are enough.
        if !functions.is_empty() && self.loops == 0 && self.random.one_in(4) {
            let template = self.random.pick(&functions).clone();
            return Expr { ty, parts: self.fill(&template, depth - 1) };
        }
        let template = *self.random.pick(templates(ty));
        Expr { ty, parts: self.fill(template, depth - 1) }
    }

    fn literal(&mut self, ty: Ty) -> Expr {
        Expr::leaf(ty, *self.random.pick(literals(ty)))
    }

    /// The template with an expression in each hole. Within an f-string's braces 3.11
    /// allows neither backslashes nor the quotes of the string around them, so only plain
    /// names and numbers go there.
    fn fill(&mut self, template: &str, depth: usize) -> Vec<Part> {
        let in_f_string = template.contains("f'");
        let mut filled = vec![];
        let mut piece = String::new();
        let mut letters = template.chars().peekable();
        while let Some(c) = letters.next() {
            let ty = if c == '@' { letters.peek().copied().and_then(hole) } else { None };
            let Some(ty) = ty else {
                piece.push(c);
                continue;
            };
            letters.next();
            filled.push(Part::Text(std::mem::take(&mut piece)));
            filled.push(Part::Expr(if in_f_string { self.plain(ty) } else { self.expr(ty, depth) }));
        }
        filled.push(Part::Text(piece));
        filled
    }

    fn plain(&mut self, ty: Ty) -> Expr {
        let variables: Vec<String> = self
            .scope
            .iter()
            .filter(|variable| variable.ty == ty || ty == Ty::Any)
            .map(|variable| variable.name.clone())
            .collect();
        if !variables.is_empty() && !self.random.one_in(5) {
            return Expr::leaf(ty, self.random.pick(&variables).clone());
        }
        Expr::leaf(
            ty,
            match ty {
                Ty::Int => "(-1234567)",
                Ty::Float => "(-2.675)",
                Ty::Bool => "True",
                Ty::Str => "\"aé\"",
                Ty::Ints => "[1, 2]",
                Ty::Strs => "[\"a\"]",
                Ty::Any => "None",
            },
        )
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
}

fn python_type(ty: SqlType) -> Ty {
    match ty {
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => Ty::Int,
        SqlType::Real | SqlType::Double => Ty::Float,
        SqlType::Boolean => Ty::Bool,
        // The generator takes none.
        SqlType::Text
        | SqlType::Bytea
        | SqlType::Date
        | SqlType::Timestamp
        | SqlType::Time
        | SqlType::Decimal(..)
        | SqlType::Array(_)
        | SqlType::Map(_)
        | SqlType::Struct(_) => Ty::Str,
    }
}

fn letter(ty: Ty) -> char {
    match ty {
        Ty::Int => 'i',
        Ty::Float => 'f',
        Ty::Bool => 'b',
        Ty::Str => 's',
        Ty::Ints => 'I',
        Ty::Strs => 'S',
        Ty::Any => 'a',
    }
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_string())]
}

/// A template whose plain `@`s are replaced in order.
fn parts(template: &str, values: Vec<Expr>) -> Vec<Part> {
    let mut pieces = template.split('@').map(|piece| Part::Text(piece.to_string()));
    let mut filled: Vec<Part> = pieces.next().into_iter().collect();
    for (value, piece) in values.into_iter().zip(pieces) {
        filled.push(Part::Expr(value));
        filled.push(piece);
    }
    filled
}

fn line(template: &str, values: Vec<Expr>) -> Stmt {
    Stmt { clauses: vec![Clause { line: parts(template, values), body: None }] }
}
