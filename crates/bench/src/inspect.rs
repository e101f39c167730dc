//! What the engine says of the functions: their rungs after running over the table, the
//! helpers that their loops call, and how long lifting and compiling takes.

use crate::tables;
use crate::udfs::{self, Suite};
use anyhow::Result;
use datafusion::arrow::array::{ArrayRef, RecordBatch, new_null_array};
use exuvia::engine::{Function, Rung, Settings};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Variants of each function that are compiled for the distribution of times.
const VARIANTS: usize = 10;

/// Runs the functions over the table, compiles variants of them, and says what was seen.
///
/// # Errors
/// If the table cannot be read or a call fails.
pub fn inspect(folder: &Path, suite: &Suite) -> Result<Value> {
    let settings = Settings::default();
    let (_, batches) = tables::load(&folder.join(suite.table))?;
    let mut functions = Vec::new();
    for (definition, (_, columns)) in udfs::definitions(&suite.source)?.into_iter().zip(suite.columns()?) {
        let function = udfs::defined(definition, &settings)?;
        let mut error = None;
        for batch in &batches {
            if let Err(failed) = udfs::call(&function, &arguments(&columns, batch)?, batch.num_rows(), &settings) {
                error = Some(format!("{failed:#}"));
                break;
            }
        }
        functions.push(describe(&function, &settings, error));
    }
    Ok(json!({"functions": functions, "compile": compile(&settings)?}))
}

/// A function's place, as compiled and run.
fn describe(function: &Function, settings: &Settings, error: Option<String>) -> Value {
    let placement = function.placement(settings);
    let rung = match placement.rung {
        Rung::Native => "native",
        Rung::Evaluator => "evaluator",
        Rung::Python => "python",
    };
    let helpers = function.dump("helpers", settings).unwrap_or_default();
    json!({
        "name": function.definition().name,
        "rung": rung,
        "reason": placement.reason.map(|(code, text)| format!("{code} {text}")),
        "rows": placement.rows,
        "left": placement.evaluated_rows + placement.python_rows,
        "helpers": helpers.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; "),
        "error": error,
        "compile_ms": placement.compile_nanos as f64 / 1e6,
    })
}

/// How long lifting, optimising and compiling takes for definition and first call, over
/// many distinct functions.
fn compile(settings: &Settings) -> Result<Value> {
    let mut times = Vec::new();
    for variant in 0..VARIANTS {
        for file in [Suite::named("zillow")?.source, Suite::named("more")?.source] {
            // Another constant makes it another module.
            let source = format!("{file}\nVARIANT = {variant}\n");
            for definition in udfs::definitions(&source)? {
                let types: Vec<_> = definition.params.iter().map(|param| param.ty.clone()).collect();
                let function = udfs::defined(definition, settings)?;
                let args: Vec<ArrayRef> = types.iter().map(|ty| new_null_array(ty, 1)).collect();
                // What a row of NULLs raises is no matter here.
                let _ = udfs::call(&function, &args, 1, settings);
                let placement = function.placement(settings);
                if placement.rung == Rung::Native {
                    times.push(placement.compile_nanos as f64 / 1e6);
                }
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get(((times.len() as f64 - 1.0) * share).round() as usize).copied();
    Ok(json!({"functions": times.len(), "median_ms": at(0.5), "p95_ms": at(0.95), "max_ms": at(1.0)}))
}

fn arguments(columns: &[String], batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
    columns.iter().map(|name| Ok(Arc::clone(batch.column(batch.schema().index_of(name)?)))).collect()
}

/// The columns that each function is called with, in the order of the file.
///
/// # Errors
/// If the file cannot be read.
pub fn columns(suite: &Suite) -> Result<Value> {
    let columns = suite.columns()?;
    Ok(Value::Array(columns.into_iter().map(|(name, columns)| json!([name, columns])).collect()))
}
