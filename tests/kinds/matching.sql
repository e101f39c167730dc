-- Similarity and matching.

CREATE TABLE crm (id BIGINT, company TEXT) AS VALUES
  (1, 'Müller GmbH'), (2, 'Café Zürich AG'), (3, 'ACME, Inc.'), (4, ''), (5, NULL), (6, 'Smith & Sons'), (7, 'Acme Incorporated');

CREATE TABLE register ("key" TEXT, company TEXT) AS VALUES
  ('R1', 'Mueller GmbH'), ('R2', 'Cafe Zurich'), ('R3', 'Acme Inc'), ('R4', 'Smith and Sons Ltd'), ('R5', 'Żabka'), ('R5', 'Żabka'), ('R6', NULL);

CREATE FUNCTION best_match(l TABLE (id BIGINT, company TEXT), r TABLE (key TEXT, company TEXT), cutoff DOUBLE DEFAULT 0.6)
  RETURNS TABLE (id BIGINT, key TEXT, score DOUBLE) LANGUAGE python AS $$
import difflib
import unicodedata

def norm(s):
    s = unicodedata.normalize('NFKD', s.casefold())
    return ''.join(c for c in s if c.isalnum() or c == ' ').strip()

def best_match(l, r, cutoff):
    l = l.dropna()
    l = l[l['company'] != '']
    r = r.dropna(subset=['company']).drop_duplicates()
    names = {row.key: norm(row.company) for row in r.itertuples()}
    out = []
    for row in l.itertuples(index=False):
        scores = [(difflib.SequenceMatcher(None, norm(row.company), name).ratio(), key) for key, name in names.items()]
        score, key = max(scores)
        out.append({'id': row.id, 'key': key if score >= cutoff else None, 'score': score})
    return out
$$;

CREATE FUNCTION jaccard(a TEXT[], b TEXT[]) RETURNS DOUBLE LANGUAGE python AS $$
def jaccard(a, b):
    if a is None or b is None:
        return None
    a, b = set(a), set(b)
    if not a and not b:
        return 1.0
    return len(a & b) / len(a | b)
$$;

CREATE FUNCTION tfidf(texts TABLE (id BIGINT, company TEXT)) RETURNS TABLE (a BIGINT, b BIGINT, cosine DOUBLE)
  LANGUAGE python AS $$
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

def tfidf(texts):
    texts = texts.dropna().sort_values('id').reset_index(drop=True)
    weights = TfidfVectorizer(analyzer='char_wb', ngram_range=(2, 3)).fit_transform(texts['company'])
    cosine = (weights @ weights.T).toarray()
    i, j = np.nonzero(np.triu(cosine, 1) > 0.1)
    return {'a': texts['id'].to_numpy()[i], 'b': texts['id'].to_numpy()[j], 'cosine': cosine[i, j]}
$$;

-- query: best_match_default
SELECT * FROM best_match(TABLE crm, TABLE register) ORDER BY id;

-- query: best_match_strict
SELECT c.company, m.key FROM crm c LEFT JOIN best_match(TABLE crm, TABLE register, 0.9) m ON m.id = c.id;

-- query: jaccard_pairs
SELECT c.id, r.key, jaccard(string_to_array(lower(c.company), ' '), string_to_array(lower(r.company), ' ')) AS j FROM crm c CROSS JOIN register r;

-- query: tfidf_all
SELECT * FROM tfidf(TABLE crm);
