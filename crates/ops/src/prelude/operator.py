"""operator: operators as functions (library reference, module operator)."""


def add(a, b, /):
    return a + b


def sub(a, b, /):
    return a - b


def mul(a, b, /):
    return a * b


def truediv(a, b, /):
    return a / b


def floordiv(a, b, /):
    return a // b


def mod(a, b, /):
    return a % b


def pow(a, b, /):
    return a**b


def and_(a, b, /):
    return a & b


def or_(a, b, /):
    return a | b


def xor(a, b, /):
    return a ^ b


def lshift(a, b, /):
    return a << b


def rshift(a, b, /):
    return a >> b


def neg(a, /):
    return -a


def pos(a, /):
    return +a


def invert(a, /):
    return ~a


def inv(a, /):
    return ~a


def not_(a, /):
    return not a


def truth(a, /):
    return True if a else False


def is_(a, b, /):
    return a is b


def is_not(a, b, /):
    return a is not b


def lt(a, b, /):
    return a < b


def le(a, b, /):
    return a <= b


def eq(a, b, /):
    return a == b


def ne(a, b, /):
    return a != b


def ge(a, b, /):
    return a >= b


def gt(a, b, /):
    return a > b


def getitem(a, b, /):
    return a[b]


def contains(a, b, /):
    return b in a


def itemgetter(item, /, *items):
    n = len(items)

    def get(obj, /):
        if n == 0:
            return obj[item]
        if n == 1:
            return obj[item], obj[items[0]]
        if n == 2:
            return obj[item], obj[items[0]], obj[items[1]]
        return _refuse("itemgetter of more than three items")

    return get


def attrgetter(attr, /, *attrs):
    n = len(attrs)

    def get(obj, /):
        if n == 0:
            return _named(obj, attr)
        if n == 1:
            return _named(obj, attr), _named(obj, attrs[0])
        if n == 2:
            return _named(obj, attr), _named(obj, attrs[0]), _named(obj, attrs[1])
        return _refuse("attrgetter of more than three attributes")

    return get


def _named(obj, name):
    if not isinstance(name, str) or "." in name:
        return _refuse("attrgetter of something else than a plain name")
    return _attribute(obj, name)
