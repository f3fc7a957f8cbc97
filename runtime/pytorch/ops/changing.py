"""How operations are registered that change their tensor: in place, and of a copy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from runtime.pytorch.calls.table import op
from runtime.pytorch.tensors.layouts import copy_of
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import check_single

Change = TypeVar("Change", bound=Callable[..., None])


def changing(*schemas: str, out: bool = True, function: bool = True) -> Callable[[Change], Change]:
    """Register an operation that changes its tensor: as a method in place, and of a copy.

    out: the function has `out=`, and its result is contiguous. function: there is a function.
    """

    def register(change: Change) -> Change:
        def copy(input: Tensor, *args: Any, **named: Any) -> Tensor:
            found = wrap(input.array.copy("C") if out else copy_of(input, input.dtype))
            change(found, *args, **named)
            return found

        def in_place(input: Tensor, *args: Any, **named: Any) -> Tensor:
            check_single(input.array)
            change(input, *args, **named)
            return input

        copy.__doc__ = in_place.__doc__ = inspect.getdoc(change)
        for schema in schemas:
            name, _, rest = schema.partition("(")
            op(f"{name}_({rest}", function=False)(in_place)
            if function:
                op(f"{schema[:-1]}{_with_out(schema)})" if out else schema)(copy)
        return change

    return register


def _with_out(schema: str) -> str:
    return ", Tensor out = None" if "*" in schema else ", *, Tensor out = None"
