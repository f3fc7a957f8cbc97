"""How functions are called, for help and completion."""

from __future__ import annotations

import inspect
import re
from typing import Any

__all__ = ["call_of", "parameters_of"]

_CALL = re.compile(r"(?:[\w.]+\.)?(\w+)(\(.*)")


def call_of(name: str, value: Any) -> str:
    """How something is called: 'sum(input, *, dtype=None)'; '' where it is not, or nobody knows."""
    if not callable(value):
        return ""
    found = _signature(value)
    if found is not None:
        return f"{name}{found}"
    # Functions of C often tell it in the first line of their documentation.
    lines = (getattr(value, "__doc__", None) or "").strip().splitlines()
    call = _CALL.match(lines[0]) if lines else None
    return f"{name}{call[2]}" if call and call[1] == name.rpartition(".")[2] else ""


def parameters_of(value: Any) -> list[str]:
    """The names of the parameters that a call may give by name."""
    found = _signature(value) if callable(value) else None
    if found is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [one.name for one in found.parameters.values() if one.kind in kinds]
    return [name for name in names if name != "self"]


def _signature(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value)
    except Exception:  # it has none, or its own methods fail
        return None
