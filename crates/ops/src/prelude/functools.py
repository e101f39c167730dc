"""functools, of functions that are known."""


def reduce(function, iterable, initial=_missing, /):
    if not _is_missing(initial):
        total = initial
        for item in iterable:
            total = function(total, item)
        return total
    if _is_iterator(iterable):
        return _refuse("reduce of an iterator without a first value")
    if _sees(function, iterable):
        return _refuse("a function that reads what is reduced by it")
    items = list(iterable)
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


def _identity(function):
    return function


def wraps(wrapped, assigned=_missing, updated=_missing):
    return _identity


def cache(user_function, /):
    return _cached(user_function)


def lru_cache(maxsize=128, typed=False):
    if _is_function(maxsize):
        return _cached(maxsize)
    return _cached


def partial(func, /, *args):
    def bound(*more):
        return func(*args, *more)

    return bound


class K:
    def __init__(self, mycmp, obj):
        self._mycmp = mycmp
        self.obj = obj

    def __lt__(self, other):
        return self._mycmp(self.obj, other.obj) < 0


def cmp_to_key(mycmp):
    return lambda obj: K(mycmp, obj)
