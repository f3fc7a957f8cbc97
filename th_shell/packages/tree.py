"""Folders of packages: a checkout, and the folder of Lua modules of those that are installed.

It is told which files of a checkout are modules, and where `require` looks for them.

Each installed package has a record, a JSON file in the folder's `.th`: the package's name, version,
source, commit, files and dependencies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from th_shell.files import write_file
from th_shell.packages.cmake import CMakeLists
from th_shell.packages.rockspec import Rockspec
from th_shell.visible import UsageError

_RECORDS = ".th"


@dataclass(frozen=True)
class Record:
    """What is known of an installed package; files: relative to the tree, with slashes."""

    name: str
    version: str
    source: str
    commit: str
    files: Sequence[str]
    dependencies: Sequence[str]


class Tree:
    """A folder with installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def records(self) -> dict[str, Record]:
        """The records of all packages by their names. Raises UsageError for one that is broken."""
        found = {}
        for path in sorted((self.folder / _RECORDS).glob("*.json")):
            try:
                record = Record(**json.loads(path.read_text()))
            except (OSError, ValueError, TypeError) as error:
                raise UsageError(f"{path}: {error}") from error
            found[record.name] = record
        return found

    def install(self, record: Record, files: Mapping[str, Path]) -> None:
        """Copy a package's files here, in the place of those that it had.

        Nothing is changed where one of them belongs to something else (UsageError).
        """
        records = self.records()
        old = records.get(record.name)
        owners = {file: other.name for other in records.values() for file in other.files}
        for file in files:
            owner = owners.get(file)
            if owner not in (None, record.name):
                raise UsageError(f"{record.name}: {file} belongs to {owner}")
            if owner is None and (self.folder / file).exists():
                raise UsageError(f"{record.name}: {self.folder / file} is there, of no package")
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".th-", dir=self.folder) as new:
            for file, source in files.items():
                target = Path(new) / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
            # Whatever fails from here on, the record has all files that are there.
            former = [file for file in (old.files if old else ()) if file not in files]
            self._write(replace(record, files=[*record.files, *former]))
            for file in files:
                target = self.folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(new) / file, target)
        self._delete(former)
        self._write(record)

    def _write(self, record: Record) -> None:
        (self.folder / _RECORDS).mkdir(exist_ok=True)
        text = json.dumps(asdict(record), indent=1)
        write_file(self._path(record.name), f"{text}\n".encode())

    def remove(self, name: str, others: Collection[str] = ()) -> None:
        """Delete a package's files. Raises UsageError where it is not here, or still needed.

        others: packages that are removed, too.
        """
        records = self.records()
        if name not in records:
            raise UsageError(f"{name} is not installed in {self.folder}")
        users = [
            one.name for one in records.values() if name.lower() in map(str.lower, one.dependencies)
        ]
        users = [user for user in users if user not in others]
        if users:
            raise UsageError(f"{name} is needed by {', '.join(users)}")
        self._delete(records[name].files)
        self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self.folder / _RECORDS / f"{name}.json"

    def _delete(self, files: Sequence[str]) -> None:
        for file in files:
            (self.folder / file).unlink(missing_ok=True)
            for folder in Path(file).parents[:-1]:
                with suppress(OSError):  # it has other files, or is not there
                    (self.folder / folder).rmdir()


# -- which files of a checkout are Lua modules, and where `require` looks for them

_C = {".c", ".cc", ".cpp", ".cu", ".m"}
_MODULE = re.compile(r"[\w-]+(\.[\w-]+)*")


def package_name(checkout: Path, rockspec: Rockspec | None, fallback: str) -> str:
    """The name under which programs require a package."""
    name = rockspec.package if rockspec else CMakeLists(checkout).package or fallback
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise UsageError(f"{name!r} is no name of a package")
    return name


def lua_files(checkout: Path, rockspec: Rockspec | None, name: str) -> dict[str, Path]:
    """Lua files by their places in a folder of modules: 'nn/init.lua'.

    They are those that the rockspec lists, with data among them, else those that CMake installs,
    else all that the checkout has.
    """
    listed = rockspec.modules if rockspec else {}
    files = {
        _place(module, path): _inside(checkout, path)
        for module, path in listed.items()
        if isinstance(path, str) and Path(path).suffix not in _C
    }
    files = files or CMakeLists(checkout).places
    if files:
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
    """Whether there are sources that would have to be compiled."""
    return next(_files(checkout, _C), None) is not None


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
