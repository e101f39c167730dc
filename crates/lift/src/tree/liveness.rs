//! Which variables nothing reads any more where a turn of a loop ends, and where the loop is left: what they
//! hold there need not be known in the next turn. And which a turn surely changes.
//!
//! The analysis goes backwards (Aho and others, "Compilers", live variables), over whole statements: an
//! assignment ends the life of the value before it, a read begins one. Names that a function, a generator
//! or a class within reads, that `except … as` or a `:=` in a comprehension binds, or that are deleted, are
//! left out: those are read at places that the order of the statements does not show.

use crate::tree::ast::{Collects, Comprehension, Expr, ExprKind, FunctionDef, Name, Params, Stmt, StmtKind, Turns};
use crate::tree::scope::{block_names, target_names, walrus_names};
use std::collections::HashMap;

/// Notes of each loop of a function what its turns do with local variables, and how long lists are only appended to.
pub(crate) fn mark(params: &Params, body: &mut [Stmt], locals: &[Name]) {
    if !has_any(body, &|kind| is_loop(kind) || makes_list(kind)) {
        return;
    }
    let index: HashMap<Name, usize> = locals.iter().cloned().zip(0..).collect();
    let mut left_out = Set::new(locals.len());
    let mut apart = Apart { index: &index, names: &mut left_out };
    body.iter().for_each(|stmt| apart.stmt(stmt));
    let defaults = params.positional.iter().chain(&params.keyword).filter_map(|param| param.1.as_ref());
    defaults.for_each(|default| apart.expr(default));
    crate::tree::appending::mark(body, &|name| index.get(name).is_some_and(|at| !left_out.has(*at)));
    if !has_any(body, &is_loop) {
        return;
    }
    let mut walk = Walk {
        locals,
        index: &index,
        left_out: &left_out,
        within: HashMap::new(),
        breaks: Vec::new(),
        continues: Vec::new(),
        always: Set::new(locals.len()),
        marks: false,
    };
    let end = Set::new(locals.len());
    walk.block(body, end.clone());
    walk.marks = true;
    walk.block(body, end);
}

/// Notes of each clause of a comprehension which names of its target are not read before they are assigned again: all
/// clauses have one scope, so a target of the turn before can be (`for total in [0] for w in words for total in
/// [total + len(w)]`).
pub(crate) fn mark_comprehension(comp: &mut Comprehension) {
    const MOST: usize = 8;
    let mut kept = Vec::new();
    for_each_part_of(comp, &mut |part| walrus_names(part, &mut kept));
    // What `:=` keeps may be a function that reads them.
    if comp.clauses.len() > MOST || !kept.is_empty() {
        return;
    }
    let mut bound = Vec::new();
    comp.clauses.iter().for_each(|clause| target_names(&clause.target, &mut bound));
    for at in 0..comp.clauses.len() {
        let (before, clause) = (&comp.clauses[..at], &comp.clauses[at]);
        let conditions = before.iter().flat_map(|clause| &clause.conditions);
        // The first iterable is not evaluated in that scope.
        let iterables = comp.clauses[..=at].iter().skip(1).map(|clause| &clause.iter);
        let read: Vec<&Expr> = conditions.chain(iterables).collect();
        let mut names = Vec::new();
        target_names(&clause.target, &mut names);
        names.retain(|name| {
            bound.iter().filter(|other| *other == name).count() == 1
                && comp.clauses[..=at].iter().all(|clause| is_plain_target(&clause.target))
                && read.iter().all(|part| crate::tree::scope::is_left_alone_by(part, name))
        });
        comp.clauses[at].over = names;
    }
}

/// Whether a target is made of names.
fn is_plain_target(target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Name(_) => true,
        ExprKind::Starred(inner) => is_plain_target(inner),
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().all(is_plain_target),
        _ => false,
    }
}

fn has_any(body: &[Stmt], of: &dyn Fn(&StmtKind) -> bool) -> bool {
    body.iter().any(|stmt| of(&stmt.kind) || stmt.kind.blocks().into_iter().any(|block| has_any(block, of)))
}

fn is_loop(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::For { .. } | StmtKind::While { .. })
}

