"""The text of an argument: an expression that makes an equal value again.

A text is a list of parts, each a string or a leaf that a recorder makes of a frame or an
array and names later. A value whose text would not make it again raises `Unfit`.
"""

import ast
import builtins
import datetime
import functools
import inspect
import math
import re
import types

import numpy as np
import pandas as pd

from tables import Unfit, texts

ITEMS = 200
LAMBDA = 60
DATES = (datetime.date, datetime.datetime, datetime.timedelta, datetime.time)


def join(items, opening, closing, single=""):
    parts = [opening]
    for place, item in enumerate(items):
        parts += [", "] if place else []
        parts += item
    return [*parts, single if len(items) == 1 else "", closing]


def number(value):
    if type(value) is float and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


@functools.cache
def lambdas(path):
    """The lambdas of a file by their first line."""
    found = {}
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def lambda_text(function):
    """A short lambda of one line that looks at nothing but its parameters, built-ins, np and pd."""
    code = function.__code__
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        raise Unfit("argument: lambda with free variables")
    found = set()
    for node in lambdas(code.co_filename).get(code.co_firstlineno, []):
        consts = compile(ast.Expression(node), "lambda", "eval").co_consts
        compiled = next(const for const in consts if isinstance(const, types.CodeType))
        if (compiled.co_code, compiled.co_names, compiled.co_consts) == (code.co_code, code.co_names, code.co_consts):
            loads = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            known = {*code.co_varnames, "np", "pd"}
            if not all(name in known or hasattr(builtins, name) for name in loads):
                raise Unfit("argument: lambda with free variables")
            found.add(ast.unparse(node))
    if len(found) != 1:
        raise Unfit("argument: lambda whose text is not found")
    text = found.pop()
    if len(text) > LAMBDA:
        raise Unfit("argument: long lambda")
    return f"({text})"


def function_text(value):
    name = getattr(value, "__name__", "")
    if name == "<lambda>":
        return lambda_text(value)
    if getattr(builtins, name, None) is value:
        return name
    for module, alias in ((np, "np"), (pd, "pd")):
        if getattr(module, name, None) is value:
            return f"{alias}.{name}"
    if getattr(str, name, None) is value:
        return f"str.{name}"
    raise Unfit("argument: function")


def array_text(value, what):
    if value.dtype.kind not in "biufO" or value.ndim not in (1, 2) or value.size > ITEMS:
        raise Unfit(f"argument: {what} of dtype {value.dtype.type.__name__} and rank {value.ndim}")
    return literal(value.tolist())


def index_text(value):
    if type(value) is pd.RangeIndex and value.name is None:
        return f"pd.RangeIndex({value.start}, {value.stop}, {value.step})"
    if type(value) is not pd.Index:
        raise Unfit(f"argument: {type(value).__name__}")
    name = "" if value.name is None else f", name={literal(value.name)}"
    if isinstance(value.dtype, np.dtype):
        return f"pd.Index({array_text(value.to_numpy(), 'Index')}, dtype='{value.dtype}'{name})"
    if isinstance(value.dtype, pd.StringDtype) and value.dtype.na_value is not pd.NA:
        return f"pd.Index({literal(texts(value.tolist()))}, dtype='str'{name})"
    raise Unfit(f"argument: Index of dtype {type(value.dtype).__name__}")


def literal(value):
    """The text of a value that holds no leaves."""
    parts = render(value, refuse)
    return "".join(parts)


def refuse(value):
    raise Unfit(f"argument: {type(value).__name__}")


def render(value, leaf):
    """The parts of a value's text; `leaf` makes those of all that is no literal."""
    kind = type(value)
    if value is None or kind in (bool, int, float):
        return [number(value)]
    if kind is str:
        return [repr(texts([value])[0])]
    if kind in (list, tuple) and len(value) <= ITEMS:
        items = [render(item, leaf) for item in value]
        return join(items, "[", "]") if kind is list else join(items, "(", ")", ",")
    if kind is dict and len(value) <= ITEMS:
        return join([[*render(key, leaf), ": ", *render(item, leaf)] for key, item in value.items()], "{", "}")
    if kind is range:
        return [repr(value)]
    if kind in (set, frozenset) and 0 < len(value) <= ITEMS:
        return join(sorted(render(item, leaf) for item in value), *("{", "}") if kind is set else ("frozenset({", "})"))
    if kind is slice:
        return join([render(item, leaf) for item in (value.start, value.stop, value.step)], "slice(", ")")
    if kind is pd.NamedAgg:
        return join([render(item, leaf) for item in value], "pd.NamedAgg(", ")")
    if value is Ellipsis:
        return ["..."]
    if value is pd.NA or value is pd.NaT:
        return ["pd.NA" if value is pd.NA else "pd.NaT"]
    if kind in (pd.Timestamp, pd.Timedelta):
        if getattr(value, "tzinfo", None) is not None:
            raise Unfit("argument: Timestamp with a time zone")
        return [f"pd.{value!r}"]
    if kind in DATES:
        if getattr(value, "tzinfo", None) is not None:
            raise Unfit("argument: datetime with a time zone")
        return [repr(value)]
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        finite = value.dtype.kind != "f" or np.isfinite(value)
        return [f"np.{value.dtype.name}({value!s})" if finite else f"np.{value.dtype.name}('{value}')"]
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return [repr(value)]
    if isinstance(value, np.dtype) and value.kind in "biufOM" and value.isnative:
        return [f"np.dtype('{value}')"]
    if isinstance(value, type):
        if getattr(builtins, value.__name__, None) is value:
            return [value.__name__]
        if issubclass(value, np.generic) and getattr(np, value.__name__, None) is value:
            return [f"np.{value.__name__}"]
        raise Unfit(f"argument: class {value.__name__}")
    if kind is re.RegexFlag and value:
        return [repr(value)]
    if kind is re.Pattern:
        return [f"re.compile({value.pattern!r}, {int(value.flags)})"]
    if isinstance(value, pd.Index):
        return [index_text(value)]
    if isinstance(value, (np.ndarray, pd.DataFrame, pd.Series)):
        return leaf(value)
    if inspect.isroutine(value) or isinstance(value, np.ufunc):
        return [function_text(value)]
    return leaf(value)
