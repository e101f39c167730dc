//! Intervals of integers, and how operations map them.
//!
//! The ends of an interval are integers of 64 bits. What it says of larger ones is the
//! matter of a [`Domain`]: native code has none, since a sum that does not fit has left
//! the fast path, but the evaluator, which runs the same module, has. A result is cut to 64
//! bits, and whether anything was cut off says whether native code needs a check.

use exuvia_ir::Int;
use exuvia_ops::core::{Cmp, CoreOp};

/// What an interval says of integers beyond 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// There are none.
    Native,
    /// An interval that begins at the smallest integer of 64 bits, or ends at the largest,
    /// has no end on that side.
    Any,
}

impl Domain {
    /// The next smaller integer, as an upper end.
    fn before(self, end: i64) -> i64 {
        if self == Domain::Any && end == i64::MAX { end } else { end.saturating_sub(1) }
    }

    /// The next larger integer, as a lower end.
    fn after(self, end: i64) -> i64 {
        if self == Domain::Any && end == i64::MIN { end } else { end.saturating_add(1) }
    }
}

/// The integers from `lo` to `hi`; none where `lo > hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) lo: i64,
    pub(crate) hi: i64,
}

/// Lengths and positions: no string or list that fits in memory has more elements.
pub(crate) const LENGTH: i64 = 1 << 40;

impl Interval {
    pub(crate) const FULL: Interval = Interval { lo: i64::MIN, hi: i64::MAX };
    pub(crate) const EMPTY: Interval = Interval { lo: i64::MAX, hi: i64::MIN };
    /// What has both ends in [`Domain::Any`].
    pub(crate) const ENDED: Interval = Interval { lo: i64::MIN + 1, hi: i64::MAX - 1 };

    pub(crate) fn new(lo: i64, hi: i64) -> Interval {
        Interval { lo, hi }
    }

    pub(crate) fn exactly(value: i64) -> Interval {
        Interval { lo: value, hi: value }
    }

    /// That of an integer of more than 64 bits.
    pub(crate) fn beyond(domain: Domain, value: &Int) -> Interval {
        match domain {
            Domain::Native => Interval::FULL,
            Domain::Any => Interval::exactly(value.clamp_i64()),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    pub(crate) fn contains(self, value: i64) -> bool {
        self.lo <= value && value <= self.hi
    }

    pub(crate) fn is_within(self, other: Interval) -> bool {
        self.is_empty() || (other.lo <= self.lo && self.hi <= other.hi)
    }

    pub(crate) fn join(self, other: Interval) -> Interval {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) },
        }
    }

    pub(crate) fn meet(self, other: Interval) -> Interval {
        Interval { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Grows so that a chain of such steps is short: a bound that moved goes to the next
    /// of a few marks.
    pub(crate) fn widen(self, next: Interval) -> Interval {
        if self.is_empty() {
            return next;
        }
        const LOWS: [i64; 4] = [0, -1, -LENGTH, i64::MIN];
        const HIGHS: [i64; 4] = [0, 0x10_ffff, 2 * LENGTH, i64::MAX];
        let mut wide = self;
        if next.lo < self.lo {
            wide.lo = LOWS.into_iter().find(|mark| *mark <= next.lo).unwrap_or(i64::MIN);
        }
        if next.hi > self.hi {
            wide.hi = HIGHS.into_iter().find(|mark| *mark >= next.hi).unwrap_or(i64::MAX);
        }
        wide
    }

    /// What is left of the operands of a comparison that holds.
    pub(crate) fn compared(domain: Domain, cmp: Cmp, a: Interval, b: Interval) -> (Interval, Interval) {
        let up_to = |a: Interval, hi: i64| Interval { lo: a.lo, hi: a.hi.min(hi) };
        let from = |a: Interval, lo: i64| Interval { lo: a.lo.max(lo), hi: a.hi };
        // Without the one value at an end that is excluded.
        let without = |a: Interval, b: Interval| {
            if b.lo != b.hi {
                return a;
            }
            let lo = if a.lo == b.lo { domain.after(a.lo) } else { a.lo };
            let hi = if a.hi == b.lo { domain.before(a.hi) } else { a.hi };
            Interval { lo, hi }
        };
        match cmp {
            Cmp::Eq => (a.meet(b), a.meet(b)),
            Cmp::Ne => (without(a, b), without(b, a)),
            Cmp::Lt => (up_to(a, domain.before(b.hi)), from(b, domain.after(a.lo))),
            Cmp::Le => (up_to(a, b.hi), from(b, a.lo)),
            Cmp::Gt => (from(a, domain.after(b.lo)), up_to(b, domain.before(a.hi))),
            Cmp::Ge => (from(a, b.lo), up_to(b, a.hi)),
        }
    }

    /// The outcome of a comparison, where intervals of [`Domain::Any`] decide it.
    pub(crate) fn decide(cmp: Cmp, a: Interval, b: Interval) -> Option<bool> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (less, greater) = (a.hi < b.lo, a.lo > b.hi);
        // Ends that meet decide nothing where they are no ends.
        let ends = |lo: i64, hi: i64| lo > i64::MIN && hi < i64::MAX;
        let (at_most, at_least) = (a.hi <= b.lo && ends(b.lo, a.hi), a.lo >= b.hi && ends(a.lo, b.hi));
        let equal = at_most && at_least;
        match cmp {
            Cmp::Eq if equal => Some(true),
            Cmp::Eq => (less || greater).then_some(false),
            Cmp::Ne if equal => Some(false),
            Cmp::Ne => (less || greater).then_some(true),
            Cmp::Lt if less => Some(true),
            Cmp::Lt => at_least.then_some(false),
            Cmp::Le if at_most => Some(true),
            Cmp::Le => greater.then_some(false),
            Cmp::Gt if greater => Some(true),
            Cmp::Gt => at_most.then_some(false),
            Cmp::Ge if at_least => Some(true),
            Cmp::Ge => less.then_some(false),
        }
    }
}

