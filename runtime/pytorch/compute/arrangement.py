"""The order in which PyTorch leaves equal elements when it sorts and selects without `stable=True`.

PyTorch sorts by the C++ library's introsort, takes the largest elements by its introselect and
heap, and finds the k-th smallest by a quickselect of its own. These decide which of several equal
elements come first, and so which indices a program sees. Each is followed here for many rows at
once: a step partitions the parts of all rows together, so that there are as many steps as for one
row, and none for a single element.

All functions take keys: whole numbers in the order of the elements, in rows. They are for rows in
which elements are equal; without these any way of sorting gives the same.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array

#: Parts of at most this many elements are sorted by insertion, which keeps the order of equal ones.
SHORT = 16
#: The largest are kept in a heap where they are fewer than one in so many.
_HEAP = 64


class _Rows:
    """Keys that are moved about, each with its position in its row.

    keys, places: both in one dimension, one row behind the other. length: of a row.
    """

    def __init__(self, keys: Array) -> None:
        rows, self.length = keys.shape
        self.keys = keys.reshape(-1).copy()
        self.places = np.tile(np.arange(self.length), rows)

    def swap(self, a: Array, b: Array) -> None:
        """Swap the elements at positions a with those at b; no position is there twice."""
        for part in (self.keys, self.places):
            part[a], part[b] = part[b], part[a]

    def swap_where(self, condition: Array, a: Array, b: Array) -> None:
        """Swap where a condition holds."""
        self.swap(a[condition], b[condition])

    def partition(self, low: Array, high: Array) -> Array:
        """Partition parts, from low up to high, by the median of three; where they are to be cut.

        The C++ library's: the median of the second, the middle and the last goes to the front.
        """
        a, b, c = low + 1, low + (high - low) // 2, high - 1
        ka, kb, kc = self.keys[a], self.keys[b], self.keys[c]
        larger = np.where(kb < kc, b, np.where(ka < kc, c, a))
        smaller = np.where(ka < kc, a, np.where(kb < kc, c, b))
        self.swap(low, np.where(ka < kb, larger, smaller))
        walk = _Walk(self, low, low + 1, high)
        return np.minimum(walk.next_up(0), walk.last_down())

    def partition_by_front(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Partition parts, from low through high, as PyTorch's quickselect; where its walks end."""
        middle = (low + high) // 2
        self.swap(middle, low + 1)
        for a, b in ((low + 1, high), (low, high), (low + 1, low)):
            self.swap_where(self.keys[a] > self.keys[b], a, b)
        walk = _Walk(self, low + 1, low + 2, high + 1, pivots=self.keys[low])
        i = np.minimum(walk.next_up(walk.meets), walk.last_down())
        j = np.maximum(walk.next_down(walk.meets), walk.last_up())
        self.swap(low, j)
        return i, j


