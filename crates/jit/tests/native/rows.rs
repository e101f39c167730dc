//! The loop over the rows: columns of every type and layout, NULLs, exits, results.

use crate::support::*;
use arrow::array::*;
use arrow::datatypes::*;
use exuvia_ir::{ExcKind, Object, Opcode, Terminator, Type};
use exuvia_jit::{CompileError, Kernel, Misfit, Options, RunError};
use exuvia_ops::def::status;
use std::sync::Arc;

fn identity(ty: Type) -> exuvia_ir::Module {
    simple(std::slice::from_ref(&ty), ty.clone(), |_, params| params[0])
}

#[test]
fn identity_of_every_type() {
    let nullable_ints = vec![Some(1i64), None, Some(-3), Some(100), None];
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from_iter(nullable_ints.iter().map(|x| x.map(|x| x as i8)))),
        Arc::new(Int16Array::from_iter(nullable_ints.iter().map(|x| x.map(|x| x as i16)))),
        Arc::new(Int32Array::from_iter(nullable_ints.iter().map(|x| x.map(|x| x as i32)))),
        Arc::new(Int64Array::from(nullable_ints.clone())),
        Arc::new(UInt8Array::from_iter(nullable_ints.iter().map(|x| x.map(|x| x as u8)))),
        Arc::new(UInt16Array::from_iter(nullable_ints.iter().map(|x| x.map(|x| x as u16)))),
        Arc::new(UInt32Array::from_iter(nullable_ints.iter().map(|x| x.map(|x| x as u32)))),
        Arc::new(Float32Array::from(vec![Some(1.5), None, Some(-0.0), Some(f32::INFINITY), None])),
        Arc::new(Float64Array::from(vec![Some(1.5), None, Some(-0.0), Some(1e300), None])),
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), None])),
    ];
    let texts = [Some("short"), None, Some(""), Some("ein sehr langer Text, größer als zwölf Bytes"), Some("日本")];
    arrays.push(Arc::new(StringArray::from_iter(texts)));
    arrays.push(Arc::new(LargeStringArray::from_iter(texts)));
    arrays.push(Arc::new(StringViewArray::from_iter(texts)));
    for array in arrays {
        let ty = array.data_type().clone();
        let plain = match &ty {
            DataType::Float32 | DataType::Float64 => Type::Float,
            DataType::Boolean => Type::Bool,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Type::Str,
            _ => Type::Int,
        };
        let kernel =
            Kernel::compile(&identity(plain.clone().optional()), std::slice::from_ref(&ty), &ty, &SPEED).unwrap();
        // Many rows, so that several chunks and every offset within a byte occur.
        let parts: Vec<&dyn Array> = (0..1000).map(|_| array.as_ref()).collect();
        let long = arrow::compute::concat(&parts).unwrap();
        for (from, len) in [(0, 5000), (1, 4999), (7, 2048), (13, 2050), (4999, 1), (5000, 0)] {
            let slice = long.slice(from, len);
            let output = kernel.run(std::slice::from_ref(&slice), len, &mut context()).unwrap();
            assert!(output.exits.is_empty());
            assert_eq!(&output.values.finish().unwrap(), &slice, "{ty} from {from}");
        }
        // Without NULLs, and compiled for none.
        let kernel = Kernel::compile(&identity(plain), std::slice::from_ref(&ty), &ty, &SPEED).unwrap();
        let valid = arrow::compute::filter(&long, &arrow::compute::is_not_null(&long).unwrap()).unwrap();
        let output = kernel.run(std::slice::from_ref(&valid), valid.len(), &mut context()).unwrap();
        assert_eq!(&output.values.finish().unwrap(), &valid, "{ty}");
        let refused = kernel.run(std::slice::from_ref(&long), long.len(), &mut context());
        assert!(matches!(refused, Err(RunError::Argument(_))));
        // Strict: NULL without a call.
        let strict = Options { strict: true, ..SPEED };
        let plain = match &ty {
            DataType::Float32 | DataType::Float64 => Type::Float,
            DataType::Boolean => Type::Bool,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Type::Str,
            _ => Type::Int,
        };
        let kernel = Kernel::compile(&identity(plain), std::slice::from_ref(&ty), &ty, &strict).unwrap();
        let slice = long.slice(3, 4000);
        let output = kernel.run(std::slice::from_ref(&slice), slice.len(), &mut context()).unwrap();
        assert_eq!(&output.values.finish().unwrap(), &slice, "{ty}");
    }
}

