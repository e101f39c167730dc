"""itertools: those iterators that ask for an item when they are asked for one (library reference,
module itertools)."""


def _must_be_iterable(value):
    # Looked at when the iterator is made, what else is wrong when it is asked.
    if value is None:
        raise TypeError("'NoneType' object is not iterable")
    if isinstance(value, (float, int)):
        raise TypeError(f"'{_type_name(value)}' object is not iterable")


def accumulate(iterable, func=None, *, initial=None):
    _must_be_iterable(iterable)
    return accumulate_(iterable, func, initial)


def accumulate_(iterable, func, initial):
    started = False
    if initial is not None:
        total = initial
        started = True
        yield total
    for item in iterable:
        if not started:
            total = item
            started = True
        elif func is None:
            total = total + item
        else:
            total = func(total, item)
        yield total


def chain(*iterables):
    for iterable in iterables:
        for item in iterable:
            yield item


def chain_from_iterable(iterable, /):
    _must_be_iterable(iterable)
    return chain_(iterable)


def chain_(iterable):
    for inner in iterable:
        for item in inner:
            yield item


def starmap(function, iterable, /):
    _must_be_iterable(iterable)
    return starmap_(function, iterable)


def starmap_(function, iterable):
    for items in iterable:
        yield function(*items)


def _as_count(r):
    """A number of items, which is looked at before the items are; whether it is negative only after them."""
    if r is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    if not isinstance(r, int) or not -2147483648 <= r <= 2147483647:
        return _leave("a number of items that is no int, or too large")
    return r


def combinations(iterable, r):
    r = _as_count(r)
    items = list(iterable)
    if not _is_constant(r):
        return _combinations(items, _count_of_items(r))
    n = len(items)
    if r == 1:
        return ((item,) for item in items)
    if r == 2:
        return ((items[i], items[j]) for i in range(n) for j in range(i + 1, n))
    if r == 3:
        return (
            (items[i], items[j], items[k]) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)
        )
    return _combinations(items, _count_of_items(r))