class _Walk:
    """Two walks through each part, one from either end, which swap the elements that they stop at.

    They stop at elements that are not smaller, or not larger, than the pivot, until they meet. So
    long, these are elements as they were before any swap; so all swaps are found at once.

    meets: 1 for parts whose walks meet at one element, else 0.
    """

    def __init__(
        self, rows: _Rows, low: Array, first_up: Array, high: Array, pivots: Array | None = None
    ) -> None:
        count = len(low)
        lengths = high - low
        part = np.repeat(np.arange(count), lengths)
        place = np.arange(len(part)) - np.repeat(np.cumsum(lengths) - lengths - low, lengths)
        pivot = (rows.keys[low] if pivots is None else pivots)[part]
        key = rows.keys[place]
        is_up = (key >= pivot) & (place >= first_up[part])
        is_down = key <= pivot
        if pivots is not None:
            is_down &= place < (high - 1)[part]
        self._ups, self._up_from, self._up_count = _by_part(place, part, is_up, count)
        self._downs, self._down_from, self._down_count = _by_part(place, part, is_down, count)
        self._low, self._high = low, high
        self._count = self._swap_all(rows)

    def _swap_all(self, rows: _Rows) -> Array:
        """Swap the pairs at which the walks stop before they meet; how many there are in a part."""
        most = np.minimum(self._up_count, self._down_count)
        part = np.repeat(np.arange(len(most)), most)
        nth = np.arange(len(part)) - np.repeat(np.cumsum(most) - most, most)
        up = self._ups[self._up_from[part] + nth]
        down = self._downs[self._down_from[part] + self._down_count[part] - 1 - nth]
        rows.swap_where(up < down, up, down)
        self.meets = np.bincount(part[up == down], minlength=len(most))
        return np.bincount(part[up < down], minlength=len(most))

    def next_up(self, skipped: Array | int) -> Array:
        """Where the first walk would stop next; the end where it would not."""
        nth = self._count + skipped
        return self._at(self._ups, self._up_from, nth, nth < self._up_count, self._high)

    def next_down(self, skipped: Array | int) -> Array:
        """Where the second walk would stop next; the start where it would not."""
        nth = self._down_count - 1 - self._count - skipped
        return self._at(self._downs, self._down_from, nth, nth >= 0, self._low)

    def last_down(self) -> Array:
        """Where the second walk has swapped last; the end where it has not."""
        nth = self._down_count - self._count
        return self._at(self._downs, self._down_from, nth, self._count > 0, self._high)

    def last_up(self) -> Array:
        """Where the first walk has swapped last; the start where it has not."""
        return self._at(self._ups, self._up_from, self._count - 1, self._count > 0, self._low)

    def _at(self, places: Array, start: Array, nth: Array, there: Array, otherwise: Array) -> Array:
        found: Array = otherwise.copy()
        found[there] = places[(start + nth)[there]]
        return found


def _by_part(place: Array, part: Array, chosen: Array, count: int) -> tuple[Array, Array, Array]:
    """The chosen places, and where in them those of each part begin, and how many there are."""
    counts = np.bincount(part[chosen], minlength=count)
    return place[chosen], np.cumsum(counts) - counts, counts


def _most_partitions(length: int) -> int:
    """How often the C++ library partitions before it takes a heap instead."""
    return 2 * (length.bit_length() - 1)


# -- sorting


def sort_order(keys: Array) -> Array:
    """For each row the positions of its elements in the order in which `sort` puts them."""
    rows = _Rows(keys)
    starts = np.arange(0, keys.size, rows.length)
    _introsort(rows, starts, starts + rows.length)
    order = np.argsort(rows.keys.reshape(keys.shape), 1, "stable")
    return np.take_along_axis(rows.places.reshape(keys.shape), order, 1)


def _introsort(rows: _Rows, low: Array, high: Array) -> None:
    """Partition parts until all are short; insertion, which is left to do, keeps equal ones."""
    if not len(low):
        return
    left = _most_partitions(int((high - low).max()))
    while True:
        long = high - low > SHORT
        low, high = low[long], high[long]
        if not len(low):
            return
        if not left:
            for first, last in zip(low, high, strict=True):
                heap_sort(rows.keys[first:last], rows.places[first:last])
            return
        left -= 1
        cut = rows.partition(low, high)
        low, high = np.concatenate([low, cut]), np.concatenate([cut, high])


# -- selection


def top_order(keys: Array, k: int, in_order: bool) -> Array:
    """For each row the positions of its k smallest elements in the order that `topk` gives them."""
    rows = _Rows(keys)
    n = rows.length
    starts = np.arange(0, keys.size, n)
    if k * _HEAP <= n:
        for first in starts:
            heap_select(rows.keys[first : first + n], rows.places[first : first + n], k)
            heap_sort(rows.keys[first : first + k], rows.places[first : first + k], is_heap=True)
    else:
        _introselect(rows, starts, k)
        if in_order:
            _introsort(rows, starts, starts + k - 1)
            _insert(rows, starts, starts + k - 1)
    return rows.places.reshape(keys.shape)[:, :k]


def nth_position(keys: Array, k: int) -> Array:
    """For each row the position of its k-th smallest element, as the C++ library selects it."""
    rows = _Rows(keys)
    starts = np.arange(0, keys.size, rows.length)
    _introselect(rows, starts, k)
    found: Array = rows.places[starts + k - 1]
    return found


