//! Calls that pandas' and NumPy's own tests make, replayed as functions of SQL.
//!
//! `tests/recorded` has them as data: a function, its inputs and what CPython makes of them. An
//! outcome that differs is a wrong answer. `EXUVIA_RECORDED` names a part of the ids of the
//! cases to run.

#![cfg(feature = "python")]

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, ListArray, RecordBatch, StringArray, UInt32Array, new_empty_array,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Schema, TimeUnit};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use exuvia::{ExuviaSession, message};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// What becomes of a case.
enum Verdict {
    Equal,
    /// SQL has no type for an input or a result.
    Unmapped(&'static str),
    Different(String),
}

#[tokio::test(flavor = "multi_thread")]
async fn pandas_calls_give_what_they_give_in_python() {
    let counted = replay("pandas").await;
    assert!(counted.0 > 8000 || filtered(), "{counted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn numpy_calls_give_what_they_give_in_python() {
    let counted = replay("numpy").await;
    assert!(counted.0 > 3000 || filtered(), "{counted:?}");
}

fn filtered() -> bool {
    std::env::var_os("EXUVIA_RECORDED").is_some()
}

/// Replays the cases of a library: how many were equal, and how many could not be said in SQL.
async fn replay(library: &str) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/recorded/{library}.jsonl.gz"));
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let wanted = std::env::var("EXUVIA_RECORDED").unwrap_or_default();
    let session = ExuviaSession::new();
    let (mut equal, mut unmapped, mut different) = (0, std::collections::BTreeMap::new(), vec![]);
    for line in lines {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let id = case["id"].as_str().unwrap();
        if !id.contains(&wanted) {
            continue;
        }
        let source = case["source"].as_str().unwrap();
        if source.contains("where=") && source.contains("out=None") {
            *unmapped.entry("values that are in memory by chance").or_insert(0) += 1;
            continue;
        }
        let verdict = match case["kind"].as_str().unwrap() {
            "table" => table(&session, &case).await,
            "column" => match array(&session, &case).await {
                Verdict::Equal => column(&session, &case).await,
                other => other,
            },
            _ => array(&session, &case).await,
        };
        match verdict {
            Verdict::Equal => equal += 1,
            Verdict::Unmapped(why) => *unmapped.entry(why).or_insert(0) += 1,
            Verdict::Different(how) => different.push(format!("{id}: {source}\n{how}")),
        }
    }
    println!("{library}: {equal} equal, {} different, in no SQL: {unmapped:?}", different.len());
    assert!(
        different.is_empty(),
        "{} differ:\n{}",
        different.len(),
        different.iter().take(100).cloned().collect::<Vec<_>>().join("\n\n")
    );
    (equal, unmapped.values().sum())
}

/// The Arrow type of a type of SQL.
fn sql_type(name: &str) -> DataType {
    match name.replace("INTEGER", "INT").as_str() {
        "TINYINT" => DataType::Int8,
        "SMALLINT" => DataType::Int16,
        "INT" => DataType::Int32,
        "BIGINT" => DataType::Int64,
        "TINYINT UNSIGNED" => DataType::UInt8,
        "SMALLINT UNSIGNED" => DataType::UInt16,
        "INT UNSIGNED" => DataType::UInt32,
        "BIGINT UNSIGNED" => DataType::UInt64,
        "REAL" => DataType::Float32,
        "DOUBLE" => DataType::Float64,
        "BOOLEAN" => DataType::Boolean,
        "TEXT" => DataType::Utf8View,
        "DATE" => DataType::Date32,
        "TIMESTAMP(9)" => DataType::Timestamp(TimeUnit::Nanosecond, None),
        name if name.starts_with("TIMESTAMP") => DataType::Timestamp(TimeUnit::Microsecond, None),
        other => panic!("no type {other}"),
    }
}

/// Values of JSON as a column.
fn column_of<'a>(values: impl Iterator<Item = &'a Value>, ty: &DataType) -> ArrayRef {
    let texts: StringArray = values
        .map(|value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        })
        .collect();
    cast(&texts, ty).unwrap()
}

fn frame(value: &Value) -> RecordBatch {
    let columns = value["columns"].as_array().unwrap();
    let rows = value["rows"].as_array().unwrap();
    let mut fields = vec![];
    let mut arrays = vec![];
    for (index, column) in columns.iter().enumerate() {
        let ty = sql_type(column[1].as_str().unwrap());
        arrays.push(column_of(rows.iter().map(|row| &row[index]), &ty));
        fields.push(Field::new(column[0].as_str().unwrap(), ty, true));
    }
    let options = datafusion::arrow::array::RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).unwrap()
}

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

async fn run(session: &ExuviaSession, sql: &str) -> Result<Vec<RecordBatch>, String> {
    let frame = session.sql(sql).await.map_err(|error| message(&error))?;
    frame.collect().await.map_err(|error| message(&error))
}

