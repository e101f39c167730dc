"""Text for HTML. What references to characters mean is CPython's."""


def escape(s, quote=True):
    if not isinstance(s, str):
        return _leave("HTML of something else than text")
    s = s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if quote:
        s = s.replace('"', "&quot;").replace("'", "&#x27;")
    return s


def unescape(s):
    if not isinstance(s, str):
        return _leave("HTML of something else than text")
    if "&" in s:
        return _leave("a reference to a character")
    return s
