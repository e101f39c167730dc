//! Whole batches on an OpenCL device, where that is faster or asked for.
//!
//! Rows that the device leaves are done again by native code and the rungs below it. Without the
//! feature `opencl` there is no device.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use exuvia_ir::Module;

#[cfg(not(feature = "opencl"))]
mod absent;
#[cfg(feature = "opencl")]
mod present;

#[cfg(not(feature = "opencl"))]
pub(crate) use absent::Offloaded;
#[cfg(feature = "opencl")]
pub(crate) use present::Offloaded;

/// Whether batches run on an OpenCL device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// Where the device is measured to be faster.
    #[default]
    Auto,
    /// Never.
    Off,
    /// Wherever the function has a form there and there is a device, a processor included.
    Force,
}

/// What is known of how a function fares on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offloading {
    /// The setting is off.
    Off,
    /// There is no device: why.
    NoDevice(String),
    /// It has no form on the device, or that failed: why.
    Declined(String),
    /// Batches go to the device of that name.
    On {
        /// Its name.
        device: String,
        /// What was measured, if anything was.
        pace: Option<String>,
    },
    /// Native code has the batches; what was measured.
    Native(String),
}

/// What a device gave for a batch.
pub(crate) struct Done {
    /// NULL for the rows that it left.
    pub values: ArrayRef,
    pub left: Vec<u32>,
}

/// What a kernel is printed of.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "opencl"), expect(dead_code, reason = "only a device's kernel is printed of it"))]
pub(crate) struct Printable<'a> {
    pub module: &'a Module,
    pub types: &'a [DataType],
    pub returns: &'a DataType,
    pub strict: bool,
    /// Whether ints have 128 bits.
    pub is_wide: bool,
}
