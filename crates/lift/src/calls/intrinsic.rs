//! What the prelude can say that Python cannot: names that only its modules see.

use crate::abs::{Abs, Iter};
use crate::bailout::Code;
use crate::objects::class::{ClassObj, Member};
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter, Stop};
use exuvia_ir::{Class, DictObj, ExcKind, Int, Object, Opcode, RecordObj, Terminator, Type};
use exuvia_ops::def::OpDef;
use std::rc::Rc;
use std::sync::Arc;

/// What stands for an argument that was not given.
pub(crate) const MISSING: &str = "_missing";

/// The names.
pub(crate) const NAMES: &[&str] = &[
    MISSING,
    "_is_missing",
    "_is_constant",
    "_made",
    "_has_own",
    "_is_function",
    "_renamed",
    "_is_iterator",
    "_is_quiet",
    "_collected",
    "_copied",
    "_asked_for_length",
    "_cached",
    "_type_name",
    "_is_itself",
    "_identity",
    "_hashed_fields",
    "_position",
    "_is_of",
    "_sees",
    "_changes",
    "_breaks_ties",
    "_leave",
    "_refuse",
    "_text_of",
    "_refuse_or_leave",
    "_reads_zones",
    "_operation",
    "_takes",
    "_extend",
    "_attribute",
    "_enter",
    "_exit",
    "_positional",
    "_field",
    "_record",
    "_group_names",
    "_dict_of_pairs",
    "_compile",
    "_same_class",
    "_same_object",
    "_item",
    "_unordered",
    "_constant_parts",
    "_translation",
    "_order_known",
    "_sets_in_order",
    "_ask_for_order",
    "_is_exactly_dict",
    "_across",
    "_apart",
    "_sampled",
    "_type",
    "_element_types",
    "_in_sql",
    "_force",
];

