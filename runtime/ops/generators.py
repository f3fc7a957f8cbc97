"""Manual, Random Numbers: generators, their seeds and their states."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.classes import class_id
from th_shell.runtime.calls.table import op
from th_shell.runtime.compute.generator import STATE_SIZE, Generator, chosen
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Tensor

_NO_RESULTS = (None, 0)


@op("Generator.new", function="")
def new() -> tuple[Generator, int]:
    """A new generator with a random seed."""
    return Generator(), class_id(Generator)


@op("seed", function="[Generator]")
def seed(generator: Generator | None) -> int:
    """Start the generator's stream from a random seed, which is returned."""
    return chosen(generator).seed_randomly()


@op("initialSeed", function="[Generator]")
def initial_seed(generator: Generator | None) -> int:
    """The seed that the generator's stream was started from, as a number of 64 bits."""
    unsigned = chosen(generator).seed
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


@op("manualSeed", function="[Generator] long")
def manual_seed(generator: Generator | None, seed: int) -> tuple[None, int]:
    """Start the generator's stream from a seed."""
    chosen(generator).manual_seed(seed)
    return _NO_RESULTS


@op("getRNGState", function="[Generator] [*ByteTensor*]")
def get_state(generator: Generator | None, r: Tensor) -> None:
    """r = the generator's state, in the bytes that the reference gives.

    Raises ArgError where r, resized, is not contiguous.
    """
    r.resize((STATE_SIZE,))
    _check_contiguous(r)
    r.array[...] = np.frombuffer(chosen(generator).state, np.uint8)


@op("setRNGState", function="[Generator] [*ByteTensor*]")
def set_state(generator: Generator | None, state: Tensor) -> None:
    """Continue the stream from a state that getRNGState gave.

    Raises ArgError where it is none, or not contiguous.
    """
    if state.nelement != STATE_SIZE:
        raise ArgError(1, "RNG state is wrong size")
    _check_contiguous(state)
    try:
        chosen(generator).state = state.array.tobytes()
    except ValueError:
        raise ArgError(1, "Invalid RNG state") from None


def _check_contiguous(state: Tensor) -> None:
    if not state.is_contiguous:
        raise ArgError(1, "RNG state needs to be contiguous")
