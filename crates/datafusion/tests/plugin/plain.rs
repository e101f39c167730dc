//! The plugin in a `SessionContext` of DataFusion's own.

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use expect_test::expect;
use exuvia::{ExuviaBuilder, ExuviaSession, message};

fn context() -> SessionContext {
    SessionContext::new_with_state(SessionStateBuilder::new().with_default_features().with_exuvia().build())
}

async fn show(ctx: &SessionContext, sql: &str) -> String {
    let result = async { ctx.sql(sql).await?.collect().await }.await;
    match result {
        Ok(batches) => pretty_format_batches(&batches).expect("prints").to_string(),
        Err(error) => message(&error),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn create_function_reaches_the_plugin() {
    let ctx = context();
    show(
        &ctx,
        "CREATE FUNCTION Twice(x BIGINT, y BIGINT DEFAULT 2) RETURNS BIGINT LANGUAGE python AS $$ return x * y $$",
    )
    .await;
    expect![[r#"
        +---------+
        | doubled |
        +---------+
        | 42      |
        +---------+"#]]
    .assert_eq(&show(&ctx, "SELECT twice(column1) AS doubled FROM (VALUES (21))").await);
    expect!["cannot create function lower: lower is a built-in function; choose another name"].assert_eq(
        &show(&ctx, "CREATE FUNCTION lower(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$ return x $$").await,
    );
    expect!["cannot create function f: LANGUAGE sql is not supported; Exuvia runs functions in Python: LANGUAGE python AS $$ return … $$"]
        .assert_eq(&show(&ctx, "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE sql AS 'x'").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_be_put_over_it() {
    let ctx = context();
    let session = ExuviaSession::from(ctx.clone());
    session
        .sql("CREATE FUNCTION f() RETURNS TEXT LANGUAGE python OPTIONS (handler 'g') AS $$\ndef g():\n  return 'a'\n$$")
        .await
        .expect("created");
    expect![[r#"
        +------+-----+
        | name | f() |
        +------+-----+
        | f    | a   |
        +------+-----+"#]]
    .assert_eq(&show(&ctx, "SELECT name, f() FROM exuvia.functions").await);
}
