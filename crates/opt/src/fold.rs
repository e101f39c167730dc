//! Operations on constants are done now.
//!
//! Law: an operation that reads and writes nothing gives for constants what its own
//! evaluation gives. Where that raises or bails out the operation stays: it does so at
//! run time, at its place. A result that is mutable stays too, since each evaluation
//! makes another object. A list among the constants belongs to the module and is never
//! changed, so operations that read it fold as well.

use crate::known::Known;
use crate::simplify::Rewrite;
use exuvia_ir::{Inst, Int, Object};
use exuvia_ops::def::{Body, Effect, OpDef};
use std::time::Duration;

/// Bytes of a folded string and elements of a folded container: more would make the
/// code larger than the work that is saved.
const LARGEST: usize = 4096;

/// What operations may take that are done now and not at run time, and what an operation takes that is
/// not counted.
const MOST_FOLDING: Duration = Duration::from_millis(100);
const USUAL: Duration = Duration::from_millis(2);

pub(crate) fn op(known: &mut Known<'_>, inst: &Inst, def: &'static OpDef) -> Option<Rewrite> {
    if inst.result.is_none() || !matches!(def.effect, Effect::Pure | Effect::Read) {
        return None;
    }
    let args = inst.args.iter().map(|arg| known.constant(*arg).cloned()).collect::<Option<Vec<_>>>()?;
    if args.len() != def.params.len() {
        return None;
    }
    let context = &mut *known.context;
    context.cx.reset();
    let value = match def.body {
        Body::Core(_) => (def.eval)(&mut context.cx, &args),
        _ if context.folding > MOST_FOLDING => return None,
        // How long a search takes shows only when it is made, and each pass makes it again.
        _ => {
            let (value, took) = context.cx.timed(def, &args, MOST_FOLDING);
            if took > USUAL {
                context.folding += took;
            }
            value
        }
    };
    let value = value.ok()?;
    (is_immutable(&value) && size(&value) <= LARGEST).then_some(Rewrite::Const(value))
}

/// Whether a new object of that value is as good as any other.
fn is_immutable(object: &Object) -> bool {
    match object {
        Object::None | Object::Bool(_) | Object::Int(_) | Object::Float(_) | Object::Str(_) => true,
        Object::Tuple(items) => items.iter().all(is_immutable),
        Object::Pattern(_) => true,
        Object::Record(record) => record.fields.iter().all(is_immutable),
        Object::List(_) | Object::Dict(_) | Object::Set(_) | Object::Exc(_) | Object::Unbound => false,
    }
}

fn size(object: &Object) -> usize {
    match object {
        Object::Int(Int::Big(value)) => (value.bits() / 8) as usize,
        Object::Str(text) => text.len(),
        Object::Tuple(items) => items.iter().map(size).sum::<usize>() + items.len(),
        Object::None
        | Object::Bool(_)
        | Object::Int(Int::Small(_))
        | Object::Float(_)
        | Object::List(_)
        | Object::Dict(_)
        | Object::Set(_)
        | Object::Pattern(_)
        | Object::Record(_)
        | Object::Exc(_)
        | Object::Unbound => 8,
    }
}
