"""Functions of arrays: native code and CPython give the same, bit for bit.

    python arrays.py [EXUVIA]

Row functions run over arrays of every length with NULL, NaN, infinities and zeros of both signs; column
functions over whole columns and over partitions; natively and with `exuvia.lift` off, where NumPy computes
them. Errors of row functions are NULL.
"""

import random
import sys

from elementwise import compared, created

# Parameters by their names: x and y are DOUBLE, n BIGINT, b BOOLEAN.
TYPES = {"x": "DOUBLE", "y": "DOUBLE", "n": "BIGINT", "b": "BOOLEAN"}

# The rows of which no array is NULL.
PRESENT = "WHERE x IS NOT NULL AND n IS NOT NULL"

# Of arrays of a row: the parameters, the type of the result, the body.
ROWS = [
    ('x', 'DOUBLE', 'return x.sum()'),
    ('x', 'DOUBLE', 'return np.sum(x)'),
    ('x', 'DOUBLE', 'return float(x.sum())'),
    ('x', 'DOUBLE', 'return x.mean()'),
    ('x', 'DOUBLE', 'return x.std()'),
    ('x', 'DOUBLE', 'return x.var(ddof=1)'),
    ('x', 'DOUBLE', 'return np.std(x, ddof=1)'),
    ('x', 'DOUBLE', 'return x.max()'),
    ('x', 'DOUBLE', 'return x.min()'),
    ('x', 'DOUBLE', 'return np.median(x)'),
    ('x', 'DOUBLE', 'return x.prod()'),
    ('x', 'BIGINT', 'return x.argmax()'),
    ('x', 'BIGINT', 'return int(np.argmin(x))'),
    ('x', 'BIGINT', 'return len(x)'),
    ('x', 'BIGINT', 'return x.size + x.shape[0] + x.ndim'),
    ('x', 'BOOLEAN', 'return (x > 0).any()'),
    ('x', 'BOOLEAN', 'return bool((x > 0).all())'),
    ('x', 'BIGINT', 'return (x > 1.5).sum()'),
    ('x', 'BIGINT', 'return np.count_nonzero(x)'),
    ('x', 'DOUBLE', 'return (x > 1.5).mean()'),
    ('x', 'DOUBLE[]', 'return x * 2 + 1'),
    ('x y', 'DOUBLE[]', 'return x * y - x / y'),
    ('x y', 'DOUBLE', 'return (x * y).sum()'),
    ('x y', 'DOUBLE', 'return np.sqrt(((x - y) ** 2).sum())'),
    ('x y', 'DOUBLE', """d = x - y
return np.sqrt((d * d).sum()) / len(d) if len(d) else 0.0"""),
    ('x', 'DOUBLE[]', """e = np.exp(x - x.max())
return e / e.sum()"""),
    ('x', 'DOUBLE[]', 'return (x - x.mean()) / x.std()'),
    ('x', 'DOUBLE[]', """s = x.std()
if s == 0:
    return x * 0
return (x - x.mean()) / s"""),
    ('x', 'DOUBLE[]', 'return (x - x.min()) / (x.max() - x.min())'),
    ('n', 'BIGINT[]', 'return (n ^ 5) >> 2'),
    ('n', 'BIGINT[]', 'return n << 1'),
    ('n', 'BIGINT[]', 'return np.left_shift(n, np.arange(len(n)) * 9 - 3)'),
    ('n', 'BIGINT[]', 'return 7 << n'),
    ('n', 'BIGINT[]', 'return np.right_shift(n, np.arange(len(n)) * 9 - 3)'),
    ('x', 'DOUBLE[]', 'return np.where(x.sum() > 0, x, 0.0)'),
    ('x y', 'DOUBLE[]', 'return np.where(len(x) > 2, x, y)'),
    ('n', 'BIGINT[]', '''m = np.zeros(len(n), dtype=np.int64)
m[:] = n > 1
if len(n):
    m[0] = True
return m'''),
    ('x', 'DOUBLE', 'return np.linalg.norm(x, axis=0)'),
    ('x', 'DOUBLE[]', 'return np.cumsum(x)'),
    ('x', 'DOUBLE[]', 'return x.cumprod()'),
    ('x', 'DOUBLE[]', 'return np.diff(x)'),
    ('x', 'DOUBLE[]', 'return x[1:] - x[:-1]'),
    ('x', 'DOUBLE[]', 'return x[::-1]'),
    ('x', 'DOUBLE[]', 'return x[::2] * 3'),
    ('x', 'DOUBLE[]', 'return x[5:1:-2]'),
    ('x', 'DOUBLE[]', 'return x[-3:]'),
    ('x', 'DOUBLE[]', 'return x[x > 0]'),
    ('x', 'DOUBLE[]', 'return x[~np.isnan(x)]'),
    ('x', 'DOUBLE', """v = x[~np.isnan(x)]
return v.mean() if v.size else None"""),
    ('x', 'DOUBLE[]', """x[x < 0] = 0
return x"""),
    ('x', 'DOUBLE[]', """y = x.copy()
y[np.isnan(y)] = y[0] if len(y) else 0.0
return y"""),
    ('x', 'DOUBLE[]', """y = x
y += 1
return x"""),
    ('x', 'DOUBLE[]', """y = x[1:]
y *= 2
return x"""),
    ('x', 'DOUBLE[]', """x[1:] += x[:-1]
return x"""),
    ('x', 'DOUBLE[]', """if len(x) > 2:
    x[2] = 7
    x[0] = x[1]
return x"""),
    ('x', 'DOUBLE[]', """for i in range(1, len(x)):
    x[i] = 0.5 * x[i] + 0.5 * x[i-1]
return x"""),
    ('x', 'DOUBLE', """s = 0.0
for v in x:
    s += v
return s"""),
    ('x', 'DOUBLE', """s = 0.0
for v in x:
    if v > 0:
        s += float(v)
return s"""),
    ('x', 'DOUBLE', """best = None
for i, v in enumerate(x):
    if best is None or v > best:
        best = v
return best"""),
    ('x', 'DOUBLE[]', 'return np.where(x > 0, x, -x)'),
    ('x', 'DOUBLE[]', 'return np.where(np.isnan(x), 0.0, x)'),
    ('x', 'DOUBLE[]', 'return np.clip(x, -1, 1)'),
    ('x', 'DOUBLE[]', 'return x.clip(0, None)'),
    ('x', 'DOUBLE[]', 'return np.maximum(x, 0)'),
    ('x y', 'DOUBLE[]', 'return np.minimum(x, y)'),
    ('x', 'DOUBLE[]', 'return np.round(x, 2)'),
    ('x', 'DOUBLE[]', 'return np.log1p(np.abs(x))'),
    ('x', 'DOUBLE[]', 'return np.sort(x)[::-1]'),
    ('x', 'DOUBLE[]', 'return np.unique(x)'),
    ('x', 'DOUBLE[]', 'v, c = np.unique(x, return_counts=True)\nreturn v * c'),
    ('x', 'BIGINT', 'return x.argmin() if x.size else -1'),
    ('x', 'BIGINT', 'return np.argmax(x * 2) if len(x) else -1'),
    ('x', 'BIGINT', 'return np.count_nonzero(x)'),
    ('x', 'BIGINT', 'return np.count_nonzero(np.diff(np.sign(x)))'),
    ('x', 'DOUBLE[]', 'return np.sign(x)'),
    ('x', 'DOUBLE[]', 'return np.median(x), np.quantile(x, 0.3)'),
    ('x', 'DOUBLE[]', 'return np.sort(x)'),
    ('x', 'DOUBLE[]', 'return np.nan_to_num(x)'),
    ('x', 'DOUBLE[]', 'return np.concatenate((x, x * 2))'),
    ('x', 'DOUBLE[]', 'return x.tolist()'),
    ('x', 'DOUBLE[]', 'return list(x)'),
    ('x', 'DOUBLE[]', 'return [v * 2 for v in x]'),
    ('x', 'DOUBLE[]', 'return [x.mean(), x.std()]'),
    ('x', 'BIGINT[]', 'return (x > 0).astype(int)'),
    ('x', 'BOOLEAN[]', 'return x > 0'),
    ('n', 'BIGINT', 'return n.sum()'),
    ('n', 'DOUBLE', 'return n.mean()'),
    ('n', 'BIGINT', 'return n.max() - n.min()'),
    ('n', 'BIGINT[]', 'return n * 2 + 1'),
    ('n', 'DOUBLE[]', 'return n / 2'),
    ('n', 'BIGINT[]', 'return n % 3'),
    ('n', 'BIGINT[]', 'return n[n > 2]'),
    ('n', 'BIGINT[]', 'return np.cumsum(n)'),
    ('n', 'BIGINT[]', 'return np.sort(n)'),
    ('n', 'BIGINT', 'return n[0]'),
    ('n', 'BIGINT', 'return int(n[-1])'),
    ('n', 'DOUBLE', 'return n.std()'),
    ('b', 'BIGINT', 'return b.sum()'),
    ('b', 'DOUBLE', 'return b.mean()'),
    ('b', 'BOOLEAN[]', 'return ~b'),
    ('x b', 'DOUBLE[]', 'return x[b]'),
    ('x b', 'DOUBLE', 'return x[b].sum()'),
    ('x', 'DOUBLE', 'return np.sum(x ** 2) ** 0.5'),
    ('x', 'DOUBLE', 'return np.sqrt(np.mean(np.square(x)))'),
    ('x', 'DOUBLE', 'return np.ptp(x)'),
    ('x', 'DOUBLE', 'return round(float(x.mean()), 2)'),
    ('x', 'DOUBLE', 'return round(x.mean(), 2)'),
    ('x', 'DOUBLE', 'return max(x.mean(), 0)'),
    ('x', 'DOUBLE', 'return x[0] if len(x) > 0 else None'),
    ('x', 'DOUBLE', 'return x[3] + x[-1]'),
    ('x', 'DOUBLE', 'return None if x is None else x.sum()'),
    ('x', 'DOUBLE', """if x is None or len(x) == 0:
    return 0.0
return x.sum()"""),
    ('x', 'DOUBLE', """w = np.arange(len(x))
return (x * w).sum()"""),
    ('x', 'DOUBLE', """w = np.array([0.5, 0.3, 0.2])
if len(x) < 3:
    return None
return (x[:3] * w).sum()"""),
    ('x', 'DOUBLE', """out = np.zeros(len(x))
for i in range(len(x)):
    out[i] = x[i] * i
return out.sum()"""),
    ('x', 'DOUBLE[]', """def norm(v):
    return v / np.sqrt((v * v).sum())
return norm(x)"""),
    ('x', 'DOUBLE[]', 'return 1 / (1 + np.exp(-x))'),
    ('x', 'DOUBLE', 'return np.nan if x.size == 0 else np.abs(x).max()'),
    ('x y', 'BOOLEAN', 'return bool(np.all(x == y))'),
    ('x', 'BIGINT', 'return np.isnan(x).sum()'),
    ('x', 'DOUBLE', 'return ((x - x.mean()) ** 3).mean() / x.std() ** 3'),
    ('x', 'TEXT', "return 'high' if x.mean() > 0 else 'low'"),
    ('x', 'TEXT', "return f'{x.mean():.3f}'"),
    # A value that is NumPy's on one path only.
    ('x', 'DOUBLE[]', 'm = x.mean() if x.size else 0.0\nreturn x - m'),
    ('x', 'DOUBLE[]', 'm = np.nanmedian(x) if not np.isnan(x).all() else 0.0\nreturn np.where(np.isfinite(x), x, m)'),
    ('x', 'DOUBLE', 'm = x.max() if x.size else -np.inf\nif not np.isfinite(m):\n    return m\nreturn m + np.sum(np.exp(x - m))'),
    ('x', 'DOUBLE[]', 's = x.std()\nif s == 0:\n    s = 1\nreturn (x - x.mean()) / s'),
    ('n', 'DOUBLE[]', 'm = n.mean() if n.size else 0\nreturn n - m'),
    ('x', 'DOUBLE[]', 'return np.append(x, x.mean() if len(x) else 1.0)'),
    ('b', 'BOOLEAN[]', 'return np.sort(b)'),
    # New arrays.
    ('x', 'DOUBLE[]', 'if len(x) < 2:\n    return np.array([], dtype=np.float64)\nreturn np.diff(x)'),
    ('x', 'DOUBLE[]', 'if len(x) < 2:\n    return np.array([])\nreturn np.diff(x)'),
    ('n', 'BIGINT[]', 'if len(n) < 2:\n    return np.array([], dtype=np.int64)\nreturn np.diff(n)'),
    ('x', 'DOUBLE[]', 'out = np.empty_like(x)\nfor i in range(len(x)):\n    out[i] = x[i] * 2\nreturn out'),
    ('n', 'BIGINT[]', 'order = n.argsort(kind="mergesort")\nr = np.empty(len(n), dtype=int)\nr[order] = np.arange(1, len(n) + 1)\nreturn r'),
    ('x', 'DOUBLE[]', 'return np.append(x, x.sum())'),
    ('x', 'DOUBLE[]', 'return np.insert(x, 0, 0.5)'),
    ('n', 'BIGINT[]', 'return np.insert(n, len(n), 7)'),
    ('n', 'BIGINT[]', 'n[n < 3] = 2.9\nreturn n'),
    # Running extremes, and what is added to which type.
    ('n', 'BIGINT[]', 'return np.maximum.accumulate(n)'),
    ('x', 'DOUBLE[]', 'return np.minimum.accumulate(x) + np.maximum.accumulate(x)'),
    ('n', 'BIGINT', 'return np.add.reduce(n) + np.add.accumulate(n)[-1] if len(n) else 0'),
    ('n', 'DOUBLE[]', 'return np.cumsum(n, dtype=float) / np.arange(1, len(n) + 1, dtype=float)'),
    ('n', 'DOUBLE', 'return np.sum(n, dtype=np.float64) + n.sum(dtype=float)'),
    ('x', 'DOUBLE', 'return np.mean(np.abs(x), dtype=np.float64) if x.size else 0.0'),
    ('b', 'BIGINT', 'return b.sum(dtype=int) + np.cumsum(b, dtype=np.int64)[-1] if len(b) else 0'),
    # Dimensions that are kept, initial values.
    ('x', 'DOUBLE[]', 'if x.size == 0:\n    return x\nz = x - np.max(x, axis=-1, keepdims=True)\ne = np.exp(z)\nreturn e / np.sum(e, axis=-1, keepdims=True)'),
    ('x', 'DOUBLE[]', 'if x.size == 0:\n    return x\nreturn x / x.sum(axis=0, keepdims=True) + x.mean(keepdims=True) + x.min(axis=0, keepdims=True)'),
    ('x', 'DOUBLE[]', 'return x - np.max(x, initial=-np.inf) + x.min(initial=0.25)'),
    ('n', 'BIGINT[]', 'return np.where(n % 2, -1, 1) * n'),
    ('n', 'BIGINT[]', 'return np.intersect1d(n, [1, 5, -3, 7, 5]) * 2'),
    ('n', 'BIGINT[]', 'return np.setdiff1d(n, n[:2])'),
    ('x', 'DOUBLE[]', 'return (x[None] * x[:, None]).sum(axis=0)'),
    ('x', 'DOUBLE[]', 'return np.union1d(x, [0.5, -1.0, 0.5])'),
    ('x', 'DOUBLE[]', 'return np.setdiff1d(x, x[1:])'),
    ('x', 'DOUBLE[]', 'return np.nanpercentile(x, [75, 25, 50]) if np.isfinite(x).any() else x'),
    ('n', 'BIGINT[]', 'i = np.where(n > 1, np.arange(len(n)), 0)\nnp.maximum.accumulate(i, out=i)\nreturn n[i] if len(n) else n'),
    ('x', 'DOUBLE[]', 'return np.where(x - 0.5, x, 2.0)'),
    # Keywords of selection.
    ('n', 'BIGINT[]', 'return n[np.isin(n, [1, 5, -3], invert=True)]'),
    ('n', 'BIGINT[]', 'return np.diff(n, prepend=n[:1])'),
    ('x', 'DOUBLE[]', 'return np.diff(x, prepend=0.0, append=1.0)'),
    ('n', 'DOUBLE[]', 'return np.diff(n, prepend=0.5)'),
    ('n', 'BIGINT[]', 'q, r = np.divmod(n, 3)\nreturn q * 10 + r'),
]

