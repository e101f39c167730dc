//! Control flow and containers: loops, handlers, calls, unions, lists, constant dicts.

use crate::support::*;
use exuvia_ir::{DictObj, ExcKind, Module, Object, SetObj, Terminator, Type, parse_module};
use exuvia_jit::{CompileError, Kernel};
use exuvia_ops::def::status;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn parse(text: &str) -> Module {
    let name = |name: &str| exuvia_ops::by_name(name).map(|def| def.name);
    parse_module(text, &name).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_loop_that_sums() {
    let module = parse(
        r#"fn f0 "triangle"(v0: int) -> int {
b0:
  v1: int = const 0
  jump b1(v1, v1)
b1(v2: int, v3: int):
  poll
  v4: bool = int.lt v2 v0
  branch v4 b2 b3
b2:
  v5: int = int.add v3 v2
  v6: int = const 1
  v7: int = int.add v2 v6
  jump b1(v7, v5)
b3:
  return v3
}
"#,
    );
    assert_eq!(run(&module, &[ints(&[0, 1, 5, 1000])]), value_rows(ints(&[0, 0, 10, 499_500])));
}

#[test]
fn an_endless_loop_ends_when_cancelled() {
    let module = parse(
        r#"fn f0 "forever"(v0: int) -> int {
b0:
  jump b1
b1:
  poll
  jump b1
}
"#,
    );
    cancelled_while_it_runs(&module);
    // The outer loop's look at the flag must not serve the inner one.
    let nested = parse(
        r#"fn f0 "forever"(v0: int) -> int {
b0:
  v1: int = const 0
  jump b1(v1)
b1(v2: int):
  poll
  jump b2(v2)
b2(v3: int):
  poll
  v4: bool = int.lt v3 v0
  branch v4 b2(v3) b1(v3)
}
"#,
    );
    cancelled_while_it_runs(&nested);
}

fn cancelled_while_it_runs(module: &Module) {
    let kernel = compile(module);
    let flag = Arc::new(AtomicBool::new(false));
    let mut cx = exuvia_ops::cx::Cx::new(1 << 20, false, flag.clone());
    let column = [column(&arrow::datatypes::DataType::Int64, &ints(&[1]))];
    let setter = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        flag.store(true, Ordering::Relaxed);
    });
    assert!(matches!(kernel.run(&column, 1, &mut cx), Err(exuvia_jit::RunError::Interrupted)));
    setter.join().unwrap();
}

const HANDLER: &str = r#"fn f0 "safe_div"(v0: int, v1: int) -> union[none, int] {
b0:
  v2: int = int.floordiv v0 v1 unwind b1
  v3: union[none, int] = wrap v2
  return v3
b1(v4: exc):
  v5: bool = exc_is [ArithmeticError] v4
  branch v5 b2 b3
b2:
  v6: none = const none
  v7: union[none, int] = wrap v6
  return v7
b3:
  reraise v4
}
"#;

#[test]
fn a_handler_catches_exceptions_and_no_bailouts() {
    let got = run(&parse(HANDLER), &[ints(&[7, 7, i64::MIN]), ints(&[2, 0, -1])]);
    assert_eq!(got, [Row::Value(Object::int(3)), Row::Value(Object::None), Row::Exit(status::BAILOUT)]);
    let other = parse(&HANDLER.replace("ArithmeticError", "ValueError"));
    let got = run(&other, &[ints(&[7, 7]), ints(&[2, 0])]);
    assert_eq!(got, [Row::Value(Object::int(3)), Row::Exit(ExcKind::ZeroDivisionError as u64)]);
}

#[test]
fn a_called_function_raises_to_its_callers_handler() {
    let module = parse(
        r#"fn f0 "f"(v0: int, v1: int) -> int {
b0:
  v2: int = call f1 v0 v1 unwind b1(v0)
  return v2
b1(v3: exc, v4: int):
  return v4
}
fn f1 "g"(v0: int, v1: int) -> int {
b0:
  v2: int = int.mod v0 v1
  v3: int = const 3
  v4: bool = int.eq v2 v3
  branch v4 b1 b2
b1:
  v5: str = const "three"
  raise ValueError v5
b2:
  v6: int = int.add v2 v0
  return v6
}
"#,
    );
    let got = run(&module, &[ints(&[7, 7, 7, i64::MAX]), ints(&[2, 0, 4, i64::MAX - 1])]);
    assert_eq!(got[..3], value_rows(ints(&[8, 7, 7])));
    assert_eq!(got[3], Row::Exit(status::BAILOUT));
}

