//! Which arguments a declared parameter takes.
//!
//! Arguments widen without loss and in no other way: what a type cannot promise is refused
//! while planning, with the CAST that would say so. Two cases need more than types. A
//! literal is judged by its value, since SQL reads `3` as BIGINT and `0.5` as DOUBLE
//! whatever the parameter is. BIGINT for DOUBLE is taken and each value checked, since
//! almost all of them are exact and a wrong one is an error, never a rounded number.

use crate::statements::types;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float32Array, Float64Array, PrimitiveArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Int32Type, Int64Type, TimeUnit, UInt32Type, UInt64Type,
};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::sql::unparser::expr_to_sql;
use exuvia_engine::layout;
use std::sync::Arc;

/// How an argument's type fits a parameter's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fit {
    /// It is passed as this type, to which DataFusion casts it if it is another.
    As(DataType),
    /// Each value is checked when the function is called.
    Checked,
    /// Only a literal, or an array or struct of literals, whose value is known while planning.
    Literal,
    /// Not at all.
    No,
}

/// How an argument of type `argument` fits a parameter of type `parameter`.
pub(crate) fn fit(parameter: &DataType, argument: &DataType) -> Fit {
    use DataType::{
        Date32, Date64, Dictionary, Duration, Float16, Float32, Float64, Interval, List, Map, Null, RunEndEncoded,
        Struct, Time32, Time64, Timestamp,
    };
    if parameter == argument {
        return Fit::As(argument.clone());
    }
    let widened = || Fit::As(parameter.clone());
    match (parameter, argument) {
        (_, Null) => widened(),
        (parameter, Dictionary(_, value)) => fit(parameter, value),
        (parameter, RunEndEncoded(_, values)) => fit(parameter, values.data_type()),
        // The engine reads every layout of text in place, and of what native code takes as text.
        (parameter, argument) if is_text(&layout(parameter)) && types::name(parameter) == types::name(argument) => {
            if is_text(&layout(argument)) {
                Fit::As(argument.clone())
            } else {
                widened()
            }
        }
        (parameter, argument) if parameter.is_integer() && argument.is_integer() => {
            let (to, from) = (integer_bits(parameter), integer_bits(argument));
            let fits = match (parameter.is_signed_integer(), argument.is_signed_integer()) {
                (true, false) => to > from,
                (false, true) => false,
                (true, true) | (false, false) => to >= from,
            };
            if fits { widened() } else { Fit::Literal }
        }
        (Float16 | Float32 | Float64, argument) if argument.is_integer() => {
            let exact_bits = match parameter {
                Float16 => 11,
                Float32 => 24,
                _ => 53,
            };
            match parameter {
                _ if integer_bits(argument) <= exact_bits => widened(),
                Float16 => Fit::Literal,
                _ => Fit::Checked,
            }
        }
        (Float64, Float32 | Float16) | (Float32, Float16) => widened(),
        (Float32 | Float16, Float64) | (Float16, Float32) => Fit::Literal,
        (parameter, argument) if is_decimal(parameter) => match (decimal(parameter), decimal(argument)) {
            (Some((to, to_scale)), Some((from, from_scale))) => {
                if to_scale >= from_scale && to - to_scale >= from - from_scale { widened() } else { Fit::No }
            }
            (Some((to, to_scale)), None) if argument.is_integer() => {
                let digits = match integer_bits(argument) {
                    8 => 3,
                    16 => 5,
                    32 => 10,
                    _ => 20,
                };
                if to - to_scale >= digits { widened() } else { Fit::Literal }
            }
            (_, None) if argument.is_floating() => Fit::Literal,
            _ => Fit::No,
        },
        // `f('2024-01-31')`, as SQL has it: a text alone says nothing of its type.
        (Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(_, _) | Interval(_), argument) if is_text(argument) => {
            Fit::Literal
        }
        (Date32, Date64)
        | (Time32(_) | Time64(_), Time32(_) | Time64(_))
        | (Timestamp(_, None), Timestamp(_, None))
        | (Timestamp(_, Some(_)), Timestamp(_, Some(_)))
        | (Interval(_), Interval(_) | Duration(_)) => widened(),
        (
            List(to),
            List(from)
            | DataType::LargeList(from)
            | DataType::FixedSizeList(from, _)
            | DataType::ListView(from)
            | DataType::LargeListView(from),
        ) => match fit(to.data_type(), from.data_type()) {
            Fit::As(_) => widened(),
            Fit::Checked | Fit::Literal => Fit::Literal,
            Fit::No => Fit::No,
        },
        (Struct(to), Struct(from)) if to.len() == from.len() => {
            let mut all = widened();
            for to in to {
                let from = from.iter().find(|from| from.name() == to.name());
                match from.map_or(Fit::No, |from| fit(to.data_type(), from.data_type())) {
                    Fit::As(_) => {}
                    Fit::Checked | Fit::Literal => all = Fit::Literal,
                    Fit::No => return Fit::No,
                }
            }
            all
        }
        (Map(to, _), Map(from, _)) => match (to.data_type(), from.data_type()) {
            (Struct(to), Struct(from)) if to.len() == 2 && from.len() == 2 => {
                let all =
                    to.iter().zip(from).all(|(to, from)| matches!(fit(to.data_type(), from.data_type()), Fit::As(_)));
                if all { widened() } else { Fit::No }
            }
            _ => Fit::No,
        },
        _ => Fit::No,
    }
}

