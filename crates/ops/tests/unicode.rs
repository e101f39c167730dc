//! The character tables against the CPython that they were generated from.

use exuvia_ir::Object;
use exuvia_ops::{by_name, cx::Cx};
use std::process::Command;

/// The CPython that `EXUVIA_PYTHON` names, or `python3`, if it is of the semantic level.
fn python() -> Option<String> {
    let program = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let version = Command::new(&program).args(["-c", "import sys; print(*sys.version_info[:2])"]).output();
    if version.is_ok_and(|output| output.stdout.starts_with(b"3 11")) {
        return Some(program);
    }
    eprintln!("skipped: {program} is not CPython 3.11 (set EXUVIA_PYTHON to one)");
    None
}

#[test]
fn tables_are_current() {
    let Some(python) = python() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/unicode/generate.py");
    let status = Command::new(python).args([script, "--check"]).status().expect("python runs");
    assert!(status.success(), "run {script} to write tables.rs again");
}

/// Every method without arguments on every character alone, and those that look at a
/// character's neighbours on every character among some. (Beyond what is listed no
/// character is assigned; NUL parts the answers.)
#[test]
fn methods_agree_on_every_character() {
    let Some(python) = python() else { return };
    const ALONE: &[&str] = &[
        "isalpha",
        "isdigit",
        "isdecimal",
        "isnumeric",
        "isalnum",
        "isspace",
        "isupper",
        "islower",
        "istitle",
        "isprintable",
        "isidentifier",
        "lower",
        "upper",
        "title",
        "capitalize",
        "swapcase",
        "casefold",
    ];
    const AMONG: &[&str] = &["lower", "title", "istitle"];
    const FRAMES: &[(&str, &str)] = &[("a", "b"), ("A", "Σ"), ("Σ", "Σ x")];
    let alone = ALONE.iter().map(|method| (*method, "", ""));
    let among = AMONG.iter().flat_map(|method| FRAMES.iter().map(|(before, after)| (*method, *before, *after)));
    let script = r#"
import sys
out = open(1, "w", encoding="utf-8", newline="")
method, before, after = sys.argv[1:]
for start, end in (1, 0xD800), (0xE000, 0x33480), (0xE0000, 0xE0200), (0x10FFF0, 0x110000):
    for point in range(start, end):
        out.write(str(getattr(before + chr(point) + after, method)()) + "\0")
"#;
    for (method, before, after) in alone.chain(among) {
        let def = by_name(&format!("str.{method}")).expect("an operation");
        let output = Command::new(&python).args(["-S", "-c", script, method, before, after]).output();
        let output = String::from_utf8(output.expect("python runs").stdout).expect("UTF-8");
        let mut answers = output.split('\0');
        let mut cx = Cx::for_folding();
        for ch in [1..0xd800, 0xe000..0x33480, 0xe_0000..0xe_0200, 0x10_fff0..0x11_0000].into_iter().flatten() {
            let ch = char::from_u32(ch).expect("no surrogate");
            cx.reset();
            let got = (def.eval)(&mut cx, &[Object::str(&format!("{before}{ch}{after}"))]).expect("a value");
            let answer = answers.next().expect("an answer");
            assert_eq!(exuvia_ops::show::text(&got), answer, "{before:?} U+{:04X} {after:?} {method}", ch as u32);
        }
        assert_eq!(answers.next(), Some(""), "an answer for each character");
    }
}
