"""What the real Torch7 has, as tests/data/call-forms.txt lists it: names, types, and forms."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from th_shell.runtime.core.dtypes import DTYPES

_LIST = Path(__file__).parents[1] / "data" / "call-forms.txt"
_TYPES = {dtype.name[0]: dtype.name for dtype in DTYPES}


@dataclass
class Operation:
    """The types that have an operation, and for each form of its arguments those it holds for."""

    types: frozenset[str]
    forms: dict[str, frozenset[str]] = field(default_factory=dict)


@cache
def _sections() -> dict[str, list[str]]:
    """The lines of each section."""
    sections: dict[str, list[str]] = {}
    for line in _LIST.read_text().splitlines():
        if line.startswith("["):
            lines = sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


def members(name: str) -> set[str]:
    """The names of one section."""
    return set(" ".join(_sections()[name]).split())


@cache
def operations(section: str) -> dict[str, Operation]:
    """The methods of tensors, or the functions of torch, by name."""
    found: dict[str, Operation] = {}
    for line in _sections()[section]:
        if line.startswith(" "):
            form = line.strip()
        else:
            name, types, form = (*line.split(maxsplit=2), "")[:3]
            operation = found[name] = Operation(_spelled(types))
        if form:
            _add_form(operation, form)
    return found


def _add_form(operation: Operation, text: str) -> None:
    types, colon, form = text.partition(": ")
    if colon:
        operation.forms[form] = _spelled(types)
    else:
        operation.forms[text] = operation.types - {"Half"}


def _spelled(initials: str) -> frozenset[str]:
    return frozenset(_TYPES[initial] for initial in initials)
