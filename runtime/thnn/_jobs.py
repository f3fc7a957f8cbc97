"""The jobs of nn's functions: carried out at once, or recorded for Lua, which repeats them.

Nearly all functions compute by jobs alone (``lua/parallel``), which depend on the sizes of
tensors and on numbers, not on elements. `record` makes such a call with tensors
whose elements do not matter. No job is done then: what comes out are the jobs, with what they are
to get. Lua (``thnn/repeats.lua``) does them for all calls of the same sizes and numbers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.c_functions import blas as find_blas
from th_shell.runtime.compute.c_functions import inner_loop
from th_shell.runtime.compute.libm import function
from th_shell.runtime.compute.thread_pool import LARGE, ThreadPool, get_threads
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.memory import address_of
from th_shell.runtime.core.state import current
from th_shell.runtime.core.tensor import Tensor

_OUT_OF_RANGE = "position out of range"  # the error of a job about data
_REMEDY = "install numpy from PyPI"


#: Stands for the scale of a recorded call, which goes to jobs as it is: Lua gives them each call's.
SCALE = object()


class _Recorder:
    """The recording that is made, and the last one, of which Lua copies the arrays."""

    def __init__(self) -> None:
        self.now: _Recording | None = None
        self.last: _Recording | None = None


class _Recording:
    """Jobs, and what they work on: tensors, of which Lua knows where they are, and memory.

    tensors: those of the call, by their positions. address, room: the memory for what jobs leave to
    the next ones.
    """

    def __init__(self, tensors: Mapping[int, Tensor], address: int, room: int) -> None:
        self._tensors = tensors
        self._next, self._end = address, address + room
        self._words: dict[int, str] = {}  # for arrays that jobs work on, by their addresses here
        self._kept: list[Array] = []  # so that no other array gets these addresses
        self._lines: list[str] = []

    def keep(self, array: Array, tensor: Tensor, use: str) -> None:
        """Note that an array has a tensor's elements.

        use: "read", "write" for a result, which has got its sizes, or "change" for what is read and
        written.
        """
        if array.ctypes.data in self._words:
            return
        at, sizes = self._at(tensor), "x".join(map(str, tensor.sizes))
        self._kept.append(array)
        self._words[array.ctypes.data] = f"t{at}"
        self._lines.append(f"{use} {at} {array.nbytes} {sizes}")

    def _at(self, tensor: Tensor) -> int:
        return next(i for i, t in self._tensors.items() if t is tensor)

    def same_view(self, result: Tensor, source: Tensor) -> None:
        """Note that the call is like this only where two tensors are the same view."""
        if result.sizes != source.sizes:
            raise TorchError("the result is another view")
        self._lines.append(f"same {self._at(result)} {self._at(source)} ")

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

    Lines of words: "read", "write" or "change" with a tensor's position in the call, its bytes and
    its sizes; "same" with two positions; "job" with its name, positions, and parameters in order:
    numbers, "t3" for the address of the third argument's elements, "scale" for that of each call,
    "address:bytes" for a table. What jobs leave to each other is in the memory from `address` on.
    None where the call ends in an error, is for threads, or needs more than `room` bytes of that.
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
    """Tell whether the call is recorded: then its elements say nothing."""
    return current(_Recorder).now is not None


def refuse_recording(reason: str) -> None:
    """Raise an error where the call is recorded: it does what no job repeats."""
    if is_recording():
        raise TorchError(reason)


def refuse_threads(work: int) -> None:
    """Raise an error where the call is recorded, and threads would share so much work.

    Where there is one thread, Lua repeats work of any size, until torch.setnumthreads is called.
    """
    if work >= LARGE and current(ThreadPool).can_share:
        refuse_recording("threads share the work")


def keep(array: Array, tensor: Tensor, use: str) -> Array:
    """The array itself, of which a recorded call knows then that it has a tensor's elements."""
    recording = current(_Recorder).now
    if recording is not None:
        recording.keep(array, tensor, use)
    return array


def same_view(result: Tensor, source: Tensor) -> None:
    """Let a recorded call be repeated only where two tensors are the same view."""
    recording = current(_Recorder).now
    if recording is not None:
        recording.same_view(result, source)


def working(count: int, dtype: Any) -> Array:
    """Memory for what one job leaves to the next one."""
    array: Array = np.empty(count, dtype)
    recording = current(_Recorder).now
    if recording is not None:
        recording.work_in(array)
    return array


def loops(dtype: np.dtype[Any], *ufuncs: np.ufunc) -> dict[str, Any]:
    """The inner loops of ufuncs as jobs get them, by name: their addresses and those of their data.

    Raises TorchError where numpy's loops cannot be called.
    """
    x = dtype.char
    found = {u.__name__: inner_loop(function(u.__name__), f"{x * u.nin}->{x}") for u in ufuncs}
    if None in found.values():
        raise TorchError(f"nn needs numpy's loops for {dtype}, which cannot be called: {_REMEDY}")
    return found


def blas(name: str, itemsize: int) -> int:
    """The address of a BLAS function. Raises TorchError where it cannot be called."""
    address = find_blas(name, itemsize)
    if address is None:
        raise TorchError(f"nn needs BLAS's {name}, which cannot be called: {_REMEDY}")
    return address


def find_asum(x: Array) -> int:
    """Return the address of BLAS's asum, by which jobs see whether numbers are finite; 0: none."""
    return find_blas("asum", x.itemsize) or 0


def run(
    job: str,
    positions: int,
    *,
    work: int = 0,
    at_a_time: int = 0,
    **parameters: float | Sequence[float] | Array,
) -> None:
    """Do a job, or record it. An array among the parameters stands for its address.

    Where it asks for a `size`, this is by default that of the elements of the first array of
    floats. work: the elements that it visits, or a tenth of what BLAS multiplies; threads share
    much of it.
    Raises IndexError where the job finds positions that are out of range.
    """
    recording = current(_Recorder).now
    large = work >= LARGE
    if "size" in current(ThreadPool).parameters(job) and "size" not in parameters:
        arrays = (x for x in parameters.values() if isinstance(x, np.ndarray))
        parameters["size"] = next(x.itemsize for x in arrays if x.dtype.kind == "f")
    if recording is not None:
        refuse_threads(work)
        recording.add(job, positions, parameters)
        return
    parameters_of_job = {  # `parameters` keeps arrays that nobody else has
        name: address_of(value) if isinstance(value, np.ndarray) else value
        for name, value in parameters.items()
    }
    try:
        thread_pool.run(job, positions, at_a_time=at_a_time, large=large, **parameters_of_job)
    except Exception as error:  # Lua's; its class is the engine's matter
        if _OUT_OF_RANGE in str(error):
            raise IndexError(_OUT_OF_RANGE) from None
        raise


def count_threads(work: int) -> int:
    """Return the number of threads that share so much work, as `run` counts it."""
    return get_threads() if work >= LARGE else 1


def check_range(values: Array, least: int = 1, most: float = math.inf) -> None:
    """Raise IndexError unless all whole numbers of 64 bits are in a range."""
    run("nn_check", 1, source=values, count=values.size, least=least, most=most)
