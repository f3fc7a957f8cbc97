"""Reads rockspecs: what a package is called, which Lua files it has, and what it needs.

A rockspec is a program of Lua that sets a few globals. It runs here in an environment of its own,
with nothing in it, and in a process of its own: a string's methods alone can take any time and
memory.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from th_shell.files import read_file
from th_shell.visible import UsageError

_FOLDERS = (".", "rocks", "rockspec", "rockspecs")
_READ = ("package", "version", "dependencies", "build")  # the globals that count
# What a rockspec may take: those that there are need some milliseconds and kilobytes. The memory is
# that of LuaJIT and Python, too.
_SECONDS = 2
_MEMORY = 512 << 20  # bytes

# Starts the process; gets the folders of modules, and the rockspec.
_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from th_shell.packages.rockspec import main
main(sys.argv[2])
"""

# Runs a rockspec's text and returns its globals.
_RUN = """
function(text, name)
  local chunk, message = loadstring(text, '@' .. name, 't')
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
    found = [path for name in _FOLDERS for path in (folder / name).glob("*.rockspec")]
    found.sort(key=lambda path: [int(number) for number in re.findall(r"\d+", path.name)])
    current = [path for path in found if re.search(r"-(scm|dev|git|master|head)-", path.name)]
    return (current or found)[-1] if found else None


def _run(path: Path) -> dict[Any, Any]:
    """The globals that a rockspec sets: tables are dicts, or lists."""
    try:
        text = read_file(path)
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from error
    done = subprocess.run(
        [sys.executable, "-I", "-c", _START, json.dumps(sys.path), path.name],
        input=text,
        capture_output=True,
    )
    if done.returncode == -signal.SIGXCPU:
        raise UsageError(f"{path.name}: it takes longer than {_SECONDS} seconds")
    if done.returncode:
        raise UsageError(f"{path.name}: it needs more than {_MEMORY >> 20} MB")
    found = json.loads(done.stdout)
    if isinstance(found, str):
        raise UsageError(f"{path.name}: {found}")
    return _table(found)


def main(name: str) -> None:
    """Run the rockspec on the standard input, and print its globals, or its error, as JSON."""
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    from th_shell.runtime.shell import Engine, LuaError

    with Engine() as engine:
        try:
            globals_ = _table(engine.eval(_RUN)(sys.stdin.buffer.read(), name).to_python())
            told = {key: value for key, value in globals_.items() if key in _READ}
            found = json.dumps(told, default=str, skipkeys=True)
        except LuaError as error:
            found = json.dumps(str(error))
        except (ValueError, RecursionError):
            found = json.dumps("its tables are nested too deeply")
    print(found)
