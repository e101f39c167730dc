"""difflib: how alike two sequences are (Lib/difflib.py)."""

from typing import NamedTuple


class Match(NamedTuple):
    a: int
    b: int
    size: int


def _ratio(matches, length):
    return 2.0 * matches / length if length else 1.0


class SequenceMatcher:
    def __init__(self, isjunk=None, a="", b="", autojunk=True):
        if isjunk is not None:
            return _leave("what is junk in a sequence, which a function says")
        if not (isinstance(a, str) and isinstance(b, str)) and not (isinstance(a, list) and isinstance(b, list)):
            return _leave("sequences other than two texts or two lists")
        self.a = a
        self.b = b
        self._autojunk = autojunk

    def set_seqs(self, a, b):
        self.a = a
        self.b = b

    def set_seq1(self, a):
        self.a = a

    def set_seq2(self, b):
        self.b = b

    def _places(self):
        places = {}
        for at, item in enumerate(self.b):
            if item in places:
                places[item].append(at)
            else:
                places[item] = [at]
        if self._autojunk and len(self.b) >= 200:
            most = len(self.b) // 100 + 1
            places = {item: found for item, found in places.items() if len(found) <= most}
        return places

    def _longest(self, places, alo, ahi, blo, bhi):
        a = self.a
        b = self.b
        besti = alo
        bestj = blo
        size = 0
        none = []
        # How long the match is that ends with the item before and the one at each place.
        before = {}
        for i in range(alo, ahi):
            lengths = {}
            for j in places.get(a[i], none):
                if j < blo:
                    continue
                if j >= bhi:
                    break
                k = before.get(j - 1, 0) + 1
                lengths[j] = k
                if k > size:
                    besti = i - k + 1
                    bestj = j - k + 1
                    size = k
            before = lengths
        while besti > alo and bestj > blo and a[besti - 1] == b[bestj - 1]:
            besti -= 1
            bestj -= 1
            size += 1
        while besti + size < ahi and bestj + size < bhi and a[besti + size] == b[bestj + size]:
            size += 1
        return besti, bestj, size

    def find_longest_match(self, alo=0, ahi=None, blo=0, bhi=None):
        last = len(self.a) if ahi is None else ahi
        end = len(self.b) if bhi is None else bhi
        i, j, size = self._longest(self._places(), alo, last, blo, end)
        return Match(i, j, size)

    def _blocks(self):
        places = self._places()
        todo = [(0, len(self.a), 0, len(self.b))]
        found = []
        while len(todo) > 0:
            alo, ahi, blo, bhi = todo.pop()
            i, j, size = self._longest(places, alo, ahi, blo, bhi)
            if size > 0:
                found.append((i, j, size))
                if alo < i and blo < j:
                    todo.append((alo, i, blo, j))
                if i + size < ahi and j + size < bhi:
                    todo.append((i + size, ahi, j + size, bhi))
        found.sort()
        blocks = []
        starti = 0
        startj = 0
        length = 0
        for i, j, size in found:
            if starti + length == i and startj + length == j:
                length += size
            else:
                if length > 0:
                    blocks.append((starti, startj, length))
                starti = i
                startj = j
                length = size
        if length > 0:
            blocks.append((starti, startj, length))
        blocks.append((len(self.a), len(self.b), 0))
        return blocks

    def get_matching_blocks(self):
        return [Match(i, j, size) for i, j, size in self._blocks()]

    def get_opcodes(self):
        answer = []
        i = 0
        j = 0
        for ai, bj, size in self._blocks():
            if i < ai and j < bj:
                answer.append(("replace", i, ai, j, bj))
            elif i < ai:
                answer.append(("delete", i, ai, j, bj))
            elif j < bj:
                answer.append(("insert", i, ai, j, bj))
            i = ai + size
            j = bj + size
            if size > 0:
                answer.append(("equal", ai, i, bj, j))
        return answer

    def ratio(self):
        matches = 0
        for _, _, size in self._blocks():
            matches += size
        return _ratio(matches, len(self.a) + len(self.b))

    def quick_ratio(self):
        counts = {}
        for item in self.b:
            counts[item] = counts.get(item, 0) + 1
        matches = 0
        for item in self.a:
            left = counts.get(item, 0)
            if left > 0:
                matches += 1
                counts[item] = left - 1
        return _ratio(matches, len(self.a) + len(self.b))

    def real_quick_ratio(self):
        return _ratio(min(len(self.a), len(self.b)), len(self.a) + len(self.b))


def get_close_matches(word, possibilities, n=3, cutoff=0.6):
    if not n > 0:
        raise ValueError(f"n must be > 0: {n!r}")
    if not 0.0 <= cutoff <= 1.0:
        raise ValueError(f"cutoff must be in [0.0, 1.0]: {cutoff!r}")
    if not isinstance(word, str):
        return _leave("matches of what is no text")
    found = []
    for possibility in possibilities:
        matcher = SequenceMatcher(None, possibility, word)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            ratio = matcher.ratio()
            if ratio >= cutoff:
                found.append((ratio, possibility))
    found.sort(reverse=True)
    return [possibility for _, possibility in found[:n]]
