//! What native code costs: `cargo run --release -p exuvia-jit --example cost`.
//!
//! Prints nanoseconds a row over a million rows for small functions beside a plain copy,
//! and the time of compilation.

use arrow::array::*;
use arrow::datatypes::DataType;
use exuvia_ir::{Builder, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_jit::{Kernel, Options};
use exuvia_ops::cx::Cx;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const ROWS: usize = 1 << 20;
const BATCH: usize = 8192;

fn simple(params: &[Type], ret: Type, body: impl FnOnce(&mut Builder, Vec<Value>) -> Value) -> Module {
    let mut b = Builder::new("f", params, ret);
    let params = (0..params.len()).map(|at| b.param(at)).collect();
    let result = body(&mut b, params);
    b.end(Terminator::Return(result));
    Module { functions: vec![b.function] }
}

fn op(b: &mut Builder, name: &'static str, args: Vec<Value>, ty: Type) -> Value {
    b.inst(Opcode::Op(name), args, ty, None)
}

/// The least of several runs over all batches, in nanoseconds a row.
fn time(mut run: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..std::env::var("EXUVIA_RUNS").map_or(9, |runs| runs.parse().unwrap_or(9)) {
        let start = Instant::now();
        for at in (0..ROWS).step_by(BATCH) {
            run(at);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / ROWS as f64);
    }
    best
}

fn measure(name: &str, module: &Module, columns: &[ArrayRef], returns: DataType, strict: bool) {
    if std::env::var("EXUVIA_ONLY").is_ok_and(|only| !name.contains(&only)) {
        return;
    }
    let params: Vec<DataType> = columns.iter().map(|column| column.data_type().clone()).collect();
    let mut compiled = f64::INFINITY;
    let options = Options { opt_level_speed: true, strict, ..Options::default() };
    let mut kernel = None;
    for _ in 0..std::env::var("EXUVIA_RUNS").map_or(9, |runs| runs.parse().unwrap_or(9)) {
        let start = Instant::now();
        match Kernel::compile(module, &params, &returns, &options) {
            Ok(made) => kernel = Some(made),
            Err(error) => return println!("{name:40} {error}"),
        }
        compiled = compiled.min(start.elapsed().as_micros() as f64);
    }
    let Some(kernel) = kernel else { return };
    let mut cx = Cx::new(64 << 20, false, Arc::new(AtomicBool::new(false)));
    let mut exits = 0;
    let row = time(|at| {
        let slices: Vec<ArrayRef> = columns.iter().map(|column| column.slice(at, BATCH)).collect();
        if let Ok(output) = kernel.run(&slices, BATCH, &mut cx) {
            exits = output.exits.len();
            black_box(output.values.finish().ok());
        }
    });
    println!("{name:40} {row:6.2} ns/row {compiled:8.0} us to compile, {exits} exits");
    if std::env::var_os("EXUVIA_DUMP").is_some() {
        println!("{}\n{}", kernel.lowered(), kernel.machine_code());
    }
}

fn main() {
    let ints: Vec<i64> = (0..ROWS as i64).map(|at| at.wrapping_mul(0x9E37_79B9) % 1_000_003).collect();
    let int: ArrayRef = Arc::new(Int64Array::from(ints.clone()));
    let sparse: ArrayRef = Arc::new(Int64Array::from_iter(ints.iter().map(|x| (x % 50 != 0).then_some(*x))));
    let texts: Vec<String> = ints.iter().map(|x| format!("{} bds , {} ba , {} sqft", x % 9, x % 4, x)).collect();
    let dirty: Vec<Option<String>> = texts
        .iter()
        .zip(&ints)
        .map(|(text, x)| match x % 20 {
            0 => Some(format!("{text} größer")),
            1 if x % 50 == 1 => None,
            _ => Some(text.clone()),
        })
        .collect();
    let utf8: ArrayRef = Arc::new(StringArray::from(dirty.clone()));
    let ascii: ArrayRef = Arc::new(StringArray::from(texts));
    let views: ArrayRef = Arc::new(StringViewArray::from_iter(dirty.clone()));
    let short: ArrayRef = Arc::new(StringViewArray::from_iter(ints.iter().map(|x| Some(x.to_string()))));

    let copy = time(|at| {
        let slice = int.slice(at, BATCH);
        let values: Vec<i64> = slice.as_primitive::<arrow::datatypes::Int64Type>().values().to_vec();
        black_box(Int64Array::from(values));
    });
    println!("{:40} {copy:6.2} ns/row", "copy of an int column");

    let identity = |ty: Type| simple(std::slice::from_ref(&ty), ty.clone(), |_, p| p[0]);
    measure("identity int", &identity(Type::Int), std::slice::from_ref(&int), DataType::Int64, false);
    measure(
        "identity int, nullable",
        &identity(Type::Int.optional()),
        std::slice::from_ref(&int),
        DataType::Int64,
        false,
    );
    measure(
        "identity int, 2 % NULL",
        &identity(Type::Int.optional()),
        std::slice::from_ref(&sparse),
        DataType::Int64,
        false,
    );
    measure(
        "identity int, strict, 2 % NULL",
        &identity(Type::Int),
        std::slice::from_ref(&sparse),
        DataType::Int64,
        true,
    );
    let add = simple(&[Type::Int, Type::Int], Type::Int, |b, p| op(b, "int.add", p, Type::Int));
    measure("a + b", &add, &[int.clone(), int.clone()], DataType::Int64, false);
    let modulo = simple(&[Type::Int], Type::Int, |b, p| {
        let divisor = b.constant(Object::int(97));
        op(b, "int.mod", vec![p[0], divisor], Type::Int)
    });
    measure("a % 97", &modulo, std::slice::from_ref(&int), DataType::Int64, false);
    let optional = || Type::Str.optional();
    for (name, column) in [("Utf8", &utf8), ("Utf8View", &views), ("Utf8View, short", &short)] {
        for (to, returns) in [("Utf8View", DataType::Utf8View), ("Utf8", DataType::Utf8)] {
            measure(
                &format!("identity {name} to {to}"),
                &identity(optional()),
                std::slice::from_ref(column),
                returns,
                false,
            );
        }
    }
    let len = simple(&[Type::Str], Type::Int, |b, p| op(b, "str.len", p, Type::Int));
    measure("len(s), ASCII Utf8", &len, std::slice::from_ref(&ascii), DataType::Int64, true);
    measure("len(s), Utf8", &len, std::slice::from_ref(&utf8), DataType::Int64, true);
    measure("len(s), Utf8View", &len, std::slice::from_ref(&views), DataType::Int64, true);
    let equal = simple(&[Type::Str], Type::Bool, |b, p| {
        let constant = b.constant(Object::str("3 bds , 1 ba"));
        op(b, "str.eq", vec![p[0], constant], Type::Bool)
    });
    measure("s == constant", &equal, std::slice::from_ref(&views), DataType::Boolean, true);
    let find = simple(&[Type::Str], Type::Int, |b, p| {
        let constant = b.constant(Object::str(" ba"));
        op(b, "str.find", vec![p[0], constant], Type::Int)
    });
    measure("s.find(\" ba\")", &find, std::slice::from_ref(&views), DataType::Int64, true);
    let slice = simple(&[Type::Str], Type::Str, |b, p| {
        let start = b.constant(Object::int(2));
        let stop = b.constant(Object::int(9));
        op(b, "str.slice", vec![p[0], start, stop], Type::Str)
    });
    measure("s[2:9]", &slice, std::slice::from_ref(&views), DataType::Utf8View, true);
    let upper = simple(&[Type::Str], Type::Str, |b, p| op(b, "str.upper", p, Type::Str));
    measure("s.upper() to Utf8View", &upper, std::slice::from_ref(&views), DataType::Utf8View, true);
    measure("s.upper() to Utf8", &upper, std::slice::from_ref(&utf8), DataType::Utf8, true);
    let digits = simple(&[Type::Str], Type::Int, |b, p| {
        let zero = b.constant(Object::int(0));
        let len = op(b, "str.byte_len", vec![p[0]], Type::Int);
        let header = b.function.new_block();
        let offset = b.function.add_param(header, Type::Int);
        let count = b.function.add_param(header, Type::Int);
        b.jump(header, vec![zero, zero]);
        b.block = header;
        b.effect(Opcode::Poll, vec![], None);
        let more = op(b, "int.lt", vec![offset, len], Type::Bool);
        let (body, done) = b.branch(more);
        b.block = body;
        let character = op(b, "str.char_at_byte", vec![p[0], offset], Type::Str);
        let next = op(b, "str.next_byte", vec![p[0], offset], Type::Int);
        let digit = op(b, "str.isdigit", vec![character], Type::Bool);
        let digit = op(b, "bool.to_int", vec![digit], Type::Int);
        let count_more = op(b, "int.add", vec![count, digit], Type::Int);
        b.jump(header, vec![next, count_more]);
        b.block = done;
        count
    });
    measure("sum(ch.isdigit() for ch in s)", &digits, std::slice::from_ref(&views), DataType::Int64, true);
    let parse = simple(&[Type::Str], Type::Int, |b, p| op(b, "str.int", p, Type::Int));
    measure("int(s)", &parse, std::slice::from_ref(&short), DataType::Int64, true);
}
