-- Cleaning of dirty tables: duplicates, amounts in two notations, dates in five, names of countries.

CREATE TABLE customers (id BIGINT, name TEXT, email TEXT, city TEXT, updated TIMESTAMP) AS VALUES
  (1, '  zoë  müller ', 'Zoe@Example.com', 'Köln', '2024-01-03 10:00:00'),
  (1, 'Zoë Müller', 'zoe@example.com ', 'KÖLN', '2024-02-03 10:00:00'),
  (2, 'JOSÉ  garcía', '', 'málaga', '2024-01-01 00:00:00'),
  (NULL, 'nobody', 'nobody@example.com', 'Paris', '2024-01-01 00:00:00'),
  (3, NULL, 'x@example.com', NULL, NULL),
  (4, '', 'BAD-EMAIL', '', '2024-01-05 08:30:00'),
  (5, 'Łukasz Żak', 'lukasz@żak.pl', 'Łódź', '2024-01-05 08:30:00'),
  (5, 'Łukasz Żak', 'lukasz@żak.pl', 'Łódź', '2024-01-05 08:30:00'),
  (6, '李 雷', 'li@example.cn', '北京', '2023-12-31 23:59:59.999'),
  (7, 'o''neill, SEAN', NULL, 'Dublin', '2024-01-06 00:00:00');

CREATE TABLE invoices (no TEXT, amount TEXT, paid TEXT) AS VALUES
  ('R-1', '1.234,56 €', '03.01.2024'),
  ('R-2', '$1,234.56', '2024-01-04'),
  ('R-3', '(99.90)', '5 Jan 2024'),
  ('R-4', '', ''),
  ('R-5', NULL, NULL),
  ('R-6', 'n/a', 'yesterday'),
  ('R-7', '12', '20240107'),
  ('R-8', ' -3,5 ', '01/08/2024'),
  ('R-9', '1 000,00', '31.02.2024'),
  ('R-1', '1.234,56 €', '03.01.2024');

CREATE TABLE people (person TEXT, country TEXT) AS VALUES
  ('a', 'Deutschland'), ('b', 'GERMANY'), ('c', ' de '), ('d', 'Côte d’Ivoire'), ('e', 'cote d''ivoire'),
  ('f', NULL), ('g', ''), ('h', 'Atlantis'), ('i', 'Österreich'), ('j', 'österreich');

CREATE TABLE aliases (alias TEXT, iso TEXT) AS VALUES
  ('deutschland', 'DE'), ('germany', 'DE'), ('de', 'DE'), ('cote d''ivoire', 'CI'), ('osterreich', 'AT'), ('austria', 'AT');

CREATE FUNCTION clean_customers(customers TABLE)
  RETURNS TABLE (id BIGINT NOT NULL, name TEXT, email TEXT, city TEXT, updated TIMESTAMP)
  LANGUAGE python AS $$
import numpy as np
import pandas as pd

def clean_customers(customers):
    df = customers.dropna(subset=['id']).copy()
    df['id'] = df['id'].astype('int64')
    df['name'] = (df['name'].str.replace(r'\s+', ' ', regex=True).str.strip().str.title()
                  .replace('', np.nan))
    df['email'] = df['email'].str.strip().str.lower()
    df.loc[~df['email'].str.contains('@', na=False), 'email'] = None
    df['city'] = df['city'].str.casefold().str.capitalize().replace('', pd.NA)
    return df.sort_values(['id', 'updated'], na_position='first').drop_duplicates('id', keep='last')
$$;

CREATE FUNCTION amounts(t TABLE (no TEXT, amount TEXT)) RETURNS TABLE (no TEXT, value DOUBLE, currency TEXT)
  LANGUAGE python AS $$
import re
import pandas as pd

SYMBOLS = {'€': 'EUR', '$': 'USD'}

def number(text):
    if text is None or pd.isna(text):
        return None
    text = text.strip()
    negative = text.startswith('(') or text.startswith('-')
    digits = re.sub(r'[^\d.,]', '', text)
    if not digits:
        return None
    if digits.rfind(',') > digits.rfind('.'):
        digits = digits.replace('.', '').replace(',', '.')
    else:
        digits = digits.replace(',', '')
    value = float(digits)
    return -value if negative else value

def amounts(t):
    out = t.drop_duplicates().copy()
    out['value'] = out['amount'].map(number)
    out['currency'] = out['amount'].str.extract(r'([€$])', expand=False).map(SYMBOLS)
    return out
$$;

CREATE FUNCTION paid_dates(t TABLE) RETURNS TABLE (no TEXT, paid DATE, ok BOOLEAN) LANGUAGE python AS $$
import pandas as pd

FORMATS = ['%Y-%m-%d', '%d.%m.%Y', '%d %b %Y', '%Y%m%d', '%m/%d/%Y']

def paid_dates(t):
    text = t['paid']
    parsed = pd.Series(pd.NaT, index=t.index)
    for fmt in FORMATS:
        parsed = parsed.fillna(pd.to_datetime(text, format=fmt, errors='coerce'))
    return pd.DataFrame({'no': t['no'], 'paid': parsed.dt.date, 'ok': parsed.notna()})
$$;

CREATE FUNCTION iso_countries(people TABLE, aliases TABLE, fallback TEXT DEFAULT '??')
  RETURNS TABLE (person TEXT, iso TEXT)
  LANGUAGE python AS $$
import unicodedata

def plain(text):
    text = text.replace('’', "'").strip().lower()
    return ''.join(c for c in unicodedata.normalize('NFKD', text) if not unicodedata.combining(c))

def iso_countries(people, aliases, fallback):
    people = people.assign(alias=people['country'].fillna('').map(plain))
    merged = people.merge(aliases, on='alias', how='left')
    merged['iso'] = merged['iso'].fillna(fallback)
    return merged[['person', 'iso']]
$$;

-- query: clean_customers_all
SELECT * FROM clean_customers(TABLE customers) ORDER BY id;

-- query: clean_customers_some
SELECT id, email FROM clean_customers((SELECT * FROM customers WHERE id < 5)) WHERE email IS NOT NULL;

-- query: amounts_all
SELECT * FROM amounts((SELECT * FROM invoices ORDER BY no, amount));

-- query: amounts_total
SELECT currency, sum(value) AS total, count(*) AS n FROM amounts(TABLE invoices) GROUP BY currency ORDER BY currency;

-- query: paid_dates_all
SELECT * FROM paid_dates(TABLE invoices);

-- query: paid_dates_join
SELECT i.no, i.amount, p.paid FROM invoices i JOIN paid_dates(TABLE invoices) p ON p.no = i.no WHERE p.paid > '2024-01-04';

-- query: iso_countries_default
SELECT * FROM iso_countries(TABLE people, TABLE aliases) ORDER BY person;

-- query: iso_countries_named
SELECT iso, count(*) AS n FROM iso_countries(TABLE people, aliases => TABLE aliases, fallback => 'ZZ') GROUP BY iso;