# What keeps an array that is not computed yet, and what changes arrays meanwhile: some of them run in CPython.
KEPT = [
    ("x", "DOUBLE[]", "t = (x + 1, x.fill(0))\nreturn t[0]"),
    ("x", "DOUBLE[]", "if len(x):\n    x[0], a = 5, x + 1\n    return a"),
    ("x y", "DOUBLE[]", "x[:], y[:] = y + 0, x + 0\nreturn x - y"),
    ("x", "DOUBLE[]", "x[1:], x[:-1] = x[:-1] * 1, x[1:] * 1\nreturn x"),
    ("x", "DOUBLE[]", "def h(v):\n    return v * 2\nt = (h(x), x.fill(0))\nreturn t[0]"),
    ("x", "DOUBLE[]", "try:\n    return x + 1\nfinally:\n    x.fill(0)"),
    ("x", "DOUBLE[]", "def g(v):\n    try:\n        return v + 1\n    finally:\n        v += 5\nreturn g(x)"),
    ("x", "DOUBLE[]", "def bump(v):\n    v += 1\n    return v\nreturn (x * 2) + bump(x)"),
    ("x", "DOUBLE[]", "return (x * 2) + (x.fill(3) or 0)"),
    ("x", "DOUBLE[]", "class C:\n    pass\no = C()\no.v = x + 1\nx.fill(0)\nreturn o.v"),
    ("x", "DOUBLE[]", "d = {'a': x + 1}\nx.fill(0)\nreturn d['a']"),
    ("x", "DOUBLE[]", "if (y := x + 1) is not None:\n    x.fill(0)\nreturn y"),
    ("x", "DOUBLE[]", "for a in (x + 1, x + 2):\n    x += a\nreturn x"),
    ("x", "DOUBLE[]", "def g(*a):\n    a[0].fill(0)\n    return a[1]\nreturn g(x, x * 2)"),
    ("x", "DOUBLE[]", "a, b = c = (x + 1, x + 2)\nx.fill(0)\na += 1\nreturn c[0]"),
    ("x", "DOUBLE[]", "y = z = x + 1\nz[:1] = 3\nreturn y"),
    ("x", "DOUBLE[]", "a = b = c = x * 2\nb += 1\nreturn a + c"),
    ("x", "DOUBLE[]", "t = (x * 1,)\nv = t[0]\nv[:1] = 8\nreturn t[0]"),
    ("x", "DOUBLE[]", "t = (x * 1,)\nv, = t\nv += 8\nreturn t[0]"),
    ("x", "DOUBLE[]", "t = (x * 1, 2)\nt[0][:1] = 99\nreturn t[0]"),
    ("x", "DOUBLE[]", "t = (x * 1, 2)\nt[0].fill(4)\nreturn t[0]"),
    ("x", "DOUBLE[]", "d = {'a': x * 1}\nd['a'][:1] = 99\nreturn d['a']"),
    ("x", "DOUBLE[]", "(a := x + 1)\na[:1] = 4\nreturn a"),
    ("x y", "DOUBLE", "return (x if len(x) > 2 else y).sum()"),
    ("x y", "DOUBLE", "z = x if len(x) > 2 else y\nreturn z.sum()"),
    ("x y", "DOUBLE[]", "y = x + 1 if len(x) > 2 else y * 2\nreturn y"),
    ("x", "DOUBLE[]", "y = x\nfor k in range(3):\n    y = y * 0.5 + 1\nreturn y"),
    ("x", "DOUBLE[]", "cur, nxt = x.copy(), x * 0\nfor k in range(3):\n    nxt[1:] = cur[:-1] * 0.5\n    cur, nxt = nxt, cur\nreturn cur"),
    ("x", "DOUBLE[]", "y = x[::2].ravel()\ny += 99\nreturn x"),
    ("x", "DOUBLE[]", "y = np.asarray(x, dtype=float)\ny += 9\nreturn x"),
    ("x", "BOOLEAN", "return x.T is x or x.ravel() is x"),
    ("x", "DOUBLE", "s = 0.0\nfor v, w in zip(x, x[1:]):\n    x[1:] += 1\n    s += v * w\nreturn s"),
    ("x", "DOUBLE", "return sum(v * w for v, w in zip(x, x[::-1]))"),
    ("n", "DOUBLE", "return np.count_nonzero(n) / 0"),
    ("x", "DOUBLE", "s = 0.0\nfor v in x:\n    if isinstance(v, float):\n        s += v\nreturn s"),
    ("x", "BOOLEAN", "return len(x) > 0 and type(x[0]) == np.float64"),
    ("x", "DOUBLE", "return np.clip(x, 2).sum()"),
    ("x", "DOUBLE", "return x.sum(axis=0.0)"),
    ("x", "DOUBLE", "import math\nreturn math.sqrt((x * x).sum()) + math.log1p(abs(x.mean()))"),
    ('n', 'BIGINT[]', """out = [0] * (n.argmax() + 1)
out[0] += 1
return out"""),
    ('n', 'TEXT', "return 'ab' * n.argmax()"),
    ('x', 'DOUBLE', 'return np.percentile(x, 100)'),
    ('x', 'DOUBLE[]', 'return np.quantile(x, [0.0, 1.0])'),
    ('n', 'TEXT', 'return str(np.quantile(n, 1))'),
    ('n', 'TEXT', 'return str(np.percentile(n, 100))'),
    ('n', 'TEXT', 'return str(np.sum([v for v in n.tolist() if v > 30]))'),
    ('x', 'BOOLEAN', """v = x[0]
return v in [v]"""),
    ('x', 'BOOLEAN', """r = list(x)
return r == r"""),
    ('x', 'BOOLEAN', """r = x.max()
return [r, r].count(r) == 2"""),
    ('x', 'BOOLEAN', 'return x[0] == x[0]'),
    ('x', 'DOUBLE[]', 'return divmod(x, 2.0)[1] + divmod(7.5, x)[0]'),
    ('n', 'BIGINT[]', 'return None if n is None else np.unique(n, True)[1]'),
    ('n', 'BIGINT[]', 'return None if n is None else np.unique(n, False, True)[1]'),
    ('n', 'BIGINT[]', 'return np.arange(0, 3, 0.5, dtype=int) + len(n)'),
    ('n', 'DOUBLE', 'return n.max(initial=-0.5) / 2 + n.min(initial=2.5) + np.max(n, keepdims=True, initial=2.5)[0]'),
    ('n', 'BOOLEAN', 'return n.sum(dtype=bool)'),
    ('n', 'BIGINT[]', 'return np.sum(n, 0, None, True)'),
    ('n', 'BIGINT[]', 'return np.max(n, 0, True)'),
]

