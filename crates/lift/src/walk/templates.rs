//! Text built from parts: f-strings, and constant templates of `%` and `str.format`.

use crate::abs::Abs;
use crate::bailout::Code;
use crate::tree::ast::{FPart, Name};
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Class, ClassRow, ExcKind, Object, Type};
use exuvia_ops::format::template::{self, Argument, Field, Part, PercentPart, Step};
use std::rc::Rc;

fn is_no_mapping(ty: &Type) -> bool {
    matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float | Type::Str | Type::Tuple(_))
}

/// The arguments of `str.format`.
pub(crate) struct Arguments<'a> {
    pub positional: &'a [Abs],
    pub named: &'a [(Name, Abs)],
    /// What has the keywords instead, for `str.format_map`.
    pub mapping: Option<&'a Abs>,
}

/// The stars of a specification of `%`, each of which takes an argument.
fn stars(spec: &str) -> usize {
    spec.matches('*').count()
}

impl Lifter<'_> {
    pub fn f_string(&mut self, parts: &[FPart]) -> Lift<Abs> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                FPart::Text(text) => pieces.push(Abs::str(text)),
                FPart::Field { value, conversion, spec } => {
                    let mut value = self.expr(value)?;
                    value = match conversion {
                        Some(conversion) => self.converted(&value, *conversion)?,
                        None => value,
                    };
                    let spec = self.f_string(spec)?;
                    if !self.live {
                        return Ok(Abs::Unbound);
                    }
                    pieces.push(self.format_value(&value, &spec)?);
                }
            }
        }
        self.concat(pieces)
    }

    /// `str(value)`.
    pub fn text_of(&mut self, value: &Abs) -> Lift<Abs> {
        if self.type_of(value) == Some(Type::None) {
            return Ok(Abs::str("None"));
        }
        self.call_spelled("str", vec![value.clone()], Vec::new())
    }

    /// `format(value, spec)`.
    pub fn format_value(&mut self, value: &Abs, spec: &Abs) -> Lift<Abs> {
        if let Some((_, v)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(v, &mut |me, narrowed| me.format_value(&narrowed, spec));
        }
        // Objects may say themselves what they are as text, also those of the module.
        let is_object = match &self.seen(value.clone()) {
            Abs::OneOf(choice) => choice.of.iter().any(|(_, item)| matches!(item, Abs::Instance(_))),
            seen => matches!(seen, Abs::Instance(_)),
        };
        if spec.same(&Abs::str("")) && !is_object {
            return self.text_of(value);
        }
        self.apply("format", &[value.clone(), spec.clone()])
    }

    /// The pieces, all strings, one after another.
    fn concat(&mut self, pieces: Vec<Abs>) -> Lift<Abs> {
        let mut merged: Vec<Abs> = Vec::new();
        for piece in pieces {
            match (merged.last_mut(), &piece) {
                (_, Abs::Const(Object::Str(text))) if text.is_empty() => {}
                (Some(Abs::Const(Object::Str(before))), Abs::Const(Object::Str(text))) => {
                    *before = format!("{before}{text}").into();
                }
                _ => merged.push(piece),
            }
        }
        match merged.len() {
            0 => Ok(Abs::str("")),
            1 => Ok(merged.remove(0)),
            2 => self.apply("a+b", &merged),
            _ => {
                if !self.live {
                    return Ok(Abs::Unbound);
                }
                let values = merged.iter().map(|piece| self.value(piece)).collect::<Lift<Vec<_>>>()?;
                let list = self.b.inst(exuvia_ir::Opcode::List, values, Type::list(Type::Str), None);
                self.apply(".join", &[Abs::str(""), Abs::Dyn(list)])
            }
        }
    }

    /// A value as the conversion of a field asks: `!r`, `!s`, `!a`.
    fn converted(&mut self, value: &Abs, conversion: char) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        match conversion {
            's' => self.text_of(value),
            'r' => self.apply("repr", std::slice::from_ref(value)),
            _ => self.apply("ascii", std::slice::from_ref(value)),
        }
    }

    /// `template % arguments`, where the template is constant.
    pub fn percent(&mut self, template: &Abs, arguments: &Abs) -> Lift<Abs> {
        let Abs::Const(Object::Str(template)) = template else {
            return match self.texts_of(template) {
                Some(texts) => self.for_each_text(template, &texts, &mut |me, text| me.percent(&text, arguments)),
                None => self.bail(Code::Operands, "% with a template that is not constant"),
            };
        };
        match template::percent(template) {
            Some(parts) => self.percent_of(&parts, arguments),
            None => self.bail(Code::Operands, "% with such a template"),
        }
    }

    fn percent_of(&mut self, parts: &[PercentPart], arguments: &Abs) -> Lift<Abs> {
        if let Abs::OneOf(choice) = arguments {
            return self.choose(&Rc::clone(choice), &mut |me, one| me.percent_of(parts, &one));
        }
        let arguments = &self.seen(arguments.clone());
        let is_mapping = self.is_dict(arguments);
        // One of several kinds is one argument, if none of them may be several.
        let is_one = |ty: &Type| matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float | Type::Str);
        let scalars = self.type_of(arguments).is_some_and(|ty| ty.alternatives().iter().all(is_one));
        if !(scalars && parts.iter().any(|part| matches!(part, PercentPart::Field { .. })))
            && let Some((_, value)) = self.union_operand(std::slice::from_ref(arguments))
        {
            return self.dispatch(value, &mut |me, narrowed| me.percent_of(parts, &narrowed));
        }
        let named = self.named_items(arguments).map(Abs::tuple);
        let given = named.as_ref().unwrap_or(arguments);
        if self.is_long_tuple(given) {
            let taken = |part: &PercentPart| match part {
                PercentPart::Field { key: None, spec, .. } => 1 + stars(spec),
                _ => 0,
            };
            let fields: usize = parts.iter().map(taken).sum();
            let items = self.call_of_prelude("_exactly", vec![given.clone(), Abs::int(fields as i64)])?;
            return if self.live { self.percent_of(parts, &items) } else { Ok(Abs::Unbound) };
        }
        let mut items = match given.tuple_items() {
            Some(items) => items,
            None => match self.type_of(given) {
                Some(Type::Tuple(_)) => self.known_items(given).unwrap_or_default(),
                _ => vec![given.clone()],
            },
        }
        .into_iter();
        let mut pieces = Vec::new();
        for part in parts {
            self.step()?;
            match part {
                PercentPart::Text(text) => pieces.push(Abs::str(text)),
                PercentPart::Field { key: Some(key), spec, conversion } if is_mapping => {
                    let value = self.item(arguments.clone(), Abs::str(key))?;
                    if self.live {
                        pieces.push(self.percent_field(&Abs::str(spec), *conversion, &value)?);
                    }
                }
                PercentPart::Field { key: Some(_), .. } => match self.type_of(given) {
                    Some(ty) if ty.alternatives().iter().all(is_no_mapping) => {
                        return self.raise_message(ExcKind::TypeError, "format requires a mapping");
                    }
                    _ => return self.bail(Code::Operands, "% with keys and such a value"),
                },
                PercentPart::Field { key: None, spec, conversion } => {
                    let mut given = items.by_ref().take(stars(spec) + 1).collect::<Vec<_>>();
                    let Some(value) = given.pop().filter(|_| given.len() == stars(spec)) else {
                        return self.raise_message(ExcKind::TypeError, "not enough arguments for format string");
                    };
                    let spec = self.spec_with(spec, given)?;
                    if self.live {
                        pieces.push(self.percent_field(&spec, *conversion, &value)?);
                    }
                }
            }
            if !self.live {
                return Ok(Abs::Unbound);
            }
        }
        // One argument that has items of its own may go unused.
        let has_items = is_mapping
            || matches!(given, Abs::Instance(_))
            || self.type_of(given).is_some_and(|ty| {
                let is_sequence = !is_no_mapping(&ty) && ClassRow::of_type(&ty).is_some_and(ClassRow::is_sequence);
                is_sequence || ty.is_document() || matches!(ty, Type::Record(Class::Match, _))
            });
        if !has_items && items.next().is_some() {
            if given.tuple_items().is_none() && self.type_of(given).is_none() {
                return self.bail(Code::StaticValue, "% of a static value");
            }
            return self.raise_message(ExcKind::TypeError, "not all arguments converted during string formatting");
        }
        self.concat(pieces)
    }

    /// A specification with numbers in the places of its stars.
    fn spec_with(&mut self, spec: &str, numbers: Vec<Abs>) -> Lift<Abs> {
        let mut pieces = Vec::new();
        let mut parts = spec.split('*');
        for (number, part) in numbers.into_iter().zip(parts.by_ref()) {
            let is_precision = Abs::bool(part.ends_with('.'));
            pieces.push(Abs::str(part));
            pieces.push(self.call_of_prelude("_width", vec![number, is_precision])?);
            if !self.live {
                return Ok(Abs::Unbound);
            }
        }
        pieces.extend(parts.map(Abs::str));
        self.concat(pieces)
    }

    fn percent_field(&mut self, spec: &Abs, conversion: char, value: &Abs) -> Lift<Abs> {
        if let Some((_, v)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(v, &mut |me, narrowed| me.percent_field(spec, conversion, &narrowed));
        }
        let value = &self.seen(value.clone());
        if let Abs::OneOf(choice) = value {
            return self.choose(&Rc::clone(choice), &mut |me, one| me.percent_field(spec, conversion, &one));
        }
        if !matches!(conversion, 's' | 'r' | 'a')
            && let Abs::Instance(object) = value
        {
            let number = match (self.int_of_member(value)?, conversion) {
                (Some(int), _) => Some(int),
                (None, 'd' | 'i' | 'u') => self.call_special(object, "__int__", Vec::new())?,
                (None, 'e' | 'E' | 'f' | 'F' | 'g' | 'G') => self.call_special(object, "__float__", Vec::new())?,
                (None, _) => None,
            };
            return match number {
                Some(number) if self.live => self.percent_field(spec, conversion, &number),
                Some(_) => Ok(Abs::Unbound),
                None => self.bail(Code::Operands, format!("%{conversion} of an object")),
            };
        }
        let constant = match spec {
            Abs::Const(Object::Str(spec)) => Some(spec),
            _ => None,
        };
        let plain = constant.is_some_and(|spec| spec.len() == 2);
        match conversion {
            's' => {
                let text = self.text_of(value)?;
                if plain { Ok(text) } else { self.apply_percent("percent.str", spec, text) }
            }
            'r' | 'a' => {
                let text = self.converted(value, conversion)?;
                match constant {
                    _ if plain => Ok(text),
                    Some(spec) => self.apply_percent("percent.str", &Abs::str(&spec.replace(conversion, "s")), text),
                    None => self.bail(Code::Operands, format!("%*{conversion}")),
                }
            }
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'c'
                if matches!(self.type_of(value), Some(Type::Record(Class::RegexFlag, _))) =>
            {
                self.bail(Code::Operands, "a flag of re as a number")
            }
            'c' => match self.type_of(value) {
                Some(Type::Int | Type::Bool) => self.apply_percent("percent.int", spec, value.clone()),
                Some(Type::Str) => self.apply_percent("percent.str", spec, value.clone()),
                Some(_) => self.raise_message(ExcKind::TypeError, "%c requires int or char"),
                None => self.bail(Code::StaticValue, "% of a static value"),
            },
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => match self.type_of(value) {
                Some(Type::Int | Type::Bool) => self.apply_percent("percent.int", spec, value.clone()),
                Some(Type::Float) if matches!(conversion, 'd' | 'i' | 'u') => {
                    let int = self.apply("int", std::slice::from_ref(value))?;
                    self.apply_percent("percent.int", spec, int)
                }
                Some(ty) => {
                    let wanted = if matches!(conversion, 'd' | 'i' | 'u') { "a real number" } else { "an integer" };
                    let message = format!("%{conversion} format: {wanted} is required, not {}", ty.message_name());
                    self.raise_message(ExcKind::TypeError, &message)
                }
                None => self.bail(Code::StaticValue, "% of a static value"),
            },
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => match self.type_of(value) {
                Some(Type::Float) => self.apply_percent("percent.float", spec, value.clone()),
                Some(Type::Int | Type::Bool) => {
                    let float = self.apply("float", std::slice::from_ref(value))?;
                    self.apply_percent("percent.float", spec, float)
                }
                Some(ty) => {
                    let message = format!("must be real number, not {}", ty.message_name());
                    self.raise_message(ExcKind::TypeError, &message)
                }
                None => self.bail(Code::StaticValue, "% of a static value"),
            },
            _ => self.bail(Code::Operands, format!("%{conversion}")),
        }
    }

    fn apply_percent(&mut self, name: &str, spec: &Abs, value: Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        self.apply_named(name, &[spec.clone(), value])
    }

    /// `template.format(…)` of a constant template.
    pub fn format_method(&mut self, template: &Abs, arguments: &Arguments<'_>) -> Lift<Abs> {
        let Abs::Const(Object::Str(template)) = template else {
            return match self.texts_of(template) {
                Some(texts) => self.for_each_text(template, &texts, &mut |me, text| me.format_method(&text, arguments)),
                None => self.bail(Code::Operands, "str.format with a template that is not constant"),
            };
        };
        match template::format(template) {
            Some(parts) => self.formatted(&parts, arguments),
            None => self.bail(Code::Operands, "str.format with such a template"),
        }
    }

    fn formatted(&mut self, parts: &[Part], arguments: &Arguments<'_>) -> Lift<Abs> {
        let mut pieces = Vec::new();
        for part in parts {
            self.step()?;
            let piece = match part {
                Part::Text(text) => Abs::str(text),
                Part::Field(field) => self.field_of_template(field, arguments)?,
            };
            if !self.live {
                return Ok(Abs::Unbound);
            }
            pieces.push(piece);
        }
        self.concat(pieces)
    }

    fn field_of_template(&mut self, field: &Field, arguments: &Arguments<'_>) -> Lift<Abs> {
        if let (Argument::Keyword(name), Some(mapping)) = (&field.argument, arguments.mapping) {
            let value = self.item(mapping.clone(), Abs::str(name))?;
            return self.written_field(value, field, arguments);
        }
        if arguments.mapping.is_some() {
            return self.bail(Code::Operands, "format_map with positional fields");
        }
        let found = match &field.argument {
            Argument::Position(at) => arguments.positional.get(*at),
            Argument::Keyword(name) => {
                arguments.named.iter().find(|(known, _)| **known == **name).map(|named| &named.1)
            }
        };
        match (found.cloned(), &field.argument) {
            (Some(value), _) => self.written_field(value, field, arguments),
            (None, Argument::Position(at)) => {
                let message = format!("Replacement index {at} out of range for positional args tuple");
                self.raise_message(ExcKind::IndexError, &message)
            }
            (None, Argument::Keyword(name)) => {
                self.raise(ExcKind::KeyError, vec![Abs::str(name)])?;
                Ok(Abs::Unbound)
            }
        }
    }

    /// What a field writes of its argument.
    fn written_field(&mut self, mut value: Abs, field: &Field, arguments: &Arguments<'_>) -> Lift<Abs> {
        for step in &field.path {
            if !self.live {
                return Ok(Abs::Unbound);
            }
            value = match step {
                Step::Attribute(name) => self.attribute(value, &Name::from(name.as_str()))?,
                Step::Index(at) => self.item(value, Abs::int(*at as i64))?,
                Step::Key(key) => self.item(value, Abs::str(key))?,
            };
        }
        if let Some(conversion) = field.conversion {
            value = self.converted(&value, conversion)?;
        }
        let spec = self.formatted(&field.spec, arguments)?;
        if self.live { self.format_value(&value, &spec) } else { Ok(Abs::Unbound) }
    }
}
