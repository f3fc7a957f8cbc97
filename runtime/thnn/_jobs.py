"""The jobs of pooling and its kin: carried out at once, or recorded for Lua, which repeats them.

A function whose row says `repeats` computes by jobs alone (``lua/parallel``), which depend on the
sizes of its tensors and on its numbers, not on elements. `record` makes such a call with tensors
whose elements do not matter. No job is done then: what comes out are the jobs, with what they are
to get. Lua (``lua/thnn/repeats.lua``) does them for all calls of the same sizes and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from runtime.compute import thread_pool
from runtime.compute.c_functions import inner_loop
from runtime.compute.thread_pool import ThreadPool
from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.state import current
from runtime.core.tensor import Sizes, Tensor

_OUT_OF_RANGE = "position out of range"  # the error of a job about data


#: Stands for the scale of a recorded call, which goes to jobs as it is: Lua gives them each call's.
SCALE = object()


class _Recorder:
    """The recording that is made, and the last one, of which Lua copies the arrays."""

    def __init__(self) -> None:
        self.now: _Recording | None = None
        self.last: _Recording | None = None


class _Recording:
    """Jobs, and what they work on: tensors, of which Lua knows where they are, and memory.

    tensors: those of the call, by their positions. address, room: the memory for results, and for
    what jobs leave to the next ones.
    """

    def __init__(self, tensors: Mapping[int, Tensor], address: int, room: int) -> None:
        self._tensors = tensors
        self._next, self._end = address, address + room
        self._words: dict[int, str] = {}  # for arrays that jobs work on, by their addresses here
        self._kept: list[Array] = []  # so that no other array gets these addresses
        self._lines: list[str] = []

    def keep(self, array: Array, tensor: Tensor, use: str) -> None:
        """Note that an array has a tensor's elements.

        use: "read", "write", "add" for what is read and written, or "change". Results are copied
        from memory of the jobs' own when all are done, since a job may fail; what is changed is
        written to by the jobs themselves, which must not fail from then on.
        """
        if array.ctypes.data in self._words:
            return
        at = next(i for i, t in self._tensors.items() if t is tensor)
        if use in ("read", "change"):
            self._kept.append(array)
            self._words[array.ctypes.data] = f"t{at}"
        else:
            self.work_in(array)
        place = self._words[array.ctypes.data]
        sizes = "x".join(map(str, tensor.sizes))
        self._lines.append(f"{use} {at} {place} {array.nbytes} {sizes}")

    def work_in(self, array: Array) -> None:
        """Give an array memory of the jobs' own."""
        at, size = self._next, -(-array.nbytes // 16) * 16
        if at + size > self._end:
            raise TorchError("there are too many elements")
        self._kept.append(array)
        self._words[array.ctypes.data] = str(at)
        self._next += size

    def add(self, job: str, positions: int, parameters: dict[str, Any]) -> None:
        """Note a job. Its arrays that have no place are tables, which do not change."""
        numbers = []
        for value in current(ThreadPool).in_order(job, parameters):
            if value is SCALE:
                numbers.append("scale")
            elif not isinstance(value, np.ndarray):
                numbers.append(f"{float(value)!r}")
            elif value.ctypes.data in self._words:
                numbers.append(self._words[value.ctypes.data])
            else:
                self._kept.append(value)
                numbers.append(f"{value.ctypes.data}:{value.nbytes}")
        self._lines.append(f"job {job} {positions} {' '.join(numbers)}")

    def text(self) -> str:
        """Lines for Lua: what is read and written of tensors, and the jobs."""
        return "".join(f"{line}\n" for line in self._lines)


def record(
    call: Callable[[], None], tensors: Mapping[int, Tensor], address: int, room: int
) -> str | None:
    """The jobs of a call with contiguous tensors that have the sizes of those that Lua has.

    Lines of words: "read", "write", "add" or "change" with a tensor's position in the call, where
    its elements are, its bytes and its sizes; "job" with its name, positions, and parameters in
    order: numbers, "t3" for the address of the third argument's elements, "scale" for that of each
    call, "address:bytes" for a table. Results, and what jobs leave to each other, are in the memory
    from `address` on. None where the call ends in an error, is for threads, or needs more than
    `room` bytes of that.
    """
    recorder = current(_Recorder)
    recorder.now = recording = _Recording(tensors, address, room)
    try:
        call()
    except Exception:
        return None
    finally:
        recorder.now = None
    recorder.last = recording
    return recording.text()


def is_recording() -> bool:
    """Whether the call is recorded: then its elements say nothing."""
    return current(_Recorder).now is not None


def refuse_recording(reason: str) -> None:
    """Raise an error where the call is recorded: it does what no job repeats."""
    if is_recording():
        raise TorchError(reason)


def keep(array: Array, tensor: Tensor, use: str) -> Array:
    """The same array, of which a recorded call knows then that it has a tensor's elements."""
    recording = current(_Recorder).now
    if recording is not None:
        recording.keep(array, tensor, use)
    return array


def contiguous(tensor: Tensor, count: int | None = None) -> Array:
    """The first elements of a tensor in order, one-dimensional, and side by side in memory."""
    return keep(np.ascontiguousarray(tensor.flat[:count]), tensor, "read")


def read(tensor: Tensor, *results: Tensor) -> Array:
    """A contiguous array of a tensor's elements, a copy where a result has the same storage."""
    shared = any(tensor.storage is result.storage for result in results)
    array = np.array(tensor.array, order="C") if shared else np.ascontiguousarray(tensor.array)
    return keep(array, tensor, "read")


@contextmanager
def adding(tensor: Tensor, use: str = "add") -> Iterator[Array]:
    """Give a contiguous array of a tensor's elements, whose elements become theirs.

    use: "change" where only few of many elements are written, by a job that does not fail.
    """
    array = keep(np.ascontiguousarray(tensor.array), tensor, use)
    yield array
    if array is not tensor.array:
        tensor.array[...] = array


@contextmanager
def writing(*results: tuple[Tensor, Sizes]) -> Iterator[list[Array]]:
    """Resize tensors, and give contiguous arrays whose elements become theirs."""
    for tensor, sizes in results:
        tensor.resize(sizes)
    arrays = [
        keep(tensor.array, tensor, "write")
        if tensor.is_contiguous
        else np.empty(sizes, tensor.dtype.numpy)
        for tensor, sizes in results
    ]
    yield arrays
    for (tensor, _), array in zip(results, arrays, strict=True):
        if array is not tensor.array:
            tensor.array[...] = array


def working(count: int, dtype: Any) -> Array:
    """Memory for what one job leaves to the next one."""
    array: Array = np.empty(count, dtype)
    recording = current(_Recorder).now
    if recording is not None:
        recording.work_in(array)
    return array


@contextmanager
def result(tensor: Tensor, sizes: Sizes) -> Iterator[Array]:
    """Resize a tensor, and let its elements be written, as a contiguous array."""
    tensor.resize(sizes)
    values = tensor.flat
    if values.flags.c_contiguous and tensor.is_contiguous:
        yield keep(values, tensor, "write")
    else:
        values = np.empty(tensor.nelement, values.dtype)
        yield values
        tensor.array[...] = values.reshape(sizes)


def loops(dtype: np.dtype[Any], *ufuncs: np.ufunc) -> dict[str, Any]:
    """The inner loops of ufuncs as jobs get them, by name: their addresses and those of their data.

    Both are 0 where a loop is not there: jobs have loops of their own then.
    """
    x = dtype.char
    return {u.__name__: inner_loop(u, f"{x * u.nin}->{x}") or (0, 0) for u in ufuncs}


def run(
    job: str,
    positions: int,
    *,
    large: bool = False,
    at_a_time: int = 0,
    **parameters: float | Sequence[float] | Array,
) -> None:
    """Do a job, or record it. An array among the parameters stands for its address.

    Raises IndexError where the job finds positions that are out of range.
    """
    recording = current(_Recorder).now
    if recording is not None:
        if large:
            raise TorchError("the job is for threads")
        recording.add(job, positions, parameters)
        return
    given = {  # `parameters` keeps arrays that nobody else has
        name: value.ctypes.data if isinstance(value, np.ndarray) else value
        for name, value in parameters.items()
    }
    try:
        thread_pool.run(job, positions, at_a_time=at_a_time, large=large, **given)
    except Exception as error:  # Lua's; its class is the engine's matter
        if _OUT_OF_RANGE in str(error):
            raise IndexError(_OUT_OF_RANGE) from None
        raise


def all_positive(values: Array) -> bool:
    """Whether all whole numbers of 64 bits are above 0; of those of a recorded call a job tells."""
    if is_recording():
        run("nn_check", 1, source=values, count=values.size, most=0)
        return True
    return bool(values.min() > 0)
