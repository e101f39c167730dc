//! Which displays of sets CPython's compiler makes constants of.
//!
//! `{'a', 'b', 'c'}` is a constant frozenset that is copied into a new set when it is reached, if all its
//! elements are constants and there are at least three (Python/compile.c, `starunpack_helper`);
//! `for x in {'a', 'b'}` goes over the frozenset itself (Python/ast_opt.c, `fold_iter`). Constants of a
//! module that are equal become one, and it has the order of the one that is compiled first.

use crate::tree::ast::{ExprKind, Folded};
use crate::tree::parse;
use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_text_size::Ranged;
use std::collections::{BTreeMap, BTreeSet};

/// A constant by two texts: what equal ones share, and what those share that are of one class besides.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Constant {
    equal: String,
    same: String,
}

impl Constant {
    fn of_number(value: f64, same: String) -> Constant {
        Constant { equal: if value == 0.0 { "0".to_string() } else { format!("{value:?}") }, same }
    }
}

/// A constant, if an expression is seen to be one.
fn constant(expr: &py::Expr) -> Option<Constant> {
    let alone = |text: String| Constant { equal: text.clone(), same: text };
    match expr {
        py::Expr::BooleanLiteral(literal) => {
            Some(Constant::of_number(f64::from(u8::from(literal.value)), literal.value.to_string()))
        }
        py::Expr::StringLiteral(literal) => Some(alone(format!("{:?}", literal.value.to_str()))),
        py::Expr::NumberLiteral(literal) => match &literal.value {
            py::Number::Int(value) => match value.as_i64() {
                Some(small) if small < 1 << f64::MANTISSA_DIGITS => {
                    Some(Constant::of_number(small as f64, value.to_string()))
                }
                _ => Some(alone(value.to_string())),
            },
            py::Number::Float(value) => Some(Constant::of_number(*value, format!("float {value:?}"))),
            py::Number::Complex { .. } => None,
        },
        py::Expr::UnaryOp(op) if op.op == py::UnaryOp::USub => match &*op.operand {
            number @ py::Expr::NumberLiteral(_) => {
                let Constant { equal, same } = constant(number)?;
                let zero = equal == "0" && !same.starts_with("float");
                Some(Constant {
                    equal: if equal == "0" { equal } else { format!("-{equal}") },
                    same: if zero { same } else { format!("-{same}") },
                })
            }
            _ => None,
        },
        py::Expr::Tuple(tuple) => {
            let items = tuple.elts.iter().map(constant).collect::<Option<Vec<Constant>>>()?;
            let joined =
                |part: fn(&Constant) -> &str| format!("({})", items.iter().map(part).collect::<Vec<&str>>().join(", "));
            Some(Constant { equal: joined(|item| &item.equal), same: joined(|item| &item.same) })
        }
        // Of another class than those above, and equal to objects of its own alone.
        other if other.is_literal_expr() => match parse::expr(other).kind {
            ExprKind::Const(object) => Some(alone(exuvia_ops::show::repr(&object))),
            _ => None,
        },
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

/// Where displays stand that are, or may be, equal to others of the module whose elements are in another
/// order.
pub(crate) fn mixed(body: &[py::Stmt]) -> BTreeSet<u32> {
    #[derive(Default)]
    struct Displays {
        known: BTreeMap<BTreeSet<String>, BTreeMap<Vec<String>, Vec<u32>>>,
        /// Whether there are some that may be equal to any.
        unknown: bool,
    }
    impl<'a> Visitor<'a> for Displays {
        fn visit_expr(&mut self, expr: &'a py::Expr) {
            if let py::Expr::Set(set) = expr {
                match set.elts.iter().map(constant).collect::<Option<Vec<Constant>>>() {
                    Some(elements) => {
                        // Of equal elements the first is kept.
                        let mut seen = BTreeSet::new();
                        let kept = elements.into_iter().filter(|element| seen.insert(element.equal.clone()));
                        let kept: Vec<String> = kept.map(|element| element.same).collect();
                        let orders = self.known.entry(kept.iter().cloned().collect()).or_default();
                        orders.entry(kept).or_default().push(set.range().start().into());
                    }
                    None => self.unknown |= folded(set) == Folded::Unknown,
                }
            }
            walk_expr(self, expr);
        }
    }
    let mut displays = Displays::default();
    body.iter().for_each(|stmt| displays.visit_stmt(stmt));
    let unknown = displays.unknown;
    let mixed = displays.known.into_values().filter(|orders| unknown || orders.len() > 1);
    mixed.flat_map(BTreeMap::into_values).flatten().collect()
}
