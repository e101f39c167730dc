//! `reversed`: what can be gone through backwards, and where that begins.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::objects::class::ClassObj;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{ExcKind, Object, Type};
use std::rc::Rc;

impl Lifter<'_> {
    /// `reversed(of)`. Of a list it takes the last position now, of other objects their iterator.
    pub fn reversed(&mut self, of: &Abs) -> Lift<Abs> {
        let is_set = |(_, item): &(i64, Abs)| matches!(item, Abs::Const(Object::Set(_)));
        let has_set = matches!(of, Abs::OneOf(choice) if choice.of.iter().any(is_set));
        let of = &if has_set { of.clone() } else { self.walked_as_one(of)? };
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(of)) {
            return self.dispatch(union, &mut |me, narrowed| me.reversed(&narrowed));
        }
        let backwards = |last| Ok(Abs::Iter(Rc::new(Iter::Reversed { of: of.clone(), last })));
        match of {
            Abs::OneOf(choice) => return self.choose(&Rc::clone(choice), &mut |me, of| me.reversed(&of)),
            Abs::Table(_) => return backwards(None),
            Abs::Class(_) if self.members_of(of).is_some() => return backwards(None),
            Abs::Instance(object) => {
                let object = Rc::clone(object);
                return match self.call_special(&object, "__reversed__", Vec::new())? {
                    Some(iterator @ Abs::Iter(_)) => Ok(iterator),
                    Some(_) if !self.live => Ok(Abs::Unbound),
                    Some(_) => self.bail(Code::Operands, "__reversed__ returns no iterator"),
                    None => self.reversed_sequence(of, &object.class),
                };
            }
            Abs::Iter(iter) => {
                return match &**iter {
                    Iter::Range { .. } | Iter::View { .. } => backwards(None),
                    Iter::Enumerate { .. } => self.not_reversible("enumerate"),
                    Iter::Zip(_) => self.not_reversible("zip"),
                    Iter::Map { .. } => self.not_reversible("map"),
                    Iter::Filter { .. } => self.not_reversible("filter"),
                    Iter::Generator { .. } => self.not_reversible("generator"),
                    Iter::Reversed { .. } | Iter::Call { .. } => self.bail(Code::Operands, "reversed of an iterator"),
                };
            }
            _ => {}
        }
        match self.type_of(of) {
            Some(Type::List(_)) => {
                let last = self.last_position(of)?;
                backwards(Some(last))
            }
            // They do not change.
            Some(Type::Str | Type::Tuple(_) | Type::Dict(..) | Type::Record(..)) => backwards(None),
            Some(ty @ (Type::None | Type::Bool | Type::Int | Type::Float)) => self.not_reversible(ty.message_name()),
            _ => self.bail(Code::Operands, format!("reversed of {}", crate::walk::describe::describe(of))),
        }
    }

    /// `reversed` of an object whose class has no method for it.
    fn reversed_sequence(&mut self, of: &Abs, class: &Rc<ClassObj>) -> Lift<Abs> {
        let has = |name| ClassObj::find(class, name).is_some();
        if class.prelude && has("__getitem__") {
            return self.bail(Code::Operands, "reversed of such an object");
        }
        if !has("__getitem__") {
            let name = self.class_shown(class)?;
            return self.not_reversible(&name);
        }
        let len = self.apply("len", std::slice::from_ref(of))?;
        self.call_of_prelude("_reversed_sequence", vec![of.clone(), len])
    }

    /// The position of the last item of a list, -1 of an empty one.
    pub fn last_position(&mut self, list: &Abs) -> Lift<Abs> {
        let len = self.apply("len", std::slice::from_ref(list))?;
        self.apply("a-b", &[len, Abs::int(1)])
    }

    fn not_reversible(&mut self, class: &str) -> Lift<Abs> {
        self.raise_message(ExcKind::TypeError, &format!("'{class}' object is not reversible"))
    }
}
