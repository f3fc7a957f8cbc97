"""Reads CMakeLists.txt: which Lua files CMake would install, and where in a folder of modules."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from glob import glob
from pathlib import Path

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
            if name.lower() in _COMMANDS:
                command = getattr(self, f"_{name.lower()}")
                words = [quoted or bare for quoted, bare in _WORD.findall(inner)]
                command(folder, variables, [_expand(word, variables, folder) for word in words])

    def _set(self, _: Path, variables: dict[str, str], words: Sequence[str]) -> None:
        if words:
            variables[words[0]] = ";".join(words[1:])[:_LONGEST]

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
        place = _INSTALLED.search(_word_after("DESTINATION", words))
        if not place or words[0] not in ("FILES", "DIRECTORY"):
            return
        end = next((at for at, word in enumerate(words) if word in _KEYWORDS), len(words))
        for name in _names(words[1:end]):
            path = folder / name
            if words[0] == "FILES":
                self._put(path, f"{place[1]}/{_word_after('RENAME', words) or path.name}")
            else:
                top = path if name.endswith("/") else path.parent
                for file in sorted(path.rglob("*.lua")):
                    self._put(file, f"{place[1]}/{file.relative_to(top).as_posix()}")

    def _put(self, file: Path, place: str) -> None:
        parts = [part for part in place.split("/") if part not in ("", ".")]
        file = file.resolve()
        is_within = ".." not in parts and file.is_relative_to(self._top)
        if is_within and parts and place.endswith(".lua") and file.is_file():
            self.places["/".join(parts)] = file


_COMMANDS = frozenset("set file add_torch_package add_subdirectory install".split())


def _expand(word: str, variables: dict[str, str], folder: Path) -> str:
    def value(variable: re.Match[str]) -> str:
        if variable[1] in variables:
            return variables[variable[1]]
        if _MODULES.fullmatch(variable[1]):
            return "share/lua/5.1"
        return str(folder) if _SOURCES.fullmatch(variable[1]) else ""

    return _VARIABLE.sub(value, word)[:_LONGEST]


def _word_after(keyword: str, words: Sequence[str]) -> str:
    """Return the word behind a keyword; '' where there is none."""
    return words[words.index(keyword) + 1] if keyword in words[:-1] else ""


def _names(words: Sequence[str]) -> dict[str, None]:
    """Return the elements of lists, each once: variables may hold a name many times."""
    return dict.fromkeys(";".join(words).split(";"))
