//! What there is without the feature `opencl`: nothing.

use super::{Done, Offloading, Printable};
use crate::Settings;
use arrow::array::ArrayRef;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const WHY: &str = "this program was built without OpenCL";

/// A function's way to a device.
#[derive(Debug, Default)]
pub(crate) struct Offloaded {}

impl Offloaded {
    pub fn note_native(&self, _: &Settings, _: usize, _: Duration) {}

    pub fn run(&self, _: Printable<'_>, _: &[ArrayRef], _: usize, _: &Settings, _: &AtomicBool) -> Option<Done> {
        None
    }

    pub fn may_run(&self, _: Printable<'_>, _: &Settings) -> bool {
        false
    }

    pub fn state(&self, _: Printable<'_>, _: &Settings) -> Offloading {
        Offloading::NoDevice(WHY.to_string())
    }

    pub fn text(&self, _: Printable<'_>) -> Result<String, String> {
        Err(WHY.to_string())
    }
}
