"""A dict that json.loads made: the field is a list of its keys, each with the text of its value
behind it. What would change it, or compare it, is CPython's."""

from collections import _keys_view


def __len__(self):
    return len(_field(self, 0)) // 2


def __bool__(self):
    return len(_field(self, 0)) > 0


def _at(self, key):
    if isinstance(key, str):
        return _operation("json.find", _field(self, 0), key)
    if isinstance(key, (list, dict, set)):
        raise TypeError(f"unhashable type: '{_type_name(key)}'")
    return -1


def __getitem__(self, key, /):
    at = _at(self, key)
    if at < 0:
        raise KeyError(key)
    return _of_json(_item(_field(self, 0), at))


def __contains__(key, self):
    return _at(self, key) >= 0


def get(self, key, default=None, /):
    at = _at(self, key)
    if at < 0:
        return default
    return _of_json(_item(_field(self, 0), at))


def __iter__(self):
    parts = _field(self, 0)
    return (_item(parts, at) for at in range(0, len(parts), 2))


def keys(self, /):
    return _keys_view(self)


def values(self, /):
    return dict_values(self)


def items(self, /):
    return dict_items(self)


class dict_values:
    def __init__(self, of):
        self._of = of

    def __len__(self):
        return len(self._of)

    def __contains__(self, value):
        for one in self:
            if one == value:
                return True
        return False

    def __iter__(self):
        parts = _field(self._of, 0)
        return (_of_json(_item(parts, at)) for at in range(1, len(parts), 2))

    def __repr__(self):
        return "dict_values([" + ", ".join([repr(value) for value in self]) + "])"


class dict_items:
    def __init__(self, of):
        self._of = of

    def __len__(self):
        return len(self._of)

    def __iter__(self):
        parts = _field(self._of, 0)
        return ((_item(parts, at), _of_json(_item(parts, at + 1))) for at in range(0, len(parts), 2))

    def __repr__(self):
        return "dict_items([" + ", ".join([repr(item) for item in self]) + "])"


def __repr__(self):
    return _operation("json.repr", _document(self))


def __str__(self):
    return _operation("json.repr", _document(self))


def __eq__(self, other):
    if isinstance(other, dict):
        if not other and not self:
            return True
        return _leave("a dict that json.loads made compared with another")
    return False


def __ne__(self, other):
    return not __eq__(self, other)
