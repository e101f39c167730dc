"""Parts of addresses, and their escapes. What an address in brackets or a host that is not ASCII means,
CPython knows, and so it does what is not text."""

from typing import NamedTuple

# What schemes consist of.
_SCHEME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."

# Schemes whose last part of a path may have parameters, and those that name a host.
_WITH_PARAMS = (
    "", "ftp", "hdl", "prospero", "http", "https", "shttp", "rtsp", "rtspu", "sip", "sips", "mms", "sftp", "tel",
)
_WITH_HOST = (
    "", "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp", "snews",
    "prospero", "rtsp", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git", "git+ssh", "ws", "wss",
)


def _user(netloc):
    before, at, _ = netloc.rpartition("@")
    if not at:
        return None, None
    name, colon, password = before.partition(":")
    return name, (password if colon else None)


def _place(netloc):
    if "[" in netloc or "]" in netloc:
        return _leave("a host in brackets")
    host, _, port = netloc.rpartition("@")[2].partition(":")
    return host, port


def _hostname(netloc):
    host = _place(netloc)[0]
    if not host:
        return None
    name, percent, zone = host.partition("%")
    return name.lower() + percent + zone


def _port(netloc):
    port = _place(netloc)[1]
    if not port:
        return None
    if not (port.isascii() and port.isdigit()):
        raise ValueError(f"Port could not be cast to integer value as {port!r}")
    number = int(port)
    if number > 65535:
        raise ValueError("Port out of range 0-65535")
    return number


class SplitResult(NamedTuple):
    scheme: str
    netloc: str
    path: str
    query: str
    fragment: str

    @property
    def username(self):
        return _user(self.netloc)[0]

    @property
    def password(self):
        return _user(self.netloc)[1]

    @property
    def hostname(self):
        return _hostname(self.netloc)

    @property
    def port(self):
        return _port(self.netloc)

    def geturl(self):
        return urlunsplit(self)


class ParseResult(NamedTuple):
    scheme: str
    netloc: str
    path: str
    params: str
    query: str
    fragment: str

    @property
    def username(self):
        return _user(self.netloc)[0]

    @property
    def password(self):
        return _user(self.netloc)[1]

    @property
    def hostname(self):
        return _hostname(self.netloc)

    @property
    def port(self):
        return _port(self.netloc)

    def geturl(self):
        return urlunparse(self)


def _cleaned(text):
    if not isinstance(text, str):
        return _leave("an address that is no text")
    return text.replace("\t", "").replace("\r", "").replace("\n", "")


_CONTROLS = "".join([chr(code) for code in range(33)])


def _begins_with_scheme(url, end):
    if end < 1 or not (url[0].isascii() and url[0].isalpha()):
        return False
    for letter in url[:end]:
        if letter not in _SCHEME:
            return False
    return True


def _until(text, ends):
    """Where the first of some characters stands, or the end."""
    end = len(text)
    for letter in ends:
        at = text.find(letter)
        if 0 <= at < end:
            end = at
    return end


def urlsplit(url, scheme="", allow_fragments=True):
    if not isinstance(url, str):
        return _leave("an address that is no text")
    rest = _cleaned(url.lstrip(_CONTROLS))
    found = _cleaned(scheme).strip(_CONTROLS)
    end = rest.find(":")
    if _begins_with_scheme(rest, end):
        found = rest[:end].lower()
        rest = rest[end + 1 :]
    netloc = ""
    if rest.startswith("//"):
        rest = rest[2:]
        end = _until(rest, "/?#")
        netloc = rest[:end]
        rest = rest[end:]
        if ("[" in netloc) != ("]" in netloc):
            raise ValueError("Invalid IPv6 URL")
        if "[" in netloc or not netloc.isascii():
            return _leave("a host in brackets, or one that is not ASCII")
    fragment = ""
    if allow_fragments:
        rest, _, fragment = rest.partition("#")
    path, _, query = rest.partition("?")
    return SplitResult(found, netloc, path, query, fragment)


def urlparse(url, scheme="", allow_fragments=True):
    parts = urlsplit(url, scheme, allow_fragments)
    path = parts.path
    params = ""
    if ";" in path and parts.scheme in _WITH_PARAMS:
        # Those of the last part.
        last = path.rfind("/")
        at = path.find(";", last) if last >= 0 else path.find(";")
        if at >= 0:
            params = path[at + 1 :]
            path = path[:at]
    return ParseResult(parts.scheme, parts.netloc, path, params, parts.query, parts.fragment)


def urlunsplit(components):
    if len(components) != 5:
        return _leave("another number of parts")
    scheme, netloc, url, query, fragment = components
    for part in (scheme, netloc, url, query, fragment):
        if not isinstance(part, str):
            return _leave("an address that is no text")
    if scheme == "rtsps":
        return _leave("a scheme of which versions of CPython differ")
    if netloc or (scheme and scheme in _WITH_HOST and not url.startswith("//")):
        if url and not url.startswith("/"):
            url = "/" + url
        url = "//" + netloc + url
    if scheme:
        url = scheme + ":" + url
    if query:
        url = url + "?" + query
    if fragment:
        url = url + "#" + fragment
    return url


def urlunparse(components):
    if len(components) != 6:
        return _leave("another number of parts")
    scheme, netloc, url, params, query, fragment = components
    if not isinstance(params, str):
        return _leave("an address that is no text")
    if params:
        url = url + ";" + params
    return urlunsplit((scheme, netloc, url, query, fragment))


