//! Protocols: what operators, calls and built-in functions ask of objects whose class is
//! written in Python (language reference, "Special method names").

use crate::abs::Abs;
use crate::bailout::Code;
use crate::objects::class::{ClassObj, Member, Method};
use crate::objects::heap::Instance;
use crate::walk::describe::describe;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Class, ClassRow, ExcKind, Type};
use std::rc::Rc;

/// Binary operators: the spelling, the method of the left operand, that of the right one.
const BINARY: &[(&str, &str, &str)] = &[
    ("a+b", "__add__", "__radd__"),
    ("a-b", "__sub__", "__rsub__"),
    ("a*b", "__mul__", "__rmul__"),
    ("a/b", "__truediv__", "__rtruediv__"),
    ("a//b", "__floordiv__", "__rfloordiv__"),
    ("a%b", "__mod__", "__rmod__"),
    ("a**b", "__pow__", "__rpow__"),
    ("a&b", "__and__", "__rand__"),
    ("a|b", "__or__", "__ror__"),
    ("a^b", "__xor__", "__rxor__"),
    ("a@b", "__matmul__", "__rmatmul__"),
    ("a<<b", "__lshift__", "__rlshift__"),
    ("a>>b", "__rshift__", "__rrshift__"),
];

/// Comparisons, with the method that the other operand has for it.
const COMPARE: &[(&str, &str, &str)] = &[
    ("a==b", "__eq__", "__eq__"),
    ("a!=b", "__ne__", "__ne__"),
    ("a<b", "__lt__", "__gt__"),
    ("a<=b", "__le__", "__ge__"),
    ("a>b", "__gt__", "__lt__"),
    ("a>=b", "__ge__", "__le__"),
];

/// Operations of one method of the first operand, and what CPython says without it.
const UNARY: &[(&str, &str, Option<&str>)] = &[
    ("-a", "__neg__", Some("bad operand type for unary -: '{}'")),
    ("+a", "__pos__", Some("bad operand type for unary +: '{}'")),
    ("~a", "__invert__", Some("bad operand type for unary ~: '{}'")),
    ("abs", "__abs__", Some("bad operand type for abs(): '{}'")),
    ("a[b]", "__getitem__", Some("'{}' object is not subscriptable")),
    ("a[b:c]", "__getpart__", None),
    ("a[b:c:d]", "__getslice__", None),
    ("a[b:c:d]=e", "__setslice__", None),
    ("a[b]=c", "__setitem__", Some("'{}' object does not support item assignment")),
    ("del a[b]", "__delitem__", None),
    ("del a[b:c:d]", "__delslice__", None),
    ("int", "__int__", None),
    ("float", "__float__", None),
    ("round", "__round__", None),
    ("math.floor", "__floor__", None),
    ("math.ceil", "__ceil__", None),
    ("math.trunc", "__trunc__", None),
];

/// The method by which the first operand of an operator says what that gives.
pub(crate) fn operator_method(spelling: &str) -> Option<&'static str> {
    let is_name = spelling.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'.');
    let of_two = BINARY.iter().chain(COMPARE).map(|row| (row.0, row.1));
    let mut all = of_two.chain(UNARY.iter().map(|row| (row.0, row.1)));
    all.find(|(operator, _)| *operator == spelling && !is_name).map(|(_, method)| method)
}

/// Classes of the prelude that have every operator that CPython's have, and their names in messages.
const KNOWN: &[(&str, &str)] = &[
    ("dict", "dict"),
    ("set", "set"),
    ("frozenset", "frozenset"),
    ("dict_keys", "dict_keys"),
    ("dict_values", "dict_values"),
    ("dict_items", "dict_items"),
    ("tuple", "tuple"),
    ("Decimal", "decimal.Decimal"),
    ("_Slice", "slice"),
    ("datetime", "datetime.datetime"),
    ("timezone", "datetime.timezone"),
];

/// Classes of the prelude that are classes of C with a module in their names, which messages have.
const OF_MODULES: &[(&str, &str)] = &[
    ("deque", "collections.deque"),
    ("defaultdict", "collections.defaultdict"),
    ("OrderedDict", "collections.OrderedDict"),
];

/// The name in messages of a class of the prelude that has every operator of CPython's.
fn known_name(class: &ClassObj) -> Option<&'static str> {
    KNOWN.iter().find(|row| class.prelude && *row.0 == *class.name).map(|row| row.1)
}

