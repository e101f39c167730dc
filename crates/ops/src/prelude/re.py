"""The functions of re. A pattern is compiled while lifting, so it must be a constant."""


def _bits(flags):
    if _type_name(flags) == "RegexFlag":
        return _field(flags, 0)
    return flags


def compile(pattern, flags=0):
    if _type_name(pattern) == "re.Pattern":
        if _bits(flags):
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    return _compile(pattern, _bits(flags))


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def escape(pattern):
    if not isinstance(pattern, str):
        return _leave("a pattern that is no text")
    return _operation("re.escape", pattern)