/// Why an argument of type `given` is refused where a function takes `wanted`.
pub(crate) fn refusal(
    function: &str,
    index: usize,
    param: &str,
    wanted: &DataType,
    given: &DataType,
    argument: &Expr,
) -> String {
    // What cannot be said in SQL has no hint.
    let hint = expr_to_sql(argument).map(|sql| types::cast_hint(&sql.to_string(), given, wanted));
    format!(
        "{function}: argument {} ({param}) is {}, but {} is needed{}",
        index + 1,
        types::name(given),
        types::name(wanted),
        hint.unwrap_or_default(),
    )
}

/// A literal, or an array or struct of literals, as an expression of the parameter's type, or why it
/// is none; `None` for other expressions.
pub(crate) fn constant(parameter: &DataType, expr: &Expr) -> Option<Result<Expr, String>> {
    match (expr, parameter) {
        (Expr::Literal(value, metadata), _) => Some(match fit(parameter, &value.data_type()) {
            Fit::Checked | Fit::Literal => {
                literal(parameter, value).map(|value| Expr::Literal(value, metadata.clone()))
            }
            Fit::As(_) | Fit::No => Ok(expr.clone()),
        }),
        // NULL among others, and `DATE '2024-01-31'`.
        (Expr::Cast(cast), _) => match &*cast.expr {
            Expr::Literal(value, _) if value.is_null() => {
                let null = ScalarValue::try_from(parameter).map_err(|error| error.to_string());
                Some(null.map(|null| Expr::Literal(null, None)))
            }
            Expr::Literal(..) => match fit(parameter, cast.field.data_type()) {
                Fit::As(_) => Some(Ok(expr.clone())),
                _ => None,
            },
            _ => None,
        },
        (Expr::ScalarFunction(call), DataType::List(item)) if call.func.name() == "make_array" => {
            let args =
                call.args.iter().map(|arg| constant(item.data_type(), arg)).collect::<Option<Result<Vec<_>, _>>>()?;
            Some(args.map(|args| Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&call.func), args))))
        }
        (Expr::ScalarFunction(call), DataType::Struct(fields)) if call.func.name() == "named_struct" => {
            let mut args = vec![];
            for pair in call.args.chunks_exact(2) {
                let Expr::Literal(ScalarValue::Utf8(Some(name)), _) = &pair[0] else { return None };
                let field = fields.iter().find(|field| field.name() == name)?;
                match constant(field.data_type(), &pair[1])? {
                    Ok(value) => args.extend([pair[0].clone(), value]),
                    Err(message) => return Some(Err(message)),
                }
            }
            Some(Ok(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&call.func), args))))
        }
        _ => None,
    }
}

/// A literal as a value of the parameter's type, or why it is none.
fn literal(parameter: &DataType, value: &ScalarValue) -> Result<ScalarValue, String> {
    let has_microseconds = || {
        matches!(parameter, DataType::Timestamp(TimeUnit::Nanosecond, _))
            && value.cast_to(&DataType::Timestamp(TimeUnit::Microsecond, None)).is_ok()
    };
    let outside = || match value.data_type() {
        ty if is_text(&ty) && has_microseconds() => format!(
            "'{value}' is outside {}, whose nanoseconds reach from 1677 to 2262; TIMESTAMP(6) has microseconds",
            types::name(parameter)
        ),
        ty if is_text(&ty) => format!("'{value}' is no {}", types::name(parameter)),
        _ => format!("{value} is outside {}", types::name(parameter)),
    };
    let text = value.to_string();
    if matches!(parameter, DataType::Timestamp(_, Some(_))) && is_text(&value.data_type()) && !has_zone(&text) {
        return Err(format!("'{value}' has no time zone, such as Z or +01:00 at its end"));
    }
    if let Some((precision, scale)) = decimal(parameter) {
        let digits = decimal_digits(&text, scale).ok_or_else(outside)?;
        let magnitude = digits.trim_start_matches('-').trim_start_matches('0').len();
        if magnitude > usize::try_from(precision).unwrap_or(0) {
            return Err(outside());
        }
    } else if parameter.is_floating() && value.data_type().is_integer() {
        let array = value.to_array().map_err(|_| outside())?;
        let exact = check(parameter, array)?;
        return ScalarValue::try_from_array(&exact, 0)
            .and_then(|value| value.cast_to(parameter))
            .map_err(|_| outside());
    } else if parameter.is_floating() {
        // A decimal literal becomes the nearest number of the narrower type, as it would
        // where SQL reads it as that type.
        return value.cast_to(parameter).map_err(|_| outside());
    }
    // Through the text: it is exact for integers and shortest for floats, and Arrow's
    // parsers refuse what does not fit.
    ScalarValue::try_from_string(text, parameter).map_err(|_| outside())
}

