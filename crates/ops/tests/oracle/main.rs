//! Every operation against CPython, and native code's entry against the evaluator's.
//!
//! The operands are generated from each operation's parameters, the Python expression
//! from its spelling, so that an operation is tested by being defined.

mod inputs;
mod native;
#[path = "../process/mod.rs"]
mod process;
mod python;

use exuvia_ir::{Object, Raise};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::{Bails, Kind, OpDef};
use exuvia_ops::{all, show};
use inputs::{Random, operand};
use python::{Answer, Python};

/// How many calls of each operation are compared; `EXUVIA_ORACLE_CALLS` says otherwise.
fn call_count() -> usize {
    std::env::var("EXUVIA_ORACLE_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(1500)
}

/// The Python function that an operation stands for, or `None` for one that Python
/// cannot say (then only the native entry is compared with the evaluator's).
fn function(def: &OpDef) -> Option<String> {
    let arg = |at: usize| match &def.params[at] {
        param if param.keyword_only => format!("**{{'{}': x for x in a{at}}}", param.name),
        _ => format!("*a{at}"),
    };
    let args = |from: usize| (from..def.params.len()).map(arg).collect::<Vec<_>>().join(", ");
    let params = (0..def.params.len()).map(|at| format!("a{at}=()")).collect::<Vec<_>>().join(", ");
    // An operand that the call leaves out arrives as the empty tuple, one that it gives is
    // wrapped in a tuple of one.
    let body = match def.spelling {
        "" => special(def)?.to_string(),
        "truth" => "bool(*a0)".to_string(),
        "a in b" => "a0[0] in a1[0]".to_string(),
        "a[b]" => "a0[0][a1[0]]".to_string(),
        "a[b:c]" => "a0[0][slice(*(a1 or (None,)), *(a2 or (None,)))]".to_string(),
        "a[b:c:d]" => "a0[0][slice(*(a1 or (None,)), *(a2 or (None,)), *(a3 or (None,)))]".to_string(),
        spelling if spelling.starts_with('.') => format!("a0[0]{spelling}({})", args(1)),
        spelling if spelling.ends_with('a') && spelling.len() == 2 => spelling.replace('a', "a0[0]"),
        spelling if spelling.starts_with('a') && spelling.ends_with('b') && spelling.len() <= 4 => {
            format!("a0[0]{}a1[0]", &spelling[1..spelling.len() - 1])
        }
        spelling => format!("{spelling}({})", args(0)),
    };
    Some(format!("lambda *xs: (lambda {params}: {body})(*((x,) for x in xs))"))
}

/// The Python of operations that Python spells only as part of something else.
fn special(def: &OpDef) -> Option<&'static str> {
    Some(match def.name {
        "int.to_float" => "float(*a0)",
        "bool.to_int" => "int(*a0)",
        "bool.not" => "not a0[0]",
        "str.byte_len" => "len(a0[0].encode())",
        "list.sort_int" | "list.sort_float" | "list.sort_str" => "sorted(*a0, **{'reverse': x for x in a1})",
        name if name.starts_with("percent.") => "a0[0] % a1",
        _ => return None,
    })
}

/// Calls of an operation; arguments that have a default are left out at times.
fn calls(def: &OpDef) -> Vec<Vec<Object>> {
    let mut random = Random::new(def.name);
    let required = def.params.iter().filter(|param| param.default.is_none()).count();
    let count = if def.params.is_empty() { 1 } else { call_count() };
    let call = |_| {
        let len = required + random.below(def.params.len() - required + 1);
        let mut args = Vec::new();
        for at in 0..len {
            let arg = operand(&mut random, def, at, &args);
            args.push(arg);
        }
        args
    };
    (0..count).map(call).collect()
}

/// The operands as the lifter passes them: with defaults for what is missing or `None`.
fn complete(def: &OpDef, args: &[Object]) -> Vec<Object> {
    let one = |(at, param): (usize, &exuvia_ops::def::Param)| match (args.get(at), param.default) {
        (None, Some(default)) => default.object(),
        (Some(Object::None), Some(default)) if param.kind == Kind::Index => default.object(),
        (Some(arg), _) => arg.clone(),
        (None, None) => panic!("{}: an operand is missing", def.name),
    };
    def.params.iter().enumerate().map(one).collect()
}

/// The operations that a test can call: not those that change what they are given.
fn callable() -> impl Iterator<Item = &'static OpDef> {
    all().filter(|def| !def.effect.writes() && def.params.iter().all(|param| param.kind != Kind::Exc))
}

