"""Texts of pandas calls: how a receiver and its arguments were made, as one expression.

The text of a frame is a parameter of the function. What came out of a recorded call carries
that call's expression, so a chain such as `t.groupby('a')['b'].rolling(2).sum()` is replayed
as a whole. A Series that a test made itself is a column of a table with one column.
"""

import ast

import numpy as np
import pandas as pd
from pandas.core.groupby.groupby import BaseGroupBy
from pandas.core.window.rolling import BaseWindow

import literals
import tables
from recorder import function_source
from tables import Unfit

ROWS = 200
LINKS = 5
NAMES = "tuvw"
MARK = "_recorded"

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNARY = {"neg": "-", "pos": "+", "invert": "~"}
CALLED = {"abs": "abs", "len": "len", "round": "round"}
STATEMENTS = ("insert", "update", "__setitem__")
ACCESSORS = {
    "StringMethods": ("_orig", "str"),
    "DatetimeProperties": ("_parent", "dt"),
    "CombinedDatetimelikeProperties": ("_parent", "dt"),
    "_LocIndexer": ("obj", "loc"),
    "_iLocIndexer": ("obj", "iloc"),
    "_AtIndexer": ("obj", "at"),
    "_iAtIndexer": ("obj", "iat"),
}


class Root:
    """A table that a case takes: a frame, or a Series as the one column of a table."""

    def __init__(self, value):
        self.value = value
        if type(value) is pd.Series:
            self.column = value.name if type(value.name) is str else "value"
            self.table = tables.frame(pd.DataFrame({self.column: value}), ROWS)
        elif type(value) is pd.DataFrame:
            self.column = None
            self.table = tables.frame(value, ROWS)
        else:
            raise Unfit("subclass of a frame")

    def same(self, other):
        return self.value is other.value and self.table == other.table


class Expression:
    """The parts of a text, strings and roots, and how many calls they chain."""

    def __init__(self, parts, links):
        self.parts = parts
        self.links = links

    def roots(self):
        return [part for part in self.parts if isinstance(part, Root)]


def expression(value):
    return getattr(value, "__dict__", {}).get(MARK)


def mark(value, made):
    """Lets a result carry the expression that made it."""
    if made.links <= LINKS and (isinstance(value, (pd.DataFrame, pd.Series)) or is_proxy(value)):
        try:
            object.__setattr__(value, MARK, made)
        except (AttributeError, TypeError):
            pass


def forget(value):
    """A value that was changed in place is no longer what its expression makes."""
    getattr(value, "__dict__", {}).pop(MARK, None)


def is_proxy(value):
    return isinstance(value, (BaseGroupBy, BaseWindow))


def operands(value):
    """The frames and proxies in a receiver or an argument."""
    if isinstance(value, (list, tuple, set)):
        return [found for item in value for found in operands(item)]
    if isinstance(value, dict):
        return [found for item in value.values() for found in operands(item)]
    if type(value).__name__ in ACCESSORS:
        return operands(getattr(value, ACCESSORS[type(value).__name__][0]))
    return [value] if isinstance(value, (pd.DataFrame, pd.Series)) or is_proxy(value) else []


def bare(text):
    """The text of an expression without the parentheses around the whole of it."""
    if text.startswith("(") and text.endswith(")"):
        try:
            if ast.dump(ast.parse(text[1:-1])) == ast.dump(ast.parse(text)):
                return text[1:-1]
        except SyntaxError:
            pass
    return text


