-- Aggregates: a class with and without merge, a function of Series, a function of lists with ORDER BY.

CREATE TABLE sales (shop TEXT, day DATE, price DOUBLE, units BIGINT, clerk TEXT) AS VALUES
  ('Ö', '2024-01-01', 10.0, 1, 'Ann'), ('Ö', '2024-01-02', 12.5, NULL, 'Bö'), ('Ö', '2024-01-03', NULL, 4, NULL),
  ('Ö', '2024-01-04', 11.0, 2, 'Ann'), ('p', '2024-01-01', 1.0, 7, ''), ('p', '2024-01-05', 1.5, 7, 'Zoë'),
  ('p', '2024-01-03', 4.0, -2, 'Zoë'), (NULL, '2024-01-01', 1000.0, 3, 'Cé'), ('q', NULL, NULL, NULL, NULL), ('p', '2024-01-03', 4.0, 6, 'Ann');

CREATE FUNCTION geo_mean(x DOUBLE) RETURNS DOUBLE STRICT LANGUAGE python AS $$
import math

class geo_mean:
    def __init__(self):
        self.logs = []

    def accumulate(self, x):
        if x > 0:
            self.logs.append(math.log(x))

    def merge(self, other):
        self.logs.extend(other.logs)

    def finish(self):
        return math.exp(math.fsum(self.logs) / len(self.logs)) if self.logs else None
$$;

CREATE FUNCTION longest_run(v TEXT) RETURNS BIGINT LANGUAGE python AS $$
class longest_run:
    def __init__(self):
        self.last = object()
        self.run = self.best = 0

    def accumulate(self, v):
        self.run = self.run + 1 if v == self.last else 1
        self.last = v
        self.best = max(self.best, self.run)

    def finish(self):
        return self.best
$$;

CREATE FUNCTION wavg(x DOUBLE, w BIGINT) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd

def wavg(x: pd.Series, w: pd.Series) -> float:
    ok = x.notna() & w.notna() & (w > 0)
    return (x[ok] * w[ok]).sum() / w[ok].sum() if ok.any() else None
$$;

CREATE FUNCTION path(v TEXT, sep TEXT) RETURNS TEXT LANGUAGE python OPTIONS (kind 'aggregate') AS $$
def path(v, sep):
    return sep[0].join(x if x is not None else '∅' for x in v) if v else None
$$;

-- query: geo_mean_shops
SELECT shop, geo_mean(price) AS g FROM sales GROUP BY shop ORDER BY shop;

-- query: geo_mean_filter
SELECT shop, geo_mean(price) FILTER (WHERE price < 1000) AS g, geo_mean(DISTINCT price) AS d FROM sales GROUP BY shop;

-- query: geo_mean_window
SELECT day, price, geo_mean(price) OVER (ORDER BY day, price ROWS 1 PRECEDING) AS g FROM sales WHERE shop = 'p';

-- query: geo_mean_having
SELECT shop FROM sales GROUP BY shop HAVING geo_mean(price) > 5;

-- query: longest_run_ordered
SELECT longest_run(clerk ORDER BY day, clerk) AS n FROM sales WHERE day IS NOT NULL;

-- query: longest_run_shops
SELECT shop, longest_run(clerk ORDER BY day, clerk) AS n FROM sales GROUP BY shop;

-- query: wavg_shops
SELECT shop, wavg(price, units) AS w FROM sales GROUP BY shop;

-- query: wavg_empty
SELECT wavg(price, units) AS w FROM sales WHERE false;

-- query: wavg_expression
SELECT wavg(price * 2, units) / 2 AS w, count(*) AS n FROM sales;

-- query: path_shops
SELECT shop, path(clerk, '>' ORDER BY day DESC, clerk) AS p FROM sales WHERE day IS NOT NULL GROUP BY shop ORDER BY shop;

-- query: path_distinct
SELECT path(DISTINCT clerk, '|' ORDER BY clerk) AS p FROM sales WHERE clerk IS NOT NULL;
