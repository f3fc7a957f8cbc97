"""The process in which programs run: an engine, and what it reports.

    python -m tests.fuzz.child run NAME SEED FIRST COUNT REPORT
    python -m tests.fuzz.child serve
    python -m tests.fuzz.child originals FOLDER
    python -m tests.fuzz.child work NAME SEED SECONDS
    python -m tests.fuzz.child embedded SOURCE

The first makes and runs the programs FIRST … FIRST+COUNT-1 of a fuzzer, and writes to the
file REPORT a line of JSON for each finding, and one with counts at the end; its first bytes
tell which program runs. The second reads folders with a case from the standard input and runs
each in a fork, for reducing: it answers with a line of JSON. Standard output goes to a file,
`output` beside the report or in the folder, which is looked through after each program.
The third writes the good files that are then mutated. The fourth does the work of a fuzzer that
is no program, and prints its findings, and its counts as JSON at the end. The fifth runs a piece
of Lua as an embedder would.
"""

import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz import answers, forks, interrupts, kills, shortage, wrong_calls
from tests.fuzz.cases import PRELUDE
from tests.fuzz.files import write_originals
from tests.fuzz.generators import GENERATORS
from tests.fuzz.kinds import bad_lines
from tests.fuzz.limits import limit
from th_shell.runtime.shell import Engine, LuaError

_COUNTED = 50  # programs between two counts of the calls, which are lost with the process

_MOST = 200_000  # bytes of an output to look through

_COMPARED = ("collections", "nans")  # two results, which may show new memory: it is all the same

DIGITS = 12  # of the number of the program that runs, at the start of the report


#: What is no program: from a seed and seconds to counts.
WORKERS: dict[str, Callable[[str, float], dict[str, int]]] = {
    "interrupts": interrupts.work,
    "forks": forks.work,
    "kills": kills.work,
    "answers": answers.work,
    "pytorch": wrong_calls.work,
    "memory": shortage.work,
}


class Watcher:
    """Looks through what a process prints, each time at what is new."""

    def __init__(self, path: Path) -> None:
        self._out = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(self._out, 1)
        os.dup2(self._out, 2)
        self._seen = 0

    def findings(self) -> list[str]:
        """The bad lines since the last look."""
        size = os.fstat(self._out).st_size
        if size == self._seen:
            return []
        new = os.pread(self._out, min(size - self._seen, _MOST), self._seen)
        text = new.decode("utf-8", "replace")
        self._seen = size
        return bad_lines(text)


class Runner:
    """An engine with the prelude, which runs one program after another."""

    def __init__(self) -> None:
        self.engine = Engine()
        self._run(PRELUDE)

    def _run(self, source: str) -> None:
        self.engine.run(self.engine.compile(source.encode("latin-1"), b"=case"))

    def program(self, text: str, files: dict[str, bytes], *, trace: bool = False) -> list[str]:
        """Run a program in this folder; returns what is wrong."""
        for name, data in files.items():
            Path(name).write_bytes(data)
        wrong = []
        try:
            self._run(f"fuzz.trace = {str(trace).lower()} v = {{}} {text}\ncheck_sentinels()")
        except LuaError as error:  # outside of `try`: its message counts all the same
            wrong = bad_lines(error.message)
        except BaseException as error:
            wrong = [f"the engine raised {type(error).__name__}: {error}"[:500]]
        self.engine.flush()
        return wrong

    def counts(self) -> tuple[int, int]:
        """How many calls were made, and how many of them raised no error."""
        self._run("fuzz.write_counts()")
        calls, passed = Path("counts").read_text().split()
        return int(calls), int(passed)


def run(name: str, seed: str, first: int, count: int, report: Path) -> None:
    """Run a batch of a fuzzer's programs."""
    watcher = Watcher(report.with_name("output"))
    make = GENERATORS[name]
    runner = Runner()
    if name in _COMPARED:
        runner.engine.set_fill_pattern(1)
    with report.open("w+b", buffering=0) as stream:
        stream.write(b" " * DIGITS + b"\n")
        for at in range(first, first + count):
            os.pwrite(stream.fileno(), b"%*d" % (DIGITS, at), 0)
            program, files = make(random.Random(f"{seed}/{name}/{at}")).texts()
            wrong = runner.program(program, files) + watcher.findings()
            if wrong:
                stream.write(json.dumps({"at": at, "wrong": wrong}).encode() + b"\n")
            if (at - first) % _COUNTED == _COUNTED - 1 or at == first + count - 1:
                calls, passed = runner.counts()
                stream.write(json.dumps({"calls": calls, "passed": passed}).encode() + b"\n")


# ------------------------------------------------------------- one case at a time, in forks


def serve() -> None:
    """Run the cases in the folders that come in, each in a fork; answer with what happened."""
    answers = os.fdopen(os.dup(1), "w")
    runner = Runner()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_forked(runner, request)), file=answers, flush=True)


def _forked(runner: Runner, request: dict[str, Any]) -> dict[str, Any]:
    folder = Path(request["folder"])
    child = os.fork()
    if not child:
        status = 1
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the program must not read the requests
        try:
            status = _case(runner, folder, request["program"])
        finally:
            os._exit(status)
    deadline = time.monotonic() + request["seconds"]
    status = _wait(child, deadline)
    output = _read_ends(folder / "output")
    lines = re.findall(r"^LINE (\d+)$", output, re.MULTILINE)
    wrong = bad_lines(output)
    return {"status": status, "wrong": wrong, "line": int(lines[-1]) if lines else None}


def _read_ends(path: Path) -> str:
    """The start and the end of a file, which may hold very much."""
    with path.open("rb") as file:
        start = file.read(_MOST)
        file.seek(max(file.tell(), path.stat().st_size - _MOST))
        return (start + b"\n" + file.read(_MOST)).decode("utf-8", "replace")


def _case(runner: Runner, folder: Path, program: str) -> int:
    os.chdir(folder)
    Watcher(folder / "output")
    wrong = runner.program(program, {}, trace=True)
    for text in wrong:
        print(f"FINDING {text}", flush=True)
    return 0


def _wait(child: int, deadline: float) -> int | str:
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def main(arguments: list[str]) -> None:
    """Run what the command line says."""
    if arguments[0] == "work":
        _, name, seed, seconds = arguments
        if name == "pytorch":
            limit()
        print(f"COUNTS {json.dumps(WORKERS[name](seed, float(seconds)))}", flush=True)
        return
    if arguments[0] == "embedded":
        sys.exit(shortage.embedded(arguments[1]))
    limit()
    if arguments[0] == "serve":
        serve()
    elif arguments[0] == "originals":
        write_originals(Engine(), Path(arguments[1]))
    else:
        _, name, seed, first, count, report = arguments
        run(name, seed, int(first), int(count), Path(report))


if __name__ == "__main__":
    main(sys.argv[1:])
