"""Reads rockspecs: what a package is called, which Lua files it has, and what it needs.

A rockspec is a program of Lua that sets a few globals. It runs here in an environment of its own,
with nothing in it, and in a process of its own: a string's methods alone can take any time and
memory.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

from th_shell.files import read_file
from th_shell.packages.sources import process_of
from th_shell.visible import UsageError

_FOLDERS = (".", "rocks", "rockspec", "rockspecs")
_READ = ("package", "version", "dependencies", "build")  # the globals that count
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
    path = _find(folder)
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


def _find(folder: Path) -> Path | None:
    """Return the rockspec of the sources as they are now, else the newest."""
    paths = [path for name in _FOLDERS for path in (folder / name).glob("*.rockspec")]
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


# -- CMakeLists.txt


_COMMAND = re.compile(r'(?<!\w)(\w+)\s*\(((?:[^()"]|"(?:\\.|[^"\\])*"|\([^()]*\))*)\)')
_WORD = re.compile(r'"((?:\\.|[^"\\])*)"|([^\s"]+)')
_VARIABLE = re.compile(r"\$\{(\w+)\}")
#: Variables for the folder of Lua modules, which is `share/lua/5.1`, and for the sources' own.
_MODULES = re.compile(r"(?:Torch_INSTALL_)?LUA_?(?:PATH|DIR)(?:_SUBDIR)?", re.I)
_SOURCES = re.compile(r"(?:CMAKE_CURRENT|CMAKE|PROJECT)_SOURCE_DIR")
_INSTALLED = re.compile(r"share/lua/5\.\d(?:/|$)(.*)")

_LONGEST = 1 << 20  # characters of a variable, which may double with each line
_KEYWORDS = frozenset("DESTINATION RENAME PERMISSIONS CONFIGURATIONS COMPONENT OPTIONAL".split())


class CMakeLists:
    """The CMakeLists.txt of a folder, and those of folders in it that are built with it.

    package: the name that ADD_TORCH_PACKAGE gives, or ''. places: Lua files by their places in a
    folder of modules, 'nn/init.lua'.
    """

    def __init__(self, top: Path) -> None:
        self.package = ""
        self.places: dict[str, Path] = {}
        self._top = top.resolve()
        self._read(self._top, {})

    def _read(self, folder: Path, variables: dict[str, str]) -> None:
        path = folder / "CMakeLists.txt"
        text = path.read_text(errors="replace") if path.is_file() else ""
        for name, inner in _COMMAND.findall(re.sub(r"#.*", "", text)):
            command = (
                getattr(self, f"_{name.lower()}", None) if name.lower() in _CMAKE_COMMANDS else None
            )
            if command:
                words = [quoted or bare for quoted, bare in _WORD.findall(inner)]
                command(folder, variables, [_expand(word, variables, folder) for word in words])

    def _set(self, _: Path, variables: dict[str, str], words: Sequence[str]) -> None:
        variables.update({words[0]: ";".join(words[1:])[:_LONGEST]} if words else {})

    def _file(self, folder: Path, variables: dict[str, str], words: Sequence[str]) -> None:
        if words[:1] not in (["GLOB"], ["GLOB_RECURSE"]):
            return
        patterns = [word.removeprefix(f"{folder}/") for word in words[2:] if word != "RELATIVE"]
        names = []
        for pattern in patterns:
            if pattern and not pattern.startswith("/") and ".." not in pattern:
                if words[0] == "GLOB_RECURSE":
                    pattern = os.path.join(os.path.dirname(pattern), "**", Path(pattern).name)
                names += sorted(glob(pattern, root_dir=folder, recursive="**/" in pattern))
        variables[words[1]] = ";".join(f"{folder}/{name}" for name in names)

    def _add_torch_package(self, folder: Path, _: dict[str, str], words: Sequence[str]) -> None:
        self.package = words[0]
        for file in _names(words[2:3]):
            self._put(folder / file, f"{words[0]}/{Path(file).name}")

    def _add_subdirectory(
        self, folder: Path, variables: dict[str, str], words: Sequence[str]
    ) -> None:
        inner = (folder / words[0]).resolve()
        if inner != folder and inner.is_relative_to(folder):
            self._read(inner, dict(variables))

    def _install(self, folder: Path, _: dict[str, str], words: Sequence[str]) -> None:
        place = _INSTALLED.search(_behind("DESTINATION", words))
        if not place or words[0] not in ("FILES", "DIRECTORY"):
            return
        end = next((at for at, word in enumerate(words) if word in _KEYWORDS), len(words))
        for name in _names(words[1:end]):
            path = folder / name
            if words[0] == "FILES":
                self._put(path, f"{place[1]}/{_behind('RENAME', words) or path.name}")
            else:
                top = path if name.endswith("/") else path.parent
                for file in sorted(path.rglob("*.lua")):
                    self._put(file, f"{place[1]}/{file.relative_to(top).as_posix()}")

    def _put(self, file: Path, place: str) -> None:
        parts = [part for part in place.split("/") if part not in ("", ".")]
        file = file.resolve()
        if ".." not in parts and parts and place.endswith(".lua"):
            if file.is_relative_to(self._top) and file.is_file():
                self.places["/".join(parts)] = file


_CMAKE_COMMANDS = frozenset("set file add_torch_package add_subdirectory install".split())


def _expand(word: str, variables: dict[str, str], folder: Path) -> str:
    def value(variable: re.Match[str]) -> str:
        if variable[1] in variables:
            return variables[variable[1]]
        if _MODULES.fullmatch(variable[1]):
            return "share/lua/5.1"
        return str(folder) if _SOURCES.fullmatch(variable[1]) else ""

    return _VARIABLE.sub(value, word)[:_LONGEST]


def _behind(keyword: str, words: Sequence[str]) -> str:
    return words[words.index(keyword) + 1] if keyword in words[:-1] else ""


def _names(words: Sequence[str]) -> dict[str, None]:
    """Return the elements of lists, each once: variables may hold a name many times."""
    return dict.fromkeys(";".join(words).split(";"))