/// The comparison that holds where `cmp` does not.
pub(crate) fn negated(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Eq => Cmp::Ne,
        Cmp::Ne => Cmp::Eq,
        Cmp::Lt => Cmp::Ge,
        Cmp::Ge => Cmp::Lt,
        Cmp::Le => Cmp::Gt,
        Cmp::Gt => Cmp::Le,
    }
}

/// A result before it is cut to 64 bits.
#[derive(Clone, Copy)]
struct Wide(i128, i128);

/// Stands for an end that is none.
const INFINITE: i128 = 1 << 100;

impl Wide {
    fn of(domain: Domain, a: Interval) -> Wide {
        match domain {
            Domain::Native => Wide(i128::from(a.lo), i128::from(a.hi)),
            Domain::Any => Wide(
                if a.lo == i64::MIN { -INFINITE } else { i128::from(a.lo) },
                if a.hi == i64::MAX { INFINITE } else { i128::from(a.hi) },
            ),
        }
    }

    /// The smallest and the largest of a function that is monotonic in each operand.
    fn corners(a: Wide, b: Wide, f: impl Fn(i128, i128) -> i128) -> Wide {
        let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        Wide(all.into_iter().fold(i128::MAX, i128::min), all.into_iter().fold(i128::MIN, i128::max))
    }

    fn cut(self) -> (Interval, bool) {
        let clamp = |value: i128| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        let cut = Interval { lo: clamp(self.0), hi: clamp(self.1) };
        (cut, i128::from(cut.lo) == self.0 && i128::from(cut.hi) == self.1)
    }
}

/// The interval of a core operation's result, and whether it fits in 64 bits as it is where
/// its operands do.
pub(crate) fn of_core(domain: Domain, op: CoreOp, args: &[Interval]) -> (Interval, bool) {
    if args.iter().any(|arg| arg.is_empty()) {
        // Never computed.
        return (Interval::EMPTY, true);
    }
    let wide = |a: &Interval| Wide::of(domain, *a);
    match (op, args) {
        (CoreOp::BoolToInt, _) => (Interval::new(0, 1), true),
        (CoreOp::StrLen | CoreOp::StrByteLen | CoreOp::ListLen, _) => (Interval::new(0, LENGTH), true),
        (CoreOp::DictFind, _) => (Interval::new(-1, LENGTH), true),
        (CoreOp::Identity, [a]) => (*a, true),
        (CoreOp::IntNeg, [a]) => Wide(-wide(a).1, -wide(a).0).cut(),
        (CoreOp::IntInvert, [a]) => Wide(-wide(a).1 - 1, -wide(a).0 - 1).cut(),
        (CoreOp::IntAbs, [a]) => {
            let Wide(lo, hi) = wide(a);
            let least = if lo <= 0 && hi >= 0 { 0 } else { lo.abs().min(hi.abs()) };
            Wide(least, lo.abs().max(hi.abs())).cut()
        }
        (_, [a, b]) => binary(domain, op, *a, *b),
        _ => (Interval::FULL, false),
    }
}

