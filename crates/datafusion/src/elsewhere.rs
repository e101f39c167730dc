//! Statements as they are written for other systems: PL/Python of PostgreSQL and Redshift, Snowflake,
//! Databricks and BigQuery. A clause is taken with its meaning, passed over with a notice where it has
//! none here, or refused with a sentence that says why.

use crate::statement::{Parsed, Reader};
use datafusion::sql::sqlparser::ast::{ArrayElemTypeDef, DataType, ExactNumberInfo};
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan};
use exuvia_engine::Volatility;

/// Whether a language is Python by another name; `None` if it is none.
pub(crate) fn language(name: &str) -> Option<bool> {
    match name.to_ascii_lowercase().as_str() {
        "python" => Some(false),
        "plpython3u" | "plpythonu" | "plpython2u" | "plpython3" | "plpython" => Some(true),
        _ => None,
    }
}

/// Why a statement in Python that defines no function is refused; `None` for any other.
pub(crate) fn no_function(mut words: impl Iterator<Item = String>) -> Option<&'static str> {
    let first = words.next()?;
    let what = match first.as_str() {
        "DO" => "DO runs statements in a database, into which Python has no way here; write a function",
        "CREATE" => match words.by_ref().find(|word| !matches!(word.as_str(), "OR" | "REPLACE"))?.as_str() {
            "PROCEDURE" => "procedures change a database, into which Python has no way here; write a function",
            "AGGREGATE" if words.next()? != "FUNCTION" => {
                return Some(
                    "an aggregate is a function whose handler is a class with accumulate and finish: \
                     CREATE FUNCTION name(x BIGINT) RETURNS BIGINT LANGUAGE python AS …",
                );
            }
            _ => return None,
        },
        _ => return None,
    };
    let in_python = words.any(|word| word == "LANGUAGE") && words.next().is_some_and(|word| language(&word).is_some());
    in_python.then_some(what)
}

/// What clauses of other systems say.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    /// Whether the language is PL/Python, whose body is that of a function.
    pub(crate) procedural: bool,
    /// Whether it is Python 2 where the statement comes from.
    pub(crate) python_2: bool,
    /// Whether a clause is there that only Snowflake has.
    snowflake: bool,
    pub(crate) handler: Option<String>,
    pub(crate) volatility: Option<Volatility>,
    /// Parameters that were not written in small letters.
    pub(crate) folded: Vec<String>,
    /// What was passed over.
    pub(crate) notices: Vec<String>,
    /// The first parameter without a name, as it is written, and where.
    pub(crate) unnamed: Option<(String, Span)>,
}

impl Elsewhere {
    fn passed_over(&mut self, clause: &str, why: &str) {
        let notice = format!("{clause} is passed over: {why}");
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// Makes a type of the system for which the statement was written the one that holds its values:
    /// FLOAT has 64 bits in PostgreSQL, Redshift and Snowflake (PostgreSQL 8.1.3; Snowflake's numeric
    /// data types), and Snowflake's integers are NUMBER(38, 0), of which BIGINT has 64 bits.
    pub(crate) fn meant(&self, ty: &mut DataType) {
        if !self.procedural && !self.snowflake {
            return;
        }
        match ty {
            DataType::Array(
                ArrayElemTypeDef::SquareBracket(element, _)
                | ArrayElemTypeDef::AngleBracket(element)
                | ArrayElemTypeDef::Parenthesis(element),
            ) => self.meant(element),
            DataType::Struct(fields, _) => fields.iter_mut().for_each(|field| self.meant(&mut field.field_type)),
            DataType::Float(ExactNumberInfo::Precision(bits)) if self.procedural && *bits <= 24 => {}
            DataType::Float(_) => *ty = DataType::DoublePrecision,
            _ if !self.snowflake => {}
            DataType::Real | DataType::Float4 | DataType::Float8 => *ty = DataType::DoublePrecision,
            DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_) | DataType::Integer(_) => {
                *ty = DataType::BigInt(None);
            }
            DataType::Numeric(ExactNumberInfo::None) | DataType::Decimal(ExactNumberInfo::None) => {
                *ty = DataType::BigInt(None);
            }
            DataType::Numeric(info) | DataType::Decimal(info) => *ty = number(*info),
            DataType::Custom(name, modifiers) if name.to_string().eq_ignore_ascii_case("NUMBER") => {
                let digits: Vec<u64> = modifiers.iter().filter_map(|text| text.parse().ok()).collect();
                *ty = number(match digits[..] {
                    [precision, scale] => ExactNumberInfo::PrecisionAndScale(precision, scale as i64),
                    [precision] => ExactNumberInfo::Precision(precision),
                    _ => ExactNumberInfo::None,
                });
            }
            _ => {}
        }
    }

