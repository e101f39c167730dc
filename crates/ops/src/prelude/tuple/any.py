"""A tuple whose length is known only at run time: a list of its items, which nobody changes."""


def _items(value):
    # The items of a tuple of either kind, as a list.
    return [item for item in value]


class tuple:
    def __init__(self, items):
        self._items = items

    def __len__(self):
        return len(self._items)

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise TypeError(f"tuple indices must be integers or slices, not {_type_name(index)}")
        items = self._items
        if not -(2**63) <= index < 2**63:
            raise IndexError("cannot fit 'int' into an index-sized integer")
        if not -len(items) <= index < len(items):
            raise IndexError("tuple index out of range")
        return items[index]

    def __getpart__(self, start, stop):
        return tuple(self._items[start:stop])

    def __getslice__(self, start, stop, step):
        return tuple(self._items[start:stop:step])

    def __iter__(self):
        return (item for item in self._items)

    def __contains__(self, item):
        return item in self._items

    def __add__(self, other):
        if _is_tuple(other):
            return tuple(self._items + _items(other))
        raise TypeError(f'can only concatenate tuple (not "{_type_name(other)}") to tuple')

    def __radd__(self, other):
        if _is_tuple(other):
            return tuple(_items(other) + self._items)
        return NotImplemented

    def __mul__(self, times):
        if isinstance(times, int):
            return tuple(self._items * times)
        raise TypeError(f"can't multiply sequence by non-int of type '{_type_name(times)}'")

    def __eq__(self, other):
        if _is_tuple(other):
            return self._items == _items(other)
        return NotImplemented

    def __lt__(self, other):
        if _is_tuple(other):
            return self._items < _items(other)
        return NotImplemented

    def __le__(self, other):
        if _is_tuple(other):
            return self._items <= _items(other)
        return NotImplemented

    def __gt__(self, other):
        if _is_tuple(other):
            return self._items > _items(other)
        return NotImplemented

    def __ge__(self, other):
        if _is_tuple(other):
            return self._items >= _items(other)
        return NotImplemented

    def __repr__(self):
        items = self._items
        if len(items) == 1:
            return "(" + repr(items[0]) + ",)"
        return "(" + ", ".join([repr(item) for item in items]) + ")"

    def count(self, value, /):
        return self._items.count(value)

    def index(self, value, /):
        at = 0
        for item in self._items:
            if item == value:
                return at
            at = at + 1
        raise ValueError("tuple.index(x): x not in tuple")
