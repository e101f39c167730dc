//! Row functions on OpenCL devices.
//!
//! A function of the IR over numbers, truth values and lists of them becomes a kernel in OpenCL C
//! ([`Program`]), which a [`Device`] builds and runs over the rows of a batch, one work item for each.
//! The law is that of native code: a row has CPython's answer, bit for bit, or it leaves and is redone
//! on the host. Devices without floats of 64 bits are not used.
//!
//! The program links and starts without OpenCL: `loader.rs`.

mod device;
mod loader;
mod print;
mod program;
mod slots;

pub use device::{Built, Device, Ran};
pub use loader::LIBRARY;
pub use program::Program;

/// Why a function has no form on a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(String);

impl Unsupported {
    pub(crate) fn new(what: impl Into<String>) -> Unsupported {
        Unsupported(what.into())
    }
}

impl From<std::fmt::Error> for Unsupported {
    /// Writing to a text never fails.
    fn from(error: std::fmt::Error) -> Unsupported {
        Unsupported::new(error.to_string())
    }
}
