"""Text for HTML."""


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
    return _operation("html.unescape", s)
