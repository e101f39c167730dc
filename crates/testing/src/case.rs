//! Case files: Markdown in which each second-level heading is a case.
//!
//! ````text
//! # A title for the file
//! `rung: native`
//!
//! ## What is shown
//! A sentence.
//! `sql: f(a BIGINT, s TEXT) RETURNS TEXT` `inputs: a=small`
//! ```py
//! return s * a
//! ```
//! ```json
//! [[2, "ab"], [null, "é"]]
//! ```
//! ````
//!
//! Settings stand in backticks on lines of their own; those before the first case hold for
//! the whole file. Several `py` blocks under one heading are several cases. Without a
//! `json` block the rows are generated from the parameters' types ([`crate::corpus`]).
//! Expected values are never written: CPython is asked.

use crate::signature::{Signature, SqlType};
use crate::value::Value;
use anyhow::{Context, bail};
use arrow::compute::kernels::cast_utils::{Parser, string_to_timestamp_nanos};
use arrow::datatypes::Time64MicrosecondType;
use exuvia_engine::Rung;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// A function to be tested.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file below `tests/cases`, without its ending.
    pub file: String,
    /// The heading, with a number where several functions stand under it.
    pub heading: String,
    /// The line of the file on which the function begins.
    pub line: usize,
    /// The SQL signature.
    pub signature: Signature,
    /// Where the function must run.
    pub rung: Rung,
    /// Whether it is declared STRICT.
    pub strict: bool,
    /// The declared handler.
    pub handler: Option<String>,
    /// The body.
    pub source: String,
    /// The rows on which it is called.
    pub inputs: Inputs,
}

/// Where the rows of a case come from.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// They are given.
    Rows(Vec<Vec<Value>>),
    /// They are generated: parameter and name of the corpus where it is not the type's.
    Generated(Vec<(String, String)>),
}

impl Case {
    /// What filters match and reports show.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}: {}", self.file, self.heading)
    }

    /// The text of a case file that holds this case with the given rows.
    #[must_use]
    pub fn show(&self, rows: &[Vec<Value>]) -> String {
        let mut settings = format!("`sql: {}` `rung: {}`", self.signature.show(), rung_name(self.rung));
        if self.strict {
            settings += " `strict: yes`";
        }
        if let Some(handler) = &self.handler {
            settings += &format!(" `handler: {handler}`");
        }
        let rows: Vec<String> =
            rows.iter().map(|row| Json::Array(row.iter().map(Value::to_case).collect()).to_string()).collect();
        format!(
            "## {}\n{settings}\n```py\n{}\n```\n```json\n[{}]\n```\n",
            self.heading,
            self.source.trim_end(),
            rows.join(",\n ")
        )
    }
}

/// The name of a rung in case files.
#[must_use]
pub fn rung_name(rung: Rung) -> &'static str {
    match rung {
        Rung::Native => "native",
        Rung::Evaluator => "evaluator",
        Rung::Python => "python",
    }
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every case below a folder, sorted by file.
///
/// # Errors
/// Files that cannot be read or understood, with their line.
pub fn load(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).with_extension("");
        let text = std::fs::read_to_string(&file)?;
        cases.extend(parse(&name.to_string_lossy().replace('\\', "/"), &text)?);
    }
    Ok(cases)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if folder.is_file() {
        files.push(folder.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    Ok(())
}

/// The settings that hold at a place of a file.
#[derive(Clone, Default)]
struct Settings {
    sql: Option<String>,
    rung: Option<String>,
    inputs: Option<String>,
    /// Whether `inputs` stands in the case itself and not at the head of the file.
    own_inputs: bool,
    strict: bool,
    handler: Option<String>,
}

impl Settings {
    fn set(&mut self, item: &str) -> anyhow::Result<()> {
        let (key, value) = item.split_once(':').with_context(|| format!("`{item}` is not a setting"))?;
        let value = value.trim().to_string();
        match key.trim() {
            "sql" => self.sql = Some(value),
            "rung" => self.rung = Some(value),
            "inputs" => self.inputs = Some(value),
            "strict" => self.strict = value == "yes",
            "handler" => self.handler = Some(value),
            key => bail!("unknown setting {key}"),
        }
        Ok(())
    }
}

/// Reads one file.
///
/// # Errors
/// What cannot be understood, with file and line.
pub fn parse(file: &str, text: &str) -> anyhow::Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut defaults = Settings::default();
    let mut settings = Settings::default();
    let mut heading: Option<String> = None;
    let mut section_start = 0;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let place = || format!("{file}, line {}", number + 1);
        if let Some(title) = line.strip_prefix("## ") {
            name_section(&mut cases[section_start..]);
            section_start = cases.len();
            settings = defaults.clone();
            heading = Some(title.trim().to_string());
        } else if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            let block = block.join("\n");
            match language {
                "py" => {
                    let heading = heading.clone().with_context(place)?;
                    cases.push(case(file, heading, number + 2, block, &settings).with_context(place)?);
                }
                "json" => {
                    for case in &mut cases[section_start..] {
                        case.inputs = Inputs::Rows(rows(&block, &case.signature).with_context(place)?);
                    }
                }
                other => bail!("{}: unknown kind of block {other}", place()),
            }
        } else if line.starts_with('`') {
            let target = if heading.is_some() { &mut settings } else { &mut defaults };
            for item in line.split('`').skip(1).step_by(2) {
                target.set(item).with_context(place)?;
                target.own_inputs |= heading.is_some() && item.starts_with("inputs:");
            }
        }
    }
    name_section(&mut cases[section_start..]);
    Ok(cases)
}

