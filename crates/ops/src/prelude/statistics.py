"""statistics, of ints and floats."""

from typing import NamedTuple


def _items(data, least, function):
    items = list(data)
    if len(items) < least:
        for item in items:
            # What is no number is an error before.
            _exact(item)
        if least == 1:
            _operation("statistics.fail", function + " requires at least one data point")
        else:
            _operation("statistics.fail", function + " requires at least two data points")
    return items


def _exact(value):
    if isinstance(value, float):
        return value
    if not isinstance(value, int) or not -(2**53) <= value <= 2**53:
        return _leave("statistics of such a value")
    return float(value)


def mean(data):
    items = _items(data, 1, "mean")
    if _takes("statistics.mean", items):
        return _operation("statistics.mean", items)
    if _takes("list.sort_int", items):
        total = sum(items)
        if total % len(items) == 0:
            return total // len(items)
        return total / len(items)
    if not any([isinstance(item, float) for item in items]):
        return _leave("the mean of ints and bools")
    return _operation("statistics.mean", [_exact(item) for item in items])


def fmean(data, weights=None):
    if weights is not None:
        return _weighted(list(data), list(weights))
    items = _items(data, 1, "fmean")
    return _operation("statistics.sum", [_exact(item) for item in items]) / len(items)


def _weighted(data, weights):
    total = _operation("statistics.sum", [_exact(x * weight) for x, weight in zip(data, weights)])
    if len(data) != len(weights):
        _operation("statistics.fail", "data and weights must be the same length")
    of_weights = _operation("statistics.sum", [_exact(weight) for weight in weights])
    if of_weights == 0.0:
        _operation("statistics.fail", "sum of weights must be non-zero")
    return total / of_weights


def _spread(data, least, function, root):
    items = _items(data, least, function)
    if not root and not any([isinstance(item, float) for item in items]):
        return _leave("the variance of ints")
    return _operation("statistics.spread", [_exact(item) for item in items], least - 1, root)


def stdev(data, xbar=None):
    if xbar is not None:
        return _refuse("a deviation from a given mean")
    return _spread(data, 2, "stdev", True)


def pstdev(data, mu=None):
    if mu is not None:
        return _refuse("a deviation from a given mean")
    return _spread(data, 1, "pstdev", True)


def variance(data, xbar=None):
    if xbar is not None:
        return _refuse("a deviation from a given mean")
    return _spread(data, 2, "variance", False)


def pvariance(data, mu=None):
    if mu is not None:
        return _refuse("a deviation from a given mean")
    return _spread(data, 1, "pvariance", False)


def _sorted(data):
    items = sorted(data)
    if len(items) == 0:
        _operation("statistics.fail", "no median for empty data")
    return items


def median(data):
    items = _sorted(data)
    middle = len(items) // 2
    if len(items) % 2 == 1:
        return items[middle]
    return (items[middle - 1] + items[middle]) / 2


def median_low(data):
    items = _sorted(data)
    return items[(len(items) - 1) // 2]


def median_high(data):
    items = _sorted(data)
    return items[len(items) // 2]


def _counted(data):
    counts = {}
    for item in data:
        counts[item] = counts.get(item, 0) + 1
    return counts


def mode(data):
    counts = _counted(data)
    if not counts:
        _operation("statistics.fail", "no mode for empty data")
    most = max(counts.values())
    for item, count in counts.items():
        if count == most:
            return item
    return _leave("a mode")


def multimode(data):
    counts = _counted(data)
    most = max(counts.values(), default=0)
    return [item for item, count in counts.items() if count == most]


def quantiles(data, *, n=4, method="exclusive"):
    if not isinstance(n, int):
        return _leave("quantiles of a number of groups that is no int")
    if n < 1:
        _operation("statistics.fail", "n must be at least 1")
    items = sorted(data)
    size = len(items)
    if size < 2:
        _operation("statistics.fail", "must have at least two data points")
    if method == "inclusive":
        cuts = []
        for i in range(1, n):
            j = i * (size - 1) // n
            rest = i * (size - 1) - j * n
            cuts.append((items[j] * (n - rest) + items[j + 1] * rest) / n)
        return cuts
    if method == "exclusive":
        cuts = []
        for i in range(1, n):
            j = i * (size + 1) // n
            j = 1 if j < 1 else size - 1 if j > size - 1 else j
            rest = i * (size + 1) - j * n
            cuts.append((items[j - 1] * (n - rest) + items[j] * rest) / n)
        return cuts
    raise ValueError(f"Unknown method: {method!r}")


class LinearRegression(NamedTuple):
    slope: float
    intercept: float


def geometric_mean(data):
    logarithms = []
    for item in data:
        value = _exact(item)
        if not value > 0.0:
            if value != value:
                return _leave("the geometric mean of NaN")
            _operation("statistics.fail", "geometric mean requires a non-empty dataset containing positive numbers")
        logarithms.append(_operation("math.log", value))
    if len(logarithms) == 0:
        _operation("statistics.fail", "geometric mean requires a non-empty dataset containing positive numbers")
    return _operation("math.exp", _operation("statistics.sum", logarithms) / len(logarithms))


def _pairs(x, y, what):
    if not isinstance(x, (list, tuple)) or not isinstance(y, (list, tuple)):
        return _leave("statistics of pairs of something else than lists")
    if len(y) != len(x):
        _operation("statistics.fail", what + " requires that both inputs have same number of data points")
    if len(x) < 2:
        _operation("statistics.fail", what + " requires at least two data points")
    return [_exact(one) for one in x], [_exact(one) for one in y]


def _around(items):
    mean = _operation("statistics.sum", items) / len(items)
    return mean, [item - mean for item in items]


def _products(a, b):
    return _operation("statistics.sum", [one * other for one, other in zip(a, b)])


def covariance(x, y, /):
    x, y = _pairs(x, y, "covariance")
    return _products(_around(x)[1], _around(y)[1]) / (len(x) - 1)


def correlation(x, y, /):
    x, y = _pairs(x, y, "correlation")
    a, b = _around(x)[1], _around(y)[1]
    product = _products(a, b)
    root = _operation("math.sqrt", _products(a, a) * _products(b, b))
    if root == 0.0:
        _operation("statistics.fail", "at least one of the inputs is constant")
    return product / root


def linear_regression(x, y, /, *, proportional=False):
    x, y = _pairs(x, y, "linear regression")
    if proportional:
        product, square = _products(x, y), _products(x, x)
        intercept = 0.0
    else:
        mean, a = _around(x)
        other, b = _around(y)
        product, square = _products(a, b), _products(a, a)
    if square == 0.0:
        _operation("statistics.fail", "x is constant")
    slope = product / square
    if not proportional:
        intercept = other - slope * mean
    return LinearRegression(slope, intercept)