class Call:
    """One call while its text is made.

    A frame that fits a table is a parameter, unless what made it is at hand in this call. With
    `deep`, what made a frame is always preferred, so that later calls see the longer chain.
    """

    def __init__(self, method, receiver, args, kwargs, deep=False):
        self.deep = deep
        self.method = method
        self.receiver = receiver
        self.args = args
        self.kwargs = kwargs
        self.links = 1
        self.frames = [] if receiver is None else operands(receiver)
        self.frames += operands(args) + operands(kwargs)

    def shares(self, value, made):
        """Whether what made the value is at hand in this call anyway."""
        others = [other for other in self.frames if other is not value]
        ids = {id(other) for other in others}
        for other in others:
            if (of := expression(other)) is not None:
                ids |= {id(root.value) for root in of.roots()}
        return any(id(root.value) in ids for root in made.roots())

    def use(self, made):
        self.links += made.links
        return made.parts

    def leaf(self, value):
        """The parts of a frame, a proxy or an array."""
        if type(value) is np.ndarray:
            return [f"np.array({literals.array_text(value, 'array')}, dtype='{value.dtype}')"]
        made = expression(value)
        if isinstance(value, (pd.DataFrame, pd.Series)):
            if made is not None and (self.deep or self.shares(value, made)):
                return self.use(made)
            try:
                return [Root(value)]
            except Unfit as reason:
                if made is None:
                    raise Unfit(f"table: {reason}") from None
        if made is None:
            raise Unfit(f"argument: {type(value).__name__}")
        return self.use(made)

    def text(self, value):
        return literals.render(value, self.leaf)

    def object(self):
        """The parts of the receiver."""
        name = type(self.receiver).__name__
        if name in ACCESSORS:
            attribute, accessor = ACCESSORS[name]
            if getattr(self.receiver, "axis", None) is not None and accessor in ("loc", "iloc"):
                raise Unfit("indexer of an axis")
            value = getattr(self.receiver, attribute)
            if not isinstance(value, (pd.DataFrame, pd.Series)):
                raise Unfit(f"receiver: {type(value).__name__}")
            return [*self.leaf(value), f".{accessor}"]
        if is_proxy(self.receiver) and expression(self.receiver) is None:
            raise Unfit(f"receiver: {name} of unknown origin")
        return self.leaf(self.receiver)

    def key(self):
        """The text between the brackets of a subscript."""
        key = self.args[0]
        items = key if type(key) is tuple and key else (key,)
        parts = []
        for place, item in enumerate(items):
            parts += [", "] if place else []
            if type(item) is slice:
                bounds = [item.start, item.stop] + ([] if item.step is None else [item.step])
                for number, bound in enumerate(bounds):
                    parts += [":"] if number else []
                    parts += [] if bound is None else self.text(bound)
            else:
                parts += self.text(item)
        return [*parts, "," if type(key) is tuple and len(key) == 1 else ""]

    def arguments(self):
        items = [self.text(value) for value in self.args]
        odd = []
        for name, value in self.kwargs.items():
            if repr(value) == "<no_default>":
                continue
            if name.isidentifier():
                items.append([f"{name}=", *self.text(value)])
            else:
                odd.append([f"{name!r}: ", *self.text(value)])
        if odd:
            items.append(literals.join(odd, "**{", "}"))
        return literals.join(items, "(", ")")

    def parts(self):
        """The parts of the whole call."""
        if self.receiver is None:
            return [self.method, *self.arguments()]
        name = self.method
        if not name.startswith("__"):
            of = self.object()
            if not callable(getattr(type(self.receiver), name, None)):
                return [*of, f".{name}"]
            return [*of, f".{name}", *self.arguments()]
        plain = name.strip("_")
        if plain == "getitem":
            return [*self.object(), "[", *self.key(), "]"]
        if plain == "setitem":
            return [*self.object(), "[", *self.key(), "] = ", *self.text(self.args[1])]
        if plain == "contains":
            return ["(", *self.text(self.args[0]), " in ", *self.object(), ")"]
        if plain in UNARY:
            return [f"({UNARY[plain]}", *self.object(), ")"]
        if plain in CALLED:
            return [f"{CALLED[plain]}(", *self.object(), *([", "] if self.args else []), *sum(map(self.text, self.args), []), ")"]
        if len(self.args) != 1:
            raise Unfit("operator of three operands")
        if plain in COMPARE or plain in BINARY:
            return ["(", *self.object(), f" {(COMPARE | BINARY)[plain]} ", *self.text(self.args[0]), ")"]
        if plain[1:] in BINARY:
            return ["(", *self.text(self.args[0]), f" {BINARY[plain[1:]]} ", *self.object(), ")"]
        raise Unfit("operator without a text")

    def changes(self):
        """Whether the call is made for what it does to its receiver."""
        return self.method in STATEMENTS or self.kwargs.get("inplace") is True

    def describe(self):
        """The candidate of the call and the expression of its result."""
        if not self.frames:
            raise Unfit("no table")
        made = Expression(self.parts(), self.links)
        if self.method in ("eval", "query") and any("@" in part for part in made.parts if type(part) is str):
            raise Unfit("names of the caller")
        roots = []
        names = []
        for part in made.parts:
            if not isinstance(part, Root):
                names.append(part)
                continue
            place = next((place for place, root in enumerate(roots) if root.same(part)), len(roots))
            if place == len(roots):
                roots.append(part)
            if place >= len(NAMES):
                raise Unfit("more than four tables")
            names.append(NAMES[place] if part.column is None else f"{NAMES[place]}[{part.column!r}]")
        if not roots:
            raise Unfit("no table")
        text = "".join(names)
        if self.changes():
            first = made.parts[0]
            if not isinstance(first, Root) or made.links > 1:
                raise Unfit("change of what is no parameter")
            if first.column is None:
                statements = [text, "return t"]
            else:
                statements = [f"s = {names[0]}", "s" + text[len(names[0]):], "return s"]
        else:
            statements = [f"return {bare(text)}"]
        if not self.changes() and any(expression(value) is not None for value in self.frames):
            made = self.longer() or made
        parameters = ", ".join(NAMES[: len(roots)])
        inputs = [{"name": name, **root.table} for name, root in zip(NAMES, roots)]
        return {"kind": "table", "source": function_source(parameters, statements), "inputs": inputs, "made": made}

    def longer(self):
        """The expression that goes back as far as it may; none if it is too long."""
        call = Call(self.method, self.receiver, self.args, self.kwargs, deep=True)
        try:
            made = Expression(call.parts(), call.links)
        except Unfit:
            return None
        return made if made.links <= LINKS else None
