//! The rules by which formulas become SQL, each with its law: the condition under which both
//! have the same value for every row.
//!
//! DataFusion orders floats totally (-NaN, -∞, …, 0, …, ∞, NaN), where in Python NaN equals
//! and precedes nothing. A comparison with NULL is NULL in SQL
//! and an error in Python: it is used where the argument is not NULL, where its NULL decides
//! nothing, or where the result is NULL anyway.
//!
//! What would need a CASE stays native, which takes less time than DataFusion's CASE. What a
//! query asks of such a result needs none ([`super::compare`]).

use super::compare::{self, Test};
use super::solve::{compare_float, exact};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::functions::expr_fn::{character_length, contains, ends_with, starts_with};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, binary_expr, cast, lit};
use exuvia_engine::Object;
use exuvia_engine::formula::Formula;
use std::collections::BTreeSet;

/// Members that an `IN` may have.
const MAX_MEMBERS: usize = 64;

/// Conditions that are as fast as native code at most.
pub(super) const MAX_CONDITIONS: usize = 12;

/// A formula in SQL.
#[derive(Debug)]
pub(super) struct Said {
    /// It is over [`argument`]s.
    pub(super) expr: Expr,
    /// The parameters with whose NULL it is NULL.
    pub(super) null_with: BTreeSet<usize>,
}

/// What stands for an argument until it is put in: no rule may look into one.
fn argument(index: usize) -> Expr {
    Expr::Column(Column::new(Some("exuvia argument"), index.to_string()))
}

/// The argument that an expression stands for.
pub(super) fn argument_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column(column)
            if column.relation.as_ref().is_some_and(|relation| relation.table() == "exuvia argument") =>
        {
            column.name.parse().ok()
        }
        _ => None,
    }
}

/// What a function returns, as a value of its declared type.
pub(super) fn say(formula: &Formula, params: &[Param], returns: &DataType) -> Option<Said> {
    let rules = Rules { params, returns };
    let expr = rules.result(formula)?;
    Some(Said { null_with: null_with(&expr), expr })
}

/// What SQL asks of what a function returns.
pub(super) fn say_test(formula: &Formula, test: &Test<'_>, params: &[Param], returns: &DataType) -> Option<Said> {
    let solved = match test {
        Test::Compares(op, constant) => Rules { params, returns }.compared(formula, *op, constant),
        Test::IsIn(_) => None,
    };
    let of_branches = || {
        let formula = compare::compared(formula, test, returns);
        let expr = Rules { params, returns: &DataType::Boolean }.result(&formula)?;
        (conditions(&expr) <= MAX_CONDITIONS).then_some(expr)
    };
    let expr = solved.or_else(of_branches)?;
    Some(Said { null_with: null_with(&expr), expr })
}

/// The comparisons and tests in an expression of the rules.
fn conditions(expr: &Expr) -> usize {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And | Operator::Or, right }) => {
            conditions(left) + conditions(right)
        }
        Expr::Not(operand) => conditions(operand),
        _ => 1,
    }
}

/// What is true wherever a function returns True, or a result that passes the test, if that
/// says anything.
pub(super) fn necessary(
    formula: &Formula,
    test: Option<&Test<'_>>,
    params: &[Param],
    returns: &DataType,
) -> Option<Expr> {
    let compared;
    let formula = match test {
        None => formula,
        Some(test) => {
            compared = compare::compared(formula, test, returns);
            &compared
        }
    };
    match (Rules { params, returns: &DataType::Boolean }).necessary(formula) {
        Truth::Depends(expr) if conditions(&expr) <= MAX_CONDITIONS => Some(expr),
        _ => None,
    }
}

/// A condition, as far as it is known.
enum Truth {
    True,
    False,
    Depends(Expr),
}

impl Truth {
    fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::True, other) | (other, Truth::True) => other,
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::Depends(left), Truth::Depends(right)) => Truth::Depends(left.and(right)),
        }
    }

    fn or(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, other) | (other, Truth::False) => other,
            (Truth::True, _) | (_, Truth::True) => Truth::True,
            (Truth::Depends(left), Truth::Depends(right)) => Truth::Depends(left.or(right)),
        }
    }
}