#[test]
fn unsigned_beyond_63_bits_leaves() {
    let kernel =
        Kernel::compile(&identity(Type::Int.optional()), &[DataType::UInt64], &DataType::UInt64, &SPEED).unwrap();
    let array: ArrayRef = Arc::new(UInt64Array::from(vec![Some(1), Some(u64::MAX), None, Some(1 << 63), Some(7)]));
    let mut output = kernel.run(std::slice::from_ref(&array), 5, &mut context()).unwrap();
    assert_eq!(output.exits, [(1, status::BAILOUT), (3, status::BAILOUT)]);
    let big = |value: u64| Object::Int(exuvia_ir::Int::from_big(value.into()));
    output.values.set(1, &big(u64::MAX)).unwrap();
    output.values.set(3, &big(1 << 63)).unwrap();
    assert_eq!(&output.values.finish().unwrap(), &array);
}

#[test]
fn results_outside_the_type_leave() {
    for (ty, low, high) in [
        (DataType::Int8, -128i64, 127i64),
        (DataType::Int16, -32768, 32767),
        (DataType::Int32, i64::from(i32::MIN), i64::from(i32::MAX)),
        (DataType::UInt8, 0, 255),
        (DataType::UInt16, 0, 65535),
        (DataType::UInt32, 0, i64::from(u32::MAX)),
        (DataType::UInt64, 0, i64::MAX),
    ] {
        for strict in [false, true] {
            let param = if strict { Type::Int } else { Type::Int.optional() };
            let options = Options { strict, ..SPEED };
            let kernel = Kernel::compile(&identity(param), &[DataType::Int64], &ty, &options).unwrap();
            let values = vec![Some(low), Some(low - 1), None, Some(high), Some(high.wrapping_add(1))];
            let array: ArrayRef = Arc::new(Int64Array::from(values));
            let mut output = kernel.run(&[array], 5, &mut context()).unwrap();
            assert_eq!(output.exits, [(1, status::BAILOUT), (4, status::BAILOUT)], "{ty}");
            assert_eq!(output.values.set(1, &Object::int(low - 1)), Err(Misfit::Range));
            assert_eq!(output.values.set(1, &Object::str("")), Err(Misfit::Class));
            output.values.set(4, &Object::int(high)).unwrap();
            let array = output.values.finish().unwrap();
            assert_eq!(array.null_count(), 2);
            let wide = arrow::compute::cast(&array, &DataType::Int64).unwrap();
            assert_eq!(wide.as_primitive::<Int64Type>().value(0), low);
            assert_eq!(wide.as_primitive::<Int64Type>().value(4), high);
        }
    }
}

#[test]
fn overflow_and_division() {
    let add = simple(&[Type::Int, Type::Int], Type::Int, |b, p| op(b, "int.add", p, Type::Int));
    let got = run(&add, &[ints(&[1, i64::MAX, i64::MIN]), ints(&[2, 1, -1])]);
    assert_eq!(got, [Row::Value(Object::int(3)), Row::Exit(status::BAILOUT), Row::Exit(status::BAILOUT)]);
    let div = simple(&[Type::Int, Type::Int], Type::Int, |b, p| op(b, "int.floordiv", p, Type::Int));
    let got = run(&div, &[ints(&[7, 7, i64::MIN]), ints(&[-2, 0, -1])]);
    let zero = ExcKind::ZeroDivisionError as u64;
    assert_eq!(got, [Row::Value(Object::int(-4)), Row::Exit(zero), Row::Exit(status::BAILOUT)]);
    let unchecked = simple(&[Type::Int], Type::Int, |b, p| {
        let one = b.constant(Object::int(1));
        let sum = op(b, "int.add", vec![p[0], one], Type::Int);
        last(b).no_overflow = true;
        sum
    });
    assert!(!compile(&unchecked).lowered().contains("overflow"));
    assert_eq!(run(&unchecked, &[ints(&[41])]), value_rows(ints(&[42])));
}

