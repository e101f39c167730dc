//! Statements as the documentation of other systems writes them: they run, or are refused with a
//! sentence that says why.

use crate::common::{fails, rows, run, session, try_run};

/// What becomes of a statement.
enum Then {
    /// A query and its rows.
    Gives(&'static str, &'static str),
    /// A part of the refusal.
    Refused(&'static str),
}

use Then::{Gives, Refused};

async fn check(statements: &[(&str, Then)]) {
    let mut wrong = Vec::new();
    for (sql, then) in statements {
        let session = session();
        let made = try_run(&session, sql).await.map(|_| ());
        let (found, expected) = match (then, made) {
            (Gives(query, expected), Ok(())) => match try_run(&session, query).await {
                Ok(_) => (rows(&session, query).await, *expected),
                Err(error) => (error, *expected),
            },
            (Gives(_, expected), Err(error)) => (error, *expected),
            (Refused(part), Err(error)) if error.contains(part) => continue,
            (Refused(part), Err(error)) => (error, *part),
            (Refused(part), Ok(())) => ("it was taken".to_string(), *part),
        };
        if found != expected {
            wrong.push(format!("{sql}\n  gives {found}\n  and not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_postgresql_and_redshift() {
    check(&[
        (
            "CREATE FUNCTION pymax (a integer, b integer)\n  RETURNS integer\nAS $$\n  if a > b:\n    return a\n  return b\n$$ LANGUAGE plpython3u;",
            Gives("SELECT pymax(CAST(column1 AS INT), CAST(4 AS INT)) AS m FROM (VALUES (3), (5)) ORDER BY m", "4\n5"),
        ),
        (
            "CREATE FUNCTION pymax (a integer, b integer) RETURNS integer AS $$ return args[0] if args[0] > args[1] else args[1] $$ LANGUAGE plpython3u",
            Gives("SELECT pymax(CAST(column1 AS INT), CAST(4 AS INT)) AS m FROM (VALUES (3), (5)) ORDER BY m", "4\n5"),
        ),
        (
            "CREATE FUNCTION un(int, int) RETURNS int AS $$\nx, y = args\nreturn x * y\n$$ LANGUAGE plpython3u IMMUTABLE",
            Gives("SELECT un(CAST(column1 AS INT), CAST(2 AS INT)) AS m FROM (VALUES (3))", "6"),
        ),
        (
            "CREATE OR REPLACE FUNCTION add1(IN a int) RETURNS int LANGUAGE 'plpythonu' IMMUTABLE STRICT PARALLEL SAFE COST 100 LEAKPROOF SECURITY DEFINER SET search_path = public, pg_temp AS $body$ return a + 1 $body$",
            Gives("SELECT add1(CAST(column1 AS INT)) AS m FROM (VALUES (1))", "2"),
        ),
        (
            "CREATE FUNCTION nothing(a int) RETURNS int LANGUAGE plpython3u AS $$\n  a = a + 1\n$$",
            Gives("SELECT nothing(CAST(column1 AS INT)) AS m FROM (VALUES (1))", "NULL"),
        ),
        (
            "CREATE FUNCTION usesavedplan() RETURNS int AS $$\n  plan = plpy.prepare('SELECT 1')\n  return 1\n$$ LANGUAGE plpython3u",
            Refused("plpy is PL/Python's way back into the database"),
        ),
        (
            "CREATE FUNCTION place(a geography) RETURNS text AS $$ return a $$ LANGUAGE plpython3u",
            Refused("did you mean TEXT, which may hold WKT or GeoJSON?"),
        ),
        (
            "CREATE FUNCTION one(a zorp) RETURNS text AS $$ return a $$ LANGUAGE plpython3u",
            Refused("there are BIGINT, INTEGER"),
        ),
        (
            "CREATE FUNCTION counts(a int) RETURNS int AS $$\n  SD['n'] = SD.get('n', 0) + 1\n  return SD['n']\n$$ LANGUAGE plpython3u",
            Refused("SD and GD, which keep values between calls"),
        ),
        (
            "CREATE FUNCTION o(a int, OUT b int) AS $$ return a $$ LANGUAGE plpython3u",
            Refused("OUT parameters are not supported: what a function gives stands behind RETURNS"),
        ),
        (
            "CREATE FUNCTION v(VARIADIC a int[]) RETURNS int AS $$ return len(a) $$ LANGUAGE plpython3u",
            Refused("VARIADIC parameters are not supported: declare an array"),
        ),
        (
            "CREATE FUNCTION w(a int) RETURNS int WINDOW AS $$ return a $$ LANGUAGE plpython3u",
            Refused("WINDOW is for functions in C"),
        ),
        (
            "create function f_py_greater (a float, b float)\n  returns float\nstable\nas $$\n  if a > b:\n    return a\n  return b\n$$ language plpythonu;",
            Gives("SELECT f_py_greater(column1, 1.1) AS m FROM (VALUES (0.5), (2.3)) ORDER BY m", "1.1\n2.3"),
        ),
        (
            "create or replace function f_distance (x1 float, y1 float, x2 float, y2 float) returns float IMMUTABLE as $$\n  def distance(x1, y1, x2, y2):\n    import math\n    return math.sqrt((y2 - y1) ** 2 + (x2 - x1) ** 2)\n\n  return distance(x1, y1, x2, y2)\n$$ LANGUAGE plpythonu;",
            Gives("SELECT f_distance(column1, 0, 0, 4) AS m FROM (VALUES (3.0))", "5.0"),
        ),
        (
            "CREATE FUNCTION return_arr() RETURNS int[] AS $$\nreturn [1, 2, 3, 4, 5]\n$$ LANGUAGE plpython3u;",
            Gives("SELECT return_arr() AS m", "[1, 2, 3, 4, 5]"),
        ),
        (
            "CREATE FUNCTION make_pair (name text, value integer) RETURNS STRUCT<name text, value integer> AS $$\n  return ( name, value )\n$$ LANGUAGE plpython3u;",
            Gives("SELECT make_pair(column1, 3::int).value AS m FROM (VALUES ('a'))", "3"),
        ),
        (
            "CREATE FUNCTION greet (how text) RETURNS SETOF text AS $$\n  for who in [ \"World\", \"PostgreSQL\", \"PL/Python\" ]:\n      yield how + ' ' + who\n$$ LANGUAGE plpython3u;",
            Gives("SELECT * FROM greet('Hi')", "Hi PL/Python\nHi PostgreSQL\nHi World"),
        ),
        (
            "CREATE FUNCTION f_stats(xs float[], p real) RETURNS float IMMUTABLE STRICT AS $$\n  return sum(xs) / len(xs) + p\n$$ LANGUAGE plpython3u",
            Gives("SELECT f_stats([column1, 0.3], CAST(0.5 AS REAL)) AS m FROM (VALUES (0.1))", "0.7"),
        ),
        (
            "DO $$\n  plpy.notice('hello')\n$$ LANGUAGE plpython3u",
            Refused("DO runs statements in a database"),
        ),
        (
            "CREATE OR REPLACE PROCEDURE p(a int) LANGUAGE plpython3u AS $$ a = 1 $$",
            Refused("procedures change a database"),
        ),
        (
            "CREATE AGGREGATE avg2(float8) (sfunc = add2, stype = float8[])",
            Refused("an aggregate is a function whose handler is a class with accumulate and finish"),
        ),
        ("CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT AS 'class f: pass'", Refused("LANGUAGE python is missing")),
        ("CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT LANGUAGE java AS ''", Refused("LANGUAGE java is not supported")),
        (
            "CREATE FUNCTION f(x int) RETURNS int LANGUAGE plpython2u AS $$\nif x <> 1:\n    print x\nreturn x\n$$",
            Refused("; in Python 3 it is !="),
        ),
        (
            "CREATE FUNCTION f(x int) RETURNS int LANGUAGE plpythonu AS $$\nprint x\nreturn x\n$$",
            Refused("; in Python 3 it is print(…)"),
        ),
        (
            "CREATE FUNCTION f(x int) RETURNS int LANGUAGE plpythonu AS $$\ntry:\n  pass\nexcept E, e:\n  pass\n$$",
            Refused("; in Python 3 it is except … as e:"),
        ),
        (
            "CREATE FUNCTION f(x int) RETURNS int LANGUAGE plpythonu AS $$\nraise ValueError, 'x'\n$$",
            Refused("; in Python 3 it is raise Exception(message)"),
        ),
        (
            "CREATE FUNCTION log_change() RETURNS trigger AS $$\n  return None\n$$ LANGUAGE plpython3u",
            Refused("trigger"),
        ),
        (
            "CREATE FUNCTION g(double precision, character varying(3), timestamp with time zone, time without time zone) \
             RETURNS text AS $$ return f'{args[0]} {args[1]} {args[2].year} {args[3].hour}' $$ LANGUAGE plpython3u",
            Gives("SELECT g(1.5, 'a', '2024-01-01 00:00:00Z', '10:00:00') AS m", "1.5 a 2024 10"),
        ),
        (
            "CREATE FUNCTION g(float, double precision, char varying) RETURNS text AS $$ return 'a' $$ LANGUAGE plpython3u; \
             DROP FUNCTION g(float, double precision, character varying)",
            Gives("SELECT count(*) AS m FROM exuvia.functions", "0"),
        ),
        (
            "CREATE FUNCTION pystrip(x text) RETURNS text AS $$\n  global x\n  x = x.strip()  # ok now\n  return x\n$$ LANGUAGE plpython3u",
            Gives("SELECT pystrip(' a ') AS m", "a"),
        ),
        (
            "CREATE FUNCTION strip2(x text, y text) RETURNS text AS $$\ndef more():\n  global y\n  y += '!'\nmore()\nglobal x, y\nx = x.strip()\nreturn x + y\n$$ LANGUAGE plpython3u",
            Gives("SELECT strip2(' a ', 'b') AS m", "ab!"),
        ),
        (
            "CREATE FUNCTION says(x int) RETURNS text AS $$\n\"\"\"As plpy.info, without SD['a'].\"\"\"\nSD = {'a': x} # not GD['a']\nreturn str(SD['a'])\n$$ LANGUAGE plpython3u",
            Gives("SELECT says(1) AS m", "1"),
        ),
        (
            "CREATE FUNCTION f(x int) RETURNS int AS $$ return SD.get(x) $$ LANGUAGE plpython3u",
            Refused("SD and GD, which keep values between calls"),
        ),
        (
            "CREATE FUNCTION f(x int) RETURNS int AS $$\nfrom plpy import execute\nreturn x $$ LANGUAGE plpython3u",
            Refused("plpy is PL/Python's way back"),
        ),
        (
            "CREATE FUNCTION f(x int) RETURNS int AS $$ return import_plpy(x) $$ LANGUAGE plpython3u; CREATE FUNCTION g(x int) RETURNS int AS $$\nimport plpy\nreturn x $$ LANGUAGE python",
            Refused("plpy is PL/Python's way back"),
        ),
        (
            "CREATE FUNCTION m(x int) RETURNS int AS $$\nimport math\n\ndef m(x):\n  return x + 1\n$$ LANGUAGE plpython3u",
            Gives("SELECT m(1) AS m", "2"),
        ),
        ("CREATE TYPE pair AS (a int, b text)", Refused("write STRUCT<a BIGINT, b TEXT>")),
        (
            "CREATE FUNCTION f() RETURNS SETOF pair AS $$ return [] $$ LANGUAGE plpython3u",
            Refused("rows of several columns are RETURNS TABLE (a BIGINT, b TEXT)"),
        ),
        (
            "CREATE FUNCTION n(x numeric(38, 0)) RETURNS text AS $$ return str(x) $$ LANGUAGE plpython3u",
            Gives(
                "SELECT n(12345678901234567890123) AS a, n(x => -9223372036854775809) AS b, n(1.2345678901234567890123e22) AS c",
                "12345678901234567890123 | -9223372036854775809 | 12345678901234567890123",
            ),
        ),
        (
            "CREATE FUNCTION n(x numeric(30, 10)[], y numeric(30, 10) = 123456789.1234567891) RETURNS text AS $$ return f'{x[0]} {y}' $$ LANGUAGE plpython3u",
            Gives("SELECT n([-123456789.123456789]) AS m", "-123456789.1234567890 123456789.1234567891"),
        ),
        (
            "CREATE FUNCTION n(x numeric(30, 10)) RETURNS text AS $$ return str(x) $$ LANGUAGE plpython3u; SELECT n(1.12345678901234567)",
            Refused("n: argument 1 (x): 1.12345678901234567 is outside DECIMAL(30, 10)"),
        ),
        (
            "CREATE FUNCTION f_hostname (url varchar(max)) RETURNS varchar IMMUTABLE AS $$\n  return url.split('/')[2]\n$$ LANGUAGE plpythonu",
            Gives("SELECT f_hostname(column1) AS m FROM (VALUES ('https://example.org/a'))", "example.org"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_snowflake() {
    check(&[
        (
            "CREATE OR REPLACE FUNCTION addone(i INT)\n  RETURNS INT\n  LANGUAGE PYTHON\n  RUNTIME_VERSION = '3.12'\n  HANDLER = 'addone_py'\nAS $$\ndef addone_py(i):\n  return i+1\n$$;",
            Gives("SELECT addone(CAST(column1 AS INT)) AS m FROM (VALUES (10))", "11"),
        ),
        (
            "CREATE OR REPLACE SECURE FUNCTION s(x STRING) RETURNS STRING NOT NULL LANGUAGE PYTHON RUNTIME_VERSION=3.11 PACKAGES=('numpy','pandas==2.*') HANDLER='go' COMMENT='upper' AS $$\ndef go(x):\n    return x.upper()\n$$",
            Gives("SELECT s(column1) AS m FROM (VALUES ('ä'))", "Ä"),
        ),
        (
            "CREATE FUNCTION m(a NUMBER, b NUMBER) RETURNS NUMBER LANGUAGE PYTHON MEMOIZABLE HANDLER='f' RUNTIME_VERSION='3.9' AS 'def f(a, b): return a * b'",
            Gives("SELECT m(column1, 7) AS m FROM (VALUES (6))", "42"),
        ),
        (
            "CREATE OR REPLACE FUNCTION tax(amount NUMBER(10, 2), rate FLOAT) RETURNS FLOAT LANGUAGE PYTHON RUNTIME_VERSION = '3.11' HANDLER = 'tax' AS $$\ndef tax(amount, rate):\n    return round(float(amount) * rate, 2)\n$$",
            Gives("SELECT tax(CAST(column1 AS DECIMAL(10, 2)), 0.19) AS m FROM (VALUES (19.99))", "3.8"),
        ),
        (
            "CREATE OR REPLACE FUNCTION split_words(line VARCHAR) RETURNS TABLE (word VARCHAR, n NUMBER) LANGUAGE PYTHON RUNTIME_VERSION = 3.11 HANDLER = 'split' AS $$\ndef split(line):\n    for n, word in enumerate(line.split()):\n        yield word, n\n$$",
            Gives("SELECT * FROM split_words('a bé')", "a | 0\nbé | 1"),
        ),
        (
            "CREATE FUNCTION a(x ARRAY(VARCHAR NOT NULL)) COPY GRANTS RETURNS INT LANGUAGE PYTHON RUNTIME_VERSION = 3.11 ARTIFACT_REPOSITORY = snowflake.snowpark.pypi_shared_repository HANDLER = 'a' AS 'def a(x): return len(x)'",
            Gives("SELECT a(['x']) AS m", "1"),
        ),
        (
            "CREATE FUNCTION m(x MAP(VARCHAR, NUMBER) NOT NULL) RETURNS NUMBER NULL LANGUAGE PYTHON RUNTIME_VERSION = '3.11' HANDLER = 'm' AS 'def m(x): return sum(x.values())'",
            Gives("SELECT m(MAP {'a': 2, 'b': 3}) AS m", "5"),
        ),
        (
            "CREATE FUNCTION a(x ARRAY) RETURNS INT LANGUAGE PYTHON AS 'return len(x)'",
            Refused("an array says what its elements are: TEXT[], or ARRAY<TEXT>"),
        ),
        (
            "CREATE FUNCTION v(x VARIANT) RETURNS VARIANT LANGUAGE PYTHON RUNTIME_VERSION = '3.11' HANDLER = 'v' AS 'def v(x): return x'",
            Refused("VARIANT"),
        ),
        (
            "CREATE FUNCTION i(x INT) RETURNS INT LANGUAGE PYTHON RUNTIME_VERSION='3.9' IMPORTS=('@stage/my.zip') HANDLER='my.f'",
            Refused("IMPORTS names files of a stage"),
        ),
        (
            "CREATE FUNCTION e(x INT) RETURNS INT LANGUAGE PYTHON HANDLER='f' EXTERNAL_ACCESS_INTEGRATIONS=(a) AS 'def f(x): return x'",
            Refused("EXTERNAL_ACCESS_INTEGRATIONS is a right that the other system gives"),
        ),
        (
            "CREATE FUNCTION h(x INT) RETURNS INT LANGUAGE PYTHON HANDLER=f AS 'def f(x): return x'",
            Refused("expected the handler's name, found f"),
        ),
        (
            "CREATE FUNCTION n(x VARCHAR) RETURNS VARCHAR CALLED ON NULL INPUT LANGUAGE PYTHON HANDLER='f' RUNTIME_VERSION='3.10' IMMUTABLE AS $$\ndef f(x):\n    return 'none' if x is None else x\n$$",
            Gives("SELECT n(column1) AS m FROM (VALUES (CAST(NULL AS VARCHAR)))", "none"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_databricks_and_bigquery() {
    check(&[
        (
            "CREATE FUNCTION greet(s STRING)\n  RETURNS STRING\n  LANGUAGE PYTHON\n  AS $$\n    def greet(name):\n      return \"Hello \" + name + \"!\"\n\n    return greet(s) if s else None\n  $$",
            Gives("SELECT greet(column1) AS m FROM (VALUES ('world'))", "Hello world!"),
        ),
        (
            "CREATE OR REPLACE TEMPORARY FUNCTION d(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON DETERMINISTIC COMMENT 'half' CONTAINS SQL SQL SECURITY DEFINER ENVIRONMENT (dependencies = '[\"simplejson==3.19.3\"]', environment_version = 'None') AS $$ return x / 2 $$",
            Gives("SELECT d(column1) AS m FROM (VALUES (3.0))", "1.5"),
        ),
        (
            "CREATE FUNCTION nd(x INT) RETURNS INT NOT DETERMINISTIC NO SQL LANGUAGE PYTHON AS $$ return x $$",
            Gives("SELECT nd(CAST(column1 AS INT)) AS m FROM (VALUES (3))", "3"),
        ),
        (
            "CREATE FUNCTION st(p STRUCT<a: INT, b: STRING>) RETURNS INT LANGUAGE PYTHON AS $$ return p['a'] $$",
            Gives("SELECT st(named_struct('a', CAST(column1 AS INT), 'b', 'x')) AS m FROM (VALUES (3))", "3"),
        ),
        (
            "CREATE FUNCTION st(p STRUCT(a INT, b STRING)) RETURNS STRUCT(a INT)[] LANGUAGE PYTHON AS $$ return [{'a': p['a'] + 1}] $$",
            Gives("SELECT st(named_struct('a', CAST(column1 AS INT), 'b', 'x'))[1]['a'] AS m FROM (VALUES (3))", "4"),
        ),
        (
            "CREATE FUNCTION twice(x INT DETERMINISTIC) RETURNS INT LANGUAGE PYTHON AS $$ return x $$",
            Refused("expected , or ) or DEFAULT"),
        ),
        (
            "CREATE FUNCTION v(x INT) RETURNS INT IMMUTABLE DETERMINISTIC LANGUAGE PYTHON AS $$ return x $$",
            Refused("the volatility is given twice"),
        ),
        (
            "CREATE TEMP FUNCTION multiplyInputs(x FLOAT64, y FLOAT64)\nRETURNS FLOAT64\nLANGUAGE python\nOPTIONS (entry_point='multiply', runtime_version='python-3.11', packages=['pandas==2.2', 'numpy'], description='product')\nAS r'''\ndef multiply(x, y):\n  return x * y\n''';",
            Gives("SELECT multiplyinputs(column1, 2) AS m FROM (VALUES (1.5))", "3.0"),
        ),
        (
            "CREATE FUNCTION b(x INT64) RETURNS INT64 LANGUAGE python OPTIONS (entry_point = 'go', container_memory = '2Gi', container_cpu = 1) AS \"\"\"\ndef go(x):\n  return x + len('a;b')\n\"\"\"",
            Gives("SELECT b(column1) AS m FROM (VALUES (1))", "4"),
        ),
        (
            "CREATE FUNCTION main.default.up(x STRING) RETURNS STRING LANGUAGE PYTHON AS $$ return x $$",
            Gives("SELECT main.default.up(column1) || up('b') AS m FROM (VALUES ('a'))", "ab"),
        ),
        (
            "CREATE FUNCTION `my-proj.ds`.up(x STRING) RETURNS TABLE (y STRING) LANGUAGE PYTHON AS $$ yield x $$",
            Gives("SELECT * FROM `my-proj.ds`.up('a')", "a"),
        ),
        (
            "CREATE FUNCTION a.up(x STRING) RETURNS STRING LANGUAGE PYTHON AS $$ return x $$; DROP FUNCTION b.up(STRING)",
            Gives("SELECT count(*) AS m FROM exuvia.functions", "0"),
        ),
        (
            "CREATE FUNCTION f(a INT) RETURNS MAP<STRING, INT> LANGUAGE PYTHON AS $$ return {'a': a} $$; \
             CREATE TABLE t AS SELECT f(1) AS m",
            Gives("SELECT f(2)['a'] AS m, m['a'] AS n, m['b'] AS o FROM t", "2 | 1 | NULL"),
        ),
        (
            "CREATE FUNCTION f(a INT) RETURNS MAP<INT, INT> LANGUAGE PYTHON AS $$ return {a: 7} $$",
            Gives("SELECT f(-1)[-1] AS m, f(1)[2] AS n", "7 | NULL"),
        ),
        (
            "CREATE FUNCTION f(s STRUCT<a: INT NOT NULL COMMENT 'x', b: STRING COMMENT 'y'>, c LONG, d SHORT, e BYTE, g BINARY) \
             RETURNS BYTES LANGUAGE PYTHON AS $$ return g + bytes([s['a'] + c + d + e]) $$",
            Gives("SELECT f(named_struct('a', 1, 'b', 'x'), 2, 3, 4, X'00') AS m", "000a"),
        ),
        (
            "CREATE FUNCTION f(x INT64) RETURNS INT64 LANGUAGE python WITH CONNECTION `p.us.c` OPTIONS (entry_point = 'g') AS 'def g(x): return x'",
            Gives("SELECT f(1) AS m", "1"),
        ),
        (
            "CREATE FUNCTION f(x INT64) RETURNS INT64 LANGUAGE python OPTIONS (library = ['gs://a/b.py']) AS 'return x'",
            Refused("library names files of a stage"),
        ),
        (
            "CREATE FUNCTION f(x FLOAT64) RETURNS FLOAT64 LANGUAGE js AS r'return x'",
            Refused("LANGUAGE js is not supported; Exuvia runs functions in Python"),
        ),
        ("CREATE FUNCTION f(a INT) RETURNS INT RETURN a + 1", Refused("LANGUAGE python is missing; Exuvia runs functions in Python")),
        ("CREATE FUNCTION f(x INT64) RETURNS INT64 AS (x + 4)", Refused("LANGUAGE python is missing; Exuvia runs")),
        ("CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE js AS 'return x'", Refused("LANGUAGE js is not supported; Exuvia")),
        (
            "CREATE FUNCTION `p.d.up`(xs ARRAY<STRING>) RETURNS STRING LANGUAGE python OPTIONS (entry_point='go', runtime_version='python-3.11') AS r\"\"\"\nimport re\ndef go(xs):\n  return re.sub(r'\\d+', '#', ';'.join(xs)) # it's\n\"\"\";",
            Gives("SELECT `p.d.up`(['a1', column1]) AS m FROM (VALUES ('b22'))", "a#;b#"),
        ),
        (
            "CREATE FUNCTION r(x INT64) RETURNS INT64 LANGUAGE python OPTIONS (entry_points = 'go') AS 'def go(x): return x'",
            Refused("there is no option entry_points"),
        ),
        (
            "CREATE FUNCTION longest(xs ARRAY<INT64>, o STRUCT<n INT64, f FLOAT64>) RETURNS INT64 LANGUAGE python AS r\"\"\"\ndef longest(xs, o):\n  return len(xs) + o['n']\n\"\"\"",
            Gives("SELECT longest([column1, 2], named_struct('n', 5, 'f', 1.5)) AS m FROM (VALUES (1))", "7"),
        ),
        (
            "CREATE FUNCTION sizes(m MAP<STRING, ARRAY<INT>> COMMENT 'what is counted', k STRING DEFAULT 'a' COMMENT 'a key') RETURNS INT LANGUAGE PYTHON AS $$ return len(m.get(k, [])) $$",
            Gives("SELECT sizes(MAP {'a': [CAST(column1 AS INT)]}, 'a') AS m FROM (VALUES (1))", "1"),
        ),
        (
            "CREATE FUNCTION plus(x INT, y INT) RETURNS INT LANGUAGE PYTHON PARAMETER STYLE SCALAR HANDLER 'go' AS $$\ndef go(x, y):\n  return x + y\n$$",
            Gives("SELECT plus(CAST(column1 AS INT), 2) AS m FROM (VALUES (1))", "3"),
        ),
        (
            "CREATE FUNCTION h(x INT) RETURNS INT LANGUAGE PYTHON HANDLER = 'a' OPTIONS (handler 'b') AS $$\ndef a(x): return 1\ndef b(x): return 2\n$$",
            Refused("the handler is given twice"),
        ),
        (
            "CREATE FUNCTION esc(a STRING) RETURNS STRING LANGUAGE python OPTIONS (entry_point='go') AS '''\ndef go(a):\n    return a + '\\\\n' + \"\\\\\\\\\" + '\\u00e9\\x41\\q'\n'''",
            Gives("SELECT length(esc(column1)) AS m FROM (VALUES ('ab'))", "8"),
        ),
        (
            "CREATE FUNCTION raw(a STRING) RETURNS STRING LANGUAGE python OPTIONS (entry_point='go') AS r'''\ndef go(a):\n    return a + '\\n'\n'''",
            Gives("SELECT length(raw(column1)) AS m FROM (VALUES ('ab'))", "3"),
        ),
        (
            "CREATE FUNCTION top(a INT) RETURNS INT LANGUAGE PYTHON AS $$ return a $$",
            Refused("top is a built-in function"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_passed_over_is_said() {
    let session = session();
    run(&session, "CREATE FUNCTION f(a int) RETURNS int PARALLEL SAFE COST 5 LANGUAGE plpython3u AS 'return a'").await;
    let notices = session.take_notices();
    assert_eq!(
        notices,
        ["PARALLEL is passed over: it has no meaning here", "COST is passed over: it has no meaning here"]
    );
    assert!(session.take_notices().is_empty());
    for language in ["python", "plpython3u"] {
        run(&session, &format!("CREATE OR REPLACE FUNCTION n(a int) RETURNS int LANGUAGE {language} AS 'a + 1'")).await;
        let notices = session.take_notices();
        assert_eq!(notices, ["the body returns nothing, so that every call gives NULL; did you forget return?"]);
    }
    for (sql, notice) in [
        (
            "CREATE OR REPLACE FUNCTION n(a int) RETURNS int LANGUAGE python AS $$\ndef n(a):\n    b = a + 1\n$$",
            "did you forget return?",
        ),
        (
            "CREATE OR REPLACE FUNCTION n(a int) RETURNS float LANGUAGE plpythonu AS 'return a / 2'",
            "the body is Python 3",
        ),
        (
            "CREATE OR REPLACE FUNCTION n(firstName text) RETURNS text LANGUAGE python AS 'return firstName'",
            "the parameter firstName is firstname",
        ),
    ] {
        run(&session, sql).await;
        let notices = session.take_notices();
        assert!(notices.len() == 1 && notices[0].contains(notice), "{sql}: {notices:?}");
    }
    for (sql, notice) in [
        (
            "CREATE OR REPLACE FUNCTION public.n(a int) RETURNS int LANGUAGE python AS 'return a'",
            "public.n is n: functions",
        ),
        ("CREATE LIBRARY l LANGUAGE plpythonu FROM 's3://x'", "CREATE LIBRARY is passed over"),
        ("COMMENT ON FUNCTION n(int) IS 'x'", "COMMENT ON FUNCTION is passed over"),
        ("GRANT EXECUTE ON FUNCTION n(int) TO PUBLIC", "GRANT is passed over"),
        ("GRANT USAGE ON LANGUAGE plpythonu TO GROUP g", "GRANT is passed over"),
        ("ALTER FUNCTION n(int) OWNER TO me", "ALTER FUNCTION is passed over"),
        ("CREATE EXTENSION IF NOT EXISTS plpython3u", "CREATE EXTENSION is passed over"),
    ] {
        run(&session, sql).await;
        let notices = session.take_notices();
        assert!(notices.len() == 1 && notices[0].contains(notice), "{sql}: {notices:?}");
    }
    for body in ["return len('a/b') # c / d", "return a / 2", "return float('3') / 2 + 1 / 2.0", "return 7 // 2"] {
        let sql = format!("CREATE OR REPLACE FUNCTION n(a float) RETURNS float LANGUAGE plpythonu AS $$ {body} $$");
        run(&session, &sql).await;
        assert!(session.take_notices().is_empty(), "{body}");
    }
    run(&session, "CREATE OR REPLACE FUNCTION n(a int) RETURNS int LANGUAGE python AS 'lambda a: a + 1'").await;
    assert!(session.take_notices().is_empty());
    assert_eq!(rows(&session, "SELECT n(1) AS m").await, "2");
    assert!(fails(&session, "SELECT * FROM n(3)").await.ends_with("hint: SELECT n(3)"));
    assert!(fails(&session, "ALTER FUNCTION n(int) RENAME TO m").await.contains("CREATE OR REPLACE FUNCTION"));
    // Mistakes are no clauses of others.
    for (sql, part) in [
        (
            "CREATE FUNCTION g(a BIGNT) RETURNS int LANGUAGE python AS 'return 1'",
            "the type BIGNT is not supported; did you mean BIGINT?",
        ),
        (
            "CREATE FUNCTION g(a int) RETURNS int LANGUAGE python OPTIONS (handler 'F') AS $$\ndef f(a): return a\ndef h(a): return a\n$$",
            "the body has no function F, which is named as the handler; it has f, h",
        ),
        (
            "CREATE FUNCTION g(a int) RETURNS int LANGUAGE python AS $$\n    b = 1\n    if a:\n        b = 2\n  return b\n$$",
            "this line is indented less than the first one\n  |\n5 |",
        ),
        (
            "CREATE FUNCTION g(a int) RETURNS int LANGUAGE python AS $$\nimport no_such_module\ndef g(a): return no_such_module.f(a)\n$$",
            "a module of your own is found in the folders of PYTHONPATH",
        ),
        ("CREATE FUNCTION g(a int) RETURNS int LANGUAGE python COSTS 5 AS 'return a'", "COSTS is no clause"),
        (
            "CREATE FUNCTION g(int) RETURNS int LANGUAGE python AS 'return 1'",
            "a parameter is a name and a type; int stands alone",
        ),
        ("CREATE FUNCTION g(a int) RETURNS int LANGUAGE plperl AS 'return 1'", ""),
        (
            "CREATE FUNCTION g(a int) RETURNS int LANGUAGE python AS 'import json'",
            "neither returns at its top level nor defines a function",
        ),
        ("CREATE FUNCTION g(a int) RETURNS int LANGUAGE python AS ''", "the body"),
    ] {
        let error = fails(&session, sql).await;
        assert!(error.contains(part), "{sql}: {error}");
    }
}

/// Keys of other types than texts, dicts in an order of their own, and maps within structs and arrays.
#[tokio::test(flavor = "multi_thread")]
async fn maps_are_dicts_on_each_rung() {
    let script = "CREATE OR REPLACE FUNCTION ordered(t TEXT) RETURNS MAP<TEXT, BIGINT> LANGUAGE python AS $$
from collections import OrderedDict
def ordered(t):
    d = OrderedDict((w, i) for i, w in enumerate(t.split()))
    d.move_to_end('mv')
    return d
$$;
CREATE OR REPLACE FUNCTION swapped(t TEXT) RETURNS MAP<BIGINT, TEXT> LANGUAGE python AS $$
return {i: w for i, w in enumerate(t.split())}
$$;
CREATE OR REPLACE FUNCTION days(m MAP<BIGINT, TEXT>) RETURNS MAP<DATE, BIGINT> LANGUAGE python AS $$
from datetime import date, timedelta
return {date(2024, 2, 28) + timedelta(days=k): len(v) for k, v in m.items()}
$$;
CREATE OR REPLACE FUNCTION within(t TEXT) RETURNS STRUCT<m MAP<TEXT, BIGINT>, all MAP<TEXT, TEXT>[]> LANGUAGE python AS $$
return {'m': {t: 1}, 'all': [{w: w.upper()} for w in t.split()]}
$$;
CREATE OR REPLACE FUNCTION none_key(t TEXT) RETURNS MAP<TEXT, BIGINT> LANGUAGE python AS $$
return {None if t == 'mv é' else t: 1}
$$";
    let session = session();
    run(&session, "CREATE TABLE words AS SELECT * FROM (VALUES ('mv a b'), ('mv é')) AS v(t)").await;
    let query = "SELECT ordered(t), swapped(t), days(swapped(t)), within(t) FROM words ORDER BY t";
    for setting in ["SET exuvia.lift = on", "SET exuvia.native = 'off'", "SET exuvia.lift = off"] {
        run(&session, setting).await;
        run(&session, script).await;
        assert_eq!(
            rows(&session, query).await,
            "{a: 1, b: 2, mv: 0} | {0: mv, 1: a, 2: b} | {2024-02-28: 2, 2024-02-29: 1, 2024-03-01: 1} | \
             {m: {mv a b: 1}, all: [{mv: MV}, {a: A}, {b: B}]}\n\
             {é: 1, mv: 0} | {0: mv, 1: é} | {2024-02-28: 2, 2024-02-29: 1} | {m: {mv é: 1}, all: [{mv: MV}, {é: É}]}",
            "{setting}"
        );
        let said = fails(&session, "SELECT none_key(t) FROM words").await;
        assert!(said.contains("it has a key None of type NoneType"), "{setting}: {said}");
    }
}

/// CPython says what it does not find.
#[cfg(feature = "python")]
#[tokio::test(flavor = "multi_thread")]
async fn modules_that_are_nowhere() {
    check(&[
        (
            "CREATE FUNCTION old(a text) RETURNS text AS $$\nfrom urlparse import urlparse\ndef old(a):\n    return urlparse(a).netloc\n$$ LANGUAGE plpythonu",
            Refused("urlparse is a module of Python 2; in Python 3 it is urllib.parse"),
        ),
        (
            "CREATE FUNCTION w(x INT) RETURNS INT LANGUAGE PYTHON RUNTIME_VERSION = '3.11' HANDLER = 'w' AS 'import _snowflake\ndef w(x): return x'",
            Refused("Snowflake's own module, which there is not here"),
        ),
    ])
    .await;
}
