"""torch.fft: what needs no complex numbers, the functions of the table that begin with fft_."""

from __future__ import annotations

from runtime.pytorch.submodules import names_of

__all__: list[str] = []

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of
__getattr__, __dir__ = names_of("fft")
