"""Methods of str."""


def partition(self, sep, /):
    if not sep:
        raise ValueError("empty separator")
    at = self.find(sep)
    if at < 0:
        return (self, "", "")
    return (self[:at], sep, self[at + len(sep):])
