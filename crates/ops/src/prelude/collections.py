"""Dicts and sets that are made at run time, and the classes of `collections` below them.

A dict is three lists in the order of insertion, keys, values and hashes, and a table that has
the position of each entry where its hash points, or after that: open addressing with linear
probing, of a power of two that is at most two thirds full. An entry that was removed keeps its
place with the hash -1, until the table grows. CPython's dicts have the same order. That of sets is
the order of its table, so sets have CPython's hashes and its table, but where nothing in a function asks
for an order: lifting begins without, and begins again with it where something does.
"""


def _hash(key):
    if _is_itself(key):
        return _operation("int.hash", _position(key))
    if isinstance(key, str):
        return _operation("str.hash", _text_of(key))
    if isinstance(key, int):
        return _operation("int.hash", int(key))
    if isinstance(key, float):
        if key != key:
            return _leave("the identity of a NaN")
        return _operation("float.hash", key)
    if key is None:
        return 1
    if isinstance(key, (list, dict, set)):
        raise TypeError(f"unhashable type: '{_type_name(key)}'")
    if isinstance(key, bytes):
        return _operation("str.hash", _field(key, 0))
    if _is_of(key, "datetime.date", "datetime.datetime", "datetime.time"):
        return _operation("int.hash", _field(key, 0))
    if isinstance(key, frozenset):
        return _operation("int.hash", _hash_of_members(key))
    if isinstance(key, tuple):
        if _has_own(key, "__eq__", "__hash__"):
            return _refuse("a key of such a class")
        result = 7
        for item in key:
            if _has_own(item, "__hash__"):
                return _refuse("a key of such a class within a tuple")
            result = _operation("hash.mix", result, _hash(item))
        return result
    if _type_name(key) == "decimal.Decimal":
        return _hash(key._number())
    if _is_of(key, "datetime.timedelta"):
        return _hash((key.days, key.seconds, key.microseconds))
    if _has_own(key, "__hash__"):
        return _operation("int.hash", hash(key))
    fields = _hashed_fields(key)
    if fields is not None:
        return _hash(fields)
    number = _identity(key)
    if number is not None:
        return _operation("int.hash", number)
    return _refuse("a key of such a class")


def _find(index, hashes, keys, key, code):
    # The position of the entry of a key; where there is none, -1 less the place for it in the table.
    if _takes("hash.find", index, hashes, keys, key, code):
        return _operation("hash.find", index, hashes, keys, key, code)
    _leave_beside_others(keys, key)
    mask = len(index) - 1
    at = code & mask
    while True:
        slot = _item(index, at)
        if slot < 0:
            return -1 - at
        if _item(hashes, slot) == code and _same(_item(keys, slot), key):
            return slot
        at = (at + 1) & mask


def _leave_beside_others(keys, key):
    # A hash of a class's own is CPython's, those of others here are not: what CPython would compare is not met.
    if len(keys) > 0 and _has_own(_item(keys, 0), "__hash__") != _has_own(key, "__hash__"):
        return _leave("keys of which some have a hash of their own")


class _Table:
    """The keys of a dict or a set."""

    def __init__(self):
        self._keys = []
        self._hashes = _operation("hash.none")
        self._index = self._table()
        # Entries that were not removed.
        self._live = 0

    def _table(self):
        # Where nothing lies.
        return _operation("hash.table", self._hashes)

    def _slot(self, key):
        return _find(self._index, self._hashes, self._keys, key, _hash(key))

    def _compact(self):
        # Takes removed entries out, in place.
        _operation("list.compact", self._keys, self._hashes)
        _operation("list.compact", self._hashes, self._hashes)

    def _enter(self, key, code, missing):
        # Adds a key for which _find returned `missing`.
        if len(self._hashes) * 3 >= len(self._index) * 2:
            if self._live < len(self._hashes):
                self._compact()
            self._index = _operation("hash.grown", self._hashes, code)
        else:
            self._index[-1 - missing] = len(self._hashes)
        self._keys.append(key)
        self._hashes.append(code)
        self._live += 1

    def _remove(self, slot):
        self._hashes[slot] = -1
        self._live -= 1

    def _take(self, other):
        # Becomes a copy of another table.
        self._keys = other._keys[:]
        self._hashes = other._hashes[:]
        self._index = other._index[:]
        self._live = other._live

    def __len__(self):
        return self._live

    def __contains__(self, key):
        return self._slot(key) >= 0

    def _empty(self):
        self._keys.clear()
        self._hashes.clear()
        self._index = self._table()
        self._live = 0


