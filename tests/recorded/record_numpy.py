"""A pytest plugin that records the calls which NumPy's own tests make of NumPy's functions.

Arrays are the parameters `a, b, …` of a case. A list that stands for an array is taken for
one, where the call has no other. Methods of ndarray belong to a C type and are not seen.
"""

import functools
import os
import sys
import types

import numpy as np
import numpy._core._rational_tests  # It takes ufuncs from the module by their C type, so before they are replaced.

import arrays
import literals
from recorder import Recorder, function_source
from tables import Unfit

NAMES = "abcdeg"
ITEMS = 400
CHANGES = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "at")
UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
# What is random or uninitialised, is about memory or text, reads or writes files, or leaves an order open.
LEFT_OUT = {
    "argpartition", "partition", "array2string", "array_repr", "array_str", "asarray_chkfinite", "asmatrix", "bmat",
    "base_repr", "binary_repr", "busday_count", "busday_offset", "can_cast", "common_type", "copy", "datetime_as_string",
    "einsum_path", "empty_like", "format_float_positional", "format_float_scientific", "fromfunction", "fromregex",
    "genfromtxt", "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "info", "is_busday", "isdtype",
    "isfortran", "iterable", "load", "loadtxt", "may_share_memory", "min_scalar_type", "mintypecode", "printoptions",
    "require", "result_type", "row_stack", "save", "savetxt", "savez", "savez_compressed", "set_printoptions",
    "setbufsize", "seterr", "seterrcall", "shares_memory", "show_config", "show_runtime", "typename", "issubdtype",
}  # fmt: skip


class Array:
    """An array that a case takes."""

    def __init__(self, value):
        self.value = value
        self.written = arrays.array(value, ITEMS)

    def same(self, other):
        return self.value is other.value and self.written == other.written


def holds_array(value):
    if isinstance(value, (list, tuple)):
        return any(map(holds_array, value))
    if isinstance(value, dict):
        return any(map(holds_array, value.values()))
    return isinstance(value, np.ndarray)


def numeric(value):
    """Whether a list stands for an array of numbers."""
    return type(value) is list and bool(value) and all(type(item) in (bool, int, float) or numeric(item) for item in value)


def leaf(value):
    if type(value) is not np.ndarray:
        raise Unfit(f"argument: {type(value).__name__}")
    return [Array(value)]


def describe(name, all_arrays, args, kwargs):
    """The candidate of a call; `all_arrays` says that every positional argument is an array."""
    if kwargs.get("out") is not None:
        raise Unfit("argument: out")
    given = list(args)
    if not holds_array(args) and not holds_array(kwargs):
        for place, value in enumerate(given):
            if numeric(value) and (all_arrays or place == 0):
                try:
                    given[place] = np.array(value)
                except ValueError:
                    raise Unfit("argument: ragged list") from None
        if not holds_array(given):
            raise Unfit("no array")
    items = [literals.render(value, leaf) for value in given]
    items += [[f"{key}=", *literals.render(value, leaf)] for key, value in kwargs.items() if repr(value) != "<no value>"]
    parts = [f"np.{name}", *literals.join(items, "(", ")")]
    found = []
    text = []
    for part in parts:
        if not isinstance(part, Array):
            text.append(part)
            continue
        place = next((place for place, other in enumerate(found) if other.same(part)), len(found))
        if place == len(found):
            found.append(part)
        if place >= len(NAMES):
            raise Unfit("more than six arrays")
        text.append(NAMES[place])
    call = "".join(text)
    changes = name.split(".")[-1] in CHANGES
    parameters = ", ".join(f"{name}: np.ndarray" for name in NAMES[: len(found)])
    source = function_source(parameters, [call, "return a"] if changes else [f"return {call}"])
    return {"kind": "array", "source": source, "inputs": [{"name": n, **a.written} for n, a in zip(NAMES, found)]}


def called(recorder, name, original, all_arrays, frame, args, kwargs):
    """Calls the original for the frame's code, and notes the call if that is a test's."""
    if not recorder.wanted(frame):
        return original(*args, **kwargs)
    text = functools.partial(describe, name, all_arrays)
    return recorder.call(f"numpy.{name}", text, original, args, kwargs)[0]


def recorded(recorder, name, original, all_arrays=False):
    def function(*args, **kwargs):
        return called(recorder, name, original, all_arrays, sys._getframe(1), args, kwargs)

    functools.update_wrapper(function, original)
    return function


class Ufunc:
    """Stands for a ufunc, which cannot be changed, under its name in the module."""

    def __init__(self, recorder, name, original):
        self.recorder = recorder
        self.name = name
        self.original = original
        for method in UFUNC_METHODS:
            setattr(self, method, recorded(recorder, f"{name}.{method}", getattr(original, method), method == "outer"))

    __class__ = property(lambda self: np.ufunc)

    def __call__(self, *args, **kwargs):
        return called(self.recorder, self.name, self.original, True, sys._getframe(1), args, kwargs)

    def __getattr__(self, name):
        return getattr(self.original, name)

    def __repr__(self):
        return repr(self.original)

    def __eq__(self, other):
        return self.original == getattr(other, "original", other)

    def __hash__(self):
        return hash(self.original)


def replace(recorder):
    dispatched = type(np.sum)
    for name in dir(np):
        found = getattr(np, name)
        if name.startswith("_") or name in LEFT_OUT:
            continue
        if type(found) is np.ufunc:
            setattr(np, name, Ufunc(recorder, name, found))
        elif type(found) in (dispatched, types.FunctionType):
            setattr(np, name, recorded(recorder, name, found))


RECORDER = Recorder(os.environ["RECORDED_FOLDER"])
replace(RECORDER)


def pytest_configure(config):
    config.pluginmanager.register(RECORDER, "recorder")
