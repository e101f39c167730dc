//! CPython's errors for operands that no operation of a spelling takes
//! (Objects/abstract.c and the types' own slots).

use exuvia_ir::{Class, ExcKind, Type};

fn name(ty: &Type) -> &'static str {
    ty.python_name()
}

/// Whether the type is one whose every operation is known here.
fn scalar(ty: &Type) -> bool {
    matches!(ty, Type::None | Type::Bool | Type::Int | Type::Float | Type::Str)
}

/// Whether the type is a class of values of the standard library: they are in no order with scalars.
fn is_value(ty: &Type) -> bool {
    matches!(ty, Type::Record(class, _) if class.is_value())
}

/// Whether the type is that of a date or a time, which know no arithmetic with scalars.
fn is_clock(ty: &Type) -> bool {
    matches!(ty, Type::Record(Class::Date | Class::Datetime | Class::Time, _))
}

fn numeric(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int | Type::Float)
}

/// The exception that CPython raises for operands of these types, none of which is a
/// union; `None` where this is not known.
#[must_use]
pub fn error(spelling: &str, types: &[Type]) -> Option<(ExcKind, String)> {
    let type_error = |message: String| Some((ExcKind::TypeError, message));
    if let ("a<b" | "a<=b" | "a>b" | "a>=b", [a, b]) = (spelling, types)
        && (is_value(a) && scalar(b) || scalar(a) && is_value(b))
    {
        let symbol = &spelling[1..spelling.len() - 1];
        let (a, b) = (a.message_name(), b.message_name());
        return type_error(format!("'{symbol}' not supported between instances of '{a}' and '{b}'"));
    }
    if let [a, b] = types
        && (is_clock(a) && scalar(b) || scalar(a) && is_clock(b))
        && let "a+b" | "a-b" | "a*b" | "a/b" | "a//b" = spelling
    {
        let (left, right) = (a.message_name(), b.message_name());
        return match (spelling, a, b) {
            ("a+b", Type::Str, _) => type_error(format!("can only concatenate str (not \"{right}\") to str")),
            ("a*b", Type::Str, _) => type_error(format!("can't multiply sequence by non-int of type '{right}'")),
            ("a*b", _, Type::Str) => type_error(format!("can't multiply sequence by non-int of type '{left}'")),
            _ => {
                let symbol = &spelling[1..spelling.len() - 1];
                type_error(format!("unsupported operand type(s) for {symbol}: '{left}' and '{right}'"))
            }
        };
    }
    let known = |ty: &Type| scalar(ty) || matches!(ty, Type::List(_) | Type::Tuple(_));
    if !types.iter().all(known) {
        return None;
    }
    match (spelling, types) {
        ("a+b", [Type::Str, other]) => type_error(format!("can only concatenate str (not \"{}\") to str", name(other))),
        ("a+b", [list @ (Type::List(_) | Type::Tuple(_)), other]) if list.python_name() != other.python_name() => {
            type_error(format!("can only concatenate {0} (not \"{1}\") to {0}", name(list), name(other)))
        }
        ("a*b", [a, b]) if sequence(a) && !integral(b) => {
            type_error(format!("can't multiply sequence by non-int of type '{}'", name(b)))
        }
        ("a*b", [a, b]) if sequence(b) && !integral(a) => {
            type_error(format!("can't multiply sequence by non-int of type '{}'", name(a)))
        }
        ("a+b" | "a-b" | "a*b" | "a/b" | "a//b" | "a%b" | "a**b" | "a&b" | "a|b" | "a^b" | "a<<b" | "a>>b", [a, b]) => {
            if spelling == "a%b" && *a == Type::Str {
                return None;
            }
            // What is here is an operation of sequences that is not lifted.
            if (spelling == "a*b" && (sequence(a) || sequence(b))) || (spelling == "a+b" && sequence(a) && sequence(b))
            {
                return None;
            }
            if numeric(a)
                && numeric(b)
                && !(matches!(spelling, "a&b" | "a|b" | "a^b" | "a<<b" | "a>>b")
                    && (*a == Type::Float || *b == Type::Float))
            {
                return None;
            }
            let symbol = &spelling[1..spelling.len() - 1];
            let symbol = if symbol == "**" { "** or pow()" } else { symbol };
            type_error(format!("unsupported operand type(s) for {symbol}: '{}' and '{}'", name(a), name(b)))
        }
        ("a<b" | "a<=b" | "a>b" | "a>=b", [a, b])
            if name(a) != name(b) && !(numeric(a) && numeric(b))
                || (spelling.len() <= 4 && *a == Type::None && *b == Type::None && spelling.contains(['<', '>'])) =>
        {
            let symbol = &spelling[1..spelling.len() - 1];
            type_error(format!("'{symbol}' not supported between instances of '{}' and '{}'", name(a), name(b)))
        }
        ("-a" | "+a" | "~a", [a]) if !(numeric(a) && (spelling != "~a" || *a != Type::Float)) => {
            type_error(format!("bad operand type for unary {}: '{}'", &spelling[..1], name(a)))
        }
        ("divmod", [a, b]) if !(numeric(a) && numeric(b)) => {
            type_error(format!("unsupported operand type(s) for divmod(): '{}' and '{}'", name(a), name(b)))
        }
        ("len", [a]) if scalar(a) && *a != Type::Str => {
            type_error(format!("object of type '{}' has no len()", name(a)))
        }
        ("iter", [a]) if scalar(a) && *a != Type::Str => type_error(format!("'{}' object is not iterable", name(a))),
        ("a[b]" | "a[b:c]" | "a[b:c:d]", [a, ..]) if scalar(a) && *a != Type::Str => {
            type_error(format!("'{}' object is not subscriptable", name(a)))
        }
        ("a[b]", [Type::Str, b]) if !integral(b) => {
            type_error(format!("string indices must be integers, not '{}'", name(b)))
        }
        ("a[b]", [list @ (Type::List(_) | Type::Tuple(_)), b]) if !integral(b) => {
            type_error(format!("{} indices must be integers or slices, not {}", name(list), name(b)))
        }
        ("a[b:c]" | "a[b:c:d]", [_, bounds @ ..]) if bounds.iter().any(|b| !integral(b) && *b != Type::None) => {
            type_error("slice indices must be integers or None or have an __index__ method".to_string())
        }
        ("a in b", [a, Type::Str]) if *a != Type::Str => {
            type_error(format!("'in <string>' requires string as left operand, not {}", name(a)))
        }
        ("a in b", [_, b]) if scalar(b) && *b != Type::Str => {
            type_error(format!("argument of type '{}' is not iterable", name(b)))
        }
        ("int", [a]) if !numeric(a) && *a != Type::Str => type_error(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            name(a)
        )),
        ("float", [a]) if !numeric(a) && *a != Type::Str => {
            type_error(format!("float() argument must be a string or a real number, not '{}'", name(a)))
        }
        ("abs", [a]) if !numeric(a) => type_error(format!("bad operand type for abs(): '{}'", name(a))),
        ("round", [a, ..]) if !numeric(a) => type_error(format!("type {} doesn't define __round__ method", name(a))),
        ("ord", [a]) if *a != Type::Str => {
            type_error(format!("ord() expected string of length 1, but {} found", name(a)))
        }
        ("chr", [a]) if !integral(a) => type_error(format!("'{}' object cannot be interpreted as an integer", name(a))),
        // The number's own error comes before the base's.
        ("math.log", [number, base]) if numeric(number) && !numeric(base) => None,
        (spelling, operands) if spelling.starts_with("math.") && !MATH_INDEX.contains(&spelling) => {
            let wrong = operands.iter().find(|operand| !numeric(operand))?;
            type_error(format!("must be real number, not {}", name(wrong)))
        }
        ("a[b]=c", [list @ Type::List(_), b, _]) if scalar(b) && !integral(b) => {
            type_error(format!("{} indices must be integers or slices, not {}", name(list), name(b)))
        }
        ("hex" | "oct" | "bin", [a]) if !integral(a) => {
            type_error(format!("'{}' object cannot be interpreted as an integer", name(a)))
        }
        _ => None,
    }
}

/// Functions of `math` that take integers only, or that dispatch to the type first.
const MATH_INDEX: &[&str] = &[
    "math.ldexp",
    "math.gcd",
    "math.lcm",
    "math.isqrt",
    "math.factorial",
    "math.comb",
    "math.perm",
    "math.floor",
    "math.ceil",
    "math.trunc",
];

/// The message as an augmented assignment words it: `+=` for `+`.
#[must_use]
pub fn augmented(spelling: &str, message: &str) -> String {
    const HEAD: &str = "unsupported operand type(s) for ";
    match (message.strip_prefix(HEAD), spelling.len()) {
        (Some(rest), 3..) => {
            let operands = rest.split_once(": ").map_or("", |parts| parts.1);
            format!("{HEAD}{}=: {operands}", &spelling[1..spelling.len() - 1])
        }
        _ => message.to_string(),
    }
}

fn integral(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Bool)
}

fn sequence(ty: &Type) -> bool {
    matches!(ty, Type::Str | Type::List(_) | Type::Tuple(_))
}
