-- Features of tables for models: dummies, lags, target encoding, recency and frequency.

CREATE TABLE orders (id BIGINT, customer TEXT, channel TEXT, day DATE, total DOUBLE, returned BOOLEAN) AS VALUES
  (1, 'ann', 'web', '2024-01-01', 10.0, false),
  (2, 'ann', 'app', '2024-01-05', 20.5, true),
  (3, 'bob', 'web', '2024-01-02', NULL, false),
  (4, 'bob', NULL, '2024-01-03', 7.25, NULL),
  (5, 'çağla', 'shop', '2024-01-03', 99.99, false),
  (6, 'çağla', 'web', '2024-02-11', 0.0, true),
  (7, NULL, 'app', '2024-02-01', 5.0, false),
  (8, 'ann', 'web', NULL, 12.0, false),
  (9, 'bob', 'app', '2024-03-01', 3.5, true),
  (10, 'ann', 'web', '2024-03-02', 33.0, NULL),
  (11, 'dörte', '', '2024-03-02', 1e6, false);

CREATE FUNCTION dummies(t TABLE) RETURNS TABLE LANGUAGE python AS $$
import pandas as pd

def dummies(t):
    flags = pd.get_dummies(t['channel'].replace('', 'unknown'), prefix='is', dtype='int64')
    return pd.concat([t[['id', 'customer']], flags], axis=1)
$$;

CREATE FUNCTION lags(t TABLE (id BIGINT, customer TEXT, day DATE, total DOUBLE), depth BIGINT DEFAULT 1)
  RETURNS TABLE (id BIGINT, previous DOUBLE, days_since BIGINT, running DOUBLE)
  LANGUAGE python AS $$
import pandas as pd

def lags(t, depth):
    t = t.dropna(subset=['customer', 'day'])
    t['day'] = pd.to_datetime(t['day'])
    t = t.sort_values(['customer', 'day', 'id'])
    groups = t.groupby('customer')
    t['previous'] = groups['total'].shift(depth)
    t['days_since'] = groups['day'].diff(depth).dt.days
    t['running'] = groups['total'].cumsum()
    return t
$$;

CREATE FUNCTION target_encoded(t TABLE, weight DOUBLE)
  RETURNS TABLE (channel TEXT, rate DOUBLE, n BIGINT) LANGUAGE python AS $$
def target_encoded(t, weight):
    known = t.dropna(subset=['returned'])
    known = known.assign(returned=known['returned'].astype(bool))
    prior = known['returned'].mean()
    stats = known.groupby('channel', dropna=False)['returned'].agg(['mean', 'count'])
    stats['rate'] = (stats['mean'] * stats['count'] + prior * weight) / (stats['count'] + weight)
    return stats.rename(columns={'count': 'n'})
$$;

CREATE FUNCTION rfm(t TABLE, today DATE) RETURNS TABLE (customer TEXT, recency BIGINT, frequency BIGINT, money DOUBLE, grade TEXT)
  LANGUAGE python AS $$
import pandas as pd

def rfm(t, today):
    t = t.assign(day=pd.to_datetime(t['day']))
    out = t.groupby('customer').agg(last=('day', 'max'), frequency=('id', 'nunique'), money=('total', 'sum'))
    out['recency'] = (pd.Timestamp(today) - out['last']).dt.days
    out['grade'] = pd.cut(out['money'], [-1, 10, 100, float('inf')], labels=['C', 'B', 'A'])
    return out.reset_index()
$$;

-- query: dummies_all
SELECT * FROM dummies((SELECT * FROM orders ORDER BY id)) ORDER BY id;

-- query: lags_one
SELECT * FROM lags(TABLE orders) ORDER BY id;

-- query: lags_two
SELECT * FROM lags(TABLE orders, 2);

-- query: target_encoded_all
SELECT * FROM target_encoded(TABLE orders, 2.0);

-- query: target_encoded_int_weight
SELECT channel, n FROM target_encoded(TABLE orders, 2) WHERE rate > 0.3;

-- query: rfm_all
SELECT * FROM rfm(TABLE orders, DATE '2024-03-10') ORDER BY customer;

-- query: rfm_subquery_argument
SELECT grade, count(*) AS n FROM rfm(TABLE orders, (SELECT max(day) FROM orders)) GROUP BY grade;
