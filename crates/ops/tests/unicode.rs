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

/// Categories and combining classes of every character, and the normal forms of each alone, behind a
/// letter, before a mark, and among random neighbours.
#[test]
fn normal_forms_agree() {
    let Some(python) = python() else { return };
    let script = r#"
import random, sys, unicodedata as u
out = open(1, "w", encoding="utf-8", newline="")
all = [chr(point) for start, end in ((1, 0xD800), (0xE000, 0x33480), (0xE0000, 0xE0200)) for point in range(start, end)]
marks = [c for c in all if u.combining(c)]
letters = [c for c in all if u.decomposition(c)]
random.seed(1)
texts = [t for c in all for t in (c, "a" + c, c + "\u0301")]
for _ in range(60_000):
    base = random.choice(letters)
    some = [random.choice(random.choice((marks, letters, all[:0x250]))) for _ in range(random.randrange(5))]
    texts.append(base + "".join(some))
for text in texts:
    if any(u.category(c) == "Cn" for c in text):
        continue
    out.write(text + "\0" + u.category(text[0]) + "\0" + str(u.combining(text[-1])) + "\0")
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        out.write(u.normalize(form, text) + "\0" + str(u.is_normalized(form, text)) + "\0")
"#;
    let output = Command::new(&python).args(["-S", "-c", script]).output();
    let output = String::from_utf8(output.expect("python runs").stdout).expect("UTF-8");
    let mut cx = Cx::for_folding();
    let mut ask = |name: &str, args: &[&str]| {
        cx.reset();
        let def = by_name(&format!("unicodedata.{name}")).expect("an operation");
        let args: Vec<Object> = args.iter().map(|arg| Object::str(arg)).collect();
        exuvia_ops::show::text(&(def.eval)(&mut cx, &args).expect("a value")).to_string()
    };
    let mut answers = output.split('\0');
    let mut count = 0;
    while let Some(text) = answers.next().filter(|text| !text.is_empty()) {
        let first = text.chars().next().expect("a character").to_string();
        let last = text.chars().next_back().expect("a character").to_string();
        assert_eq!(Some(&*ask("category", &[&first])), answers.next(), "{text:?}");
        assert_eq!(Some(&*ask("combining", &[&last])), answers.next(), "{text:?}");
        for form in ["NFC", "NFD", "NFKC", "NFKD"] {
            assert_eq!(Some(&*ask("normalize", &[form, text])), answers.next(), "{form} {text:?}");
            assert_eq!(Some(&*ask("is_normalized", &[form, text])), answers.next(), "{form} {text:?}");
        }
        count += 1;
    }
    assert!(count > 400_000, "{count} texts");
}
