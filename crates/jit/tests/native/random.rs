//! Random modules: native code agrees with the evaluator, or leaves the row to it.

use crate::support::{Row, SPEED, column, column_type, context, op, rows};
use exuvia_eval::{Failure, random};
use exuvia_ir::{Builder, FuncId, Function, IntWidth, Module, Object, Opcode, Raise, Terminator, Type, Value};
use exuvia_jit::{Kernel, Options};
use exuvia_ops::cx::Cx;
use exuvia_ops::def::status;

/// A way from a value to a scalar part of it that may be absent.
#[derive(Clone, Debug)]
enum Step {
    Field(usize),
    Len,
    Item(i64),
    /// The value as that alternative.
    As(Type),
    /// Whether it is that alternative.
    IsA(Type),
}

/// The parts of a value of that type that tell it apart.
fn parts(ty: &Type) -> Vec<Vec<Step>> {
    let after = |step: Step, ty: &Type| -> Vec<Vec<Step>> {
        parts(ty)
            .into_iter()
            .map(|mut rest| {
                rest.insert(0, step.clone());
                rest
            })
            .collect()
    };
    match ty {
        Type::Tuple(types) | Type::Record(_, types) => {
            types.iter().enumerate().flat_map(|(at, ty)| after(Step::Field(at), ty)).collect()
        }
        Type::List(element) => {
            let mut all = vec![vec![Step::Len]];
            all.extend([0, 2].into_iter().flat_map(|at| after(Step::Item(at), element)));
            all
        }
        Type::Union(types) => types
            .iter()
            .flat_map(|ty| {
                let mut all = vec![vec![Step::IsA(ty.clone())]];
                if *ty != Type::None {
                    all.extend(after(Step::As(ty.clone()), ty));
                }
                all
            })
            .collect(),
        _ => vec![vec![]],
    }
}

/// The part of an object; `None` where there is none.
fn part(object: &Object, path: &[Step]) -> Object {
    let Some((step, rest)) = path.split_first() else { return object.clone() };
    let matches = |ty: &Type| exuvia_ir::is_constant_of(object, ty);
    match (step, object) {
        (Step::Field(at), Object::Tuple(items)) => part(&items[*at], rest),
        (Step::Field(at), Object::Record(record)) => part(&record.fields[*at], rest),
        (Step::Len, Object::List(list)) => Object::int(list.items().len() as i64),
        (Step::Item(at), Object::List(list)) => {
            list.items().get(*at as usize).map_or(Object::None, |item| part(item, rest))
        }
        (Step::As(ty), object) => {
            if matches(ty) {
                part(object, rest)
            } else {
                Object::None
            }
        }
        (Step::IsA(ty), _) => Object::Bool(matches(ty)),
        other => panic!("no part {other:?}"),
    }
}

/// Code that takes the part of a value and returns it.
fn return_part(b: &mut Builder, value: Value, path: &[Step]) {
    let ty = b.function.ty(value).clone();
    let ret = b.function.ret.clone();
    let absent = |b: &mut Builder| {
        let none = b.constant(Object::None);
        let none = b.wrap(none, &ret);
        b.end(Terminator::Return(none));
    };
    let Some((step, rest)) = path.split_first() else {
        let value = b.wrap(value, &ret);
        b.end(Terminator::Return(value));
        return;
    };
    match (step, &ty) {
        (Step::Field(at), Type::Tuple(types) | Type::Record(_, types)) => {
            let field = b.inst(Opcode::Field(*at as u32), vec![value], types[*at].clone(), None);
            return_part(b, field, rest);
        }
        (Step::Len, _) => {
            let len = op(b, "list.len", vec![value], Type::Int);
            return_part(b, len, &[]);
        }
        (Step::Item(at), Type::List(element)) => {
            let at = b.constant(Object::int(*at));
            let len = op(b, "list.len", vec![value], Type::Int);
            let inside = op(b, "int.lt", vec![at, len], Type::Bool);
            let (yes, no) = b.branch(inside);
            b.block = no;
            absent(b);
            b.block = yes;
            let item = op(b, "list.get_unchecked", vec![value, at], (**element).clone());
            return_part(b, item, rest);
        }
        (Step::As(wanted), _) => {
            let is = b.inst(Opcode::Is(wanted.clone()), vec![value], Type::Bool, None);
            let (yes, no) = b.branch(is);
            b.block = no;
            absent(b);
            b.block = yes;
            let value = b.inst(Opcode::Unwrap, vec![value], wanted.clone(), None);
            return_part(b, value, rest);
        }
        (Step::IsA(wanted), _) => {
            let is = b.inst(Opcode::Is(wanted.clone()), vec![value], Type::Bool, None);
            return_part(b, is, &[]);
        }
        other => panic!("no code for {other:?}"),
    }
}

