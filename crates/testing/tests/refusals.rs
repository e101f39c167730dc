//! What CREATE FUNCTION refuses: exactly the bodies that CPython refuses to compile, and
//! those without a handler; each with its line, and never by a panic.

use exuvia_engine::{Function, Parameter, Settings};
use exuvia_testing::oracle::Oracle;
use exuvia_testing::signature::SqlType;

/// Bodies that no Python accepts. The line is where CPython says the error is.
const BROKEN: &[&str] = &[
    "return 1 +",
    "return (a",
    "x = 1\nreturn )",
    "if a\n    return 1",
    "if a:\nreturn 1",
    "return 'abc",
    "  x = 1\nreturn x",
    "x = 1\n  y = 2\nreturn x",
    "def f(a):\n    return a\n  x = 1",
    "def f(a, a):\n    return a",
    "def f(a=1, b):\n    return a",
    "break\nreturn 1",
    "def f(a):\n    continue",
    "return f'{a'",
    "return f'{}'",
    "return f'{a!x}'",
    "1 = a\nreturn a",
    "a + 1 = 2\nreturn a",
    "None = a\nreturn a",
    "def None(a):\n    return a",
    "return a b",
    "x = = 2\nreturn x",
    "lambda: (yield)\nreturn 08",
    "return 1__0",
    "return 0x",
    "return '\\N{NO SUCH CHARACTER}'",
    "return '\\x4'",
    "def f(a):\n    nonlocal a\n    return a",
    "def f(a):\n    global a\n    return a",
    "def f(a):\n    x = 1\n    global x\n    return x",
    "try:\n    x = 1\nreturn x",
    "return a if a",
    "def f(a):\n    return *a",
    "f(a=1, 2)\nreturn 1",
    "f(**a, *a)\nreturn 1",
    "del f()\nreturn 1",
    "import\nreturn 1",
    "from x import (a, b\nreturn 1",
    "*a = 1\nreturn a",
    "(x := 1) = 2\nreturn a",
    "async def f(a):\n    [await x for x in a]\ndef f(a):\n    await a\n    return 1",
    "return \u{a0}1",
    "return a?",
    "return $a",
    "return a\u{200b}",
    "x = 'a\nb'\nreturn x",
    "match a:\n    case x:\n        pass\n    case 1:\n        pass\nreturn 1",
    "return {**a for a in b}",
    "return 1\n\tx = 2",
    "def f(a):\n        x = 1\n\treturn x",
    "def f(a):\n\tif a:\n        return 1\n\treturn 2",
    "if a:\n  if a:\n\treturn 1\n        return 2",
    "return b'é'",
    "return 'a' b'b'",
    "print a\nreturn 1",
    "exec 'a'\nreturn 1",
    "return t'{a}'",
    "type X = int\nreturn 1",
    "def f[T](a: T):\n    return a",
    "try:\n    pass\nexcept* ValueError:\n    break\nreturn 1",
    "return f'{a!r:{b!x}}'",
    "return f\"{'\\n'}\"",
    "return f'{a #}'",
    "def f(a):\n    for x in a:\n        def g():\n            break\n    return 1",
    "try:\n    pass\nexcept:\n    pass\nexcept ValueError:\n    pass\nreturn 1",
    "f(a=1, a=2)\nreturn 1",
    "from __future__ import nothing\ndef f(a):\n    return a",
    "*a, *b = 1, 2\nreturn a",
    "[x := i for x in a]\nreturn a",
    "return f'{a['x']}'",
    "try:\n    pass\nexcept* ValueError:\n    for x in a:\n        pass\n    else:\n        return 2\nreturn 1",
    "for y in a:\n    try:\n        pass\n    except* ValueError:\n        for x in a:\n            pass\n        else:\n            break\nreturn 1",
    "return f'{a:{a:{a}}}'",
    "return f'{a:{a:{a:1}}}'",
    "def f(a):\n    def g():\n        def h(b=(x := 1)):\n            return b\n        nonlocal y\n    return a",
];