#[test]
fn recursion_and_its_limit() {
    let module = parse(
        r#"fn f0 "depth"(v0: int) -> int {
b0:
  v1: int = const 0
  v2: bool = int.le v0 v1
  branch v2 b1 b2
b1:
  return v0
b2:
  v3: int = const 1
  v4: int = int.sub v0 v3
  v5: int = call f0 v4
  v6: int = int.add v5 v3
  return v6
}
"#,
    );
    let got = run(&module, &[ints(&[0, 10, 800, 5000, 1_000_000, 3])]);
    let bailout = Row::Exit(status::BAILOUT);
    let value = |value: i64| Row::Value(Object::int(value));
    assert_eq!(got, [value(0), value(10), value(800), bailout.clone(), bailout, value(3)]);
}

#[test]
fn wide_results_are_returned_by_calls() {
    let module = parse(
        r#"fn f0 "f"(v0: int, v1: str) -> str {
b0:
  v2: tuple[union[none, int, float, str], tuple[str, bool, float], list[str]] = call f1 v0 v1
  v3: union[none, int, float, str] = field 0 v2
  v4: tuple[str, bool, float] = field 1 v2
  v5: list[str] = field 2 v2
  v6: bool = is int v3
  branch v6 b1 b2
b1:
  v7: str = field 0 v4
  return v7
b2:
  v8: int = const -1
  v9: str = list.get v5 v8
  return v9
}
fn f1 "g"(v0: int, v1: str) -> tuple[union[none, int, float, str], tuple[str, bool, float], list[str]] {
b0:
  v2: int = const 10
  v3: bool = int.gt v0 v2
  v4: float = const 2.5
  v5: tuple[str, bool, float] = tuple v1 v3 v4
  v6: str = const "last"
  v7: list[str] = list v1 v6
  branch v3 b1 b2
b1:
  v8: union[none, int, float, str] = wrap v0
  jump b3(v8)
b2:
  v9: union[none, int, float, str] = wrap v1
  jump b3(v9)
b3(v10: union[none, int, float, str]):
  v11: tuple[union[none, int, float, str], tuple[str, bool, float], list[str]] = tuple v10 v5 v7
  return v11
}
"#,
    );
    let got = run(&module, &[ints(&[11, 1]), strs(&["first, and longer than inline", "x"])]);
    assert_eq!(got, value_rows(strs(&["first, and longer than inline", "last"])));
}

#[test]
fn lists_grow_and_are_bounded() {
    let module = parse(
        r#"fn f0 "squares"(v0: int, v1: int) -> int {
b0:
  v2: list[int] = list
  v3: int = const 0
  v4: int = const 1
  jump b1(v3)
b1(v5: int):
  poll
  v6: bool = int.lt v5 v0
  branch v6 b2 b3
b2:
  v7: int = int.mul v5 v5
  list.append v2 v7
  v8: int = int.add v5 v4
  jump b1(v8)
b3:
  v9: int = list.get v2 v1 unwind b4
  return v9
b4(v10: exc):
  v11: int = const -1
  return v11
}
"#,
    );
    let got = run(&module, &[ints(&[5, 5, 5, 5, 0, 1000, 1000]), ints(&[4, -1, 5, -6, 0, 999, -1000])]);
    assert_eq!(got, value_rows(ints(&[16, 16, -1, -1, -1, 998_001, 0])));
    // A list that no row's arena holds leaves the row, and the next row is none the worse.
    let got = run(&module, &[ints(&[3, 100_000_000, 3]), ints(&[2, 0, 2])]);
    assert_eq!(got, [Row::Value(Object::int(4)), Row::Exit(status::ROW_MEMORY), Row::Value(Object::int(4))]);
}

fn dict(entries: &[(Object, Object)]) -> Object {
    let mut dict = DictObj::default();
    for (key, value) in entries {
        assert!(dict.insert(key.clone(), value.clone()));
    }
    Object::Dict(Arc::new(dict))
}

/// `table.get(key)`.
fn lookup(table: Object, key: Type, value: Type) -> Module {
    simple(&[key], value.clone().optional(), |b, p| {
        let table = b.constant(table);
        let at = op(b, "dict.find", vec![table, p[0]], Type::Int);
        let zero = b.constant(Object::int(0));
        let missing = op(b, "int.lt", vec![at, zero], Type::Bool);
        let (yes, no) = b.branch(missing);
        b.block = yes;
        let none = b.constant(Object::None);
        let none = b.wrap(none, &value.clone().optional());
        b.end(Terminator::Return(none));
        b.block = no;
        let found = op(b, "dict.value", vec![table, at], value.clone());
        b.wrap(found, &value.clone().optional())
    })
}

