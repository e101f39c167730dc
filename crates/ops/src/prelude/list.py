"""Methods of list."""


def extend(self, iterable, /):
    for item in iterable:
        self.append(item)
