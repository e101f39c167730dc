//! Every operation against CPython, and the examples of their documentation.

use exuvia_testing::operation::{Finding, compare, wrong_examples, wrong_here};
use exuvia_testing::oracle::Oracle;

/// The operations of whose examples CPython must run some.
const NEED_CPYTHON: &[&str] = &[];

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
    println!("{rows} rows agree, {left} were left to a more general rung");
    // Cases of functions compare these, which are parts of others, work on a list's memory or take what SQL has not.
    let named: Vec<&str> = include_str!("operations.txt").lines().collect();
    let missing: Vec<&&str> = skipped.iter().filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "not compared, and not named in operations.txt: {missing:?}");
    let compared: Vec<&&str> = named.iter().filter(|name| !skipped.contains(name)).collect();
    assert!(compared.is_empty(), "named in operations.txt, but compared or gone: {compared:?}");
    assert!(different.is_empty(), "{} operations differ:\n\n{}", different.len(), different.join("\n\n"));
    assert!(rows > 10_000, "only {rows} rows were compared");
}

#[test]
fn examples_are_what_cpython_answers() {
    let mut oracle = Oracle::start().unwrap();
    let wrong: Vec<String> = exuvia_ops::all().flat_map(|def| wrong_examples(def, &mut oracle).unwrap()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_are_what_exuvia_answers() {
    let (mut wrong, mut left) = (Vec::new(), Vec::new());
    for def in exuvia_ops::all() {
        let (others, unlifted) = wrong_here(def).unwrap_or_else(|error| panic!("{}: {error:#}", def.name));
        wrong.extend(others);
        left.extend((unlifted > 0).then_some(def.name));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(left, NEED_CPYTHON);
}
