//! Comparisons of arithmetic with a constant, as comparisons of its argument: `x * 1.21 + 3
//! < 20` is `x <= 14.04…`, which statistics of a column can be compared with.
//!
//! Law: adding a constant, and multiplying or dividing by one that is not zero, never
//! reverses (or, for a negative one, always reverses) the order of two floats that are not
//! NaN, however they are rounded; of ints likewise, and floor division by a positive one; the
//! year never falls from one day to the next.
//! (Zeros are equal to Python and to DataFusion.)
//! So such a comparison holds for all arguments up to a certain one, or from one on. That
//! one is found by bisection with the arithmetic itself: no bit is lost.

use datafusion::logical_expr::Operator;
use exuvia_engine::formula::Formula;
use exuvia_engine::{Object, calendar};

/// Arithmetic over one parameter that keeps or reverses the order of its values.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) param: usize,
    /// From the parameter outwards.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    AddInt(i64),
    SubFromInt(i64),
    MulInt(i64),
    FloorDiv(i64),
    ToFloat,
    AddFloat(f64),
    SubFromFloat(f64),
    MulFloat(f64),
    DivFloat(f64),
    /// The year of a day.
    Year,
}

/// A value on the way.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Number {
    /// Python's ints have no bounds; a chain that leaves 128 bits is given up.
    Int(i128),
    Float(f64),
}

/// The arguments for which a comparison holds, NaN aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound<T> {
    AtMost(T),
    AtLeast(T),
    Always,
    Never,
}

impl Chain {
    /// The arithmetic of a formula, which may be its parameter as it is.
    pub(super) fn of(formula: &Formula) -> Option<Chain> {
        use Formula::Const;
        let (op, args) = match formula {
            Formula::Param(param) => return Some(Chain { param: *param, steps: vec![] }),
            Formula::Call { op, args, .. } => (*op, args.as_slice()),
            _ => return None,
        };
        let int = |object: &Object| match object {
            Object::Int(value) => value.to_i64(),
            _ => None,
        };
        // One that no sum of finite values turns into NaN.
        let float = |object: &Object| match object {
            Object::Float(value) if value.is_finite() => Some(*value),
            _ => None,
        };
        let (inner, step) = match (op, args) {
            ("int.add", [inner, Const(by)] | [Const(by), inner]) => (inner, Step::AddInt(int(by)?)),
            ("int.sub", [inner, Const(by)]) => (inner, Step::AddInt(int(by)?.checked_neg()?)),
            ("int.sub", [Const(from), inner]) => (inner, Step::SubFromInt(int(from)?)),
            ("int.mul", [inner, Const(by)] | [Const(by), inner]) => {
                (inner, Step::MulInt(int(by).filter(|by| *by != 0)?))
            }
            ("int.floordiv", [inner, Const(by)]) => (inner, Step::FloorDiv(int(by).filter(|by| *by > 0)?)),
            ("int.to_float", [inner]) => (inner, Step::ToFloat),
            ("date.year", [inner]) => (inner, Step::Year),
            ("float.add", [inner, Const(by)] | [Const(by), inner]) => (inner, Step::AddFloat(float(by)?)),
            ("float.sub", [inner, Const(by)]) => (inner, Step::AddFloat(-float(by)?)),
            ("float.sub", [Const(from), inner]) => (inner, Step::SubFromFloat(float(from)?)),
            ("float.mul", [inner, Const(by)] | [Const(by), inner]) => {
                (inner, Step::MulFloat(float(by).filter(|by| *by != 0.0)?))
            }
            ("float.div", [inner, Const(by)]) => (inner, Step::DivFloat(float(by).filter(|by| *by != 0.0)?)),
            _ => return None,
        };
        let mut chain = Chain::of(inner)?;
        chain.steps.push(step);
        Some(chain)
    }

    /// Whether it is the parameter as it is.
    pub(super) fn is_plain(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether it gives an int.
    pub(super) fn gives_int(&self) -> bool {
        matches!(self.apply(Number::Int(0)), Some(Number::Int(_)))
    }

    fn apply(&self, argument: Number) -> Option<Number> {
        self.steps.iter().try_fold(argument, |value, step| step.apply(value))
    }

    /// Where `chain(x) <op> constant` holds for ints from `least` to `most`. The operator is
    /// one of order.
    pub(super) fn ints(&self, op: Operator, constant: Number, least: i64, most: i64) -> Option<Bound<i64>> {
        let holds = |argument: i64| compare(self.apply(Number::Int(argument.into()))?, op, constant);
        bisect(least, most, holds)
    }

    /// Where `chain(x) <op> constant` holds for floats.
    pub(super) fn floats(&self, op: Operator, constant: Number) -> Option<Bound<f64>> {
        let holds = |rank: i64| compare(self.apply(Number::Float(unrank(rank)))?, op, constant);
        let found = bisect(rank(f64::NEG_INFINITY), rank(f64::INFINITY), holds)?;
        Some(match found {
            Bound::AtMost(rank) => Bound::AtMost(unrank(rank)),
            Bound::AtLeast(rank) => Bound::AtLeast(unrank(rank)),
            Bound::Always => Bound::Always,
            Bound::Never => Bound::Never,
        })
    }
}

impl Step {
    fn apply(self, value: Number) -> Option<Number> {
        use Number::{Float, Int};
        Some(match (self, value) {
            (Step::AddInt(by), Int(value)) => Int(value.checked_add(by.into())?),
            (Step::SubFromInt(from), Int(value)) => Int(i128::from(from).checked_sub(value)?),
            (Step::MulInt(by), Int(value)) => Int(value.checked_mul(by.into())?),
            (Step::FloorDiv(by), Int(value)) => Int(value.div_euclid(by.into())),
            // Python rounds to nearest, as this does.
            (Step::ToFloat, Int(value)) => Float(value as f64),
            (Step::Year, Int(days)) => {
                let days = i64::try_from(days).ok()?.clamp(*calendar::DAYS.start(), *calendar::DAYS.end());
                Int(calendar::civil(days).0.into())
            }
            (Step::AddFloat(by), Float(value)) => Float(value + by),
            (Step::SubFromFloat(from), Float(value)) => Float(from - value),
            (Step::MulFloat(by), Float(value)) => Float(value * by),
            (Step::DivFloat(by), Float(value)) => Float(value / by),
            _ => return None,
        })
    }
}

fn compare(left: Number, op: Operator, right: Number) -> Option<bool> {
    let found = match (left, right) {
        (Number::Int(left), Number::Int(right)) => left.cmp(&right),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right)?,
        _ => return None,
    };
    Some(match op {
        Operator::Lt => found.is_lt(),
        Operator::LtEq => found.is_le(),
        Operator::Gt => found.is_gt(),
        Operator::GtEq => found.is_ge(),
        _ => return None,
    })
}

