"""statistics, of ints and floats."""


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
        return _refuse("a mean with weights")
    items = _items(data, 1, "fmean")
    return _operation("statistics.sum", [_exact(item) for item in items]) / len(items)


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
