"""A pytest plugin that records the calls which pandas' own tests make of pandas."""

import functools
import inspect
import os
import sys

import pandas as pd
from pandas.core import indexing
from pandas.core.groupby.generic import DataFrameGroupBy, SeriesGroupBy
from pandas.core.indexes.accessors import CombinedDatetimelikeProperties, DatetimeProperties
from pandas.core.resample import DatetimeIndexResampler
from pandas.core.strings.accessor import StringMethods
from pandas.core.window.ewm import ExponentialMovingWindow, ExponentialMovingWindowGroupBy
from pandas.core.window.expanding import Expanding, ExpandingGroupBy
from pandas.core.window.rolling import Rolling, RollingGroupBy, Window

import pandas_calls
from recorder import Recorder

FRAMES = (pd.DataFrame, pd.Series)
INDEXERS = (indexing._LocIndexer, indexing._iLocIndexer, indexing._AtIndexer, indexing._iAtIndexer)
ACCESSORS = (StringMethods, DatetimeProperties, CombinedDatetimelikeProperties)
PROXIES = (
    DataFrameGroupBy, SeriesGroupBy, DatetimeIndexResampler, Rolling, RollingGroupBy, Window, Expanding,
    ExpandingGroupBy, ExponentialMovingWindow, ExponentialMovingWindowGroupBy,
)  # fmt: skip
FUNCTIONS = (
    "merge", "merge_ordered", "merge_asof", "concat", "get_dummies", "from_dummies", "cut", "qcut", "melt", "pivot",
    "pivot_table", "crosstab", "wide_to_long", "to_datetime", "to_numeric", "isna", "isnull", "notna", "notnull",
    "lreshape",
)  # fmt: skip
PROPERTIES = ("T", "is_unique", "is_monotonic_increasing", "is_monotonic_decreasing", "hasnans", "empty", "size", "ngroups")
OPERATORS = {
    *(f"__{name}__" for name in pandas_calls.BINARY),
    *(f"__r{name}__" for name in pandas_calls.BINARY),
    *(f"__{name}__" for name in pandas_calls.COMPARE),
    *(f"__{name}__" for name in pandas_calls.UNARY),
    *(f"__{name}__" for name in pandas_calls.CALLED),
    "__contains__",
    "__getitem__",
    "__setitem__",
}
# What is random, reads or writes files, draws, iterates, or shows the interpreter.
LEFT_OUT = {
    "boxplot", "hist", "info", "items", "iterrows", "itertuples", "keys", "memory_usage", "pipe", "plot", "sample",
    "set_flags", "get_group", "get_window_bounds", "online", "validate", "tz_localize", "tz_convert",
}  # fmt: skip
KEPT_TO = ("to_frame",)


def public(name):
    if name.startswith("_"):
        return name in OPERATORS
    return name not in LEFT_OUT and (not name.startswith(("to_", "from_")) or name in KEPT_TO)


def label(receiver, name):
    kind = type(receiver).__name__
    if kind in pandas_calls.ACCESSORS:
        attribute, accessor = pandas_calls.ACCESSORS[kind]
        kind = f"{type(getattr(receiver, attribute)).__name__}.{accessor}"
    return f"{kind}.{name}"


def recorded(recorder, name, original):
    """A method that notes its outermost calls."""

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        if not recorder.wanted(sys._getframe(1)):
            return original(self, *args, **kwargs)
        call = pandas_calls.Call(name, self, args, kwargs)
        result, case = recorder.call(
            label(self, name), lambda *_: call.describe(), functools.partial(original, self), args, kwargs
        )
        if call.changes():
            pandas_calls.forget(self)
        elif case is not None:
            pandas_calls.mark(result, case["made"])
        return result

    return method


def recorded_function(recorder, name, original):
    @functools.wraps(original)
    def function(*args, **kwargs):
        if not recorder.wanted(sys._getframe(1)):
            return original(*args, **kwargs)
        call = pandas_calls.Call(f"pd.{name}", None, args, kwargs)
        result, case = recorder.call(f"pandas.{name}", lambda *_: call.describe(), original, args, kwargs)
        if case is not None:
            pandas_calls.mark(result, case["made"])
        return result

    return function


def recorded_attribute(recorder, original):
    """`df.a` and `groups.a`, which are `df['a']` and `groups['a']`."""

    def attribute(self, name):
        result = original(self, name)
        if recorder.wanted(sys._getframe(1)) and not name.startswith("_"):
            recorder.depth += 1
            try:
                made = pandas_calls.Call("__getitem__", self, (name,), {}).describe()["made"]
                pandas_calls.mark(result, made)
            except pandas_calls.Unfit:
                pass
            finally:
                recorder.depth -= 1
        return result

    return attribute


def recorded_ufunc(recorder, original):
    """`np.exp(s)`, which NumPy hands to the Series."""

    def ufunc(self, function, method, *args, **kwargs):
        if not recorder.wanted(sys._getframe(1)) or method != "__call__" or kwargs:
            return original(self, function, method, *args, **kwargs)
        call = pandas_calls.Call(f"np.{function.__name__}", None, args, kwargs)
        whole = functools.partial(original, self, function, method)
        result, case = recorder.call(f"numpy.{function.__name__}", lambda *_: call.describe(), whole, args, kwargs)
        if case is not None:
            pandas_calls.mark(result, case["made"])
        return result

    return ufunc


def patches(recorder):
    """Every class and name to be replaced, found before any is."""
    for owner in (*FRAMES, *ACCESSORS, *PROXIES, *INDEXERS):
        for name in dir(owner):
            found = inspect.getattr_static(owner, name)
            if not public(name):
                continue
            if inspect.isfunction(found):
                yield owner, name, recorded(recorder, name, found)
            elif isinstance(found, property) and (name in PROPERTIES or owner in ACCESSORS):
                yield owner, name, property(recorded(recorder, name, found.fget), doc=found.__doc__)
    for owner in (pd.DataFrame, DataFrameGroupBy):
        yield owner, "__getattr__", recorded_attribute(recorder, owner.__getattr__)
    for owner in FRAMES:
        yield owner, "__array_ufunc__", recorded_ufunc(recorder, owner.__array_ufunc__)
    for name in FUNCTIONS:
        yield pd, name, recorded_function(recorder, name, getattr(pd, name))


RECORDER = Recorder(os.environ["RECORDED_FOLDER"])
for owner, name, replacement in list(patches(RECORDER)):
    setattr(owner, name, replacement)


def pytest_configure(config):
    config.pluginmanager.register(RECORDER, "recorder")
