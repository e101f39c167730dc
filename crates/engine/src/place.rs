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

/// The characters of a line that a message shows.
const SHOWN: usize = 120;

impl Place {
    /// The line and the columns in it as messages show them: of a long line the part around the
    /// columns, with `…` for what is left out.
    #[must_use]
    pub fn excerpt(&self) -> (String, Option<(usize, usize)>) {
        let columns = self.columns.map(|(start, end)| (start as usize, end as usize));
        let text = self.text.trim_end();
        let count = text.chars().count();
        if count <= SHOWN {
            return (text.to_string(), columns);
        }
        let (start, end) = columns.unwrap_or((0, 0));
        let from = start.saturating_sub(SHOWN / 3).min(count - SHOWN);
        let mut shown: String = text.chars().skip(from).take(SHOWN).collect();
        if from > 0 {
            shown.insert(0, '…');
        }
        if from + SHOWN < count {
            shown.push('…');
        }
        let moved = |column: usize| (column.saturating_sub(from) + usize::from(from > 0)).min(shown.chars().count());
        let columns = columns.map(|_| (moved(start), moved(end)));
        (shown, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_shown_around_their_place() {
        let text = format!("y = {} + é / z + {}", "x + ".repeat(500), "x + ".repeat(500));
        let column = text.chars().position(|c| c == 'é').unwrap() as u32;
        let place = Place { line: 1, text, columns: Some((column, column + 5)) };
        let (shown, columns) = place.excerpt();
        let (start, end) = columns.unwrap();
        assert_eq!(shown.chars().skip(start).take(end - start).collect::<String>(), "é / z");
        assert!(shown.chars().count() == 122 && shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let all = Place { columns: Some((0, 4000)), ..place };
        assert_eq!(all.excerpt().1, Some((0, 121)));
    }

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