#[test]
fn constant_dicts() {
    let rates = dict(&[
        (Object::str("EUR"), Object::Float(1.0)),
        (Object::str("a longer key than usual"), Object::Float(0.5)),
        (Object::str(""), Object::Float(-0.0)),
        (Object::int(7), Object::Float(7.0)),
        (Object::Float(2.5), Object::Float(2.5)),
    ]);
    let keys = strs(&["EUR", "eur", "a longer key than usual", "a longer key than usuaL", ""]);
    let float = |value: f64| Row::Value(Object::Float(value));
    let none = Row::Value(Object::None);
    let got = run(&lookup(rates.clone(), Type::Str, Type::Float), &[keys]);
    assert_eq!(got, [float(1.0), none.clone(), float(0.5), none.clone(), float(-0.0)]);
    let got = run(&lookup(rates.clone(), Type::Int, Type::Float), &[ints(&[7, 8, 0])]);
    assert_eq!(got, [float(7.0), none.clone(), none.clone()]);
    let floats = [7.0, 2.5, f64::NAN].map(Object::Float).to_vec();
    let got = run(&lookup(rates, Type::Float, Type::Float), &[floats]);
    assert_eq!(got, [float(7.0), float(2.5), none.clone()]);
    let names = dict(&[
        (Object::int(1), Object::str("one, and more than twelve bytes of it")),
        (Object::Bool(false), Object::str("zero")),
    ]);
    let got = run(&lookup(names, Type::Int, Type::Str), &[ints(&[1, 0, 2])]);
    let text = |text: &str| Row::Value(Object::str(text));
    assert_eq!(got, [text("one, and more than twelve bytes of it"), text("zero"), none]);
}

#[test]
fn constant_sets_and_lists() {
    let mut members = DictObj::default();
    for word in ["the", "a", "of", "straße"] {
        members.insert(Object::str(word), Object::None);
    }
    let words = Object::Set(Arc::new(SetObj::without_order(members, true)));
    let contains = simple(&[Type::Str], Type::Bool, |b, p| {
        let words = b.constant(words);
        let at = op(b, "dict.find", vec![words, p[0]], Type::Int);
        let zero = b.constant(Object::int(0));
        op(b, "int.ge", vec![at, zero], Type::Bool)
    });
    let got = run(&contains, &[strs(&["the", "The", "straße", ""])]);
    assert_eq!(got, value_rows([true, false, true, false].map(Object::Bool).to_vec()));

    let months = Object::list(strs(&["January", "February", "a month whose name is long"]));
    let name = simple(&[Type::Int], Type::Str, |b, p| {
        let months = b.constant(months.clone());
        op(b, "list.get", vec![months, p[0]], Type::Str)
    });
    let got = run(&name, &[ints(&[0, -1, 3])]);
    let text = |text: &str| Row::Value(Object::str(text));
    assert_eq!(got, [text("January"), text("a month whose name is long"), Row::Exit(ExcKind::IndexError as u64)]);

    let changed = simple(&[Type::Str], Type::Int, |b, p| {
        let months = b.constant(months);
        b.effect(exuvia_ir::Opcode::Op("list.append"), vec![months, p[0]], None);
        op(b, "list.len", vec![months], Type::Int)
    });
    let refused =
        Kernel::compile(&changed, &[arrow::datatypes::DataType::Utf8], &arrow::datatypes::DataType::Int64, &SPEED);
    assert!(matches!(refused, Err(CompileError::Unsupported(_))));
}

#[test]
fn messages_are_not_computed() {
    let module = simple(&[Type::Str], Type::Str, |b, p| {
        let prefix = b.constant(Object::str("bad value: "));
        let message = op(b, "str.concat", vec![prefix, p[0]], Type::Str);
        let wanted = b.constant(Object::str("good"));
        let equal = op(b, "str.eq", vec![p[0], wanted], Type::Bool);
        let (yes, no) = b.branch(equal);
        b.block = no;
        b.raise(ExcKind::ValueError, vec![message]);
        b.block = yes;
        p[0]
    });
    let kernel = compile(&module);
    assert_eq!(kernel.helper_calls(), [("arena.reset (rare)".to_string(), 2), ("emit".to_string(), 1)]);
    let got = run(&module, &[strs(&["good", "best"])]);
    assert_eq!(got, [Row::Value(Object::str("good")), Row::Exit(ExcKind::ValueError as u64)]);
}

