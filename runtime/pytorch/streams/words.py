"""``Words``: the stream of 32-bit words that all random numbers are made of, and its state.

The words are the Mersenne Twister's (MT19937). It makes 624 at a turn; those of the present turn
are kept, so that few words cost no more than a slice.
"""

from __future__ import annotations

import struct
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of

if TYPE_CHECKING:
    from numpy.random import MT19937

_TURN = 624
# PyTorch: the C struct, as it lies in memory: seed, words left in this turn (and one), seeded,
# position, the turn's words, an unused number, the kept normal number, another unused number,
# whether there is a kept one; then the same two for floats, which nothing makes any more.
_STATE = struct.Struct(f"<QiiQ{8 * _TURN}s3di4xf?3x")

#: Words, or numbers, that are made at once: whole turns, a multiple of 16, and few enough for the
#: processor's cache.
BLOCK = 26 * _TURN
#: Bytes of a state.
STATE_SIZE = _STATE.size


class Words:
    """A stream of random words.

    seed: what it was started with, 0 to 2^64 - 1; the words depend on its low 32 bits. spare: the
    second of the last two normal numbers, which are made in pairs; None where it has been used.
    lock: who draws, or changes the state, holds it.
    """

    def __init__(self, seed: int) -> None:
        self.lock = threading.Lock()
        self._turn: Array = np.empty(_TURN, np.uint32)
        self._address = address_of(self._turn)
        self._held: Array = self._turn
        self._twister: MT19937 | None = None
        self.start(seed)

    def start(self, seed: int) -> None:
        """Start the stream of a seed."""
        self.seed = seed
        self.spare: float | None = None
        self._started = False  # whether the twister is that of this seed
        self._fresh = True  # whether there was no turn yet
        self._at = _TURN  # how many words of the turn have been used

    def take(self, count: int) -> Array:
        """Return the next words, as uint32; not to be changed, and valid until more are taken."""
        at = self._at
        stop = at + count
        if stop <= _TURN:
            self._at = stop
            return self._turn[at:stop]
        return self._take_more(count)

    def address(self, count: int) -> int:
        """Return the address of the next words; valid until more are taken."""
        at = self._at
        if at + count <= _TURN:
            self._at = at + count
            return self._address + 4 * at
        self._held = self._take_more(count)
        return address_of(self._held)

    def _take_more(self, count: int) -> Array:
        words = np.empty(count, np.uint32)
        left = _TURN - self._at
        words[:left] = self._turn[self._at :]
        twister = self._ready()
        self._fresh = False
        whole = (count - left) // _TURN * _TURN
        for at in range(left, left + whole, BLOCK):
            stop = min(at + BLOCK, left + whole)
            words[at:stop] = twister.random_raw(stop - at)
        missing = count - left - whole
        self._at = _TURN
        if missing:
            self._turn[:] = twister.random_raw(_TURN)
            words[count - missing :] = self._turn[:missing]
            self._at = missing
        return words

    def _ready(self) -> MT19937:
        """Return the twister, at the end of the present turn."""
        # Only here: importing numpy.random takes longer than most programs' other imports.
        from numpy.random import MT19937, RandomState

        if self._twister is None:
            self._twister = MT19937(0)
        if not self._started:
            RandomState(self._twister).seed(self.seed & 0xFFFFFFFF)
            self._started = True
        return self._twister

    # -- state

    @property
    def state(self) -> bytes:
        """Return all there is to know, STATE_SIZE bytes in PyTorch's layout."""
        state: Any = self._ready().state["state"]
        key = state["key"].astype("<u8").tobytes()
        left, at = (1, 0) if self._fresh else (_TURN + 1 - self._at, self._at)
        spare = self.spare
        return _STATE.pack(
            self.seed, left, 1, at, key, 0.0, spare or 0.0, 0.0, spare is not None, 0.0, False
        )

    @state.setter
    def state(self, state: bytes) -> None:
        """Go on from a state. Raises RuntimeError for bytes that are none, and changes nothing."""
        seed, left, seeded, at, key, _, spare, _, has_spare, _, _ = _STATE.unpack(state)
        fresh = left == 1 and at == 0
        if seeded != 1 or not 0 < left <= _TURN or not (fresh or left + at == _TURN + 1):
            raise RuntimeError("Invalid mt19937 state")
        twister = self._ready()
        words = np.frombuffer(key, "<u8").astype(np.uint32)
        position = _TURN if fresh else 0
        twister.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": position}}
        if not fresh:
            self._turn[:] = twister.random_raw(_TURN)
        self.seed = seed
        self.spare = spare if has_spare else None
        self._started, self._fresh = True, fresh
        self._at = _TURN if fresh else at