/// Functions that ask an object for its float.
const OF_FLOATS: &[&str] = &[
    "math.sqrt",
    "math.exp",
    "math.expm1",
    "math.log",
    "math.log2",
    "math.log10",
    "math.log1p",
    "math.sin",
    "math.cos",
    "math.tan",
    "math.asin",
    "math.acos",
    "math.atan",
    "math.atan2",
    "math.sinh",
    "math.cosh",
    "math.tanh",
    "math.hypot",
    "math.pow",
    "math.fabs",
    "math.isnan",
    "math.isinf",
    "math.isfinite",
    "math.degrees",
    "math.radians",
    "math.copysign",
    "math.fmod",
    "math.erf",
    "math.erfc",
    "math.gamma",
    "math.lgamma",
    "math.exp2",
    "math.cbrt",
    "math.remainder",
    "math.asinh",
    "math.acosh",
    "math.atanh",
    "math.floor",
    "math.ceil",
    "math.isclose",
];

/// Whether it is an object of the prelude that is a number in SQL.
fn is_number(abs: &Abs) -> bool {
    abs.is_of_prelude_with("_in_sql") && abs.is_of_prelude_with("__float__")
}

impl Lifter<'_> {
    /// Applies an operation of which an operand is such an object; `None` where none is.
    pub fn apply_to_object(&mut self, spelling: &str, args: &[Abs]) -> Lift<Option<Abs>> {
        if !args.iter().any(|arg| matches!(arg, Abs::Instance(_)))
            || args.iter().any(|arg| self.union_with_objects(arg).is_some())
        {
            return Ok(None);
        }
        // What the other operand is decides which of the two has the method.
        let chooses = BINARY.iter().any(|row| row.0 == spelling) || COMPARE.iter().any(|row| row.0 == spelling);
        if chooses && self.union_operand(args).is_some() {
            return Ok(None);
        }
        if spelling.starts_with("a[b:")
            && let Some(items) = self.named_items(&args[0])
        {
            let tuple = std::iter::once(Abs::tuple(items)).chain(args[1..].iter().cloned());
            return self.try_apply(spelling, &tuple.collect::<Vec<_>>());
        }
        // A member that is an int counts for one with a duration.
        if let ("a*b" | "a/b" | "a//b", [left, right]) = (spelling, args) {
            let is_duration = |me: &Self, abs: &Abs| matches!(me.type_of(abs), Some(Type::Record(Class::Timedelta, _)));
            if is_duration(self, left)
                && let Some(int) = self.int_of_member(right)?
            {
                return self.try_apply(spelling, &[left.clone(), int]);
            }
            if spelling == "a*b"
                && is_duration(self, right)
                && let Some(int) = self.int_of_member(left)?
            {
                return self.try_apply(spelling, &[right.clone(), int]);
            }
        }
        if let Some(result) = self.apply_to_shaped(spelling, args)? {
            return Ok(Some(result));
        }
        if OF_FLOATS.contains(&spelling) && args.iter().any(is_number) {
            let mut floats = Vec::new();
            for arg in args {
                floats.push(match arg {
                    Abs::Instance(object) if is_number(arg) => {
                        self.call_special(object, "__float__", Vec::new())?.unwrap_or_else(|| arg.clone())
                    }
                    other => other.clone(),
                });
            }
            return if self.live { self.try_apply(spelling, &floats) } else { Ok(Some(Abs::Unbound)) };
        }
        // What a class of the prelude lacks may be in CPython's.
        let prelude = args.iter().any(|arg| matches!(arg, Abs::Instance(object) if object.class.prelude));
        let refused = |me: &mut Self| me.bail(Code::Operands, format!("{spelling} with an object"));
        if let ([left, right], Some((_, method, reflected))) = (args, BINARY.iter().find(|row| row.0 == spelling)) {
            return self.binary_of_object(spelling, left, right, method, reflected).map(Some);
        }
        if let ([left, right], Some((_, method, reflected))) = (args, COMPARE.iter().find(|row| row.0 == spelling)) {
            return self.compare_objects(spelling, left, right, method, reflected).map(Some);
        }
        if let ("a in b", [item, Abs::Instance(container)]) = (spelling, args) {
            if let Some(found) = self.call_special(container, "__contains__", vec![item.clone()])? {
                return self.bool_of_result(&found).map(Some);
            }
            if !ClassObj::is_iterable(&container.class) {
                return refused(self);
            }
            let iterator = self.iterator_of(&Rc::clone(container))?;
            if !self.live {
                return Ok(Some(Abs::Unbound));
            }
            return self.call_of_prelude("_among", vec![item.clone(), iterator]).map(Some);
        }
        let Some(Abs::Instance(object)) = args.first() else { return Ok(None) };
        let object = Rc::clone(object);
        let rest = args[1..].to_vec();
        let result = match spelling {
            "truth" | "bool" => self.truth_of_object(&object)?,
            "str" if rest.is_empty() => self.text_of_object(&object, &["__str__", "__repr__"])?,
            "repr" if rest.is_empty() => self.text_of_object(&object, &["__repr__"])?,
            "len" if rest.is_empty() => match self.length_of_object(&object)? {
                Some(length) => length,
                None if prelude => return refused(self),
                None => {
                    let message = format!("object of type '{}' has no len()", self.class_shown(&object.class)?);
                    self.raise_message(ExcKind::TypeError, &message)?
                }
            },
            "format" => {
                let spec = rest.first().cloned().unwrap_or_else(|| Abs::str(""));
                match self.call_special(&object, "__format__", vec![spec.clone()])? {
                    Some(text) if !self.live || self.type_of(&text) == Some(Type::Str) => text,
                    Some(_) => return self.bail(Code::Operands, "__format__ returns no str"),
                    None if spec.same(&Abs::str("")) => self.text_of_object(&object, &["__str__", "__repr__"])?,
                    None => return refused(self),
                }
            }
            _ => {
                // What is left is a function of the prelude, if it takes objects.
                let Some((_, method, missing)) = UNARY.iter().find(|row| row.0 == spelling) else {
                    return Ok(None);
                };
                match (self.call_special(&object, method, rest)?, missing) {
                    (Some(result), _) => self.checked(spelling, method, result)?,
                    (None, Some(missing)) if !prelude => self
                        .raise_message(ExcKind::TypeError, &missing.replace("{}", &self.class_shown(&object.class)?))?,
                    (None, _) => return refused(self),
                }
            }
        };
        Ok(Some(result))
    }

    /// Calls a special method: it is looked up in the class. `None` where there is none.
    pub fn call_special(&mut self, object: &Rc<Instance>, name: &str, args: Vec<Abs>) -> Lift<Option<Abs>> {
        match ClassObj::find(&object.class, name) {
            None => Ok(None),
            Some((owner, Member::Value(Abs::Func(closure)))) => {
                let receiver = Abs::Instance(Rc::clone(object));
                let method = Method { closure, owner, receiver };
                self.calling_through(built_ins_around(name), |me| me.call_bound(&method, args, Vec::new())).map(Some)
            }
            Some(_) => self.bail(Code::Callee, format!("{name} is no function")),
        }
    }

    /// Calls a method with its receiver.
    pub fn call_bound(
        &mut self,
        method: &Method,
        args: Vec<Abs>,
        named: Vec<(crate::tree::ast::Name, Abs)>,
    ) -> Lift<Abs> {
        if named.is_empty()
            && method.owner.prelude
            && let Some(result) = self.method_of_shaped(&method.receiver, &method.closure.def.name, &args)?
        {
            return Ok(result);
        }
        // Methods of sets do not do the same with each constant.
        let constants = |arg: &Abs| match arg {
            Abs::OneOf(choice) if choice.of.iter().all(|(_, item)| item.as_const().is_some()) => {
                Some(Rc::clone(choice))
            }
            _ => None,
        };
        if method.owner.prelude
            && ClassObj::is_below(&method.owner, "_Members")
            && let Some((at, choice)) = args.iter().enumerate().find_map(|(at, arg)| Some((at, constants(arg)?)))
        {
            return self.choose(&choice, &mut |me, item| {
                let mut args = args.clone();
                args[at] = item;
                me.call_bound(method, args, named.clone())
            });
        }
        let mut all = vec![method.receiver.clone()];
        all.extend(args);
        self.next_owner = Some((Rc::clone(&method.owner), method.receiver.clone()));
        self.call_value(&Abs::Func(Rc::clone(&method.closure)), all, named)
    }

    /// The name of a class in messages.
    pub fn class_shown(&self, class: &ClassObj) -> Lift<String> {
        if class.stands_for_several() {
            return self.bail(Code::Operands, "the class of such an object");
        }
        let of_module = || OF_MODULES.iter().find(|row| class.prelude && *row.0 == *class.name).map(|row| row.1);
        Ok(known_name(class).or_else(of_module).unwrap_or(&class.name).to_string())
    }

    /// The name of a value's class in messages.
    fn shown_class(&self, abs: &Abs) -> Lift<String> {
        match (abs, self.type_of(abs)) {
            (Abs::Instance(object), _) => self.class_shown(&object.class),
            (_, Some(Type::Union(_))) | (_, None) => {
                self.bail(Code::Operands, format!("an object and {}", describe(abs)))
            }
            (_, Some(ty)) => Ok(ty.message_name().to_string()),
        }
    }

    /// What a special method gives, where it must be of a class.
    fn checked(&mut self, spelling: &str, method: &str, result: Abs) -> Lift<Abs> {
        match (spelling, self.type_of(&result)) {
            _ if !self.live => Ok(Abs::Unbound),
            ("float", Some(Type::Float)) | ("int", Some(Type::Int)) => Ok(result),
            ("int", Some(Type::Bool)) => self.apply("int", &[result]),
            ("float" | "int", _) => self.bail(Code::Operands, format!("{method} returns something else")),
            _ => Ok(result),
        }
    }

    fn binary_of_object(
        &mut self,
        spelling: &str,
        left: &Abs,
        right: &Abs,
        method: &str,
        reflected: &str,
    ) -> Lift<Abs> {
        let symbol = &spelling[1..spelling.len() - 1];
        if self.augmented
            && let Abs::Instance(object) = left
        {
            let in_place = format!("__i{}", &method[2..]);
            if let Some(result) = self.call_special(object, &in_place, vec![right.clone()])? {
                if may_be_not_implemented(&result) {
                    return self.bail(Code::Join, format!("{in_place} returns NotImplemented on some paths"));
                }
                if !is_not_implemented(&result) {
                    return Ok(result);
                }
            }
        }
        if let Some(result) = self.either_way(left, right, method, reflected)? {
            return Ok(result);
        }
        let sequence = |abs: &Abs| {
            let is = |ty: &Type| ClassRow::of_type(ty).is_some_and(ClassRow::is_sequence);
            self.type_of(abs).is_some_and(|ty| ty.alternatives().iter().any(is))
        };
        if matches!(symbol, "+" | "*" | "%") && (sequence(left) || sequence(right)) {
            return self.bail(Code::Operands, format!("{symbol} of a sequence and an object"));
        }
        let symbol = match (symbol, self.augmented) {
            ("**", false) => "** or pow()".to_string(),
            ("**", true) => "**=".to_string(),
            (symbol, augmented) => format!("{symbol}{}", if augmented { "=" } else { "" }),
        };
        self.refuse_classes(left, right, &|a, b| format!("unsupported operand type(s) for {symbol}: '{a}' and '{b}'"))
    }

    /// Raises a TypeError about the classes of two operands.
    fn refuse_classes(&mut self, left: &Abs, right: &Abs, message: &dyn Fn(&str, &str) -> String) -> Lift<Abs> {
        let unknown = |abs: &Abs| matches!(abs, Abs::Instance(object) if object.class.prelude && known_name(&object.class).is_none());
        if unknown(left) || unknown(right) {
            return self.bail(Code::Operands, "an operator of such a class");
        }
        if let Some((_, value)) = self.union_operand(&[left.clone(), right.clone()]) {
            return self.dispatch(value, &mut |me, narrowed| {
                let left = left.replace(value, &narrowed).unwrap_or_else(|| left.clone());
                let right = right.replace(value, &narrowed).unwrap_or_else(|| right.clone());
                me.refuse_classes(&left, &right, message)
            });
        }
        let (a, b) = (self.shown_class(left)?, self.shown_class(right)?);
        self.raise_message(ExcKind::TypeError, &message(&a, &b))
    }

    /// What one of two operands says; that of a subclass is asked first (language reference
    /// 3.3.8). `None` where neither does.
    fn either_way(&mut self, left: &Abs, right: &Abs, method: &str, reflected: &str) -> Lift<Option<Abs>> {
        let mut ways = vec![(left, method, right), (right, reflected, left)];
        if let (Abs::Instance(a), Abs::Instance(b)) = (left, right) {
            let same = a.class.is(&b.class);
            // An object of the same class is not asked again, but for comparisons.
            if same && method != reflected && BINARY.iter().any(|row| row.1 == method) {
                ways.pop();
            } else if !same && ClassObj::is_subclass(&b.class, &a.class) {
                let binary = BINARY.iter().any(|row| row.1 == method);
                let owner = |class| ClassObj::find(class, reflected).map(|found| Rc::as_ptr(&found.0));
                if !binary || owner(&a.class) != owner(&b.class) {
                    ways.reverse();
                }
            }
        }
        for (object, method, other) in ways {
            if let Abs::Instance(object) = object
                && let Some(result) = self.call_special(object, method, vec![other.clone()])?
            {
                if !self.live {
                    return Ok(Some(Abs::Unbound));
                }
                if may_be_not_implemented(&result) {
                    return self.bail(Code::Join, format!("{method} returns NotImplemented on some paths"));
                }
                if !is_not_implemented(&result) {
                    return Ok(Some(result));
                }
            }
        }
        Ok(None)
    }

    fn compare_objects(&mut self, spelling: &str, left: &Abs, right: &Abs, method: &str, reflected: &str) -> Lift<Abs> {
        // What a method says of one of several classes, it may not say of another.
        if let Some(union) = self.union_with_objects(right).filter(|_| self.live) {
            return self
                .dispatch(union, &mut |me, narrowed| me.compare_objects(spelling, left, &narrowed, method, reflected));
        }
        if spelling == "a!=b" {
            // `object.__ne__` inverts `__eq__`.
            let has = |abs: &Abs, name| matches!(abs, Abs::Instance(o) if ClassObj::find(&o.class, name).is_some());
            let own = [left, right].map(|side| has(side, "__ne__"));
            if own == [false, false] {
                let equal = self.compare_objects("a==b", left, right, "__eq__", "__eq__")?;
                let truth = self.truth(&equal)?;
                return self.negate(truth);
            }
            if own != [true, true] && has(left, "__eq__") && has(right, "__eq__")
                || own[1] && !own[0] && matches!(left, Abs::Instance(_))
            {
                return self.bail(Code::Operands, "!= of objects of which one has __ne__");
            }
        }
        if let Some(result) = self.either_way(left, right, method, reflected)? {
            return Ok(result);
        }
        let prelude = |abs: &Abs| matches!(abs, Abs::Instance(object) if object.class.prelude);
        if (prelude(left) || prelude(right)) && !matches!(spelling, "a<b" | "a<=b" | "a>b" | "a>=b") {
            // Neither knows the other: for dicts and sets that is certain, if the class is known.
            let known = [left, right].iter().all(|abs| match abs {
                Abs::Instance(object) if object.class.prelude => known_name(&object.class).is_some(),
                Abs::Instance(_) => true,
                other => self.type_of(other).is_some(),
            });
            if !known {
                return self.bail(Code::Operands, "a comparison of such a class");
            }
        }
        match spelling {
            "a==b" => self.is_one_object(left, right),
            "a!=b" => {
                let one = self.is_one_object(left, right)?;
                self.negate(one)
            }
            _ => {
                let symbol = &spelling[1..spelling.len() - 1];
                self.refuse_classes(left, right, &|a, b| {
                    format!("'{symbol}' not supported between instances of '{a}' and '{b}'")
                })
            }
        }
    }

    fn truth_of_object(&mut self, object: &Rc<Instance>) -> Lift<Abs> {
        if let Some(truth) = self.call_special(object, "__bool__", Vec::new())? {
            return match self.type_of(&truth) {
                Some(Type::Bool) => Ok(truth),
                _ if !self.live => Ok(Abs::Unbound),
                _ => self.bail(Code::Operands, "__bool__ returns no bool"),
            };
        }
        match self.length_of_object(object)? {
            Some(len) if self.live => self.apply("a!=b", &[len, Abs::int(0)]),
            Some(_) => Ok(Abs::Unbound),
            None => Ok(Abs::bool(true)),
        }
    }

    /// What `__len__` gives, checked (Objects/typeobject.c, slot_sq_length); `None` where there
    /// is none.
    fn length_of_object(&mut self, object: &Rc<Instance>) -> Lift<Option<Abs>> {
        let Some(length) = self.call_special(object, "__len__", Vec::new())? else { return Ok(None) };
        if !self.live || object.class.prelude {
            return Ok(Some(length));
        }
        self.call_of_prelude("_length", vec![length]).map(Some)
    }

    /// The truth of what a special method gives.
    fn bool_of_result(&mut self, result: &Abs) -> Lift<Abs> {
        if !self.live {
            return Ok(Abs::Unbound);
        }
        if let Some((_, value)) = self.union_operand(std::slice::from_ref(result)) {
            return self.dispatch(value, &mut |me, narrowed| me.truth(&narrowed));
        }
        self.truth(result)
    }

    fn text_of_object(&mut self, object: &Rc<Instance>, methods: &[&str]) -> Lift<Abs> {
        // The built-in class has both.
        let builtin = object.class.exception.map(|_| methods[0] == "__repr__");
        let methods = if builtin.is_some() { &methods[..1] } else { methods };
        for method in methods {
            if let Some(text) = self.call_special(object, method, Vec::new())? {
                return match self.type_of(&text) {
                    Some(Type::Str) => Ok(text),
                    _ if !self.live => Ok(Abs::Unbound),
                    _ => self.bail(Code::Operands, format!("{method} returns no str")),
                };
            }
        }
        if let Some(repr) = builtin {
            return self.text_of_exception(object, repr);
        }
        self.bail(Code::Operands, "the text of an object, which has its address")
    }

    /// What iterates over an object of the standard library, if its class says.
    pub fn iterator_of_record(&mut self, abs: &Abs) -> Lift<Option<Abs>> {
        let Some(Type::Record(class, _)) = self.type_of(abs) else { return Ok(None) };
        let function = match exuvia_ops::prelude::named(class.path()) {
            Some(module) => self.prelude_function(module, "__iter__")?,
            None => None,
        };
        match function {
            Some(function) => self.call_value(&function, vec![abs.clone()], Vec::new()).map(Some),
            None => self.bail(Code::Operands, format!("iteration over a {}", class.name())),
        }
    }

    /// What iterates over an object.
    pub fn iterator_of(&mut self, object: &Rc<Instance>) -> Lift<Abs> {
        match self.call_special(object, "__iter__", Vec::new())? {
            Some(iterator @ Abs::Iter(_)) => Ok(iterator),
            Some(_) if !self.live => Ok(Abs::Unbound),
            Some(Abs::Instance(iterator)) if ClassObj::find(&iterator.class, "__next__").is_some() => {
                self.call_of_prelude("_turns", vec![Abs::Instance(iterator)])
            }
            // `iter(self.items)`
            Some(Abs::Instance(iterator))
                if iterator.class.prelude && ClassObj::is_below(&iterator.class, "list_iterator") =>
            {
                self.iterator_of(&iterator)
            }
            Some(other) => self.bail(Code::Operands, format!("__iter__ returns {}", describe(&other))),
            None if object.class.prelude => self.bail(Code::Operands, "iteration over such an object"),
            None if ClassObj::find(&object.class, "__getitem__").is_some() => {
                self.call_of_prelude("_sequence", vec![Abs::Instance(Rc::clone(object))])
            }
            None => {
                let message = format!("'{}' object is not iterable", object.class.name);
                self.raise_message(ExcKind::TypeError, &message)
            }
        }
    }
}

/// How many built-in functions, of those that count as calls, CPython may go through before it calls a special
/// method: `'{}'.format(x)` calls `object.__format__`, and that `str`, which calls `__str__`.
fn built_ins_around(method: &str) -> u32 {
    const DIRECT: [&str; 14] = [
        "__len__",
        "__bool__",
        "__contains__",
        "__getitem__",
        "__setitem__",
        "__neg__",
        "__float__",
        "__round__",
        "__enter__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__eq__",
    ];
    match method {
        "__str__" | "__repr__" | "__format__" => 2,
        direct if DIRECT.contains(&direct) || BINARY.iter().any(|row| row.1 == direct || row.2 == direct) => 0,
        _ => 1,
    }
}

/// Whether it is that on some paths only.
fn may_be_not_implemented(abs: &Abs) -> bool {
    match abs {
        Abs::Conflict => true,
        Abs::OneOf(choice) => choice.of.iter().any(|(_, item)| is_not_implemented(item)),
        _ => false,
    }
}

/// Whether it is `NotImplemented`.
pub(crate) fn is_not_implemented(abs: &Abs) -> bool {
    matches!(abs, Abs::Builtin(name) if &**name == "NotImplemented")
}
