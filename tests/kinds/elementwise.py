"""Elementwise column functions: native code and CPython give the same, bit for bit.

    python elementwise.py [EXUVIA]

Each function runs over columns of every kind of float, int, bool and text, natively and with `exuvia.lift`
off, where pandas and NumPy compute whole columns.
"""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq

# Elementary functions are those of the C library, as NumPy has them without these.
os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 X86_V3"

HEAD = """
import numpy as np
import pandas as pd

M = {'x': 'a', 'y': 'b'}


def grade(v):
    if v != v:
        return 'none'
    return 'high' if v > 10 else 'low'

def half(v):
    return v / 2 if v > 0 else 0.0

def tag(s):
    return s.upper() if isinstance(s, str) else None

def both(a, b):
    if a > b:
        return a
    return b * 2.0

"""

# Functions of arrays of DOUBLE: how many, the type of the result, the body.
ARRAYS = [
    (3, "DOUBLE", 'return a + 2.5*b - c'),
    (2, "DOUBLE", 'return a / b'),
    (2, "DOUBLE", 'return 1 / (a - b)'),
    (2, "DOUBLE", 'return a // b'),
    (2, "DOUBLE", 'return a % b'),
    (1, "DOUBLE", 'return 7 % a'),
    (1, "DOUBLE", 'return a ** 2'),
    (1, "DOUBLE", 'return a ** 3'),
    (1, "DOUBLE", 'return a ** 0.5'),
    (2, "DOUBLE", 'return a ** b'),
    (1, "DOUBLE", 'return 2 ** a'),
    (2, "DOUBLE", 'return np.power(a, b)'),
    (1, "DOUBLE", 'return np.sqrt(a)'),
    (1, "DOUBLE", 'return np.exp(-a / 10)'),
    (1, "DOUBLE", 'return np.log(a)'),
    (1, "DOUBLE", 'return np.log10(a) + np.log2(a) + np.log1p(a)'),
    (2, "DOUBLE", 'return np.sin(a) * np.cos(b) + np.tan(a)'),
    (2, "DOUBLE", 'return np.arctan2(a, b)'),
    (1, "DOUBLE", 'return np.arcsin(a) + np.arccos(a) - np.arctan(a)'),
    (1, "DOUBLE", 'return np.sinh(a) + np.cosh(a) * np.tanh(a) + np.arcsinh(a) + np.arctanh(a)'),
    (2, "DOUBLE", 'return np.hypot(a, b)'),
    (2, "DOUBLE", 'return np.maximum(a, b)'),
    (2, "DOUBLE", 'return np.minimum(a, 0)'),
    (2, "DOUBLE", 'return np.fmax(a, b) + np.fmin(a, b)'),
    (1, "DOUBLE", 'return np.clip(a, 0, 10)'),
    (1, "DOUBLE", 'return a.clip(0.0, None)'),
    (2, "DOUBLE", 'return np.clip(a, b, 5)'),
    (1, "DOUBLE", 'return np.round(a, 2)'),
    (1, "DOUBLE", 'return a.round(1)'),
    (1, "DOUBLE", 'return np.round(a, -1)'),
    (1, "DOUBLE", 'return np.around(a)'),
    (1, "DOUBLE", 'return np.floor(a) + np.ceil(a) + np.trunc(a) + np.rint(a)'),
    (1, "DOUBLE", 'return np.sign(a)'),
    (2, "DOUBLE", 'return np.where(a > b, a, b)'),
    (1, "BIGINT", 'return np.where(a > 3, 1, 0)'),
    (1, "TEXT", 'return np.where(np.isnan(a), "missing", np.where(a > 3, "high", "low"))'),
    (1, "TEXT", 'return np.select([a < 0, a < 5, a < 100], ["neg", "small", "medium"], "big")'),
    (2, "DOUBLE", 'return np.select([a < b, a > 2*b], [a, b], default=np.nan)'),
    (2, "BOOLEAN", 'return (a > b) & (b > 0) | ~(a <= 1)'),
    (1, "BOOLEAN", 'return np.isnan(a)'),
    (2, "BOOLEAN", 'return np.isfinite(a) & ~np.isinf(b)'),
    (1, "DOUBLE", """
a[a < 0] = 0
return a"""),
    (2, "DOUBLE", """
r = a * 2
r[np.isnan(a)] = -1
r[b > 3] = 99
return r"""),
    (2, "DOUBLE", """
x = a
x += 1
x *= b
return a"""),
    (1, "DOUBLE", 'return np.nan_to_num(a, nan=-1.0)'),
    (1, "DOUBLE", 'return np.reciprocal(a) + np.square(a) - np.abs(a) + abs(a) + np.fabs(a)'),
    (1, "BIGINT", 'return np.floor(np.clip(np.nan_to_num(a), -1e6, 1e6))'),
    (1, "BIGINT", 'return np.nan_to_num(a, nan=0, posinf=1, neginf=2).astype(int)'),
    (1, "DOUBLE", 'return (a > 2).astype(float) * 3'),
    (1, "BIGINT", 'return (a > 2).astype(int)'),
    (1, "DOUBLE", """
r = np.zeros_like(a)
r[a > 0] = 1
return r + np.ones_like(a)"""),
    (2, "BOOLEAN", 'return np.logical_and(a > 0, np.logical_not(b > 0))'),
    (2, "DOUBLE", 'return np.copysign(a, b) + np.degrees(a) - np.radians(b)'),
    (1, "DOUBLE", """
k = np.sqrt(2.0)
return a / k * np.pi"""),
    (4, "DOUBLE", """
la, lo, lb, ob = map(np.radians, [a, b, c, d])
h = np.sin((lb - la) / 2) ** 2 + np.cos(la) * np.cos(lb) * np.sin((ob - lo) / 2) ** 2
return 6371.0 * 2 * np.arcsin(np.sqrt(h))"""),
    (5, "DOUBLE", """
d1 = (np.log(a / b) + (c + d ** 2 / 2) * e) / (d * np.sqrt(e))
d2 = d1 - d * np.sqrt(e)
def cdf(x):
    return 0.5 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))
return a * cdf(d1) - b * np.exp(-c * e) * cdf(d2)"""),
    (1, "DOUBLE", """
r = 0.0
for k in [1.5, -2.0, 0.25, 3.0]:
    r = r * a + k
return r"""),
    (2, "DOUBLE", """
def scale(x, lo=0.0, hi=10.0):
    return (x - lo) / (hi - lo)
return scale(a) + scale(b, hi=5.0)"""),
    (2, "DOUBLE", 'return np.vectorize(both)(a, b)'),
    (1, "TEXT", """
f = np.vectorize(grade)
return f(a)"""),
    (2, "DOUBLE", """
with np.errstate(divide='ignore', invalid='ignore'):
    r = a / b
return np.where(np.isfinite(r), r, 0.0)"""),
    (1, "DOUBLE", 'return (a > 1).astype(np.float64) + (a < 0).astype("float64")'),
    (3, "DOUBLE", 'return sum([a, b, c])'),
    (3, "DOUBLE", """
t = 0
for x in (a, b, c):
    t = t + x
return t"""),
    (3, "DOUBLE", """
t = 0.0
for x, w in zip([a, b, c], [0.2, 0.3, 0.5]):
    t += w * x
return t"""),
    (2, "DOUBLE", """
cols = {'a': a, 'b': b}
return cols['a'] * 2 + cols['b']"""),
    (1, "DOUBLE", """
if a is None:
    return None
return a + 1"""),
    (3, "DOUBLE", """
parts = [x * 2 for x in (a, b, c)]
return parts[0] + parts[-1]"""),
    (1, "DOUBLE", 'return np.power(a, 0)'),
    (1, "DOUBLE", 'return a ** 0'),
    (1, "DOUBLE", 'return 0 ** a'),
    (1, "DOUBLE", 'return np.power(a, 1)'),
    (1, "DOUBLE", 'return a ** 1'),
    (1, "DOUBLE", 'return 1 ** a'),
    (1, "DOUBLE", 'return np.power(a, -1)'),
    (1, "DOUBLE", 'return a ** -1'),
    (1, "DOUBLE", 'return (-1) ** a'),
    (1, "DOUBLE", 'return np.power(a, 2.0)'),
    (1, "DOUBLE", 'return a ** 2.0'),
    (1, "DOUBLE", 'return 2.0 ** a'),
    (1, "DOUBLE", 'return np.power(a, -2)'),
    (1, "DOUBLE", 'return a ** -2'),
    (1, "DOUBLE", 'return (-2) ** a'),
    (1, "DOUBLE", 'return np.power(a, 1.5)'),
    (1, "DOUBLE", 'return a ** 1.5'),
    (1, "DOUBLE", 'return 1.5 ** a'),
    (1, "DOUBLE", 'return np.power(a, 0.5)'),
    (1, "DOUBLE", 'return a ** 0.5'),
    (1, "DOUBLE", 'return 0.5 ** a'),
    (1, "DOUBLE", 'return np.power(a, 3)'),
    (1, "DOUBLE", 'return a ** 3'),
    (1, "DOUBLE", 'return 3 ** a'),
    (1, "DOUBLE", 'return np.power(a, 4)'),
    (1, "DOUBLE", 'return a ** 4'),
    (1, "DOUBLE", 'return 4 ** a'),
    (1, "DOUBLE", 'return np.power(a, 10)'),
    (1, "DOUBLE", 'return a ** 10'),
    (1, "DOUBLE", 'return 10 ** a'),
    (1, "DOUBLE", 'return np.power(a, -0.5)'),
    (1, "DOUBLE", 'return a ** -0.5'),
    (1, "DOUBLE", 'return (-0.5) ** a'),
    (1, "DOUBLE", 'return np.power(a, 1e3)'),
    (1, "DOUBLE", 'return a ** 1e3'),
    (1, "DOUBLE", 'return 1e3 ** a'),
    (1, "DOUBLE", 'return np.power(a, 7)'),
    (1, "DOUBLE", 'return a ** 7'),
    (1, "DOUBLE", 'return 7 ** a'),
    (1, "DOUBLE", 'return np.cbrt(a) + np.exp2(np.clip(a,-50,50)) + np.expm1(a/100)'),
    (2, "DOUBLE", 'return np.fmod(a, b)'),
    (1, "DOUBLE", """
b = np.asarray(a)
b[b < 0] = 0
return a"""),
    (1, "DOUBLE", """
b = np.array(a)
b[b < 0] = 0
return a"""),
    (1, "DOUBLE", """
b = a.astype(float)
b += 5
return a"""),
    (1, "DOUBLE", """
b = np.where(a > 0, a, 0)
b *= 2
a -= b
return a"""),
    (2, "BOOLEAN", """
m = a > 0
m &= b > 0
m |= a == 1
return m"""),
    (2, "DOUBLE", """
out = np.zeros_like(a)
out[(a > 0) & (b > 0)] = 1.5
out[~(a > 0)] = -1
return out"""),
    (1, "DOUBLE", """
cfg = {"lo": 0.0, "hi": 5.0}
return np.clip(a, cfg["lo"], cfg["hi"])"""),
    (1, "DOUBLE", """
bounds = [0, 1, 5]
r = a * 0
for b in bounds:
    r = r + (a > b)
return r"""),
    (1, "DOUBLE", """
r = 0
for b in (0, 1, 5):
    r = r + np.where(a > b, 1.0, 0.0)
return r"""),
    (1, "DOUBLE", """
mode = "x"
if mode == "x":
    return a * 2
return a"""),
    (2, "DOUBLE", """
xs = [a, b]
xs.append(a + b)
return xs[2] - xs[0]"""),
    (2, "DOUBLE", """
x, y = a * 2, b * 3
x, y = y, x
return x - y"""),
    (2, "DOUBLE", """
g = lambda x, k=2: x * k
return g(a) + g(b, k=3)"""),
    (1, "DOUBLE", 'return a * np.pi + np.e - np.inf * 0 if False else a * np.pi'),
    (2, "DOUBLE", 'return (a > b) * 2.5 + (a < b) * 1'),
    (2, "DOUBLE", 'return 1 - (a > b)'),
    (1, "DOUBLE", 'return -a + 0'),
    (1, "DOUBLE", 'return np.absolute(a - 3) ** 0.5'),
    (1, "DOUBLE", 'return np.round(a, 5) + np.round(a, 3)'),
    (2, "DOUBLE", 'xs=[a,b]\nxs[0] += 1\nreturn a + xs[1]'),
    (2, "DOUBLE", 'xs=[a,b]\nfor x in xs:\n    x += 1\nreturn a * b'),
    (2, "DOUBLE", 'd={"p":a,"q":b}\nd["p"] *= 2\nreturn a + d["q"]'),
    (2, "DOUBLE", 'def bump(x):\n    x += 1\n    return x\nbump(a)\nreturn a + b'),
    (2, "DOUBLE", 'def bump(x):\n    x = x + 1\n    return x\nbump(a)\nreturn a + b'),
    (1, "DOUBLE", 'b = a\nb = b + 1\nb += 1\nreturn a'),
    (2, "DOUBLE", 'm = a > b\na[m] = 0\nb[m] = 1\nb[~m] = 2\nreturn a + b'),
    (1, "DOUBLE", 'a[a > 0] = 1\na[a > 0] = 7\nreturn a'),
    (1, "DOUBLE", 'return a if a is not None else 0'),
    (2, "DOUBLE", 'if a is b:\n    return a\nreturn b'),
    (1, "DOUBLE", 'import math\nreturn a * math.tau'),
    (1, "DOUBLE", 'return -(-a)'),
    (1, "DOUBLE", 'return a * 0'),
    (1, "DOUBLE", 'return np.where(a == 0, 1, a)'),
    (1, "DOUBLE", 'return (a == -0.0) * 1.0'),
    (2, "DOUBLE", 'return np.where((a > 0) == (b > 0), 1.0, -1.0)'),
    (1, "DOUBLE", 'return a + True'),
    (1, "DOUBLE", 'return a / np.abs(a)'),
    (2, "DOUBLE", 'return abs(a - b) ** 1.0 / (a + b)'),
    (1, "TEXT", "return np.where(a > 0, 'a\\0', 'b')"),
    (1, "TEXT", "return np.vectorize(lambda v: 'a\\0' if v > 0 else 'b\\0\\0')(a)"),
]

