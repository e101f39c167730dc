//! When a batch goes to the device.
//!
//! A program is built once native code has taken long enough to be worth it; then both ways are
//! measured, and the faster has the batches, while from time to time the other is tried again.

use super::{Done, Offload, Offloading, Printable};
use crate::Settings;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use exuvia_opencl::{Built, Device, Program};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Nanoseconds a row of native code below which a device is never tried: the row's bytes alone take
/// as long to get there and back.
const CHEAP: f64 = 30.0;

/// The time that native code must have taken before a program is built for a device.
const PATIENCE: Duration = Duration::from_millis(50);

/// Of so many batches one is run by what is slower, to see whether it still is.
const PROBE: u64 = 64;

/// Failures of the driver after which the function stays on the host.
const MOST_FAILURES: u64 = 3;

/// A function's way to a device.
#[derive(Debug, Default)]
pub(crate) struct Offloaded {
    program: OnceLock<Result<Arc<Program>, String>>,
    built: Arc<OnceLock<Result<Built, String>>>,
    /// Whether somebody builds it.
    claimed: AtomicBool,
    native: Pace,
    device: Pace,
    /// Batches for which either way could be taken, and those that the device ran.
    batches: AtomicU64,
    launches: AtomicU64,
    failures: AtomicU64,
}

/// The time that rows took.
#[derive(Debug, Default)]
struct Pace {
    nanos: AtomicU64,
    rows: AtomicU64,
}

/// Rows after which what was seen before counts half.
const RECENT: u64 = 1 << 20;

impl Pace {
    fn note(&self, rows: usize, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let seen = self.rows.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        let spent = self.nanos.fetch_add(nanos, Ordering::Relaxed).saturating_add(nanos);
        if seen > RECENT {
            self.rows.store(seen / 2, Ordering::Relaxed);
            self.nanos.store(spent / 2, Ordering::Relaxed);
        }
    }

    /// Nanoseconds a row, if any was seen.
    fn a_row(&self) -> Option<f64> {
        let rows = self.rows.load(Ordering::Relaxed);
        (rows > 0).then(|| self.nanos.load(Ordering::Relaxed) as f64 / rows as f64)
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    fn shown(&self) -> Option<String> {
        self.a_row().map(|nanos| format!("{nanos:.0} ns a row"))
    }
}

impl Offloaded {
    fn program(&self, function: Printable<'_>) -> Result<&Arc<Program>, &String> {
        let program = self.program.get_or_init(|| {
            if function.is_wide {
                return Err("its ints have 128 bits".to_string());
            }
            if matches!(function.returns, DataType::Struct(_)) {
                return Err("it returns a STRUCT".to_string());
            }
            Program::new(function.module, function.types, function.returns, function.strict)
                .map(Arc::new)
                .map_err(|error| error.to_string())
        });
        program.as_ref()
    }

    /// Notes what a batch took in native code.
    pub fn note_native(&self, settings: &Settings, rows: usize, time: Duration) {
        if settings.offload == Offload::Auto {
            self.native.note(rows, time);
        }
    }

    fn failed(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES
    }

    /// Whether the device is known to be faster; nothing before both were measured.
    fn is_faster(&self) -> Option<bool> {
        Some(self.device.a_row()? < self.native.a_row()?)
    }

    /// Whether native code takes long enough to try the device.
    fn is_heavy(&self) -> bool {
        self.native.a_row().is_some_and(|nanos| nanos >= CHEAP)
    }

    /// Whether the next batch goes to the device.
    fn wants(&self, settings: &Settings, device: &Arc<Device>, program: &Arc<Program>) -> bool {
        if self.failed() {
            return false;
        }
        if settings.offload == Offload::Force {
            self.built.get_or_init(|| device.build(program));
            return true;
        }
        if !self.is_heavy() {
            return false;
        }
        if self.built.get().is_none() {
            if self.native.spent() >= PATIENCE && !self.claimed.swap(true, Ordering::Relaxed) {
                let (built, device, program) = (Arc::clone(&self.built), Arc::clone(device), Arc::clone(program));
                let build = move || {
                    built.get_or_init(|| device.build(&program));
                };
                // Without a thread there is no device.
                drop(std::thread::Builder::new().name("exuvia-opencl".to_string()).spawn(build));
            }
            return false;
        }
        let turn = self.batches.fetch_add(1, Ordering::Relaxed);
        self.is_faster().is_none_or(|faster| faster != (turn % PROBE == PROBE - 1))
    }

    /// Runs a batch on a device, if that is the way for it.
    pub fn run(&self, function: Printable<'_>, args: &[ArrayRef], rows: usize, settings: &Settings) -> Option<Done> {
        if settings.offload == Offload::Off || rows == 0 || !settings.fault.is_empty() {
            return None;
        }
        let force = settings.offload == Offload::Force;
        if !force && !self.is_heavy() {
            return None;
        }
        let program = self.program(function).ok()?;
        let device = Device::find(&settings.device, force).ok()?;
        if !self.wants(settings, &device, program) {
            return None;
        }
        let built = self.built.get()?.as_ref().ok()?;
        let start = Instant::now();
        match built.run(program, args, rows)? {
            Ok(ran) => {
                // The first launch makes the buffers. What was left is done again.
                if self.launches.fetch_add(1, Ordering::Relaxed) > 0 {
                    let again = ran.left.len() as f64 * self.native.a_row().unwrap_or(0.0);
                    self.device.note(rows, start.elapsed() + Duration::from_nanos(again as u64));
                }
                Some(Done { values: ran.values, left: ran.left })
            }
            Err(_) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Whether batches are to come here one by one: they run on a device or may soon.
    pub fn may_run(&self, function: Printable<'_>, settings: &Settings) -> bool {
        match settings.offload {
            Offload::Off => false,
            Offload::Auto if !self.is_heavy() || self.is_faster() == Some(false) => false,
            Offload::Auto | Offload::Force => {
                matches!(self.state(function, settings), Offloading::On { .. } | Offloading::Native(_))
            }
        }
    }

    /// What is known.
    pub fn state(&self, function: Printable<'_>, settings: &Settings) -> Offloading {
        if settings.offload == Offload::Off {
            return Offloading::Off;
        }
        let force = settings.offload == Offload::Force;
        let device = match Device::find(&settings.device, force) {
            Ok(device) => device,
            Err(why) => return Offloading::NoDevice(why),
        };
        if let Err(why) = self.program(function) {
            return Offloading::Declined(why.clone());
        }
        let name = device.name().to_string();
        if let Some(Err(why)) = self.built.get() {
            return Offloading::Declined(format!("{name} cannot build it: {why}"));
        }
        if self.failed() {
            return Offloading::Declined(format!("{name} failed {MOST_FAILURES} times"));
        }
        match (force, self.native.shown(), self.device.shown()) {
            (true, ..) => Offloading::On { device: name, pace: None },
            (_, Some(here), Some(there)) if self.is_faster() == Some(true) => {
                Offloading::On { device: name, pace: Some(format!("{there}, native code {here}")) }
            }
            (_, Some(here), Some(there)) => Offloading::Native(format!("{here}, {name} {there}")),
            (_, Some(here), None) => Offloading::Native(here),
            (_, None, _) => Offloading::Native("not measured yet".to_string()),
        }
    }

    /// The kernel's text.
    pub fn text(&self, function: Printable<'_>) -> Result<String, String> {
        self.program(function).map(|program| program.text.clone()).map_err(|why| format!("no form on a device: {why}"))
    }
}
