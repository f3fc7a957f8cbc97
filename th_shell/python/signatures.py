"""How functions are called, for help and completion.

A function that may be called in several ways says so in its attribute `__signatures__`: the texts
of these calls, such as `sum(Tensor input, *, torch.dtype dtype = None)`; objects that are such a
text have it as their `str`, and those with a true attribute `hidden` are left out.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

__all__ = ["call_of", "calls_of", "parameters_of"]

#: The last word of a parameter before its default is its name.
_PARAMETER = re.compile(r"(\w+)(?: = [^,()]*(?:\([^()]*\))?)?\s*(?=[,)]|\Z)")
_CALL = re.compile(r"(?:[\w.]+\.)?(\w+)(\(.*)")


def calls_of(name: str, value: Any) -> list[str]:
    """The ways in which something is called; none where it is not, or nobody knows."""
    texts = _texts(value)
    if texts:
        owner = name.rpartition(".")[0]
        return [f"{owner}.{text}" if owner else text for text in texts]
    call = call_of(name, value)
    return [call] if call else []


def call_of(name: str, value: Any) -> str:
    """How something is called: 'sum(input, *, dtype=None)'; '' where it is not, or nobody knows."""
    if not callable(value):
        return ""
    texts = _texts(value)
    if texts:
        more = " …" if len(texts) > 1 else ""
        return texts[0] + more
    found = _signature(value)
    if found is not None:
        return f"{name}{found}"
    # Functions of C often tell it in the first line of their documentation.
    lines = (getattr(value, "__doc__", None) or "").strip().splitlines()
    call = _CALL.match(lines[0]) if lines else None
    return f"{name}{call[2]}" if call and call[1] == name.rpartition(".")[2] else ""


def parameters_of(value: Any) -> list[str]:
    """The names of the parameters that a call may give by name."""
    texts = _texts(value)
    if texts:
        found_names = [one for text in texts for one in _PARAMETER.findall(text.partition("(")[2])]
        return list(dict.fromkeys(found_names))
    found = _signature(value) if callable(value) else None
    if found is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [one.name for one in found.parameters.values() if one.kind in kinds]
    return [name for name in names if name != "self"]


def _texts(value: Any) -> list[str]:
    found = inspect.getattr_static(value, "__signatures__", ())
    if not isinstance(found, (list, tuple)):
        return []
    return [str(text) for text in found if not getattr(text, "hidden", False)]


def _signature(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value)
    except Exception:  # it has none, or its own methods fail
        return None