fn makes_list(kind: &StmtKind) -> bool {
    let is_empty = |value: &Expr| matches!(&value.kind, ExprKind::List(items) if items.is_empty());
    let has_empty = |value: &Expr| matches!(&value.kind, ExprKind::Tuple(items) if items.iter().any(is_empty));
    matches!(kind, StmtKind::Assign { value, .. } if is_empty(value) || has_empty(value))
}

/// A set of local variables, by their numbers.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn new(count: usize) -> Set {
        Set(vec![0; count.div_ceil(64)])
    }

    fn add(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn all(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
    }
}

/// Finds the names that are left out.
struct Apart<'a> {
    index: &'a HashMap<Name, usize>,
    names: &'a mut Set,
}

impl Apart<'_> {
    fn name(&mut self, name: &Name) {
        if let Some(at) = self.index.get(name) {
            self.names.add(*at);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => {
                self.name(&def.name);
                self.function(def);
                def.decorators.iter().chain(&def.annotations).for_each(|part| self.all(part));
            }
            // Its body runs in a scope of its own, from which functions may read.
            StmtKind::ClassDef(_) | StmtKind::Unsupported { .. } => {
                (0..self.index.len()).for_each(|at| self.names.add(at))
            }
            StmtKind::Nonlocal(names) => names.iter().for_each(|name| self.name(name)),
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.all(target)),
            StmtKind::Try { handlers, .. } => {
                for handler in handlers {
                    handler.name.iter().for_each(|name| self.name(name));
                    handler.class.iter().for_each(|class| self.expr(class));
                }
            }
            StmtKind::Import { asname, .. } | StmtKind::ImportFrom { asname, .. } => self.name(asname),
            kind => for_each_expr(kind, &mut |expr| self.expr(expr)),
        }
        stmt.kind.blocks().into_iter().flatten().for_each(|stmt| self.stmt(stmt));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Lambda(def) => self.function(def),
            ExprKind::Comprehension(comp) if comp.collects == Collects::Generator => self.comprehension(comp),
            // What `:=` binds in one is a variable of the function around it.
            ExprKind::Comprehension(comp) => {
                let mut bound = Vec::new();
                for_each_part_of(comp, &mut |part| walrus_names(part, &mut bound));
                bound.iter().for_each(|name| self.name(name));
                for_each_part_of(comp, &mut |part| self.expr(part));
            }
            _ => {}
        }
        expr.for_each_part(&mut |part| self.expr(part));
    }

    fn function(&mut self, def: &FunctionDef) {
        let defaults = def.params.positional.iter().chain(&def.params.keyword).filter_map(|param| param.1.as_ref());
        defaults.for_each(|default| self.expr(default));
        def.body.iter().for_each(|stmt| self.all_of(stmt));
    }

    /// Every name that stands in it.
    fn all_of(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => {
                self.function(def);
                def.decorators.iter().for_each(|part| self.all(part));
            }
            StmtKind::ClassDef(_) | StmtKind::Unsupported { .. } => {
                (0..self.index.len()).for_each(|at| self.names.add(at))
            }
            StmtKind::Nonlocal(names) => names.iter().for_each(|name| self.name(name)),
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.all(target)),
            StmtKind::Try { handlers, .. } => {
                handlers.iter().filter_map(|handler| handler.class.as_ref()).for_each(|class| self.all(class));
            }
            kind => for_each_expr(kind, &mut |expr| self.all(expr)),
        }
        stmt.kind.blocks().into_iter().flatten().for_each(|stmt| self.all_of(stmt));
    }

    fn all(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name),
            ExprKind::Named { target, .. } => self.name(target),
            ExprKind::Lambda(def) => self.function(def),
            ExprKind::Comprehension(comp) => self.comprehension(comp),
            _ => {}
        }
        expr.for_each_part(&mut |part| self.all(part));
    }

    fn comprehension(&mut self, comp: &Comprehension) {
        for_each_part_of(comp, &mut |part| self.all(part));
    }
}

/// The parts of a comprehension.
fn for_each_part_of<'e>(comp: &'e Comprehension, f: &mut dyn FnMut(&'e Expr)) {
    f(&comp.element);
    comp.value.iter().for_each(&mut *f);
    for clause in &comp.clauses {
        f(&clause.target);
        f(&clause.iter);
        clause.conditions.iter().for_each(&mut *f);
    }
}

