"""Reads rockspecs: what a package is called, which Lua files it has, and what it needs.

A rockspec is a program of Lua that sets a few globals. It runs here in an environment of its own,
with nothing in it, and in a process of its own: a string's methods alone can take any time and
memory.
"""

import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from th_shell.files import read_file
from th_shell.packages.sources import process_of
from th_shell.visible import UsageError

_FOLDERS = (".", "rocks", "rockspec", "rockspecs")
_VERSION = re.compile(r"-(?=[\w.]+-\d+$)")  # begins behind it in a rockspec's name
_READ = ("package", "version", "source", "dependencies", "build")  # the globals that count
# Limits for a rockspec: those that there are need some milliseconds and kilobytes. The memory is
# that of LuaJIT and Python, too.
_SECONDS = 2
_MEMORY = 512 << 20  # bytes

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
    """The content of a rockspec."""

    package: str
    version: str
    #: The files of Lua modules by the modules' names, where it lists them; sources of C modules are
    #: among them as lists.
    modules: dict[str, Any] = field(default_factory=dict)
    #: Names of packages, without their versions.
    dependencies: tuple[str, ...] = ()


def read(folder: Path) -> Rockspec | None:
    """Return the rockspec of a checkout; None where it has none. Raises UsageError if it fails."""
    path = _newest(path for name in _FOLDERS for path in (folder / name).glob("*.rockspec"))
    if path is None:
        return None
    content = _run(path)
    build = _table(content.get("build"))
    listed = {**_table(build.get("modules")), **_table(_table(build.get("install")).get("lua"))}
    needed = content.get("dependencies") or []
    names = (re.match(r"[\w.-]+", need) for need in needed if isinstance(need, str))
    return Rockspec(
        str(content.get("package") or folder.name),
        str(content.get("version") or ""),
        {str(name): value for name, value in listed.items()},
        tuple(name[0] for name in names if name),
    )


def _table(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def source_in(folder: Path, name: str) -> str | None:
    """Return the repository of a package, of which a folder has rockspecs: None where it has none.

    Raises UsageError if the rockspec fails.
    """
    path = _newest(
        path for path in folder.glob("*.rockspec") if _VERSION.split(path.stem)[0] == name.lower()
    )
    url = _table(_run(path).get("source")).get("url") if path else None
    return url if isinstance(url, str) and url.startswith("git") else None


def _newest(rockspecs: Iterable[Path]) -> Path | None:
    """Return the rockspec of the sources as they are now, else the newest."""
    paths = list(rockspecs)
    paths.sort(key=lambda path: [int(number) for number in re.findall(r"\d+", path.name)])
    current = [path for path in paths if re.search(r"-(scm|dev|git|master|head)-", path.name)]
    return (current or paths)[-1] if paths else None


def _run(path: Path) -> dict[Any, Any]:
    """Return the globals that a rockspec sets: tables are dicts, or lists."""
    try:
        text = read_file(path)
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from error
    command = process_of("rockspec.main", path.name)
    done = subprocess.run(command, input=text, capture_output=True)
    if done.returncode == -signal.SIGXCPU:
        raise UsageError(f"{path.name}: it takes longer than {_SECONDS} seconds")
    if done.returncode:
        raise UsageError(f"{path.name}: it needs more than {_MEMORY >> 20} MB")
    content = json.loads(done.stdout)
    if isinstance(content, str):
        raise UsageError(f"{path.name}: {content}")
    return _table(content)


def main(name: str) -> None:
    """Run the rockspec on the standard input, and print its globals, or its error, as JSON."""
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    from th_shell.runtime import Engine, LuaError

    with Engine() as engine:
        try:
            globals_ = _table(engine.eval(_RUN)(sys.stdin.buffer.read(), name).to_python())
            content = {key: value for key, value in globals_.items() if key in _READ}
            answer = json.dumps(content, default=str, skipkeys=True)
        except LuaError as error:
            answer = json.dumps(str(error))
        except (ValueError, RecursionError):
            answer = json.dumps("its tables are nested too deeply")
    print(answer)