impl Lifter<'_> {
    /// Whether the code being lifted, of that module, may name intrinsics: the prelude's, and
    /// what a decorator makes.
    pub fn sees_intrinsics(&self, module: usize) -> bool {
        self.world.loading_prelude
            || self.in_prelude(module)
            || self.unfolding.last().is_some_and(|function| self.is_made(function.def))
    }

    /// Whether a user wrote the `__eq__` of a class; `None` where it has none.
    fn has_own_equality(&self, class: &Rc<ClassObj>) -> Option<bool> {
        let (owner, member) = ClassObj::find(class, "__eq__")?;
        let is_made = matches!(&member, Member::Value(Abs::Func(closure)) if self.is_made(Arc::as_ptr(&closure.def)));
        Some(!owner.prelude && !is_made)
    }

    /// Whether a value is one of several objects of which one has an `__eq__` that a user wrote.
    fn may_differ_from_itself(&self, abs: &Abs) -> bool {
        match abs {
            Abs::OneOf(choice) => choice.of.iter().any(|(_, item)| self.may_differ_from_itself(item)),
            Abs::Instance(object) => self.has_own_equality(&object.class) == Some(true),
            _ => false,
        }
    }

    /// Calls an intrinsic.
    pub fn intrinsic(&mut self, name: &str, args: &[Abs]) -> Lift<Abs> {
        // What an operation takes is asked once for all that a value may be, and so is one that takes it as it is.
        if name != "_takes"
            && !(name == "_operation" && self.takes_as_it_is(args))
            && let Some((_, value)) = self.union_operand(args)
        {
            return self.dispatch(value, &mut |me, narrowed| {
                let args: Vec<Abs> =
                    args.iter().map(|arg| arg.replace(value, &narrowed).unwrap_or_else(|| arg.clone())).collect();
                me.intrinsic(name, &args)
            });
        }
        match (name, args) {
            // Whether an argument was not given.
            ("_is_missing", [value]) => Ok(Abs::bool(matches!(value, Abs::Builtin(name) if &**name == MISSING))),
            ("_is_constant", [value]) => Ok(Abs::bool(matches!(value, Abs::Const(_)))),
            // Whether the class of an object has a method that a user wrote.
            ("_has_own", [value, names @ ..]) => {
                let own = |class: &Rc<ClassObj>| {
                    let has = |name: &Abs| matches!(name, Abs::Const(Object::Str(name)) if class.members.contains_key(&**name));
                    !class.prelude && names.iter().any(has)
                };
                Ok(Abs::bool(matches!(value, Abs::Instance(object) if ClassObj::ancestry(&object.class).any(own))))
            }
            // A copy, of what it holds too or not.
            ("_copied", [value, Abs::Const(Object::Bool(deep))]) => self.copied(value, *deep),
            // What the factory of a field makes.
            ("_made", [Abs::Instance(object), Abs::Const(Object::Str(name))]) => {
                self.made_default(&Rc::clone(&object.class), name)
            }
            // Whether a value is an object of the module that is equal to itself only, and which one.
            ("_is_itself", [value]) => Ok(Abs::bool(self.is_equal_to_itself_only(value))),
            ("_position", [value]) => match self.position_of(value)? {
                Some(at) => Ok(at),
                None => self.bail(Code::StaticValue, "the position of what is no object of the module"),
            },
            // A number that no other object has, of one that is equal to itself only; None of others.
            ("_identity", [Abs::Instance(object)]) => self.identity_of(&Rc::clone(object)),
            ("_identity" | "_type_name", [value]) if self.shape_of(value).is_some() => {
                let seen = self.seen(value.clone());
                self.intrinsic(name, &[seen])
            }
            ("_identity", [_]) => Ok(Abs::NONE),
            // What the hash of an object is made of that `dataclass` wrote; None of others.
            ("_hashed_fields", [value]) => self.hashed_fields(value),
            // The list of what a generator yields, made by a function of its own.
            ("_collected", [Abs::Iter(iter)]) if let Iter::Call { function: Abs::Func(closure), args } = &**iter => {
                self.recursion(closure, &args.iter().cloned().collect())
            }
            // The class of an object.
            ("_type", [Abs::Instance(object)]) => Ok(Abs::Class(Rc::clone(&object.class))),
            // The class of a value as messages name it.
            ("_type_name", [Abs::Instance(object)]) => Ok(Abs::str(&self.class_shown(&object.class)?)),
            ("_type_name", [value]) => match self.type_of(value) {
                None if let Some(class) = self.class_of_module(value) => Ok(Abs::str(&self.class_shown(&class)?)),
                Some(ty) => Ok(Abs::str(ty.message_name())),
                None => self.bail(Code::StaticValue, "the type of a static value"),
            },
            // Whether it is an object of one of these classes, as files of the prelude are called.
            ("_is_of", [value, paths @ ..]) => {
                let of = self.type_of(value).filter(|_| !matches!(value, Abs::Instance(_)));
                let is = |path: &Abs| matches!((path, &of), (Abs::Const(Object::Str(path)), Some(ty)) if &**path == ty.path());
                Ok(Abs::bool(paths.iter().any(is)))
            }
            // Whether it can, and may.
            ("_changes", [function, container]) => Ok(Abs::bool(self.may_change(function, container))),
            // Whether keys that a function makes are all different, and nobody sees in which order it is called.
            ("_breaks_ties", [function]) => Ok(Abs::bool(self.breaks_ties(function))),
            // Whether a function that is given can reach a container.
            ("_sees", [function, container]) => Ok(Abs::bool(self.sees(function, container))),
            // The methods of a context manager.
            ("_enter" | "_exit", [Abs::Instance(manager), given @ ..]) => {
                let method = if name == "_enter" { "__enter__" } else { "__exit__" };
                match self.call_special(&Rc::clone(manager), method, given.to_vec())? {
                    Some(result) => Ok(result),
                    None => self.bail(Code::Callee, format!("an object without {method} in a with statement")),
                }
            }
            ("_enter" | "_exit", _) => self.bail(Code::Callee, "a with statement of such a value"),
            // An attribute by its name.
            ("_attribute", [Abs::Instance(object), Abs::Const(Object::Str(name))])
                if object.class.prelude && ClassObj::find(&object.class, name).is_none()
                    || ClassObj::is_dict(&object.class) && self.is_of_prelude(object, name) =>
            {
                self.bail(Code::Callee, format!("an attribute {name} of such an object"))
            }
            ("_attribute", [value, Abs::Const(Object::Str(name))]) => self.attribute(value.clone(), name),
            ("_attribute", [Abs::Instance(object), name]) if self.type_of(name) == Some(Type::Str) => {
                self.attribute_by_name(&Rc::clone(object), name)
            }
            ("_attribute", [_, name]) => match self.type_of(name) {
                Some(Type::Str) | None => self.bail(Code::StaticValue, "an attribute whose name is not constant"),
                Some(ty) => {
                    let message = format!("attribute name must be string, not '{}'", ty.message_name());
                    self.raise_message(ExcKind::TypeError, &message)
                }
            },
            // The attribute that a class pattern's sub-pattern at a position is matched with, of so many.
            ("_positional", [class, Abs::Const(Object::Int(at)), Abs::Const(Object::Int(count)), value]) => {
                self.positional(class, at, count, value)
            }
            // The names of the types of a list's elements, as far as they are known.
            ("_element_types", [list]) => match self.type_of(list) {
                Some(Type::List(element)) => {
                    let held = element.alternatives().iter().filter(|ty| !matches!(ty, Type::Never));
                    Ok(Abs::tuple(held.map(|ty| Abs::str(ty.python_name())).collect()))
                }
                _ => self.bail(Code::StaticValue, "the elements of such a value"),
            },
            // Before an array is changed.
            ("_force", []) if self.snapshots > 0 => {
                self.bail(Code::Mutation, "an array is changed while zip or reversed goes over one")
            }
            ("_force", []) => {
                for value in self.held.clone().iter().rev() {
                    self.force(value)?;
                }
                Ok(Abs::NONE)
            }
            // What SQL sees of it.
            ("_in_sql", [value]) => self.in_sql(value),
            // An element of a list that has it.
            ("_item", [list, index]) => self.element(list, index),
            // The members of a set, for what does not depend on their order; anything else as it is.
            ("_unordered", [Abs::Const(Object::Set(set))]) => {
                Ok(Abs::Const(Object::list(set.members.entries().iter().map(|entry| entry.0.clone()).collect())))
            }
            // Of a constant set: its members, their hashes, what lies at the places of its table and how many
            // they are; nothing where its table is not known, and None of what is no constant.
            // The characters that a constant dict translates, and what they become; None of others.
            ("_translation", [Abs::Const(Object::Dict(table))]) => Ok(match translation(table) {
                Some((keys, values)) => Abs::tuple(vec![Abs::str(&keys), Abs::Const(Object::list(values))]),
                None => Abs::NONE,
            }),
            ("_translation", [_]) => Ok(Abs::NONE),
            ("_constant_parts", [Abs::Const(Object::Set(set))]) => Ok(Abs::tuple(crate::data::sets::parts(set))),
            ("_constant_parts", [_]) => Ok(Abs::NONE),
            ("_order_known", [Abs::Const(Object::Set(set))]) => Ok(Abs::bool(set.table.is_some())),
            ("_order_known", [value]) => self.attribute(value.clone(), &"_ordered".into()),
            // Whether sets have CPython's tables, and that something needs them to have those.
            ("_sets_in_order", []) => Ok(Abs::bool(self.world.sets_in_order)),
            ("_ask_for_order", []) if self.world.sets_in_order => Ok(Abs::NONE),
            ("_ask_for_order", []) => {
                self.world.sets_in_order = true;
                // A statement of the module is passed over then, but not the next time.
                self.world.stale |= self.module_mode;
                Err(Stop::Restart)
            }
            // Whether it is a dict, and of no class below that.
            ("_is_exactly_dict", [value]) => Ok(Abs::bool(match value {
                Abs::Instance(object) => object.class.prelude && &*object.class.name == "dict",
                value => self.is_dict(value) || matches!(self.type_of(value), Some(Type::Record(Class::JsonObject, _))),
            })),
            ("_unordered", [value]) => {
                if let Abs::Instance(object) = value
                    && let Some(members) = self.call_special(&Rc::clone(object), "_in_any_order", Vec::new())?
                {
                    return Ok(members);
                }
                Ok(value.clone())
            }
            // Whether both are one object of a class written in Python.
            ("_same_object", [a @ Abs::Instance(one), b @ Abs::Instance(_)]) => {
                // Then equality says the same.
                if self.has_own_equality(&one.class) == Some(false) {
                    return Ok(Abs::bool(a.same(b)));
                }
                self.is_one_object(a, b)
            }
            // One of several objects of the module.
            ("_same_object", [a, b]) if self.may_differ_from_itself(a) && self.may_differ_from_itself(b) => {
                self.identical(a, b)
            }
            ("_same_object", [_, _]) => Ok(Abs::bool(false)),
            // Whether two objects have one class.
            ("_same_class", [Abs::Instance(a), b]) => {
                Ok(Abs::bool(matches!(b, Abs::Instance(b) if a.class.is(&b.class))))
            }
            ("_same_class", [_, _]) => Ok(Abs::bool(false)),
            // Whether it is something to call.
            // A function that has another name from now on than it was written with.
            ("_renamed", [function]) => {
                if let Abs::Func(closure) = function {
                    self.world.renamed.insert(Arc::as_ptr(&closure.def) as usize);
                }
                Ok(function.clone())
            }
            ("_is_function", [value]) => Ok(Abs::bool(matches!(
                value,
                Abs::Func(_) | Abs::Method(_) | Abs::Bound(_) | Abs::Class(_) | Abs::Builtin(_)
            ))),
            // Whether it is an iterator, and not only something that can be iterated.
            ("_is_iterator", [value]) => Ok(Abs::bool(matches!(value, Abs::Iter(iter) if !iter.is_lasting()))),
            // Whether nobody can tell when it is asked for its items.
            ("_is_quiet", [value]) => Ok(Abs::bool(self.is_quiet(value))),
            // What becomes part of a list is asked for its length.
            ("_asked_for_length", [value]) => self.asked_for_length(value),
            // A function that keeps its results.
            ("_cached", [Abs::Func(closure), keeps_all]) => {
                let keeps_all = matches!(keeps_all, Abs::Const(Object::Bool(true)));
                self.cached(closure, keeps_all)
            }
            // The row goes to CPython.
            ("_leave", args) => {
                let reason = match args {
                    [Abs::Const(Object::Str(reason))] => exuvia_ir::interned(reason),
                    _ => "the prelude leaves the fast path",
                };
                let span = self.b.span;
                self.end(Terminator::Bailout(reason, span));
                Ok(Abs::Unbound)
            }
            // The function goes to CPython.
            ("_refuse", [Abs::Const(Object::Str(reason))]) => self.bail(Code::Callee, reason.to_string()),
            // Where a value may be of another class there, only rows with this one are CPython's.
            ("_refuse_or_leave", [reason]) => {
                self.intrinsic(if self.arms > 0 { "_leave" } else { "_refuse" }, std::slice::from_ref(reason))
            }
            ("_reads_zones", []) => Ok(Abs::bool(self.world.reads_zones)),
            // The text that a member of an enumeration is; else the value itself.
            ("_text_of", [value]) => Ok(self.text_of_member(value)?.unwrap_or_else(|| value.clone())),
            // Whether an operation takes operands of these types.
            ("_takes", [Abs::Const(Object::Str(name)), operands @ ..]) => {
                let types = operands.iter().map(|operand| self.type_of(operand)).collect::<Option<Vec<_>>>();
                let takes = |types: Vec<Type>| exuvia_ops::by_name(name).is_some_and(|def| takes_all(def, &types));
                Ok(Abs::bool(types.is_some_and(takes)))
            }
            // Appends all of a list to another, so many times, if that can be done at once.
            ("_extend", [list, other, times]) => self.extend_at_once(list, other, times).map(Abs::bool),
            // An operation by its name in the IR.
            ("_operation", [Abs::Const(Object::Str(name)), operands @ ..]) => {
                let types = operands.iter().map(|operand| self.type_of(operand)).collect::<Option<Vec<_>>>();
                match types {
                    Some(types) if exuvia_ops::by_name(name).is_some_and(|def| def.accepts(&types)) => {
                        self.apply_named(name, operands)
                    }
                    // The hashes of no keys, where a module is run.
                    Some(types) if **name == *"hash.table" && types == [Type::list(Type::Never)] => {
                        self.apply_named(name, operands)
                    }
                    // No floats: a list of nothing has no type.
                    Some(types)
                        if !self.module_mode
                            && exuvia_ops::by_name(name)
                                .is_some_and(|def| def.accepts(&floats_for_nothing(&types))) =>
                    {
                        let nothing = Type::list(Type::Never);
                        let operand = |(operand, ty): (&Abs, &Type)| match *ty == nothing {
                            true => self.empty_list(Type::Float),
                            false => operand.clone(),
                        };
                        let operands: Vec<Abs> = operands.iter().zip(&types).map(operand).collect();
                        self.apply_named(name, &operands)
                    }
                    Some(types) => self.bail(
                        Code::Operands,
                        format!("{name} with {}", crate::walk::describe::types_for_people(&types)),
                    ),
                    None => self.bail(Code::StaticValue, format!("a static operand of {name}")),
                }
            }
            // What a function makes of each kind that a value may be of.
            ("_apart", [function, value]) => self.call_value(function, vec![value.clone()], Vec::new()),
            // What a function makes of samples, which may be asked while it is unfolded: that is no recursion.
            ("_sampled", [function, samples @ ..]) => {
                self.samples = true;
                let made = self.call_value(function, samples.to_vec(), Vec::new());
                self.samples = false;
                made
            }
            // What the prelude of a class makes of a value at the border to SQL, and what it has there.
            ("_across", [Abs::Const(Object::Str(function)), value, Abs::Const(Object::Str(module)), told @ ..]) => {
                self.call_across(function, module, value.clone(), told.to_vec())
            }
            ("_field", [object, Abs::Const(Object::Int(index))]) => {
                let index = index.to_i64().and_then(|index| usize::try_from(index).ok());
                self.field(object, index.unwrap_or(usize::MAX))
            }
            ("_record", [Abs::Const(Object::Str(class)), fields @ ..]) => match Class::from_name(class) {
                Some(class) => self.record(class, fields),
                None => self.bail(Code::Callee, format!("no class {class}")),
            },
            // `re.compile` with the bits of the flags.
            ("_compile", [Abs::Const(Object::Str(source)), Abs::Const(Object::Int(bits))]) => {
                let bits = bits.to_i64().and_then(|bits| u32::try_from(bits).ok());
                let Some(bits) = bits else { return self.bail(Code::Operands, "such flags of a pattern") };
                match self.world.compile_pattern(source, bits) {
                    Ok(pattern) => Ok(Abs::Const(Object::Pattern(pattern))),
                    Err(reason) => {
                        let shown: String = source.chars().take(60).collect();
                        let dots = if shown.len() < source.len() { "…" } else { "" };
                        self.bail(Code::Callee, format!("the pattern {shown:?}{dots}: {reason}"))
                    }
                }
            }
            ("_compile", [source, bits @ Abs::Const(Object::Int(_))]) if let Some(sources) = self.texts_of(source) => {
                self.one_of_patterns(source, &sources, bits)
            }
            // The names of a pattern's groups, in their order.
            ("_group_names", [Abs::Const(Object::Pattern(pattern))]) => {
                let Ok(regex) = exuvia_ops::pattern::regex(pattern) else {
                    return self.bail(Code::Callee, "the groups of a pattern that CPython must match");
                };
                let mut names = regex.names().to_vec();
                names.sort_by_key(|(_, group)| *group);
                Ok(Abs::tuple(names.iter().map(|(name, _)| Abs::str(name)).collect()))
            }
            // A dict of pairs that are known, whose keys are constants.
            ("_dict_of_pairs", [pairs]) => {
                if self.own.is_some() && self.frames.len() == 1 {
                    // Its keys are known where the function is unfolded.
                    return self.bail(Code::StaticValue, "a dict whose keys are known");
                }
                let pair = |pair: &Abs| <[Abs; 2]>::try_from(pair.tuple_items()?).ok().map(|[key, value]| (key, value));
                match pairs.tuple_items().and_then(|pairs| pairs.iter().map(pair).collect()) {
                    Some(fields) => self.dict_of_fields(fields),
                    None => self.bail(Code::Arguments, "a dict of pairs that are not known"),
                }
            }
            ("_compile", _) => self.bail(Code::StaticValue, "a pattern that is not constant"),
            _ => self.bail(Code::Arguments, format!("{name} with other arguments")),
        }
    }

    /// What a sub-pattern of a class pattern is matched with (language reference 8.6.4.9).
    fn positional(&mut self, class: &Abs, at: &Int, count: &Int, value: &Abs) -> Lift<Abs> {
        let Abs::Class(class) = class else { return self.bail(Code::Callee, "a pattern of such a class") };
        let found = ClassObj::find(class, "__match_args__").is_some();
        if found || class.prelude || !(ClassObj::is_dataclass(class) || ClassObj::is_named(class)) {
            return self.bail(Code::Callee, "a pattern of such a class");
        }
        let names = ClassObj::field_names_of_init(class);
        let (at, count) = (at.clamp_i64() as usize, count.clamp_i64() as usize);
        if count > names.len() {
            let (len, plural) = (names.len(), if names.len() == 1 { "" } else { "s" });
            let message = format!("{}() accepts {len} positional sub-pattern{plural} ({count} given)", class.name);
            return self.raise_message(ExcKind::TypeError, &message);
        }
        self.attribute(value.clone(), &names[at])
    }

    /// A field of a record.
    pub fn field(&mut self, object: &Abs, index: usize) -> Lift<Abs> {
        let Some(Type::Record(_, types)) = self.type_of(object) else {
            return self.bail(Code::Operands, "a field of something else");
        };
        match object {
            Abs::Const(Object::Record(record)) if index < record.fields.len() => {
                Ok(Abs::Const(record.fields[index].clone()))
            }
            Abs::Dyn(value) if index < types.len() => {
                let field = self.b.inst(Opcode::Field(index as u32), vec![*value], types[index].clone(), None);
                Ok(self.known_pattern(&Abs::Dyn(field)))
            }
            _ => self.bail(Code::Operands, "no such field"),
        }
    }

    pub fn record(&mut self, class: Class, fields: &[Abs]) -> Lift<Abs> {
        if let Some(fields) = fields.iter().map(|field| field.as_const().cloned()).collect::<Option<Vec<_>>>() {
            return Ok(Abs::Const(Object::Record(Arc::new(RecordObj { class, fields }))));
        }
        let values = fields.iter().map(|field| self.value(field)).collect::<Lift<Vec<_>>>()?;
        let types = values.iter().map(|value| self.b.function.ty(*value).clone()).collect();
        Ok(Abs::Dyn(self.b.inst(Opcode::Record(class), values, Type::Record(class, types), None)))
    }

    /// The pattern that a value is, since its type says which.
    pub fn known_pattern(&self, abs: &Abs) -> Abs {
        match (abs, self.type_of(abs)) {
            (Abs::Dyn(_), Some(Type::Pattern(pattern))) => Abs::Const(Object::Pattern(pattern)),
            _ => abs.clone(),
        }
    }

    /// Whether the prelude computes an attribute of a pattern or a record: it is no method.
    pub fn is_read(&mut self, of: &Type, name: &str) -> Lift<bool> {
        match exuvia_ops::prelude::named(of.path()) {
            Some(module) => Ok(self.prelude_function(module, &format!("_get_{name}"))?.is_some()),
            None => Ok(false),
        }
    }

    /// An attribute of a pattern or a record: one that the prelude computes, or a method.
    pub fn attribute_of_object(&mut self, object: Abs, name: &Name) -> Lift<Abs> {
        let class = self.type_of(&object).map_or("", |ty| ty.path());
        if let Some(module) = exuvia_ops::prelude::named(class) {
            if let Some(getter) = self.prelude_function(module, &format!("_get_{name}"))? {
                return self.call_value(&getter, vec![object], Vec::new());
            }
            if !name.starts_with('_') && self.prelude_function(module, name)?.is_some() {
                return Ok(Abs::Method(Rc::new((object, name.clone()))));
            }
        }
        self.bail(Code::Callee, format!("{class}.{name}"))
    }
}