# Of Series of DOUBLE.
SERIES = [
    (1, "DOUBLE", 'return np.sinc(a)'),
    (2, "DOUBLE", 'return np.logaddexp(a, b) + np.heaviside(a, 0.5)'),
    (1, "DOUBLE", 'return np.fix(a)'),
    (2, "DOUBLE", 'return a + b'),
    (2, "DOUBLE", 'return a / b'),
    (2, "DOUBLE", 'return a // b'),
    (2, "DOUBLE", 'return a % b'),
    (1, "DOUBLE", 'return a ** 2 + a.pow(3)'),
    (2, "DOUBLE", 'return a.fillna(0) + b.fillna(-1.5)'),
    (1, "DOUBLE", 'return a.clip(0, 10)'),
    (1, "DOUBLE", 'return a.clip(lower=0)'),
    (1, "DOUBLE", 'return a.round(2)'),
    (2, "DOUBLE", 'return a.where(a > b, b)'),
    (1, "DOUBLE", 'return a.where(a > 0)'),
    (1, "DOUBLE", 'return a.mask(a < 0, 0)'),
    (1, "BOOLEAN", 'return a.isna()'),
    (2, "BOOLEAN", 'return a.notna() & b.notnull()'),
    (1, "BOOLEAN", 'return a.between(0, 10)'),
    (1, "BOOLEAN", 'return a.isin([1.0, 2.5])'),
    (1, "TEXT", 'return np.where(a > 3, "hi", "lo")'),
    (2, "DOUBLE", 'return np.where(a.isna(), b, a)'),
    (2, "DOUBLE", 'return pd.Series(np.where(a > b, a, np.nan))'),
    (2, "DOUBLE", 'return pd.Series(np.where(a > b, a, 0.0), index=a.index) - b'),
    (1, "DOUBLE", 'return np.sqrt(a)'),
    (1, "DOUBLE", 'return np.log1p(a.abs())'),
    (1, "DOUBLE", """
a[a < 0] = 0
return a"""),
    (1, "DOUBLE", """
a = a.copy()
a.loc[a > 10] = 10.0
return a"""),
    (2, "DOUBLE", """
t = a
t += b
t /= 2
return a"""),
    (2, "BOOLEAN", 'return a.gt(b) | a.eq(1)'),
    (1, "DOUBLE", 'return a.values * 2'),
    (1, "BIGINT", 'return a.fillna(0).clip(-1e9, 1e9).astype(int)'),
    (1, "BIGINT", 'return (a > 2).astype(int)'),
    (1, "BIGINT", 'return np.floor(a.clip(-1e6, 1e6))'),
    (1, "BOOLEAN", 'return ~(a > 2)'),
    (2, "DOUBLE", 'return a.mul(b).add(1).sub(a).div(3)'),
    (1, "DOUBLE", 'return pd.to_numeric(a) + 1'),
    (1, "DOUBLE", 'return np.where(pd.isna(a), -1.0, a)'),
    (1, "DOUBLE", """
rate = pd.Series(np.select([a < 10, a < 50], [0.1, 0.2], 0.3))
return a * rate"""),
    (1, "TEXT", 'return a.apply(grade)'),
    (1, "DOUBLE", 'return a.map(half) + 1'),
    (1, "DOUBLE", 'return a.apply(lambda v: v * 2 if v > 1 else -1.0)'),
    (1, "BOOLEAN", 'return a.map(lambda v: v > 2)'),
    (1, "DOUBLE", 'return a + float(str(1.5))'),
    (1, "DOUBLE", 'return a ** 0'),
    (1, "DOUBLE", 'return a ** 1'),
    (1, "DOUBLE", 'return a ** -1'),
    (1, "DOUBLE", 'return a ** 2.0'),
    (1, "DOUBLE", 'return a ** -2'),
    (1, "DOUBLE", 'return a ** 1.5'),
    (1, "DOUBLE", 'return a ** 0.5'),
    (1, "DOUBLE", 'return a ** 3'),
    (1, "DOUBLE", 'return a ** 4'),
    (1, "DOUBLE", 'return a ** 10'),
    (1, "DOUBLE", 'return a ** -0.5'),
    (1, "DOUBLE", 'return a ** 1e3'),
    (1, "DOUBLE", 'return a ** 7'),
    (1, "DOUBLE", 'return np.clip(a, -1, 3)'),
    (1, "DOUBLE", 'return np.abs(a) + np.sign(a)'),
    (2, "DOUBLE", 'return np.maximum(a, b) + np.minimum(a, 0)'),
    (1, "DOUBLE", 'return np.round(a, 1)'),
    (1, "DOUBLE", """
v = a.values
a += 1
return v"""),
    (1, "DOUBLE", """
b = a
b[b < 0] = 0
return a"""),
    (1, "DOUBLE", """
b = pd.Series(a)
b[b < 0] = 0
return a"""),
    (1, "DOUBLE", """
b = a.copy()
b += 5
return a"""),
    (2, "DOUBLE", 'xs=[a,b]\nxs[0] += 1\nreturn a + xs[1]'),
    (1, "DOUBLE", 't = (a, a)\nt[0][a > 0] = 5\nreturn t[1]'),
    (1, "TEXT", "return a.apply(lambda v: f'{v:.2f}')"),
    (1, "BOOLEAN", 'return a.isin([float("nan"), 1.0])'),
    (1, "DOUBLE", 'return a.clip(upper=3).clip(lower=-2)'),
    (1, "DOUBLE", 'return (a / 3).round(1) * 2 ** 0.5'),
    (1, "DOUBLE", 'return a.abs().pow(0.5)'),
    (2, "DOUBLE", 'return a.fillna(b).fillna(0)'),
]

