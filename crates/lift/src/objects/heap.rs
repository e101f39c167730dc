//! The heap while lifting: objects of classes written in Python.
//!
//! An object is made at one place, on one path of calls, and never becomes a run-time value:
//! what it holds is kept in *cells*, hidden variables of the function's outermost frame, one for
//! each attribute. So it costs what local variables cost, and paths join cell by cell as they do
//! variable by variable. Each object has a cell of its own, without a name, that says that it
//! exists: where paths meet of which only some made it, nothing can refer to it afterwards (a
//! variable that did is a [`Abs::Conflict`] there), and its cells are dropped; the same at the
//! end of a loop's turn.
//!
//! An object of a module is read from the variables of that module, and no function changes it.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::values::is_of_values;
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter, Site, Stop, Vars};
use exuvia_ir::{Type, Value};
use std::ops::Bound;
use std::rc::Rc;

/// An object of a class written in Python.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub class: Rc<ClassObj>,
    /// Tells it from others of the same lifting or module.
    id: u32,
    /// Where it was made, if the class is of the prelude.
    pub site: Option<Site>,
    /// The record that it is (`escape.rs`); it has no cells then.
    pub value: Option<Value>,
    /// The module whose body made it; `None`: the function did.
    pub module: Option<usize>,
}

impl Instance {
    /// Whether both are one object.
    pub fn is(&self, other: &Instance) -> bool {
        self.id == other.id && self.module == other.module && self.value == other.value
    }

    /// An object that is a run-time value.
    pub fn of_record(class: &Rc<ClassObj>, site: Option<Site>, record: Value) -> Instance {
        Instance { class: Rc::clone(class), id: 0, site, value: Some(record), module: None }
    }

    /// The same object under another number.
    pub fn with_id(&self, id: u32) -> Instance {
        Instance { class: Rc::clone(&self.class), id, site: self.site, value: None, module: None }
    }

    /// The same object by a class that lets its attributes be set.
    pub fn open(&self, class: &Rc<ClassObj>) -> Instance {
        Instance { class: Rc::clone(class), ..self.clone() }
    }

    /// The variable that says that it exists.
    pub fn own(&self) -> String {
        format!("{CELL}{}", self.id)
    }

    /// The variable that holds an attribute.
    pub fn cell(&self, name: &str) -> Name {
        Name::from(format!("{}.{name}", self.own()))
    }
}

/// The variables of an object: what says that it exists, and its cells.
pub(crate) fn cells<'v>(vars: &'v Vars, object: &Instance) -> impl Iterator<Item = (&'v Name, &'v Abs)> {
    let own = object.own();
    // They lie together: what begins with another number has a digit where these have a dot.
    vars.range::<str, _>((Bound::Included(&own[..]), Bound::Unbounded))
        .take_while(move |(name, _)| object_of(name) == Some(&own))
}

/// The variable of one object for that of another.
pub(crate) fn cell_of(name: &Name, from: &Instance, to: &Instance) -> Name {
    Name::from(format!("{}{}", to.own(), &name[from.own().len()..]))
}

/// How the names of cells begin.
const CELL: &str = ".object";

/// The variable that says that the object exists of which a variable is a cell.
pub(crate) fn object_of(name: &Name) -> Option<&str> {
    let rest = name.strip_prefix(CELL)?;
    let digits = rest.find('.').unwrap_or(rest.len());
    Some(&name[..CELL.len() + digits])
}

/// Whether a variable is the one that says that an object exists, or which record it is.
pub(crate) fn is_own(name: &Name) -> bool {
    object_of(name) == Some(&**name)
}

/// Whether a variable is a cell of an object that does not exist everywhere.
pub(crate) fn is_dropped<'a>(name: &Name, mut everywhere: impl Iterator<Item = &'a Vars>) -> bool {
    object_of(name).is_some_and(|own| everywhere.any(|vars| !vars.contains_key(own)))
}

