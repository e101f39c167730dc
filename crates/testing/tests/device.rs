//! Runs functions on an OpenCL device, a simulated one included, and compares with CPython and with
//! native code, bit for bit. `cargo xtask test` installs two drivers that need no hardware; where
//! there is none the tests say so and count as ignored. `EXUVIA_DEVICE` names one by a part of its name.
//!
//! `EXUVIA_ONLY=device cargo test -p exuvia-testing --test cases` runs every case there.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type};
use exuvia_engine::{Definition, Interpreter, Invocation, OnError, Parameter};
use exuvia_engine::{Function, Offload, Offloading, Settings};
use exuvia_testing::case::{self, Case};
use exuvia_testing::check::{self, Counts};
use exuvia_testing::oracle::Oracle;
use exuvia_testing::random::Random;
use exuvia_testing::report;
use exuvia_testing::variation::Variation;
use std::process::{Command, ExitCode};
use std::sync::Arc;

/// The simulator, which reports what a kernel reads or writes out of bounds.
const SIMULATOR: &str = "Oclgrind";

/// What leads to the drivers of `cargo xtask test`, and the variables that it passes that by.
const DRIVERS: [(&str, &str); 3] = [
    ("EXUVIA_OPENCL", "EXUVIA_TEST_OPENCL"),
    ("OCL_ICD_VENDORS", "EXUVIA_TEST_VENDORS"),
    ("PYOPENCL_HOME", "EXUVIA_TEST_HOME"),
];

