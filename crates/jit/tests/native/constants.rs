//! Operations on text whose other operand is a constant, which are short paths in native
//! code: against the boxed operations, on texts of every length around the sizes of blocks.

use crate::support::{Row, op, run, simple};
use exuvia_ir::{Object, Type};
use exuvia_ops::cx::Cx;

/// Texts over so few characters that candidates abound, at every length up to 70 and some
/// lengths around the longest that are searched in place.
fn texts() -> Vec<Object> {
    let mut state = 1u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut texts = Vec::new();
    for len in (0..70).chain(238..275) {
        for alphabet in [&["a", "b"][..], &["a", "b", " ", "/"], &["a", "é", "b", "\u{1c}"], &["x"]] {
            for _ in 0..4 {
                let chars = (0..len).map(|_| alphabet[random(alphabet.len())]);
                texts.push(Object::str(&chars.collect::<String>()));
            }
        }
        // Rare hits, at any place.
        for needle in ["a", "ab", "aba", "ba é"] {
            let mut text = vec!["x"; len];
            for _ in 0..random(3) {
                let at = random(len + 1);
                text.insert(at.min(text.len()), needle);
            }
            texts.push(Object::str(&text.concat()));
        }
    }
    texts
}

fn check(name: &'static str, result: &Type, constant: &str, constant_first: bool) {
    let def = exuvia_ops::by_name(name).unwrap();
    let module = simple(&[Type::Str], result.clone(), |b, params| {
        let constant = b.constant(Object::str(constant));
        let args = if constant_first { vec![constant, params[0]] } else { vec![params[0], constant] };
        op(b, name, args, result.clone())
    });
    let texts = texts();
    let native = run(&module, std::slice::from_ref(&texts));
    let mut cx = Cx::for_folding();
    for (text, native) in texts.into_iter().zip(native) {
        cx.reset();
        let constant = Object::str(constant);
        let mut args = if constant_first { vec![constant, text] } else { vec![text, constant] };
        args.extend(def.params[2..].iter().map(|param| param.default.unwrap().object()));
        let expected = (def.eval)(&mut cx, &args).unwrap();
        assert_eq!(native, Row::Value(expected), "{name} {args:?}");
    }
}

#[test]
fn searches() {
    for needle in
        ["a", "é", "ab", "aa", "aba", "abab", "b/ a", "éa", "aaaaaaaa", "abababababababab", "xxxxxxxxxxxxxxxxa", ""]
    {
        check("str.find", &Type::Int, needle, false);
        check("str.rfind", &Type::Int, needle, false);
        check("str.contains", &Type::Bool, needle, true);
    }
}

#[test]
fn strips() {
    for chars in ["a", "ab", " /", "ab /", "é", "\u{1c}b", "", "~\0x"] {
        for name in ["str.strip_chars", "str.lstrip_chars", "str.rstrip_chars"] {
            check(name, &Type::Str, chars, false);
        }
    }
}
