//! Control flow of the evaluator; what operations compute is tested with them.

use crate::{Failure, MAX_FRAMES, Program};
use exuvia_ir::{ExcKind, Int, Module, Object, Raise, Span};
use exuvia_ops::cx::Cx;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn module(text: &str) -> Module {
    let module = exuvia_ir::parse_module(text, &|name| exuvia_ops::by_name(name).map(|def| def.name)).expect("parses");
    let op = |name: &str, types: &[exuvia_ir::Type]| match exuvia_ops::by_name(name) {
        Some(def) if def.accepts(types) => Ok((def.result)(types)),
        Some(_) => Err(format!("does not take {types:?}")),
        None => Err("unknown".to_string()),
    };
    exuvia_ir::verify(&module, &op).expect("is well formed");
    module
}

fn run(text: &str, args: &[Object]) -> Result<Object, Failure> {
    crate::call(&module(text), args, &mut Cx::for_folding(), &mut 100_000)
}

fn raise(kind: ExcKind, message: &str) -> Raise {
    Raise::new(kind, message)
}

const SWAP_LOOP: &str = r#"
fn f0 "fib"(v0: int) -> int {
b0:
  v1: int = const 0
  v2: int = const 1
  jump b1(v0, v1, v2)
b1(v3: int, v4: int, v5: int):
  poll
  v6: bool = int.gt v3 v1
  branch v6 b2 b3
b2:
  v7: int = int.sub v3 v2
  v8: int = int.add v4 v5
  jump b1(v7, v5, v8)
b3:
  return v4
}"#;

#[test]
fn loops_pass_arguments_at_once_and_leave_64_bits() {
    assert_eq!(run(SWAP_LOOP, &[Object::int(10)]), Ok(Object::int(55)));
    let big = run(SWAP_LOOP, &[Object::int(100)]).expect("returns");
    assert_eq!(
        format!("{big:?}"),
        format!("{:?}", Object::Int(Int::from_big("354224848179261915075".parse().expect("a number"))))
    );
}

#[test]
fn fuel_and_cancellation_stop_a_loop() {
    let program = Program::new(&module(SWAP_LOOP));
    let mut fuel = 50;
    let failure = program.call(&[Object::int(1000)], &mut Cx::for_folding(), &mut fuel).expect_err("out of fuel");
    assert_eq!(failure.raise, Raise::Bailout("out of fuel"));
    let mut cx = Cx::new(1 << 20, true, Arc::new(AtomicBool::new(true)));
    let failure = program.call(&[Object::int(3)], &mut cx, &mut 1000).expect_err("cancelled");
    assert_eq!(failure.raise, Raise::Interrupted);
}

#[test]
fn handlers_get_the_exception_and_their_arguments() {
    let text = r#"
fn f0 "f"(v0: int) -> union[int, str] {
b0:
  v1: int = call f1 v0 unwind b1(v0) @1..2
  v2: union[int, str] = wrap v1
  return v2
b1(v3: exc, v4: int):
  v5: bool = exc_is [ArithmeticError] v3
  branch v5 b2 b3
b2:
  v6: str = exc.message v3
  v7: union[int, str] = wrap v6
  return v7
b3:
  reraise v3 @3..4
}
fn f1 "g"(v0: int) -> int {
b0:
  v1: int = const 100
  v2: bool = int.eq v0 v1
  branch v2 b1 b2
b1:
  v3: str = const "no"
  raise KeyError v3 @5..6
b2:
  v4: int = int.floordiv v1 v0 @7..8
  return v4
}"#;
    assert_eq!(run(text, &[Object::int(7)]), Ok(Object::int(14)));
    assert_eq!(run(text, &[Object::int(0)]), Ok(Object::str("integer division or modulo by zero")));
    let failure = run(text, &[Object::int(100)]).expect_err("raises");
    assert_eq!(failure.raise, raise(ExcKind::KeyError, "no"));
    // Where it was raised first.
    assert_eq!(failure.span, Span { start: 5, end: 6 });
}

