//! Parsing in bounded time.
//!
//! Where a word may begin an expression of its own or be a name (`NOT (…)`, `CAST(…)`, `ROW(…)`, or a
//! parenthesis behind FROM), the parser tries one reading and then the other, so that statements of
//! such parts within each other, or with a mistake within them, take time that doubles with each
//! level. What a parser asks its dialect is the one place where it can be seen at work: a dialect
//! that counts the questions and stops the parser, by unwinding, when there are too many.

use datafusion::common::{Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::sql::parser::{DFParserBuilder, Statement as Parsed};
use datafusion::sql::sqlparser::ast::{ColumnOption, Expr, GranteesType, Ident, ObjectNamePart, Statement};
use datafusion::sql::sqlparser::dialect::{Dialect, Precedence, dialect_from_str};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;
use std::cell::Cell;
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::str::Chars;

/// The questions that a parser may ask about any text, and those about each byte of it.
const MOST: (u64, u64) = (5_000_000, 300);

/// Why a text was not parsed.
pub(crate) const TOO_MANY: &str = "the statement is nested too deeply: it can be read in too many ways";

/// Parses a text of `size` bytes by means of a dialect; `None` if that takes too long.
pub(crate) fn bounded<T>(dialect: Box<dyn Dialect>, size: usize, parse: impl FnOnce(&dyn Dialect) -> T) -> Option<T> {
    let counting = Counting { dialect, left: Cell::new(MOST.0 + MOST.1 * size as u64) };
    match catch_unwind(AssertUnwindSafe(|| parse(&counting))) {
        Ok(parsed) => Some(parsed),
        Err(payload) if payload.is::<TooMany>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Parses a statement in the dialect of a session.
///
/// # Errors
/// As the parser says; a dialect that there is not; [`TOO_MANY`].
pub(crate) fn statement(state: &SessionState, text: &str) -> Result<Parsed> {
    let options = &state.config_options().sql_parser;
    let Some(dialect) = dialect_from_str(options.dialect) else {
        return plan_err!("unsupported SQL dialect: {}", options.dialect);
    };
    let parsed = bounded(dialect, text.len(), |dialect| {
        let parser = DFParserBuilder::new(text).with_dialect(dialect);
        parser.with_recursion_limit(options.recursion_limit.get()).build()?.parse_statements()
    });
    match parsed {
        None => plan_err!("{TOO_MANY}"),
        Some(parsed) => {
            let mut statements = parsed?;
            match (statements.pop_front(), statements.is_empty()) {
                (Some(statement), true) => Ok(statement),
                (Some(_), false) => plan_err!("there are several statements"),
                (None, _) => plan_err!("there is no statement"),
            }
        }
    }
}

/// What stops the parser.
struct TooMany;

/// A dialect that counts.
#[derive(Debug)]
struct Counting {
    dialect: Box<dyn Dialect>,
    /// The questions that may still be asked.
    left: Cell<u64>,
}

impl Counting {
    fn count(&self) {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            // Not a panic: nothing is wrong, and no hook is called.
            None => resume_unwind(Box::new(TooMany)),
        }
    }
}

/// Every method of [`Dialect`], which would else answer for a dialect of its own;
/// `cargo xtask check` compares the list with the trait's.
macro_rules! forward {
    (
        flags { $($flag:ident)* }
        methods { $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty;)* }
    ) => {
        impl Dialect for Counting {
            $(fn $flag(&self) -> bool {
                self.count();
                self.dialect.$flag()
            })*
            $(fn $name(&self $(, $arg: $ty)*) -> $ret {
                self.count();
                self.dialect.$name($($arg),*)
            })*
        }
    };
}

forward! {
    flags {
            supports_string_literal_backslash_escape ignores_wildcard_escapes supports_unicode_string_literal
            supports_filter_during_aggregation supports_window_clause_named_window_reference
            supports_within_after_array_aggregation supports_partition_by_after_order_by supports_array_join_syntax
            supports_group_by_expr supports_group_by_with_modifier supports_left_associative_joins_without_parens
            supports_outer_join_operator supports_cross_join_constraint supports_connect_by
            supports_execute_immediate supports_match_recognize supports_in_empty_list
            supports_start_transaction_modifier supports_end_transaction_modifier
            supports_named_fn_args_with_eq_operator supports_named_fn_args_with_colon_operator
            supports_named_fn_args_with_assignment_operator supports_named_fn_args_with_rarrow_operator
            supports_named_fn_args_with_expr_name supports_numeric_prefix supports_numeric_literal_underscores
            supports_window_function_null_treatment_arg supports_dictionary_syntax support_map_literal_syntax
            supports_lambda_functions supports_parenthesized_set_variables supports_comma_separated_set_assignments
            supports_update_order_by supports_select_wildcard_except convert_type_before_value
            supports_triple_quoted_string supports_trailing_commas supports_limit_comma
            supports_string_literal_concatenation supports_string_literal_concatenation_with_newline
            supports_projection_trailing_commas supports_from_trailing_commas
            supports_column_definition_trailing_commas supports_object_name_double_dot_notation
            supports_struct_literal supports_empty_projections supports_select_expr_star supports_from_first_select
            supports_from_first_insert supports_pipe_operator supports_user_host_grantee supports_match_against
            supports_select_wildcard_exclude supports_select_exclude supports_create_table_multi_schema_info_sources
            supports_select_modifiers describe_requires_table_keyword allow_extract_custom
            allow_extract_single_quotes supports_extract_comma_syntax supports_subquery_as_function_arg
            supports_create_view_comment_syntax supports_array_typedef_without_element_type
            supports_parens_around_table_factor supports_values_as_table_factor supports_dollar_placeholder
            supports_dollar_as_money_prefix supports_create_index_with_clause require_interval_qualifier
            supports_explain_with_utility_options supports_asc_desc_in_column_definition supports_factorial_operator
            supports_bitwise_shift_operators supports_nested_comments supports_multiline_comment_hints
            supports_eq_alias_assignment supports_try_convert supports_bang_not_operator supports_listen_notify
            supports_load_data supports_load_extension supports_top_before_distinct supports_boolean_literals
            supports_show_like_before_in supports_comment_on supports_create_table_select supports_partiql
            supports_constraint_keyword_without_name supports_key_column_option supports_table_sample_before_alias
            supports_insert_set supports_insert_table_function supports_insert_table_query supports_insert_format
            supports_insert_table_alias supports_set_stmt_without_operator supports_table_versioning
            supports_string_escape_constant supports_table_hints requires_single_line_comment_whitespace
            supports_array_typedef_with_brackets supports_geometric_types supports_order_by_all supports_set_names
            supports_space_separated_column_options supports_alter_column_type_using
            supports_comma_separated_drop_column_list supports_notnull_operator supports_data_type_signed_suffix
            supports_interval_options supports_create_table_like_parenthesized supports_semantic_view_table_factor
            supports_quote_delimited_string supports_comment_optimizer_hint supports_double_ampersand_operator
            supports_binary_kw_as_cast supports_select_wildcard_replace supports_select_wildcard_ilike
            supports_select_wildcard_rename supports_select_wildcard_with_alias supports_optimize_table
            supports_install supports_detach supports_prewhere supports_with_fill supports_limit_by
            supports_interpolate supports_settings supports_select_format supports_comma_separated_trim
            supports_cte_without_as supports_select_item_multi_column_alias supports_xml_expressions
            supports_create_table_using supports_long_type_as_bigint supports_map_literal_with_angle_brackets
    }
    methods {
        fn dialect() -> TypeId;
        fn is_delimited_identifier_start(ch: char) -> bool;
        fn is_nested_delimited_identifier_start(ch: char) -> bool;
        fn peek_nested_delimited_identifier_quotes(chars: Peekable<Chars<'_>>) -> Option<(char, Option<char>)>;
        fn identifier_quote_style(identifier: &str) -> Option<char>;
        fn is_identifier_start(ch: char) -> bool;
        fn is_identifier_part(ch: char) -> bool;
        fn is_custom_operator_part(ch: char) -> bool;
        fn parse_prefix(parser: &mut Parser) -> Option<std::result::Result<Expr, ParserError>>;
        fn parse_infix(parser: &mut Parser, expr: &Expr, precedence: u8) -> Option<std::result::Result<Expr, ParserError>>;
        fn get_next_precedence(parser: &Parser) -> Option<std::result::Result<u8, ParserError>>;
        fn get_next_precedence_default(parser: &Parser) -> std::result::Result<u8, ParserError>;
        fn parse_statement(parser: &mut Parser) -> Option<std::result::Result<Statement, ParserError>>;
        fn parse_column_option(
            parser: &mut Parser,
        ) -> std::result::Result<Option<std::result::Result<Option<ColumnOption>, ParserError>>, ParserError>;
        fn prec_value(prec: Precedence) -> u8;
        fn prec_unknown() -> u8;
        fn is_reserved_for_identifier(kw: Keyword) -> bool;
        fn get_reserved_keywords_for_select_item_operator() -> &[Keyword];
        fn get_reserved_grantees_types() -> &[GranteesType];
        fn is_column_alias(kw: &Keyword, parser: &mut Parser) -> bool;
        fn is_select_item_alias(explicit: bool, kw: &Keyword, parser: &mut Parser) -> bool;
        fn is_table_factor(kw: &Keyword, parser: &mut Parser) -> bool;
        fn is_table_alias(kw: &Keyword, parser: &mut Parser) -> bool;
        fn is_table_factor_alias(explicit: bool, kw: &Keyword, parser: &mut Parser) -> bool;
        fn is_identifier_generating_function_name(ident: &Ident, name_parts: &[ObjectNamePart]) -> bool;
    }
}
