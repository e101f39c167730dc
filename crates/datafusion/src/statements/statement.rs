//! `CREATE FUNCTION … LANGUAGE python` and `DROP FUNCTION`, parsed.
//!
//! sqlparser's own CREATE FUNCTION rejects or drops half of the clauses (OPTIONS, STRICT,
//! IF NOT EXISTS), so the statement is read here from sqlparser's tokens, and its parser
//! is used for what is a type, a name or an expression. Other languages are left to
//! DataFusion. Types and expressions are not planned here: that needs a session.

use crate::Statement;
use crate::planning::depth::{self, MAX_ARRAYS};
use crate::planning::inline::Inline;
use crate::statements::elsewhere::{self, Elsewhere};
use crate::statements::mistakes::{place, reworded};
use crate::statements::parsing;
use crate::statements::pytokens::{self, Line};
use crate::statements::script::{Origin, has_escapes};
use crate::statements::types;
use datafusion::common::utils::datafusion_strsim::levenshtein;
use datafusion::sql::sqlparser::ast::{self, Ident};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer, Word};
use exuvia_engine::routine::Kind;
use exuvia_engine::{DefineError, Interpreter, OnError, Place, Volatility, on_large_stack};
use std::time::Duration;

/// A statement that this plugin executes itself.
#[derive(Debug)]
pub(crate) enum Ours {
    Create(Box<CreateFunction>),
    Drop {
        if_exists: bool,
        /// Names, with the types of parameters where those are given.
        functions: Vec<(String, Option<Vec<ast::DataType>>)>,
    },
    /// What changes nothing here; the notice that says so.
    PassedOver(String),
}

/// A parsed CREATE FUNCTION.
#[derive(Debug)]
pub(crate) struct CreateFunction {
    pub(crate) or_replace: bool,
    pub(crate) if_not_exists: bool,
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    pub(crate) returns: Returns,
    pub(crate) returns_place: Place,
    pub(crate) options: Options,
    pub(crate) volatility: Option<Volatility>,
    pub(crate) strict: bool,
    pub(crate) source: String,
    pub(crate) first_line: u32,
    /// What of it was passed over, for people.
    pub(crate) notices: Vec<String>,
}

/// What RETURNS says.
#[derive(Debug)]
pub(crate) enum Returns {
    /// `TYPE`
    Value(ast::DataType),
    /// `SETOF TYPE`
    Values(ast::DataType),
    /// `TABLE (name TYPE, …)`, or `TABLE` alone.
    Table(Option<Vec<Column>>),
}

/// What a parameter takes.
#[derive(Debug)]
pub(crate) enum ParamType {
    /// `TYPE`
    Value(ast::DataType),
    /// `TABLE (name TYPE, …)`, or `TABLE` alone.
    Table(Option<Vec<Column>>),
}

/// A column of a table that is declared.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: ast::DataType,
    pub(crate) not_null: bool,
    /// Where its type stands.
    pub(crate) place: Place,
}

/// A parsed parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: ParamType,
    pub(crate) default: Option<ast::Expr>,
    /// Where its type stands.
    pub(crate) place: Place,
}

/// What `OPTIONS (…)` says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) handler: Option<String>,
    pub(crate) on_error: OnError,
    pub(crate) interpreter: Interpreter,
    pub(crate) timeout: Option<Duration>,
    pub(crate) inline: Inline,
    pub(crate) kind: Option<Kind>,
    /// Whether a column function is called for each batch.
    pub(crate) by_batch: bool,
    /// The names of models and, where they are not registered, their paths.
    pub(crate) models: Vec<(String, Option<String>)>,
}

impl Options {
    /// What CREATE FUNCTION says besides the signature and the body, from STRICT on; with a blank ahead.
    pub(crate) fn clauses(&self, strict: bool, volatility: Option<Volatility>) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let mut options = Vec::new();
        options.extend(self.handler.as_ref().map(|handler| format!("handler {}", quoted(handler))));
        options.extend(self.kind.map(|kind| format!("kind '{}'", kind.name())));
        options.extend(self.by_batch.then(|| "scope 'batch'".to_string()));
        options.extend((self.on_error == OnError::Null).then(|| "on_error 'null'".to_string()));
        options.extend((self.inline == Inline::Off).then(|| "inline 'off'".to_string()));
        options.extend((self.interpreter == Interpreter::Off).then(|| "interpreter 'off'".to_string()));
        options.extend(
            self.timeout.map(|limit| format!("timeout '{}'", crate::statements::settings::show_duration(limit))),
        );
        let models = self.models.iter().map(|(name, path)| match path {
            Some(path) => format!("{name}={path}"),
            None => name.clone(),
        });
        let models = models.collect::<Vec<_>>().join(", ");
        options.extend((!models.is_empty()).then(|| format!("models {}", quoted(&models))));
        let volatility = match volatility {
            Some(Volatility::Immutable) => " IMMUTABLE",
            Some(Volatility::Stable) => " STABLE",
            Some(Volatility::Volatile) => " VOLATILE",
            None => "",
        };
        let strict = if strict { " STRICT" } else { "" };
        let options = if options.is_empty() { String::new() } else { format!(" OPTIONS ({})", options.join(", ")) };
        format!("{volatility}{strict} LANGUAGE python{options}")
    }
}

