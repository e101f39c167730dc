"""Decimal in the default context: 28 digits, ROUND_HALF_EVEN.

A Decimal is a sign (1: negative), a coefficient and an exponent of ten, as in the General Decimal
Arithmetic Specification that Lib/_pydecimal.py follows. What no such number is (infinities, NaNs) and
what the context's limits of exponents could meet leaves.
"""

# One more than the largest coefficient of the context.
_MOST = 10**28

# Exponents beyond it are CPython's, and so are operands whose exponents are further apart than that.
_FAR = 900000
_APART = 38


def _power(n):
    """A power of ten, of 0 to 38."""
    # The largest factor first, so that native code has bits for all of them.
    return (
        (100000000000000000000000000000000 if n & 32 else 1)
        * (10000000000000000 if n & 16 else 1)
        * (100000000 if n & 8 else 1)
        * (10000 if n & 4 else 1)
        * (100 if n & 2 else 1)
        * (10 if n & 1 else 1)
    )


def _of(sign, digits, exponent):
    return Decimal(_parts=(sign, digits, exponent))


def _of_sql(digits, precision, scale):
    """Of the digits of a DECIMAL."""
    return _of(1 if digits < 0 else 0, abs(digits), -scale)


def _to_sql(value, precision, scale):
    """The digits of a DECIMAL, None where that is another value or has more."""
    if isinstance(value, bool):
        return None
    number = _operand(value)
    if number is None:
        return None
    if number._i == 0:
        return 0
    places = number._e + scale
    if not -_APART <= places <= _APART:
        return None
    if places >= 0:
        digits = number._i * _power(places)
    else:
        unit = _power(-places)
        digits = number._i // unit
        if digits * unit != number._i:
            return None
    if digits >= _power(precision):
        return None
    return -digits if number._s else digits


def _fixed(sign, digits, exponent):
    """Rounded to the digits of the context."""
    if not -_FAR < exponent < _FAR:
        return _leave("a Decimal with such an exponent")
    if digits < _MOST:
        return _of(sign, digits, exponent)
    over = len(str(digits)) - 28
    if over > _APART:
        return _leave("a Decimal that loses so many digits")
    digits = _rounded(sign, digits, over, "ROUND_HALF_EVEN")
    if digits == _MOST:
        digits = digits // 10
        over += 1
    return _of(sign, digits, exponent + over)


def _rounded(sign, digits, places, rounding):
    """A coefficient without its last places."""
    if places > _APART:
        return _leave("a Decimal that loses so many digits")
    unit = _power(places)
    whole = digits // unit
    rest = digits - whole * unit
    if rounding == "ROUND_HALF_EVEN":
        up = 2 * rest > unit or 2 * rest == unit and whole % 2 == 1
    elif rounding == "ROUND_HALF_UP":
        up = 2 * rest >= unit
    elif rounding == "ROUND_HALF_DOWN":
        up = 2 * rest > unit
    elif rounding == "ROUND_DOWN":
        up = False
    elif rounding == "ROUND_UP":
        up = rest > 0
    elif rounding == "ROUND_CEILING":
        up = rest > 0 and sign == 0
    elif rounding == "ROUND_FLOOR":
        up = rest > 0 and sign == 1
    elif rounding == "ROUND_05UP":
        up = rest > 0 and whole % 5 == 0
    else:
        return _leave("a rounding that there is not")
    return whole + 1 if up else whole


_MODES = ("ROUND_CEILING", "ROUND_FLOOR", "ROUND_UP", "ROUND_DOWN",
          "ROUND_HALF_UP", "ROUND_HALF_DOWN", "ROUND_HALF_EVEN", "ROUND_05UP")


def _mode(rounding):
    """How to round, which is asked before it is known whether there is anything to round."""
    if rounding is None:
        return "ROUND_HALF_EVEN"
    return rounding if rounding in _MODES else _leave("a rounding that there is not")


def _rescaled(number, exponent, rounding):
    """The coefficient at another exponent."""
    places = exponent - number._e
    if places > 0:
        return _rounded(number._s, number._i, places, rounding)
    if -places > _APART:
        return _leave("a Decimal that gains so many digits")
    return number._i * _power(-places)


