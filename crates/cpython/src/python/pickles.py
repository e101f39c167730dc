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
        try:
            pickler.dump(value)
        except MemoryError:
            raise
        except Exception as error:
            raise TypeError(f"the state of an aggregate that merges must be one that pickle takes: {error}") from None
        return file.getvalue()

    def loads(self, data):
        unpickler = pickle.Unpickler(io.BytesIO(data))
        unpickler.persistent_load = self.named
        return unpickler.load()

    def named(self, name):
        """A global, or what stands in a class that is one."""
        first, *rest = name.split(".")
        value = self.globals[first]
        for part in rest:
            value = getattr(value, part)
        return value

    def reference(self, value):
        """The name of a global of the function's module."""
        name = getattr(value, "__qualname__", None)
        if not isinstance(name, str) or getattr(value, "__module__", None) != self.name:
            return None
        try:
            return name if self.named(name) is value else None
        except (KeyError, AttributeError):
            return None


def namespace(state):
    """The globals of the module that defines a class."""
    for value in vars(state).values():
        found = getattr(value, "__globals__", None)
        if found is not None:
            return found
    return vars(sys.modules[state.__module__])
