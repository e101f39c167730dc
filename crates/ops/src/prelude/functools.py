"""functools, of functions that are known."""


def reduce(function, iterable, initial=_missing, /):
    if iterable is None or isinstance(iterable, (int, float)):
        raise TypeError("reduce() arg 2 must support iteration")
    if not _is_missing(initial):
        total = initial
        for item in iterable:
            total = function(total, item)
        return total
    if _is_iterator(iterable):
        return _refuse("reduce of an iterator without a first value")
    if _changes(function, iterable):
        return _refuse("a function that may change what is reduced by it")
    items = list(iterable)
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


def _with_name(function):
    # Its name is that of another function then.
    return _renamed(function)


def wraps(wrapped, assigned=_missing, updated=_missing):
    return _with_name


def cache(user_function, /):
    return _cached(user_function, True)


def lru_cache(maxsize=128, typed=False):
    if _is_function(maxsize):
        return _cached(maxsize, False)
    return lambda user_function: _cached(user_function, maxsize is None)


def partial(func, /, *args, **keywords):
    def bound(*more, **others):
        return func(*args, *more, **keywords, **others)

    return bound


class K:
    def __init__(self, mycmp, obj):
        self._mycmp = mycmp
        self.obj = obj

    def __lt__(self, other):
        return self._mycmp(self.obj, other.obj) < 0


def cmp_to_key(mycmp):
    return lambda obj: K(mycmp, obj)


# What total_ordering gives a class: each comparison by one that it has.


def _gt_from_lt(self, other):
    result = self.__lt__(other)
    return result if result is NotImplemented else not result and self != other


def _le_from_lt(self, other):
    result = self.__lt__(other)
    return result if result is NotImplemented else result or self == other


def _ge_from_lt(self, other):
    result = self.__lt__(other)
    return result if result is NotImplemented else not result


def _ge_from_le(self, other):
    result = self.__le__(other)
    return result if result is NotImplemented else not result or self == other


def _lt_from_le(self, other):
    result = self.__le__(other)
    return result if result is NotImplemented else result and self != other


def _gt_from_le(self, other):
    result = self.__le__(other)
    return result if result is NotImplemented else not result


def _lt_from_gt(self, other):
    result = self.__gt__(other)
    return result if result is NotImplemented else not result and self != other


def _ge_from_gt(self, other):
    result = self.__gt__(other)
    return result if result is NotImplemented else result or self == other


def _le_from_gt(self, other):
    result = self.__gt__(other)
    return result if result is NotImplemented else not result


def _le_from_ge(self, other):
    result = self.__ge__(other)
    return result if result is NotImplemented else not result or self == other


def _gt_from_ge(self, other):
    result = self.__ge__(other)
    return result if result is NotImplemented else result and self != other


def _lt_from_ge(self, other):
    result = self.__ge__(other)
    return result if result is NotImplemented else not result