/// The expressions of a statement, but for those of statements within it.
fn for_each_expr<'e>(kind: &'e StmtKind, f: &mut dyn FnMut(&'e Expr)) {
    match kind {
        StmtKind::Return(value) => value.iter().for_each(f),
        StmtKind::Assign { targets, value, .. } => {
            f(value);
            targets.iter().for_each(f);
        }
        StmtKind::AugAssign { target, value, .. } => {
            f(target);
            f(value);
        }
        StmtKind::For { target, iter, .. } => {
            f(iter);
            f(target);
        }
        StmtKind::While { test, .. } | StmtKind::If { test, .. } => f(test),
        StmtKind::Raise { exc, cause } => exc.iter().chain(cause).for_each(f),
        StmtKind::Assert { test, msg } => {
            f(test);
            msg.iter().for_each(f);
        }
        StmtKind::Expr(value) | StmtKind::Yield { value, .. } => f(value),
        StmtKind::Delete(targets) => targets.iter().for_each(f),
        StmtKind::FunctionDef(_)
        | StmtKind::ClassDef(_)
        | StmtKind::Try { .. }
        | StmtKind::Import { .. }
        | StmtKind::ImportFrom { .. }
        | StmtKind::Annotation(_)
        | StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Nonlocal(_)
        | StmtKind::Unsupported { .. } => {}
    }
}

/// Goes backwards over statements: once to find what a turn of each loop reads of what was before it, and
/// once more with what is behind it, so that inner loops are walked no more often than outer ones.
struct Walk<'a> {
    locals: &'a [Name],
    index: &'a HashMap<Name, usize>,
    left_out: &'a Set,
    /// What a turn of a loop reads before it assigns it, by the address of its body.
    within: HashMap<usize, Set>,
    /// What is read where the loops around are left, and where their next turns begin.
    breaks: Vec<Set>,
    continues: Vec<Set>,
    /// What handlers and `finally` around read.
    always: Set,
    marks: bool,
}

