"""The modules and names that an import statement may name. Nothing but torch is imported for it."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType

from th_shell.python.alias import FACE, NAME, is_used


def modules(owner: str, prefix: str) -> list[str]:
    """The modules of a package, or those at the top for '', that begin with some text."""
    if owner == NAME and is_used():
        names = set(_public_modules())
    elif owner:
        names = {info.name for info in pkgutil.iter_modules(_folders(owner))}
    else:
        names = set(_at_the_top(tuple(sys.path))) | {NAME}
    found = sorted(name for name in names if name.startswith(prefix))
    return [name for name in found if prefix.startswith("_") or not name.startswith("_")]


def names_of_module(name: str, prefix: str) -> list[str]:
    """The names that may be imported from a module, as far as it has been imported."""
    if name.partition(".")[0] == NAME and is_used():
        try:
            import_module(name)
        except ImportError:
            return []
    module = sys.modules.get(name)
    names = set(dir(module)) if module else set()
    found = {one for one in names if one.startswith(prefix) and (prefix or one[0] != "_")}
    return sorted(found.union(modules(name, prefix)))


def _public_modules() -> Iterable[str]:
    """The modules of torch that it lists itself; others are how it is made."""
    module = import_module(NAME)
    return [name for name in dir(module) if isinstance(vars(module).get(name), ModuleType)]


@lru_cache(maxsize=4)
def _at_the_top(path: tuple[str, ...]) -> Iterable[str]:
    names = {info.name for info in pkgutil.iter_modules(list(path))}
    return names.union(sys.builtin_module_names)


def _folders(package: str) -> list[str]:
    """Where the modules of a package are, found without importing it."""
    if is_used() and package.partition(".")[0] == NAME:
        package = FACE + package.removeprefix(NAME)
    folders: list[str] | None = None
    name = ""
    for part in package.split("."):
        name = f"{name}.{part}" if name else part
        module = sys.modules.get(name)
        if module is not None:
            folders = list(getattr(module, "__path__", []))
            continue
        try:
            spec = PathFinder.find_spec(name, folders)
        except (ImportError, ValueError):
            return []
        folders = list(spec.submodule_search_locations or []) if spec else []
    return folders or []
