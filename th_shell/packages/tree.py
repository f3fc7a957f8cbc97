"""A folder of Lua modules, and the records of the packages whose files they are.

A record is a JSON file in the folder's `.th`: the package's name, version, source, commit, files
and dependencies.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from th_shell.usage import UsageError

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
