"""torch.random: the default generator's seed and state.

PyTorch's documentation: torch.random.
"""

from __future__ import annotations

from typing import Any

from th_shell.torch.streams.generator import Generator, default_generator
from th_shell.torch.tensors.tensor import Tensor

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed: Any) -> Generator:
    """Start the default generator's stream of a seed, from -2^63 to 2^64 - 1; returns it."""
    return default_generator.manual_seed(int(seed))


seed = default_generator.seed
initial_seed = default_generator.initial_seed


def get_rng_state() -> Tensor:
    """Return the default generator's state, a tensor of 5056 bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state. Raises TypeError and RuntimeError."""
    default_generator.set_state(new_state)
