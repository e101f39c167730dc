//! A bar chart as SVG, written by hand: it needs rectangles, lines and text.

use super::zillow::{FUNCTION_CONTENDERS, Report};
use std::fmt::Write;

/// The contenders that are drawn, with their colours.
const SERIES: [(&str, &str); 10] = [
    ("exuvia", "#c8371b"),
    ("rust", "#f0a58f"),
    ("datafusion sql", "#33658a"),
    ("numba", "#86bbd8"),
    ("duckdb native", "#f6c445"),
    ("duckdb arrow", "#f9e0a0"),
    ("polars map_elements", "#5f8f4e"),
    ("datafusion-python", "#a9cf9b"),
    ("pandas apply", "#8e6c9c"),
    ("loop", "#555555"),
];

const LEFT: f64 = 60.0;
const TOP: f64 = 64.0;
const HEIGHT: f64 = 360.0;
const BAR: f64 = 7.0;
const GAP: f64 = 18.0;

/// Nanoseconds a row by function and engine, on a logarithmic scale.
pub(super) fn zillow(report: &Report) -> String {
    let mut svg = String::new();
    write_zillow(&mut svg, report).expect("writing to a String cannot fail");
    svg
}

fn write_zillow(svg: &mut String, report: &Report) -> std::fmt::Result {
    let group = BAR * SERIES.len() as f64 + GAP;
    let width = LEFT + group * report.functions.len() as f64 + 20.0;
    let full = TOP + HEIGHT + 60.0;
    let times: Vec<Vec<Option<f64>>> = report
        .functions
        .iter()
        .map(|row| {
            let of = |name: &str| {
                let index = FUNCTION_CONTENDERS.iter().position(|contender| contender.name == name)?;
                row.outcomes[index].median().map(|seconds| seconds * 1e9 / report.rows as f64)
            };
            SERIES.iter().map(|(name, _)| of(name)).collect()
        })
        .collect();
    let all = || times.iter().flatten().flatten().copied();
    let low = all().fold(10.0, f64::min).log10().floor();
    let high = all().fold(100.0, f64::max).log10().ceil();
    let y = |nanos: f64| TOP + HEIGHT * (high - nanos.log10().max(low)) / (high - low);

    writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {full:.0}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="{LEFT}" y="18" font-size="14">Nanoseconds a row, {rows} rows in memory, one thread (logarithmic; less is better)</text>"##,
        rows = report.rows
    )?;
    let mut x = LEFT;
    let mut line = 36.0;
    for (name, colour) in SERIES {
        let title = FUNCTION_CONTENDERS.iter().find(|contender| contender.name == name).map_or(name, |by| by.title);
        let wide = 24.0 + title.len() as f64 * 6.2;
        if x + wide > width {
            x = LEFT;
            line += 15.0;
        }
        writeln!(svg, r#"<rect x="{x:.0}" y="{:.0}" width="10" height="10" fill="{colour}"/>"#, line - 9.0)?;
        writeln!(svg, r#"<text x="{:.0}" y="{line:.0}">{title}</text>"#, x + 14.0)?;
        x += wide;
    }
    let mut decade = low;
    while decade <= high {
        let at = y(10f64.powf(decade));
        writeln!(svg, r##"<line x1="{LEFT}" y1="{at:.1}" x2="{width:.0}" y2="{at:.1}" stroke="#dddddd"/>"##)?;
        let label = 10f64.powf(decade);
        writeln!(svg, r#"<text x="{:.0}" y="{:.1}" text-anchor="end">{label:.0}</text>"#, LEFT - 6.0, at + 4.0)?;
        decade += 1.0;
    }
    for (index, (row, times)) in report.functions.iter().zip(&times).enumerate() {
        let start = LEFT + GAP / 2.0 + group * index as f64;
        for (bar, (time, (name, colour))) in times.iter().zip(SERIES).enumerate() {
            let x = start + BAR * bar as f64;
            let Some(nanos) = time else {
                let at = TOP + HEIGHT - 3.0;
                writeln!(svg, r#"<text x="{x:.1}" y="{at:.1}" font-size="8" fill="{colour}">×</text>"#)?;
                continue;
            };
            let top = y(*nanos);
            writeln!(
                svg,
                r#"<rect x="{x:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" fill="{colour}"><title>{} by {name}: {nanos:.1} ns</title></rect>"#,
                BAR - 1.0,
                TOP + HEIGHT - top,
                row.name
            )?;
        }
        let middle = start + (group - GAP) / 2.0;
        let below = TOP + HEIGHT + 16.0;
        writeln!(svg, r#"<text x="{middle:.1}" y="{below:.1}" text-anchor="middle">{}</text>"#, row.name)?;
    }
    writeln!(svg, r#"<text x="{LEFT}" y="{:.0}" font-size="10">×: does not compile</text>"#, full - 12.0)?;
    writeln!(svg, "</svg>")
}
