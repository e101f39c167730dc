"""Built-in functions over anything that can be iterated."""


# What has operators of its own.
_OBJECTS = ("datetime.timedelta", "RegexFlag", "decimal.Decimal")

# Those that say themselves what divmod of them is.
_DIVISIBLE = ("decimal.Decimal", "ndarray", "Series")


def _same(a, b):
    """Whether two elements are equal as containers compare them: identity comes before equality,
    which shows for a NaN."""
    if _same_object(a, b):
        return True
    if isinstance(a, float) and isinstance(b, float):
        if a != a and b != b:
            return _leave("identity of a NaN")
    return a == b


def _is_ordered(value):
    """Whether values of this kind have one order, whoever compares them."""
    if isinstance(value, (str, int)):
        return True
    if isinstance(value, float):
        return value == value
    if isinstance(value, (tuple, list)):
        for one in value:
            if not _is_ordered(one):
                return False
        return True
    return False


def _float_parts(number):
    """An int and an exponent: a finite float is the first times two to the second."""
    power = _operation("float.exponent", number) - 53
    return int(_operation("math.ldexp", number, -power)), power


def _c_int(value):
    """A part of a date or a time."""
    if not isinstance(value, int):
        return _leave("a part of a time that is no int")
    return int(value)


def _timespec(name):
    """How much of a time is written: up to the hour, minute, second, millisecond, microsecond, or
    what it takes."""
    if not isinstance(name, str):
        return _leave("a precision that is no text")
    if name == "auto":
        return 5
    if name == "hours":
        return 0
    if name == "minutes":
        return 1
    if name == "seconds":
        return 2
    if name == "milliseconds":
        return 3
    if name == "microseconds":
        return 4
    raise ValueError("Unknown timespec value")


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
        # What cannot be iterated is found first.
        enumerate(iterable)
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    if _type_name(start) == "bytes":
        enumerate(iterable)
        raise TypeError("sum() can't sum bytes [use b''.join(seq) instead]")
    total = start
    for item in iterable:
        total = total + item
    return total


def _first(iterable, most):
    """So many of the first items, as a list."""
    found = []
    for item in iterable:
        found.append(item)
        if len(found) == most:
            break
    return found


def _items(iterable):
    if isinstance(iterable, (list, tuple)) and not _is_of(iterable, "json.list"):
        return iterable
    return list(iterable)


def _from_second(items):
    at = 1
    while at < len(items):
        yield _item(items, at)
        at += 1


def _rest(items):
    """The items behind the first, of a list as it is by then."""
    return _from_second(items) if isinstance(items, list) else items[1:]


def max(*args, key=None, default=_missing):
    if len(args) == 0:
        raise TypeError("max expected at least 1 argument, got 0")
    if len(args) > 1:
        if not _is_missing(default):
            raise TypeError("Cannot specify a default for max() with multiple positional arguments")
        items = args
    else:
        if key is not None and _changes(key, args[0]):
            return _refuse("a key that may change what is searched by it")
        items = _items(_unordered(args[0]) if key is None else args[0])
        if len(items) == 0:
            if _is_missing(default):
                raise ValueError("max() arg is an empty sequence")
            return default
    best = items[0]
    if key is None:
        for item in _rest(items):
            if item > best:
                best = item
        return best
    best_key = key(best)
    for item in _rest(items):
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
        if key is not None and _changes(key, args[0]):
            return _refuse("a key that may change what is searched by it")
        items = _items(_unordered(args[0]) if key is None else args[0])
        if len(items) == 0:
            if _is_missing(default):
                raise ValueError("min() arg is an empty sequence")
            return default
    best = items[0]
    if key is None:
        for item in _rest(items):
            if item < best:
                best = item
        return best
    best_key = key(best)
    for item in _rest(items):
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
    if n > 9223372036854775807:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    return int(n)


# Beyond every position.
_OVER = 4611686018427387904


class _Sentinel:
    """An object of the class `object`: it is equal to itself only."""


class list_iterator:
    """What `iter` gives of a list: it may be read in several places."""

    def __init__(self, items):
        self._items = items
        self._at = 0

    def __iter__(self):
        while self._at < len(self._items):
            self._at += 1
            yield self._items[self._at - 1]
        # It stays at its end, also where the list grows.
        self._at = _OVER


class _text_iterator(list_iterator):
    """What `iter` gives of a text, whose class in CPython depends on the text."""


