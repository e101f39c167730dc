//! The helpers that the loops of Z1's functions call, and why each is a call.

use serde_json::Value;
use std::collections::BTreeMap;

/// Why a helper is called and not inlined; one line each.
const WHY: [(&str, &str); 29] = [
    ("arena.reset", "gives the row's temporaries back: at the end of the row, and where it leaves early"),
    ("emit", "writes the result's view and copies or shares its bytes; the output buffer grows there"),
    ("int.of_str", "int(text): digits of every script, blanks, signs and underscores, past 64 bits a bailout"),
    ("float.int", "int(number): NaN and infinities raise, past 64 bits a bailout"),
    ("int.format", "a format specification with width, sign and padding"),
    ("dict.find", "a look-up in a constant table by the key's hash"),
    ("str.find", "a search by vector instructions, which Cranelift cannot write 32 bytes wide"),
    ("str.rfind", "the same from the end"),
    ("place.find", "the same by byte offsets"),
    ("place.rfind", "the same from the end"),
    ("place.slice", "a part up to a character that is counted from the end"),
    ("place.reach", "the same as place.step, within the text"),
    ("place.step", "steps over characters of more than a byte"),
    ("str.contains", "the same for `in`"),
    ("str.startswith", "compares a prefix of any length"),
    ("str.endswith", "compares a suffix of any length"),
    ("str.len", "counts characters where the text is not known to be ASCII"),
    ("str.slice", "finds the bytes of two character positions where the text is not known to be ASCII"),
    ("str.lower", "letters of every script; ASCII by vector instructions"),
    ("str.upper", "letters of every script; ASCII by vector instructions"),
    ("str.capitalize", "letters of every script, title case at the start"),
    ("str.strip", "blanks of every script on both ends"),
    ("str.rstrip", "blanks of every script at the end"),
    ("str.rstrip_chars", "any set of characters at the end"),
    ("str.replace", "a search and copies into the row's arena"),
    ("str.concat", "copies into the row's arena"),
    ("str.join", "copies into the row's arena, sized once"),
    ("str.split_words", "makes the list of words, views into the text"),
    ("str.equal", "compares two texts of one length by memcmp"),
];

/// A helper, the call sites in the functions together, and the reason.
pub(super) fn justified(functions: &[Value]) -> Vec<(String, u64, &'static str)> {
    let mut sites: BTreeMap<String, u64> = BTreeMap::new();
    for function in functions {
        let helpers = function.get("helpers").and_then(Value::as_str).unwrap_or_default();
        for helper in helpers.split(';').map(str::trim).filter(|helper| !helper.is_empty()) {
            let (name, count) = helper.rsplit_once(' ').unwrap_or((helper, "1"));
            *sites.entry(name.to_string()).or_default() += count.parse().unwrap_or(1);
        }
    }
    // What is rare is a call of the same helper, beside machine code for the usual case.
    let why = |name: &str| {
        let helper = name.strip_suffix(" (rare)").unwrap_or(name);
        let found = WHY.iter().find(|(known, _)| *known == helper);
        found.map_or("**not justified**", |(_, why)| why)
    };
    sites
        .into_iter()
        .map(|(name, count)| {
            let why = why(&name);
            (name, count, why)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::justified;
    use serde_json::json;

    #[test]
    fn call_sites_are_added_up() {
        let functions = [
            json!({"helpers": "emit 1; str.find 2"}),
            json!({"helpers": "emit 5; odd 1; str.find (rare) 3"}),
            json!({}),
        ];
        let found = justified(&functions);
        let counts: Vec<_> = found.iter().map(|(name, count, _)| (name.as_str(), *count)).collect();
        assert_eq!(counts, [("emit", 6), ("odd", 1), ("str.find", 2), ("str.find (rare)", 3)]);
        assert_eq!(found[3].2, found[2].2);
        assert_eq!(found[1].2, "**not justified**");
    }
}
