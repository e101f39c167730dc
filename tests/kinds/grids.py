"""Functions of arrays of two dimensions: native code and CPython give the same, bit for bit.

    python grids.py [EXUVIA]

Row functions run over arrays of arrays of many shapes with NaN, infinities and zeros of both signs, natively and
with `exuvia.lift` off, where NumPy computes them. Errors are NULL. Sums of products, whose last bits NumPy has by
the processor, are compared to the bound that docs/kinds.md gives, and bit for bit where `exuvia.exact` is strict.
"""

import json
import random
import subprocess
import sys

from arrays import number
from elementwise import compared, created

TYPES = {"m": "DOUBLE[][]", "k": "BIGINT[][]", "x": "DOUBLE[]", "y": "DOUBLE[]"}

# The parameters, the type of the result, the body.
BODIES = [
    ('m', 'DOUBLE', 'return m.sum()'),
    ('m', 'DOUBLE', 'return m.mean()'),
    ('m', 'DOUBLE', 'return m.std()'),
    ('m', 'DOUBLE[]', 'return m.sum(axis=0)'),
    ('m', 'DOUBLE[]', 'return m.sum(axis=1)'),
    ('m', 'DOUBLE[]', 'return np.mean(m, axis=0)'),
    ('m', 'DOUBLE[]', 'return m.mean(axis=-1)'),
    ('m', 'DOUBLE[]', 'return m.std(axis=0)'),
    ('m', 'DOUBLE[]', 'return m.var(axis=1, ddof=1)'),
    ('m', 'DOUBLE[]', 'return m.max(axis=0)'),
    ('m', 'DOUBLE[]', 'return m.min(axis=1)'),
    ('m', 'DOUBLE[]', 'return np.linalg.norm(m, axis=1)'),
    ('m', 'DOUBLE[]', 'return np.linalg.norm(m.T, axis=1)'),
    ('m', 'DOUBLE[]', 'return np.linalg.norm(m, axis=0)'),
    ('m', 'DOUBLE[][]', 'return m / np.linalg.norm(m, axis=1, keepdims=True)'),
    ('m', 'DOUBLE', 'return m.trace()'),
    ('m', 'DOUBLE', 'return np.trace(m > 0)'),
    ('m', 'DOUBLE[]', 'return np.diag(m)'),
    ('m', 'DOUBLE[]', 'return m.diagonal(1) * 2'),
    ('m', 'DOUBLE[]', 'return np.diagonal(m.T, -1)'),
    ('m', 'BIGINT[][]', '''p = np.zeros((m.shape[0] + 2, m.shape[1] + 2), dtype=np.int64)
p[1:-1, 1:-1] = m > 0
return p'''),
    ('m', 'DOUBLE[][]', 'return np.where(m.sum() > 0, m, 0.0)'),
    ('m', 'BIGINT[]', 'return m.argmax(axis=1)'),
    ('m', 'BIGINT[]', 'return np.argmin(m, axis=0)'),
    ('m', 'BIGINT', 'return m.argmax()'),
    ('m', 'BOOLEAN[]', 'return (m > 0).any(axis=0)'),
    ('m', 'BIGINT[]', 'return (m > 0).sum(axis=1)'),
    ('m', 'DOUBLE[][]', 'return m * 2 + 1'),
    ('m', 'DOUBLE[][]', 'return m - m.mean(axis=0)'),
    ('m', 'DOUBLE[][]', 'return m - m.mean(axis=1, keepdims=True)'),
    ('m', 'DOUBLE[][]', 'return m / m.sum(axis=1)[:, None]'),
    ('m', 'DOUBLE[][]', 'return (m - m.mean(axis=0)) / m.std(axis=0)'),
    ('m', 'DOUBLE[][]', 'return m.T'),
    ('m', 'DOUBLE[][]', 'return m.T.copy() * 3'),
    ('m', 'DOUBLE[]', 'return m[0]'),
    ('m', 'DOUBLE[]', 'return m[:, 0]'),
    ('m', 'DOUBLE[]', 'return m[-1, 1:]'),
    ('m', 'DOUBLE', 'return m[0, 0]'),
    ('m', 'DOUBLE', 'return m[0][-1]'),
    ('m', 'DOUBLE[][]', 'return m[1:]'),
    ('m', 'DOUBLE[][]', 'return m[:, 1:]'),
    ('m', 'DOUBLE[][]', 'return m[::-1, ::2]'),
    ('m', 'DOUBLE[]', 'return m[m > 0]'),
    ('m', 'DOUBLE[][]', 'return m[m[:, 0] > 0]'),
    ('m', 'DOUBLE[][]', 'return m[np.argsort(m[:, 0], kind="stable")]'),
    ('m', 'BIGINT', 'return m.shape[0] * 100 + m.shape[1] + m.ndim + m.size + len(m)'),
    ('m', 'DOUBLE[]', 'return m.ravel()'),
    ('m', 'DOUBLE[]', 'return m.flatten()'),
    ('m', 'DOUBLE[][]', 'return m.reshape(-1, 1)'),
    ('m', 'DOUBLE[][]', 'return m.reshape(m.shape[1], m.shape[0])'),
    ('m', 'DOUBLE', """t = 0.0
for row in m:
    t += row.max()
return t"""),
    ('m', 'DOUBLE', """t = 0.0
for i in range(m.shape[0]):
    for j in range(m.shape[1]):
        t += m[i, j] * (i + j)
return t"""),
    ('m', 'DOUBLE[][]', """m[0, 0] = 7.0
return m"""),
    ('m', 'DOUBLE[][]', """m[:, 0] = 0.0
return m"""),
    ('m', 'DOUBLE[][]', """m[0] = m[-1]
return m"""),
    ('m', 'DOUBLE[][]', """m[m < 0] = 0.0
return m"""),
    ('m', 'DOUBLE[][]', """m *= 2
return m"""),
    ('m', 'DOUBLE[][]', """m -= m.mean(axis=0)
return m"""),
    ('m', 'DOUBLE[][]', """out = np.zeros(m.shape)
out[:, 1:] = m[:, :-1]
return out"""),
    ('m', 'DOUBLE[][]', """out = np.zeros((m.shape[0], m.shape[1]))
for i in range(m.shape[0]):
    out[i] = m[i] - m[i].mean()
return out"""),
    ('m', 'DOUBLE[][]', """u = m.copy()
u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) / 4
return u"""),
    ('m', 'DOUBLE[][]', 'return np.eye(3) * m[0, 0]'),
    ('m', 'DOUBLE[][]', 'return np.outer(m[0], m[:, 0])'),
    ('m', 'DOUBLE[][]', 'return np.array([[1.0, 2.0], [3.0, 4.0]]) + m[0, 0]'),
    ('m', 'DOUBLE[][]', 'return np.vstack([m[0], m[-1]])'),
    ('m', 'DOUBLE[][]', 'return np.column_stack([m[:, 0], m[:, -1]])'),
    ('m', 'DOUBLE[][]', 'return np.where(m > 0, m, 0.0)'),
    ('m', 'DOUBLE[][]', 'return np.clip(m, -1, 1)'),
    ('m', 'DOUBLE[][]', """e = np.exp(m - m.max(axis=1, keepdims=True))
return e / e.sum(axis=1, keepdims=True)"""),
    ('m', 'DOUBLE', 'return np.sqrt(((m[0] - m[-1]) ** 2).sum())'),
    ('m', 'DOUBLE', 'return m.T.sum()'),
    ('m', 'DOUBLE[]', 'return m.T.sum(axis=0)'),
    ('m', 'DOUBLE[]', 'return (m * m).sum(axis=1)'),
    ('k', 'BIGINT', 'return k.sum()'),
    ('k', 'BIGINT[]', 'return k.sum(axis=0)'),
    ('k', 'BIGINT[][]', 'return k + k.T if k.shape[0] == k.shape[1] else k'),
    ('k', 'BIGINT[]', 'return k.max(axis=1)'),
    ('k', 'BIGINT[]', 'return k.prod(axis=1)'),
    ('k', 'BOOLEAN[]', 'return (k % 2 == 0).all(axis=0)'),
    ('m', 'TEXT', 'return str(m.shape)'),
    ('x', 'DOUBLE[][]', 'return x[:, None] - x[None, :]'),
    ('x', 'DOUBLE[][]', 'return x[:, np.newaxis] * x'),
    ('x', 'DOUBLE[]', 'return np.abs(x[:, None] - x[None, :]).min(axis=1)'),
    ('x', 'DOUBLE[][]', 'return x.reshape(2, -1) if len(x) % 2 == 0 else x.reshape(-1, 1)'),
    ('x', 'DOUBLE[][]', 'return x.reshape((1, len(x)))'),
    ('m', 'DOUBLE[][]', 'return (m - m.mean(axis=0)) / np.std(m, axis=0, keepdims=True)'),
    ('m', 'DOUBLE[][]', 'return m - np.nanmean(m, axis=1, keepdims=True)'),
    ('m', 'DOUBLE[]', 'return np.nanprod(m, axis=0)'),
    ('m', 'BIGINT[]', 'return np.nanargmax(m, axis=1)'),
    ('m', 'DOUBLE[][]', 'return m - np.nanmin(m, axis=1, keepdims=True)'),
    ('m', 'DOUBLE[][]', "return np.pad(m, 1, mode='reflect')"),
    ('m', 'DOUBLE[][]', "return np.pad(m, ((2, 1), (0, 3)), mode='symmetric')"),
    ('k', 'BIGINT[][]', "return np.pad(k, 2, mode='wrap')"),
    ('m', 'DOUBLE[]', 'return np.ravel(m)'),
    ('m', 'DOUBLE', 'return m.var(ddof=1) + np.var(m, ddof=1)'),
    ('k', 'BIGINT[][]', 'return k @ k.T'),
    ('k', 'BIGINT[]', 'return k @ k[0]'),
]

