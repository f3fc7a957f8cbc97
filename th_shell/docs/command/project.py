"""What a project tells of how the examples of its pages are run: for ``th-docs init``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from th_shell.docs.reading.examples import PYTHON
from th_shell.docs.reading.page import read_page
from th_shell.docs.settings.settings import PageError
from th_shell.files import read_file
from th_shell.packages import rockspec
from th_shell.packages.tree import lua_files
from th_shell.visible import UsageError

_SPHINX = ("conf.py", "doc*/conf.py", "doc*/*/conf.py")
_INIT = "?/init.lua"


def lua_path(top: Path) -> list[str]:
    """Patterns that find a project's Lua modules: those of its rockspec, else what folders have."""
    found = set[str]()
    with suppress(UsageError):
        said = rockspec.read(top)
        listed = lua_files(top, said, "") if said and said.modules else {}
        for place, file in listed.items():
            path = file.relative_to(top.resolve()).as_posix()
            name = _INIT if place.endswith("/init.lua") else "?.lua"
            if f"/{path}".endswith(f"/{place}"):
                found.add(path.removesuffix(place) + name)
    for folder in () if found else ("", "lua/", "lib/", "src/"):
        if any(top.glob(f"{folder}**/*.lua" if folder else "*.lua")):
            found.add(f"{folder}?.lua")
        if any(top.glob(f"{folder}*/init.lua")):
            found.add(folder + _INIT)
    return sorted(found)


def installs_python(top: Path) -> bool:
    """Whether a project installs a package of Python."""
    is_installed = any((top / name).is_file() for name in ("pyproject.toml", "setup.py"))
    return is_installed and any(any(top.glob(f"{up}*/__init__.py")) for up in ("", "src/"))


def sphinx_setup(top: Path) -> str:
    """The code that Sphinx runs before the examples of each page; '' for none."""
    for path in (path for place in _SPHINX for path in sorted(top.glob(place))):
        with suppress(OSError, SyntaxError, ValueError):
            for node in ast.parse(read_file(path)).body:
                match node:
                    case ast.Assign([ast.Name("doctest_global_setup")], ast.Constant(str(code))):
                        return code
    return ""


def is_in_python(pages: Iterable[Path]) -> bool:
    """Whether all blocks of pages that tell their language are in Python, and some do."""
    found = set[str]()
    for page in pages:
        with suppress(OSError, PageError):
            found.update(block.language for block in read_page(page, "").blocks)
    return found == {PYTHON}
