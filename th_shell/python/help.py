"""``? name`` and ``?? name`` at the Python prompt: what a value is, and how it is called."""

import inspect
import keyword
import reprlib
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from th_shell import paragraphs
from th_shell.lines import usual_lines
from th_shell.python.alias import NAME
from th_shell.python.inference import NOTHING, Inferred, calls_of, documentation_of, infer

Namespace = Mapping[str, Any]

_ROWS = (
    ("1 + 2", "prints the value"),
    ("_, _7", "the last value; that of input 7"),
    ("?torch.cat, ?x", "how a function is called; what a value is"),
    ("??f", "the source of a function of yours"),
    ("%time f()", "a command of the session; % lists them all"),
    ("%save file.py", "the session as a program"),
    ("$ ls -l, !ls", "a command of the system's shell; _ is its output"),
    ("Tab", "completes names, parameters, modules, files in quotes"),
)


def overview() -> str:
    """Return the prompt's own commands and keys, on one screen."""
    return paragraphs.overview(
        "th runs Python, input by input. At the prompt:",
        _ROWS,
        "A loop, a function and the like end with an empty line. Text that was copied with its "
        "prompts, '>>>' or 'In [1]:', runs without them.",
    )


def about(name: str, namespace: Namespace) -> str:
    """Return the help text on an expression."""
    value = _inferred(name, namespace)
    if value is None:
        return _unknown(name, namespace)
    if value.value is NOTHING and value.type is object:
        return f"{name}: a value that is made when it is asked for\n"
    if value.value is NOTHING:
        return f"{name}: a value of type {value.type.__name__}\n{_documentation(value.type)}"
    calls = calls_of(name, value.value)
    if calls or inspect.ismodule(value.value):
        head = calls or [f"{name}: {_value(value)}"]
        return "\n".join(head) + f"\n{_documentation(value.value)}"
    return f"{name}: {_value(value)}\n{_documentation(value.type)}"


def source(name: str, namespace: Namespace) -> str:
    """Return the source of a function, class or module, else its help text."""
    value = _inferred(name, namespace)
    if value is not None and value.value is not NOTHING:
        with suppress(OSError, TypeError):
            return inspect.getsource(inspect.unwrap(value.value))
    return about(name, namespace)


def _inferred(name: str, namespace: Namespace) -> Inferred | None:
    value = infer(name, namespace)
    if value is None and name.partition(".")[0] == NAME and NAME not in namespace:
        with suppress(ImportError):  # whoever asks for help need not have imported it
            value = infer(name, {**namespace, NAME: import_module(NAME)})
    return value


def _value(value: Inferred) -> str:
    kind = value.type.__name__
    if inspect.ismodule(value.value):
        path = getattr(value.value, "__file__", None)
        return f"a module from {path}" if path else "a module"
    try:
        text = repr(value.value) if hasattr(value.type, "shape") else reprlib.repr(value.value)
    except Exception:  # by the value's own methods
        return f"a value of type {kind}"
    return f"type {kind}\n{text}" if "\n" in text else f"a value of type {kind}: {text}"


def _documentation(value: Any) -> str:
    lines = usual_lines(documentation_of(value))
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def _unknown(name: str, namespace: Namespace) -> str:
    if keyword.iskeyword(name):
        return f"{name}: a keyword of Python; help('{name}') tells of it\n"
    owner, dot, last = name.rpartition(".")
    place = _inferred(owner, namespace) if dot else None
    if dot and place is None:
        return f"nothing is known of {owner}\n"
    names = dir(place.type if place.value is NOTHING else place.value) if place else list(namespace)
    near = get_close_matches(
        last, [candidate for candidate in names if isinstance(candidate, str)], 3
    )
    hint = (
        f"; there is {', '.join(f'{owner}{dot}{candidate}' for candidate in near)}" if near else ""
    )
    return f"nothing is named {name}{hint}\n"
