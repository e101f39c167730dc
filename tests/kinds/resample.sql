-- Time series: gaps filled, candles, daylight saving.

CREATE TABLE readings (sensor TEXT, at TIMESTAMP, value DOUBLE) AS VALUES
  ('å', '2024-03-31 00:10:00', 1.0), ('å', '2024-03-31 00:40:00', 2.5), ('å', '2024-03-31 01:05:00', NULL),
  ('å', '2024-03-31 03:59:59.999999', 4.0), ('b', '2024-03-31 00:00:00', 7.0), ('b', '2024-03-31 00:00:00', 9.0),
  ('b', NULL, 1.0), (NULL, '2024-03-31 02:00:00', 3.0), ('b', '2024-03-31 02:30:00', 8.0), ('', '2024-03-31 05:00:00', 0.1);

CREATE FUNCTION hourly(t TABLE, rule TEXT DEFAULT '1h') RETURNS TABLE (sensor TEXT, at TIMESTAMP, value DOUBLE, n BIGINT)
  LANGUAGE python AS $$
def hourly(t, rule):
    t = t.dropna(subset=['at']).set_index('at')
    out = t.groupby('sensor').resample(rule)['value'].agg(['mean', 'count'])
    out['value'] = out['mean'].groupby('sensor').ffill()
    return out.rename(columns={'count': 'n'})
$$;

CREATE FUNCTION candles(t TABLE (at TIMESTAMP, value DOUBLE))
  RETURNS TABLE (at TIMESTAMP, open DOUBLE, high DOUBLE, low DOUBLE, close DOUBLE) LANGUAGE python AS $$
def candles(t):
    series = t.dropna().sort_values('at', kind='stable').set_index('at')['value']
    return series.resample('90min').ohlc().dropna()
$$;

CREATE FUNCTION local_days(t TABLE, zone TEXT) RETURNS TABLE (day DATE, total DOUBLE, readings BIGINT) LANGUAGE python AS $$
import pandas as pd

def local_days(t, zone):
    t = t[t['at'].notna()]
    local = t['at'].dt.tz_localize('UTC').dt.tz_convert(zone)
    out = t.groupby(local.dt.date)['value'].agg(total='sum', readings='count')
    out.index.name = 'day'
    return out
$$;

-- query: hourly_all
SELECT * FROM hourly(TABLE readings) ORDER BY sensor, at;

-- query: hourly_half
SELECT sensor, sum(n) AS n, count(*) AS slots FROM hourly(TABLE readings, '30min') GROUP BY sensor;

-- query: candles_all
SELECT * FROM candles(TABLE readings);

-- query: candles_b
SELECT * FROM candles((SELECT value, at FROM readings WHERE sensor = 'b')) ORDER BY at;

-- query: local_days_tokyo
SELECT * FROM local_days(TABLE readings, 'Asia/Tokyo') ORDER BY day;

-- query: local_days_new_york
SELECT * FROM local_days(TABLE readings, 'America/New_York') ORDER BY day;
