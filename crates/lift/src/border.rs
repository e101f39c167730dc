//! The border to SQL: what values of SQL types are in Python, and where the IR function takes and
//! returns them.
//!
//! A STRUCT is spread over parameters (and results) of its own: whether it is there, where it can be
//! NULL, and those of its fields. So a field costs what a column costs. A list is one parameter: a
//! new list for each row. What Python sees of values whose class is written in the prelude, and of
//! structs within lists, is made by functions that are written here as text, in the language of the
//! prelude.

pub(crate) mod text;

use crate::abs::Abs;
use crate::bailout::{Bailout, Code};
use crate::border::text::{Text, fields_body};
use crate::calls::returns::SqlReturn;
use crate::objects::class::ClassObj;
use crate::tree::ast::{FunctionDef, Name};
use crate::walk::describe::type_for_people;
use crate::walk::lifter::{Lift, Lifter, State, Stop};
use exuvia_ir::{Class, Object, Opcode, Span, Terminator, Type, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Copies of the handler's body for arguments that are NULL or a struct.
const MAX_SPLITS: usize = 3;

/// What a column function takes a column as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnForm {
    /// `np.ndarray`.
    Array,
    /// `pd.Series`.
    Series,
}

impl ColumnForm {
    /// What the prelude's `numpy` calls it.
    fn kind(self) -> i64 {
        match self {
            ColumnForm::Array => 1,
            ColumnForm::Series => 2,
        }
    }
}

/// What values of an SQL type are in Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlClass {
    /// Integers of any width.
    Int,
    /// DOUBLE and REAL.
    Float,
    /// BOOLEAN.
    Bool,
    /// TEXT.
    Str,
    /// Objects of a class of the standard library with one field, such as BYTEA and DATE. At the border of
    /// the IR function its values are those of the field.
    Object {
        /// The class of the objects.
        class: Class,
        /// That of the field.
        of: Arc<SqlClass>,
    },
    /// TIMESTAMP without a zone. At the border its values are counts since 1970-01-01, of so many
    /// a second.
    Timestamp(u32),
    /// TIMESTAMP WITH TIME ZONE, as UTC. At the border its values are those of TIMESTAMP.
    Instant(u32),
    /// TIME. At the border its values are counts since midnight, of so many a second.
    Time(u32),
    /// DECIMAL of so many digits, some of them behind the point: 18 at most. At the border its values
    /// are their digits as ints.
    Decimal {
        /// All digits.
        precision: u8,
        /// Those behind the point.
        scale: u8,
    },
    /// A column of which each call sees one value: of DOUBLE, BIGINT, BOOLEAN or TEXT.
    Column {
        /// What the function takes it as.
        form: ColumnForm,
        /// The class of its values.
        of: Arc<SqlClass>,
    },
    /// An array: a list.
    List(Arc<SqlClass>),
    /// An array of DOUBLE, BIGINT or BOOLEAN as an argument that Python has as one of NumPy's, or a Series.
    Array {
        /// What the function takes it as.
        form: ColumnForm,
        /// The class of its items.
        of: Arc<SqlClass>,
    },
    /// MAP: a dict. At the border its values are lists of pairs.
    Map(Arc<(SqlClass, SqlClass)>),
    /// STRUCT: a dict of its fields.
    Struct(Arc<[(String, SqlClass)]>),
}

