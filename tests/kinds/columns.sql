-- Column functions, over whole columns and windows.

CREATE TABLE items (id BIGINT, shop TEXT, day DATE, price DOUBLE, stock BIGINT, label TEXT) AS VALUES
  (1, 'Ö', '2024-01-01', 10.0, 5, 'Größe M'), (2, 'Ö', '2024-01-02', 12.5, NULL, 'größe m '), (3, 'Ö', '2024-01-03', NULL, 0, NULL),
  (4, 'p', '2024-01-01', 1.0, 7, ''), (5, 'p', '2024-01-05', 1.0, 7, 'x'), (6, 'p', '2024-01-03', 4.0, -2, 'x'),
  (7, NULL, '2024-01-01', 1e9, 3, 'İstanbul'), (8, '', NULL, 0.1, 9007199254740993, '東京');

CREATE FUNCTION zscore(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$
import pandas as pd

def zscore(x: pd.Series) -> pd.Series:
    return (x - x.mean()) / x.std()
$$;

CREATE FUNCTION bucket(x DOUBLE, parts BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import pandas as pd

def bucket(x: pd.Series, parts: int) -> pd.Series:
    return pd.qcut(x.rank(method='first'), parts, labels=False)
$$;

CREATE FUNCTION filled(x BIGINT) RETURNS BIGINT LANGUAGE python AS $$
import pandas as pd

def filled(x: pd.Series) -> pd.Series:
    return x.ffill()
$$;

CREATE FUNCTION slug(label TEXT) RETURNS TEXT LANGUAGE python OPTIONS (scope 'batch') AS $$
import pandas as pd

def slug(label: pd.Series) -> pd.Series:
    return (label.str.strip().str.normalize('NFKD').str.encode('ascii', 'ignore').str.decode('ascii')
            .str.lower().str.replace(r'[^a-z0-9]+', '-', regex=True))
$$;

-- query: zscore_where
SELECT id, zscore(price) AS z FROM items WHERE price < 1000 ORDER BY id;

-- query: zscore_over
SELECT id, zscore(price) OVER (PARTITION BY shop ORDER BY day) AS z FROM items ORDER BY id;

-- query: zscore_outliers
SELECT id FROM (SELECT id, zscore(price) AS z FROM items) WHERE z > 2;

-- query: bucket_two
SELECT id, bucket(price, 2) AS b FROM items;

-- query: bucket_over
SELECT id, bucket(price, 3) OVER (PARTITION BY shop) AS b FROM items WHERE shop IS NOT NULL AND shop <> '';

-- query: filled_over
SELECT id, filled(stock) OVER (PARTITION BY shop ORDER BY day) AS s FROM items;

-- query: slug_all
SELECT id, slug(label) AS s FROM items ORDER BY id;

-- query: slug_expression
SELECT id, upper(slug(label || ' ' || shop)) AS s FROM items WHERE slug(label) <> 'x';
