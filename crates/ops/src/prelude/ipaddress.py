"""ipaddress: addresses and networks of version 4 (Lib/ipaddress.py). CPython reads those of version 6,
and says what is wrong with an address."""


class AddressValueError(ValueError):
    pass


class NetmaskValueError(ValueError):
    pass


def _number(text):
    """The number of an address, or -1."""
    parts = text.split(".")
    if len(parts) != 4:
        return -1
    number = 0
    for part in parts:
        if not (part.isascii() and part.isdigit()) or len(part) > 3 or (part[0] == "0" and part != "0"):
            return -1
        octet = int(part)
        if octet > 255:
            return -1
        number = number * 256 + octet
    return number


def _shown(number):
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


# First numbers and lengths of the prefix.
_PRIVATE = (
    (0, 8), (167772160, 8), (2130706432, 8), (2851995648, 16), (2886729728, 12), (3221225984, 24),
    (3232235520, 16), (3323068416, 15), (3325256704, 24), (3405803776, 24), (4026531840, 4),
)


def _is_private(first, last):
    if first >> 8 == 12582912 or last >> 8 == 12582912:
        return _leave("addresses from 192.0.0.0 to 192.0.0.255, of which versions of CPython differ")
    for start, length in _PRIVATE:
        if first >> (32 - length) == start >> (32 - length) and last >> (32 - length) == start >> (32 - length):
            return True
    return False


def _number_beside(other):
    if isinstance(other, IPv4Address):
        return other._ip
    return _leave("an address beside something else")


class IPv4Address:
    def __init__(self, address):
        if isinstance(address, str):
            number = _number(address)
            if number < 0:
                return _leave("what is wrong with an address")
        elif isinstance(address, int):
            if not 0 <= address < 4294967296:
                return _leave("an address that is no number of 32 bits")
            number = address + 0
        else:
            return _leave("an address of something else than a text or an int")
        self._ip = number

    @property
    def version(self):
        return 4

    @property
    def max_prefixlen(self):
        return 32

    @property
    def compressed(self):
        return _shown(self._ip)

    @property
    def exploded(self):
        return _shown(self._ip)

    @property
    def packed(self):
        number = self._ip
        return bytes([number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255])

    @property
    def reverse_pointer(self):
        return ".".join(_shown(self._ip).split(".")[::-1]) + ".in-addr.arpa"

    @property
    def is_private(self):
        return _is_private(self._ip, self._ip)

    @property
    def is_global(self):
        return self._ip >> 22 != 401 and not _is_private(self._ip, self._ip)

    @property
    def is_loopback(self):
        return self._ip >> 24 == 127

    @property
    def is_multicast(self):
        return self._ip >> 28 == 14

    @property
    def is_reserved(self):
        return self._ip >> 28 == 15

    @property
    def is_link_local(self):
        return self._ip >> 16 == 43518

    @property
    def is_unspecified(self):
        return self._ip == 0

    def __int__(self):
        return self._ip

    def __str__(self):
        return _shown(self._ip)

    def __repr__(self):
        return f"IPv4Address({_shown(self._ip)!r})"

    def __format__(self, spec):
        if spec != "":
            return _leave("an address in a format")
        return _shown(self._ip)

    def __eq__(self, other):
        return isinstance(other, IPv4Address) and self._ip == other._ip

    def __hash__(self):
        return _leave("the hash of an address")

    def __lt__(self, other):
        return self._ip < _number_beside(other)

    def __le__(self, other):
        return self._ip <= _number_beside(other)

    def __gt__(self, other):
        return self._ip > _number_beside(other)

    def __ge__(self, other):
        return self._ip >= _number_beside(other)

    def __add__(self, other):
        if not isinstance(other, int):
            return _leave("an address and something else")
        return IPv4Address(self._ip + other)

    def __sub__(self, other):
        if not isinstance(other, int):
            return _leave("an address and something else")
        return IPv4Address(self._ip - other)


