//! The lifter: from Python source and argument types to IR.
//!
//! A partial evaluator over the syntax tree. Values known while lifting (constants,
//! functions, modules, tuples of known shape) stay static (`abs`); the others become
//! IR. Conditions on static values take one branch, joins merge types, loops run to a
//! fixpoint of types. It is a pure function of its input: no I/O, no interpreter.
//!
//! What values do is not known to the walker (`walk`): it evaluates operands in Python's order and applies
//! operations (`walk::operate`), which `exuvia-ops` defines, or functions of the prelude, which are lifted like
//! user code. It decides itself what needs no more than classes, or has no run-time form: comparisons of
//! unrelated classes, iterators, ranges (`calls::built_ins`). Left out, and gone to CPython with a
//! [`Bailout`]: coroutines, most modules, and objects that a run-time value would
//! have to stand for. Objects of classes, dicts and sets live on a heap of their own while lifting
//! (`objects::heap`).

mod abs;
mod bailout;
mod border;
mod budget;
mod calls;
mod data;
mod module;
mod objects;
mod tree;
mod walk;
mod world;

pub use bailout::{Bailout, Code};
pub use border::{ColumnForm, SqlClass};
pub use budget::MAX_STEPS;
pub use calls::returns::SqlReturn;
pub use calls::specialise::Calls;
pub use tree::source::{Source, SourceError};
pub use tree::{ast, standard};

use abs::Abs;
use exuvia_ir::{Builder, Function, Module, Span, Type, Value};
use std::rc::Rc;
use walk::lifter::{Frame, Lift, Lifter, Returns, Scope, Stop, Vars};
use world::World;

/// The values over which the arguments may be spread, and the result: each field of a STRUCT is one.
const MAX_SPREAD: usize = 600;

/// A parameter of the handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// What its values are in Python.
    pub class: SqlClass,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Whether what its values hold can be.
    pub inner: bool,
}

/// How often lifting begins again.
const MAX_RESTARTS: u32 = 200;

/// A lifted handler.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// Its functions.
    pub module: Module,
    /// Whether the source's top level has a statement that was passed over, since the handler
    /// does not use what it assigns: that it raises nothing is not known.
    pub unchecked: bool,
    /// The steps that it took ([`MAX_STEPS`]).
    pub steps: u64,
    /// The attempts that it took: all but the last one found out what the next had to know.
    pub attempts: u32,
    /// Whether NaN among the floats of a result that is a whole column stands for NULL: it is a Series.
    pub nan_is_null: bool,
}

/// Lifts the handler of a source for arguments of those types. Function 0 of the module
/// takes the parameters over which each is spread ([`SqlClass::spread`]), a union with `none` where
/// it can be NULL, and returns a union of `none` and the result's type; for a STRUCT a tuple:
/// whether there is one, then its fields, in the same way.
///
/// # Errors
/// Why it cannot be lifted.
pub fn lift(source: &Source, params: &[Param], returns: &SqlReturn, calls: Calls) -> Result<Lifted, Bailout> {
    let mut world = World::new(calls, source);
    world.errors_are_null = returns.errors_are_null;
    loop {
        let lifted = match lift_once(&mut world, source, params, returns) {
            // Which exception or reason there is will show when all is known.
            Err(Stop::Bailout(bailout)) if bailout.code == Code::Budget => Err(Stop::Bailout(bailout)),
            // Dicts with tables may do.
            Err(Stop::Bailout(_)) if !world.stale && world.shaped.used && !world.shaped.off => {
                world.shaped.off = true;
                Err(Stop::Restart)
            }
            Ok(_) | Err(Stop::Bailout(_)) if world.stale => Err(Stop::Restart),
            other => other,
        };
        match lifted {
            Ok(module) => {
                return Ok(Lifted {
                    module,
                    unchecked: world.unchecked,
                    steps: world.budget.steps(),
                    attempts: world.restarts + 1,
                    nan_is_null: world.nan_is_null == Some(true),
                });
            }
            Err(Stop::Bailout(bailout)) => return Err(bailout),
            Err(Stop::Restart) => {
                world.restarts += 1;
                if world.restarts > MAX_RESTARTS {
                    let detail = "the types of the elements of lists do not settle";
                    return Err(Bailout::new(Code::Join, source.handler.span, detail));
                }
                world.stale = false;
                world.shaped.used = false;
                world.border.clear();
                world.modules.fill_with(world::ModuleScope::default);
                world.budget.take(1000);
                world.prelude.clear();
                world.functions.clear();
                world.values = 0;
                world.specialised.clear();
                world.returned.clear();
                world.sizes.clear();
                world.displays.clear();
                world.unfolded_only.clear();
                world.nan_is_null = None;
            }
        }
    }
}

