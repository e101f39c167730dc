//! `f(TABLE t)` and `f(TABLE (SELECT …))`, which sqlparser does not take: the word TABLE is
//! blanked out where it is an argument of a table function. Places in errors stay right.

use super::Routines;
use crate::statements::statement::normalize;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer, Word};

/// A statement's text without the word TABLE before arguments of table functions.
pub(crate) fn blank_table_keywords(text: String, routines: &Routines) -> String {
    let has_word = || text.as_bytes().windows(5).any(|window| window.eq_ignore_ascii_case(b"table"));
    if routines.is_empty() || !has_word() {
        return text;
    }
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, &text).tokenize_with_location() else { return text };
    let tokens: Vec<&TokenWithSpan> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    // For each open parenthesis whether it is that of a call of ours.
    let mut open: Vec<bool> = vec![];
    let mut blanks = vec![];
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| &tokens[at].token);
        match &token.token {
            Token::LParen => open.push(matches!(before, Some(Token::Word(word)) if is_routine(word, routines))),
            Token::RParen => drop(open.pop()),
            Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("table") => {
                let argument = matches!(before, Some(Token::LParen | Token::Comma | Token::RArrow | Token::Assignment));
                let follows = tokens.get(index + 1).map(|token| &token.token);
                let named = matches!(follows, Some(Token::Word(_) | Token::LParen));
                if argument && named && open.last() == Some(&true) {
                    blanks.push(token.span.start);
                }
            }
            _ => {}
        }
    }
    if blanks.is_empty() {
        return text;
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_string).collect();
    for place in blanks {
        let Some(line) = lines.get_mut(usize::try_from(place.line).unwrap_or(1).saturating_sub(1)) else { continue };
        // Columns count characters.
        let column = usize::try_from(place.column).unwrap_or(1).saturating_sub(1);
        let Some((start, _)) = line.char_indices().nth(column) else { continue };
        line.replace_range(start..start + "table".len(), "     ");
    }
    lines.join("\n")
}

fn is_routine(word: &Word, routines: &Routines) -> bool {
    let ident = word.to_ident(Span::empty());
    routines.get(&normalize(&ident)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_calls_stay() {
        let routines = Routines::default();
        let text = "CREATE TABLE a AS (TABLE b)".to_string();
        assert_eq!(blank_table_keywords(text.clone(), &routines), text);
    }
}