def _operand(other):
    """An operand as a Decimal; None if it is another object."""
    if isinstance(other, Decimal):
        return other
    if isinstance(other, int):
        return _of(1 if other < 0 else 0, abs(other), 0)
    return None


def _aligned(a, b):
    """The coefficients of two, with signs, at the smaller exponent, and that."""
    exponent = min(a._e, b._e)
    if a._e - exponent > _APART or b._e - exponent > _APART:
        return _leave("Decimals so far apart")
    x = a._i * _power(a._e - exponent)
    y = b._i * _power(b._e - exponent)
    return (-x if a._s else x), (-y if b._s else y), exponent


def _sum(a, b):
    x, y, exponent = _aligned(a, b)
    # A zero takes no more digits than the context has.
    if (x == 0 or y == 0) and abs(a._e - b._e) > 28:
        return _leave("Decimals so far apart")
    total = x + y
    if total == 0:
        return _fixed(a._s & b._s, 0, exponent)
    return _fixed(1 if total < 0 else 0, abs(total), exponent)


def _negated(number):
    return _of(1 - number._s, number._i, number._e)


def _product(a, b):
    return _fixed(a._s ^ b._s, a._i * b._i, a._e + b._e)


def _quotient(a, b):
    if b._i == 0:
        if a._i == 0:
            raise InvalidOperation("[<class 'decimal.DivisionUndefined'>]")
        return _leave("a Decimal divided by zero")
    sign = a._s ^ b._s
    ideal = a._e - b._e
    if a._i == 0:
        return _fixed(sign, 0, ideal)
    shift = len(str(b._i)) - len(str(a._i)) + 29
    exponent = ideal - shift
    if not -_APART <= shift <= _APART:
        return _leave("a quotient of Decimals of so many digits")
    if shift >= 0:
        above, below = a._i * _power(shift), b._i
    else:
        above, below = a._i, b._i * _power(-shift)
    digits = above // below
    if digits * below != above:
        # The last digit says that there is more, so that a half is none.
        if digits % 5 == 0:
            digits += 1
    else:
        while exponent < ideal and digits % 10 == 0:
            digits = digits // 10
            exponent += 1
    return _fixed(sign, digits, exponent)


def _divided(a, b):
    """The whole quotient and the rest, towards zero."""
    if b._i == 0:
        return _leave("a Decimal divided by zero")
    x, y, exponent = _aligned(a, b)
    whole = abs(x) // abs(y)
    if whole >= _MOST:
        return _leave("a whole quotient of so many digits")
    rest = abs(x) - whole * abs(y)
    if a._i == 0:
        exponent = min(a._e, b._e)
    return _of(a._s ^ b._s, whole, 0), _fixed(a._s, rest, exponent)


def _raised(a, b):
    if not -_APART <= b._e <= 9:
        return _leave("a power of a Decimal to such a number")
    if b._e < 0:
        unit = _power(-b._e)
        n = b._i // unit
        if n * unit != b._i:
            return _leave("a power of a Decimal to a number with a fraction")
    else:
        n = b._i * _power(b._e)
    sign = a._s & n % 2
    if a._i == 0:
        if n == 0 or b._s:
            return _leave("zero to such a power")
        return _of(sign, 0, 0)
    if n == 0:
        return _of(0, 1, 0)
    if n > 999999999:
        return _leave("a power of a Decimal to such a number")
    digits, last, exponent = _operation("decimal.power", str(a._i), a._e, -n if b._s else n).split()
    return _fixed(sign, int(digits) * 100000000000000 + int(last), int(exponent))


def _order(a, b):
    """Below zero, zero or above it, as a is below b, equal to it or above."""
    if a._e == b._e:
        x, y = (-a._i if a._s else a._i), (-b._i if b._s else b._i)
    elif a._i == 0 or b._i == 0:
        x = 0 if a._i == 0 else (-1 if a._s else 1)
        y = 0 if b._i == 0 else (-1 if b._s else 1)
    else:
        x, y, _ = _aligned(a, b)
    return (x > y) - (x < y)