# As above, of rows without NULL arrays.
KNOWN = [
    ('x', 'BIGINT[]', 'return np.argsort(x)'),
    ('n', 'BIGINT[]', "return np.argsort(n, kind='stable')"),
    ('x', 'BIGINT[]', 'return x.argsort().argsort()'),
    ('x', 'DOUBLE[]', 'return x[np.argsort(-x)[:3]]'),
    ('n', 'BIGINT[]', 'return np.unique(n)'),
    ('n', 'BIGINT[]', """v, c = np.unique(n, return_counts=True)
return c"""),
    ('x', 'BIGINT', 'return len(np.unique(x))'),
    ('n', 'BIGINT', """v, c = np.unique(n, return_counts=True)
return v[np.argmax(c)]"""),
    ('x', 'BIGINT', 'return np.searchsorted([-1.0, 0.0, 2.0, 5.0], x.sum())'),
    ('x', 'BIGINT[]', 'return np.searchsorted(np.array([-1.0, 0.0, 2.0, 5.0]), x)'),
    ('x', 'BIGINT[]', 'return np.digitize(x, [0, 1, 2.5])'),
    ('n', 'BIGINT[]', 'return np.digitize(n, [0, 10, 20], right=True)'),
    ('x', 'DOUBLE', 'return np.percentile(x, 90)'),
    ('x', 'DOUBLE', 'return np.percentile(x, 33.3)'),
    ('x', 'DOUBLE', 'return np.quantile(x, 0.25)'),
    ('n', 'DOUBLE', 'return np.percentile(n, 75) - np.percentile(n, 25)'),
    ('x', 'DOUBLE[]', 'return np.percentile(x, [25, 50, 75])'),
    ('x', 'DOUBLE[]', 'return np.percentile(x, [99, 1, 50, 50, 0, 100, 12.5, 33.3, 75, 25])'),
    ('x', 'DOUBLE', """q1, q3 = np.percentile(x, [25, 75])
return q3 - q1"""),
    ('x', 'DOUBLE[]', """lo, hi = np.quantile(x, 0.1), np.quantile(x, 0.9)
return np.clip(x, lo, hi)"""),
    ('x', 'DOUBLE[]', 'return np.interp(x, [0.0, 1.0, 2.0], [10.0, 20.0, 15.0])'),
    ('x', 'DOUBLE', 'return np.interp(2.5, np.arange(len(x)), x)'),
    ('x', 'DOUBLE', 'return np.nansum(x)'),
    ('x', 'DOUBLE', 'return np.nanmean(x)'),
    ('x', 'DOUBLE', 'return np.nanstd(x)'),
    ('x', 'DOUBLE', 'return np.nanvar(x, ddof=1)'),
    ('x', 'DOUBLE', 'return np.nanmax(x) - np.nanmin(x)'),
    ('x', 'DOUBLE', 'return np.nanmedian(x)'),
    ('x', 'DOUBLE', 'return np.nanpercentile(x, 95)'),
    ('x', 'DOUBLE[]', 'return np.nancumsum(x)'),
    ('n', 'DOUBLE', 'return np.nanmean(n) + np.nansum(n)'),
    ('x y', 'DOUBLE', 'return np.average(x, weights=y)'),
    ('x', 'DOUBLE', 'return np.average(x)'),
    ('x y', 'BOOLEAN', 'return np.allclose(x, y)'),
    ('x y', 'BOOLEAN[]', 'return np.isclose(x, y, atol=0.5)'),
    ('x', 'BOOLEAN[]', 'return np.isclose(x, 0)'),
    ('x y', 'BOOLEAN', 'return np.array_equal(x, y)'),
    ('x', 'BIGINT[]', 'return np.flatnonzero(x > 0)'),
    ('x', 'BIGINT[]', 'return np.where(x > 0)[0]'),
    ('x', 'BIGINT', """i = np.nonzero(x > 1)[0]
return i[0] if len(i) else -1"""),
    ('x', 'DOUBLE[]', 'return np.take(x, [0, -1])'),
    ('n', 'BOOLEAN[]', 'return np.isin(n, [1, 2, 3])'),
    ('x', 'DOUBLE[]', 'return np.flip(x)'),
    ('x', 'DOUBLE[]', 'return np.roll(x, 1)'),
    ('n', 'BIGINT[]', 'return np.roll(n, -2)'),
    ('x', 'DOUBLE[]', 'return np.repeat(x, 2)'),
    ('x', 'DOUBLE[]', 'return np.tile(x, 2)'),
    ('x', 'DOUBLE[]', 'return np.append(x, 1.5)'),
    ('x', 'DOUBLE[]', 'return np.append(x, [1, 2])'),
    ('x', 'DOUBLE[]', 'return np.concatenate([x, x[::-1]])'),
    ('x n', 'DOUBLE[]', 'return np.concatenate([x, n])'),
    ('x', 'DOUBLE[]', 'return np.concatenate(([0.0], np.cumsum(x)))'),
    ('x', 'DOUBLE[]', 'return np.hstack([x, np.zeros(2)])'),
    ('x', 'DOUBLE[]', 'return np.linspace(x.min(), x.max(), 5)'),
    ('x', 'DOUBLE[]', 'return np.linspace(0, 1, len(x))'),
    ('x', 'DOUBLE[]', 'return np.linspace(0, 10, 7, endpoint=False)'),
    ('x', 'DOUBLE[]', 'return np.gradient(x)'),
    ('x', 'DOUBLE', 'return np.trapezoid(x)'),
    ('x', 'DOUBLE', 'return np.trapezoid(x, dx=0.1)'),
    ('x y', 'DOUBLE', 'return np.trapezoid(y, x)'),
    ('n', 'BIGINT[]', 'return np.bincount(np.abs(n) % 5)'),
    ('n', 'BIGINT[]', 'return np.bincount(np.clip(n, 0, 3), minlength=6)'),
    ('x', 'DOUBLE[]', 'return np.arange(0, 2, 0.3) + x[0]'),
    ('x', 'DOUBLE[]', 'return np.arange(0.0, len(x)) * x'),
    ('x', 'TEXT', 'return str(x[0])'),
    ('x', 'TEXT', "return f'{x[0]} {x[-1]:.2f}'"),
    ('n', 'TEXT', "return f'{n.sum()}'"),
    ('n', 'TEXT', "return ','.join(str(v) for v in n)"),
    ('x', 'TEXT', "return ','.join(map(str, x.tolist()))"),
    ('x', 'TEXT', """names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't']
return names[x.argmax()]"""),
    ('x', 'DOUBLE', """t = 0.0
for i in range(np.argmax(x)):
    t += x[i]
return t"""),
    ('n', 'BIGINT[]', 'return n & 1'),
    ('n', 'BIGINT[]', 'return (n | 4) ^ 3'),
    ('n', 'BIGINT[]', 'return ~n'),
    ('n', 'BIGINT', 'return ((n & 1) == 0).sum()'),
    ('n', 'BOOLEAN[]', 'return np.logical_and(n, n > 2)'),
    ('n', 'BOOLEAN[]', 'return np.logical_not(n)'),
    ('x n', 'BOOLEAN[]', 'return np.logical_or(n, n == 0)'),
    ('x', 'DOUBLE[]', """x[x < 0] += 10
return x"""),
    ('x', 'DOUBLE[]', """x[x < 0] = -x[x < 0]
return x"""),
    ('x y', 'DOUBLE[]', """out = x.copy()
m = x > 0
out[m] = np.log(x[m])
return out"""),
    ('x', 'DOUBLE[]', """x[[0, 1]] = x[[1, 0]]
return x"""),
    ('x', 'DOUBLE', 'return np.mean([x.min(), x.max()])'),
    ('x', 'DOUBLE[]', 'return np.array([x.min(), x.mean(), x.max()])'),
    ('x', 'DOUBLE[]', 'return np.array([v * 2 for v in x])'),
    ('x', 'DOUBLE[]', 'return np.array([v if v > 0 else 0.0 for v in x.tolist()])'),
    ('x', 'DOUBLE[]', """out = []
for v in x:
    out.append(v * 2)
return np.array(out)"""),
    ('x', 'DOUBLE[]', 'return [float(v) for v in x]'),
    ('x', 'DOUBLE[]', 'return list(x)'),
    ('x', 'DOUBLE', 'return sum(x)'),
    ('x', 'DOUBLE', 'return max(x) - min(x)'),
    ('x', 'DOUBLE[]', 'return sorted(x)'),
    ('x', 'DOUBLE', 'return np.sum([1.0, 2.0, float(x[0])])'),
    ('x', 'DOUBLE', 'return np.float64(x[0]) + 1'),
    ('x', 'DOUBLE[]', 'return np.log1p(x.tolist())'),
    ('x', 'DOUBLE[]', 'return np.array(x, dtype=float)'),
    ('x', 'BIGINT[]', 'return np.sign(x).astype(int)'),
    ('x', 'DOUBLE[]', """a, b = x[:-1], x[1:]
return np.where(a != 0, (b - a) / a, 0.0)"""),
    ('x', 'DOUBLE[]', 'return np.polyval([1.0, 2.0, 3.0], x)'),
    ('x', 'DOUBLE', 'return np.polyval([1, 2, 3], x[0])'),
    ('x', 'DOUBLE', 'return np.polyval(x, 2.0)'),
    ('x', 'DOUBLE', 'return x[~np.isnan(x)].mean()'),
    ('x', 'BOOLEAN', 'return bool(np.any(np.diff(x) < 0))'),
    ('x', 'BIGINT', 'return int((np.diff(np.sign(x)) != 0).sum())'),
    ('n', 'BIGINT[]', 'u, inverse = np.unique(n, return_inverse=True)\nreturn inverse + 1'),
    ('n', 'BIGINT[]', 'u, inverse, counts = np.unique(n, return_inverse=True, return_counts=True)\nreturn counts[inverse]'),
    ('x', 'DOUBLE[]', 'return np.ravel(x)'),
    ('x', 'DOUBLE[]', 'return np.atleast_1d(np.squeeze(x) + 1)'),
    ('x', 'DOUBLE[]', 'return np.atleast_1d(np.reshape(x, (-1, 1)).squeeze())'),
    ('x', 'DOUBLE[]', 'return np.extract(x > 1, x)'),
    ('x b', 'DOUBLE[]', 'return np.compress(x > 0, x)'),
    ('x', 'DOUBLE', 'return np.nanprod(x)'),
    ('x', 'DOUBLE[]', 'return np.nancumprod(x)'),
    ('x', 'BIGINT', 'return np.nanargmax(x)'),
    ('x', 'BIGINT', 'return np.nanargmin(x) + np.nanargmax(x)'),
    ('x', 'DOUBLE[]', 'return np.ediff1d(x, to_begin=0)'),
    ('x', 'DOUBLE[]', 'return np.ediff1d(x, to_end=[1.5, 2.5], to_begin=x[0])'),
    ('x', 'BOOLEAN[]', 'return np.isin(x + 0, [1.0, 2.5], kind=None)'),
    ('n', 'BOOLEAN[]', "return np.isin(n + 0, [1, 2, 3, 50], kind='sort')"),
    ('x', 'DOUBLE[]', "return np.pad(x, 2, mode='reflect')"),
    ('x', 'DOUBLE[]', "return np.pad(x, (1, 4), mode='symmetric')"),
    ('x', 'DOUBLE[]', "return np.pad(x, (3, 5), mode='wrap')"),
    ('x', 'DOUBLE[]', "return np.pad(x, (9, 7), mode='reflect')"),
    ('n', 'BIGINT[]', "return np.pad(n, (2, 2), mode='symmetric')"),
    ('x', 'DOUBLE[]', 'return np.unwrap(x)'),
    ('x', 'DOUBLE[]', 'return np.unwrap(x, period=10)'),
    ('x', 'DOUBLE[]', 'return np.unwrap(x, discont=8.0)'),
    ('x', 'BOOLEAN[]', 'return np.signbit(x[~np.isnan(x)])'),
    ('n', 'BOOLEAN[]', 'return np.signbit(n)'),
    ('n', 'BIGINT[]', 'return np.invert(n)'),
    ('b', 'BOOLEAN[]', 'return np.bitwise_not(b)'),
    ('x', 'DOUBLE[]', 'return np.sinc(x)'),
    ('x', 'DOUBLE[]', 'return np.sinc([0, 1, 2]) * len(x)'),
    ('n', 'DOUBLE[]', 'return np.sinc(n / 4)'),
    ('x', 'DOUBLE[]', 'return np.heaviside(x, 0.5)'),
    ('x y', 'DOUBLE[]', 'return np.heaviside(x, y)'),
    ('x y', 'DOUBLE[]', 'return np.logaddexp(x, y)'),
    ('x', 'DOUBLE[]', 'return np.logaddexp(0, x)'),
    ('x', 'DOUBLE[]', 'return np.float_power(np.abs(x), 0.3)'),
    ('n', 'DOUBLE[]', 'return np.float_power(n, 2)'),
    ('n', 'BIGINT[]', 'return np.gcd(n, 12)'),
    ('n', 'BIGINT[]', 'return np.lcm(n, 6)'),
    ('x', 'DOUBLE[]', 'return np.fix(x)'),
    ('x y', 'DOUBLE[]', 'return np.kron(x[:3], y[:4])'),
    ('x y', 'DOUBLE[]', 'return np.atleast_1d(np.cross(x[:3], y[:3]))'),
    ('n', 'BIGINT[]', 'return np.atleast_1d(np.cross(n[:3], [1, 2, 3]))'),
    ('x', 'DOUBLE', 'return np.linalg.norm(x, 1)'),
    ('x', 'DOUBLE', 'return np.linalg.norm(x, ord=np.inf)'),
    ('n', 'DOUBLE', 'return np.linalg.norm(n, ord=1)'),
    ('x', 'DOUBLE', 'return np.var(x, axis=None, dtype=None, ddof=1)'),
    ('x', 'DOUBLE[]', 'return x / np.std(x, keepdims=True)'),
    ('x', 'DOUBLE', 'return np.nanvar(x, ddof=1) + np.nanstd(x, axis=0)'),
    ('x', 'DOUBLE[]', 'return x - np.nanmean(x, keepdims=True)'),
    ('x', 'DOUBLE[]', 'return x - np.nanmax(x, axis=0, keepdims=True) + np.nansum(x, axis=-1, keepdims=True)'),
    ('x', 'DOUBLE', 'return np.ptp(x, axis=None) + np.amax(x, axis=None)'),
    ('x', 'DOUBLE[]', 'return np.histogram(x[np.abs(x) < 1e6], bins=4, density=True)[0]'),
    ('x', 'DOUBLE[]', 'return np.histogram(x, bins=[-10.0, 0.0, 1.0, 50.0], density=True)[0]'),
]

