//! The text of the error for a result that the declared SQL type cannot hold: the same
//! whichever rung finds it.

/// The most characters of a value's `repr` that an error shows.
const SHOWN: usize = 100;

/// The bytes of text that a column of results of one batch may have. Whoever runs batches
/// may divide one that has more.
pub const MAX_RESULT_BYTES: usize = 512 << 20;

/// The error for a batch whose results have more.
#[must_use]
pub fn results_too_large() -> String {
    format!(
        "the results of one batch take more than {} MiB; a smaller datafusion.execution.batch_size makes smaller batches",
        MAX_RESULT_BYTES >> 20
    )
}

/// A float as a result of SQL. NaNs differ by their bits, of which Python shows nothing and
/// which differ from one way of computing to another, but by which Arrow sorts them: every
/// one becomes the same.
#[must_use]
pub fn result_float(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

/// The error for a value, given by its `repr` and the name of its class, with what converts it
/// where that is plain. `part` is the part of it that does not fit.
#[must_use]
pub fn result_error(repr: &str, type_name: &str, sql_type: &str, part: Option<&str>) -> String {
    let mut message = format!("returned {} of type {type_name}, which {sql_type} cannot hold", excerpt(repr));
    if let Some(part) = part {
        message.push_str(": ");
        message.push_str(part);
    } else if let Some(instead) = instead(type_name, sql_type) {
        message.push_str("\n  hint: convert it with ");
        message.push_str(instead);
    }
    message
}

/// As much of a value's `repr` as an error shows.
#[must_use]
pub fn excerpt(repr: &str) -> String {
    let mut shown: String = repr.chars().take(SHOWN).collect();
    if shown.len() < repr.len() {
        shown.push_str("...");
    }
    shown
}

/// What makes a value of the SQL type of one of a class: what other systems do unasked, and Python
/// does where one asks.
fn instead(type_name: &str, sql_type: &str) -> Option<&'static str> {
    let base = sql_type.split(['(', '<']).next().unwrap_or(sql_type);
    let is_float = matches!(type_name, "float" | "float64" | "float32" | "float16");
    Some(match (base, type_name) {
        (list, "set" | "frozenset" | "range" | "map" | "filter" | "zip" | "generator" | "reversed" | "deque")
        | (list, "dict_keys" | "dict_values" | "dict_items")
            if sql_type.ends_with("[]") || list == "LIST" =>
        {
            "list(…)"
        }
        _ if sql_type.ends_with(']') => return None,
        // Lone surrogates.
        ("TEXT", "str") => return None,
        ("TEXT", "bytes" | "bytearray") => "….decode()",
        ("TEXT", "dict" | "list" | "tuple") => "json.dumps(…) or str(…)",
        ("TEXT", _) => "str(…)",
        ("TINYINT" | "SMALLINT" | "INT" | "BIGINT", _) if is_float => "int(…) or round(…)",
        ("TINYINT" | "SMALLINT" | "INT" | "BIGINT", "bool" | "bool_" | "str" | "Decimal") => "int(…)",
        ("REAL" | "DOUBLE", "bool" | "bool_" | "str" | "Decimal") => "float(…)",
        ("BOOLEAN", "int") => "bool(…)",
        ("DECIMAL", _) if is_float => "round(Decimal(str(…)), scale)",
        ("DECIMAL", "str") => "Decimal(…)",
        ("DECIMAL", "Decimal") => "round(…, scale)",
        ("BYTEA", "str") => "….encode()",
        ("BYTEA", "bytearray" | "memoryview") => "bytes(…)",
        ("DATE", "datetime" | "Timestamp") => "….date()",
        ("DATE", "str") => "date.fromisoformat(…)",
        ("TIME", "datetime" | "Timestamp") => "….time()",
        ("TIME", "str") => "time.fromisoformat(…)",
        ("TIMESTAMP", "date") => "datetime.combine(…, time())",
        ("TIMESTAMP", "str") => "datetime.fromisoformat(…)",
        _ => return None,
    })
}

/// What stands for the `repr` of a value whose `repr()` raises, in the words of Python's
/// `traceback` module; an int of over 4,300 digits is such a value.
#[must_use]
pub fn unprintable(type_name: &str) -> String {
    format!("<unprintable {type_name} object>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_systems_convert_has_a_hint() {
        let said = |class, sql| result_error("x", class, sql, None);
        assert_eq!(
            said("int", "TEXT"),
            "returned x of type int, which TEXT cannot hold\n  hint: convert it with str(…)"
        );
        for (class, sql, instead) in [
            ("float", "BIGINT", Some("int(…) or round(…)")),
            ("str", "INT", Some("int(…)")),
            ("float", "DECIMAL(10, 2)", Some("round(Decimal(str(…)), scale)")),
            ("Decimal", "DECIMAL(10, 2)", Some("round(…, scale)")),
            ("set", "TEXT[]", Some("list(…)")),
            ("str", "TEXT[]", None),
            ("dict", "TEXT", Some("json.dumps(…) or str(…)")),
            ("int", "BIGINT", None),
            ("str", "TIMESTAMP", Some("datetime.fromisoformat(…)")),
            ("str", "STRUCT<a TEXT>", None),
        ] {
            let message = said(class, sql);
            assert_eq!(
                message.split_once("\n  hint: convert it with ").map(|(_, hint)| hint),
                instead,
                "{class} for {sql}"
            );
        }
    }

    #[test]
    fn a_part_is_shown_where_it_is_known() {
        let said = result_error("[1, 'a']", "list", "BIGINT[]", Some("[1] is 'a' of type str"));
        assert_eq!(said, "returned [1, 'a'] of type list, which BIGINT[] cannot hold: [1] is 'a' of type str");
    }
}
