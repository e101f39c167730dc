//! Every operation over nasty values: native code gives what the boxed body gives, or
//! leaves the row to it.

use crate::support::{Row, column, column_type, compile, context, op, rows, simple};
use exuvia_ir::{Int, Object, Raise, Type};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Bails, Kind, OpDef, status};

fn nasty(kind: Kind) -> Vec<Object> {
    let ints = [0, 1, -1, 2, -2, 3, 5, 7, 10, -7, 31, 63, 64, 65, 1 << 10, i64::MIN, i64::MIN + 1, i64::MAX, 1 << 53];
    let floats = [0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 1e300, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.5];
    let texts =
        ["", " ", "a", "abc", "ABC def", "straße", "日本語", "a,b,,c", "1,560", "12", "-7", " 12 ", "0x1f", "é", "𝒳y"];
    match kind {
        Kind::Bool => vec![Object::Bool(true), Object::Bool(false)],
        Kind::Int | Kind::Index => ints.iter().map(|value| Object::int(*value)).collect(),
        Kind::Float | Kind::Number => floats.iter().map(|value| Object::Float(*value)).collect(),
        Kind::Str => texts.iter().map(|text| Object::str(text)).collect(),
        Kind::Any
        | Kind::None
        | Kind::StrList
        | Kind::IntList
        | Kind::FloatList
        | Kind::List
        | Kind::OrderedList
        | Kind::KeyList
        | Kind::Key
        | Kind::Exc
        | Kind::Pattern => vec![],
    }
}

fn ir_type(kind: Kind) -> Option<Type> {
    Some(match kind {
        Kind::Bool => Type::Bool,
        Kind::Int | Kind::Index => Type::Int,
        Kind::Float | Kind::Number => Type::Float,
        Kind::Str => Type::Str,
        _ => return None,
    })
}

/// Rows of arguments: every combination, thinned to a few hundred.
fn arguments(kinds: &[Kind]) -> Vec<Vec<Object>> {
    let choices: Vec<Vec<Object>> = kinds.iter().map(|kind| nasty(*kind)).collect();
    let total: usize = choices.iter().map(Vec::len).product();
    let step = (total / 700).max(1) | 1;
    (0..total)
        .step_by(step)
        .map(|mut at| {
            choices
                .iter()
                .map(|choice| {
                    let object = choice[at % choice.len()].clone();
                    at /= choice.len();
                    object
                })
                .collect()
        })
        .collect()
}

fn same(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Float(a), Object::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

fn check(def: &'static OpDef, arity: usize) -> Option<usize> {
    let kinds: Vec<Kind> = def.params[..arity].iter().map(|param| param.kind).collect();
    let types: Vec<Type> = kinds.iter().map(|kind| ir_type(*kind)).collect::<Option<_>>()?;
    let result = (def.result)(&types);
    // A list is looked at through its length.
    let returned = match &result {
        Type::Bool | Type::Int | Type::Float | Type::Str => result.clone(),
        Type::List(_) => Type::Int,
        _ => return None,
    };
    let module = simple(&types, returned.clone(), |b, params| {
        let value = op(b, def.name, params, result.clone());
        if matches!(result, Type::List(_)) { op(b, "list.len", vec![value], Type::Int) } else { value }
    });
    let rows_of_arguments = arguments(&kinds);
    let columns: Vec<_> = types
        .iter()
        .enumerate()
        .map(|(at, ty)| {
            let values: Vec<Object> = rows_of_arguments.iter().map(|row| row[at].clone()).collect();
            column(&column_type(ty), &values)
        })
        .collect();
    let count = rows_of_arguments.len();
    let kernel = compile(&module);
    let native = rows(kernel.run(&columns, count, &mut context()).unwrap());
    let mut cx = Cx::for_folding();
    let mut stayed = 0;
    for (args, native) in rows_of_arguments.iter().zip(native) {
        cx.reset();
        let mut full = args.clone();
        full.extend(def.params[arity..].iter().map(|param| param.default.unwrap().object()));
        let expected = (def.eval)(&mut cx, &full).map(|value| match value {
            Object::List(list) => Object::int(list.items().len() as i64),
            other => other,
        });
        let context = || {
            let text = format!("{}{args:?}: {expected:?}, natively {native:?}", def.name);
            text.chars().take(500).collect::<String>()
        };
        match (&expected, &native) {
            (_, Row::Exit(status::BAILOUT | status::ROW_MEMORY)) => {
                let too_large = matches!(expected, Ok(Object::Int(Int::Big(_))));
                // Operations on numbers leave hard cases to unbounded integers.
                let core = def.bails != Bails::Never && returned != Type::Str;
                assert!(too_large || core || expected.is_err(), "{}", context());
            }
            (Err(Raise::Exception { kind, .. }), Row::Exit(code)) => assert_eq!(*kind as u64, *code, "{}", context()),
            (Ok(expected), Row::Value(native)) => {
                assert!(same(expected, native), "{}", context());
                stayed += 1;
            }
            _ => panic!("{}", context()),
        }
    }
    Some(stayed)
}

#[test]
fn native_operations_equal_boxed_ones() {
    let mut checked = 0;
    let mut never = Vec::new();
    for def in exuvia_ops::all() {
        // Operands of the latter are places in a text, which `places.rs` has.
        if def.params.is_empty() || def.name.starts_with("place.") {
            continue;
        }
        let least = def.params.iter().position(|param| param.default.is_some()).unwrap_or(def.params.len());
        for arity in [least.max(1), def.params.len()] {
            if let Some(stayed) = check(def, arity) {
                checked += 1;
                if stayed == 0 {
                    never.push(def.name);
                }
            }
        }
    }
    assert!(checked > 40, "only {checked}");
    // Format specifications are no nasty values, so what takes one may always raise.
    assert!(never.len() * 10 < checked, "{never:?} never stay native");
}

/// Products stand in for C's `pow` only where they are the same float, which one in ten would not
/// show: the numbers are many, and of all sizes.
#[test]
fn powers_are_those_of_c() {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut numbers: Vec<f64> = (0..40_000).map(|_| f64::from_bits(random())).collect();
    numbers.extend((0..120_000).map(|_| f64::from_bits((1013 + random() % 20) << 52 | random() >> 12)));
    numbers.extend(
        (0..40_000).map(|_| f64::from_bits((random() % 2) << 63 | (820 + random() % 410) << 52 | random() >> 12)),
    );
    numbers.extend((0..4_000).map(|n| f64::from(n) / 8.0));
    let objects: Vec<Object> = numbers.iter().map(|number| Object::Float(*number)).collect();
    for exponent in [Object::Float(0.5), Object::Float(2.0), Object::Float(3.0), Object::Float(4.0)] {
        let constant = exponent.clone();
        let module = simple(&[Type::Float], Type::Float, |b, params| {
            let exponent = b.constant(constant);
            op(b, "float.pow", vec![params[0], exponent], Type::Float)
        });
        let native = crate::support::run(&module, std::slice::from_ref(&objects));
        let def = exuvia_ops::by_name("float.pow").unwrap();
        let mut cx = context();
        for (number, row) in numbers.iter().zip(native) {
            match ((def.eval)(&mut cx, &[Object::Float(*number), exponent.clone()]), row) {
                (Ok(Object::Float(expected)), Row::Value(Object::Float(found))) => {
                    let same = expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan();
                    assert!(same, "{number:e} ** {exponent:?}: {expected:e}, not {found:e}");
                }
                (Err(_), Row::Exit(_)) => {}
                (expected, found) => panic!("{number:e} ** {exponent:?}: {expected:?}, {found:?}"),
            }
        }
    }
}