# Of lists, which a row function takes where nothing is annotated.
LISTS = [
    ('DOUBLE', 'return float(np.mean(x))'),
    ('DOUBLE', 'return np.std(x, ddof=1)'),
    ('DOUBLE', 'return float(np.percentile(x, 95))'),
    ('DOUBLE', 'return np.median(x)'),
    ('DOUBLE[]', 'return np.cumsum(x).tolist()'),
    ('DOUBLE[]', """a = np.asarray(x)
return ((a - a.mean()) / a.std()).tolist()"""),
    ('DOUBLE[]', 'return list(np.sort(x))'),
    ('BIGINT', 'return int(np.argmax(x))'),
    ('DOUBLE', 'return float(np.array(x).sum())'),
    ('DOUBLE[]', 'return np.sqrt(x).tolist()'),
]

# Of whole columns, which are not elementwise.
WHOLE = [
    ('x', 'DOUBLE', 'return x + 1 if isinstance(x, np.ndarray) else x'),
    ('x', 'DOUBLE', 'return (x - x.mean()) / x.std()'),
    ('x', 'DOUBLE', 'return (x - np.nan_to_num(x).mean()) / np.nan_to_num(x).std()'),
    ('x', 'DOUBLE', 'return x - x[0]'),
    ('x', 'DOUBLE', 'return np.cumsum(x)'),
    ('x', 'DOUBLE', """v = x[~np.isnan(x)]
m = v.mean()
return np.where(np.isnan(x), m, x)"""),
    ('x', 'DOUBLE', """lo = np.nan_to_num(x).min()
hi = np.nan_to_num(x).max()
return (x - lo) / (hi - lo)"""),
    ('x', 'DOUBLE', """out = np.zeros(len(x))
out[1:] = x[1:] - x[:-1]
return out"""),
    ('x', 'DOUBLE', 'return x[::-1]'),
    ('x y', 'DOUBLE', 'return x * y / (x * y).sum()'),
    ('x', 'BOOLEAN', 'return x > np.median(np.nan_to_num(x))'),
    ('n', 'BIGINT', 'return n - n.min()'),
    ('n', 'DOUBLE', 'return n / n.sum()'),
    ('n', 'BIGINT', 'return np.cumsum(n)'),
    ('x', 'BIGINT', 'return (x > 0).cumsum()'),
    ('b', 'BIGINT', 'return b.cumsum()'),
    ('x', 'DOUBLE', """e = 0.0
out = np.zeros(len(x))
for i in range(len(x)):
    e = 0.9 * e + 0.1 * (0.0 if np.isnan(x[i]) else x[i])
    out[i] = e
return out"""),
    ('x', 'DOUBLE', 'return np.exp(x - x.max()) / np.exp(x - x.max()).sum()'),
    ('x', 'DOUBLE', 'return np.sort(x)'),
    ('x', 'DOUBLE', 'return x - (x * 0).min() - (x * 0).max()'),
    ('x y', 'DOUBLE', 'return x - (x * y).min() + (x - y).max() + (x + y).std() + x[x > y].sum()'),
]

