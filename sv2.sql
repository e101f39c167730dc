CREATE FUNCTION u1(s TEXT) RETURNS TEXT LANGUAGE python AS $$

from dataclasses import dataclass, asdict
@dataclass(order=True)
class Candidate:
    score: float
    name: str
    tags: tuple = ()
def u1(s):
    cands = []
    for part in s.split(";"):
        bits = part.split(",")
        if len(bits) < 2:
            continue
        try:
            cands.append(Candidate(float(bits[1]), bits[0].strip(), tuple(bits[2:])))
        except ValueError:
            continue
    if not cands:
        return None
    best = max(cands)
    return f"{best.name} {best.score:.1f} {sorted(c.name for c in cands if c < best)} {asdict(best)['tags']}"

$$;
CREATE FUNCTION u2(s TEXT) RETURNS TEXT LANGUAGE python AS $$

import re
RULES = [
    (re.compile(r"\b(?:\+?49|0)\s?(\d{2,5})[\s/-]?(\d{3,})\b"), lambda m: f"+49 {m.group(1)} {m.group(2)}"),
    (re.compile(r"(?i)\bstr(?:\.|asse)?\b"), "straße"),
    (re.compile(r"\s{2,}"), " "),
]
def u2(s):
    for pat, rep in RULES:
        s = pat.sub(rep, s)
    return s.strip()

