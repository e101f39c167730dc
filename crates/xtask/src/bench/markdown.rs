//! Results as a page.

use super::compare;
use super::measure::{Contender, Outcome, geometric_mean};
use super::zillow::{FUNCTION_CONTENDERS, QUERY_CONTENDERS, Report, Row};
use serde_json::Value;
use std::fmt::Write;

/// The page of the benchmark `zillow`.
pub(super) fn zillow(report: &Report) -> String {
    let mut page = String::new();
    write_zillow(&mut page, report).expect("writing to a String cannot fail");
    page
}

fn write_zillow(page: &mut String, report: &Report) -> std::fmt::Result {
    let rows = report.rows;
    writeln!(page, "# Zillow: twelve Python functions over {rows} listings\n")?;
    writeln!(page, "Written by `{}`; do not edit.\n", report.command)?;
    writeln!(page, "Machine: {}. One thread. Peers: {}.\n", report.machine, report.versions.join(", "))?;
    writeln!(
        page,
        "Times are medians of interleaved rounds after a warming one. 5 % of the rows have letters beyond ASCII, of \
         the cells 2 % are NULL and 1 % malformed. Results of all were compared with CPython's before.\n"
    )?;
    writeln!(page, "![Nanoseconds a row by function and engine](zillow.svg)\n")?;

    writeln!(page, "## Functions over columns in memory, nanoseconds a row\n")?;
    writeln!(
        page,
        "*CPython loop* runs over lists of Python objects and gives one; *Arrow to Arrow* includes the conversions \
         that any engine must do. Exuvia and DataFusion run `SELECT f(x) FROM memory` with parsing and planning; \
         Numba gets its input in its own containers, without the rows that are NULL. A dash: it does not compile.\n"
    )?;
    table(page, &report.functions, &FUNCTION_CONTENDERS, rows)?;

    writeln!(page, "\n## How many times as fast as the CPython loop\n")?;
    ratios(page, &report.functions, &FUNCTION_CONTENDERS)?;

    writeln!(page, "\n## Exuvia against the others\n")?;
    against(page, report)?;

    writeln!(page, "\n## Query Z1 from Parquet, {rows} rows\n")?;
    writeln!(page, "| engine | seconds | times the CPython loop's speed | outside the scan |")?;
    writeln!(page, "| --- | ---: | ---: | ---: |")?;
    let base = report.query.outcomes[0].median();
    for (contender, outcome) in QUERY_CONTENDERS.iter().zip(&report.query.outcomes) {
        let Some(seconds) = outcome.median() else {
            writeln!(page, "| {} | fails | | |", contender.title)?;
            continue;
        };
        let ratio = base.map_or(String::new(), |base| format!("{:.1}", base / seconds));
        let engine = matches!(contender.name, "exuvia" | "datafusion sql" | "exuvia python");
        let outside =
            if engine { format!("{:.0} %", 100.0 * (seconds - report.scan) / seconds) } else { String::new() };
        writeln!(page, "| {} | {seconds:.3} | {ratio} | {outside} |", contender.title)?;
    }
    writeln!(page, "\nReading the eight columns alone takes DataFusion {:.3} s.", report.scan)?;

    failures(page, report)?;
    others(page, report)
}

/// Nanoseconds a row.
fn table(page: &mut String, functions: &[Row], contenders: &[Contender], rows: usize) -> std::fmt::Result {
    header(page, contenders)?;
    for row in functions {
        write!(page, "| {} |", row.name)?;
        for outcome in &row.outcomes {
            match outcome.median() {
                Some(seconds) => write!(page, " {} |", figure(seconds * 1e9 / rows as f64))?,
                None => write!(page, " – |")?,
            }
        }
        writeln!(page)?;
    }
    Ok(())
}

fn ratios(page: &mut String, functions: &[Row], contenders: &[Contender]) -> std::fmt::Result {
    header(page, contenders)?;
    for row in functions {
        write!(page, "| {} |", row.name)?;
        for index in 0..contenders.len() {
            match ratio(row, 0, index) {
                Some(ratio) => write!(page, " {} |", figure(ratio))?,
                None => write!(page, " – |")?,
            }
        }
        writeln!(page)?;
    }
    write!(page, "| *geometric mean* |")?;
    for index in 0..contenders.len() {
        let all: Option<Vec<f64>> = functions.iter().map(|row| ratio(row, 0, index)).collect();
        match all.and_then(geometric_mean) {
            Some(mean) => write!(page, " **{}** |", figure(mean))?,
            None => write!(page, " – |")?,
        }
    }
    writeln!(page)
}

fn header(page: &mut String, contenders: &[Contender]) -> std::fmt::Result {
    write!(page, "| function |")?;
    for contender in contenders {
        write!(page, " {} |", contender.title)?;
    }
    write!(page, "\n| --- |")?;
    for _ in contenders {
        write!(page, " ---: |")?;
    }
    writeln!(page)
}

/// The seconds of one contender over those of another.
pub(super) fn ratio(row: &Row, over: usize, under: usize) -> Option<f64> {
    Some(row.outcomes[over].median()? / row.outcomes[under].median()?)
}

fn position(name: &str) -> usize {
    FUNCTION_CONTENDERS.iter().position(|contender| contender.name == name).unwrap_or(0)
}

