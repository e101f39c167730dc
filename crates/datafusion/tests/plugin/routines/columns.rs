//! Whole columns.

use super::{explained, with_tables};
use crate::common::{fails, rows, run, session};
use expect_test::expect;

const CENTRED: &str = "CREATE FUNCTION centred(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd

def centred(x: pd.Series) -> pd.Series:
    return x - x.sum()
$$;
CREATE FUNCTION position_of(id BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import numpy as np

def position_of(id: np.ndarray):
    return np.arange(len(id))
$$;
CREATE TABLE n AS SELECT value AS id, value % 3 AS g FROM generate_series(1, 9)";

#[tokio::test(flavor = "multi_thread")]
async fn the_column_is_that_of_the_relation_below() {
    let session = with_tables().await;
    run(&session, CENTRED).await;
    for (query, expected) in [
        ("SELECT centred(id) FROM t", "-10.0\n-11.0\n-12.0\n-13.0\n-14.0"),
        ("SELECT centred(id) FROM t WHERE id < 3", "-1.0\n-2.0"),
        ("SELECT id FROM t WHERE centred(id) > -12", "4\n5"),
        ("SELECT id FROM t ORDER BY centred(-id) LIMIT 1", "5"),
        ("SELECT sum(centred(id)) FROM t", "-60.0"),
        (
            "SELECT centred(id) AS c, count(*) FROM t GROUP BY centred(id) HAVING centred(id) > -11.5",
            "-10.0 | 1\n-11.0 | 1",
        ),
        ("SELECT centred(centred(id)) FROM t WHERE id < 3", "1.0\n2.0"),
        ("SELECT centred(id) + centred(id) FROM t WHERE id < 3", "-2.0\n-4.0"),
        ("SELECT centred(max(id)) FROM t GROUP BY g", "-10.0\n-11.0\n-12.0\n-9.0"),
        ("SELECT * FROM (SELECT centred(id) AS c FROM t) WHERE c > -12", "-10.0\n-11.0"),
        ("SELECT a.id FROM (SELECT id, centred(id) AS c FROM t) AS a JOIN t ON a.id = t.id WHERE c > -11", "5"),
    ] {
        assert_eq!(rows(&session, query).await, expected, "{query}");
    }
    expect![
        "centred(t.id): native: a column function, whole column; may depend on the order of rows, which is not given"
    ]
    .assert_eq(&explained(&session, "SELECT centred(id) FROM t").await);
    let dumped = session.dump("optimized", "centred").unwrap();
    assert!(dumped.contains("(v0: list[float])") && dumped.contains("ufunc.sum_present v0"), "{dumped}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_over_there_is_a_call_for_each_partition() {
    for (partitions, size) in [(1, 8192), (2, 1), (8, 7)] {
        let session = with_tables().await;
        run(&session, CENTRED).await;
        run(
            &session,
            &format!("SET datafusion.execution.target_partitions = {partitions}; SET datafusion.execution.batch_size = {size}"),
        )
        .await;
        for (query, expected) in [
            (
                "SELECT id, position_of(id) OVER (PARTITION BY g ORDER BY id DESC) FROM n",
                "1 | 2\n2 | 2\n3 | 2\n4 | 1\n5 | 1\n6 | 1\n7 | 0\n8 | 0\n9 | 0",
            ),
            ("SELECT id, position_of(id) OVER (ORDER BY id DESC) FROM n WHERE id < 4", "1 | 2\n2 | 1\n3 | 0"),
            (
                "SELECT id, centred(id) OVER w, row_number() OVER w FROM n WHERE g = 1 WINDOW w AS (PARTITION BY g ORDER BY id)",
                "1 | -11.0 | 1\n4 | -8.0 | 2\n7 | -5.0 | 3",
            ),
            ("SELECT sum(centred(id)) FROM n", "-360.0"),
            ("SELECT count(*), max(p) FROM (SELECT position_of(id) OVER (PARTITION BY g) AS p FROM n)", "9 | 2"),
        ] {
            assert_eq!(rows(&session, query).await, expected, "{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_say_what_they_take() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION dtypes(a BIGINT, b DOUBLE, c TEXT, d DATE, e BOOLEAN) RETURNS TEXT LANGUAGE python AS $$
import numpy as np, pandas as pd, pyarrow as pa
def dtypes(a: np.ndarray, b: 'pd.Series', c: pa.Array, d: np.ndarray, e: pd.Series):
    b = b.mean() + len(c)
    return np.array([f'{a.dtype} {b} {c.type} {d.dtype} {e.dtype}'] * len(a))
$$;
CREATE FUNCTION scaled(x DOUBLE, k DOUBLE, lift BIGINT DEFAULT 1) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd
def scaled(x: pd.Series, k, lift):
    return x * k + lift
$$;
CREATE FUNCTION ints(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import numpy as np
def ints(x: np.ndarray):
    x += 1
    return x
$$;
CREATE FUNCTION floats(x BIGINT) RETURNS DOUBLE LANGUAGE python AS $$
import numpy as np
import numpy.typing as npt
def floats(x: npt.NDArray[np.float64]):
    return x
$$;
CREATE FUNCTION both(x DOUBLE) RETURNS STRUCT<low DOUBLE, high DOUBLE> LANGUAGE python AS $$
import pandas as pd
def both(x: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({'low': x - 1, 'high': x + 1})
$$",
    )
    .await;
    assert_eq!(
        rows(&session, "SELECT dtypes(id, x, g, DATE '2024-02-29', true) FROM t WHERE id = 1").await,
        "int64 2.5 large_string datetime64[D] bool"
    );
    assert_eq!(rows(&session, "SELECT scaled(id, 2) FROM t").await, "11.0\n3.0\n5.0\n7.0\n9.0");
    assert_eq!(rows(&session, "SELECT scaled(id, 2, 0) FROM t WHERE id < 2").await, "2.0");
    assert!(fails(&session, "SELECT scaled(id, id) FROM t").await.starts_with(
        "the parameter k takes one value, and the rows have several; annotate it as pd.Series to take them all"
    ));
    assert_eq!(rows(&session, "SELECT ints(id) FROM t").await, "2\n3\n4\n5\n6");
    // What it changes is its own.
    assert_eq!(rows(&session, "SELECT id + ints(id) FROM t").await, "11\n3\n5\n7\n9");
    assert_eq!(
        fails(&session, "SELECT ints(nullif(id, 3)) FROM t").await,
        "NullItem: item 2 is NULL, which an array of int64 cannot hold; declare DOUBLE, or take a list or a Series\n  in function ints"
    );
    assert_eq!(rows(&session, "SELECT floats(nullif(id, 3)) FROM t").await, "1.0\n2.0\n4.0\n5.0\nNaN");
    assert_eq!(rows(&session, "SELECT both(x)['high'] FROM t WHERE id = 3").await, "5.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn results_have_their_length_and_type() {
    let session = with_tables().await;
    for (body, returns, expected) in [
        ("x.isna()", "BOOLEAN", Ok("false\nfalse\nfalse\nfalse\ntrue")),
        ("x.fillna(7).astype(int)", "BIGINT", Ok("0\n1\n2\n4\n7")),
        ("x.round()", "BIGINT", Ok("0\n2\n2\n4\nNULL")),
        ("[str(v) for v in x]", "TEXT", Ok("-0.0\n1.5\n2.0\n4.0\nnan")),
        ("x.to_numpy()", "DOUBLE", Ok("-0.0\n1.5\n2.0\n4.0\nNaN")),
        ("x.sort_values().cumsum()", "DOUBLE", Ok("-0.0\n1.5\n3.5\n7.5\nNULL")),
        ("x[::-1]", "DOUBLE", Ok("-0.0\n1.5\n2.0\n4.0\nNULL")),
        ("x", "BIGINT", Err("returned 1.5 of type float, which BIGINT cannot hold")),
        ("x > 1", "BIGINT", Err("returned True of type bool, which BIGINT cannot hold")),
        ("x.dropna()", "DOUBLE", Err("it returned 4 values for 5 rows")),
        (
            "x.sum()",
            "DOUBLE",
            Err(
                "it returned np.float64(7.5) of type float64, and a column function returns a value for each row; for one value a group, annotate the result, as in `-> float`",
            ),
        ),
        (
            "None",
            "DOUBLE",
            Err(
                "it returned None of type NoneType, and a column function returns a value for each row; for one value a group, annotate the result, as in `-> float`",
            ),
        ),
    ] {
        run(
            &session,
            &format!(
                "CREATE OR REPLACE FUNCTION f(x DOUBLE) RETURNS {returns} LANGUAGE python AS $$
import pandas as pd
def f(x: pd.Series):
    return {body}
$$"
            ),
        )
        .await;
        match expected {
            Ok(expected) => assert_eq!(rows(&session, "SELECT f(x) FROM t").await, expected, "{body}"),
            Err(message) => {
                let said = fails(&session, "SELECT f(x) FROM t").await;
                let (said, _) = said
                    .split_once("\n  hint: ")
                    .unwrap_or((said.strip_suffix("\n  in function f").unwrap_or(&said), ""));
                assert_eq!(said, message, "{body}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_come_one_by_one_where_that_is_asked_for() {
    let session = with_tables().await;
    run(
        &session,
        "SET datafusion.execution.batch_size = 4; SET datafusion.execution.target_partitions = 1;
         CREATE TABLE m AS SELECT value AS id FROM generate_series(1, 10);
         CREATE FUNCTION sizes(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (scope 'batch') AS $$
import pandas as pd
def sizes(x: pd.Series):
    return x * 0 + len(x)
$$;
CREATE FUNCTION running(x BIGINT, y BIGINT) RETURNS BIGINT LANGUAGE python AS $$
from typing import Iterator, Tuple
import pandas as pd
def running(batches: Iterator[Tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
    seen = 0
    for x, y in batches:
        seen += 1
        yield x + y * 0 + 100 * seen
$$;
CREATE FUNCTION uneven(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
from typing import Iterator
import pandas as pd
def uneven(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    all_of_them = pd.concat(list(batches))
    yield all_of_them[:3]
    yield all_of_them[3:]
$$;
CREATE FUNCTION fewer(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
from typing import Iterator
import pandas as pd
def fewer(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for x in batches:
        yield x[1:]
$$",
    )
    .await;
    assert_eq!(rows(&session, "SELECT sizes(id), count(*) FROM m GROUP BY 1").await, "2 | 2\n4 | 8");
    assert_eq!(
        rows(&session, "SELECT running(id, id) FROM m").await,
        "101\n102\n103\n104\n205\n206\n207\n208\n309\n310"
    );
    assert_eq!(rows(&session, "SELECT id, uneven(id) FROM m WHERE id > 8").await, "10 | 10\n9 | 9");
    assert_eq!(fails(&session, "SELECT fewer(id) FROM m").await, "fewer has ended without values for 3 rows");
    assert_eq!(
        explained(&session, "SELECT sizes(id) FROM m").await,
        "sizes(m.id): native: a column function, one call a batch"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_explained() {
    let session = with_tables().await;
    run(&session, CENTRED).await;
    for (query, message) in [
        ("SELECT centred() FROM t", "centred takes 1 argument, but 0 were given"),
        ("SELECT centred(g) FROM t", "centred: argument 1 (x) is TEXT, but DOUBLE is needed"),
        (
            "SELECT centred(DISTINCT id) FROM t",
            "centred is a column function, which takes no DISTINCT, ORDER BY or FILTER",
        ),
        (
            "SELECT a.id FROM t AS a JOIN t AS b ON centred(a.id) = b.id",
            "centred takes whole columns and cannot be called here",
        ),
        ("SELECT * FROM centred(3)", "centred is a column function, and gives no table; call it in SELECT"),
    ] {
        let said = fails(&session, query).await;
        assert!(said.contains(message), "{query}: {said}");
    }
}

const CAPPED: &str =
    "CREATE OR REPLACE FUNCTION capped(x DOUBLE, most DOUBLE DEFAULT 3) RETURNS DOUBLE LANGUAGE python AS $$
import numpy as np

def capped(x: np.ndarray, most: np.ndarray) -> np.ndarray:
    return np.where(x > most, most, x * 2)
$$;
CREATE OR REPLACE FUNCTION halved(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import numpy as np

def halved(x: np.ndarray) -> np.ndarray:
    return x // 2
$$";

#[tokio::test(flavor = "multi_thread")]
async fn an_elementwise_function_is_a_row_function() {
    let session = with_tables().await;
    run(&session, CAPPED).await;
    for query in [
        "SELECT capped(id) FROM t",
        "SELECT capped(id, 3) FROM t WHERE id > 1",
        "SELECT capped(id) OVER (PARTITION BY g ORDER BY id) FROM t",
        "SELECT sum(capped(id)) FROM t GROUP BY halved(id) ORDER BY capped(max(id))",
        "SELECT id FROM t WHERE capped(id) = (SELECT max(capped(x)) FROM t)",
    ] {
        let native = rows(&session, query).await;
        let explained = explained(&session, query).await;
        assert!(explained.contains("): native") && !explained.contains("python"), "{query}: {explained}");
        run(&session, "SET exuvia.lift = off").await;
        assert_eq!(rows(&session, query).await, native, "{query}");
        run(&session, "SET exuvia.lift = on").await;
    }
    // Where no whole column is.
    let join = "SELECT count(*) FROM t AS a JOIN t AS b ON capped(a.id) = capped(b.id)";
    assert_eq!(rows(&session, join).await, "7");
    assert_eq!(rows(&session, "SELECT capped(id) FROM t").await, "2.0\n3.0\n3.0\n4.0\n6.0");
    assert_eq!(
        rows(&session, "SELECT name, kind, placement, reason FROM exuvia.functions ORDER BY 1").await,
        "capped | column | native | NULL\nhalved | column | native | NULL"
    );
    // One row that is NULL is an error of all, whose number is said.
    assert_eq!(
        fails(&session, "SELECT halved(nullif(id, 3)) FROM t").await,
        "NullItem: item 2 is NULL, which an array of int64 cannot hold; declare DOUBLE, or take a list or a Series\n  in function halved"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn views_follow_elementwise_functions_while_they_are_that() {
    let session = with_tables().await;
    run(&session, CAPPED).await;
    run(&session, "CREATE VIEW v AS SELECT max(c) AS a FROM (SELECT capped(id) OVER (PARTITION BY g) AS c FROM t)")
        .await;
    assert_eq!(rows(&session, "SELECT a FROM v").await, "6.0");
    run(&session, &CAPPED.replace("x * 2", "x * 4")).await;
    assert_eq!(rows(&session, "SELECT a FROM v").await, "12.0");
    run(&session, &CAPPED.replace("x * 2", "x.max()")).await;
    let error = fails(&session, "SELECT a FROM v").await;
    assert!(
        error.starts_with("a view calls capped(x DOUBLE, most DOUBLE DEFAULT 3) RETURNS DOUBLE, which was"),
        "{error}"
    );
    run(&session, "DROP FUNCTION capped").await;
    let error = fails(&session, "SELECT a FROM v").await;
    assert!(error.contains("there is no function capped any more"), "{error}");
}

/// Functions over whole columns whose loops are divided among threads give what one thread gives: loops one after
/// the other, within each other, over lists that were made before, with conditions and texts beside them.
#[tokio::test(flavor = "multi_thread")]
async fn divided_loops_give_the_same() {
    let session = session();
    run(
        &session,
        "CREATE TABLE t AS SELECT CASE WHEN n % 97 = 0 THEN NULL ELSE (n * 7919 % 100003) / 7.0 END AS a,
                CAST(n % 100003 AS BIGINT) AS k FROM (SELECT unnest(range(0, 140001)) AS n) AS r",
    )
    .await;
    let head = "import numpy as np\nimport math\nimport pandas as pd\n";
    let functions = [
        ("a: pd.Series, k: pd.Series", "return (a - a.mean()) / a.std() + k"),
        (
            "a: np.ndarray, k: np.ndarray",
            "known = a[~np.isnan(a)]\n    return np.where(np.isnan(a), known.min(), a) / k.max()",
        ),
        ("a: np.ndarray, k: np.ndarray", "e = np.exp(k / 1000.0 - k.max() / 1000.0)\n    return np.tanh(e / e.sum())"),
        (
            "a: np.ndarray, k: np.ndarray",
            "n = len(k)
    x = [float(k[i]) * 2.0 for i in range(n)]
    s = 0
    for j in range(len(k)):
        t = str(j) + 'abc' + str(j * 7)
        s += len(t)
    return np.array([v + s for v in x])",
        ),
        (
            "a: np.ndarray, k: np.ndarray",
            "n = len(k)
    x = []
    y = []
    for i in range(n): x.append(float(k[i]) * 2.0)
    for i in range(n): y.append(x[i] + k[i])
    return np.array(y)",
        ),
        (
            "a: np.ndarray, k: np.ndarray",
            "x = [float(k[i]) * 2.0 for i in range(len(k))]
    s = 0
    for j in range(len(k)): s += int(k[j])
    return np.array(x) - s",
        ),
        (
            "a: np.ndarray, k: np.ndarray",
            "s = [float(v) for v in k]
    for r in range(3): s = [s[i] * 0.5 + float(k[i]) * r for i in range(len(k))]
    return np.array(s)",
        ),
        (
            "a: np.ndarray, k: np.ndarray",
            "m = k.mean() > 3.0
    out = []
    for i in range(len(k)):
        if m:
            out.append(math.sqrt(float(k[i])) * 2.0)
        else:
            out.append(float(k[i]) // 3.0)
    return np.array(out)",
        ),
        (
            "a: np.ndarray, k: np.ndarray",
            "x = []
    h = len(k) // 2
    for i in range(h): x.append(float(k[i]))
    for i in range(len(k) - h): x.append(float(k[i]) / 2.0)
    return np.array(x)",
        ),
    ];
    let mut calls = vec![];
    for (at, (params, body)) in functions.iter().enumerate() {
        let source = format!("{head}def f{at}({params}):\n    {body}\n");
        let create =
            format!("CREATE FUNCTION f{at}(a DOUBLE, k BIGINT) RETURNS DOUBLE LANGUAGE python AS $${source}$$");
        run(&session, &create).await;
        calls.push(format!("f{at}(a, k) OVER (ORDER BY k, a) AS r{at}"));
    }
    let placed = "SELECT name, placement, reason FROM exuvia.functions WHERE placement <> 'native'";
    assert_eq!(rows(&session, placed).await, "");
    for partitions in [1, 2, 4] {
        run(&session, &format!("SET datafusion.execution.target_partitions = {partitions}")).await;
        let calls = calls.join(", ");
        let create = format!("CREATE TABLE p{partitions} AS SELECT k, {calls} FROM t");
        run(&session, &create).await;
    }
    for partitions in [2, 4] {
        let other = format!("SELECT count(*) FROM (SELECT * FROM p1 EXCEPT ALL SELECT * FROM p{partitions})");
        assert_eq!(rows(&session, &other).await, "0", "{partitions}");
    }
    let sums = "SELECT count(r0), sum(r3), sum(r4), sum(r6), sum(r8) FROM p2";
    assert!(rows(&session, sums).await.starts_with("138557 | "), "{}", rows(&session, sums).await);
}