    /// The body of PL/Python as one that Python has: its arguments are a list as well, and it may end
    /// without `return`. Gives how many lines stand before it.
    ///
    /// # Errors
    /// What of PL/Python there is not here.
    pub(crate) fn body(&self, body: &str, params: &[String]) -> Result<(String, u32), String> {
        if mentions(body, "plpy", &['.']) {
            return Err("plpy is PL/Python's way back into the database, which functions do not have here; raise and \
                        print stand for plpy.error and plpy.info"
                .to_string());
        }
        if mentions(body, "SD", &['[', '.']) || mentions(body, "GD", &['[', '.']) {
            return Err("SD and GD, which keep values between calls in PL/Python, do not exist here: a module-level \
                        constant or functools.cache may do"
                .to_string());
        }
        let arguments = if mentions(body, "args", &['[', ')', ',', ' ', ':', '\n', '.']) {
            format!("args = [{}]\n", params.join(", "))
        } else {
            String::new()
        };
        let before = u32::from(!arguments.is_empty());
        Ok((format!("{arguments}{}\nreturn None\n", body.trim_end()), before))
    }
}

/// Gives a type, and those within it, the name that it has here: BigQuery's numbers, the long names of
/// standard SQL.
pub(crate) fn named_here(ty: &mut DataType) {
    match ty {
        DataType::Float64 => *ty = DataType::DoublePrecision,
        DataType::Int64 => *ty = DataType::BigInt(None),
        DataType::CharacterVarying(length) | DataType::CharVarying(length) | DataType::Nvarchar(length) => {
            *ty = DataType::Varchar(*length);
        }
        DataType::Character(length) => *ty = DataType::Char(*length),
        DataType::Dec(digits) => *ty = DataType::Decimal(*digits),
        DataType::Array(
            ArrayElemTypeDef::SquareBracket(element, _)
            | ArrayElemTypeDef::AngleBracket(element)
            | ArrayElemTypeDef::Parenthesis(element),
        ) => named_here(element),
        DataType::Struct(fields, _) => fields.iter_mut().for_each(|field| named_here(&mut field.field_type)),
        DataType::Map(key, value) => {
            named_here(key);
            named_here(value);
        }
        _ => {}
    }
}

/// `MAP<K, V>` of Databricks as `MAP(K, V)`, which is what the parser knows.
pub(crate) fn maps_in_parentheses(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut at = 0;
    while at < tokens.len() {
        let is_map = matches!(&tokens[at].token, Token::Word(word) if word.value.eq_ignore_ascii_case("MAP"));
        at += 1;
        let opens = (at..tokens.len()).find(|at| !matches!(tokens[*at].token, Token::Whitespace(_)));
        if let Some(opens) = opens.filter(|opens| is_map && tokens[*opens].token == Token::Lt)
            && let Some(closes) = closing(&mut tokens, opens)
        {
            tokens[opens].token = Token::LParen;
            tokens[closes].token = Token::RParen;
        }
    }
    tokens
}