def _order_of_float(a, other):
    """As `_order`, of a Decimal and a float, exactly."""
    if other != other or other - other != 0.0:
        return _leave("a Decimal compared with what is no finite number")
    near = a.__float__()
    if near != other:
        # A number is on the side of another on which its nearest float is.
        return (near > other) - (near < other)
    if other == 0.0:
        return 0 if a._i == 0 else (-1 if a._s else 1)
    digits, power = _float_parts(other)
    if not (-_APART <= a._e <= _APART and -120 <= power <= 120):
        return _leave("a Decimal compared with such a float")
    x = (-a._i if a._s else a._i) * _power(max(a._e, 0)) * (1 << max(-power, 0))
    y = digits * _power(max(-a._e, 0)) * (1 << max(power, 0))
    return (x > y) - (x < y)


_DIGITS = "0123456789"


def _spec(spec):
    """The parts of a format: fill, alignment, sign, width, whether there are commas, places (-1: as many as
    there are) and what presents it."""
    fill, align, rest = " ", ">", spec
    aligned = True
    if rest[1:2] in ("<", ">", "=", "^"):
        fill, align, rest = rest[0], rest[1], rest[2:]
    elif rest[:1] in ("<", ">", "=", "^"):
        align, rest = rest[0], rest[1:]
    else:
        aligned = False
    sign = "-"
    if rest[:1] in ("-", "+", " "):
        sign, rest = rest[0], rest[1:]
    zeros = rest[:1] == "0"
    if zeros:
        fill, align = "0", "="
    behind = rest.lstrip(_DIGITS)
    width, rest = rest[: len(rest) - len(behind)], behind
    grouped = rest[:1] == ","
    if grouped:
        rest = rest[1:]
    places = ""
    if rest[:1] == ".":
        behind = rest[1:].lstrip(_DIGITS)
        places, kind = rest[1 : len(rest) - len(behind)], behind
        known = places != "" and kind in ("f", "F", "%")
    else:
        kind = rest
        known = kind in ("", "f", "F", "%")
    # Zeros are put between commas too.
    if not known or zeros and (aligned or grouped) or len(width) > 3 or len(places) > 2:
        return _leave("such a format of a Decimal")
    decimals = int(places) if places else -1
    if decimals > _APART:
        return _leave("such a format of a Decimal")
    return fill, align, sign, int(width) if width else 0, grouped, decimals, kind


def _grouped(digits):
    """A whole number's digits with commas."""
    head = len(digits) % 3
    text = digits[:head]
    for at in range(head, len(digits), 3):
        text = text + ("," if text else "") + digits[at : at + 3]
    return text


