"""types: a dict that nobody changes through this, and an object of names."""


class MappingProxyType:
    def __init__(self, mapping, /):
        if not isinstance(mapping, dict):
            return _leave("what is no mapping as one that nobody changes")
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __contains__(self, key):
        return key in self._mapping

    def __len__(self):
        return len(self._mapping)

    def __iter__(self):
        return iter(self._mapping)

    def get(self, key, default=None, /):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"


class SimpleNamespace:
    def __init__(self, **kwargs):
        for name, value in kwargs:
            setattr(self, name, value)

    def __repr__(self):
        return _refuse("the text of a SimpleNamespace")

    def __eq__(self, other):
        return _refuse("a SimpleNamespace compared")

    __ne__ = __eq__

    def __hash__(self):
        return _refuse("the hash of a SimpleNamespace")
