//! Statements as they are written for other systems: PL/Python of PostgreSQL and Redshift, Snowflake,
//! Databricks and BigQuery. A clause is taken with its meaning, passed over with a notice where it has
//! none here, or refused with a sentence that says why.

use crate::statements::pytokens::{self, Kind, Line, Names};
use crate::statements::statement::{Parsed, Reader};
use datafusion::sql::sqlparser::ast::{ArrayElemTypeDef, DataType, ExactNumberInfo};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Whitespace};
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
            "TYPE" if words.nth(1)? == "AS" => {
                return Some(
                    "types have no names of their own here: write STRUCT<a BIGINT, b TEXT> where the type stands, \
                     or RETURNS TABLE (a BIGINT, b TEXT) for rows of it",
                );
            }
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

/// What is said of a statement about functions that changes nothing here, or why it is refused; `None`
/// for any other.
pub(crate) fn beside_functions(words: impl Iterator<Item = String>) -> Option<Result<String, String>> {
    let words: Vec<String> = words.filter(|word| !matches!(word.as_str(), "OR" | "REPLACE")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let of_functions = |words: &[&str]| {
        let on = words.iter().position(|word| *word == "ON").map(|on| &words[on + 1..]);
        on.is_some_and(|on| matches!(on, ["FUNCTION" | "LANGUAGE", ..] | ["ALL", "FUNCTIONS", ..]))
    };
    let (what, why) = match words[..] {
        ["COMMENT", "ON", "FUNCTION", ..] => ("COMMENT ON FUNCTION", NO_COMMENTS),
        ["GRANT", ..] if of_functions(&words) => ("GRANT", EVERYBODY),
        ["REVOKE", ..] if of_functions(&words) => ("REVOKE", EVERYBODY),
        ["ALTER", "FUNCTION", ..] => {
            let changes = words.iter().any(|word| matches!(*word, "RENAME" | "STRICT" | "VOLATILE" | "IMMUTABLE"));
            if changes || !words.contains(&"OWNER") && !words.contains(&"SCHEMA") {
                return Some(Err("a function is not altered: CREATE OR REPLACE FUNCTION makes it anew".to_string()));
            }
            ("ALTER FUNCTION", EVERYBODY)
        }
        ["CREATE", "LIBRARY", ..] | ["DROP", "LIBRARY", ..] => {
            (if words[0] == "CREATE" { "CREATE LIBRARY" } else { "DROP LIBRARY" }, ENVIRONMENT)
        }
        ["CREATE" | "DROP", "EXTENSION" | "LANGUAGE", ..] if words.iter().any(|word| language(word).is_some()) => {
            return Some(Ok(format!("{} {} is passed over: Python is always there", words[0], words[1])));
        }
        _ => return None,
    };
    Some(Ok(format!("{what} is passed over: {why}")))
}

/// What to say of a CREATE FUNCTION of another language that cannot be read; `None` for any other
/// statement.
pub(crate) fn not_python(words: impl Iterator<Item = String>) -> Option<String> {
    let words: Vec<String> = words.collect();
    let at = words.iter().position(|word| word == "FUNCTION")?;
    let head = words[..at].split_first()?;
    let is_head = |word: &String| matches!(word.as_str(), "OR" | "REPLACE" | "TEMP" | "TEMPORARY" | "SECURE");
    if head.0 != "CREATE" || !head.1.iter().all(is_head) {
        return None;
    }
    let language = words.iter().position(|word| word == "LANGUAGE").and_then(|at| words.get(at + 1));
    Some(match language {
        Some(language) => format!("LANGUAGE {} is not supported; {RUNS_PYTHON}", language.to_lowercase()),
        None => format!("LANGUAGE python is missing; {RUNS_PYTHON}"),
    })
}

/// What there is instead of functions in other languages.
pub(crate) const RUNS_PYTHON: &str = "Exuvia runs functions in Python: LANGUAGE python AS $$ return … $$";

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
    pub(crate) fn of_postgresql() -> Elsewhere {
        Elsewhere { procedural: true, ..Elsewhere::default() }
    }

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
            DataType::Map(key, value) => {
                self.meant(key);
                self.meant(value);
            }
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

    /// The body of PL/Python as one that Python has: its arguments are a list as well and no globals, and it
    /// may end without `return`. Gives how many lines stand before it.
    ///
    /// # Errors
    /// What of PL/Python there is not here.
    pub(crate) fn body(&self, body: &str, function: &str, params: &[String]) -> Result<(String, u32), String> {
        let lines = pytokens::lines(body);
        let names = Names::of(&lines);
        if names.uses("plpy") {
            return Err(NO_PLPY.to_string());
        }
        if names.uses("SD") || names.uses("GD") {
            return Err("SD and GD, which keep values between calls in PL/Python, do not exist here: a module-level \
                        constant or functools.cache may do"
                .to_string());
        }
        if is_module(&lines, function) {
            return Ok((body.to_string(), 0));
        }
        let arguments =
            if names.read.contains("args") { format!("args = [{}]\n", params.join(", ")) } else { String::new() };
        let before = u32::from(!arguments.is_empty());
        let body = parameters_as_locals(body, &lines, params);
        Ok((format!("{arguments}{}\nreturn None\n", body.trim_end()), before))
    }
}