# Of Series of TEXT.
TEXTS = [
    (1, "TEXT", 'return a.str.lower()'),
    (1, "TEXT", 'return a.str.strip().str.title()'),
    (1, "TEXT", "return a.str.upper().str.replace('A', 'B')"),
    (1, "BOOLEAN", "return a.str.startswith('a') | a.str.endswith('m')"),
    (1, "BOOLEAN", "return a.str.contains('o')"),
    (1, "BOOLEAN", "return a.str.contains('.', regex=False)"),
    (1, "TEXT", 'return a.str[1] + a.str.slice(0, 2)'),
    (1, "TEXT", 'return a.str.get(-1)'),
    (1, "TEXT", "return a.str.split(',').str[1]"),
    (1, "TEXT", 'return a.str.split().str[0]'),
    (1, "TEXT", "return a.fillna('none')"),
    (2, "BOOLEAN", 'return a.isna() | b.notna()'),
    (2, "BOOLEAN", 'return a == b'),
    (2, "BOOLEAN", "return (a != b) & (a != 'x')"),
    (2, "BOOLEAN", 'return a < b'),
    (1, "BOOLEAN", "return a.isin(['x', 'ab'])"),
    (1, "TEXT", "return a.map({'x': 'ex', 'ab': 'abe'})"),
    (1, "DOUBLE", "return a.map({'x': 1.5, 'ab': 2.5})"),
    (1, "DOUBLE", "return a.map({'x': 1.5, 'ab': 2.5}).fillna(0.0)"),
    (2, "TEXT", "return a + '-' + b"),
    (2, "TEXT", "return a.where(a != 'x', b)"),
    (1, "TEXT", "return a.mask(a == '')"),
    (1, "BIGINT", "return np.where(a.str.contains('a'), 1, 0)"),
    (1, "TEXT", 'return a.str.zfill(6)'),
    (1, "TEXT", "return a.str.removeprefix('a').str.removesuffix('c')"),
    (1, "TEXT", "return a.str.replace('b', '--', regex=True)"),
    (1, "TEXT", "return a.str.lstrip(' X') + a.str.rstrip('mc')"),
    (1, "TEXT", 'return a.apply(tag)'),
    (1, "TEXT", "return a.fillna('').map(lambda s: s[:2])"),
    (1, "BIGINT", "return a.fillna('').map(len)"),
    (1, "BOOLEAN", "return a.str.lower() == 'x'"),
    (1, "TEXT", "return a.fillna('?').str.upper()"),
    (2, "TEXT", "return (a.str.strip() + ' ' + b.fillna('')).str.strip()"),
    (1, "TEXT", 'return a.str.title() + a.str.capitalize() + a.str.swapcase()'),
    (1, "TEXT", 'return a.map(M)'),
    (1, "TEXT", 'return a.map(M.get)'),
    (1, "TEXT", 'return a.str.title()'),
    (1, "TEXT", 'return a.str.capitalize()'),
    (1, "TEXT", 'return a.str.zfill(5)'),
    (1, "TEXT", 'return a.str.strip()'),
    (1, "TEXT", 'return a.str.slice(-3,-1)'),
    (1, "TEXT", 'return a.str.slice(2,1)'),
    (1, "TEXT", 'return a.str.slice(3)'),
    (1, "TEXT", 'return a.str.split().str[-1]'),
    (1, "TEXT", "return a.str.split('--').str[1]"),
    (1, "TEXT", 'return a.str.rstrip()'),
    (1, "TEXT", 'return a.str.swapcase()'),
    (1, "TEXT", 'return a.str.lower().str.upper()'),
    (1, "BOOLEAN", "return a.str.contains('a', na=False, regex=False)"),
    (1, "TEXT", "return a.str.replace('a','')"),
    (1, "TEXT", "return a.str.replace('aa','b')"),
    (1, "TEXT", "return a.str.strip('ax')"),
    (2, "BOOLEAN", 'return a.str.lower() == b.str.lower()'),
    (2, "BOOLEAN", 'return a >= b'),
    (1, "TEXT", "return 'pre-' + a + '-post'"),
    (1, "TEXT", 'return a.str.get(2)'),
    (1, "TEXT", "return a.str.removeprefix('aa')"),
    (1, "TEXT", "return a.str.removesuffix('s')"),
    (1, "TEXT", "return a.where(a.str.contains('a'), 'none')"),
    (1, "DOUBLE", 'return a.str.len()'),
    (1, "TEXT", "return a.apply(lambda s: s if isinstance(s, str) else 'nan')"),
    (1, "TEXT", "return a.fillna('').apply(lambda s: s.strip().title())"),
    (1, "BIGINT", "return a.fillna('').apply(lambda s: len(s) * 2)"),
    (1, "BOOLEAN", 'return a.str.len() > 2'),
    (1, "BOOLEAN", 'return (a.str.len() != 3) & (a.str.strip().str.len() <= 5)'),
    (1, "BIGINT", 'return a.str.len()'),
    (1, "TEXT", "return a.mask(a.str.len() == 0, 'empty')"),
    (1, "TEXT", "return np.where(a.str.len() > 2, 'long', 'short')"),
    (1, "TEXT", "return a.str.upper()"),
    (1, "TEXT", "return a.str.strip('éa ')"),
]