fn agree(answer: &Answer, result: &Result<Object, Raise>) -> bool {
    match (answer, result) {
        // The bits of a NaN that an operation makes are not Python's to see.
        (Answer::Value(Object::Float(a)), Ok(Object::Float(b))) if a.is_nan() && b.is_nan() => true,
        (Answer::Value(a), Ok(b)) => a == b,
        (Answer::Exception(class, message), Err(Raise::Exception { kind, args })) => {
            class == kind.name() && *message == show::message(*kind, args)
        }
        _ => false,
    }
}

fn shown(args: &[Object]) -> String {
    args.iter().map(show::repr).collect::<Vec<_>>().join(", ")
}

#[test]
fn operations_agree_with_cpython() {
    let Some(mut python) = Python::start() else { return };
    let mut failures = Vec::new();
    for def in callable() {
        let Some(function) = function(def) else { continue };
        let calls = calls(def);
        let answers = python.ask(&function, &calls);
        let (mut bailouts, mut wrong) = (0, 0);
        for (args, answer) in calls.iter().zip(&answers) {
            let result = (def.eval)(&mut Cx::for_folding(), &complete(def, args));
            if matches!(result, Err(Raise::Bailout(_))) && def.bails != Bails::Never {
                // What has no counterpart here has to bail out.
                bailouts += usize::from(!matches!(answer, Answer::Strange));
            } else if !agree(answer, &result) {
                wrong += 1;
                if wrong <= 4 {
                    let got = result.map_or_else(|raise| show::raise(&raise), |value| show::repr(&value));
                    failures.push(format!("{} ({}): CPython {answer:?}, here {got}", def.name, shown(args)));
                }
            } else if let Err(Raise::Exception { kind, .. }) = &result
                && !def.raises.contains(kind)
            {
                failures.push(format!("{} ({}): {} is not declared", def.name, shown(args), kind.name()));
            }
        }
        if wrong > 0 {
            failures.push(format!("{}: {wrong} of {} calls differ", def.name, calls.len()));
        }
        // A list with an integer beyond 64 bits, and a few operations, may leave it to others.
        if bailouts * 4 > calls.len() && !def.name.starts_with("list.sort") {
            failures.push(format!("{}: bails out of {bailouts} of {} calls", def.name, calls.len()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn native_entries_agree_with_the_evaluator() {
    let mut failures = Vec::new();
    for def in callable() {
        let mut random = Random::new(&format!("native {}", def.name));
        let mut wrong = 0;
        for args in calls(def) {
            let args = complete(def, &args);
            let evaluated = (def.eval)(&mut Cx::for_folding(), &args);
            let Some(native) = native::call(def, &args, &mut random) else { break };
            let same = match (&native, &evaluated) {
                (Err(native::IMPOSSIBLE), _) => true,
                // Native code may leave to the evaluator whatever it can leave.
                (Err(exuvia_ops::def::status::BAILOUT | exuvia_ops::def::status::ROW_MEMORY), _) => {
                    def.bails != Bails::Never
                }
                (Err(status), Err(raise)) => *status == exuvia_ops::def::status::of(raise),
                (Ok(Object::Float(a)), Ok(Object::Float(b))) if a.is_nan() && b.is_nan() => true,
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            };
            wrong += usize::from(!same);
            if !same && wrong <= 3 {
                failures.push(format!("{} ({}): native {native:?}, evaluator {evaluated:?}", def.name, shown(&args)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn examples_are_what_cpython_prints() {
    let Some(mut python) = Python::start() else { return };
    let mut failures = Vec::new();
    for def in all() {
        let mut lines = def.doc.lines().map(str::trim).peekable();
        let mut examples = 0;
        while let Some(line) = lines.next() {
            let Some(expression) = line.strip_prefix(">>> ") else { continue };
            examples += 1;
            let wanted = lines.next().unwrap_or_default();
            let answers = python.ask(&format!("lambda: repr({expression})"), &[vec![]]);
            if !matches!(&answers[0], Answer::Value(Object::Str(text)) if **text == *wanted) {
                failures.push(format!("{}: {expression} is {:?}, not {wanted}", def.name, answers[0]));
            }
        }
        // What changes an object has no value to show.
        if examples == 0 && !def.spelling.is_empty() && !def.effect.writes() {
            failures.push(format!("{}: no example", def.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = all().map(|def| def.name).collect();
    names.sort_unstable();
    let repeated: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(repeated.is_empty(), "{repeated:?}");
}
