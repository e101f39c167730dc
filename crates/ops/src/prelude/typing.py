"""What the objects of NamedTuple classes do as tuples. Each of these classes has `_astuple` besides,
which gives the fields."""


def _plain(other):
    if _type_name(other) == "tuple":
        return other
    return other._astuple()


class tuple:
    def __len__(self):
        return len(self._astuple())

    def __iter__(self):
        return (value for value in self._astuple())

    def __contains__(self, value):
        return value in self._astuple()

    def __getitem__(self, index):
        return self._astuple()[index]

    def __eq__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return self._astuple() == _plain(other)

    def __ne__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return self._astuple() != _plain(other)

    def __lt__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return self._astuple() < _plain(other)

    def __le__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return self._astuple() <= _plain(other)

    def __gt__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return self._astuple() > _plain(other)

    def __ge__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return self._astuple() >= _plain(other)

    def __add__(self, other):
        if not isinstance(other, tuple):
            return _leave("what CPython says of a sum with a tuple")
        return self._astuple() + _plain(other)

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return _leave("what CPython says of a sum with a tuple")
        return other + self._astuple()

    def __mul__(self, times):
        if not isinstance(times, int):
            return _leave("what CPython says of a product with a tuple")
        return self._astuple() * times

    def __rmul__(self, times):
        return self.__mul__(times)

    def index(self, value, /):
        return self._astuple().index(value)

    def count(self, value, /):
        return self._astuple().count(value)
