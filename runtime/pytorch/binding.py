"""How the arguments of a call become those of an implementation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.pytorch.kinds import AS_IT_IS, Converter, converter
from runtime.pytorch.options import OPTIONS
from runtime.pytorch.schema import Parameter, Schema
from runtime.pytorch.writing import deliver

__all__ = ["Binding", "Plan", "bind"]

#: Takes a call's arguments as they were given; raises Rejected where a value does not fit.
Plan = Callable[..., Any]

#: numpy's names of parameters, which PyTorch takes as well.
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x2": "other"}


class Binding:
    """A signature with the converters of a call's arguments."""

    def __init__(
        self,
        implementation: Callable[..., Any],
        by_position: Sequence[Converter],
        by_name: Mapping[str, tuple[str, Converter]],
        apart: int | None,
    ) -> None:
        self._implementation = implementation
        self._by_position = by_position
        self._by_name = by_name
        self._apart = apart  # from this argument on all are ints of one tuple
        self._takes_out = "out" in inspect.signature(implementation).parameters
        self.plan = self._make()

    def check(self, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Raise Rejected, or an error, where a value does not fit."""
        self._convert(args, named)

    def _make(self) -> Plan:
        renames = any(given != name for given, (name, _) in self._by_name.items())
        looked_at = any(self._is_ours(name) for name, _ in self._by_name.values())
        converts = any(c is not AS_IT_IS for c in self._by_position) or any(
            c is not AS_IT_IS for _, c in self._by_name.values()
        )
        if self._apart is None and not (renames or looked_at or converts):
            return self._implementation
        return self._call

    def _is_ours(self, name: str) -> bool:
        return name in OPTIONS or (name == "out" and not self._takes_out)

    def _convert(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        if self._apart is not None:
            args = (*args[: self._apart], args[self._apart :])
        values = [c(v) for c, v in zip(self._by_position, args, strict=True)]
        found = {self._by_name[k][0]: self._by_name[k][1](v) for k, v in named.items()}
        return values, found

    def _call(self, *args: Any, **named: Any) -> Any:
        values, found = self._convert(args, named)
        for name in [name for name in found if name in OPTIONS]:
            OPTIONS[name](found.pop(name))
        if self._takes_out or found.get("out") is None:
            if not self._takes_out:
                found.pop("out", None)
            return self._implementation(*values, **found)
        out = found.pop("out")
        return deliver(out, self._implementation(*values, **found))


def bind(
    schema: Schema,
    implementation: Callable[..., Any],
    args: Sequence[Any],
    named: Mapping[str, Any],
    numbers: bool,
    is_method: bool,
) -> Binding | None:
    """The binding of a call's arguments by their types; None where they do not fit."""
    skip = 1 if is_method else 0
    positional = schema.positional
    apart = _ints_apart(schema, args, skip)
    given = [type(v) for v in args[skip:]]
    if apart is not None:
        given = [tuple]
    if len(given) > len(positional):
        return None
    by_position: list[Converter] = [AS_IT_IS] * skip
    for parameter, kind in zip(positional, given, strict=False):
        convert = converter(parameter, kind, numbers)
        if convert is None:
            return None
        by_position.append(convert)
    by_name = _bind_names(schema, named, [p.name for p in positional[: len(given)]], numbers)
    if by_name is None or _lacks(schema, len(given), by_name):
        return None
    return Binding(implementation, by_position, by_name, apart)


def _ints_apart(schema: Schema, args: Sequence[Any], skip: int) -> int | None:
    """Where the ints begin that stand for a tuple: x.view(2, 3)."""
    if not schema.takes_ints_apart or len(args) <= skip:
        return None
    first = Parameter("int", "", None, False, False, False)
    return skip if all(converter(first, type(v)) for v in args[skip:]) else None


def _bind_names(
    schema: Schema, named: Mapping[str, Any], taken: Sequence[str], numbers: bool
) -> dict[str, tuple[str, Converter]] | None:
    found: dict[str, tuple[str, Converter]] = {}
    for given, value in named.items():
        parameter = schema.by_name.get(given) or schema.by_name.get(_NUMPY_NAMES.get(given, ""))
        if parameter is None or parameter.name in taken:
            return None
        convert = converter(parameter, type(value), numbers)
        if convert is None:
            return None
        found[given] = parameter.name, convert
    return found


def _lacks(schema: Schema, given: int, by_name: Mapping[str, tuple[str, Converter]]) -> bool:
    names = {name for name, _ in by_name.values()}
    rest = [p for p in schema.parameters if p.keyword_only or p not in schema.positional[:given]]
    return any(p.default is None and p.name not in names for p in rest)
