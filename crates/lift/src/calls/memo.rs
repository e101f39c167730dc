//! Functions that keep their results (`functools.cache`, `lru_cache`).
//!
//! What is lifted is pure, so a function may be unfolded all the same. Where that would take much longer, in
//! recursions and for functions with loops, it becomes a function of its own that keeps its results by its
//! parameters ([`exuvia_ir::Function::keeps`]). One that stands in another function has a memo for each time
//! that its `def` runs, told by a number in a hidden variable of the function around it.

use crate::abs::{Abs, Closure, Enclosing};
use crate::bailout::Code;
use crate::tree::ast::{FunctionDef, Name, Stmt, StmtKind};
use crate::walk::lifter::{Ctx, Lift, Lifter};
use exuvia_ir::Type;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The kinds of keys that may be equal though they are of different classes, as bits.
const INT: u8 = 1;
const BOOL: u8 = 2;
const RECORD: u8 = 4;

/// Functions that see each other, one the next, that are looked at.
const DEEPEST: usize = 8;

/// The hidden variable with the number of a function's memo.
pub(crate) fn number_of(def: &FunctionDef) -> Name {
    format!(".memo of {} at {}", def.name, def.span.start).into()
}

/// Whether a body has a loop, so that its results are worth keeping.
fn has_loop(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. })
            || stmt.kind.blocks().into_iter().any(has_loop)
    })
}

/// A call of a function that keeps its results.
pub(crate) struct KeptCall {
    /// How many values there were.
    pub values: usize,
    /// What it read around it.
    around: Vec<(Name, Abs)>,
}