/// Whether a text of a timestamp ends in an offset from UTC.
fn has_zone(text: &str) -> bool {
    let text = text.trim_end();
    let time = text.find(':').map_or("", |at| &text[at..]);
    // Z, +01:00 or a name.
    time.contains(|c: char| matches!(c, '+' | '-') || c.is_alphabetic())
}

/// A number with an exponent without it; `None` where it has none, or a long one.
pub(crate) fn in_full(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() < 100)?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let digits = format!("{}{whole}{fraction}", "0".repeat(usize::try_from(1 - point).unwrap_or(0)));
    let point = usize::try_from(point.max(1)).ok()?;
    let digits = format!("{digits:0<point$}");
    let (whole, fraction) = digits.split_at(point);
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// The digits of a decimal number at `scale`, without a point; `None` if it has more.
pub(crate) fn decimal_digits(text: &str, scale: i32) -> Option<String> {
    let scale = usize::try_from(scale).ok()?;
    if !text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-')) {
        return None;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    (fraction.len() <= scale).then(|| format!("{whole}{fraction:0<scale$}"))
}

/// Arguments that [`fit`] calls checked, as the parameter's type; others as they are.
///
/// # Errors
/// The first value that the type cannot hold exactly.
pub(crate) fn check(parameter: &DataType, argument: ArrayRef) -> Result<ArrayRef, String> {
    match (parameter, argument.data_type()) {
        (DataType::Float64 | DataType::Float32, DataType::Int64) => exact::<Int64Type>(parameter, &argument),
        (DataType::Float64 | DataType::Float32, DataType::UInt64) => exact::<UInt64Type>(parameter, &argument),
        (DataType::Float32, DataType::Int32) => exact::<Int32Type>(parameter, &argument),
        (DataType::Float32, DataType::UInt32) => exact::<UInt32Type>(parameter, &argument),
        (parameter, ty) => match fit(parameter, ty) {
            Fit::As(expected) if expected != *ty => cast(&argument, &expected).map_err(|error| error.to_string()),
            Fit::As(_) | Fit::Checked | Fit::Literal | Fit::No => Ok(argument),
        },
    }
}

fn exact<T: ArrowPrimitiveType>(parameter: &DataType, argument: &ArrayRef) -> Result<ArrayRef, String>
where
    T::Native: Into<i128>,
{
    let integers: &PrimitiveArray<T> = argument.as_primitive();
    let inexact = |value: i128| {
        let ty = types::name(parameter);
        format!("{value} has no exact {ty}; CAST(x AS {ty}) rounds it")
    };
    // Compared as i128, since a cast back to the narrower integer saturates.
    let find = |is_exact: fn(i128) -> bool| {
        integers
            .iter()
            .flatten()
            .map(Into::into)
            .find(|&value: &i128| !is_exact(value))
            .map_or(Ok(()), |v| Err(inexact(v)))
    };
    if *parameter == DataType::Float64 {
        find(|value| value as f64 as i128 == value)?;
        let floats: Float64Array = integers.unary(|value| Into::<i128>::into(value) as f64);
        Ok(Arc::new(floats))
    } else {
        find(|value| value as f32 as i128 == value)?;
        let floats: Float32Array = integers.unary(|value| Into::<i128>::into(value) as f32);
        Ok(Arc::new(floats))
    }
}

pub(crate) fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_decimal(ty: &DataType) -> bool {
    decimal(ty).is_some()
}

/// Precision and scale.
pub(crate) fn decimal(ty: &DataType) -> Option<(i32, i32)> {
    match ty {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((i32::from(*precision), i32::from(*scale))),
        _ => None,
    }
}

