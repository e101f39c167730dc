"""io: texts that are read and written as files are."""


class StringIO:
    def __init__(self, initial_value="", newline="\n"):
        if not isinstance(initial_value, str) or newline != "\n":
            return _leave("a StringIO of something else than a text, or with other line ends")
        self._text = initial_value
        self._at = 0
        self._is_open = True

    def _check(self):
        if not self._is_open:
            return _leave("what a closed StringIO says")

    def close(self):
        self._is_open = False

    @property
    def closed(self):
        return not self._is_open

    def getvalue(self):
        self._check()
        return self._text

    def tell(self):
        self._check()
        return self._at

    def seek(self, pos, whence=0, /):
        self._check()
        if not isinstance(pos, int) or isinstance(pos, bool) or whence != 0 or not 0 <= pos <= len(self._text):
            return _leave("such a position of a StringIO")
        self._at = pos
        return pos

    def read(self, size=-1, /):
        self._check()
        start = self._at
        end = len(self._text) if size is None or size < 0 else min(len(self._text), start + size)
        self._at = max(start, end)
        return self._text[start:end]

    def readline(self, size=-1, /):
        self._check()
        if size is not None and size >= 0:
            return _leave("a line of limited length")
        start = self._at
        end = self._text.find("\n", start)
        self._at = len(self._text) if end < 0 else end + 1
        return self._text[start : self._at]

    def readlines(self, hint=-1, /):
        if hint is not None and hint > 0:
            return _leave("lines of limited length")
        return list(self)

    def __iter__(self):
        self._check()
        while self._at < len(self._text):
            yield self.readline()

    def write(self, text, /):
        self._check()
        if not isinstance(text, str):
            raise TypeError(f"string argument expected, got '{_type_name(text)}'")
        if self._at == len(self._text):
            self._text += text
        else:
            self._text = self._text[: self._at] + text + self._text[self._at + len(text) :]
        self._at += len(text)
        return len(text)

    def writelines(self, lines, /):
        self._check()
        for line in lines:
            self.write(line)

    def flush(self):
        self._check()
        return None

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, kind, value, trace):
        self._is_open = False
