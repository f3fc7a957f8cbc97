"""Python functions that Lua programs call with values, and not with objects of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.calls.forms import Foreign
from th_shell.runtime.core.encoding import to_text
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.host.guards import answering, guarded


def door(name: str, function: Callable[..., str | None]) -> Callable[..., Any]:
    """A function as Lua calls it (see `Engine.define`). name: that of the function in errors."""

    def call(*args: Any) -> str | None:
        try:
            return function(*[_value(arg) for arg in args])
        except ValueError as error:
            raise TorchError(f"{name}: {error}") from None

    return guarded(answering(call))


def _value(arg: Any) -> Any:
    """A value that knows nothing of Lua: arrays are copies."""
    if isinstance(arg, Tensor):
        return np.array(arg.array) if arg.sizes else np.empty(0)
    if isinstance(arg, Storage):
        return np.array(arg.data)
    if isinstance(arg, bytes):
        return to_text(arg)
    if isinstance(arg, Foreign):
        raise ValueError(f"takes tensors, numbers and strings, not a {arg.typename or arg.kind}")
    if isinstance(arg, list):
        raise ValueError("takes tensors, numbers and strings, not a table")
    return arg