$$;
CREATE FUNCTION u3(x BIGINT) RETURNS TEXT LANGUAGE python AS $$

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = [(10 ** 9, "billion"), (10 ** 6, "million"), (1000, "thousand"), (100, "hundred")]
def words(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")
    for size, name in SCALES:
        if n >= size:
            head, rest = divmod(n, size)
            return words(head) + " " + name + (" " + words(rest) if rest else "")
def u3(x):
    if x is None:
        return None
    return ("minus " if x < 0 else "") + words(abs(x))

$$;
CREATE FUNCTION u4(s TEXT) RETURNS TEXT LANGUAGE python AS $$

from collections import defaultdict
def u4(s):
    graph = defaultdict(set)
    for edge in s.split(","):
        a, sep, b = edge.partition("-")
        if sep:
            graph[a].add(b)
            graph[b].add(a)
    seen = set()
    comps = []
    for node in sorted(graph):
        if node in seen:
            continue
        stack, comp = [node], []
        while stack:
            n = stack.pop()
            if n in seen:
                continue
            seen.add(n)
            comp.append(n)
            stack.extend(graph[n] - seen)
        comps.append("".join(sorted(comp)))
    return "|".join(comps)

$$;
CREATE FUNCTION u5(v DOUBLE, unit TEXT) RETURNS DOUBLE LANGUAGE python AS $$

class UnitError(Exception):
    def __init__(self, unit, known):
        self.unit = unit
        super().__init__(f"unknown unit {unit!r}; expected one of {', '.join(sorted(known))}")
FACTORS = {"kg": 1.0, "g": 1e-3, "lb": 0.45359237, "oz": 0.0283495}
def factor(unit):
    try:
        return FACTORS[unit.strip().lower()]
    except KeyError:
        raise UnitError(unit, FACTORS) from None
def u5(v, unit):
    if v is None:
        return None
    return round(v * factor(unit or "kg"), 6)

$$;
CREATE FUNCTION u6(s TEXT) RETURNS TEXT LANGUAGE python AS $$

from functools import reduce
import operator
PIPE = [str.strip, str.lower, lambda t: t.replace("_", "-"), lambda t: "-".join(filter(None, t.split("-")))]
def u6(s):
    out = reduce(lambda acc, f: f(acc), PIPE, s)
    check = reduce(operator.xor, (ord(c) for c in out), 0)
    return f"{out}#{check:02x}"

$$;
CREATE FUNCTION u7(s TEXT) RETURNS BIGINT LANGUAGE python AS $$

def u7(s):
    memo = {}
    def lps(i, j):
        if i > j:
            return 0
        if i == j:
            return 1
        key = (i, j)
        if key not in memo:
            memo[key] = lps(i + 1, j - 1) + 2 if s[i] == s[j] else max(lps(i + 1, j), lps(i, j - 1))
        return memo[key]
    return lps(0, len(s[:25]) - 1)

$$;
CREATE FUNCTION u8(log TEXT) RETURNS TEXT LANGUAGE python AS $$

from datetime import datetime
import re
LINE = re.compile(r'^(?P<ip>\S+) \S+ \S+ \[(?P<ts>[^\]]+)\] "(?P<verb>[A-Z]+) (?P<path>[^ "]+)[^"]*" (?P<status>\d{3}) (?P<size>\d+|-)')
def u8(log):
    m = LINE.match(log)
    if not m:
        return "unparsed"
    d = m.groupdict()
    ts = datetime.strptime(d["ts"].split()[0], "%d/%b/%Y:%H:%M:%S")
    size = 0 if d["size"] == "-" else int(d["size"])
    path = d["path"].split("?", 1)[0]
    return f"{ts.isoformat()} {d['verb']} {path} {d['status'][0]}xx {size / 1024:.1f}K"

$$;
CREATE FUNCTION u9(a TEXT, b TEXT) RETURNS TEXT LANGUAGE python AS $$

from itertools import zip_longest
def key(v):
    return [int(p) if p.isdigit() else p for p in v.replace("-", ".").split(".")]
def u9(a, b):
    for x, y in zip_longest(key(a), key(b), fillvalue=0):
        if type(x) is not type(y):
            x, y = str(x), str(y)
        if x != y:
            return "<" if x < y else ">"
    return "="

$$;
CREATE FUNCTION u10(s TEXT) RETURNS TEXT LANGUAGE python AS $$

def parse(s, i=0):
    items, cur = [], ""
    while i < len(s):
        c = s[i]
        if c == "(":
            sub, i = parse(s, i + 1)
            items.append("[" + sub + "]")
        elif c == ")":
            break
        elif c == ",":
            if cur:
                items.append(cur)
            cur = ""
        else:
            cur += c
        i += 1
    if cur:
        items.append(cur)
    return ";".join(items), i
def u10(s):
    return parse(s)[0]

$$;
CREATE FUNCTION u11(q BIGINT, p DOUBLE) RETURNS STRUCT<net DOUBLE, tier TEXT> LANGUAGE python AS $$

TIERS = ((1000, 0.2, "gold"), (100, 0.1, "silver"), (0, 0.0, "base"))
def u11(q, p):
    if q is None or p is None or q < 0:
        return None
    threshold, rate, name = next(t for t in TIERS if q >= t[0])
    return {"net": round(q * p * (1 - rate), 2), "tier": name}

$$;
CREATE FUNCTION u12(s TEXT) RETURNS TEXT LANGUAGE python AS $$

import string
KEY = "vigenere"
def shift(c, k, sign):
    if c not in string.ascii_letters:
        return c
    base = ord("A") if c.isupper() else ord("a")
    return chr((ord(c) - base + sign * (ord(k) - ord("a"))) % 26 + base)
def u12(s):
    out, i = [], 0
    for c in s:
        out.append(shift(c, KEY[i % len(KEY)], 1))
        i += c.isalpha()
    return "".join(out)

$$;
CREATE FUNCTION u13(xs BIGINT[]) RETURNS BIGINT[] LANGUAGE python AS $$

import heapq
def u13(xs):
    heap = [x for x in xs if x is not None]
    heapq.heapify(heap)
    out = []
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, a + b)
        out.append(a + b)
    return out

$$;
CREATE FUNCTION u14(s TEXT) RETURNS TEXT LANGUAGE python AS $$

class Matrix:
    def __init__(self, rows):
        self.rows = rows
    @classmethod
    def parse(cls, s):
        return cls([[float(x) for x in r.split()] for r in s.split(";") if r.strip()])
    def __matmul__(self, other):
        cols = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in cols] for r in self.rows])
    def __repr__(self):
        return "\n".join(" ".join(f"{x:g}" for x in r) for r in self.rows)
