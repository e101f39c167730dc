//! Python's unbounded integers as plain data.

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use std::fmt;

/// An integer of any size. Values that fit in 64 bits are always [`Int::Small`], so
/// derived equality and hashing are the mathematical ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    /// A value that fits in an `i64`.
    Small(i64),
    /// A value that does not.
    Big(BigInt),
}

impl Int {
    /// Normalises `value`.
    #[must_use]
    pub fn from_big(value: BigInt) -> Int {
        match value.to_i64() {
            Some(small) => Int::Small(small),
            None => Int::Big(value),
        }
    }

    /// The value of 128 bits.
    #[must_use]
    pub fn from_i128(value: i128) -> Int {
        match i64::try_from(value) {
            Ok(small) => Int::Small(small),
            Err(_) => Int::Big(BigInt::from(value)),
        }
    }

    /// The value where it fits in 128 bits.
    #[must_use]
    pub fn to_i128(&self) -> Option<i128> {
        match self {
            Int::Small(value) => Some((*value).into()),
            Int::Big(value) => value.to_i128(),
        }
    }

    /// The value as a big integer.
    #[must_use]
    pub fn to_big(&self) -> BigInt {
        match self {
            Int::Small(value) => BigInt::from(*value),
            Int::Big(value) => value.clone(),
        }
    }

    /// The value where it fits in 64 bits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Int::Small(value) => Some(*value),
            Int::Big(_) => None,
        }
    }

    /// The value clamped to the range of `i64`, as CPython clamps slice bounds.
    #[must_use]
    pub fn clamp_i64(&self) -> i64 {
        match self {
            Int::Small(value) => *value,
            Int::Big(value) if value.sign() == num_bigint::Sign::Minus => i64::MIN,
            Int::Big(_) => i64::MAX,
        }
    }

    /// Whether the value is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            Int::Small(value) => *value == 0,
            Int::Big(value) => value.is_zero(),
        }
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Self {
        Int::Small(value)
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Int::Small(a), Int::Small(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int::Small(value) => write!(f, "{value}"),
            Int::Big(value) => write!(f, "{value}"),
        }
    }
}