# Along an axis, beside each other, and parts of arrays.
ALONG = [
    ('m', 'DOUBLE[][]', 'return np.cumsum(m, axis=0)'),
    ('m', 'DOUBLE[][]', 'return m.cumsum(axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.cumprod(m, axis=1)'),
    ('k', 'BIGINT[][]', 'return np.cumsum(k, axis=1)'),
    ('k', 'BIGINT[][]', 'return np.cumsum(k > 0, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.sort(m, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.sort(m, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.sort(m)'),
    ('m', 'DOUBLE[]', 'return np.sort(m, axis=None)'),
    ('k', 'BIGINT[][]', 'return np.argsort(k, axis=1, kind="stable")'),
    ('m', 'BIGINT[][]', 'return np.argsort(m, axis=1, kind="stable")'),
    ('m', 'BIGINT[][]', 'return m.argsort(axis=0, kind="stable")'),
    ('m', 'DOUBLE[][]', """m.sort()
return m"""),
    ('m', 'DOUBLE[][]', """m.sort(axis=0)
return m"""),
    ('m', 'DOUBLE', 'return np.median(m)'),
    ('m', 'DOUBLE[]', 'return np.median(m, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.median(m, axis=1)'),
    ('m', 'DOUBLE[][]', 'return m - np.median(m, axis=1, keepdims=True)'),
    ('m', 'DOUBLE[]', 'return np.percentile(m, 90, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.quantile(m, 0.25, axis=1)'),
    ('m', 'DOUBLE', 'return np.percentile(m, 50)'),
    ('m', 'DOUBLE[][]', 'return np.percentile(m, [25, 75], axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.diff(m, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.diff(m, axis=0)'),
    ('x', 'DOUBLE[]', 'return np.diff(x, n=2)'),
    ('k', 'BIGINT[][]', 'return np.diff(k, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.flip(m, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.flip(m, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.fliplr(m)'),
    ('m', 'DOUBLE[][]', 'return np.flipud(m)'),
    ('m', 'DOUBLE[][]', 'return np.rot90(m)'),
    ('m', 'DOUBLE[][]', 'return np.roll(m, 1, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.roll(m, -2, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.roll(m, 1)'),
    ('m', 'DOUBLE[][]', 'return np.repeat(m, 2, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.repeat(m, 2, axis=1)'),
    ('m', 'DOUBLE[]', 'return np.repeat(m, 2)'),
    ('m', 'DOUBLE[][]', 'return np.tile(m, (2, 1))'),
    ('m', 'DOUBLE[][]', 'return np.tile(m, 2)'),
    ('x', 'DOUBLE[][]', 'return np.tile(x, (3, 1))'),
    ('m', 'DOUBLE[][]', 'return np.concatenate([m, m], axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.concatenate((m, m), axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.concatenate((m, m[:, :1]), axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.vstack([m, m])'),
    ('m', 'DOUBLE[][]', 'return np.vstack([m, m[0]])'),
    ('m', 'DOUBLE[][]', 'return np.hstack([m, m])'),
    ('x', 'DOUBLE[]', 'return np.hstack([x, x, 1.0])'),
    ('m', 'DOUBLE[][]', 'return np.column_stack([np.ones(len(m)), m])'),
    ('m', 'DOUBLE[][]', 'return np.hstack([np.ones((m.shape[0], 1)), m])'),
    ('m', 'DOUBLE[][]', 'return np.c_[np.ones(len(m)), m]'),
    ('x', 'DOUBLE[]', 'return np.r_[x, 0.0, x]'),
    ('x', 'DOUBLE[]', 'return np.r_[0.0, np.cumsum(x)]'),
    ('x', 'DOUBLE[][]', 'return np.stack([x, x * 2], axis=1)'),
    ('x', 'DOUBLE[][]', 'return np.stack((x, x * 2), axis=-1)'),
    ('x', 'DOUBLE[][]', 'return np.c_[x, x]'),
    ('m', 'DOUBLE[][]', 'return np.append(m, m[:1], axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.delete(m, 0, axis=0)'),
    ('x', 'DOUBLE[]', 'return np.delete(x, 0)'),
    ('x', 'DOUBLE[]', 'return np.delete(x, [0, -1])'),
    ('x', 'DOUBLE[]', 'return np.delete(x, np.where(x > 0)[0])'),
    ('m', 'DOUBLE[][]', 'return np.delete(m, 0, axis=1)'),
    ('m', 'BIGINT[][]', 'return np.argwhere(m > 0)'),
    ('x', 'BIGINT[][]', 'return np.argwhere(x > 0)'),
    ('x', 'DOUBLE[]', 'return np.pad(x, 2)'),
    ('x', 'DOUBLE[]', 'return np.pad(x, (1, 2), constant_values=9.0)'),
    ('x', 'DOUBLE[]', 'return np.pad(x, 1, mode="edge")'),
    ('x', 'DOUBLE[]', 'return np.pad(x, (2, 0), mode="constant")'),
    ('m', 'DOUBLE[][]', 'return np.pad(m, 1)'),
    ('m', 'DOUBLE[][]', 'return np.pad(m, ((1, 0), (0, 2)))'),
    ('m', 'DOUBLE[][]', 'return np.pad(m, 1, mode="edge")'),
    ('m', 'DOUBLE[][]', 'return np.triu(m)'),
    ('m', 'DOUBLE[][]', 'return np.tril(m, -1)'),
    ('x', 'DOUBLE[][]', 'return np.diag(x)'),
    ('m', 'DOUBLE[]', 'return np.nanmean(m, axis=1)'),
    ('m', 'DOUBLE[]', 'return np.nanmax(m, axis=1)'),
    ('m', 'DOUBLE', 'return np.nansum(m)'),
    ('m', 'DOUBLE', 'return np.nanmean(m)'),
    ('m', 'DOUBLE[][]', 'return np.nan_to_num(m)'),
    ('m', 'DOUBLE[]', 'return np.ptp(m, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.average(m, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.average(m, axis=1, weights=np.ones(m.shape[1]))'),
    ('m', 'DOUBLE[][]', 'return np.expand_dims(m[0], 0)'),
    ('m', 'DOUBLE[][]', 'return m[0][np.newaxis, :]'),
    ('m', 'DOUBLE[][]', 'return np.atleast_2d(m[0])'),
    ('m', 'DOUBLE[][]', 'return m.swapaxes(0, 1)'),
    ('m', 'DOUBLE[][]', 'return np.swapaxes(m, 0, 1)'),
    ('m', 'DOUBLE[][]', """np.fill_diagonal(m, 0.0)
return m"""),
    ('m', 'DOUBLE[][]', 'return np.round(m, 2)'),
    ('m', 'DOUBLE[][]', 'return m.round(1)'),
    ('m', 'DOUBLE[]', 'return m[[0, -1], 0]'),
    ('m', 'DOUBLE[]', 'return m[np.arange(len(m)), m.argmax(axis=1)]'),
    ('m', 'DOUBLE[][]', 'return m[:, [0, -1]]'),
    ('m', 'DOUBLE[][]', 'return m[[0, -1]]'),
    ('m', 'DOUBLE[][]', 'return m[:, m.sum(axis=0) > 0]'),
    ('m', 'DOUBLE[][]', 'return np.maximum.accumulate(m, axis=1)'),
    ('m', 'DOUBLE[]', 'return np.add.reduce(m, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.minimum.reduce(m, axis=1)'),
    ('x', 'DOUBLE[][]', 'return np.subtract.outer(x, x)'),
    ('x', 'DOUBLE[][]', """a, b = np.meshgrid(x, x)
return a + b"""),
    ('x', 'DOUBLE[]', 'return np.round(x, len(x) % 3)'),
    ('x', 'BIGINT[]', 'return np.histogram(x, bins=4, range=(-10, 10))[0]'),
    ('x', 'BIGINT[]', 'return np.bincount(np.array([0, 1, 1]))'),
    ('x', 'DOUBLE[]', 'return np.bincount(np.array([0, 1, 1]), weights=np.array([0.5, 1.0, 2.0]))'),
    ('x', 'DOUBLE[]', 'return np.ediff1d(x)'),
    ('x', 'DOUBLE[]', 'return np.select([x > 1, x < -1], [1.0, -1.0], default=0.0)'),
    ('x', 'DOUBLE[]', 'return np.full_like(x, 3.0)'),
    ('x', 'DOUBLE[]', 'return np.logspace(0, 2, 5) * x[0]'),
    ('m', 'DOUBLE[]', 'return np.apply_along_axis(np.mean, 1, m)'),
    ('m', 'DOUBLE[]', 'return np.array([r.sum() for r in m])'),
    ('m', 'DOUBLE[][]', 'return np.array([r / 2 for r in m])'),
    ('m', 'DOUBLE[][]', 'return np.where(np.isnan(m), 0.0, m)'),
    ('m', 'DOUBLE[]', 'return np.unique(m)'),
    ('m', 'BIGINT', 'return np.count_nonzero(m > 0)'),
    ('m', 'BIGINT[]', 'return np.count_nonzero(m > 0, axis=0)'),
    ('m', 'BOOLEAN', 'return np.array_equal(m, m)'),
    ('m', 'BOOLEAN[][]', 'return np.isclose(m, 0.0)'),
    ('m', 'BIGINT[]', 'return np.nonzero(m > 0)[0]'),
    ('m', 'DOUBLE[]', 'return m.var(axis=0, keepdims=True)[0]'),
    ('k', 'DOUBLE[]', 'return k.mean(axis=0)'),
    ('k', 'DOUBLE[]', 'return k.std(axis=1)'),
    ('k', 'DOUBLE', 'return k.mean()'),
    ('k', 'DOUBLE[][]', 'return k / k.sum()'),
    ('k', 'BIGINT', 'return k.max() - k.min()'),
    ('m', 'DOUBLE', 'return m.sum(keepdims=True)[0, 0]'),
    ('m', 'DOUBLE[]', 'return m.max(axis=0, initial=0.0)'),
    ('m', 'DOUBLE[]', 'return m.min(0)'),
    ('m', 'DOUBLE[]', 'return m.sum(0)'),
    ('m', 'DOUBLE[]', 'return np.sum(m, 1)'),
    ('m', 'DOUBLE[]', 'return np.histogram(m, bins=5, range=(-50, 50))[1]'),
    ('x', 'BIGINT[]', 'return np.histogram(x, bins=[-10, 0, 10])[0]'),
    ('x', 'BIGINT[]', 'return np.histogram(x, [-10.0, 0.0, 0.0, 10.0])[0]'),
    ('x', 'BIGINT[]', 'return np.histogram(x)[0]'),
    ('x', 'DOUBLE[]', 'return np.histogram(x, 7)[1]'),
    ('x', 'BIGINT[]', """c, e = np.histogram(x, bins=np.linspace(-5, 5, 11))
return c"""),
    ('m', 'DOUBLE[]', 'return np.apply_along_axis(lambda r: r.max() - r.min(), 0, m)'),
    ('m', 'DOUBLE[]', 'return np.average(m, axis=0, weights=np.arange(1, m.shape[0] + 1))'),
    ('k', 'DOUBLE[]', 'return np.average(k, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.stack((m[0], m[0] * 2), axis=1).sum(axis=0)'),
    ('m', 'DOUBLE[]', 'return np.cumsum(m, axis=1)[:, -1]'),
    ('m', 'DOUBLE', 'return np.cumsum(m, axis=0).sum()'),
    ('m', 'DOUBLE', 'return np.concatenate((m, m), axis=1).sum()'),
    ('m', 'DOUBLE[]', 'return np.concatenate((m.T, m.T), axis=0).sum(axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.sort(m.T, axis=0)'),
    ('m', 'DOUBLE', 'return np.sort(m[::-1], axis=0).sum()'),
    ('m', 'DOUBLE[]', 'return m[:, [0, -1]].sum(axis=1)'),
    ('m', 'DOUBLE[]', 'return m[:, [0, -1]].sum(axis=0)'),
    ('m', 'DOUBLE', 'return m[:, [0, -1]].sum()'),
    ('m', 'DOUBLE[][]', 'return m[:, [0, -1]] * 2'),
    ('m', 'DOUBLE[]', 'return m[[0, -1], 1:].sum(axis=0)'),
    ('m', 'DOUBLE[]', 'return m[0, [0, -1]]'),
    ('m', 'DOUBLE[]', 'return m[m[:, 0] > 0, 0]'),
    ('m', 'DOUBLE[][]', 'return m[m[:, 0] > 0, 1:]'),
    ('m', 'DOUBLE[][]', 'return m[m[:, 0] > 0, :]'),
    ('m', 'DOUBLE[]', 'return m[[0, 1, 0], [0, 1, -1]]'),
    ('m', 'DOUBLE', 'return m[[0, 99], 0].sum()'),
    ('k', 'BIGINT[][]', 'return np.sort(k, axis=0)'),
    ('k', 'BIGINT[][]', 'return np.sort(k)'),
    ('k', 'BIGINT[][]', 'return np.pad(k, 1, constant_values=-1)'),
    ('m', 'BOOLEAN[][]', 'return np.pad(m > 0, 1)'),
    ('k', 'BIGINT[][]', 'return np.tril(k)'),
    ('k', 'BIGINT[][]', 'return np.diag(k[0])'),
    ('k', 'BIGINT[][]', 'return np.diag(k[0], 1)'),
    ('x', 'DOUBLE[][]', 'return np.diag(x, -2)'),
    ('m', 'BOOLEAN[]', 'return (np.triu(m) == m).all(axis=1)'),
    ('m', 'DOUBLE[]', 'return np.median(m * 2, axis=0)'),
    ('m', 'DOUBLE[]', 'return np.median(np.abs(m - np.median(m, axis=0)), axis=0)'),
    ('k', 'DOUBLE', 'return k.var()'),
    ('k', 'DOUBLE[]', 'return k.var(axis=0, ddof=1)'),
    ('m', 'DOUBLE[]', 'return (m > 0).mean(axis=1)'),
    ('m', 'DOUBLE', 'return (m > 0).mean()'),
    ('m', 'DOUBLE[][]', 'return m.sum(keepdims=True) + m'),
    ('m', 'DOUBLE[]', 'return np.nanmedian(m, axis=1)'),
    ('m', 'DOUBLE[]', 'return np.nanmin(m, axis=0)'),
    ('m', 'DOUBLE', 'return np.nanmax(m)'),
    ('m', 'DOUBLE', 'return np.nanmedian(m)'),
    ('m', 'DOUBLE', 'return np.nanpercentile(m, 75)'),
    ('m', 'DOUBLE[]', 'return np.nanpercentile(m, 75, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.quantile(m, [0.1, 0.5, 0.9], axis=1)'),
    ('m', 'DOUBLE', 'return np.quantile(m, [0.1, 0.5, 0.9], axis=1).sum()'),
    ('m', 'DOUBLE[]', 'return np.quantile(m, [0.1, 0.5, 0.9])'),
    ('m', 'DOUBLE[][]', 'return np.vstack([m, np.zeros(m.shape[1])])'),
    ('m', 'DOUBLE[][]', 'return np.vstack((m[:1], m[1:]))'),
    ('x', 'DOUBLE[][]', 'return np.vstack([x, x, [1.0] * len(x)])'),
    ('m', 'DOUBLE[][]', 'return np.hstack((m, m[:, :1] * 0))'),
    ('x', 'DOUBLE[]', 'return np.hstack((x, [1, 2]))'),
    ('x', 'DOUBLE[]', 'return np.append(x, 3)'),
    ('m', 'DOUBLE[]', 'return np.append(m, 3.0)'),
    ('x', 'DOUBLE[]', 'return np.insert(x, 0, 0.0)'),
    ('x', 'DOUBLE[]', 'return np.r_[x[:2], x[2:] * 0]'),
    ('m', 'DOUBLE[][]', 'return np.c_[m, m.sum(axis=1)]'),
    ('m', 'DOUBLE[][]', 'return np.c_[np.arange(len(m)), m]'),
    ('x', 'DOUBLE[]', 'return np.delete(x, x > 0)'),
    ('x', 'DOUBLE[]', 'return np.delete(x, -1)'),
    ('x', 'DOUBLE[]', 'return np.delete(x, 99)'),
    ('m', 'DOUBLE[]', 'return np.delete(m, 1)'),
    ('k', 'BIGINT[][]', 'return np.argwhere(k == 0)'),
    ('m', 'BIGINT[]', 'return np.where(m > 0)[1]'),
    ('m', 'BIGINT', """r, c = np.where(m == m.max())
return int(r[0]) * 1000 + int(c[0])"""),
    ('m', 'BIGINT', 'return np.count_nonzero(m)'),
    ('m', 'BIGINT[]', 'return np.count_nonzero(m, axis=1)'),
    ('m', 'BOOLEAN', 'return np.array_equal(m, m.copy())'),
    ('m', 'BOOLEAN', 'return np.array_equal(m, m[0])'),
    ('m', 'DOUBLE[][]', 'return np.repeat(m[:, :1], 3, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.tile(m, (1, 2)) - np.hstack((m, m))'),
    ('m', 'DOUBLE[][]', 'return np.take(m, [0, -1], axis=1)'),
    ('m', 'DOUBLE[]', 'return np.take(m, 0, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.roll(m, (1), axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.flip(m, 1) * 2'),
    ('m', 'DOUBLE', 'return np.flip(m).sum()'),
    ('m', 'DOUBLE[]', 'return np.rot90(m).sum(axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.expand_dims(m[:, 0], 1) + m'),
    ('m', 'DOUBLE[]', 'return np.ediff1d(m)'),
    ('m', 'DOUBLE[]', 'return np.maximum.reduce(m)'),
    ('m', 'DOUBLE[][]', 'return np.add.accumulate(m, axis=1)'),
    ('m', 'DOUBLE[][]', 'return np.minimum.accumulate(m)'),
    ('x', 'DOUBLE[][]', 'return np.add.outer(x, x)'),
    ('x', 'DOUBLE[][]', 'return np.array([x * i for i in range(3)])'),
    ('x', 'DOUBLE[][]', """rows = []
for i in range(4):
    rows.append(np.roll(x, i))
return np.array(rows)"""),
    ('m', 'DOUBLE[]', 'return np.array([row.max() for row in m])'),
    ('x', 'BIGINT[]', 'return np.select([x > 1, x < -1], [1, 2], 0)'),
    ('x', 'DOUBLE[]', 'return np.round(x, int(abs(x[0])) % 5 if x[0] == x[0] and abs(x[0]) < 1e9 else 0)'),
    ('m', 'DOUBLE[]', 'return m.max(axis=1, initial=3.0)'),
    ('m', 'DOUBLE[]', 'return np.max(m, axis=0, initial=-5.0)'),
    ('m', 'DOUBLE[][]', """np.fill_diagonal(m, 1)
return m"""),
    ('m', 'DOUBLE[][]', """m[:, 0] = np.cumsum(m[:, 0])
return m"""),
    ('x', 'DOUBLE[]', 'return np.logspace(0, 2, 4)'),
    ('x', 'DOUBLE[]', 'return np.cumsum(np.r_[0.0, np.diff(x)])'),
    ('x', 'DOUBLE[]', 'return np.bincount(np.where(x > 0, 1, 0), weights=x)'),
    ('m', 'DOUBLE[][]', 'return m.T * 2'),
    ('m', 'DOUBLE[][]', 'return (m.T + 1) / 3'),
    ('m', 'DOUBLE', 'return m.T.mean() + m.T.std()'),
    ('m', 'DOUBLE[]', 'return (m.T * 2).sum(axis=0)'),
    ('m', 'DOUBLE[]', 'return (m.T * 2).sum(axis=1)'),
    ('m', 'DOUBLE[][]', 'return m.T - m.T.mean(axis=0)'),
    ('m', 'DOUBLE[]', 'return (m.T * 2).ravel()'),
    ('m', 'DOUBLE[]', 'return (m.T * 2).flatten()'),
    ('m', 'DOUBLE[][]', 'return (m.T * 2).T + m'),
    ('m', 'DOUBLE[][]', """z = m[:, [0, -1]]
return (z - z.mean(axis=0)) / z.std(axis=0)"""),
    ('m', 'DOUBLE[]', """z = m[:, [0, -1]]
return (z * z).sum(axis=1)"""),
    ('m', 'DOUBLE', """z = m[:, [0, -1]]
return (z * z).sum()"""),
    ('m', 'BIGINT', 'return m.T.argmax()'),
    ('m', 'BIGINT', 'return (m.T * 2).argmin()'),
    ('m', 'DOUBLE[][]', """a = m.T * 1
a[0] = 5.0
return a"""),
    ('m', 'DOUBLE[][]', """a = m.T
a *= 2
return a + 1"""),
    ('m', 'DOUBLE[]', 'return m.T[1:].sum(axis=0) if m.shape[1] > 1 else m[0]'),
    ('m', 'DOUBLE', 'return np.abs(m.T).max()'),
    ('m', 'DOUBLE[][]', 'return np.where(m.T > 0, m.T, 0.0)'),
    ('m', 'DOUBLE', 'return np.where(m.T > 0, m.T, 0.0).sum()'),
    ('m', 'DOUBLE[][]', 'return m.T[:, ::-1] * 2'),
    ('x', 'DOUBLE[][]', 'return np.array([x * (i + 1) for i in range(2)])'),
    ('x', 'DOUBLE[][]', """rows = []
for i in range(3):
    rows.append(x * i)
return np.array(rows)"""),
    ('x', 'DOUBLE[]', 'return np.array([v * 2 for v in x])'),
    ('m', 'DOUBLE', 'return m[1:, 1:].sum()'),
    ('m', 'DOUBLE', 'return m[:, 1:].sum()'),
    ('m', 'DOUBLE', 'return m[:, ::2].sum()'),
    ('m', 'DOUBLE', 'return m[::2].sum()'),
    ('m', 'DOUBLE', 'return m[:, ::2].mean()'),
    ('m', 'DOUBLE', 'return m[1:, :-1].std()'),
    ('m', 'DOUBLE', 'return m[1:, :-1].max()'),
    ('m', 'DOUBLE', 'return m[:, :1].sum()'),
    ('m', 'DOUBLE', 'return m[::-1].sum()'),
    ('m', 'DOUBLE', 'return m[:, ::-1].mean()'),
    ('m', 'DOUBLE', 'return m.T[1:].sum()'),
    ('m', 'DOUBLE', 'return m.T[:, ::-1].sum()'),
    ('m', 'DOUBLE[]', 'return m[:, 1:].ravel()'),
    ('m', 'DOUBLE[]', 'return m[:, ::-1].flatten()'),
    ('m', 'DOUBLE[]', """a = m[:, 1:].ravel()
a[:1] = 5.0
return m[0]"""),
    ('m', 'DOUBLE[]', """a = m[:1].ravel()
a[0] = 5.0
return m[0]"""),
    ('m', 'DOUBLE[][]', 'return m[:, 1:].reshape(-1, 1)'),
    ('m', 'DOUBLE', 'return (m[:, 1:] > 0).sum()'),
    ('m', 'DOUBLE', 'return (m * 2)[:, 1:].sum()'),
    ('m', 'DOUBLE', 'return m.var(ddof=1)'),
    ('m', 'DOUBLE', 'return m.T.var()'),
    ('k', 'BIGINT', 'return k[:, 1:].sum()'),
    ('k', 'DOUBLE', 'return k[:, 1:].mean()'),
    ('m', 'DOUBLE', 'return m[::2, ::-1].prod()'),
    ('m', 'DOUBLE', 'return m.T[::2, 1:].mean()'),
    ('m', 'DOUBLE', 'return m.T[:, ::-1].var()'),
    ('m', 'DOUBLE', 'return (m.T * 2)[1:, 1:].sum()'),
    ('m', 'DOUBLE', 'return m[1:-1, 1:-1].sum() + m[::2, ::2].sum()'),
]