class Decimal:
    def __init__(self, value="0", context=None, *, _parts=None):
        if context is not None:
            _refuse("a Decimal of another context")
        if _parts is not None:
            self._s, self._i, self._e = _parts
        elif isinstance(value, str):
            self._s, self._i, self._e = _parsed(value)
        elif isinstance(value, int):
            self._s, self._i, self._e = (1 if value < 0 else 0), abs(value), 0
        elif isinstance(value, Decimal):
            self._s, self._i, self._e = value._s, value._i, value._e
        elif value is None:
            raise TypeError("conversion from NoneType to Decimal is not supported")
        else:
            _refuse("a Decimal of such an object")

    def __repr__(self):
        return "Decimal('" + self.__str__() + "')"

    def __str__(self):
        digits = str(self._i)
        left = self._e + len(digits)
        sign = "-" if self._s else ""
        if self._e == 0:
            return sign + digits
        if self._e < 0 and left > -6:
            if left <= 0:
                return sign + "0." + "0" * -left + digits
            return sign + digits[:left] + "." + digits[left:]
        if len(digits) > 1:
            digits = digits[0] + "." + digits[1:]
        return f"{sign}{digits}E{left - 1:+d}"

    def __format__(self, spec):
        if spec == "":
            return self.__str__()
        fill, align, sign, width, grouped, places, kind = _spec(spec)
        digits = self._i
        if kind == "":
            text = self.copy_abs().__str__()
            whole = text.split("E")[0].split(".")[0]
            rest = text[len(whole) :]
        else:
            number = _of(self._s, digits, self._e + 2) if kind == "%" else self
            if places < 0:
                places = max(-number._e, 0)
            text = str(_rescaled(number, -places, "ROUND_HALF_EVEN"))
            if places > 0:
                text = text.zfill(places + 1)
                whole, rest = text[:-places], "." + text[-places:]
            else:
                whole, rest = text, ""
            if kind == "%":
                rest = rest + "%"
        body = (_grouped(whole) if grouped else whole) + rest
        sign = "-" if self._s else "" if sign == "-" else sign
        missing = width - len(sign) - len(body)
        if missing <= 0:
            return sign + body
        if align == "<":
            return sign + body + fill * missing
        if align == ">":
            return fill * missing + sign + body
        if align == "=":
            return sign + fill * missing + body
        left = missing // 2
        return fill * left + sign + body + fill * (missing - left)

    def __hash__(self):
        return _refuse("the hash of a Decimal")

    def _number(self):
        """An int or a float which Decimals that are equal share, and numbers that are equal to them."""
        if not -_APART <= self._e <= _APART:
            return _leave("the hash of a Decimal with such an exponent")
        whole = self.__int__()
        return whole if self == whole else self.__float__()

    def __bool__(self):
        return self._i != 0

    def __int__(self):
        whole = _rescaled(self, 0, "ROUND_DOWN")
        return -whole if self._s else whole

    __trunc__ = __int__

    def __float__(self):
        return float(self.__str__())

    def __floor__(self):
        whole = _rescaled(self, 0, "ROUND_FLOOR")
        return -whole if self._s else whole

    def __ceil__(self):
        whole = _rescaled(self, 0, "ROUND_CEILING")
        return -whole if self._s else whole

    def __round__(self, n=None):
        if n is None:
            whole = _rescaled(self, 0, "ROUND_HALF_EVEN")
            return -whole if self._s else whole
        if not isinstance(n, int):
            return _leave("a Decimal rounded to such an object")
        return self.quantize(_of(0, 1, -n))

    def __neg__(self):
        if self._i == 0:
            return _of(0, 0, self._e)
        return _fixed(1 - self._s, self._i, self._e)

    def __pos__(self):
        if self._i == 0:
            return _of(0, 0, self._e)
        return _fixed(self._s, self._i, self._e)

    def __abs__(self):
        return _fixed(0, self._i, self._e)

    def __eq__(self, other):
        if isinstance(other, float):
            return _order_of_float(self, other) == 0
        other = _operand(other)
        return NotImplemented if other is None else _order(self, other) == 0

    def __lt__(self, other):
        if isinstance(other, float):
            return _order_of_float(self, other) < 0
        other = _operand(other)
        return NotImplemented if other is None else _order(self, other) < 0

    def __le__(self, other):
        if isinstance(other, float):
            return _order_of_float(self, other) <= 0
        other = _operand(other)
        return NotImplemented if other is None else _order(self, other) <= 0

    def __gt__(self, other):
        if isinstance(other, float):
            return _order_of_float(self, other) > 0
        other = _operand(other)
        return NotImplemented if other is None else _order(self, other) > 0

    def __ge__(self, other):
        if isinstance(other, float):
            return _order_of_float(self, other) >= 0
        other = _operand(other)
        return NotImplemented if other is None else _order(self, other) >= 0

    def __add__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _sum(self, other)

    def __radd__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _sum(other, self)

    def __sub__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _sum(self, _negated(other))

    def __rsub__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _sum(other, _negated(self))

    def __mul__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _product(self, other)

    def __rmul__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _product(other, self)

    def __truediv__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _quotient(self, other)

    def __rtruediv__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _quotient(other, self)

    def __floordiv__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _divided(self, other)[0]

    def __rfloordiv__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _divided(other, self)[0]

    def __mod__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _divided(self, other)[1]

    def __rmod__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _divided(other, self)[1]

    def __pow__(self, other, modulo=None):
        if modulo is not None:
            return _refuse("a power of a Decimal with a modulus")
        other = _operand(other)
        return NotImplemented if other is None else _raised(self, other)

    def __rpow__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _raised(other, self)

    def __divmod__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _divided(self, other)

    def __rdivmod__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _divided(other, self)

    def quantize(self, exp, rounding=None, context=None):
        if context is not None:
            return _refuse("a Decimal of another context")
        mode = _mode(rounding)
        other = _operand(exp)
        if other is None:
            return _leave("quantize with such an object")
        if not -_FAR < other._e < _FAR:
            return _leave("a Decimal with such an exponent")
        if self._i == 0:
            return _of(self._s, 0, other._e)
        digits = _rescaled(self, other._e, mode)
        if digits >= _MOST:
            raise InvalidOperation("[<class 'decimal.InvalidOperation'>]")
        return _of(self._s, digits, other._e)

    def scaleb(self, other, context=None):
        if context is not None:
            return _refuse("a Decimal of another context")
        by = _operand(other)
        if by is None:
            return _leave("scaleb with such an object")
        if by._e != 0 or not -_FAR < by._i < _FAR:
            return _leave("scaleb with such a number")
        return _fixed(self._s, self._i, self._e + (-by._i if by._s else by._i))

    def to_integral_value(self, rounding=None, context=None):
        if context is not None:
            return _refuse("a Decimal of another context")
        mode = _mode(rounding)
        if self._e >= 0:
            return _of(self._s, self._i, self._e)
        return _of(self._s, _rescaled(self, 0, mode), 0)

    def normalize(self, context=None):
        if context is not None:
            return _refuse("a Decimal of another context")
        number = _fixed(self._s, self._i, self._e)
        if number._i == 0:
            return _of(number._s, 0, 0)
        digits, exponent = number._i, number._e
        while digits % 10 == 0:
            digits = digits // 10
            exponent += 1
        return _of(number._s, digits, exponent)

    def adjusted(self):
        return self._e + len(str(self._i)) - 1

    def compare(self, other, context=None):
        if context is not None:
            return _refuse("a Decimal of another context")
        other = _operand(other)
        if other is None:
            return _leave("compare with such an object")
        order = _order(self, other)
        return _of(1 if order < 0 else 0, abs(order), 0)

    def copy_abs(self):
        return _of(0, self._i, self._e)

    def copy_negate(self):
        return _of(1 - self._s, self._i, self._e)

    def is_zero(self):
        return self._i == 0

    def is_signed(self):
        return self._s == 1

    def is_finite(self):
        return True

    def is_nan(self):
        return False

    def is_infinite(self):
        return False


