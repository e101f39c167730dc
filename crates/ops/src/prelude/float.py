"""float: methods that are no operations (library reference, section Additional Methods on Float)."""

_DIGITS = "0123456789abcdef"


def conjugate(self, /):
    return self


def as_integer_ratio(self, /):
    if self != self:
        raise ValueError("cannot convert NaN to integer ratio")
    if self - self != 0.0:
        raise OverflowError("cannot convert Infinity to integer ratio")
    if self == 0.0:
        return 0, 1
    power = _operation("float.exponent", self)
    fraction = _operation("math.ldexp", self, -power)
    while fraction != float(int(fraction)):
        fraction *= 2.0
        power -= 1
    numerator = int(fraction)
    if power >= 0:
        return numerator << power, 1
    return numerator, 1 << -power


def hex(self, /):
    if self != self:
        return "nan"
    sign = "-" if _operation("math.copysign", 1.0, self) < 0.0 else ""
    if self - self != 0.0:
        return sign + "inf"
    if self == 0.0:
        return sign + "0x0.0p+0"
    value = abs(self)
    power = _operation("float.exponent", value)
    shift = 1 - max(-1021 - power, 0)
    fraction = _operation("math.ldexp", value, -power + shift)
    power -= shift
    digit = int(fraction)
    text = sign + "0x" + _DIGITS[digit] + "."
    for _ in range(13):
        fraction = (fraction - digit) * 16.0
        digit = int(fraction)
        text += _DIGITS[digit]
    return text + ("p-" if power < 0 else "p+") + str(abs(power))