# What once was wrong: some of them run in CPython.
KEPT = [
    ('m', 'DOUBLE', 'return m[5:].sum()'),
    ('m', 'DOUBLE', 'return m[1:].mean()'),
    ('m', 'DOUBLE[]', 'return m[5:].ravel()'),
    ('m', 'DOUBLE[]', 'return m[5:].reshape(-1)'),
    ('m', 'DOUBLE', """t = 0.0
for i in range(3):
    t += m[i:].sum()
return t"""),
    ('m', 'DOUBLE[][]', 'return np.diff(m)'),
    ('m', 'DOUBLE[][]', 'return np.flip(m)'),
    ('m', 'DOUBLE[]', 'return np.max(m[:0, :0], axis=0)'),
    ('m', 'DOUBLE[]', 'return np.take(m, [0])'),
    ('m', 'DOUBLE[]', 'return np.nansum(m, axis=0)'),
    ('m', 'DOUBLE[][]', """a = m.T * 1
b = a.ravel()
b[0] = 99
return a"""),
    ('m', 'DOUBLE', 'return (m.T * 2).sum()'),
    ('m', 'DOUBLE[]', 'return m.T.std(axis=0)'),
    ('m', 'DOUBLE', 'return np.array(m.T).sum()'),
    ('m', 'DOUBLE', 'return np.zeros_like(m.T).sum()'),
    ('m', 'DOUBLE[]', 'return m.T.astype(float).sum(axis=0)'),
    ('m', 'DOUBLE[][]', """m[:, [0,-1]] = 5.0
return m"""),
    ('m', 'DOUBLE[][]', """m[[0,-1], 1:] = 5.0
return m"""),
    ('m', 'DOUBLE[][]', """m[:, m[0]>0] = 5.0
return m"""),
    ('m', 'DOUBLE[][]', """t = np.take(m,0,axis=1)
t[0]=99
return m"""),
    ('m', 'DOUBLE[][]', """d = np.diag(m)
try:
    d[1:] = 5
except ValueError:
    m[0, 0] = 7
return m"""),
    ('m', 'DOUBLE[][]', """d = np.diag(m)
try:
    d[1:][0] = 5
except (ValueError, IndexError):
    m[0, 0] = 7
return m"""),
    ('m', 'DOUBLE[][]', """d = np.diag(m)
try:
    np.flip(d)[0] = 5
except ValueError:
    m[0, 0] = 7
return m"""),
    ('m', 'DOUBLE[][]', """d = np.diag(m)
try:
    d[:, None][0,0] = 5
except ValueError:
    m[0, 0] = 7
return m"""),
    ('m', 'DOUBLE[][]', """d = np.diag(m)
try:
    np.expand_dims(d,0)[0,0] = 5
except ValueError:
    m[0, 0] = 7
return m"""),
    ('m', 'DOUBLE[][]', """d = np.diag(m)
try:
    d.T[0] = 5
except ValueError:
    m[0, 0] = 7
return m"""),
    ('m', 'DOUBLE[][]', """a = m[:,1:].reshape(m.shape[0],-1)
a[:]=99
return m"""),
    ('m', 'DOUBLE[][]', """a = m.T.reshape(m.shape[1], m.shape[0])
a[:]=99
return m"""),
    ('m', 'DOUBLE', 'return m.T.reshape(m.shape[1],-1).sum()'),
    ('m', 'DOUBLE[][]', """a = m[[0,-1],1:]
b = a.ravel()
b[:]=99
return a"""),
    ('m', 'DOUBLE', 'return np.delete(m,[0,1],axis=1).sum() if m.shape[1] > 1 else 0.0'),
    ('m', 'DOUBLE[]', 'return np.delete(m,[0,1],axis=1).sum(axis=1) if m.shape[1] > 1 else m[0]'),
    ('m', 'DOUBLE', 'return np.delete(m,m[0] < 0.5,axis=1).sum()'),
    ('m', 'DOUBLE', 'return np.delete(m,[0],axis=1).sum()'),
    ('m', 'DOUBLE', 'return np.tile(m.T,1).sum()'),
    ('m', 'DOUBLE', 'return np.select([m.T>0],[m.T],0.3).sum()'),
    ('m', 'TEXT', 'return str(np.apply_along_axis(lambda r: r[0] if r[0]>1 else 0,1,m).tolist())'),
    ('m', 'BIGINT', """seen=[]
np.apply_along_axis(lambda r: seen.append(1) or r.sum(),1,m)
return len(seen)"""),
    ('x', 'DOUBLE', 'return np.percentile(x * 0 * -1, 100)'),
    ('x', 'DOUBLE[]', 'return np.interp(x,[1.0],[5.0])'),
    ('m', 'DOUBLE[]', 'return np.nanmedian(m, axis=0)'),
    ('m', 'DOUBLE[][]', 'return np.outer(m, m[0])'),
    ('m', 'DOUBLE[][]', 'return np.add.outer(m[0], m[0])'),
    ('m', 'DOUBLE[]', 'return np.take(m[0], [True])'),
    ('m', 'DOUBLE[]', 'return np.delete(m[0], [0], axis=1)'),
    ('m', 'DOUBLE[][]', """a = m.T if m.shape[0] > 2 else m
return a * 2"""),
    ('m', 'DOUBLE[]', """a = m.T if m.shape[0] > 2 else m
return (a * 2).sum(axis=0)"""),
    ('m', 'DOUBLE', """a = m.T if m.shape[0] > 2 else m
return (a * 2).sum()"""),
    ('m', 'DOUBLE[][]', """a = m
if m[0, 0] > 0:
    a = m[:, [0, -1]]
return a + 1"""),
    ('m', 'DOUBLE[]', 'return m.diagonal(99)'),
    ('m', 'DOUBLE[]', 'return np.apply_along_axis(np.median, 0, m)'),
]