def u14(s):
    try:
        m = Matrix.parse(s)
        return repr(m @ m)
    except ValueError:
        return None

$$;
CREATE FUNCTION u15(d DATE, n BIGINT) RETURNS DATE LANGUAGE python AS $$

import calendar
from datetime import date
def add_months(d, n):
    y, m = divmod(d.year * 12 + d.month - 1 + n, 12)
    return date(y, m + 1, min(d.day, calendar.monthrange(y, m + 1)[1]))
def u15(d, n):
    try:
        out = add_months(d, n or 0)
    except (ValueError, AttributeError, OverflowError):
        return None
    while out.weekday() >= 5:
        out = out.replace(day=out.day - 1) if out.day > 1 else add_months(out, -1)
    return out

$$;
CREATE FUNCTION u16(s TEXT) RETURNS TEXT LANGUAGE python AS $$

from collections import Counter
import math
def u16(s):
    if not s:
        return None
    n = len(s)
    ent = -sum(c / n * math.log2(c / n) for c in Counter(s).values())
    classes = [str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum()]
    kinds = sum(any(f(c) for c in s) for f in classes)
    return f"{ent:.3f}/{kinds}"

$$;
CREATE FUNCTION u17(s TEXT) RETURNS TEXT LANGUAGE python AS $$

def tokenize(s):
    i = 0
    while i < len(s):
        c = s[i]
        if c.isspace():
            i += 1
        elif c in "\"'":
            j = s.find(c, i + 1)
            if j < 0:
                raise SyntaxError("unterminated")
            yield "STR", s[i + 1:j]
            i = j + 1
        elif c.isalpha() or c == "_":
            j = i
            while j < len(s) and (s[j].isalnum() or s[j] == "_"):
                j += 1
            yield "ID", s[i:j]
            i = j
        else:
            yield "OP", c
            i += 1
def u17(s):
    try:
        return " ".join(f"{k}:{v}" for k, v in tokenize(s))
    except SyntaxError as e:
        return e.msg

$$;
CREATE FUNCTION u18(m MAP<TEXT, DOUBLE>) RETURNS TEXT LANGUAGE python AS $$

def u18(m):
    total = sum(m.values()) or 1.0
    ranked = sorted(((v / total, k) for k, v in m.items()), reverse=True)
    cum, out = 0.0, []
    for share, k in ranked:
        out.append(f"{k}={share:.0%}")
        cum += share
        if cum >= 0.8:
            break
    return ",".join(out)

$$;
CREATE FUNCTION u19(s TEXT) RETURNS TEXT LANGUAGE python AS $$

from urllib.parse import urlparse, parse_qs, urlencode
TRACK = {"utm_source", "utm_medium", "gclid", "fbclid"}
def u19(s):
    u = urlparse(s)
    q = {k: v for k, v in parse_qs(u.query).items() if k not in TRACK and not k.startswith("utm_")}
    host = u.netloc.lower().removeprefix("www.")
    return f"{host}{u.path.rstrip('/')}" + ("?" + urlencode(sorted(q.items()), doseq=True) if q else "")

$$;
CREATE FUNCTION u20(iban TEXT) RETURNS BOOLEAN LANGUAGE python AS $$

LENGTHS = dict(DE=22, FR=27, GB=22, NL=18)
def u20(iban):
    s = (iban or "").replace(" ", "").upper()
    if len(s) < 4 or LENGTHS.get(s[:2]) != len(s) or not s.isalnum():
        return False
    digits = "".join(str(int(c, 36)) for c in s[4:] + s[:4])
    return int(digits) % 97 == 1

$$;
CREATE FUNCTION u21(s TEXT) RETURNS TEXT LANGUAGE python AS $$

from typing import Iterator, List, Tuple
def chunks(seq: List[str], n: int) -> Iterator[Tuple[int, List[str]]]:
    for i in range(0, len(seq), n):
        yield i // n, seq[i:i + n]