fn lift_once(world: &mut World, source: &Source, params: &[Param], returns: &SqlReturn) -> Result<Module, Stop> {
    let module = module::run(world, &source.module, "")?;
    world.functions.push(None);
    let types: Vec<Type> = params.iter().flat_map(|param| param.class.spread(param.nullable, param.inner)).collect();
    let results = world.results_of(&returns.class);
    if types.len().max(results.len()) > MAX_SPREAD {
        let detail = format!("more than {MAX_SPREAD} fields of arguments or of a result");
        return Err(Bailout::new(Code::Budget, Span::default(), detail).into());
    }
    let result = match (&returns.class, &results[..]) {
        (SqlClass::Struct(_), results) => Type::Tuple(results.into()),
        (_, [result, ..]) => result.clone(),
        (_, []) => Type::None,
    };
    let b = Builder::new(source.python_name.clone(), &types, result);
    let args: Vec<Value> = (0..types.len()).map(|index| b.param(index)).collect();
    let scope = Scope {
        def: None,
        locals: std::sync::Arc::from([]),
        enclosing: abs::Enclosing::Module,
        module,
        path: 0,
        class_body: false,
        owner: None,
    };
    let frame = Frame::new(Vars::default(), scope);
    let mut lifter = Lifter::new(world, b, frame, Returns::Sql(returns.clone()));
    lifter.b.span = source.handler.span;
    lifter.handler(source, module, &args, params)?;
    lifter.seal();
    let function = lifter.b.function;
    world.functions[0] = Some(function);
    let functions: Option<Vec<Function>> = std::mem::take(&mut world.functions).into_iter().collect();
    match functions {
        Some(functions) => Ok(Module { functions }),
        None => Err(Bailout::new(Code::Recursion, Span::default(), "a function was not finished").into()),
    }
}

impl Lifter<'_> {
    /// Runs the handler's body in this function's own frame.
    fn handler(&mut self, source: &Source, module: usize, args: &[Value], params: &[Param]) -> Lift<()> {
        let def = source.handler.clone();
        let name: &str = &source.python_name;
        if source.called {
            return self.called_handler(source, module, args, params);
        }
        // Defaults were evaluated when the module ran; a bare body has none.
        let defaults = match self.world.modules[module].globals.get(name) {
            Some(Abs::Func(closure)) if std::sync::Arc::ptr_eq(&closure.def, &def) => closure.defaults.clone(),
            None if source.module.body.is_empty() => Vec::new(),
            _ => return self.bail(Code::ModuleBody, format!("{name} is bound to something else in the end")),
        };
        let closure = Rc::new(abs::Closure {
            def: def.clone(),
            module,
            enclosing: abs::Enclosing::Module,
            cached: false,
            defaults,
        });
        // Objects that arguments are live in the frame of the body.
        self.frames = vec![closure.frame(std::collections::BTreeMap::new(), 1)];
        self.with_arguments(&def, params, args, &mut |me, args| {
            let vars = me.bind(&closure, args, Vec::new())?;
            me.frames[0].vars.extend(vars);
            me.unfolding.push(closure.identity());
            me.stmts(&def.body)?;
            me.unfolding.pop();
            if me.live { me.leave_function(Abs::NONE) } else { Ok(()) }
        })
    }

    /// Calls what a decorator or an assignment bound the handler's name to.
    fn called_handler(&mut self, source: &Source, module: usize, args: &[Value], params: &[Param]) -> Lift<()> {
        let name: &str = &source.python_name;
        let handler = match self.world.modules[module].globals.get(name) {
            Some(handler @ Abs::Func(_)) => handler.clone(),
            Some(handler) if source.handler.decorators.is_empty() => handler.clone(),
            _ => match self.world.modules[module].failed.get(name) {
                Some(reason) => return Err(reason.clone().into()),
                None => return self.bail(Code::Handler, format!("{name} is decorated")),
            },
        };
        self.with_arguments(&source.handler, params, args, &mut |me, args| {
            let result = me.call_value(&handler, args, Vec::new())?;
            if me.live { me.leave_function(result) } else { Ok(()) }
        })
    }
}