def _map_all(function, items):
    """map over several iterables, side by side in `items`"""
    for one in items:
        yield function(*one)


# The items of an iterator that are asked for at once: of one with more perhaps few are wanted.
_MANY = 65536


def _has_room(items):
    if len(items) >= _MANY:
        return _leave("an iterator of many items that is read in turns")


def _at_once(iterator):
    """The items of an iterator that nobody sees running."""
    items = []
    try:
        for item in iterator:
            _has_room(items)
            items.append(item)
        return items
    except BaseException:
        return _leave("an exception in an iterator that is read in turns")


def _of_recursion(generator):
    try:
        return _collected(generator)
    except BaseException:
        return _leave("an exception in a generator that calls itself")


class _kept_iterator(list_iterator):
    """An iterator over such items, whose class in CPython is another."""


class _cycle(list_iterator):
    """What `itertools.cycle` gives in a variable: it reads a list once, and then what it read again and again."""

    def __init__(self, items):
        super().__init__(items)
        self._saved = []
        self._reads = True

    def __iter__(self):
        while True:
            if self._reads and self._at < len(self._items):
                self._at += 1
                self._saved.append(self._items[self._at - 1])
                yield self._items[self._at - 1]
            else:
                if self._reads or self._at == len(self._saved):
                    self._reads = False
                    self._at = 0
                if len(self._saved) == 0:
                    return
                self._at += 1
                yield self._saved[self._at - 1]


class _counter(list_iterator):
    """What `itertools.count` gives in a variable."""

    def __init__(self, start, step):
        super().__init__([])
        self._next = start
        self._step = step

    def __iter__(self):
        while True:
            now = self._next
            self._next = now + self._step
            yield now


def _counted(start, step):
    return _counter(start, step)


def _cycled(iterable):
    if isinstance(iterable, list):
        return _cycle(iterable)
    if not _is_quiet(iterable):
        return _refuse("an iterator in a variable")
    return _cycle(list(iterable))


def _sequence(items):
    """What iterates over an object of a class with `__getitem__` alone."""
    at = 0
    while True:
        try:
            item = items[at]
        except (IndexError, StopIteration):
            return
        at += 1
        yield item


def _length_hint(of):
    """Asks an object for its length, as what becomes a list does: it need not be one."""
    try:
        len(of)
    except TypeError:
        pass


def _among(item, iterable):
    """Whether an item is among those of something that has no method to tell."""
    for one in iterable:
        if _same(one, item):
            return True
    return False


