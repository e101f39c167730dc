-- Pivots and melts.

CREATE TABLE sales (region TEXT, product TEXT, month DATE, units BIGINT, price DOUBLE) AS VALUES
  ('Nord', 'tea', '2024-01-01', 5, 2.5),
  ('Nord', 'tea', '2024-02-01', 7, 2.5),
  ('Nord', 'café', '2024-01-01', NULL, 3.0),
  ('Süd', 'café', '2024-02-01', 4, 3.25),
  ('Süd', 'tea', '2024-02-01', 1, NULL),
  ('Süd', 'tea', '2024-02-01', 1, 2.75),
  (NULL, 'tea', '2024-01-01', 9, 2.5),
  ('', 'maté', '2024-03-01', 2, 4.0);

CREATE TABLE answers (respondent BIGINT, q1 TEXT, q2 TEXT, q10 TEXT) AS VALUES
  (1, 'yes', NULL, 'ça va'), (2, '', 'no', NULL), (3, NULL, NULL, NULL), (4, 'yes', 'yes', 'no');

CREATE FUNCTION monthly(sales TABLE) RETURNS TABLE (region TEXT, jan BIGINT, feb BIGINT, mar BIGINT) LANGUAGE python AS $$
import pandas as pd

def monthly(sales):
    names = pd.to_datetime(sales['month']).dt.strftime('%b').str.lower()
    wide = sales.assign(name=names).pivot_table(
        index='region', columns='name', values='units', aggfunc='sum', fill_value=0)
    return wide.reindex(columns=['jan', 'feb', 'mar'], fill_value=0)
$$;

CREATE FUNCTION melted(t TABLE, id TEXT) RETURNS TABLE (respondent BIGINT, question BIGINT, answer TEXT) LANGUAGE python AS $$
def melted(t, id):
    long = t.melt(id_vars=id, var_name='question', value_name='answer').dropna(subset='answer')
    long['question'] = long['question'].str.removeprefix('q').astype(int)
    return long.query("answer != ''")
$$;

CREATE FUNCTION crosstab(t TABLE) RETURNS TABLE LANGUAGE python AS $$
import pandas as pd

def crosstab(t):
    table = pd.crosstab(t['region'].fillna('none'), t['product'], values=t['price'], aggfunc='mean')
    return table.reset_index()
$$;

-- query: monthly_all
SELECT * FROM monthly(TABLE sales) ORDER BY region;

-- query: melted_all
SELECT * FROM melted(TABLE answers, 'respondent') ORDER BY respondent, question;

-- query: melted_counts
SELECT answer, count(*) AS n FROM melted(TABLE answers, 'respondent') GROUP BY answer;

-- query: crosstab_all
SELECT * FROM crosstab(TABLE sales);

-- query: crosstab_accent
SELECT region, "café" FROM crosstab(TABLE sales) WHERE "café" IS NOT NULL;
