//! Binary operators with their fallbacks, subscripts, and text built from parts.

use crate::abs::Abs;
use crate::ast::{Expr, ExprKind, FPart};
use crate::bailout::Code;
use crate::lifter::{Lift, Lifter};
use exuvia_ir::{Class, DictObj, ExcKind, Int, Object, Type};
use std::rc::Rc;
use std::sync::Arc;

/// The combinations of parts of tuples among which one is looked up.
const MOST_COMBINED: usize = 10_000;

impl Lifter<'_> {
    /// A binary operator, by its symbol.
    pub fn binary(&mut self, symbol: &str, left: Abs, right: Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if symbol == "%" && self.type_of(&left) == Some(Type::Str) {
            return self.percent(&left, &right);
        }
        if symbol == "+"
            && let (Some(a), Some(b)) = (left.tuple_items(), right.tuple_items())
        {
            self.world.budget.take(a.len() + b.len());
            return Ok(Abs::tuple([a, b].concat()));
        }
        self.apply(&format!("a{symbol}b"), &[left, right])
    }

    pub fn subscript(&mut self, value: Abs, index: &Expr) -> Lift<Abs> {
        if let ExprKind::Slice { lower, upper, step } = &index.kind {
            let mut bound = |bound: &Option<Box<Expr>>| match bound {
                Some(bound) => self.expr(bound),
                None => Ok(Abs::NONE),
            };
            let (lower, upper, step) = (bound(lower)?, bound(upper)?, bound(step)?);
            if !self.live {
                return Ok(Abs::Unbound);
            }
            if let Some(items) = value.tuple_items() {
                return self.slice_tuple(items, &lower, &upper, &step);
            }
            if step.same(&Abs::NONE) {
                return self.apply("a[b:c]", &[value, lower, upper]);
            }
            // The operation has one int that stands for no bound; it must not come from data.
            let dynamic = |abs: &Abs| abs.as_const().is_none();
            if dynamic(&step) && (dynamic(&lower) || dynamic(&upper)) {
                return self.bail(Code::Operands, "a slice with bounds and step that are not constant");
            }
            return self.apply("a[b:c:d]", &[value, lower, upper, step]);
        }
        let index = self.expr(index)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        self.item(value, index)
    }

    pub fn item(&mut self, value: Abs, index: Abs) -> Lift<Abs> {
        match &value {
            Abs::Instance(_) => return self.apply("a[b]", &[value, index]),
            Abs::Table(table) => return self.item_of_table(&Rc::clone(table), &index),
            Abs::Class(class) if self.enum_of(class).is_some() => {
                let Some(found) = self.enum_of(class) else { return Ok(Abs::Unbound) };
                return self.item_of_table(&found.by_name(), &index);
            }
            Abs::OneOf(choice) => return self.item_of_choice(&Rc::clone(choice), &index),
            _ => {}
        }
        if let Abs::OneOf(choice) = &index {
            return self.choose(&Rc::clone(choice), &mut |me, index| me.item(value.clone(), index));
        }
        if let Some((_, v)) = self.union_operand(&[value.clone(), index.clone()]) {
            return self.dispatch(v, &mut |me, narrowed| {
                let value = value.replace(v, &narrowed).unwrap_or_else(|| value.clone());
                let index = index.replace(v, &narrowed).unwrap_or_else(|| index.clone());
                me.item(value, index)
            });
        }
        if value.tuple_items().is_some() || matches!(self.type_of(&value), Some(Type::Tuple(_))) {
            let Some(items) = self.known_items(&value) else { return self.bail(Code::Operands, "a tuple") };
            let constant = match &index {
                Abs::Const(Object::Int(at)) => at.to_i64(),
                Abs::Const(Object::Bool(at)) => Some(i64::from(*at)),
                _ => None,
            };
            if let Some(at) = constant {
                let len = items.len() as i64;
                let position = if at < 0 { at + len } else { at };
                return match usize::try_from(position).ok().and_then(|at| items.get(at)) {
                    Some(item) => Ok(item.clone()),
                    None => self.raise_message(ExcKind::IndexError, "tuple index out of range"),
                };
            }
            return self.item_of_tuple(&value, &items, index);
        }
        if let Abs::Const(Object::Dict(_)) = &value {
            return self.dict_item(&value, &index);
        }
        self.apply("a[b]", &[value, index])
    }

    /// An element of a tuple at an index that is known only at run time: the tuple is
    /// read as a list, whose error text differs.
    fn item_of_tuple(&mut self, value: &Abs, items: &[Abs], index: Abs) -> Lift<Abs> {
        if !matches!(self.type_of(&index), Some(Type::Int | Type::Bool)) {
            return self.apply("a[b]", &[value.clone(), index]);
        }
        let len = items.len() as i64;
        let low = self.apply("a<b", &[index.clone(), Abs::int(-len)])?;
        let (bad_low, rest) = self.split_value(&low)?;
        self.enter_any(rest)?;
        let high = self.apply("a>=b", &[index.clone(), Abs::int(len)])?;
        let (bad_high, good) = self.split_value(&high)?;
        self.enter_any([bad_low, bad_high].concat())?;
        // Ints that no C integer holds have another message.
        for (far, order) in [(1 << 63, "a>=b"), (-(1 << 63) - 1, "a<=b")] {
            if self.live {
                let far = Abs::Const(Object::Int(Int::from_i128(far)));
                let beyond = self.apply(order, &[index.clone(), far])?;
                let (beyond, near) = self.split_value(&beyond)?;
                self.enter_any(beyond)?;
                if self.live {
                    self.raise_message(ExcKind::IndexError, "cannot fit 'int' into an index-sized integer")?;
                }
                self.enter_any(near)?;
            }
        }
        if self.live {
            self.raise_message(ExcKind::IndexError, "tuple index out of range")?;
        }
        self.enter_any(good)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        let list = self.listed(value)?;
        self.apply("a[b]", &[list, index])
    }

    fn slice_tuple(&mut self, items: Vec<Abs>, lower: &Abs, upper: &Abs, step: &Abs) -> Lift<Abs> {
        let bound = |abs: &Abs| match abs {
            Abs::Const(Object::None) => Some(None),
            Abs::Const(Object::Int(value)) => Some(Some(value.clamp_i64())),
            _ => None,
        };
        match (bound(lower), bound(upper), bound(step)) {
            (Some(lower), Some(upper), Some(None | Some(1))) => {
                let len = items.len() as i64;
                let clamp = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at.min(len) };
                let (from, to) = (lower.map_or(0, clamp), upper.map_or(len, clamp));
                Ok(Abs::tuple(items[from as usize..to.max(from) as usize].to_vec()))
            }
            _ => self.bail(Code::Operands, "a slice of a tuple with bounds that are not constant"),
        }
    }

    /// `d[key]` of a constant dict.
    fn dict_item(&mut self, dict: &Abs, key: &Abs) -> Lift<Abs> {
        let at = self.dict_position(dict, key)?;
        let missing = self.apply("a<b", &[at.clone(), Abs::int(0)])?;
        let (yes, no) = self.split_value(&missing)?;
        self.enter_any(yes)?;
        if self.live {
            self.raise(ExcKind::KeyError, vec![key.clone()])?;
        }
        self.enter_any(no)?;
        if !self.live {
            return Ok(Abs::Unbound);
        }
        self.dict_value_at(dict, &at)
    }

    /// The value of a constant dict at a position that was found.
    pub fn dict_value_at(&mut self, dict: &Abs, at: &Abs) -> Lift<Abs> {
        let Abs::Const(Object::Dict(object)) = dict else { return self.bail(Code::Mutation, "a run-time dict") };
        if let Abs::Const(Object::Int(at)) = at
            && let Some(at) = at.to_i64()
        {
            return Ok(Abs::Const(object.entries()[at as usize].1.clone()));
        }
        if object.entries().iter().any(|entry| matches!(entry.1, Object::List(_) | Object::Dict(_) | Object::Set(_))) {
            self.changes(dict)?;
            let values = object.entries().iter().enumerate();
            return self.pick(at, values.map(|(at, entry)| (at as i64, Abs::Const(entry.1.clone()))).collect());
        }
        let (dict, at) = (self.value(dict)?, self.value(at)?);
        Ok(Abs::Dyn(self.named("dict.value", vec![dict, at])?))
    }

    /// The position of an object of the standard library among keys of its class, by its only field.
    fn position_by_field(&mut self, dict: &Abs, key: &Abs) -> Lift<Option<Abs>> {
        let Some(Type::Record(class, fields)) = self.type_of(key) else { return Ok(None) };
        let entries = match dict {
            Abs::Const(Object::Dict(dict)) => dict.entries(),
            Abs::Const(Object::Set(set)) => set.members.entries(),
            _ => return Ok(None),
        };
        let mut by_field = DictObj::default();
        for (key, value) in entries {
            match key {
                Object::Record(record) if class.is_value() && record.class == class && fields.len() == 1 => {
                    by_field.insert(record.fields[0].clone(), value.clone());
                }
                _ => return Ok(None),
            }
        }
        let field = self.field(key, 0)?;
        self.dict_position(&Abs::Const(Object::Dict(Arc::new(by_field))), &field).map(Some)
    }

    /// The position of a tuple among keys that are tuples of as many: that of each of its parts
    /// among those of the keys, and then that of all of them together.
    fn position_by_parts(&mut self, entries: &DictObj, key: &Abs) -> Lift<Option<Abs>> {
        let tuple = |object: &Object| match object {
            Object::Tuple(items) => Some(items.to_vec()),
            _ => None,
        };
        if !matches!(key, Abs::Tuple(_)) && !matches!(self.type_of(key), Some(Type::Tuple(_))) {
            return Ok(None);
        }
        let Some(parts) = self.known_items(key) else { return Ok(None) };
        let Some(keys) = entries.entries().iter().map(|entry| tuple(&entry.0)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        // What has no hash raises, wherever the others are.
        let hashed = |part: &Abs| self.type_of(part).is_some_and(|ty| !ty.holds_list() && !ty.holds_object());
        if parts.is_empty() || !parts.iter().all(hashed) || keys.iter().any(|key| key.len() != parts.len()) {
            return Ok(None);
        }
        // The parts that keys have, by column.
        let mut columns = std::iter::repeat_with(DictObj::default).take(parts.len()).collect::<Vec<_>>();
        for key in &keys {
            columns.iter_mut().zip(key).for_each(|(column, part)| {
                column.insert(part.clone(), Object::None);
            });
        }
        let combined = columns.iter().fold(1usize, |all, column| all.saturating_mul(column.len()));
        if combined > MOST_COMBINED {
            return Ok(None);
        }
        self.world.budget.take(combined + keys.len() * parts.len());
        let mut positions = vec![Object::int(-1); combined];
        for (at, key) in keys.iter().enumerate() {
            let place = columns
                .iter()
                .zip(key)
                .try_fold(0, |place, (column, part)| Some(place * column.len() + column.position(part)?));
            if let Some(place) = place {
                positions[place] = Object::int(at as i64);
            }
        }
        let mut table = DictObj::default();
        positions.into_iter().enumerate().for_each(|(at, position)| {
            table.insert(Object::int(at as i64), position);
        });
        let mut missing = Vec::new();
        let mut place = Abs::int(0);
        for (column, part) in columns.into_iter().zip(&parts) {
            let len = column.len() as i64;
            let at = self.dict_position(&Abs::Const(Object::Dict(Arc::new(column))), part)?;
            if !self.live {
                break;
            }
            let is_missing = self.apply("a<b", &[at.clone(), Abs::int(0)])?;
            let (yes, no) = self.split_value(&is_missing)?;
            missing.extend(yes.into_iter().map(|state| (state, vec![Abs::int(-1)])));
            self.enter_any(no)?;
            if self.live {
                let scaled = self.apply("a*b", &[place, Abs::int(len)])?;
                place = self.apply("a+b", &[scaled, at])?;
            } else {
                break;
            }
        }
        if self.live {
            let at = self.dict_value_at(&Abs::Const(Object::Dict(Arc::new(table))), &place)?;
            missing.extend(self.state().map(|state| (state, vec![at])));
        }
        Ok(Some(self.join(missing)?.pop().unwrap_or(Abs::Unbound)))
    }

    /// The position of a key in a constant dict or set, -1 where it is missing.
    pub fn dict_position(&mut self, dict: &Abs, key: &Abs) -> Lift<Abs> {
        if let Some((_, value)) = self.union_operand(std::slice::from_ref(key)) {
            return self.dispatch(value, &mut |me, narrowed| me.dict_position(dict, &narrowed));
        }
        if let Some(found) = self.position_by_field(dict, key)? {
            return Ok(found);
        }
        // A flag of `re` is equal to an int.
        if self.type_of(key).is_some_and(|ty| ty.holds_object()) {
            return self.bail(Code::Operands, "an object as a key");
        }
        let entries = match dict {
            Abs::Const(Object::Dict(dict)) => dict.clone(),
            Abs::Const(Object::Set(set)) => {
                let mut members = DictObj::default();
                for (key, value) in set.members.entries() {
                    members.insert(key.clone(), value.clone());
                }
                Arc::new(members)
            }
            _ => return self.bail(Code::Mutation, "a run-time dict"),
        };
        if let Abs::Const(key) = key {
            return Ok(Abs::int(entries.position(key).map_or(-1, |at| at as i64)));
        }
        if let Some(found) = self.position_by_parts(&entries, key)? {
            return Ok(found);
        }
        let keys = Type::union(entries.entries().iter().map(|entry| entry.0.ty()));
        let is_int = |ty: &Type| ty.alternatives().iter().all(|ty| matches!(ty, Type::Bool | Type::Int));
        if keys.holds(&|ty| *ty == Type::Bool) && is_int(&keys) && self.type_of(key).is_some_and(|ty| is_int(&ty)) {
            // True is 1 among keys, and False is 0.
            let mut ints = DictObj::default();
            for (key, value) in entries.entries() {
                let int = if let Object::Bool(value) = key { Object::int(i64::from(*value)) } else { key.clone() };
                ints.insert(int, value.clone());
            }
            return self.dict_position(&Abs::Const(Object::Dict(Arc::new(ints))), key);
        }
        match (self.type_of(key), keys) {
            (Some(Type::Str), Type::Str) | (Some(Type::Int), Type::Int) => {
                let (dict, key) = (self.value(dict)?, self.value(key)?);
                Ok(Abs::Dyn(self.named("dict.find", vec![dict, key])?))
            }
            (Some(Type::Bool), Type::Int) => {
                let key = self.value(key)?;
                let key = self.named("bool.to_int", vec![key])?;
                self.dict_position(dict, &Abs::Dyn(key))
            }
            // Strings and numbers are never equal.
            (Some(Type::Str), Type::Int)
            | (Some(Type::Int | Type::Bool | Type::Float), Type::Str)
            | (Some(Type::Str | Type::Int), Type::Never) => Ok(Abs::int(-1)),
            (Some(Type::List(_)), _) => self.raise_message(ExcKind::TypeError, "unhashable type: 'list'"),
            (Some(key), keys) => self.bail(Code::Operands, format!("a {key} looked up among {keys}")),
            (None, _) => self.bail(Code::StaticValue, "a static value looked up in a dict"),
        }
    }

    // ---- text ----

    pub fn f_string(&mut self, parts: &[FPart]) -> Lift<Abs> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                FPart::Text(text) => pieces.push(Abs::str(text)),
                FPart::Field { value, conversion, spec } => {
                    let mut value = self.expr(value)?;
                    value = match conversion {
                        None => value,
                        Some('s') => self.text_of(&value)?,
                        Some('r') => self.apply("repr", &[value])?,
                        Some(_) => return self.bail(Code::Expression, "!a in an f-string"),
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
        if spec.same(&Abs::str("")) && !matches!(self.seen(value.clone()), Abs::Instance(_)) {
            return self.text_of(value);
        }
        if self.type_of(value) == Some(Type::None) {
            return self.raise_message(ExcKind::TypeError, "unsupported format string passed to NoneType.__format__");
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

    /// `template % arguments`, where the template is constant.
    fn percent(&mut self, template: &Abs, arguments: &Abs) -> Lift<Abs> {
        let Abs::Const(Object::Str(template)) = template else {
            return self.bail(Code::Operands, "% with a template that is not constant");
        };
        let Some(parts) = crate::percent::parse(template) else {
            return self.bail(Code::Operands, "% with such a template");
        };
        let named = self.named_items(arguments).map(Abs::tuple);
        let arguments = named.as_ref().unwrap_or(arguments);
        let mut items = match arguments.tuple_items() {
            Some(items) => items,
            None => match self.type_of(arguments) {
                Some(Type::Tuple(_)) => self.known_items(arguments).unwrap_or_default(),
                Some(Type::Dict(..)) => return self.bail(Code::Operands, "% with a dict"),
                _ => vec![arguments.clone()],
            },
        }
        .into_iter();
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                crate::percent::Part::Text(text) => pieces.push(Abs::str(&text)),
                crate::percent::Part::Field { spec, conversion } => {
                    let Some(value) = items.next() else {
                        return self.raise_message(ExcKind::TypeError, "not enough arguments for format string");
                    };
                    pieces.push(self.percent_field(&spec, conversion, &value)?);
                }
            }
            if !self.live {
                return Ok(Abs::Unbound);
            }
        }
        // One argument that has items of its own may go unused.
        let has_items = matches!(arguments, Abs::Instance(_)) || matches!(self.type_of(arguments), Some(Type::List(_)));
        if !has_items && items.next().is_some() {
            return self.raise_message(ExcKind::TypeError, "not all arguments converted during string formatting");
        }
        self.concat(pieces)
    }

    fn percent_field(&mut self, spec: &str, conversion: char, value: &Abs) -> Lift<Abs> {
        if let Some((_, v)) = self.union_operand(std::slice::from_ref(value)) {
            return self.dispatch(v, &mut |me, narrowed| me.percent_field(spec, conversion, &narrowed));
        }
        let plain = spec.len() == 2;
        match conversion {
            's' => {
                let text = self.text_of(value)?;
                if plain { Ok(text) } else { self.apply_percent("percent.str", spec, text) }
            }
            'r' => {
                let text = self.apply("repr", std::slice::from_ref(value))?;
                if plain { Ok(text) } else { self.apply_percent("percent.str", &spec.replace('r', "s"), text) }
            }
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G'
                if matches!(self.type_of(value), Some(Type::Record(Class::RegexFlag, _))) =>
            {
                self.bail(Code::Operands, "a flag of re as a number")
            }
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

    fn apply_percent(&mut self, name: &str, spec: &str, value: Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        self.apply_named(name, &[Abs::str(spec), value])
    }

    /// `template.format(…)` with a constant template and positional fields.
    pub fn format_method(&mut self, template: &Abs, args: &[Abs]) -> Lift<Abs> {
        let Abs::Const(Object::Str(template)) = template else {
            return self.bail(Code::Operands, "str.format with a template that is not constant");
        };
        let Some(parts) = crate::percent::parse_format(template) else {
            return self.bail(Code::Operands, "str.format with such a template");
        };
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                crate::percent::FormatPart::Text(text) => pieces.push(Abs::str(&text)),
                crate::percent::FormatPart::Field { index, conversion, spec } => {
                    let Some(value) = args.get(index) else {
                        let message = format!("Replacement index {index} out of range for positional args tuple");
                        return self.raise_message(ExcKind::IndexError, &message);
                    };
                    let value = match conversion {
                        None => value.clone(),
                        Some('s') => self.text_of(value)?,
                        Some('r') => self.apply("repr", std::slice::from_ref(value))?,
                        Some(_) => return self.bail(Code::Operands, "!a in str.format"),
                    };
                    if !self.live {
                        return Ok(Abs::Unbound);
                    }
                    pieces.push(self.format_value(&value, &Abs::str(&spec))?);
                }
            }
        }
        self.concat(pieces)
    }
}