def _turns(iterator):
    """What an object of a class with `__next__` gives."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item


def _reversed_sequence(items, at):
    """What iterates backwards over an object of a class with `__len__` and `__getitem__`."""
    while at > 0:
        at -= 1
        try:
            item = items[at]
        except (IndexError, StopIteration):
            return
        yield item


def iter(iterable, sentinel=_missing, /):
    if not _is_missing(sentinel):
        return _refuse("iter of a function")
    if _is_iterator(iterable) or isinstance(iterable, list_iterator):
        return iterable
    if isinstance(iterable, list):
        return list_iterator(iterable)
    if isinstance(iterable, str):
        return _text_iterator(iterable)
    if _has_own(iterable, "__next__"):
        return iterable.__iter__()
    return (item for item in iterable)


def next(iterator, default=_missing, /):
    if not _is_iterator(iterator) and not isinstance(iterator, list_iterator):
        if not _has_own(iterator, "__next__"):
            return _refuse("next of what is no iterator")
        try:
            return iterator.__next__()
        except StopIteration:
            if _is_missing(default):
                return _leave("the end of an iterator")
            return default
    for item in iterator:
        return item
    if _is_missing(default):
        return _leave("the end of an iterator")
    return default


def dict_fromkeys(iterable, value=None, /):
    result = {}
    for key in iterable:
        result[key] = value
    return result


def _range_count(start, stop, step):
    if step > 0:
        return (stop - start + step - 1) // step if start < stop else 0
    return (start - stop - step - 1) // -step if start > stop else 0


def _range_len(start, stop, step):
    length = _range_count(start, stop, step)
    if length >= 9223372036854775808:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return length


def _range_item(index, start, stop, step):
    length = _range_count(start, stop, step)
    at = index + length if index < 0 else index
    if not 0 <= at < length:
        raise IndexError("range object index out of range")
    return start + at * step


def _in_range(item, start, stop, step):
    if step > 0:
        return start <= item < stop and (item - start) % step == 0
    return stop < item <= start and (start - item) % -step == 0


def _float_in_range(item, start, stop, step):
    # NaN and infinities are no whole numbers.
    if item - item != 0.0:
        return False
    whole = int(item)
    return whole == item and _in_range(whole, start, stop, step)


def _divided(result):
    return _leave("divmod of such objects") if result is NotImplemented else result


def divmod(a, b, /):
    if _type_name(a) in _DIVISIBLE:
        return _divided(a.__divmod__(b))
    if _type_name(b) in _DIVISIBLE:
        return _divided(b.__rdivmod__(a))
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


def _check_order(items, key):
    """Leaves where the order of items, or what their keys raise, depends on that in which they come."""
    try:
        for item in items:
            if not _is_ordered(item) or not _is_ordered(key(item)):
                return _leave("sorting a set by keys that may have no order")
    except Exception:
        return _leave("an exception while a set is sorted")


def sorted(iterable, /, *, key=None, reverse=False):
    if key is not None and isinstance(iterable, (set, frozenset)) and _breaks_ties(key):
        result = list(_unordered(iterable))
        _check_order(result, key)
        result.sort(key=key, reverse=reverse)
        return result
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


def _encoding(name):
    """The encoding of that name, of those that are lifted."""
    if name in ("utf-8", "UTF-8", "utf8", "UTF8", "utf_8", "U8", "u8"):
        return "utf-8"
    if name in ("ascii", "ASCII", "us-ascii", "US-ASCII"):
        return "ascii"
    if name in ("latin-1", "latin1", "Latin-1", "LATIN-1", "iso-8859-1", "ISO-8859-1", "iso8859-1", "latin_1", "l1"):
        return "latin-1"
    return _leave("an encoding that CPython must use")


def _errors(name):
    """What becomes of what an encoding has no form for, by number."""
    if name == "strict":
        return 0
    if name == "replace":
        return 1
    if name == "ignore":
        return 2
    return _leave("errors of an encoding that CPython must handle")


def _byte(value):
    if not isinstance(value, int):
        return _leave("bytes of something else than ints")
    if not 0 <= value <= 255:
        raise ValueError("bytes must be in range(0, 256)")
    return chr(value)


def bytes(source=_missing, encoding=_missing, errors=_missing):
    if _is_missing(source):
        return b"" if _is_missing(encoding) and _is_missing(errors) else _leave("bytes without a source")
    if isinstance(source, str):
        if _is_missing(encoding):
            raise TypeError("string argument without an encoding")
        return source.encode(encoding, "strict" if _is_missing(errors) else errors)
    if not _is_missing(encoding) or not _is_missing(errors):
        return _leave("an encoding without a text")
    if _type_name(source) == "bytes":
        return source
    if isinstance(source, int):
        if source < 0:
            raise ValueError("negative count")
        return _record("bytes", "\0" * source)
    if source is None or isinstance(source, float):
        raise TypeError(f"cannot convert '{_type_name(source)}' object to bytes")
    if _same_class(source, source):
        return _refuse("bytes of an object of a class written in Python")
    return _record("bytes", "".join([_byte(value) for value in source]))


def _exactly(items, count):
    # The items of a tuple that has so many.
    if len(items) != count:
        return _leave("% of a tuple of another length")
    return tuple(items[i] for i in range(count))


def _width(number, is_precision):
    # What stands for a `*` in a specification of %.
    if not isinstance(number, int):
        raise TypeError("* wants int")
    if number > 100000 or number < -100000:
        return _leave("% with a width beyond any use")
    return str(max(number, 0) if is_precision else int(number))


def bytes_fromhex(string, /):
    if not isinstance(string, str):
        return _leave("bytes.fromhex of something else than a text")
    return _record("bytes", _operation("bytes.of_hex", string))


def int_from_bytes(bytes, byteorder="big", *, signed=False):
    if _type_name(bytes) != "bytes" or not isinstance(signed, bool):
        return _leave("int.from_bytes of something else than bytes")
    if not isinstance(byteorder, str):
        return _leave("an order of bytes that is no text")
    if byteorder == "big":
        return _operation("bytes.int", _field(bytes, 0), True, signed)
    if byteorder == "little":
        return _operation("bytes.int", _field(bytes, 0), False, signed)
    raise ValueError("byteorder must be either 'little' or 'big'")


def str_maketrans(x, y=_missing, z=_missing, /):
    if _is_missing(y):
        if not isinstance(x, dict):
            raise TypeError("if you give only one argument to maketrans it must be a dict")
        made = {}
        for key, value in x.items():
            if isinstance(key, str):
                if len(key) != 1:
                    raise ValueError("string keys in translate table must be of length 1")
                made[ord(key)] = value
            elif isinstance(key, int):
                made[key] = value
            else:
                raise TypeError("keys in translate table must be strings or integers")
        return made
    if not isinstance(x, str):
        raise TypeError("first maketrans argument must be a string if there is a second argument")
    if not isinstance(y, str):
        return _leave("what CPython says of such arguments")
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    made = {ord(a): ord(b) for a, b in zip(x, y)}
    if _is_missing(z):
        return made
    if not isinstance(z, str):
        return _leave("what CPython says of such arguments")
    return {**made, **{ord(c): None for c in z}}


def ascii(value):
    text = repr(value)
    if not text.isascii():
        return _leave("a text that is not in ASCII within another value")
    return text


def getattr(object, name, default=_missing):
    if _is_missing(default):
        return _attribute(object, name)
    try:
        return _attribute(object, name)
    except AttributeError:
        return default


def _no_attribute(of, name, others):
    # Classes above it may have others that begin so.
    if name in others or name.startswith("_"):
        return _leave("an attribute by a name that is made at run time")
    raise AttributeError(f"'{of}' object has no attribute '{name}'")


def hasattr(object, name):
    try:
        _attribute(object, name)
    except AttributeError:
        return False
    return True


def _of_json(text):
    # The value of a text of JSON that was parsed.
    kind = _operation("json.kind", text)
    if kind == 5:
        return _operation("json.text", text)
    if kind == 3:
        return int(text)
    if kind == 4:
        return float(text)
    if kind == 7:
        return _record("json.dict", _operation("json.members", text))
    if kind == 6:
        return _record("json.list", _operation("json.items", text))
    if kind == 0:
        return None
    return kind == 2


def _document(value):
    # A text of JSON that is that value, which json.loads made.
    if _is_of(value, "json.list"):
        return "[" + ",".join(_field(value, 0)) + "]"
    parts = _field(value, 0)
    members = []
    for at in range(0, len(parts), 2):
        members.append(_operation("json.quote", parts[at], False) + ":" + parts[at + 1])
    return "{" + ",".join(members) + "}"


def _call_with(function, items, least, most, *given):
    # A call with items as further arguments, as many as it takes: from `least` to `most`.
    count = len(items)
    if least <= 0 <= most and count == 0:
        return function(*given)
    if least <= 1 <= most and count == 1:
        return function(*given, items[0])
    if least <= 2 <= most and count == 2:
        return function(*given, items[0], items[1])
    if least <= 3 <= most and count == 3:
        return function(*given, items[0], items[1], items[2])
    if least <= 4 <= most and count == 4:
        return function(*given, items[0], items[1], items[2], items[3])
    if least <= 5 <= most and count == 5:
        return function(*given, items[0], items[1], items[2], items[3], items[4])
    if least <= 6 <= most and count == 6:
        return function(*given, items[0], items[1], items[2], items[3], items[4], items[5])
    return _leave("a call with another number of arguments")


def _named(dictionary):
    # What ** of a dict gives a function that takes any names.
    result = {}
    for key, value in dictionary.items():
        if not isinstance(key, str):
            return _leave("** of a dict with other keys than texts")
        result[key] = value
    return result


def _call_with_all(function, items, *given):
    # A call of max or min with items as arguments.
    everything = [*given, *items]
    if len(everything) < 2:
        return _leave("a call with fewer than two arguments")
    return function(everything)


def _is_tuple(value):
    # Here the name is that of the built-in class.
    return isinstance(value, tuple)


def _in_turns(iterable):
    if isinstance(iterable, list_iterator):
        return iterable
    return list_iterator(iterable if isinstance(iterable, list) else list(iterable))


def _zip_turns(*iterables):
    # zip where one of them is an iterator that may be read elsewhere meanwhile, or is another of them
    if len(iterables) == 1:
        return ((one,) for one in iterables[0])
    if len(iterables) == 2:
        return _zip_two(_in_turns(iterables[0]), _in_turns(iterables[1]))
    if len(iterables) == 3:
        return _zip_three(_in_turns(iterables[0]), _in_turns(iterables[1]), _in_turns(iterables[2]))
    return _refuse("zip of so many iterators")


def _zip_two(first, second):
    for a in first:
        for b in second:
            yield (a, b)
            break
        else:
            return


def _zip_three(first, second, third):
    for a in first:
        for b in second:
            for c in third:
                yield (a, b, c)
                break
            else:
                return
            break
        else:
            return


def _zip_strict(*iterables):
    # zip(…, strict=True) of what has a length
    for one in iterables:
        if one is None:
            return _leave("None in a zip")
        if not isinstance(one, (str, list, tuple)):
            return _refuse("zip of strictly as many items, of something else than lists, tuples and texts")
    if len(iterables) == 1:
        return ((one,) for one in iterables[0])
    if len(iterables) == 2:
        return _zip_two_strict(iterables[0], iterables[1])
    if len(iterables) == 3:
        return _zip_three_strict(iterables[0], iterables[1], iterables[2])
    return _refuse("zip of strictly as many items of so many")


def _zip_two_strict(first, second):
    at = 0
    for a in first:
        if at >= len(second):
            raise ValueError("zip() argument 2 is shorter than argument 1")
        yield (a, second[at])
        at += 1
    if at < len(second):
        raise ValueError("zip() argument 2 is longer than argument 1")


def _zip_three_strict(first, second, third):
    at = 0
    for a in first:
        if at >= len(second):
            raise ValueError("zip() argument 2 is shorter than argument 1")
        if at >= len(third):
            raise ValueError("zip() argument 3 is shorter than arguments 1-2")
        yield (a, second[at], third[at])
        at += 1
    if at < len(second):
        raise ValueError("zip() argument 2 is longer than argument 1")
    if at < len(third):
        raise ValueError("zip() argument 3 is longer than arguments 1-2")


def _zip_all(rows):
    # zip(*rows): the rows are those of now, and each may grow or shrink meanwhile.
    for row in rows:
        if row is None:
            raise TypeError("'NoneType' object is not iterable")
        if not isinstance(row, (list, tuple, str)):
            return _refuse("zip of such rows")
    return _zip_rows(list(rows))


def _zip_rows(rows):
    at = 0
    more = len(rows) > 0
    while more:
        for row in rows:
            if at >= len(row):
                more = False
        if more:
            yield tuple([row[at] for row in rows])
        at += 1


def _in_place(iterable):
    # A list may grow meanwhile. What raises while another is asked does so here before the first turn.
    if isinstance(iterable, (set, frozenset, list_iterator)) or _has_own(iterable, "__iter__", "__getitem__", "__next__"):
        return _refuse("zip_longest of such an iterable")
    if isinstance(iterable, list) and not _is_of(iterable, "json.list"):
        return iterable
    return list(iterable)


def _longest_all(rows, fill):
    # itertools.zip_longest(*rows)
    for row in rows:
        if not isinstance(row, (list, str, tuple)):
            return _leave("zip_longest of other things than lists")
    return _longest_of(list(rows), fill)


def _longest_of(rows, fill):
    # What ended stays at its end, also where it grows.
    inside = [True for row in rows]
    at = 0
    while True:
        left = 0
        for place in range(len(rows)):
            inside[place] = inside[place] and at < len(rows[place])
            if inside[place]:
                left += 1
        if left == 0:
            return
        yield tuple([rows[place][at] if inside[place] else fill for place in range(len(rows))])
        at += 1


class _Slice:
    """What `slice` gives: bounds and a step that brackets take."""

    def __init__(self, start, stop, step):
        self._start = start
        self._stop = stop
        self._step = step

    @property
    def start(self):
        return self._start

    @property
    def stop(self):
        return self._stop

    @property
    def step(self):
        return self._step

    def __eq__(self, other):
        if isinstance(other, _Slice):
            return (self._start, self._stop, self._step) == (other._start, other._stop, other._step)
        return NotImplemented

    def __repr__(self):
        return f"slice({self._start!r}, {self._stop!r}, {self._step!r})"


def slice(start, stop=_missing, step=None, /):
    if _is_missing(stop):
        return _Slice(None, start, step)
    return _Slice(start, stop, step)
