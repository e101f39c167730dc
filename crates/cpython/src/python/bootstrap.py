"""What of defining a function is easier said in Python."""

import builtins
import contextlib
import dataclasses
import importlib.util
import linecache
import sys
import types
import typing

import exuvia_arguments as arguments

ROW, VALUES, COLUMNS, ITERATOR, TABLE, ROWS, STATES = range(7)


class DefinitionError(Exception):
    """The module runs, but its handler cannot serve."""

    def __init__(self, message, line):
        super().__init__(message)
        self.msg, self.lineno = message, line


def define(name, source, handler, form, models, parameters):
    """Runs a module; returns its handler, for each parameter what an argument becomes (None,
    the dataclass of a struct, or `arguments.Values`), whether its rows may leave a decimal
    context behind, and the context that the module left, if it may have one.

    models: pairs of the name of a global and the path of the object that it is.
    parameters: for each parameter, whether its SQL type is a struct, how many `[]` the type
    has, and NumPy's name for what they hold.
    """
    file = f"<function {name}>"
    # Assertions hold whatever PYTHONOPTIMIZE says, as they do in native code.
    code = compile(source, file, "exec", dont_inherit=True, optimize=0)
    # Tracebacks and inspect.getsource find the source here.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = {"__name__": name, "__builtins__": builtins}
    for global_name, path in models:
        module[global_name] = model(global_name, path)
    with found_by_dataclasses(name, source, module):
        exec(code, module)
    if handler not in module:
        raise NameError(f"name {handler!r} is not defined")
    function = module[handler]
    if isinstance(function, type) and form in (VALUES, STATES):
        check_state(handler, function, len(parameters))
        hints = []
    elif isinstance(function, type) and form == ROWS:
        method, end = methods_of_rows(handler, function)
        check_class(handler, function, method, len(parameters))
        hints = arguments.hints_of(getattr(function, method))[1:]
        function = rows_of(function, method, end)
    else:
        check(handler, function, len(parameters), form)
        hints = arguments.hints_of(function)
    becomes = []
    for index, (is_struct, rank, dtype) in enumerate(parameters):
        if form == VALUES and rank > 1:
            # The values of a group are a column of objects, which are lists here.
            rank, dtype = 1, None
        becomes.append(what_becomes(arguments.hint(hints, index), is_struct, rank, dtype))
    if form == VALUES and any(becomes):
        # Beside columns, what is not annotated as one is one value.
        lists = [arguments.shape_of(arguments.hint(hints, index))[0] == "list" for index in range(len(becomes))]
        becomes = [kept or (None if is_list else arguments.Values("one", None, None))
                   for kept, is_list in zip(becomes, lists)]
    if isinstance(function, type) and form == VALUES:
        function = over_rows(function)
    changes = may_change_context(source)
    decimal = sys.modules.get("decimal") if changes else None
    return function, becomes, changes, decimal and decimal.getcontext().copy()


@contextlib.contextmanager
def found_by_dataclasses(name, source, module):
    """While classes are made, `dataclasses` looks for the module of one by its name, if
    annotations are texts."""
    if "dataclass" not in source or name in sys.modules or importlib.util.find_spec(name) is not None:
        yield
        return
    sys.modules[name] = types.ModuleType(name)
    try:
        yield
    finally:
        sys.modules.pop(name, None)


def what_becomes(hint, is_struct, rank, dtype):
    if hint is None:
        return None
    if is_struct:
        return dataclass_of(hint)
    if rank:
        shape, own = arguments.shape_of(hint)
        if shape in ("ndarray", "series", "arrow"):
            values = arguments.Values(shape, dtype, own)
            values.rank = rank
            return values
    return None


def dataclass_of(hint):
    # `Point | None` and `Optional[Point]`
    options = [option for option in typing.get_args(hint) if option is not type(None)] or [hint]
    found = isinstance(options[0], type) and dataclasses.is_dataclass(options[0])
    return options[0] if len(options) == 1 and found else None


