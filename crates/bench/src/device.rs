//! Row functions on an OpenCL device beside native code: what `cargo xtask bench opencl` runs.

use crate::contenders;
use anyhow::{Context, Result};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use exuvia::ExuviaSession;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Instant;

/// A function and the call of it.
struct Program {
    title: &'static str,
    create: &'static str,
    call: &'static str,
}

/// The elements of each array.
const ARRAY: usize = 100;

const PROGRAMS: &[Program] = &[
    Program {
        title: "a * b + c (nothing to gain)",
        create: "CREATE FUNCTION f(a DOUBLE, b DOUBLE, c DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
def f(a, b, c):
    if a > 1e300:
        return b
    return a * b + c
$$",
        call: "f(x, y, s)",
    },
    Program {
        title: "haversine",
        create: "CREATE FUNCTION f(a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import math
def f(lat1, lon1, lat2, lon2):
    p1 = math.radians(lat1)
    p2 = math.radians(lat2)
    dp = math.radians(lat2 - lat1)
    dl = math.radians(lon2 - lon1)
    h = math.sin(dp / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(dl / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(h))
$$",
        call: "f(x * 80, y * 170, y * 80, x * 170)",
    },
    Program {
        title: "Black-Scholes, a call's price",
        create: "CREATE FUNCTION f(s DOUBLE, k DOUBLE, t DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import math
def cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    w = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    w = 1.0 - w * math.exp(-x * x / 2.0) * 0.3989422804014327
    return w if x >= 0 else 1.0 - w
def f(s, k, t):
    v = 0.3 * math.sqrt(t)
    d1 = (math.log(s / k) + (0.02 + 0.045) * t) / v
    return s * cdf(d1) - k * math.exp(-0.02 * t) * cdf(d1 - v)
$$",
        call: "f(50 + 100 * s, 100, 0.1 + s)",
    },
    Program {
        title: "the rate of a loan, 60 steps of Newton's",
        create: "CREATE FUNCTION f(payment DOUBLE, months BIGINT) RETURNS DOUBLE LANGUAGE python AS $$
def f(payment, months):
    rate = 0.01
    for _ in range(60):
        power = 1.0
        for _ in range(months):
            power *= 1.0 + rate
        value = rate * power - payment * (power - 1.0)
        slope = power + months * rate * power / (1.0 + rate) - payment * months * power / (1.0 + rate)
        if slope == 0.0:
            return None
        step = value / slope
        rate -= step
        if abs(step) < 1e-12:
            break
    return rate
$$",
        call: "f(0.02 + s / 100, 60 + i % 12)",
    },
    Program {
        title: "Mandelbrot, 500 steps",
        create: "CREATE FUNCTION f(cx DOUBLE, cy DOUBLE) RETURNS BIGINT LANGUAGE python AS $$
def f(cx, cy):
    x = y = 0.0
    n = 0
    while n < 500 and x * x + y * y <= 4.0:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    return n
$$",
        call: "f(x * 1.5 - 0.5, y)",
    },
    Program {
        title: "Collatz, the length of the way",
        create: "CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE python AS $$
def f(n):
    steps = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps
$$",
        call: "f(i + 1)",
    },
    Program {
        title: "a random walk of 200 steps, minimal standard generator",
        create: "CREATE FUNCTION f(seed BIGINT) RETURNS DOUBLE LANGUAGE python AS $$
def f(seed):
    state = seed % 2147483646 + 1
    at = 0.0
    highest = 0.0
    for _ in range(200):
        state = state * 48271 % 2147483647
        at += state / 2147483647 - 0.5
        highest = max(highest, at)
    return highest
$$",
        call: "f(i)",
    },
    Program {
        title: "point in a polygon of 24 corners (a table)",
        create: "CREATE FUNCTION f(x DOUBLE, y DOUBLE) RETURNS BOOLEAN LANGUAGE python AS $$
CORNERS = [(0.9, 0.0), (0.6, 0.2), (0.8, 0.5), (0.5, 0.5), (0.5, 0.8), (0.2, 0.6), (0.0, 0.9), (-0.2, 0.6),
           (-0.5, 0.8), (-0.5, 0.5), (-0.8, 0.5), (-0.6, 0.2), (-0.9, 0.0), (-0.6, -0.2), (-0.8, -0.5), (-0.5, -0.5),
           (-0.5, -0.8), (-0.2, -0.6), (0.0, -0.9), (0.2, -0.6), (0.5, -0.8), (0.5, -0.5), (0.8, -0.5), (0.6, -0.2)]
def f(x, y):
    inside = False
    j = len(CORNERS) - 1
    for i in range(len(CORNERS)):
        xi, yi = CORNERS[i]
        xj, yj = CORNERS[j]
        if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi:
            inside = not inside
        j = i
    return inside
$$",
        call: "f(x, y)",
    },
    Program {
        title: "an array of 100: variance of its differences",
        create: "CREATE FUNCTION f(a DOUBLE[]) RETURNS DOUBLE LANGUAGE python AS $$
def f(a):
    n = len(a) - 1
    mean = (a[n] - a[0]) / n
    total = 0.0
    for i in range(n):
        d = a[i + 1] - a[i] - mean
        total += d * d
    return total / n
$$",
        call: "f(a)",
    },
    Program {
        title: "an array of 100: best lag of 20",
        create: "CREATE FUNCTION f(a DOUBLE[]) RETURNS BIGINT LANGUAGE python AS $$
def f(a):
    best = 0
    most = -1e300
    for lag in range(1, 21):
        total = 0.0
        for i in range(len(a) - lag):
            total += a[i] * a[i + lag]
        if total > most:
            most = total
            best = lag
    return best
$$",
        call: "f(a)",
    },
    Program {
        title: "an array of 100: moving average of 10 (an array)",
        create: "CREATE FUNCTION f(a DOUBLE[]) RETURNS DOUBLE[] LANGUAGE python AS $$
def f(a):
    out = []
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        if i >= 10:
            total -= a[i - 10]
        out.append(total / min(i + 1, 10))
    return out
$$",
        call: "f(a)",
    },
    Program {
        title: "an array of 100: smoothed 50 times (an array)",
        create: "CREATE FUNCTION f(a DOUBLE[]) RETURNS DOUBLE[] LANGUAGE python AS $$
def f(a):
    u = [0.0] * len(a)
    v = [0.0] * len(a)
    for i in range(len(a)):
        u[i] = v[i] = a[i]
    for _ in range(50):
        for i in range(1, len(u) - 1):
            v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
        u, v = v, u
    return u
$$",
        call: "f(a)",
    },
    Program {
        title: "a heat rod of 32 cells, 100 steps (lists)",
        create: "CREATE FUNCTION f(left DOUBLE, right DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
def f(left, right):
    u = [0.0] * 32
    v = [0.0] * 32
    u[0] = v[0] = left
    u[31] = v[31] = right
    for _ in range(100):
        for i in range(1, 31):
            v[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    return u[16]
$$",
        call: "f(x, y)",
    },
];

/// The partitions of the table, and its columns.
type Parts = (Arc<Schema>, Vec<Vec<RecordBatch>>);

/// The columns, in batches of so many rows.
fn table(rows: usize, batch: usize, partitions: usize) -> Result<Parts> {
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    let fields = vec![
        Field::new("i", DataType::Int64, true),
        Field::new("x", DataType::Float64, true),
        Field::new("y", DataType::Float64, true),
        Field::new("s", DataType::Float64, true),
        Field::new("a", DataType::List(Arc::clone(&item)), true),
    ];
    let schema = Arc::new(Schema::new(fields));
    // By the number of the row, so that batches of every size hold the same.
    let random = |row: usize, column: usize| {
        let mut bits = (row as u64 * 8 + column as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut parts = vec![vec![]; partitions];
    for (number, start) in (0..rows).step_by(batch).enumerate() {
        let count = batch.min(rows - start);
        let floats = |low: f64, high: f64, column: usize| -> Float64Array {
            // Some NULLs, as columns have them.
            let value = |row| (row % 997 != 996).then(|| low + (high - low) * random(row, column));
            (start..start + count).map(value).collect()
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values((start..start + count).map(|row| row as i64))),
            Arc::new(floats(-1.0, 1.0, 0)),
            Arc::new(floats(-1.0, 1.0, 1)),
            Arc::new(floats(0.0, 1.0, 2)),
            Arc::new({
                let values =
                    Float64Array::from_iter_values((start * ARRAY..(start + count) * ARRAY).map(|at| random(at, 3)));
                let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(ARRAY, count));
                ListArray::new(Arc::clone(&item), offsets, Arc::new(values), None)
            }),
        ];
        parts[number % partitions].push(RecordBatch::try_new(Arc::clone(&schema), columns)?);
    }
    Ok((schema, parts))
}

/// A way of running a program: its name, `exuvia.offload`, partitions, rows of a batch.
type Way = (&'static str, &'static str, usize, usize);

/// Runs every program every way and tells the nanoseconds a row of each, the rows that the device
/// left, what EXPLAIN says in the end, and whether every way had the same bits.
///
/// # Errors
/// If a query fails.
pub fn device(rows: usize, rounds: usize) -> Result<Value> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let ways: [Way; 5] = [
        ("native", "off", 1, 8192),
        ("device", "force", 1, 8192),
        ("device, large batches", "force", 1, 131_072),
        ("auto", "auto", 1, 8192),
        ("native, all cores", "off", cores, 8192),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(cores).enable_all().build()?;
    let mut tables: BTreeMap<(usize, usize), Parts> = BTreeMap::new();
    for (_, _, partitions, batch) in ways {
        if let Entry::Vacant(place) = tables.entry((partitions, batch)) {
            place.insert(table(rows, batch, partitions)?);
        }
    }
    let mut programs = vec![];
    for program in PROGRAMS {
        let mut sessions = vec![];
        for (_, offload, partitions, batch) in ways {
            let session = ExuviaSession::new_with_config(contenders::config(partitions));
            let (schema, parts) = tables[&(partitions, batch)].clone();
            session.context().register_table("t", Arc::new(MemTable::try_new(schema, parts)?))?;
            runtime.block_on(async {
                for statement in
                    [&format!("SET exuvia.offload = '{offload}'"), "SET exuvia.inline = 'off'", program.create]
                {
                    session.sql(statement).await?.collect().await?;
                }
                anyhow::Ok(())
            })?;
            sessions.push(session);
        }
        // Strict NULLs are not what is measured: rows with one are left out before the call.
        let sql =
            format!("SELECT i, {} AS r FROM t WHERE x IS NOT NULL AND y IS NOT NULL AND s IS NOT NULL", program.call);
        let mut seconds = vec![vec![]; ways.len()];
        let mut bits: Vec<Vec<Option<u64>>> = vec![vec![]; ways.len()];
        for round in 0..=rounds {
            for (at, session) in sessions.iter().enumerate() {
                let start = Instant::now();
                let batches = runtime.block_on(async { session.sql(&sql).await?.collect().await })?;
                // The first round compiles, builds and warms.
                if round == 0 {
                    bits[at] = sorted(&batches);
                } else {
                    seconds[at].push(start.elapsed().as_secs_f64());
                }
            }
        }
        let explained = |at: usize| -> Result<String> {
            let explain = format!("EXPLAIN ANALYZE {sql}");
            let batches = runtime.block_on(async { sessions[at].sql(&explain).await?.collect().await })?;
            let last = batches.last().context("EXPLAIN says nothing")?;
            Ok(last.column(1).as_string::<i32>().value(last.num_rows() - 1).to_string())
        };
        let paces: serde_json::Map<String, Value> = ways
            .iter()
            .zip(&mut seconds)
            .map(|((name, ..), seconds)| {
                seconds.sort_by(f64::total_cmp);
                let median = seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN);
                (name.to_string(), json!((median / rows as f64 * 1e10).round() / 10.0))
            })
            .collect();
        let equal = bits.iter().all(|found| *found == bits[0]);
        let answer = json!({
            "title": program.title, "ns_a_row": paces, "equal": equal,
            "forced": explained(1)?, "auto": explained(3)?,
        });
        eprintln!("{answer}");
        programs.push(answer);
    }
    Ok(json!({"rows": rows, "rounds": rounds, "cores": cores, "programs": programs}))
}

/// The results by the number of their row, as bits; of an array a checksum of them.
fn sorted(batches: &[RecordBatch]) -> Vec<Option<u64>> {
    let mut all: Vec<(i64, Option<u64>)> = vec![];
    for batch in batches {
        let numbers = batch.column(0).as_primitive::<datafusion::arrow::datatypes::Int64Type>();
        let results = bits(batch.column(1));
        all.extend((0..batch.num_rows()).map(|row| (numbers.value(row), results(row))));
    }
    all.sort_unstable();
    all.into_iter().map(|(_, bits)| bits).collect()
}

/// The bits of each row of a column.
fn bits(column: &ArrayRef) -> Box<dyn Fn(usize) -> Option<u64> + '_> {
    use datafusion::arrow::datatypes::{Float64Type, Int64Type};
    if let Some(lists) = column.as_list_opt::<i32>() {
        return Box::new(|row| {
            let items = lists.is_valid(row).then(|| lists.value(row))?;
            let mix = |sum: u64, bits: Option<u64>| {
                (sum ^ bits.unwrap_or(u64::MAX)).wrapping_mul(0x0100_0000_01b3).rotate_left(7)
            };
            Some((0..items.len()).map(bits(&items)).fold(items.len() as u64, mix))
        });
    }
    if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
        return Box::new(|row| floats.is_valid(row).then(|| floats.value(row).to_bits()));
    }
    if let Some(ints) = column.as_primitive_opt::<Int64Type>() {
        return Box::new(|row| ints.is_valid(row).then(|| ints.value(row) as u64));
    }
    let bools = column.as_boolean();
    Box::new(|row| bools.is_valid(row).then(|| u64::from(bools.value(row))))
}
