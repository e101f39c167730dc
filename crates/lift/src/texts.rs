//! Texts that are one of a few constants: looked up in a table of the module, or chosen by a condition.
//!
//! Some operations want a text while they are lifted: templates, patterns, names. They are lifted
//! for each text that it may be. Which these are follows from how the value is made; where that misses one, the
//! row leaves.

use crate::abs::Abs;
use crate::lifter::{Lift, Lifter};
use crate::merge::Arm;
use exuvia_ir::{DictObj, Edge, Object, Opcode, Terminator, Value};
use std::sync::Arc;

/// The most texts for which an operation is lifted.
const MOST: usize = 16;

/// How many values are looked at to find them.
const FAR: usize = 32;

impl Lifter<'_> {
    /// The texts that a text at run time may be; `None` where they are not known, or too many.
    pub fn texts_of(&self, abs: &Abs) -> Option<Vec<Arc<str>>> {
        let Abs::Dyn(value) = abs else { return None };
        let function = &self.b.function;
        let mut texts = Vec::new();
        let mut add = |object: &Object| match object {
            // What is used as a text is not this one.
            Object::None => Some(()),
            Object::Str(text) if texts.contains(text) => Some(()),
            Object::Str(text) if texts.len() < MOST => {
                texts.push(Arc::clone(text));
                Some(())
            }
            _ => None,
        };
        let mut open = vec![*value];
        let mut seen = vec![*value];
        while let Some(value) = open.pop() {
            self.world.budget.take(function.values.len() / 16);
            let sources: Vec<Value> = match function.made_by(value) {
                Some(inst) => match (&inst.op, inst.args.first()) {
                    (Opcode::Const(object), _) => {
                        add(object)?;
                        Vec::new()
                    }
                    (Opcode::Op("dict.value"), Some(table)) => {
                        for (_, object) in self.constant_table(*table)?.entries() {
                            add(object)?;
                        }
                        Vec::new()
                    }
                    // Of a tuple that is looked up.
                    (Opcode::Field(index), Some(of)) => {
                        let looked_up = function.made_by(*of).filter(|inst| inst.op == Opcode::Op("dict.value"));
                        for (_, object) in self.constant_table(*looked_up?.args.first()?)?.entries() {
                            match object {
                                Object::Tuple(items) => add(items.get(*index as usize)?)?,
                                _ => return None,
                            }
                        }
                        Vec::new()
                    }
                    (Opcode::Op("str.str") | Opcode::Wrap | Opcode::Unwrap, Some(of)) => vec![*of],
                    _ => return None,
                },
                None => self.given_to(value)?,
            };
            for source in sources {
                if !seen.contains(&source) {
                    seen.push(source);
                    open.push(source);
                }
            }
            if seen.len() > FAR {
                return None;
            }
        }
        Some(texts)
    }

    fn constant_table(&self, value: Value) -> Option<Arc<DictObj>> {
        match &self.b.function.made_by(value)?.op {
            Opcode::Const(Object::Dict(table)) => Some(Arc::clone(table)),
            _ => None,
        }
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
        let is_missing = self.apply("a<b", &[at.clone(), Abs::int(0)])?;
        let (yes, no) = self.split_value(&is_missing)?;
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
