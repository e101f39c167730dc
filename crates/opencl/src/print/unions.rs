//! Unions and tuples: which slots of a value are those of another.

use super::{Printer, Result, int};
use crate::Unsupported;
use crate::slots::{alternative_start, element_start, slots};
use exuvia_ir::{Type, Value};

impl Printer<'_, '_> {
    /// The slots of a value as one of a type that holds it.
    pub(super) fn widened(&mut self, value: Value, to: &Type) -> Result<Vec<String>> {
        let slots = self.slots(value)?;
        self.widen(&slots, self.function.ty(value), to)
    }

    pub(super) fn widen(&self, value: &[String], from: &Type, to: &Type) -> Result<Vec<String>> {
        if from == to {
            return Ok(value.to_vec());
        }
        match (from, to) {
            (Type::Never, _) => zeros(to),
            (Type::Union(alternatives), Type::Union(wider)) => self.remap(value, alternatives, wider),
            (from, Type::Union(alternatives)) => {
                let tag = place(from, alternatives)?;
                let mut out = vec![int(tag as i64)];
                for (at, alternative) in alternatives.iter().enumerate() {
                    if at == tag {
                        out.extend(self.widen(value, from, alternative)?);
                    } else {
                        out.extend(zeros(alternative)?);
                    }
                }
                Ok(out)
            }
            (Type::Tuple(from), Type::Tuple(to)) if from.len() == to.len() => {
                let mut out = Vec::new();
                for (at, (from_item, to_item)) in from.iter().zip(to.iter()).enumerate() {
                    let start = element_start(from, at)?;
                    let count = slots(from_item)?.len();
                    out.extend(self.widen(&value[start..start + count], from_item, to_item)?);
                }
                Ok(out)
            }
            (Type::List(element), Type::List(_)) if **element == Type::Never => Ok(value.to_vec()),
            _ => Err(Unsupported::new(format!("{from} converted to {to}"))),
        }
    }

    /// The slots of a union as those of another.
    fn remap(&self, value: &[String], from: &[Type], to: &[Type]) -> Result<Vec<String>> {
        let places: Vec<Option<usize>> = from.iter().map(|ty| place(ty, to).ok()).collect();
        let mut tag = "0L".to_string();
        for (at, place) in places.iter().enumerate().rev() {
            if let Some(place) = place {
                tag = format!("({} == {at}L ? {place}L : {tag})", value[0]);
            }
        }
        let mut out = vec![tag];
        for (at, alternative) in to.iter().enumerate() {
            let mut slots_of: Option<Vec<String>> = None;
            for (source, _) in places.iter().enumerate().filter(|(_, place)| **place == Some(at)) {
                let start = alternative_start(from, source)?;
                let count = slots(&from[source])?.len();
                let taken = self.widen(&value[start..start + count], &from[source], alternative)?;
                slots_of = Some(match slots_of {
                    None => taken,
                    Some(before) => taken
                        .into_iter()
                        .zip(before)
                        .map(|(yes, no)| format!("({} == {source}L ? {yes} : {no})", value[0]))
                        .collect(),
                });
            }
            match slots_of {
                Some(slots) => out.extend(slots),
                None => out.extend(zeros(alternative)?),
            }
        }
        Ok(out)
    }

    pub(super) fn narrow(&self, value: &[String], from: &Type, to: &Type) -> Result<Vec<String>> {
        match (from, to) {
            (from, to) if from == to => Ok(value.to_vec()),
            (Type::Union(alternatives), Type::Union(narrower)) => self.remap(value, alternatives, narrower),
            (Type::Union(alternatives), to) => {
                let at = alternatives.iter().position(|ty| ty == to);
                let at = at.ok_or_else(|| Unsupported::new(format!("{to} is not in {from}")))?;
                let start = alternative_start(alternatives, at)?;
                Ok(value[start..start + slots(to)?.len()].to_vec())
            }
            _ => Err(Unsupported::new(format!("{from} is known to hold {to}"))),
        }
    }
}

fn zeros(ty: &Type) -> Result<Vec<String>> {
    Ok(slots(ty)?.iter().map(|slot| slot.zero().to_string()).collect())
}

/// The alternative of a union that takes values of a type.
fn place(from: &Type, to: &[Type]) -> Result<usize> {
    let same = to.iter().position(|ty| ty == from);
    same.or_else(|| to.iter().position(|ty| widens(from, ty)))
        .ok_or_else(|| Unsupported::new(format!("{from} among other types")))
}

fn widens(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (from, to) if from == to => true,
        (Type::Never, _) => true,
        (Type::Union(from), _) => from.iter().all(|from| widens(from, to)),
        (from, Type::Union(to)) => place(from, to).is_ok(),
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| widens(from, to))
        }
        (Type::List(from), Type::List(_)) => **from == Type::Never,
        _ => false,
    }
}

pub(super) fn is(value: &[String], from: &Type, ty: &Type) -> String {
    let Type::Union(alternatives) = from else { return i32::from(from.is_within(ty)).to_string() };
    let tests: Vec<String> = alternatives
        .iter()
        .enumerate()
        .filter(|(_, alternative)| alternative.is_within(ty))
        .map(|(at, _)| format!("({} == {at}L)", value[0]))
        .collect();
    if tests.is_empty() { "0".to_string() } else { format!("(int)({})", tests.join(" | ")) }
}