def check(name, function, count, form):
    """Refuses a handler that cannot be called with `count` arguments, or that would not
    give what its form says."""
    if not callable(function):
        raise DefinitionError(f"{name} is not callable, it is of type {type(function).__name__}", None)
    if type(function) is not types.FunctionType:
        return
    code, line = function.__code__, function.__code__.co_firstlineno
    refused = [(0x80, "a coroutine"), (0x200, "an asynchronous generator")]
    if form in (ROW, VALUES, COLUMNS):
        refused.append((0x20, "a generator"))
    for flag, kind in refused:
        if code.co_flags & flag:
            raise DefinitionError(f"{name} is {kind} function, which gives no value", line)
    most = code.co_argcount
    least = most - len(function.__defaults__ or ())
    required = set(code.co_varnames[most : most + code.co_kwonlyargcount]) - set(function.__kwdefaults__ or ())
    if required:
        raise DefinitionError(f"{name} has the keyword-only parameter {min(required)}, which SQL cannot pass", line)
    if form == ITERATOR and least <= 1 <= most:
        return
    if count < least or count > most and not code.co_flags & 0x04:
        takes = f"{most}" if least == most else f"at least {least}" if count < least else f"at most {most}"
        plural = "" if takes.endswith(" 1") or takes == "1" else "s"
        raise DefinitionError(f"{name} takes {takes} argument{plural}, but the SQL function has {count}", line)


def check_state(name, state, count):
    """Refuses a class that is no aggregate of `count` arguments."""
    for method in ("accumulate", "finish"):
        if not callable(getattr(state, method, None)):
            raise DefinitionError(f"the class {name} has no method {method}", None)
    check_class(name, state, "accumulate", count)


def check_class(name, cls, method, count):
    """Refuses a class whose objects are not made without arguments, or whose method does not take
    `count` values."""
    function = getattr(cls, method)
    if type(function) is types.FunctionType:
        code = function.__code__
        most = code.co_argcount - 1
        least = most - len(function.__defaults__ or ())
        if count < least or count > most and not code.co_flags & 0x04:
            message = f"{name}.{method} takes {most} values, but the SQL function has {count}"
            raise DefinitionError(message, code.co_firstlineno)
    if type(cls.__init__) is types.FunctionType:
        code = cls.__init__.__code__
        if code.co_argcount - 1 > len(cls.__init__.__defaults__ or ()):
            raise DefinitionError(f"{name} is made without arguments, and __init__ takes some", code.co_firstlineno)


def methods_of_rows(name, cls):
    """The method that gives the rows of one row, and the one that gives more at the end, if there is
    one: as Snowflake names them, or Databricks."""
    for method, end in (("process", "end_partition"), ("eval", "terminate")):
        if callable(getattr(cls, method, None)):
            return method, end if callable(getattr(cls, end, None)) else None
    raise DefinitionError(f"the class {name} has no method process or eval, which gives the rows", None)


def rows_of(cls, method, end):
    """The generator that such a class is: each row of the query is a partition of its own."""

    def function(*args):
        self = cls()
        yield from rows(getattr(self, method)(*args))
        if end is not None:
            yield from rows(getattr(self, end)())

    def rows(given):
        if given is None:
            return ()
        if isinstance(given, (str, bytes, dict)) or not hasattr(given, "__iter__"):
            raise TypeError(f"it gave a value of type {type(given).__name__}; it yields its rows or returns a list of them")
        return (given,) if hasattr(given, "columns") else given

    return function


def over_rows(state):
    """The function over lists that an aggregate's class is."""

    def function(*columns):
        self = state()
        accumulate = self.accumulate
        for row in zip(*columns):
            accumulate(*row)
        return self.finish()

    return function


MODELS = {}


def model(name, path):
    """A fitted model, loaded once a process as long as its file stays as it is."""
    import os

    if not name.isidentifier():
        raise NameError(f"{name!r} is no name that a global can have")
    stat = os.stat(path)
    key = (os.path.abspath(path), stat.st_mtime_ns, stat.st_size)
    if key not in MODELS:
        try:
            from joblib import load
        except ImportError:
            from pickle import load as unpickle

            def load(path):
                with open(path, "rb") as file:
                    return unpickle(file)

        try:
            MODELS[key] = load(path)
        except Exception as error:
            raise ValueError(f"the model {name} cannot be read from {path}: {type(error).__name__}: {error}") from None
    return MODELS[key]


def may_change_context(source):
    """Whether a row may change the decimal context for the next one, or read what the row
    before left there. Within the standard library that takes a name with `context` in it;
    what other packages do is unknown."""
    if "context" in source.lower():
        return True
    if "import" not in source:
        return False
    import ast

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if any(name.split(".")[0] not in sys.stdlib_module_names for name in names):
            return True
    return "__import__" in source or "importlib" in source