/// The scalar type at the end of a path.
fn part_type(ty: &Type, path: &[Step]) -> Type {
    let Some((step, rest)) = path.split_first() else { return ty.clone() };
    match (step, ty) {
        (Step::Field(at), Type::Tuple(types) | Type::Record(_, types)) => part_type(&types[*at], rest),
        (Step::Len, _) => Type::Int,
        (Step::Item(_), Type::List(element)) => part_type(element, rest),
        (Step::As(wanted), _) => part_type(wanted, rest),
        (Step::IsA(_), _) => Type::Bool,
        other => panic!("no type for {other:?}"),
    }
}

/// The scalars that an object is made of.
fn scalars(object: &Object, out: &mut Vec<Object>) {
    match object {
        Object::Tuple(items) => items.iter().for_each(|item| scalars(item, out)),
        Object::Record(record) => record.fields.iter().for_each(|field| scalars(field, out)),
        Object::List(list) => list.items().iter().for_each(|item| scalars(item, out)),
        Object::None => {}
        other => out.push(other.clone()),
    }
}

/// Code that makes an object of the same shape out of the next parameters.
fn rebuild(b: &mut Builder, object: &Object, ty: &Type, next: &mut usize) -> Value {
    if let Type::Union(alternatives) = ty {
        let exact = alternatives.iter().find(|ty| exuvia_ir::is_constant_of(object, ty)).unwrap();
        let value = rebuild(b, object, exact, next);
        return b.wrap(value, ty);
    }
    match (object, ty) {
        (Object::None, _) => b.constant(Object::None),
        (Object::Tuple(items), Type::Tuple(types)) => {
            let items = items.iter().zip(types.iter()).map(|(item, ty)| rebuild(b, item, ty, next)).collect();
            b.inst(Opcode::Tuple, items, ty.clone(), None)
        }
        (Object::Record(record), Type::Record(class, types)) => {
            let fields =
                record.fields.iter().zip(types.iter()).map(|(field, ty)| rebuild(b, field, ty, next)).collect();
            b.inst(Opcode::Record(*class), fields, ty.clone(), None)
        }
        (Object::List(list), Type::List(element)) => {
            let items = list.items().iter().map(|item| rebuild(b, item, element, next)).collect();
            b.inst(Opcode::List, items, ty.clone(), None)
        }
        _ => {
            *next += 1;
            b.param(*next - 1)
        }
    }
}

/// The module with a row function that calls its function 0 with arguments made out of
/// columns and returns a part of the result.
fn driven(module: &Module, args: &[Object], path: &[Step]) -> (Module, Vec<Object>) {
    let mut flat = Vec::new();
    args.iter().for_each(|arg| scalars(arg, &mut flat));
    let params: Vec<Type> = flat.iter().map(Object::ty).collect();
    let callee = &module.functions[0];
    let part_type = part_type(&callee.ret, path).optional();
    let mut b = Builder::new("driver", &params, part_type);
    let mut next = 0;
    let types = callee.param_types();
    let values = args.iter().zip(&types).map(|(arg, ty)| rebuild(&mut b, arg, ty, &mut next)).collect();
    let result = b.inst(Opcode::Call(FuncId(1)), values, callee.ret.clone(), None);
    return_part(&mut b, result, path);
    let mut functions: Vec<Function> = vec![b.function];
    functions.extend(module.functions.iter().cloned());
    for function in &mut functions[1..] {
        for inst in function.blocks.iter_mut().flat_map(|block| &mut block.insts) {
            if let Opcode::Call(callee) = &mut inst.op {
                callee.0 += 1;
            }
        }
    }
    (Module { functions }, flat)
}