#[test]
fn strings_equal_whatever_their_flags() {
    let constants = [
        "",
        "a",
        "ab",
        "abc",
        "abcd",
        "abcdefg",
        "abcdefgh",
        "abcdefghi",
        "abcdefghijklmnop",
        "abcdefghijklmnopq",
        "é",
        "straße",
        "日本語日本",
    ];
    for constant in constants {
        let fixed = simple(&[Type::Str], Type::Bool, |b, p| {
            let constant = b.constant(Object::str(constant));
            op(b, "str.eq", vec![p[0], constant], Type::Bool)
        });
        let mut texts: Vec<String> = constants.iter().map(|text| text.to_string()).collect();
        for at in 0..constant.len() {
            if constant.is_ascii() {
                let mut bytes = constant.as_bytes().to_vec();
                bytes[at] ^= 1;
                texts.push(String::from_utf8(bytes).unwrap());
            }
        }
        let columns: Vec<Object> = texts.iter().map(|text| Object::str(text)).collect();
        let expected: Vec<Object> = texts.iter().map(|text| Object::Bool(text == constant)).collect();
        assert_eq!(run(&fixed, std::slice::from_ref(&columns)), value_rows(expected.clone()));
        let dynamic = simple(&[Type::Str, Type::Str], Type::Bool, |b, p| op(b, "str.eq", p, Type::Bool));
        assert_eq!(run(&dynamic, &[columns, vec![Object::str(constant); texts.len()]]), value_rows(expected));
    }
}

#[test]
fn unions_widen_and_narrow() {
    let values = [
        Object::None,
        Object::Bool(true),
        Object::int(-5),
        Object::Float(2.5),
        Object::str("a text longer than a view holds"),
        Object::tuple(vec![Object::int(1), Object::None]),
    ];
    let subsets = |within: u32| (1u32..64).filter(move |set| set & !within == 0 && set.count_ones() >= 2);
    let union = |set: u32| Type::union((0..6).filter(|at| set >> at & 1 == 1).map(|at| values[at].ty()));
    for wide in [63, 0b11110, 0b101011, 0b110100, 0b11] {
        for narrow in subsets(wide) {
            for at in (0..6).filter(|at| narrow >> at & 1 == 1) {
                let value = &values[at];
                let ty = value.ty();
                let ret = if at == 0 || at == 5 { Type::Int.optional() } else { ty.clone().optional() };
                let module = simple(&[Type::Int], ret.clone(), |b, p| {
                    let constant = b.constant(value.clone());
                    let first = b.wrap(constant, &union(narrow));
                    let second = b.wrap(first, &union(wide));
                    // Through a loop's parameter, so that nothing is folded.
                    let block = b.function.new_block();
                    let param = b.function.add_param(block, union(wide));
                    let count = b.function.add_param(block, Type::Int);
                    b.jump(block, vec![second, p[0]]);
                    b.block = block;
                    let zero = b.constant(Object::int(0));
                    let more = op(b, "int.gt", vec![count, zero], Type::Bool);
                    let (yes, no) = b.branch(more);
                    b.block = yes;
                    let one = b.constant(Object::int(1));
                    let less = op(b, "int.sub", vec![count, one], Type::Int);
                    b.jump(block, vec![param, less]);
                    b.block = no;
                    let is = b.inst(exuvia_ir::Opcode::Is(ty.clone()), vec![param], Type::Bool, None);
                    let (yes, no) = b.branch(is);
                    b.block = no;
                    b.raise(ExcKind::ValueError, vec![]);
                    b.block = yes;
                    let back = if narrow == wide {
                        param
                    } else {
                        b.inst(exuvia_ir::Opcode::Unwrap, vec![param], union(narrow), None)
                    };
                    let is = b.inst(exuvia_ir::Opcode::Is(ty.clone()), vec![back], Type::Bool, None);
                    let (yes, no) = b.branch(is);
                    b.block = no;
                    b.raise(ExcKind::TypeError, vec![]);
                    b.block = yes;
                    let value = b.inst(exuvia_ir::Opcode::Unwrap, vec![back], ty.clone(), None);
                    match at {
                        0 => b.wrap(value, &ret),
                        5 => {
                            let first = b.inst(exuvia_ir::Opcode::Field(0), vec![value], Type::Int, None);
                            b.wrap(first, &ret)
                        }
                        _ => b.wrap(value, &ret),
                    }
                });
                let expected = if at == 5 { Object::int(1) } else { value.clone() };
                assert_eq!(run(&module, &[ints(&[2])]), value_rows(vec![expected]), "{narrow:b} {wide:b} {at}");
            }
        }
    }
}