/// Whether a query failed as the case says.
fn raised(case: &Value, error: &str) -> Verdict {
    let expect = &case["expect"];
    let (Some(class), Some(text)) = (expect["raises"].as_str(), expect["message"].as_str()) else {
        return Verdict::Different(format!("failed: {error}"));
    };
    let wanted = if text.is_empty() { class.to_string() } else { format!("{class}: {text}") };
    let first = error.lines().next().unwrap_or_default();
    if first == wanted { Verdict::Equal } else { Verdict::Different(format!("raised {first}\nexpected {wanted}")) }
}

async fn table(session: &ExuviaSession, case: &Value) -> Verdict {
    let inputs = case["inputs"].as_array().unwrap();
    let mut params = vec![];
    let mut args = vec![];
    for input in inputs {
        let name = input["name"].as_str().unwrap();
        let batch = frame(input);
        if batch.num_columns() == 0 {
            return Verdict::Unmapped("a table without columns");
        }
        let _ = session.context().deregister_table(name);
        session.context().register_batch(name, batch).unwrap();
        params.push(format!("{name} TABLE"));
        args.push(format!("TABLE {name}"));
    }
    let expect = &case["expect"];
    let returns = match expect["columns"].as_array() {
        Some(columns) if columns.is_empty() => return Verdict::Unmapped("a result without columns"),
        Some(columns) => {
            let columns = columns.iter().map(|column| {
                // Alone it has nanoseconds.
                let ty = column[1].as_str().unwrap();
                let ty = if ty == "TIMESTAMP" { "TIMESTAMP(6)" } else { ty };
                format!("{} {ty}", quoted(column[0].as_str().unwrap()))
            });
            columns.collect::<Vec<_>>().join(", ")
        }
        None => "x BIGINT".to_string(),
    };
    let create = format!(
        "CREATE OR REPLACE FUNCTION f({}) RETURNS TABLE ({returns}) LANGUAGE python AS $exuvia$\n{}\n$exuvia$",
        params.join(", "),
        case["source"].as_str().unwrap()
    );
    if let Err(error) = run(session, &create).await {
        return Verdict::Different(format!("not created: {error}"));
    }
    match run(session, &format!("SELECT * FROM f({})", args.join(", "))).await {
        Err(error) => raised(case, &error),
        Ok(_) if expect["raises"].is_string() => Verdict::Different(format!("did not raise {}", expect["raises"])),
        Ok(batches) => {
            let expected = frame(expect);
            let Some(first) = batches.first() else {
                return match expected.num_rows() {
                    0 => Verdict::Equal,
                    rows => Verdict::Different(format!("no rows for {rows}")),
                };
            };
            let found = concat_batches(&first.schema(), &batches).unwrap();
            let ordered = expect["ordered"].as_bool() != Some(false);
            compare(found.columns(), expected.columns(), case["expect"]["exact"].as_bool() == Some(false), ordered)
        }
    }
}

/// Compares columns value by value.
fn compare(found: &[ArrayRef], expected: &[ArrayRef], near: bool, ordered: bool) -> Verdict {
    let rows = |columns: &[ArrayRef]| -> Vec<Vec<String>> {
        let count = columns.first().map_or(0, |column| column.len());
        let mut rows: Vec<Vec<String>> =
            (0..count).map(|row| columns.iter().map(|column| shown(column, row)).collect()).collect();
        if !ordered {
            rows.sort();
        }
        rows
    };
    let (found, expected) = (rows(found), rows(expected));
    let same = |a: &String, b: &String| a == b || near && close(a, b);
    if found.len() == expected.len()
        && found.iter().zip(&expected).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)))
    {
        return Verdict::Equal;
    }
    let place = found.iter().zip(&expected).position(|(a, b)| a.iter().zip(b).any(|(a, b)| !same(a, b)));
    let at = place.unwrap_or(0);
    Verdict::Different(format!(
        "{} rows, expected {}; row {at}: {:?}\nexpected {:?}",
        found.len(),
        expected.len(),
        found.get(at),
        expected.get(at)
    ))
}

fn close(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0),
        _ => false,
    }
}

/// A value as text that tells any two apart.
fn shown(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".to_string();
    }
    match column.data_type() {
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Float32 => format!("{:?}", column.as_primitive::<Float32Type>().value(row)),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<String> = (0..items.len()).map(|item| shown(&items, item)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap().value(row).to_string(),
    }
}

/// The items of nested lists.
fn flat(values: &Value) -> Vec<&Value> {
    match values {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        value => vec![value],
    }
}

/// SQL's name for a dtype.
fn dtype(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" => "BOOLEAN",
        "int8" => "TINYINT",
        "int16" => "SMALLINT",
        "int32" => "INT",
        "int64" => "BIGINT",
        "uint8" => "TINYINT UNSIGNED",
        "uint16" => "SMALLINT UNSIGNED",
        "uint32" => "INT UNSIGNED",
        "uint64" => "BIGINT UNSIGNED",
        "float32" => "REAL",
        "float64" => "DOUBLE",
        _ => return None,
    })
}

