"""Runs a page's examples twice, each time in a child process.

The two runs differ in the seed of the random numbers and in the values of new memory; `verdicts`
compares what they print. Each run has an empty folder and a time limit. If an input ends its
process, the page runs again without that input, so that the outcomes of the others are not lost.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from th_shell.docs.examples import Example, Kind
from th_shell.docs.shell import refusal

__all__ = ["Outcome", "evaluate", "stop", "unrunnable"]

#: Seed and byte pattern of new memory in the two runs. Doubles and integers of bytes 0x3F are
#: ordinary numbers.
_RUNS = ((1, 0x00), (20240229, 0x3F))

_TOP = str(Path(__file__).resolve().parents[2])

#: How many times a page is started again after an input has ended its process.
_RESTARTS = 3

#: The code of a child process, which is isolated but has the module path of this process.
_START = """\
import json, sys
with open(sys.argv[1]) as file:
    sys.path[:] = json.load(file)["path"]
from th_shell.docs.worker import main
main(sys.argv[1])
"""

#: The processes that are running, and whether these and all further ones are to stop.
_running: set[_Process] = set()
_stopping = Event()


@dataclass(frozen=True)
class Outcome:
    """The outcome of an input in one run.

    output: all that it has printed. printed: the part before the values that the prompt shows.
    error: the message of its error, or None. lost: why it has not ended or was not run, or ''.
    """

    output: str = ""
    printed: str = ""
    error: str | None = None
    lost: str = ""


def unrunnable(example: Example) -> str:
    """Why an example is not run; '' if it is run."""
    if example.kind is Kind.TEXT:
        return "no input: this text does not compile as Lua"
    if example.skip:
        return "the page says so"
    if example.kind is Kind.PROMPT and example.source.startswith("?"):
        return "asks the prompt for help; not Lua"
    return refusal(example.source) if example.kind is Kind.SHELL else ""


def evaluate(examples: Sequence[Example], timeout: float) -> list[tuple[Outcome, Outcome]]:
    """The outcomes of each example in the two runs. timeout: seconds for each run."""
    with ThreadPoolExecutor(len(_RUNS)) as pool:
        runs = [pool.submit(_run, examples, timeout, seed, fill) for seed, fill in _RUNS]
        first, second = (run.result() for run in runs)
    return [(first[i], second[i]) for i in range(len(examples))]


def stop() -> None:
    """End all runs in all threads, and let no other one start."""
    _stopping.set()
    for process in list(_running):
        process.kill()


def _run(examples: Sequence[Example], timeout: float, seed: int, fill: int) -> dict[int, Outcome]:
    steps = {i: _step(i, e) for i, e in enumerate(examples) if not unrunnable(e)}
    deadline = time.monotonic() + timeout
    killers: dict[int, Outcome] = {}
    found: dict[int, Outcome] = {}
    reason = ""
    for _ in range(1 + _RESTARTS):
        with tempfile.TemporaryDirectory(prefix="th-docs-", ignore_cleanup_errors=True) as folder:
            process = _Process(Path(folder), list(steps.values()), seed, fill)
            reason = process.wait(deadline - time.monotonic())
            found, killer = process.outcomes(reason)
        if killer is None or _stopping.is_set():
            break
        killers[killer] = found[killer]
        del steps[killer]
        if time.monotonic() >= deadline:
            break
    lost = Outcome(lost=f"lost: the page's process {reason or 'ended early'} before this input")
    return {i: killers.get(i) or found.get(i, lost) for i in range(len(examples))}


def _step(index: int, example: Example) -> dict[str, Any]:
    return {
        "index": index,
        "block": example.block,
        "source": example.source,
        "shell": example.kind is Kind.SHELL,
    }


class _Process:
    """A child process and the files that it writes."""

    def __init__(self, folder: Path, steps: list[dict[str, Any]], seed: int, fill: int) -> None:
        self._results = folder / "results"
        self._capture = folder / "capture"
        (folder / "page").mkdir()
        plan = {
            "folder": str(folder / "page"),
            "capture": str(self._capture),
            "results": str(self._results),
            "seed": seed,
            "fill": fill,
            "steps": steps,
            "path": _module_path(),
        }
        (folder / "plan").write_text(json.dumps(plan))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-u", "-c", _START, str(folder / "plan")],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _running.add(self)

    def wait(self, seconds: float) -> str:
        """Wait until the process ends; returns '', or how it has failed."""
        try:
            _, errors = self._process.communicate(timeout=max(seconds, 0.1))
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.communicate()
            return "ran into the time limit"
        finally:
            self.kill()
            _running.discard(self)
        status = self._process.returncode
        if status == 0:
            return ""
        if status < 0:
            return f"was killed by {signal.Signals(-status).name}"
        said = errors.decode(errors="replace").strip().splitlines()
        return " ".join([f"ended with status {status}", *said[-1:]])

    def kill(self) -> None:
        """End the process and all processes that the page has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def outcomes(self, reason: str) -> tuple[dict[int, Outcome], int | None]:
        """The outcomes by index, and the index of the input that has ended the process, or None."""
        found: dict[int, Outcome] = {}
        started: dict[str, Any] | None = None
        for record in self._records():
            if record.pop("event") == "start":
                started = record
                continue
            index = record.pop("index")
            found[index] = Outcome(**record)
            started = None
        if started is None:
            return found, None
        index = started["index"]
        why = f"the process {reason or 'ended'} in this input"
        found[index] = Outcome(output=self._output(started["at"]), lost=why)
        return found, index

    def _records(self) -> Iterator[dict[str, Any]]:
        if not self._results.exists():
            return
        for line in self._results.read_text().split("\n"):
            with suppress(json.JSONDecodeError):  # an incomplete record, or the empty last line
                yield json.loads(line)

    def _output(self, at: int) -> str:
        with self._capture.open("rb") as file:
            file.seek(at)
            return file.read(1 << 16).decode("utf-8", "surrogateescape")


def _module_path() -> list[str]:
    """The module path of this process without the working directory."""
    return [*(os.path.abspath(path) for path in sys.path if path), _TOP]
