"""heapq, of lists (library reference, module heapq): the comparisons are CPython's, in its order."""


def _down(heap, start, at):
    # Moves an element towards the root, up to `start`.
    item = heap[at]
    while at > start:
        above = (at - 1) // 2
        parent = heap[above]
        if not (item < parent):
            break
        heap[at] = parent
        heap[above] = item
        at = above


def _up(heap, at):
    # Moves an element to a leaf along the smaller children, and then back to its place.
    n = len(heap)
    start = at
    last = n // 2
    while at < last:
        child = 2 * at + 1
        if child + 1 < n and not (heap[child] < heap[child + 1]):
            child += 1
        below = heap[child]
        heap[child] = heap[at]
        heap[at] = below
        at = child
    _down(heap, start, at)


def _is_list(heap):
    if not isinstance(heap, list):
        raise TypeError(f"heap argument must be a list, not {_type_name(heap)}")


def heappush(heap, item, /):
    _is_list(heap)
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap, /):
    _is_list(heap)
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    _up(heap, 0)
    return least


def heapreplace(heap, item, /):
    _is_list(heap)
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    _up(heap, 0)
    return least


def heappushpop(heap, item, /):
    _is_list(heap)
    if len(heap) == 0:
        return item
    least = heap[0]
    if not (least < item):
        return item
    heap[0] = item
    _up(heap, 0)
    return least


def heapify(heap, /):
    _is_list(heap)
    at = len(heap) // 2 - 1
    while at >= 0:
        _up(heap, at)
        at -= 1


def _is_total(value):
    # Whether values of this kind have one order, whoever compares them.
    if isinstance(value, (str, int)):
        return True
    if isinstance(value, float):
        return value == value
    if isinstance(value, (tuple, list)):
        for one in value:
            if not _is_total(one):
                return False
        return True
    return False


def _some(n, iterable, key, reverse):
    # The same as of the sorted list where there is one order.
    if not isinstance(n, int):
        return _leave("a number of elements that is no int")
    if n <= 0:
        return []
    items = list(iterable)
    for item in items:
        if not _is_total(item if key is None else key(item)):
            return _leave("the smallest of values whose order may not be total")
    return sorted(items, key=key, reverse=reverse)[:n]


def nsmallest(n, iterable, key=None):
    return _some(n, iterable, key, False)


def nlargest(n, iterable, key=None):
    return _some(n, iterable, key, True)
