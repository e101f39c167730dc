//! Classes whose `__init__` makes objects of them: `self.left = Tree(lo, mid)`.
//!
//! Making an object is unfolded where the class is called, as any call is, so that a call within has to
//! recurse. Were `__init__` what recurses, it would be given an object without attributes, which would all
//! come late (`escape.rs`). So what recurses is a function that makes and returns the object:
//! `def Tree(lo, hi): return Tree(lo, hi)`.

use crate::abs::{Abs, Closure, Enclosing};
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::{Expr, ExprKind, FunctionDef, Name, Params, Stmt, StmtKind};
use crate::walk::lifter::Lifter;
use std::rc::Rc;
use std::sync::Arc;

/// The parameter that holds the class.
const CLASS: &str = ".class";

impl Lifter<'_> {
    /// The function that makes an object of a class, if its `__init__` is being lifted and can be called so.
    pub fn constructor(&mut self, class: &Rc<ClassObj>) -> Option<Rc<Closure>> {
        let Some((_, Member::Value(Abs::Func(init)))) = ClassObj::find(class, "__init__") else { return None };
        if class.prelude || self.module_mode || !self.unfolding.contains(&init.identity()) {
            return None;
        }
        let def = match self.world.constructors.get(&class.key) {
            Some(def) => Arc::clone(def),
            None => {
                let def = Arc::new(definition(&class.name, &init.def)?);
                self.world.constructors.insert(class.key.clone(), Arc::clone(&def));
                self.world.made.push(Arc::clone(&def));
                def
            }
        };
        let mut defaults = init.defaults.clone();
        defaults.push((CLASS.into(), Abs::Class(Rc::clone(class))));
        Some(Rc::new(Closure { def, module: init.module, enclosing: Enclosing::Module, cached: false, defaults }))
    }
}

/// The function, from the `__init__` of the class; `None` where that takes any number of arguments.
fn definition(class: &Name, init: &FunctionDef) -> Option<FunctionDef> {
    let Params { positional, positional_only, rest: None, keyword, keyword_rest: None } = &init.params else {
        return None;
    };
    let at = |kind| Expr { kind, span: init.span };
    let variable = |name: &Name| at(ExprKind::Name(name.clone()));
    let taken =
        |params: &[(Name, Option<Expr>)]| -> Vec<_> { params.iter().map(|(name, _)| (name.clone(), None)).collect() };
    let call = at(ExprKind::Call {
        func: Box::new(variable(&CLASS.into())),
        args: positional.iter().skip(1).map(|(name, _)| variable(name)).collect(),
        keywords: keyword.iter().map(|(name, _)| (Some(name.clone()), variable(name))).collect(),
    });
    let body = vec![Stmt { kind: StmtKind::Return(Some(call)), span: init.span }];
    let mut keyword = taken(keyword);
    keyword.push((CLASS.into(), None));
    let params = Params {
        positional: taken(positional.get(1..)?),
        positional_only: positional_only.saturating_sub(1),
        keyword,
        ..Params::default()
    };
    let locals = crate::tree::scope::locals(&params, &body);
    Some(FunctionDef { params, body, locals: locals.into(), ..FunctionDef::empty(class.clone(), init.span) })
}