fn binary(domain: Domain, op: CoreOp, a: Interval, b: Interval) -> (Interval, bool) {
    let (wide_a, wide_b) = (Wide::of(domain, a), Wide::of(domain, b));
    // What has no end has none when it is divided.
    let divided = |a: i128, by: &dyn Fn(i128) -> i128| if a.abs() >= INFINITE { a } else { by(a) };
    let natural = a.lo >= 0 && b.lo >= 0;
    match op {
        CoreOp::IntAdd => Wide(wide_a.0 + wide_b.0, wide_a.1 + wide_b.1).cut(),
        CoreOp::IntSub => Wide(wide_a.0 - wide_b.1, wide_a.1 - wide_b.0).cut(),
        CoreOp::IntMul => Wide::corners(wide_a, wide_b, i128::saturating_mul).cut(),
        CoreOp::IntFloorDiv if b.lo > 0 => Wide::corners(wide_a, wide_b, |a, b| divided(a, &|a| a.div_euclid(b))).cut(),
        CoreOp::IntFloorDiv => {
            // The quotient is never further from zero than the dividend; the one that does
            // not fit is the smallest integer divided by -1.
            let most = wide_a.0.abs().max(wide_a.1.abs());
            let fits = a.lo > i64::MIN || !b.contains(-1);
            (Wide(-most, most).cut().0, fits)
        }
        CoreOp::IntMod => {
            let fits = a.lo > i64::MIN || !b.contains(-1);
            let rest = if b.lo > 0 {
                let most = if a.lo >= 0 { a.hi.min(domain.before(b.hi)) } else { domain.before(b.hi) };
                let same = a.lo >= 0 && a.hi < b.lo;
                Interval::new(if same { a.lo } else { 0 }, most)
            } else {
                // Between zero and the divisor, with its sign.
                let (lo, hi) = (domain.after(b.lo).min(0), domain.before(b.hi).max(0));
                Interval::new(lo, hi)
            };
            (rest, fits)
        }
        CoreOp::IntAnd if a.lo >= 0 || b.lo >= 0 => {
            let most = match (a.lo >= 0, b.lo >= 0) {
                (true, true) => a.hi.min(b.hi),
                (true, false) => a.hi,
                _ => b.hi,
            };
            (Interval::new(0, most), true)
        }
        CoreOp::IntOr | CoreOp::IntXor if natural => {
            // No bit above the highest of either operand.
            let bits = 64 - a.hi.max(b.hi).leading_zeros();
            let most = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
            (Interval::new(if op == CoreOp::IntOr { a.lo.max(b.lo) } else { 0 }, most), true)
        }
        CoreOp::IntAnd | CoreOp::IntOr | CoreOp::IntXor => (Interval::FULL, true),
        CoreOp::IntShl if b.lo >= 0 && b.hi < 63 => {
            Wide::corners(wide_a, wide_b, |a, b| a.saturating_mul(1 << b)).cut()
        }
        CoreOp::IntShr if b.lo >= 0 => Wide::corners(wide_a, wide_b, |a, b| divided(a, &|a| a >> b.min(64))).cut(),
        CoreOp::IntShr => (Interval::new(a.lo.min(0), a.hi.max(0)), true),
        _ => (Interval::FULL, false),
    }
}

/// Whether a result has the low bits of an operand that a constant says, and no others: then native code
/// may compute the operand without checks.
pub(crate) fn masks(op: CoreOp, args: &[Interval]) -> bool {
    let is_known = |arg: &Interval| arg.lo == arg.hi;
    match (op, args) {
        (CoreOp::IntAnd, [a, b]) => [a, b].into_iter().any(|mask| is_known(mask) && mask.lo >= 0),
        (CoreOp::IntMod, [_, modulus]) => is_known(modulus) && modulus.lo > 0 && modulus.lo.count_ones() == 1,
        _ => false,
    }
}