/// Bodies that CPython compiles and whose module raises when it runs: so does CREATE FUNCTION,
/// even where the function itself would be lifted.
#[cfg(feature = "python")]
const RAISING: &[&str] = &[
    "def f(a: missing):\n    return a",
    "def f(a) -> 1 / 0:\n    return a",
    "def f(a: 'x' | None):\n    return a",
    "def g(a: later):\n    return a\nlater = int\ndef f(a):\n    return a",
    "from typing import Optional\ndef f(a: Optional[int, str]):\n    return a",
    "from typing import Dict\ndef f(a: Dict[int]):\n    return a",
    "from typing import Optionl\ndef f(a):\n    return a",
    "def f(a: int[3]):\n    return a",
    "LIMIT: missing = 3\ndef f(a):\n    return a",
    "from math import nothing\ndef f(a):\n    return a",
    "from json import loadz\ndef f(a):\n    return a",
    "import math\nX = math.nothing\ndef f(a):\n    return a",
    "import jsonn\ndef f(a):\n    return a",
    "X = 1 // 0\ndef f(a):\n    return a",
    "from typing import List, Union\ndef f(a: List[Union]):\n    return a",
    "from typing import Optional\ndef f(a: Optional[Optional]):\n    return a",
    "from typing import Dict, Literal\ndef f(a: Dict[str, Literal]):\n    return a",
    "from typing import List, Final\ndef f(a: List[Final[int]]):\n    return a",
    "from typing import List, ClassVar\ndef f(a: List[ClassVar[int]]):\n    return a",
    "from typing import Union\ndef f(a: Union | None):\n    return a",
    "from typing import Optional\ndef f(a: int | Optional):\n    return a",
    "from typing import Optional\ndef f(a: Optional['a b']):\n    return a",
    "from typing import Optional\ndef f(a: Optional['class']):\n    return a",
];

/// Bodies that CPython accepts; some of them raise when called.
const FINE: &[&str] = &[
    "for x in a:\n \tif x:\n  \t  # a comment\n\t  return x",
    "if a:\n\tif a:\n\t\treturn 1\n\telse:\n\t\tx = (1,\n  2)\nreturn 2",
    "return a",
    "return",
    "if a: return 1\nreturn 2",
    "return (a +\n  1)",
    "x = 'a\\\nb'\nreturn x",
    "'''docs'''\nreturn a",
    "# only a comment\nreturn 1",
    "def f(a): return a",
    "def f(a, /, b=1, *c, d=2, **e):\n    return a",
    "def g(x):\n    return x\ndef f(a):\n    return g(a)",
    "f = 3\ndef f(a):\n    return a",
    "class A:\n    pass\ndef f(a):\n    return A()",
    "return missing_name",
    "return 1 // 0",
    "return '\\d'",
    "return 1if a else 2",
    "return 0_0 + 1_000 + 0xFF + 0b1 + 0o7 + 1e3 + 1j",
    "match a:\n    case 1:\n        return 1\n    case _:\n        return 2",
    "return [x for x in a if x for y in x]",
    "with a as b, c as d: pass\nreturn 1",
    "return f'{a!r:>{a}}{{}}{a=}'",
    "return f'{a:{a:1}}'",
    "return f'{f\"{a:{a}}\":{a:5}}'",
    "return (lambda *a, **k: a)(1)",
    "é = 1\nreturn é",
    "x: int\nreturn x",
    "return a; x = 1",
    "for x in a: pass\nelse: pass\nreturn 1",
    "try:\n    pass\nexcept* ValueError:\n    pass\nreturn 1",
    "return a\r\n",
    "\n\n\nreturn a\n\n",
    "@staticmethod\ndef f(a):\n    return a",
    "def f(a):\n    def g(b=(x := 1)):\n        return b\n    def h():\n        nonlocal x\n        x = 2\n        return x\n    return h()",
    "def f(a):\n    g = lambda b=(x := 1): b\n    def h():\n        nonlocal x\n        x = 2\n        return x\n    return h()",
    "def f(a):\n    class C((x := object)):\n        pass\n    def h():\n        nonlocal x\n        x = 2\n        return x\n    return h()",
    "def f(a):\n    def g(b: (x := int)) -> (y := int):\n        return b\n    def h():\n        nonlocal x, y\n        x = y = 2\n        return x\n    return h()",
    "def f(a):\n    @(x := staticmethod)\n    def g(b):\n        return b\n    def h():\n        nonlocal x\n        x = 2\n        return x\n    return h()",
    "from typing import Optional, Union, List, Callable\ndef f(a: Optional[Union[int, 'str', None]], b: List[Optional['int']] | None = None, c: Callable = f'') -> 'a b':\n    return a",
];

