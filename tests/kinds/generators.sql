-- Rows from values, with LATERAL.

CREATE TABLE tickets (id BIGINT, tags TEXT, opened DATE, closed DATE, payload TEXT, body TEXT) AS VALUES
  (1, 'bug; ui ;;é', '2024-02-27', '2024-03-01', '[{"sku": "a", "qty": 2}, {"sku": "ß", "qty": null}]', 'Le café est FERMÉ. Le café!'),
  (2, '', '2024-01-01', NULL, '[]', ''),
  (3, NULL, NULL, NULL, NULL, NULL),
  (4, 'ui', '2024-05-05', '2024-05-05', '{"sku": "single", "qty": 1.0}', 'one'),
  (5, 'a;a', '2024-05-06', '2024-05-05', 'not json', 'naïve 東京 x2'),
  (6, ';', '2024-12-31', '2025-01-01', '[{"qty": 7}]', '   ');

CREATE FUNCTION split_tags(tags TEXT, sep TEXT DEFAULT ';') RETURNS TABLE (n BIGINT, tag TEXT) STRICT LANGUAGE python AS $$
def split_tags(tags, sep):
    n = 0
    for part in tags.split(sep):
        part = part.strip()
        if part:
            n += 1
            yield n, part
$$;

CREATE FUNCTION days_between(first DATE, last DATE) RETURNS SETOF DATE STRICT LANGUAGE python AS $$
from datetime import timedelta

def days_between(first, last):
    day = first
    while day <= last:
        yield day
        day += timedelta(days=1)
$$;

CREATE FUNCTION items(payload TEXT) RETURNS TABLE (sku TEXT, qty BIGINT) LANGUAGE python AS $$
import json

def items(payload):
    if payload is None:
        return
    try:
        data = json.loads(payload)
    except ValueError:
        return
    if isinstance(data, dict):
        data = [data]
    for item in data:
        qty = item.get('qty')
        yield {'sku': item.get('sku'), 'qty': None if qty is None else int(qty), 'rest': len(item)}
$$;

CREATE FUNCTION tokens(body TEXT) RETURNS TABLE (token TEXT, count BIGINT, length BIGINT) LANGUAGE python AS $$
import re
from collections import Counter
from dataclasses import dataclass

@dataclass
class Token:
    token: str
    count: int
    length: int

def tokens(body):
    counts = Counter(re.findall(r'\w+', (body or '').casefold()))
    return [Token(token, count, len(token)) for token, count in counts.items()]
$$;

-- query: split_tags_inner
SELECT t.id, s.n, s.tag FROM tickets t, LATERAL split_tags(t.tags) AS s ORDER BY t.id, s.n;

-- query: split_tags_left
SELECT t.id, s.tag FROM tickets t LEFT JOIN LATERAL split_tags(t.tags) AS s ON true;

-- query: split_tags_alone
SELECT * FROM split_tags('x|y| |ž', sep => '|');

-- query: days_between_inner
SELECT t.id, d.* FROM tickets t, LATERAL days_between(t.opened, t.closed) AS d(day);

-- query: days_between_filtered
SELECT t.id, d.day FROM tickets t CROSS JOIN LATERAL days_between(t.opened, t.closed) AS d(day) WHERE d.day >= '2024-02-29' AND t.id < 5;

-- query: days_between_counts
SELECT t.id, count(d.day) AS days FROM tickets t LEFT JOIN LATERAL days_between(t.opened, t.closed) AS d(day) ON true GROUP BY t.id ORDER BY t.id;

-- query: items_inner
SELECT t.id, i.sku, i.qty FROM tickets t, LATERAL items(t.payload) AS i;

-- query: items_tickets
SELECT i.* FROM tickets t JOIN LATERAL (SELECT sku, qty * 10 AS tens FROM items(t.payload) WHERE qty > 1) AS i ON true;

-- query: tokens_inner
SELECT t.id, k.token, k.count, k.length FROM tickets t, LATERAL tokens(t.body) k;

-- query: tokens_total
SELECT k.token, sum(k.count) AS n FROM tickets t, LATERAL tokens(t.body) k GROUP BY k.token;
