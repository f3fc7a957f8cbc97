"""The hints on an error: the line that it is about, and what is known to help.

A hint is made from the message, the line and the values of the session, without running any code.
Where more than one thing may be meant, there is none: a wrong hint is worse.
"""

from __future__ import annotations

from collections.abc import Sequence

from th_shell.entry import Entry
from th_shell.hints import calls, nil_names, sizes, syntax
from th_shell.hints.failure import Place, Rule, failure_of, place_of
from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError

_RULES: tuple[Rule, ...] = (
    nil_names.nil_name,
    calls.colon,
    nil_names.nil_argument,
    sizes.products,
    sizes.element_counts,
    sizes.view_sizes,
    sizes.index_range,
    sizes.sizes_of_all,
    calls.operands,
    calls.call_of_tensor,
    calls.loop_limit,
    calls.wrong_kind,
    calls.conversion,
)
_SYNTAX: tuple[Rule, ...] = (syntax.brackets_missing, syntax.comma_missing, syntax.notation)

#: Functions with which programs raise errors of their own, whatever these say.
_RAISING = ("error", "assert", "xerror")

#: Functions whose own errors are those of a file that does not compile.
_COMPILING = ("dofile",)


#: Characters of a message, and of a line of code, that are looked at: rules may take the square.
_LONGEST = 2000


def hints_on(error: LuaError, log: Sequence[Entry], engine: Engine) -> list[str]:
    """Return the lines under an error of the last input: at most one of source and two more."""
    place = place_of(error, log)
    if place is None:
        return []
    failure, lines = failure_of(error, place, engine), _quoted(place, log)
    if failure.function in _RAISING or max(map(len, (failure.text, failure.code))) > _LONGEST:
        return lines
    is_syntax = isinstance(error, LuaSyntaxError) or failure.function in _COMPILING
    rules = _SYNTAX if is_syntax else _RULES
    hint = next(filter(None, (rule(failure) for rule in rules)), "")
    return [*lines, f"hint: {hint}"] if hint else lines


def hints_on_nil(source: str, engine: Engine) -> list[str]:
    """Return the lines under an input that may have printed nil for a name that is none here."""
    hint = nil_names.of_nil_result(source, engine)
    return [f"hint: {hint}"] if hint else []


def _quoted(place: Place, log: Sequence[Entry]) -> list[str]:
    """Return the line that the message names, unless it is all that was typed last."""
    shown = place.line.strip()
    if not shown or (log and shown == log[-1].source.strip()):
        return []
    if len(shown) > 200:
        shown = f"{shown[:200]} …"
    return [f"{place.chunk}:{place.number}:  {shown}"]