/// An argument in the representation that formulas use.
#[derive(Debug)]
pub(super) struct Param {
    pub(super) expr: Expr,
    pub(super) ty: DataType,
}

impl Param {
    /// An int as BIGINT, a float as DOUBLE, a text and a date as they are.
    pub(super) fn new(index: usize, found: DataType, declared: &DataType) -> Option<Param> {
        use DataType::{Boolean, Date32, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, Utf8, Utf8View};
        let expr = match (&found, declared) {
            (Int8 | Int16 | Int32, Int8 | Int16 | Int32 | Int64) => cast(argument(index), Int64),
            (Float32, Float32 | Float64) => cast(argument(index), Float64),
            (Int64, Int64) | (Float64, Float64) | (Boolean, Boolean) | (Date32, Date32) => argument(index),
            (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => argument(index),
            _ => return None,
        };
        Some(Param { expr, ty: found })
    }
}

/// The parameters of a function and the type that it returns.
pub(super) struct Rules<'a> {
    pub(super) params: &'a [Param],
    pub(super) returns: &'a DataType,
}

impl Rules<'_> {
    /// What a function returns, as a value of its declared type.
    fn result(&self, formula: &Formula) -> Option<Expr> {
        match formula {
            Formula::If(parts) => self.conditional(parts),
            Formula::Const(Object::None) => Some(Expr::Literal(ScalarValue::try_from(self.returns).ok()?, None)),
            _ => self.declared(formula),
        }
    }

    /// A value that is not None, as one of the declared type.
    fn declared(&self, formula: &Formula) -> Option<Expr> {
        use DataType::{Boolean, Int64, LargeUtf8, Utf8, Utf8View};
        match self.returns {
            Boolean => self.bool(formula),
            Int64 => self.int(formula),
            Utf8 | LargeUtf8 | Utf8View => {
                let (text, ty) = self.text(formula, self.returns)?;
                Some(if ty == *self.returns { text } else { cast(text, self.returns.clone()) })
            }
            // A number that may lie outside of the type is an error of its own, and a NaN of
            // SQL may be another than the function's.
            _ => None,
        }
    }

    /// `CASE WHEN test THEN yes ELSE no END` where it can be said without CASE. A test is
    /// never NULL where it decides, and neither side can fail, so AND and OR do as well.
    fn conditional(&self, [test, yes, no]: &[Formula; 3]) -> Option<Expr> {
        use Formula::{Const, IsNone};
        // Law: NULL where the argument is NULL, if the other side is NULL there by itself.
        if let (IsNone(param), Const(Object::None)) = (test, yes)
            && let Formula::Param(index) = **param
        {
            let result = self.result(no)?;
            return null_with(&result).contains(&index).then_some(result);
        }
        if *self.returns != DataType::Boolean {
            return None;
        }
        let truth = |formula: &Formula| match formula {
            Const(Object::Bool(value)) => Some(*value),
            _ => None,
        };
        let test = self.bool(test)?;
        Some(match (truth(yes), truth(no)) {
            (Some(true), Some(false)) => test,
            (Some(false), Some(true)) => !test,
            (Some(true), _) => test.or(self.truth(no)?),
            (Some(false), _) => (!test).and(self.truth(no)?),
            (_, Some(false)) => test.and(self.truth(yes)?),
            (_, Some(true)) => (!test).or(self.truth(yes)?),
            _ => return None,
        })
    }

    /// A branch that gives a bool. NULL has no place there: `test AND NULL` is not NULL
    /// where the test is false, but the function's None is.
    fn truth(&self, formula: &Formula) -> Option<Expr> {
        match formula {
            Formula::Const(Object::None) => None,
            Formula::If(parts) if matches!(parts[1], Formula::Const(Object::None)) => None,
            other => self.result(other),
        }
    }

    /// What is true of the arguments for which a formula is True. Law: a test is not NULL on
    /// the way that Python takes, and what is NULL on the other way stands beside a false.
    fn necessary(&self, formula: &Formula) -> Truth {
        match formula {
            Formula::Unknown | Formula::Const(Object::Bool(true)) => Truth::True,
            Formula::Const(_) => Truth::False,
            Formula::If(parts) => {
                let [test, yes, no] = parts.as_ref();
                let (yes, no) = (self.necessary(yes), self.necessary(no));
                match (self.bool(test), yes, no) {
                    (_, Truth::True, Truth::True) => Truth::True,
                    (None, yes, no) => yes.or(no),
                    (Some(test), Truth::True, no) => Truth::Depends(test).or(no),
                    (Some(test), yes, Truth::True) => Truth::Depends(!test).or(yes),
                    (Some(test), yes, no) => Truth::Depends(test.clone()).and(yes).or(Truth::Depends(!test).and(no)),
                }
            }
            other => self.bool(other).map_or(Truth::True, Truth::Depends),
        }
    }

    fn bool(&self, formula: &Formula) -> Option<Expr> {
        match formula {
            Formula::Const(Object::Bool(value)) => Some(lit(*value)),
            Formula::Param(index) => self.param(*index, &DataType::Boolean),
            Formula::IsNone(param) => match **param {
                Formula::Param(index) => Some(self.params.get(index)?.expr.clone().is_null()),
                _ => None,
            },
            Formula::Call { op: "dict.value", .. } => {
                let is_true = Test::Compares(Operator::Eq, &ScalarValue::Boolean(Some(true)));
                match compare::compared(formula, &is_true, &DataType::Boolean) {
                    Formula::Unknown => None,
                    members => self.bool(&members),
                }
            }
            Formula::Call { op, args, .. } => self.predicate(op, args),
            _ => None,
        }
    }

    fn predicate(&self, op: &str, args: &[Formula]) -> Option<Expr> {
        let (class, name) = op.split_once('.')?;
        if let Some(bounded) = self.bounded(class, name, args) {
            return Some(bounded);
        }
        match (class, name, args) {
            ("bool", "not", [operand]) => Some(!self.bool(operand)?),
            ("bool", "truth" | "bool", [operand]) => self.bool(operand),
            // Law: every int that is not 0 is true, every text that is not empty.
            ("int", "truth" | "bool", [operand]) => Some(self.int(operand)?.not_eq(lit(0_i64))),
            ("str", "truth" | "bool", [operand]) => {
                let (text, ty) = self.text(operand, &DataType::Utf8View)?;
                Some(text.not_eq(literal("", &ty)?))
            }
            ("int", "ge" | "lt", [Formula::Call { op: "dict.find", args, .. }, Formula::Const(zero)])
                if *zero == Object::int(0) =>
            {
                self.member(args, name == "lt")
            }
            // Law: ints of 64 bits are compared alike.
            ("int", _, [left, right]) => Some(binary_expr(self.int(left)?, comparison(name)?, self.int(right)?)),
            // Law: the order of UTF-8 bytes is that of code points.
            ("str", "eq" | "ne" | "lt" | "le" | "gt" | "ge", [left, right]) => {
                let ([left, right], _) = self.texts([left, right])?;
                Some(binary_expr(left, comparison(name)?, right))
            }
            ("float", _, [left, Formula::Const(Object::Float(right))]) => {
                compare_float(&self.float(left)?, comparison(name)?, *right)
            }
            ("float", _, [Formula::Const(Object::Float(left)), right]) => {
                compare_float(&self.float(right)?, comparison(name)?.swap()?, *left)
            }
            // Law: an int that is a float without rounding compares as that float.
            ("float_int", _, [left, Formula::Const(Object::Int(right))]) => {
                compare_float(&self.float(left)?, comparison(name)?, exact(right.to_i64()?)?)
            }
            ("int_float", _, [Formula::Const(Object::Int(left)), right]) => {
                compare_float(&self.float(right)?, comparison(name)?.swap()?, exact(left.to_i64()?)?)
            }
            // Law: both look at bytes, without a window.
            ("str", "startswith" | "endswith", [text, part, Formula::Const(start), Formula::Const(end)])
                if *start == Object::int(0) && *end == Object::int(i64::MAX) =>
            {
                let ([text, part], _) = self.texts([text, part])?;
                Some(if name == "startswith" { starts_with(text, part) } else { ends_with(text, part) })
            }
            ("str", "contains", [part, text]) => {
                let ([text, part], _) = self.texts([text, part])?;
                Some(contains(text, part))
            }
            _ => None,
        }
    }

    /// `x in {…}`, `x not in {…}` for members of the class of `x`. Law: both compare by `=`.
    fn member(&self, args: &[Formula], negated: bool) -> Option<Expr> {
        let [Formula::Const(container), item @ Formula::Param(index)] = args else { return None };
        let members: Vec<&Object> = match container {
            Object::Set(set) => set.members.entries().iter().map(|entry| &entry.0).collect(),
            Object::Dict(dict) => dict.entries().iter().map(|entry| &entry.0).collect(),
            _ => return None,
        };
        if members.is_empty() || members.len() > MAX_MEMBERS {
            return None;
        }
        let param = self.params.get(*index)?;
        let (item, members): (Expr, Option<Vec<Expr>>) = if is_text(&param.ty) {
            let text = |member: &&Object| match member {
                Object::Str(text) => literal(text, &param.ty),
                _ => None,
            };
            (param.expr.clone(), members.iter().map(text).collect())
        } else {
            let int = |member: &&Object| match member {
                Object::Int(value) => value.to_i64().map(lit),
                _ => None,
            };
            (self.int(item)?, members.iter().map(int).collect())
        };
        Some(item.in_list(members?, negated))
    }

    fn int(&self, formula: &Formula) -> Option<Expr> {
        match formula {
            Formula::Const(Object::Int(value)) => Some(lit(value.to_i64()?)),
            Formula::Param(index) => self.int_param(*index),
            // Law: code points are counted by both.
            Formula::Call { op: "str.len", args, .. } => match args.as_slice() {
                [text] => {
                    let (text, _) = self.text(text, &DataType::Utf8View)?;
                    Some(cast(character_length(text), DataType::Int64))
                }
                _ => None,
            },
            // Law: the result is known to fit in 64 bits, where Arrow's arithmetic is exact.
            Formula::Call { op, args, fits: true } => match (*op, args.as_slice()) {
                ("int.add", [left, right]) => Some(self.int(left)? + self.int(right)?),
                ("int.sub", [left, right]) => Some(self.int(left)? - self.int(right)?),
                ("int.mul", [left, right]) => Some(self.int(left)? * self.int(right)?),
                ("int.mod", [left, Formula::Const(Object::Int(divisor))]) => {
                    modulo(&self.int(left)?, divisor.to_i64()?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn int_param(&self, index: usize) -> Option<Expr> {
        use DataType::{Int8, Int16, Int32, Int64};
        let param = self.params.get(index)?;
        matches!(param.ty, Int8 | Int16 | Int32 | Int64).then(|| param.expr.clone())
    }

    fn float(&self, formula: &Formula) -> Option<Expr> {
        match formula {
            Formula::Const(Object::Float(value)) => Some(lit(*value)),
            Formula::Param(index) => {
                let param = self.params.get(*index)?;
                matches!(param.ty, DataType::Float32 | DataType::Float64).then(|| param.expr.clone())
            }
            // Law: both round to the nearest double, ties to even.
            Formula::Call { op, args, .. } => match (*op, args.as_slice()) {
                ("int.to_float", [operand]) => Some(cast(self.int(operand)?, DataType::Float64)),
                ("float.add", [left, right]) => Some(self.float(left)? + self.float(right)?),
                ("float.sub", [left, right]) => Some(self.float(left)? - self.float(right)?),
                ("float.mul", [left, right]) => Some(self.float(left)? * self.float(right)?),
                // Python raises for a divisor of zero only.
                ("float.div", [left, Formula::Const(Object::Float(divisor))]) if *divisor != 0.0 => {
                    Some(self.float(left)? / lit(*divisor))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A text and its layout: a constant takes the one that is asked for.
    fn text(&self, formula: &Formula, layout: &DataType) -> Option<(Expr, DataType)> {
        match formula {
            Formula::Const(Object::Str(text)) => Some((literal(text, layout)?, layout.clone())),
            Formula::Param(index) => {
                let param = self.params.get(*index)?;
                is_text(&param.ty).then(|| (param.expr.clone(), param.ty.clone()))
            }
            _ => None,
        }
    }

    /// Two texts of one layout.
    fn texts(&self, formulas: [&Formula; 2]) -> Option<([Expr; 2], DataType)> {
        let layout = formulas.iter().find_map(|formula| match formula {
            Formula::Param(index) => Some(self.params.get(*index)?.ty.clone()),
            _ => None,
        })?;
        let [(left, of_left), (right, of_right)] = [self.text(formulas[0], &layout)?, self.text(formulas[1], &layout)?];
        (of_left == of_right).then_some(([left, right], layout))
    }

    fn param(&self, index: usize, ty: &DataType) -> Option<Expr> {
        let param = self.params.get(index)?;
        (param.ty == *ty).then(|| param.expr.clone())
    }
}

/// The parameters with whose NULL an expression of the rules above is NULL.
fn null_with(expr: &Expr) -> BTreeSet<usize> {
    match expr {
        // NULL AND false is false.
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And | Operator::Or, right }) => {
            null_with(left).intersection(&null_with(right)).copied().collect()
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_strict(*op) => {
            null_with(left).union(&null_with(right)).copied().collect()
        }
        Expr::Not(operand) => null_with(operand),
        Expr::Cast(cast) => null_with(&cast.expr),
        Expr::InList(list) => null_with(&list.expr),
        // Those that the rules make are strict.
        Expr::ScalarFunction(function) => function.args.iter().flat_map(null_with).collect(),
        _ => argument_of(expr).into_iter().collect(),
    }
}

/// Whether each int that a formula makes fits in 64 bits, so that the function returns it.
pub(super) fn fits(formula: &Formula) -> bool {
    match formula {
        Formula::Call { op, args, fits: known } => {
            (*known || matches!(*op, "int.floordiv" | "date.year" | "date.month" | "date.day")) && args.iter().all(fits)
        }
        _ => true,
    }
}

/// Whether an operator with a NULL gives NULL.
fn is_strict(op: Operator) -> bool {
    use Operator::{Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Plus};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | Plus | Minus | Multiply | Divide | Modulo)
}

fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn literal(text: &str, layout: &DataType) -> Option<Expr> {
    let text = Some(text.to_string());
    let value = match layout {
        DataType::Utf8 => ScalarValue::Utf8(text),
        DataType::LargeUtf8 => ScalarValue::LargeUtf8(text),
        DataType::Utf8View => ScalarValue::Utf8View(text),
        _ => return None,
    };
    Some(Expr::Literal(value, None))
}

pub(super) fn comparison(name: &str) -> Option<Operator> {
    Some(match name {
        "eq" => Operator::Eq,
        "ne" => Operator::NotEq,
        "lt" => Operator::Lt,
        "le" => Operator::LtEq,
        "gt" => Operator::Gt,
        "ge" => Operator::GtEq,
        _ => return None,
    })
}

/// The operation by which Python compares two of a class.
pub(super) fn comparison_name(class: &str, op: Operator) -> Option<&'static str> {
    let names = match class {
        "int" => ["int.eq", "int.ne", "int.lt", "int.le", "int.gt", "int.ge"],
        "float" => ["float.eq", "float.ne", "float.lt", "float.le", "float.gt", "float.ge"],
        "str" => ["str.eq", "str.ne", "str.lt", "str.le", "str.gt", "str.ge"],
        _ => return None,
    };
    names.into_iter().find(|name| name.split_once('.').and_then(|(_, name)| comparison(name)) == Some(op))
}

/// Python's `x % divisor` for a positive divisor. Law: SQL's remainder has the sign of the
/// dividend; added to the divisor it is positive, and no sum leaves 64 bits.
fn modulo(x: &Expr, divisor: i64) -> Option<Expr> {
    let fits = (1..=1 << 62).contains(&divisor);
    fits.then(|| (x.clone() % lit(divisor) + lit(divisor)) % lit(divisor))
}