def _count_of_items(r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return r


def _combinations(items, r):
    # Each is a list of positions that grow; the next moves the last one that can move.
    n = len(items)
    if r > n:
        return
    places = list(range(r))
    while True:
        yield tuple([items[at] for at in places])
        last = r - 1
        while last >= 0 and places[last] == last + n - r:
            last -= 1
        if last < 0:
            return
        places[last] += 1
        for at in range(last + 1, r):
            places[at] = places[at - 1] + 1


def combinations_with_replacement(iterable, r):
    r = _as_count(r)
    return _with_replacement(list(iterable), _count_of_items(r))


def _with_replacement(items, r):
    n = len(items)
    if n == 0 and r > 0:
        return
    places = [0] * r
    while True:
        yield tuple([items[at] for at in places])
        last = r - 1
        while last >= 0 and places[last] == n - 1:
            last -= 1
        if last < 0:
            return
        following = places[last] + 1
        for at in range(last, r):
            places[at] = following


def permutations(iterable, r=None):
    if r is not None:
        r = _as_count(r)
    items = list(iterable)
    n = len(items)
    if _is_constant(r) and r == 2:
        return ((items[i], items[j]) for i in range(n) for j in range(n) if i != j)
    return _permutations(items, n if r is None else _count_of_items(r))


def _permutations(items, r):
    # The orders of positions as numbers grow; of those that begin with the same `r` the first one counts.
    n = len(items)
    if r > n:
        return
    places = list(range(n))
    while True:
        yield tuple([items[at] for at in places[:r]])
        places[r:] = places[r:][::-1]
        first = n - 2
        while first >= 0 and places[first] > places[first + 1]:
            first -= 1
        if first < 0:
            return
        other = n - 1
        while places[other] < places[first]:
            other -= 1
        places[first], places[other] = places[other], places[first]
        places[first + 1 :] = places[first + 1 :][::-1]


def _product(pools):
    n = len(pools)
    for pool in pools:
        if len(pool) == 0:
            return
    places = [0] * n
    while True:
        yield tuple([pools[at][places[at]] for at in range(n)])
        last = n - 1
        while last >= 0 and places[last] == len(pools[last]) - 1:
            places[last] = 0
            last -= 1
        if last < 0:
            return
        places[last] += 1


def product(*iterables, repeat=1):
    if not isinstance(repeat, int) or not 0 <= repeat <= 2147483647:
        return _leave("a product of so many times")
    if repeat != 1:
        if len(iterables) != 1:
            return _refuse("a repeated product of several")
        return _product([list(iterables[0])] * repeat)
    if len(iterables) == 2:
        first, second = list(iterables[0]), list(iterables[1])
        return ((a, b) for a in first for b in second)
    if len(iterables) == 3:
        first, second, third = list(iterables[0]), list(iterables[1]), list(iterables[2])
        return ((a, b, c) for a in first for b in second for c in third)
    return _refuse("a product of so many")


def zip_longest(*iterables, fillvalue=None):
    if len(iterables) == 3:
        return _longest_three(
            _in_place(iterables[0]), _in_place(iterables[1]), _in_place(iterables[2]), fillvalue
        )
    if len(iterables) != 2:
        return _refuse("zip_longest of so many")
    return _longest(_in_place(iterables[0]), _in_place(iterables[1]), fillvalue)


def _longest(left, right, fillvalue):
    # What ended stays at its end.
    in_left = in_right = True
    i = 0
    while True:
        in_left = in_left and i < len(left)
        in_right = in_right and i < len(right)
        if not in_left and not in_right:
            return
        yield (left[i] if in_left else fillvalue, right[i] if in_right else fillvalue)
        i += 1


def _longest_three(first, second, third, fillvalue):
    in_first = in_second = in_third = True
    i = 0
    while True:
        in_first = in_first and i < len(first)
        in_second = in_second and i < len(second)
        in_third = in_third and i < len(third)
        if not in_first and not in_second and not in_third:
            return
        yield (
            first[i] if in_first else fillvalue,
            second[i] if in_second else fillvalue,
            third[i] if in_third else fillvalue,
        )
        i += 1


def count(start=0, step=1):
    if not isinstance(start, (int, float)) or not isinstance(step, (int, float)):
        return _refuse("count of such values")
    start = int(start) if isinstance(start, bool) else start
    step = int(step) if isinstance(step, bool) else step
    return _count_from(start, step)


def _count_from(at, step):
    while True:
        yield at
        at += step


def cycle(iterable, /):
    if iterable is None:
        raise TypeError("'NoneType' object is not iterable")
    return _cycling(iterable)


def _cycling(iterable):
    saved = []
    for item in iterable:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def repeat(object, times=_missing):
    if _is_missing(times):
        return _repeated(object)
    if not isinstance(times, int):
        return _leave("a number of repetitions that is no int")
    if not -9223372036854775808 <= times <= 9223372036854775807:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return _repeated_times(object, times)


def _repeated(value):
    while True:
        yield value


def _repeated_times(value, times):
    for _ in range(times):
        yield value


def compress(data, selectors):
    _must_be_iterable(data)
    _must_be_iterable(selectors)
    return compress_(data, selectors)


def compress_(data, selectors):
    for value, selector in zip(data, selectors):
        if selector:
            yield value


def dropwhile(predicate, iterable, /):
    _must_be_iterable(iterable)
    return dropwhile_(predicate, iterable)


def dropwhile_(predicate, iterable):
    dropping = True
    for item in iterable:
        if dropping:
            if predicate(item):
                continue
            dropping = False
        yield item


def filterfalse(predicate, iterable, /):
    _must_be_iterable(iterable)
    return filterfalse_(predicate, iterable)


def filterfalse_(predicate, iterable):
    for item in iterable:
        if predicate is None:
            if not item:
                yield item
        elif not predicate(item):
            yield item


class _Grouped:
    """What is grouped, and how far it was asked for: groups and their items are asked for in turns."""

    def __init__(self, items, key, first):
        self._items = items
        self._key = key
        self._at = 1
        self._ended = False
        # Which group is the one that can be read.
        self._turn = 0
        # The item that nobody has taken yet, and its key.
        self._has = True
        self._item = first
        self._now = first if key is None else key(first)


def _next_of(source):
    if source._ended or source._at >= len(source._items):
        source._ended = True
        return False
    item = source._items[source._at]
    source._at = source._at + 1
    now = item if source._key is None else source._key(item)
    source._item = item
    source._now = now
    source._has = True
    return True


class _grouper:
    """The items of a group that were not asked for, until the next group is."""

    def __init__(self, source, key):
        self._source = source
        self._key = key
        self._turn = source._turn

    def __iter__(self):
        source = self._source
        while self._turn == source._turn:
            if not source._has and not _next_of(source):
                return
            if not _same(self._key, source._now):
                return
            source._has = False
            yield source._item


def _groups(items, key):
    if len(items) == 0:
        return
    source = _Grouped(items, key, items[0])
    while True:
        current = source._now
        source._turn = source._turn + 1
        yield (current, _grouper(source, current))
        source._turn = source._turn + 1
        while not source._has or _same(current, source._now):
            if not _next_of(source):
                return


def _items_to_group(iterable):
    if not _is_quiet(iterable):
        return _refuse("groups of what may change meanwhile")
    try:
        return list(iterable)
    except Exception:
        return _leave("an exception while items are grouped")


def groupby(iterable, key=None):
    return _groups(iterable if isinstance(iterable, list) else _items_to_group(iterable), key)


def _count_of(value, default):
    if value is None:
        return default
    if not isinstance(value, int) or value < 0 or value > 9223372036854775807:
        return _leave("what CPython says of such bounds")
    return value


def islice(iterable, start, stop=_missing, step=None, /):
    # Bounds come first.
    if _is_missing(stop):
        last = _count_of(start, -1)
        wanted = 0
    else:
        last = _count_of(stop, -1)
        wanted = _count_of(start, 0)
    by = _count_of(step, 1)
    if by == 0:
        return _leave("what CPython says of such bounds")
    _must_be_iterable(iterable)
    return islice_(iterable, wanted, last, by)


def islice_(iterable, wanted, last, by):
    if last == 0 and wanted == 0:
        return
    at = 0
    for item in iterable:
        if at == wanted and (last < 0 or at < last):
            yield item
            wanted = wanted + by
            if last >= 0 and wanted > last:
                wanted = last
        at = at + 1
        if last >= 0 and at >= last and at >= wanted:
            return


def pairwise(iterable, /):
    _must_be_iterable(iterable)
    return pairwise_(iterable)


def pairwise_(iterable):
    started = False
    for item in iterable:
        if started:
            yield (before, item)
        before = item
        started = True


def takewhile(predicate, iterable, /):
    _must_be_iterable(iterable)
    return takewhile_(predicate, iterable)


def takewhile_(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            return
        yield item