def _prefix_of(text):
    """The length of a prefix that is written so, or -1."""
    if text.isascii() and text.isdigit():
        return int(text) if len(text) <= 9 and int(text) <= 32 else -1
    if _number(text) >= 0:
        return _leave("a mask that is written as an address")
    return -1


class IPv4Network:
    def __init__(self, address, strict=True):
        if not isinstance(address, str):
            return _leave("a network of something else than a text")
        host, slash, tail = address.partition("/")
        number = _number(host)
        prefix = _prefix_of(tail) if slash != "" else 32
        if number < 0 or prefix < 0:
            return _leave("what is wrong with a network")
        size = 1 << (32 - prefix)
        first = number // size * size
        if first != number and strict:
            raise ValueError(f"{address} has host bits set")
        self._first = first
        self._size = size
        self._prefix = prefix

    @property
    def version(self):
        return 4

    @property
    def max_prefixlen(self):
        return 32

    @property
    def prefixlen(self):
        return self._prefix

    @property
    def network_address(self):
        return IPv4Address(self._first)

    @property
    def broadcast_address(self):
        return IPv4Address(self._first + self._size - 1)

    @property
    def netmask(self):
        return IPv4Address(4294967296 - self._size)

    @property
    def hostmask(self):
        return IPv4Address(self._size - 1)

    @property
    def num_addresses(self):
        return self._size

    @property
    def with_prefixlen(self):
        return f"{_shown(self._first)}/{self._prefix}"

    @property
    def with_netmask(self):
        return f"{_shown(self._first)}/{_shown(4294967296 - self._size)}"

    @property
    def compressed(self):
        return f"{_shown(self._first)}/{self._prefix}"

    @property
    def exploded(self):
        return f"{_shown(self._first)}/{self._prefix}"

    @property
    def is_private(self):
        return _is_private(self._first, self._first + self._size - 1)

    def __contains__(self, other):
        if not isinstance(other, IPv4Address):
            return _leave("whether a network holds something else than an address")
        return self._first <= other._ip < self._first + self._size

    def __getitem__(self, n):
        if not -self._size <= n < self._size:
            raise IndexError("address out of range")
        return IPv4Address(self._first + n if n >= 0 else self._first + self._size + n)

    def hosts(self):
        if self._size > 2:
            for number in range(self._first + 1, self._first + self._size - 1):
                yield IPv4Address(number)
        else:
            for number in range(self._first, self._first + self._size):
                yield IPv4Address(number)

    def subnet_of(self, other):
        return other._first <= self._first and self._first + self._size <= other._first + other._size

    def supernet_of(self, other):
        return self._first <= other._first and other._first + other._size <= self._first + self._size

    def overlaps(self, other):
        return self._first < other._first + other._size and other._first < self._first + self._size

    def __str__(self):
        return f"{_shown(self._first)}/{self._prefix}"

    def __repr__(self):
        return f"IPv4Network('{_shown(self._first)}/{self._prefix}')"

    def __format__(self, spec):
        if spec != "":
            return _leave("a network in a format")
        return f"{_shown(self._first)}/{self._prefix}"

    def __eq__(self, other):
        return isinstance(other, IPv4Network) and self._first == other._first and self._size == other._size

    def __hash__(self):
        return _leave("the hash of a network")


def ip_address(address):
    if isinstance(address, str):
        if _number(address) >= 0:
            return IPv4Address(address)
        if ":" not in address:
            raise ValueError(f"{address!r} does not appear to be an IPv4 or IPv6 address")
        return _leave("an address of version 6")
    return IPv4Address(address)


def ip_network(address, strict=True):
    if not isinstance(address, str):
        return _leave("a network of something else than a text")
    if ":" in address:
        return _leave("a network of version 6")
    host, slash, tail = address.partition("/")
    if _number(host) < 0 or (slash != "" and _prefix_of(tail) < 0):
        raise ValueError(f"{address!r} does not appear to be an IPv4 or IPv6 network")
    return IPv4Network(address, strict)
