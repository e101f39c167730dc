"""Built-in functions over anything that can be iterated."""


def any(iterable):
    for item in iterable:
        if item:
            return True
    return False


def all(iterable):
    for item in iterable:
        if not item:
            return False
    return True


def sum(iterable, /, start=0):
    total = start
    for item in iterable:
        total = total + item
    return total
