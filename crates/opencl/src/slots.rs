//! How a value of a type is spread over variables: as over the registers of native code.

use crate::Unsupported;
use exuvia_ir::Type;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Bool,
    Int,
    Float,
    List,
}

impl Slot {
    /// Its type in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            Slot::Bool => "int",
            Slot::Int => "long",
            Slot::Float => "double",
            Slot::List => "list",
        }
    }

    /// What stands where nobody looks.
    pub fn zero(self) -> &'static str {
        match self {
            Slot::Bool | Slot::List => "0",
            Slot::Int => "0L",
            Slot::Float => "0.0",
        }
    }

    /// A value as a word of memory.
    pub fn to_word(self, value: &str) -> String {
        match self {
            Slot::Bool | Slot::Int | Slot::List => format!("(ulong)({value})"),
            Slot::Float => format!("as_ulong({value})"),
        }
    }

    /// A word of memory as a value.
    pub fn of_word(self, word: &str) -> String {
        match self {
            Slot::Bool => format!("(int){word}"),
            Slot::Int => format!("(long){word}"),
            Slot::Float => format!("as_double({word})"),
            Slot::List => format!("(list){word}"),
        }
    }
}

/// The variables of a value of that type.
pub(crate) fn slots(ty: &Type) -> Result<Vec<Slot>, Unsupported> {
    let mut out = Vec::new();
    push(ty, &mut out)?;
    Ok(out)
}

fn push(ty: &Type, out: &mut Vec<Slot>) -> Result<(), Unsupported> {
    match ty {
        Type::Never | Type::Unbound | Type::None => {}
        Type::Bool => out.push(Slot::Bool),
        Type::Int | Type::Exc => out.push(Slot::Int),
        Type::Float => out.push(Slot::Float),
        Type::List(element) => {
            // Of what it can hold.
            slots(element)?;
            out.push(Slot::List);
        }
        Type::Tuple(items) | Type::Record(_, items) => items.iter().try_for_each(|item| push(item, out))?,
        Type::Union(items) => {
            out.push(Slot::Int);
            items.iter().try_for_each(|item| push(item, out))?;
        }
        Type::Str | Type::Dict(..) | Type::Set(_) | Type::Pattern(_) | Type::Boxed(_) => {
            return Err(Unsupported::new(format!("values of type {ty}")));
        }
    }
    Ok(())
}

/// The first slot of the alternative at `index` of a union.
pub(crate) fn alternative_start(alternatives: &[Type], index: usize) -> Result<usize, Unsupported> {
    Ok(1 + element_start(alternatives, index)?)
}

/// The first slot of the element at `index` of a tuple.
pub(crate) fn element_start(elements: &[Type], index: usize) -> Result<usize, Unsupported> {
    elements.iter().take(index).map(|ty| slots(ty).map(|slots| slots.len())).sum()
}
