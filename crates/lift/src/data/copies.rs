//! How much code CPython makes of `finally`.
//!
//! Its compiler copies the block of a `finally` to each `return`, `break` and `continue` that leaves by it,
//! and twice more (Python/compile.c, compiler_unwind_fblock). Where such blocks hold others with exits
//! of their own, a few lines become gigabytes before anybody can stop it.

use ruff_python_ast as py;
use ruff_text_size::{Ranged, TextRange};

/// The statements that a source may become.
pub(crate) const MOST: u64 = 100_000;

/// What is wrong with a module that becomes more, and where.
pub(crate) fn check(body: &[py::Stmt]) -> Option<(String, TextRange)> {
    let mut count = Count::default();
    count.all(body);
    let range = count.beyond?;
    Some((format!("CPython would copy what is under finally to more than {MOST} statements"), range))
}

/// What is counted within one function.
#[derive(Default)]
struct Count {
    /// The statements of the `finally` around the place, from the outermost on.
    around: Vec<u64>,
    /// How many of them are outside the innermost loop.
    outside: usize,
    /// The first `try` that becomes too much.
    beyond: Option<TextRange>,
}

impl Count {
    /// The statements that a block becomes.
    fn all(&mut self, body: &[py::Stmt]) -> u64 {
        body.iter().fold(0, |sum, stmt| self.one(stmt).saturating_add(sum))
    }

    fn one(&mut self, stmt: &py::Stmt) -> u64 {
        let exit = |blocks: &[u64]| blocks.iter().fold(1u64, |sum, block| sum.saturating_add(*block));
        match stmt {
            py::Stmt::Return(_) => exit(&self.around),
            py::Stmt::Break(_) | py::Stmt::Continue(_) => exit(&self.around[self.outside..]),
            py::Stmt::If(stmt) => stmt
                .elif_else_clauses
                .iter()
                .fold(self.all(&stmt.body), |sum, clause| self.all(&clause.body).saturating_add(sum)),
            py::Stmt::Match(stmt) => {
                stmt.cases.iter().fold(1, |sum: u64, case| self.all(&case.body).saturating_add(sum))
            }
            py::Stmt::With(stmt) => self.all(&stmt.body).saturating_add(1),
            py::Stmt::For(stmt) => self.in_loop(&stmt.body, &stmt.orelse),
            py::Stmt::While(stmt) => self.in_loop(&stmt.body, &stmt.orelse),
            py::Stmt::FunctionDef(stmt) => self.apart(&stmt.body),
            py::Stmt::ClassDef(stmt) => self.apart(&stmt.body),
            py::Stmt::Try(stmt) => self.of_try(stmt),
            _ => 1,
        }
    }

    fn in_loop(&mut self, body: &[py::Stmt], orelse: &[py::Stmt]) -> u64 {
        let outside = std::mem::replace(&mut self.outside, self.around.len());
        let sum = self.all(body);
        self.outside = outside;
        sum.saturating_add(self.all(orelse)).saturating_add(1)
    }

    /// What has exits of its own.
    fn apart(&mut self, body: &[py::Stmt]) -> u64 {
        let mut inner = Count::default();
        let sum = inner.all(body);
        self.beyond = self.beyond.or(inner.beyond);
        sum.saturating_add(1)
    }

    fn of_try(&mut self, stmt: &py::StmtTry) -> u64 {
        let last = self.all(&stmt.finalbody);
        if last > 0 {
            self.around.push(last);
        }
        let mut sum = self.all(&stmt.body).saturating_add(self.all(&stmt.orelse));
        for py::ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
            sum = sum.saturating_add(self.all(&handler.body));
        }
        if last > 0 {
            self.around.pop();
        }
        let sum = sum.saturating_add(last.saturating_mul(2)).saturating_add(1);
        if sum > MOST {
            self.beyond.get_or_insert(stmt.range());
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    fn is_refused(source: &str) -> bool {
        check(ruff_python_parser::parse_module(source).unwrap().suite()).is_some()
    }

    /// So many blocks, each in the body of the one before; each `finally` has an exit.
    fn in_bodies(depth: usize) -> String {
        let indent = |at: usize| " ".repeat(at + 1);
        let tries: String = (0..depth).map(|at| format!("{}try:\n", indent(at))).collect();
        let ends = (0..depth).rev().map(|at| format!("{0}finally:\n{0} if x == {at}: return x\n", indent(at)));
        format!("def f(x):\n{tries}{}return x\n{}", indent(depth), ends.collect::<String>())
    }

    /// So many blocks, each in the `finally` of the one before; each body has an exit.
    fn in_ends(depth: usize) -> String {
        let indent = |at: usize| " ".repeat(at + 1);
        let tries: String = (0..depth).map(|at| format!("{0}try: return x\n{0}finally:\n", indent(at))).collect();
        format!("def f(x):\n{tries}{}return x\n", indent(depth))
    }

    #[test]
    fn copies_of_copies_are_counted() {
        assert!(!is_refused(&in_bodies(8)) && !is_refused(&in_ends(6)));
        assert!(is_refused(&in_bodies(18)) && is_refused(&in_ends(18)));
        assert!(!is_refused("def f(x):\n for i in x:\n  try:\n   if i: continue\n   break\n  finally:\n   x = 1\n"));
        let many: String = (0..2000).map(|_| " try:\n  x = 1\n finally:\n  x = 2\n").collect();
        assert!(!is_refused(&format!("def f(x):\n{many} return x\n")));
    }
}
