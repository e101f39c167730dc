"""xml.sax.saxutils: text for XML."""


def _with(data, entities):
    for key, value in entities.items():
        data = data.replace(key, value)
    return data


def escape(data, entities={}):
    if not isinstance(data, str) or not isinstance(entities, dict):
        return _leave("XML of something else than text")
    return _with(data.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;"), entities)


def unescape(data, entities={}):
    if not isinstance(data, str) or not isinstance(entities, dict):
        return _leave("XML of something else than text")
    return _with(data.replace("&lt;", "<").replace("&gt;", ">"), entities).replace("&amp;", "&")


def quoteattr(data, entities={}):
    # White space that a reader would change, and the entities of the caller, which come first.
    data = escape(data, {**entities, "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    if '"' not in data:
        return '"' + data + '"'
    if "'" in data:
        return '"' + data.replace('"', "&quot;") + '"'
    return "'" + data + "'"
