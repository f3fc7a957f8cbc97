"""The sources of packages: by their names, and from folders and repositories of git."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from th_shell.visible import UsageError

if TYPE_CHECKING:
    from th_shell.runtime.shell import Engine

# Rocks that are not called as their modules are.
_MODULES = {"lua-cjson": "cjson", "luafilesystem": "lfs", "luasocket": "socket"}

# Packages that th has from its start, or does without.
_PARTS = frozenset("cutorch cunn cudnn cwrap lua luaffi luajit sundown torch trepl".split())

# The repository with the rockspecs of Torch7's packages.
ROCKS = "https://github.com/torch/rocks"

# Packages of Lua files whose C code th has.
_WITH_BACKEND = frozenset(("mpiT", "nn", "torchmpi"))


@cache
def _engine() -> Engine:
    """Return the engine that is asked, for all names."""
    from th_shell.runtime.shell import Engine  # which only an installation needs

    return Engine()


def provided_by_th(name: str) -> bool:
    """Tell whether th itself has the modules of a rock."""
    return name in _PARTS or _engine().find_module(_MODULES.get(name, name)) == ""


def source_of(name: str) -> str | None:
    """Return the repository of a package, or None."""
    return _engine().package_sources().get(name)


def is_loaded_by_th(name: str) -> bool:
    """Tell whether th loads its own package of a name at the start."""
    return name in _PARTS or _engine().values.eval(f"package.loaded[{name!r}] ~= nil") is True


def about_c_code(name: str) -> str:
    """Return the remark on C code of a package, which is not built."""
    if name in _WITH_BACKEND:
        return f"its C code is not needed: th has the backend of {name}"
    return "its C code is not built, and what needs it does not work"


# -- brings the sources of a package into a folder: by git, or as a copy


def fetch(source: str, into: Path) -> str:
    """Put the files of a repository, or of a folder that is none, into a new folder.

    Returns the commit; '' for a folder without git. Raises UsageError where that fails.
    """
    if os.path.isdir(source) and (not _is_repository(source) or has_edits(source)):
        shutil.copytree(source, into, symlinks=True, ignore=_special)
        return ""
    git("clone", "--quiet", "--depth", "1", "--", _address(source), str(into))
    return git("-C", str(into), "rev-parse", "HEAD").strip()


def has_edits(source: str) -> bool:
    """Tell whether a folder is a work tree of git whose files are not those of its last commit."""
    is_tree = os.path.exists(os.path.join(source, ".git"))
    return is_tree and git("-C", source, "status", "--porcelain") != ""


def _special(folder: str, names: list[str]) -> list[str]:
    """Return the names in a folder that are not copied: pipes, devices, and the folder of git.

    Who copies a pipe may wait for it without end.
    """
    paths = {name: os.path.join(folder, name) for name in names}
    return [
        name
        for name, path in paths.items()
        if name == ".git"
        or not (os.path.islink(path) or os.path.isfile(path) or os.path.isdir(path))
    ]


def _is_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git")) or (
        os.path.isfile(os.path.join(folder, "HEAD"))
        and os.path.isdir(os.path.join(folder, "objects"))
    )


def _address(source: str) -> str:
    # From a plain path git would link the repository's files, and ignore --depth.
    if os.path.isdir(source):
        return Path(source).resolve().as_uri()
    # As rockspecs write addresses. GitHub no longer answers git's own protocol.
    source = source.removeprefix("git+")
    at_github = source.removeprefix("git://github.com/")
    return source if at_github == source else f"https://github.com/{at_github}"


def git(*words: str) -> str:
    """Run git; return what it prints. Raises UsageError with its last line where it fails."""
    try:
        done = subprocess.run(
            ["git", *words],
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
    except FileNotFoundError:
        raise UsageError("git is needed for that, and is not here") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"git failed: {' '.join(words)}"]
        advice = "; a copy that you have can be given as a folder: th --install FOLDER"
        raise UsageError(lines[-1] + (advice if "Could not resolve host" in done.stderr else ""))
    return done.stdout


# -- processes of this room


def process_of(function: str, *words: str) -> list[str]:
    """Return a command that calls a function of this room in a Python of its own.

    function: 'rockspec.main', say. words: its arguments.
    """
    module, _, name = function.partition(".")
    code = (
        "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
        f"from th_shell.packages.{module} import {name}; {name}(*sys.argv[2:])"
    )
    return [sys.executable, "-I", "-c", code, json.dumps(sys.path), *words]
