"""NumPy in row functions over scalars: native code and CPython give the same, bit for bit.

    python scalars.py [EXUVIA]

Errors of functions are NULL. Most functions run over the rows of which no argument is NULL.
"""

import random
import sys

from elementwise import compared, created

TYPES = {"x": "DOUBLE", "y": "DOUBLE", "n": "BIGINT", "b": "BOOLEAN", "s": "TEXT"}

HEAD = "import math\nimport numpy as np\nimport pandas as pd\n"

# The parameters, the type of the result, the body.
BODIES = [
    ('x', 'DOUBLE', 'return np.log(x)'),
    ('x', 'DOUBLE', 'return float(np.log(x))'),
    ('x', 'DOUBLE', 'return np.sqrt(x) * 2 + np.pi'),
    ('x y', 'DOUBLE', 'return np.hypot(x, y)'),
    ('x', 'DOUBLE', 'return round(np.exp(x / 100), 3)'),
    ('x', 'DOUBLE', 'return np.round(x, 2)'),
    ('x', 'DOUBLE', """if np.isnan(x):
    return 0.0
return x"""),
    ('x', 'BOOLEAN', 'return np.isnan(x)'),
    ('x', 'BOOLEAN', 'return bool(np.isfinite(x))'),
    ('x', 'DOUBLE', 'return np.clip(x, 0, 10)'),
    ('n', 'BIGINT', 'return np.clip(n, 0, 10)'),
    ('n', 'BIGINT', 'return int(np.clip(n, 0, 10))'),
    ('x', 'BIGINT', 'return int(np.floor(x))'),
    ('x', 'BIGINT', 'return int(np.sign(x))'),
    ('x', 'DOUBLE', 'return np.floor(x)'),
    ('x y', 'DOUBLE', 'return np.mean([x, y, 3.0])'),
    ('x y', 'DOUBLE', 'return np.std([x, y, 1.5])'),
    ('x y', 'DOUBLE', 'return np.max([x, y])'),
    ('x y', 'DOUBLE', 'return float(np.median([x, y, 0.5]))'),
    ('x y', 'DOUBLE', 'return np.sum([x, y])'),
    ('x y', 'DOUBLE', 'return np.maximum(x, y) - np.minimum(x, 0)'),
    ('x', 'DOUBLE', 'return np.abs(x)'),
    ('n', 'BIGINT', 'return np.abs(n)'),
    ('n', 'DOUBLE', 'return np.sqrt(n)'),
    ('n', 'DOUBLE', 'return np.log1p(n)'),
    ('x', 'TEXT', "return f'{np.sqrt(x):.3f}'"),
    ('x', 'TEXT', 'return str(np.round(x, 1))'),
    ('x', 'TEXT', "return 'low' if np.log1p(x) < 2 else 'high'"),
    ('x y', 'DOUBLE', 'return np.arctan2(y, x) * 180 / np.pi'),
    ('x y', 'DOUBLE', """a = np.sin(np.radians(x) / 2) ** 2 + np.cos(np.radians(y)) ** 2
return 6371 * 2 * np.arcsin(np.sqrt(a))"""),
    ('x y', 'DOUBLE', """v = np.array([x, y, 1.0])
return (v / v.sum())[0]"""),
    ('x y', 'DOUBLE', """w = np.array([0.2, 0.3])
v = np.array([x, y])
return (w * v).sum()"""),
    ('x', 'DOUBLE', 'return np.interp(x, [0, 10, 20], [0.0, 1.0, 4.0])'),
    ('x', 'BIGINT', 'return np.digitize(x, [0, 10, 20])'),
    ('x', 'TEXT', "return ['a', 'b', 'c', 'd'][np.digitize(x, [0, 10, 20])]"),
    ('x', 'TEXT', "return ['a', 'b', 'c', 'd'][np.searchsorted([0, 10, 20], x)]"),
    ('x', 'DOUBLE', 'return 1 / (1 + np.exp(-x))'),
    ('x y', 'DOUBLE', 'return x / np.float64(y)'),
    ('x', 'DOUBLE', 'return np.float64(x) / 0'),
    ('n', 'BIGINT', 'return np.int64(n) // 3'),
    ('x', 'DOUBLE', 'return np.power(x, 2)'),
    ('x', 'DOUBLE', 'return np.exp(x) if x < 10 else np.inf'),
    ('x', 'DOUBLE', 'return np.nan if x < 0 else x'),
    ('x', 'DOUBLE', 'return x if not np.isnan(x) else None'),
    ('x', 'BOOLEAN', 'return pd.isna(x)'),
    ('x', 'BOOLEAN', 'return x is None or pd.isnull(x)'),
    ('s', 'TEXT', "return '' if pd.isna(s) else s.upper()"),
    ('s', 'BIGINT', 'return len(s) if pd.notna(s) else 0'),
    ('x', 'BOOLEAN', 'return np.isclose(x, 1.5)'),
    ('x y', 'BOOLEAN', 'return np.allclose([x], [y])'),
    ('b', 'BOOLEAN', 'return np.logical_not(b)'),
    ('x', 'DOUBLE', 'return np.tanh(x) + np.cbrt(x)'),
    ('x', 'DOUBLE', 'return np.nanmean([x, np.nan, 1.0])'),
    ('x', 'DOUBLE', 'return np.nan_to_num(x)'),
    ('x', 'BOOLEAN', 'return np.sqrt(x) == 2'),
    ('n', 'BIGINT', 'return np.mod(n, 7)'),
    ('n', 'DOUBLE', 'return np.log10(n + 1.5)'),
    ('x', 'DOUBLE', 'return max(np.sqrt(x), 1.0)'),
    ('x', 'DOUBLE', 'return min(np.sqrt(x), np.log(x))'),
    ('x', 'DOUBLE', 'return sum([np.sqrt(x), 1, 2.5])'),
    ('x', 'DOUBLE', 'return {0: 1.0, 1: 2.0}.get(int(np.sign(x)), 3.0)'),
    ('x', 'DOUBLE', 'return np.sqrt(x) or 5.0'),
    ('x', 'DOUBLE', """r = np.sqrt(x)
if r:
    return r
return -1.0"""),
    ('x', 'DOUBLE', 'return -np.log(x) ** 2'),
    ('x', 'DOUBLE', 'return np.log(x) % 3 + np.log(x) // 2'),
    ('x', 'BIGINT', 'return round(np.sqrt(x))'),
    ('n', 'DOUBLE', 'return np.divide(n, 4)'),
    ('n', 'BIGINT', 'return np.bitwise_and(n, 3)'),
    ('n x', 'DOUBLE', 'return np.sqrt(n) if n > np.e else x'),
    ('x', 'DOUBLE', "return {'a': np.sqrt(x)}['a']"),
    ('x', 'DOUBLE', 'return [np.sqrt(x), x][0]'),
    ('x', 'DOUBLE[]', 'return [np.sqrt(x), x]'),
    ('x', 'DOUBLE[]', 'return np.array([x, x * 2])'),
    ('x y', 'DOUBLE[]', 'return np.linspace(x, y, 4)'),
    ('n', 'BIGINT[]', 'return np.arange(n % 5)'),
    ('x', 'DOUBLE', """try:
    return np.log(x) / 0
except ZeroDivisionError:
    return -1.0"""),
    ('s', 'DOUBLE', 'return np.sqrt(float(s))'),
    ('s', 'DOUBLE', 'return np.log(len(s) + 1)'),
    ('s', 'DOUBLE', "return np.mean([len(w) for w in s.split('1')])"),
    ('s', 'DOUBLE', """v = [ord(c) for c in s]
return float(np.std(v)) if v else 0.0"""),
    ('s', 'BIGINT', 'return int(np.sum([c.isdigit() for c in s]))'),
    ('s', 'DOUBLE', """v = np.array([ord(c) for c in s], dtype=float)
return v.mean() if v.size else np.nan"""),
    # The functions of math ask NumPy's numbers for their float.
    ('x', 'DOUBLE', 'return math.erf(x / np.sqrt(2.0)) + math.erfc(np.float64(x)) + math.exp(np.log(2.0))'),
    ('x y', 'DOUBLE', 'return math.hypot(np.float64(x), y) + math.remainder(np.float64(x), 3.5) + math.cbrt(np.abs(x))'),
    ('x', 'BIGINT', 'return math.floor(np.sqrt(np.abs(x))) + math.ceil(np.float64(x))'),
    ('x', 'BOOLEAN', 'return math.isclose(np.sqrt(np.abs(x)), 1.0) or math.isnan(np.float64(x))'),
    ('n', 'TEXT', "year, month = np.divmod(n, 12)\nreturn f'{2000 + year:04d}-{month + 1:02d}'"),
    ('x y', 'DOUBLE', """def normal(d):
    return 0.5 * (1.0 + math.erf(d / np.sqrt(2.0)))
if x <= 0 or y <= 0:
    return 0.0
d1 = (np.log(x / y) + 0.06) / (0.2 * np.sqrt(2.0))
return x * normal(d1) - y * np.exp(-0.02) * normal(d1 - 0.2 * np.sqrt(2.0))"""),
]

