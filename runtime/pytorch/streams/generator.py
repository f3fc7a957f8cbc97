"""``torch.Generator``: a stream of random numbers, and the one that functions draw from."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np

from th_shell.torch.base.device import CPU, check_device
from th_shell.torch.base.missing import type_name
from th_shell.torch.base.require import require
from th_shell.torch.calls.argument_types import register_kind
from th_shell.torch.streams.words import STATE_SIZE, Words
from th_shell.torch.tensors.tensor import Tensor, wrap

_DEFAULT_SEED = 67280421310721


class Generator:
    """A generator of random numbers on the processor, the same numbers as PyTorch's for a seed.

    A new one has the seed 67280421310721. PyTorch's documentation: torch.Generator.
    """

    __module__ = "torch._C"
    __slots__ = ("__weakref__", "_words", "device")

    def __init__(self, device: Any = None) -> None:
        """Make a generator for a device, which can only be the processor."""
        check_device(device)
        self._words = Words(_DEFAULT_SEED)
        self.device = CPU

    def manual_seed(self, seed: int, /) -> Generator:
        """Start the stream of a seed, from -2^63 to 2^64 - 1; returns the generator."""
        require(type(seed) is int, "manual_seed expected a long, but got {}", type_name(seed))
        require(-(2**63) <= seed < 2**64, "Overflow when unpacking long long", error=ValueError)
        with self._words.lock:
            self._words.start(seed & 0xFFFFFFFFFFFFFFFF)
        return self

    def seed(self) -> int:
        """Start a stream that nobody foresees; returns its seed."""
        seed = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Return the seed that the stream was started with."""
        return self._words.seed

    def get_state(self) -> Tensor:
        """Return the whole state as a tensor of 5056 bytes, which PyTorch's generators take."""
        with self._words.lock:
            return wrap(np.frombuffer(bytearray(self._words.state), np.uint8))

    def set_state(self, new_state: Tensor, /) -> Generator:
        """Go on from a state; returns the generator. Raises TypeError and RuntimeError."""
        state = _bytes_of(new_state)
        with self._words.lock:
            self._words.state = state
        return self


def _bytes_of(state: Any) -> bytes:
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type_name(state)}")
    array = state.array
    require(array.dtype == np.uint8, "RNG state must be a torch.ByteTensor", error=TypeError)
    require(array.flags.c_contiguous, "RNG state must be contiguous")
    if array.size != STATE_SIZE:
        raise RuntimeError(
            f"Expected a CPUGeneratorImplState of size {STATE_SIZE} but found the input RNG state "
            f"size to be {array.size}"
        )
    return array.tobytes()


#: What functions draw from that are given no generator. Its seed is not foreseen.
default_generator = Generator()
default_generator.seed()


_held: list[bool] = []  # whether the default stream's lock was got for a fork


def _before_fork() -> None:
    """Let no thread be at the default stream while the process forks: a child could not use it.

    It waits a second at most: the thread that forks may be at it itself, in a signal's handler.
    """
    _held.append(default_generator._words.lock.acquire(timeout=1))


def _after_fork() -> None:
    if _held.pop():
        default_generator._words.lock.release()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork, after_in_parent=_after_fork)

register_kind("torch.Generator", Generator)
#: Where a call gets random numbers from: its generator, or by default that of the program.
Source: TypeAlias = Generator | None


def words_of(generator: Source) -> Words:
    """Return the stream of the generator that a call has given, or of the default one."""
    return default_generator._words if generator is None else generator._words
