//! Each broken invariant is found.

use exuvia_ir::{Type, parse_module, verify};

/// A made-up operation that takes and gives ints.
fn typing(name: &str, args: &[Type]) -> Result<Type, String> {
    if args.iter().all(|ty| *ty == Type::Int) { Ok(Type::Int) } else { Err(format!("{name} takes ints")) }
}

fn check(body: &str) -> Result<(), String> {
    let text = format!(
        "fn f0 \"f\"(v0: int, v1: union[none, int]) -> int {{\nb0:\n{body}\n}}
fn f1 \"g\"(v0: int) -> str {{\nb0:\n  v1: str = const \"\"\n  return v1\n}}"
    );
    let module = parse_module(&text, &|name| (name == "int.add").then_some("int.add")).expect("parses");
    verify(&module, &typing).map_err(|error| error.message)
}

#[track_caller]
fn rejects(body: &str, message: &str) {
    assert_eq!(check(body), Err(message.to_string()), "{body}");
}

#[test]
fn accepts() {
    let bodies = [
        "return v0",
        "v2: union[none, int] = wrap v0\n v3: union[none, int, str] = wrap v2\n v4: int = unwrap v3\n return v4",
        "v2: int = int.add v0 v0 unwind b1(v0)\n return v2\nb1(v3: exc, v4: int):\n return v4",
        "jump b1(v0)\nb1(v2: int):\n poll\n v3: int = int.add v2 v2\n jump b1(v3)",
        "v2: list[str] = const []\n v3: list[int] = list v0 v0\n return v0",
        "v2: tuple[int, union[none, int]] = tuple v0 v1\n v3: int = field 0 v2\n return v3",
        "return v0\nb1:\n return v3\nb2:\n v3: int = const 1\n return v3",
        "v2: exc = new_exc ValueError v0\n v3: bool = exc_is [KeyError] v2\n branch v3 b1 b1\nb1:\n reraise v2",
        "v2: str = call f1 v0\n call f1 v0\n return v0",
        "v2: bool = is none v1\n v3: int = const 5\n return v3",
    ];
    for body in bodies {
        assert_eq!(check(body), Ok(()), "{body}");
    }
}

#[test]
fn forms() {
    rejects("jump b0", "b0, end: a jump to the entry");
    rejects("jump b7", "b0, end: b7 does not exist");
    rejects("jump b1\nb1(v2: int):\n return v2", "b0, end: 0 arguments for the 1 of b1");
    rejects("jump b1(v1)\nb1(v2: int):\n return v2", "b0, end: v1: union[none, int] for v2: int of b1");
    rejects("return v1", "b0, end: returns v1: union[none, int], not int");
    rejects("branch v0 b1 b1\nb1:\n return v0", "b0, end: a branch on v0: int");
    rejects("reraise v0", "b0, end: raises v0: int");
    rejects(
        "v2: int = int.add v0 unwind b1\n return v0\nb1:\n return v0",
        "b0, instruction 0: the handler b1 has no parameter for the exception",
    );
    rejects(
        "v2: int = int.add v0 unwind b1\n return v0\nb1(v3: int):\n return v0",
        "b0, instruction 0: the handler b1 takes a int first",
    );
    rejects(
        "v2: union[none, int] = wrap v0 unwind b1\n return v0\nb1(v3: exc):\n return v0",
        "b0, instruction 0: only operations and calls unwind",
    );
}

#[test]
fn instructions() {
    rejects("v2: int = int.add v0 v1\n return v2", "b0, instruction 0: int.add: int.add takes ints");
    rejects("v2: str = int.add v0 v0\n return v0", "b0, instruction 0: the result is int, not str");
    rejects("v2: str = const 1\n return v0", "b0, instruction 0: a constant of type int, not str");
    rejects(
        "v2: union[none, int] = const 1\n return v0",
        "b0, instruction 0: a constant of type int, not union[none, int]",
    );
    rejects("v2: int = call f1 v0\n return v0", "b0, instruction 0: the result is str, not int");
    rejects("v2: str = call f1 v1\n return v0", "b0, instruction 0: \"g\" takes other types");
    rejects("v2: str = call f9 v1\n return v0", "b0, instruction 0: f9 does not exist");
    rejects("v2: union[none, str] = wrap v0\n return v0", "b0, instruction 0: wraps int as union[none, str]");
    rejects("v2: str = unwrap v1\n return v0", "b0, instruction 0: unwraps union[none, int] as str");
    rejects("v2: bool = is str v1\n return v0", "b0, instruction 0: asks whether union[none, int] is str");
    rejects("v2: bool = is int v0\n return v0", "b0, instruction 0: asks whether int is int");
    rejects("v2: int = field 0 v0\n return v0", "b0, instruction 0: field 0 of int");
    rejects("v2: list[str] = list v0\n return v0", "b0, instruction 0: a list of [Int] is not list[str]");
    rejects("v2: bool = exc_is [KeyError] v0\n return v0", "b0, instruction 0: int is not an exception");
    rejects("poll v0\n return v0", "b0, instruction 0: poll has neither operands nor a result");
}

#[test]
fn dominance() {
    rejects("return v9", "b0, end: v9 is not in the table of values");
    rejects("v2: int = int.add v3 v3\n v3: int = const 1\n return v0", "b0: v3 is used where it is not defined");
    rejects(
        "v2: bool = is none v1\n branch v2 b1 b2\nb1:\n v3: int = const 1\n jump b2\nb2:\n return v3",
        "b2: v3 is used where it is not defined",
    );
    // The result of an instruction does not exist where it unwound.
    rejects(
        "v2: int = int.add v0 v0 unwind b1(v2)\n return v0\nb1(v3: exc, v4: int):\n return v4",
        "b0: v2 is used where it is not defined",
    );
    rejects(
        "v2: int = int.add v0 v0 unwind b1\n return v0\nb1(v3: exc):\n return v2",
        "b1: v2 is used where it is not defined",
    );
}
