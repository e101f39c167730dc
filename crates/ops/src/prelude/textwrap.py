"""textwrap: paragraphs in lines of a width (Lib/textwrap.py)."""

_WHITESPACE = "\t\n\x0b\x0c\r "


def _is_word(char):
    return char.isalnum() or char == "_"


def _is_letter(char):
    return char == "_" or (char.isalnum() and not char.isdecimal())


def _ends_part(text, at, start):
    """Whether a part that began at the start ends behind the hyphen there."""
    if at < 2 or at + 2 >= len(text) or not _is_letter(text[at - 1]):
        return False
    before = text[at - 2]
    if not _is_letter(before) and not (before == "-" and at >= 3 and _is_letter(text[at - 3])):
        return False
    if not _is_letter(text[at + 1]):
        return False
    after = text[at + 2]
    return _is_letter(after) or (after == "-" and at + 3 < len(text) and _is_letter(text[at + 3]))


def _is_dash(text, at):
    """The end of a dash between words that begins there, or 0."""
    before = text[at - 1] if at > 0 else " "
    if not (_is_word(before) or before in "!\"'&.,?"):
        return 0
    end = at
    while end < len(text) and text[end] == "-":
        end += 1
    return end if end - at >= 2 and end < len(text) and _is_word(text[end]) else 0


def _end_of_chunk(text, start, breaks_on_hyphens):
    if text[start] in _WHITESPACE:
        end = start + 1
        while end < len(text) and text[end] in _WHITESPACE:
            end += 1
        return end
    if breaks_on_hyphens and text[start] == "-":
        end = _is_dash(text, start)
        if end > 0:
            return end
    end = start + 1
    while end < len(text) and text[end] not in _WHITESPACE:
        if breaks_on_hyphens and text[end] == "-":
            if _ends_part(text, end, start):
                return end + 1
            if _is_dash(text, end) > 0:
                return end
        end += 1
    return end


def _ends_sentence(chunk):
    end = len(chunk)
    if end > 0 and chunk[end - 1] in "\"'":
        end -= 1
    if end >= 2 and chunk[end - 1] in ".!?" and "a" <= chunk[end - 2] <= "z":
        return True
    return False


