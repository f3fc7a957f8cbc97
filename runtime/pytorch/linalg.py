"""torch.linalg: the functions of the table whose names begin with linalg_."""

from __future__ import annotations

from th_shell.torch.compute.matrices import LinAlgError
from th_shell.torch.ops.matrices import multi_dot
from th_shell.torch.submodules import names_of

__all__ = ["LinAlgError", "multi_dot"]

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of
__getattr__, __dir__ = names_of("linalg", __all__)
