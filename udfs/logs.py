"""Functions that take lines of a web server's access log apart.

A line reads `1.2.3.4 - bob [10/Oct/2026:13:55:36 +0200] "GET /~bob/x.html HTTP/1.0" 200 2326`.
The protocol may be missing, the size may be `-`, and some lines are cut off or are no log
lines at all: a part that is missing is the empty text, a number that is missing -1.

The functions come in three variants that give the same for whole lines: by splitting the
line at spaces (`…_of`), by finding the brackets and quotes (`find_…`), and by one regular
expression (`match_…`), which gives no part of a line that is not whole.

Load the file with `exuvia --udfs udfs/logs.py`.
"""

import re


def field(line, index):
    """The text between two spaces; empty where the line has no such part."""
    parts = line.split(" ")
    return parts[index] if len(parts) > index else ""


# sql: ip_of(line TEXT) RETURNS TEXT STRICT
def ip_of(line):
    return field(line, 0)


# sql: client_of(line TEXT) RETURNS TEXT STRICT
def client_of(line):
    return field(line, 1)


# sql: user_of(line TEXT) RETURNS TEXT STRICT
def user_of(line):
    return field(line, 2)


# sql: date_of(line TEXT) RETURNS TEXT STRICT
def date_of(line):
    return field(line, 3)[1:].replace(":", " ", 1)


# sql: method_of(line TEXT) RETURNS TEXT STRICT
def method_of(line):
    return field(line, 5)[1:]


# sql: endpoint_of(line TEXT) RETURNS TEXT STRICT
def endpoint_of(line):
    return field(line, 6).rstrip('"')


# sql: protocol_of(line TEXT) RETURNS TEXT STRICT
def protocol_of(line):
    parts = line.split(" ")
    return parts[7][:-1] if len(parts) > 9 else ""


# sql: response_code_of(line TEXT) RETURNS BIGINT STRICT
def response_code_of(line):
    parts = line.split(" ")
    if len(parts) < 9 or not parts[-2].isdecimal():
        return -1
    return int(parts[-2])


# sql: content_size_of(line TEXT) RETURNS BIGINT STRICT
def content_size_of(line):
    parts = line.split(" ")
    if len(parts) < 9:
        return -1
    size = parts[-1]
    if size == "-":
        return 0
    return int(size) if size.isdecimal() else -1


def request(line):
    """What stands between the quotes."""
    start = line.find('"')
    end = line.rfind('"')
    return line[start + 1 : end] if 0 <= start < end else ""


def status(line):
    """What follows the request: the code and the size."""
    end = line.rfind('" ')
    return line[end + 2 :] if end >= 0 else ""


# sql: find_ip(line TEXT) RETURNS TEXT STRICT
def find_ip(line):
    end = line.find(" ")
    return line[:end] if end >= 0 else line


# sql: find_client(line TEXT) RETURNS TEXT STRICT
def find_client(line):
    start = line.find(" ") + 1
    end = line.find(" ", start)
    return line[start:end] if start > 0 and end >= 0 else ""


# sql: find_user(line TEXT) RETURNS TEXT STRICT
def find_user(line):
    end = line.find(" [")
    if end < 0:
        return ""
    return line[line.rfind(" ", 0, end) + 1 : end]


# sql: find_date(line TEXT) RETURNS TEXT STRICT
def find_date(line):
    start = line.find("[")
    end = line.find(" ", start)
    if start < 0 or end < 0:
        return ""
    day = line.find(":", start, end)
    if day < 0:
        return line[start + 1 : end]
    return line[start + 1 : day] + " " + line[day + 1 : end]


# sql: find_method(line TEXT) RETURNS TEXT STRICT
def find_method(line):
    text = request(line)
    end = text.find(" ")
    return text[:end] if end >= 0 else text


# sql: find_endpoint(line TEXT) RETURNS TEXT STRICT
def find_endpoint(line):
    text = request(line)
    start = text.find(" ") + 1
    if start == 0:
        return ""
    end = text.find(" ", start)
    return text[start:end] if end >= 0 else text[start:]


# sql: find_protocol(line TEXT) RETURNS TEXT STRICT
def find_protocol(line):
    text = request(line)
    start = text.find(" ", text.find(" ") + 1)
    return text[start + 1 :] if start >= 0 and text.find(" ") < start else ""


# sql: find_response_code(line TEXT) RETURNS BIGINT STRICT
def find_response_code(line):
    text = status(line)
    code = text[: text.find(" ")] if " " in text else text
    return int(code) if code.isdecimal() else -1


# sql: find_content_size(line TEXT) RETURNS BIGINT STRICT
def find_content_size(line):
    text = status(line)
    size = text[text.find(" ") + 1 :] if " " in text else ""
    if size == "-":
        return 0
    return int(size) if size.isdecimal() else -1


LINE = re.compile(
    r'(\S+) (\S+) (\S+) \[([\w:/]+)\s[+\-]\d{4}\] "(\S+) (\S+)\s*(\S*)" (\d{3}) (\S+)'
)


def group(line, number):
    """A group of the pattern; empty where the line is not whole."""
    found = LINE.fullmatch(line)
    return found.group(number) if found else ""


# sql: match_ip(line TEXT) RETURNS TEXT STRICT
def match_ip(line):
    return group(line, 1)


# sql: match_client(line TEXT) RETURNS TEXT STRICT
def match_client(line):
    return group(line, 2)


# sql: match_user(line TEXT) RETURNS TEXT STRICT
def match_user(line):
    return group(line, 3)


# sql: match_date(line TEXT) RETURNS TEXT STRICT
def match_date(line):
    return group(line, 4).replace(":", " ", 1)


# sql: match_method(line TEXT) RETURNS TEXT STRICT
def match_method(line):
    return group(line, 5)


# sql: match_endpoint(line TEXT) RETURNS TEXT STRICT
def match_endpoint(line):
    return group(line, 6)


# sql: match_protocol(line TEXT) RETURNS TEXT STRICT
def match_protocol(line):
    return group(line, 7)


# sql: match_response_code(line TEXT) RETURNS BIGINT STRICT
def match_response_code(line):
    found = LINE.fullmatch(line)
    return int(found.group(8)) if found else -1


# sql: match_content_size(line TEXT) RETURNS BIGINT STRICT
def match_content_size(line):
    found = LINE.fullmatch(line)
    if not found:
        return -1
    size = found.group(9)
    if size == "-":
        return 0
    return int(size) if size.isdecimal() else -1


# sql: anonymous(endpoint TEXT) RETURNS TEXT STRICT
def anonymous(endpoint):
    """`/~bob/x` -> `/~` and ten capitals made of the name, `/x`."""
    if not endpoint.startswith("/~"):
        return endpoint
    end = endpoint.find("/", 2)
    if end < 0:
        end = len(endpoint)
    code = 5381
    for letter in endpoint[2:end]:
        code = (code * 33 + ord(letter)) % 4294967296
    name = ""
    for _ in range(10):
        name += chr(65 + code % 26)
        code = (code * 1103515245 + 12345) % 4294967296
    return "/~" + name + endpoint[end:]
