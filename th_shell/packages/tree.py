"""Folders of packages: a checkout, and the folder of Lua modules of those that are installed.

It is told which files of a checkout are modules, and where `require` looks for them.

Each installed package has a record, a JSON file in the folder's `.th`: the package's name, version,
source, commit, files and dependencies.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from th_shell.packages.cmake_lists import CMakeLists
from th_shell.packages.rockspec import Rockspec
from th_shell.visible import UsageError

_RECORDS = ".th"


@dataclass(frozen=True)
class Record:
    """The record of an installed package."""

    name: str
    version: str
    source: str
    commit: str
    #: Paths relative to the tree, with slashes.
    files: Sequence[str]
    dependencies: Sequence[str]


class Tree:
    """A folder with installed packages.

    A change is made beside what it will replace, committed by one rename, and then put in place: of
    a process that was killed, the next one deletes what was not committed, and finishes the rest.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._records = folder / _RECORDS
        self._draft = self._records / "draft"
        self._committed = self._records / "committed"

    def records(self) -> dict[str, Record]:
        """Return the records of all packages by their names. Raises UsageError for a broken one."""
        if not self._records.is_dir():
            return {}
        with self._alone():
            return self._read()

    def install(self, record: Record, files: Mapping[str, Path]) -> None:
        """Copy a package's files here, in the place of those that it had.

        Nothing is changed where one of them belongs to something else (UsageError).
        """
        with self._alone():
            records = self._read()
            owners = {file: held.name for held in records.values() for file in held.files}
            for file in files:
                owner = owners.get(file)
                if owner not in (None, record.name):
                    raise UsageError(f"{record.name}: {file} belongs to {owner}")
                if owner is None and (self.folder / file).exists():
                    raise UsageError(f"{record.name}: {self.folder / file} is there, of no package")
            old = records.get(record.name)
            self._change({record.name: record}, old.files if old else (), files)

    def remove(self, names: Sequence[str]) -> None:
        """Delete packages' files; none where one is not here, or others need it (UsageError)."""
        with self._alone() if self._records.is_dir() else nullcontext():
            records = self._read()
            problems = [problem for name in names if (problem := self._held(name, names, records))]
            if problems:
                raise UsageError("; ".join(problems))
            former = [file for name in names for file in records[name].files]
            self._change(dict.fromkeys(names), former, {})

    def _held(self, name: str, names: Sequence[str], records: Mapping[str, Record]) -> str:
        """Return why a package cannot be removed together with others; '' where it can."""
        if name not in records:
            return f"{name} is not installed in {self.folder}"
        users = [
            record.name
            for record in records.values()
            if record.name not in names and name.lower() in map(str.lower, record.dependencies)
        ]
        return f"{name} is needed by {', '.join(users)}" if users else ""

    def _read(self) -> dict[str, Record]:
        records = {}
        for path in sorted(self._records.glob("*.json")):
            try:
                record = Record(**json.loads(path.read_text()))
            except (OSError, ValueError, TypeError) as error:
                raise UsageError(f"{path}: {error}") from error
            records[record.name] = record
        return records

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process change the folder, and tidy up what a killed one has left."""
        self._records.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._records, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._put_in_place()
            yield
        finally:
            os.close(descriptor)

    def _change(
        self,
        records: Mapping[str, Record | None],
        former: Collection[str],
        files: Mapping[str, Path],
    ) -> None:
        """Replace former files by new ones, and records; None: by none."""
        self._draft_files(self._draft / "files", former, files)
        for name, record in records.items():
            path = self._draft / "records" / f"{name}.json"
            path.parent.mkdir(exist_ok=True)
            if record:
                path.write_text(json.dumps(asdict(record), indent=1) + "\n")
            else:
                path.mkdir()
        os.replace(self._draft, self._committed)
        self._put_in_place()

    def _draft_files(self, draft: Path, former: Collection[str], files: Mapping[str, Path]) -> None:
        """Make what will be at the top of the folder; an empty folder where nothing will be."""
        tops = {file.partition("/")[0] for file in (*former, *files)}
        there = [path for top in tops for path in (self.folder / top).rglob("*")]
        former_files = [path for path in there if path.is_symlink() or not path.is_dir()]
        sources = {path.relative_to(self.folder).as_posix(): path for path in former_files}
        for file in former:
            sources.pop(file, None)
        for file, source in (sources | dict(files)).items():
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, draft / file, follow_symlinks=file in files)
        for top in tops:
            if not (draft / top).exists():
                (draft / top).mkdir(parents=True)

    def _put_in_place(self) -> None:
        """Move what is committed to its place: an entry of the folder, or a record, by a rename."""
        for new in sorted(self._committed.glob("*/*")):
            place = (self.folder if new.parent.name == "files" else self._records) / new.name
            if os.path.lexists(place):
                self._draft.mkdir(exist_ok=True)
                os.replace(place, self._draft / new.name)
            with suppress(OSError):  # it is no empty folder
                new.rmdir()
                continue
            os.replace(new, place)
        for path in (self._committed, self._draft):
            shutil.rmtree(path, ignore_errors=True)


# -- which files of a checkout are Lua modules, and where `require` looks for them

_C = {".c", ".cc", ".cpp", ".cu", ".m"}
# A call, or a protected call, of a function that loads a module or library.
_LOADED = re.compile(r"""\b(?:require|load|loadlib|searchpath)\b[ ,(]{0,3}["']([\w.]+)["']""")
_MODULE = re.compile(r"[\w-]+(\.[\w-]+)*")


def package_name(checkout: Path, rockspec: Rockspec | None, fallback: str) -> str:
    """Return the name under which programs require a package."""
    name = rockspec.package if rockspec else CMakeLists(checkout).package or fallback
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise UsageError(f"{name!r} is no name of a package")
    return name


def lua_files(checkout: Path, rockspec: Rockspec | None, name: str) -> dict[str, Path]:
    """Return the Lua files of a checkout by their places in a folder of modules: 'nn/init.lua'.

    They are those that the rockspec lists, with data among them, else those that CMake installs,
    with pictures among them, else all that the checkout has.
    """
    listed = rockspec.modules if rockspec else {}
    files = {
        _place(module, path): _inside(checkout, path)
        for module, path in listed.items()
        if isinstance(path, str) and Path(path).suffix not in _C
    }
    files = files or CMakeLists(checkout).places
    if any(file.endswith(".lua") for file in files):
        return files
    folders = (checkout / "lua" / name, checkout / name, checkout / "lua", checkout)
    top = next(
        folder for folder in folders if (folder / "init.lua").is_file() or folder == checkout
    )
    single = top / f"{name}.lua"
    if not (top / "init.lua").is_file() and single.is_file():
        return {single.name: single}
    return {f"{name}/{path.relative_to(top).as_posix()}": path for path in _files(top, {".lua"})}


def has_c_code(checkout: Path) -> bool:
    """Tell whether there are sources of C, which would have to be compiled."""
    return next(_files(checkout, _C), None) is not None


def needs_library(name: str, files: Mapping[str, Path]) -> bool:
    """Tell whether a package's Lua files load a library of C.

    That is a module whose name begins with lib, or one of the package's that is no Lua file.
    files: its files by their places.
    """
    for path in (path for path in files.values() if path.suffix == ".lua"):
        for module in _LOADED.findall(path.read_text("utf-8", "replace")):
            place = module.replace(".", "/")
            is_there = f"{place}.lua" in files or f"{place}/init.lua" in files
            if not is_there and (module.startswith("lib") or module.split(".")[0] == name):
                return True
    return False


def _files(top: Path, suffixes: set[str]) -> Iterator[Path]:
    for path in sorted(top.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
        if path.suffix in suffixes and not hidden and path.is_file() and not path.is_symlink():
            yield path


def _place(module: str, path: str) -> str:
    if not _MODULE.fullmatch(module):
        raise UsageError(f"{module!r} is no name of a module")
    place = module.replace(".", "/")
    is_init = Path(path).name == "init.lua" and not place.endswith("/init")
    return f"{place}/init.lua" if is_init else f"{place}{Path(path).suffix}"


def _inside(checkout: Path, path: str) -> Path:
    file = (checkout / path).resolve()
    if not file.is_relative_to(checkout.resolve()) or not file.is_file():
        raise UsageError(f"the rockspec lists {path}, which is not there")
    return file
