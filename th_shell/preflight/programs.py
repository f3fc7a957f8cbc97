"""The programs that are checked together: their sources, what they define, and what they build on.

A program may use what another one of them defines, in whatever order they are loaded. So what one
of them defines is taken to be there. Files of modules may be installed under other names than they
have in their project's folder: so whatever may be meant by a name is taken to be found.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from os.path import exists, isfile  # of any name, also one that is too long or has a NUL
from pathlib import Path
from typing import Any, TypeVar, cast

from th_shell.files import read_file
from th_shell.nearest import NameIndex
from th_shell.preflight.finding import syntax_errors
from th_shell.preflight.knowledge import Facts
from th_shell.preflight.parser import NotLuaError, as_parsed, parse
from th_shell.preflight.syntax_tree import (
    Call,
    Chunk,
    Closure,
    Index,
    Invoke,
    Local,
    Name,
    Node,
    Place,
    String,
    Use,
    origin,
)
from th_shell.preflight.tables import Chain, Tables, tables_of
from th_shell.runtime.shell import Engine

_LEVELS = 4  # folders above a file in which its modules may lie

_N = TypeVar("_N", bound=Node)


class Answers(dict[str, Any]):
    """The answers of a function, which is asked each question once."""

    def __init__(self, ask: Callable[[str], object]) -> None:
        self._ask = ask

    def __missing__(self, question: str) -> Any:
        answer = self[question] = self._ask(question)
        return answer


class Modules:
    """Finds modules, without loading any.

    checked: the files that are checked together. tops: folders that programs may be run in.
    """

    def __init__(self, engine: Engine, checked: Sequence[Path], tops: Iterable[Path] = ()) -> None:
        self._checked = {name for path in checked for name in _names(path.absolute())}
        #: What is asked of the disk, by names of modules and by paths.
        self.asked = {
            "module": Answers(engine.find_module),
            "packages": Answers(_packages),
            "file": Answers(_module_file),
            "texts": Answers(_texts_in),
            "exists": Answers(exists),
            "source": Answers(_source),
            "checked": Answers(lambda _: checked),
        }
        self.asked["checked"][""]
        self._module = lru_cache(maxsize=None)(self._file_from)
        self._tops = list(dict.fromkeys(folder.absolute() for folder in tops))
        self._above = lru_cache(maxsize=None)(self._folders)

    def read(self, path: Path, engine: Engine) -> Program:
        """Read a program as `read` does, and count what is in it among the answers."""
        self.asked["source"][str(path)]  # before: a change while it is read makes it another one
        return read(path, engine)

    def folders(self, path: Path) -> list[Path]:
        """Return the folders above a file in which its modules may lie, all in its project."""
        return self._above(path.parent.absolute())

    def _folders(self, folder: Path) -> list[Path]:
        near = [folder, *folder.parents][:_LEVELS]
        tops = [path for path in near if path in self._tops]
        end = next(
            (path for path in near if self.asked["exists"][f"{path}/.git"]),
            tops[-1] if tops else near[-1],
        )
        inside = near[: near.index(end) + 1]
        return inside + [path for path in self._tops if path not in inside]

    def in_engine(self, name: str) -> bool:
        """Tell whether the engine finds a module."""
        return self.asked["module"][name] is not None

    def file(self, name: str, path: Path) -> Path | None:
        """Return the file of a module that a program asks for, where it has one."""
        return self._module(name, path.parent)

    def _file_from(self, name: str, folder: Path) -> Path | None:
        path_in_engine = self.asked["module"][name]
        if path_in_engine is not None:
            return Path(path_in_engine).resolve() if path_in_engine else None
        above = [folder] if name.startswith(".") else self._above(folder.absolute())
        places = (place for top in above for place in (top.joinpath(*_parts(name)), top / name))
        return next((file for place in places if (file := self.asked["file"][str(place)])), None)

    def finds(self, name: str, path: Path) -> bool:
        """Tell whether the engine, or a folder above the file that asks, has a module."""
        parts = _parts(name)
        if not parts or self.in_engine(name) or tuple(parts) in self._checked:
            return True
        return bool(self.file(name, path)) or any(
            self._is_in(folder, parts) for folder in self.folders(path)
        )

    def _is_in(self, folder: Path, parts: list[str]) -> bool:
        if parts[0] in self.asked["packages"][str(folder)]:
            return True
        return len(parts) > 1 and self.asked["file"][str(folder.joinpath(*parts[1:]))] is not None

    def texts_beside(self, path: Path) -> list[str]:
        """Return the texts of the other programs in a program's folder."""
        return [
            text
            for file, text in self.asked["texts"][str(path.parent)].items()
            if file != path.name
        ]