impl SqlClass {
    /// Whether its values are those of one class, and not made of others.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        !matches!(self, SqlClass::List(_) | SqlClass::Array { .. } | SqlClass::Map(_) | SqlClass::Struct(_))
    }

    /// The type of such values within others where the IR function takes and returns them.
    #[must_use]
    pub fn ty(&self, nullable: bool) -> Type {
        let ty = match self {
            SqlClass::Int
            | SqlClass::Timestamp(_)
            | SqlClass::Instant(_)
            | SqlClass::Time(_)
            | SqlClass::Decimal { .. } => Type::Int,
            SqlClass::Float => Type::Float,
            SqlClass::Bool => Type::Bool,
            SqlClass::Str => Type::Str,
            SqlClass::Object { of, .. } | SqlClass::Column { of, .. } => of.ty(false),
            SqlClass::List(_) | SqlClass::Array { .. } | SqlClass::Map(_) => self.list(nullable),
            SqlClass::Struct(fields) => Type::Tuple(fields.iter().map(|field| field.1.ty(nullable)).collect()),
        };
        if nullable { ty.optional() } else { ty }
    }

    /// The type of a list, or of what is one at the border, whose items can be NULL or cannot.
    fn list(&self, nullable: bool) -> Type {
        Type::list(match self {
            SqlClass::List(element) | SqlClass::Array { of: element, .. } => element.ty(nullable),
            // A key is never NULL.
            SqlClass::Map(entry) => Type::Tuple([entry.0.ty(false), entry.1.ty(nullable)].into()),
            _ => Type::Never,
        })
    }

    /// The types of the parameters that a value is spread over, where it and what it holds can be
    /// NULL or cannot.
    #[must_use]
    pub fn spread(&self, nullable: bool, inner: bool) -> Vec<Type> {
        match self {
            SqlClass::Struct(fields) => {
                let exists = nullable.then_some(Type::Bool);
                exists.into_iter().chain(fields.iter().flat_map(|field| field.1.spread(inner, inner))).collect()
            }
            SqlClass::List(_) | SqlClass::Array { .. } | SqlClass::Map(_) => {
                let ty = self.list(inner);
                vec![if nullable { ty.optional() } else { ty }]
            }
            scalar => vec![scalar.ty(nullable)],
        }
    }

    /// The classes of the values over which a result is spread: of a STRUCT whether it exists, then
    /// those of its fields.
    pub(crate) fn results(&self) -> Vec<SqlClass> {
        match self {
            SqlClass::Struct(fields) => {
                let fields = fields.iter().flat_map(|field| field.1.results());
                std::iter::once(SqlClass::Bool).chain(fields).collect()
            }
            other => vec![other.clone()],
        }
    }

    /// The type that Python sees, for scalars; of a class that the prelude writes in Python none.
    pub(crate) fn python(&self) -> Type {
        match self {
            SqlClass::Instant(_) | SqlClass::Decimal { .. } | SqlClass::Column { .. } | SqlClass::Array { .. } => {
                Type::Never
            }
            SqlClass::Object { class, of } => Type::Record(*class, Arc::from([of.ty(false)])),
            SqlClass::Timestamp(_) => Type::Record(Class::Datetime, Arc::from([Type::Int])),
            SqlClass::Time(_) => Type::Record(Class::Time, Arc::from([Type::Int])),
            other => other.ty(false),
        }
    }

    /// Whether Python sees its values as the IR function takes them.
    pub fn is_plain(&self) -> bool {
        match self {
            SqlClass::Int | SqlClass::Float | SqlClass::Bool | SqlClass::Str => true,
            SqlClass::List(element) => element.is_plain(),
            _ => false,
        }
    }

    /// Whether expressions of SQL see such values as the IR function does, or as DATE.
    #[must_use]
    pub fn means_the_same_in_sql(&self) -> bool {
        match self {
            SqlClass::Int | SqlClass::Float | SqlClass::Bool | SqlClass::Str => true,
            SqlClass::Object { class, .. } => *class == Class::Date,
            SqlClass::Timestamp(_)
            | SqlClass::Instant(_)
            | SqlClass::Time(_)
            | SqlClass::Decimal { .. }
            | SqlClass::Column { .. }
            | SqlClass::List(_)
            | SqlClass::Array { .. }
            | SqlClass::Map(_)
            | SqlClass::Struct(_) => false,
        }
    }

    /// Whether the prelude says what a result of that type is in SQL: it does for its own classes, and for a
    /// DECIMAL, an instant or a column whatever is returned.
    pub(crate) fn crosses_by_prelude(&self, ty: Option<&Type>) -> bool {
        match self {
            SqlClass::Instant(_) | SqlClass::Decimal { .. } | SqlClass::Column { .. } => true,
            _ => ty.is_some_and(|ty| matches!(ty, Type::Record(..)) && self.python() == *ty),
        }
    }

    /// The module of the prelude that says what Python sees of a value at the border, and what it is
    /// told besides the value: how many a second has, or the digits.
    fn crossing(&self) -> (&'static str, Vec<i64>) {
        match self {
            SqlClass::Timestamp(count) | SqlClass::Time(count) => (self.python().path(), vec![i64::from(*count)]),
            SqlClass::Instant(count) => ("datetime", vec![i64::from(*count)]),
            SqlClass::Decimal { precision, scale } => ("decimal", vec![i64::from(*precision), i64::from(*scale)]),
            SqlClass::Column { form, of } => ("numpy", vec![form.kind(), of.dtype()]),
            SqlClass::Array { form, of } => ("numpy", vec![of.dtype(), form.kind()]),
            other => (other.python().path(), vec![]),
        }
    }

    /// What the prelude's `numpy` calls the type of such values in an array.
    fn dtype(&self) -> i64 {
        match self {
            SqlClass::Float => 0,
            SqlClass::Int => 1,
            SqlClass::Bool => 2,
            SqlClass::List(of) => 10 + of.dtype(),
            _ => 3,
        }
    }

    /// `crossing` as arguments.
    pub fn across(&self) -> String {
        let (module, told) = self.crossing();
        told.iter().fold(format!("'{module}'"), |text, told| format!("{text}, {told}"))
    }
}