impl Walk<'_> {
    /// What is live before an expression, of what is behind it.
    fn reads(&self, expr: &Expr, live: &mut Set) {
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(at) = self.index.get(name) {
                    live.add(*at);
                }
            }
            ExprKind::Named { target, value } => {
                if let Some(at) = self.index.get(target) {
                    live.remove(*at);
                }
                self.reads(value, live);
            }
            // What may be left out ends no life.
            ExprKind::BoolOp { values, .. } => {
                let Some((first, rest)) = values.split_first() else { return };
                rest.iter().rev().for_each(|part| self.perhaps(part, live));
                self.reads(first, live);
            }
            ExprKind::Compare { left, rest } => {
                let Some((first, rest)) = rest.split_first() else { return };
                rest.iter().rev().for_each(|(_, part)| self.perhaps(part, live));
                self.reads(&first.1, live);
                self.reads(left, live);
            }
            ExprKind::IfExp { test, body, orelse } => {
                self.perhaps(body, live);
                self.perhaps(orelse, live);
                self.reads(test, live);
            }
            ExprKind::Comprehension(comp) => for_each_part_of(comp, &mut |part| self.perhaps(part, live)),
            _ => {
                let mut parts = Vec::new();
                expr.for_each_part(&mut |part| parts.push(part));
                parts.into_iter().rev().for_each(|part| self.reads(part, live));
            }
        }
    }

    /// As [`Walk::reads`], of what may not be evaluated.
    fn perhaps(&self, expr: &Expr, live: &mut Set) {
        let mut before = live.clone();
        self.reads(expr, &mut before);
        live.all(&before);
    }

    /// A target: names that it assigns begin anew, what it reads is read.
    fn stores(&self, target: &Expr, live: &mut Set) {
        match &target.kind {
            ExprKind::Name(name) => {
                if let Some(at) = self.index.get(name) {
                    live.remove(*at);
                }
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| self.stores(item, live)),
            ExprKind::Starred(inner) => self.stores(inner, live),
            _ => {}
        }
    }

    fn reads_of_target(&self, target: &Expr, live: &mut Set) {
        match &target.kind {
            ExprKind::Name(_) => {}
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.reads_of_target(item, live));
            }
            ExprKind::Starred(inner) => self.reads_of_target(inner, live),
            _ => self.reads(target, live),
        }
    }

    /// What is live before statements, of what is behind them.
    fn block(&mut self, body: &mut [Stmt], mut live: Set) -> Set {
        for stmt in body.iter_mut().rev() {
            live = self.stmt(stmt, live);
            live.all(&self.always);
        }
        live
    }

    fn stmt(&mut self, stmt: &mut Stmt, mut live: Set) -> Set {
        match &mut stmt.kind {
            StmtKind::Assign { targets, value, .. } => {
                targets.iter().for_each(|target| self.stores(target, &mut live));
                targets.iter().for_each(|target| self.reads_of_target(target, &mut live));
                self.reads(value, &mut live);
            }
            StmtKind::For { target, iter, body, orelse, turns } => {
                let after = live.clone();
                let mut head = self.block(orelse, live);
                head.all(&after);
                let mut within = self.within(body);
                self.stores(target, &mut within);
                self.reads_of_target(target, &mut within);
                head.all(&within);
                if self.marks {
                    let mut assigned = Vec::new();
                    target_names(target, &mut assigned);
                    *turns = self.turns(body, assigned, &head, &after);
                    self.turn(body, after, head.clone());
                }
                self.reads(iter, &mut head);
                return head;
            }
            StmtKind::While { test, body, orelse, turns } => {
                let after = live.clone();
                let mut head = self.block(orelse, live);
                head.all(&after);
                head.all(&self.within(body));
                self.reads(test, &mut head);
                if self.marks {
                    let mut assigned = Vec::new();
                    walrus_names(test, &mut assigned);
                    *turns = self.turns(body, assigned, &head, &after);
                    self.turn(body, after, head.clone());
                }
                return head;
            }
            StmtKind::If { test, body, orelse } => {
                let mut before = self.block(orelse, live.clone());
                before.all(&self.block(body, live));
                self.reads(test, &mut before);
                return before;
            }
            StmtKind::Try { body, handlers, orelse, finalbody } => {
                // What `finally` reads may be read from anywhere within.
                let mut last: Vec<&Stmt> = finalbody.iter().collect();
                let mut caught = Set::new(self.locals.len());
                while let Some(stmt) = last.pop() {
                    for_each_expr(&stmt.kind, &mut |expr| self.reads(expr, &mut caught));
                    last.extend(stmt.kind.blocks().into_iter().flatten());
                }
                live.all(&caught);
                let around = self.always.clone();
                self.always.all(&caught);
                for handler in handlers {
                    let before = self.block(&mut handler.body, live.clone());
                    caught.all(&before);
                    handler.class.iter().for_each(|class| self.reads(class, &mut caught));
                }
                self.always.all(&caught);
                let live = self.block(orelse, live);
                let mut before = self.block(body, live);
                before.all(&caught);
                self.always = around;
                return before;
            }
            StmtKind::Return(_) | StmtKind::Raise { .. } => {
                live = Set::new(self.locals.len());
                for_each_expr(&stmt.kind, &mut |expr| self.reads(expr, &mut live));
            }
            StmtKind::Break => live = self.breaks.last().cloned().unwrap_or(live),
            StmtKind::Continue => live = self.continues.last().cloned().unwrap_or(live),
            kind => for_each_expr(kind, &mut |expr| self.reads(expr, &mut live)),
        }
        live
    }

    /// What a turn of a loop reads before it assigns it.
    fn within(&mut self, body: &mut [Stmt]) -> Set {
        let place = body.as_ptr() as usize;
        if let Some(within) = self.within.get(&place) {
            return within.clone();
        }
        let none = Set::new(self.locals.len());
        let within = self.turn(body, none.clone(), none);
        self.within.insert(place, within.clone());
        within
    }

    /// What is live before a turn, of what is behind the loop and what is before the next turn.
    fn turn(&mut self, body: &mut [Stmt], after: Set, head: Set) -> Set {
        self.breaks.push(after);
        self.continues.push(head.clone());
        let before = self.block(body, head);
        self.breaks.pop();
        self.continues.pop();
        before
    }

    fn turns(&self, body: &[Stmt], mut assigned: Vec<Name>, head: &Set, after: &Set) -> Turns {
        block_names(body, &mut assigned);
        assigned.sort();
        assigned.dedup();
        let without = |live: &Set| {
            let is_over = |name: &&Name| {
                self.index
                    .get(*name)
                    .is_some_and(|at| !live.has(*at) && !self.left_out.has(*at) && !self.always.has(*at))
            };
            assigned.iter().filter(is_over).cloned().collect()
        };
        let mut advanced = Vec::new();
        advances(body, &mut advanced);
        advanced.sort();
        advanced.dedup();
        Turns { over: without(head), left: without(after), advanced: advanced.into() }
    }
}

