//! Texts that are one of a few constants: looked up in a table of the module, or chosen by a condition.
//!
//! Some operations want a text while they are lifted: templates, patterns, names. They are lifted
//! for each text that it may be. Which these are follows from how the value is made; where that misses one, the
//! row leaves.

use crate::abs::Abs;
use crate::objects::merge::Arm;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{DictObj, Edge, Object, Opcode, Terminator, Value};
use std::sync::Arc;

/// The most texts for which an operation is lifted.
pub(crate) const MOST: usize = 16;

/// How many values are looked at to find them.
const FAR: usize = 32;

impl Lifter<'_> {
    /// The texts that a text at run time may be; `None` where they are not known, or too many.
    pub fn texts_of(&self, abs: &Abs) -> Option<Vec<Arc<str>>> {
        let Abs::Dyn(value) = abs else { return None };
        let mut texts = Vec::new();
        for object in self.constants_of(*value, &mut Vec::new())? {
            match object {
                // What is used as a text is not this one.
                Object::None => {}
                Object::Str(text) if texts.contains(&text) => {}
                Object::Str(text) if texts.len() < MOST => texts.push(text),
                _ => return None,
            }
        }
        Some(texts)
    }

    /// The constants that a value at run time may be.
    fn constants_of(&self, value: Value, seen: &mut Vec<Value>) -> Option<Vec<Object>> {
        if seen.len() > FAR {
            return None;
        }
        if seen.contains(&value) {
            return Some(Vec::new());
        }
        seen.push(value);
        let function = &self.b.function;
        self.world.budget.take(function.values.len() / 16);
        let Some(inst) = function.made_by(value) else {
            let given = self.given_to(value)?.into_iter().map(|given| self.constants_of(given, seen));
            return Some(given.collect::<Option<Vec<_>>>()?.concat());
        };
        match (&inst.op, &inst.args[..]) {
            (Opcode::Const(object), _) => Some(vec![object.clone()]),
            (Opcode::Op("dict.value"), [table, ..]) => match &function.made_by(*table)?.op {
                Opcode::Const(Object::Dict(table)) if table.len() <= FAR => {
                    Some(table.entries().iter().map(|entry| entry.1.clone()).collect())
                }
                _ => None,
            },
            (Opcode::Op("str.str") | Opcode::Wrap | Opcode::Unwrap, [of, ..]) => self.constants_of(*of, seen),
            (Opcode::Field(index), [of, ..]) => {
                let item = |object: &Object| match object {
                    Object::Tuple(items) => items.get(*index as usize).cloned(),
                    _ => None,
                };
                self.constants_of(*of, seen)?.iter().map(item).collect()
            }
            (Opcode::Op("str.concat"), parts) => self.put_together(parts, "", seen),
            (Opcode::Op("str.join"), [between, list]) => {
                let (Some(between), Some(list)) = (function.made_by(*between), function.made_by(*list)) else {
                    return None;
                };
                match (&between.op, &list.op) {
                    (Opcode::Const(Object::Str(between)), Opcode::List) => {
                        self.put_together(&list.args, &Arc::clone(between), seen)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// All texts of which the parts may be put together.
    fn put_together(&self, parts: &[Value], between: &str, seen: &[Value]) -> Option<Vec<Object>> {
        let mut all = vec![String::new()];
        for (at, part) in parts.iter().enumerate() {
            let between = if at > 0 { between } else { "" };
            // A part that stands there twice is one text, which this does not know.
            let mut within = seen.to_vec();
            let texts = self.constants_of(*part, &mut within)?;
            let longer = all.iter().flat_map(|head| {
                texts.iter().map(move |text| match text {
                    Object::Str(text) => Some(format!("{head}{between}{text}")),
                    _ => None,
                })
            });
            all = longer.collect::<Option<_>>()?;
            if all.len() > MOST {
                return None;
            }
        }
        Some(all.iter().map(|text| Object::str(text)).collect())
    }

    /// What is given to a parameter of a block by those that go there; `None` for another value.
    fn given_to(&self, param: Value) -> Option<Vec<Value>> {
        let blocks = &self.b.function.blocks;
        let (block, at) = blocks
            .iter()
            .enumerate()
            .skip(1)
            .find_map(|(block, found)| Some((block, found.params.iter().position(|one| *one == param)?)))?;
        let given = |edge: &Edge| (edge.block.index() == block).then(|| edge.args.get(at).copied()).flatten();
        let edges = blocks.iter().flat_map(|block| match &block.term {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch(_, yes, no) => vec![yes, no],
            _ => Vec::new(),
        });
        Some(edges.filter_map(given).collect())
    }

    /// The pattern of a source that is one of a few texts.
    pub fn one_of_patterns(&mut self, source: &Abs, sources: &[Arc<str>], bits: &Abs) -> Lift<Abs> {
        let mut known = DictObj::default();
        let mut patterns = Vec::new();
        for (at, text) in sources.iter().enumerate() {
            known.insert(Object::Str(Arc::clone(text)), Object::int(at as i64));
            let text = Abs::Const(Object::Str(Arc::clone(text)));
            patterns.push((at as i64, self.intrinsic("_compile", &[text, bits.clone()])?));
        }
        let at = self.dict_position(&Abs::Const(Object::Dict(Arc::new(known))), source)?;
        let (yes, no) = self.split_missing(&at)?;
        self.enter_any(yes)?;
        if self.live {
            self.leave_for_text();
        }
        self.enter_any(no)?;
        self.pick(&at, patterns)
    }

    fn leave_for_text(&mut self) {
        let span = self.b.span;
        self.end(Terminator::Bailout("a text that is none of those in its table", span));
    }

    /// Does something for each text that a text at run time may be.
    pub fn for_each_text(
        &mut self,
        value: &Abs,
        texts: &[Arc<str>],
        f: &mut dyn FnMut(&mut Self, Abs) -> Lift<Abs>,
    ) -> Lift<Abs> {
        let mut arms: Vec<Arm> = Vec::new();
        for text in texts {
            if !self.live {
                break;
            }
            let text = Abs::Const(Object::Str(Arc::clone(text)));
            let is_it = self.apply("a==b", &[value.clone(), text.clone()])?;
            let (yes, no) = self.split_value(&is_it)?;
            self.enter_any(yes)?;
            if self.live {
                let result = f(self, text)?;
                arms.extend(self.state().map(|state| (state, vec![result])));
            }
            self.enter_any(no)?;
        }
        if self.live {
            self.leave_for_text();
        }
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }
}
