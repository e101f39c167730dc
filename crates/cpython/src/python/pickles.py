"""Pickles of objects whose classes stand in a function's module, which no import finds."""

import io
import pickle
import sys


class Pickles:
    def __init__(self, state):
        self.name, self.globals = state.__module__, namespace(state)

    def dumps(self, value):
        file = io.BytesIO()
        pickler = pickle.Pickler(file, protocol=5)
        pickler.persistent_id = self.reference
        pickler.dump(value)
        return file.getvalue()

    def loads(self, data):
        unpickler = pickle.Unpickler(io.BytesIO(data))
        unpickler.persistent_load = self.globals.__getitem__
        return unpickler.load()

    def reference(self, value):
        """The name of a global of the function's module."""
        name = getattr(value, "__qualname__", None)
        if isinstance(name, str) and getattr(value, "__module__", None) == self.name and self.globals.get(name) is value:
            return name
        return None


def namespace(state):
    """The globals of the module that defines a class."""
    for value in vars(state).values():
        found = getattr(value, "__globals__", None)
        if found is not None:
            return found
    return vars(sys.modules[state.__module__])
