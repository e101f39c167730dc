"""Calls Python functions for the test harness and tells exactly what came of it.

Reads requests as JSON lines on standard input and answers each with one line. The
encoding of values keeps what JSON would lose: ints as decimal text, floats as the 64
bits, strings with lone surrogates as hexadecimal bytes.
"""

import ast
import dataclasses
import datetime
import decimal
import enum
import inspect
import io
import json
import os
import resource
import signal
import struct
import sys
import traceback
import typing

ANSWERS = os.fdopen(os.dup(1), "w", encoding="ascii")
FILE = "<case>"
EPOCH = datetime.datetime(1970, 1, 1)


class OutOfTime(BaseException):
    """The row took too long; not an outcome, the harness leaves such a row out."""


def expire(signum, frame):
    raise OutOfTime


def decode(value):
    if isinstance(value, dict):
        if "i" in value:
            return int(value["i"])
        if "l" in value:
            return [decode(item) for item in value["l"]]
        if "t" in value:
            return tuple(decode(item) for item in value["t"])
        if "s" in value:
            return {name: decode(item) for name, item in value["s"]}
        if "b" in value:
            return value["b"].encode("latin-1")
        if "d" in value:
            return datetime.date.fromordinal(int(value["d"]))
        if "m" in value:
            return EPOCH + datetime.timedelta(microseconds=int(value["m"]))
        if "c" in value:
            return (EPOCH + datetime.timedelta(microseconds=int(value["c"]))).time()
        if "n" in value:
            return decimal.Decimal(value["n"])
        return struct.unpack("<d", struct.pack("<Q", int(value["f"])))[0]
    return value


def encode(value):
    kind = type(value)
    if value is None or kind is bool:
        return value
    if isinstance(value, enum.Enum) and isinstance(value, str):
        return encode(str.__str__(value))
    if isinstance(value, enum.Enum) and isinstance(value, int):
        value, kind = int(value), int
    if kind is int:
        if value.bit_length() > 1 << 20:
            raise MemoryError
        return {"i": str(value) if value.bit_length() < 13000 else hex(value)}
    if kind is float:
        return {"f": str(struct.unpack("<Q", struct.pack("<d", value))[0])}
    if kind is str:
        return text(value)
    if kind is bytes:
        return {"b": value.decode("latin-1")}
    if kind is datetime.date:
        return {"d": str(value.toordinal())}
    if kind is datetime.datetime and value.tzinfo is None and value.fold == 0:
        return {"m": str((value - EPOCH) // datetime.timedelta(microseconds=1))}
    if kind is datetime.time and value.tzinfo is None and value.fold == 0:
        return {"c": str((datetime.datetime.combine(EPOCH, value) - EPOCH) // datetime.timedelta(microseconds=1))}
    if kind is decimal.Decimal and value.is_finite():
        return {"n": str(value)}
    if kind is list:
        return {"l": [encode(item) for item in value]}
    if kind is tuple:
        return {"t": [encode(item) for item in value]}
    if kind is dict and all(type(name) is str for name in value):
        return {"s": [[name, encode(item)] for name, item in value.items()]}
    if dataclasses.is_dataclass(kind):
        return {"s": [[name, encode(getattr(value, name))] for name in kind.__dataclass_fields__]}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return {"s": [[name, encode(item)] for name, item in zip(kind._fields, value)]}
    return {"o": kind.__name__, "r": text(repr(value))}


def text(value):
    if len(value) > 1 << 20:
        raise MemoryError
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return {"x": value.encode("utf-8", "surrogatepass").hex()}
    return value


def show(value):
    try:
        return text(repr(value)[:200])
    except ValueError:
        # An int of more digits than CPython turns into text.
        return "a large int"


def has_return(statements):
    """Whether a `return` stands outside every def and class: then it is a bare body."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False


RUNS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.Expr, ast.If, ast.For, ast.While, ast.Try, ast.Raise, ast.Assert
)


def only_runs(statements, name):
    """Whether nothing is defined that could be a handler of that name: then it is a bare body too."""

    def defines(node):
        if not isinstance(node, ast.Assign):
            return False
        named = any(getattr(to, "id", "").lower() == name.lower() for to in node.targets)
        return named or isinstance(node.value, ast.Lambda)

    return bool(statements) and all(isinstance(node, RUNS) and not defines(node) for node in statements)


def define(request):
    source, name, params = request["source"], request["name"], request["params"]
    tree = ast.parse(source, FILE)
    if has_return(tree.body) or not request.get("handler") and only_runs(tree.body, name):
        function = ast.parse(f"def {name}({', '.join(params)}): pass").body[0]
        function.body = tree.body
        tree.body = [function]
    module = {"__name__": "__exuvia__"}
    exec(compile(tree, FILE, "exec"), module)
    if request.get("handler"):
        return module[request["handler"]]
    if any(isinstance(node, ast.Assign) and any(getattr(to, "id", None) == name for to in node.targets) for node in tree.body):
        return module[name]
    defs = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for candidates in (
        [d for d in defs if d == name],
        [d for d in defs if d.lower() == name.lower()],
        defs,
    ):
        if len(set(candidates)) == 1:
            return module[candidates[0]]
    raise NameError(f"no function named {name}")


def classes_of(function):
    """For each parameter the dataclass that its annotation names, with None or without."""
    try:
        hints = typing.get_type_hints(function)
        names = list(inspect.signature(function).parameters)
    except (NameError, TypeError, ValueError):
        return []
    found = []
    for name in names:
        options = [option for option in typing.get_args(hints.get(name)) if option is not type(None)]
        options = options if len(options) == 1 else [hints.get(name)]
        found.append(options[0] if dataclasses.is_dataclass(options[0]) else None)
    return found


def as_asked(row, classes):
    """Structs as objects of the dataclasses that are asked for."""
    given = zip(row, classes + [None] * len(row))
    return [cls(**value) if cls and isinstance(value, dict) else value for value, cls in given]


def call(function, row, strict, seconds):
    if strict and any(value is None for value in row):
        return {"value": None}
    # As each row has the context that there is at first.
    decimal.setcontext(decimal.DefaultContext.copy())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        value = function(*row)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except OutOfTime:
        return {"skip": "time"}
    except MemoryError:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return {"skip": "memory"}
    except BaseException as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
        return {
            "class": type(error).__name__,
            "message": text(str(error)),
            "exception": isinstance(error, Exception),
            "line": lines[-1] if lines else 0,
        }
    return {"value": encode(value), "repr": show(value)}


def call_safely(*args):
    try:
        return call(*args)
    except MemoryError:
        return {"skip": "memory"}


def main():
    if sys.version_info[:2] != (3, 11):
        print(json.dumps({"error": f"Python 3.11 is needed, this is {sys.version.split()[0]}"}), file=ANSWERS, flush=True)
        return
    signal.signal(signal.SIGALRM, expire)
    # A function that fills the memory must fail here and not take the machine with it.
    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
    # What functions print is not part of their answer.
    sys.stdout = sys.stderr = io.StringIO()
    print(json.dumps({"ready": True}), file=ANSWERS, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            function = define(request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        else:
            classes = classes_of(function)
            strict, seconds = request["strict"], request["seconds"]
            answer = {
                "rows": [
                    call_safely(function, as_asked([decode(value) for value in row], classes), strict, seconds)
                    for row in request["rows"]
                ]
            }
        sys.stdout.seek(0)
        sys.stdout.truncate()
        print(json.dumps(answer), file=ANSWERS, flush=True)


main()
