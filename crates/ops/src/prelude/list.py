"""Methods and operators of list.

CPython compares elements by identity before equality, which only shows for a NaN:
where one could be found, the row leaves for a rung that knows identities.
"""


def __contains__(item, self):
    for one in self:
        if _same(one, item):
            return True
    return False


def __eq__(self, other):
    if not isinstance(other, list):
        return False
    if len(self) != len(other):
        return False
    if _takes("list.equal_ints", self, other):
        return _operation("list.equal_ints", self, other)
    for a, b in zip(self, other):
        if not _same(a, b):
            return False
    return True


def __ne__(self, other):
    return not __eq__(self, other)


def _less(self, other, strict):
    for a, b in zip(self, other):
        if not _same(a, b):
            return a < b if strict else a <= b
    if strict:
        return len(self) < len(other)
    return len(self) <= len(other)


def __lt__(self, other):
    if not isinstance(other, list):
        return _leave("comparison of a list with another type")
    return _less(self, other, True)


def __le__(self, other):
    if not isinstance(other, list):
        return _leave("comparison of a list with another type")
    return _less(self, other, False)


def _greater(self, other, strict):
    for a, b in zip(self, other):
        if not _same(a, b):
            return a > b if strict else a >= b
    if strict:
        return len(self) > len(other)
    return len(self) >= len(other)


def __gt__(self, other):
    if not isinstance(other, list):
        return _leave("comparison of a list with another type")
    return _greater(self, other, True)


def __ge__(self, other):
    if not isinstance(other, list):
        return _leave("comparison of a list with another type")
    return _greater(self, other, False)


def __add__(self, other):
    result = []
    result.extend(self)
    result.extend(other)
    return result


def _as_size(index):
    # What CPython converts to a C ssize_t.
    if not isinstance(index, int):
        raise TypeError(f"'{_type_name(index)}' object cannot be interpreted as an integer")
    if index >= 9223372036854775808 or index <= -9223372036854775809:
        raise OverflowError("Python int too large to convert to C ssize_t")


def __mul__(self, times):
    if times >= 9223372036854775808 or times <= -9223372036854775809:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    result = []
    if not _extend(result, self, times):
        for _ in range(times if len(self) > 0 else 0):
            result.extend(self)
    return result


def __imul__(self, times):
    if times >= 9223372036854775808 or times <= -9223372036854775809:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    if times <= 0:
        while len(self) > 0:
            self.pop()
    elif not _extend(self, self, times - 1):
        n = len(self)
        for _ in range(times - 1 if n > 0 else 0):
            for i in range(n):
                self.append(self[i])


def __repr__(self):
    return "[" + ", ".join([repr(item) for item in self]) + "]"


def __str__(self):
    return __repr__(self)


def __bool__(self):
    return len(self) != 0


def _as_bound(index):
    if index is not None and not isinstance(index, int):
        raise TypeError("slice indices must be integers or None or have an __index__ method")


def _bounds(n, start, stop, step):
    """Where a slice of n elements begins and ends, and its step (slice.indices)."""
    _as_bound(step)
    if step is None:
        step = 1
    if step == 0:
        raise ValueError("slice step cannot be zero")
    _as_bound(start)
    _as_bound(stop)
    if step > 0:
        low, high = 0, n
    else:
        low, high = -1, n - 1
    if start is None:
        start = low if step > 0 else high
    else:
        if start < 0:
            start = start + n
            if start < low:
                start = low
        elif start > high:
            start = high
    if stop is None:
        stop = high if step > 0 else low
    else:
        if stop < 0:
            stop = stop + n
            if stop < low:
                stop = low
        elif stop > high:
            stop = high
    return start, stop, step


def __getslice__(self, start, stop, step):
    start, stop, step = _bounds(len(self), start, stop, step)
    return _operation("list.stride", self, start, step, len(range(start, stop, step)))


def _cut(self, length):
    while len(self) > length:
        self.pop()


def _cut_out(self, start, count):
    n = len(self)
    _operation("list.rotate", self, start, n - 1, count)
    _cut(self, n - count)


def _replace(self, start, stop, items):
    old = stop - start
    new = len(items)
    for at in range(min(old, new)):
        self[start + at] = items[at]
    if new < old:
        _cut_out(self, start + new, old - new)
    elif new > old:
        for at in range(old, new):
            self.append(items[at])
        _operation("list.rotate", self, stop, len(self) - 1, old - new)


def __setslice__(self, start, stop, step, value):
    n = len(self)
    start, stop, step = _bounds(n, start, stop, step)
    try:
        items = list(value)
    except TypeError:
        return _leave("what cannot be assigned to a slice")
    if step == 1:
        # Iterating may have changed the list.
        n = len(self)
        start = min(start, n)
        _replace(self, start, max(start, min(stop, n)), items)
        return None
    places = range(start, stop, step)
    if len(items) != len(places):
        what = f"attempt to assign sequence of size {len(items)} to extended slice of size {len(places)}"
        raise ValueError(what)
    at = 0
    for place in places:
        self[place] = items[at]
        at += 1


def __delslice__(self, start, stop, step):
    start, stop, step = _bounds(len(self), start, stop, step)
    n = len(range(start, stop, step))
    if n == 0:
        return None
    if step == 1:
        _cut_out(self, start, n)
        return None
    last = start + (n - 1) * step
    first, last, step = min(start, last), max(start, last), abs(step)
    to = first
    for at in range(first, len(self)):
        if at > last or (at - first) % step != 0:
            self[to] = self[at]
            to += 1
    _cut(self, to)