fn main() -> ExitCode {
    let lists = std::env::args().any(|argument| argument == "--list");
    if !lists && DRIVERS.iter().all(|(_, passed)| std::env::var_os(passed).is_some()) {
        // Each driver in a process of its own.
        let good = ["", SIMULATOR].iter().all(|device| on(device).unwrap_or(false));
        return if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    exuvia_testing::panic::silence();
    match run() {
        Ok(Some((passed, failed))) => {
            let result = if failed == 0 { "ok" } else { "FAILED" };
            println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured\n");
            if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok(None) => {
            println!("\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured\n");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the tests on one of the drivers; gives whether all is right.
fn on(device: &str) -> std::io::Result<bool> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env("EXUVIA_DEVICE", device);
    for (name, passed) in DRIVERS {
        command.env(name, std::env::var_os(passed).unwrap_or_default()).env_remove(passed);
    }
    let output = command.output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    // What the simulator finds it says, and goes on.
    let clean = !["Invalid read", "Invalid write", "OCLGRIND FATAL"].iter().any(|sign| said.contains(sign));
    Ok(output.status.success() && clean)
}

fn run() -> anyhow::Result<Option<(usize, usize)>> {
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(Some((0, 0)));
    }
    let probe = elementary("x + 1.0")?;
    // A driver may be there and yet not build anything on this processor.
    let settings = Variation::Device.settings();
    let one: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    probe.invoke(
        &[Arc::clone(&one), one],
        1,
        &settings,
        &Invocation { cancelled: Arc::default(), deadline: None, without_python: false },
    )?;
    let rows = match probe.placement(&settings).offloading {
        Some(Offloading::On { device, .. }) => {
            println!("device: {device}");
            if device.contains(SIMULATOR) { ROWS / 10 } else { ROWS }
        }
        other => {
            println!("no device, nothing is tested: {other:?}");
            return Ok(None);
        }
    };
    let (mut passed, mut failed) = cases()?;
    for expression in ELEMENTARY {
        match compare(expression, rows)? {
            None => passed += 1,
            Some(difference) => {
                println!("FAILED {expression}: {difference}");
                failed += 1;
            }
        }
    }
    Ok(Some((passed, failed)))
}

/// The programs of the case file, CPython being the judge.
fn cases() -> anyhow::Result<(usize, usize)> {
    let mut cases: Vec<Case> = case::load(&case::root().join("tests/cases"))?;
    cases.retain(|case| case.name().starts_with("programs/device"));
    for case in &cases {
        match check::offloading(case) {
            Ok(Some(Offloading::On { .. })) => {}
            other => println!("{} stays on the host: {other:?}", case.name()),
        }
    }
    // One after the other: the simulator is not made for threads.
    let mut oracle = Oracle::start()?;
    let mut counts = Counts::default();
    let (mut passed, mut failed) = (0, 0);
    for case in &cases {
        let expected = check::expect(case, &mut oracle)?;
        let differences = check::check(case, &expected, &[Variation::Device], &mut counts);
        if differences.is_empty() {
            passed += 1;
        } else {
            println!("{}", report::failure(case, &differences));
            failed += 1;
        }
    }
    println!(
        "{} functions on the device; of {} rows it kept {}",
        counts.device_functions, counts.given_rows, counts.device_rows
    );
    // Were they to stay on the host, this would pass and say nothing.
    anyhow::ensure!(counts.device_functions >= LEAST_FUNCTIONS, "only {} functions", counts.device_functions);
    anyhow::ensure!(2 * counts.device_rows > counts.given_rows, "only {} rows stay there", counts.device_rows);
    Ok((passed, failed))
}

/// Functions of the case file that have a form on a device.
const LEAST_FUNCTIONS: u64 = 45;

/// Functions of the C library, whose bits the device must have, of one float or two.
const ELEMENTARY: &[&str] = &[
    "math.exp(x)",
    "math.log(abs(x) + 1e-300)",
    "math.sin(x)",
    "math.cos(x)",
    "math.asin(math.fmod(x, 1.0))",
    "math.acos(math.fmod(x, 1.0))",
    "math.atan(x)",
    "math.atan2(x, y)",
    "x ** 2",
    "abs(x) ** y",
    "abs(x) ** 0.5",
    "x % y",
    "x // y",
    "math.degrees(x) + math.radians(y)",
    "math.sqrt(abs(x)) / y",
];

/// Rows of each.
const ROWS: usize = 20_000;

fn elementary(expression: &str) -> anyhow::Result<Function> {
    let params = ["x", "y"].map(|name| Parameter { name: name.to_string(), ty: DataType::Float64 });
    let definition = Definition {
        name: "f".to_string(),
        params: params.to_vec(),
        returns: DataType::Float64,
        source: format!("import math\nreturn {expression}"),
        handler: None,
        first_line: 1,
        strict: false,
        volatility: None,
        on_error: OnError::Null,
        interpreter: Interpreter::Auto,
        timeout: None,
        models: vec![],
        columns: vec![],
        whole: false,
    };
    Ok(Function::define(definition, &Settings::default())?)
}

/// The same bits on the device and in native code?
fn compare(expression: &str, rows: usize) -> anyhow::Result<Option<String>> {
    let function = elementary(expression)?;
    let mut random = Random::new(7);
    // Magnitudes that such functions meet, and fewer of all others.
    let mut float = |_| {
        let bits = random.next_u64();
        let part = 1.0 + (bits >> 12) as f64 / (1u64 << 52) as f64;
        let range = if bits & 7 == 0 { 600 } else { 8 };
        let exponent = (random.next_u64() % (2 * range)) as i32 - range as i32;
        let sign = if bits & 8 == 0 { 1.0 } else { -1.0 };
        sign * part * f64::powi(2.0, exponent)
    };
    let columns: Vec<ArrayRef> =
        (0..2).map(|_| Arc::new(Float64Array::from_iter_values((0..rows).map(&mut float))) as ArrayRef).collect();
    let invocation = Invocation { cancelled: Arc::default(), deadline: None, without_python: false };
    let mut answers = Vec::new();
    for settings in [Settings { offload: Offload::Off, ..Settings::default() }, Variation::Device.settings()] {
        answers.push(function.invoke(&columns, rows, &settings, &invocation)?);
    }
    let kept = function.placement(&Settings::default()).offloaded_rows;
    println!("{expression}: the device kept {kept} of {rows} rows");
    let [native, device] = &answers[..] else { return Ok(None) };
    let (native, device) = (native.as_primitive::<Float64Type>(), device.as_primitive::<Float64Type>());
    for row in 0..rows {
        let same = native.is_null(row) == device.is_null(row)
            && (native.is_null(row) || native.value(row).to_bits() == device.value(row).to_bits());
        if !same {
            let [x, y] = [0, 1].map(|at| columns[at].as_primitive::<Float64Type>().value(row));
            return Ok(Some(format!("x = {x:?}, y = {y:?}: {:?} and not {:?}", device.value(row), native.value(row))));
        }
    }
    Ok((kept < rows as u64 / 3).then(|| "the device kept too few rows".to_string()))
}
