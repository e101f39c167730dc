-- Forms of functions and of what they give that a person tries first.

CREATE TABLE demand (item TEXT, week DATE, units DOUBLE) AS VALUES
  ('a', '2024-01-01', 10), ('a', '2024-01-08', 12), ('a', '2024-01-15', NULL), ('a', '2024-01-22', 11.5),
  ('a', '2024-01-29', 15), ('b', '2024-01-01', 3), ('b', '2024-01-08', 3), ('b', '2024-01-22', 4.75),
  ('ß', '2024-01-01', NULL), ('ß', '2024-01-08', 1e-3);

CREATE TABLE clicks (person TEXT, at TIMESTAMP, page TEXT) AS VALUES
  ('ann', '2024-05-01 10:00:00', '/'),
  ('ann', '2024-05-01 10:10:00', '/cart'),
  ('ann', '2024-05-01 10:10:00', '/cart'),
  ('ann', '2024-05-01 11:00:00', '/'),
  ('bob', '2024-05-01 23:50:00', '/café'),
  ('bob', '2024-05-02 00:15:00', '/cart'),
  ('bob', '2024-05-02 00:44:59.999', '/pay'),
  ('bob', '2024-05-02 01:15:00', NULL),
  (NULL, '2024-05-01 10:05:00', '/'),
  (NULL, '2024-05-01 10:06:00', '/pay'),
  ('žofie', NULL, '/'),
  ('žofie', '2024-05-03 12:00:00', ''),
  ('žofie', '2024-05-03 12:20:00', '/cart'),
  ('', '2024-05-04 09:00:00', '/pay');

CREATE TABLE tickets (id BIGINT, tags TEXT, opened DATE, closed DATE, payload TEXT, body TEXT) AS VALUES
  (1, 'bug; ui ;;é', '2024-02-27', '2024-03-01', '[{"sku": "a", "qty": 2}, {"sku": "ß", "qty": null}]', 'Le café est FERMÉ. Le café!'),
  (2, '', '2024-01-01', NULL, '[]', ''),
  (3, NULL, NULL, NULL, NULL, NULL),
  (4, 'ui', '2024-05-05', '2024-05-05', '{"sku": "single", "qty": 1.0}', 'one'),
  (5, 'a;a', '2024-05-06', '2024-05-05', 'not json', 'naïve 東京 x2'),
  (6, ';', '2024-12-31', '2025-01-01', '[{"sku": "z", "qty": 7}]', '   ');

CREATE TABLE small (g TEXT, x DOUBLE, id BIGINT) AS VALUES
  ('a', 1.0, 1), ('a', NULL, 2), ('é', 3.0, 3), (NULL, 4.5, 4);

CREATE FUNCTION yielded_tuples(t TABLE, horizon BIGINT, alpha DOUBLE DEFAULT 0.8, beta DOUBLE DEFAULT 0.2)
  RETURNS TABLE (item TEXT, week DATE, forecast DOUBLE) LANGUAGE python AS $$
from datetime import timedelta

def yielded_tuples(t, horizon, alpha, beta):
    for item, one in t.sort_values('week').groupby('item'):
        values = one['units'].interpolate().dropna().tolist()
        if len(values) < 2:
            continue
        level, trend = values[0], values[1] - values[0]
        for value in values[1:]:
            before = level
            level = alpha * value + (1 - alpha) * (level + trend)
            trend = beta * (level - before) + (1 - beta) * trend
        last = one['week'].max()
        for step in range(1, horizon + 1):
            yield item, last + timedelta(weeks=step), level + step * trend
$$;

CREATE FUNCTION yielded_dicts(clicks TABLE, gap INTERVAL) RETURNS TABLE (person TEXT, steps TEXT[], first TIME)
  LANGUAGE python AS $$
import pandas as pd

def yielded_dicts(clicks, gap):
    clicks = clicks.sort_values(['person', 'at', 'page']).drop_duplicates()
    clicks = clicks[clicks['at'].notna()]
    clicks['person'] = clicks['person'].fillna('(unknown)')
    for person, mine in clicks.groupby('person'):
        number = (mine['at'].diff() > gap).cumsum()
        for _, part in mine.groupby(number):
            pages = [page if isinstance(page, str) else None for page in part['page']]
            yield {'person': person, 'steps': pages, 'first': part['at'].iloc[0].time()}
$$;

CREATE FUNCTION summary(t TABLE) RETURNS TABLE (n BIGINT, mean DOUBLE) LANGUAGE python AS $$
def summary(t):
    return {'n': len(t), 'mean': t['x'].mean()}
$$;

CREATE FUNCTION total(t TABLE) RETURNS TABLE (total BIGINT) LANGUAGE python AS $$
def total(t):
    return t['id'].sum() * 1.0
$$;

CREATE FUNCTION pairs(t TABLE) RETURNS TABLE (id BIGINT, x DOUBLE) LANGUAGE python AS $$
def pairs(t):
    return t[['id', 'x']].itertuples(index=False)
$$;

CREATE FUNCTION counted(x DOUBLE) RETURNS BIGINT LANGUAGE python AS $$
import pandas as pd

def counted(x: pd.Series) -> pd.Series:
    return pd.Series(len(x), index=x.index)
$$;

CREATE FUNCTION share(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd

def share(x: pd.Series) -> pd.Series:
    return x / x.sum()
$$;

CREATE FUNCTION quantile(x DOUBLE, p DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd

def quantile(x: pd.Series, p: float) -> float:
    return x.quantile(p)
$$;

CREATE FUNCTION quartiles(x DOUBLE) RETURNS DOUBLE[] LANGUAGE python AS $$
import pandas as pd

def quartiles(x: pd.Series) -> list:
    return x.quantile([0.25, 0.5, 0.75]).tolist()
$$;

CREATE FUNCTION names(t TABLE) RETURNS TABLE (name TEXT) LANGUAGE python AS $$
def names(t):
    return sorted(t['g'].dropna().unique())
$$;

CREATE FUNCTION joined(v TEXT) RETURNS TEXT LANGUAGE python OPTIONS (kind 'aggregate') AS $$
def joined(v):
    return '>'.join(x or '' for x in v)
$$;

-- query: yielded_tuples_all
SELECT * FROM yielded_tuples(TABLE demand, 2) ORDER BY item, week;

-- query: yielded_dicts_all
SELECT * FROM yielded_dicts(TABLE clicks, INTERVAL '30 minutes');

-- query: summary_all
SELECT * FROM summary(TABLE small);

-- query: total_all
SELECT * FROM total(TABLE small);

-- query: pairs_all
SELECT * FROM pairs(TABLE small);

-- query: two_overs
SELECT id, counted(x) OVER (PARTITION BY g) AS n, share(x) OVER (PARTITION BY g) AS s FROM small ORDER BY id;

-- query: quantile_groups
SELECT g, quantile(x, 0.5) AS q FROM small GROUP BY g;

-- query: quartiles_groups
SELECT g, quartiles(x) AS q FROM small GROUP BY g;

-- query: names_all
SELECT * FROM names(TABLE small);

-- query: joined_where
SELECT joined(g ORDER BY id) AS j FROM small WHERE x > 0;