/// The targets, function by function.
fn against(page: &mut String, report: &Report) -> std::fmt::Result {
    let exuvia = position("exuvia");
    let peers: Vec<usize> = (2..FUNCTION_CONTENDERS.len())
        .filter(|index| !matches!(FUNCTION_CONTENDERS[*index].name, "exuvia" | "rust" | "exuvia python"))
        .collect();
    writeln!(page, "| function | time over Rust by hand | best other engine | its time over Exuvia's |")?;
    writeln!(page, "| --- | ---: | --- | ---: |")?;
    for row in &report.functions {
        let rust = ratio(row, exuvia, position("rust")).map_or("–".to_string(), figure);
        let best = peers
            .iter()
            .filter_map(|index| Some((*index, row.outcomes[*index].median()?)))
            .min_by(|one, other| one.1.total_cmp(&other.1));
        match best {
            Some((best, _)) => {
                let lead = ratio(row, best, exuvia);
                let lost = if lead.is_some_and(|lead| lead < 1.0) { " (lost)" } else { "" };
                let lead = lead.map_or("–".to_string(), figure);
                writeln!(page, "| {} | {rust} | {} | {lead}{lost} |", row.name, FUNCTION_CONTENDERS[best].title)?;
            }
            None => writeln!(page, "| {} | {rust} | – | – |", row.name)?,
        }
    }
    let mean = |over: usize, under: usize| {
        let ratios: Option<Vec<f64>> = report.functions.iter().map(|row| ratio(row, over, under)).collect();
        ratios.and_then(geometric_mean).map_or("–".to_string(), figure)
    };
    writeln!(
        page,
        "\nGeometric means: {} times the CPython loop's speed ({} with its Arrow conversions), {} times the time of \
         Rust by hand; the CPython rung takes {} times the time of the loop with the same conversions.",
        mean(0, exuvia),
        mean(1, exuvia),
        mean(exuvia, position("rust")),
        mean(position("exuvia python"), 1),
    )
}

fn failures(page: &mut String, report: &Report) -> std::fmt::Result {
    let failed = |row: &Row, contenders: &[Contender]| -> Vec<String> {
        let outcomes = contenders.iter().zip(&row.outcomes);
        outcomes
            .filter_map(|(by, outcome)| match outcome {
                Outcome::Fails(why) => Some(format!("- {}, {}: {why}", row.name, by.title)),
                Outcome::Times(_) => None,
            })
            .collect()
    };
    let mut lines: Vec<String> = report.functions.iter().flat_map(|row| failed(row, &FUNCTION_CONTENDERS)).collect();
    lines.extend(failed(&report.query, &QUERY_CONTENDERS));
    lines.extend(compare::lines(&report.differences));
    if !lines.is_empty() {
        writeln!(page, "\n## What fails or differs\n\n{}", lines.join("\n"))?;
    }
    Ok(())
}

/// Call overhead, memory, compiling, helper calls.
fn others(page: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(page, "\n## Other measurements\n")?;
    let per_row = |seconds: f64| seconds * 1e9 / report.rows as f64;
    match report.empty.median() {
        Some(empty) => writeln!(
            page,
            "- A function that returns its BIGINT argument takes {:.2} ns a row, a plain copy of the column {:.2}: a \
             call costs {:.2} ns.",
            per_row(empty),
            per_row(report.copy),
            per_row(empty - report.copy)
        )?,
        None => writeln!(page, "- The empty function failed.")?,
    }
    if let [Some(native), Some(builtin)] = report.peak {
        writeln!(
            page,
            "- Peak memory of Z1 in a process of its own: {:.0} MiB natively, {:.0} MiB with built-in functions, \
             ratio {:.2}.",
            native / 1024.0,
            builtin / 1024.0,
            native / builtin
        )?;
    }
    let number = |pointer: &str| report.inspect.pointer(pointer).and_then(Value::as_f64);
    if let (Some(functions), Some(median), Some(p95), Some(worst)) = (
        number("/compile/functions"),
        number("/compile/median_ms"),
        number("/compile/p95_ms"),
        number("/compile/max_ms"),
    ) {
        writeln!(
            page,
            "- Lifting and compiling, {functions:.0} distinct functions: median {median:.2} ms, p95 {p95:.2} ms, \
             worst {worst:.2} ms."
        )?;
    }
    if let Some(functions) = report.inspect.get("functions").and_then(Value::as_array) {
        writeln!(page, "\n| function | rung | rows that left native code | helpers called in its loop |")?;
        writeln!(page, "| --- | --- | ---: | --- |")?;
        for function in functions {
            let text = |key: &str| {
                function.get(key).map_or(String::new(), |value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                })
            };
            writeln!(page, "| {} | {} | {} | {} |", text("name"), text("rung"), text("left"), text("helpers"))?;
        }
        writeln!(page, "\n## Why these helpers are called\n")?;
        writeln!(
            page,
            "Call sites in the loops of Z1's functions; of those in branches a row takes some. What is rare is \
             called for text beyond ASCII or of unusual length, where machine code does not do it itself.\n"
        )?;
        writeln!(page, "| helper | call sites | why it is a call |\n| --- | ---: | --- |")?;
        for (helper, sites, why) in super::calls::justified(functions) {
            writeln!(page, "| `{helper}` | {sites} | {why} |")?;
        }
    }
    Ok(())
}

/// A number with three digits that count.
pub(super) fn figure(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