class dict(_Table):
    def __init__(self):
        super().__init__()
        self._values = []
        # How many entries were ever added.
        self._added = 0
        # Where popitem left off, and how many had been added then.
        self._top = 0
        self._top_added = -1

    def _compact(self):
        _operation("list.compact", self._values, self._hashes)
        super()._compact()

    def _take(self, other):
        super()._take(other)
        self._values = other._values[:]
        self._added = other._added

    def _add(self, key, code, value, missing):
        self._enter(key, code, missing)
        self._values.append(value)
        self._added += 1

    def _turn(self, slot, live, added):
        # Whether the loop that began with so many entries has one at a position.
        if self._live != live:
            raise RuntimeError("dictionary changed size during iteration")
        if self._added != added:
            return _leave("a dict whose keys change during iteration")
        return 0 <= slot < len(self._hashes) and self._hashes[slot] >= 0

    def _backwards(self):
        # The positions, and one before the first, at which the size is looked at again.
        return range(len(self._hashes) - 1, -2, -1)

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        slot = self._slot(key)
        if slot < 0:
            return self.__missing__(key)
        return _item(self._values, slot)

    def __setitem__(self, key, value):
        code = _hash(key)
        slot = _find(self._index, self._hashes, self._keys, key, code)
        if slot < 0:
            self._add(key, code, value, slot)
        else:
            self._values[slot] = value

    # What other methods do, past one of a class below.
    _store = __setitem__

    def __delitem__(self, key):
        slot = self._slot(key)
        if slot < 0:
            raise KeyError(key)
        self._remove(slot)

    def __iter__(self):
        live = self._live
        added = self._added
        return (_item(self._keys, i) for i in range(len(self._hashes) + 1) if self._turn(i, live, added))

    def __reversed__(self):
        live = self._live
        added = self._added
        return (_item(self._keys, i) for i in self._backwards() if self._turn(i, live, added))

    def __eq__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        if self._live != len(other):
            return False
        for i in range(len(self._hashes)):
            if self._hashes[i] >= 0:
                key = _item(self._keys, i)
                if key not in other:
                    return False
                if not _same(_item(self._values, i), other[key]):
                    return False
        return True

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        result = dict()
        result.update(other)
        result.update(self)
        return result

    def __ior__(self, other):
        self.update(other)
        return self

    def __repr__(self):
        return "{" + ", ".join([f"{key!r}: {value!r}" for key, value in self.items()]) + "}"

    def get(self, key, default=None, /):
        slot = self._slot(key)
        if slot < 0:
            return default
        return _item(self._values, slot)

    def setdefault(self, key, default=None, /):
        code = _hash(key)
        slot = _find(self._index, self._hashes, self._keys, key, code)
        if slot < 0:
            self._add(key, code, default, slot)
            return default
        return _item(self._values, slot)

    def pop(self, key, default=_missing, /):
        slot = self._slot(key)
        if slot < 0:
            if _is_missing(default):
                raise KeyError(key)
            return default
        value = _item(self._values, slot)
        self._remove(slot)
        return value

    def popitem(self, /):
        slot = len(self._hashes)
        if self._top_added == self._added and self._top < slot:
            slot = self._top
        slot -= 1
        while slot >= 0 and self._hashes[slot] < 0:
            slot -= 1
        if slot < 0:
            raise KeyError("popitem(): dictionary is empty")
        self._top = slot
        self._top_added = self._added
        pair = (_item(self._keys, slot), _item(self._values, slot))
        self._remove(slot)
        return pair

    def clear(self, /):
        self._empty()
        self._values.clear()

    def copy(self, /):
        result = _new(self)
        result._take(self)
        return result

    def update(self, other=_missing, /, **more):
        if not _is_missing(other):
            self._update(other)
        self._update(more)

    def _update(self, other):
        if isinstance(other, dict):
            for key, value in other.items():
                self._store(key, value)
            return None
        at = 0
        for item in other:
            if not isinstance(item, (tuple, list, str)):
                return _leave("a dict made of something else than pairs")
            if len(item) != 2:
                if isinstance(self, OrderedDict):
                    return _leave("an OrderedDict of something else than pairs")
                what = f"dictionary update sequence element #{at} has length {len(item)}; 2 is required"
                raise ValueError(what)
            self._store(item[0], item[1])
            at += 1

    def keys(self, /):
        return dict_keys(self)

    def values(self, /):
        return dict_values(self)

    def items(self, /):
        return dict_items(self)


def _new(of):
    if isinstance(of, defaultdict):
        return defaultdict(of.default_factory)
    if isinstance(of, Counter):
        return Counter()
    if isinstance(of, OrderedDict):
        return OrderedDict()
    return dict()


def _all_in(these, others):
    for key in _unordered(these):
        if key not in others:
            return False
    return True


def _any_in(these, others):
    for key in _unordered(these):
        if key in others:
            return True
    return False


def _is_like_set(value):
    return _is_set(value) or isinstance(value, _View)


def _within(container, other):
    # The members of another that a view or a set has.
    result = set()
    for key in _members(other, result):
        if key in container:
            result._add(key)
    return result


class _View:
    """What the views of keys and of items share with a set."""

    def __init__(self, of):
        self._of = of

    def __len__(self):
        return len(self._of)

    def _set(self):
        return set(self)

    def __and__(self, other):
        # _PyDictView_Intersect
        if isinstance(other, set) and len(self) <= len(other):
            return _within(other, self)
        if isinstance(other, _View) and len(other) > len(self):
            return _within(other, self)
        return _within(self, other)

    def __rand__(self, other):
        return self.__and__(other)

    def __or__(self, other):
        result = self._set()
        result._update(other)
        return result

    def __ror__(self, other):
        result = set(other)
        result._update(self)
        return result

    def __sub__(self, other):
        result = self._set()
        result._subtract(other)
        return result

    def __rsub__(self, other):
        result = set(other)
        result._subtract(self)
        return result

    def __xor__(self, other):
        result = self._set()
        result.symmetric_difference_update(other)
        return result

    def __rxor__(self, other):
        result = set(other)
        result.symmetric_difference_update(self)
        return result

    def __eq__(self, other):
        if not _is_like_set(other):
            return NotImplemented
        return len(self) == len(other) and _all_in(self, other)

    def __le__(self, other):
        if not _is_like_set(other):
            return NotImplemented
        return len(self) <= len(other) and _all_in(self, other)

    def __ge__(self, other):
        if not _is_like_set(other):
            return NotImplemented
        return len(self) >= len(other) and _all_in(other, self)

    def __lt__(self, other):
        if not _is_like_set(other):
            return NotImplemented
        return len(self) < len(other) and _all_in(self, other)

    def __gt__(self, other):
        if not _is_like_set(other):
            return NotImplemented
        return len(self) > len(other) and _all_in(other, self)

    def isdisjoint(self, other, /):
        return not _any_in(other, self)