/// The characters for which `str.translate` asks a dict, and the texts that they become.
fn translation(table: &DictObj) -> Option<(String, Vec<Object>)> {
    let character = |of: &Int| of.to_i64().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
    let mut keys = String::new();
    let mut values = Vec::new();
    for (key, value) in table.entries() {
        let key = match key {
            Object::Int(key) => key,
            // They are equal to ints.
            Object::Bool(_) | Object::Float(_) | Object::Record(_) => return None,
            _ => continue,
        };
        keys.push(character(key)?);
        values.push(match value {
            Object::None => Object::str(""),
            Object::Int(code) => Object::str(character(code)?.encode_utf8(&mut [0; 4])),
            Object::Str(_) => value.clone(),
            _ => return None,
        });
    }
    Some((keys, values))
}

impl Lifter<'_> {
    /// Whether what an operation, whose name comes first, takes is what these are.
    fn takes_as_it_is(&self, args: &[Abs]) -> bool {
        let [Abs::Const(Object::Str(name)), operands @ ..] = args else { return false };
        let types = operands.iter().map(|operand| self.type_of(operand)).collect::<Option<Vec<_>>>();
        types.is_some_and(|types| exuvia_ops::by_name(name).is_some_and(|def| def.accepts(&types)))
    }
}

/// Whether an operation takes operands of these types, whatever of a union each is.
fn takes_all(def: &OpDef, types: &[Type]) -> bool {
    if def.accepts(types) {
        return true;
    }
    let Some(at) = types.iter().position(|ty| matches!(ty, Type::Union(_))) else { return false };
    types[at].alternatives().iter().all(|ty| {
        let mut types = types.to_vec();
        types[at] = ty.clone();
        takes_all(def, &types)
    })
}

/// The types of operands with lists of floats for lists of nothing.
fn floats_for_nothing(types: &[Type]) -> Vec<Type> {
    let nothing = Type::list(Type::Never);
    types.iter().map(|ty| if *ty == nothing { Type::list(Type::Float) } else { ty.clone() }).collect()
}
