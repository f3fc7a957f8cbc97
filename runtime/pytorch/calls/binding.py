"""How the arguments of a call become those of an implementation."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.pytorch.calls.kinds import AS_IT_IS, Converter, as_ints, converter
from runtime.pytorch.calls.options import OPTIONS
from runtime.pytorch.calls.schema import NUMPY_NAMES, Parameter, Schema
from runtime.pytorch.tensors.writing import deliver

#: Takes a call's arguments as they were given; raises Rejected where a value does not fit.
Plan = Callable[..., Any]


class Binding:
    """A signature with the converters of a call's arguments.

    plan: what is called from then on with arguments of these types.
    """

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
        own = inspect.signature(implementation).parameters
        self._takes_out = "out" in own
        self._checked = [name for name in OPTIONS if name not in own]
        self.plan = self._make()

    def check(self, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Raise Rejected, or an error, where a value does not fit."""
        self._positions(args)
        self._names(named)

    def _make(self) -> Plan:
        implementation = self._implementation
        as_they_are = all(c is AS_IT_IS for c in self._by_position)
        if any(self._needs_work(*entry) for entry in self._by_name.items()):
            return self._call
        if self._apart is None and as_they_are:
            return implementation
        if self._apart == 0 and as_they_are:
            return lambda *sizes, **named: implementation(sizes, **named)
        if self._apart == 1 and as_they_are:
            return lambda self, *sizes, **named: implementation(self, sizes, **named)
        if self._apart is None and len(self._by_position) <= 2 and not self._by_name:
            return self._make_short(*self._by_position)
        positions = self._positions
        return lambda *args, **named: implementation(*positions(args), **named)

    def _make_short(self, first: Converter, second: Converter | None = None) -> Plan:
        """The plan of one argument or two, which most calls have, without a loop over them."""
        implementation = self._implementation
        if second is None:
            return lambda a: implementation(first(a))
        convert = second
        if first is AS_IT_IS:
            return lambda a, b: implementation(a, convert(b))
        return lambda a, b: implementation(first(a), convert(b))

    def _needs_work(self, given: str, entry: tuple[str, Converter]) -> bool:
        name, convert = entry
        ours = name in self._checked or (name == "out" and not self._takes_out)
        return ours or name != given or convert is not AS_IT_IS

    def _positions(self, args: Sequence[Any]) -> list[Any]:
        if self._apart is not None:
            args = (*args[: self._apart], args[self._apart :])
        return [c(v) for c, v in zip(self._by_position, args, strict=True)]

    def _names(self, named: Mapping[str, Any]) -> dict[str, Any]:
        return {self._by_name[k][0]: self._by_name[k][1](v) for k, v in named.items()}

    def _call(self, /, *args: Any, **named: Any) -> Any:
        values, found = self._positions(args), self._names(named)
        for name in [name for name in found if name in self._checked]:
            OPTIONS[name](found.pop(name))
        if self._takes_out or "out" not in found:
            return self._implementation(*values, **found)
        out = found.pop("out")
        result = self._implementation(*values, **found)
        return result if out is None else deliver(out, result)


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
    by_position: list[Converter] = [AS_IT_IS] * skip
    if apart is not None:
        by_position.append(AS_IT_IS if set(given) == {int} else as_ints)
        given = [tuple]
    elif len(given) > len(positional):
        return None
    else:
        for parameter, kind in zip(positional, given, strict=False):
            convert = converter(parameter, kind, numbers)
            if convert is None:
                return None
            by_position.append(convert)
    by_name = _bind_names(schema, named, [p.name for p in positional[: len(given)]], numbers)
    if by_name is None or _lacks(schema, len(given), by_name):
        return None
    own = _own_names(schema, implementation, skip)
    by_name = {given: (own.get(name, name), c) for given, (name, c) in by_name.items()}
    return Binding(implementation, by_position, by_name, apart)


def _own_names(schema: Schema, implementation: Callable[..., Any], skip: int) -> dict[str, str]:
    """What an implementation calls the parameters that may be given by position."""
    own = list(inspect.signature(implementation).parameters.values())[skip:]
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, own)
    return dict(zip([p.name for p in schema.positional], [p.name for p in plain], strict=False))


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
        parameter = schema.by_name.get(given) or schema.by_name.get(NUMPY_NAMES.get(given, ""))
        if parameter is None or parameter.name in taken:
            return None
        convert = converter(parameter, type(value), numbers)
        if convert is None:
            return None
        found[given] = parameter.python_name, convert
    return found


def _lacks(schema: Schema, given: int, by_name: Mapping[str, tuple[str, Converter]]) -> bool:
    names = {name for name, _ in by_name.values()}
    rest = [p for p in schema.parameters if p.keyword_only or p not in schema.positional[:given]]
    return any(p.default is None and p.python_name not in names for p in rest)
