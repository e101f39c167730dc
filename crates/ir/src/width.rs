//! How many bits native code has for ints.

/// The representation of ints that a module is optimised and compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntWidth {
    /// 64 bits; what does not fit leaves native code.
    #[default]
    Word,
    /// 128 bits for what constants beyond 64 bits are computed with (`h & 0xFFFF_FFFF_FFFF_FFFF`), 64
    /// for the others.
    Mixed,
    /// 128 bits for all that is not known to fit in 64.
    Double,
}
