"""The names in code of any language that examples have."""

from __future__ import annotations

from th_shell import python_syntax
from th_shell.docs.reading import lua_names
from th_shell.docs.reading.examples import PYTHON


def bound_names(language: str, source: str) -> set[str]:
    """Return the names that code gives a value."""
    if language == PYTHON:
        return python_syntax.bound_names(source)
    return lua_names.bound_names(source)


def lasting_names(language: str, source: str) -> set[str]:
    """Return the names that code gives a value which may outlive it: no parameters."""
    if language == PYTHON:
        return python_syntax.bound_names(source) - python_syntax.parameters(source)
    return lua_names.lasting_names(source)


def changed_names(language: str, source: str) -> set[str]:
    """Return the names whose values code binds, sets a part of, or calls a method of by itself."""
    if language == PYTHON:
        return python_syntax.changed_names(source)
    return lua_names.changed_names(source)


def called_names(language: str, source: str) -> set[str]:
    """Return the names of fields and methods in code, and of functions that it calls."""
    if language == PYTHON:
        return python_syntax.called_names(source)
    return lua_names.called_names(source)


def read_names(language: str, source: str) -> set[str]:
    """Return the names whose values code uses."""
    if language == PYTHON:
        return python_syntax.read_names(source)
    return lua_names.read_names(source)


def imported_names(language: str, source: str) -> set[str]:
    """Return the names that code gives to modules."""
    if language == PYTHON:
        return python_syntax.imported_names(source)
    return lua_names.required_names(source)
