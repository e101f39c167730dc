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


def _is_list(heap, what):
    if not isinstance(heap, list):
        given = "None" if heap is None else _type_name(heap)
        raise TypeError(f"{what} must be list, not {given}")


def _exchanged(heap, item):
    # Takes the least element out and puts another in.
    least = heap[0]
    heap[0] = item
    _up(heap, 0)
    return least


def heappush(heap, item, /):
    _is_list(heap, "heappush() argument 1")
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap, /):
    _is_list(heap, "heappop() argument")
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    return _exchanged(heap, last) if len(heap) > 0 else last


def heapreplace(heap, item, /):
    _is_list(heap, "heapreplace() argument 1")
    if len(heap) == 0:
        raise IndexError("index out of range")
    return _exchanged(heap, item)


def heappushpop(heap, item, /):
    _is_list(heap, "heappushpop() argument 1")
    if len(heap) == 0 or not (heap[0] < item):
        return item
    return _exchanged(heap, item)


def heapify(heap, /):
    _is_list(heap, "heapify() argument")
    at = len(heap) // 2 - 1
    while at >= 0:
        _up(heap, at)
        at -= 1


def _some(n, iterable, key, reverse):
    # The same as of the sorted list where there is one order.
    if not isinstance(n, int):
        return _leave("a number of elements that is no int")
    if n <= 0:
        iter(iterable)
        return []
    items = list(iterable)
    keys = items if key is None else [key(item) for item in items]
    for one in keys:
        if not _is_ordered(one):
            return _leave("the smallest of values whose order may not be total")
    if key is None:
        return sorted(items, reverse=reverse)[:n]
    places = sorted(range(len(keys)), key=lambda at: keys[at], reverse=reverse)
    return [items[at] for at in places[:n]]


def nsmallest(n, iterable, key=None):
    return _some(n, iterable, key, False)


def nlargest(n, iterable, key=None):
    return _some(n, iterable, key, True)


def merge(*iterables, key=None, reverse=False):
    if reverse:
        return _refuse("a merge from the greatest")
    return _merged([_items_to_merge(one) for one in iterables], key)


def _items_to_merge(iterable):
    # A list is read as far as it is merged, whatever becomes of it meanwhile.
    if isinstance(iterable, list):
        return iterable
    if not _is_quiet(iterable):
        return _refuse("a merge of what may change meanwhile")
    return list(iterable)


def _merged(lists, key):
    # The heads are on a heap, with the place of their list, which decides between equal ones.
    heap = []
    read = [0 for _ in lists]
    for place in range(len(lists)):
        if len(lists[place]) > 0:
            item = lists[place][0]
            read[place] = 1
            heap.append((item if key is None else key(item), place, item))
    heapify(heap)
    while len(heap) > 1:
        _, place, item = heap[0]
        yield item
        if read[place] < len(lists[place]):
            item = lists[place][read[place]]
            read[place] += 1
            heapreplace(heap, (item if key is None else key(item), place, item))
        else:
            heappop(heap)
    if len(heap) > 0:
        _, place, item = heap[0]
        yield item
        while read[place] < len(lists[place]):
            read[place] += 1
            yield lists[place][read[place] - 1]