class dict_keys(_View):
    def __contains__(self, key):
        return key in self._of

    def __iter__(self):
        if _is_of(self._of, "json.dict"):
            return (key for key in self._of)
        return self._of.__iter__()

    def __reversed__(self):
        return self._of.__reversed__()

    def _set(self):
        # dictviews_to_set of Objects/dictobject.c.
        return set(self._of) if _is_exactly_dict(self._of) else set(self)

    def __repr__(self):
        return "dict_keys([" + ", ".join([repr(key) for key in self]) + "])"


def _keys_view(of):
    return dict_keys(of)


def _keys_of_constant(keys):
    # The view of the keys of a dict that nobody changes.
    of = dict()
    for key in keys:
        of[key] = None
    return dict_keys(of)


class dict_values:
    def __init__(self, of):
        self._of = of

    def __len__(self):
        return len(self._of)

    def __contains__(self, value):
        return _among(value, self)

    def __iter__(self):
        of = self._of
        live = of._live
        added = of._added
        return (_item(of._values, i) for i in range(len(of._hashes) + 1) if of._turn(i, live, added))

    def __reversed__(self):
        of = self._of
        live = of._live
        added = of._added
        return (_item(of._values, i) for i in of._backwards() if of._turn(i, live, added))

    def __repr__(self):
        return "dict_values([" + ", ".join([repr(value) for value in self]) + "])"


class dict_items(_View):
    def __contains__(self, item):
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        slot = self._of._slot(item[0])
        return slot >= 0 and _same(_item(self._of._values, slot), item[1])

    def __iter__(self):
        of = self._of
        live = of._live
        added = of._added
        return (
            (_item(of._keys, i), _item(of._values, i))
            for i in range(len(of._hashes) + 1)
            if of._turn(i, live, added)
        )

    def __reversed__(self):
        of = self._of
        live = of._live
        added = of._added
        return ((_item(of._keys, i), _item(of._values, i)) for i in of._backwards() if of._turn(i, live, added))

    def __repr__(self):
        return "dict_items([" + ", ".join([repr(item) for item in self]) + "])"


class _DictBase(dict):
    # What stands behind the classes that users write below dict.
    # Its entries are there before, and stay.
    def __init__(self, other=_missing, /, **more):
        if not _is_missing(other):
            self._update(other)
        self._update(more)


class defaultdict(dict):
    def __init__(self, default_factory=None, other=_missing, /):
        super().__init__()
        if default_factory is not None and not _is_function(default_factory):
            raise TypeError("first argument must be callable or None")
        self.default_factory = default_factory
        self.update(other)

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self.default_factory()
        self[key] = value
        return value

    def __repr__(self):
        return _refuse("the text of a defaultdict")


class OrderedDict(dict):
    def __init__(self, other=_missing, /, **more):
        super().__init__()
        self.update(other)
        self._update(more)

    def _turn(self, slot, live, added):
        if self._live != live or self._added != added:
            return _leave("an OrderedDict that changes during iteration")
        return super()._turn(slot, live, added)

    def __eq__(self, other):
        if isinstance(other, OrderedDict) and list(self) != list(other):
            return False
        return super().__eq__(other)

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        result = OrderedDict(other)
        result.update(self)
        return result

    def __repr__(self):
        if len(self) == 0:
            return "OrderedDict()"
        return "OrderedDict([" + ", ".join([f"({key!r}, {value!r})" for key, value in self.items()]) + "])"

    @classmethod
    def fromkeys(cls, iterable, value=None):
        result = cls()
        for key in iterable:
            result[key] = value
        return result

    def popitem(self, last=True):
        if len(self) == 0:
            raise KeyError("dictionary is empty")
        if last:
            return super().popitem()
        for key in self:
            return key, self.pop(key)

    def move_to_end(self, key, last=True):
        if key is None and key not in self:
            return _leave("a KeyError without its key")
        value = self.pop(key)
        if last:
            self[key] = value
            return None
        others = list(self.items())
        self.clear()
        self[key] = value
        for other, value in others:
            self[other] = value

    def keys(self, /):
        return odict_keys(self)

    def values(self, /):
        return odict_values(self)

    def items(self, /):
        return odict_items(self)


class odict_keys(dict_keys):
    def __repr__(self):
        return "o" + super().__repr__()


class odict_values(dict_values):
    def __repr__(self):
        return "o" + super().__repr__()


class odict_items(dict_items):
    def __repr__(self):
        return "o" + super().__repr__()