impl Lifter<'_> {
    /// Lifts a body for the arguments, of those parameters of the IR function: several times where an
    /// argument is NULL or a struct, since what a struct holds is known where it is one. Each
    /// time the body returns.
    pub fn with_arguments(
        &mut self,
        def: &FunctionDef,
        params: &[crate::Param],
        values: &[Value],
        body: &mut dyn FnMut(&mut Self, Vec<Abs>) -> Lift<()>,
    ) -> Lift<()> {
        let mut asked = Vec::new();
        for (at, param) in params.iter().enumerate() {
            asked.push(self.asked(def, at, &param.class)?);
        }
        self.next_argument((params, &asked), values, Vec::new(), 0, body)
    }

    fn next_argument(
        &mut self,
        (params, asked): (&[crate::Param], &[Option<Abs>]),
        values: &[Value],
        mut args: Vec<Abs>,
        splits: usize,
        body: &mut dyn FnMut(&mut Self, Vec<Abs>) -> Lift<()>,
    ) -> Lift<()> {
        let (Some((param, rest)), Some((class, classes))) = (params.split_first(), asked.split_first()) else {
            return body(self, args);
        };
        let count = param.class.spread(param.nullable, param.inner).len();
        let (own, others) = values.split_at(count);
        if let (SqlClass::Struct(_), true) = (&param.class, param.nullable) {
            if splits == MAX_SPLITS {
                return self.bail(Code::SqlType, "more parameters of STRUCT types that may be NULL");
            }
            let (yes, no) = self.branch(own[0]);
            self.enter(no);
            let mut without = args.clone();
            without.push(Abs::NONE);
            let path = self.frames[0].path;
            self.frames[0].path = crate::calls::call::mix(path, splits as u32 + 1);
            self.next_argument((rest, classes), others, without, splits + 1, body)?;
            self.enter(yes);
            let at = args.len();
            args.push(self.apart(at, |me| me.argument(&param.class, param.inner, &own[1..], class.as_ref()))?);
            return self.next_argument((rest, classes), others, args, splits + 1, body);
        }
        if let (SqlClass::Array { .. }, true) = (&param.class, param.nullable) {
            if splits == MAX_SPLITS {
                return self.bail(Code::SqlType, "more parameters that are arrays and may be NULL");
            }
            let path = self.frames[0].path;
            let mut turn = 0;
            self.dispatch(own[0], &mut |me, narrowed| {
                turn += 1;
                me.frames[0].path = crate::calls::call::mix(path, (splits as u32 + 1) * 2 + turn);
                let mut args = args.clone();
                let at = args.len();
                let Abs::Dyn(list) = narrowed else {
                    me.without_argument(at, &mut |me| {
                        let args = args.iter().cloned().chain([Abs::NONE]).collect();
                        me.next_argument((rest, classes), others, args, splits + 1, body)
                    })?;
                    return Ok(Abs::Unbound);
                };
                args.push(me.apart(at, |me| me.argument(&param.class, param.inner, &[list], None))?);
                me.next_argument((rest, classes), others, args, splits + 1, body)?;
                Ok(Abs::Unbound)
            })?;
            return Ok(());
        }
        let at = args.len();
        args.push(self.apart(at, |me| me.argument(&param.class, param.inner, own, class.as_ref()))?);
        self.next_argument((rest, classes), others, args, splits, body)
    }

    /// Lifts a body where an argument is NULL. What cannot be lifted only then is CPython's in such rows.
    fn without_argument(&mut self, at: usize, body: &mut dyn FnMut(&mut Self) -> Lift<()>) -> Lift<()> {
        if self.world.left_if_none.contains(&at) {
            let span = self.b.span;
            self.end(Terminator::Bailout("an argument that is NULL", span));
            return Ok(());
        }
        match body(self) {
            Err(Stop::Bailout(bailout)) if bailout.code != Code::Budget && !self.world.stale => {
                self.world.left_if_none.insert(at);
                Err(Stop::Restart)
            }
            other => other,
        }
    }

    /// The dataclass of which a struct becomes an object, if the annotation of the parameter names one.
    fn asked(&mut self, def: &FunctionDef, at: usize, class: &SqlClass) -> Lift<Option<Abs>> {
        let named = def.named.get(at).and_then(|name| name.as_deref());
        match (class, named) {
            (SqlClass::List(_) | SqlClass::Map(_) | SqlClass::Struct(_), Some(_)) if !def.decorators.is_empty() => {
                self.bail(Code::SqlType, "a list or struct as an argument of a decorated function")
            }
            (SqlClass::List(_), Some("list" | "List" | "Sequence" | "MutableSequence" | "Collection" | "Iterable"))
            | (SqlClass::Map(_) | SqlClass::Struct(_), Some("dict" | "Dict" | "Mapping" | "MutableMapping"))
            | (SqlClass::List(_) | SqlClass::Map(_) | SqlClass::Struct(_), Some("Any" | "object")) => Ok(None),
            (SqlClass::Struct(_), Some(name)) => {
                let module = self.frames[0].module;
                match self.world.modules[module].globals.get(name) {
                    Some(found @ Abs::Class(class)) if ClassObj::is_dataclass(class) => Ok(Some(found.clone())),
                    _ => self.bail(Code::SqlType, format!("a struct as an argument that is annotated as {name}")),
                }
            }
            (SqlClass::List(_), Some(name)) => {
                self.bail(Code::SqlType, format!("a list as an argument that is annotated as {name}"))
            }
            (SqlClass::Map(_), Some(name)) => {
                self.bail(Code::SqlType, format!("a map as an argument that is annotated as {name}"))
            }
            _ => Ok(None),
        }
    }

    /// What Python sees of an argument that is spread over those values, a struct among them not
    /// NULL: that is an object of the dataclass that is asked for, or a dict.
    fn argument(&mut self, class: &SqlClass, inner: bool, values: &[Value], asked: Option<&Abs>) -> Lift<Abs> {
        match class {
            SqlClass::Struct(fields) => {
                let mut rest = values;
                let mut entries = Vec::new();
                for (at, (name, class)) in fields.iter().enumerate() {
                    let (own, others) = rest.split_at(class.spread(inner, inner).len());
                    rest = others;
                    let value = match class {
                        SqlClass::Struct(_) if inner => self.apart(at, |me| me.struct_or_none(class, own))?,
                        class => self.apart(at, |me| me.argument(class, inner, own, None))?,
                    };
                    entries.push((name, value));
                }
                match asked {
                    Some(_) if !self.live => Ok(Abs::Unbound),
                    Some(class) => {
                        let named = entries.into_iter().map(|(name, value)| (Name::from(name.as_str()), value));
                        self.call_value(class, Vec::new(), named.collect())
                    }
                    None => {
                        let entries = entries.into_iter().map(|(name, value)| (Abs::str(name), value));
                        self.dict_of_fields(entries.collect())
                    }
                }
            }
            class if class.is_scalar() && class.is_plain() => Ok(Abs::Dyn(values[0])),
            SqlClass::Array { .. } => {
                let array = self.across_the_border("_of_list", class, Abs::Dyn(values[0]))?;
                if self.live { Ok(array) } else { Ok(Abs::Unbound) }
            }
            class if class.is_plain() => {
                // The list is as good as made here: where it comes to hold something else, it is copied
                // at once into one that can.
                let site = (usize::MAX - 1, Span { start: values[0].index() as u32, end: 0 }, self.frames[0].path);
                if self.world.list_types.contains_key(&site) {
                    return self.copy_of_list(&Abs::Dyn(values[0]));
                }
                self.sites.insert(values[0], vec![site]);
                Ok(Abs::Dyn(values[0]))
            }
            SqlClass::List(_) | SqlClass::Map(_) => {
                let mut text = Text::default();
                let name = text.read(class);
                self.call_text(text, &name, vec![Abs::Dyn(values[0])])
            }
            class => self.scalar_argument(Abs::Dyn(values[0]), class),
        }
    }

    /// A struct within another that can be NULL.
    fn struct_or_none(&mut self, class: &SqlClass, values: &[Value]) -> Lift<Abs> {
        let (yes, no) = self.branch(values[0]);
        self.enter(yes);
        let made = self.argument(class, true, &values[1..], None)?;
        let mut arms: Vec<(State, Vec<Abs>)> = Vec::new();
        arms.extend(self.state().map(|state| (state, vec![made])));
        self.enter(no);
        arms.extend(self.state().map(|state| (state, vec![Abs::NONE])));
        Ok(self.join(arms)?.pop().unwrap_or(Abs::Unbound))
    }

    fn scalar_argument(&mut self, value: Abs, class: &SqlClass) -> Lift<Abs> {
        if !self.live {
            return Ok(value);
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(&value)) {
            return self.dispatch(union, &mut |me, narrowed| match narrowed {
                Abs::Const(Object::None) if !matches!(class, SqlClass::Column { .. }) => Ok(Abs::NONE),
                field => me.scalar_argument(field, class),
            });
        }
        self.across_the_border("_of_sql", class, value)
    }

    /// What the prelude makes of a value at the border to SQL. What Python cannot hold is
    /// CPython's to refuse.
    pub fn across_the_border(&mut self, function: &str, class: &SqlClass, value: Abs) -> Lift<Abs> {
        let (module, told) = class.crossing();
        self.call_across(function, module, value, told.into_iter().map(Abs::int).collect())
    }

    /// As [`Lifter::across_the_border`], by the module of the prelude and what it is told.
    pub fn call_across(&mut self, function: &str, module: &str, value: Abs, told: Vec<Abs>) -> Lift<Abs> {
        let found = match exuvia_ops::prelude::named(module) {
            Some(module) => self.prelude_function(module, function)?,
            None => None,
        };
        let Some(found) = found else { return self.bail(Code::Callee, module) };
        self.call_value(&found, std::iter::once(value).chain(told).collect(), Vec::new())
    }

    /// A new list of the same items, or None.
    fn copy_of_list(&mut self, list: &Abs) -> Lift<Abs> {
        let mut text = Text::default();
        let name = text.add("    return [x for x in v]");
        self.call_text(text, &name, vec![list.clone()])
    }

    /// Calls a function that was written as text.
    fn call_text(&mut self, text: Text, name: &str, args: Vec<Abs>) -> Lift<Abs> {
        let index = match self.world.border.get(&text.functions) {
            Some(index) => *index,
            None => {
                let Ok(parsed) = crate::tree::parse::parse_source(&text.functions, &[]) else {
                    return Err(Bailout::new(Code::SqlType, Span::default(), "an SQL type with such fields").into());
                };
                let outer = std::mem::replace(&mut self.world.loading_prelude, true);
                let index = crate::module::run(self.world, &parsed.module, &text.functions);
                self.world.loading_prelude = outer;
                let index = index?;
                self.world.border.insert(text.functions, index);
                index
            }
        };
        match self.world.modules[index].globals.get(name).cloned() {
            Some(function) => self.call_value(&function, args, Vec::new()),
            None => self.bail(Code::SqlType, "an SQL type with such fields"),
        }
    }

    /// The values over which a result is spread; ends where the SQL type cannot hold it, for
    /// which nothing is returned.
    pub fn spread_result(&mut self, value: &Abs, sql: &SqlReturn, out: &mut Vec<Abs>) -> Lift<()> {
        let outer = std::mem::replace(&mut self.contexts, vec![crate::walk::lifter::Ctx::Entry]);
        let spread = self.spread_part(value, &sql.class, out);
        self.contexts = outer;
        spread
    }

    fn spread_part(&mut self, value: &Abs, class: &SqlClass, out: &mut Vec<Abs>) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        let value = &self.in_sql(value)?;
        match class {
            SqlClass::Struct(fields) => {
                if value.same(&Abs::NONE) {
                    out.push(Abs::bool(false));
                    let count = class.results().len() - 1;
                    out.extend(std::iter::repeat_n(Abs::NONE, count));
                    return Ok(());
                }
                out.push(Abs::bool(true));
                let Some(values) = self.fields_of(value, fields)? else { return Ok(()) };
                for (value, (_, class)) in values.iter().zip(fields.iter()) {
                    self.spread_field(value, class, out)?;
                }
                Ok(())
            }
            _ if value.same(&Abs::NONE) => {
                out.push(Abs::NONE);
                Ok(())
            }
            class => {
                let stored = self.stored(value, class)?;
                out.push(stored);
                Ok(())
            }
        }
    }

    /// As [`Lifter::spread_part`], of a value that may be one of several kinds.
    fn spread_field(&mut self, value: &Abs, class: &SqlClass, out: &mut Vec<Abs>) -> Lift<()> {
        let Some((_, union)) = self.union_operand(std::slice::from_ref(value)).filter(|_| !class.is_scalar()) else {
            return self.spread_part(value, class, out);
        };
        let count = class.results().len();
        let parts = self.dispatch(union, &mut |me, narrowed| {
            let mut parts = Vec::new();
            me.spread_part(&narrowed, class, &mut parts)?;
            parts.resize(count, Abs::NONE);
            Ok(if me.live { Abs::tuple(parts) } else { Abs::Unbound })
        })?;
        if !self.live {
            return Ok(());
        }
        match self.known_items(&parts) {
            Some(parts) if parts.len() == count => out.extend(parts),
            _ => return self.bail(Code::Join, "a field of a result on several paths"),
        }
        Ok(())
    }

    /// What the fields of a struct are to hold: of a dict with exactly those keys, of an object
    /// of a dataclass with exactly those fields, or of a tuple of as many items, in their order; a
    /// named tuple with exactly those names goes by them. Other rows go to CPython.
    fn fields_of(&mut self, value: &Abs, fields: &[(String, SqlClass)]) -> Lift<Option<Vec<Abs>>> {
        let leave = |me: &mut Self| {
            let span = me.b.span;
            me.end(Terminator::Bailout("a result of another type", span));
            Ok(None)
        };
        let entries = match value {
            Abs::Const(Object::Dict(dict)) => {
                let constant = |object: &Object| Abs::Const(object.clone());
                Some(dict.entries().iter().map(|(key, value)| (constant(key), constant(value))).collect())
            }
            other => self.shaped_entries(other)?,
        };
        if let Some(entries) = entries {
            let under = |name: &str| entries.iter().find(|entry| entry.0.same(&Abs::str(name)));
            let values = fields.iter().map(|field| Some(under(&field.0)?.1.clone())).collect::<Option<Vec<_>>>();
            return match values.filter(|values| values.len() == entries.len()) {
                Some(values) => Ok(Some(values)),
                None => leave(self),
            };
        }
        if value.tuple_items().is_some() || matches!(self.type_of(value), Some(Type::Tuple(_))) {
            let items = self.known_items(value).filter(|items| items.len() == fields.len());
            return if items.is_some() { Ok(items) } else { leave(self) };
        }
        let Abs::Instance(object) = value else { return leave(self) };
        if ClassObj::is_named(&object.class) {
            let own = ClassObj::field_names(&object.class);
            let Some(items) = self.known_items(value).filter(|items| items.len() == fields.len()) else {
                return leave(self);
            };
            let under = |name: &str| items.get(own.iter().position(|own| **own == *name)?).cloned();
            let by_name = fields.iter().map(|field| under(&field.0)).collect::<Option<Vec<_>>>();
            return Ok(Some(by_name.unwrap_or(items)));
        }
        if ClassObj::is_dataclass(&object.class) {
            let has = |name: &str| object.class.fields.iter().any(|field| *field.0 == *name);
            if object.class.fields.len() != fields.len() || !fields.iter().all(|field| has(&field.0)) {
                return leave(self);
            }
            let mut values = Vec::new();
            for (name, _) in fields {
                values.push(self.instance_attribute(object, &name.as_str().into())?);
            }
            return Ok(self.live.then_some(values));
        }
        if !object.class.prelude {
            return leave(self);
        }
        let mut text = Text::default();
        let names: Vec<(&str, String)> = fields.iter().map(|field| (field.0.as_str(), String::new())).collect();
        let name = text.add(&fields_body(&names));
        let values = self.call_text(text, &name, vec![value.clone()])?;
        if !self.live {
            return Ok(None);
        }
        match self.known_items(&values) {
            Some(values) => Ok(Some(values)),
            None => self.bail(Code::Join, "the fields of a result"),
        }
    }

    /// What a value is where SQL asks for one: a number or a list of what the prelude's classes
    /// say is one.
    pub fn in_sql(&mut self, value: &Abs) -> Lift<Abs> {
        if let Some(plain) = self.plain_member(value)? {
            return Ok(plain);
        }
        match value {
            Abs::Instance(object) if object.class.prelude => {
                Ok(self.call_special(object, "_in_sql", Vec::new())?.unwrap_or_else(|| value.clone()))
            }
            Abs::OneOf(choice) if choice.of.iter().any(|(_, item)| item.is_of_prelude_with("_in_sql")) => {
                self.choose(&Rc::clone(choice), &mut |me, value| me.in_sql(&value))
            }
            Abs::Dyn(_) if let seen @ Abs::Instance(_) = self.seen(value.clone()) => self.in_sql(&seen),
            _ => Ok(value.clone()),
        }
    }

    /// A value of a result as the IR function returns it.
    fn stored(&mut self, value: &Abs, class: &SqlClass) -> Lift<Abs> {
        if let (SqlClass::List(element), Some(Type::List(have))) = (class, self.type_of(value))
            && let Abs::Dyn(_) = value
        {
            let plain = |ty: &Type| match ty {
                Type::None | Type::Never => true,
                ty => element.is_plain() && element.is_scalar() && *ty == element.python(),
            };
            if have.alternatives().iter().all(plain) {
                return Ok(value.clone());
            }
        }
        let mut text = Text::default();
        let name = text.store(class);
        self.call_text(text, &name, vec![value.clone()])
    }

    /// Returns the values over which a result is spread.
    pub fn return_spread(&mut self, values: &[Abs], sql: &SqlReturn) -> Lift<()> {
        if !self.live {
            return Ok(());
        }
        let types = self.world.results_of(&sql.class);
        let mut stored = Vec::new();
        for (at, (value, ty)) in values.iter().zip(&types).enumerate() {
            stored.push(self.value_for_result(at, value, ty)?);
        }
        let returned = match &stored[..] {
            [one] if !matches!(sql.class, SqlClass::Struct(_)) => *one,
            _ => {
                let ty = Type::Tuple(stored.iter().map(|value| self.b.function.ty(*value).clone()).collect());
                self.b.inst(Opcode::Tuple, stored, ty, None)
            }
        };
        self.end(Terminator::Return(returned));
        Ok(())
    }

    /// A value as the result of that number, whose type grows as lists need it.
    fn value_for_result(&mut self, at: usize, value: &Abs, ty: &Type) -> Lift<Value> {
        let Some(have) = self.type_of(value) else {
            return self.bail(Code::StaticValue, "a result that has no run-time form");
        };
        let joined = ty.join(&have);
        if joined == *ty {
            let is_other = |ty: &Type| matches!(ty, Type::List(_)) && !have.is_within(&joined);
            if let Abs::Dyn(list) = value
                && have.alternatives().iter().any(is_other)
                && self.sites_of(*list).is_empty()
            {
                // Nobody knows where it was made, so it stays as it is.
                let copy = self.copy_of_list(value)?;
                return self.value_as(&copy, ty);
            }
            return self.value_as(value, ty);
        }
        let lists = |ty: &Type| ty.holds(&|ty| matches!(ty, Type::List(_)));
        if !lists(&joined) || !crate::budget::is_small(&joined) {
            let (ty, have) = (type_for_people(ty), type_for_people(&have));
            return self.bail(Code::Join, format!("results of the types {ty} and {have}"));
        }
        self.world.results.insert(at, joined.clone());
        self.world.stale = true;
        // Stands for it in what is thrown away.
        Ok(self.b.inst(Opcode::Const(Object::Unbound), Vec::new(), ty.clone(), None))
    }
}
