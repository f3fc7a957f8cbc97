"""Hints on names that have no value, and on lines that do not compile.

They tell the nearest names that there are, and, from `elsewhere.toml`, what is written here in
place of what other languages and libraries have.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.help.failure import PATH, Failure, on
from th_shell.help.meanings import few_names, find_path, sections
from th_shell.nearest import nearest
from th_shell.runtime.shell import KEYWORDS, Engine, Facts
from th_shell.toml import loads


@lru_cache(maxsize=1)
def _foreign() -> Mapping[str, Any]:
    """Return the names and notations of other languages, with Lua's in place of them."""
    return loads(Path(__file__).with_name("elsewhere.toml").read_text("utf-8"))


# -- names

_NIL = (
    r"attempt to (?:call|index|perform arithmetic on|concatenate|get length of) "
    r"(global|field|method) '(\w+)' \(a nil value\)"
)
_LIBRARIES = frozenset("torch paths sys xlua lfs image string table math io os".split())


@on(_NIL)
def nil_name(failure: Failure, match: re.Match[str]) -> str:
    """Return the hint for an error that names what is nil."""
    kind, name = match.groups()
    if kind == "global":
        advice = "" if failure.is_local(name) else failure.engine.penlight_advice(match[0])
        return advice or _global(name, failure)
    mark = ":" if kind == "method" else "."
    bases = set(re.findall(rf"({PATH})\s*\{mark}\s*{name}\b", failure.code, re.ASCII))
    if len(bases) == 1:
        return _member(bases.pop(), mark, name, failure)
    return _elsewhere("methods", name) if kind == "method" else ""


def nil_argument(failure: Failure) -> str:
    """Return the hint for a library's function, or a comparison, that was given a nil global."""
    arguments = failure.text.partition("\n")[0]
    is_argument = failure.function and re.search(r"got nil|^invalid arguments:.* nil\b", arguments)
    if not is_argument and not re.fullmatch(
        r"attempt to compare (?:nil with \w+|\w+ with nil)", arguments
    ):
        return ""
    empty = [name for name in failure.paths() if _is_nil_global(name, failure)]
    if len(empty) != 1:
        return ""
    near = _global(empty[0], failure)
    return f"{empty[0]} is nil" + (f"; {near}" if near else "")


def of_nil_result(source: str, engine: Engine) -> str:
    """Return the hint for an input that is a name and has printed nil, if it is surely a slip."""
    match = re.fullmatch(rf"\s*(?:=\s*)?(?:({PATH})\.)?(\w+)\s*", source, re.ASCII)
    if match is None or match[2] in KEYWORDS:
        return ""
    base, name = match.groups()
    failure = Failure("", "", source, engine)
    if base is None:
        return (
            "" if failure.facts(name) else _elsewhere("globals", name) or _other_case(name, engine)
        )
    of_torch = base in _LIBRARIES or failure.facts(base).get("category") == "tensor"
    return _member(base, ".", name, failure) if of_torch else ""


def _other_case(name: str, engine: Engine) -> str:
    names = few_names("", engine)
    return _there_is(
        "", [candidate for candidate in names if candidate.lower() == name.lower() != candidate]
    )


def _is_nil_global(path: str, failure: Failure) -> bool:
    return "." not in path and not failure.is_local(path) and not failure.facts(path)


def _global(name: str, failure: Failure) -> str:
    if failure.is_local(name) or failure.facts(name):
        return ""
    if advice := _elsewhere("globals", name):
        return advice
    if name in failure.engine.variables.names("torch"):
        return f"there is torch.{name}"
    return _there_is("", nearest(name, few_names("", failure.engine)))


def _member(base: str, mark: str, name: str, failure: Failure) -> str:
    """Return the hint on a field or method that the value of a path does not have."""
    facts = failure.facts(base)
    if not facts:
        is_numpy = base in ("np", "numpy") and not failure.is_local(base)
        return _elsewhere("functions", name) if is_numpy else ""
    if failure.facts(f"{base}.{name}"):
        return ""
    if base == "torch" and (advice := _elsewhere("functions", name)):
        return advice
    if advice := _elsewhere_in_torch(base, facts, name):
        return advice
    is_object = facts["category"] in ("tensor", "storage", "userdata")
    if facts["category"] == "tensor" and (advice := _elsewhere("methods", name)):
        return re.sub(r"\bx\b", base, advice)
    near = nearest(name, few_names(base, failure.engine))
    return _there_is(base + (":" if is_object else mark), near)


def _elsewhere_in_torch(base: str, facts: Facts, name: str) -> str:
    """Return the hint for a method that is called as a function of torch, or vice versa."""
    if base == "torch" and name in sections()["Tensor"]:
        return f"{name} is a method: x:{name}(…)"
    if facts["category"] == "tensor" and find_path(f"torch.{name}"):
        return f"{name} is a function: torch.{name}({base})"
    return ""


def _there_is(lead: str, near: list[str]) -> str:
    return "there is " + ", ".join(lead + name for name in near) if near else ""


def _elsewhere(section: str, name: str) -> str:
    advice: str = _foreign()[section].get(name, "")
    return (
        advice[1:] if advice.startswith("!") else f"in place of {name}: {advice}" if advice else ""
    )


# -- lines that do not compile


class _Notation(NamedTuple):
    """A notation of other languages that Lua writes otherwise."""

    pattern: re.Pattern[str]
    #: The token that a message must name: '' for one in the text that the pattern matches, '*' for
    #: any.
    near: str
    say: str


@lru_cache(maxsize=1)
def _notations() -> tuple[_Notation, ...]:
    """Return the notations, in the order in which they are tried."""
    return tuple(
        _Notation(re.compile(item["pattern"], re.ASCII), item.get("near", ""), item["say"])
        for item in _foreign()["notations"]
    )


def notation(failure: Failure) -> str:
    """Return the hint for a notation of other languages that stands where the message points to."""
    place = re.search(r"near '([^']*)'$", failure.text)
    near = place[1] if place else ""
    for foreign in _notations():
        match = foreign.pattern.search(failure.code)
        if match and (foreign.near in ("*", near) or (not foreign.near and near in match[0])):
            return match.expand(foreign.say)
    return ""


@on("function arguments expected near")
def brackets_missing(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for `x:size` without the brackets of a call."""
    methods = re.findall(rf"({PATH}):(\w+)(?![\w])\s*(?![\w({{'\"\[\s])", failure.code, re.ASCII)
    if len(methods) != 1:
        return ""
    base, name = methods[0]
    return f"a method needs its brackets: {base}:{name}()"