class Counter(dict):
    def __init__(self, iterable=None, /, **more):
        super().__init__()
        self._count(iterable)
        self._count_named(more)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, /, **more):
        self._count(iterable)
        self._count_named(more)

    def _count_named(self, more):
        # What is given to an empty one stays as it is.
        first = len(self) == 0
        for key, count in more.items() if isinstance(more, dict) else more:
            self[key] = count if first else count + self.get(key, 0)

    def _count(self, iterable):
        if iterable is None:
            return None
        if isinstance(iterable, dict):
            if len(self) == 0:
                return super().update(iterable)
            for key, count in iterable.items():
                self[key] = count + self.get(key, 0)
            return None
        for key in iterable:
            code = _hash(key)
            slot = _find(self._index, self._hashes, self._keys, key, code)
            if slot < 0:
                self._add(key, code, 1, slot)
            else:
                self._values[slot] += 1

    def most_common(self, n=None, /):
        ordered = sorted(self.items(), key=_count_of, reverse=True)
        if n is None:
            return ordered
        if not isinstance(n, int):
            return _refuse("most_common of something else than an int")
        if n < 0:
            n = 0
        return ordered[:n]

    def total(self, /):
        return sum(self.values())

    def subtract(self, iterable=None, /):
        if iterable is None:
            return None
        if isinstance(iterable, dict):
            for key, count in iterable.items():
                self[key] = self.get(key, 0) - count
            return None
        for key in iterable:
            self[key] = self.get(key, 0) - 1

    def elements(self, /):
        return (key for key, count in self.items() for _ in range(count))

    def _with(self, other, of_both, of_other):
        # Counts above zero, in the order of CPython's loops.
        result = Counter()
        for key, count in self.items():
            new = of_both(count, other[key])
            if new > 0:
                result[key] = new
        for key, count in other.items():
            if key not in self:
                new = of_other(count)
                if new > 0:
                    result[key] = new
        return result

    def __add__(self, other):
        return self._with(other, _plus, _itself) if isinstance(other, Counter) else NotImplemented

    def __sub__(self, other):
        return self._with(other, _minus, _less_than_none) if isinstance(other, Counter) else NotImplemented

    def __or__(self, other):
        return self._with(other, _more, _itself) if isinstance(other, Counter) else NotImplemented

    def __and__(self, other):
        return self._with(other, _less, _zero) if isinstance(other, Counter) else NotImplemented

    def __pos__(self):
        result = Counter()
        for key, count in self.items():
            if count > 0:
                result[key] = count
        return result

    def __neg__(self):
        result = Counter()
        for key, count in self.items():
            if count < 0:
                result[key] = 0 - count
        return result

    def _above_zero(self):
        for key in [key for key, count in self.items() if not count > 0]:
            self.__delitem__(key)
        return self

    def __iadd__(self, other):
        for key, count in _counts(other):
            self[key] = self[key] + count
        return self._above_zero()

    def __isub__(self, other):
        for key, count in _counts(other):
            self[key] = self[key] - count
        return self._above_zero()

    def __ior__(self, other):
        for key, count in _counts(other):
            if count > self[key]:
                self[key] = count
        return self._above_zero()

    def __iand__(self, other):
        if not isinstance(other, Counter):
            return _refuse("a Counter and something else")
        for key, count in self.items():
            if other[key] < count:
                self[key] = other[key]
        return self._above_zero()

    def __le__(self, other):
        return self._within(other) if isinstance(other, Counter) else NotImplemented

    def __lt__(self, other):
        return self._within(other) and self != other if isinstance(other, Counter) else NotImplemented

    def __ge__(self, other):
        return other._within(self) if isinstance(other, Counter) else NotImplemented

    def __gt__(self, other):
        return other._within(self) and self != other if isinstance(other, Counter) else NotImplemented

    def _within(self, other):
        for key, count in self.items():
            if not count <= other[key]:
                return False
        for key, count in other.items():
            if not self[key] <= count:
                return False
        return True

    def __eq__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        for key, count in self.items():
            if count != other[key]:
                return False
        for key, count in other.items():
            if count != self[key]:
                return False
        return True

    def __delitem__(self, key):
        if key in self:
            super().__delitem__(key)

    def __repr__(self):
        if len(self) == 0:
            return "Counter()"
        return "Counter({" + ", ".join([f"{key!r}: {count!r}" for key, count in self.most_common()]) + "})"


def _counts(other):
    return other.items() if isinstance(other, dict) else _refuse("a Counter and something else")


def _count_of(item):
    return item[1]


def _plus(count, other):
    return count + other


def _minus(count, other):
    return count - other


def _itself(count):
    return count


def _less_than_none(count):
    return 0 - count


def _zero(count):
    return 0


def _more(count, other):
    return other if count < other else count


def _less(count, other):
    return count if count < other else other


def _own_hash(key):
    """`hash` of what may be a member of a set, where that is the same in every process."""
    if _is_itself(key):
        return _operation("int.hash", _position(key))
    if key is None:
        return 1
    if isinstance(key, str):
        return _operation("own.str", _text_of(key))
    if isinstance(key, int):
        return _operation("own.int", int(key))
    if isinstance(key, float):
        if key != key:
            return _leave("the identity of a NaN")
        return _operation("own.float", key)
    if isinstance(key, bytes):
        return _operation("own.bytes", _field(key, 0))
    if _is_of(key, "datetime.datetime"):
        return _operation("own.datetime", _field(key, 0))
    if _is_of(key, "datetime.date"):
        return _operation("own.date", _field(key, 0))
    if _is_of(key, "datetime.time"):
        return _operation("own.time", _field(key, 0))
    if isinstance(key, frozenset):
        return _hash_of_members(key)
    if isinstance(key, tuple) and not _has_own(key, "__eq__", "__hash__"):
        mixed = 2870177450012600261
        count = 0
        for item in key:
            mixed = _operation("own.item", mixed, _own_hash(item))
            count += 1
        return _operation("own.items", mixed, count)
    if _type_name(key) == "decimal.Decimal":
        return _own_hash(key._number())
    if _is_of(key, "datetime.timedelta"):
        return _own_hash((key.days, key.seconds, key.microseconds))
    if isinstance(key, (list, dict, set)):
        raise TypeError(f"unhashable type: '{_type_name(key)}'")
    if _has_own(key, "__hash__"):
        return hash(key)
    fields = _hashed_fields(key)
    if fields is not None:
        return _own_hash(fields)
    return _refuse("a key of such a class")


