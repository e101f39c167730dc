"""Methods of str that no operation covers."""


def partition(self, sep, /):
    if not sep:
        raise ValueError("empty separator")
    at = self.find(sep)
    if at < 0:
        return (self, "", "")
    return (self[:at], sep, self[at + len(sep):])


def rpartition(self, sep, /):
    if not sep:
        raise ValueError("empty separator")
    at = self.rfind(sep)
    if at < 0:
        return ("", "", self)
    return (self[:at], sep, self[at + len(sep):])


def startswith(self, prefix, start=0, end=None, /):
    if not isinstance(prefix, tuple):
        return _leave("startswith with such a prefix")
    for one in prefix:
        if self.startswith(one, start, end):
            return True
    return False


def endswith(self, suffix, start=0, end=None, /):
    if not isinstance(suffix, tuple):
        return _leave("endswith with such a suffix")
    for one in suffix:
        if self.endswith(one, start, end):
            return True
    return False