# Of others: the types of the parameters and what they are annotated with.
OTHERS = [
    ([('BIGINT', 'np.ndarray'), ('BIGINT', 'np.ndarray')], "BIGINT", 'return a * 3 + b - 7'),
    ([('BIGINT', 'np.ndarray'), ('BIGINT', 'np.ndarray')], "DOUBLE", 'return a / b'),
    ([('BIGINT', 'np.ndarray'), ('BIGINT', 'np.ndarray')], "BIGINT", 'return a // b + a % b'),
    ([('BIGINT', 'np.ndarray')], "BIGINT", 'return np.where(a % 2 == 0, a // 2, 3 * a + 1)'),
    ([('BIGINT', 'np.ndarray'), ('DOUBLE', 'np.ndarray')], "DOUBLE", 'return a * b + a ** 2'),
    ([('BIGINT', 'np.ndarray')], "BIGINT", 'return np.abs(a) + np.sign(a) - np.minimum(a, 5)'),
    ([('BIGINT', 'np.ndarray')], "TEXT", 'return np.where(a > 0, "pos", "neg")'),
    ([('BIGINT', 'np.ndarray')], "BIGINT", """
a[a > 3] = 3
a += 1
return a"""),
    ([('BOOLEAN', 'np.ndarray'), ('DOUBLE', 'np.ndarray')], "DOUBLE", 'return np.where(a, b, -b)'),
    ([('DOUBLE', 'pd.Series'), ('DOUBLE', 'np.ndarray')], "DOUBLE", 'return a + b'),
    ([('TEXT', 'pd.Series'), ('DOUBLE', 'pd.Series')], "DOUBLE", "return b.where(a.isin(['x','ab']), b * 2)"),
]

