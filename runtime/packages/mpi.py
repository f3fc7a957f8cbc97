"""The Python half of the package ``mpi``: MPI, by mpi4py, on the memory of tensors.

MPI starts when `start` is called, and ends with the process. Communicators and requests
are known to Lua by numbers, ranks count from 0. What is no tensor crosses as the bytes that
Lua has made of it.
"""

from __future__ import annotations

import atexit
import itertools
import os
import platform
import site  # noqa: F401 # with it, mpi4py looks for the MPI of Python's environment
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages import optional

_WORLD = 0
#: Variables in the environment of processes that mpirun or a cluster's scheduler has started.
_STARTED = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE")
#: Lets Open MPI start no daemon, open no connection and make no folder for a process that is alone.
_ALONE = {
    "OMPI_MCA_ess_singleton_isolated": "1",
    "OMPI_MCA_orte_create_session_dirs": "0",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self",
}
_numbers = itertools.count(1)
_communicators: dict[int, Any] = {}
#: Operations in progress, by number: the request, and how its results reach the tensors.
_pending: dict[int, tuple[Any, list[_Memory]]] = {}


@cache
def _mpi() -> Any:
    """Return the module of MPI, whose import starts it."""
    library = optional("mpi4py", "mpi4py", "mpi")
    library.rc.finalize = False  # at the end of a process that has failed, it would wait for others
    is_alone = not any(name in os.environ for name in _STARTED)
    settings = {name: value for name, value in _ALONE.items() if name not in os.environ}
    try:
        os.environ.update(settings if is_alone else {})
        mpi = optional("mpi4py.MPI", "mpi4py", "mpi")
    except RuntimeError as error:
        raise TorchError(
            f"mpi4py finds no MPI ({str(error).splitlines()[-1]}): install Open MPI or MPICH, "
            "such as by: pip install mpich"
        ) from error
    finally:
        for name in settings if is_alone else ():  # commands may be mpirun
            del os.environ[name]
    _communicators[_WORLD] = mpi.COMM_WORLD
    atexit.register(_end)
    return mpi


def _end() -> None:
    """End MPI together with the other processes; where a Python program has failed, end them."""
    finish(1 if hasattr(sys, "last_value") else 0)


def finish(status: float, text: bytes = b"") -> None:
    """End MPI, and all processes where the status is a failure's. text: for the standard error."""
    mpi = _mpi()
    os.write(2, text)
    if mpi.Is_finalized():
        return
    if status and mpi.COMM_WORLD.size > 1:
        mpi.COMM_WORLD.Abort(int(status))
    _test_all()
    mpi.Finalize()


@contextmanager
def _errors() -> Iterator[None]:
    """Raise MPI's errors as TorchError."""
    try:
        yield
    except _mpi().Exception as error:
        raise TorchError(f"MPI: {_summary(error.Get_error_string())}") from error
    except (TypeError, ValueError, OverflowError) as error:  # mpi4py's own
        raise TorchError(f"MPI: {error}") from error


def _summary(text: str) -> str:
    """Return the first line of an error of MPI's, and what the last of a stack of calls says."""
    first, *calls = text.splitlines()
    last = (calls or [""])[-1].partition(": ")[2]
    if len(text.encode()) >= _mpi().MAX_ERROR_STRING - 2:  # it is cut
        last = last and f"{last.rpartition(' ')[0]} …"
    return ": ".join(filter(None, (first.removesuffix(", error stack:"), last)))


def _communicator(number: float) -> Any:
    mpi, communicator = _mpi(), _communicators.get(int(number))
    if communicator is None or mpi.Is_finalized():
        raise TorchError(
            "MPI has ended" if communicator else f"there is no communicator {number:.0f}"
        )
    return communicator


def identity(number: float) -> tuple[int, int]:
    """Return the rank of this process in a communicator, and the number of its processes."""
    _mpi()
    communicator = _communicator(number)
    return communicator.rank, communicator.size


def start() -> tuple[int, int]:
    """Return the rank of this process, and the number of processes."""
    return identity(_WORLD)


def split(number: float, key: bytes) -> tuple[int, bool]:
    """Return a communicator of the processes with one key, and if all such are equally large."""
    parent = _communicator(number)
    with _errors():
        keys = parent.allgather(key)
        new = parent.Split(keys.index(key), parent.rank)
    _communicators[number := next(_numbers)] = new
    return number, len({keys.count(each) for each in keys}) == 1


def count_machines(number: float) -> int:
    """Return how many machines the processes of a communicator run on."""
    with _errors():
        return len(set(_communicator(number).allgather(platform.node())))


