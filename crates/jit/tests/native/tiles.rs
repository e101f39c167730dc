//! Loops over one large array that several threads divide.

use crate::control::parse;
use crate::support::*;
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type};
use exuvia_jit::{Kernel, Options, RunError};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::status;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const ROWS: usize = 300_007;

/// Of floats less a number over another: two lists, with a branch and an inner loop.
const MAP: &str = r#"fn f0 "map"(v0: list[float], v1: list[int]) -> list[float] {
b0:
  v2: int = list.len v0 fits
  v3: int = const 0
  v4: int = const 1
  v5: float = const 2.5
  v6: float = list.get v0 v4
  v7: list[float] = list
  list.reserve v7 v2
  jump b1(v3)
b1(v8: int):
  v9: bool = int.lt v8 v2
  branch v9 b2 b8
b2:
  v10: int = int.add v8 v4 fits
  v11: float = list.get_unchecked v0 v8
  v12: float = float.sub v11 v6
  v13: bool = float.lt v12 v5
  branch v13 b3 b4
b3:
  v14: float = ufunc.exp v12
  jump b5(v14)
b4:
  v15: float = float.mul v12 v5
  jump b5(v15)
b5(v16: float):
  jump b6(v3, v16)
b6(v17: int, v18: float):
  v19: int = const 3
  v20: bool = int.lt v17 v19
  branch v20 b7 b9
b7:
  v21: int = list.get_unchecked v1 v17
  v22: float = int.to_float v21
  v23: float = float.add v18 v22
  v24: int = int.add v17 v4 fits
  jump b6(v24, v23)
b9:
  list.append v7 v18
  poll
  jump b1(v10)
b8:
  return v7
}
"#;

fn list(values: ArrayRef) -> (DataType, ArrayRef) {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths([values.len()]);
    let array = ListArray::new(Arc::clone(&field), offsets, values, None);
    (DataType::List(field), Arc::new(array))
}

fn floats(rows: usize) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values((0..rows).map(|row| (row as f64).sin() * 5.0)))
}

fn kernel(text: &str, params: &[DataType], returns: &DataType, whole: bool) -> Kernel {
    let options = Options { whole, ..SPEED };
    Kernel::compile(&parse(text), params, returns, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn threads(threads: usize, interrupt: bool) -> Cx {
    Cx::new(256 << 20, false, Arc::new(AtomicBool::new(interrupt))).with_threads(threads)
}

/// The elements of the only row by so many threads, or the status with which it left.
fn by(kernel: &Kernel, args: &[ArrayRef], count: usize) -> Result<Vec<u64>, u64> {
    let output = kernel.run(args, 1, &mut threads(count, false)).unwrap();
    if let Some((_, status)) = output.exits.first() {
        return Err(*status);
    }
    let lists = output.values.finish().unwrap();
    let floats = lists.as_list::<i32>().value(0);
    Ok(floats.as_primitive::<Float64Type>().values().iter().map(|value| value.to_bits()).collect())
}

#[test]
fn the_elements_are_the_same_by_any_number_of_threads() {
    for rows in [10, 4 * 32768 - 1, 4 * 32768, ROWS] {
        let (of_floats, column) = list(floats(rows));
        let (of_ints, ints) = list(Arc::new(Int64Array::from(vec![3, -5, 7])));
        let args = [column, ints];
        let params = [of_floats.clone(), of_ints];
        let whole = kernel(MAP, &params, &of_floats, true);
        assert_eq!(whole.helper_calls().iter().filter(|(name, _)| name == "tiles").count(), 1);
        let alone = kernel(MAP, &params, &of_floats, false);
        assert!(alone.helper_calls().iter().all(|(name, _)| name != "tiles"));
        let expected = by(&alone, &args, 4);
        assert_eq!(expected.as_ref().map(Vec::len), Ok(rows));
        for count in [1, 2, 5] {
            assert!(by(&whole, &args, count) == expected, "{rows} rows by {count} threads");
        }
    }
}

#[test]
fn a_round_that_leaves_leaves_for_all() {
    // An index outside, in one round only.
    let text = MAP.replace("v21: int = list.get_unchecked v1 v17", "v21: int = list.get v1 v17");
    let (of_floats, column) = list(floats(ROWS));
    let (of_ints, ints) = list(Arc::new(Int64Array::from(vec![3, -5])));
    let whole = kernel(&text, &[of_floats.clone(), of_ints], &of_floats, true);
    assert_eq!(whole.helper_calls().iter().filter(|(name, _)| name == "tiles").count(), 1);
    let args = [column, ints];
    assert_eq!(by(&whole, &args, 2), by(&whole, &args, 1));
    assert_eq!(by(&whole, &args, 2), Err(exuvia_ir::ExcKind::IndexError as u64));
    // A query that was cancelled before it comes to it.
    let run = whole.run(&args, 1, &mut threads(2, true));
    assert!(matches!(run, Err(RunError::Interrupted)));
}

#[test]
fn two_lists_of_one_loop() {
    let text = r#"fn f0 "two"(v0: list[float]) -> list[int] {
b0:
  v1: int = list.len v0 fits
  v2: int = const 0
  v3: int = const 1
  v4: list[int] = list
  v5: list[float] = list
  jump b1(v2)
b1(v6: int):
  v7: bool = int.lt v6 v1
  branch v7 b2 b5(v6)
b2:
  v8: int = int.add v6 v3 fits
  v9: float = list.get_unchecked v0 v6
  v10: bool = float.lt v9 v9
  list.append v5 v9
  branch v10 b3 b4
b3:
  list.append v4 v2
  poll
  jump b1(v8)
b4:
  list.append v4 v6
  poll
  jump b1(v8)
b5(v11: int):
  v12: float = ufunc.sum v5
  v13: bool = float.lt v12 v12
  list.append v4 v11
  return v4
}
"#;
    let (of_floats, column) = list(floats(ROWS));
    let (of_ints, _) = list(Arc::new(Int64Array::from(vec![0])));
    let whole = kernel(text, &[of_floats], &of_ints, true);
    assert_eq!(whole.helper_calls().iter().filter(|(name, _)| name == "tiles").count(), 1);
    let output = whole.run(&[column], 1, &mut threads(3, false)).unwrap();
    assert!(output.exits.is_empty());
    let lists = output.values.finish().unwrap();
    let ints = lists.as_list::<i32>().value(0);
    let expected: Vec<i64> = (0..=ROWS as i64).collect();
    assert_eq!(&ints.as_primitive::<Int64Type>().values()[..], expected);
}

#[test]
fn a_list_that_had_elements_is_not_divided() {
    let text = r#"fn f0 "twice"(v0: list[float]) -> list[float] {
b0:
  v1: int = list.len v0 fits
  v2: int = const 0
  v3: int = const 1
  v4: list[float] = list
  jump b1(v2)
b1(v6: int):
  v7: bool = int.lt v6 v1
  branch v7 b2 b3
b2:
  v8: int = int.add v6 v3 fits
  v9: float = list.get_unchecked v0 v6
  list.append v4 v9
  jump b1(v8)
b3:
  jump b4(v2)
b4(v10: int):
  v11: bool = int.lt v10 v1
  branch v11 b5 b6
b5:
  v12: int = int.add v10 v3 fits
  v13: float = list.get_unchecked v0 v10
  v14: float = float.add v13 v13
  list.append v4 v14
  jump b4(v12)
b6:
  return v4
}
"#;
    let (of_floats, column) = list(floats(ROWS));
    let args = [column];
    let whole = kernel(text, std::slice::from_ref(&of_floats), &of_floats, true);
    let made = by(&whole, &args, 2);
    assert_eq!(made.as_ref().map(Vec::len), Ok(2 * ROWS));
    assert!(made == by(&whole, &args, 1));
}