def quote(string, safe="/", encoding=None, errors=None):
    if not isinstance(string, str) or not isinstance(safe, str) or encoding is not None or errors is not None:
        return _leave("an escape of something else than text in UTF-8")
    return _operation("url.quote", string, safe)


def quote_plus(string, safe="", encoding=None, errors=None):
    if not isinstance(string, str) or not isinstance(safe, str):
        return _leave("an escape of something else than text in UTF-8")
    return quote(string, safe + " ", encoding, errors).replace(" ", "+")


def unquote(string, encoding="utf-8", errors="replace"):
    if not isinstance(string, str) or encoding not in ("utf-8", "utf8", "UTF-8", None) or errors not in ("replace", None):
        return _leave("escapes of something else than text in UTF-8")
    return _operation("url.unquote", string)


def unquote_plus(string, encoding="utf-8", errors="replace"):
    if not isinstance(string, str):
        return _leave("escapes of something else than text in UTF-8")
    return unquote(string.replace("+", " "), encoding, errors)


def parse_qsl(
    qs,
    keep_blank_values=False,
    strict_parsing=False,
    encoding="utf-8",
    errors="replace",
    max_num_fields=None,
    separator="&",
):
    if not isinstance(qs, str) or not isinstance(separator, str):
        return _leave("a query that is no text")
    if not separator:
        raise ValueError("Separator must be of type string or bytes.")
    if max_num_fields is not None and max_num_fields < (1 + qs.count(separator) if qs else 0):
        raise ValueError("Max number of fields exceeded")
    found = []
    if not qs:
        return found
    for field in qs.split(separator):
        if not field and not strict_parsing:
            continue
        name, equals, value = field.partition("=")
        if not equals:
            if strict_parsing:
                raise ValueError(f"bad query field: {field!r}")
            if not keep_blank_values:
                continue
        if value or keep_blank_values:
            found.append((unquote_plus(name, encoding, errors), unquote_plus(value, encoding, errors)))
    return found


def parse_qs(
    qs,
    keep_blank_values=False,
    strict_parsing=False,
    encoding="utf-8",
    errors="replace",
    max_num_fields=None,
    separator="&",
):
    found = {}
    for name, value in parse_qsl(
        qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator
    ):
        if name in found:
            found[name].append(value)
        else:
            found[name] = [value]
    return found


def urlencode(query, doseq=False, safe="", encoding=None, errors=None, quote_via=quote_plus):
    if not isinstance(query, (dict, list, tuple, str)):
        return _refuse("urlencode of something else")
    if not isinstance(query, dict) and len(query) > 0 and not isinstance(query[0], tuple):
        raise TypeError("not a valid non-string sequence or mapping object")
    pairs = query.items() if isinstance(query, dict) else query
    fields = []
    for name, value in pairs:
        if isinstance(name, bytes) or isinstance(value, bytes):
            return _leave("bytes in a query")
        start = quote_via(str(name), safe, encoding, errors) + "="
        if doseq and isinstance(value, (list, tuple)):
            for item in value:
                fields.append(start + quote_via(_shown(item), safe, encoding, errors))
        elif doseq and not isinstance(value, (str, int, float)) and value is not None:
            return _leave("urlencode of such values")
        else:
            fields.append(start + quote_via(str(value), safe, encoding, errors))
    return "&".join(fields)


def _shown(item):
    return _leave("bytes in a query") if isinstance(item, bytes) else str(item)


# Schemes whose addresses may be relative to another.
_RELATIVE = (
    "", "ftp", "http", "gopher", "nntp", "imap", "wais", "file", "https", "shttp", "mms", "prospero", "rtsp",
    "rtspu", "sftp", "svn", "svn+ssh", "ws", "wss",
)


def urljoin(base, url, allow_fragments=True):
    if not isinstance(base, str) or not isinstance(url, str):
        return _leave("an address that is no text")
    if base == "":
        return url
    if url == "":
        return base
    of = urlparse(base, "", allow_fragments)
    parts = urlparse(url, of.scheme, allow_fragments)
    if of.scheme == "rtsps" or parts.scheme == "rtsps":
        return _leave("a scheme of which versions of CPython differ")
    if parts.scheme != of.scheme or parts.scheme not in _RELATIVE:
        return url
    netloc = parts.netloc
    if parts.scheme in _WITH_HOST:
        if netloc != "":
            return urlunparse(parts)
        netloc = of.netloc
    if parts.path == "" and parts.params == "":
        query = parts.query if parts.query != "" else of.query
        return urlunparse((parts.scheme, netloc, of.path, of.params, query, parts.fragment))
    segments = parts.path.split("/")
    if not parts.path.startswith("/"):
        above = of.path.split("/")
        if above[-1] != "":
            above = above[:-1]
        segments = above + segments
        # Empty ones within say nothing.
        last = len(segments) - 1
        segments = [segment for at, segment in enumerate(segments) if at == 0 or at == last or segment != ""]
    resolved = []
    for segment in segments:
        if segment == "..":
            if len(resolved) > 0:
                resolved.pop()
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] == "." or segments[-1] == "..":
        resolved.append("")
    path = "/".join(resolved)
    return urlunparse((parts.scheme, netloc, path if path != "" else "/", parts.params, parts.query, parts.fragment))