/// Why there is no plpy.
pub(crate) const NO_PLPY: &str = "plpy is PL/Python's way back into the database, which functions do not have here; raise \
                                  and print stand for plpy.error and plpy.info";

/// Whether a body imports plpy, and not only to see whether it is there.
pub(crate) fn imports_plpy(lines: &[Line<'_>]) -> bool {
    lines.iter().enumerate().any(|(at, line)| {
        let tried = at > 0 && lines[at - 1].first() == "try";
        let mut words = line.tokens.iter().map(|token| token.text);
        !tried
            && match words.next() {
                Some("from") => words.next() == Some("plpy"),
                Some("import") => words.any(|word| word == "plpy"),
                _ => false,
            }
    })
}

/// Whether a body only defines things, one of which is a function of that name: the handler of a module.
fn is_module(lines: &[Line<'_>], function: &str) -> bool {
    let mut outer = lines.iter().filter(|line| line.indent == 0);
    let mut defines = false;
    outer.all(|line| {
        let texts = line.texts();
        match texts[..] {
            ["def", name, ..] => {
                defines |= name.eq_ignore_ascii_case(function);
                true
            }
            ["async" | "class" | "import" | "from" | "@", ..] | [_, "=", ..] => true,
            [_] => line.tokens[0].kind == Kind::String,
            _ => false,
        }
    }) && defines
}

/// A body without `global` before its parameters, which are PL/Python's globals and here variables of the
/// function; within functions of the body they are those of the one around.
fn parameters_as_locals(body: &str, lines: &[Line<'_>], params: &[String]) -> String {
    let mut out = body.to_string();
    // From the end, so that places before stay.
    for (at, line) in lines.iter().enumerate().rev().filter(|(_, line)| line.first() == "global") {
        let names: Vec<&str> = line.tokens.iter().skip(1).map(|token| token.text).filter(|text| *text != ",").collect();
        let (ours, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| params.iter().any(|p| p == *name));
        let (Some(first), Some(last)) = (line.tokens.first(), line.tokens.last()) else { continue };
        if ours.is_empty() {
            continue;
        }
        let within = lines[..at].iter().rev().scan(line.indent, |indent, before| {
            let outer = before.indent < *indent;
            *indent = before.indent.min(*indent);
            Some(outer && matches!(before.first(), "def" | "async"))
        });
        let mut said = vec![];
        if within.into_iter().any(|is_within| is_within) {
            said.push(format!("nonlocal {}", ours.join(", ")));
        }
        if !others.is_empty() {
            said.push(format!("global {}", others.join(", ")));
        }
        let said = if said.is_empty() { "pass".to_string() } else { said.join("; ") };
        out.replace_range(first.at..last.at + last.text.len(), &said);
    }
    out
}

/// Whether a body divides two values by `/` of which neither is known to be a float; `floats` are the
/// parameters that are.
pub(crate) fn divides_integers(lines: &[Line<'_>], floats: &[&str]) -> bool {
    let future = |line: &Line<'_>| {
        let texts = line.texts();
        matches!(texts[..], ["from", "__future__", ..]) && texts.contains(&"division")
    };
    let divides = |line: &Line<'_>| {
        let tokens = &line.tokens;
        let known = |at: Option<usize>| {
            let Some(token) = at.and_then(|at| tokens.get(at)) else { return false };
            match token.kind {
                Kind::Number => pytokens::is_float(token.text),
                Kind::Name => floats.contains(&token.text) || token.text == "float",
                Kind::String => true,
                Kind::Operator => false,
            }
        };
        // The name before the parentheses that end there.
        let called = |end: usize| {
            let mut depth = 0usize;
            let opens = (0..=end).rev().find(|at| {
                match tokens[*at].text {
                    ")" | "]" | "}" => depth += 1,
                    "(" | "[" | "{" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0
            });
            opens.and_then(|opens| opens.checked_sub(1))
        };
        tokens.iter().enumerate().any(|(at, token)| {
            let Some(before) = at.checked_sub(1).filter(|_| matches!(token.text, "/" | "/=")) else { return false };
            // `def f(a, /)` divides nothing.
            let is_value =
                !matches!(tokens[before].text, "," | "(") && tokens.get(at + 1).is_some_and(|t| t.text != ")");
            let left = if tokens[before].text == ")" { called(before) } else { Some(before) };
            is_value && !known(left) && !known(Some(at + 1))
        })
    };
    !lines.iter().any(future) && lines.iter().any(divides)
}

/// What to say of a class that keeps values for the end of a partition.
pub(crate) fn partitions(lines: &[Line<'_>]) -> Option<&'static str> {
    let defines =
        |name: &str| lines.iter().any(|line| matches!(line.texts()[..], ["def", defined, ..] if defined == name));
    let ends = defines("process") && defines("end_partition") || defines("eval") && defines("terminate");
    ends.then_some(
        "each row of the query is a partition of its own, whose end follows at once; a function of a TABLE parameter \
         sees all rows",
    )
}

/// What to say of a type of decimals without digits, here those of DataFusion's default; `None` for others.
pub(crate) fn without_digits(ty: &DataType) -> Option<String> {
    match ty {
        DataType::Numeric(ExactNumberInfo::None)
        | DataType::Decimal(ExactNumberInfo::None)
        | DataType::BigNumeric(ExactNumberInfo::None) => Some(format!(
            "{ty} without digits is DECIMAL(38, 10), whose values have 10 digits behind the point; DECIMAL(38, 20) has 20"
        )),
        DataType::Array(
            ArrayElemTypeDef::SquareBracket(element, _)
            | ArrayElemTypeDef::AngleBracket(element)
            | ArrayElemTypeDef::Parenthesis(element),
        ) => without_digits(element),
        DataType::Map(key, value) => without_digits(key).or_else(|| without_digits(value)),
        DataType::Struct(fields, _) => fields.iter().find_map(|field| without_digits(&field.field_type)),
        _ => None,
    }
}

/// Whether a type has floats, or decimals.
pub(crate) fn is_fraction(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Float(_)
            | DataType::Real
            | DataType::Float4
            | DataType::Float8
            | DataType::Double(_)
            | DataType::DoublePrecision
            | DataType::Numeric(_)
            | DataType::Decimal(_)
    )
}

/// The types of Databricks as the parser knows them: `MAP<K, V>` as `MAP(K, V)`, and fields of a
/// `STRUCT<…>` without NOT NULL and COMMENT.
pub(crate) fn as_parsed(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is = |token: &TokenWithSpan, expected: &str| matches!(&token.token, Token::Word(word) if word.value.eq_ignore_ascii_case(expected));
    let mut at = 0;
    while at < tokens.len() {
        let (is_map, is_struct) = (is(&tokens[at], "MAP"), is(&tokens[at], "STRUCT"));
        at += 1;
        let opens = (at..tokens.len()).find(|at| !matches!(tokens[*at].token, Token::Whitespace(_)));
        if let Some(opens) = opens.filter(|opens| (is_map || is_struct) && tokens[*opens].token == Token::Lt)
            && let Some(closes) = closing(&mut tokens, opens)
        {
            if is_map {
                tokens[opens].token = Token::LParen;
                tokens[closes].token = Token::RParen;
                continue;
            }
            let within: Vec<usize> =
                (opens..closes).filter(|at| !matches!(tokens[*at].token, Token::Whitespace(_))).collect();
            for pair in within.windows(2) {
                let (first, second) = (pair[0], pair[1]);
                let text = matches!(tokens[second].token, Token::SingleQuotedString(_));
                if (is(&tokens[first], "NOT") && is(&tokens[second], "NULL")) || (is(&tokens[first], "COMMENT") && text)
                {
                    tokens[first].token = Token::Whitespace(Whitespace::Space);
                    tokens[second].token = Token::Whitespace(Whitespace::Space);
                }
            }
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

/// Whether a body has a name as a word of its own.
pub(crate) fn mentions_name(body: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices(name)
        .any(|(at, _)| !body[..at].ends_with(is_part) && !body[at + name.len()..].starts_with(is_part))
}

const NO_COMMENTS: &str = "functions have no comments";
const EVERYBODY: &str = "everybody in a session may use its functions";
const NO_MEANING: &str = "it has no meaning here";
const ENVIRONMENT: &str = "functions use the packages of the Python environment that runs them";

/// Why a clause that names files is refused.
fn no_files(clause: &str) -> String {
    format!(
        "{clause} names files of a stage, which there is not here: the body is the module, or a Python file is loaded \
         with --udfs"
    )
}

impl Reader<'_> {
    /// Passes over NOT NULL and the COMMENT of a parameter or a column.
    pub(crate) fn comment(&mut self) {
        if self.parser.parse_keywords(&[Keyword::NOT, Keyword::NULL]) {
            self.elsewhere.passed_over("NOT NULL", "STRICT says that the function is not called for NULL");
        }
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
            "NULL" => self.elsewhere.passed_over("NULL", "a result of None is NULL"),
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
                return Err(self.error(place, &no_files(keyword)));
            }
            "EXTERNAL_ACCESS_INTEGRATIONS" | "SECRETS" | "CREDENTIALS" => {
                return Err(self.error(
                    place,
                    &format!(
                        "{keyword} is a right that the other system gives; here functions have those of the process"
                    ),
                ));
            }
            "WINDOW" | "TRANSFORM" => {
                return Err(self.error(place, &format!("{keyword} is for functions in C")));
            }
            "COPY" => {
                self.words(&["GRANTS"])?;
                self.elsewhere.passed_over("COPY GRANTS", EVERYBODY);
            }
            "WITH" if self.next_word_is("CONNECTION") => {
                self.parser.next_token();
                self.skip_value()?;
                self.elsewhere.passed_over("WITH CONNECTION", "functions run with the rights of the process");
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

    /// Passes over a value, a name with its qualifiers, or a list in parentheses or brackets.
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
            if depth == 0 && !self.parser.consume_token(&Token::Period) {
                return Ok(());
            }
        }
    }

    /// An option that only BigQuery has; whether it is one. Its value comes next.
    pub(crate) fn option_of_others(&mut self, key: &str) -> Parsed<bool> {
        match key {
            "runtime_version" => self.elsewhere.passed_over(key, "functions are those of CPython 3.11"),
            "packages" => self.elsewhere.passed_over(key, ENVIRONMENT),
            "library" => return Err(self.error_here(&no_files(key))),
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