# Sums of products of arrays of one length.
PRODUCTS = [
    ("x y", "DOUBLE", "return np.dot(x, y)"),
    ("x y", "DOUBLE", "return x @ y"),
    ("x y", "DOUBLE", "return x.dot(y)"),
    ("x", "DOUBLE", "return np.linalg.norm(x)"),
    ("x y", "DOUBLE", "return norm(x - y)"),
    ("x y", "DOUBLE", "return np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y))"),
    ("x", "DOUBLE[]", "return np.array([[0.5, 0.25], [1.0, -1.0], [2.0, 0.0]]) @ x[:2]"),
    ("x", "DOUBLE[]", "return np.matmul(x[:2], np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))"),
    ("x", "DOUBLE[][]", "m = x[:4].reshape(2, 2)\nreturn m @ m.T"),
    ("x y", "DOUBLE[][]", "return np.cov(x, y)"),
    ("x y", "DOUBLE", "return np.corrcoef(x, y)[0, 1]"),
    ("x", "DOUBLE[][]", "return np.cov(x[:4].reshape(2, 2), rowvar=False)"),
    ("x y", "DOUBLE[]", "return np.convolve(x, y[:4])"),
    ("x", "DOUBLE[]", "return np.convolve(x, np.ones(3) / 3, mode='valid')"),
    ("x", "DOUBLE[]", "return np.convolve([0.5, 0.5], x, 'same')"),
    ("x", "DOUBLE[]", "return np.array([[0.5, 0.25, 1.0], [1.0, -1.0, 0.0], [2.0, 0.0, 3.0], [1.0, 1.0, 1.0]]).T @ x[:4]"),
    ("x y", "DOUBLE[]", "n = len(x) // 3\nreturn (x[: 3 * n].reshape(3, n) @ y[:n]) @ np.linspace(-1.0, 1.0, 39).reshape(3, 13)"),
    ("x", "DOUBLE[][]", "n = len(x) // 2\nm = x[: 2 * n].reshape(2, n)\nreturn m[:, ::-1] @ m.T"),
    ("x", "DOUBLE[][]", "n = len(x) // 2\nm = x[: 2 * n].reshape(n, 2)\nreturn np.dot(m, m[:3].T)"),
    ("x", "DOUBLE[]", "return np.maximum(x[:4] @ np.linspace(-1.0, 1.0, 64).reshape(4, 16), 0.0) @ np.linspace(0.5, 2.0, 16)[:, None]"),
]