# ------------------------------------------------------------------------- tensors


class _Memory:
    """A tensor's elements as MPI takes them: in place where they are contiguous, else in a copy.

    lasts: whether MPI uses them longer than this call. The array keeps the memory, whatever the
    program does with the tensor meanwhile, once it is no longer a part of a block of Lua's.
    """

    def __init__(self, tensor: Tensor, lasts: bool) -> None:
        if tensor.dtype.numpy == np.float16:
            raise TorchError("MPI has no HalfTensor: send it as x:float()")
        if lasts and tensor.storage is not None:
            tensor.storage.leave_block()
        self._given: Array = tensor.array
        self.array = self._given if tensor.is_contiguous else np.ascontiguousarray(self._given)

    def give_back(self) -> None:
        """Let the tensor have what MPI has written."""
        if self.array is not self._given:
            self._given[...] = self.array


def _argument(value: Any, lasts: bool, memories: list[_Memory]) -> Any:
    """Return an argument of a call of MPI for a tensor, number, nil or name of a value of MPI's.

    memories: get that of a tensor. lasts: as for `_Memory`.
    """
    if isinstance(value, Tensor):
        memories.append(_Memory(value, lasts))
        return memories[-1].array
    return getattr(_mpi(), value.decode().upper()) if isinstance(value, bytes) else value


def call(method: bytes, waits: bool, number: float, *args: Any) -> int | None:
    """Call a method of a communicator, as 'Allreduce'; without waiting, the number of a request."""
    comm, memories, name = _communicator(number), list[_Memory](), method.decode()
    with _errors():
        values = [_argument(a, not waits, memories) for a in args]
        if waits:
            getattr(comm, name)(*values)
            for memory in memories:
                memory.give_back()
            return None
        _test_all()
        request = getattr(comm, f"I{name.lower()}")(*values)
    _pending[number := next(_numbers)] = request, memories
    return number


def test(number: float, waits: bool) -> tuple[bool, int, int, bool]:
    """Tell whether a request is done; of a message its sender and tag, and if it was cancelled."""
    request, memories = _pending.get(int(number), (None, []))
    status = _mpi().Status()
    if request is not None:
        with _errors():
            if not (request.Wait(status) if waits else request.Test(status)):
                return False, 0, 0, False
        del _pending[int(number)]
        for memory in memories:
            memory.give_back()
    return True, status.source, status.tag, status.Is_cancelled()


def cancel(number: float) -> None:
    """Cancel a request that is not done."""
    if int(number) in _pending:
        _pending[int(number)][0].Cancel()


def _test_all() -> None:
    """Forget what is done, so that what nobody waits for is not kept."""
    for number in list(_pending):
        test(number, False)


# ------------------------------------------------------------------------ messages


def probe(number: float, waits: bool, source: Any, tag: Any) -> tuple[bool, int, int]:
    """Tell whether there is a message from a rank, and its sender and tag."""
    comm, status = _communicator(number), _mpi().Status()
    source, tag = (_argument(value, False, []) for value in (source, tag))
    with _errors():
        is_there = (comm.Probe if waits else comm.Iprobe)(source, tag, status)
    return bool(is_there), status.source, status.tag


def receive(number: float, tensor: Tensor | None, source: Any, tag: Any) -> tuple[Any, int, int]:
    """Receive into a tensor, or the bytes of another value; and the sender and the tag."""
    comm, status = _communicator(number), _mpi().Status()
    source, tag = (_argument(value, False, []) for value in (source, tag))
    with _errors():
        if tensor is not None:
            memory = _Memory(tensor, False)
            comm.Recv(memory.array, source, tag, status)
            memory.give_back()
            return None, status.source, status.tag
        message = comm.Mprobe(source, tag, status)
        text = bytearray(status.Get_count(_mpi().BYTE))
        message.Recv([text, _mpi().BYTE], status)
    return bytes(text), status.source, status.tag


def send(number: float, text: bytes, to: int, tag: int) -> None:
    """Send bytes to a rank, with a tag."""
    with _errors():
        _communicator(number).Send([text, _mpi().BYTE], to, tag)


def exchange(method: bytes, number: float, root: int, *texts: bytes) -> Any:
    """Exchange bytes by a collective call: 'bcast', 'gather', 'scatter', 'allgather'."""
    comm, name = _communicator(number), method.decode()
    text = list(texts) if name == "scatter" else texts[0] if texts else None
    with _errors():
        answer = getattr(comm, name)(text, *([] if name == "allgather" else [root]))
    return tuple(answer) if isinstance(answer, list) else answer
