//! Building small functions, compiling them and running them on columns.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use exuvia_ir::{Builder, Function, Inst, IntWidth, Module, Object, Opcode, Terminator, Type, Value};
use exuvia_jit::{Kernel, Options, Output};
use exuvia_ops::cx::Cx;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub const SPEED: Options = Options {
    opt_level_speed: true,
    fail_guards: false,
    each_turn: false,
    strict: false,
    whole: false,
    width: IntWidth::Word,
};

/// What became of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    Value(Object),
    Exit(u64),
}

pub fn context() -> Cx {
    Cx::new(16 << 20, false, Arc::new(AtomicBool::new(false)))
}

/// The column type for values of an IR type, without `None`.
pub fn column_type(ty: &Type) -> DataType {
    match ty.alternatives().iter().find(|ty| **ty != Type::None) {
        Some(Type::Int) => DataType::Int64,
        Some(Type::Float) => DataType::Float64,
        Some(Type::Bool) => DataType::Boolean,
        Some(Type::Str) => DataType::Utf8View,
        None => DataType::Int64,
        other => panic!("no column for {other:?}"),
    }
}

/// A column of objects.
pub fn column(ty: &DataType, values: &[Object]) -> ArrayRef {
    match ty {
        DataType::Int64 => Arc::new(Int64Array::from_iter(values.iter().map(|value| match value {
            Object::Int(value) => value.to_i64(),
            _ => None,
        }))),
        DataType::Float64 => Arc::new(Float64Array::from_iter(values.iter().map(|value| match value {
            Object::Float(value) => Some(*value),
            _ => None,
        }))),
        DataType::Boolean => Arc::new(BooleanArray::from_iter(values.iter().map(|value| match value {
            Object::Bool(value) => Some(*value),
            _ => None,
        }))),
        DataType::Utf8View => Arc::new(StringViewArray::from_iter(values.iter().map(|value| match value {
            Object::Str(text) => Some(text.to_string()),
            _ => None,
        }))),
        other => panic!("no column of {other}"),
    }
}

/// The value of a row of a column.
pub fn value(array: &dyn Array, row: usize) -> Object {
    if array.is_null(row) {
        return Object::None;
    }
    match array.data_type() {
        DataType::Int64 => Object::int(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Object::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Object::Bool(array.as_boolean().value(row)),
        DataType::Utf8View => Object::str(array.as_string_view().value(row)),
        DataType::Utf8 => Object::str(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Object::str(array.as_string::<i64>().value(row)),
        other => panic!("no value of {other}"),
    }
}

/// What became of every row.
pub fn rows(output: Output) -> Vec<Row> {
    let exits = output.exits;
    let array = output.values.finish().unwrap();
    array.to_data().validate_full().unwrap();
    let mut rows: Vec<Row> = (0..array.len()).map(|row| Row::Value(value(&array, row))).collect();
    for (row, status) in exits {
        assert_eq!(rows[row as usize], Row::Value(Object::None), "a row that left has no value");
        rows[row as usize] = Row::Exit(status);
    }
    rows
}

pub fn module(function: Function) -> Module {
    Module { functions: vec![function] }
}

pub fn compile(module: &Module) -> Kernel {
    compile_with(module, &SPEED)
}

pub fn compile_with(module: &Module, options: &Options) -> Kernel {
    let params: Vec<DataType> = module.functions[0].param_types().iter().map(column_type).collect();
    Kernel::compile(module, &params, &column_type(&module.functions[0].ret), options)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Compiles and runs; each argument is a column's values.
pub fn run(module: &Module, args: &[Vec<Object>]) -> Vec<Row> {
    let kernel = compile(module);
    let columns: Vec<ArrayRef> = module.functions[0]
        .param_types()
        .iter()
        .zip(args)
        .map(|(ty, values)| column(&column_type(ty), values))
        .collect();
    let count = args.first().map_or(1, Vec::len);
    let at_speed = rows(kernel.run(&columns, count, &mut context()).unwrap());
    // The lower level of optimisation gives the same.
    let kernel = compile_with(module, &Options { opt_level_speed: false, ..SPEED });
    assert_eq!(at_speed, rows(kernel.run(&columns, count, &mut context()).unwrap()));
    at_speed
}

/// A function of one expression.
pub fn simple(params: &[Type], ret: Type, body: impl FnOnce(&mut Builder, Vec<Value>) -> Value) -> Module {
    let mut b = Builder::new("f", params, ret);
    let params = (0..params.len()).map(|at| b.param(at)).collect();
    let result = body(&mut b, params);
    b.end(Terminator::Return(result));
    module(b.function)
}

pub fn op(b: &mut Builder, name: &'static str, args: Vec<Value>, ty: Type) -> Value {
    b.inst(Opcode::Op(name), args, ty, None)
}

pub fn ints(values: &[i64]) -> Vec<Object> {
    values.iter().map(|value| Object::int(*value)).collect()
}

pub fn strs(values: &[&str]) -> Vec<Object> {
    values.iter().map(|value| Object::str(value)).collect()
}

pub fn value_rows(values: Vec<Object>) -> Vec<Row> {
    values.into_iter().map(Row::Value).collect()
}

/// The last instruction that was appended.
pub fn last(b: &mut Builder) -> &mut Inst {
    let block = b.block;
    b.function.block_mut(block).insts.last_mut().unwrap()
}
