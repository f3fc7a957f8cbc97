"""``$name`` in a command of the system's shell: the value of a Lua variable.

A name that Lua knows stands for Lua's value, quoted so that the shell takes it as one word; other
names are the shell's own, and so are `$$name`, `${name}`, names that the command itself sets (`for
name in`, `name=`), and what stands in single quotes. Values are strings, numbers and booleans.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

#: The Lua type of a variable's value, and its text if it is a string, number or boolean.
Lookup = Callable[[str], tuple[str, str | None]]

_PART = re.compile(
    r"(?P<kept>\\[\s\S]|\$\{[^}]*\}?)|(?P<quote>['\"])|(?P<double>\$\$(?=[A-Za-z_]))"
    r"|\$(?P<name>[A-Za-z_]\w*)",
    re.ASCII,
)
_SET = re.compile(r"\bfor\s+([A-Za-z_]\w*)|(?:^|[\s;&|(])([A-Za-z_]\w*)=|\bread\s+([A-Za-z_]\w*)")
_SPECIAL = re.compile(r'([\\"$`])')


class WrongVariable(Exception):
    """A variable whose value cannot stand in a command; the message says why."""


def substitute(command: str, lookup: Lookup) -> str:
    """A command with the values of Lua's variables in it. Raises WrongVariable."""
    own = {name for names in _SET.findall(command) for name in names}
    quote = ""

    def replaced(part: re.Match[str]) -> str:
        nonlocal quote
        text = part[0]
        if part["quote"]:
            quote = "" if quote == text else quote or text
        elif quote != "'" and part["double"]:
            return "$"
        elif quote != "'" and part["name"] and part["name"] not in own:
            return _value(part["name"], quote, lookup)
        elif quote == "'" and text.startswith("\\") and text[1:] == "'":
            quote = ""  # a backslash means nothing in single quotes: the quote ends them
        return text

    return _PART.sub(replaced, command)


def _value(name: str, quote: str, lookup: Lookup) -> str:
    kind, text = lookup(name)
    if kind == "nil":
        return f"${name}"
    if text is None:
        raise WrongVariable(
            f"${name} is a {kind}: only strings, numbers and booleans can stand in a command; "
            f"$${name} is the shell's own"
        )
    if "\0" in text:
        raise WrongVariable(f"${name} has a zero byte, which no command can be given")
    return _SPECIAL.sub(r"\\\1", text) if quote else shlex.quote(text)
