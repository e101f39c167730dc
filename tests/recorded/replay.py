"""Runs a case in plain CPython: builds its inputs, calls its function, writes the result.

The module sets NumPy to its baseline instructions, which are the reference for floats, and
must therefore be imported before NumPy is.
"""

import os
import sys

assert "numpy" not in sys.modules, "NumPy reads its settings when it is imported"
os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 X86_V3"

import json
import math
import warnings

import arrays
import tables

ITEMS = 10_000


def inputs(case):
    """Fresh arguments of the case's function."""
    build = tables.build if case["kind"] == "table" else arrays.build
    return [build(value) for value in case["inputs"]]


def outcome(case):
    """What the case's function gives, as the case files write it. `Unfit` where they cannot."""
    space = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(case["source"], "case", "exec"), space)
        arguments = inputs(case)
        try:
            result = space["f"](*arguments)
        except Exception as error:
            lines = str(error).splitlines()
            return {"raises": type(error).__name__, "message": lines[0] if lines else ""}
        if case["kind"] == "table":
            return tables.normal(result)
        return arrays.normal(result, ITEMS)


def near(left, right):
    """Equal, or floats that differ in their last digits."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(near, left, right))
    if isinstance(left, str) and isinstance(right, str) and left != right:
        try:
            return math.isclose(float(left), float(right), rel_tol=1e-12, abs_tol=1e-12)
        except ValueError:
            return False
    return left == right and type(left) is type(right)


def agrees(case, found):
    """Whether the outcome is the expected one: in any order of rows where the order is open."""
    expect = {key: value for key, value in case["expect"].items() if key not in ("ordered", "exact")}
    if expect.keys() != found.keys():
        return False
    if not case["expect"].get("ordered", True):
        return found["columns"] == expect["columns"] and sorted(map(json.dumps, found["rows"])) == sorted(
            map(json.dumps, expect["rows"])
        )
    if case["expect"].get("exact", True):
        return found == expect
    return all(near(found[key], expect[key]) for key in expect)