fn integer_bits(ty: &DataType) -> usize {
    ty.primitive_width().unwrap_or(8) * 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int64Array;
    use datafusion::arrow::datatypes::DataType::{
        Decimal128, Float32, Float64, Int8, Int32, Int64, UInt32, UInt64, Utf8, Utf8View,
    };
    use datafusion::arrow::datatypes::TimeUnit;

    #[test]
    fn widens_without_loss_only() {
        assert_eq!(fit(&Int64, &Int32), Fit::As(Int64));
        assert_eq!(fit(&Int64, &UInt32), Fit::As(Int64));
        assert_eq!(fit(&Int64, &UInt64), Fit::Literal);
        assert_eq!(fit(&Int32, &Int64), Fit::Literal);
        assert_eq!(fit(&Int64, &Float64), Fit::No);
        assert_eq!(fit(&Float64, &Int32), Fit::As(Float64));
        assert_eq!(fit(&Float64, &Int64), Fit::Checked);
        assert_eq!(fit(&Float32, &Float64), Fit::Literal);
        assert_eq!(fit(&Int64, &Utf8), Fit::No);
        assert_eq!(fit(&Utf8View, &Utf8), Fit::As(Utf8));
        assert_eq!(fit(&Utf8View, &Int64), Fit::No);
        assert_eq!(fit(&Decimal128(22, 2), &Int64), Fit::As(Decimal128(22, 2)));
        assert_eq!(fit(&Decimal128(10, 2), &Int64), Fit::Literal);
        assert_eq!(fit(&Decimal128(10, 2), &Decimal128(10, 4)), Fit::No);
    }

    #[test]
    fn literals_are_judged_by_value() {
        let int = |value| ScalarValue::Int64(Some(value));
        assert_eq!(literal(&Int8, &int(-128)), Ok(ScalarValue::Int8(Some(-128))));
        assert_eq!(literal(&Int8, &int(128)), Err("128 is outside TINYINT".to_string()));
        let float = |value| ScalarValue::Float64(Some(value));
        let decimal = Decimal128(5, 2);
        assert_eq!(literal(&decimal, &float(1.5)), Ok(ScalarValue::Decimal128(Some(150), 5, 2)));
        assert_eq!(literal(&decimal, &int(-12)), Ok(ScalarValue::Decimal128(Some(-1200), 5, 2)));
        assert!(literal(&decimal, &float(1.555)).is_err());
        assert!(literal(&decimal, &int(1000)).is_err());
        assert_eq!(literal(&Float32, &float(0.1)), Ok(ScalarValue::Float32(Some(0.1))));
        assert_eq!(literal(&Float64, &int(1 << 53)), Ok(ScalarValue::Float64(Some(9007199254740992.0))));
        assert_eq!(
            literal(&Float64, &int((1 << 53) + 1)),
            Err("9007199254740993 has no exact DOUBLE; CAST(x AS DOUBLE) rounds it".to_string())
        );
    }

    #[test]
    fn numbers_with_exponents_are_written_in_full() {
        for (text, wanted) in
            [("1.25e1", "12.5"), ("-1.25E4", "-12500"), ("125e-2", "1.25"), ("1.5e-3", "0.0015"), ("12e-2", "0.12")]
        {
            assert_eq!(in_full(text).as_deref(), Some(wanted));
        }
        assert_eq!(in_full("12"), None);
    }

    #[test]
    fn texts_are_literals_of_times() {
        let text = |text: &str| ScalarValue::Utf8(Some(text.to_string()));
        assert_eq!(fit(&DataType::Date32, &Utf8View), Fit::Literal);
        assert_eq!(literal(&DataType::Date32, &text("1970-01-03")), Ok(ScalarValue::Date32(Some(2))));
        assert_eq!(literal(&DataType::Date32, &text("1970-13-03")), Err("'1970-13-03' is no DATE".to_string()));
        let utc = DataType::Timestamp(TimeUnit::Second, Some("+00:00".into()));
        let moment = ScalarValue::TimestampSecond(Some(3600), Some("+00:00".into()));
        assert_eq!(literal(&utc, &text("1970-01-01 02:00:00+01:00")), Ok(moment));
        assert_eq!(
            literal(&utc, &text("1970-01-01 02:00:00")),
            Err("'1970-01-01 02:00:00' has no time zone, such as Z or +01:00 at its end".to_string())
        );
        assert_eq!(fit(&Int64, &Utf8), Fit::No);
    }

    #[test]
    fn a_bigint_for_a_double_is_exact_or_refused() {
        let array = |value| -> ArrayRef { Arc::new(Int64Array::from(vec![None, Some(value)])) };
        assert!(check(&Float64, array(1 << 53)).is_ok());
        assert_eq!(
            check(&Float64, array((1 << 53) + 1)),
            Err("9007199254740993 has no exact DOUBLE; CAST(x AS DOUBLE) rounds it".to_string())
        );
        assert!(check(&Float64, array(i64::MAX)).is_err());
        assert!(check(&Float64, array(i64::MIN)).is_ok());
        assert!(check(&Float32, array((1 << 24) + 1)).is_err());
    }
}
