//! Every pass, and all of them together, leave the meaning of random modules as it was.

use crate::context::Context;
use exuvia_eval::{Program, random};
use exuvia_ir::{IntWidth, Module};
use exuvia_ops::cx::Cx;

/// Modules tried; `EXUVIA_RANDOM` asks for more.
fn rounds() -> u64 {
    std::env::var("EXUVIA_RANDOM").ok().and_then(|count| count.parse().ok()).unwrap_or(300)
}

fn run(module: &Module, seed: u64) -> Vec<Result<exuvia_ir::Object, exuvia_eval::Failure>> {
    let program = Program::new(module);
    let call = |round| {
        let args = random::arguments(module, seed.wrapping_mul(31) + round);
        program.call(&args, &mut Cx::for_folding(), &mut 100_000)
    };
    (0..8).map(call).collect()
}

fn compare(before: &Module, after: &Module, seed: u64, what: &str) {
    let (old, new) = (run(before, seed), run(after, seed));
    for (round, (old, new)) in old.iter().zip(&new).enumerate() {
        if !random::agrees(old, new) {
            let args = random::arguments(before, seed.wrapping_mul(31) + round as u64);
            panic!("{what}, seed {seed}, arguments {args:?}\n{old:?}\n{new:?}\n{before}\n{after}");
        }
    }
}

#[test]
fn random_modules_keep_their_meaning() {
    let (mut values, mut places) = (0, 0);
    for seed in 0..rounds() {
        let mut module = random::module(seed);
        let given = module.clone();
        if let Err(error) = crate::verify(&module) {
            panic!("{error}\n{module}");
        }
        values += run(&module, seed).iter().filter(|outcome| outcome.is_ok()).count() as u64;
        let mut context = Context::new();
        crate::inline::run(&mut module, crate::LARGE, &mut context, |_, _, _| {});
        compare(&given, &module, seed, "inlining");
        for pass in crate::pipeline() {
            let before = module.clone();
            crate::run(&mut module, &mut context, pass, &[]);
            compare(&before, &module, seed, pass.0);
        }
        // Both panic where an operation that was said to fit in 64 bits does not.
        let widths = [(IntWidth::Word, Program::with_64_bits as fn(&_) -> _), (IntWidth::Double, Program::with_claims)];
        for (width, prepare) in widths {
            let mut whole = given.clone();
            crate::optimize(&mut whole, &[], width, crate::LARGE);
            compare(&given, &whole, seed, "all passes");
            if let Some(placed) = crate::with_places(&whole) {
                places += placed.to_string().matches(" place.").count() as u64;
                compare(&given, &placed, seed, "places");
                whole = placed;
            }
            let native = prepare(&whole);
            for round in 0..8 {
                let args = random::arguments(&whole, seed.wrapping_mul(31) + round);
                let _ = native.call(&args, &mut Cx::for_folding(), &mut 100_000);
            }
        }
    }
    assert!(places > rounds(), "{places} operations on places");
    // Were nearly all to raise or bail out, the comparison would say little.
    assert!(values > rounds() * 8 / 3, "{values} of {} calls return a value", rounds() * 8);
}
