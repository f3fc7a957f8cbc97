"""Runs batches of programs in processes of their own, and makes findings of what goes wrong.

A process that dies, hangs or reports something costs its batch nothing: what comes after the
program at fault runs in a new one. Each kind of finding is reduced once, and saved.
"""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from shlex import quote
from typing import Any

from tests.fuzz.cases import Case, reduced
from tests.fuzz.child import DIGITS
from tests.fuzz.files import FOLDER
from tests.fuzz.generators import GENERATORS
from tests.fuzz.kinds import bad_lines, kind_of

TOP = Path(__file__).parent.parent.parent
_ENVIRONMENT = {"PYTHONPATH": str(TOP), "PYTHONFAULTHANDLER": "1"}

#: What processes computed, by what it is: every process has to compute the same.
_ANSWERS: dict[str, str] = {}

#: What TH_GUARD is in processes, in turn: memory ends behind its pieces, or before them.
GUARDS = ("1", "front")

#: Seconds that one program may take, on a busy machine.
_PATIENCE = 15
#: And a fuzzer beyond its time, for its last step: programs that fill memory take minutes.
_LATE = 350


@dataclass
class Finding:
    """What went wrong, in which program, and the command that shows it again."""

    fuzzer: str
    wrong: str
    seed: str = ""
    case: Case | None = None
    command: str = ""
    output: str = ""
    first: int = 0  # the first program of its process
    guard: str = ""  # its TH_GUARD

    @property
    def kind(self) -> str:
        """The same for findings that are probably one: no numbers, no values."""
        return f"{self.fuzzer}: {kind_of(self.wrong)}"


@dataclass
class Tally:
    """What was done: counts by name, and findings."""

    counts: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, **counts: int) -> None:
        """Count more."""
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


@contextmanager
def originals() -> Iterator[None]:
    """Let the environment name a folder of good files, which the fuzzers mutate."""
    with folder() as where:
        subprocess.run(
            [sys.executable, "-m", "tests.fuzz.child", "originals", str(where)],
            cwd=TOP,
            check=True,
            timeout=120,
        )
        os.environ[FOLDER] = str(where)
        yield


@contextmanager
def folder() -> Iterator[Path]:
    """A folder of its own for a process; gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix="th-fuzz-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def start(
    arguments: list[str], where: Path, guard: str = "", **options: Any
) -> subprocess.Popen[Any]:
    """Start a process of tests.fuzz.child, in a guard mode."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz.child", *arguments],
        cwd=where,
        env={**os.environ, **_ENVIRONMENT, "TH_GUARD": guard},
        start_new_session=True,  # what it starts ends with it
        **options,
    )


def stop(process: subprocess.Popen[Any]) -> None:
    """End a process and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def programs(
    name: str,
    seed: str,
    first: int,
    count: int,
    tally: Tally,
    seconds: float,
    guard: str = "",
) -> None:
    """Run a fuzzer's programs first … first+count-1, or as many as there is time for."""
    end, deadline = first + count, time.monotonic() + seconds
    while first < end and time.monotonic() < deadline:
        left = deadline - time.monotonic() + 5
        first = _process(name, seed, first, end - first, tally, left, guard)


def _process(
    name: str, seed: str, first: int, count: int, tally: Tally, seconds: float, guard: str
) -> int:
    """Run programs until the process ends; returns the next one to run."""
    with folder() as where:
        report = where / "report"
        arguments = ["run", name, seed, str(first), str(count), str(report)]
        with (where / "err").open("w") as errors:
            process = start(arguments, where, guard, stdin=subprocess.DEVNULL, stderr=errors)
            try:
                status = _status(process, report, seconds)
            finally:
                stop(process)
        lines = report.read_text().splitlines() if report.exists() else []
        at = int(lines[0]) if lines and lines[0].strip() else first
        assert lines, (where / "err").read_text()
        for line in lines[1:]:
            entry = json.loads(line)
            for wrong in entry.pop("wrong", []):
                _add(tally, name, seed, entry["at"], wrong, first, guard)
            tally.add(**{key: entry[key] for key in entry if key != "at"})
        tally.add(programs=at - first + 1)
        if status in (0, "late"):
            return first + count
        wrong = "hang" if status == "hang" else died(int(status), where / "output")
        _add(tally, name, seed, at, wrong, first, guard)
        return at + 1


def _status(process: subprocess.Popen[Any], report: Path, seconds: float) -> int | str:
    """How the process ended; 'hang' where one program took too long, 'late' where many did."""
    end = time.monotonic() + seconds
    at, since = b"", time.monotonic()
    while time.monotonic() < end:
        try:
            return process.wait(0.2)
        except subprocess.TimeoutExpired:
            pass
        now = report.read_bytes()[:DIGITS] if report.exists() else b""
        if now != at:
            at, since = now, time.monotonic()
        elif time.monotonic() - since > _PATIENCE:
            return "hang"
    return "late"


