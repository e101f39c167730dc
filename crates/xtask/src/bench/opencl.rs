//! `bench opencl`: row functions on an OpenCL device beside native code.
//!
//! The figures come from `exuvia-bench device ROWS ROUNDS`. Where the machine with the device cannot
//! build, that program is taken there, and `--from FILE` makes the page of what it printed.

use super::{Options, machine};
use crate::{cargo, root, succeed};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The columns of the page: a way of `exuvia-bench device` each.
const WAYS: &[&str] = &["native", "device", "device, large batches", "auto", "native, all cores"];

/// Runs `bench opencl`, or makes the page of `from`.
///
/// # Errors
/// If a query fails, or a way gives other bits than native code.
pub(super) fn run(options: &Options, from: Option<&Path>) -> Result<()> {
    let text = match from {
        Some(path) => std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
        None => {
            succeed(cargo().args(["build", "--release", "--bin", "exuvia-bench"]))?;
            let mut run = cargo();
            run.args(["run", "--release", "--quiet", "--bin", "exuvia-bench", "--", "device"]);
            output(run.args([options.rows.to_string(), options.rounds.to_string()]))?
        }
    };
    let mut found: Value = serde_json::from_str(text.trim())?;
    if from.is_none() {
        found["machine"] = machine::hardware().into();
    }
    let page = page(&found)?;
    println!("{page}");
    if options.publish {
        let folder = root().join("benchmarks/results");
        std::fs::write(folder.join("opencl.md"), page)?;
        std::fs::write(folder.join("opencl.json"), format!("{found:#}\n"))?;
    }
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn page(found: &Value) -> Result<String> {
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_string();
    let mut page = String::new();
    writeln!(page, "# Row functions on an OpenCL device\n\nWritten by `cargo xtask bench opencl`; do not edit.\n")?;
    writeln!(
        page,
        "Machine: {}; device: {}. {} rows in memory, some of them with NULL, medians of {} runs after one that \
         compiles and builds; the whole query (`SELECT i, f(…) FROM t WHERE … IS NOT NULL`), nanoseconds a row. One \
         partition, but for the last column ({} partitions); batches of 8,192 rows, the large ones of 131,072. *Forced* is \
         `exuvia.offload = 'force'`; *auto* is the default, which chooses by what it measures.\n",
        text(&found["machine"]),
        text(&found["device"]),
        found["rows"],
        found["rounds"],
        found["cores"]
    )?;
    writeln!(
        page,
        "| function | native | forced | forced, large batches | auto | times native by auto | native, all cores | left the \
         device |"
    )?;
    writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    for program in found["programs"].as_array().context("no programs")? {
        if program["equal"] != true {
            bail!("{}: the ways give different bits", text(&program["title"]));
        }
        let pace = |way: &str| program["ns_a_row"][way].as_f64().unwrap_or(f64::NAN);
        let [native, device, large, auto, all] = [WAYS[0], WAYS[1], WAYS[2], WAYS[3], WAYS[4]].map(pace);
        writeln!(
            page,
            "| {} | {native:.0} | {device:.0} | {large:.0} | {auto:.0} | {:.1} | {all:.0} | {} |",
            text(&program["title"]),
            native / auto,
            left(&text(&program["forced"]))
        )?;
    }
    writeln!(
        page,
        "\nThe bits of all ways were compared and are equal. What EXPLAIN ANALYZE says of *auto* in the end:\n"
    )?;
    for program in found["programs"].as_array().context("no programs")? {
        writeln!(page, "- {}: `{}`", text(&program["title"]), text(&program["auto"]))?;
    }
    Ok(page)
}

/// The share of the rows that EXPLAIN ANALYZE says left the device.
fn left(explained: &str) -> String {
    let number = |key: &str| -> Option<f64> {
        let rest = explained.rsplit_once(key)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    match (number("rows="), number("device=")) {
        (Some(rows), Some(device)) if rows > 0.0 => format!("{:.1} %", 100.0 * (rows - device) / rows),
        _ => "all".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_left_is_read() {
        let explained = "f(x): offload (to X), rows=200 [native=10, evaluator=0, python=0, device=190]";
        assert_eq!(left(explained), "5.0 %");
        assert_eq!(left("f(x): native, rows=200 [native=200, evaluator=0, python=0]"), "all");
    }
}