class TextWrapper:
    def __init__(
        self,
        width=70,
        initial_indent="",
        subsequent_indent="",
        expand_tabs=True,
        replace_whitespace=True,
        fix_sentence_endings=False,
        break_long_words=True,
        drop_whitespace=True,
        break_on_hyphens=True,
        tabsize=8,
        *,
        max_lines=None,
        placeholder=" [...]",
    ):
        self.width = width
        self.initial_indent = initial_indent
        self.subsequent_indent = subsequent_indent
        self.expand_tabs = expand_tabs
        self.replace_whitespace = replace_whitespace
        self.fix_sentence_endings = fix_sentence_endings
        self.break_long_words = break_long_words
        self.drop_whitespace = drop_whitespace
        self.break_on_hyphens = break_on_hyphens
        self.tabsize = tabsize
        self.max_lines = max_lines
        self.placeholder = placeholder

    def _chunks(self, text):
        if not isinstance(text, str):
            return _leave("what is no text in lines")
        if not isinstance(self.width, int):
            return _leave("lines whose width is no int")
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        if self.replace_whitespace:
            for char in "\t\n\x0b\x0c\r":
                text = text.replace(char, " ")
        breaks = self.break_on_hyphens is True
        chunks = []
        at = 0
        while at < len(text):
            end = _end_of_chunk(text, at, breaks)
            chunks.append(text[at:end])
            at = end
        if self.fix_sentence_endings:
            at = 0
            while at < len(chunks) - 1:
                if chunks[at + 1] == " " and _ends_sentence(chunks[at]):
                    chunks[at + 1] = "  "
                    at += 1
                at += 1
        return chunks

    def wrap(self, text):
        chunks = self._chunks(text)
        limit = self.width
        most = -1 if self.max_lines is None else self.max_lines
        if limit <= 0:
            raise ValueError("invalid width %r (must be > 0)" % limit)
        if self.max_lines is not None:
            indent = self.subsequent_indent if most > 1 else self.initial_indent
            if len(indent) + len(self.placeholder.lstrip()) > limit:
                raise ValueError("placeholder too large for max width")
        lines = []
        at = 0
        # What is left of the chunk there, which may have been broken.
        head = chunks[0] if len(chunks) > 0 else ""
        while at < len(chunks):
            indent = self.subsequent_indent if len(lines) > 0 else self.initial_indent
            width = limit - len(indent)
            line = []
            length = 0
            if self.drop_whitespace and len(lines) > 0 and head.strip() == "":
                at += 1
                head = chunks[at] if at < len(chunks) else ""
            while at < len(chunks) and length + len(head) <= width:
                line.append(head)
                length += len(head)
                at += 1
                head = chunks[at] if at < len(chunks) else ""
            if at < len(chunks) and len(head) > width:
                room = 1 if width < 1 else width - length
                if self.break_long_words:
                    end = room
                    if self.break_on_hyphens and len(head) > room:
                        hyphen = head.rfind("-", 0, room)
                        if hyphen > 0 and head[:hyphen].strip("-") != "":
                            end = hyphen + 1
                    line.append(head[:end])
                    head = head[end:]
                elif len(line) == 0:
                    line.append(head)
                    at += 1
                    head = chunks[at] if at < len(chunks) else ""
                length = sum([len(chunk) for chunk in line])
            if self.drop_whitespace and len(line) > 0 and line[-1].strip() == "":
                length -= len(line[-1])
                line.pop()
            if len(line) == 0:
                continue
            left = len(chunks) - at
            is_last = left == 0 or (self.drop_whitespace and left == 1 and head.strip() == "")
            if self.max_lines is None or len(lines) + 1 < most or (is_last and length <= width):
                lines.append(indent + "".join(line))
                continue
            while len(line) > 0:
                if line[-1].strip() != "" and length + len(self.placeholder) <= width:
                    lines.append(indent + "".join(line) + self.placeholder)
                    return lines
                length -= len(line[-1])
                line.pop()
            if len(lines) > 0:
                before = lines[-1].rstrip()
                if len(before) + len(self.placeholder) <= limit:
                    lines[-1] = before + self.placeholder
                    return lines
            lines.append(indent + self.placeholder.lstrip())
            return lines
        return lines

    def fill(self, text):
        return "\n".join(self.wrap(text))


def wrap(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).wrap(text)


def fill(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).fill(text)


def shorten(text, width, **kwargs):
    if text is not None and not isinstance(text, str):
        return _leave("what is no text, shortened")
    return TextWrapper(width=width, max_lines=1, **kwargs).fill(" ".join(text.strip().split()))


def dedent(text):
    if not isinstance(text, str):
        return _leave("what is no text without its margin")
    lines = text.split("\n")
    margin = ""
    is_first = True
    bare = []
    for line in lines:
        stripped = line.lstrip(" \t")
        if stripped == "":
            bare.append("")
            continue
        bare.append(line)
        indent = line[: len(line) - len(stripped)]
        if is_first:
            margin = indent
            is_first = False
        elif not indent.startswith(margin):
            common = 0
            while common < len(margin) and common < len(indent) and margin[common] == indent[common]:
                common += 1
            margin = margin[:common]
    if margin == "":
        return "\n".join(bare)
    return "\n".join([line[len(margin) :] for line in bare])


def indent(text, prefix, predicate=None):
    if text is not None and not isinstance(text, str):
        return _leave("an indentation of what is no text")
    parts = []
    for line in text.splitlines(True):
        is_chosen = line.strip() != "" if predicate is None else predicate(line)
        parts.append(prefix + line if is_chosen else line)
    return "".join(parts)
