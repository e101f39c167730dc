"""Answers searches, one line of JSON for each; the tests in Rust start it."""

import json
import re
import signal
import sys
import warnings


def spans(match):
    return match and [end for group in range(match.re.groups + 1) for end in match.span(group)]


class Slow(Exception):
    """A search that takes exponential time."""


def give_up(*_):
    raise Slow


def answer(pattern, flags, searches):
    with warnings.catch_warnings():
        # A pattern that warns is another than one that does not.
        warnings.simplefilter("error")
        try:
            pattern = re.compile(pattern, flags)
        except (re.error, OverflowError, ValueError, RecursionError, Warning):
            return None
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        found = [
            [spans(method(text, at)) for method in (pattern.search, pattern.match, pattern.fullmatch)]
            for text, at in searches
        ]
        # Of long texts that would be much to say.
        every = [[spans(match) for match in pattern.finditer(text)] if len(text) < 300 else [] for text, _ in searches]
    except (Slow, SystemError):  # The engine of 3.11 has a fault with groups in possessive parts.
        found, every = [], []
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {
        "flags": pattern.flags,
        "groups": pattern.groups,
        "names": list(pattern.groupindex.items()),
        "found": found,
        "every": every,
    }


def starts(pattern, flags, text):
    """The spans of all matches that follow one another."""
    return [end for match in re.compile(pattern, flags).finditer(text) for end in match.span()]


signal.signal(signal.SIGALRM, give_up)
sys.setrecursionlimit(5000)
for line in sys.stdin:
    question = json.loads(line)
    if "searches" in question:
        reply = answer(question["pattern"], question["flags"], question["searches"])
    else:
        reply = [starts(pattern, question["flags"], question["text"]) for pattern in question["patterns"]]
    print(json.dumps(reply), flush=True)