/// An array as a value of SQL: its type, and a column of one row.
fn value_of(array: &Value) -> Option<(String, ArrayRef)> {
    let name = dtype(array["dtype"].as_str()?)?;
    let mut items = column_of(flat(&array["values"]).into_iter(), &sql_type(name));
    let shape: Vec<usize> = array["shape"].as_array()?.iter().map(|size| size.as_u64().unwrap_or(0) as usize).collect();
    let mut ty = name.to_string();
    for (axis, size) in shape.iter().enumerate().rev() {
        let lists: usize = shape[..axis].iter().product();
        let ends = OffsetBuffer::from_lengths(std::iter::repeat_n(*size, lists));
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        items = Arc::new(ListArray::new(field, ends, items, None));
        ty.push_str("[]");
    }
    Some((ty, items))
}

async fn array(session: &ExuviaSession, case: &Value) -> Verdict {
    let mut params = vec![];
    let mut fields = vec![];
    let mut columns = vec![];
    for input in case["inputs"].as_array().unwrap() {
        let name = input["name"].as_str().unwrap();
        let Some((ty, column)) = value_of(input) else { return Verdict::Unmapped("a dtype that SQL has not") };
        if input["shape"].as_array().unwrap().len() > 1 && input["values"].as_array().unwrap().is_empty() {
            return Verdict::Unmapped("an empty array of rank 2, whose shape lists do not tell");
        }
        params.push(format!("{name} {ty}"));
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    }
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let _ = session.context().deregister_table("arrays");
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    session.context().register_batch("arrays", batch).unwrap();
    let expect = &case["expect"];
    let raises = expect["raises"].is_string();
    let expected =
        if raises { Some(("BIGINT".to_string(), new_empty_array(&DataType::Int64))) } else { value_of(expect) };
    let Some((returns, expected)) = expected else { return Verdict::Unmapped("a dtype that SQL has not") };
    let create = format!(
        "CREATE OR REPLACE FUNCTION f({}) RETURNS {returns} LANGUAGE python AS $exuvia$\n{}\n$exuvia$",
        params.join(", "),
        case["source"].as_str().unwrap()
    );
    if let Err(error) = run(session, &create).await {
        return Verdict::Different(format!("not created: {error}"));
    }
    match run(session, &format!("SELECT f({}) FROM arrays", names.join(", "))).await {
        Err(error) => raised(case, &error),
        Ok(_) if raises => Verdict::Different(format!("did not raise {}", expect["raises"])),
        Ok(batches) => {
            let found = Arc::clone(batches[0].column(0));
            let flat = |column: &ArrayRef| -> ArrayRef {
                let mut column = Arc::clone(column);
                while let DataType::List(_) = column.data_type() {
                    column = Arc::clone(column.as_list::<i32>().values());
                }
                column
            };
            if expect["exact"].as_bool() == Some(false) {
                return compare(&[flat(&found)], &[flat(&expected)], true, true);
            }
            compare(&[found], &[expected], false, true)
        }
    }
}

/// The same call as a column function.
async fn column(session: &ExuviaSession, case: &Value) -> Verdict {
    let mut params = vec![];
    let mut fields = vec![];
    let mut columns = vec![];
    for input in case["inputs"].as_array().unwrap() {
        let name = input["name"].as_str().unwrap();
        let Some(ty) = input["dtype"].as_str().and_then(dtype) else {
            return Verdict::Unmapped("a dtype that SQL has not");
        };
        params.push(format!("{name} {ty}"));
        fields.push(Field::new(name, sql_type(ty), true));
        columns.push(column_of(input["values"].as_array().unwrap().iter(), &sql_type(ty)));
    }
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let rows = columns[0].len();
    // The rows have to be told in which order they are.
    fields.push(Field::new("__row", DataType::UInt32, false));
    columns.push(Arc::new(UInt32Array::from_iter_values(0..rows as u32)));
    let _ = session.context().deregister_table("columns");
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    session.context().register_batch("columns", batch).unwrap();
    let expect = &case["expect"];
    if expect["raises"].is_string() || rows == 0 {
        // Without rows there is no call.
        return Verdict::Equal;
    }
    let Some(ty) = expect["dtype"].as_str().and_then(dtype) else {
        return Verdict::Unmapped("a dtype that SQL has not");
    };
    let expected = column_of(expect["values"].as_array().unwrap().iter(), &sql_type(ty));
    let create = format!(
        "CREATE OR REPLACE FUNCTION f({}) RETURNS {ty} LANGUAGE python AS $exuvia$\n{}\n$exuvia$",
        params.join(", "),
        case["source"].as_str().unwrap()
    );
    if let Err(error) = run(session, &create).await {
        return Verdict::Different(format!("column function not created: {error}"));
    }
    let query = format!("SELECT f({}) OVER (ORDER BY __row) AS y, __row FROM columns ORDER BY __row", names.join(", "));
    match run(session, &query).await {
        Err(error) => Verdict::Different(format!("column function failed: {error}")),
        Ok(batches) => {
            let found = concat_batches(&batches[0].schema(), &batches).unwrap();
            compare(&found.columns()[..1], &[expected], expect["exact"].as_bool() == Some(false), true)
        }
    }
}