# What is native over the whole column only.
WHOLE = [
    ([("DOUBLE", "np.ndarray")], "DOUBLE", "return np.array([v + 1 for v in a])"),
    ([('DOUBLE', 'pd.Series')], "DOUBLE", "return a + 1 if hasattr(a, 'mean') else a"),
    ([('DOUBLE', 'pd.Series')], "DOUBLE", """
v = a.values
a[a < 0] = 0
return v"""),
    ([("BIGINT", "pd.Series")], "BIGINT", "return a + 1"),
    ([("DOUBLE", "pd.Series")], "DOUBLE", "return a.shift(1)"),
    ([("DOUBLE", "pd.Series")], "DOUBLE", "return a / len(a)"),
    ([("DOUBLE", "pd.Series")], "DOUBLE", "return a if (a > 0).all() else -a"),
    ([('DOUBLE', 'np.ndarray'), ('DOUBLE', 'np.ndarray')], "DOUBLE", 'xs = [a, a]\nxs[0][a > 0] = 5\nreturn xs[1]'),
]

# What is not lifted: it runs in CPython.
NOT_NATIVE = [
    ([('DOUBLE', 'pd.Series')], "DOUBLE", """
if isinstance(a, pd.Series):
    return a + 1
return a"""),
    ([('TEXT', 'pd.Series')], "TEXT", "return a.str.split(',').str[0].str.lower()"),
    ([('TEXT', 'pd.Series')], "TEXT", "return a.map({'x':'Y'}).str.lower()"),
    ([("DOUBLE", "pd.Series")], "DOUBLE", "return a.rank()"),
    ([("DOUBLE", "np.ndarray")], "DOUBLE", "return np.full_like(a, a[0])"),
    ([("DOUBLE", "np.ndarray")], "DOUBLE", "return a + np.random.rand(len(a)) * 0"),
    ([("DOUBLE", "np.ndarray")], "DOUBLE", "with np.errstate(all='raise'):\n    return a + 1"),
    ([("TEXT", "pd.Series")], "TEXT", "return a.map({None: 'n', 'x': 'b'})"),
    ([("TEXT", "pd.Series")], "TEXT", "return a.ffill()"),
    ([("TEXT", "pd.Series")], "TEXT", "return a + str(a.nunique())"),
]

