"""The table of operations: call forms, and the functions that implement them.

A row is written beside its implementation in ``ops/`` with `@op` (the reference matches the form
and prints it in its error) or `@checked` (the reference checks the arguments one by one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from runtime.core.dtypes import DTYPES, REALS, DType

__all__ = ["ALL", "EVERY", "FLOATS", "TABLE", "Row", "checked", "op"]

ALL = REALS
EVERY = DTYPES  # Half, too
FLOATS = tuple(dtype for dtype in REALS if dtype.is_float)

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Row:
    """One call form of one operation.

    method, function: the form as x:name(...) and as torch.name(...); None where absent.
    types: the element types that have it. hand: the arguments are checked one by one.
    each, total: a Lua formula for one element of the result, or for what the result is the sum
    of (an element, or a product of two), in the implementation's names (compute/formulas.py).
    fresh: what runs instead where the call leaves the destination out.
    pick: a Lua formula: whether an element `x` goes before the `best` one so far, for the two
    results of an extremum along a dimension.
    """

    name: str
    method: str | None
    function: str | None
    types: tuple[DType, ...]
    implementation: Callable[..., Any]
    hand: bool = False
    each: str | None = None
    total: str | None = None
    fresh: Callable[..., Any] | None = None
    pick: str | None = None

    def form(self, space: str) -> str | None:
        """The form in one name space, 'method' or 'function'."""
        return self.method if space == "method" else self.function


#: All rows by name, in the order in which they are tried.
TABLE: dict[str, list[Row]] = {}


def op(
    name: str,
    method: str | None = None,
    function: str | None = None,
    types: Iterable[DType] = ALL,
    *,
    each: str | None = None,
    total: str | None = None,
    fresh: Callable[..., Any] | None = None,
    pick: str | None = None,
) -> Callable[[F], F]:
    """Add a row whose form the dispatcher matches."""

    def register(implementation: F) -> F:
        formulas = each, total, fresh, pick
        row = Row(name, method, function, tuple(types), implementation, False, *formulas)
        TABLE.setdefault(name, []).append(row)
        return implementation

    return register


def checked(
    name: str,
    method: str | None = None,
    function: str | None = None,
    types: Iterable[DType] = EVERY,
    *,
    each: str | None = None,
) -> Callable[[F], F]:
    """Add a row whose implementation reads its arguments from a `Call` one by one."""

    def register(implementation: F) -> F:
        row = Row(name, method, function, tuple(types), implementation, True, each)
        TABLE.setdefault(name, []).append(row)
        return implementation

    return register
