"""What the operations of torch take and return, read off their rows in the table."""

from __future__ import annotations

import re

from runtime import Member

_OF_STRINGS = frozenset("char concat format gsub lower rep reverse sub tostring type upper".split())
_SIZES = frozenset(["size", "stride"])  # with no argument, a LongStorage; else a number
_WORD = re.compile(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|\([^()]*\)|\{[^{}]*\}|\S+")
_DESTINATION = re.compile(r"\*(\w+)\*")


def result_of(name: str, is_method: bool, arguments: int) -> str:
    """What lua/names.lua has behind '(': the class that a call returns, as far as it is known."""
    text = '"' if name in _OF_STRINGS else ""
    if name in _SIZES and arguments == 0:
        return f"torch.LongStorage{text}"
    space = "method" if is_method else "function"
    return next(filter(None, _classes(name, space, arguments + is_method)), "") + text


def _classes(name: str, space: str, words: int) -> list[str]:
    from runtime import TABLE

    rows = TABLE.get(name, []) + TABLE.get(f"Storage.{name}", [])
    fitting = [row for row in rows if _takes(row.form(space), words)]
    return [_class(row.implementation, row.form(space) or "", row.name) for row in fitting]


def _takes(form: str | None, words: int) -> bool:
    """Whether a form can have a number of arguments, the object of a method among them."""
    if form is None:
        return False
    kinds = [kind for kind in _WORD.findall(form) if not kind.startswith("<")]
    least = sum(not kind.startswith("[") and kind != "..." for kind in kinds)
    return least <= words and ("..." in form or words <= len(kinds))


def _class(implementation: object, form: str, name: str) -> str:
    returned = getattr(implementation, "__annotations__", {}).get("return", "None")
    if "Tensor" in returned:
        return "T"
    if "Storage" in returned:
        return "T" if name.startswith("Storage.") else "torch.DoubleStorage"
    destination = _DESTINATION.search(form)
    if returned != "None" or not (destination or form.startswith("T")):
        return ""
    kind = destination[1] if destination else "T"
    return f"torch.{kind}" if kind.endswith("Tensor") else "T"


def signature(member: Member, owner: str) -> str:
    """How a function is called: the first form of an operation, else the function's parameters.

    owner: the class of the object that it is a method of, or ''.
    """
    form = _form(member.name, owner) if member.is_operation else None
    if form is not None:
        return f"{member.name} {form}".rstrip()
    return f"{member.name}({member.parameters})" if member.parameters else member.kind


def _form(name: str, owner: str) -> str | None:
    from runtime import TABLE

    key = f"Storage.{name}" if owner.endswith("Storage") else name
    space = "method" if owner else "function"
    forms = filter(None, (row.form(space) for row in TABLE.get(key, [])))
    form = next(forms, None)
    if form is None:
        return None
    form = re.sub(r"<[^>]*>|=[^\s\]>*]+", "", form)
    form = re.sub(r"\bT\b", "Tensor", form)
    return " ".join(re.sub(r"\b(?:acc)?real\b", "number", form).split())
