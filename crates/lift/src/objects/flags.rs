//! Flags: classes below `enum.Flag` and `enum.IntFlag` (library reference, module enum; CPython 3.11).
//!
//! An object of one has nothing but `_value_`, its bits, so each mention of a member makes an object of its
//! own, and `is` compares the bits: objects on several paths become one (`merge.rs`). What flags do is written
//! in the prelude (`enum.py`), which reads the names from two constants of the class, `_flag_names_` (the
//! name of each value that has one) and `_flag_bits_` (those of one bit, with their names).

use crate::abs::Abs;
use crate::bailout::Code;
use crate::objects::class::{ClassObj, Member};
use crate::objects::enums::AUTO;
use crate::tree::ast::{ClassDef, Expr, ExprKind, Name, StmtKind};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{DictObj, Int, Object, Terminator, Type};
use std::rc::Rc;
use std::sync::Arc;

/// The largest value of a flag that is lifted.
pub(crate) const MOST: i64 = 1 << 62;

/// The members of a class of flags.
#[derive(Debug)]
pub(crate) struct Flags {
    /// All names with their values.
    names: Vec<(Name, i64)>,
    /// Those of one bit, each once, from the lowest to the highest.
    bits: Vec<i64>,
}

impl Flags {
    fn mask(&self) -> i64 {
        self.bits.iter().fold(0, |all, bit| all | bit)
    }
}

/// Whether objects of a class are flags that are ints.
pub(crate) fn is_int_flag(class: &Rc<ClassObj>) -> bool {
    ClassObj::is_below(class, "IntFlag")
}

