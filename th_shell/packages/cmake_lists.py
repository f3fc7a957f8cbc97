"""Reads CMakeLists.txt: which files CMake would install, and where in a folder of modules.

They are Lua files and the pictures that programs load.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from th_shell.packages.cmake_commands import ACTS
from th_shell.packages.cmake_language import Interpreter, Stop, elements, parse

#: Torch7's variables for the folder of Lua modules.
_MODULES = ("Torch_INSTALL_LUA_PATH_SUBDIR", "Torch_INSTALL_LUA_PATH", "LUA_PATH", "LUADIR")
_OF_MODULES = "share/lua/5.1"
_KINDS = (".lua", ".jpg", ".png")
_INSTALLED = re.compile(r"share/lua/5\.\d(?:/|$)(.*)")
_KEYWORDS = frozenset(
    "DESTINATION RENAME PERMISSIONS CONFIGURATIONS COMPONENT OPTIONAL FILES_MATCHING PATTERN REGEX "
    "USE_SOURCE_PERMISSIONS DIRECTORY_PERMISSIONS FILE_PERMISSIONS".split()
)


class CMakeLists:
    """The CMakeLists.txt of a folder, and those of folders in it that are built with it.

    package: the name that ADD_TORCH_PACKAGE gives, or ''. places: files by their places in a folder
    of modules, 'nn/init.lua'.
    """

    def __init__(self, top: Path) -> None:
        self.package = ""
        self.places: dict[str, Path] = {}
        self._top = top.resolve()
        self._run = Interpreter(
            {
                **ACTS,
                "project": self._project,
                "add_subdirectory": self._add_subdirectory,
                "include": self._include,
                "install": self._install,
                "install_files": self._install_files,
                "add_torch_package": self._add_torch_package,
            }
        )
        here = str(self._top)
        variables = dict.fromkeys(_MODULES, _OF_MODULES)
        variables |= dict.fromkeys(("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"), here)
        variables |= {"Torch_FOUND": "TRUE", "TORCH_FOUND": "TRUE", "UNIX": "1"}
        self._run.variables.update(variables)
        self._read(self._top)

    def _read(self, folder: Path) -> None:
        """Run the file of a folder, in a scope of its own."""
        path = folder / "CMakeLists.txt"
        here = {"CMAKE_CURRENT_SOURCE_DIR": str(folder), "CMAKE_CURRENT_LIST_DIR": str(folder)}
        self._run.scopes.append({**self._run.variables, **here})
        with suppress(Stop, RecursionError):
            self._run.run(parse(path.read_text(errors="replace")) if path.is_file() else [])
        self._run.scopes.pop()

    def _here(self, name: str) -> Path:
        return (Path(self._run.variables["CMAKE_CURRENT_SOURCE_DIR"]) / name).resolve()

    def _project(self, run: Interpreter, values: Sequence[str]) -> None:
        run.variables["PROJECT_NAME"] = run.variables["CMAKE_PROJECT_NAME"] = values[0]

    def _add_subdirectory(self, _: Interpreter, values: Sequence[str]) -> None:
        inner = self._here(values[0])
        if inner != self._here(".") and inner.is_relative_to(self._top):
            self._read(inner)

    def _include(self, run: Interpreter, values: Sequence[str]) -> None:
        path = self._here(values[0])
        if path.is_relative_to(self._top) and path.is_file():
            run.run(parse(path.read_text(errors="replace")))

    def _add_torch_package(self, _: Interpreter, values: Sequence[str]) -> None:
        self.package = self.package or values[0]
        for name in elements(";".join(values[2:3])):
            self._put(self._here(name), f"{values[0]}/{Path(name).name}")

    def _install_files(self, _: Interpreter, values: Sequence[str]) -> None:
        if place := _INSTALLED.search(values[0]):
            for name in values[1:]:
                self._put(self._here(name), f"{place[1]}/{Path(name).name}")

    def _install(self, _: Interpreter, values: Sequence[str]) -> None:
        place = _INSTALLED.search(_word_after("DESTINATION", values))
        if not place or values[0] not in ("FILES", "PROGRAMS", "DIRECTORY"):
            return
        end = next((at for at, word in enumerate(values) if word in _KEYWORDS), len(values))
        for name in dict.fromkeys(elements(";".join(values[1:end]))):
            path = self._here(name)
            if values[0] != "DIRECTORY":
                self._put(path, f"{place[1]}/{_word_after('RENAME', values) or path.name}")
                continue
            top = path if name.endswith("/") or name == "." else path.parent
            for file in sorted(path.rglob("*.*")):
                if _is_matched(file, values[end:]):
                    self._put(file, f"{place[1]}/{file.relative_to(top).as_posix()}")

    def _put(self, file: Path, place: str) -> None:
        parts = [part for part in place.split("/") if part not in ("", ".")]
        is_within = ".." not in parts and file.is_relative_to(self._top)
        if is_within and parts and place.endswith(_KINDS) and file.is_file():
            self.places["/".join(parts)] = file


def _word_after(keyword: str, words: Sequence[str]) -> str:
    """Return the word behind a keyword; '' where there is none."""
    return words[words.index(keyword) + 1] if keyword in words[:-1] else ""


def _is_matched(file: Path, words: Sequence[str]) -> bool:
    """Tell whether a file of a folder is installed, by the patterns behind the folder's name."""
    named = [
        (pattern, excluded == "EXCLUDE")
        for word, pattern, excluded in zip(words, words[1:], [*words[2:], ""], strict=False)
        if word == "PATTERN"
    ]
    parts = (file.name, *file.parent.parts)
    if any(fnmatch(part, pattern) for pattern, is_out in named if is_out for part in parts):
        return False
    wanted = [pattern for pattern, is_out in named if not is_out]
    return "FILES_MATCHING" not in words or any(fnmatch(file.name, p) for p in wanted)