/// The bracket that closes one; of `>>` it becomes a token of its own.
fn closing(tokens: &mut Vec<TokenWithSpan>, opens: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = opens;
    loop {
        match tokens.get(at)?.token {
            Token::Lt => depth += 1,
            Token::Gt => depth -= 1,
            Token::ShiftRight => {
                let TokenWithSpan { span, .. } = tokens[at];
                let half = || TokenWithSpan { token: Token::Gt, span };
                tokens.splice(at..=at, [half(), half()]);
                depth -= 1;
            }
            // No type has these.
            Token::SemiColon | Token::Eq => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
}

/// The text of a literal of BigQuery's without `r`, whose escapes are characters; what is no escape there
/// stays.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let code = |skip: usize, digits: usize, radix: u32| {
            let digits = rest.get(skip..skip + digits)?;
            let code = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)?;
            Some((code, skip + digits.len()))
        };
        let Some(letter) = rest[1..].chars().next() else { break };
        let escape = match letter {
            'a' => Some(('\u{7}', 2)),
            'b' => Some(('\u{8}', 2)),
            'f' => Some(('\u{c}', 2)),
            'n' => Some(('\n', 2)),
            'r' => Some(('\r', 2)),
            't' => Some(('\t', 2)),
            'v' => Some(('\u{b}', 2)),
            '\\' | '?' | '"' | '\'' | '`' => Some((letter, 2)),
            'x' | 'X' => code(2, 2, 16),
            'u' => code(2, 4, 16),
            'U' => code(2, 8, 16),
            '0'..='3' => code(1, 3, 8),
            _ => None,
        };
        let (character, length) = escape.unwrap_or(('\\', 1));
        out.push(character);
        rest = &rest[length..];
    }
    out + rest
}

/// Snowflake's NUMBER, which is an int in Python where its scale is 0.
fn number(info: ExactNumberInfo) -> DataType {
    match info {
        ExactNumberInfo::PrecisionAndScale(_, scale) if scale != 0 => DataType::Decimal(info),
        _ => DataType::BigInt(None),
    }
}

/// Whether a name stands in a text, with one of those characters behind it.
fn mentions(text: &str, name: &str, behind: &[char]) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '"'))
            && after.is_some_and(|c| behind.contains(&c))
    })
}

/// Whether a body has a name as a word of its own.
pub(crate) fn mentions_name(body: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices(name)
        .any(|(at, _)| !body[..at].ends_with(is_part) && !body[at + name.len()..].starts_with(is_part))
}

const NO_COMMENTS: &str = "functions have no comments";
const NO_MEANING: &str = "it has no meaning here";
const ENVIRONMENT: &str = "functions use the packages of the Python environment that runs them";

