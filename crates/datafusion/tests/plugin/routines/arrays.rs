//! Lists of SQL as arrays in row functions.

use super::with_tables;
use crate::common::{fails, rows, run};

#[tokio::test(flavor = "multi_thread")]
async fn lists_become_what_the_annotation_says() {
    let session = with_tables().await;
    for (ty, annotation, value, expected) in [
        ("DOUBLE[]", "np.ndarray", "[1.5, NULL]", "float64 1 [1.5, nan] True"),
        ("REAL[]", "np.ndarray", "[1.5]", "float32 1 [1.5] True"),
        ("BIGINT[]", "np.ndarray", "[1, 2]", "int64 1 [1, 2] True"),
        ("INT[]", "np.ndarray", "[1, 2]", "int32 1 [1, 2] True"),
        ("BOOLEAN[]", "np.ndarray", "[true, false]", "bool 1 [True, False] True"),
        ("TEXT[]", "np.ndarray", "['é', NULL]", "object 1 ['é', None] True"),
        ("BIGINT[]", "npt.NDArray[np.float64]", "[1, NULL]", "float64 1 [1.0, nan] True"),
        ("DOUBLE[]", "'np.ndarray'", "[]", "float64 1 [] True"),
        ("DOUBLE[][]", "np.ndarray", "[[1, 2], [3, 4]]", "float64 2 [[1.0, 2.0], [3.0, 4.0]] True"),
        ("BIGINT[][]", "Optional[np.ndarray]", "[[1, 2]]", "int64 2 [[1, 2]] True"),
    ] {
        run(
            &session,
            &format!(
                "CREATE OR REPLACE FUNCTION f(a {ty}) RETURNS TEXT LANGUAGE python AS $$
from typing import Optional
import numpy as np
import numpy.typing as npt
def f(a: {annotation}):
    return f'{{a.dtype}} {{a.ndim}} {{a.tolist()}} {{a.flags.writeable}}'
$$"
            ),
        )
        .await;
        let query = format!("SELECT f(a) FROM (SELECT arrow_cast({value}, '{}') AS a)", arrow(ty));
        assert_eq!(rows(&session, &query).await, expected, "{ty} {annotation} {value}");
    }
}

/// Arrow's name of a list type.
fn arrow(ty: &str) -> String {
    match ty.strip_suffix("[]") {
        Some(inner) => format!("List({})", arrow(inner)),
        None => match ty {
            "DOUBLE" => "Float64",
            "REAL" => "Float32",
            "BIGINT" => "Int64",
            "INT" => "Int32",
            "BOOLEAN" => "Boolean",
            _ => "Utf8View",
        }
        .to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_do_not_see_each_other() {
    let session = with_tables().await;
    run(
        &session,
        "CREATE FUNCTION bumped(a BIGINT[]) RETURNS BIGINT[] LANGUAGE python AS $$
import numpy as np
def bumped(a: np.ndarray):
    if a is None:
        return None
    a += 1
    return a
$$;
CREATE FUNCTION outer(a DOUBLE[]) RETURNS DOUBLE[][] LANGUAGE python AS $$
import numpy as np
def outer(a: np.ndarray):
    return np.outer(a, a)
$$;
CREATE TABLE l AS SELECT * FROM (VALUES (1, [1, 2]), (2, NULL), (3, [])) AS v(id, a)",
    )
    .await;
    assert_eq!(
        rows(&session, "SELECT id, bumped(a), a FROM l").await,
        "1 | [2, 3] | [1, 2]\n2 | NULL | NULL\n3 | [] | []"
    );
    assert_eq!(rows(&session, "SELECT outer([1.0, 2.0])").await, "[[1.0, 2.0], [2.0, 4.0]]");
    assert_eq!(
        fails(&session, "SELECT bumped([1, NULL])").await,
        "argument a is [1, NULL], of which Python makes no object: item 1 is NULL, which an array of int64 cannot hold; declare DOUBLE, or take a list or a Series\n  in function bumped\n  called with a = [1, None]"
    );
    run(
        &session,
        "CREATE FUNCTION shape(a DOUBLE[][]) RETURNS TEXT LANGUAGE python AS $$
import numpy as np
def shape(a: np.ndarray):
    return str(a.shape)
$$",
    )
    .await;
    let ragged = fails(&session, "SELECT shape([[1.0], [1.0, 2.0]])").await;
    assert!(
        ragged.contains("setting an array element with a sequence. The requested array has an inhomogeneous shape"),
        "{ragged}"
    );
}
