"""How the arguments of a call become those of an implementation."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.pytorch.calls.kinds import AS_IT_IS, Converter, as_ints, converter
from runtime.pytorch.calls.messages import has_ints_apart, parameter_of
from runtime.pytorch.calls.options import OPTIONS
from runtime.pytorch.calls.schema import Parameter, Schema
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
        return deliver(out, result)


def bind(
    schema: Schema,
    implementation: Callable[..., Any],
    args: Sequence[Any],
    named: Mapping[str, Any],
    numbers: bool,
    is_method: bool,
) -> Binding:
    """The binding of a call's arguments, which fit the signature, by their types."""
    skip = 1 if is_method else 0
    given = args[skip:]
    apart = skip if has_ints_apart(schema, given) else None
    by_position: list[Converter] = [AS_IT_IS] * skip
    if apart is not None:
        by_position.append(AS_IT_IS if set(map(type, given)) == {int} else as_ints)
    else:
        for parameter, value in zip(schema.positional, given, strict=False):
            by_position.append(_converter(parameter, value, numbers))
    own = _own_names(schema, implementation, skip)
    by_name = {}
    for name, value in named.items():
        meant = parameter_of(schema, name)
        assert meant is not None
        target = own.get(meant.name, meant.python_name)
        by_name[name] = target, _converter(meant, value, numbers)
    return Binding(implementation, by_position, by_name, apart)


def _converter(parameter: Parameter, value: Any, numbers: bool) -> Converter:
    found = converter(parameter, type(value), numbers)
    assert found is not None
    return found


def _own_names(schema: Schema, implementation: Callable[..., Any], skip: int) -> dict[str, str]:
    """What an implementation calls the parameters that may be given by position."""
    own = list(inspect.signature(implementation).parameters.values())[skip:]
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, own)
    return dict(zip([p.name for p in schema.positional], [p.name for p in plain], strict=False))
