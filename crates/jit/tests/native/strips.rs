//! Elementary functions that are computed before the loop over the rows.

use crate::control::parse;
use crate::support::*;
use exuvia_ir::Object;

/// Rows of more than two chunks, some of them NULL, infinite, NaN, negative or zero.
fn floats(step: f64) -> Vec<Object> {
    let special = [f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, -0.0, 1e300, -1e300, 5e-324];
    let one = |row: usize| match row % 17 {
        3 => Object::None,
        5 => Object::Float(special[row % special.len()]),
        _ => Object::Float((row as f64 - 2500.0) * step),
    };
    (0..5000).map(one).collect()
}

/// The beginning of a function of two floats that gives None where one of them is.
const OF_TWO: &str = r#"fn f0 "of two"(v0: union[none, float], v1: union[none, float]) -> union[none, float] {
b0:
  v2: bool = is none v0
  branch v2 b1 b2
b1:
  v3: none = const none
  v4: union[none, float] = wrap v3
  return v4
b2:
  v5: bool = is none v1
  branch v5 b1 b3
b3:
  v6: float = unwrap v0
  v7: float = unwrap v1
"#;

/// The rows as they are without strips: each operation by itself. Gives the calls of helpers.
fn check(text: &str, strips: usize) -> String {
    let module = parse(text);
    let kernel = compile(&module);
    let helpers = kernel.dump("helpers").unwrap();
    let named: Vec<&str> = helpers.lines().filter(|line| line.starts_with("strip of ")).collect();
    assert_eq!(named.len(), strips, "{helpers}");
    let args = [floats(0.013), floats(-0.0021)];
    let together = run(&module, &args);
    for row in 0..together.len() {
        let row_args: Vec<Object> = args.iter().map(|column| column[row].clone()).collect();
        let alone = exuvia_eval::call(&module, &row_args, &mut context(), &mut u64::MAX.clone());
        let same = match (&alone, &together[row]) {
            (Ok(Object::Float(a)), Row::Value(Object::Float(b))) => {
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
            }
            (Ok(value), Row::Value(other)) => value == other,
            (Err(_), Row::Exit(_)) => true,
            _ => false,
        };
        assert!(same, "{row_args:?} gives {alone:?}, not {:?}", together[row]);
    }
    helpers
}

#[test]
fn one_after_the_other_and_within_each_other() {
    let nested = r#"  v8: float = math.sin v6
  v9: float = float.mul v8 v7
  v10: float = math.exp v9
  v11: float = math.log v7
  v12: float = float.add v10 v11
  v13: float = math.atan2 v12 v8
  v14: union[none, float] = wrap v13
  return v14
}
"#;
    check(&format!("{OF_TWO}{nested}"), 4);
}

#[test]
fn a_handler_sees_what_is_raised() {
    let handled = r#"  v8: float = math.log v6 unwind b4
  v9: float = float.div v8 v7 unwind b4
  v10: float = math.cos v9
  v11: union[none, float] = wrap v10
  return v11
b4(v12: exc):
  v13: float = math.cos v7
  v14: union[none, float] = wrap v13
  return v14
}
"#;
    check(&format!("{OF_TWO}{handled}"), 2);
}

#[test]
fn what_few_rows_do_and_loops_are_left() {
    let guarded = r#"fn f0 "guarded"(v0: union[none, float], v1: union[none, float]) -> float {
b0:
  v2: float = const 0.0
  v3: bool = is none v0
  branch v3 b1 b2
b1:
  v4: float = math.exp v2
  return v4
b2:
  v5: float = unwrap v0
  jump b3(v2)
b3(v6: float):
  poll
  v7: float = math.sin v6
  v8: bool = float.lt v6 v2
  branch v8 b4 b5
b4:
  v9: float = float.add v6 v5
  jump b3(v9)
b5:
  v11: float = math.exp v7
  return v11
}
"#;
    check(guarded, 0);
}

#[test]
fn of_what_two_ways_make() {
    // Nothing can fail, so no row makes a call of its own.
    let alone = |helpers: String| helpers.lines().any(|line| line.starts_with("ufunc."));
    // NULL is NaN, as in columns of NumPy; the smaller one within that; a way that gives what it has.
    let joined = check(
        r#"fn f0 "joined"(v0: union[none, float], v1: union[none, float]) -> float {
b0:
  v2: bool = is none v0
  branch v2 b1 b2
b1:
  v3: float = const nan
  jump b3(v3)
b2:
  v4: float = unwrap v0
  jump b3(v4)
b3(v5: float):
  v6: bool = is none v1
  branch v6 b4 b5
b4:
  v7: float = const 0.5
  jump b6(v7, v5)
b5:
  v8: float = unwrap v1
  v9: bool = float.lt v8 v5
  v10: float = float.sub v8 v5
  branch v9 b6(v8, v10) b6(v5, v10)
b6(v11: float, v12: float):
  v13: float = ufunc.exp v11
  v14: float = ufunc.sin v5
  v15: float = float.mul v13 v14
  v16: bool = float.lt v15 v5
  branch v16 b8(v15) b9
b9:
  v17: float = const 1.5
  v18: float = float.mul v15 v17
  jump b8(v18)
b8(v19: float):
  v20: float = ufunc.cos v19
  v21: float = float.add v12 v20
  return v21
}"#,
        3,
    );
    assert!(!alone(joined));
    // Both ways of one condition.
    let direct = r#"  v8: bool = float.lt v6 v7
  branch v8 b4(v6) b4(v7)
b4(v9: float):
  v10: float = ufunc.exp v9
  v11: float = ufunc.sin v10
  v12: union[none, float] = wrap v11
  return v12
}
"#;
    check(&format!("{OF_TWO}{direct}"), 2);
    let chosen = check(
        r#"fn f0 "chosen"(v0: union[none, float], v1: union[none, float]) -> float {
b0:
  v2: bool = is none v0
  branch v2 b1 b2
b1:
  v3: float = const 0.25
  jump b3(v3, v3)
b2:
  v4: float = unwrap v0
  v5: float = const 0.0
  v6: bool = float.lt v4 v5
  branch v6 b4 b5
b4:
  v7: float = float.neg v4
  jump b6(v7, v5)
b5:
  jump b6(v4, v4)
b6(v8: float, v9: float):
  v10: float = float.add v8 v9
  jump b3(v10, v8)
b3(v11: float, v12: float):
  v13: float = ufunc.exp v11
  v14: float = ufunc.sin v12
  v15: float = ufunc.cos v13
  v16: float = float.mul v14 v15
  return v16
}"#,
        3,
    );
    assert!(!alone(chosen));
}

#[test]
fn what_stages_keep() {
    check(
        r#"fn f0 "kept"(v0: union[none, float], v1: union[none, float]) -> float {
b0:
  v2: float = const nan
  v3: bool = is none v0
  branch v3 b2(v2) b1
b1:
  v4: float = unwrap v0
  jump b2(v4)
b2(v5: float):
  v6: bool = is none v1
  branch v6 b4(v2) b3
b3:
  v7: float = unwrap v1
  jump b4(v7)
b4(v8: float):
  v9: float = ufunc.cos v5
  v10: float = ieee.sqrt v8
  v11: float = ieee.div v9 v10
  v12: float = ufunc.sin v11
  v13: bool = float.gt v12 v10
  branch v13 b5 b6
b5:
  v14: float = ufunc.exp v11
  v15: float = float.sub v14 v11
  return v15
b6:
  v16: float = ieee.div v12 v11
  return v16
}"#,
        3,
    );
}