/// Reads `statement` if it is one of ours; `None` leaves it to DataFusion.
pub(crate) fn parse(statement: &Statement<'_>) -> Result<Option<Ours>, DefineError> {
    let first = statement.text().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let create = first.eq_ignore_ascii_case("CREATE");
    let others = ["DROP", "DO", "COMMENT", "GRANT", "REVOKE", "ALTER"];
    if !create && !others.iter().any(|word| first.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let padded = statement.padded();
    let tokens = match Tokenizer::new(&GenericDialect {}, &padded).tokenize_with_location() {
        Ok(tokens) => tokens,
        // DataFusion reports it as it reports any such text.
        Err(_) => return Ok(None),
    };
    let refused = |message: String| DefineError { function: String::new(), message, place: None };
    if let Some(message) = elsewhere::no_function(words(&tokens)) {
        return Err(refused(message.to_string()));
    }
    if let Some(said) = elsewhere::beside_functions(words(&tokens)) {
        return said.map(|notice| Some(Ours::PassedOver(notice))).map_err(refused);
    }
    let ours = if create {
        is_create_python(&tokens)
    } else {
        first.eq_ignore_ascii_case("DROP") && words(&tokens).nth(1).as_deref() == Some("FUNCTION")
    };
    if !ours {
        return Ok(None);
    }
    let tokens = elsewhere::as_parsed(tokens);
    // A DEFAULT may be a long chain.
    on_large_stack(|| {
        let read = parsing::bounded(Box::new(GenericDialect {}), padded.len(), |dialect| {
            let parser = Parser::new(dialect).with_tokens_with_locations(tokens);
            let mut reader =
                Reader { parser, origin: statement.origin(), name: String::new(), elsewhere: Elsewhere::default() };
            if create { reader.create().map(Some) } else { reader.drop().map(Some) }
        });
        read.unwrap_or_else(|| Err(refused(parsing::TOO_MANY.to_string())))
    })
}

/// Whether the tokens create a function in Python.
fn is_create_python(tokens: &[TokenWithSpan]) -> bool {
    let mut words = words(tokens);
    let mut head = words.by_ref().take_while(|word| word != "FUNCTION").skip(1);
    let mut is_aggregate = false;
    let all = head.all(|word| {
        is_aggregate |= word == "AGGREGATE";
        matches!(word.as_str(), "OR" | "REPLACE" | "TEMP" | "TEMPORARY" | "SECURE" | "AGGREGATE")
    });
    // DataFusion has no aggregates of its own that are created.
    if !all || is_aggregate {
        return all;
    }
    words.any(|word| word == "LANGUAGE") && words.next().is_some_and(|word| elsewhere::language(&word).is_some())
}

/// The words of a statement, upper-cased, and an empty text for any other token.
pub(crate) fn words(tokens: &[TokenWithSpan]) -> impl Iterator<Item = String> {
    let tokens = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    tokens.map(|token| match &token.token {
        Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
        Token::Word(Word { value, .. }) | Token::SingleQuotedString(value) => value.clone(),
        _ => String::new(),
    })
}

/// Reads the declaration of a function whose body is a module: what stands behind
/// `CREATE FUNCTION` without LANGUAGE and body. `text` is `script` with all that is not the
/// declaration blanked out, so that places are those of `script`.
pub(crate) fn parse_declaration(script: &str, text: &str, handler: &str) -> Result<CreateFunction, DefineError> {
    let failed = |message: String| DefineError { function: handler.to_string(), message, place: None };
    let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location();
    let tokens = elsewhere::as_parsed(tokens.map_err(|error| failed(error.to_string()))?);
    let read = parsing::bounded(Box::new(GenericDialect {}), text.len(), |dialect| {
        let parser = Parser::new(dialect).with_tokens_with_locations(tokens);
        let mut reader =
            Reader { parser, origin: Origin::whole(script), name: String::new(), elsewhere: Elsewhere::default() };
        reader.name = reader.function_name()?;
        reader.signature(Some(script))
    });
    let mut create = read.unwrap_or_else(|| Err(failed(parsing::TOO_MANY.to_string())))?;
    create.or_replace = true;
    create.options.handler.get_or_insert_with(|| handler.to_string());
    Ok(create)
}

/// What reads a statement.
pub(crate) struct Reader<'a> {
    pub(crate) parser: Parser<'a>,
    /// Where it stands, to show its lines.
    origin: Origin<'a>,
    /// The function's name once it was read.
    name: String,
    /// What clauses of other systems said.
    pub(crate) elsewhere: Elsewhere,
}

/// What was read, or why not.
pub(crate) type Parsed<T> = Result<T, DefineError>;

