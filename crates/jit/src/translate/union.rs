//! Unions and tuples: which slots of a value are those of another.

use super::{Result, Translator};
use crate::{CompileError, slots};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Machine, types};
use exuvia_ir::{Inst, Type};

/// The alternative of `to` that takes values of `from`: the type itself, else a wider
/// container of the same shape.
fn place(from: &Type, to: &[Type]) -> Option<usize> {
    to.iter().position(|ty| ty == from).or_else(|| to.iter().position(|ty| widens(from, ty)))
}

/// Whether values of `from` are values of `to` after at most a conversion of slots.
fn widens(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (from, to) if from == to => true,
        (Type::Never, _) => true,
        (Type::Union(from), _) => from.iter().all(|from| widens(from, to)),
        (from, Type::Union(to)) => place(from, to).is_some(),
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| widens(from, to))
        }
        // An empty list has no slots to convert; others have one identity and so one
        // representation.
        (Type::List(from), Type::List(_)) => **from == Type::Never,
        _ => false,
    }
}

impl Translator<'_, '_, '_> {
    /// The slots of a value as one of a type that holds it.
    pub(super) fn widen(&mut self, value: &[Machine], from: &Type, to: &Type) -> Result<Vec<Machine>> {
        if from == to {
            return Ok(value.to_vec());
        }
        if !widens(from, to) {
            return Err(CompileError::malformed(format!("{from} converted to {to}")));
        }
        match (from, to) {
            (Type::Never, _) => Ok(self.zeros(to)),
            (Type::Union(alternatives), Type::Union(wider)) => self.remap(value, alternatives, wider),
            (from, Type::Union(alternatives)) => {
                let Some(tag) = place(from, alternatives) else {
                    return Err(CompileError::malformed(format!("{from} is not in {to}")));
                };
                let mut out = vec![self.word(tag as i64)];
                for (at, alternative) in alternatives.iter().enumerate() {
                    if at == tag {
                        out.extend(self.widen(value, from, alternative)?);
                    } else {
                        out.extend(self.zeros(alternative));
                    }
                }
                Ok(out)
            }
            (Type::Tuple(from), Type::Tuple(to)) => {
                let mut out = Vec::new();
                for (at, (from_item, to_item)) in from.iter().zip(to.iter()).enumerate() {
                    let start = slots::element_start(from, at);
                    out.extend(self.widen(&value[start..start + slots::count(from_item)], from_item, to_item)?);
                }
                Ok(out)
            }
            _ => Ok(value.to_vec()),
        }
    }

    /// The slots of a union as those of another: alternatives that the other lacks are
    /// dropped, alternatives that it has besides are zero.
    fn remap(&mut self, value: &[Machine], from: &[Type], to: &[Type]) -> Result<Vec<Machine>> {
        let places: Vec<Option<usize>> = from.iter().map(|ty| place(ty, to)).collect();
        let mut out = vec![self.remap_tag(value[0], &places)];
        for (at, alternative) in to.iter().enumerate() {
            let mut slots = None;
            for (source, _) in places.iter().enumerate().filter(|(_, place)| **place == Some(at)) {
                let start = slots::alternative_start(from, source);
                let taken = &value[start..start + slots::count(&from[source])];
                let taken = self.widen(taken, &from[source], alternative)?;
                slots = Some(match slots {
                    None => taken,
                    Some(before) => self.select_by_tag(value[0], source, taken, before),
                });
            }
            match slots {
                Some(slots) => out.extend(slots),
                None => out.extend(self.zeros(alternative)),
            }
        }
        Ok(out)
    }

    fn select_by_tag(&mut self, tag: Machine, index: usize, yes: Vec<Machine>, no: Vec<Machine>) -> Vec<Machine> {
        let cond = self.b.ins().icmp_imm_s(IntCC::Equal, tag, index as i64);
        yes.into_iter().zip(no).map(|(yes, no)| self.b.ins().select(cond, yes, no)).collect()
    }

    /// The tag in another union. Most conversions add or drop alternatives at one end or
    /// in one place, so a constant difference is tried first.
    fn remap_tag(&mut self, tag: Machine, places: &[Option<usize>]) -> Machine {
        let known: Vec<(usize, usize)> =
            places.iter().enumerate().filter_map(|(at, place)| place.map(|place| (at, place))).collect();
        let Some((first, place)) = known.first().copied() else { return self.word(0) };
        let difference = place as i64 - first as i64;
        if known.iter().all(|(at, place)| *place as i64 - *at as i64 == difference) {
            return if difference == 0 { tag } else { self.b.ins().iadd_imm_s(tag, difference) };
        }
        let mut out = self.word(known[known.len() - 1].1 as i64);
        for (at, place) in known.iter().rev().skip(1) {
            let cond = self.b.ins().icmp_imm_s(IntCC::Equal, tag, *at as i64);
            let place = self.word(*place as i64);
            out = self.b.ins().select(cond, place, out);
        }
        out
    }

    /// The slots of a union that is known to hold `to`.
    pub(super) fn narrow(&mut self, value: &[Machine], from: &Type, to: &Type) -> Result<Vec<Machine>> {
        match (from, to) {
            (from, to) if from == to => Ok(value.to_vec()),
            (Type::Union(alternatives), Type::Union(narrower)) => self.remap(value, alternatives, narrower),
            (Type::Union(alternatives), to) => {
                let at = alternatives.iter().position(|ty| ty == to);
                let at = at.ok_or_else(|| CompileError::malformed(format!("{to} is not in {from}")))?;
                let start = slots::alternative_start(alternatives, at);
                Ok(value[start..start + slots::count(to)].to_vec())
            }
            _ => Err(CompileError::malformed(format!("{from} is known to hold {to}"))),
        }
    }

    /// Whether a value holds one of the alternatives of `ty`.
    pub(super) fn is(&mut self, value: &[Machine], from: &Type, ty: &Type) -> Machine {
        let Type::Union(alternatives) = from else {
            return self.b.ins().iconst(types::I8, i64::from(from.is_within(ty)));
        };
        let mut out = None;
        for (at, alternative) in alternatives.iter().enumerate() {
            if !alternative.is_within(ty) {
                continue;
            }
            let this = self.b.ins().icmp_imm_s(IntCC::Equal, value[0], at as i64);
            out = Some(match out {
                None => this,
                Some(before) => self.b.ins().bor(before, this),
            });
        }
        out.unwrap_or_else(|| self.b.ins().iconst(types::I8, 0))
    }

    pub(super) fn tuple(&mut self, inst: &Inst) -> Result<Vec<Machine>> {
        let (Type::Tuple(types) | Type::Record(_, types)) = self.result_type(inst)? else {
            return Err(CompileError::malformed("a tuple of another type"));
        };
        if types.len() != inst.args.len() {
            return Err(CompileError::malformed("a tuple of another length"));
        }
        let mut out = Vec::new();
        for (arg, ty) in inst.args.iter().zip(types.iter()) {
            let slots = self.slots(*arg)?;
            let from = self.function.ty(*arg).clone();
            out.extend(self.widen(&slots, &from, ty)?);
        }
        Ok(out)
    }

    pub(super) fn field(&mut self, inst: &Inst, index: u32) -> Result<Vec<Machine>> {
        let tuple = self.operand(inst, 0)?;
        let (Type::Tuple(types) | Type::Record(_, types)) = self.function.ty(tuple) else {
            return Err(CompileError::malformed("an element of something that is no tuple"));
        };
        let index = index as usize;
        let ty = types.get(index).ok_or_else(|| CompileError::malformed("an element outside the tuple"))?;
        let start = slots::element_start(types, index);
        let slots = self.slots(tuple)?;
        Ok(slots[start..start + slots::count(ty)].to_vec())
    }
}
