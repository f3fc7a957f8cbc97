"""Hints on sizes that do not fit together, and on indices that are out of range."""

import re
from math import prod

from th_shell.help.failure import PATH, Failure, on
from th_shell.runtime.shell import Facts

_SIZES = r"\[(\d+(?: x \d+)*)\]"
_RANGE = (
    r"bad argument #\d+ to '[\w?]+' \((?:(?:(?:end )?index )?out of (?:range|bounds?)"
    r"|dimension -?\d+ out of range(?: of \dD tensor)?)\)$"
)
_ELEMENTWISE = frozenset("__add __sub add csub cmul cdiv cpow cmax cmin copy map".split())
_OTHER_SIZES = (
    r"(?s:.*?)(?:inconsistent tensor sizes$|should be square|singleton expansion|size mismatch$"
    r"|dimensions? mismatch|sizes? (?:do|does) not match|should have|[12]D tensors? expected"
    r"|matrix expected|vector expected|expected (?:a )?(?:matrix|vector))"
)


def _read(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(" x ")))


def _written(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))


def _sizes(facts: Facts) -> tuple[int, ...]:
    return tuple(map(int, str(facts["sizes"]).split("x"))) if facts["sizes"] else ()


def _named(failure: Failure, *sizes: tuple[int, ...]) -> list[str]:
    """Return variables that stand next to one another and have some sizes; [] where unclear.

    A variable may stand for several: `a * a` has one.
    """
    tensors = {name: _sizes(facts) for name, facts in failure.tensors().items()}
    used = [name for name in re.findall(PATH, failure.code, re.ASCII) if name in tensors]
    pairs = [pair for pair in zip(used, used[1:], strict=False) if _are(pair, sizes, tensors)]
    return list(pairs[0]) if len(set(pairs)) == 1 else []


def _are(
    pair: tuple[str, str], sizes: tuple[tuple[int, ...], ...], tensors: dict[str, tuple[int, ...]]
) -> bool:
    return tuple(tensors[name] for name in pair) == sizes


@on(rf"size mismatch, (?:m1: )?{_SIZES}, (?:m2: )?{_SIZES}$", raised=True)
def products(failure: Failure, match: re.Match[str]) -> str:
    """Return the hint for products of matrices and vectors whose sizes do not fit."""
    left, right = _read(match[1]), _read(match[2])
    if len(left) != 2 or len(right) not in (1, 2):
        return ""
    names = _named(failure, left, right)
    a, b = names or ["the first", "the second"]
    needed = f"{left[1]} rows" if len(right) == 2 else f"{left[1]} elements"
    if a == b:
        return f"{a} is {_written(left)}: {a} * {a}:t() would fit, or {a}:t() * {a}"
    text = f"{a} is {_written(left)}, {b} is {_written(right)}: {b} needs {needed}"
    fits = _fitting(a, b, left, right) if names else ""
    return text + (f"; {fits} would fit" if fits else "")


def _fitting(a: str, b: str, left: tuple[int, ...], right: tuple[int, ...]) -> str:
    """Return an expression that fits, with one of two matrices transposed."""
    if len(right) == 2 and right[1] == left[1]:
        return f"{a} * {b}:t()"
    if right[0] == left[0]:
        return f"{a}:t() * {b}"
    return ""


@on(rf"inconsistent tensor size, expected .*?{_SIZES} and src {_SIZES} to have", raised=True)
def element_counts(failure: Failure, match: re.Match[str]) -> str:
    """Return the hint for operations by elements on tensors with different numbers of them."""
    left, right = _read(match[1]), _read(match[2])
    names = _named(failure, left, right)
    if not names:
        return ""
    a, b = names
    text = f"{a} has {_count(prod(left))}, {b} has {prod(right)}"
    expanded = _expansion(b, left, right) if failure.function in _ELEMENTWISE else ""
    if expanded:
        return f"{text}; nothing is repeated by itself: {expanded}:expandAs({a}) fits"
    return text


def _expansion(b: str, left: tuple[int, ...], right: tuple[int, ...]) -> str:
    """Return the second tensor in a shape that can be expanded to the sizes of the first."""
    missing = len(left) - len(right)
    padded = (1,) * missing + right
    if missing < 0 or any(r not in (1, n) for r, n in zip(padded, left, strict=True)):
        return ""
    return f"{b}:view({', '.join(map(str, padded))})" if missing else b


@on(r"Wrong size for view\. Input size: ([\dx]+)\. Output size: ([\dx]+)$")
def view_sizes(failure: Failure, match: re.Match[str]) -> str:
    """Return the hint for a view with another number of elements."""
    if failure.function not in ("view", "viewAs"):
        return ""
    old, new = (prod(map(int, sizes.split("x"))) for sizes in match.groups())
    return f"{match[1]} has {_count(old)}, {match[2]} would have {new}"


@on(_RANGE, raised=True)
def index_range(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for an index or a dimension that is out of range: the size that there is."""
    name, facts = _indexed(failure)
    if not name:
        return ""
    if facts["category"] == "storage":
        return _range(name, int(facts["elements"]))
    if not facts["sizes"]:
        return f"{name} has no elements"
    dimensions = _sizes(facts)
    text = f"{name} is {facts['sizes']}" if len(dimensions) > 1 else f"{name} is a vector"
    if "dimension" in failure.text:
        return text + (f": its dimensions are 1 to {len(dimensions)}" if dimensions[1:] else "")
    if re.search(rf"\b{re.escape(name)}\s*\[\s*0\s*\]", failure.code):
        return f"{text}: indices begin with 1"
    if len(dimensions) == 1:
        return _range(name, dimensions[0])
    if re.search(rf"\b{re.escape(name)}\s*\[\s*-?\w", failure.code):
        return f"{text}: the first index goes from 1 to {dimensions[0]}"
    return text


def _range(name: str, count: int) -> str:
    return f"{name} has {_count(count)}, {name}[1] to {name}[{count}]"


def _count(number: int) -> str:
    return "1 element" if number == 1 else f"{number} elements"


@on(_OTHER_SIZES, raised=True)
def sizes_of_all(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for other errors about sizes: those of the tensors in the line."""
    descriptions = [
        f"{name} is {facts['sizes'] or 'empty'}" for name, facts in failure.tensors().items()
    ]
    rule = ": all sizes but one must be equal" if failure.function == "cat" else ""
    return ", ".join(descriptions) + rule if 0 < len(descriptions) <= 4 else ""


def _indexed(failure: Failure) -> tuple[str, Facts]:
    """Return the variable that is indexed, if the line leaves no doubt by another such call."""
    name = re.escape(failure.function)
    if failure.function in ("__index", "__newindex"):
        calls, pattern = r"[\w)\]]\s*\[", rf"(?<![\w.:])({PATH})\s*\["
    else:
        calls = rf"\b{name}\b"
        pattern = rf"(?<![\w.:])({PATH})\s*:\s*{name}\b"
        if not re.search(pattern, failure.code, re.ASCII):
            pattern = rf"torch\s*\.\s*{name}\s*\(\s*({PATH})\s*[,)]"
    names = re.findall(pattern, failure.code, re.ASCII)
    if len(names) != 1 or len(re.findall(calls, failure.code)) != 1:
        return "", {}
    facts = failure.facts(names[0])
    return (names[0], facts) if facts.get("category") in ("tensor", "storage") else ("", {})