#[test]
fn fault_injection_takes_every_guard() {
    let add = simple(&[Type::Int, Type::Int], Type::Int, |b, p| op(b, "int.add", p, Type::Int));
    let kernel = compile_with(&add, &Options { fail_guards: true, ..SPEED });
    let columns = [column(&DataType::Int64, &ints(&[1, 2])), column(&DataType::Int64, &ints(&[3, 4]))];
    let output = kernel.run(&columns, 2, &mut context()).unwrap();
    assert_eq!(output.exits, [(0, status::BAILOUT), (1, status::BAILOUT)]);
}

#[test]
fn constant_divisors_equal_dynamic_ones() {
    let values = [0, 1, -1, 5, -5, 7, 8, -8, 100, i64::MAX, i64::MIN, i64::MIN + 1, 97, -97];
    for divisor in [1, -1, 2, 8, 1 << 40, 3, 7, 97, -2, -3, -7, 1000, i64::MAX, i64::MIN] {
        for name in ["int.floordiv", "int.mod"] {
            let fixed = simple(&[Type::Int], Type::Int, |b, p| {
                let divisor = b.constant(Object::int(divisor));
                op(b, name, vec![p[0], divisor], Type::Int)
            });
            let dynamic = simple(&[Type::Int, Type::Int], Type::Int, |b, p| op(b, name, p, Type::Int));
            let divisors = vec![Object::int(divisor); values.len()];
            assert_eq!(run(&fixed, &[ints(&values)]), run(&dynamic, &[ints(&values), divisors]), "{name} {divisor}");
        }
    }
}

#[test]
fn text_results_of_every_kind() {
    // s[3:] shares its input where it is long, and is inline where it is short.
    let tail = simple(&[Type::Str], Type::Str, |b, p| {
        let prefix = b.constant(Object::str("abc"));
        let found = op(b, "str.find", vec![p[0], prefix], Type::Int);
        let three = b.constant(Object::int(3));
        let _ = op(b, "int.add", vec![found, three], Type::Int);
        p[0]
    });
    let texts = ["abc", "abcdefghijklmnopqrstuvwxyz", "größer und immer größer", ""];
    for from in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        for to in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            let kernel = Kernel::compile(&tail, std::slice::from_ref(&from), &to, &SPEED).unwrap();
            let array = arrow::compute::cast(&StringArray::from_iter_values(texts), &from).unwrap();
            let output = kernel.run(&[array], texts.len(), &mut context()).unwrap();
            let expected = arrow::compute::cast(&StringArray::from_iter_values(texts), &to).unwrap();
            assert_eq!(&output.values.finish().unwrap(), &expected);
        }
    }
    // The kernel takes any layout of its declared type.
    let kernel = Kernel::compile(&tail, &[DataType::Utf8View], &DataType::Utf8View, &SPEED).unwrap();
    let dictionary: DictionaryArray<Int32Type> = texts.iter().copied().map(Some).collect();
    let layouts: [ArrayRef; 3] = [
        Arc::new(dictionary),
        Arc::new(StringArray::from_iter_values(texts)),
        Arc::new(LargeStringArray::from_iter_values(texts)),
    ];
    for array in layouts {
        let output = kernel.run(&[array], texts.len(), &mut context()).unwrap();
        assert_eq!(&output.values.finish().unwrap().as_string_view(), &&StringViewArray::from_iter_values(texts));
    }
}

