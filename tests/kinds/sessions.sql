-- Sessions of clicks: numbering, paths, a funnel.

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

CREATE FUNCTION sessionised(clicks TABLE (person TEXT, at TIMESTAMP), minutes DOUBLE DEFAULT 30)
  RETURNS TABLE (person TEXT, session BIGINT, started TIMESTAMP, ended TIMESTAMP, seconds DOUBLE, clicks BIGINT)
  LANGUAGE python AS $$
import pandas as pd

def sessionised(clicks, minutes):
    clicks = clicks.dropna(subset=['person', 'at']).sort_values(['person', 'at'])
    new = clicks.groupby('person')['at'].diff().gt(pd.Timedelta(minutes=minutes))
    clicks['session'] = new.groupby(clicks['person']).cumsum() + 1
    out = clicks.groupby(['person', 'session'])['at'].agg(started='min', ended='max', clicks='size')
    out['seconds'] = (out['ended'] - out['started']).dt.total_seconds()
    return out
$$;

CREATE FUNCTION paths(clicks TABLE, gap INTERVAL) RETURNS TABLE (person TEXT, steps TEXT[], first TIME)
  LANGUAGE python AS $$
import pandas as pd

def paths(clicks, gap):
    clicks = clicks.sort_values(['person', 'at', 'page']).drop_duplicates()
    clicks = clicks[clicks['at'].notna()]
    clicks['person'] = clicks['person'].fillna('(unknown)')
    rows = []
    for person, mine in clicks.groupby('person'):
        number = (mine['at'].diff() > gap).cumsum()
        for _, part in mine.groupby(number):
            pages = [page if isinstance(page, str) else None for page in part['page']]
            rows.append({'person': person, 'steps': pages, 'first': part['at'].iloc[0].time()})
    return rows
$$;

CREATE FUNCTION funnel(clicks TABLE (person TEXT NOT NULL, page TEXT, at TIMESTAMP), steps TEXT[])
  RETURNS TABLE (step TEXT, people BIGINT, share DOUBLE)
  LANGUAGE python AS $$
def funnel(clicks, steps):
    left = set(clicks['person'])
    total = len(left)
    rows = []
    for step in steps:
        left &= set(clicks.loc[clicks['page'] == step, 'person'])
        rows.append((step, len(left), len(left) / total))
    return rows
$$;

-- query: sessionised_30
SELECT * FROM sessionised(TABLE clicks) ORDER BY person, session;

-- query: sessionised_15
SELECT person, count(*) AS sessions, sum(clicks) AS clicks FROM sessionised(clicks, minutes => 15) GROUP BY person;

-- query: paths_half_hour
SELECT * FROM paths(TABLE clicks, INTERVAL '30 minutes');

-- query: funnel_known
SELECT * FROM funnel((SELECT * FROM clicks WHERE person IS NOT NULL), ARRAY['/', '/cart', '/pay']);

-- query: funnel_coalesced
SELECT step, people FROM funnel((SELECT coalesce(person, '?') AS person, page, at FROM clicks), make_array('/pay'));
