"""Reads a file of functions with their SQL signatures, as `exuvia --udfs` does."""

import importlib.util
import re
from dataclasses import dataclass

import sqltypes

LINE = re.compile(
    r"^# sql: (?P<name>\w+)\((?P<params>.*)\) RETURNS (?P<returns>.*?)(?P<rest>| (?:STRICT|OPTIONS).*)\n"
    r"(?:@.*\n)*def (?P<handler>\w+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Function:
    """A function and what SQL says of it."""

    name: str
    call: object
    params: tuple  # SQL types
    returns: str
    strict: bool
    on_error_null: bool

    def guarded(self):
        """The function as the engines without these policies are given it."""
        call, strict, quiet = self.call, self.strict, self.on_error_null
        if strict and quiet:

            def guarded(*args):
                try:
                    return None if None in args else call(*args)
                except Exception:
                    return None

        elif quiet and len(self.params) == 1:

            def guarded(arg):
                try:
                    return call(arg)
                except Exception:
                    return None

        elif quiet:

            def guarded(*args):
                try:
                    return call(*args)
                except Exception:
                    return None

        elif strict and len(self.params) == 1:

            def guarded(arg):
                return None if arg is None else call(arg)

        elif strict:

            def guarded(*args):
                return None if None in args else call(*args)

        else:
            return call
        return guarded


def load(path):
    """The functions of a file, by name, in its order."""
    spec = importlib.util.spec_from_file_location("udfs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    functions = {}
    for match in LINE.finditer(text):
        params = tuple(param.split(" ", 1)[1] for param in sqltypes.parts(match["params"]))
        rest = match["rest"].lower()
        functions[match["name"]] = Function(
            name=match["name"],
            call=getattr(module, match["handler"]),
            params=params,
            returns=match["returns"],
            strict="strict" in rest or "returns null on null input" in rest,
            on_error_null="on_error 'null'" in rest,
        )
    return functions
