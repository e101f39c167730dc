//! Objects that become run-time values.
//!
//! As long as everything that refers to an object is known while lifting, it lives in cells
//! (`heap.rs`). Where a list comes to hold it, where paths meet of which one has it and another
//! has something else, or where it is passed to a function that recurses, it *escapes*: it becomes
//! a record ([`Class::Object`]) of what its attributes hold, and every variable that referred to
//! it refers to that.
//!
//! Law: attributes that no code of the function assigns to after an escape are fields of the
//! record. Nobody can tell a copy of it from the record itself: where `is` could, or equality that
//! asks for identity, the record has a list of nothing besides, which is the identity of all its
//! copies. An attribute that is assigned to is a list of one element instead, to which all
//! copies refer. One that an object gets after it escaped is such a list too, empty as long as the object
//! has none. Which ones are is a fact that lifting finds out: then all is lifted again.
//! Objects of the module become records of another kind (`numbered.rs`).
//!
//! A *shape* is a class with the names and kinds of its attributes, for dicts and sets with the
//! place where they are made, so that one may hold others. Its number is the record's class.

use crate::abs::{Abs, Enclosing};
use crate::bailout::Code;
use crate::data::lists::add_sites;
use crate::data::values::is_of_values;
use crate::objects::class::{ClassKey, ClassObj, Member};
use crate::objects::heap::{Instance, cells, is_own};
use crate::objects::merge::Arm;
use crate::tree::ast::Name;
use crate::walk::lifter::{Frame, Lift, Lifter, Site, Stop};
use exuvia_ir::{Class, Object, Opcode, Span, Type, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Shapes of one handler.
const MAX_SHAPES: usize = 100;

/// The name of a field that tells an object from others: a list of nothing.
const IDENTITY: &str = ".identity";

/// What the objects of one kind are as run-time values.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub class: Rc<ClassObj>,
    /// Where they are made, for those of the prelude.
    site: Option<Site>,
    pub fields: Vec<(Name, Field)>,
    /// Where the lists were made that the fields hold.
    sites: Vec<Vec<Site>>,
}

/// An object that is being made a run-time value, and the attribute that is about to be.
#[derive(Debug)]
pub(crate) struct Escaping {
    own: String,
    class: ClassKey,
    attribute: Name,
}

/// Where an attribute is.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    /// In that field.
    Value(u32),
    /// In the list that is in that field.
    Cell(u32),
    /// In the list that is in that field, if the object has it.
    Late(u32),
    /// It is the same for all, and has no run-time form.
    Static(Abs),
}

impl Shape {
    /// Where the lists were made that its fields hold.
    pub fn all_sites(&self) -> impl Iterator<Item = Site> {
        self.sites.iter().flatten().copied()
    }
}

impl Field {
    fn is(&self, other: &Field) -> bool {
        match (self, other) {
            (Field::Value(a), Field::Value(b))
            | (Field::Cell(a), Field::Cell(b))
            | (Field::Late(a), Field::Late(b)) => a == b,
            (Field::Static(a), Field::Static(b)) => same_static(a, b),
            _ => false,
        }
    }
}

/// Whether a value may be a static field: it depends on no variable.
fn is_static(abs: &Abs) -> bool {
    match abs {
        Abs::Builtin(_) | Abs::Module(_) | Abs::Class(_) | Abs::ExcClass(_) => true,
        Abs::Func(closure) => matches!(closure.enclosing, Enclosing::Module) && closure.defaults.is_empty(),
        _ => false,
    }
}

/// Whether both are the same, also if they are of different attempts.
fn same_static(a: &Abs, b: &Abs) -> bool {
    match (a, b) {
        (Abs::Class(a), Abs::Class(b)) => a.is(b),
        (Abs::Func(a), Abs::Func(b)) => Arc::ptr_eq(&a.def, &b.def) && a.module == b.module,
        _ => a.same(b),
    }
}

