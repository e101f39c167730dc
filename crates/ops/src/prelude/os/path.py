"""Parts of paths as texts, as POSIX writes them (Lib/posixpath.py)."""


def _text(path):
    return path if isinstance(path, str) else _leave("a path that is no text")


def _behind(path):
    """Where the last part begins."""
    return path.rfind("/") + 1


def _folder(path):
    """What is before the last part, without slashes at its end unless it has nothing else."""
    return path.rstrip("/") or path


def basename(p):
    p = _text(p)
    return p[_behind(p):]


def dirname(p):
    p = _text(p)
    return _folder(p[:_behind(p)])


def split(p):
    p = _text(p)
    at = _behind(p)
    return _folder(p[:at]), p[at:]


def splitext(p):
    p = _text(p)
    name = p[_behind(p):]
    # Dots at the beginning belong to the name.
    dots = len(name) - len(name.lstrip("."))
    at = name.rfind(".")
    if at < dots:
        return p, ""
    at = at + len(p) - len(name)
    return p[:at], p[at:]


def isabs(s):
    return _text(s).startswith("/")


def join(a, *p):
    path = _text(a)
    for part in p:
        part = _text(part)
        if part.startswith("/"):
            path = part
        elif path == "" or path.endswith("/"):
            path = path + part
        else:
            path = path + "/" + part
    return path
