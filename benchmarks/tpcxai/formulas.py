"""uc01 and uc10 without Python: the queries in SQL, their fitted models as formulas.

    python formulas.py MODELS     writes MODELS/formulas.json

For each use case the file has the numbers of its model, with which ../peers/by_hand.py makes
expressions of Polars, and the SQL of DuckDB and of DataFusion with the numbers written into it.
"""

import json
import sys
from pathlib import Path

import joblib


def uc01(model):
    """A linear scaler and the centers of clusters."""
    scaler = model["scaler"]
    return {
        "scale": scaler.scale_.tolist(),
        "offset": scaler.min_.tolist(),
        "centers": model["clusters"].cluster_centers_.tolist(),
    }


def uc10(model):
    """The weights of the hour and of the amount, and the intercept."""
    return {"weights": model.coef_[0].tolist(), "intercept": float(model.intercept_[0])}


def double(number):
    """A literal that both engines take for a DOUBLE, with every digit."""
    return f"({number:.17e})"


# pandas' merge finds NULL equal to NULL.
CUSTOMERS = """
WITH per_order AS (
  SELECT
    o_customer_sk,
    o_order_id,
    sum(coalesce(quantity, 0) * coalesce(price, 0)) AS bought,
    sum(coalesce(or_return_quantity, 0) * coalesce(price, 0)) AS returned,
    min(extract(year FROM date)) AS year
  FROM lineitem
  LEFT JOIN order_returns
    ON (li_order_id IS NOT DISTINCT FROM or_order_id) AND (li_product_id IS NOT DISTINCT FROM or_product_id)
  JOIN orders ON li_order_id = o_order_id
  WHERE o_customer_sk IS NOT NULL
  GROUP BY o_customer_sk, o_order_id
), customers AS (
  SELECT
    o_customer_sk,
    avg(CASE WHEN bought > 0 THEN returned / bought ELSE 0 END) AS return_ratio,
    coalesce(cast(count(year) AS DOUBLE) / nullif(count(DISTINCT year), 0), 0) AS frequency
  FROM per_order
  GROUP BY o_customer_sk
), distances AS (
  SELECT o_customer_sk, {distances}
  FROM (SELECT o_customer_sk, return_ratio * {scale[0]} + {offset[0]} AS x, frequency * {scale[1]} + {offset[1]} AS y
        FROM customers)
)
SELECT o_customer_sk, CASE least({names}) {cases} END AS c_cluster_id FROM distances
"""

TRANSACTIONS = """
SELECT "transactionID", cast({intercept} + {weights[0]} * business_hour + {weights[1]} * amount > 0 AS BIGINT) AS "isFraud"
FROM (
  SELECT
    "transactionID",
    coalesce(extract(hour FROM {time}) / 23.0, 0.5) AS business_hour,
    coalesce(amount / transaction_limit, 0.0) AS amount
  FROM transactions JOIN accounts ON "senderID" = fa_customer_sk
)
"""

# What each engine's cast can read; parsing by a format takes longer in both.
TIMES = {"duckdb": "cast(time AS TIMESTAMP)", "datafusion": "cast(time || ':00' AS TIMESTAMP)"}


def sql_of_uc01(engine, scale, offset, centers):
    """The cluster whose center is nearest."""
    names = [f"d{index}" for index in range(len(centers))]
    distances = [
        f"power(x - {double(x)}, 2) + power(y - {double(y)}, 2) AS {name}" for name, (x, y) in zip(names, centers)
    ]
    return CUSTOMERS.format(
        distances=", ".join(distances),
        scale=[double(number) for number in scale],
        offset=[double(number) for number in offset],
        names=", ".join(names),
        cases=" ".join(f"WHEN {name} THEN {index}" for index, name in enumerate(names)),
    )


def sql_of_uc10(engine, weights, intercept):
    """Whether the decision function is positive."""
    weights = [double(number) for number in weights]
    return TRANSACTIONS.format(weights=weights, intercept=double(intercept), time=TIMES[engine])


def main(models):
    formulas = {}
    for name, numbers_of, sql_of in (("uc01", uc01, sql_of_uc01), ("uc10", uc10, sql_of_uc10)):
        numbers = numbers_of(joblib.load(models / f"{name}.joblib"))
        formulas[name] = {"numbers": numbers, "sql": {engine: sql_of(engine, **numbers) for engine in TIMES}}
    (models / "formulas.json").write_text(json.dumps(formulas, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