impl Lifter<'_> {
    /// A value as lifting sees it: a record of a shape is an object, or one of the module's, and None is
    /// a constant.
    pub fn seen(&mut self, abs: Abs) -> Abs {
        let seen = self.seen_of_module(&abs).or_else(|| self.out_of_box(&abs));
        seen.unwrap_or_else(|| self.seen_as_object(abs))
    }

    /// [`Lifter::seen`], but for objects of the module.
    pub fn seen_as_object(&self, abs: Abs) -> Abs {
        match (&abs, self.shape_of(&abs)) {
            (Abs::Dyn(value), _) if *self.b.function.ty(*value) == Type::None => Abs::NONE,
            (_, Some((shape, value))) => Abs::Instance(Rc::new(Instance::of_record(&shape.class, shape.site, value))),
            _ => abs,
        }
    }

    /// The names of the attributes that an object has, or may have.
    pub fn names_of_attributes(&self, object: &Instance) -> Vec<Name> {
        if let Some(record) = self.escaped_as(object) {
            let shape = self.shape_of(&Abs::Dyn(record));
            return shape
                .map_or_else(Vec::new, |(shape, _)| shape.fields.iter().map(|field| field.0.clone()).collect());
        }
        let vars = match object.module {
            Some(module) => self.world.modules.get(module).map(|module| &module.globals),
            None => self.frames.first().map(|frame| &frame.vars),
        };
        let own = object.own().len() + 1;
        let names = vars.into_iter().flat_map(|vars| cells(vars, object));
        names.filter_map(|(name, _)| name.get(own..).map(Name::from)).collect()
    }

    /// The shape of a record, and the record.
    pub(crate) fn shape_of(&self, abs: &Abs) -> Option<(&Shape, Value)> {
        let Abs::Dyn(value) = abs else { return None };
        Some((self.shape_of_type(self.b.function.ty(*value))?, *value))
    }

    /// The shape of objects of a type that is no union.
    pub(crate) fn shape_of_type(&self, ty: &Type) -> Option<&Shape> {
        self.world.shapes.get(ty.object_class()? as usize)
    }

    /// The record that an object is, if it is one.
    pub fn escaped_as(&self, object: &Instance) -> Option<Value> {
        object.value.or_else(|| match self.frames.first()?.vars.get(&object.own()[..]) {
            Some(Abs::Dyn(value)) if object.module.is_none() => Some(*value),
            _ => None,
        })
    }

    /// Whether an object is nothing but cells.
    pub fn is_static_object(&self, abs: &Abs) -> bool {
        matches!(abs, Abs::Instance(object) if self.escaped_as(object).is_none())
    }

    /// Whether a value is or holds an object that is nothing but cells.
    pub fn holds_static_object(&self, abs: &Abs) -> bool {
        match abs {
            Abs::Tuple(items) => items.iter().any(|item| self.holds_static_object(item)),
            other => self.is_static_object(other) || self.is_numbered(other),
        }
    }

    /// A value with its objects as run-time values.
    pub fn escaped(&mut self, abs: &Abs) -> Lift<Abs> {
        match abs {
            known if self.is_numbered(known) => Ok(Abs::Dyn(self.value(known)?)),
            Abs::OneOf(_) => match self.copied_value(abs)? {
                Some(copy) => self.escaped(&copy),
                None => Ok(abs.clone()),
            },
            Abs::Instance(object) => {
                let record = self.escape(object)?;
                Ok(self.seen(Abs::Dyn(record)))
            }
            Abs::Tuple(items) => {
                let items = items.iter().map(|item| self.escaped(item)).collect::<Lift<Vec<_>>>()?;
                Ok(Abs::tuple(items))
            }
            other => Ok(other.clone()),
        }
    }

    /// Makes an object a run-time value.
    pub fn escape(&mut self, object: &Rc<Instance>) -> Lift<Value> {
        if let Some(record) = self.escaped_as(object) {
            return Ok(record);
        }
        if self.is_shaped(object) {
            return self.unshape(object);
        }
        if object.module.is_some()
            && let Some(record) = self.escape_of_module(&Abs::Instance(Rc::clone(object)))?
        {
            return Ok(record);
        }
        if let Some(Abs::Instance(copy)) = self.copied_value(&Abs::Instance(Rc::clone(object)))? {
            return self.escape(&copy);
        }
        let what = &object.class.name;
        if self.module_mode || object.module.is_some() {
            return self.bail(Code::StaticValue, format!("an object of class {what} of the module at run time"));
        }
        if object.class.exception.is_some() {
            return self.bail(Code::StaticValue, format!("an exception of class {what} at run time"));
        }
        let is_it = |escaping: &&Escaping| escaping.own == object.own();
        if let Some(Escaping { class, attribute, .. }) = self.escaping.iter().find(is_it) {
            let through = (class.clone(), attribute.clone());
            if !self.world.cyclic.insert(through.clone()) {
                return self.bail(Code::StaticValue, format!("an object of class {what} that refers to itself"));
            }
            self.world.assigned.insert(through);
            return self.other_shapes();
        }
        let own = object.own();
        let held: Vec<(Name, Abs)> = self.frames.first().map_or_else(Vec::new, |frame| {
            cells(&frame.vars, object).map(|(name, value)| (name.clone(), value.clone())).collect()
        });
        let mut attributes: Vec<(Name, Abs)> = held
            .iter()
            .filter(|(name, value)| !is_own(name) && !matches!(value, Abs::Unbound))
            .map(|(name, value)| (Name::from(&name[own.len() + 1..]), value.clone()))
            .collect();
        if !held.iter().any(|(name, value)| **name == *own && value.same(&Abs::NONE)) {
            return self.bail(Code::Join, format!("an object of class {what} that exists on some paths only"));
        }
        let late = self.world.late.iter().filter(|(class, _)| *class == object.class.key).map(|(_, name)| name);
        let has_not = |name: &&Name| attributes.iter().all(|(own, _)| own != *name);
        let late: Vec<_> = late.filter(has_not).map(|name| (name.clone(), Abs::Unbound)).collect();
        attributes.extend(late);
        attributes.sort_by(|a, b| a.0.cmp(&b.0));
        self.escaping.push(Escaping { own: own.clone(), class: object.class.key.clone(), attribute: Name::default() });
        let record = self.record_of(object, &attributes);
        self.escaping.pop();
        let (record, cycles) = record?;
        if let Some(frame) = self.frames.first_mut() {
            for (name, _) in &held {
                frame.vars.remove(name);
            }
            frame.vars.insert(Name::from(own), Abs::Dyn(record));
        }
        let view = self.seen(Abs::Dyn(record));
        let from = Abs::Instance(Rc::clone(object));
        for frame in &mut self.frames {
            self.world.budget.take(frame.vars.len() / 4);
            refer(frame, &from, &view);
        }
        for (cell, item) in cycles {
            let item = self.escaped(&item)?;
            self.apply(".append", &[cell, item])?;
        }
        Ok(record)
    }

    /// Makes an object a run-time value, if it can become one.
    pub fn may_escape(&mut self, object: &Rc<Instance>) -> Lift<bool> {
        if object.module.is_some() {
            return Ok(false);
        }
        match self.escape(object) {
            Ok(_) => Ok(true),
            Err(Stop::Bailout(_)) => Ok(false),
            Err(Stop::Restart) => Err(Stop::Restart),
        }
    }

    /// The record, and cells that are still empty with what they will hold: that refers to the object.
    fn record_of(&mut self, object: &Rc<Instance>, attributes: &[(Name, Abs)]) -> Lift<(Value, Vec<(Abs, Abs)>)> {
        let key = object.class.key.clone();
        let mut fields = Vec::new();
        // What the record holds, and of what name, and whether in a cell.
        let mut held: Vec<(Name, Abs, bool)> = Vec::new();
        for (name, value) in attributes {
            let at = held.len() as u32;
            let attribute = (key.clone(), name.clone());
            let field = if self.world.late.contains(&attribute) {
                Field::Late(at)
            } else if is_static(value) {
                Field::Static(value.clone())
            } else if self.world.assigned.contains(&attribute) {
                Field::Cell(at)
            } else {
                Field::Value(at)
            };
            if !matches!(field, Field::Static(_)) {
                held.push((name.clone(), value.clone(), !matches!(field, Field::Value(_))));
            }
            fields.push((name.clone(), field));
        }
        if self.world.identified.contains(&key) {
            fields.push((Name::from(IDENTITY), Field::Value(held.len() as u32)));
            let identity = self.b.inst(Opcode::List, Vec::new(), Type::list(Type::Never), None);
            held.push((Name::from(IDENTITY), Abs::Dyn(identity), false));
        }
        let shape = self.shape(&object.class, object.site, fields)?;
        let (mut values, mut cycles) = (Vec::new(), Vec::new());
        for (at, (name, item, is_cell)) in held.iter().enumerate() {
            if let Some(escaping) = self.escaping.last_mut() {
                escaping.attribute = name.clone();
            }
            let value = if *is_cell {
                // One place for the cells of all objects of the shape.
                let site = (usize::MAX, Span { start: shape as u32, end: at as u32 }, 0);
                let list = if matches!(item, Abs::Unbound) {
                    self.list_at(site, &[])?
                } else if self.world.cyclic.contains(&(key.clone(), name.clone())) {
                    let list = self.list_at(site, &[])?;
                    cycles.push((list.clone(), item.clone()));
                    list
                } else {
                    let item = self.escaped(item)?;
                    self.list_at(site, &[item])?
                };
                self.value(&list)?
            } else {
                let value = self.value(item)?;
                let ty = self.stored_type(&self.b.function.ty(value).clone(), false);
                self.convert(value, &ty)?
            };
            let made = self.sites.get(&value).map_or(&[][..], Vec::as_slice);
            add_sites(&mut self.world.shapes[shape].sites[at], made);
            values.push(value);
        }
        let types: Arc<[Type]> = values.iter().map(|value| self.b.function.ty(*value).clone()).collect();
        let class = Class::Object(shape as u32);
        if let Some(record) = self.boxed(class, &mut values, &types)? {
            return Ok((record, cycles));
        }
        let ty = Type::Record(class, types);
        if !crate::budget::is_small(&ty) {
            return self.bail(Code::Budget, format!("an object of class {} with too large a type", object.class.name));
        }
        Ok((self.b.inst(Opcode::Record(class), values, ty, None), cycles))
    }

    /// The number of a shape.
    pub(crate) fn shape(
        &mut self,
        class: &Rc<ClassObj>,
        site: Option<Site>,
        fields: Vec<(Name, Field)>,
    ) -> Lift<usize> {
        let is = |shape: &Shape| {
            shape.class.is(class)
                && shape.site == site
                && shape.fields.len() == fields.len()
                && shape.fields.iter().zip(&fields).all(|(a, b)| a.0 == b.0 && a.1.is(&b.1))
        };
        let count = fields.len();
        let shape = Shape { class: Rc::clone(class), site, fields: Vec::new(), sites: Vec::new() };
        match self.world.shapes.iter().position(is) {
            Some(at) => {
                // Of this attempt.
                let known = &mut self.world.shapes[at];
                known.class = shape.class;
                known.fields = fields;
                Ok(at)
            }
            None if self.world.shapes.len() >= MAX_SHAPES => {
                self.bail(Code::Budget, "objects of too many shapes at run time")
            }
            None => {
                self.world.shapes.push(Shape { fields, sites: vec![Vec::new(); count], ..shape });
                Ok(self.world.shapes.len() - 1)
            }
        }
    }

    fn field_of(&self, record: Value, name: &str) -> Option<(usize, Field)> {
        let at = self.b.function.ty(record).object_class()? as usize;
        let fields = &self.world.shapes.get(at)?.fields;
        fields.iter().find(|field| *field.0 == *name).map(|field| (at, field.1.clone()))
    }

    pub fn field_value(&mut self, record: Value, shape: usize, index: u32) -> Value {
        let record = self.unboxed(record);
        let ty = match self.b.function.ty(record) {
            Type::Record(_, types) => types.get(index as usize).cloned().unwrap_or(Type::Never),
            _ => Type::Never,
        };
        let field = self.b.inst(Opcode::Field(index), vec![record], ty, None);
        let sites = self.world.shapes[shape].sites[index as usize].clone();
        if !sites.is_empty() {
            self.sites.insert(field, sites);
        }
        field
    }

    /// An attribute of an object that is a run-time value; `None` where it has none.
    pub fn load(&mut self, record: Value, name: &str) -> Lift<Option<Abs>> {
        Ok(match self.field_of(record, name) {
            None => None,
            Some((_, Field::Static(value))) => Some(value),
            Some((shape, Field::Value(index))) => {
                let field = self.field_value(record, shape, index);
                Some(self.seen(Abs::Dyn(field)))
            }
            Some((shape, Field::Cell(index))) => {
                let cell = self.field_value(record, shape, index);
                let value = self.element(&Abs::Dyn(cell), &Abs::int(0))?;
                Some(self.seen(value))
            }
            Some((shape, Field::Late(index))) => {
                let cell = Abs::Dyn(self.field_value(record, shape, index));
                let (there, absent) = self.split_value(&cell)?;
                self.enter_any(there)?;
                let value = self.element(&cell, &Abs::int(0))?;
                let mut arms: Vec<Arm> = self.state().map(|state| (state, vec![value])).into_iter().collect();
                self.enter_any(absent)?;
                arms.extend(self.state().map(|state| (state, vec![Abs::Unbound])));
                let value = self.join(arms)?.pop().unwrap_or(Abs::Unbound);
                Some(self.seen(value))
            }
        })
    }

    /// The value, if it is one of several of which an object is one.
    pub fn union_with_objects(&self, abs: &Abs) -> Option<Value> {
        let (_, union) = self.union_operand(std::slice::from_ref(abs))?;
        self.b.function.ty(union).alternatives().iter().any(Type::is_object).then_some(union)
    }

    /// Whether an attribute of objects of a type is something else than a method.
    pub fn holds_attribute(&mut self, of: &Type, name: &str) -> Lift<bool> {
        let shape = match of {
            of if of.is_object() => self.shape_of_type(of),
            Type::Record(..) | Type::Pattern(_) => return self.is_read(of, name),
            Type::Int | Type::Bool | Type::Float => {
                return Ok(matches!(name, "real" | "imag" | "numerator" | "denominator"));
            }
            _ => None,
        };
        let Some(shape) = shape else { return Ok(false) };
        let has_field = shape.fields.iter().any(|field| *field.0 == *name);
        let is_method = matches!(
            ClassObj::find(&shape.class, name),
            Some((_, Member::Value(Abs::Func(_)) | Member::Static(_) | Member::OfClass(_)))
        );
        Ok(has_field || !is_method)
    }

    /// Sets an attribute of an object that is a run-time value.
    pub fn store(&mut self, object: &Instance, record: Value, name: &Name, value: &Abs) -> Lift<()> {
        match self.field_of(record, name) {
            Some((shape, Field::Cell(index))) if !matches!(value, Abs::Unbound) => {
                let cell = self.field_value(record, shape, index);
                self.apply("a[b]=c", &[Abs::Dyn(cell), Abs::int(0), value.clone()])?;
                Ok(())
            }
            Some((shape, Field::Late(index))) => {
                let cell = Abs::Dyn(self.field_value(record, shape, index));
                self.apply(".clear", std::slice::from_ref(&cell))?;
                if !matches!(value, Abs::Unbound) {
                    self.apply(".append", &[cell, value.clone()])?;
                }
                Ok(())
            }
            Some((_, Field::Value(_))) => {
                self.world.assigned.insert((object.class.key.clone(), name.clone()));
                self.other_shapes()
            }
            None if !object.class.prelude && object.module.is_none() && self.gets_later(&object.class, name) => {
                self.other_shapes()
            }
            _ => {
                let what = format!("attribute {name} of an object of class {} at run time", object.class.name);
                self.bail(Code::Mutation, what)
            }
        }
    }

    /// Lifts all again, with objects of other shapes.
    fn other_shapes<T>(&mut self) -> Lift<T> {
        self.world.forget_elements(&Type::is_object);
        Err(Stop::Restart)
    }

    /// Notes that objects of a class get an attribute after they became run-time values; whether that is news.
    fn gets_later(&mut self, class: &Rc<ClassObj>, name: &Name) -> bool {
        match ClassObj::find(class, name) {
            None => self.world.late.insert((class.key.clone(), name.clone())),
            Some(_) => self.has_default(class, name),
        }
    }

    /// Notes that an attribute of a class is what its objects begin with; whether that is news.
    pub fn has_default(&mut self, class: &Rc<ClassObj>, name: &Name) -> bool {
        let Some((owner, Member::Value(Abs::Const(value)))) = ClassObj::find(class, name) else { return false };
        let is_shared = matches!(value, Object::List(_) | Object::Dict(_) | Object::Set(_));
        !owner.prelude && !is_shared && self.world.defaults.insert((owner.key.clone(), name.clone()))
    }

    /// Whether two objects are one.
    pub fn is_one_object(&mut self, left: &Abs, right: &Abs) -> Lift<Abs> {
        if left.same(right) {
            return Ok(Abs::bool(true));
        }
        let (Abs::Instance(a), Abs::Instance(b)) = (left, right) else { return Ok(Abs::bool(false)) };
        // Nobody asks for the identity of values but together with equality.
        if is_of_values(&a.class) || is_of_values(&b.class) {
            return Ok(Abs::bool(false));
        }
        // What refers to an object that did not escape is known.
        let (Some(one), Some(other)) = (self.escaped_as(a), self.escaped_as(b)) else { return Ok(Abs::bool(false)) };
        if !a.class.is(&b.class) {
            return Ok(Abs::bool(false));
        }
        let (one, other) = (self.identity_in(a, one)?, self.identity_in(b, other)?);
        self.apply_named("list.is", &[one, other])
    }

    /// What tells an object from others.
    fn identity_in(&mut self, object: &Instance, record: Value) -> Lift<Abs> {
        match self.load(record, IDENTITY)? {
            Some(identity) => Ok(identity),
            None => {
                self.world.identified.insert(object.class.key.clone());
                self.other_shapes()
            }
        }
    }

    /// A number that no other object has; None of one that may be equal to another.
    pub fn identity_of(&mut self, object: &Rc<Instance>) -> Lift<Abs> {
        let class = &object.class;
        let is_other = class.prelude || class.exception.is_some() || object.module.is_some() || !class.lacks_equality();
        if is_other {
            return Ok(Abs::NONE);
        }
        let record = self.escape(object)?;
        let identity = self.identity_in(object, record)?;
        self.apply_named("list.identity", &[identity])
    }

    // ---- where paths meet ----

    /// Makes objects run-time values that are so on one of the arms, and those of variables that
    /// hold something else on another.
    pub fn escape_objects(&mut self, arms: &mut [Arm]) -> Lift<()> {
        // An object that escapes may be held by other variables on other arms.
        for _ in 0..MAX_SHAPES {
            if !self.escape_some(arms)? {
                break;
            }
        }
        Ok(())
    }

    /// Whether there was one.
    fn escape_some(&mut self, arms: &mut [Arm]) -> Lift<bool> {
        let mut some = false;
        for name in self.names_of_escaped(arms) {
            let Some(object) = self.objects.get(&name).cloned() else { continue };
            // Where it is not made yet there is nothing to do.
            let mut there = arms.iter_mut().filter(|arm| arm.0.frames[0].vars.get(&name).is_some());
            match there.try_fold(true, |all, arm| Ok(all & self.escape_on(arm, &object)?)) {
                Err(stop) => return Err(stop),
                Ok(true) => some = true,
                // There it is neither.
                Ok(false) => arms.iter_mut().for_each(|arm| {
                    arm.0.frames[0].vars.insert(name.clone(), Abs::Conflict);
                }),
            }
        }
        for (at, object) in self.differing_objects(arms) {
            some |= self.escape_on(&mut arms[at], &object)?;
        }
        Ok(some)
    }

    /// Whether an object could become a run-time value at the end of an arm.
    fn escape_on(&mut self, arm: &mut Arm, object: &Rc<Instance>) -> Lift<bool> {
        self.enter(arm.0.clone());
        if !self.may_escape(object)? {
            return Ok(false);
        }
        if let Some(state) = self.state() {
            arm.0 = state;
        }
        let from = Abs::Instance(Rc::clone(object));
        let view = self.escaped(&from)?;
        for extra in &mut arm.1 {
            if let Some(new) = referring(extra, &from, &view) {
                *extra = new;
            }
        }
        Ok(true)
    }

    /// Objects that are run-time values on some arms and not on others.
    fn names_of_escaped(&self, arms: &[Arm]) -> Vec<Name> {
        let differs = |name: &&Name| {
            let column = || arms.iter().map(|arm| arm.0.frames[0].vars.get(*name));
            is_own(name)
                && column().any(|value| matches!(value, Some(Abs::Dyn(_))))
                && column().any(|value| value.is_some_and(|value| !matches!(value, Abs::Dyn(_))))
        };
        self.differing(arms, 0).into_iter().filter(|name| differs(&name)).collect()
    }

    /// Objects, within tuples too, that meet another value that exists at run time, and on which arm.
    fn differing_objects(&self, arms: &[Arm]) -> Vec<(usize, Rc<Instance>)> {
        let mut found = Vec::new();
        for slot in self.slots(arms) {
            if let Some(column) = slot.column(arms) {
                self.meeting_objects(&column, &mut found);
            }
        }
        found
    }

    fn meeting_objects(&self, column: &[&Abs], found: &mut Vec<(usize, Rc<Instance>)>) {
        if column.iter().all(|value| value.same(column[0])) {
            return;
        }
        let tuples: Option<Vec<Vec<Abs>>> = column.iter().map(|value| value.tuple_items()).collect();
        match tuples {
            Some(tuples) if tuples.iter().all(|items| items.len() == tuples[0].len()) => {
                for index in 0..tuples[0].len() {
                    let column: Vec<&Abs> = tuples.iter().map(|items| &items[index]).collect();
                    self.meeting_objects(&column, found);
                }
            }
            _ if column.iter().all(|value| self.exists_at_run_time(value)) => {
                column.iter().enumerate().for_each(|(at, value)| objects_within(value, at, found));
            }
            _ => {}
        }
    }

    /// Whether a value exists at run time, or can if its objects escape.
    fn exists_at_run_time(&self, value: &Abs) -> bool {
        match value {
            Abs::Instance(object) => object.module.is_none() && object.class.exception.is_none(),
            Abs::Dyn(value) => !self.b.function.ty(*value).alternatives().contains(&Type::Unbound),
            Abs::Const(constant) => !matches!(constant, Object::Dict(_) | Object::Set(_)),
            Abs::Tuple(items) => items.iter().all(|item| self.exists_at_run_time(item)),
            _ => false,
        }
    }
}

