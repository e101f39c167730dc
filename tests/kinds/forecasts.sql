-- Forecasts and smoothing.

CREATE TABLE demand (item TEXT, week DATE, units DOUBLE) AS VALUES
  ('a', '2024-01-01', 10), ('a', '2024-01-08', 12), ('a', '2024-01-15', NULL), ('a', '2024-01-22', 11.5),
  ('a', '2024-01-29', 15), ('b', '2024-01-01', 3), ('b', '2024-01-08', 3), ('b', '2024-01-22', 4.75),
  ('ß', '2024-01-01', NULL), ('ß', '2024-01-08', 1e-3);

CREATE FUNCTION smoothed(t TABLE (item TEXT, week DATE, units DOUBLE), alpha DOUBLE DEFAULT 0.5)
  RETURNS TABLE (item TEXT, week DATE, level DOUBLE) LANGUAGE python AS $$
def smoothed(t, alpha):
    t = t.sort_values(['item', 'week'])
    t['level'] = t.groupby('item')['units'].transform(lambda s: s.ewm(alpha=alpha, adjust=False).mean())
    return t
$$;

CREATE FUNCTION holt(t TABLE, horizon BIGINT, alpha DOUBLE DEFAULT 0.8, beta DOUBLE DEFAULT 0.2)
  RETURNS TABLE (item TEXT, week DATE, forecast DOUBLE) LANGUAGE python AS $$
from datetime import timedelta

def holt(t, horizon, alpha, beta):
    rows = []
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
            rows.append((item, last + timedelta(weeks=step), level + step * trend))
    return rows
$$;

CREATE FUNCTION trend_line(day BIGINT, y DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import numpy as np
import pandas as pd

def trend_line(day: pd.Series, y: pd.Series) -> pd.Series:
    known = y.notna()
    if known.sum() < 2:
        return pd.Series(np.nan, index=y.index)
    slope, intercept = np.polyfit(day[known], y[known], 1)
    return slope * day + intercept
$$;

-- query: smoothed_default
SELECT * FROM smoothed(TABLE demand) ORDER BY item, week;

-- query: smoothed_slow
SELECT * FROM smoothed((SELECT * FROM demand WHERE item <> 'b'), alpha => 0.1) ORDER BY item, week;

-- query: holt_two
SELECT * FROM holt(TABLE demand, 2) ORDER BY item, week;

-- query: trend_line_items
SELECT item, week, trend_line(week - DATE '2024-01-01', units) OVER (PARTITION BY item) AS y FROM demand;

-- query: trend_line_cast
SELECT item, week, trend_line(CAST(extract(doy FROM week) AS BIGINT), units) OVER (PARTITION BY item) AS y FROM demand;