def _parsed(text):
    """Sign, coefficient and exponent of a text."""
    if not text.isascii():
        return _leave("a Decimal of other letters than ASCII's")
    rest = text.strip()
    if "_" in rest:
        rest = rest.replace("_", "")
    sign = 1 if rest[:1] == "-" else 0
    if rest[:1] == "-" or rest[:1] == "+":
        rest = rest[1:]
    power = 0
    at = rest.find("e")
    if at < 0:
        at = rest.find("E")
    digits = rest if at < 0 else rest[:at]
    point = digits.find(".")
    if point >= 0:
        power = point + 1 - len(digits)
        digits = digits[:point] + digits[point + 1 :]
    if not digits.isdigit():
        return _no_number(rest)
    if at >= 0:
        exponent = rest[at + 1 :]
        unsigned = exponent[1:] if exponent[:1] == "-" or exponent[:1] == "+" else exponent
        if not unsigned.isdigit():
            return _no_number(rest)
        if len(unsigned) > 9:
            return _leave("a Decimal with such an exponent")
        power += int(exponent)
    if len(digits) > 4000 or not -_FAR < power < _FAR:
        return _leave("a Decimal with such an exponent")
    return sign, int(digits), power


def _no_number(text):
    # An infinity or a NaN, or what is none.
    if text[:1] in ("i", "I", "n", "N", "s", "S"):
        return _leave("a Decimal that is no finite number")
    raise InvalidOperation("[<class 'decimal.ConversionSyntax'>]")
