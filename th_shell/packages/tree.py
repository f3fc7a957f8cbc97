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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

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
            for file in files:
                target = self.folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(new) / file, target)
        self._delete([file for file in (old.files if old else ()) if file not in files])
        (self.folder / _RECORDS).mkdir(exist_ok=True)
        self._path(record.name).write_text(json.dumps(asdict(record), indent=1) + "\n")

    def remove(self, name: str) -> None:
        """Delete a package's files. Raises UsageError where it is not here, or still needed."""
        records = self.records()
        if name not in records:
            raise UsageError(f"{name} is not installed in {self.folder}")
        users = [other.name for other in records.values() if name in other.dependencies]
        if users:
            raise UsageError(f"{name} is needed by {', '.join(users)}")
        self._delete(records[name].files)
        self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self.folder / _RECORDS / f"{name}.json"

    def _delete(self, files: Sequence[str]) -> None:
        for file in files:
            path = self.folder / file
            path.unlink(missing_ok=True)
            for folder in path.parents:
                if folder == self.folder or any(folder.iterdir()):
                    break
                folder.rmdir()


# -- which files of a checkout are Lua modules, and where `require` looks for them

_C = {".c", ".cc", ".cpp", ".cu", ".m"}
_MODULE = re.compile(r"[\w-]+(\.[\w-]+)*")
_LISTED = re.compile(r"(?<![\w./}-])[\w.-]+(?:/[\w.-]+)+\.lua\b")
_PACKAGE = re.compile(r"^\s*ADD_TORCH_PACKAGE\s*\(\s*([\w-]+)", re.I | re.M)


def package_name(checkout: Path, rockspec: Rockspec | None, fallback: str) -> str:
    """The name under which programs require a package."""
    found = _PACKAGE.findall(_cmake(checkout))
    name = rockspec.package if rockspec else str(found[-1]) if found else fallback
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise UsageError(f"{name!r} is no name of a package")
    return name


def _cmake(checkout: Path) -> str:
    path = checkout / "CMakeLists.txt"
    return path.read_text(errors="replace") if path.is_file() else ""


def lua_files(checkout: Path, rockspec: Rockspec | None, name: str) -> dict[str, Path]:
    """Lua files by their places in a folder of modules: 'nn/init.lua'.

    They are those that the rockspec lists, else all that the checkout has.
    """
    listed = rockspec.modules if rockspec else {}
    files = {
        _place(module, path): _inside(checkout, path)
        for module, path in listed.items()
        if isinstance(path, str) and path.endswith(".lua")
    }
    if files:
        return files
    folders = (checkout / "lua" / name, checkout / name, checkout / "lua", checkout)
    top = next(
        folder for folder in folders if (folder / "init.lua").is_file() or folder == checkout
    )
    single = top / f"{name}.lua"
    if not (top / "init.lua").is_file() and single.is_file():
        return {single.name: single}
    found = {f"{name}/{path.relative_to(top).as_posix()}": path for path in _files(top, {".lua"})}
    return {f"{name}/{path.name}": path for path in _listed(checkout)} | found


def _listed(checkout: Path) -> Iterator[Path]:
    """Lua files of subfolders that CMakeLists.txt lists, all of which it installs in one folder."""
    for path in _LISTED.findall(_cmake(checkout)):
        file = (checkout / path).resolve()
        if file.is_relative_to(checkout.resolve()) and file.is_file():
            yield file


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
    return f"{place}/init.lua" if is_init else f"{place}.lua"


def _inside(checkout: Path, path: str) -> Path:
    file = (checkout / path).resolve()
    if not file.is_relative_to(checkout.resolve()) or not file.is_file():
        raise UsageError(f"the rockspec lists {path}, which is not there")
    return file
