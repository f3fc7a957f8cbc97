"""Runs a suite in processes of its own, and counts what passes.

Packages are installed from their checkouts as users do it, into a folder that is removed; nothing
is fetched, and nothing is written to the checkouts.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.data_files import data
from tests.reference.suites import Suite

#: Seconds that a program may take.
LIMIT = 900

#: What a program begins with. Some tests pass by chance, in the reference, too: each begins with
#: the seed, in whatever order they run, and suites do not take theirs from the time.
_BEGIN = data(__file__, "_BEGIN")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_TEST = re.compile(r"^ *\d+/(\d+) .*\[(\w+)\] *$", re.MULTILINE)
_SHOWN = 40  # lines of what a program has printed last


@dataclass(frozen=True)
class Outcome:
    """What has become of a suite: how many pass, of how many, and what the others have printed."""

    passed: int
    total: int
    seconds: float
    failures: tuple[str, ...] = ()
    crashed: bool = False  # a program was ended by a signal, or by us


@dataclass(frozen=True)
class _Ended:
    status: int | None  # None: not in time
    printed: str

    @property
    def failure(self) -> str:
        how = f"not done in {LIMIT} s" if self.status is None else f"status {self.status}"
        last = self.printed.rpartition("\nCompleted ")[2].splitlines()[-_SHOWN:]
        return "\n".join([f"ended with {how}" if self.status is not None else how, *last])


class Checkouts:
    """The checkouts in a folder, and the packages that were installed from them.

    work: a folder of ours, for all that is written.
    """

    def __init__(self, folder: Path, work: Path) -> None:
        self._work = work
        self._found = {path.name.casefold(): path for path in folder.iterdir() if path.is_dir()}
        own = {"XDG_DATA_HOME": str(work), "XDG_CONFIG_HOME": str(work), "TERM": "dumb"}
        # Of what a checkout needs and what is not there, git may fetch nothing.
        others = {k: v for k, v in os.environ.items() if k not in _FOREIGN}
        self._environment = {**others, **own, "GIT_ALLOW_PROTOCOL": "file"}

    def missing(self, suite: Suite) -> list[str]:
        """The checkouts that are not there, of what a suite needs and of its own."""
        names = dict.fromkeys([suite.name, *suite.needs])
        return [name for name in names if name not in self._found]

    def install(self, suites: Iterable[Suite]) -> str:
        """Install what suites need, each once; returns what went wrong."""
        names = dict.fromkeys(name for suite in suites for name in suite.needs)
        if not names:
            return ""
        words = ["--install", *(str(self._found[name].resolve()) for name in names)]
        ended = self._th(self._work, words)
        return "" if ended.status == 0 else ended.printed

    def run(self, suite: Suite, seed: int) -> Outcome:
        """Run the programs of a suite one after the other."""
        start = time.monotonic()
        source = self._found[suite.name] / suite.folder
        folder = self._work / "suites" / suite.name
        shutil.copytree(source, folder)
        begin = _BEGIN % (seed, seed)
        ended = [self._th(folder, ["-e", begin + code]) for code in suite.programs]
        failures = tuple(
            f"{code}: {end.failure}"
            for code, end in zip(suite.programs, ended, strict=True)
            if end.status != 0
        )
        if suite.counts_programs:
            passed, total = len(ended) - len(failures), len(ended)
        else:
            passed, total = _count_tests(ended[0].printed)
        crashed = any(end.status is None or end.status < 0 for end in ended)
        return Outcome(passed, total, time.monotonic() - start, failures, crashed)

    def run_page(self, page: Path) -> str:
        """Run a page of ours that needs nn; returns what it says, "" where all is well."""
        tree = self._work / "th" / "lua"
        more = {"LUA_PATH": f"{tree}/?.lua;{tree}/?/init.lua;;", "WITH_NN": "1"}
        ended = self._th(self._work, [str(page)], "th_shell.docs", more)
        return "" if ended.status == 0 else ended.printed

    def _th(
        self,
        folder: Path,
        words: list[str],
        program: str = "th_shell",
        more: Mapping[str, str] | None = None,
    ) -> _Ended:
        command = [sys.executable, "-I", "-m", program, *words]
        status: int | None
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env={**self._environment, **(more or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT,
            )
            printed, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as error:
            printed, status = error.stdout or b"", None
        text = printed.decode(errors="replace").replace("\r", "\n")
        return _Ended(status, _ESCAPES.sub("", text))


#: Variables by which th would find what is not in the folder.
_FOREIGN = {"LUA_PATH", "LUA_CPATH", "LUA_INIT", "TREPLSTARTUP", "TH_CONFIG"}


def _count_tests(printed: str) -> tuple[int, int]:
    """How many tests a Tester has called passed, and how many it has; of several, the largest."""
    found = [(int(total), verdict) for total, verdict in _TEST.findall(printed)]
    largest = max((total for total, _ in found), default=0)
    return found.count((largest, "PASS")), largest