impl Lifter<'_> {
    /// A new object without attributes.
    pub fn new_instance(&mut self, class: &Rc<ClassObj>) -> Abs {
        self.hidden += 1;
        let module = self.module_mode.then(|| self.frames.first().map_or(0, |frame| frame.module));
        let site = (class.prelude && !is_of_values(class)).then(|| self.site());
        let object = Instance { class: Rc::clone(class), id: self.hidden, site, value: None, module };
        let object = Abs::Instance(self.exists(object));
        if self.module_mode && (!class.prelude || &*class.name == "_Sentinel") {
            self.world.made_by_modules.entry(class.key.clone()).or_default().push(object.clone());
        }
        object
    }

    /// Notes that an object exists.
    pub fn exists(&mut self, object: Instance) -> Rc<Instance> {
        let own = Name::from(object.own());
        let object = Rc::new(object);
        if let Some(frame) = self.frames.first_mut() {
            frame.vars.insert(own.clone(), Abs::NONE);
        }
        self.objects.insert(own, Rc::clone(&object));
        object
    }

    /// Whether this lifting may change an object.
    fn is_open(&self, object: &Instance) -> bool {
        match object.module {
            None => true,
            Some(module) => self.module_mode && self.frames.first().is_some_and(|frame| frame.module == module),
        }
    }

    /// Whether the code being lifted is the prelude's.
    pub fn is_in_prelude(&self) -> bool {
        self.world.loading_prelude || self.frames.get(self.current).is_some_and(|frame| self.in_prelude(frame.module))
    }

    /// An attribute that the object itself has.
    pub fn own_attribute(&mut self, object: &Instance, name: &str) -> Lift<Option<Abs>> {
        self.world.budget.take(8);
        if let Some(record) = self.escaped_as(object) {
            return self.load(record, name);
        }
        if self.is_shaped(object) {
            return self.unshape(object);
        }
        let vars = match object.module {
            Some(module) if !self.is_open(object) => self.world.modules.get(module).map(|module| &module.globals),
            _ => self.frames.first().map(|frame| &frame.vars),
        };
        let mut variable = object.own();
        if vars.is_some_and(|vars| matches!(vars.get(&variable[..]), Some(Abs::Conflict))) {
            return self.bail(Code::Join, format!("an object of class {} on two paths", object.class.name));
        }
        variable.push('.');
        variable.push_str(name);
        Ok(vars.and_then(|vars| vars.get(&variable[..]).cloned()))
    }

    /// `object.name`.
    pub fn instance_attribute(&mut self, object: &Rc<Instance>, name: &Name) -> Lift<Abs> {
        let member = ClassObj::find(&object.class, name);
        if let Some((owner, member @ Member::Property { .. })) = member {
            return self.member(owner, member, &Abs::Instance(Rc::clone(object)));
        }
        // In CPython what isocalendar gives is no named tuple.
        let is_of_tuple = ClassObj::is_named(&object.class)
            && (object.class.fields.iter().any(|field| field.0 == *name)
                || matches!(&**name, "_replace" | "_asdict" | "_fields")
                    && !matches!(&*object.class.name, "IsoCalendarDate" | "struct_time"));
        let is_hidden = object.class.prelude && !is_of_tuple && !has_any_attribute(&object.class);
        if is_hidden && !self.is_in_prelude() && (name.starts_with('_') || member.is_none()) {
            let class = object.class.name.trim_start_matches('_');
            return self.bail(Code::Callee, format!("attribute {name} of {}", of_kind(class)));
        }
        if self.is_part_of_dict(object, name) && member.as_ref().is_none_or(|(owner, _)| owner.prelude) {
            return self.bail(Code::Callee, format!("attribute {name} of an object below dict"));
        }
        if self.member_named(&object.class, name).is_some()
            || !self.is_in_prelude()
                && self.flags_of(&object.class).is_some()
                && !matches!(&**name, "name" | "value")
                && member.as_ref().is_none_or(|(owner, _)| owner.prelude)
        {
            return self.bail(Code::Callee, "a member of an enumeration as an attribute of another");
        }
        match (self.own_attribute(object, name)?, member) {
            (Some(Abs::Conflict), _) => {
                self.bail(Code::Join, format!("attribute {name} holds values of unrelated kinds on two paths"))
            }
            (Some(Abs::Dyn(value)), member) if self.b.function.ty(value).alternatives().contains(&Type::Unbound) => {
                if self.has_default(&object.class, name) {
                    return Err(Stop::Restart);
                }
                if !matches!(member, None | Some((_, Member::Cached(_)))) {
                    return self.bail(Code::Join, format!("attribute {name} is the object's or the class's"));
                }
                self.dispatch(value, &mut |me, narrowed| match (narrowed, &member) {
                    (Abs::Unbound, Some((owner, Member::Cached(get)))) => {
                        me.compute_cached(object, name, Rc::clone(owner), get)
                    }
                    (Abs::Unbound, _) => me.missing_attribute(&object.class, name),
                    (other, _) => Ok(other),
                })
            }
            (Some(Abs::Unbound) | None, Some((owner, Member::Cached(get)))) => {
                self.compute_cached(object, name, owner, &get)
            }
            (Some(Abs::Unbound) | None, Some((owner, member))) => {
                self.member(owner, member, &Abs::Instance(Rc::clone(object)))
            }
            // What every object has, or every exception, or every named tuple.
            (Some(Abs::Unbound) | None, None)
                if name.starts_with("__")
                    || name.starts_with('_') && ClassObj::is_named(&object.class)
                    || object.class.exception.is_some() && matches!(&**name, "with_traceback" | "add_note") =>
            {
                self.bail(Code::Callee, format!("attribute {name} of an object"))
            }
            (Some(Abs::Unbound) | None, None) => {
                // A method of its text.
                match self.text_of_member(&Abs::Instance(Rc::clone(object)))? {
                    Some(text) => self.method_of_text(text, name),
                    None => self.missing_attribute(&object.class, name),
                }
            }
            (Some(value), _) => Ok(value),
        }
    }

    /// Whether a dict has a member because the prelude's class needs it.
    pub fn is_of_prelude(&self, object: &Instance, name: &str) -> bool {
        let is_hidden = crate::objects::class_statement::is_inner(name) || name == "__missing__";
        is_hidden && ClassObj::find(&object.class, name).is_none_or(|(owner, _)| owner.prelude)
    }

    /// Whether an attribute of an object of a class below `dict` is one in which the prelude keeps its entries,
    /// and no code of the prelude's asks.
    fn is_part_of_dict(&self, object: &Instance, name: &str) -> bool {
        crate::objects::class_statement::is_inner(name)
            && !object.class.prelude
            && ClassObj::is_dict(&object.class)
            && !self.is_in_prelude()
    }

    /// What `functools.cached_property` gives an object that has not asked for it.
    fn compute_cached(&mut self, object: &Rc<Instance>, name: &Name, owner: Rc<ClassObj>, get: &Abs) -> Lift<Abs> {
        if ClassObj::is_named(&object.class) || ClassObj::is_slotted(&object.class) {
            return self.bail(Code::Callee, "a cached property of an object that has no other attributes");
        }
        let receiver = Abs::Instance(Rc::clone(object));
        self.next_owner = Some((owner, receiver.clone()));
        let value = self.call_value(get, vec![receiver], Vec::new())?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let is_same_again = |ty: &Type| matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float | Type::Str);
        if !self.is_open(object) && self.type_of(&value).is_some_and(|ty| ty.alternatives().iter().all(is_same_again)) {
            // An object of the module, of which nobody changes what this is made of.
            return Ok(value);
        }
        self.set_attribute_of_frozen(object, name, value.clone())?;
        Ok(value)
    }

    /// `object.name = value`.
    pub fn set_attribute(&mut self, object: &Rc<Instance>, name: &Name, value: Abs) -> Lift<()> {
        // The `__init__` that `dataclass` makes sets them otherwise.
        let is_being_made = self.unfolding.last().is_some_and(|function| self.is_made(function.def));
        if self.live && object.class.frozen && !is_being_made {
            return self.bail(Code::Mutation, format!("attribute {name} of a frozen object is changed"));
        }
        self.set_attribute_of_frozen(object, name, value)
    }

    /// `object.__setattr__(object, name, value)`.
    pub fn set_attribute_of_frozen(&mut self, object: &Rc<Instance>, name: &Name, value: Abs) -> Lift<()> {
        self.world.budget.take(8);
        if !self.live {
            return Ok(());
        }
        if !self.is_open(object) {
            return self.bail(Code::Mutation, format!("attribute {name} of an object of the module is changed"));
        }
        if object.class.prelude && !self.is_in_prelude() && !has_any_attribute(&object.class) {
            return self.bail(Code::Mutation, format!("attribute {name} of a {}", object.class.name));
        }
        if self.is_part_of_dict(object, name) {
            return self.bail(Code::Mutation, format!("attribute {name} of an object below dict, which begins with _"));
        }
        if name.starts_with("__") {
            return self.bail(Code::Mutation, format!("assignment to attribute {name}"));
        }
        if let Some((owner, Member::Property { set, .. })) = ClassObj::find(&object.class, name) {
            let Some(setter) = set else {
                return self.bail(Code::Mutation, format!("assignment to the property {name}"));
            };
            let receiver = Abs::Instance(Rc::clone(object));
            self.next_owner = Some((owner, receiver.clone()));
            self.call_value(&setter, vec![receiver, value], Vec::new())?;
            return Ok(());
        }
        self.check_slot(&object.class, name)?;
        self.may_hold(&value)?;
        if self.is_shaped(object) {
            return self.unshape(object);
        }
        if let Some(record) = self.escaped_as(object) {
            return self.store(object, record, name, &value);
        }
        if let Some(frame) = self.frames.first_mut() {
            frame.vars.insert(object.cell(name), value);
        }
        Ok(())
    }

    /// Refuses what an object may not hold, which may outlive the frame that a function sees.
    pub fn may_hold(&self, value: &Abs) -> Lift<()> {
        self.refuse_iterator(value)?;
        if crate::walk::leave::refers_to(value, 1, &self.world.budget) {
            return self.bail(Code::StaticValue, "an object holds a function that sees variables of another");
        }
        Ok(())
    }

    /// `del object.name`.
    pub fn delete_attribute(&mut self, object: &Rc<Instance>, name: &Name) -> Lift<()> {
        let value = self.own_attribute(object, name)?;
        let perhaps = |value: &Abs| match value {
            Abs::Dyn(value) => self.b.function.ty(*value).alternatives().contains(&Type::Unbound),
            other => matches!(other, Abs::Unbound | Abs::Conflict),
        };
        if value.as_ref().is_none_or(perhaps) {
            return self.bail(Code::Mutation, "del of an attribute that is not there");
        }
        self.set_attribute(object, name, Abs::Unbound)
    }
}

/// Whether a class of the prelude gives its objects what attributes the user wants.
pub(crate) fn has_any_attribute(class: &Rc<ClassObj>) -> bool {
    ClassObj::is_below(class, "SimpleNamespace")
}

/// A class of the prelude with its article.
pub(crate) fn of_kind(class: &str) -> String {
    let article = if class.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {class}")
}