impl Lifter<'_> {
    /// The class of the prelude below which a class of flags is made; `None` for another class.
    pub fn flag_base(&mut self, bases: &[Expr]) -> Lift<Option<Rc<ClassObj>>> {
        let [base] = bases else { return Ok(None) };
        if let ExprKind::Name(name) = &base.kind
            && let Some(Abs::Class(class)) = self.lookup(name)
            && class.prelude
            && matches!(&*class.name, "Flag" | "IntFlag")
        {
            return Ok(Some(class));
        }
        let name = match base {
            base if self.is_of_module(base, "enum", "Flag") => "Flag",
            base if self.is_of_module(base, "enum", "IntFlag") => "IntFlag",
            _ => return Ok(None),
        };
        match self.prelude_function("enum", name)? {
            Some(Abs::Class(class)) => Ok(Some(class)),
            _ => Ok(None),
        }
    }

    /// The numbers of flags that were assigned `auto()`: the next bit.
    pub fn number_flags(&mut self, targets: &[Expr]) -> Lift<()> {
        let current = self.current;
        for target in targets {
            let ExprKind::Name(name) = &target.kind else { continue };
            let vars = &self.frames[current].vars;
            if !matches!(vars.get(name), Some(Abs::Builtin(auto)) if &**auto == AUTO) {
                continue;
            }
            let value = |(_, abs): (&Name, &Abs)| match abs {
                Abs::Const(Object::Int(Int::Small(value))) => Some(*value),
                _ => None,
            };
            let highest = vars.iter().filter_map(value).max().unwrap_or(0);
            if !(0..MOST).contains(&highest) {
                return self.bail(Code::Statement, format!("a flag {name} of so many bits"));
            }
            let next = Abs::int(1 << (i64::BITS - highest.leading_zeros()));
            self.frames[current].vars.insert(name.clone(), next);
        }
        Ok(())
    }

    /// Takes the members out of what the body of a class of flags defines, and binds the class.
    pub fn flags(&mut self, def: &ClassDef, mut class: ClassObj) -> Lift<()> {
        if let Some(name) = class.members.keys().find(|name| name.starts_with('_')) {
            return self.bail(Code::Statement, format!("a class of flags with {name}"));
        }
        let mut names: Vec<(Name, i64)> = Vec::new();
        for stmt in &def.body {
            let StmtKind::Assign { targets, .. } = &stmt.kind else { continue };
            for target in targets {
                let ExprKind::Name(name) = &target.kind else {
                    return self.bail(Code::Statement, "a class of flags that assigns something else than names");
                };
                let value = match class.members.remove(name) {
                    Some(Member::Value(Abs::Const(Object::Int(Int::Small(value))))) => value,
                    _ => return self.bail(Code::Statement, format!("a flag {name} that is no int, or set twice")),
                };
                if !(0..=MOST).contains(&value) {
                    return self.bail(Code::Statement, format!("a flag {name} of such a value"));
                }
                names.push((name.clone(), value));
            }
        }
        let mut flags = Flags { names, bits: Vec::new() };
        let mut by_value = DictObj::default();
        let mut by_bit = Vec::new();
        for (name, value) in &flags.names {
            if by_value.get(&Object::int(*value)).is_some() {
                continue;
            }
            by_value.insert(Object::int(*value), Object::str(name));
            if value.count_ones() == 1 {
                if flags.bits.last().is_some_and(|last| last > value) {
                    return self.bail(Code::Statement, "flags that are not in the order of their bits");
                }
                flags.bits.push(*value);
                by_bit.push(Object::tuple(vec![Object::int(*value), Object::str(name)]));
            }
        }
        let mask = flags.mask();
        if flags.names.iter().any(|(_, value)| value & !mask != 0) || mask & (mask + 1) != 0 {
            return self.bail(Code::Statement, "flags of which some bits have no name");
        }
        let constant = |object: Object| Member::Value(Abs::Const(object));
        class.members.insert("_flag_names_".into(), constant(Object::Dict(Arc::new(by_value))));
        class.members.insert("_flag_bits_".into(), constant(Object::tuple(by_bit)));
        class.frozen = true;
        self.world.flags.insert(class.key.clone(), Rc::new(flags));
        self.bind_name(&def.name, Abs::Class(Rc::new(class)))?;
        Ok(())
    }

    /// The members of a class of flags.
    pub fn flags_of(&self, class: &ClassObj) -> Option<Rc<Flags>> {
        self.world.flags.get(&class.key).cloned()
    }

    /// `Class.name` of a flag.
    pub fn flag_named(&mut self, class: &Rc<ClassObj>, name: &str) -> Option<Abs> {
        let flags = self.flags_of(class)?;
        let (_, value) = flags.names.iter().find(|(known, _)| **known == *name)?;
        Some(self.flag(class, Abs::int(*value)))
    }

    /// What iterating over a class of flags gives: those of one bit.
    pub fn flags_in(&mut self, abs: &Abs) -> Option<Vec<Abs>> {
        let Abs::Class(class) = abs else { return None };
        let flags = self.flags_of(class)?;
        Some(flags.bits.iter().map(|bit| self.flag(class, Abs::int(*bit))).collect())
    }

    fn flag(&mut self, class: &Rc<ClassObj>, value: Abs) -> Abs {
        let flag = self.new_instance(class);
        if let (Abs::Instance(object), Some(frame)) = (&flag, self.frames.first_mut()) {
            frame.vars.insert(object.cell("_value_"), value);
        }
        flag
    }

    /// `Class(value)` of flags. CPython says what is wrong with bits that have no name.
    pub fn flag_of_value(&mut self, class: &Rc<ClassObj>, flags: &Flags, value: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Abs::Instance(object) = value
            && object.class.is(class)
        {
            return Ok(value.clone());
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(union, &mut |me, narrowed| me.flag_of_value(class, flags, &narrowed));
        }
        match self.type_of(value) {
            Some(Type::Int) => {}
            Some(_) => {
                self.leave_for_bits();
                return Ok(Abs::Unbound);
            }
            None => return self.bail(Code::Operands, "flags of such a value"),
        }
        let others = self.apply("a&b", &[value.clone(), Abs::int(!flags.mask())])?;
        let has_others = self.apply("a!=b", &[others, Abs::int(0)])?;
        let (yes, no) = self.split_value(&has_others)?;
        self.enter_any(yes)?;
        if self.live {
            self.leave_for_bits();
        }
        self.enter_any(no)?;
        Ok(if self.live { self.flag(class, value.clone()) } else { Abs::Unbound })
    }

    fn leave_for_bits(&mut self) {
        let span = self.b.span;
        self.end(Terminator::Bailout("something else than bits with a name in a flag", span));
    }

    /// Whether two flags of one class are the same, which are one object where their bits are.
    pub fn is_one_flag(&mut self, left: &Abs, right: &Abs) -> Lift<Option<Abs>> {
        let (Abs::Instance(a), Abs::Instance(b)) = (left, right) else { return Ok(None) };
        if !a.class.is(&b.class) || self.flags_of(&a.class).is_none() {
            return Ok(None);
        }
        match (self.own_attribute(a, "_value_")?, self.own_attribute(b, "_value_")?) {
            (Some(a), Some(b)) => self.apply("a==b", &[a, b]).map(Some),
            _ => self.bail(Code::Join, "flags on several paths"),
        }
    }
}
