"""Functions that PyTorch has removed: their errors say what there is instead."""

from __future__ import annotations

from typing import Any

__all__ = ["REMOVED"]

_INSTEAD = {
    "cholesky": "torch.linalg.cholesky",
    "eig": "torch.linalg.eig",
    "lstsq": "torch.linalg.lstsq",
    "qr": "torch.linalg.qr",
    "solve": "torch.linalg.solve",
    "symeig": "torch.linalg.eigh",
}
#: What else the errors say.
_MORE = {
    "cholesky": "\nL = torch.cholesky(A) should be replaced with:\nL = torch.linalg.cholesky(A)\n"
    "U = torch.cholesky(A, upper=True) should be replaced with:\nU = torch.linalg.cholesky(A).mH"
}


def _removed(name: str, instead: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise RuntimeError(
            f"This function was deprecated since version 1.9 and is now removed. `torch.{name}` is "
            f"deprecated in favor of `{instead}`.{_MORE.get(name, '')}"
        )

    call.__name__ = name
    call.__doc__ = f"Removed from PyTorch: {instead} is there instead."
    return call


REMOVED = {name: _removed(name, instead) for name, instead in _INSTEAD.items()}
