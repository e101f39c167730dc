"""json: documents are parsed as a whole; objects and arrays of them are cut into their parts where
they are reached (json/dict.py, json/list.py), and never change."""


def _changeable_dict(value):
    """What `json.loads` made and nobody else has, as a dict that may change."""
    if _is_of(value, "json.dict"):
        return dict(value)
    return _leave("a document that is changed as a dict and is none")


def _changeable_list(value):
    if _is_of(value, "json.list"):
        return list(value)
    return _leave("a document that is changed as a list and is none")


def loads(
    s,
    *,
    cls=None,
    object_hook=None,
    parse_float=None,
    parse_int=None,
    parse_constant=None,
    object_pairs_hook=None,
):
    for hook in (cls, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant):
        if hook is not None:
            return _refuse("a hook of json.loads")
    if isinstance(s, str):
        return _of_json(_operation("json.parse", s))
    if isinstance(s, bytes):
        if not _operation("bytes.is_ascii", _field(s, 0)) or "\0" in _field(s, 0):
            return _leave("bytes of JSON that are not ASCII")
        return _of_json(_operation("json.parse", _field(s, 0)))
    name = _type_name(s)
    raise TypeError(f"the JSON object must be str, bytes or bytearray, not {name[name.rfind('.') + 1 :]}")


def dumps(
    obj,
    *,
    skipkeys=False,
    ensure_ascii=True,
    check_circular=True,
    allow_nan=True,
    cls=None,
    indent=None,
    separators=None,
    default=None,
    sort_keys=False,
):
    if skipkeys or cls is not None:
        return _refuse("such options of json.dumps")
    spaces = -1
    between = ", "
    if indent is not None:
        if not isinstance(indent, int):
            return _refuse("an indent of json.dumps that is no int")
        spaces = max(indent, 0)
        between = ","
    behind_key = ": "
    if separators is not None:
        between, behind_key = separators
    return _dumped(obj, bool(ensure_ascii), bool(sort_keys), allow_nan, between, behind_key, spaces, default, 0)


def _dumped(value, ascii, sort, allow_nan, between, behind_key, spaces, default, level):
    if isinstance(value, str):
        return _operation("json.quote", _text_of(value), ascii)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if value - value != 0:
            if not allow_nan:
                raise ValueError("Out of range float values are not JSON compliant")
            if value != value:
                return "NaN"
            return "Infinity" if value > 0 else "-Infinity"
        return repr(value)
    return _apart(
        lambda one: _dumped_one(one, ascii, sort, allow_nan, between, behind_key, spaces, default, level), value
    )


def _dumped_one(value, ascii, sort, allow_nan, between, behind_key, spaces, default, level):
    if _is_of(value, "json.dict", "json.list"):
        if not allow_nan:
            return _leave("json.dumps of what json.loads made, without NaN")
        return _operation("json.dump", _document(value), ascii, sort, between, behind_key, spaces, level)
    if isinstance(value, dict):
        return _dumped_dict(value, ascii, sort, allow_nan, between, behind_key, spaces, default, level)
    if isinstance(value, (list, tuple)):
        parts = [
            _dumped(item, ascii, sort, allow_nan, between, behind_key, spaces, default, level + 1) for item in value
        ]
        return _enclosed("[", parts, "]", between, spaces, level)
    if default is not None:
        return _dumped(default(value), ascii, sort, allow_nan, between, behind_key, spaces, default, level)
    if _is_of(value, "bytes", "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return _refuse_or_leave("json.dumps of such a value")


def _dumped_dict(value, ascii, sort, allow_nan, between, behind_key, spaces, default, level):
    if sort:
        parts = [
            _member(key, item, ascii, sort, allow_nan, between, behind_key, spaces, default, level)
            for key, item in sorted(value.items(), key=_first)
        ]
    else:
        parts = [
            _member(key, item, ascii, sort, allow_nan, between, behind_key, spaces, default, level)
            for key, item in value.items()
        ]
    return _enclosed("{", parts, "}", between, spaces, level)


def _first(pair):
    return pair[0]


def _member(key, item, ascii, sort, allow_nan, between, behind_key, spaces, default, level):
    text = _dumped(item, ascii, sort, allow_nan, between, behind_key, spaces, default, level + 1)
    return _operation("json.quote", _key_text(key), ascii) + behind_key + text


def _key_text(key):
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int):
        return str(int(key))
    if isinstance(key, float):
        if key - key != 0:
            return _leave("a key of JSON that is no number")
        return repr(key)
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")


def _enclosed(opening, parts, closing, between, spaces, level):
    if not parts:
        return opening + closing
    if spaces < 0:
        return opening + between.join(parts) + closing
    line = "\n" + " " * (spaces * (level + 1))
    return opening + line + (between + line).join(parts) + "\n" + " " * (spaces * level) + closing


def _error_part(error, name):
    # An attribute of a JSONDecodeError, read off its text.
    if type(error).__name__ != "JSONDecodeError" or name == "doc":
        return _leave("such an attribute of an exception")
    message, _, place = str(error).rpartition(": line ")
    if name == "msg":
        return message
    line, _, rest = place.partition(" column ")
    column, _, at = rest.partition(" (char ")
    if name == "lineno":
        return int(line)
    if name == "colno":
        return int(column)
    return int(at[:-1])
