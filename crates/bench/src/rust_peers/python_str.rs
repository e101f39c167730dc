//! What the peers need of `str`.

/// `str.isspace` of one character: Unicode's White_Space and the four separators that
/// CPython adds by their bidirectional class.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// `text.lower()`, in the buffer.
pub(super) fn lower<'a>(text: &str, buffer: &'a mut String) -> &'a str {
    buffer.clear();
    if text.is_ascii() {
        buffer.push_str(text);
        buffer.make_ascii_lowercase();
    } else {
        // Rust applies the rule of the final sigma as CPython does.
        buffer.push_str(&text.to_lowercase());
    }
    buffer
}

/// `text.capitalize()`, appended to the buffer.
pub(super) fn capitalize(text: &str, buffer: &mut String) {
    let mut rest = text.chars();
    let Some(first) = rest.next() else { return };
    // CPython capitalises by title case. Where it differs from upper case, one character
    // becomes several of which only the first is upper (`ß`), or it is a digraph.
    match first {
        'Ǆ'..='ǆ' => buffer.push('ǅ'),
        'Ǉ'..='ǉ' => buffer.push('ǈ'),
        'Ǌ'..='ǌ' => buffer.push('ǋ'),
        'Ǳ'..='ǳ' => buffer.push('ǲ'),
        first => {
            let mut upper = first.to_uppercase();
            buffer.extend(upper.next());
            buffer.extend(upper.flat_map(char::to_lowercase));
        }
    }
    // Lowered as a whole, since a sigma at the end looks at what stands before it.
    let lowered = text.to_lowercase();
    let skipped: usize = first.to_lowercase().count();
    buffer.extend(lowered.chars().skip(skipped));
}

#[cfg(test)]
mod tests {
    use super::{capitalize, is_space, lower};

    #[test]
    fn behaves_as_python() {
        for (text, wanted) in [("ÑUÑOA", "Ñuñoa"), ("ßA", "Ssa"), ("ΟΔΟΣ", "Οδος"), ("İST", "İst"), ("ǆÉ", "ǅé")]
        {
            let mut buffer = String::new();
            capitalize(text, &mut buffer);
            assert_eq!(buffer, wanted);
        }
        assert_eq!(lower("PRÈS İ", &mut String::new()), "près i\u{307}");
        assert!(is_space('\x1c') && is_space('\u{a0}') && !is_space('\u{200b}'));
    }
}
