-- Scoring with a fitted model. compare.py writes models/churn.joblib and models/scaled.joblib (oracle.write_models).

CREATE TABLE train (age BIGINT, income DOUBLE, churned BIGINT) AS VALUES
  (23, 1200.5, 1), (31, 2500.0, 0), (45, 3100.0, 0), (52, NULL, 0), (19, 800.0, 1), (38, 2200.0, 1), (60, 4100.0, 0),
  (27, 1500.0, 1), (NULL, 1900.0, 0), (33, 2100.0, 0);

CREATE TABLE customers (id BIGINT, name TEXT, age BIGINT, income DOUBLE) AS VALUES
  (1, 'Ann', 25, 1300.0), (2, 'Jörg', 50, 3000.0), (3, '', 41, NULL), (4, NULL, NULL, 900.0), (5, 'Zoë', 25, 1300.0), (6, '李', 70, 1e5);

CREATE FUNCTION fit_score(train TABLE, fresh TABLE) RETURNS TABLE (id BIGINT, p DOUBLE) LANGUAGE python AS $$
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

def fit_score(train, fresh):
    features = ['age', 'income']
    pipe = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    pipe.fit(train[features], train['churned'])
    return fresh[['id']].assign(p=pipe.predict_proba(fresh[features])[:, 1])
$$;

CREATE FUNCTION churn(age DOUBLE, income DOUBLE) RETURNS DOUBLE
  LANGUAGE python OPTIONS (models 'model=models/churn.joblib') AS $$
import numpy as np

def churn(age: np.ndarray, income: np.ndarray):
    return model.predict_proba(np.column_stack([age, income]))[:, 1]
$$;

CREATE FUNCTION segment(age DOUBLE, income DOUBLE) RETURNS TEXT
  LANGUAGE python OPTIONS (models 'bundle=models/scaled.joblib', scope 'batch') AS $$
import pandas as pd

def segment(age: pd.Series, income: pd.Series) -> pd.Series:
    frame = pd.DataFrame({'age': age, 'income': income})
    ok = frame.notna().all(axis=1)
    out = pd.Series(None, index=frame.index, dtype=object)
    labels = bundle['kmeans'].predict(bundle['scaler'].transform(frame[ok]))
    out[ok] = [bundle['names'][label] for label in labels]
    return out
$$;

-- query: fit_score_all
SELECT * FROM fit_score((SELECT * FROM train WHERE churned IS NOT NULL ORDER BY income, age), (SELECT * FROM customers ORDER BY id)) ORDER BY id;

-- query: churn_known
SELECT id, churn(age, income) AS p FROM customers WHERE age IS NOT NULL AND income IS NOT NULL ORDER BY id;

-- query: churn_coalesced
SELECT id, churn(coalesce(age, 40), coalesce(income, 0)) > 0.5 AS leaves FROM customers;

-- query: segment_all
SELECT id, segment(age, income) AS s FROM customers;

-- query: segment_counts
SELECT segment(age, income) AS s, count(*) AS n FROM customers GROUP BY segment(age, income);
