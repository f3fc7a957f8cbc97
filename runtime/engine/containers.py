"""Dicts, lists and the like as the values that lua/values.lua makes tables of: see its `build`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from th_shell.runtime.core.dtypes import EXACT
from th_shell.runtime.core.texts import to_bytes
from th_shell.runtime.t7.values import TorchObject

#: What is often asked for first; for Mapping Python has to look long.
CONTAINERS = (list, tuple, dict, TorchObject, Mapping)

_PLAIN = {int, float, bool, str, bytes, type(None)}
_MANY = 8  # values: fewer are looked at one by one, which takes half the time then
_AT_A_TIME = 1000  # values: Lua's stack has room for some thousands


def plain_values(values: Sequence[Any]) -> Sequence[Any] | None:
    """Values as they cross where Lua can have each as it is; otherwise None."""
    if len(values) < _MANY:
        return _few_plain_values(values)
    kinds = set(map(type, values))
    if not kinds <= _PLAIN:
        return None
    if int in kinds:
        whole = values if len(kinds) == 1 else [v for v in values if type(v) is int]
        if min(whole) < -EXACT or max(whole) > EXACT:
            return None
    if str in kinds:
        return [to_bytes(value) if type(value) is str else value for value in values]
    return values


def _few_plain_values(values: Sequence[Any]) -> list[Any] | None:
    plain = []
    for value in values:
        kind = type(value)
        if kind is str:
            value = to_bytes(value)
        elif kind not in _PLAIN or kind is int and not -EXACT <= value <= EXACT:
            return None
        plain.append(value)
    return plain


def flattened(
    values: Sequence[Any], to_pair: Callable[[Any], tuple[Any, Any]]
) -> list[tuple[Any, ...]]:
    """Some values, and all that containers among them hold, as `build` reads them, in parts.

    to_pair: makes the pair of a value that is no container.
    """
    flat: list[Any] = []
    places: dict[int, int] = {}
    waiting: list[Any] = [values]

    def pair(value: Any) -> tuple[Any, Any]:
        if not isinstance(value, CONTAINERS):
            return to_pair(value)
        place = places.get(id(value))
        if place is None:
            waiting.append(value)
            place = places[id(value)] = len(waiting)
        if isinstance(value, TorchObject):
            return place, b"table " + to_bytes(value.torch_typename)
        return place, b"table"

    def add(items: Sequence[Any]) -> None:
        plain = plain_values(items)
        flat.append(plain is not None)
        if plain is None:
            plain = [part for item in items for part in pair(item)]
        flat.extend(plain)

    for container in waiting:  # which grows meanwhile
        if isinstance(container, TorchObject):
            container = container.fields
        entries = {} if isinstance(container, (list, tuple)) else container
        flat.append(0 if container is entries else len(container))
        add(() if container is entries else container)
        flat.append(len(entries))
        if entries:
            add(list(entries.keys()))
            add(list(entries.values()))
    return [tuple(flat[i : i + _AT_A_TIME]) for i in range(0, len(flat), _AT_A_TIME)]