impl Reader<'_> {
    /// Passes over the COMMENT of a parameter or a column.
    pub(crate) fn comment(&mut self) {
        if self.next_word_is("COMMENT") {
            self.parser.next_token();
            self.parser.next_token();
            self.elsewhere.passed_over("COMMENT", NO_COMMENTS);
        }
    }

    /// Reads a clause that only other systems have, behind its first word; whether it is one.
    pub(crate) fn clause_of_others(&mut self, keyword: &str, place: &Span) -> Parsed<bool> {
        match keyword {
            "PARALLEL" | "SUPPORT" | "MEMOIZABLE" | "LEAKPROOF" | "COST" | "ROWS" => {
                if !matches!(keyword, "MEMOIZABLE" | "LEAKPROOF") {
                    self.parser.next_token();
                }
                self.elsewhere.passed_over(keyword, NO_MEANING);
            }
            "NOT" if self.next_word_is("LEAKPROOF") => {
                self.parser.next_token();
                self.elsewhere.passed_over("NOT LEAKPROOF", NO_MEANING);
            }
            "NOT" if self.next_word_is("DETERMINISTIC") => {
                self.parser.next_token();
                self.deterministic(Volatility::Volatile, place)?;
            }
            // Behind the type of the result.
            "NOT" if self.next_word_is("NULL") => {
                self.parser.next_token();
                self.elsewhere.passed_over("NOT NULL", "a result of None is NULL");
            }
            "DETERMINISTIC" => self.deterministic(Volatility::Immutable, place)?,
            "EXTERNAL" | "SECURITY" => {
                if keyword == "EXTERNAL" {
                    self.words(&["SECURITY"])?;
                }
                self.parser.next_token();
                self.elsewhere.passed_over("SECURITY", "functions run with the rights of the process");
            }
            "SQL" => {
                self.words(&["SECURITY"])?;
                self.parser.next_token();
                self.elsewhere.passed_over("SQL SECURITY", "functions run with the rights of the process");
            }
            "NO" | "CONTAINS" | "READS" | "MODIFIES" => {
                self.words(&["SQL"])?;
                if matches!(keyword, "READS" | "MODIFIES") {
                    self.words(&["DATA"])?;
                }
                self.elsewhere.passed_over(&format!("{keyword} SQL"), "functions have no way into the database");
            }
            "SET" => {
                while !matches!(self.parser.peek_token().token, Token::Eq | Token::EOF) && !self.next_word_is("TO") {
                    if self.next_word_is("FROM") {
                        break;
                    }
                    self.parser.next_token();
                }
                self.parser.next_token();
                self.parser.next_token();
                while self.parser.consume_token(&Token::Comma) {
                    self.parser.next_token();
                }
                self.elsewhere.passed_over("SET", "settings are those of the session");
            }
            "COMMENT" => {
                let _ = self.parser.consume_token(&Token::Eq);
                self.parser.next_token();
                self.elsewhere.passed_over("COMMENT", NO_COMMENTS);
            }
            "RUNTIME_VERSION" => {
                self.elsewhere.snowflake = true;
                self.token(&Token::Eq)?;
                self.parser.next_token();
                self.elsewhere.passed_over("RUNTIME_VERSION", "functions are those of CPython 3.11");
            }
            "HANDLER" => {
                // Snowflake has an equals sign, Databricks none.
                let _ = self.parser.consume_token(&Token::Eq);
                let token = self.parser.next_token();
                match token.token {
                    Token::SingleQuotedString(handler) => self.elsewhere.handler = Some(handler),
                    other => {
                        return Err(self.error(&token.span, &format!("expected the handler's name, found {other}")));
                    }
                }
            }
            "PARAMETER" => {
                self.words(&["STYLE"])?;
                self.parser.next_token();
                self.elsewhere.passed_over("PARAMETER STYLE", "what the handler takes, its annotations say");
            }
            "PACKAGES" | "ENVIRONMENT" | "ARTIFACT_REPOSITORY" => {
                let _ = self.parser.consume_token(&Token::Eq);
                self.skip_value()?;
                self.elsewhere.passed_over(keyword, ENVIRONMENT);
            }
            "IMPORTS" | "TARGET_PATH" => {
                return Err(self.error(place, &format!("{keyword} names files of a stage, which there is not here: the body is the module, or a Python file is loaded with --udfs")));
            }
            "EXTERNAL_ACCESS_INTEGRATIONS" | "SECRETS" => {
                return Err(self.error(
                    place,
                    &format!("{keyword} is a right that Snowflake gives; here functions have those of the process"),
                ));
            }
            "WINDOW" | "TRANSFORM" => {
                return Err(self.error(place, &format!("{keyword} is for functions in C")));
            }
            "REMOTE" | "WITH" => {
                return Err(self.error(place, "functions that run on other machines are not supported"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn deterministic(&mut self, volatility: Volatility, place: &Span) -> Parsed<()> {
        match self.elsewhere.volatility.replace(volatility) {
            None => Ok(()),
            Some(_) => Err(self.error(place, "the volatility is given twice")),
        }
    }

    /// Passes over a value, or a list in parentheses or brackets.
    pub(crate) fn skip_value(&mut self) -> Parsed<()> {
        let mut depth = 0usize;
        loop {
            let token = self.parser.next_token();
            match token.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                Token::EOF => return Err(self.error(&token.span, "expected a value, found the end")),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// An option that only BigQuery has; whether it is one. Its value comes next.
    pub(crate) fn option_of_others(&mut self, key: &str) -> Parsed<bool> {
        match key {
            "runtime_version" => self.elsewhere.passed_over(key, "functions are those of CPython 3.11"),
            "packages" => self.elsewhere.passed_over(key, ENVIRONMENT),
            "description"
            | "container_memory"
            | "container_cpu"
            | "container_request_concurrency"
            | "max_batching_rows" => self.elsewhere.passed_over(key, NO_MEANING),
            _ => return Ok(false),
        }
        self.skip_value()?;
        Ok(true)
    }
}
