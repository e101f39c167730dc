//! Operations on places in texts, which are right for places only: natively as the kernels have them.

use crate::support::{Row, context, op, rows, simple, strs};
use exuvia_ir::{Builder, Object, Opcode, Raise, Type, Value};
use exuvia_ops::cx::Cx;

const TEXTS: [&str; 12] = [
    "",
    "a",
    "é",
    "key: value",
    "ключ: é, a",
    "€€, b",
    "0123456789abcde",
    "0123456789abcdef, 0123",
    "aé€𝄞, 0123456789 abcdefghij",
    "0123456789abcdef0123456789abcdef0123456789abcde: f, é",
    ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,",
    "a, b: c, 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 \
     0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 \
     0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789, é b",
];

const SOUGHT: [&str; 6] = [",", ": ", "é", "0123", "0123456789abcdef", ""];

/// A bound: a constant, or the number of a parameter.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Constant(i64),
    Param(usize),
}

impl Bound {
    fn value(self, b: &mut Builder, params: &[Value]) -> Value {
        match self {
            Bound::Constant(value) => b.inst(Opcode::Const(Object::int(value)), vec![], Type::Int, None),
            Bound::Param(at) => params[at],
        }
    }

    fn object(self, row: &[Object]) -> Object {
        match self {
            Bound::Constant(value) => Object::int(value),
            Bound::Param(at) => row[at].clone(),
        }
    }
}

/// The places around and in a text.
fn places(text: &str) -> Vec<i64> {
    let offsets: Vec<i64> = text.char_indices().map(|(at, _)| at as i64).collect();
    let len = text.len() as i64;
    let near = offsets.iter().copied().take(20).chain(offsets.iter().rev().copied().take(20));
    near.chain([-20, -3, -2, -1, len, len + 1, len + 5]).collect()
}

/// Compares an operation with its kernel for every text and pair of places in it.
fn check(name: &'static str, sought: Option<&str>, bounds: &[Bound]) -> usize {
    let def = exuvia_ops::by_name(name).unwrap();
    let module = simple(&[Type::Str, Type::Int, Type::Int], (def.result)(&[]), |b, params| {
        let mut args = vec![params[0]];
        args.extend(sought.map(|text| b.inst(Opcode::Const(Object::str(text)), vec![], Type::Str, None)));
        args.extend(bounds.iter().map(|bound| bound.value(b, &params)).collect::<Vec<_>>());
        op(b, def.name, args, (def.result)(&[]))
    });
    let mut table: Vec<[Object; 3]> = Vec::new();
    for text in TEXTS {
        for (i, j) in places(text).into_iter().flat_map(|i| places(text).into_iter().map(move |j| (i, j))) {
            table.push([Object::str(text), Object::int(i), Object::int(j)]);
        }
    }
    let columns: Vec<Vec<Object>> = (0..3).map(|at| table.iter().map(|row| row[at].clone()).collect()).collect();
    let native = crate::support::run(&module, &columns);
    for (row, native) in table.iter().zip(native) {
        let mut args = vec![row[0].clone()];
        args.extend(sought.map(Object::str));
        args.extend(bounds.iter().map(|bound| bound.object(row)));
        let expected = match (def.eval)(&mut Cx::for_folding(), &args) {
            Ok(value) => Row::Value(value),
            Err(Raise::Exception { kind, .. }) => Row::Exit(kind as u64),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(native, expected, "{name}{args:?}");
    }
    table.len()
}

#[test]
fn places_natively() {
    use Bound::{Constant, Param};
    let mut tried = 0;
    let pairs = [
        [Constant(0), Constant(i64::MAX)],
        [Param(1), Constant(i64::MAX)],
        [Constant(0), Param(2)],
        [Param(1), Param(2)],
        [Constant(-3), Constant(-1)],
    ];
    for pair in &pairs {
        for sought in SOUGHT {
            for name in ["place.find", "place.rfind", "place.index", "place.rindex", "place.startswith", "place.count"]
            {
                tried += check(name, Some(sought), pair);
            }
        }
        tried += check("place.slice", None, pair);
        tried += check("place.get", None, &pair[..1]);
    }
    for by in (-17..=17).filter(|by| *by != 0) {
        tried += check("place.step", None, &[Param(1), Constant(by)]);
        tried += check("place.step", None, &[Constant(0), Constant(by)]);
        tried += check("place.reach", None, &[Param(1), Constant(by)]);
        tried += check("place.reach", None, &[Constant(0), Constant(by)]);
    }
    assert!(tried > 100_000, "{tried}");
}

/// What counts characters is told which texts are ASCII, what does not is not: both are right.
#[test]
fn parts_of_texts_that_are_not_known_to_be_ascii() {
    let texts = ["abc: déf", "abc", "дом: 12", ""];
    for (last, expected) in [("str.len", [8, 3, 7, 0]), ("str.byte_len", [9, 3, 10, 0])] {
        let module = simple(&[Type::Str], Type::Int, |b, params| {
            let [zero, end] =
                [0, i64::MAX].map(|value| b.inst(Opcode::Const(Object::int(value)), vec![], Type::Int, None));
            let part = op(b, "place.slice", vec![params[0], zero, end], Type::Str);
            op(b, last, vec![part], Type::Int)
        });
        let kernel = crate::support::compile(&module);
        let columns = [crate::support::column(&arrow::datatypes::DataType::Utf8View, &strs(&texts))];
        let native = rows(kernel.run(&columns, texts.len(), &mut context()).unwrap());
        assert_eq!(native, expected.map(|len| Row::Value(Object::int(len))));
    }
}
