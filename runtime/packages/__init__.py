"""The Python halves of Lua packages that programs load by ``require``.

The package ``image`` is Lua code in ``packages/image``, and the module or Python package
``th_shell.runtime.packages.image``, which is imported when Lua first asks for one of its functions.
Lua finds functions there by the names that they have in Python. They get what Lua passes as
operations do (tensors as `Tensor`, strings as bytes, tables of tensors as lists), and return a
number, bool, bytes, None (nil), a new tensor, one of their arguments, or a tuple of these. Where
Lua asks for a function for one element type, it gets a `Call` of that type instead.

A library that not all users need is an extra of ``pyproject.toml``, and is imported by `optional`
where it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.calls.results import encode
from th_shell.runtime.core.dtypes import DTYPES
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.interrupts import mark_interruptible
from th_shell.runtime.core.state import GUESTS, settle

__all__ = ["entry", "optional"]


def entry(package: bytes, name: bytes, dtype: int | None) -> Callable[..., Any]:
    """Return what Lua calls for a function of a package.

    dtype: the index of the element type that the function gets a `Call` of, if any.
    """
    module = import_module(f"th_shell.runtime.packages.{package.decode()}")
    function = getattr(module, name.decode())

    def call(*args: Any) -> Any:
        try:
            if GUESTS:
                settle()
            values = args if dtype is None else (Call(DTYPES[dtype], args),)
            return encode(function(*values), args)
        except BaseException as error:
            return encode_error(error, args)

    return mark_interruptible(call)


def optional(module: str, library: str, extra: str) -> Any:
    """Import a module of a library that an extra brings; TorchError says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise TorchError(
            f"{library} is needed for this and cannot be loaded ({error}): "
            f"pip install 'th-shell[{extra}]'"
        ) from error
