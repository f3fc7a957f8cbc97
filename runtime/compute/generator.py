"""``Generator``: a stream of random numbers, the reference's for the same seed, bit for bit.

The words are the Mersenne Twister's (MT19937), 32 bits each; a uniform number is one word
divided by 2^32; normal numbers come in pairs from two uniform ones (Box and Muller), of which
the second is kept for the next call.
"""

from __future__ import annotations

import ctypes
import math
import os
import struct
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from th_shell.runtime.calls.forms import OBJECT_KINDS, object_kind
from th_shell.runtime.compute import libm
from th_shell.runtime.compute.bulk import PIECE
from th_shell.runtime.compute.thread_pool import share
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.process import note
from th_shell.runtime.core.state import current

if TYPE_CHECKING:
    from numpy.random import MT19937

_WORDS = 624
_SLOW = 4096  # pairs of normal numbers from which threads are worth it
_TO_UNIT = 2.0**-32
# The bits of the double 2^20. The last of its bits is worth 2^-32: a word of 32 bits, put there,
# becomes the number 2^20 + word / 2^32 without any conversion.
_EXPONENT, _AT_EXPONENT = np.uint64(0x4130000000000000), 2.0**20
# Torch7: the C struct, as it lies in memory: seed, words left in this turn (and one), seeded,
# position, the turn's words, the last pair's x, y and radius, whether its second is unused.
_STATE = struct.Struct(f"<QiiQ{8 * _WORDS}s3di4x")

#: Bytes of a state.
STATE_SIZE = _STATE.size


class _Shared(ctypes.Structure):
    # What Lua reads and writes, too, where it draws numbers itself: the last pair of uniform
    # numbers and their radius, whether the stream has been started, and whether the second normal
    # number of the pair is unused.
    _fields_ = [
        ("x", ctypes.c_double),
        ("y", ctypes.c_double),
        ("radius", ctypes.c_double),
        ("started", ctypes.c_int),
        ("has_second", ctypes.c_int),
    ]