SPECIAL = ["'NaN'", "'inf'", "'-inf'", "0.0", "-0.0", "1.0", "-1.0", "2.5", "0.5", "5", "10", "1e308", "-1e308",
           "5e-324", "1e-308", "3", "100", "7.125", "2.675"]
TEXT_VALUES = ["'it''s a dog''s 3rd_day'", "'-5'", "'+7.2'", "chr(28)||'a'||chr(31)", "'aaaa'", "'a--b--c'", "' Ada '", "'zoë'", "'X-17'", "''", "'a,b,c'", "'HELLO world'", "'12.5'", "NULL", "'  tab\t'", "'x'",
               "'Straße'", "'ÉTÉ Ж'", "'ΟΔΟΣ'", "'ƛɤ'", "chr(160)||'é'||chr(8195)", "'ＡＢｃ'", "'foo.bar@baz.com'", "'ab'", "'3'", "'A1'", "'İ ı'", "'Ǆ'"]
COLUMNS = {"DOUBLE": ["d1", "d2", "d3", "d4", "d5"], "BIGINT": ["i1", "i2"], "BOOLEAN": ["f1"], "TEXT": ["s1", "s2"]}


def value(rng, name):
    kind, chance = name[0], rng.random()
    if kind == "s":
        return rng.choice(TEXT_VALUES)
    if kind == "f":
        return rng.choice(["true", "false"])
    if kind == "i":
        return str(rng.choice([2**63 - 1, 1 - 2**63, 2**62, 0, 1, -1]) if chance < 0.1 else rng.randint(-50, 50))
    if chance < 0.05:
        return "CAST(NULL AS DOUBLE)"
    number = (
        rng.choice(SPECIAL) if chance < 0.35
        else rng.uniform(-20, 20) if chance < 0.7
        else round(rng.uniform(-100, 100), 2) if chance < 0.9
        else rng.uniform(-1, 1) * 10 ** rng.randint(-300, 300)
    )
    return f"CAST({number} AS DOUBLE)"


