//! The classes of values: what `isinstance`, `type` and comparisons of classes ask.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::data::tables::TableKind;
use crate::objects::class::ClassObj;
use crate::objects::enums::{is_of_ints, is_of_texts};
use crate::tree::ast::{CmpOp, Expr, ExprKind, Name};
use crate::walk::lifter::{Lift, Lifter, Split};
use exuvia_ir::{ClassRow, DictObj, ExcKind, Object, Objects, Opcode, Type, Value};
use std::rc::Rc;
use std::sync::Arc;

/// A class.
#[derive(Clone, Debug)]
pub(crate) enum ClassRef {
    /// One of CPython's own.
    BuiltIn(&'static ClassRow),
    /// One written in Python.
    Written(Rc<ClassObj>),
}

impl ClassRef {
    /// The class of that `__name__`, of those that have objects.
    fn built_in(name: &str) -> Option<ClassRef> {
        ClassRow::named(name).map(ClassRef::BuiltIn)
    }

    fn of_exception(kind: ExcKind) -> Option<ClassRef> {
        ClassRow::of_exception(kind).map(ClassRef::BuiltIn)
    }

    /// The class that a value is.
    pub fn of_name(abs: &Abs) -> Option<ClassRef> {
        match abs {
            Abs::Class(class) => Some(ClassRef::Written(Rc::clone(class))),
            Abs::ExcClass(kind) => ClassRef::of_exception(*kind),
            // Those that only annotations and classes above others name are values of modules.
            Abs::Builtin(name) | Abs::Module(name) => ClassRow::spelled(name).map(ClassRef::BuiltIn),
            _ => None,
        }
    }

    /// The classes that the second argument of `isinstance` names.
    fn several(abs: &Abs) -> Option<Vec<ClassRef>> {
        // The names of `typing` are asked for the classes that they stand for.
        let one = |abs: &Abs| match abs {
            Abs::Module(name) => match name.strip_prefix("typing.") {
                Some(name @ ("Mapping" | "MutableMapping" | "Sequence" | "MutableSequence" | "MutableSet")) => {
                    ClassRow::spelled(&format!("collections.abc.{name}")).map(ClassRef::BuiltIn)
                }
                Some(name @ ("List" | "Dict" | "Set" | "FrozenSet" | "Tuple")) => {
                    ClassRef::built_in(&name.to_ascii_lowercase())
                }
                _ => ClassRef::of_name(abs),
            },
            _ => ClassRef::of_name(abs),
        };
        match abs {
            Abs::Tuple(items) => items.iter().map(one).collect(),
            other => Some(vec![one(other)?]),
        }
    }

    /// The class as a value.
    fn value(&self) -> Abs {
        match self {
            ClassRef::BuiltIn(row) => match row.objects {
                Objects::Exception(kind) => Abs::ExcClass(kind),
                _ => Abs::Builtin(row.spelling().into()),
            },
            ClassRef::Written(class) => match self.stands_for() {
                Some(row) => ClassRef::BuiltIn(row).value(),
                None => Abs::Class(Rc::clone(class)),
            },
        }
    }

    /// CPython's own class that one of the prelude stands for.
    fn stands_for(&self) -> Option<&'static ClassRow> {
        match self {
            ClassRef::Written(class) if class.prelude => ClassRow::named(&class.name),
            _ => None,
        }
    }

    /// `__name__`.
    pub fn name(&self) -> &str {
        match self {
            ClassRef::BuiltIn(row) => row.name(),
            ClassRef::Written(class) => &class.name,
        }
    }

    fn stands_for_several(&self) -> bool {
        matches!(self, ClassRef::Written(class) if class.stands_for_several())
    }

    /// The exception, if it is one of CPython's own.
    fn exception(&self) -> Option<ExcKind> {
        match self {
            ClassRef::BuiltIn(ClassRow { objects: Objects::Exception(kind), .. }) => Some(*kind),
            _ => None,
        }
    }

