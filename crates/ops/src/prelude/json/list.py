"""A list that json.loads made: the field is a list of the texts of its items. What would change it,
or compare it, is CPython's."""


def __len__(self):
    return len(_field(self, 0))


def __bool__(self):
    return len(_field(self, 0)) > 0


def __getitem__(self, index, /):
    if isinstance(index, int):
        return _of_json(_field(self, 0)[index])
    raise TypeError(f"list indices must be integers or slices, not {_type_name(index)}")


def __getpart__(self, start, stop):
    return _record("json.list", _field(self, 0)[start:stop])


def __getslice__(self, start, stop, step):
    return _record("json.list", _field(self, 0)[start:stop:step])


def __iter__(self):
    return map(_of_json, _field(self, 0))


def __contains__(item, self):
    for one in map(_of_json, _field(self, 0)):
        if one == item:
            return True
    return False


def __repr__(self):
    return _operation("json.repr", _document(self))


def __str__(self):
    return _operation("json.repr", _document(self))


def __eq__(self, other):
    if isinstance(other, list):
        if not other and not self:
            return True
        return _leave("a list that json.loads made compared with another")
    return False


def __ne__(self, other):
    return not __eq__(self, other)
