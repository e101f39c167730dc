//! What calls of a module's functions do besides giving a value.
//!
//! A summary is the union of what the function's instructions do, calls among them by the
//! summaries of their callees: the least fixpoint over the call graph. The passes only take
//! effects away, so that a summary made before them holds after them.

use crate::context::Context;
use exuvia_ir::{Function, Module, Opcode, Terminator};

/// What a call of a function may do besides giving a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// It raises an exception.
    pub(crate) raises: bool,
    /// It changes an object that its caller may see.
    pub(crate) writes: bool,
    /// It leaves native code, or takes a time that is not bounded: it has a loop, or recurses.
    pub(crate) stays: bool,
}

impl Summary {
    /// Of a function about which nothing is known.
    pub(crate) const UNKNOWN: Summary = Summary { raises: true, writes: true, stays: true };

    /// Whether a call whose result nobody uses may go.
    pub(crate) fn is_pure(self) -> bool {
        self == Summary { raises: false, writes: false, stays: false }
    }

    fn join(self, other: Summary) -> Summary {
        Summary {
            raises: self.raises || other.raises,
            writes: self.writes || other.writes,
            stays: self.stays || other.stays,
        }
    }
}

/// The summaries of a module's functions.
pub(crate) fn of(module: &Module, context: &mut Context) -> Vec<Summary> {
    let (order, recursive) = crate::inline::callees_first(module);
    let first = |recursive: &bool| Summary { raises: false, writes: false, stays: *recursive };
    context.summaries = recursive.iter().map(first).collect();
    loop {
        let mut grown = false;
        for id in &order {
            let old = context.summaries[id.index()];
            let new = old.join(one(&module.functions[id.index()], context));
            context.summaries[id.index()] = new;
            grown |= new != old;
        }
        if !grown {
            return std::mem::take(&mut context.summaries);
        }
    }
}

fn one(function: &Function, context: &mut Context) -> Summary {
    // What a call keeps, a later one finds.
    let mut summary = Summary { raises: false, writes: function.keeps.is_some(), stays: false };
    for block in &function.blocks {
        for inst in &block.insts {
            summary.raises |= inst.unwind.is_none() && context.may_raise(inst);
            summary.writes |= context.may_write(inst);
            // What raises is counted already.
            summary.stays |= match inst.op {
                Opcode::Call(callee) => context.summary(callee).stays,
                _ => {
                    !context.is_removable(inst) && !context.may_raise(inst) && !context.may_write(inst)
                        || context.def_of(inst).is_some_and(|def| def.bails != exuvia_ops::def::Bails::Never)
                }
            };
        }
        match block.term {
            Terminator::Raise(..) | Terminator::Reraise(..) => summary.raises = true,
            Terminator::Bailout(..) => summary.stays = true,
            Terminator::Jump(_)
            | Terminator::Branch(..)
            | Terminator::Return(_)
            | Terminator::Open
            | Terminator::Unreachable => {}
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::{Summary, of};
    use crate::context::Context;
    use crate::testing::module;

    #[test]
    fn effects_come_up_the_call_graph() {
        let module = module(
            r#"
fn f0 "f"(v0: int, v1: list[int]) -> int {
b0:
  v2: int = call f1 v0
  v3: int = call f3 v2
  v4: int = call f2 v0 v1
  return v4
}
fn f1 "g"(v0: int) -> int {
b0:
  v1: int = call f4 v0 unwind b1(v0)
  return v1
b1(v2: exc, v3: int):
  return v3
}
fn f2 "h"(v0: int, v1: list[int]) -> int {
b0:
  list.append v1 v0
  return v0
}
fn f3 "k"(v0: int) -> int {
b0:
  v1: int = call f3 v0
  return v1
}
fn f4 "m"(v0: int) -> int {
b0:
  v1: int = int.mod v0 v0
  return v1
}"#,
        );
        let found = of(&module, &mut Context::new());
        let summary = |raises, writes, stays| Summary { raises, writes, stays };
        assert!(!found[0].raises && found[0].writes && found[0].stays, "{found:?}");
        assert!(!found[1].raises && !found[1].writes, "{found:?}");
        assert!(found[2].writes && !found[2].raises, "{found:?}");
        assert_eq!(found[3], summary(false, false, true), "{found:?}");
        assert!(found[4].raises && !found[4].writes, "{found:?}");
    }
}
