//! Shared by the tests of the passes.

use crate::Pass;
use crate::context::Context;
use expect_test::Expect;
use exuvia_ir::Module;

/// Parses a module and verifies it.
pub(crate) fn module(text: &str) -> Module {
    let module = exuvia_ir::parse_module(text, &|name| exuvia_ops::by_name(name).map(|def| def.name));
    let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
    crate::verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module
}

/// Runs passes over a module and compares what comes out. `input` is one function without
/// its first line, or a module.
#[track_caller]
pub(crate) fn check(passes: &[Pass], input: &str, expect: Expect) {
    let mut module = module(input);
    let mut context = Context::new();
    for pass in passes {
        crate::run(&mut module, &mut context, *pass, &[]);
    }
    for function in &mut module.functions {
        crate::blocks::number_values(function);
    }
    expect.assert_eq(&module.to_string());
}