# Of whole columns as Series, which pass over what is missing.
SERIES = [
    ('x', 'DOUBLE', 'return (x - x.mean()) / x.std()'),
    ('x', 'DOUBLE', 'return (x - x.min()) / (x.max() - x.min())'),
    ('x', 'DOUBLE', 'return x.fillna(x.mean())'),
    ('x', 'BOOLEAN', 'return x.isin([1.0, 2.5, x.max()])'),
    ('x', 'DOUBLE', 'return x.where(x.isin([0.0, -1.0]), x.mean())'),
    ('x', 'DOUBLE', 'return x.fillna(x.median())'),
    ('x', 'DOUBLE', 'return x.cumsum()'),
    ('x', 'DOUBLE', 'return x.cumprod()'),
    ('x', 'DOUBLE', 'return x.diff()'),
    ('x', 'DOUBLE', 'return x - x.shift(1)'),
    ('x', 'DOUBLE', 'return x.shift(-2).fillna(0)'),
    ('x', 'DOUBLE', 'return x / x.sum()'),
    ('x y', 'DOUBLE', 'return (x * y) / (x * y).sum()'),
    ('x', 'BOOLEAN', 'return x > x.mean() + 2 * x.std()'),
    ('x', 'DOUBLE', 'return x.clip(x.mean() - x.std(), x.mean() + x.std())'),
    ('x', 'DOUBLE', """m = x[x > 0].mean()
return x.where(x > 0, m)"""),
    ('x', 'DOUBLE', 'return x - x.iloc[0]'),
    ('x', 'DOUBLE', 'return np.where(x > x.mean(), 1.0, 0.0)'),
    ('x', 'DOUBLE', 'return np.log1p(x.abs()) / np.log1p(x.abs()).max()'),
    ('x', 'DOUBLE', """s = x.std(ddof=0)
if s == 0 or np.isnan(s):
    return x * 0
return (x - x.mean()) / s"""),
    ('x', 'DOUBLE', 'return x * x.count() / len(x)'),
    ('x', 'DOUBLE', 'return (x - np.mean(x)) / np.std(x)'),
    ('x', 'DOUBLE', 'return x - x.values.mean()'),
    ('x', 'BOOLEAN', 'return x.between(x.min(), x.median())'),
    ('x', 'BIGINT', 'return x.isna().cumsum()'),
    ('x', 'DOUBLE', 'return x.round(1) - x.mean().round(1)'),
    ('x', 'DOUBLE', """out = x.copy()
out[x < x.mean()] = 0.0
return out"""),
    ('n', 'BIGINT', 'return n - n.min()'),
    ('n', 'DOUBLE', 'return n / n.sum()'),
    ('n', 'DOUBLE', 'return n / n.max()'),
    ('x b', 'DOUBLE', 'return x.where(b, x.mean())'),
    ('x', 'DOUBLE', 'return x.prod() + x * 0'),
    ('x y', 'DOUBLE', """d = x - y
return (d - d.mean()).abs()"""),
    ('x', 'DOUBLE', 'return x.cummax() - x.cummin()'),
    ('x', 'BOOLEAN', 'return x > x.quantile(0.9)'),
    ('x', 'DOUBLE', 'return x.to_numpy() - x.mean()'),
    ('x', 'DOUBLE', 'return x - (x * 0).min() - (x * 0).max()'),
    ('x y', 'DOUBLE', 'return x + (x - y).count() + (x - y).sum() + (x - y).std()'),
    ('x', 'DOUBLE', 'return x - np.nanmax(x.values) - np.nanmin(x.values) - np.nansum(x.values) - np.nanstd(x.values)'),
    ('x', 'DOUBLE', 'w = (1 + x.fillna(0)).cumprod()\nreturn w / w.cummax() - 1'),
    ('x', 'DOUBLE', """out = np.empty(len(x))
level = 0.0
for i, v in enumerate(x.to_numpy()):
    if not np.isnan(v):
        level = 0.3 * v + 0.7 * level
    out[i] = level
return pd.Series(out)"""),
    ('x', 'DOUBLE', """out = []
total = 0.0
for v in x.fillna(0.0).to_numpy():
    total = max(0.0, total + float(v))
    out.append(total)
return pd.Series(out, index=x.index)"""),
    ('x', 'DOUBLE', 'return pd.Series(np.cumsum(x.fillna(0).to_numpy()), index=x.index) - x.mean()'),
    ('n', 'BIGINT', 'return pd.Series(np.sort(n.to_numpy())) + n.min()'),
    ('x', 'BOOLEAN', 'return pd.Series(np.abs(x.to_numpy()) > 1.0, index=x.index) & (x > 0)'),
    ('x', 'DOUBLE', 'return (x - np.nanmean(x)) / np.nanstd(x)'),
    ('x', 'DOUBLE', 'return x - np.nanmedian(x) - np.nanmax(x) + np.nanmin(x) - np.nansum(x) * np.nanvar(x, ddof=1)'),
    ('x', 'DOUBLE', 'return x.clip(np.nanpercentile(x, 5), np.nanquantile(x, 0.95))'),
    ('x', 'DOUBLE', 'return np.nancumsum(x) - x'),
    ('x', 'DOUBLE', 'return np.sinc(x).mean() + x'),
    ('n', 'DOUBLE', 'return (n - np.nanmean(n)) / np.nanstd(n)'),
]