def _hash_of_members(members):
    mixed = 0
    for key in _unordered(members):
        mixed = _operation("own.member", mixed, _own_hash(key))
    return _operation("own.frozenset", mixed, len(members))


def _has_order(key):
    """Whether that hash is CPython's."""
    if _is_itself(key):
        return False
    if isinstance(key, tuple) and not _has_own(key, "__eq__", "__hash__"):
        for item in key:
            if not _has_order(item):
                return False
        return True
    if isinstance(key, frozenset):
        return _order_known(key)
    if isinstance(key, (str, int, float, bytes)):
        return True
    if _is_of(key, "datetime.datetime", "datetime.date", "datetime.time", "datetime.timedelta"):
        return True
    if _has_own(key, "__hash__"):
        return True
    fields = _hashed_fields(key)
    return fields is not None and _has_order(fields)


def hash(value, /):
    if _has_own(value, "__hash__"):
        if value.__hash__ is None:
            raise TypeError(f"unhashable type: '{_type_name(value)}'")
        own = value.__hash__()
        if not isinstance(own, int):
            raise TypeError("__hash__ method should return an integer")
        return _operation("own.int", own) if not -(2**63) <= own < 2**63 else -2 if own == -1 else int(own)
    if isinstance(value, (list, dict, set)) or _has_order(value):
        return _own_hash(value)
    if value is None or isinstance(value, (tuple, frozenset)):
        return _leave("a hash that differs from process to process")
    return _refuse("a hash that differs from process to process")


def _search(places, hashes, keys, key, code):
    # The position of a member; where there is none, -1 less the place for it: the last one on the way that
    # a member was removed from, or the free one at its end (set_add_entry).
    if _takes("set.find", places, hashes, keys, key, code):
        return _operation("set.find", places, hashes, keys, key, code)
    _leave_beside_others(keys, key)
    mask = len(places) - 1
    at = code & mask
    rest = code
    free = -1
    while True:
        last = at + 9 if at + 9 <= mask else at
        near = at
        while near <= last:
            slot = _item(places, near)
            if slot < 0:
                return -1 - near if free < 0 else -1 - free
            held = _item(hashes, slot)
            if held == code and _same(_item(keys, slot), key):
                return slot
            if held == -1:
                free = near
            near += 1
        rest = (rest >> 5) & 0x7FFFFFFFFFFFFFF
        at = (at * 5 + 1 + rest) & mask


def _grown(members):
    return members * 2 if members > 50000 else members * 4


def _slots(index, hashes):
    # The positions of the members of a set in its order; in any where nobody asks.
    if _sets_in_order():
        return _operation("set.order", index, hashes)
    return (slot for slot in range(len(hashes)) if _item(hashes, slot) != -1)


def _is_set(value):
    return isinstance(value, (set, frozenset))


def _sized(value):
    # What CPython looks up members in, without going over it.
    return _is_set(value) or _is_exactly_dict(value)


def _is_this(other, this):
    return isinstance(other, _Members) and other is this


