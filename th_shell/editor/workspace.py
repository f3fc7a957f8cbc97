"""The programs of an editor's folders, as they are typed: read, and checked together."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from th_shell.packages.place import search_users_tree
from th_shell.preflight.command import lua_files
from th_shell.preflight.finding import Finding
from th_shell.preflight.knowledge import facts_of
from th_shell.preflight.luacheck import findings_of_all
from th_shell.preflight.programs import Modules, Program, UnreadableError, World, program_of, read
from th_shell.preflight.syntax_tree import Place
from th_shell.runtime.shell import Engine

_MOST_FILES = 2000  # of the folders, that are read


class Workspace:
    """folders: in which programs are. The texts that are open in the editor count."""

    def __init__(self) -> None:
        self.engine = Engine()
        search_users_tree(self.engine)
        self.facts = facts_of(self.engine)
        self.folders: list[Path] = []
        self._open: dict[Path, Program] = {}
        self._whole: dict[Path, Program] = {}  # as they last compiled
        self._read: dict[Path, tuple[float, Program]] = {}
        self._world: World | None = None
        self._modules: Modules | None = None
        self._found: list[Path] = []  # files of the folders

    def set_text(self, path: Path, text: str) -> Program:
        """Take what is typed for a file's text."""
        before = self._open.get(path)
        if before and before.source == text:
            return before
        data = text.encode("utf-8", "surrogatepass")
        program = self._open[path] = program_of(path, data, self.engine)
        if path not in self._whole:
            self.forget()  # it may be a module that others require
        if not program.errors or path not in self._whole:
            self._whole[path], self._world = program, None
        return program

    def whole(self, program: Program) -> Program:
        """Return a program as it last compiled, where it ever did."""
        return self._whole.get(program.path, program)

    def close(self, path: Path) -> None:
        """Take a file as it is on the disk again."""
        for programs in (self._open, self._whole):
            programs.pop(path, None)
        self.forget()

    def forget(self) -> None:
        """Look at the files on the disk anew."""
        self._world = self._modules = None

    def _file(self, path: Path, engine: Engine) -> Program:
        if path in self._whole:
            return self._whole[path]
        time = path.stat().st_mtime if path.is_file() else 0.0
        entry = self._read.get(path)
        if entry is None or entry[0] != time:
            entry = self._read[path] = (time, read(path, engine))
        return entry[1]

    def world(self) -> World:
        """Return all programs together, with the modules that they load."""
        if self._world is None:
            if self._modules is None:
                folders = [item for item in self.folders if item not in (Path.home(), Path("/"))]
                self._found = list(islice(lua_files(map(str, folders)), _MOST_FILES))
            programs = list(self._programs())
            if self._modules is None:
                paths = [item.path for item in programs]
                self._modules = Modules(self.engine, paths, self.folders)
            self._world = World.of(programs, self.facts, self._modules, self._file)
        return self._world

    def _programs(self) -> Iterator[Program]:
        for path in dict.fromkeys([*self._whole, *self._found]):
            try:
                yield self._file(path, self.engine)
            except UnreadableError:
                continue

    def findings(self, program: Program) -> list[Finding]:
        """Return the findings in a program."""
        return findings_of_all([program], self.facts, lambda _: self.world())[1]


# -- places of a program as editors count them: lines from 0, columns in units of UTF-16


_CODEC = PositionCodec()
#: The length of a text in units of UTF-16.
units: Callable[[str], int] = _CODEC.client_num_units


@lru_cache(maxsize=64)
def _starts(data: bytes) -> list[int]:
    """Return the offsets at which the lines of a source begin."""
    starts = [0]
    while (at := data.find(b"\n", starts[-1])) >= 0:
        starts.append(at + 1)
    return starts


def position_of(program: Program, offset: int) -> Position:
    """Return the position of a byte of a program."""
    starts = _starts(program.parsed)
    line = bisect_right(starts, offset) - 1
    return Position(line, units(program.parsed[starts[line] : offset].decode()))


def range_of(program: Program, place: Place) -> Range:
    """Return the range of a place."""
    return Range(position_of(program, place.start), position_of(program, place.end))


def text_before(source: str, position: Position) -> str:
    """Return the text of a source up to a position."""
    lines = [f"{line}\n" for line in source.split("\n")]
    at = _CODEC.position_from_client_units(lines, position)
    return "".join([*lines[: at.line], lines[at.line][: at.character]])
