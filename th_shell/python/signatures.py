"""How functions are called, for help and completion.

Functions of C, and those that may be called in several ways, say it in the first lines of their
documentation, as `sum(Tensor input, *, torch.dtype dtype = None)`; of others Python knows it.
"""

from __future__ import annotations

import inspect
import re
from itertools import takewhile
from typing import Any

#: The last word of a parameter before its default is its name.
_PARAMETER = re.compile(r"(\w+)(?: ?= ?[^,()]*(?:\([^()]*\))?)?\s*(?=[,)\]])")


def calls_of(name: str, value: Any) -> list[str]:
    """The ways in which something is called; none where it is not, or nobody knows."""
    texts = _documented(value)
    if texts:
        owner = name.rpartition(".")[0]
        return [f"{owner}.{text}" if owner else text for text in texts]
    call = call_of(name, value)
    return [call] if call else []


def call_of(name: str, value: Any) -> str:
    """The first way in which something is called: 'sum(input, *, dtype=None)'; or ''."""
    texts = _documented(value)
    if texts:
        return texts[0] + " …" * (len(texts) > 1)
    found = _signature(value)
    return "" if found is None else f"{name}{found}"


def parameters_of(value: Any) -> list[str]:
    """The names of the parameters that a call may give by name."""
    texts = _documented(value)
    if texts:
        names = [one for text in texts for one in _PARAMETER.findall(text.partition("(")[2])]
        return list(dict.fromkeys(names))
    found = _signature(value)
    if found is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [one.name for one in found.parameters.values() if one.kind in kinds]
    return [name for name in names if name != "self"]


def documentation_of(value: Any) -> str:
    """What something says of itself, without the ways in which it is called."""
    lines = _lines(value)
    return "\n".join(lines[len(_documented(value)) :]).strip("\n")


def _documented(value: Any) -> list[str]:
    name = getattr(value, "__name__", None)
    if not callable(value) or not isinstance(name, str):
        return []
    return list(takewhile(lambda line: line.startswith(f"{name}("), _lines(value)))


def _lines(value: Any) -> list[str]:
    try:
        return (inspect.getdoc(value) or "").splitlines()
    except Exception:  # by the value's own methods
        return []


def _signature(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value) if callable(value) else None
    except Exception:  # it has none, or its own methods fail
        return None