/// The objects that are nothing but cells within a value of an arm.
fn objects_within(value: &Abs, at: usize, found: &mut Vec<(usize, Rc<Instance>)>) {
    match value {
        Abs::Instance(object) if object.value.is_none() => found.push((at, Rc::clone(object))),
        Abs::Tuple(items) => items.iter().for_each(|item| objects_within(item, at, found)),
        _ => {}
    }
}

/// A value that refers to another object in the place of one, also within tuples; `None` where it does
/// not refer to that.
fn referring(value: &Abs, from: &Abs, to: &Abs) -> Option<Abs> {
    match value {
        Abs::Tuple(items) => Abs::renewed(items, |item| referring(item, from, to)),
        other => other.same(from).then(|| to.clone()),
    }
}

/// Makes the variables of a frame that refer to one object refer to another.
fn refer(frame: &mut Frame, from: &Abs, to: &Abs) {
    let renewed = |(name, value): (&Name, &Abs)| Some((name.clone(), referring(value, from, to)?));
    let renewed: Vec<(Name, Abs)> = frame.vars.iter().filter_map(renewed).collect();
    for (name, value) in renewed {
        frame.vars.insert(name, value);
    }
    if frame.owner.as_ref().is_some_and(|(_, receiver)| receiver.same(from))
        && let Some((_, receiver)) = &mut frame.owner
    {
        *receiver = to.clone();
    }
}

/// Which attributes are assigned to.
pub(crate) type Assigned = std::collections::HashSet<(ClassKey, Name)>;