SPECIAL = ["NULL", "'NaN'", "'inf'", "'-inf'", "0.0", "-0.0", "1.0", "-1.0", "2.5", "5", "1e308", "5e-324", "2.675"]


def number(rng, dirty):
    if rng.random() < dirty:
        return f"CAST({rng.choice(SPECIAL)} AS DOUBLE)"
    return repr(rng.uniform(-20, 20) if rng.random() < 0.6 else round(rng.uniform(-100, 100), 2))


def array(kind, items):
    return f"CAST([{', '.join(items)}] AS {kind}[])"


def row(rng, index):
    """Arrays of the same length in most rows, then values for columns."""
    dirty = rng.choice([0, 0, 0.25])
    length = rng.choice([0, 1, 2, 3, 5, 7, 8, 9, 12, 16, 40, 128, 129, 300])
    numbers = lambda: [number(rng, dirty) for _ in range(length)]
    others = numbers()
    if rng.random() < 0.1:
        others = others[1:] + ["1.0", "2.0"]
    ints = [str(rng.randint(-50, 50)) for _ in range(length)]
    if rng.random() < 0.1:
        ints.append("NULL")
    bools = [rng.choice(["true", "false"]) for _ in range(length)]
    absent = lambda value, kind: f"CAST(NULL AS {kind}[])" if rng.random() < 0.05 else value
    arrays = [
        absent(array("DOUBLE", numbers()), "DOUBLE"),
        array("DOUBLE", others),
        absent(array("BIGINT", ints), "BIGINT"),
        array("BOOLEAN", bools),
    ]
    # The columns cx and cy have no special values, which would make those of sums and means all NaN.
    columns = [number(rng, 0), number(rng, 0), str(rng.randint(-50, 50)), rng.choice(["true", "false"]), number(rng, 0.1)]
    return f"({index}, {', '.join(arrays + columns)})"


