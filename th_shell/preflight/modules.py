"""Whether a program's `require` finds a module: by the engine, or among the files of its project.

Files may be installed under other names than they have in their project's folder: so whatever may
be meant by a name is taken to be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from runtime import Engine

_LEVELS = 4  # folders above a file in which its modules may lie


class Modules:
    """Finds modules, without loading any. checked: the files that are checked together."""

    def __init__(self, engine: Engine, checked: Iterable[Path]) -> None:
        self._checked = {name for path in checked for name in _names(path.absolute())}
        self._find = lru_cache(maxsize=None)(engine.find_module)
        self._packages = lru_cache(maxsize=None)(_packages)
        self._is_module = lru_cache(maxsize=None)(_is_module)

    def in_engine(self, name: str) -> bool:
        """Whether the engine finds a module."""
        return self._find(name) is not None

    def file(self, name: str, path: Path) -> Path | None:
        """The file of a module that a program asks for, where it has one."""
        found = self._find(name)
        if found is not None:
            return Path(found) if found else None
        for folder in _folders(path):
            file = _module_file(folder.joinpath(*_parts(name)))
            if file is not None:
                return file
        return None

    def finds(self, name: str, path: Path) -> bool:
        """Whether a module is found: by the engine, or in a folder above the file that asks."""
        parts = _parts(name)
        if not parts or self.in_engine(name) or tuple(parts) in self._checked:
            return True
        return any(self._is_in(folder, parts) for folder in _folders(path))

    def _is_in(self, folder: Path, parts: list[str]) -> bool:
        if parts[0] in self._packages(folder) or self._is_module(folder.joinpath(*parts)):
            return True
        return len(parts) > 1 and self._is_module(folder.joinpath(*parts[1:]))


def _names(path: Path) -> Iterator[tuple[str, ...]]:
    """The names that a file may be known under, as parts: of x/y/z.lua z, y.z and x.y.z."""
    parts = path.parts[1:-1] if path.name == "init.lua" else (*path.parts[1:-1], path.stem)
    for start in range(max(len(parts) - _LEVELS, 0), len(parts)):
        yield parts[start:]


def _packages(folder: Path) -> frozenset[str]:
    """The packages that a folder is, by the descriptions in it."""
    found = [*folder.glob("*.rockspec"), *folder.glob("rocks*/*.rockspec")]
    own = [folder.name] if (folder / "init.lua").is_file() else []
    return frozenset([path.name.partition("-")[0] for path in found] + own)


def _parts(name: str) -> list[str]:
    return [part for part in name.replace("/", ".").split(".") if part]


def _folders(path: Path) -> list[Path]:
    return list(path.absolute().parents)[:_LEVELS]


def _is_module(path: Path) -> bool:
    return _module_file(path) is not None


def _module_file(path: Path) -> Path | None:
    files = (path.with_name(f"{path.name}.lua"), path / "init.lua")
    return next((file for file in files if path.name and file.is_file()), None)