class _Members(_Table):
    """The members of a set: in the order in which they were added, their hashes, -1 for one that was
    removed, and CPython's table of their positions (Objects/setobject.c), which gives their order."""

    def _begin(self):
        super().__init__()
        # Whether the hashes are CPython's.
        self._ordered = True

    def _table(self):
        if _sets_in_order():
            return _operation("set.table", self._hashes, self._hashes, 0)
        return super()._table()

    def _code(self, key):
        return _own_hash(key) if _sets_in_order() else _hash(key)

    def _lookup(self, key, code):
        # As _search or _find.
        if _sets_in_order():
            return _search(self._index, self._hashes, self._keys, key, code)
        return _find(self._index, self._hashes, self._keys, key, code)

    def _slot(self, key):
        if isinstance(key, set):
            return _refuse("a set as a key")
        return self._lookup(key, self._code(key))

    def _resize(self, members):
        self._index = _operation("set.table", self._index, self._hashes, members)
        if self._live < len(self._hashes):
            self._compact()

    def _is_full(self, taken):
        # Whether the table is too full with so many places taken.
        return taken * 5 >= (len(self._index) - 1) * 3

    def _reserve(self, members):
        if _sets_in_order() and self._is_full(len(self._hashes) + members):
            self._resize((self._live + members) * 2)

    def _put(self, key, code):
        slot = self._lookup(key, code)
        if slot >= 0:
            return
        if not _sets_in_order():
            self._enter(key, code, slot)
            return
        place = -1 - slot
        self._live += 1
        slot = _item(self._index, place)
        if slot >= 0:
            self._keys[slot] = key
            self._hashes[slot] = code
            return
        self._index[place] = len(self._hashes)
        self._keys.append(key)
        self._hashes.append(code)
        if self._is_full(len(self._hashes)):
            self._resize(_grown(self._live))

    def _add(self, key):
        if _sets_in_order() and not _has_order(key):
            self._ordered = False
        self._put(key, self._code(key))

    def _drop(self, key):
        # Whether it was there.
        slot = self._slot(key)
        if slot < 0:
            return False
        self._remove(slot)
        return True

    def _walk(self):
        # The members in the order of the table, whether that is CPython's or not.
        return (_item(self._keys, slot) for slot in _slots(self._index, self._hashes))

    def _merge(self, other):
        parts = _constant_parts(other)
        if parts is None:
            keys = other._keys
            hashes = other._hashes
            index = other._index
            live = other._live
        elif len(parts) == 0 or not _sets_in_order():
            for key in _unordered(other):
                self._add(key)
            self._ordered = False
            return
        else:
            keys, hashes, index, live = parts
        if live == 0:
            return
        if not _order_known(other):
            self._ordered = False
        self._reserve(live)
        if len(self._hashes) == 0 and len(hashes) == live and self._is_as_large(index):
            self._take_parts(keys, hashes, index, live)
            return
        for slot in _slots(index, hashes):
            self._put(_item(keys, slot), _item(hashes, slot))

    def _is_as_large(self, index):
        return not _sets_in_order() or len(self._index) == len(index)

    def _adopt(self, constant):
        # Becomes what a constant set is.
        parts = _constant_parts(constant)
        if len(parts) == 0 or len(constant) == 0 or not _sets_in_order():
            self._merge(constant)
            return
        keys, hashes, index, live = parts
        self._take_parts(keys, hashes, index, live)

    def _take_parts(self, keys, hashes, index, live):
        # Becomes a copy of them.
        self._keys = keys[:]
        self._hashes = hashes[:]
        self._index = index[:]
        self._live = live

    def _update(self, iterable):
        if _is_set(iterable):
            if not _is_this(iterable, self):
                self._merge(iterable)
        elif _is_exactly_dict(iterable):
            self._reserve(len(iterable))
            for key in iterable:
                self._add(key)
        else:
            for key in iterable:
                self._add(key)

    def _subtract(self, other):
        if _is_this(other, self):
            self._empty()
            return
        for key in _unordered(other):
            self._drop(key)
        if _sets_in_order() and len(self._hashes) - self._live > (len(self._index) - 1) // 4:
            self._resize(_grown(self._live))

    def _toggle(self, other):
        for key in _members(other, self):
            if not self._drop(key):
                self._add(key)

    def _in_any_order(self):
        # For what does not depend on the order.
        return (_item(self._keys, i) for i in range(len(self._hashes)) if self._hashes[i] != -1)

    def _turn(self, at, live, size):
        # Whether there is a member at a place of the table, which had so many members and places.
        if self._live != live:
            raise RuntimeError("Set changed size during iteration")
        if len(self._index) != size:
            return _leave("a set whose members change during iteration")
        if at == size:
            return False
        slot = self._index[at]
        return slot >= 0 and self._hashes[slot] != -1

    def __iter__(self):
        _ask_for_order()
        live = self._live
        if not self._ordered and live > 1:
            return _leave("the order of a set of such members")
        size = len(self._index)
        return (_item(self._keys, self._index[at]) for at in range(size + 1) if self._turn(at, live, size))

    def copy(self, /):
        return self._copy()

    def _copy(self):
        result = self._new()
        result._merge(self)
        return result

    def union(self, other=_missing, /, *others):
        result = self._copy()
        if not _is_missing(other) and not _is_this(other, self):
            result._update(other)
        for one in others:
            if not _is_this(one, self):
                result._update(one)
        return result

    def intersection(self, other=_missing, /, *others):
        if _is_missing(other):
            return self.copy()
        result = self._common(other)
        for one in others:
            result = result._common(one)
        return result

    def _common(self, other):
        # The members of the smaller set, of the other where both are as large (set_intersection).
        if _is_this(other, self):
            return self.copy()
        result = self._new()
        if _is_set(other) and len(other) > len(self):
            result._keep(self, other, True)
            return result
        if isinstance(other, _Members):
            result._keep(other, self, True)
            return result
        for key in _members(other, result):
            if key in self:
                result._add(key)
        return result

    def _keep(self, these, others, within):
        # Adds those that another has, or has not.
        if not these._ordered:
            self._ordered = False
        for slot in _slots(these._index, these._hashes):
            key = _item(these._keys, slot)
            code = _item(these._hashes, slot)
            held = others._holds(key, code) if isinstance(others, _Members) else key in others
            if held == within:
                self._put(key, code)

    def _holds(self, key, code):
        return self._lookup(key, code) >= 0

    def difference(self, other=_missing, /, *others):
        if _is_missing(other):
            return self.copy()
        result = self._less(other)
        for one in others:
            result._subtract(one)
        return result

    def _less(self, other):
        if not _sized(other) or self._live >> 2 > len(other):
            result = self._copy()
            result._subtract(other)
            return result
        result = self._new()
        result._keep(self, other, False)
        return result

    def symmetric_difference(self, other, /):
        result = self._new()
        result._update(other)
        result._toggle(self)
        return result

    def issubset(self, other, /):
        if not _is_set(other):
            other = set(other)
        return self._live <= len(other) and _all_in(self, other)

    def issuperset(self, other, /):
        return _all_in(other, self)

    def isdisjoint(self, other, /):
        return not _any_in(other, self)

    def __or__(self, other):
        return self.union(other) if _is_set(other) else NotImplemented

    def __and__(self, other):
        return self._common(other) if _is_set(other) else NotImplemented

    def __sub__(self, other):
        return self._less(other) if _is_set(other) else NotImplemented

    def __xor__(self, other):
        return self.symmetric_difference(other) if _is_set(other) else NotImplemented

    def __ror__(self, other):
        return _as_set(other).union(self) if _is_set(other) else NotImplemented

    def __rand__(self, other):
        return _as_set(other)._common(self) if _is_set(other) else NotImplemented

    def __rsub__(self, other):
        return _as_set(other)._less(self) if _is_set(other) else NotImplemented

    def __rxor__(self, other):
        return _as_set(other).symmetric_difference(self) if _is_set(other) else NotImplemented

    def __eq__(self, other):
        if not _is_set(other):
            return NotImplemented
        return self._live == len(other) and self.issubset(other)

    def __le__(self, other):
        return self.issubset(other) if _is_set(other) else NotImplemented

    def __ge__(self, other):
        return self.issuperset(other) if _is_set(other) else NotImplemented

    def __lt__(self, other):
        return self._live < len(other) and self.issubset(other) if _is_set(other) else NotImplemented

    def __gt__(self, other):
        return self._live > len(other) and self.issuperset(other) if _is_set(other) else NotImplemented


