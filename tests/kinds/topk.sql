-- The first k of each group.

CREATE TABLE scores (class TEXT, pupil TEXT, points BIGINT, at TIMESTAMP) AS VALUES
  ('1a', 'Ann', 10, '2024-01-01 08:00:00'), ('1a', 'Bö', 12, '2024-01-01 09:00:00'), ('1a', 'Cé', 12, '2024-01-01 08:30:00'),
  ('1a', NULL, 15, NULL), ('1b', 'Dan', NULL, '2024-01-02 08:00:00'), ('1b', 'Eve', 3, '2024-01-02 08:00:00'),
  (NULL, 'Foo', 99, '2024-01-02 08:00:00'), ('', 'Gül', 1, '2024-01-03 08:00:00'), ('1b', 'Eve', 3, '2024-01-02 08:00:00');

CREATE FUNCTION top_k(scores TABLE, k BIGINT) RETURNS TABLE (class TEXT, rank BIGINT, pupil TEXT, points BIGINT, at TIMESTAMP)
  LANGUAGE python AS $$
def top_k(scores, k):
    best = (scores.drop_duplicates().sort_values(['points', 'at', 'pupil'], ascending=[False, True, True])
            .groupby('class', dropna=False).head(k))
    best['rank'] = best.groupby('class', dropna=False).cumcount() + 1
    return best
$$;

CREATE FUNCTION leaders(class TEXT, points BIGINT) RETURNS BOOLEAN LANGUAGE python AS $$
import pandas as pd

def leaders(class_: pd.Series, points: pd.Series) -> pd.Series:
    return points == points.groupby(class_).transform('max')
$$;

-- query: top_two
SELECT * FROM top_k(TABLE scores, 2) ORDER BY class, rank;

-- query: top_one_filtered
SELECT class, pupil FROM top_k((SELECT * FROM scores WHERE points IS NOT NULL), k => 1) WHERE class <> '';

-- query: leaders_all
SELECT class, pupil, points, leaders(class, points) AS leads FROM scores;

-- query: leaders_window
SELECT class, pupil, leaders(class, points) OVER (PARTITION BY class) AS leads FROM scores WHERE class IS NOT NULL;