def _names(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the names that a file may be known under, as parts: of x/y/z.lua z, y.z and x.y.z."""
    parts = path.parts[1:-1] if path.name == "init.lua" else (*path.parts[1:-1], path.stem)
    for start in range(max(len(parts) - _LEVELS, 0), len(parts)):
        yield parts[start:]


def _packages(name: str) -> list[str]:
    """Return the packages that a folder is, by the descriptions in it."""
    folder = Path(name)
    rockspecs = [*folder.glob("*.rockspec"), *folder.glob("rocks*/*.rockspec")]
    modules = [folder.name] if isfile(folder / "init.lua") else []
    return sorted([path.name.partition("-")[0] for path in rockspecs] + modules)


def _parts(name: str) -> list[str]:
    return [part for part in name.replace("/", ".").split(".") if part]


def _module_file(name: str) -> Path | None:
    files = (Path(f"{name}.lua"), Path(name, "init.lua"), Path(name))
    return next((file.resolve() for file in files if isfile(file)), None)


def _source(name: str) -> str:
    """Return a digest of what a program is, and its path without links."""
    try:
        return blake2b(read_file(Path(name))).hexdigest() + os.path.realpath(name)
    except OSError as error:
        return str(error)


def _texts_in(folder: str) -> dict[str, str]:
    """Return the programs in a folder, by their names."""
    files = (file for file in sorted(Path(folder).glob("*.lua")) if file.is_file())
    return {file.name: file.read_text("utf-8", "replace") for file in files}


# -- programs

_NOT_SOURCE = (b"\x1b", b"\x7fELF")


class UnreadableError(Exception):
    """A file that cannot be read; the message says why."""


@dataclass(frozen=True)
class Program:
    """A file of Lua."""

    path: Path
    source: str
    chunk: Chunk
    #: The lines and messages of LuaJIT's errors; the chunk then has the rest.
    errors: tuple[tuple[int, str], ...] = ()

    @cached_property
    def parsed(self) -> bytes:
        """The bytes in which the chunk counts places."""
        return as_parsed(self.source)

    def columns(self, place: Place) -> tuple[int, int]:
        """Return the column of a place in its line, from 1, and its length there, in characters."""
        start = self.parsed.rfind(b"\n", 0, place.start) + 1
        text = self.parsed[place.start : place.end].partition(b"\n")[0]
        return len(self.parsed[start : place.start].decode()) + 1, len(text.decode())

    @cached_property
    def real_path(self) -> Path:
        """Its path without links."""
        return self.path.resolve()

    @cached_property
    def tables(self) -> Tables:
        """The tables that it builds."""
        return tables_of(self.chunk)

    @cached_property
    def adds(self) -> Additions:
        """The names that it adds to the programs that it is checked with."""
        return additions_of(self.chunk)

    def of(self, kind: type[_N]) -> list[_N]:
        """Return its expressions of a kind."""
        return cast("list[_N]", self._by_kind.get(kind, []))

    @cached_property
    def _by_kind(self) -> dict[type[Node], list[Node]]:
        """Its expressions by their kinds."""
        by_kind: dict[type[Node], list[Node]] = {}
        for node in self.chunk.nodes:
            by_kind.setdefault(type(node), []).append(node)
        return by_kind

    @cached_property
    def calls(self) -> list[Call | Invoke]:
        """Its calls, of methods last."""
        return [*self.of(Call), *self.of(Invoke)]

    @cached_property
    def loads(self) -> list[tuple[str, Call]]:
        """The modules and files that it loads, by their names; '' where it computes these."""
        calls = (node for node in self.of(Call) if origin(node.function) in _LOADERS)
        return [(next(iter(texts_of(node)), ""), node) for node in calls]


#: Functions that load modules, and those that load files, or modules beside the program.
_REQUIRE = frozenset("require xlua.require xrequire".split())
_LOADERS = _REQUIRE.union("dofile loadfile include paths.dofile torch.include".split())


def read(path: Path, engine: Engine) -> Program:
    """Read a file, and compile it, without running it. Raises UnreadableError."""
    try:
        data = read_file(path)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    if data.startswith(_NOT_SOURCE):
        raise UnreadableError("it is bytecode or a library, and not Lua source")
    return program_of(path, data, engine)


def program_of(path: Path, data: bytes, engine: Engine) -> Program:
    """Return the program of a file that has these bytes."""
    # To Lua this ends a line, too, and not to the library that reads programs.
    data = re.sub(rb"(?<!\n)\r(?!\n)", b"\n", data)
    source = data.decode("utf-8", "surrogateescape")
    # As loadfile does, skip a first line that begins with #.
    code = b"\n" + data.partition(b"\n")[2] if data.startswith(b"#") else data
    errors = tuple(syntax_errors(code, engine))
    try:
        return Program(path, source, parse(source, is_whole=not errors), errors)
    except RecursionError:  # very deep nesting, which people do not write
        return Program(path, source, Chunk(), errors)
    except NotLuaError as error:
        return Program(path, source, Chunk(), ((error.line, "th cannot read this line"),))


# -- what they may build on


@dataclass
class World:
    """The names that a program may build on: those of th, of its modules, and of all programs."""

    facts: Facts
    modules: Modules
    #: The globals that the programs define together.
    globals: set[str] = field(default_factory=set)
    #: The fields and methods that they define.
    fields: set[str] = field(default_factory=set)
    #: The strings in them.
    texts: set[str] = field(default_factory=set)
    #: The fields by the global tables that they are added to.
    members: dict[str, set[str]] = field(default_factory=dict)
    #: So often they name a field or method.
    mentions: Counter[str] = field(default_factory=Counter)
    #: Whether they load modules that cannot be read, which may add to torch.
    is_extended: bool = False
    #: All of them, with their modules.
    programs: list[Program] = field(default_factory=list)
    _required: set[str] = field(default_factory=set)
    #: Whether they load Penlight whole, which then defines its modules when they are used.
    _has_all_of_penlight: bool = False
    _open: set[Path] = field(default_factory=set)
    _checked: frozenset[Path] = frozenset()
    _linked: dict[Path, set[Path]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        programs: Sequence[Program],
        facts: Facts,
        modules: Modules,
        reader: Callable[[Path, Engine], Program] = read,
    ) -> World:
        """Return the world of programs that are checked together, with the modules that they
        load.

        reader: reads a module's file, as `read` does.
        """
        world = cls(facts, modules)
        files = {program.real_path for program in programs}
        world._checked = frozenset(files)
        read_too = world.programs = list(programs)
        for program in read_too:  # which grows
            for file in world._add(program):
                if file in files:
                    continue
                files.add(file)
                try:
                    read_too.append(reader(file, facts.engine))
                except UnreadableError:
                    world.is_extended = True
        world.is_extended |= any(program.errors for program in read_too[len(programs) :])
        return world

    def _add(self, program: Program) -> set[Path]:
        """Add what a program defines; return the files that it loads."""
        adds = program.adds
        self.fields.update(program.chunk.defined)
        self.globals.update(adds.globals)
        self.texts.update(adds.texts)
        self.mentions.update(adds.mentions)
        for table, names in adds.members.items():
            self.members.setdefault(table, set()).update(names)
        if adds.is_open or program.errors:  # what it defines may not be read
            self._open.add(program.real_path)
        loaded = {
            file: name.partition(".")[0]
            for name, call in program.loads
            for file in self._file(name, call, program)
        }
        for file, top in loaded.items():
            # What packages define that are known by name is known.
            if top not in self.facts.packages or file in self._checked:
                self._linked.setdefault(program.real_path, set()).add(file)
                self._linked.setdefault(file, set()).add(program.real_path)
        return set(loaded)

    def _file(self, name: str, call: Call, program: Program) -> Iterator[Path]:
        """Yield the file that a call loads. Where that is not known, the program is open."""
        file, top = None, name.partition(".")[0]
        if origin(call.function) in _REQUIRE and name:
            file = self.modules.file(name, program.path)
            self._required.update((name, *name.split(".")))
            self._has_all_of_penlight |= name in ("pl", "pl.import_into")
            if top in self.facts.packages:
                self.is_extended |= file is None and top not in self.facts.listed
                is_known = name not in ("pl", "pl.import_into", "pl.compat", "pl.strict")
            else:
                is_known = file is not None or call.is_kept or self.modules.in_engine(name)
        else:
            folders = self.modules.folders(program.path) if name else []
            files = (self.modules.asked["file"][f"{folder}/{name}"] for folder in folders)
            file = next(filter(None, files), None)
            is_known = file is not None
        if not is_known:
            self._open.add(program.real_path)
        if file is not None:
            yield file

    @cached_property
    def classes(self) -> dict[str, tuple[Program, Local]]:
        """The locals that are tables of classes, by the classes' names."""
        made = (
            (name, (program, local))
            for program in self.programs
            for name, local in program.tables.classes.items()
        )
        return dict(made)

    @cached_property
    def functions(self) -> dict[str, list[tuple[Program, Closure]]]:
        """The functions in tables, by the names of their fields."""
        functions: dict[str, list[tuple[Program, Closure]]] = {}
        for program in self.programs:
            for fields in program.tables.fields.values():
                for name, target in fields.items():
                    if isinstance(target.value, Closure):
                        functions.setdefault(name, []).append((program, target.value))
        return functions

    def is_own_table(self, name: str) -> bool:
        """Tell whether one of the programs makes the table of this name, or computes its names."""
        is_made = name in self.globals and name not in self._required
        return is_made or f"{name}[]" in self.fields

    def may_define(self, name: str) -> bool:
        """Tell whether one of the programs may add a field of this name to a table."""
        return name in self.fields or name in self.texts

    @cached_property
    def methods(self) -> NameIndex:
        """The methods that objects may have."""
        return NameIndex(self.facts.all_methods | self.fields)

    @cached_property
    def usual_fields(self) -> NameIndex:
        """The fields and methods that must be somebody's."""
        return NameIndex(self.fields.union(n for n, count in self.mentions.items() if count > 2))

    @cached_property
    def by_path(self) -> dict[Path | None, Program]:
        """The programs by their paths, without links and as they are named."""
        programs = self.programs[::-1]
        return {path: item for item in programs for path in (item.path, item.real_path)}

    @cached_property
    def parsed(self) -> dict[str, tuple[Program, Invoke]]:
        """The first call of `parse` for each name of a variable, with its program."""
        programs = self.programs[::-1]
        return {name: (item, c) for item in programs for name, c in item.tables.parsed.items()}

    def building(self, chain: Chain) -> list[Program]:
        """Return the programs that give what is at a chain, which begins with a global, values."""
        return self._by_chain.get(chain, [])

    @cached_property
    def _by_chain(self) -> dict[Chain, list[Program]]:
        by_chain: dict[Chain, list[Program]] = {}
        for item in self.programs:
            tables = item.tables
            for chain in {*tables.assigned, *tables.fields, *tables.options}:
                if isinstance((*chain, None)[0], str):
                    by_chain.setdefault(chain, []).append(item)
        return by_chain

    @cached_property
    def all_globals(self) -> NameIndex:
        """The globals that programs may find."""
        members = self.members.get("_G", set())
        required = self._required - self.facts.packages.keys()
        names = {*self.globals, *members, *required, *self.facts.globals}
        return NameIndex(names | self.facts.of_penlight if self._has_all_of_penlight else names)

    def changes_tensors(self, name: str) -> bool:
        """Tell whether one of the programs may give tensors a method of this name."""
        if name in self._given_to_classes:
            return True
        return self.mentions["getmetatable"] > 0 and self.may_define(name)

    @cached_property
    def _given_to_classes(self) -> Set[str]:
        """The names that the programs add to classes of torch."""
        names = (self.members[table] for table in self.members if table.startswith("torch."))
        return set[str]().union(*names)

    def is_open(self, program: Program) -> bool:
        """Tell whether a program, one that it loads, or one that loads it, may get any globals."""
        return program.real_path in self._near_open

    @cached_property
    def _near_open(self) -> set[Path]:
        """The files that may be loaded together with one that may get any globals."""
        together, waiting = set(self._open), [*self._open]
        while waiting:
            near = self._linked.get(waiting.pop(), set())
            waiting += near - together
            together |= near
        return together

    def is_defined_beside(self, name: str, program: Program) -> bool:
        """Tell whether a file in a program's folder gives a global a value, by the words in it."""
        sets = re.compile(
            rf"(?m)(?:^|[\s,;])(?:{name}\s*(?:,[\s\w.,]{{0,200}})?=(?!=)|function\s+{name}\b)"
        )
        return any(sets.search(text) for text in self.modules.texts_beside(program.path))


# -- additions of a program to those that it is checked with, read off its expressions once


#: Globals by which a program gets others in ways that cannot be read.
_OPENERS = frozenset("setfenv getfenv loadstring load module import _ENV".split())


@dataclass
class Additions:
    """The names that a program adds to those of others."""

    #: The globals that it defines.
    globals: set[str] = field(default_factory=set)
    #: The fields by the global tables that it adds them to.
    members: dict[str, set[str]] = field(default_factory=dict)
    #: So often it names a field or method.
    mentions: Counter[str] = field(default_factory=Counter)
    #: Its strings, without the dashes of options.
    texts: set[str] = field(default_factory=set)
    #: Whether it may get globals in other ways.
    is_open: bool = False

    def add_global(self, node: Name) -> None:
        if node.use is Use.ASSIGNED:
            self.globals.add(node.name)
        elif node.name in _OPENERS or (node.name == "_G" and node.use is not Use.INDEXED):
            self.is_open = True

    def add_call(self, function: Name | Index, call: Call) -> None:
        """Add the class that a call makes, or that it may get anything from elsewhere."""
        name = function.name if isinstance(function, Name) else function.key or ""
        if isinstance(function, Index):
            self.is_open |= name.startswith("import")
            if "class" in origin(function.base):
                self.globals.add(name)
        if "class" in name.lower():
            self.globals.update(texts_of(call))


def additions_of(chunk: Chunk) -> Additions:
    """Return the names that a program adds."""
    additions = Additions(texts={text.lstrip("-") for text in chunk.texts})
    for node in chunk.nodes:
        if isinstance(node, Name) and node.local is None:
            additions.add_global(node)
        elif isinstance(node, Index) and node.use is Use.ASSIGNED and node.key:
            additions.members.setdefault(origin(node.base), set()).add(node.key)
        elif isinstance(node, Call) and isinstance(node.function, (Name, Index)):
            additions.add_call(node.function, node)
        if isinstance(node, (Index, Invoke)):
            additions.mentions[(node.key if isinstance(node, Index) else node.name) or ""] += 1
    for table, _, name in (text.partition(".") for text in additions.texts):
        if name.isidentifier():
            additions.members.setdefault(table, set()).add(name)
    return additions


def texts_of(call: Call) -> list[str]:
    """Return the literal strings among the arguments of a call."""
    return [argument.value for argument in call.arguments if isinstance(argument, String)]
