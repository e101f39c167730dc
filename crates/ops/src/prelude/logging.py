"""logging: what is below the level that loggers have where nobody sets one is dropped; the rest CPython logs."""


class Logger:
    def debug(self, msg, *args):
        return None

    info = debug

    def warning(self, msg, *args):
        return _leave("a message that is logged")

    error = warning
    exception = warning
    critical = warning


def getLogger(name=None):
    if name is not None and not isinstance(name, str):
        return _leave("the name of a logger that is no text")
    return Logger()