fn define(source: &str) -> Result<Function, exuvia_engine::DefineError> {
    let param = Parameter { name: "a".to_string(), ty: SqlType::BigInt.arrow() };
    let definition = exuvia_testing::definition(source, vec![param], SqlType::BigInt.arrow());
    Function::define(definition, &Settings::default())
}

/// The line of CPython's SyntaxError, or `None` where it compiles the body.
fn cpython(oracle: &mut Oracle, source: &str) -> Option<i64> {
    let check = "def f(source):
    import ast
    try:
        tree = ast.parse(source)
        if any(isinstance(node, ast.Return) for node in ast.walk(tree)) and not any(
            isinstance(node, ast.FunctionDef) and node.name == 'f' for node in tree.body
        ):
            function = ast.parse('def f(a): pass').body[0]
            function.body = tree.body
            tree.body = [function]
        compile(tree, '<case>', 'exec')
    except SyntaxError as error:
        return error.lineno or 0
";
    use exuvia_testing::oracle::Outcome;
    use exuvia_testing::value::Value;
    match oracle.call(check, &[vec![Value::str(source)]]).unwrap().remove(0) {
        Outcome::Value(Value::Int(line), _) => Some(line.parse().unwrap()),
        Outcome::Value(..) => None,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
#[cfg(feature = "python")]
fn what_raises_when_it_is_defined_is_refused() {
    for source in RAISING {
        match define(source) {
            Ok(_) => panic!("accepted: {source:?}"),
            Err(error) => assert!(error.to_string().contains("Error: "), "{source:?}: {error}"),
        }
    }
}

#[test]
fn modules_have_the_names_that_are_known() {
    let mut oracle = Oracle::start().unwrap();
    let check = "def f(module, names):
    import importlib
    module = importlib.import_module(module)
    return ' '.join(name for name in names.split() if not hasattr(module, name))
";
    use exuvia_testing::{oracle::Outcome, value::Value};
    for (module, names) in exuvia_lift::standard::modules() {
        let arguments = vec![Value::str(module), Value::str(names)];
        match oracle.call(check, &[arguments]).unwrap().remove(0) {
            Outcome::Value(Value::Str(missing), _) if missing.is_empty() => {}
            other => panic!("{module}: {other:?}"),
        }
    }
}

#[test]
fn what_cpython_cannot_compile_is_refused() {
    let mut oracle = Oracle::start().unwrap();
    let mut wrong = vec![];
    for source in BROKEN {
        assert!(cpython(&mut oracle, source).is_some(), "CPython accepts {source:?}");
        match std::panic::catch_unwind(|| define(source)) {
            Ok(Ok(_)) => wrong.push(format!("accepted: {source:?}")),
            Ok(Err(error)) if error.place.is_none() => wrong.push(format!("no place: {source:?}: {error}")),
            Ok(Err(_)) => {}
            Err(_) => wrong.push(format!("panics: {source:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of each kind the first depth that CPython refuses, and the last that it takes.
#[test]
fn what_is_nested_too_deeply_is_refused() {
    let nested = |count: usize, open: &str, close: &str| {
        let indent = |depth: usize| " ".repeat(depth + 1);
        let mut source = String::from("def f(a):\n");
        (0..count).for_each(|depth| source += &format!("{}{open}\n", indent(depth)));
        source += &format!("{}pass\n", indent(count));
        if !close.is_empty() {
            (0..count).rev().for_each(|depth| source += &format!("{}{close}\n", indent(depth)));
        }
        source + " return 1\n"
    };
    let mut oracle = Oracle::start().unwrap();
    let with = |count: usize| format!("def f(a):\n with {}:\n  pass\n return 1\n", vec!["a"; count].join(", "));
    let brackets = |count: usize| format!("def f(a):\n return {}a{}\n", "(".repeat(count), ")".repeat(count));
    type Make<'a> = &'a dyn Fn(usize) -> String;
    let makes: &[(&str, usize, Make<'_>)] = &[
        ("for", 20, &|count| nested(count, "for x in a:", "")),
        ("while", 20, &|count| nested(count, "while a:", "")),
        ("try and except", 19, &|count| nested(count, "try:", "except ValueError: pass")),
        ("try and finally", 20, &|count| nested(count, "try:", "finally: pass")),
        ("try, except and finally", 9, &|count| nested(count, "try:", "except ValueError: pass\n@finally: pass")),
        ("handlers", 10, &|count| nested(count, "try: pass\n@except ValueError:", "")),
        ("if", 98, &|count| nested(count, "if a:", "")),
        ("with", 20, &with),
        ("brackets", 200, &brackets),
        ("digits", 4300, &|count| format!("def f(a):\n return {} % 7", "1".repeat(count))),
    ];
    for (kind, most, make) in makes {
        for (count, refused) in [(*most, false), (*most + 1, true)] {
            // A second line of a clause stands as deep as its first.
            let mut lines: Vec<String> = vec![];
            for line in make(count).lines() {
                let line = match line.strip_prefix('@') {
                    Some(rest) => {
                        let before = lines.last().map_or("", String::as_str);
                        format!("{}{rest}", &before[..before.len() - before.trim_start().len()])
                    }
                    None => line.to_string(),
                };
                lines.push(line);
            }
            let source = lines.join("\n");
            assert_eq!(cpython(&mut oracle, &source).is_some(), refused, "CPython: {count} {kind}");
            assert_eq!(define(&source).is_err(), refused, "{count} {kind}: {:?}", define(&source).map(|_| ()));
        }
    }
}

#[test]
fn the_place_is_cpythons_line() {
    let mut oracle = Oracle::start().unwrap();
    let mut wrong = vec![];
    for source in BROKEN {
        let line = cpython(&mut oracle, source);
        let Ok(Err(error)) = std::panic::catch_unwind(|| define(source)) else { continue };
        let found = error.place.as_ref().map(|place| i64::from(place.line));
        // Where a bracket stays open parsers may name its line or the one behind it.
        if found.is_some() && found.zip(line).is_none_or(|(found, line)| (found - line).abs() > 1) {
            wrong.push(format!("{found:?} and not {line:?}: {source:?}: {}", error.message));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cpython_compiles_is_accepted() {
    let mut oracle = Oracle::start().unwrap();
    let mut wrong = vec![];
    for source in FINE {
        assert_eq!(cpython(&mut oracle, source), None, "CPython refuses {source:?}");
        match std::panic::catch_unwind(|| define(source)) {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => wrong.push(format!("refused: {source:?}: {error}")),
            Err(_) => wrong.push(format!("panics: {source:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_body_needs_one_handler() {
    // A body that returns nothing gives NULL, as a function of Python gives None.
    define("x = 1").unwrap();
    // One that returns may define helpers, of its own name too.
    define("def f(a):\n    return a\nreturn f(1)").unwrap();
    // A name that a lambda or a call is bound to may be the handler.
    define("f = lambda a: a + 1").unwrap();
    define("from functools import partial\ndef g(a, b):\n    return a + b\nf = partial(g, 1)").unwrap();
    for source in ["def g(a):\n    return a\ndef h(a):\n    return a", ""] {
        let error = define(source).expect_err(source);
        assert!(!error.message.is_empty());
    }
    for source in [
        "def f(a):\n    yield a",
        "async def f(a):\n    return a",
        "def f(a, b):\n    return a",
        "def f():\n    return 1",
    ] {
        assert!(define(source).is_err(), "accepted: {source:?}");
    }
}
