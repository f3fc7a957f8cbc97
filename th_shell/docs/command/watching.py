"""Runs pages again when they change.

Files are looked at several times a second: that works on all file systems, those of containers and
of other machines among them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from th_shell.docs.interrupts import raise_if_interrupted
from th_shell.docs.settings.configuration import configuration_files

_PAUSE = 0.3  # seconds between two looks
_SETTLED = 0.1  # seconds in which an editor has written a file

#: What tells a file from a former state of it; None where there is none.
_Stamp = tuple[int, int, int] | None


def watch(
    find: Callable[[], Sequence[Path]],
    run: Callable[[Sequence[Path]], object],
    others: Iterable[Path] = (),
) -> NoReturn:
    """Run pages, and then those that change or are new, until Ctrl-C.

    find: the pages that there are now. others: files or folders; if one of them changes, all pages
    are run again. With a page count the files beside it whose names begin with its name: what
    is known of its examples; and those that say how it is run.
    """
    others = list(others)

    def look() -> dict[Path, object]:
        return {page: _stamps(page, others) for page in find()}

    seen = look()
    run(list(seen))
    while True:
        time.sleep(_PAUSE)
        raise_if_interrupted()
        if look() == seen:
            continue
        time.sleep(_SETTLED)
        now = look()
        changed = [page for page, stamps in now.items() if seen.get(page) != stamps]
        seen = now
        if changed:
            run(changed)


def _stamps(page: Path, others: Sequence[Path]) -> list[tuple[str, _Stamp]]:
    beside = {page.name}
    try:
        beside |= {name for name in os.listdir(page.parent) if name.startswith(f"{page.name}.")}
    except OSError:
        pass  # the folder is gone
    files = [page.with_name(name) for name in sorted(beside)] + configuration_files(page)
    for other in others:
        files += sorted(other.iterdir()) if other.is_dir() else [other]
    return [(str(file), _stamp(file)) for file in files]


def _stamp(file: Path) -> _Stamp:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