def grid(make, rows, columns):
    return "[" + ", ".join("[" + ", ".join(make() for _ in range(columns)) + "]" for _ in range(rows)) + "]"


def row(rng, index):
    dirty = rng.choice([0, 0, 0.1])
    rows, columns = rng.choice([1, 2, 3, 4, 5, 9, 20]), rng.choice([1, 2, 3, 4, 5, 8, 9, 17, 130])
    of_ints = rng.choice([1, 2, 3, 4])
    floats = grid(lambda: number(rng, dirty), rows, columns)
    ints = grid(lambda: str(rng.randint(-9, 9)), of_ints, rng.choice([of_ints, 3]))
    items = ", ".join(number(rng, dirty) for _ in range(rng.choice([1, 2, 3, 8, 9])))
    return f"({index}, CAST({floats} AS DOUBLE[][]), CAST({ints} AS BIGINT[][]), CAST([{items}] AS DOUBLE[]))"


def create(name, params, returns, body):
    named = [(param, TYPES[param], "np.ndarray") for param in params.split()]
    head = "import numpy as np\nfrom numpy.linalg import norm\n"
    return created(name, named, returns, body, head, "OPTIONS (on_error 'null')")


def flat(value):
    return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]


def products(binary, rng):
    """How many functions of sums of products hold their bound, and are NumPy's where they are to be."""
    script, bounds = "", []
    values = []
    for index in range(60):
        length = rng.choice([4, 8, 15, 16, 17, 31, 100, 768])
        x, y = ([rng.uniform(-1, 1) for _ in range(length)] for _ in range(2))
        # Each sum is of products below 1, or 6 where there are two; a norm is at least as good.
        bounds.append(6 * length * length * 2.0**-52)
        values.append(f"({index}, CAST({x} AS DOUBLE[]), CAST({y} AS DOUBLE[]))")
    script += f"CREATE TABLE t AS SELECT * FROM (VALUES {', '.join(values)}) AS v(i, x, y);\n"
    calls = []
    for at, (params, returns, body) in enumerate(PRODUCTS):
        script += create(f"p{at}", params, returns, body)
        calls.append(f"p{at}({', '.join(params.split())}) AS p{at}")
    query = f"SELECT {', '.join(calls)} FROM t ORDER BY i;\n"

    def run(settings):
        ran = subprocess.run([binary, "--format", "json", "-f", "-"], input=settings + script + query,
                             capture_output=True, text=True, check=True)
        return json.loads(ran.stdout)

    placed = subprocess.run(
        [binary, "--format", "csv", "-f", "-"], capture_output=True, text=True, check=True,
        input=script + "SELECT count(*) FROM exuvia.functions WHERE placement = 'native';\n").stdout.split()
    native, python, strict = run(""), run("SET exuvia.lift = off;\n"), run("SET exuvia.exact = 'strict';\n")
    passed = 0
    for at, (_, _, body) in enumerate(PRODUCTS):
        name = f"p{at}"
        near = all(abs(one - other) <= bound
                   for ours, theirs, bound in zip(native, python, bounds)
                   for one, other in zip(flat(ours[name]), flat(theirs[name]), strict=True))
        same = [row[name] for row in strict] == [row[name] for row in python]
        passed += near and same
        if not (near and same):
            print(f"{body}: {'beyond its bound' if not near else 'not strict'}")
    if placed[-1] != str(len(PRODUCTS)):
        print(f"{placed[-1]} of {len(PRODUCTS)} functions of sums of products are native")
        passed = 0
    return passed


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    rng = random.Random(5)
    values = ", ".join(row(rng, index) for index in range(120))
    script = f"CREATE TABLE t AS SELECT * FROM (VALUES {values}) AS v(i, m, k, x);\n"
    queries, expected = {}, {}
    bodies = [(*entry, True) for entry in BODIES + ALONG] + [(*entry, None) for entry in KEPT]
    for index, (params, returns, body, native) in enumerate(bodies):
        name = f"f{index}"
        script += create(name, params, returns, body)
        queries[name] = f"SELECT {name}({', '.join(params.split())}) AS r FROM t ORDER BY i"
        expected[name] = (name, body, native)
    failed = len(PRODUCTS) - products(binary, rng)
    return failed + compared(binary, script, queries, expected)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