def table(rows, seed):
    rng = random.Random(seed)
    names = [name for names in COLUMNS.values() for name in names]
    lines = (f"({row}, {', '.join(value(rng, name) for name in names)})" for row in range(rows))
    return f"CREATE TABLE t AS SELECT * FROM (VALUES {', '.join(lines)}) AS v(id, {', '.join(names)});\n"


def functions():
    """Each with its name, its parameters, its result, its body, and whether it is native."""
    of = lambda count, ty, form: [(ty, form)] * count
    every = [(of(count, "DOUBLE", "np.ndarray"), returns, body, True) for count, returns, body in ARRAYS]
    every += [(of(count, "DOUBLE", "pd.Series"), returns, body, True) for count, returns, body in SERIES]
    every += [(of(count, "TEXT", "pd.Series"), returns, body, True) for count, returns, body in TEXTS]
    every += [(*entry, True) for entry in OTHERS + WHOLE] + [(*entry, False) for entry in NOT_NATIVE]
    return [(f"f{index}", *entry) for index, entry in enumerate(every)]


def created(name, params, returns, body, head, options=""):
    """CREATE FUNCTION of a body; of each parameter the name, the type, and the annotation if there is one."""
    declared = ", ".join(f"{param} {ty}" for param, ty, _ in params)
    annotated = ", ".join(f"{param}: {form}" if form else param for param, _, form in params)
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return (f"CREATE FUNCTION {name}({declared}) RETURNS {returns} LANGUAGE python {options} AS $$\n"
            f"{head}\ndef {name}({annotated}):\n{lines}$$;\n")