def extend(self, iterable, /):
    if isinstance(iterable, list):
        if _extend(self, iterable, 1):
            return None
        # The elements at the time of the call, even where it is the list itself.
        n = len(iterable)
        for i in range(n):
            self.append(iterable[i])
    else:
        for item in _asked_for_length(iterable):
            self.append(item)


def copy(self, /):
    return self[:]


def count(self, value, /):
    n = 0
    for item in self:
        if _same(item, value):
            n += 1
    return n


def index(self, value, start=0, stop=9223372036854775807, /):
    if not isinstance(start, int) or not isinstance(stop, int):
        raise TypeError("slice indices must be integers or have an __index__ method")
    n, start, stop = len(self), int(start), int(stop)
    if start < 0:
        start = start + n
        if start < 0:
            start = 0
    if stop < 0:
        stop = stop + n
    i = start
    while i < stop and i < len(self):
        if _same(self[i], value):
            return i
        i += 1
    raise ValueError(f"{value!r} is not in list")


def pop(self, index=-1, /):
    _as_size(index)
    n = len(self)
    if n == 0:
        raise IndexError("pop from empty list")
    if index < 0:
        index = index + n
    if index < 0 or index >= n:
        raise IndexError("pop index out of range")
    _operation("list.rotate", self, index, n - 1, 1)
    return self.pop()


def __delitem__(self, index):
    if not isinstance(index, int):
        return _leave("del of an element by something else than an int")
    if not -len(self) <= index < len(self):
        if index >= 9223372036854775808 or index <= -9223372036854775809:
            raise IndexError("cannot fit 'int' into an index-sized integer")
        raise IndexError("list assignment index out of range")
    self.pop(index)


def insert(self, index, value, /):
    _as_size(index)
    n = len(self)
    if index < 0:
        index = index + n
        if index < 0:
            index = 0
    if index > n:
        index = n
    self.append(value)
    _operation("list.rotate", self, index, n, -1)


def remove(self, value, /):
    for i in range(len(self)):
        if _same(self[i], value):
            self.pop(i)
            return None
    raise ValueError("list.remove(x): x not in list")


def clear(self, /):
    while len(self) > 0:
        self.pop()


def reverse(self, /):
    if len(self) > 1:
        _operation("list.reverse", self, 0, len(self) - 1)


def sort(self, /, *, key=None, reverse=False):
    if not isinstance(reverse, bool):
        if not isinstance(reverse, int) or reverse > 2147483647 or reverse < -2147483648:
            return _leave("a `reverse` that is no C int")
    if key is not None and _sees(key, self):
        return _refuse("a key that reads the list which is sorted by it")
    # A comparison that raises leaves a list of many values in an order that only CPython knows.
    try:
        _sort(self, key, True if reverse else False)
    except TypeError:
        return _leave("sorting values that do not compare")
    except Exception:
        if reverse or len(self) >= 64:
            return _leave("sorting values whose comparison raises")
        raise


def _sort(self, key, reverse):
    # Keys are computed once, in order.
    keys = self
    if key is not None:
        keys = []
        for item in self:
            keys.append(key(item))
    if _takes("list.sort_by", self, keys, reverse):
        return _operation("list.sort_by", self, keys, reverse)
    n = len(keys)
    for value in keys:
        if isinstance(value, float):
            if value != value:
                return _leave("sorting a NaN")
    if n < 64:
        if reverse:
            _reverse(self, keys, key is not None, n)
        _sort_few(self, keys, key is not None, n)
        if reverse:
            _reverse(self, keys, key is not None, n)
        return None
    for i in range(n):
        if not _is_ordered(keys[i]):
            return _leave("sorting many values whose order may not be total")
    _sort_many(self, keys, n, reverse)


def _reverse(self, keys, apart, n):
    # They are one list, or two.
    if n < 2:
        return None
    if apart:
        _operation("list.reverse", self, 0, n - 1)
    _operation("list.reverse", keys, 0, n - 1)


def _sort_few(self, keys, apart, n):
    # The comparisons of CPython's list.sort for fewer than 64 values (Objects/listobject.c,
    # count_run and binarysort), so that all is as there, whatever a comparison does.
    if n < 2:
        return None
    run = 2
    if keys[1] < keys[0]:
        while run < n and keys[run] < keys[run - 1]:
            run += 1
        _reverse(self, keys, apart, run)
    else:
        while run < n and not (keys[run] < keys[run - 1]):
            run += 1
    for start in range(run, n):
        pivot = keys[start]
        low = 0
        high = start
        while low < high:
            middle = (low + high) // 2
            if pivot < keys[middle]:
                high = middle
            else:
                low = middle + 1
        if apart:
            _operation("list.rotate", self, low, start, -1)
        _operation("list.rotate", keys, low, start, -1)


def _sort_many(self, keys, n, reverse):
    # By merging; `reverse` keeps the order of equal elements, as CPython's does.
    width = 1
    while width < n:
        low = 0
        new_items = []
        new_keys = []
        while low < n:
            middle = low + width if low + width < n else n
            high = middle + width if middle + width < n else n
            i = low
            j = middle
            while i < middle or j < high:
                if j >= high:
                    left = True
                elif i >= middle:
                    left = False
                elif reverse:
                    left = not (keys[i] < keys[j])
                else:
                    left = not (keys[j] < keys[i])
                if left:
                    new_items.append(self[i])
                    new_keys.append(keys[i])
                    i += 1
                else:
                    new_items.append(self[j])
                    new_keys.append(keys[j])
                    j += 1
            low = high
        for k in range(n):
            self[k] = new_items[k]
        keys = new_keys
        width = width * 2
