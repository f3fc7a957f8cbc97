"""torch.return_types: named tuples, of which operations with several results return one.

Each is a tuple whose parts have names. The classes are made from one table, by the operations'
names.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from th_shell.runtime.core.pickles import makes, restored
from th_shell.torch.base.c_types import CType


class ReturnType(CType, tuple[Any, ...]):
    """A tuple with names for its parts; its subclasses say which."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __new__(cls, sequence: Iterable[Any]) -> ReturnType:
        """Return a result of its parts.

        Errors: TypeError for what is no sequence, or has another number of parts.
        """
        parts = _parts(sequence)
        if len(parts) != cls.n_fields:
            takes = f"takes a {cls.n_fields}-sequence ({len(parts)}-sequence given)"
            raise TypeError(f"torch.return_types.{cls.__name__}() {takes}")
        return tuple.__new__(cls, parts)

    def __repr__(self) -> str:
        """Return the name, and a line for each part."""
        parts = zip(self.__match_args__, self, strict=True)
        lines = ",\n".join(f"{name}={part!r}" for name, part in parts)
        return f"torch.return_types.{type(self).__name__}(\n{lines})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that makes an equal object, for pickle and copy."""
        return restored, ("result", type(self).__name__, tuple(self))


def _parts(sequence: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sequence)
    except TypeError:
        raise TypeError("constructor requires a sequence") from None


@makes("result")
def _restored(name: str, parts: tuple[Any, ...]) -> ReturnType:
    return RESULTS[name](parts)


def _make(name: str, fields: tuple[str, ...]) -> type[ReturnType]:
    """Return the class of an operation's results."""
    members = {"__slots__": (), "__module__": "torch.return_types", "__match_args__": fields}
    counts = dict.fromkeys(("n_fields", "n_sequence_fields"), len(fields))
    parts = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    return type(name, (ReturnType,), {**members, **counts, **parts})


#: The names of the operations, by those of the parts of their results.
_NAMES = {
    "values indices": "cummax cummin kthvalue max median min mode nanmedian sort topk",
    "min max": "aminmax",
    "mantissa exponent": "frexp",
    "eigenvalues eigenvectors": "linalg_eig linalg_eigh",
    "solution residuals rank singular_values": "linalg_lstsq",
    "P L U": "linalg_lu",
    "LU pivots": "linalg_lu_factor",
    "LU pivots info": "linalg_lu_factor_ex",
    "Q R": "linalg_qr",
    "sign logabsdet": "linalg_slogdet slogdet",
    "U S Vh": "linalg_svd",
    "U S V": "svd",
}
#: The names of the parts of each operation's results.
FIELDS = {name: tuple(parts.split()) for parts, names in _NAMES.items() for name in names.split()}

#: Where the results are written to given tensors, the tuple has a class of its own.
FIELDS |= {f"{name}_out": fields for name, fields in FIELDS.items()}

RESULTS = {name: _make(name, fields) for name, fields in sorted(FIELDS.items())}
all_return_types = list(RESULTS.values())


def named(name: str, *parts: Any) -> Any:
    """Return an operation's results as its named tuple."""
    return tuple.__new__(RESULTS[name], parts)
