//! Constant templates of `%` and `str.format`, taken apart.

/// A part of a `%` template.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    /// A conversion such as `%05.2f`, whole, and its last letter.
    Field {
        spec: String,
        conversion: char,
    },
}

/// The parts of a `%` template; `None` for what is not lifted: mapping keys, `*`.
pub(crate) fn parse(template: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    while let Some(ch) = chars.next() {
        if ch != '%' {
            text.push(ch);
            continue;
        }
        let mut spec = String::from("%");
        loop {
            let next = chars.next()?;
            match next {
                '%' if spec.len() == 1 => {
                    text.push('%');
                    break;
                }
                '#' | '0' | '-' | ' ' | '+' | '.' | '1'..='9' => spec.push(next),
                // A length modifier is accepted and means nothing.
                'h' | 'l' | 'L' => {}
                'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 's' | 'r' => {
                    spec.push(next);
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    parts.push(Part::Field { spec, conversion: next });
                    break;
                }
                _ => return None,
            }
        }
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Some(parts)
}

/// A part of a `str.format` template.
#[derive(Debug, PartialEq)]
pub(crate) enum FormatPart {
    Text(String),
    Field { index: usize, conversion: Option<char>, spec: String },
}

/// The parts of a `str.format` template with positional fields; `None` for others.
pub(crate) fn parse_format(template: &str) -> Option<Vec<FormatPart>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut automatic = 0;
    let mut numbered = false;
    let mut chars = template.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '{' | '}' if chars.peek() == Some(&ch) => {
                chars.next();
                text.push(ch);
            }
            '}' => return None,
            '{' => {
                let mut field = String::new();
                loop {
                    match chars.next()? {
                        '}' => break,
                        // A nested field in the specification.
                        '{' => return None,
                        other => field.push(other),
                    }
                }
                let (name, spec) = field.split_once(':').unwrap_or((&field, ""));
                let (name, conversion) = match name.split_once('!') {
                    Some((name, conversion)) => (name, Some(single(conversion)?)),
                    None => (name, None),
                };
                let index = if name.is_empty() {
                    automatic += 1;
                    automatic - 1
                } else {
                    numbered = true;
                    name.parse().ok()?
                };
                // CPython refuses to mix the two manners.
                if numbered && automatic > 0 {
                    return None;
                }
                if !text.is_empty() {
                    parts.push(FormatPart::Text(std::mem::take(&mut text)));
                }
                parts.push(FormatPart::Field { index, conversion, spec: spec.to_string() });
            }
            other => text.push(other),
        }
    }
    if !text.is_empty() {
        parts.push(FormatPart::Text(text));
    }
    Some(parts)
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}
