"""What the members of enumerations do (library reference, module enum). Each has `_name_` and `_value_`."""


class Enum:
    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def __repr__(self):
        return f"<{_type_name(self)}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        return f"{_type_name(self)}.{self._name_}"

    def __format__(self, spec):
        return format(str(self), spec)