class set(_Members):
    def __init__(self, iterable=_missing, /):
        self._begin()
        # Where pop goes on.
        self._finger = 0
        if not _is_missing(iterable):
            self._update(iterable)

    def _new(self):
        return set()

    def add(self, key, /):
        self._add(key)

    def discard(self, key, /):
        self._drop(key)

    def remove(self, key, /):
        if not self._drop(key):
            raise KeyError(key)

    def pop(self, /):
        if self._live == 0:
            raise KeyError("pop from an empty set")
        _ask_for_order()
        if not self._ordered and self._live > 1:
            return _leave("the order of a set of such members")
        mask = len(self._index) - 1
        at = self._finger & mask
        while self._index[at] < 0 or self._hashes[self._index[at]] == -1:
            at = (at + 1) & mask
        slot = self._index[at]
        self._remove(slot)
        self._finger = at + 1
        return _item(self._keys, slot)

    def clear(self, /):
        self._empty()

    def update(self, iterable=_missing, /, *others):
        if not _is_missing(iterable):
            self._update(iterable)
        for other in others:
            self._update(other)

    def difference_update(self, other=_missing, /, *others):
        if not _is_missing(other):
            self._subtract(other)
        for one in others:
            self._subtract(one)

    def intersection_update(self, other=_missing, /, *others):
        self._become(self.intersection(other, *others))

    def symmetric_difference_update(self, other, /):
        if _is_this(other, self):
            self._empty()
        elif _sized(other):
            self._toggle(other)
        else:
            self._toggle(set(other))

    def _become(self, other):
        self._keys = other._keys
        self._hashes = other._hashes
        self._index = other._index
        self._live = other._live
        self._ordered = other._ordered

    def __ior__(self, other):
        if not _is_set(other):
            return NotImplemented
        self._update(other)
        return self

    def __iand__(self, other):
        if not _is_set(other):
            return NotImplemented
        self._become(self._common(other))
        return self

    def __isub__(self, other):
        if not _is_set(other):
            return NotImplemented
        self._subtract(other)
        return self

    def __ixor__(self, other):
        if not _is_set(other):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self

    def __repr__(self):
        if self._live == 0:
            return "set()"
        return "{" + ", ".join([repr(key) for key in self]) + "}"


class frozenset(_Members):
    def __init__(self, iterable=_missing, /):
        self._begin()
        if not _is_missing(iterable):
            self._update(iterable)

    def _new(self):
        return frozenset()

    def copy(self, /):
        return self

    def __repr__(self):
        if self._live == 0:
            return "frozenset()"
        return "frozenset({" + ", ".join([repr(key) for key in self]) + "})"


def _members(iterable, of):
    # What another set is made of: where it has no order, that one has none.
    if not _is_set(iterable):
        return iterable
    if not _order_known(iterable):
        of._ordered = False
    if isinstance(iterable, _Members):
        return iterable._walk()
    return iterable if _order_known(iterable) else _unordered(iterable)


def _adopted(constant):
    result = set()
    result._adopt(constant)
    return result


def _as_set(value):
    # A set that is constant, as an object.
    return frozenset(value) if isinstance(value, frozenset) else set(value)


# Methods of sets that are constant.
def _constant_isdisjoint(members, other):
    return not _any_in(other, members)


def _constant_issuperset(members, other):
    return _all_in(other, members)


def _constant_issubset(members, other):
    if not _is_set(other):
        other = set(other)
    return len(members) <= len(other) and _all_in(members, other)


def _constant_union(members, *others):
    return _as_set(members).union(*others)


def _constant_intersection(members, *others):
    return _as_set(members).intersection(*others)


def _constant_difference(members, *others):
    return _as_set(members).difference(*others)


def _constant_symmetric_difference(members, other):
    return _as_set(members).symmetric_difference(other)


