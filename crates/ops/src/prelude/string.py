"""string: templates (Lib/string.py)."""


def capwords(s, sep=None):
    if s is not None and not isinstance(s, str):
        return _leave("what is no text with capitals")
    return (" " if sep is None else sep).join([word.capitalize() for word in s.split(sep)])


def _starts_name(char):
    return char == "_" or "a" <= char <= "z" or "A" <= char <= "Z"


def _end_of_name(text, at):
    if at >= len(text) or not _starts_name(text[at]):
        return at
    while at < len(text) and (_starts_name(text[at]) or "0" <= text[at] <= "9"):
        at += 1
    return at


class Template:
    def __init__(self, template):
        if not isinstance(template, str):
            return _leave("a template that is no text")
        self.template = template

    def _filled(self, values, is_safe):
        text = self.template
        parts = []
        start = 0
        at = text.find("$")
        while at >= 0:
            parts.append(text[start:at])
            braces = 1 if text[at + 1 : at + 2] == "{" else 0
            first = at + 1 + braces
            end = _end_of_name(text, first)
            if text[at + 1 : at + 2] == "$":
                parts.append("$")
                start = at + 2
            elif end > first and (braces == 0 or text[end : end + 1] == "}"):
                name = text[first:end]
                start = end + braces
                if is_safe and name not in values:
                    parts.append(text[at:start])
                else:
                    parts.append(str(values[name]))
            elif is_safe:
                parts.append("$")
                start = at + 1
            else:
                before = text[:at]
                line = before.count("\n") + 1
                column = at - before.rfind("\n")
                if any(char in before for char in "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"):
                    return _leave("a line end of another kind before a wrong placeholder")
                raise ValueError(f"Invalid placeholder in string: line {line}, col {column}")
            at = text.find("$", start)
        parts.append(text[start:])
        return "".join(parts)

    def substitute(self, mapping=_missing, /, **kws):
        if _is_missing(mapping):
            return self._filled(dict(kws), False)
        if len(kws) > 0:
            return _refuse("a template with a mapping and keywords")
        return self._filled(mapping, False)

    def safe_substitute(self, mapping=_missing, /, **kws):
        if _is_missing(mapping):
            return self._filled(dict(kws), True)
        if len(kws) > 0:
            return _refuse("a template with a mapping and keywords")
        return self._filled(mapping, True)