fn name_section(cases: &mut [Case]) {
    if cases.len() > 1 {
        for (number, case) in cases.iter_mut().enumerate() {
            case.heading += &format!(" #{}", number + 1);
        }
    }
}

fn case(file: &str, heading: String, line: usize, source: String, settings: &Settings) -> anyhow::Result<Case> {
    let signature = Signature::parse(settings.sql.as_deref().context("`sql: …` is missing")?)?;
    let rung = match settings.rung.as_deref() {
        Some("native") => Rung::Native,
        Some("evaluator") => Rung::Evaluator,
        Some("python") => Rung::Python,
        other => bail!("`rung: native`, `evaluator` or `python` is missing, found {other:?}"),
    };
    let mut corpora = Vec::new();
    for item in settings.inputs.iter().flat_map(|inputs| inputs.split(',')) {
        let (param, corpus) = item.trim().split_once('=').context("inputs are written param=corpus")?;
        // What the file says holds for those of its cases that have such a parameter.
        if settings.own_inputs || signature.params.iter().any(|(name, _)| name == param) {
            corpora.push((param.to_string(), corpus.to_string()));
        }
    }
    Ok(Case {
        file: file.to_string(),
        heading,
        line,
        signature,
        rung,
        strict: settings.strict,
        handler: settings.handler.clone(),
        source,
        inputs: Inputs::Generated(corpora),
    })
}

fn rows(block: &str, signature: &Signature) -> anyhow::Result<Vec<Vec<Value>>> {
    let json: Vec<Vec<Json>> = serde_json::from_str(block)?;
    json.iter()
        .map(|row| {
            if row.len() != signature.params.len() {
                bail!("a row of {} values", row.len());
            }
            row.iter().zip(&signature.params).map(|(value, (_, ty))| value_of(value, *ty)).collect()
        })
        .collect()
}

fn value_of(json: &Json, ty: SqlType) -> anyhow::Result<Value> {
    Ok(match (ty, json) {
        (_, Json::Null) => Value::None,
        (SqlType::Boolean, Json::Bool(value)) => Value::Bool(*value),
        (SqlType::Text, Json::String(text)) => Value::Str(text.clone()),
        (SqlType::Bytea, Json::String(text)) => {
            Value::Bytes(exuvia_ops::bytes::from_text(text).context("a character for each byte")?)
        }
        (SqlType::Date, Json::Number(days)) => Value::Date(i32::try_from(days.as_i64().context("days")?)?),
        (SqlType::Timestamp, Json::String(text)) => Value::Datetime(string_to_timestamp_nanos(text)? / 1000),
        (SqlType::Time, Json::String(text)) => {
            Value::Time(Time64MicrosecondType::parse(text).context("a time of the day")?)
        }
        (SqlType::Decimal(..), Json::String(text)) => Value::Decimal(text.clone()),
        (SqlType::Real | SqlType::Double, Json::Number(value)) => Value::Float(value.as_f64().context("a float")?),
        (SqlType::Real | SqlType::Double, Json::String(text)) => Value::Float(text.parse()?),
        (SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt, Json::Number(value)) => {
            Value::int(value.as_i64().context("an integer of 64 bits")?)
        }
        (SqlType::Array(element), Json::Array(items)) => {
            Value::List(items.iter().map(|item| value_of(item, *element)).collect::<anyhow::Result<_>>()?)
        }
        (SqlType::Map(ty), Json::Object(map)) => {
            let entry = |(key, json): (&String, &Json)| Ok((key.clone(), value_of(json, *ty)?));
            Value::Dict(map.iter().map(entry).collect::<anyhow::Result<_>>()?)
        }
        (SqlType::Struct(fields), Json::Object(map)) => {
            let field = |(name, ty): &(String, SqlType)| {
                Ok((name.clone(), value_of(map.get(name).unwrap_or(&Json::Null), *ty)?))
            };
            Value::Dict(fields.iter().map(field).collect::<anyhow::Result<_>>()?)
        }
        (ty, json) => bail!("{json} is not a {}", ty.name()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# T\n`rung: native`\n\n## Sum\nAdds.\n`sql: f(a BIGINT, b DOUBLE) RETURNS DOUBLE`\n```py\nreturn a + b\n```\n```py\nreturn a - b\n```\n```json\n[[1, 0.5],\n [null, \"nan\"]]\n```\n";

    #[test]
    fn blocks_under_one_heading_are_cases() {
        let cases = parse("x", FILE).unwrap();
        assert_eq!(cases.len(), 2);
        assert_eq!(cases[1].name(), "x: Sum #2");
        assert_eq!(cases[1].line, 11);
        let Inputs::Rows(rows) = &cases[0].inputs else { panic!("rows are given") };
        assert_eq!(rows.len(), 2);
        assert!(matches!(rows[1][1], Value::Float(value) if value.is_nan()));
    }

    #[test]
    fn a_shown_case_is_read_again() {
        let case = parse("x", FILE).unwrap().remove(0);
        let Inputs::Rows(rows) = &case.inputs else { panic!("rows are given") };
        let again = parse("x", &case.show(rows)).unwrap();
        assert_eq!(again[0].source, case.source);
    }

    #[test]
    fn a_case_without_a_rung_is_an_error() {
        assert!(parse("x", "## A\n`sql: f() RETURNS TEXT`\n```py\nreturn ''\n```\n").is_err());
        assert!(parse("x", "## A\n`rnug: native`\n").is_err());
    }
}
