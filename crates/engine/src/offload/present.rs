//! When a batch goes to the device.
//!
//! A program is built once native code has taken long enough to be worth it; then both ways are
//! measured, and the faster has the batches, while from time to time the other is tried again.

use super::{Done, Offload, Offloading, Printable};
use crate::Settings;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use exuvia_opencl::{Built, Device, Program};
use parking_lot::Mutex;
use std::collections::HashMap;
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

/// A function's way to devices.
#[derive(Debug, Default)]
pub(crate) struct Offloaded {
    program: OnceLock<Result<Arc<Program>, String>>,
    native: Pace,
    /// By the name of the device.
    devices: Mutex<HashMap<String, Arc<OnDevice>>>,
}

/// How it fares on one.
#[derive(Debug, Default)]
struct OnDevice {
    built: OnceLock<Result<Built, String>>,
    /// Whether somebody builds it.
    claimed: AtomicBool,
    pace: Pace,
    /// Batches for which either way could be taken.
    batches: AtomicU64,
    /// Those that the device ran, that lay otherwise than it takes them, and that failed.
    launches: AtomicU64,
    refused: AtomicU64,
    failures: AtomicU64,
}

impl OnDevice {
    fn failed(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES
    }

    /// Whether most batches lie otherwise than the device takes them.
    fn refuses(&self) -> bool {
        self.refused.load(Ordering::Relaxed) > self.launches.load(Ordering::Relaxed)
    }

    /// Builds the program, if nobody does, on a thread of its own: a driver cannot be interrupted.
    fn build(self: &Arc<Self>, device: &Arc<Device>, program: &Arc<Program>) {
        if self.claimed.swap(true, Ordering::Relaxed) {
            return;
        }
        let (this, device, program) = (Arc::clone(self), Arc::clone(device), Arc::clone(program));
        let build = move || {
            this.built.get_or_init(|| device.build(&program));
        };
        if let Err(error) = std::thread::Builder::new().name("exuvia-opencl".to_string()).spawn(build) {
            self.built.get_or_init(|| Err(error.to_string()));
        }
    }
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

    fn on(&self, device: &Device) -> Arc<OnDevice> {
        Arc::clone(self.devices.lock().entry(device.name().to_string()).or_default())
    }

    /// Whether the device is known to be faster; nothing before both were measured.
    fn is_faster(&self, on: &OnDevice) -> Option<bool> {
        Some(on.pace.a_row()? < self.native.a_row()?)
    }

    /// Whether native code takes long enough to try the device.
    fn is_heavy(&self) -> bool {
        self.native.a_row().is_some_and(|nanos| nanos >= CHEAP)
    }

    /// Runs a batch on a device, if that is the way for it. What it cannot do before it is to `stop`
    /// native code has, and finds the same.
    pub fn run(
        &self,
        function: Printable<'_>,
        args: &[ArrayRef],
        rows: usize,
        settings: &Settings,
        stop: &AtomicBool,
    ) -> Option<Done> {
        let force = settings.offload == Offload::Force;
        let may = force || (settings.offload == Offload::Auto && self.is_heavy());
        if !may || rows == 0 || !settings.fault.is_empty() {
            return None;
        }
        let program = self.program(function).ok()?;
        let device = Device::find(&settings.device, force).ok()?;
        let on = self.on(&device);
        if on.failed() {
            return None;
        }
        if on.built.get().is_none() {
            if force || self.native.spent() >= PATIENCE {
                on.build(&device, program);
            }
            while force && on.built.get().is_none() && !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let built = on.built.get()?.as_ref().ok()?;
        if !force {
            let turn = on.batches.fetch_add(1, Ordering::Relaxed);
            if self.is_faster(&on).is_some_and(|faster| faster == (turn % PROBE == PROBE - 1)) {
                return None;
            }
        }
        let start = Instant::now();
        match built.run(program, args, rows, stop) {
            Some(Ok(ran)) => {
                // The first launch makes the buffers. What was left is done again.
                if on.launches.fetch_add(1, Ordering::Relaxed) > 0 {
                    let again = ran.left.len() as f64 * self.native.a_row().unwrap_or(0.0);
                    on.pace.note(rows, start.elapsed() + Duration::from_nanos(again as u64));
                }
                Some(Done { values: ran.values, left: ran.left })
            }
            Some(Err(_)) => {
                on.failures.fetch_add(1, Ordering::Relaxed);
                None
            }
            None => {
                on.refused.fetch_add(u64::from(!stop.load(Ordering::Relaxed)), Ordering::Relaxed);
                None
            }
        }
    }

    /// Whether batches are to come here one by one: they run on a device or may soon.
    pub fn may_run(&self, function: Printable<'_>, settings: &Settings) -> bool {
        match settings.offload {
            Offload::Off => false,
            Offload::Auto if !self.is_heavy() => false,
            Offload::Auto | Offload::Force => {
                let Ok(device) = Device::find(&settings.device, settings.offload == Offload::Force) else {
                    return false;
                };
                let force = settings.offload == Offload::Force;
                let slower = !force && self.is_faster(&self.on(&device)) == Some(false);
                !slower && matches!(self.state(function, settings), Offloading::On { .. } | Offloading::Native(_))
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
        let on = self.on(&device);
        let name = device.name().to_string();
        if let Some(Err(why)) = on.built.get() {
            return Offloading::Declined(format!("{name} cannot build it: {why}"));
        }
        if on.failed() {
            return Offloading::Declined(format!("{name} failed {MOST_FAILURES} times"));
        }
        if on.refuses() {
            return Offloading::Declined("most batches lie otherwise than a device takes them".to_string());
        }
        match (force, self.native.shown(), on.pace.shown()) {
            (true, ..) => Offloading::On { device: name, pace: None },
            (_, Some(here), Some(there)) if self.is_faster(&on) == Some(true) => {
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
