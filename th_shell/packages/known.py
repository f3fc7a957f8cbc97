"""What is known of packages by their names: which th itself has, and where others come from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime import Engine

# Rocks that are not called as their modules are.
_MODULES = {"lua-cjson": "cjson", "luafilesystem": "lfs", "luasocket": "socket"}

# What th has from its start, or does without.
_PARTS = frozenset("cutorch cunn cudnn cwrap lua luaffi luajit sundown torch trepl".split())


@cache
def _engine() -> Engine:
    """The engine that is asked, for all names."""
    from runtime import Engine  # which only an installation needs

    return Engine()


def provided_by_th(name: str) -> bool:
    """Whether th itself has what a rock has."""
    return name in _PARTS or _engine().find_module(_MODULES.get(name, name)) == ""


def source_of(name: str) -> str | None:
    """The repository of a package, or None."""
    return _engine().package_sources().get(name)


def about_c_code(name: str) -> str:
    """What to tell about C code of a package, which is not built."""
    if name == "nn":
        return "its C code is not needed: th has the backend of nn"
    return "its C code is not built, and what needs it does not work"
