"""Tells why names that PyTorch has are missing here, and how its errors name classes."""

from __future__ import annotations

from pathlib import Path

_HEAP_TYPE = 1 << 9  # CPython's flag of the classes that Python code has made


def type_name(value: object) -> str:
    """Return the name of a value's class, as errors have it.

    Classes that PyTorch or Python has in C are named with their module.
    """
    cls = type(value)
    is_python = cls.__flags__ & _HEAP_TYPE and cls.__module__ != "torch"
    short = is_python or cls.__module__ == "builtins" or cls.__name__ == "Tensor"
    return cls.__name__ if short else f"{cls.__module__}.{cls.__name__}"


#: Names of PyTorch's that are missing, and why: missing.txt has a line for each reason.
MISSING: dict[str, str] = {}
for _line in Path(__file__).with_name("missing.txt").read_text("utf-8").rstrip().split("\n"):
    _why, _names = _line.split(" | ")
    MISSING.update(dict.fromkeys(_names.split(), _why))


def why_missing(name: str) -> str:
    """Return why a name of PyTorch's is missing, to follow an error's text; '' for other names.

    name: without `torch.`. Where MISSING has a module, all names in it are missing with it.
    """
    while name not in MISSING and "." in name:
        name = name.rpartition(".")[0]
    why = MISSING.get(name)
    return f" ({why})" if why else ""
