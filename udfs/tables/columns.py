"""Functions of columns, as one writes them with NumPy and pandas.

They are those of `cargo xtask bench columns`. Of most each value depends on its own row only, so that they are
compiled to row functions; the last ones look at the whole column.
"""

import numpy as np
import pandas as pd

RATES = {"inland": 1.25, "island": 3.5, "abroad": 9.75}


# sql: triad(a DOUBLE, b DOUBLE, c DOUBLE) RETURNS DOUBLE
def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return a + 2.5 * b * c


# sql: cubic(a DOUBLE) RETURNS DOUBLE
def cubic(a: np.ndarray) -> np.ndarray:
    return np.clip(0.5 + a * (0.25 - a * (1.5 + a * 0.125)), -1e3, 1e3)


# sql: distance(lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE) RETURNS DOUBLE
def distance(lat1: np.ndarray, lon1: np.ndarray, lat2: np.ndarray, lon2: np.ndarray) -> np.ndarray:
    lat1, lon1, lat2, lon2 = map(np.radians, [lat1, lon1, lat2, lon2])
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(h))


def normal(x):
    """The cumulative normal distribution, by Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    below = 0.3989422804014327 * np.exp(-0.5 * x * x) * tail
    return np.where(x > 0, 1.0 - below, below)


# sql: call_price(price DOUBLE, strike DOUBLE, years DOUBLE, rate DOUBLE, vol DOUBLE) RETURNS DOUBLE
def call_price(price: np.ndarray, strike: np.ndarray, years: np.ndarray, rate: np.ndarray, vol: np.ndarray) -> np.ndarray:
    root = np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * vol * vol) * years) / (vol * root)
    d2 = d1 - vol * root
    return price * normal(d1) - strike * np.exp(-rate * years) * normal(d2)


# sql: band(a DOUBLE) RETURNS TEXT
def band(a: np.ndarray) -> np.ndarray:
    return np.select([a < 60, a < 90, a < 120], ["low", "medium", "high"], default="top")


# sql: cleaned(a DOUBLE, b DOUBLE) RETURNS DOUBLE
def cleaned(a: pd.Series, b: pd.Series) -> pd.Series:
    a = a.fillna(b).clip(lower=0, upper=200)
    return a.where(a > 10, a * 1.5).round(2)


# sql: charge(a DOUBLE, zone TEXT) RETURNS DOUBLE
def charge(a: pd.Series, zone: pd.Series) -> pd.Series:
    rate = zone.str.strip().str.lower().map(RATES).fillna(2.0)
    return a * rate


def grade(value):
    if value != value:
        return 0.0
    if value > 100:
        return value * 0.9
    return value + 1.5


# sql: graded(a DOUBLE) RETURNS DOUBLE
def graded(a: pd.Series) -> pd.Series:
    return a.apply(grade)


# sql: zscore(a DOUBLE) RETURNS DOUBLE
def zscore(a: pd.Series) -> pd.Series:
    return (a - a.mean()) / a.std()


# sql: scaled(b DOUBLE) RETURNS DOUBLE
def scaled(b: np.ndarray) -> np.ndarray:
    known = b[~np.isnan(b)]
    low, high = known.min(), known.max()
    return np.where(np.isnan(b), 0.0, (b - low) / (high - low))


# sql: running(a DOUBLE) RETURNS DOUBLE
def running(a: np.ndarray) -> np.ndarray:
    filled = np.nan_to_num(a)
    return np.cumsum(filled) / filled.sum()


# sql: smoothed(b DOUBLE) RETURNS DOUBLE
def smoothed(b: np.ndarray) -> np.ndarray:
    out = np.zeros(len(b))
    level = 0.0
    for i in range(len(b)):
        if not np.isnan(b[i]):
            level = 0.9 * level + 0.1 * b[i]
        out[i] = level
    return out