impl Lifter<'_> {
    /// The function that keeps the results of another.
    pub fn cached(&mut self, closure: &Rc<Closure>, keeps_all: bool) -> Lift<Abs> {
        if !keeps_all {
            self.world.bounded.insert(Arc::as_ptr(&closure.def));
        }
        if let Enclosing::Live(depth) = closure.enclosing {
            let turns = |ctx: &Ctx| matches!(ctx, Ctx::Loop { depth: at, .. } | Ctx::Body { depth: at, .. } if *at == depth + 1);
            let name = number_of(&closure.def);
            // In a loop the functions of earlier turns would have the number of the last, and so would one of
            // which two are made.
            let is_one_of_several = self.contexts.iter().any(turns) || self.frames[depth].vars.contains_key(&name);
            let number = match exuvia_ops::by_name("memo.new") {
                Some(def) if !self.module_mode && !is_one_of_several => Abs::Dyn(self.operation(def, Vec::new())?),
                _ => Abs::Unbound,
            };
            self.frames[depth].vars.insert(name, number);
        }
        Ok(Abs::Func(Rc::new(Closure { cached: true, ..Closure::clone(closure) })))
    }

    /// The number of the memo of a function that stands in another.
    pub fn number(&self, closure: &Closure) -> Option<Abs> {
        let name = number_of(&closure.def);
        let mut enclosing = &closure.enclosing;
        loop {
            // In its own specialisation a function stands in itself.
            let (vars, outer) = match enclosing {
                Enclosing::Module => return None,
                Enclosing::Live(depth) => self.frames.get(*depth).map(|frame| (&frame.vars, &frame.enclosing))?,
                Enclosing::Ended(captured) => (&captured.vars, &captured.enclosing),
            };
            if let Some(number) = vars.get(&name) {
                return (self.type_of(number) == Some(Type::Int)).then(|| number.clone());
            }
            enclosing = outer;
        }
    }

    /// Whether a call of a function that keeps its results is to become a call of one that does. One that
    /// reads variables around it may keep what they were.
    pub fn is_kept(&self, closure: &Closure) -> bool {
        let is_recursive = || crate::tree::scope::mentions(&closure.def, &closure.def.name).is_some();
        let sees = || match closure.enclosing {
            Enclosing::Module => false,
            Enclosing::Live(_) => self.reads_data(closure, DEEPEST),
            Enclosing::Ended(_) => self.number(closure).is_some() && self.reads_data(closure, DEEPEST),
        };
        closure.cached && !self.module_mode && (sees() || is_recursive())
    }

    /// Refuses a call of a function that keeps its results where what it reads around it may have changed
    /// since another one: which of its results were kept then depends on how it was called, and on all
    /// that it was called with.
    pub fn refuse_changes(&mut self, closure: &Rc<Closure>, is_plain: bool) -> Lift<()> {
        if closure.def.generator {
            return self.bail(Code::StaticValue, format!("{} keeps a generator", closure.def.name));
        }
        let mut around = Vec::new();
        match closure.enclosing {
            Enclosing::Module => return Ok(()),
            _ if self.module_mode => return Ok(()),
            _ => self.data_around(closure, DEEPEST, &mut around),
        }
        let may_change = around.iter().any(|(_, value)| self.is_changeable(value));
        let is_told_apart = is_plain && !self.world.bounded.contains(&Arc::as_ptr(&closure.def));
        let has_number = matches!(closure.enclosing, Enclosing::Live(_)) || self.number(closure).is_some();
        if may_change && !(is_told_apart && has_number) {
            let reason = format!("{} keeps its results and reads what may change around it", closure.def.name);
            return self.bail(Code::StaticValue, reason);
        }
        let Some(Abs::Dyn(number)) = self.number(closure) else { return Ok(()) };
        let values = self.b.function.values.len();
        match self.kept_calls.get(&number) {
            Some(call) => {
                let is_same = |(a, b): (&(Name, Abs), &(Name, Abs))| a.0 == b.0 && a.1.same(&b.1);
                if call.around.len() == around.len() && call.around.iter().zip(&around).all(is_same) {
                    return Ok(());
                }
                let reason = format!("{} keeps its results and variables around it change", closure.def.name);
                self.bail(Code::StaticValue, reason)
            }
            None => {
                self.kept_calls.insert(number, KeptCall { values, around });
                Ok(())
            }
        }
    }

    /// The variables that a function reads around it, itself or by functions that it sees.
    fn data_around(&self, closure: &Closure, within: usize, out: &mut Vec<(Name, Abs)>) {
        for (name, (_, value)) in self.around(closure) {
            if let (Abs::Func(other), true) = (&value, within > 0) {
                self.data_around(other, within - 1, out);
            }
            out.push((name, value));
        }
    }

    /// Whether code can change what a value is, rather than which value a variable holds.
    fn is_changeable(&self, value: &Abs) -> bool {
        match value {
            Abs::Func(_) | Abs::Builtin(_) | Abs::Module(_) | Abs::ExcClass(_) | Abs::Class(_) | Abs::Unbound => false,
            Abs::Instance(object) => object.module.is_none() && &*object.class.name != "frozenset",
            Abs::Tuple(items) => items.iter().any(|item| self.is_changeable(item)),
            value => self.type_of(value).is_none_or(|ty| ty.holds_list() || ty.holds(&Type::is_object)),
        }
    }

    /// Whether a function reads variables around it, itself or by functions that it sees, that may change.
    fn reads_data(&self, closure: &Closure, within: usize) -> bool {
        self.around(closure).values().any(|(_, value)| match value {
            Abs::Func(other) => within == 0 || self.reads_data(other, within - 1),
            Abs::Builtin(_) | Abs::Module(_) | Abs::ExcClass(_) | Abs::Class(_) => false,
            _ => true,
        })
    }

    /// Whether a function has a loop and keeps its results.
    pub fn is_worth_keeping(&self, closure: &Closure) -> bool {
        closure.cached && has_loop(&closure.def.body)
    }

    /// Refuses arguments of a function that keeps its results by which another call may have kept
    /// one: 1, 1.0 and True are one key, and so are 0.0 and -0.0.
    pub fn refuse_cache(&mut self, def: &Arc<FunctionDef>, vars: &BTreeMap<Name, Abs>) -> Lift<()> {
        fn kinds(ty: &Type) -> Option<u8> {
            Some(match ty {
                Type::None | Type::Str => 0,
                Type::Int => INT,
                Type::Bool => BOOL,
                Type::Record(class, _) if class.is_value() => RECORD,
                Type::Union(types) => types.iter().try_fold(0, |all, ty| Some(all | kinds(ty)?))?,
                // The places of its items are no parameters, of which all calls are known.
                Type::Tuple(types) => {
                    let of_items = types.iter().map(kinds).collect::<Option<Vec<_>>>()?;
                    of_items.into_iter().all(|of| of == 0 || of == INT).then_some(0)?
                }
                _ => return None,
            })
        }
        for (name, value) in vars {
            let found = self.type_of(value).and_then(|ty| kinds(&ty));
            let all = self.world.kept_by.entry((Arc::as_ptr(def), name.clone())).or_default();
            *all |= found.unwrap_or_default();
            if found.is_none() || all.count_ones() > 1 {
                return self.bail(Code::StaticValue, format!("{} keeps results by such an argument", def.name));
            }
        }
        Ok(())
    }

    /// Refuses results that may change: the next call would see that.
    pub fn refuse_kept(&mut self, def: &FunctionDef, result: &Abs) -> Lift<()> {
        match result {
            Abs::Const(_) | Abs::Unbound => return Ok(()),
            // Its members have hashes, and nothing changes it.
            Abs::Instance(set) if set.class.prelude && &*set.class.name == "frozenset" => return Ok(()),
            _ => {}
        }
        match self.type_of(result) {
            Some(ty) if !ty.holds_list() && !ty.holds(&Type::is_object) => Ok(()),
            _ => self.bail(Code::StaticValue, format!("{} keeps results that may change", def.name)),
        }
    }
}