def create(name, params, returns, body, of_rows, form="np.ndarray"):
    suffix = "[]" if of_rows else ""
    named = [(param, TYPES[param] + suffix, form) for param in params.split()]
    options = "OPTIONS (on_error 'null')" if of_rows else ""
    return created(name, named, returns, body, "import numpy as np\nimport pandas as pd\n", options)


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    rng = random.Random(7)
    names = "i, x, y, n, b, cx, cy, cn, cb, cz"
    values = ", ".join(row(rng, index) for index in range(150))
    script = f"CREATE TABLE t AS SELECT * FROM (VALUES {values}) AS v({names});\n"
    queries, expected = {}, {}

    def add(name, function, query, shown, native=True):
        queries[name] = query
        expected[name] = (function, shown, native)

    # Over which rows, whether natively, and what annotates the parameters.
    of_rows = [(*entry, "", True, "np.ndarray") for entry in ROWS]
    of_rows += [(*entry, "", None, "np.ndarray") for entry in KEPT]
    of_rows += [(*entry, PRESENT, True, "np.ndarray") for entry in KNOWN]
    of_rows += [("x", *entry, PRESENT, True, None) for entry in LISTS]
    for index, (params, returns, body, rows, native, form) in enumerate(of_rows):
        name = f"f{index}"
        script += create(name, params, returns, body, True, form)
        add(name, name, f"SELECT {name}({', '.join(params.split())}) AS r FROM t {rows} ORDER BY i", body, native)
    whole = [(*entry, "np.ndarray") for entry in WHOLE] + [(*entry, "pd.Series") for entry in SERIES]
    for index, (params, returns, body, form) in enumerate(whole):
        name = f"w{index}"
        script += create(name, params, returns, body, False, form)
        clean = f"{name}({', '.join('c' + param for param in params.split())})"
        dirty = f"{name}({', '.join('cz' if param in 'xy' else 'c' + param for param in params.split())})"
        add(name, name, f"SELECT {clean} AS r FROM t ORDER BY i", body)
        add(f"{name}z", name, f"SELECT {dirty} AS r FROM t ORDER BY i", f"{body} (dirty)")
        over = f"SELECT {clean} OVER (PARTITION BY i % 7 ORDER BY i) AS r FROM t ORDER BY i"
        add(f"{name}o", name, over, f"{body} (over)")
    return compared(binary, script, queries, expected)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