#[test]
fn columns_without_a_type_or_with_a_dictionary() {
    let nothing: ArrayRef = Arc::new(NullArray::new(3));
    for ty in [Type::Int, Type::Str, Type::Float, Type::Bool] {
        let kernel = compile(&identity(ty.optional()));
        let output = kernel.run(std::slice::from_ref(&nothing), 3, &mut context()).unwrap();
        assert_eq!(rows(output), vec![Row::Value(Object::None); 3]);
    }
    let keys = Int8Array::from(vec![Some(1), None, Some(0), Some(1)]);
    let numbers: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![5, 6]))));
    let kernel = compile(&identity(Type::Int.optional()));
    let got = rows(kernel.run(std::slice::from_ref(&numbers), 4, &mut context()).unwrap());
    assert_eq!(got, value_rows(vec![Object::int(6), Object::None, Object::int(5), Object::int(6)]));
    // A cast would change values without a sign.
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    assert!(matches!(kernel.run(std::slice::from_ref(&floats), 1, &mut context()), Err(RunError::Argument(_))));
    assert!(matches!(kernel.run(&[], 1, &mut context()), Err(RunError::Argument(_))));
    assert!(matches!(kernel.run(std::slice::from_ref(&nothing), 2, &mut context()), Err(RunError::Argument(_))));
}

#[test]
fn constants_and_none() {
    let long = "a constant text that is longer than a view holds inline";
    let constant = simple(&[Type::Int], Type::Str, |b, _| b.constant(Object::str(long)));
    assert_eq!(run(&constant, &[ints(&[1, 2])]), value_rows(strs(&[long, long])));
    let none = simple(&[Type::Int], Type::None, |b, _| b.constant(Object::None));
    assert_eq!(run(&none, &[ints(&[1, 2])]), value_rows(vec![Object::None, Object::None]));
    let mut b = exuvia_ir::Builder::new("f", &[Type::Int], Type::Never);
    b.raise(ExcKind::ValueError, vec![]);
    assert_eq!(run(&module(b.function), &[ints(&[1])]), [Row::Exit(ExcKind::ValueError as u64)]);
    let big =
        simple(&[Type::Int], Type::Int, |b, _| b.constant(Object::Int(exuvia_ir::Int::from_big((1i128 << 70).into()))));
    assert_eq!(run(&big, &[ints(&[1])]), [Row::Exit(status::BAILOUT)]);
    let below = simple(&[Type::Int], Type::Bool, |b, p| {
        let big = b.constant(Object::Int(exuvia_ir::Int::from_big((1i128 << 70).into())));
        op(b, "int.lt", vec![p[0], big], Type::Bool)
    });
    assert_eq!(run(&below, &[ints(&[i64::MAX])]), value_rows(vec![Object::Bool(true)]));
}

#[test]
fn no_arguments_and_no_rows() {
    let constant = simple(&[], Type::Int, |b, _| b.constant(Object::int(3)));
    let kernel = compile(&constant);
    assert_eq!(rows(kernel.run(&[], 3, &mut context()).unwrap()), value_rows(ints(&[3, 3, 3])));
    assert!(rows(kernel.run(&[], 0, &mut context()).unwrap()).is_empty());
}

#[test]
fn cancelled_between_and_within_rows() {
    let flag = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let mut cx = exuvia_ops::cx::Cx::new(1 << 20, false, flag);
    let kernel = compile(&identity(Type::Int));
    let column = [column(&DataType::Int64, &ints(&[1]))];
    assert!(matches!(kernel.run(&column, 1, &mut cx), Err(RunError::Interrupted)));
}

#[test]
fn what_is_not_supported_is_an_error() {
    let f = identity(Type::Int);
    let date = Kernel::compile(&f, &[DataType::Date64], &DataType::Int64, &SPEED);
    assert!(matches!(date, Err(CompileError::Unsupported(_))));
    let other = Kernel::compile(&f, &[DataType::Utf8], &DataType::Int64, &SPEED);
    assert!(matches!(other, Err(CompileError::Unsupported(_))));
    let result = Kernel::compile(&f, &[DataType::Int64], &DataType::Utf8, &SPEED);
    assert!(matches!(result, Err(CompileError::Unsupported(_))));
    let mut b = exuvia_ir::Builder::new("f", &[Type::Int], Type::Int);
    let param = b.param(0);
    let wrong = b.inst(Opcode::Op("no.such"), vec![param], Type::Int, None);
    b.end(Terminator::Return(wrong));
    let missing = Kernel::compile(&module(b.function), &[DataType::Int64], &DataType::Int64, &SPEED);
    assert!(matches!(missing, Err(CompileError::Unsupported(_))));
    assert!(Kernel::compile(&exuvia_ir::Module::default(), &[], &DataType::Int64, &SPEED).is_err());
}