#[test]
fn characters_have_tables_in_front_of_kernels() {
    use exuvia_ops::def::{Body, Effect, Kind};
    // Each character of the text, ASCII and others, through every operation on one string.
    let texts = ["", "aZ 9\t\u{1c}", "é1ß", "日本", "\u{0}~", "٣x"];
    let mut checked = 0;
    for def in exuvia_ops::all() {
        let unary = def.params.len() == 1 && def.params[0].kind == Kind::Str && def.effect == Effect::Pure;
        let result = (def.result)(&[Type::Str]);
        if !unary || !matches!(def.body, Body::Kernel { .. }) || !matches!(result, Type::Bool | Type::Int | Type::Str) {
            continue;
        }
        checked += 1;
        for index in [0, -1] {
            let module = simple(&[Type::Str], result.clone(), |b, p| {
                let index = b.constant(Object::int(index));
                let character = op(b, "str.get", vec![p[0], index], Type::Str);
                op(b, def.name, vec![character], result.clone())
            });
            let got = run(&module, &[strs(&texts)]);
            for (text, got) in texts.iter().zip(got) {
                let chars: Vec<char> = text.chars().collect();
                let at = if index < 0 { chars.len() as i64 + index } else { index };
                let expected = match usize::try_from(at).ok().and_then(|at| chars.get(at)) {
                    None => Row::Exit(ExcKind::IndexError as u64),
                    Some(ch) => {
                        let mut cx = exuvia_ops::cx::Cx::for_folding();
                        match (def.eval)(&mut cx, &[Object::str(&ch.to_string())]) {
                            Ok(value) => Row::Value(value),
                            Err(raise) => Row::Exit(status::of(&raise)),
                        }
                    }
                };
                assert_eq!(got, expected, "{} of {text:?}[{index}]", def.name);
            }
        }
    }
    assert!(checked > 15, "only {checked}");
}

#[test]
fn prefixes_suffixes_and_slices_equal_the_kernels() {
    let texts =
        ["", "a", "ab", "abc", "abcdefgh", "abcdefghi", "xabc", "äbc", "abcä", "日本語", "abcdefghijklmnopqrstuvwxyz"];
    let affixes = ["", "a", "ab", "abc", "äbc", "ä", "hi", "abcdefghi", "klmnopqrstuvwxyz", "abcdefghijklmnop"];
    let eval = |name: &str, args: &[Object]| {
        let def = exuvia_ops::by_name(name).unwrap();
        let mut full = args.to_vec();
        full.extend(def.params[args.len()..].iter().map(|param| param.default.unwrap().object()));
        Row::Value((def.eval)(&mut exuvia_ops::cx::Cx::for_folding(), &full).unwrap())
    };
    for name in ["str.startswith", "str.endswith"] {
        for affix in affixes {
            let module = simple(&[Type::Str], Type::Bool, |b, p| {
                let affix = b.constant(Object::str(affix));
                op(b, name, vec![p[0], affix], Type::Bool)
            });
            let expected: Vec<Row> =
                texts.iter().map(|text| eval(name, &[Object::str(text), Object::str(affix)])).collect();
            assert_eq!(run(&module, &[strs(&texts)]), expected, "{name} {affix}");
        }
    }
    let bounds = [0, 1, 9, -1, -100, i64::MIN, i64::MAX];
    for start in bounds {
        for stop in bounds {
            let fixed = simple(&[Type::Str], Type::Str, |b, p| {
                let (start, stop) = (b.constant(Object::int(start)), b.constant(Object::int(stop)));
                op(b, "str.slice", vec![p[0], start, stop], Type::Str)
            });
            let args = |text: &&str| [Object::str(text), Object::int(start), Object::int(stop)];
            let expected: Vec<Row> = texts.iter().map(|text| eval("str.slice", &args(text))).collect();
            let kernel = compile(&fixed);
            let column = [column(&arrow::datatypes::DataType::Utf8View, &strs(&texts))];
            let got = rows(kernel.run(&column, texts.len(), &mut context()).unwrap());
            assert_eq!(got, expected, "[{start}:{stop}]");
        }
    }
}
