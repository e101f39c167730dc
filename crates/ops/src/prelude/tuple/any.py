"""A tuple whose length is known only at run time: the field is a list of its items, which nobody
changes."""


def _items(value):
    # The items of a tuple of either kind, as a list.
    if _is_of(value, "tuple.any"):
        return _field(value, 0)
    return [item for item in value]


def __len__(self):
    return len(_field(self, 0))


def __bool__(self):
    return len(_field(self, 0)) > 0


def __getitem__(self, index, /):
    if not isinstance(index, int):
        raise TypeError(f"tuple indices must be integers or slices, not {_type_name(index)}")
    items = _field(self, 0)
    if not -(2**63) <= index < 2**63:
        raise IndexError("cannot fit 'int' into an index-sized integer")
    if not -len(items) <= index < len(items):
        raise IndexError("tuple index out of range")
    return items[index]


def __getpart__(self, start, stop):
    return _record("tuple.any", _field(self, 0)[start:stop])


def __getslice__(self, start, stop, step):
    return _record("tuple.any", _field(self, 0)[start:stop:step])


def __iter__(self):
    return (item for item in _field(self, 0))


def __contains__(item, self):
    return item in _field(self, 0)


def __add__(self, other):
    if isinstance(other, tuple):
        return _record("tuple.any", _field(self, 0) + _items(other))
    raise TypeError(f'can only concatenate tuple (not "{_type_name(other)}") to tuple')


def __mul__(self, times):
    if isinstance(times, int):
        return _record("tuple.any", _field(self, 0) * times)
    raise TypeError(f"can't multiply sequence by non-int of type '{_type_name(times)}'")


def __eq__(self, other):
    if isinstance(other, tuple):
        return _field(self, 0) == _items(other)
    return False


def __ne__(self, other):
    return not __eq__(self, other)


def _compared(other):
    if isinstance(other, tuple):
        return _items(other)
    return _leave("a tuple compared with something else")


def __lt__(self, other):
    return _field(self, 0) < _compared(other)


def __le__(self, other):
    return _field(self, 0) <= _compared(other)


def __gt__(self, other):
    return _field(self, 0) > _compared(other)


def __ge__(self, other):
    return _field(self, 0) >= _compared(other)


def __repr__(self):
    items = _field(self, 0)
    if len(items) == 1:
        return "(" + repr(items[0]) + ",)"
    return "(" + ", ".join([repr(item) for item in items]) + ")"


def __str__(self):
    return __repr__(self)


def count(self, value, /):
    return _field(self, 0).count(value)


def index(self, value, /):
    at = 0
    for item in _field(self, 0):
        if item == value:
            return at
        at = at + 1
    raise ValueError("tuple.index(x): x not in tuple")
