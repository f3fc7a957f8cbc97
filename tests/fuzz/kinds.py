"""What in an output is wrong, and which findings are probably one."""

from __future__ import annotations

import re

__all__ = ["bad_lines", "kind_of"]

#: What no output may hold.
_BAD = re.compile(
    r"FINDING .*|.*internal error.*|Traceback \(most.*|.*\[th\] \S+ (?!in function).*"
    r"|.*Fatal Python.*"
)

_VALUES = re.compile(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[+-]?\d+)?|-?\b(nan|inf)\b")
_CLASSES = re.compile(r"(Double|Float|Half|Long|Int|Short|Char|Byte)(?=Tensor|Storage)")


def bad_lines(text: str) -> list[str]:
    """The lines that are wrong, one of each kind."""
    found: dict[str, str] = {}
    for match in _BAD.finditer(text):
        found.setdefault(kind_of(match.group()), match.group()[:500])
    return list(found.values())


def kind_of(text: str) -> str:
    """A message without what differs from case to case: numbers, classes, values."""
    text = text.strip().removeprefix("FINDING ").removeprefix("message: ")
    if text.startswith(("another ", "NaN of ")):
        text = text.partition(":")[0]
        text = re.sub(r"word \w+", "word", text)
    if text.startswith(("NaN arrives", "an element is", "apply passes", "slow")):
        text = " ".join(text.split()[:2])
    text = _CLASSES.sub("", _VALUES.sub("#", text))
    text = re.sub(r"#([, x]*#)+", "#", text)
    text = re.sub(r"(local|field|upvalue|method|global) '\w+' \(an? \w+ value\)", r"\1", text)
    return text[:110]
