"""What of defining a function is easier said in Python."""

import builtins
import linecache
import sys
import types


class DefinitionError(Exception):
    """The module runs, but its handler cannot serve."""

    def __init__(self, message, line):
        super().__init__(message)
        self.msg, self.lineno = message, line


def define(name, source, handler, structs):
    """Runs a module; returns its handler, for each parameter the dataclass that an
    argument becomes (or None), and whether its rows may leave a decimal context behind.

    structs: for each parameter, whether its SQL type is a struct.
    """
    file = f"<function {name}>"
    code = compile(source, file, "exec", dont_inherit=True)
    # Tracebacks and inspect.getsource find the source here.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = {"__name__": name, "__builtins__": builtins}
    exec(code, module)
    if handler not in module:
        raise NameError(f"name {handler!r} is not defined")
    function = module[handler]
    check(handler, function, len(structs))
    return function, dataclasses_of(function, structs), may_change_context(source)


def check(name, function, count):
    """Refuses a handler that cannot be called with `count` arguments, or that would not
    give values."""
    if not callable(function):
        raise DefinitionError(f"{name} is not callable, it is of type {type(function).__name__}", None)
    if type(function) is not types.FunctionType:
        return
    code, line = function.__code__, function.__code__.co_firstlineno
    for flag, kind in ((0x20, "a generator"), (0x80, "a coroutine"), (0x200, "an asynchronous generator")):
        if code.co_flags & flag:
            raise DefinitionError(f"{name} is {kind} function, which gives no value", line)
    most = code.co_argcount
    least = most - len(function.__defaults__ or ())
    required = set(code.co_varnames[most : most + code.co_kwonlyargcount]) - set(function.__kwdefaults__ or ())
    if required:
        raise DefinitionError(f"{name} has the keyword-only parameter {min(required)}, which SQL cannot pass", line)
    if count < least or count > most and not code.co_flags & 0x04:
        takes = f"{most}" if least == most else f"at least {least}" if count < least else f"at most {most}"
        plural = "" if takes.endswith(" 1") or takes == "1" else "s"
        raise DefinitionError(f"{name} takes {takes} argument{plural}, but the SQL function has {count}", line)


def dataclasses_of(function, structs):
    annotations = getattr(function, "__annotations__", None)
    if not any(structs) or not annotations or type(function) is not types.FunctionType:
        return [None] * len(structs)
    import dataclasses
    import typing

    try:
        hints = typing.get_type_hints(function)
    except Exception:
        # Annotations need not mean anything.
        return [None] * len(structs)
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    classes = []
    for index, is_struct in enumerate(structs):
        hint = hints.get(parameters[index]) if is_struct and index < len(parameters) else None
        # `Point | None` and `Optional[Point]`
        options = [option for option in typing.get_args(hint) if option is not type(None)] or [hint]
        found = isinstance(options[0], type) and dataclasses.is_dataclass(options[0])
        classes.append(options[0] if len(options) == 1 and found else None)
    return classes


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
