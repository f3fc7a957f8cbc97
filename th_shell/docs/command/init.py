"""``th-docs init``: writes the files by which a project's pages are tested from then on."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from th_shell.docs.command.command_lines import parser_of
from th_shell.docs.command.selection import pages_below
from th_shell.docs.reading.examples import PYTHON
from th_shell.docs.reading.page import read_page
from th_shell.docs.reporting.reporter import write_text
from th_shell.docs.settings.settings import PageError
from th_shell.files import read_file, write_file
from th_shell.packages import rockspec
from th_shell.packages.tree import lua_files
from th_shell.visible import UsageError, complain

_CANNOT_WRITE = 2
_PRELUDE = "prelude.py"
_SPHINX = ("conf.py", "doc*/conf.py", "doc*/*/conf.py")
_INIT = "?/init.lua"


def main(words: Sequence[str]) -> int:
    """Write the files; the exit status."""
    options = _parsed(words)
    for path, text in _files(Path(options.folder)).items():
        if os.path.lexists(path) and not options.force:
            write_text(f"kept {path}, which was there (--force replaces it)\n", 1)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            complain(f"{path} cannot be written: {error.strerror}", "th-docs init")
            return _CANNOT_WRITE
        write_text(f"wrote {path}\n", 1)
    return 0


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = parser_of("th-docs init")
    options = parser.parse_args(words)
    if not os.path.isdir(options.folder):
        parser.error(f"no such folder: {options.folder}")
    return options


def _files(folder: Path) -> dict[Path, str]:
    """Return the texts of the files by their paths; the workflow's is below the current folder."""
    top, shown = Path(), os.path.relpath(folder)
    if shown.startswith(os.pardir):
        top, shown = folder, os.curdir
    pages = list(pages_below(folder))
    setup = sphinx_setup(top)
    project = " ." if installs_python(top) else ""
    workflow = _beside("workflow.yml").format(folder=shlex.quote(shown), project=project)
    patterns = ", ".join(sorted({f'"*{page.suffix}"' for page in pages})) or '"*.md"'
    up = os.path.relpath(top, folder)
    values: dict[str, object] = {
        "lua_path": [os.path.normpath(f"{up}/{pattern}") for pattern in lua_path(top)],
        "prelude": _PRELUDE if setup else "",
        "language": PYTHON if is_in_python(pages) else "",
    }
    return {
        **({folder / _PRELUDE: setup} if setup else {}),
        folder / "th-docs.toml": _settings(values),
        folder / "conftest.py": _beside("conftest.in").format(patterns=patterns),
        top / ".github" / "workflows" / "docs.yml": workflow,
    }


def _settings(values: Mapping[str, object]) -> str:
    """Return the text of the settings, where what was found counts."""
    text = _beside("settings.toml")
    for name, value in values.items():
        if value:
            line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
            text = re.sub(rf"(?m)^# {name} = .*$", line.replace("\\", r"\\"), text)
    return text


def _beside(name: str) -> str:
    """Return the text of a file that is written as it stands beside this module, or nearly so."""
    return Path(__file__).with_name(name).read_text("utf-8")


# -- what a project tells of how its examples are run


def lua_path(top: Path) -> list[str]:
    """Patterns that find a project's Lua modules: those of its rockspec, else what folders have."""
    patterns = set[str]()
    with suppress(UsageError):
        rock = rockspec.read(top)
        listed = lua_files(top, rock, "") if rock and rock.modules else {}
        for place, file in listed.items():
            path = file.relative_to(top.resolve()).as_posix()
            name = _INIT if place.endswith("/init.lua") else "?.lua"
            if f"/{path}".endswith(f"/{place}"):
                patterns.add(path.removesuffix(place) + name)
    for folder in () if patterns else ("", "lua/", "lib/", "src/"):
        if any(top.glob(f"{folder}**/*.lua" if folder else "*.lua")):
            patterns.add(f"{folder}?.lua")
        if any(top.glob(f"{folder}*/init.lua")):
            patterns.add(folder + _INIT)
    return sorted(patterns)


def installs_python(top: Path) -> bool:
    """Return whether a project installs a package of Python."""
    is_installed = any((top / name).is_file() for name in ("pyproject.toml", "setup.py"))
    return is_installed and any(any(top.glob(f"{up}*/__init__.py")) for up in ("", "src/"))


def sphinx_setup(top: Path) -> str:
    """Return the code that Sphinx runs before the examples of each page; '' for none."""
    for path in (path for place in _SPHINX for path in sorted(top.glob(place))):
        with suppress(OSError, SyntaxError, ValueError):
            for node in ast.parse(read_file(path)).body:
                match node:
                    case ast.Assign([ast.Name("doctest_global_setup")], ast.Constant(str(code))):
                        return code
    return ""


def is_in_python(pages: Iterable[Path]) -> bool:
    """Return whether all blocks of pages that tell their language are in Python, and some do."""
    languages = set[str]()
    for page in pages:
        with suppress(OSError, PageError):
            languages.update(block.language for block in read_page(page, "").blocks)
    return languages == {PYTHON}