impl Reader<'_> {
    fn create(&mut self) -> Parsed<Ours> {
        self.keyword(Keyword::CREATE)?;
        let or_replace = self.parser.parse_keywords(&[Keyword::OR, Keyword::REPLACE]);
        // Every function lives in its session, so TEMPORARY changes nothing.
        let _ = self.parser.parse_keyword(Keyword::TEMPORARY) || self.parser.parse_keyword(Keyword::TEMP);
        if self.next_word_is("SECURE") {
            self.parser.next_token();
            self.elsewhere.notices.push("SECURE is passed over: everybody in a session sees its functions".to_string());
        }
        let is_aggregate = self.next_word_is("AGGREGATE");
        if is_aggregate {
            self.parser.next_token();
        }
        self.keyword(Keyword::FUNCTION)?;
        let if_not_exists = self.parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS]);
        if or_replace && if_not_exists {
            return Err(self.error_here("OR REPLACE and IF NOT EXISTS exclude each other"));
        }
        self.name = self.function_name()?;
        let mut create = self.signature(None)?;
        if is_aggregate {
            create.options.kind.get_or_insert(Kind::Aggregate);
        }
        Ok(Ours::Create(Box::new(CreateFunction { or_replace, if_not_exists, ..create })))
    }

    /// What follows the name. With a `module` neither LANGUAGE nor body is expected.
    fn signature(&mut self, module: Option<&str>) -> Parsed<CreateFunction> {
        let mut params = self.params()?;

        let mut returns = None;
        let mut volatility = None;
        let mut strict = None;
        let mut options = None;
        let mut body = module.map(|module| (module.to_string(), 1));
        let mut language = false;
        loop {
            let token = self.parser.peek_token();
            let repeated = |reader: &Self, what: &str| reader.error(&token.span, &format!("{what} is given twice"));
            match &token.token {
                Token::EOF | Token::SemiColon => break,
                Token::Word(word) if word.quote_style.is_none() => {
                    let keyword = word.value.to_ascii_uppercase();
                    self.parser.next_token();
                    match keyword.as_str() {
                        "RETURNS" if self.parser.parse_keyword(Keyword::NULL) => {
                            self.words(&["ON", "NULL", "INPUT"])?;
                            if strict.replace(true).is_some() {
                                return Err(repeated(self, "what happens on NULL input"));
                            }
                        }
                        "RETURNS" => {
                            let place = self.parser.peek_token().span;
                            let read = if self.parser.parse_keyword(Keyword::TABLE) {
                                Returns::Table(self.columns()?)
                            } else if self.next_word_is("SETOF") {
                                self.parser.next_token();
                                Returns::Values(self.data_type()?)
                            } else {
                                Returns::Value(self.data_type()?)
                            };
                            if returns.replace((read, self.place(&place))).is_some() {
                                return Err(repeated(self, "RETURNS"));
                            }
                        }
                        "LANGUAGE" => {
                            let name = self.parser.next_token();
                            if let Token::Word(Word { value, .. }) | Token::SingleQuotedString(value) = &name.token {
                                let Some(procedural) = elsewhere::language(value) else {
                                    let message =
                                        format!("LANGUAGE {value} is not supported; {}", elsewhere::RUNS_PYTHON);
                                    return Err(self.error(&name.span, &message));
                                };
                                self.elsewhere.procedural = procedural;
                                let name = value.to_ascii_lowercase();
                                self.elsewhere.python_2 =
                                    matches!(name.as_str(), "plpythonu" | "plpython2u" | "plpython");
                            }
                            if std::mem::replace(&mut language, true) {
                                return Err(repeated(self, "LANGUAGE"));
                            }
                        }
                        "IMMUTABLE" | "STABLE" | "VOLATILE" => {
                            let declared = match keyword.as_str() {
                                "IMMUTABLE" => Volatility::Immutable,
                                "STABLE" => Volatility::Stable,
                                _ => Volatility::Volatile,
                            };
                            if volatility.replace(declared).is_some() {
                                return Err(repeated(self, "the volatility"));
                            }
                        }
                        "STRICT" => {
                            if strict.replace(true).is_some() {
                                return Err(repeated(self, "what happens on NULL input"));
                            }
                        }
                        "CALLED" => {
                            self.words(&["ON", "NULL", "INPUT"])?;
                            if strict.replace(false).is_some() {
                                return Err(repeated(self, "what happens on NULL input"));
                            }
                        }
                        "OPTIONS" => {
                            let read = self.options()?;
                            if options.replace(read).is_some() {
                                return Err(repeated(self, "OPTIONS"));
                            }
                        }
                        "AS" => {
                            let read = self.body()?;
                            if body.replace(read).is_some() {
                                return Err(repeated(self, "the body"));
                            }
                        }
                        other if self.clause_of_others(other, &token.span)? => {}
                        "SELECT" | "WITH" | "CREATE" | "INSERT" | "DROP" | "EXPLAIN" | "COPY" | "VALUES" => {
                            let message = format!("expected ; before {}, which begins another statement", word.value);
                            return Err(self.error(&token.span, &message));
                        }
                        _ => {
                            let meant = CLAUSES.iter().find(|clause| levenshtein(&keyword, clause) <= MOST_MISTAKES);
                            let meant = meant.map(|clause| format!("; did you mean {clause}?")).unwrap_or_default();
                            let message =
                                format!("{} is no clause of CREATE FUNCTION … LANGUAGE python{meant}", word.value);
                            return Err(self.error(&token.span, &message));
                        }
                    }
                }
                other => {
                    let message = format!("expected a clause of CREATE FUNCTION, found {other}");
                    return Err(self.error(&token.span, &message));
                }
            }
        }
        let Some((mut returns, returns_place)) = returns else {
            return Err(self.error_here("RETURNS is missing: RETURNS TYPE"));
        };
        let Some((source, first_line)) = body else {
            return Err(self.error_here("the body is missing: AS $$ … $$"));
        };
        if !language && module.is_none() {
            return Err(self.error_here("LANGUAGE python is missing"));
        }
        let mut elsewhere = std::mem::take(&mut self.elsewhere);
        let meant_in = |columns: &mut Option<Vec<Column>>| {
            columns.iter_mut().flatten().for_each(|column| elsewhere.meant(&mut column.ty));
        };
        for param in &mut params {
            match &mut param.ty {
                ParamType::Value(ty) => elsewhere.meant(ty),
                ParamType::Table(columns) => meant_in(columns),
            }
        }
        match &mut returns {
            Returns::Value(ty) | Returns::Values(ty) => elsewhere.meant(ty),
            Returns::Table(columns) => meant_in(columns),
        }
        let declared = params.iter().filter_map(|param| match &param.ty {
            ParamType::Value(ty) => Some(ty),
            ParamType::Table(_) => None,
        });
        let returned = match &returns {
            Returns::Value(ty) | Returns::Values(ty) => Some(ty),
            Returns::Table(_) => None,
        };
        let notice = declared.chain(returned).find_map(elsewhere::without_digits);
        elsewhere.notices.extend(notice);
        let of_tables = params.iter().any(|param| matches!(param.ty, ParamType::Table(_)));
        let (mut source, mut first_line) = (source, first_line);
        let lines = pytokens::lines(&source);
        let handler = elsewhere.handler.is_some() || options.as_ref().is_some_and(|said| said.handler.is_some());
        let is_lambda = module.is_none() && !handler && matches!(&lines[..], [only] if only.first() == "lambda");
        if module.is_none() && !handler && !is_lambda && gives_nothing(&lines, &self.name) {
            let notice = "the body returns nothing, so that every call gives NULL; did you forget return?";
            elsewhere.notices.push(notice.to_string());
        }
        if module.is_none() && !of_tables {
            elsewhere.notices.extend(elsewhere::partitions(&lines).map(str::to_string));
        }
        for name in &elsewhere.folded {
            let lower = name.to_lowercase();
            if elsewhere::mentions_name(&source, name) && !elsewhere::mentions_name(&source, &lower) {
                let notice = format!(
                    "the parameter {name} is {lower}, as SQL folds names; \"{name}\" in quotes keeps its letters"
                );
                elsewhere.notices.push(notice);
            }
        }
        let floats: Vec<&str> =
            params.iter().filter(|param| is_float(param)).map(|param| param.name.as_str()).collect();
        if elsewhere.python_2 && elsewhere::divides_integers(&lines, &floats) {
            let notice = "the body is Python 3, in which / of two integers gives a float; // is Python 2's / of them";
            elsewhere.notices.push(notice.to_string());
        }
        if elsewhere::imports_plpy(&lines) {
            return Err(self.error_here(elsewhere::NO_PLPY));
        }
        if is_lambda {
            // An expression alone would be a body that gives nothing.
            source = format!("{} = {source}", handler_name(&self.name));
        } else if elsewhere.procedural {
            let names: Vec<String> = params.iter().map(|param| param.name.clone()).collect();
            let body = elsewhere.body(&source, &self.name, &names);
            let (body, before) = body.map_err(|message| self.error_here(&message))?;
            source = body;
            first_line = first_line.saturating_sub(before);
        }
        if let Some((written, span)) = elsewhere.unnamed.as_ref().filter(|_| !elsewhere.procedural) {
            let message = format!("a parameter is a name and a type; {written} stands alone");
            return Err(self.error(span, &message));
        }
        let mut options = options.unwrap_or_default();
        if let Some(handler) = elsewhere.handler
            && options.handler.replace(handler).is_some()
        {
            return Err(self.error_here("the handler is given twice: by HANDLER and in OPTIONS"));
        }
        if volatility.is_some() && elsewhere.volatility.is_some() {
            return Err(self.error_here("the volatility is given twice"));
        }
        Ok(CreateFunction {
            or_replace: false,
            if_not_exists: false,
            name: self.name.clone(),
            params,
            returns,
            returns_place,
            options,
            volatility: volatility.or(elsewhere.volatility),
            strict: strict.unwrap_or(false),
            source,
            first_line,
            notices: elsewhere.notices,
        })
    }

    fn drop(&mut self) -> Parsed<Ours> {
        self.keyword(Keyword::DROP)?;
        self.keyword(Keyword::FUNCTION)?;
        let if_exists = self.parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
        let mut functions = vec![];
        loop {
            let name = self.function_name()?;
            // PostgreSQL names the overload; there is only one here.
            let types = if self.parser.peek_token().token == Token::LParen {
                let types = self.params()?.into_iter().filter_map(|param| match param.ty {
                    ParamType::Value(ty) => Some(ty),
                    ParamType::Table(_) => None,
                });
                Some(types.collect())
            } else {
                None
            };
            functions.push((name, types));
            if !self.parser.consume_token(&Token::Comma) {
                break;
            }
        }
        let _ = self.parser.parse_keyword(Keyword::RESTRICT) || self.parser.parse_keyword(Keyword::CASCADE);
        let token = self.parser.peek_token();
        if token.token != Token::EOF {
            let message = format!("expected the end of DROP FUNCTION, found {}", token.token);
            return Err(self.error(&token.span, &message));
        }
        Ok(Ours::Drop { if_exists, functions })
    }

    fn function_name(&mut self) -> Parsed<String> {
        let start = self.parser.peek_token().span;
        let name = self.parser.parse_object_name(false).map_err(|error| self.parser_error(&error))?;
        match &name.0[..] {
            [part] => match part.as_ident() {
                Some(ident) => Ok(normalize(ident)),
                None => Err(self.error(&start, &format!("{name} is no name for a function"))),
            },
            // Other systems have schemas, catalogs, projects before it.
            parts => match parts.last().and_then(ast::ObjectNamePart::as_ident) {
                Some(ident) => {
                    let last = normalize(ident);
                    let notice = format!("{name} is {last}: functions live in the session and have no schema");
                    self.elsewhere.notices.push(notice);
                    Ok(last)
                }
                None => Err(self.error(&start, &format!("{name} is no name for a function"))),
            },
        }
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.token(&Token::LParen)?;
        let mut params: Vec<Param> = vec![];
        if self.parser.consume_token(&Token::RParen) {
            return Ok(params);
        }
        loop {
            let name_token = self.parser.peek_token();
            for (mode, instead) in [
                ("OUT", "what a function gives stands behind RETURNS"),
                ("INOUT", "what a function gives stands behind RETURNS"),
                ("VARIADIC", "declare an array, and pass one"),
            ] {
                if self.next_word_is(mode) && matches!(self.parser.peek_nth_token(1).token, Token::Word(_)) {
                    return Err(
                        self.error(&name_token.span, &format!("{mode} parameters are not supported: {instead}"))
                    );
                }
            }
            if self.next_word_is("IN") && matches!(self.parser.peek_nth_token(1).token, Token::Word(_)) {
                self.parser.next_token();
            }
            let name = if self.type_alone() {
                // A type alone, as PL/Python has it.
                let written = self.parser.peek_token();
                self.elsewhere.unnamed.get_or_insert_with(|| (written.token.to_string(), written.span));
                format!("_{}", params.len() + 1)
            } else {
                let ident = self.parser.parse_identifier().map_err(|error| self.parser_error(&error))?;
                let name = normalize(&ident);
                if name != ident.value {
                    self.elsewhere.folded.push(ident.value);
                }
                name
            };
            let ty_token = self.parser.peek_token();
            let ty = if self.parser.parse_keyword(Keyword::TABLE) {
                ParamType::Table(self.columns()?)
            } else {
                ParamType::Value(self.data_type()?)
            };
            let place = self.place(&ty_token.span);
            let default = if self.parser.parse_keyword(Keyword::DEFAULT) || self.parser.consume_token(&Token::Eq) {
                let place = self.parser.peek_token().span;
                let mut default = self.parser.parse_expr().map_err(|error| self.parser_error(&error))?;
                depth::measure(&mut default).map_err(|error| self.error(&place, &crate::message(&error)))?;
                Some(default)
            } else {
                None
            };
            if params.iter().any(|param| param.name == name) {
                return Err(self.error(&name_token.span, &format!("the parameter {name} is given twice")));
            }
            if default.is_some() && matches!(ty, ParamType::Table(_)) {
                return Err(self.error(&name_token.span, &format!("the table {name} cannot have a DEFAULT")));
            }
            if default.is_none() && params.last().is_some_and(|param| param.default.is_some()) {
                let message = format!("the parameter {name} needs a DEFAULT, as one before it has one");
                return Err(self.error(&name_token.span, &message));
            }
            self.comment();
            params.push(Param { name, ty, default, place });
            if self.parser.consume_token(&Token::RParen) {
                return Ok(params);
            }
            if !self.parser.consume_token(&Token::Comma) {
                let token = self.parser.peek_token();
                return Err(self.error(&token.span, &format!("expected , or ) or DEFAULT, found {}", token.token)));
            }
        }
    }

    /// Whether a parameter is a type alone, without a name before it.
    fn type_alone(&self) -> bool {
        let word = |token: &TokenWithSpan| match &token.token {
            Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
            _ => String::new(),
        };
        let (first, behind) = (self.parser.peek_token(), self.parser.peek_nth_token(1));
        let second = word(&behind);
        match behind.token {
            Token::Comma | Token::RParen | Token::LParen | Token::LBracket | Token::Lt | Token::Eq => true,
            _ if second == "DEFAULT" => true,
            // Types of several words.
            _ => matches!(
                (word(&first).as_str(), second.as_str()),
                ("DOUBLE", "PRECISION")
                    | ("CHARACTER" | "CHAR" | "NCHAR" | "BIT", "VARYING")
                    | ("CHARACTER" | "CHAR" | "BINARY", "LARGE")
                    | ("NATIONAL", "CHARACTER" | "CHAR")
                    | ("TIMESTAMP" | "TIME", "WITH" | "WITHOUT")
            ),
        }
    }

    /// The columns of a table, if they are declared.
    fn columns(&mut self) -> Parsed<Option<Vec<Column>>> {
        if !self.parser.consume_token(&Token::LParen) {
            return Ok(None);
        }
        let mut columns: Vec<Column> = vec![];
        loop {
            let name_token = self.parser.peek_token();
            let ident = self.parser.parse_identifier().map_err(|error| self.parser_error(&error))?;
            let name = normalize(&ident);
            let ty_token = self.parser.peek_token();
            if matches!(ty_token.token, Token::Comma | Token::RParen) {
                let message = format!("a column is a name and a type; {ident} stands alone");
                return Err(self.error(&name_token.span, &message));
            }
            let ty = self.data_type()?;
            let place = self.place(&ty_token.span);
            let not_null = self.parser.parse_keywords(&[Keyword::NOT, Keyword::NULL]);
            if !not_null {
                let _ = self.parser.parse_keyword(Keyword::NULL);
            }
            if columns.iter().any(|column| column.name == name) {
                return Err(self.error(&name_token.span, &format!("the column {name} is given twice")));
            }
            self.comment();
            columns.push(Column { name, ty, not_null, place });
            if self.parser.consume_token(&Token::RParen) {
                return Ok(Some(columns));
            }
            if !self.parser.consume_token(&Token::Comma) {
                let token = self.parser.peek_token();
                return Err(self.error(&token.span, &format!("expected , or ) or NOT NULL, found {}", token.token)));
            }
        }
    }

    /// Whether a word that need not be a keyword of SQL comes next.
    pub(crate) fn next_word_is(&self, expected: &str) -> bool {
        matches!(self.parser.peek_token().token, Token::Word(word) if word.value.eq_ignore_ascii_case(expected))
    }

    fn options(&mut self) -> Parsed<Options> {
        let mut options = Options::default();
        let mut seen: Vec<String> = vec![];
        self.token(&Token::LParen)?;
        if self.parser.consume_token(&Token::RParen) {
            return Ok(options);
        }
        loop {
            let place = self.parser.peek_token().span;
            let ident = self.parser.parse_identifier().map_err(|error| self.parser_error(&error))?;
            let key = ident.value.to_ascii_lowercase();
            let _ = self.parser.consume_token(&Token::Eq) || self.parser.consume_token(&Token::RArrow);
            if self.option_of_others(&key)? {
                if self.parser.consume_token(&Token::RParen) {
                    return Ok(options);
                }
                self.token(&Token::Comma)?;
                continue;
            }
            let token = self.parser.next_token();
            let value = match token.token {
                Token::SingleQuotedString(value) | Token::DoubleQuotedString(value) => value,
                Token::Word(word) => word.value,
                Token::Number(digits, _) => digits,
                other => return Err(self.error(&token.span, &format!("expected a value of {key}, found {other}"))),
            };
            if seen.contains(&key) {
                return Err(self.error(&place, &format!("the option {key} is given twice")));
            }
            let lower = value.to_ascii_lowercase();
            let wrong = |choices: &str| self.error(&token.span, &format!("{key} is {choices}, not '{value}'"));
            match key.as_str() {
                // BigQuery's word.
                "handler" | "entry_point" => options.handler = Some(value.clone()),
                "on_error" => {
                    options.on_error = match lower.as_str() {
                        "raise" => OnError::Raise,
                        "null" => OnError::Null,
                        _ => return Err(wrong("'raise' or 'null'")),
                    };
                }
                "interpreter" => {
                    options.interpreter = match lower.as_str() {
                        "auto" => Interpreter::Auto,
                        "off" => Interpreter::Off,
                        _ => return Err(wrong("'auto' or 'off'")),
                    };
                }
                "inline" => {
                    options.inline = match lower.as_str() {
                        "auto" => Inline::Auto,
                        "off" => Inline::Off,
                        _ => return Err(wrong("'auto' or 'off'")),
                    };
                }
                "kind" => {
                    options.kind = Some(match lower.as_str() {
                        "row" => Kind::Row,
                        "table" => Kind::Table,
                        "rows" => Kind::Rows,
                        "column" => Kind::Column,
                        "aggregate" => Kind::Aggregate,
                        _ => return Err(wrong("'row', 'column', 'aggregate', 'table' or 'rows'")),
                    });
                }
                "scope" => {
                    options.by_batch = match lower.as_str() {
                        "batch" => true,
                        "column" => false,
                        _ => return Err(wrong("'column' or 'batch'")),
                    };
                }
                "models" => {
                    for part in value.split(',').map(str::trim) {
                        let (name, path) =
                            part.split_once('=').map_or((part, None), |(n, p)| (n.trim(), Some(p.trim())));
                        if name.is_empty() || path == Some("") {
                            return Err(wrong(
                                "a list such as 'm=path.pkl, n=other.joblib', or the names of models that are registered",
                            ));
                        }
                        options.models.push((name.to_string(), path.map(str::to_string)));
                    }
                }
                "timeout" => match crate::statements::settings::parse_duration(&value) {
                    Some(timeout) => options.timeout = Some(timeout),
                    None => return Err(wrong("a time such as '1s' or '200ms'")),
                },
                _ => {
                    let message = format!(
                        "there is no option {key}; there are handler, kind, scope, models, on_error, inline, interpreter and timeout"
                    );
                    return Err(self.error(&place, &message));
                }
            }
            seen.push(key);
            if self.parser.consume_token(&Token::RParen) {
                return Ok(options);
            }
            self.token(&Token::Comma)?;
        }
    }

    /// The body's text, dedented, and the line of its first line.
    fn body(&mut self) -> Parsed<(String, u32)> {
        let token = self.parser.next_token();
        let text = match token.token {
            Token::DollarQuotedString(body) if has_escapes(body.tag.as_deref()) => elsewhere::unescaped(&body.value),
            Token::DollarQuotedString(body) => body.value,
            Token::SingleQuotedString(text)
            | Token::EscapedStringLiteral(text)
            | Token::SingleQuotedRawStringLiteral(text)
            | Token::DoubleQuotedRawStringLiteral(text) => text,
            other => return Err(self.error(&token.span, &format!("expected the body $$ … $$, found {other}"))),
        };
        Ok(self.body_of(&text, token.span.start.line))
    }

    /// A body's text, dedented, and the line of its first line, of a literal on a line.
    fn body_of(&self, text: &str, line: u64) -> (String, u32) {
        let mut line = self.origin.line(line);
        let text = text.replace("\r\n", "\n");
        let mut body = text.as_str();
        while let Some((first, rest)) = body.split_once('\n') {
            if !first.trim().is_empty() {
                break;
            }
            body = rest;
            line = line.saturating_add(1);
        }
        match body.split_once('\n') {
            // Code beside the opening quote tells nothing of how the next lines are indented.
            Some((first, rest)) if body.len() == text.len() && !first.trim_end().ends_with(':') => {
                (format!("{}\n{}", first.trim_start(), dedent(rest)), line)
            }
            _ => (dedent(body), line),
        }
    }

    fn data_type(&mut self) -> Parsed<ast::DataType> {
        let place = self.parser.peek_token().span;
        let behind = self.parser.peek_nth_token(1).token;
        let ty = if self.next_word_is("ARRAY") && behind == Token::LParen {
            // As Snowflake writes it.
            self.parser.next_token();
            self.parser.next_token();
            let element = self.data_type()?;
            let _ = self.parser.parse_keywords(&[Keyword::NOT, Keyword::NULL]);
            self.token(&Token::RParen)?;
            ast::DataType::Array(ast::ArrayElemTypeDef::AngleBracket(Box::new(element)))
        } else if self.next_word_is("ARRAY") && behind != Token::Lt {
            let message = "an array says what its elements are: TEXT[], or ARRAY<TEXT>";
            return Err(self.error(&place, message));
        } else if self.next_word_is("STRUCT") && self.parser.peek_nth_token(1).token == Token::LParen {
            self.parser.next_token();
            let field = |column: Column| ast::StructField {
                field_name: Some(Ident::with_quote('"', column.name)),
                field_type: column.ty,
                options: None,
            };
            let fields = self.columns()?.unwrap_or_default().into_iter().map(field).collect();
            let mut ty = ast::DataType::Struct(fields, ast::StructBracketKind::AngleBrackets);
            while self.parser.consume_token(&Token::LBracket) {
                self.token(&Token::RBracket)?;
                ty = ast::DataType::Array(ast::ArrayElemTypeDef::SquareBracket(Box::new(ty), None));
            }
            ty
        } else {
            let mut ty = self.parser.parse_data_type().map_err(|error| self.parser_error(&error))?;
            types::named_here(&mut ty);
            ty
        };
        if depth::type_depth(&ty) > MAX_ARRAYS {
            return Err(self.error(&place, &format!("arrays are nested more than {MAX_ARRAYS} deep")));
        }
        Ok(ty)
    }

    fn keyword(&mut self, keyword: Keyword) -> Parsed<()> {
        self.parser.expect_keyword_is(keyword).map_err(|error| self.parser_error(&error))
    }

    /// Words that need not be keywords of SQL.
    pub(crate) fn words(&mut self, words: &[&str]) -> Parsed<()> {
        for expected in words {
            let token = self.parser.next_token();
            match &token.token {
                Token::Word(word) if word.value.eq_ignore_ascii_case(expected) => {}
                other => return Err(self.error(&token.span, &format!("expected {expected}, found {other}"))),
            }
        }
        Ok(())
    }

    pub(crate) fn token(&mut self, expected: &Token) -> Parsed<()> {
        let token = self.parser.next_token();
        if token.token == *expected {
            Ok(())
        } else {
            Err(self.error(&token.span, &format!("expected {expected}, found {}", token.token)))
        }
    }

    /// An error of sqlparser's, at the token before which it stopped.
    fn parser_error(&self, error: &ParserError) -> DefineError {
        let message = match error {
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.as_str(),
            ParserError::RecursionLimitExceeded => "too deeply nested",
        };
        // The place is shown below the message.
        let message = reworded(message.split(" at Line:").next().unwrap_or(message));
        // sqlparser consumes the token of which it complains, except where it only peeked.
        let next = self.parser.peek_token();
        let complained = self.parser.get_current_token();
        let span = match message.rsplit_once("found ") {
            Some((_, found)) if complained.to_string() == found => complained.span,
            _ => next.span,
        };
        self.error(&span, &message)
    }

    pub(crate) fn error_here(&self, message: &str) -> DefineError {
        self.error(&self.parser.peek_token().span, message)
    }

    pub(crate) fn error(&self, span: &Span, message: &str) -> DefineError {
        // At the end of the statement there is no place to show.
        let place = (span.start.line > 0).then(|| self.place(span));
        DefineError { function: self.name.clone(), message: message.to_string(), place }
    }

    fn place(&self, span: &Span) -> Place {
        place(self.origin, span)
    }
}

