"""The commands of CMake that change variables, lists and texts: see cmake-commands(7)."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from glob import glob

from th_shell.packages.cmake_language import LONGEST, Interpreter, elements, matches, number


def _set(run: Interpreter, values: list[str]) -> None:
    name, *rest = values
    is_above = rest[-1:] == ["PARENT_SCOPE"]
    scope = run.scopes[-2] if is_above and len(run.scopes) > 1 else run.variables
    rest = rest[:-1] if is_above else rest
    if "CACHE" in rest:
        if name in scope:
            return
        rest = rest[: rest.index("CACHE")]
    scope[name] = ";".join(rest)[:LONGEST]
    if not rest:
        scope.pop(name)


def _unset(run: Interpreter, values: list[str]) -> None:
    run.variables.pop(values[0], None)


def _option(run: Interpreter, values: list[str]) -> None:
    run.variables.setdefault(values[0], "OFF" if len(values) < 3 else values[2])


def _list(run: Interpreter, values: list[str]) -> None:
    action, name, *rest = values
    items = elements(run.variables.get(name, ""))
    if action in ("LENGTH", "GET", "FIND", "JOIN"):
        results = {
            "LENGTH": lambda: str(len(items)),
            "GET": lambda: ";".join(items[number(at)] for at in rest[:-1]),
            "FIND": lambda: str(items.index(rest[0]) if rest[0] in items else -1),
            "JOIN": lambda: rest[0].join(items),
        }
        run.variables[rest[-1]] = results[action]()
        return
    if action == "APPEND":
        items += rest
    elif action in ("PREPEND", "INSERT"):
        at = number(rest.pop(0)) if action == "INSERT" else 0
        items[at:at] = rest
    elif action == "REMOVE_ITEM":
        items = [item for item in items if item not in rest]
    elif action == "REMOVE_AT":
        gone = {number(at) % len(items) for at in rest if items}
        items = [item for at, item in enumerate(items) if at not in gone]
    elif action == "FILTER":
        items = [item for item in items if matches(item, rest[-1]) == (rest[0] == "INCLUDE")]
    elif action in _REARRANGED:
        items = _REARRANGED[action](items)
    run.variables[name] = ";".join(items)[:LONGEST]


_REARRANGED: Mapping[str, Callable[[list[str]], list[str]]] = {
    "REMOVE_DUPLICATES": lambda items: list(dict.fromkeys(items)),
    "REVERSE": lambda items: items[::-1],
    "SORT": sorted,
}


def _string(run: Interpreter, values: list[str]) -> None:
    action, *rest = values
    if action == "REGEX":
        with suppress(re.error):
            _regex(run, rest)
    elif action == "REPLACE":
        run.variables[rest[2]] = "".join(rest[3:]).replace(rest[0], rest[1])[:LONGEST]
    elif action in ("CONCAT", "APPEND"):
        before = run.variables.get(rest[0], "") if action == "APPEND" else ""
        run.variables[rest[0]] = (before + "".join(rest[1:]))[:LONGEST]
    elif action == "FIND":
        run.variables[rest[2]] = str(rest[0].find(rest[1]))
    elif action == "SUBSTRING":
        first, length = map(number, rest[1:3])
        run.variables[rest[3]] = rest[0][first : None if length < 0 else first + length]
    elif action in _CHANGED:
        run.variables[rest[1]] = _CHANGED[action](rest[0])


_CHANGED: Mapping[str, Callable[[str], str]] = {
    "TOUPPER": str.upper,
    "TOLOWER": str.lower,
    "STRIP": str.strip,
    "LENGTH": lambda text: str(len(text)),
}


def _regex(run: Interpreter, values: Sequence[str]) -> None:
    """Do `string(REGEX …)`. Raises re.error."""
    action, pattern, *rest = values
    if action == "REPLACE":
        replacement, name, *texts = rest
        run.variables[name] = re.sub(pattern, replacement, "".join(texts))[:LONGEST]
        return
    name, *texts = rest
    found = [match[0] for match in re.finditer(pattern, "".join(texts))]
    run.variables[name] = ";".join(found[:1] if action == "MATCH" else found)


def _get_filename_component(run: Interpreter, values: list[str]) -> None:
    name, file, part = values[:3]
    base, dot, extension = os.path.basename(file).partition(".")
    folder = run.variables["CMAKE_CURRENT_SOURCE_DIR"]
    parts = {
        "PATH": os.path.dirname(file),
        "DIRECTORY": os.path.dirname(file),
        "NAME": os.path.basename(file),
        "EXT": dot + extension,
        "NAME_WE": base,
    }
    run.variables[name] = parts.get(part) or (
        os.path.normpath(os.path.join(folder, file)) if part in ("ABSOLUTE", "REALPATH") else ""
    )


def _file(run: Interpreter, values: list[str]) -> None:
    action, name, *patterns = values
    if action not in ("GLOB", "GLOB_RECURSE"):
        return
    folder, base = run.variables["CMAKE_CURRENT_SOURCE_DIR"], ""
    if "RELATIVE" in patterns:
        at = patterns.index("RELATIVE")
        base = patterns[at + 1]
        del patterns[at : at + 2]
    found = list[str]()
    for pattern in patterns:
        pattern = os.path.relpath(os.path.join(folder, pattern), folder)
        if pattern.split("/")[0] != "..":
            if action == "GLOB_RECURSE":
                pattern = os.path.join(os.path.dirname(pattern), "**", os.path.basename(pattern))
            names = sorted(glob(pattern, root_dir=folder, recursive=action == "GLOB_RECURSE"))
            found += [os.path.join(folder, name) for name in names]
    run.variables[name] = ";".join(os.path.relpath(path, base) if base else path for path in found)


ACTS: Mapping[str, Callable[[Interpreter, list[str]], None]] = {
    "set": _set,
    "unset": _unset,
    "option": _option,
    "list": _list,
    "string": _string,
    "get_filename_component": _get_filename_component,
    "file": _file,
}