/// Where something holds that holds up to a value, or from one on.
fn bisect(least: i64, most: i64, holds: impl Fn(i64) -> Option<bool>) -> Option<Bound<i64>> {
    let first = holds(least)?;
    if first == holds(most)? {
        return Some(if first { Bound::Always } else { Bound::Never });
    }
    // It is at `low` what it is at the least, and at `high` what it is at the most.
    let (mut low, mut high) = (least, most);
    while i128::from(high) - i128::from(low) > 1 {
        let middle = i64::try_from((i128::from(low) + i128::from(high)).div_euclid(2)).ok()?;
        if holds(middle)? == first {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(if first { Bound::AtMost(low) } else { Bound::AtLeast(high) })
}

/// The place of a float that is not NaN in their order; -0.0 is one before 0.0.
fn rank(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63) & i64::MAX)
}

fn unrank(rank: i64) -> f64 {
    f64::from_bits((rank ^ ((rank >> 63) & i64::MAX)).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: &[f64] =
        &[0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 3.7, 1e16, -1e16, 1e308, -1e308, 5e-324, -5e-324, 1e-300, 12_345.678];

    fn floats(steps: Vec<Step>) -> Chain {
        Chain { param: 0, steps }
    }

    #[test]
    fn ranks_are_in_order() {
        let mut sorted: Vec<f64> = VALUES.iter().copied().chain([f64::INFINITY, f64::NEG_INFINITY]).collect();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| rank(pair[0]) < rank(pair[1])));
        assert!(sorted.iter().all(|value| unrank(rank(*value)).to_bits() == value.to_bits()));
    }

    /// Around the bound, and far from it, the comparison is what the bound says.
    #[test]
    fn bounds_of_floats_are_exact() {
        for &a in VALUES {
            for &b in VALUES.iter().filter(|b| **b != 0.0) {
                for steps in [
                    vec![Step::AddFloat(a), Step::MulFloat(b)],
                    vec![Step::MulFloat(b), Step::SubFromFloat(a)],
                    vec![Step::DivFloat(b), Step::AddFloat(a), Step::DivFloat(-3.0)],
                ] {
                    let chain = floats(steps);
                    for &constant in VALUES {
                        for op in [Operator::Lt, Operator::LtEq, Operator::Gt, Operator::GtEq] {
                            let bound = chain.floats(op, Number::Float(constant)).unwrap();
                            let near = match bound {
                                Bound::AtMost(at) | Bound::AtLeast(at) => (-2..=2).map(|by| rank(at) + by).collect(),
                                _ => vec![],
                            };
                            let near = near.into_iter().map(unrank).filter(|x| !x.is_nan());
                            let far = VALUES.iter().copied().chain([f64::INFINITY, f64::NEG_INFINITY]);
                            for x in near.chain(far) {
                                let holds = match bound {
                                    Bound::AtMost(at) => x <= at,
                                    Bound::AtLeast(at) => x >= at,
                                    Bound::Always => true,
                                    Bound::Never => false,
                                };
                                let value = chain.apply(Number::Float(x)).unwrap();
                                let expected = compare(value, op, Number::Float(constant)).unwrap();
                                assert_eq!(holds, expected, "{chain:?} {op} {constant} at {x:e}, bound {bound:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_of_ints_are_exact() {
        for steps in [
            vec![Step::MulInt(3), Step::AddInt(-7)],
            vec![Step::SubFromInt(10), Step::MulInt(-2)],
            vec![Step::FloorDiv(10)],
            vec![Step::FloorDiv(7), Step::ToFloat, Step::MulFloat(-0.1)],
        ] {
            let chain = floats(steps);
            let is_float = matches!(chain.apply(Number::Int(0)), Some(Number::Float(_)));
            for constant in -60..60 {
                let constant =
                    if is_float { Number::Float(f64::from(constant) / 10.0) } else { Number::Int(constant.into()) };
                for op in [Operator::Lt, Operator::LtEq, Operator::Gt, Operator::GtEq] {
                    let bound = chain.ints(op, constant, -1000, 999).unwrap();
                    for x in -1000..=999 {
                        let holds = match bound {
                            Bound::AtMost(at) => x <= at,
                            Bound::AtLeast(at) => x >= at,
                            Bound::Always => true,
                            Bound::Never => false,
                        };
                        let value = chain.apply(Number::Int(x.into())).unwrap();
                        assert_eq!(holds, compare(value, op, constant).unwrap(), "{chain:?} {op} {constant:?} at {x}");
                    }
                }
            }
        }
    }
}