/// Letters in which a word that was meant may differ.
const MOST_MISTAKES: usize = 2;

/// What stands behind a function's parameters.
const CLAUSES: [&str; 7] = ["RETURNS", "LANGUAGE", "STRICT", "IMMUTABLE", "STABLE", "VOLATILE", "OPTIONS"];

/// Whether a body has nothing that could give a value: it returns nowhere, and does not bind `name`.
fn gives_nothing(lines: &[Line<'_>], name: &str) -> bool {
    let gives = |line: &Line<'_>| {
        let texts = line.texts();
        let says = |word: &str| texts.contains(&word);
        match texts[..] {
            ["class", ..] => true,
            [bound, "=" | ":", ..] if bound == name || texts.contains(&"lambda") => true,
            ["import" | "from", ..] => says(name),
            _ => ["return", "yield", "raise"].iter().any(|word| says(word)),
        }
    };
    let imports = |line: &Line<'_>| matches!(line.first(), "import" | "from");
    let defines = lines.iter().any(|line| line.first() == "def");
    !lines.iter().any(gives) && (defines || !lines.iter().any(imports))
}

/// Whether a parameter takes floats or decimals.
fn is_float(param: &Param) -> bool {
    matches!(&param.ty, ParamType::Value(ty) if elsewhere::is_fraction(ty))
}

/// The name of a handler that has none, in Python.
fn handler_name(function: &str) -> &str {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if function.chars().all(is_name) && !function.starts_with(|c: char| c.is_numeric()) {
        function
    } else {
        "exuvia_function"
    }
}

/// A name without a schema, as SQL reads it; `None` for any other.
pub(crate) fn unqualified(name: &ast::ObjectName) -> Option<String> {
    let [part] = &name.0[..] else { return None };
    part.as_ident().map(normalize)
}

/// A name as SQL reads it: lower-cased unless quoted.
pub(crate) fn normalize(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// Removes the white space that every line with code begins with, as `textwrap.dedent`
/// does; a text that has none stays as it is to the byte.
pub(crate) fn dedent(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let mut margin: Option<&str> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let own = &line[..indent(line)];
        margin = Some(match margin {
            None => own,
            Some(margin) => {
                let shared = margin.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
                &margin[..shared]
            }
        });
    }
    let margin = margin.unwrap_or_default();
    if margin.is_empty() {
        return text.to_string();
    }
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| line.strip_prefix(margin).unwrap_or(line.trim_start_matches([' ', '\t'])))
        .collect();
    lines.join("\n")
}
