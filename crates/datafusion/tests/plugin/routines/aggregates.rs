//! The values of groups.

use super::{explained, with_tables};
use crate::common::{fails, rows, run};
use expect_test::expect;
use exuvia::ExuviaSession;

const AGGREGATES: &str = "CREATE FUNCTION joined(s TEXT) RETURNS TEXT LANGUAGE python OPTIONS (kind 'aggregate') AS $$
def joined(s):
    return ' '.join('NULL' if v is None else v for v in s)
$$;
CREATE FUNCTION spread(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import numpy as np
def spread(x: np.ndarray) -> float:
    return np.nanmax(x) - np.nanmin(x) if len(x) else None
$$;
CREATE FUNCTION total(x BIGINT) RETURNS BIGINT STRICT LANGUAGE python AS $$
class total:
    def __init__(self):
        self.sum = None
    def accumulate(self, x):
        self.sum = x if self.sum is None else self.sum + x
    def merge(self, other):
        if other.sum is not None:
            self.accumulate(other.sum)
    def finish(self):
        return self.sum
$$;
CREATE FUNCTION emptied(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
class emptied:
    def __init__(self):
        self.values = []
    def accumulate(self, x):
        self.values.append(x)
    def finish(self):
        found = 0
        while self.values:
            found += self.values.pop()
        return found
$$;
CREATE FUNCTION last_of(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
class last_of:
    value = None
    def accumulate(self, x):
        self.value = x
    def finish(self):
        return self.value
$$;
CREATE FUNCTION slope(y DOUBLE, x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd
def slope(y: pd.Series, x: pd.Series) -> float:
    return float(y.cov(x) / x.var())
$$;
CREATE TABLE n AS SELECT value AS id, value % 3 AS g, nullif(value, 4) AS v FROM generate_series(1, 9)";

async fn sessions() -> Vec<ExuviaSession> {
    let mut sessions = vec![];
    for (partitions, size) in [(1, 8192), (2, 1), (8, 3)] {
        let session = with_tables().await;
        run(&session, AGGREGATES).await;
        run(
            &session,
            &format!("SET datafusion.execution.target_partitions = {partitions}; SET datafusion.execution.batch_size = {size}"),
        )
        .await;
        sessions.push(session);
    }
    sessions
}

#[tokio::test(flavor = "multi_thread")]
async fn they_do_what_aggregates_do() {
    for session in sessions().await {
        for (query, expected) in [
            ("SELECT g, total(v) FROM n GROUP BY g", "0 | 18\n1 | 8\n2 | 15"),
            ("SELECT total(v), count(*) FROM n", "41 | 9"),
            ("SELECT total(v) FROM n WHERE id > 99", "NULL"),
            ("SELECT g, total(v) FROM n WHERE id > 99 GROUP BY g", ""),
            (
                "SELECT g, total(v) FILTER (WHERE id > 3), total(v) FILTER (WHERE id > 99) FROM n GROUP BY g",
                "0 | 15 | NULL\n1 | 7 | NULL\n2 | 13 | NULL",
            ),
            ("SELECT total(DISTINCT g) FROM n", "3"),
            ("SELECT g, joined(v::TEXT ORDER BY id DESC) FROM n GROUP BY g", "0 | 9 6 3\n1 | 7 NULL 1\n2 | 8 5 2"),
            ("SELECT joined(DISTINCT g::TEXT ORDER BY g::TEXT) FROM n", "0 1 2"),
            (
                "SELECT g, last_of(v ORDER BY id), last_of(v ORDER BY id DESC) FROM n GROUP BY g",
                "0 | 9 | 3\n1 | 7 | 1\n2 | 8 | 2",
            ),
            ("SELECT g, spread(v) FROM n GROUP BY g HAVING spread(v) < 6.5", "0 | 6.0\n1 | 6.0\n2 | 6.0"),
            ("SELECT g, total(v) FROM n GROUP BY ROLLUP (g)", "0 | 18\n1 | 8\n2 | 15\nNULL | 41"),
            ("SELECT slope(2 * id + 1, id) FROM n", "2.0"),
            ("SELECT total(t) FROM (SELECT total(v) AS t FROM n GROUP BY g)", "41"),
            ("SELECT (SELECT total(v) FROM n) - 1", "40"),
        ] {
            assert_eq!(rows(&session, query).await, expected, "{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_window_functions_too() {
    for session in sessions().await {
        for (query, expected) in [
            ("SELECT id, total(id) OVER (ORDER BY id) FROM n WHERE id < 5", "1 | 1\n2 | 3\n3 | 6\n4 | 10"),
            ("SELECT id, total(id) OVER (PARTITION BY g ORDER BY id) FROM n WHERE g = 1", "1 | 1\n4 | 5\n7 | 12"),
            (
                "SELECT id, total(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM n WHERE id < 5",
                "1 | 1\n2 | 3\n3 | 5\n4 | 7",
            ),
            (
                "SELECT id, total(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM n WHERE id < 6",
                "1 | 3\n2 | 6\n3 | 5\n4 | 8\n5 | 5",
            ),
            (
                "SELECT id, joined(id::TEXT) OVER (ORDER BY id ROWS 2 PRECEDING) FROM n WHERE id < 5",
                "1 | 1\n2 | 1 2\n3 | 1 2 3\n4 | 2 3 4",
            ),
            ("SELECT id, total(id) OVER () FROM n WHERE id < 3", "1 | 3\n2 | 3"),
            // So many results that the state goes on in Python.
            (
                "SELECT count(*), sum(CASE WHEN a = b THEN 0 ELSE 1 END) FROM
                   (SELECT emptied(v) OVER (ORDER BY v) AS a, sum(v) OVER (ORDER BY v) AS b
                    FROM (SELECT value AS v FROM generate_series(1, 60)))",
                "60 | 0",
            ),
        ] {
            assert_eq!(rows(&session, query).await, expected, "{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_groups_and_large_ones_come_out_right() {
    for session in sessions().await {
        run(&session, "SET datafusion.execution.batch_size = 8192; CREATE TABLE m AS SELECT value AS id FROM generate_series(1, 150000)").await;
        let sums = "SELECT count(*), sum(s), max(s) FROM (SELECT id % 20000 AS g, total(id) AS s FROM m GROUP BY 1)";
        assert_eq!(rows(&session, sums).await, "20000 | 11250075000 | 640000");
        assert_eq!(rows(&session, "SELECT total(id) FROM m").await, "11250075000");
        assert_eq!(rows(&session, "SELECT spread(id) FROM m").await, "149999.0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn states_that_snowflake_would_take_travel() {
    let session = with_tables().await;
    run(
        &session,
        "SET datafusion.execution.target_partitions = 4; SET datafusion.execution.batch_size = 10;
         CREATE FUNCTION seen(x BIGINT) RETURNS BIGINT LANGUAGE python OPTIONS (handler 'Seen') AS $$
class Item:
    def __init__(self, x):
        self.x = x

class Seen:
    def __init__(self):
        self._items = {}
    @property
    def aggregate_state(self):
        return [Item(x) for x in self._items]
    def accumulate(self, x):
        self._items[x] = True
    def merge(self, other):
        self._items.update((item.x, True) for item in other)
    def finish(self):
        return len(self._items)
$$;
         CREATE TABLE m AS SELECT value % 70 AS x, value % 3 AS g FROM generate_series(1, 1000)",
    )
    .await;
    assert_eq!(rows(&session, "SELECT g, seen(x) FROM m GROUP BY g").await, "0 | 70\n1 | 70\n2 | 70");
    assert_eq!(rows(&session, "SELECT seen(x) FROM m").await, "70");
    expect![
        "seen(m.x): python: an aggregate, whose states are merged; may depend on the order of rows, which is not given"
    ]
    .assert_eq(&explained(&session, "SELECT seen(x) FROM m").await);
}

/// As those of a row's function: by their value.
#[tokio::test(flavor = "multi_thread")]
async fn literals_take_the_types_of_parameters() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION since(d DATE, first DATE, step INT, rate DECIMAL(4, 2)) RETURNS TEXT LANGUAGE python
OPTIONS (kind 'aggregate') AS $$
def since(d, first, step, rate):
    days = [(day - first[0]).days // step[0] for day in d]
    return f'{sorted(days)} {rate[0]}'
$$;
         CREATE TABLE visits AS SELECT * FROM (VALUES (DATE '2024-01-05', 'a'), (DATE '2024-01-09', 'b')) AS t(d, g)",
    )
    .await;
    let call = "since(d, '2024-01-01', 2, 1.5)";
    assert_eq!(rows(&session, &format!("SELECT {call} FROM visits")).await, "[2, 4] 1.50");
    let by_group = format!("SELECT g, {call} FROM visits GROUP BY g HAVING {call} <> '' ORDER BY g");
    assert_eq!(rows(&session, &by_group).await, "a | [2] 1.50\nb | [4] 1.50");
    let windows = format!("SELECT {call} OVER (ORDER BY d) FROM visits ORDER BY 1");
    assert_eq!(rows(&session, &windows).await, "[2, 4] 1.50\n[2] 1.50");
    for (call, message) in [
        ("since(d, '2024-13-01', 2, 1.5)", "since: argument 2 (first): '2024-13-01' is no DATE"),
        ("since(d, '2024-01-01', 3000000000, 1.5)", "since: argument 3 (step): 3000000000 is outside INT"),
        ("since(d, '2024-01-01', 2, 1.555)", "since: argument 4 (rate): 1.555 is outside DECIMAL(4, 2)"),
        (
            "since(d, g, 2, 1.5)",
            "since: argument 2 (first) is TEXT, but DATE is needed\n  hint: CAST(visits.g AS DATE)",
        ),
    ] {
        for query in [format!("SELECT {call} FROM visits"), format!("SELECT {call} OVER (ORDER BY d) FROM visits")] {
            let said = fails(&session, &query).await;
            assert!(said.contains(message), "{query}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_explained() {
    let session = with_tables().await;
    run(&session, AGGREGATES).await;
    for (query, message) in [
        ("SELECT total(g) FROM t", "total: argument 1 (x) is TEXT, but BIGINT is needed"),
        ("SELECT slope(x) FROM t", "slope takes 2 arguments, but 1 was given"),
    ] {
        let said = fails(&session, query).await;
        assert!(said.contains(message), "{query}: {said}");
    }
    for (body, message) in [
        ("class f:\n    def accumulate(self, x): pass\n", "the class f has no method finish"),
        (
            "class f:\n    def accumulate(self): pass\n    def finish(self): pass\n",
            "f.accumulate takes 0 values, but the SQL function has 1",
        ),
        (
            "import pandas as pd\ndef f(x: pd.Series) -> float:\n    yield 1\n",
            "f is a generator; an aggregate returns one value",
        ),
    ] {
        let said =
            fails(&session, &format!("CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$\n{body}$$"))
                .await;
        assert!(said.contains(message), "{body}: {said}");
    }
    run(
        &session,
        "CREATE FUNCTION wrong(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
class wrong:
    def accumulate(self, x):
        if x == 3:
            raise ValueError('three')
    def finish(self):
        return 'text'
$$",
    )
    .await;
    assert_eq!(
        fails(&session, "SELECT wrong(id) FROM t").await,
        "ValueError: three\n  in function wrong, line 5\n  |\n5 |             raise ValueError('three')"
    );
    assert!(
        fails(&session, "SELECT wrong(id) FROM t WHERE id < 3")
            .await
            .starts_with("returned 'text' of type str, which BIGINT cannot hold")
    );
}
