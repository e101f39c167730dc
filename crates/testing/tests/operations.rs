//! Every operation against CPython, and the examples of their documentation.

use exuvia_testing::operation::{Finding, compare, wrong_examples};
use exuvia_testing::oracle::Oracle;

#[test]
fn operations_agree_with_cpython() {
    let mut oracle = Oracle::start().unwrap();
    let (mut rows, mut left, mut skipped) = (0, 0, vec![]);
    let mut different = vec![];
    for def in exuvia_ops::all() {
        match compare(def, &mut oracle).unwrap_or_else(|error| panic!("{}: {error:#}", def.name)) {
            Finding::Same(same, bailed) => {
                rows += same;
                left += bailed;
            }
            Finding::Skipped => skipped.push(def.name),
            Finding::Different(text) => different.push(text),
        }
    }
    println!("{rows} rows agree, {left} were left to a more general rung; not compared: {}", skipped.join(", "));
    assert!(different.is_empty(), "{} operations differ:\n\n{}", different.len(), different.join("\n\n"));
    assert!(rows > 10_000, "only {rows} rows were compared");
}

#[test]
fn examples_are_what_cpython_answers() {
    let mut oracle = Oracle::start().unwrap();
    let wrong: Vec<String> = exuvia_ops::all().flat_map(|def| wrong_examples(def, &mut oracle).unwrap()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
