"""torch.special: the functions of the table whose names begin with special_."""

from __future__ import annotations

from th_shell.torch.submodules import names_of

__all__: list[str] = []

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of
__getattr__, __dir__ = names_of("special")