NUMBERS = ["NULL", "'NaN'", "'Infinity'", "-0.0", "0.0", "1.5", "-2.5", "1e15", "1e-300", "2.675"]
TEXTS = ["NULL", "''", "'abc'", "'12'", "'3.5'", "'ж1я2'", "'-7'", "'nan'"]
INTS = ["NULL", "0", "-1", "7", "9007199254740993", "9223372036854775807"]


def number(rng):
    return rng.choice([*NUMBERS, str(rng.uniform(-50, 50)), str(rng.uniform(0, 100)), f"{rng.randint(-20, 40)}.0"])


def row(rng, index):
    ints = rng.choice([*INTS, str(rng.randint(-1000, 1000))])
    values = [f"CAST({number(rng)} AS DOUBLE)", f"CAST({number(rng)} AS DOUBLE)", f"CAST({ints} AS BIGINT)"]
    values += [rng.choice(["true", "false", "NULL"]), f"CAST({rng.choice(TEXTS)} AS TEXT)"]
    return f"({index}, {', '.join(values)})"


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    rng = random.Random(3)
    values = ", ".join(row(rng, index) for index in range(200))
    script = f"CREATE TABLE t AS SELECT * FROM (VALUES {values}) AS v(i, x, y, n, b, s);\n"
    queries, expected = {}, {}
    for index, (params, returns, body) in enumerate(BODIES):
        name = f"f{index}"
        names = params.split()
        named = [(param, TYPES[param], None) for param in names]
        script += created(name, named, returns, body, HEAD, "OPTIONS (on_error 'null')")
        present = " AND ".join(f"{param} IS NOT NULL" for param in names)
        rows = "" if "None" in body or "pd." in body else f" WHERE {present}"
        queries[name] = f"SELECT {name}({', '.join(names)}) AS r FROM t{rows} ORDER BY i"
        expected[name] = (name, body, True)
    return compared(binary, script, queries, expected)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