def u21(s):
    return " / ".join(f"{i}:{'-'.join(c)}" for i, c in chunks(s.split(), 3))

$$;
CREATE FUNCTION u22(a TEXT, b TEXT) RETURNS BIGINT LANGUAGE python AS $$

def u22(a, b):
    if len(a) < len(b):
        return u22(b, a)
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]

$$;
CREATE FUNCTION u23(s TEXT) RETURNS TEXT LANGUAGE python AS $$

import json
def walk(node, path=""):
    if isinstance(node, dict):
        for k, v in node.items():
            yield from walk(v, f"{path}.{k}" if path else k)
    elif isinstance(node, list):
        for i, v in enumerate(node):
            yield from walk(v, f"{path}[{i}]")
    else:
        yield path, node
def u23(s):
    try:
        doc = json.loads(s)
    except ValueError:
        return None
    return "; ".join(f"{p}={v!r}" for p, v in walk(doc))

$$;
CREATE FUNCTION u24(ts TEXT) RETURNS DOUBLE LANGUAGE python AS $$

from datetime import datetime, timezone
def u24(ts):
    for fmt in ("%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S"):
        try:
            dt = datetime.strptime(ts.replace("Z", "+0000"), fmt)
        except ValueError:
            continue
        if dt.tzinfo is None:
            dt = dt.replace(tzinfo=timezone.utc)
        return dt.timestamp()
    return None

$$;
CREATE FUNCTION u25(s TEXT) RETURNS TEXT LANGUAGE python AS $$

class Trie:
    def __init__(self):
        self.kids = {}
        self.end = False
    def add(self, w):
        node = self
        for c in w:
            node = node.kids.setdefault(c, Trie())
        node.end = True
ROOT = Trie()
for w in ("bad", "awful", "bat"):
    ROOT.add(w)
def u25(s):
    hits = []
    for i in range(len(s)):
        node, j = ROOT, i
        while j < len(s) and s[j] in node.kids:
            node = node.kids[s[j]]
            j += 1
            if node.end:
                hits.append(s[i:j])
    return ",".join(hits)

$$;
CREATE FUNCTION u26(s TEXT) RETURNS TEXT LANGUAGE python AS $$

def u26(s):
    try:
        head, *rows = [r.split("\t") for r in s.splitlines()]
    except ValueError:
        return None
    recs = [dict(zip(head, r)) for r in rows]
    width = {h: max([len(h)] + [len(r.get(h, "")) for r in recs]) for h in head}
    return "\n".join(" ".join(r.get(h, "").ljust(width[h]) for h in head).rstrip() for r in [dict(zip(head, head))] + recs)

$$;
CREATE FUNCTION u27(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$

import math
BRACKETS = [(11000, 0.10), (44725, 0.12), (95375, 0.22), (math.inf, 0.24)]
def u27(x):
    if x is None or math.isnan(x):
        return None
    tax, lower = 0.0, 0.0
    for upper, rate in BRACKETS:
        if x <= lower:
            break
        tax += (min(x, upper) - lower) * rate
        lower = upper
    return round(tax, 2)

$$;
CREATE FUNCTION u28(s TEXT) RETURNS TEXT LANGUAGE python AS $$

import logging
log = logging.getLogger(__name__)
SOUNDEX = {**dict.fromkeys("BFPV", "1"), **dict.fromkeys("CGJKQSXZ", "2"), **dict.fromkeys("DT", "3"), "L": "4", **dict.fromkeys("MN", "5"), "R": "6"}
def u28(s):
    s = "".join(c for c in s.upper() if c.isalpha())
    if not s:
        log.debug("empty")
        return ""
    code, last = s[0], SOUNDEX.get(s[0], "")
    for c in s[1:]:
        d = SOUNDEX.get(c, "")
        if d and d != last:
            code += d
        if c not in "HW":
            last = d
    return (code + "000")[:4]

$$;
SELECT name, placement, reason FROM exuvia.functions WHERE placement<>'native';
