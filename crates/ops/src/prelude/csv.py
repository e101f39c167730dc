"""csv: lines become rows and the other way round, in the dialect `excel` or one near it (Modules/_csv.c, whose
states these are)."""

_START, _FIELD, _PLAIN, _QUOTED, _QUOTE, _ENDED = 0, 1, 2, 3, 4, 5

# What the length of a field is limited to.
_LIMIT = 131072


def _check(dialect, doublequote, escapechar, quoting, strict):
    if dialect != "excel" or doublequote is not True or escapechar is not None or quoting != 0 or strict is not False:
        return _refuse("csv in such a dialect")


def _one_character(text):
    if not isinstance(text, str) or len(text) != 1:
        return _leave("a delimiter of csv that is not one character")
    return text


def _rows(lines, delimiter, quotechar, skipinitialspace):
    state = _START
    fields = []
    field = ""
    for line in lines:
        if not isinstance(line, str):
            return _leave("a line of csv that is no text")
        for char in line:
            is_end = char == "\n" or char == "\r"
            if state == _PLAIN:
                if is_end or char == delimiter:
                    fields.append(field)
                    field = ""
                    state = _ENDED if is_end else _FIELD
                else:
                    field += char
            elif state == _QUOTED:
                if char == quotechar:
                    state = _QUOTE
                else:
                    field += char
            elif state == _ENDED:
                if not is_end:
                    return _leave("a new line of csv within a line")
            elif state == _QUOTE:
                if char == quotechar:
                    field += char
                    state = _QUOTED
                elif is_end or char == delimiter:
                    fields.append(field)
                    field = ""
                    state = _ENDED if is_end else _FIELD
                else:
                    field += char
                    state = _PLAIN
            elif is_end:
                if state == _FIELD:
                    fields.append("")
                state = _ENDED
            elif char == quotechar:
                state = _QUOTED
            elif char == " " and skipinitialspace:
                state = _FIELD
            elif char == delimiter:
                fields.append("")
                state = _FIELD
            else:
                field = char
                state = _PLAIN
        if len(field) > _LIMIT:
            return _leave("a field of csv that is too long")
        if state == _QUOTED:
            continue
        if state != _START and state != _ENDED:
            fields.append(field)
            field = ""
        yield fields
        fields = []
        state = _START
    if state == _QUOTED:
        fields.append(field)
        yield fields


def reader(
    csvfile,
    dialect="excel",
    /,
    *,
    delimiter=",",
    quotechar='"',
    doublequote=True,
    skipinitialspace=False,
    escapechar=None,
    lineterminator="\r\n",
    quoting=0,
    strict=False,
):
    _check(dialect, doublequote, escapechar, quoting, strict)
    return _rows(csvfile, _one_character(delimiter), _one_character(quotechar), skipinitialspace)


class _Writer:
    def __init__(self, file, delimiter, quotechar, lineterminator):
        self._file = file
        self._delimiter = delimiter
        self._quotechar = quotechar
        self._lineterminator = lineterminator

    def writerow(self, row, /):
        if row is None or isinstance(row, (int, float)):
            return _leave("a row of csv that is none")
        quote = self._quotechar
        special = self._delimiter + quote + self._lineterminator
        text = ""
        count = 0
        for value in row:
            if count > 0:
                text += self._delimiter
            count += 1
            field = "" if value is None else str(value)
            if any(char in special for char in field):
                field = quote + field.replace(quote, quote + quote) + quote
            text += field
        if count > 0 and text == "":
            text = quote + quote
        return self._file.write(text + self._lineterminator)

    def writerows(self, rows, /):
        for row in rows:
            self.writerow(row)


def writer(
    csvfile,
    dialect="excel",
    /,
    *,
    delimiter=",",
    quotechar='"',
    doublequote=True,
    skipinitialspace=False,
    escapechar=None,
    lineterminator="\r\n",
    quoting=0,
    strict=False,
):
    _check(dialect, doublequote, escapechar, quoting, strict)
    if not isinstance(lineterminator, str):
        return _leave("a lineterminator that is no text")
    return _Writer(csvfile, _one_character(delimiter), _one_character(quotechar), lineterminator)


def _dicts(rows, fieldnames):
    names = [] if fieldnames is None else list(fieldnames)
    known = fieldnames is not None
    for row in rows:
        if not known:
            names = row
            known = True
        elif len(row) > len(names):
            return _leave("a row of csv with more fields than names")
        elif len(row) == len(names):
            yield dict(zip(names, row))
        elif len(row) > 0:
            entries = dict(zip(names, row))
            for at in range(len(row), len(names)):
                entries[names[at]] = None
            yield entries


def DictReader(f, fieldnames=None, restkey=None, restval=None, dialect="excel", *, delimiter=",", quotechar='"'):
    if restkey is not None or restval is not None:
        return _refuse("csv.DictReader with restkey or restval")
    return _dicts(reader(f, dialect, delimiter=delimiter, quotechar=quotechar), fieldnames)