/// The tiles of a loop, if it has any.
fn tiles(text: &str) -> usize {
    let (of_floats, _) = list(floats(1));
    let (of_ints, _) = list(Arc::new(Int64Array::from(vec![0])));
    let whole = kernel(text, &[of_floats.clone(), of_ints], &of_floats, true);
    whole.helper_calls().iter().filter(|(name, _)| name == "tiles").count()
}

#[test]
fn what_another_round_may_see_is_not_divided() {
    assert_eq!(tiles(MAP), 1);
    let no = |old: &str, new: &str| {
        let changed = MAP.replacen(old, new, 1);
        assert_ne!(changed, MAP);
        assert_eq!(tiles(&changed), 0, "{changed}");
    };
    // A list that is read is written to as well, by a store or by an append.
    no("  poll\n", "  list.set v0 v8 v18\n  poll\n");
    no("v21: int = list.get_unchecked v1 v17", "v25: float = list.get v7 v17\n  v21: int = const 1");
    // Something is made.
    no("  poll\n", "  v25: list[float] = list v18\n  v26: float = list.get v25 v3\n  list.set v25 v3 v26\n  poll\n");
    // It begins later.
    no("jump b1(v3)\nb1", "jump b1(v4)\nb1");
}

#[test]
fn a_cancelled_query_ends_in_its_tiles() {
    let (of_floats, column) = list(floats(ROWS));
    let (of_ints, ints) = list(Arc::new(Int64Array::from(vec![3, -5, 7])));
    // Each round takes a while.
    let text = MAP.replace("const 3\n  v20", "const 1000000\n  v20").replace("list.get_unchecked v1 v17", "const 1");
    let text = text.replace("  jump b6(v24, v23)", "  poll\n  jump b6(v24, v23)");
    let whole = kernel(&text, &[of_floats.clone(), of_ints], &of_floats, true);
    let flag = Arc::new(AtomicBool::new(false));
    let mut cx = Cx::new(256 << 20, false, Arc::clone(&flag)).with_threads(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let run = whole.run(&[column, ints], 1, &mut cx);
        let left = match run {
            Err(RunError::Interrupted) => true,
            Ok(output) => output.exits == [(0, status::INTERRUPTED)],
            Err(_) => false,
        };
        assert!(left);
    });
}