fn same(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Float(a), Object::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

/// Runs a module natively and in the evaluator. Counts rows: native ones, all.
fn check(seed: u64, options: &Options, optimize: bool, counts: &mut (usize, usize)) {
    let module = random::module(seed);
    let args = random::arguments(&module, seed);
    let mut fuel = 100_000;
    let expected = exuvia_eval::call(&module, &args, &mut Cx::for_folding(), &mut fuel);
    // The evaluator may have changed lists among its arguments.
    let args = random::arguments(&module, seed);
    for path in parts(&module.functions[0].ret) {
        let (mut driven, flat) = driven(&module, &args, &path);
        if optimize {
            exuvia_opt::optimize(&mut driven, &[], options.width, exuvia_opt::LARGE);
            driven = exuvia_opt::with_places(&driven).unwrap_or(driven);
        }
        let params: Vec<_> = flat.iter().map(|object| column_type(&object.ty())).collect();
        let kernel = Kernel::compile(&driven, &params, &column_type(&driven.functions[0].ret), options)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{driven}"));
        // Three rows, so that what one leaves behind could disturb another.
        let columns: Vec<_> =
            flat.iter().zip(&params).map(|(object, ty)| column(ty, &vec![object.clone(); 3])).collect();
        let output = kernel.run(&columns, 3, &mut context()).unwrap();
        for native in rows(output) {
            let text =
                || format!("seed {seed} {path:?}: {expected:?}, natively {native:?}\n{driven}\n{}", kernel.lowered());
            counts.1 += 1;
            match (&expected, &native) {
                (Err(Failure { raise: Raise::Bailout(_) | Raise::Interrupted, .. }), _) => {}
                (_, Row::Exit(status::BAILOUT | status::LEAVE)) => {}
                (Err(Failure { raise: Raise::Exception { kind, .. }, .. }), Row::Exit(code)) => {
                    assert_eq!(*kind as u64, *code, "{}", text());
                    counts.0 += 1;
                }
                (Ok(expected), Row::Value(native)) => {
                    assert!(same(&part(expected, &path), native), "{}", text());
                    counts.0 += 1;
                }
                _ => panic!("{}", text()),
            }
        }
    }
}

fn share(options: &Options, seeds: std::ops::Range<u64>) -> f64 {
    let mut counts = (0, 0);
    seeds.for_each(|seed| check(seed, options, false, &mut counts));
    counts.0 as f64 / counts.1 as f64
}

#[test]
fn native_code_agrees_with_the_evaluator() {
    let native = share(&SPEED, 0..seeds());
    assert!(native > 0.6, "only {native} of the rows are native");
}

#[test]
fn the_lower_level_agrees_too() {
    share(&Options { opt_level_speed: false, ..SPEED }, 1_000_000..1_000_000 + seeds() / 2);
}

#[test]
fn every_guard_taken_agrees_too() {
    share(&Options { fail_guards: true, ..SPEED }, 2_000_000..2_000_000 + seeds() / 2);
}

/// What a loop gives back is written over by what comes next.
#[test]
fn memory_given_back_at_each_turn_agrees_too() {
    let options = Options { each_turn: true, ..SPEED };
    share(&options, 5_000_000..5_000_000 + seeds());
    let mut counts = (0, 0);
    (5_000_000..5_000_000 + seeds()).for_each(|seed| check(seed, &options, true, &mut counts));
    assert!(counts.0 * 10 > counts.1 * 6, "only {} of {} rows are native", counts.0, counts.1);
}

#[test]
fn ints_of_more_bits_agree_too() {
    for (width, first) in [(IntWidth::Mixed, 3_000_000), (IntWidth::Double, 4_000_000)] {
        let options = Options { width, ..SPEED };
        share(&options, first..first + seeds());
        let mut counts = (0, 0);
        (first..first + seeds()).for_each(|seed| check(seed, &options, true, &mut counts));
        assert!(counts.0 * 10 > counts.1 * 6, "only {} of {} rows are native", counts.0, counts.1);
    }
}

/// How many modules a test takes; more in a long run.
fn seeds() -> u64 {
    std::env::var("EXUVIA_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// What the optimiser claims (integers that fit, indices within a list) holds natively.
#[test]
fn optimised_modules_agree_too() {
    let mut counts = (0, 0);
    (2_000_000..2_000_000 + seeds()).for_each(|seed| check(seed, &SPEED, true, &mut counts));
    assert!(counts.0 * 10 > counts.1 * 6, "only {} of {} rows are native", counts.0, counts.1);
}
