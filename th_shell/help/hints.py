"""The hints on an error: the line that it is about, and what is known to help.

A hint is made from the message, the line and the values of the session, without running any code.
Where more than one thing may be meant, there is none: a wrong hint is worse.
"""

from collections.abc import Sequence

from th_shell.entry import Entry
from th_shell.help import call_hints, name_hints, size_hints
from th_shell.help.failure import Place, Rule, failure_of, place_of
from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError

_RULES: tuple[Rule, ...] = (
    name_hints.nil_name,
    call_hints.colon,
    name_hints.nil_argument,
    size_hints.products,
    size_hints.element_counts,
    size_hints.view_sizes,
    size_hints.index_range,
    size_hints.sizes_of_all,
    call_hints.operands,
    call_hints.call_of_tensor,
    call_hints.loop_limit,
    call_hints.wrong_kind,
    call_hints.conversion,
    call_hints.destination,
)
_SYNTAX: tuple[Rule, ...] = (name_hints.brackets_missing, name_hints.notation)

#: Functions with which programs raise errors of their own, whatever these say.
_RAISING = ("error", "assert", "xerror")

#: Functions whose own errors are those of a file that does not compile.
_COMPILING = ("dofile",)


#: Characters of a message, and of a line of code, above which no hint is sought: rules may take
#: time in proportion to the square of them.
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
    hint = name_hints.of_nil_result(source, engine)
    return [f"hint: {hint}"] if hint else []


def _quoted(place: Place, log: Sequence[Entry]) -> list[str]:
    """Return the line that the message names, unless it is all that was typed last."""
    shown = place.line.strip()
    if not shown or (log and shown == log[-1].source.strip()):
        return []
    if len(shown) > 200:
        shown = f"{shown[:200]} …"
    return [f"{place.chunk}:{place.number}:  {shown}"]
