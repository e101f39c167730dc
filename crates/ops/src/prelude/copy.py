"""Copies of what holds numbers and texts, and of constants of the module."""


def copy(x):
    return _copied(x, False)


def deepcopy(x, memo=None):
    if memo is not None:
        return _refuse("a copy with a memo")
    return _copied(x, True)