def _introselect(rows: _Rows, starts: Array, k: int) -> None:
    """Put in each row the k smallest elements first, as the C++ library's nth_element."""
    low, high, nth = starts, starts + rows.length, starts + k - 1
    left = _most_partitions(rows.length)
    while True:
        done = high - low <= 3  # where the C++ library sorts the rest
        _insert(rows, low[done], high[done])
        low, high, nth = low[~done], high[~done], nth[~done]
        if not len(low):
            return
        if not left:
            for first, last, at in zip(low, high, nth, strict=True):
                keys, places = rows.keys[first:last], rows.places[first:last]
                heap_select(keys, places, int(at - first) + 1)
                rows.swap(np.array([first]), np.array([at]))
            return
        left -= 1
        cut = rows.partition(low, high)
        is_below = cut <= nth
        low, high = np.where(is_below, cut, low), np.where(is_below, high, cut)


def _insert(rows: _Rows, low: Array, high: Array) -> None:
    """Sort each part, and leave equal elements as they are."""
    lengths = np.maximum(high - low, 0)
    part = np.repeat(np.arange(len(low)), lengths)
    place = np.arange(len(part)) - np.repeat(np.cumsum(lengths) - lengths - low, lengths)
    order = place[np.lexsort((rows.keys[place], part))]
    for values in (rows.keys, rows.places):
        values[place] = values[order]


def kth_position(keys: Array, k: int) -> Array:
    """For each row the position of its k-th smallest element that `kthvalue` names."""
    rows = _Rows(keys)
    starts = np.arange(0, keys.size, rows.length)
    low, high, kth = starts, starts + rows.length - 1, starts + k - 1
    while len(low):
        two = high == low + 1
        a, b = low[two], high[two]
        rows.swap_where(rows.keys[a] > rows.keys[b], a, b)
        more = high > low + 1
        low, high, kth = low[more], high[more], kth[more]
        i, j = rows.partition_by_front(low, high)
        low, high = np.where(j <= kth, i, low), np.where(j >= kth, j - 1, high)
    found: Array = rows.places[starts + k - 1]
    return found


# -- the C++ library's heaps
#
# They go one element after the other, but past those that do not enter the heap: nearly all of
# them. A heap has its largest key first. Keys and places are arrays of one part, changed in place.

_Entry = tuple[int, int]  # a key, and the element's place
#: How many elements are compared at once with the top of the heap.
_BLOCK = 4096


def heap_select(keys: Array, places: Array, k: int) -> None:
    """Put the k smallest elements first, as a heap."""
    heap = _entries(keys[:k], places[:k])
    _make(heap)
    for start in range(k, len(keys), _BLOCK):
        block = keys[start : start + _BLOCK]
        for at in (np.flatnonzero(block < heap[0][0]) + start).tolist():
            entry = int(keys[at]), int(places[at])
            if entry[0] < heap[0][0]:
                keys[at], places[at] = heap[0]
                _adjust(heap, 0, k, entry)
    _store(heap, keys, places)


def heap_sort(keys: Array, places: Array, is_heap: bool = False) -> None:
    """Sort a part by a heap; is_heap: it is one already."""
    heap = _entries(keys, places)
    if not is_heap:
        _make(heap)
    for last in range(len(heap) - 1, 0, -1):
        entry, heap[last] = heap[last], heap[0]
        _adjust(heap, 0, last, entry)
    _store(heap, keys, places)


def _entries(keys: Array, places: Array) -> list[_Entry]:
    return list(zip(keys.tolist(), places.tolist(), strict=True))


def _store(heap: list[_Entry], keys: Array, places: Array) -> None:
    for at, (key, place) in enumerate(heap):
        keys[at], places[at] = key, place


def _make(heap: list[_Entry]) -> None:
    for parent in range((len(heap) - 2) // 2, -1, -1):
        _adjust(heap, parent, len(heap), heap[parent])


def _adjust(heap: list[_Entry], hole: int, count: int, entry: _Entry) -> None:
    """Fill a hole from below down to a leaf, and let an entry rise from there."""
    top, child = hole, hole
    while child < (count - 1) // 2:
        child = 2 * (child + 1)
        if heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if count % 2 == 0 and child == (count - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    while hole > top and heap[(hole - 1) // 2][0] < entry[0]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = entry
