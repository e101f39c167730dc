"""Functions of pandas on columns, which `numpy.py` describes."""


def isna(obj):
    return _across("_isna", obj, "numpy")


def isnull(obj):
    return _across("_isna", obj, "numpy")


def notna(obj):
    return ~_across("_isna", obj, "numpy")


def notnull(obj):
    return ~_across("_isna", obj, "numpy")


def Series(data, index=None):
    return _across("_as_series", data, "numpy", index)


def to_numeric(arg, errors="raise"):
    return _across("_as_numbers", arg, "numpy")
