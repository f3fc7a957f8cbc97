"""Hints on variables of another type than what they are used for."""

from __future__ import annotations

import re

from th_shell.hints.failure import PATH, Failure

_EXPECTED = re.compile(
    r"bad argument #\d+ to '.*' \((number|string|table) expected, "
    r"got (string|table|userdata|function|boolean)\)$"
)
_SIZES = ("resize", "reshape", "view", "expand", "repeatTensor", "zeros", "ones", "rand", "randn")


def wrong_kind(failure: Failure) -> str:
    """For an argument of the wrong type: the variable in the line that has this type."""
    found = _EXPECTED.match(failure.text)
    if found is None or not failure.function:
        return ""
    wanted, got = found.groups()
    known = [(path, failure.facts(path)) for path in _arguments(failure)]
    named = [(path, facts) for path, facts in known if facts.get("kind") == got]
    if len(named) != 1:
        return ""
    path, facts = named[0]
    if facts["category"] in ("tensor", "storage"):
        return _of_numbers(path, str(facts["category"]), wanted)
    if got == "table" and failure.function in _SIZES:
        return f"{path} is a table: sizes are numbers, or torch.LongStorage({path})"
    return f"{path} is a {got}"


def _arguments(failure: Failure) -> list[str]:
    """The variables that stand as arguments of calls in the line."""
    pattern = rf"(?<=[(,])\s*({PATH})\s*(?=[,)])"
    return list(dict.fromkeys(re.findall(pattern, failure.code, re.ASCII)))


def _of_numbers(path: str, category: str, wanted: str) -> str:
    text = f"{path} is a {category}"
    if wanted == "table":
        return f"{text}: {path}:totable() is a table"
    return f"{text}: tostring({path}) is a text" if wanted == "string" else text


def call_of_tensor(failure: Failure) -> str:
    """For `x(2)`, which other languages have for an element."""
    if not re.fullmatch(r"torch\.\w+(?:Tensor|Storage) has no call operator", failure.text):
        return ""
    calls = re.findall(rf"(?<![\w.:])({PATH})\s*\(\s*([\w.]+(?:\s*,\s*[\w.]+)*)\s*\)", failure.code)
    of_numbers = [
        (path, index)
        for path, index in calls
        if failure.facts(path).get("category") in ("tensor", "storage")
    ]
    if len(of_numbers) != 1:
        return ""
    path, index = of_numbers[0]
    return f"elements are written {path}[{f'{{{index}}}' if ',' in index else index}]"


def loop_limit(failure: Failure) -> str:
    """For a loop up to `#x` or `x:size()`, which are all sizes of a tensor."""
    if failure.text != "'for' limit must be a number":
        return ""
    found = re.findall(rf"#\s*({PATH})|({PATH})\s*:\s*size\s*\(\s*\)", failure.code, re.ASCII)
    limits = {first or second for first, second in found}
    if len(limits) != 1 or limits.isdisjoint(failure.tensors()):
        return ""
    path = limits.pop()
    return f"{path} has a size for each dimension: {path}:size(1) is a number"
