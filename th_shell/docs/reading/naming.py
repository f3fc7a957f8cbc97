"""The names in code of any language that examples have."""

from __future__ import annotations

from th_shell import python_syntax
from th_shell.docs.reading import names
from th_shell.docs.reading.examples import PYTHON


def bound_names(language: str, source: str) -> set[str]:
    """The names that code gives a value."""
    found = python_syntax.bound_names if language == PYTHON else names.bound_names
    return found(source)


def changed_names(language: str, source: str) -> set[str]:
    """Return the names whose values code binds, sets a part of, or calls a method of by itself."""
    found = python_syntax.changed_names if language == PYTHON else names.changed_names
    return found(source)


def called_names(language: str, source: str) -> set[str]:
    """The names of fields and methods in code, and of functions that it calls."""
    found = python_syntax.called_names if language == PYTHON else names.called_names
    return found(source)


def read_names(language: str, source: str) -> set[str]:
    """The names whose values code uses."""
    found = python_syntax.read_names if language == PYTHON else names.read_names
    return found(source)
