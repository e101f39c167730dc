"""Answers the calls on standard input, one line a group, as CPython does."""

import json
import math
import struct
import sys
import unicodedata


def decode(value):
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "int":
        return int(content, 16)
    if kind == "float":
        return struct.unpack(">d", bytes.fromhex(content))[0]
    if kind == "list":
        return [decode(item) for item in content]
    raise ValueError(kind)


def encode(value):
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        value.encode()  # A lone surrogate raises.
        return value
    if kind is int:
        return {"int": format(value, "x")}
    if kind is float:
        return {"float": struct.pack(">d", value).hex()}
    if kind is list:
        return {"list": [encode(item) for item in value]}
    raise TypeError(kind.__name__)


def answer(function, args):
    try:
        value = function(*args)
    except Exception as error:
        return {"class": type(error).__name__, "message": str(error)}
    try:
        return {"value": encode(value)}
    except (TypeError, UnicodeEncodeError) as error:
        return {"strange": str(error)}


def main():
    for line in sys.stdin:
        group = json.loads(line)
        function = eval(group["function"], {"math": math, "unicodedata": unicodedata, "__builtins__": __builtins__})
        print(json.dumps([answer(function, [decode(arg) for arg in args]) for args in group["calls"]]), flush=True)


main()
