"""How the arguments of a call become those of an implementation."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.pytorch.calls.device import OPTIONS
from runtime.pytorch.calls.kinds import AS_IT_IS, Converter, as_ints, converter
from runtime.pytorch.calls.messages import has_ints_apart, parameter_of
from runtime.pytorch.calls.schema import Parameter, Schema
from runtime.pytorch.tensors.writing import deliver

Implementation = Callable[..., Any]
#: Takes a call's arguments as they were given; raises Rejected where a value does not fit.
Plan = Callable[..., Any]


#: Makes of the arguments by position those of an implementation.
Positions = Callable[[Sequence[Any]], Sequence[Any]]
#: What an implementation calls an argument by name, and its converter.
ByName = dict[str, tuple[str, Converter]]


@dataclass(frozen=True)
class Row:
    """One signature and what computes it.

    numbers: Python's numbers are taken for tensors. in_place: the result is written to the first
    argument. is_method: the first argument is self, which messages do not count. hidden: messages
    do not list the signature, which PyTorch takes for the sake of old programs.
    """

    schema: Schema
    implementation: Implementation
    numbers: bool = False
    in_place: bool = False
    is_method: bool = False
    hidden: bool = False


def plan_of(row: Row, args: Sequence[Any], named: Mapping[str, Any]) -> Plan:
    """What is called from then on with arguments of these types, which fit the signature."""
    schema, implementation, numbers = row.schema, row.implementation, row.numbers
    skip = 1 if row.is_method else 0
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
    ours = {"out", *OPTIONS} - inspect.signature(implementation).parameters.keys()
    if takes_out(implementation):
        ours.discard("out")
    if all(entry == (name, AS_IT_IS) and name not in ours for name, entry in by_name.items()):
        return _plan_by_position(implementation, by_position, apart, bool(named))
    return _plan_by_name(implementation, _positions(by_position, apart), by_name, ours)


def _converter(parameter: Parameter, value: Any, numbers: bool) -> Converter:
    found = converter(parameter, type(value), numbers)
    assert found is not None
    return found


def takes_out(implementation: Implementation) -> bool:
    """Whether an implementation gets ``out``, by name or among its ``**options``."""
    own = inspect.signature(implementation).parameters.values()
    return any(p.name == "out" or p.kind is p.VAR_KEYWORD for p in own)


def _own_names(schema: Schema, implementation: Implementation, skip: int) -> dict[str, str]:
    """What an implementation calls the parameters that may be given by position."""
    own = list(inspect.signature(implementation).parameters.values())[skip:]
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, own)
    return dict(zip([p.name for p in schema.positional], [p.name for p in plain], strict=False))


def _positions(by_position: Sequence[Converter], apart: int | None) -> Positions:
    """apart: from this argument on all are ints of one tuple."""

    def convert(args: Sequence[Any]) -> list[Any]:
        if apart is not None:
            args = (*args[:apart], args[apart:])
        return [c(v) for c, v in zip(by_position, args, strict=True)]

    return convert


def _plan_by_position(
    implementation: Implementation,
    by_position: Sequence[Converter],
    apart: int | None,
    has_names: bool,
) -> Plan:
    """The plan where arguments by name, if there are any, are passed as they are."""
    as_they_are = all(c is AS_IT_IS for c in by_position)
    if apart is None and as_they_are:
        return implementation
    if apart == 0 and as_they_are:
        return lambda *sizes, **named: implementation(sizes, **named)
    if apart == 1 and as_they_are:
        return lambda self, *sizes, **named: implementation(self, sizes, **named)
    if apart is None and len(by_position) <= 2 and not has_names:
        return _short_plan(implementation, *by_position)
    positions = _positions(by_position, apart)
    return lambda *args, **named: implementation(*positions(args), **named)


def _short_plan(
    implementation: Implementation, first: Converter, second: Converter | None = None
) -> Plan:
    """The plan of one argument or two, which most calls have, without a loop over them."""
    if second is None:
        return lambda a: implementation(first(a))
    convert = second
    if first is AS_IT_IS:
        return lambda a, b: implementation(a, convert(b))
    return lambda a, b: implementation(first(a), convert(b))


def _plan_by_name(
    implementation: Implementation, positions: Positions, by_name: ByName, ours: set[str]
) -> Plan:
    """The plan where arguments by name are converted, or looked at here.

    ours: the names of those that the implementation does not get.
    """
    taken = ours & {name for name, _ in by_name.values()}
    delivers = "out" in taken
    checked = [name for name in OPTIONS if name in taken]

    def call(*args: Any, **named: Any) -> Any:
        values = positions(args)
        found = {by_name[k][0]: by_name[k][1](v) for k, v in named.items()}
        for name in checked:
            OPTIONS[name](found.pop(name))
        out = found.pop("out") if delivers else None
        return deliver(out, implementation(*values, **found))

    return call
