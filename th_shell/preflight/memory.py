"""Keeps what was said of programs in the user's cache folder, while nothing has changed.

A check asks for the contents of files, and where modules are. What it says is kept with these
questions and digests of their answers, and holds as long as the answers are the same. Each command
line has a record of its own in each folder that it is used in, as JSON. A record is written whole,
so that processes do not disturb each other; one that cannot be read or written counts for nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from th_shell import __version__
from th_shell.files import read_file, write_file
from th_shell.preflight.programs import Modules


def recall(words: object, modules: Modules) -> tuple[str, int] | None:
    """Return what was said of the words of a command, and its status; None where that is unknown.

    modules: answers the questions.
    """
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        record = json.loads(read_file(_path(words)))
        asked = record["asked"]
        if record["version"] == _version() and asked == _digests(asked, modules):
            return str(record["said"]), int(record["status"])
    return None


def keep(words: object, modules: Modules, said: str, status: int) -> None:
    """Keep what is said of the words of a command, and its status."""
    asked = _digests(modules.asked, modules)
    record = {"version": _version(), "asked": asked, "said": said, "status": status}
    path = _path(words)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(path, json.dumps(record).encode())


def _path(words: object) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home, "th", "check", f"{_digest((os.getcwd(), words))}.json")


def _digests(asked: Mapping[str, Iterable[str]], modules: Modules) -> dict[str, dict[str, str]]:
    """Return digests of the answers to questions, by their kinds."""
    return {
        kind: {question: _digest(modules.asked[kind][question]) for question in asked[kind]}
        for kind in asked
    }


def _digest(value: object) -> str:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _version() -> str:
    """Return the version of th, with the time of its newest file: in a clone that changes alone."""
    folders = os.walk(os.path.dirname(os.path.dirname(__file__)), followlinks=True)
    files = [Path(folder, name) for folder, _, names in folders for name in names]
    newest = max(file.stat().st_mtime_ns for file in files if file.suffix != ".pyc")
    return f"{__version__} {newest} {sys.version}"
