"""The C++ library's heaps, which decide where equal elements go when few of many are wanted.

They go one element after the other, but past those that do not enter the heap: nearly all of them.
A heap has its largest key first. Keys and places are arrays of one part, changed in place.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array

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
