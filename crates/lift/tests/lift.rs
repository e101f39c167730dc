//! Functions lifted and evaluated, compared with what CPython says of the same source.

use exuvia_ir::{Object, Raise};
use exuvia_lift::{Calls, Param, Source, SqlClass, SqlReturn, lift};
use exuvia_ops::cx::Cx;
use std::process::Command;

/// Runs `f` of the source in CPython: the `repr` of the result, or class and message of
/// the exception.
fn cpython(source: &str, args: &[&str]) -> String {
    let script = format!(
        "{source}\ntry:\n    print(repr(f({})))\nexcept Exception as e:\n    print(type(e).__name__ + ': ' + str(e))\n",
        args.join(", ")
    );
    let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let output = Command::new(python).arg("-c").arg(script).output().expect("python runs");
    String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_string()
}

fn object(literal: &str) -> (Object, SqlClass) {
    if literal == "None" {
        (Object::None, SqlClass::Str)
    } else if let Ok(int) = literal.parse() {
        (Object::int(int), SqlClass::Int)
    } else if let Ok(float) = literal.parse() {
        (Object::Float(float), SqlClass::Float)
    } else {
        (Object::str(&literal[1..literal.len() - 1]), SqlClass::Str)
    }
}

#[track_caller]
fn check(source: &str, returns: SqlClass, rows: &[&[&str]]) {
    for call in rows {
        let (objects, classes): (Vec<Object>, Vec<SqlClass>) = call.iter().map(|arg| object(arg)).unzip();
        let params: Vec<Param> = classes.iter().map(|class| Param { class: *class, nullable: true }).collect();
        let names: Vec<String> = (0..params.len()).map(|index| format!("p{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let source_of = Source::resolve(source, "f", None, &names).unwrap_or_else(|error| panic!("{error:?}"));
        let returns = SqlReturn { class: returns, name: "T".to_string() };
        let expected = cpython(source, call);
        for calls in [Calls::Large, Calls::All] {
            let module = match lift(&source_of, &params, &returns, calls) {
                Ok(lifted) => lifted.module,
                Err(bailout) => panic!(
                    "{bailout} at {:?}\n{source}",
                    source.get(bailout.span.start as usize..bailout.span.end as usize)
                ),
            };
            let mut fuel = 10_000_000;
            let mut cx = Cx::for_folding();
            let got = match exuvia_eval::call(&module, &objects, &mut cx, &mut fuel) {
                Ok(object) => exuvia_ops::show::repr(&object),
                Err(failure) => match failure.raise {
                    raise @ (Raise::Exception { .. } | Raise::Bailout(_) | Raise::Result(_) | Raise::Interrupted) => {
                        exuvia_ops::show::raise(&raise)
                    }
                },
            };
            assert_eq!(got, expected, "f({})\n{source}\n{module}", call.join(", "));
        }
    }
}

#[test]
fn arithmetic_and_branches() {
    check(
        "def f(a, b):\n    if a > b:\n        return a - b\n    elif a == b:\n        return 0\n    return a * b + 7 // b\n",
        SqlClass::Int,
        &[&["5", "3"], &["3", "3"], &["2", "9"], &["-4", "0"], &["None", "1"]],
    );
    check("def f(a):\n    x = a or 5\n    return x if x < 10 else -x\n", SqlClass::Int, &[&["0"], &["12"], &["3"]]);
    check("def f(a):\n    return 1 < a <= 5 and not a == 3\n", SqlClass::Bool, &[&["0"], &["3"], &["5"]]);
}

#[test]
fn loops() {
    check(
        "def f(n):\n    t = 0\n    for i in range(n):\n        if i % 3 == 0:\n            continue\n        if i > 20:\n            break\n        t += i\n    else:\n        t = -t\n    return t\n",
        SqlClass::Int,
        &[&["0"], &["10"], &["100"]],
    );
    check(
        "def f(s):\n    n = 0\n    last = None\n    for c in s:\n        if c == last:\n            n += 1\n        last = c\n    return n\n",
        SqlClass::Int,
        &[&["'aabbb'"], &["''"], &["'éé'"]],
    );
    check(
        "def f(n):\n    a, b = 0, 1\n    while n > 0:\n        a, b = b, a + b\n        n -= 1\n    return a\n",
        SqlClass::Int,
        &[&["10"], &["90"], &["120"]],
    );
    check(
        "def f(n):\n    x = 1\n    for i in range(n):\n        if i == 3:\n            x = x / 2\n        else:\n            x = x * 2\n    return x\n",
        SqlClass::Float,
        &[&["8"]],
    );
}

#[test]
fn lists_and_comprehensions() {
    check(
        "def f(s):\n    parts = [p.strip() for p in s.split(',') if p]\n    out = []\n    for i, p in enumerate(parts):\n        out.append(p + str(i))\n    return '-'.join(out)\n",
        SqlClass::Str,
        &[&["'a, b,,c'"], &["''"]],
    );
    check(
        "def f(a, b):\n    prev = list(range(len(b) + 1))\n    for i, x in enumerate(a):\n        cur = [i + 1]\n        for j, y in enumerate(b):\n            cur.append(min(prev[j] + (x != y), prev[j + 1] + 1, cur[j] + 1))\n        prev = cur\n    return prev[-1]\n",
        SqlClass::Int,
        &[&["'kitten'", "'sitting'"], &["''", "'ab'"]],
    );
    check(
        "def f(s):\n    return sum(1 for c in s if c in 'aeiou') + max(len(w) for w in s.split())\n",
        SqlClass::Int,
        &[&["'hello world'"]],
    );
    check("def f(n):\n    return any(x > 3 for x in [1, 2, n]) and all([n, 1])\n", SqlClass::Bool, &[&["4"], &["0"]]);
}

#[test]
fn exceptions() {
    check(
        "def f(s):\n    try:\n        return int(s)\n    except ValueError:\n        return -1\n    finally:\n        s = ''\n",
        SqlClass::Int,
        &[&["'12'"], &["'x'"], &["None"]],
    );
    check(
        "def f(s):\n    if not s:\n        raise ValueError(f'bad {s!r}')\n    return s[0]\n",
        SqlClass::Str,
        &[&["''"], &["'ab'"]],
    );
    check(
        "def f(a, b):\n    try:\n        x = a // b\n    except ZeroDivisionError as e:\n        return str(e)\n    else:\n        return 'ok %d' % x\n",
        SqlClass::Str,
        &[&["1", "0"], &["7", "2"]],
    );
    check(
        "def f(n):\n    for i in range(5):\n        try:\n            if i == n:\n                break\n            if i == n + 1:\n                continue\n        finally:\n            n += 1\n    return n\n",
        SqlClass::Int,
        &[&["0"], &["3"], &["-1"]],
    );
}

#[test]
fn functions() {
    check(
        "RATES = {'EUR': 1.0, 'USD': 1.1}\nSTOP = {'the', 'a'}\ndef conv(x, c='EUR'):\n    return x * RATES[c]\ndef f(x, c):\n    g = lambda y: conv(y, c)\n    if c in STOP:\n        return conv(x)\n    return g(x) + conv(c='USD', x=1)\n",
        SqlClass::Float,
        &[&["2.5", "'USD'"], &["2.5", "'the'"], &["1.5", "'XXX'"]],
    );
    check(
        "def fact(n):\n    return 1 if n <= 1 else n * fact(n - 1)\ndef f(n):\n    return fact(n)\n",
        SqlClass::Int,
        &[&["5"], &["25"]],
    );
    check(
        "def f(n):\n    def add(k):\n        return n + k\n    m = add(1)\n    n = 100\n    return add(m)\n",
        SqlClass::Int,
        &[&["5"]],
    );
    check("def f(x):\n    if x > 0:\n        y = 1\n    return y\n", SqlClass::Int, &[&["5"], &["-5"]]);
}
