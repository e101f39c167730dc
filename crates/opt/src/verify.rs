//! The verifier with the typing of operations filled in.

use exuvia_ir::{Module, Type, VerifyError};
use exuvia_ops::core::CoreOp;
use exuvia_ops::def::{Body, Kind};

/// Checks a module; see [`exuvia_ir::verify`].
///
/// # Errors
/// The first broken invariant.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    exuvia_ir::verify(module, &op_typing)
}

/// The type of an operation's result for operands of those types, all conversions done
/// and all defaults filled in.
///
/// # Errors
/// Why it does not take them.
pub fn op_typing(name: &str, args: &[Type]) -> Result<Type, String> {
    let def = exuvia_ops::by_name(name).ok_or("an unknown operation")?;
    if args.len() != def.params.len() {
        return Err(format!("{} operands instead of {}", args.len(), def.params.len()));
    }
    for (param, ty) in def.params.iter().zip(args) {
        // What may be any value may be a union as well.
        let fits = (param.kind == Kind::Any && *ty != Type::Unbound)
            || (param.kind.accepts(ty) && (param.kind.converts_to(ty).is_none() || is_conversion(def.body)));
        if !fits {
            return Err(format!("{ty} for {:?}", param.kind));
        }
    }
    if let (Body::Core(CoreOp::ListAppend | CoreOp::ListSet), [Type::List(element), .., item]) = (def.body, args)
        && **element != *item
    {
        return Err(format!("{item} into a list of {element}"));
    }
    if let (Body::Core(CoreOp::ListExtend | CoreOp::ListConcat), [list, other, ..]) = (def.body, args)
        && list != other
    {
        return Err(format!("a list of type {other} for the elements of a {list}"));
    }
    if let (Body::Core(CoreOp::HashFind | CoreOp::SetFind), [_, _, Type::List(element), key, ..]) = (def.body, args)
        && **element != *key
        && (**element != Type::Never || def.mistakes_key(args))
    {
        return Err("a key of another type than those among which it is looked for".to_string());
    }
    Ok((def.result)(args))
}

/// Whether an operation is itself the conversion of its operand.
fn is_conversion(body: Body) -> bool {
    matches!(body, Body::Core(CoreOp::Identity))
}