/// The names that statements make of what they were.
fn advances(body: &[Stmt], names: &mut Vec<Name>) {
    fn mentions(expr: &Expr, name: &Name) -> bool {
        let mut found = matches!(&expr.kind, ExprKind::Name(other) if other == name);
        expr.for_each_part(&mut |part| found |= mentions(part, name));
        found
    }
    for stmt in body {
        match &stmt.kind {
            StmtKind::AugAssign { target: Expr { kind: ExprKind::Name(name), .. }, .. } => names.push(name.clone()),
            StmtKind::Assign { targets, value, .. } => {
                if let [Expr { kind: ExprKind::Name(name), .. }] = &targets[..]
                    && mentions(value, name)
                {
                    names.push(name.clone());
                }
            }
            kind => kind.blocks().into_iter().for_each(|block| advances(block, names)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::ast::{Stmt, StmtKind, Turns};
    use crate::tree::parse::parse_source;

    /// What is known of each loop of a function `f`, in the order of the source.
    fn turns(source: &str) -> Vec<String> {
        fn collect(body: &[Stmt], found: &mut Vec<String>) {
            for stmt in body {
                if let StmtKind::For { turns, .. } | StmtKind::While { turns, .. } = &stmt.kind {
                    let Turns { over, left, advanced } = turns;
                    found.push(format!("{} | {} | {}", over.join(" "), left.join(" "), advanced.join(" ")));
                }
                stmt.kind.blocks().into_iter().for_each(|block| collect(block, found));
            }
        }
        let mut found = Vec::new();
        for stmt in &parse_source(source, &[]).expect("it parses").module.body {
            if let StmtKind::FunctionDef(def) = &stmt.kind {
                collect(&def.body, &mut found);
            }
        }
        found
    }

    #[test]
    fn what_a_turn_assigns_before_it_reads_it_is_over_at_its_end() {
        let source = "
def f(words):
    total = 0
    for word in words:
        part = word.strip()
        total = total + len(part)
    return total
";
        assert_eq!(turns(source), ["part word | part word | total"]);
    }

    #[test]
    fn what_a_later_turn_or_the_end_may_read_lives() {
        let source = "
def f(words):
    for word in words:
        if word:
            last = word
        elif seen:
            pass
        seen = True
        kept = word
        if word == 'x':
            break
        never = 1
    return kept, word
";
        // `last` is read nowhere.
        assert_eq!(turns(source), ["last never | last never seen | "]);
        let source = "
def f(n):
    while n:
        n -= 1
        x = n
        if x > 5:
            continue
        y = x
    else:
        return y
    return 0
";
        assert_eq!(turns(source), ["x | n x y | n"]);
    }

    #[test]
    fn inner_loops_know_what_the_outer_ones_read() {
        let source = "
def f(rows):
    best = 0
    for row in rows:
        total = 0
        for cell in row:
            square = cell * cell
            total += square
        best = max(best, total)
    return best
";
        assert_eq!(
            turns(source),
            ["cell row square total | cell row square total | best total", "cell square | cell square | total",]
        );
    }

    #[test]
    fn what_is_bound_within_an_expression_is_bound_for_what_follows() {
        let source = "
def f(words):
    while (line := next(words)):
        if (m := line.find('x')) > 0 and (n := m + 1):
            print(n)
        elif a and (b := line):
            pass
        print(b)
    return line
";
        // Where `n` is read it is bound, which the ways to there do not show.
        assert_eq!(turns(source), ["line m | b m n | "]);
    }

    #[test]
    fn handlers_and_functions_within_may_read_at_any_time() {
        let source = "
def f(words):
    for word in words:
        try:
            a = int(word)
            b = 1
            c = a + b
        except ValueError:
            print(b)
        finally:
            print(d)
        d = word
        e = 1
        g = lambda: e
        h = (w for w in words if w == word)
        if i := word:
            j = i
        k = [w + word for w in words]
    return g
";
        assert_eq!(turns(source), ["a c h i j k | a b c d h i j k | "]);
    }
}
