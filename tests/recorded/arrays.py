"""Arrays of the case files: from NumPy to JSON and back.

An array has a dtype, a shape and nested lists of values; floats are text, so that they are
exact, and "nan" is a value like others. Arrays are handed over C-contiguous.
"""

import numpy as np

from tables import Unfit, float_text

INPUTS = ("bool", "int32", "int64", "float32", "float64")
RESULTS = (*INPUTS, "int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16")


def nested(value, leaf):
    return [nested(item, leaf) for item in value] if isinstance(value, list) else leaf(value)


def same(value):
    return value


def written(value, dtypes, ranks, limit):
    if not value.dtype.isnative:
        raise Unfit("array of foreign byte order")
    if value.dtype.name not in dtypes:
        raise Unfit(f"array of {value.dtype.type.__name__}")
    if value.ndim not in ranks:
        raise Unfit(f"array of rank {value.ndim}")
    if value.size > limit:
        raise Unfit("more items than the limit")
    leaf = float_text if value.dtype.kind == "f" else same
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": nested(value.tolist(), leaf)}


def array(value, limit):
    """An array as an input."""
    return written(value, INPUTS, (1, 2), limit)


def build(value):
    """The array of an input."""
    leaf = float if value["dtype"].startswith("float") else same
    return np.array(nested(value["values"], leaf), dtype=value["dtype"]).reshape(value["shape"])


def normal(value, limit):
    """A result as an array of rank 0, 1 or 2."""
    if isinstance(value, (bool, int, float)):
        value = np.asarray(value)
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if type(value) is not np.ndarray:
        raise Unfit(f"result is a {type(value).__name__}")
    return written(value, RESULTS, (0, 1, 2), limit)