#[test]
fn dumps_name_the_helpers() {
    let find = simple(&[Type::Str], Type::Int, |b, p| {
        let x = b.constant(Object::str("x"));
        op(b, "str.find", vec![p[0], x], Type::Int)
    });
    let kernel = compile(&find);
    assert!(kernel.lowered().contains("str.find"), "{}", kernel.lowered());
    assert!(kernel.machine_code().contains("ret"), "{}", kernel.machine_code());
    assert_eq!(kernel.helper_calls(), [("str.find (rare)".to_string(), 1)]);
}

/// Drops rows without a number and with 5, leaves at numbers whose square has more than 64
/// bits, and gives NULL or the square, and the text.
const SELECTING: &str = r#"
fn f0 "f"(v0: union[none, int], v1: str) -> union[int, tuple[union[none, int], str]] {
b0:
  v2: bool = is none v0
  branch v2 b1 b2
b1:
  v3: int = const 0
  v4: union[int, tuple[union[none, int], str]] = wrap v3
  return v4
b2:
  v5: int = unwrap v0
  v6: int = const 5
  v7: bool = int.eq v5 v6
  branch v7 b3 b4
b3:
  v8: int = const 1
  v9: union[int, tuple[union[none, int], str]] = wrap v8
  return v9
b4:
  v10: int = const 3
  v11: bool = int.eq v5 v10
  branch v11 b5 b6
b5:
  v12: none = const none
  v13: union[none, int] = wrap v12
  jump b7(v13)
b6:
  v14: int = int.mul v5 v5
  v15: union[none, int] = wrap v14
  jump b7(v15)
b7(v16: union[none, int]):
  v17: tuple[union[none, int], str] = tuple v16 v1
  v18: union[int, tuple[union[none, int], str]] = wrap v17
  return v18
}"#;