/// The interval of an operation with a kernel, by its name.
pub(crate) fn of_kernel(name: &str) -> Interval {
    match name {
        "str.find" | "str.rfind" => Interval::new(-1, LENGTH),
        "str.index" | "str.rindex" | "str.next_byte" | "int.bit_length" | "int.bit_count" => Interval::new(0, LENGTH),
        // The empty string occurs once more than there are characters.
        "str.count" => Interval::new(0, LENGTH + 1),
        "str.ord" => Interval::new(0, 0x10_ffff),
        _ => Interval::FULL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exuvia_ir::Object;
    use exuvia_ops::cx::Cx;
    use exuvia_ops::def::Body;

    const POINTS: [i64; 15] =
        [i64::MIN, i64::MIN + 1, -(1 << 40), -97, -3, -2, -1, 0, 1, 2, 3, 97, 1 << 40, i64::MAX - 1, i64::MAX];

    fn int(object: &Object) -> Option<Int> {
        if let Object::Int(value) = object { Some(value.clone()) } else { None }
    }

    /// Whether an integer lies within an interval.
    fn within(domain: Domain, range: Interval, value: &Int) -> bool {
        match value.to_i64() {
            Some(value) => range.contains(value),
            None if domain == Domain::Native => false,
            None if value.to_big() < Int::from(0).to_big() => range.lo == i64::MIN,
            None => range.hi == i64::MAX,
        }
    }

    /// Integers of all sizes; those of 64 bits are the ends of the intervals of the tests.
    fn points() -> Vec<Int> {
        let far = Int::from(1).to_big() << 70;
        POINTS.iter().map(|point| Int::from(*point)).chain([Int::from_big(-&far), Int::from_big(far)]).collect()
    }

    /// Every result of operands within intervals lies within the interval of the result,
    /// and fits where that is claimed: for all intervals between a few points.
    #[test]
    fn results_lie_within() {
        let ends = |lo: i64| POINTS.into_iter().filter(move |hi| lo <= *hi).map(move |hi| Interval::new(lo, hi));
        let intervals: Vec<Interval> = POINTS.into_iter().flat_map(ends).collect();
        let points = points();
        let mut cx = Cx::for_folding();
        for def in exuvia_ops::core::all() {
            let Body::Core(op) = def.body else { continue };
            let two = [exuvia_ir::Type::Int, exuvia_ir::Type::Int];
            if def.params.len() != 2 || !def.accepts(&two) || (def.result)(&two) != exuvia_ir::Type::Int {
                continue;
            }
            // The operation is evaluated once for each pair of points.
            let mut results = Vec::new();
            for a in &points {
                for b in &points {
                    let value = (def.eval)(&mut cx, &[Object::Int(a.clone()), Object::Int(b.clone())]);
                    if let Some(value) = value.ok().and_then(|object| int(&object)) {
                        results.push((a, b, value));
                    }
                }
            }
            for domain in [Domain::Native, Domain::Any] {
                for a in &intervals {
                    for b in &intervals {
                        let (range, fits) = of_core(domain, op, &[*a, *b]);
                        for (x, y, value) in &results {
                            if !within(domain, *a, x) || !within(domain, *b, y) {
                                continue;
                            }
                            let is_small = value.to_i64().is_some();
                            let what = || format!("{} {domain:?} {a:?} {b:?}: {x:?} {y:?}", def.name);
                            // Native code leaves a result that does not fit.
                            if is_small || domain == Domain::Any {
                                assert!(within(domain, range, value), "{}", what());
                            }
                            if domain == Domain::Native {
                                assert!(is_small || !fits, "{}", what());
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn comparisons_keep_what_satisfies_them() {
        let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
        let points = points();
        for cmp in [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge] {
            let intervals: Vec<Interval> =
                ends.iter().flat_map(|lo| ends.iter().map(|hi| Interval::new(*lo, *hi))).collect();
            for domain in [Domain::Native, Domain::Any] {
                for left in &intervals {
                    for right in &intervals {
                        let (new_left, new_right) = Interval::compared(domain, cmp, *left, *right);
                        for x in points.iter().filter(|x| within(domain, *left, x)) {
                            for y in points.iter().filter(|y| within(domain, *right, y)) {
                                if cmp.holds(x, y) {
                                    let kept = within(domain, new_left, x) && within(domain, new_right, y);
                                    assert!(kept, "{cmp:?} {domain:?} {left:?} {right:?} {x:?} {y:?}");
                                }
                                if domain == Domain::Any
                                    && let Some(decided) = Interval::decide(cmp, *left, *right)
                                {
                                    assert_eq!(decided, cmp.holds(x, y), "{cmp:?} {left:?} {right:?} {x:?} {y:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