    /// Whether it is a class above others, of which nothing is an object directly, or `object`.
    fn is_above_others(&self) -> bool {
        matches!(self, ClassRef::BuiltIn(row) if row.objects == Objects::None || row.is_object())
    }

    /// Whether both are one class.
    fn is(&self, other: &ClassRef) -> bool {
        match (self, other) {
            (ClassRef::BuiltIn(a), ClassRef::BuiltIn(b)) => a.is(b),
            (ClassRef::Written(a), ClassRef::Written(b)) => a.is(b),
            (ClassRef::BuiltIn(row), written) | (written, ClassRef::BuiltIn(row)) => {
                written.stands_for().is_some_and(|stands_for| stands_for.is(row))
            }
        }
    }

    /// Whether it is another class or below it.
    fn is_below(&self, other: &ClassRef) -> bool {
        match self {
            ClassRef::BuiltIn(row) => matches!(other, ClassRef::BuiltIn(of) if row.is_below(of)) || self.is(other),
            ClassRef::Written(class) => {
                class.exception.and_then(ClassRef::of_exception).is_some_and(|above| above.is_below(other))
                    || is_of_texts(class) && ClassRef::built_in("str").is_some_and(|text| text.is_below(other))
                    || (is_of_ints(class) || crate::objects::flags::is_int_flag(class))
                        && ClassRef::built_in("int").is_some_and(|int| int.is_below(other))
                    || matches!(other, ClassRef::BuiltIn(row) if row.is_object())
                    || ClassObj::ancestry(class).any(|class| {
                        let class = ClassRef::Written(Rc::clone(class));
                        class.is(other) || class.stands_for().is_some_and(|row| ClassRef::BuiltIn(row).is_below(other))
                    })
            }
        }
    }
}

/// A question about the class of a value.
struct Question {
    value: Abs,
    classes: Vec<ClassRef>,
    /// Whether objects of classes below are none.
    exact: bool,
    /// Whether the answer is turned round.
    negated: bool,
}

impl Question {
    fn answer(&self, class: &ClassRef) -> bool {
        let holds = |asked: &ClassRef| if self.exact { class.is(asked) } else { class.is_below(asked) };
        self.classes.iter().any(holds) != self.negated
    }

    /// Whether it asks for `object`, of which everything is one.
    fn is_of_every_object(&self) -> bool {
        !self.exact && self.classes.iter().any(|class| matches!(class, ClassRef::BuiltIn(row) if row.is_object()))
    }
}

