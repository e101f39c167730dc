"""What a handler's annotations ask of its arguments, where they ask for more than values."""

import inspect
import sys
import typing


def hints_of(function):
    """The annotations of the positional parameters of a function, in order: None where there is
    none, or where it means nothing. What decorators have wrapped is asked."""
    try:
        function = inspect.unwrap(function)
        hints = typing.get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
    except Exception:
        # Annotations need not mean anything, and not every callable has a signature.
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [hints.get(parameter.name) for parameter in parameters if parameter.kind in positional]


def hint(hints, index):
    return hints[index] if index < len(hints) else None


def options_of(hint):
    """The alternatives of a hint that are not None: of `X | None` it is X."""
    options = [option for option in typing.get_args(hint) if option is not type(None)]
    union = typing.get_origin(hint) in (typing.Union, getattr(__import__("types"), "UnionType", None))
    return options if union else [hint]


def loaded(module, name):
    """A class of a module that somebody has imported; else nothing can be annotated with it."""
    return getattr(sys.modules.get(module), name, None)


def is_class(hint, module, name):
    found = loaded(module, name)
    return found is not None and isinstance(hint, type) and issubclass(hint, found)


def shape_of(hint):
    """`series`, `ndarray`, `arrow`, `frame`, `list` or None, and the NumPy dtype that an
    `NDArray[…]` names."""
    for option in options_of(hint):
        origin = typing.get_origin(option) or option
        if is_class(origin, "pandas", "Series"):
            return "series", None
        if is_class(origin, "pandas", "DataFrame"):
            return "frame", None
        if is_class(origin, "pyarrow", "Table"):
            return "table", None
        if is_class(origin, "pyarrow", "Array") or is_class(origin, "pyarrow", "ChunkedArray"):
            return "arrow", None
        if is_class(origin, "numpy", "ndarray"):
            return "ndarray", dtype_of(option)
        if origin is list:
            return "list", None
    return None, None


def dtype_of(hint):
    """The scalar type in `np.ndarray[Any, np.dtype[np.float64]]`."""
    for argument in typing.get_args(hint):
        if is_class(typing.get_origin(argument), "numpy", "dtype"):
            scalar = typing.get_args(argument)[0]
            if isinstance(scalar, type) and issubclass(scalar, loaded("numpy", "generic")):
                try:
                    dtype = loaded("numpy", "dtype")(scalar)
                    # Times without a unit have that of the declared type.
                    return None if dtype in ("datetime64", "timedelta64") else dtype
                except TypeError:
                    # An abstract one, such as np.floating.
                    return None
    return None


class Values:
    """How the values of a list become an argument."""

    def __init__(self, shape, sql_dtype, dtype):
        """sql_dtype: NumPy's name for the SQL type of the items, or None where they are
        objects; dtype: what the annotation asks for instead, or None. Arguments widen
        without loss and in no other way."""
        self.shape, self.sql_dtype, self.dtype = shape, sql_dtype, dtype
        if dtype is not None:
            import numpy as np

            texts = sql_dtype is None and dtype.kind in "OUS"
            if not texts and (sql_dtype is None or not np.can_cast(np.dtype(sql_dtype), dtype, "safe")):
                given = sql_dtype or "objects"
                raise TypeError(f"an array of {given} does not become one of {dtype} without loss; annotate np.ndarray, "
                                "or declare the parameter otherwise")

    def of(self, values):
        """An argument of a pyarrow array."""
        if self.shape == "series":
            series = values.to_pandas()
            # What is Arrow's own memory cannot be written into.
            return series.copy() if series.dtype.kind in "biufmM" else series
        if self.shape == "arrow":
            return values
        if self.shape == "one":
            return one(values)
        return self.array(values)

    def array(self, values):
        """An ndarray that the function may write into. Its dtype follows from the declared
        type, never from the data."""
        import numpy as np
        import pyarrow as pa

        floats = pa.types.is_floating(values.type)
        wanted = self.dtype if self.dtype is not None else self.sql_dtype
        wanted = None if wanted is None else np.dtype(wanted)
        if wanted is None or wanted.kind == "O":
            result = np.empty(len(values), dtype=object)
            result[:] = values.to_pylist()
            return result
        if values.null_count and wanted.kind in "biuUS":
            at = values.is_null().index(pa.scalar(True)).as_py()
            raise NullItem(f"item {at} is NULL, which an array of {wanted} cannot hold; {Values.way_out(wanted)}")
        if wanted.kind in "US":
            return np.array(values.to_pylist(), dtype=wanted)
        if wanted.kind in "Mm":
            unit = {pa.date32(): "D", pa.date64(): "ms"}.get(values.type)
            whole = values.cast(pa.int32() if unit == "D" else pa.int64()).fill_null(0).cast(pa.int64())
            result = whole.to_numpy(zero_copy_only=False).astype(np.int64).view(self.sql_dtype)
            if values.null_count:
                result[values.is_null().to_numpy(zero_copy_only=False)] = "NaT"
            return result.astype(wanted)
        if values.null_count and not floats:
            values = values.cast(pa.float64(), safe=False)
        result = values.to_numpy(zero_copy_only=False)
        return result.astype(wanted) if result.dtype != wanted else result.copy()

    def of_list(self, items):
        """An argument of nested lists, which NumPy judges."""
        import numpy as np

        wanted = self.dtype if self.dtype is not None else self.sql_dtype
        if lacks_row(items, self.rank):
            raise NullItem(f"a row is NULL, which an array of rank {self.rank} cannot hold; take a list")
        if wanted is not None and np.dtype(wanted).kind in "biu" and has_none(items):
            wanted = np.dtype(wanted)
            raise NullItem(f"an item is NULL, which an array of {wanted} cannot hold; {self.way_out(wanted)}")
        if not items:
            return np.empty((0,) * self.rank, dtype=wanted or object)
        if wanted is None:
            # Of objects NumPy would take any lengths, and make an array of lists.
            np.array([[0] * len(item) for item in items if isinstance(item, list)])
        return np.array(items, dtype=wanted or object)

    @staticmethod
    def way_out(dtype):
        return "declare DOUBLE, or take a list or a Series" if dtype.kind in "iu" else "take a list or a Series"

    rank = 1


def one(values):
    """The value that all items of a pyarrow array are; None where there are none."""
    items = values.to_pylist()
    if any(item != items[0] for item in items):
        raise ValueError("a parameter that is not annotated as a column takes one value, and the rows have several")
    return items[0] if items else None


class NullItem(ValueError):
    """A NULL in an array of values that have no word for it."""


def lacks_row(items, rank):
    """Whether a NULL stands where lists of a rank have lists."""
    return rank > 1 and any(item is None or lacks_row(item, rank - 1) for item in items)


def has_none(items):
    return any(item is None or isinstance(item, list) and has_none(item) for item in items)