#[test]
fn a_loop_keeps_rows_and_says_why_it_drops_others() {
    let module = exuvia_ir::parse_module(SELECTING, &|name| exuvia_ops::by_name(name).map(|def| def.name)).unwrap();
    let big = 1 << 40;
    let numbers: Vec<Option<i64>> =
        (0..5000).map(|row| [Some(1), None, Some(5), Some(3), Some(big), Some(row)][row as usize * 7 % 6]).collect();
    let texts: Vec<String> = (0..5000).map(|row| format!("{}ä {row}", "x".repeat(row % 15))).collect();
    let strings: [(DataType, ArrayRef); 3] = [
        (DataType::Utf8, Arc::new(StringArray::from(texts.clone()))),
        (DataType::LargeUtf8, Arc::new(LargeStringArray::from(texts.clone()))),
        (DataType::Utf8View, Arc::new(StringViewArray::from_iter_values(&texts))),
    ];
    for (ty, strings) in strings {
        let kernel =
            Kernel::compile_loop(&module, &[DataType::Int64, ty.clone()], &[DataType::Int64, ty.clone()], 2, &SPEED)
                .unwrap();
        for (from, len) in [(0, 5000), (17, 4100), (4, 1), (0, 0)] {
            let args: [ArrayRef; 2] =
                [Arc::new(Int64Array::from(numbers[from..from + len].to_vec())), strings.slice(from, len)];
            let batch = kernel.run_loop(&args, len, &mut context()).unwrap();
            let rows = |wanted: &dyn Fn(Option<i64>) -> bool| -> Vec<u32> {
                (0..len as u32).filter(|row| wanted(numbers[from + *row as usize])).collect()
            };
            let kept = rows(&|number| number.is_some_and(|number| number != 5 && number != big));
            assert_eq!(batch.kept.as_ref(), Some(&kept));
            let dropped = [rows(&|number| number.is_none()).len(), rows(&|number| number == Some(5)).len()];
            assert_eq!(batch.dropped, dropped.map(|count| count as u64));
            let left: Vec<u32> = batch.exits.iter().map(|(row, _)| *row).collect();
            assert_eq!(left, rows(&|number| number == Some(big)));
            assert!(batch.exits.iter().all(|(_, code)| *code == status::BAILOUT));
            let mut columns = batch.values.into_iter().map(|values| values.finish().unwrap());
            let squares = columns.next().unwrap();
            squares.to_data().validate_full().unwrap();
            let square = |row: &u32| numbers[from + *row as usize].filter(|number| *number != 3).map(|n| n * n);
            assert_eq!(squares.as_ref(), &Int64Array::from_iter(kept.iter().map(square)));
            let text = columns.next().unwrap();
            text.to_data().validate_full().unwrap();
            let rows = UInt32Array::from(kept);
            assert_eq!(&text, &arrow::compute::take(&args[1], &rows, None).unwrap());
        }
    }
    // A reason for which there is no count is counted as the last one; a loop without
    // reasons is none that drops.
    let types = [DataType::Int64, DataType::Utf8];
    let kernel = Kernel::compile_loop(&module, &types, &types, 1, &SPEED).unwrap();
    let args: [ArrayRef; 2] = [Arc::new(Int64Array::from(vec![5, 1])), Arc::new(StringArray::from(vec!["", "a"]))];
    assert_eq!(kernel.run_loop(&args, 2, &mut context()).unwrap().dropped, [1]);
    assert!(Kernel::compile_loop(&module, &types, &types, 0, &SPEED).is_err());
}

/// Lists of numbers lie where they are if nobody writes there, and are copied else; the column stays as
/// it is.
#[test]
fn lists_are_lent_to_those_who_only_read() {
    let list = || Type::list(Type::Int);
    let append = |b: &mut exuvia_ir::Builder, list, value| {
        let value = b.constant(Object::int(value));
        b.inst(Opcode::Op("list.append"), vec![list, value], Type::None, None);
    };
    let grown = simple(&[list()], Type::Int, |b, p| {
        append(b, p[0], 7);
        append(b, p[0], 8);
        let last = b.constant(Object::int(-1));
        let first = b.constant(Object::int(0));
        let (last, first) =
            (op(b, "list.get", vec![p[0], last], Type::Int), op(b, "list.get", vec![p[0], first], Type::Int));
        op(b, "int.mul", vec![first, last], Type::Int)
    });
    let written = simple(&[list()], Type::Int, |b, p| {
        append(b, p[0], 9);
        let (at, value) = (b.constant(Object::int(0)), b.constant(Object::int(5)));
        b.inst(Opcode::Op("list.set"), vec![p[0], at, value], Type::None, None);
        op(b, "list.get", vec![p[0], at], Type::Int)
    });
    let field = Arc::new(Field::new("item", DataType::Int64, true));
    let declared = DataType::List(Arc::clone(&field));
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([
        Some(vec![Some(2), Some(3)]),
        Some(vec![]),
        Some((10..50).map(Some).collect()),
    ]);
    // Not from its beginning.
    let column: ArrayRef = Arc::new(lists.slice(1, 2));
    let before = column.to_data();
    for (module, lent, wanted) in [(&grown, true, [56, 80]), (&written, false, [5, 5])] {
        let kernel = Kernel::compile(module, std::slice::from_ref(&declared), &DataType::Int64, &SPEED).unwrap();
        let copies = kernel.helper_calls().iter().any(|(name, _)| name == "argument.list");
        assert_eq!(copies, !lent);
        let output = kernel.run(std::slice::from_ref(&column), 2, &mut context()).unwrap();
        assert_eq!(rows(output), wanted.map(|value| Row::Value(Object::int(value))));
        assert_eq!(column.to_data(), before);
    }
}