def _add(tally: Tally, name: str, seed: str, at: int, wrong: str, first: int, guard: str) -> None:
    place = f"{seed}/{name}/{at}"
    case = GENERATORS[name](Random(place))
    tally.findings.append(Finding(name, wrong, place, case, first=first, guard=guard))


def died(status: int, output: Path | None = None) -> str:
    """How a process ended that should not have; or what guard mode says of it in its output."""
    if output and (told := re.findall("^TH_GUARD: .*", output.read_text("utf-8", "replace"), re.M)):
        return str(told[-1])
    if status < 0:
        return f"died of {signal.Signals(-status).name}"
    return f"exit status {status}"


def worker(name: str, seed: str, batch: int, tally: Tally, seconds: float, guard: str = "") -> None:
    """Let a fuzzer that is no program work for some seconds in a process of its own."""
    seed = f"{seed}/{name}/{batch}"
    with folder() as where:
        output = where / "output"
        with output.open("w") as stream:
            process = start(
                ["work", name, seed, str(seconds)],
                where,
                guard,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
            try:
                status: int | str = process.wait(seconds + _LATE)
            except subprocess.TimeoutExpired:
                status = "hang"
            finally:
                stop(process)
        text = output.read_text("utf-8", "replace")
    command = f".venv/bin/python -m tests.fuzz.child work {name} {seed} {seconds:.0f}"
    _take(name, seed, f"cd {quote(str(TOP))}; TH_GUARD={guard} {command}", status, text, tally)


def _take(name: str, seed: str, command: str, status: int | str, text: str, tally: Tally) -> None:
    wrong = bad_lines(text)
    if status != 0:
        wrong.append("hang" if status == "hang" else f"{died(int(status))}: {text[-300:]}")
    tally.findings += [Finding(name, one, seed, command=command, output=text) for one in wrong]
    for line in text.splitlines():
        if line.startswith("COUNTS "):
            tally.add(**json.loads(line.removeprefix("COUNTS ")))
        elif line.startswith("ANSWER "):
            what, _, answer = line.removeprefix("ANSWER ").rpartition(": ")
            if _ANSWERS.setdefault(what, answer) != answer:
                other = f"another answer in another process: {what}"
                tally.findings.append(Finding(name, other, seed, command=command))


class Server:
    """A process that runs one case after another in forks of a fresh engine."""

    def __init__(self, seconds: float = 4, guard: str = "") -> None:
        self._seconds = seconds
        self._where = Path(tempfile.mkdtemp(prefix="th-fuzz-"))
        self._process = start(
            ["serve"], self._where, guard, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, case: Case) -> tuple[list[str], int | None]:
        """What is wrong with a case, and the line that it was at."""
        program, files = case.texts()
        where = self._where / "case"
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir()
        for name, data in files.items():
            (where / name).write_bytes(data)
        request = {"folder": str(where), "program": program, "seconds": self._seconds}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], self._seconds + 30)[0]:
            return ["no answer"], None
        answer = json.loads(self._process.stdout.readline())
        wrong = [text.removeprefix("FINDING ") for text in answer["wrong"]]
        status = answer["status"]
        if status == "hang":
            wrong.append("hang")
        elif status != 0:
            wrong.append(died(status))
        return wrong, answer["line"]

    def close(self) -> None:
        """End the process."""
        stop(self._process)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        shutil.rmtree(self._where, ignore_errors=True)

    def reduce(self, finding: Finding, seconds: float = 40) -> bool:
        """Reduce a finding's case; False where it does not fail by itself."""
        assert finding.case is not None
        deadline = time.monotonic() + seconds
        wanted = kind_of(finding.wrong)

        def fails(case: Case) -> bool:
            if time.monotonic() > deadline:
                return False
            return any(kind_of(wrong) == wanted for wrong in self.run(case)[0])

        if not fails(finding.case):
            self._seconds *= 5
            finding.case = self._with_earlier(finding, fails) or finding.case
            if not fails(finding.case):
                return False
        finding.case = reduced(self._shortened(finding.case, fails), fails)
        return True

    @staticmethod
    def _with_earlier(finding: Finding, fails: Callable[[Case], bool]) -> Case | None:
        """The case after programs that ran before it, where it fails after them."""
        campaign, name, number = finding.seed.rsplit("/", 2)
        at = int(number)
        for count in (3, 20, 100, 1000):
            lines: list[str] = []
            for i in range(max(finding.first, at - count), at + 1):
                case = GENERATORS[name](Random(f"{campaign}/{name}/{i}"))
                if not case.by_line:
                    return None
                lines += ["v = {}", *case.parts]
            if fails(case := Case.of_lines(lines)):
                return case
            if at - count <= finding.first:
                return None
        return None

    def _shortened(self, case: Case, fails: Callable[[Case], bool]) -> Case:
        """The case without what comes after the line at fault, or with this line alone."""
        line = self.run(case)[1]
        if line is None or len(case.parts) < line:
            return case
        for parts in (case.parts[line - 1 : line], case.parts[:line]):
            if fails(case.keeping(parts)):
                return case.keeping(parts)
        return case
