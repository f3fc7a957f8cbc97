"""Reads rockspecs: what a package is called, which Lua files it has, and what it needs.

A rockspec is a program of Lua that sets a few globals. It runs here in an environment of its own,
with nothing in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from th_shell.usage import UsageError

__all__ = ["Rockspec", "read"]

_FOLDERS = (".", "rocks", "rockspec", "rockspecs")

# Runs a rockspec's text and returns its globals.
_RUN = """
function(text, name)
  local chunk, message = loadstring(text, '@' .. name)
  if not chunk then error(message, 0) end
  local globals = {}
  setfenv(chunk, globals)()
  return globals
end
"""


@dataclass(frozen=True)
class Rockspec:
    """What a rockspec says.

    modules: the files of Lua modules by the modules' names, where it lists them; sources of C
    modules are among them as lists. dependencies: names of packages, without their versions.
    """

    package: str
    version: str
    modules: dict[str, Any] = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()


def read(folder: Path) -> Rockspec | None:
    """The rockspec of a checkout; None where it has none. Raises UsageError for one that fails."""
    path = _find(folder)
    if path is None:
        return None
    found = _run(path)
    build = _table(found.get("build"))
    listed = {**_table(build.get("modules")), **_table(_table(build.get("install")).get("lua"))}
    needed = found.get("dependencies") or []
    names = (re.match(r"[\w.-]+", need) for need in needed if isinstance(need, str))
    return Rockspec(
        str(found.get("package") or folder.name),
        str(found.get("version") or ""),
        {str(name): value for name, value in listed.items()},
        tuple(name[0] for name in names if name),
    )


def _table(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _find(folder: Path) -> Path | None:
    """The rockspec of the sources as they are now, else the newest."""
    found = [path for name in _FOLDERS for path in sorted((folder / name).glob("*.rockspec"))]
    current = [path for path in found if re.search(r"-(scm|dev|git|master|head)-", path.name)]
    return (current or found)[-1] if found else None


def _run(path: Path) -> dict[Any, Any]:
    """The globals that a rockspec sets: tables are dicts, or lists."""
    from runtime import Engine, LuaError

    with Engine() as engine:
        try:
            globals_ = engine.eval(_RUN)(path.read_bytes(), path.name)
            return _table(globals_.to_python())
        except (LuaError, OSError) as error:
            raise UsageError(f"{path.name}: {error}") from error
