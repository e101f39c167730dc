//! From spans and line numbers of a body to places in the SQL script.

use crate::Place;
use exuvia_ir::Span;

/// Where a span of the body stands; `first_line` is the line of the script on which the
/// body begins.
#[must_use]
pub(crate) fn of_span(text: &str, span: Span, first_line: u32) -> Option<Place> {
    let start = (span.start as usize).min(text.len());
    if span == Span::default() || !text.is_char_boundary(start) {
        return None;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = (span.end as usize).clamp(start, line_end);
    let column = |at: usize| text.get(line_start..at).map_or(0, |part| part.chars().count() as u32);
    let line = first_line + text[..line_start].matches('\n').count() as u32;
    Some(Place { line, text: text[line_start..line_end].to_string(), columns: Some((column(start), column(end))) })
}

/// The place of a line of the body, counted from 1.
#[must_use]
pub(crate) fn of_line(text: &str, line: u32, first_line: u32) -> Option<Place> {
    let index = line.checked_sub(1)?;
    let content = text.lines().nth(index as usize)?;
    Some(Place { line: first_line + index, text: content.to_string(), columns: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_on_the_line() {
        let text = "x = 'é'\ny = 1 / z\n";
        let start = text.find("1 / z").unwrap() as u32;
        let place = of_span(text, Span { start, end: start + 5 }, 10).unwrap();
        assert_eq!((place.line, place.text.as_str(), place.columns), (11, "y = 1 / z", Some((4, 9))));
        assert_eq!(of_line(text, 2, 10).unwrap().line, 11);
        assert_eq!(of_line(text, 9, 10), None);
    }
}
