//! Which displays of sets CPython's compiler makes constants of.
//!
//! `{'a', 'b', 'c'}` is a constant frozenset that is copied into a new set when it is reached, if all its
//! elements are constants and there are at least three (Python/compile.c, `starunpack_helper`);
//! `for x in {'a', 'b'}` goes over the frozenset itself (Python/ast_opt.c, `fold_iter`). Constants of a
//! module that are equal become one, and it has the order of the one that is compiled first.

use crate::ast::Folded;
use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_text_size::Ranged;
use std::collections::{BTreeMap, BTreeSet};

/// A constant as a text: different ones have different texts.
fn constant(expr: &py::Expr) -> Option<String> {
    match expr {
        py::Expr::NoneLiteral(_) => Some("None".to_string()),
        py::Expr::BooleanLiteral(literal) => Some(literal.value.to_string()),
        py::Expr::StringLiteral(literal) => Some(format!("{:?}", literal.value.to_str())),
        py::Expr::BytesLiteral(literal) => Some(format!("b{:?}", literal.value.bytes().collect::<Vec<u8>>())),
        py::Expr::NumberLiteral(literal) => match &literal.value {
            py::Number::Int(value) => Some(value.to_string()),
            py::Number::Float(value) => Some(format!("float {value:?}")),
            py::Number::Complex { .. } => None,
        },
        py::Expr::UnaryOp(op) if op.op == py::UnaryOp::USub => match &*op.operand {
            number @ py::Expr::NumberLiteral(_) => Some(format!("-{}", constant(number)?)),
            _ => None,
        },
        py::Expr::Tuple(tuple) => {
            let items = tuple.elts.iter().map(constant).collect::<Option<Vec<String>>>()?;
            Some(format!("({})", items.join(", ")))
        }
        _ => None,
    }
}

/// Whether an expression may be one that the compiler computes.
fn may_be_folded(expr: &py::Expr) -> bool {
    match expr {
        py::Expr::BinOp(op) => may_be_folded(&op.left) && may_be_folded(&op.right),
        py::Expr::UnaryOp(op) => may_be_folded(&op.operand),
        py::Expr::Tuple(tuple) => tuple.elts.iter().all(may_be_folded),
        py::Expr::Subscript(subscript) => may_be_folded(&subscript.value),
        other => other.is_literal_expr(),
    }
}

/// What the compiler makes of a display, as far as that is seen from it alone.
pub(crate) fn folded(set: &py::ExprSet) -> Folded {
    if set.elts.iter().all(|element| constant(element).is_some()) {
        Folded::Yes
    } else if set.elts.iter().all(may_be_folded) {
        Folded::Unknown
    } else {
        Folded::No
    }
}

/// Where displays stand that are equal to others of the module whose elements are in another order.
pub(crate) fn mixed(body: &[py::Stmt]) -> BTreeSet<u32> {
    #[derive(Default)]
    struct Displays(BTreeMap<BTreeSet<String>, BTreeMap<Vec<String>, Vec<u32>>>);
    impl<'a> Visitor<'a> for Displays {
        fn visit_expr(&mut self, expr: &'a py::Expr) {
            if let py::Expr::Set(set) = expr
                && let Some(elements) = set.elts.iter().map(constant).collect::<Option<Vec<String>>>()
            {
                let orders = self.0.entry(elements.iter().cloned().collect()).or_default();
                orders.entry(elements).or_default().push(set.range().start().into());
            }
            walk_expr(self, expr);
        }
    }
    let mut displays = Displays::default();
    body.iter().for_each(|stmt| displays.visit_stmt(stmt));
    displays.0.into_values().filter(|orders| orders.len() > 1).flat_map(BTreeMap::into_values).flatten().collect()
}