#[test]
fn a_failure_says_where_every_active_function_was() {
    let text = r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: int = call f1 v0 @1..2
  return v1
}
fn f1 "g"(v0: int) -> int {
b0:
  v1: int = const 0
  v2: int = int.floordiv v0 v1 @3..4
  return v2
}"#;
    let failure = run(text, &[Object::int(1)]).expect_err("raises");
    let spans: Vec<Span> = failure.trace.iter().map(|place| place.1).collect();
    assert_eq!(spans, [Span { start: 1, end: 2 }, Span { start: 3, end: 4 }]);
    assert_eq!(failure.span, spans[1]);
}

#[test]
fn deep_recursion_bails_out_and_does_not_overflow() {
    let text = r#"
fn f0 "f"(v0: int) -> int {
b0:
  v1: int = const 0
  v2: bool = int.eq v0 v1
  branch v2 b1 b2
b1:
  return v0
b2:
  v3: int = const 1
  v4: int = int.sub v0 v3
  v5: int = call f0 v4
  v6: int = int.add v5 v3
  return v6
}"#;
    assert_eq!(run(text, &[Object::int(MAX_FRAMES as i64 - 1)]), Ok(Object::int(MAX_FRAMES as i64 - 1)));
    let failure = run(text, &[Object::int(MAX_FRAMES as i64)]).expect_err("too deep");
    assert!(matches!(failure.raise, Raise::Bailout(_)), "{failure:?}");
}

#[test]
fn unions_tell_classes_apart() {
    let text = |ty: &str| {
        format!(
            "fn f0 \"f\"(v0: union[unbound, none, bool, int, tuple[int], tuple[int, int]]) -> bool {{
b0:
  v1: bool = is {ty} v0
  return v1
}}"
        )
    };
    let objects = [
        ("unbound", Object::Unbound),
        ("none", Object::None),
        ("bool", Object::Bool(true)),
        ("int", Object::int(1)),
        ("tuple[int]", Object::tuple(vec![Object::int(1)])),
        ("tuple[int, int]", Object::tuple(vec![Object::int(1), Object::int(1)])),
    ];
    for (ty, _) in &objects {
        for (other, object) in &objects {
            assert_eq!(
                run(&text(ty), std::slice::from_ref(object)),
                Ok(Object::Bool(ty == other)),
                "{object:?} is {ty}"
            );
        }
    }
}

#[test]
fn short_cuts_agree_with_the_operations() {
    let ints = [0, 1, -1, 2, -2, 7, -7, 97, i64::MAX, i64::MIN, i64::MIN + 1];
    let floats = [0.0, -0.0, 1.5, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e308];
    let mut ints: Vec<Object> = ints.into_iter().map(Object::int).collect();
    let wide = [1i128 << 63, (1 << 64) - 1, -(1 << 63) - 1, i128::MAX, i128::MIN, 10i128.pow(20), -(10i128.pow(30))];
    ints.extend(wide.map(|value| Object::Int(Int::from_i128(value))));
    ints.push(Object::Int(Int::from_big(Int::from_i128(i128::MAX).to_big() + 1)));
    let floats: Vec<Object> = floats.into_iter().map(Object::Float).collect();
    let mut checked = 0;
    for def in exuvia_ops::core::all() {
        let exuvia_ops::def::Body::Core(op) = def.body else { continue };
        for a in ints.iter().chain(&floats) {
            if def.params.len() == 1
                && def.accepts(&[a.ty()])
                && let Some(value) = crate::fast::one(op, a)
            {
                let args = std::slice::from_ref(a);
                assert_eq!(Ok(value), (def.eval)(&mut Cx::for_folding(), args), "{} {a:?}", def.name);
            }
        }
        for corpus in [&ints, &floats] {
            if def.params.len() != 2 || !def.accepts(&[corpus[0].ty(), corpus[0].ty()]) {
                continue;
            }
            for a in corpus {
                for b in corpus {
                    let args = [a.clone(), b.clone()];
                    if let Some(value) = crate::fast::two(op, a, b) {
                        assert_eq!(Ok(value), (def.eval)(&mut Cx::for_folding(), &args), "{} {args:?}", def.name);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}
