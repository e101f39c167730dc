"""Built-in functions over anything that can be iterated."""


def _missing():
    """Stands for an argument that was not given; see _is_missing."""


# What has operators of its own.
_OBJECTS = ("datetime.timedelta", "RegexFlag")


def any(iterable, /):
    for item in _unordered(iterable):
        if item:
            return True
    return False


def all(iterable, /):
    for item in _unordered(iterable):
        if not item:
            return False
    return True


def sum(iterable, /, start=0):
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for item in iterable:
        total = total + item
    return total


def _items(iterable):
    if isinstance(iterable, (list, tuple)):
        return iterable
    return list(iterable)


def max(*args, key=None, default=_missing):
    if len(args) == 0:
        raise TypeError("max expected at least 1 argument, got 0")
    if len(args) > 1:
        if not _is_missing(default):
            raise TypeError("Cannot specify a default for max() with multiple positional arguments")
        items = args
    else:
        items = _items(_unordered(args[0]) if key is None else args[0])
        if len(items) == 0:
            if _is_missing(default):
                raise ValueError("max() arg is an empty sequence")
            return default
    best = items[0]
    if key is None:
        for item in items[1:]:
            if item > best:
                best = item
        return best
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key > best_key:
            best = item
            best_key = item_key
    return best


def min(*args, key=None, default=_missing):
    if len(args) == 0:
        raise TypeError("min expected at least 1 argument, got 0")
    if len(args) > 1:
        if not _is_missing(default):
            raise TypeError("Cannot specify a default for min() with multiple positional arguments")
        items = args
    else:
        items = _items(_unordered(args[0]) if key is None else args[0])
        if len(items) == 0:
            if _is_missing(default):
                raise ValueError("min() arg is an empty sequence")
            return default
    best = items[0]
    if key is None:
        for item in items[1:]:
            if item < best:
                best = item
        return best
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key < best_key:
            best = item
            best_key = item_key
    return best


def _length(n):
    # What `__len__` returned, as `len` gives it (Objects/typeobject.c, slot_sq_length).
    if not isinstance(n, int):
        raise TypeError(f"'{_type_name(n)}' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError("__len__() should return >= 0")
    return int(n)


def _range_len(start, stop, step):
    if step > 0:
        length = (stop - start + step - 1) // step if start < stop else 0
    else:
        length = (start - stop - step - 1) // -step if start > stop else 0
    if length >= 9223372036854775808:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return length


def _in_range(item, start, stop, step):
    if step > 0:
        return start <= item < stop and (item - start) % step == 0
    return stop < item <= start and (start - item) % -step == 0


def divmod(a, b, /):
    if _type_name(a) in _OBJECTS or _type_name(b) in _OBJECTS:
        return _leave("divmod of objects")
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        raise TypeError(f"unsupported operand type(s) for divmod(): '{_type_name(a)}' and '{_type_name(b)}'")
    if b == 0 and (isinstance(a, float) or isinstance(b, float)):
        raise ZeroDivisionError("float divmod()")
    return (a // b, a % b)


def pow(base, exp, mod=None):
    if mod is None:
        return base ** exp
    return _leave("pow with a modulus")


def sorted(iterable, /, *, key=None, reverse=False):
    if key is None and isinstance(iterable, str) and isinstance(reverse, bool):
        return _operation("str.sorted_chars", iterable, reverse)
    result = list(_unordered(iterable) if key is None else iterable)
    if key is None and isinstance(reverse, bool):
        if _takes("list.sort_int", result):
            return _operation("list.sort_int", result, reverse)
        if _takes("list.sort_str", result):
            return _operation("list.sort_str", result, reverse)
        if _takes("list.sort_float", result):
            return _operation("list.sort_float", result, reverse)
    result.sort(key=key, reverse=reverse)
    return result
