"""What LuaJIT does not compile, but other Luas do: how to write it instead."""

from __future__ import annotations

import re

from th_shell.preflight.knowledge import Lack
from th_shell.tokens import tokens

_WRONG = Lack("LuaJIT does not compile it", "correct it")

#: Signs of Lua 5.3 and 5.4, with what stands for them in LuaJIT.
_SIGNS = {
    "//": "use math.floor(a / b)",
    "&": "use bit.band",
    "|": "use bit.bor",
    "~": "use bit.bxor or bit.bnot",
    "<<": "use bit.lshift",
    ">>": "use bit.rshift",
}
_ATTRIBUTE = re.compile(r"\blocal\s+\w+\s*<\s*(?:const|close)\s*>")


def dialect(source: str, line: int) -> Lack:
    """What to do about a syntax error on a line."""
    lines = source.splitlines()
    text = lines[line - 1] if line <= len(lines) else ""
    if _ATTRIBUTE.search(text):
        return Lack("attributes of locals are Lua 5.4's", "leave them out")
    for token in tokens(text):
        if token.kind == "sign" and token.text in _SIGNS:
            return Lack(f"{token.text} is an operator of Lua 5.3", _SIGNS[token.text])
    return _WRONG