class Generator:
    """A random number generator.

    seed: what it was started with, 0 to 2^64 - 1; the stream depends on its low 32 bits.
    Manual: Random Numbers, torch.Generator().
    """

    typename = "torch.Generator"
    __slots__ = ("_shared", "_twister", "seed")

    def __init__(self) -> None:
        self._twister: MT19937 | None = None  # one for all seeds: Lua has its address
        self._shared = _Shared()
        self.seed_randomly()

    def seed_randomly(self) -> int:
        """Start a stream that nobody foresees; returns its seed."""
        # Torch7: 64 bits. A Lua number holds 53: with those it can ask for the stream again.
        self.manual_seed(int.from_bytes(os.urandom(8), "little") >> 11)
        return self.seed

    def manual_seed(self, seed: int) -> None:
        """Start the stream of a seed."""
        self.seed = seed & 0xFFFFFFFFFFFFFFFF
        shared = self._shared
        shared.x = shared.y = shared.radius = 0.0
        shared.started = shared.has_second = 0

    def _stream(self) -> MT19937:
        if self._twister is not None and self._shared.started:
            return self._twister
        # Only here: importing numpy.random takes longer than most programs' other imports.
        from numpy.random import MT19937, RandomState

        if self._twister is None:
            self._twister = MT19937()
        RandomState(self._twister).seed(self.seed & 0xFFFFFFFF)
        self._shared.started = 1
        return self._twister

    def native_stream(self) -> tuple[int, int, int] | None:
        """Return addresses for C code that draws words: of a function, of its argument, and of what
        it shares with this object. None where there is no such function.

        They stay valid as long as the generator lives. The stream is started.
        """
        function = _next_word()
        if function is None:
            return None
        state: int = self._stream().ctypes.state_address
        return function, state, ctypes.addressof(self._shared)

    # -- numbers

    def word(self) -> int:
        """The next 32 bits."""
        return self._stream().random_raw()

    def words(self, count: int) -> Array:
        """The next words, of 32 bits each in 64."""
        return self._stream().random_raw(count)

    def uniform_number(self) -> float:
        """The next number of [0, 1)."""
        return self.word() * _TO_UNIT

    def uniform(self, count: int) -> Array:
        """The next numbers of [0, 1), as doubles."""
        words = self.words(count)
        words |= _EXPONENT
        numbers = words.view(np.float64)
        numbers -= _AT_EXPONENT
        return numbers

    def normal_number(self) -> float:
        """The next normal number with mean 0 and standard deviation 1."""
        if self._shared.has_second:
            return self._second()
        x, y = self.uniform_number(), self.uniform_number()
        radius = self._keep(x, y, True)
        return radius * math.cos(2 * math.pi * x)

    def normal(self, count: int) -> Array:
        """The next normal numbers with mean 0 and standard deviation 1, as doubles."""
        if count and self._shared.has_second:
            return np.concatenate(([self._second()], self.normal(count - 1)))
        draws = self.uniform(count + count % 2)
        if count:
            self._keep(float(draws[-2]), float(draws[-1]), count % 2 == 1)
        share(
            lambda at: _box_muller(draws[2 * at.start : 2 * at.stop]),
            len(draws) // 2,
            piece=PIECE,
            large=_SLOW,
        )
        return draws[:count]

    def _second(self) -> float:
        self._shared.has_second = 0
        radius: float = self._shared.radius
        return radius * math.sin(2 * math.pi * self._shared.x)

    def _keep(self, x: float, y: float, has_second: bool) -> float:
        radius = math.sqrt(-2 * math.log(1 - y))
        self._set_pair(x, y, radius, has_second)
        return radius

    def _set_pair(self, x: float, y: float, radius: float, has_second: bool) -> None:
        shared = self._shared
        shared.x, shared.y, shared.radius, shared.has_second = x, y, radius, has_second

    # -- state

    @property
    def state(self) -> bytes:
        """All there is to know, STATE_SIZE bytes in the reference's layout."""
        twister = self._stream().state["state"]
        words, at = twister["key"], twister["pos"]
        # Torch7: counts as after a full turn at the start too, but stands at 0 there.
        fresh = at == _WORDS and words[0] == self.seed & 0xFFFFFFFF
        key = words.astype("<u8").tobytes()
        position = 0 if fresh else at
        head = (self.seed, _WORDS + 1 - at, 1, position)
        shared = self._shared
        pair = shared.x, shared.y, shared.radius, bool(shared.has_second)
        return _STATE.pack(*head, key, *pair)

    @state.setter
    def state(self, state: bytes) -> None:
        """Go on from a state; raises ValueError for bytes that are none."""
        seed, left, seeded, position, key, *pair, has_second = _STATE.unpack(state)
        if seeded != 1 or not 0 < left <= _WORDS or position > _WORDS:
            raise ValueError("not a state")
        self.seed = seed
        words = np.frombuffer(key, "<u8").astype(np.uint32)
        self._stream().state = {
            "bit_generator": "MT19937",
            "state": {"key": words, "pos": _WORDS + 1 - left},
        }
        self._set_pair(pair[0], pair[1], pair[2], bool(has_second))


@cache
def _next_word() -> int | None:
    """The address of the C function that draws a word; it is tried once."""
    from numpy.random import MT19937

    first_stream, second_stream = MT19937(5), MT19937(5)
    try:
        function, state = first_stream.ctypes.next_uint32, first_stream.ctypes.state_address
    except (AttributeError, ImportError):
        return None
    if [function(state) for _ in range(3)] != second_stream.random_raw(3).tolist():
        note("numpy's function for random words is done without: it draws others")
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


def _box_muller(draws: Array) -> None:
    """Turn pairs of uniform numbers, one after the other, into pairs of normal ones."""
    pairs = draws.view(np.complex128)
    radius = libm.log(1 - pairs.imag)
    radius *= -2
    np.sqrt(radius, out=radius)
    np.multiply(pairs.real, 2 * np.pi, out=pairs.imag)
    pairs.real = 0
    libm.replace_by_cosine_and_sine(pairs)
    pairs.real *= radius
    pairs.imag *= radius


OBJECT_KINDS["Generator"] = object_kind("Generator", Generator)


def default_generator() -> Generator:
    """torch._gen: what an engine's functions draw from that are given no generator."""
    return current(Generator)


def chosen(generator: Generator | None) -> Generator:
    """The generator that a call has given, or the default one."""
    return generator if generator is not None else default_generator()