class deque:
    # A list and where in it the first element stands; what is before that has no meaning.
    def __init__(self, iterable=_missing, maxlen=None):
        if maxlen is not None:
            if not isinstance(maxlen, int):
                raise TypeError("an integer is required")
            if not -9223372036854775808 <= maxlen <= 9223372036854775807:
                raise OverflowError("Python int too large to convert to C ssize_t")
            if maxlen < 0:
                raise ValueError("maxlen must be non-negative")
        self._items = []
        self._first = 0
        # The elements before the first that were taken, and not made as room for others.
        self._taken = 0
        self._maxlen = int(maxlen) if isinstance(maxlen, bool) else maxlen
        # How often it was changed, which ends iterations.
        self._changes = 0
        if not _is_missing(iterable):
            self.extend(iterable)

    @property
    def maxlen(self):
        return self._maxlen

    def __len__(self):
        return len(self._items) - self._first

    def append(self, item, /):
        self._changes += 1
        self._items.append(item)
        if self._maxlen is not None and len(self) > self._maxlen:
            self._forget()

    def appendleft(self, item, /):
        self._changes += 1
        self._push(item)
        if self._maxlen is not None and len(self) > self._maxlen:
            self._items.pop()

    def _forget(self):
        # Drops the first element.
        self._first += 1
        self._taken += 1
        if self._taken >= 32 and self._taken * 2 >= len(self._items):
            self._items = self._items[self._first :]
            self._first = 0
            self._taken = 0

    def pop(self, /):
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        self._changes += 1
        return self._items.pop()

    def popleft(self, /):
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        self._changes += 1
        item = self._items[self._first]
        self._forget()
        return item

    def extend(self, iterable, /):
        if isinstance(iterable, deque):
            iterable = list(iterable)
        for item in iterable:
            self.append(item)

    def extendleft(self, iterable, /):
        if isinstance(iterable, deque):
            iterable = list(iterable)
        for item in iterable:
            self.appendleft(item)

    def clear(self, /):
        self._changes += 1
        self._items = self._items[:0]
        self._first = 0
        self._taken = 0

    def copy(self, /):
        result = deque(maxlen=self._maxlen)
        result.extend(self)
        return result

    def count(self, value, /):
        n = 0
        for item in self:
            if _same(item, value):
                n += 1
        return n

    def reverse(self, /):
        # In place: who iterates goes on at the same positions.
        items = self._items
        low = self._first
        high = len(items) - 1
        while low < high:
            items[low], items[high] = items[high], items[low]
            low += 1
            high -= 1

    def rotate(self, n=1, /):
        if not isinstance(n, int):
            return _leave("a rotation by something else than an int")
        if not -9223372036854775808 <= n <= 9223372036854775807:
            raise OverflowError("Python int too large to convert to C ssize_t")
        size = len(self)
        if size > 1:
            by = n % size
            self._changes += 1
            if by <= size // 2:
                for _ in range(by):
                    self._push(self._items.pop())
            else:
                for _ in range(size - by):
                    self._items.append(self._items[self._first])
                    self._forget()

    def _push(self, item):
        # Puts an item before the others.
        if self._first == 0:
            room = len(self._items) + 8
            moved = [item] * room
            moved.extend(self._items)
            self._items = moved
            self._first = room
        self._first -= 1
        if self._taken > 0:
            self._taken -= 1
        self._items[self._first] = item

    def _place(self, index):
        if not isinstance(index, int):
            raise TypeError(f"sequence index must be integer, not '{_type_name(index)}'")
        size = len(self)
        if index < 0:
            index += size
        if index < 0 or index >= size:
            raise IndexError("deque index out of range")
        return self._first + index

    def __getitem__(self, index):
        return self._items[self._place(index)]

    def __setitem__(self, index, value):
        self._items[self._place(index)] = value

    def __delitem__(self, index):
        return _refuse("del of an element of a deque")

    def index(self, value, start=_missing, stop=_missing, /):
        if not _is_missing(start):
            return _refuse("deque.index with bounds")
        at = 0
        for item in self:
            if _same(item, value):
                return at
            at += 1
        raise ValueError(f"{value!r} is not in deque")

    def insert(self, index, value, /):
        return _refuse("deque.insert")

    def remove(self, value, /):
        return _refuse("deque.remove")

    def _turn(self, at, end, changes):
        if self._changes != changes:
            raise RuntimeError("deque mutated during iteration")
        return at < end

    def __iter__(self):
        end = len(self._items)
        changes = self._changes
        return (_item(self._items, i) for i in range(self._first, end + 1) if self._turn(i, end, changes))

    def __reversed__(self):
        first = self._first
        changes = self._changes
        # The turn before the first item looks for changes only.
        last = len(self._items) - 1
        return (_item(self._items, i) for i in range(last, first - 2, -1) if self._turn(first, i + 1, changes))

    def __contains__(self, value):
        return _among(value, self)

    def __eq__(self, other):
        if not isinstance(other, deque):
            return NotImplemented
        return list(self) == list(other)

    def __lt__(self, other):
        return _refuse("the order of deques")

    def __le__(self, other):
        return _refuse("the order of deques")

    def __gt__(self, other):
        return _refuse("the order of deques")

    def __ge__(self, other):
        return _refuse("the order of deques")

    def __add__(self, other):
        if not isinstance(other, deque):
            return _refuse("a deque and something else")
        result = self.copy()
        result.extend(other)
        return result

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, n):
        return _refuse("a deque several times")

    def __rmul__(self, n):
        return _refuse("a deque several times")

    def __imul__(self, n):
        return _refuse("a deque several times")

    def __repr__(self):
        shown = "deque([" + ", ".join([repr(item) for item in self]) + "]"
        return shown + ")" if self._maxlen is None else f"{shown}, maxlen={self._maxlen})"


class ChainMap:
    def __init__(self, *maps):
        for mapping in maps:
            if not isinstance(mapping, dict):
                return _leave("what is no dict in a ChainMap")
        self._maps = maps if len(maps) > 0 else ({},)

    def __getitem__(self, key):
        for mapping in self._maps:
            if key in mapping:
                return mapping[key]
        raise KeyError(key)

    def get(self, key, default=None):
        for mapping in self._maps:
            if key in mapping:
                return mapping[key]
        return default

    def __contains__(self, key):
        return any([key in mapping for mapping in self._maps])

    def _all(self):
        result = {}
        for mapping in self._maps[::-1]:
            result.update(mapping)
        return result

    def __len__(self):
        return len(self._all())

    def __bool__(self):
        return any([len(mapping) > 0 for mapping in self._maps])

    def __iter__(self):
        return iter(self._all())

    def keys(self):
        return self._all().keys()

    def values(self):
        return self._all().values()

    def items(self):
        return self._all().items()