def create(name, params, returns, body):
    named = [(param, ty, form) for param, (ty, form) in zip("abcdef", params)]
    return created(name, named, returns, body, HEAD)


def arguments(params):
    used = {ty: 0 for ty in COLUMNS}
    for ty, _ in params:
        yield COLUMNS[ty][used[ty]]
        used[ty] += 1


def run(binary, script, lift, queries):
    """The values of each query by its name, and where functions are placed."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"SET exuvia.lift = {lift};\n{script}"
        for name, query in queries.items():
            script += f"COPY ({query}) TO '{folder}/{name}.parquet' STORED AS PARQUET;\n"
        script += f"COPY (SELECT name, placement FROM exuvia.functions) TO '{folder}/places.parquet' STORED AS PARQUET;\n"
        done = subprocess.run([binary, "-q", "-f", "/dev/stdin"], input=script, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        read = lambda name: pq.read_table(Path(folder) / f"{name}.parquet").to_pydict()
        places = read("places")
        values = {name: list(map(repr, read(name)["r"])) for name in queries}
        return values, dict(zip(places["name"], places["placement"]))


def compared(binary, script, queries, expected):
    """How many queries give natively what they give in CPython, and how many do not, with functions placed as
    expected; `expected` has for each query its function, what to call it in messages, and whether it is native, if that matters."""
    with ThreadPoolExecutor() as both:
        ours, theirs = (both.submit(run, binary, script, lift, queries) for lift in ("on", "off"))
        (native, places), (oracle, _) = ours.result(), theirs.result()
    wrong = 0
    for name in queries:
        function, shown, is_native = expected[name]
        pairs = list(zip(native[name], oracle[name]))
        differ = [row for row, pair in enumerate(pairs) if pair[0] != pair[1]]
        if len(native[name]) != len(oracle[name]) or not pairs:
            wrong += 1
            print(f"{shown}: {len(native[name])} rows, not {len(oracle[name])}")
        elif differ:
            wrong += 1
            row = differ[0]
            print(f"{shown}: {len(differ)} of {len(pairs)} rows, row {row}: {pairs[row][0]}, not {pairs[row][1]}")
        elif is_native is not None and (places[function] == "native") != is_native:
            wrong += 1
            print(f"{shown}: placed {places[function]}")
    print(f"{len(queries) - wrong} passed, {wrong} failed")
    return wrong


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    every = functions()
    creates = "".join(create(name, params, returns, body) for name, params, returns, body, _ in every)
    query = lambda name, params: f"SELECT {name}({', '.join(arguments(params))}) AS r FROM t ORDER BY id"
    queries = {name: query(name, params) for name, params, *_ in every}
    expected = {name: (name, body, native) for name, _, _, body, native in every}
    return compared(binary, table(300, 1) + creates, queries, expected)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
