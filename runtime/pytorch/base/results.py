"""torch.return_types: named tuples, of which operations with several results return one."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from th_shell.runtime.core.pickles import makes, restored


def _make(name: str, fields: str) -> type[Any]:
    """Return the class of an operation's results."""

    class Result(namedtuple(name, fields)):  # type: ignore[misc]  # the fields are not literal
        __slots__ = ()
        __module__ = "torch.return_types"

        def __repr__(self) -> str:
            lines = ",\n".join(f"{field}={getattr(self, field)!r}" for field in fields.split())
            return f"torch.return_types.{name}(\n{lines})"

        def __reduce__(self) -> tuple[Any, ...]:
            return restored, ("result", name, tuple(self))

    Result.__name__ = Result.__qualname__ = name
    return Result


#: The names of the operations, by those of the parts of their results.
_NAMES = {
    "values indices": "cummax cummin kthvalue max median min mode nanmedian sort topk",
    "eigenvalues eigenvectors": "linalg_eigh",
    "Q R": "linalg_qr",
    "sign logabsdet": "linalg_slogdet slogdet",
    "U S Vh": "linalg_svd",
    "U S V": "svd",
}
_RESULTS = {name: _make(name, parts) for parts, names in _NAMES.items() for name in names.split()}


@makes("result")
def _restored(name: str, parts: tuple[Any, ...]) -> Any:
    return named(name, *parts)


def named(name: str, *parts: Any) -> Any:
    """Return an operation's results as its named tuple."""
    return _RESULTS[name](*parts)