impl Lifter<'_> {
    /// The class of values of a type that is no union; `None` if the type does not say.
    fn class_of_type(&self, ty: &Type) -> Option<ClassRef> {
        match ty {
            ty if ty.is_object() => Some(ClassRef::Written(Rc::clone(&self.shape_of_type(ty)?.class))),
            Type::Set(_) | Type::Exc => None,
            other => ClassRef::built_in(other.python_name()),
        }
    }

    /// The class of a value that is no union; `None` where it is not known.
    pub fn class_of(&self, abs: &Abs) -> Option<ClassRef> {
        match abs {
            Abs::Instance(object) => Some(ClassRef::Written(Rc::clone(&object.class))),
            Abs::ExcInst(exception) => ClassRef::of_exception(exception.0),
            Abs::Tuple(_) => ClassRef::built_in("tuple"),
            Abs::Table(table) => match table.kind {
                TableKind::List => ClassRef::built_in("list"),
                TableKind::Dict => ClassRef::built_in("dict"),
                TableKind::Set => ClassRef::built_in(if table.stands.as_ref()?.frozen { "frozenset" } else { "set" }),
                TableKind::View => None,
            },
            Abs::Const(Object::Set(set)) => ClassRef::built_in(if set.frozen { "frozenset" } else { "set" }),
            other => self.class_of_type(&self.type_of(other)?),
        }
    }

    /// `type(value)`.
    pub fn type_value(&mut self, value: &Abs) -> Lift<Abs> {
        if let Abs::OneOf(choice) = value {
            return self.choose(&Rc::clone(choice), &mut |me, value| me.type_value(&value));
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(union, &mut |me, narrowed| me.type_value(&narrowed));
        }
        match self.class_of(value) {
            Some(class) if !class.stands_for_several() => Ok(class.value()),
            None if self.type_of(value) == Some(Type::Exc) => Ok(Abs::ClassOf(Rc::new(value.clone()))),
            _ => self.bail(Code::StaticValue, "the class of such a value"),
        }
    }

    /// `type(value).__name__`, also where there are several.
    fn type_name(&mut self, value: &Abs) -> Lift<Abs> {
        if let Abs::OneOf(choice) = value {
            return self.choose(&Rc::clone(choice), &mut |me, value| me.type_name(&value));
        }
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(union, &mut |me, narrowed| me.type_name(&narrowed));
        }
        if self.type_of(value) == Some(Type::Exc) {
            return self.exception_name(value);
        }
        match self.class_of(value) {
            Some(class) if !class.stands_for_several() => Ok(Abs::str(class.name())),
            _ => self.bail(Code::StaticValue, "the class of such a value"),
        }
    }

    /// The name of a caught exception's class: a look-up by its number.
    pub fn exception_name(&mut self, exception: &Abs) -> Lift<Abs> {
        let mut names = DictObj::default();
        let last = ExcKind::ALL.iter().map(|kind| *kind as u32).max().unwrap_or(0);
        for code in 0..=last {
            let name = ExcKind::from_code(code).map_or("", ExcKind::name);
            names.insert(Object::int(i64::from(code)), Object::str(name));
        }
        let code = self.apply_named("exc.code", std::slice::from_ref(exception))?;
        self.dict_value_at(&Abs::Const(Object::Dict(Arc::new(names))), &code)
    }

    /// Whether both are one class, if one of them is a class and the other is known.
    pub fn same_class(left: &Abs, right: &Abs) -> Option<bool> {
        match (ClassRef::of_name(left), ClassRef::of_name(right)) {
            (Some(left), Some(right)) => Some(left.is(&right)),
            (None, None) => None,
            _ => [left, right].iter().any(|abs| matches!(abs, Abs::Const(_) | Abs::Dyn(_))).then_some(false),
        }
    }

    /// `isinstance(value, classes)`.
    pub fn isinstance(&mut self, value: &Abs, classes: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Abs::OneOf(choice) = classes {
            return self.choose(&Rc::clone(choice), &mut |me, classes| me.isinstance(value, &classes));
        }
        let question = self.is_instance_of(value, classes)?;
        self.answer(&question)
    }

    /// `issubclass(class, classes)`.
    pub fn issubclass(&mut self, class: &Abs, classes: &Abs) -> Lift<Abs> {
        if let Abs::ClassOf(exception) = class {
            return self.isinstance(exception, classes);
        }
        match (ClassRef::of_name(class), ClassRef::several(classes)) {
            (Some(class), Some(classes)) => Ok(Abs::bool(classes.iter().any(|of| class.is_below(of)))),
            _ => self.bail(Code::Callee, "issubclass with such a class"),
        }
    }

    fn is_instance_of(&mut self, value: &Abs, classes: &Abs) -> Lift<Question> {
        match ClassRef::several(classes) {
            Some(classes) => Ok(Question { value: value.clone(), classes, exact: false, negated: false }),
            None => self.bail(Code::Callee, "isinstance with such a class"),
        }
    }

    fn answer(&mut self, question: &Question) -> Lift<Abs> {
        if let Some((_, union)) = self.union_operand(std::slice::from_ref(&question.value)) {
            return self.dispatch(union, &mut |me, value| {
                me.answer(&Question { value, classes: question.classes.clone(), ..*question })
            });
        }
        if let Abs::OneOf(choice) = &question.value {
            return self.choose(&Rc::clone(choice), &mut |me, value| {
                me.answer(&Question { value, classes: question.classes.clone(), ..*question })
            });
        }
        match (&question.value, self.class_of(&question.value)) {
            // CPython's own class may be below what is asked for.
            (_, Some(class)) if class.stands_for_several() && !self.is_in_prelude() => {
                self.bail(Code::StaticValue, "isinstance of such a value")
            }
            (_, Some(class)) => Ok(Abs::bool(question.answer(&class))),
            (Abs::Dyn(value), None) if *self.b.function.ty(*value) == Type::Exc => {
                let answer = self.answer_of_exception(*value, question)?;
                if question.negated { self.negate(answer) } else { Ok(answer) }
            }
            (Abs::Unbound | Abs::Conflict | Abs::Dyn(_), None) => {
                self.bail(Code::StaticValue, "isinstance of such a value")
            }
            // Functions, modules and classes are objects, and of none of the others.
            (Abs::Func(_) | Abs::Builtin(_) | Abs::Class(_) | Abs::ExcClass(_) | Abs::Module(_), None) => {
                Ok(Abs::bool(question.is_of_every_object() != question.negated))
            }
            _ if question.classes.iter().any(ClassRef::is_above_others) => {
                self.bail(Code::StaticValue, "isinstance of such a value")
            }
            _ => Ok(Abs::bool(question.negated)),
        }
    }

    fn answer_of_exception(&mut self, exception: Value, question: &Question) -> Lift<Abs> {
        if question.is_of_every_object() {
            return Ok(Abs::bool(true));
        }
        let kinds: Vec<ExcKind> = question.classes.iter().filter_map(ClassRef::exception).collect();
        if !question.exact {
            return Ok(Abs::Dyn(self.b.inst(Opcode::ExcIs(kinds), vec![exception], Type::Bool, None)));
        }
        let mut codes = DictObj::default();
        for kind in kinds {
            codes.insert(Object::int(kind as i64), Object::None);
        }
        let code = self.apply_named("exc.code", &[Abs::Dyn(exception)])?;
        let at = self.dict_position(&Abs::Const(Object::Dict(Arc::new(codes))), &code)?;
        self.apply("a>=b", &[at, Abs::int(0)])
    }

    /// The states in which a condition holds that is about the class of a value, and the others,
    /// with the value narrowed; `None` if it is about something else.
    pub fn split_class(&mut self, condition: &Expr) -> Lift<Option<Split>> {
        let question = match &condition.kind {
            ExprKind::Call { func, args, keywords }
                if keywords.is_empty() && args.len() == 2 && self.is_builtin(func, "isinstance")? =>
            {
                let (value, classes) = (self.expr(&args[0])?, self.expr(&args[1])?);
                if !self.live {
                    return Ok(Some((Vec::new(), Vec::new())));
                }
                if matches!(classes, Abs::OneOf(_)) {
                    let answer = self.isinstance(&value, &classes)?;
                    return self.split_value(&answer).map(Some);
                }
                self.is_instance_of(&value, &classes)?
            }
            ExprKind::Compare { left, rest } if rest.len() == 1 => {
                let (op, right) = &rest[0];
                if let ExprKind::Attribute { value, name } = &left.kind
                    && &**name == "tzinfo"
                    && matches!(op, CmpOp::Is | CmpOp::IsNot)
                {
                    return self.split_zone(value, name, *op, right).map(Some);
                }
                let Some(of) = self.type_call(left)? else { return Ok(None) };
                let (value, right) = (self.expr(of)?, self.expr(right)?);
                if !self.live {
                    return Ok(Some((Vec::new(), Vec::new())));
                }
                let one = ClassRef::of_name(&right).map(|class| vec![class]);
                let classes = match (op, &right) {
                    (CmpOp::Is | CmpOp::IsNot | CmpOp::Eq | CmpOp::Ne, _) => one,
                    (CmpOp::In | CmpOp::NotIn, Abs::Tuple(_)) => ClassRef::several(&right),
                    _ => None,
                };
                match classes {
                    Some(classes) => {
                        let negated = matches!(op, CmpOp::IsNot | CmpOp::Ne | CmpOp::NotIn);
                        Question { value, classes, exact: true, negated }
                    }
                    None => {
                        let class = self.type_value(&value)?;
                        let result = self.compare(*op, &class, &right)?;
                        return self.split_value(&result).map(Some);
                    }
                }
            }
            _ => return Ok(None),
        };
        if let Abs::Dyn(value) = question.value
            && matches!(self.b.function.ty(value), Type::Union(_))
        {
            let alternatives = self.b.function.ty(value).alternatives().to_vec();
            let of = |ty: &Type| Some((ty.clone(), question.answer(&self.class_of_type(ty)?)));
            return match alternatives.iter().map(of).collect::<Option<Vec<_>>>() {
                Some(answers) => {
                    self.split_type(value, &|ty| answers.iter().any(|(asked, holds)| asked == ty && *holds)).map(Some)
                }
                None => self.bail(Code::StaticValue, "isinstance of such a value"),
            };
        }
        if let Abs::OneOf(choice) = &question.value {
            let of = |(_, item): &(i64, Abs)| Some((item.clone(), question.answer(&self.class_of(item)?)));
            if let Some(answers) = choice.of.iter().map(of).collect::<Option<Vec<_>>>() {
                let has = |item: &Abs| answers.iter().any(|(known, holds)| known.same(item) && *holds);
                return self.split_choice(&Rc::clone(choice), &has).map(Some);
            }
        }
        let result = self.answer(&question)?;
        self.split_value(&result).map(Some)
    }

    /// `value.tzinfo is None`, of which the class of a datetime tells the answer.
    fn split_zone(&mut self, of: &Expr, attribute: &Name, op: CmpOp, right: &Expr) -> Lift<Split> {
        let of = self.expr(of)?;
        if let Abs::Dyn(value) = of
            && matches!(right.kind, ExprKind::Const(Object::None))
            && let Type::Union(alternatives) = self.b.function.ty(value)
            && alternatives.iter().all(|ty| ty.path() == "datetime.datetime" || self.is_zoned(ty))
        {
            let zoned: Vec<Type> = alternatives.iter().filter(|ty| self.is_zoned(ty)).cloned().collect();
            return self.split_type(value, &|ty| zoned.contains(ty) != (op == CmpOp::Is));
        }
        let zone = self.attribute(of, attribute)?;
        let right = self.expr(right)?;
        let result = self.compare(op, &zone, &right)?;
        self.split_value(&result)
    }

    /// Whether values of a type are datetimes with a zone.
    fn is_zoned(&self, ty: &Type) -> bool {
        matches!(self.class_of_type(ty), Some(ClassRef::Written(class)) if class.prelude && &*class.name == "datetime")
    }

    /// `type(value).__name__`; `None` if the attribute is another.
    pub fn name_of_type(&mut self, of: &Expr, attribute: &str) -> Lift<Option<Abs>> {
        if attribute != "__name__" {
            return Ok(None);
        }
        let Some(value) = self.type_call(of)? else { return Ok(None) };
        let value = self.expr(value)?;
        if !self.live {
            return Ok(Some(Abs::Unbound));
        }
        self.type_name(&value).map(Some)
    }

    /// The argument of a call of `type` with one, or what is asked for its `__class__`.
    fn type_call<'e>(&mut self, expr: &'e Expr) -> Lift<Option<&'e Expr>> {
        match &expr.kind {
            ExprKind::Call { func, args, keywords }
                if keywords.is_empty()
                    && args.len() == 1
                    && !matches!(args[0].kind, ExprKind::Starred(_))
                    && self.is_builtin(func, "type")? =>
            {
                Ok(Some(&args[0]))
            }
            ExprKind::Attribute { value, name } if &**name == "__class__" => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Whether an expression is the name of a built-in function.
    fn is_builtin(&mut self, func: &Expr, builtin: &str) -> Lift<bool> {
        match &func.kind {
            // A match statement's own names have a dot.
            ExprKind::Name(name) if name.strip_prefix('.').unwrap_or(name) == builtin => {
                Ok(matches!(self.read(name)?, Abs::Builtin(name) if &*name == builtin))
            }
            _ => Ok(false),
        }
    }
}
