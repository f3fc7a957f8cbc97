"""The programs that are checked together: their sources, what they define, and what they build on.

A program may use what another one of them defines, in whatever order they are loaded. So what one
of them defines is taken to be there. Files of modules may be installed under other names than they
have in their project's folder: so whatever may be meant by a name is taken to be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from runtime import Engine, LuaSyntaxError
from th_shell.files import read_file
from th_shell.preflight.knowledge import Facts
from th_shell.preflight.parser import NotLuaError, parse
from th_shell.preflight.syntax_tree import Chunk, Name, Use, required_module

_LEVELS = 4  # folders above a file in which its modules may lie


class Modules:
    """Finds modules, without loading any. checked: the files that are checked together."""

    def __init__(self, engine: Engine, checked: Iterable[Path]) -> None:
        self._checked = {name for path in checked for name in _names(path.absolute())}
        self._find = lru_cache(maxsize=None)(engine.find_module)
        self._packages = lru_cache(maxsize=None)(_packages)
        self._file = lru_cache(maxsize=None)(_module_file)

    def in_engine(self, name: str) -> bool:
        """Whether the engine finds a module."""
        return self._find(name) is not None

    def file(self, name: str, path: Path) -> Path | None:
        """The file of a module that a program asks for, where it has one."""
        found = self._find(name)
        if found is not None:
            return Path(found) if found else None
        for folder in _folders(path):
            file = self._file(folder.joinpath(*_parts(name)))
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
        if parts[0] in self._packages(folder) or self._file(folder.joinpath(*parts)):
            return True
        return len(parts) > 1 and self._file(folder.joinpath(*parts[1:])) is not None


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


def _module_file(path: Path) -> Path | None:
    files = (path.with_name(f"{path.name}.lua"), path / "init.lua")
    return next((file for file in files if path.name and file.is_file()), None)


# -- programs

_PLACE = re.compile(r"^.*?:(\d+): ", re.DOTALL)
_NOT_SOURCE = (b"\x1b", b"\x7fELF")


class UnreadableError(Exception):
    """A file that cannot be read; the message says why."""


@dataclass(frozen=True)
class Program:
    """A file. error: why LuaJIT cannot compile it, with the line; then the chunk is empty."""

    path: Path
    source: str
    chunk: Chunk
    error: tuple[int, str] | None = None


def read(path: Path, engine: Engine) -> Program:
    """Read a file, and compile it, without running it. Raises UnreadableError."""
    try:
        data = read_file(path)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    if data.startswith(_NOT_SOURCE):
        raise UnreadableError("it is bytecode or a library, and not Lua source")
    source = data.decode("utf-8", "surrogateescape")
    # As loadfile does, skip a first line that begins with #.
    code = b"\n" + data.partition(b"\n")[2] if data.startswith(b"#") else data
    try:
        engine.compile(code, b"=lua")
        return Program(path, source, parse(source))
    except LuaSyntaxError as error:
        place = _PLACE.match(error.message)
        line = int(place[1]) if place else 1
        return Program(path, source, Chunk(), (line, _PLACE.sub("", error.message, count=1)))
    except NotLuaError as error:
        return Program(path, source, Chunk(), (error.line, "th cannot read this line"))


# -- what they may build on


@dataclass
class World:
    """What a program may build on: what th has, its modules, and what all programs define.

    globals, fields, texts: the globals, fields and methods that they define together, and the
    strings in them. is_extended: whether they load modules that cannot be read, which may add to
    torch.
    """

    facts: Facts
    modules: Modules
    globals: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    is_extended: bool = False

    @classmethod
    def of(cls, programs: Sequence[Program], facts: Facts, modules: Modules) -> World:
        """The world of programs that are checked together: with the modules that they load."""
        world = cls(facts, modules)
        known = {program.path.resolve() for program in programs}
        read_too = list(programs)
        for program in read_too:  # which grows
            world._add(program.chunk)
            for name in filter(None, map(required_module, program.chunk.nodes)):
                file = modules.file(name, program.path)
                if file is None or file.resolve() in known:
                    continue
                known.add(file.resolve())
                try:
                    read_too.append(read(file, facts.engine))
                except UnreadableError:
                    world.is_extended = True
        world.is_extended |= any(one.error for one in read_too[len(programs) :])
        return world

    def _add(self, chunk: Chunk) -> None:
        self.fields.update(chunk.defined)
        self.texts.update(chunk.texts)
        names = (node for node in chunk.nodes if isinstance(node, Name) and node.local is None)
        self.globals.update(node.name for node in names if node.use is Use.ASSIGNED)

    def may_define(self, name: str) -> bool:
        """Whether one of them may add a field of this name to a table."""
        return name in self.fields or name in self.texts
