"""Ctrl-C while the prompt's inputs run, in a process of its own: a signal is everyone's.

One th reads inputs from a pipe for most tests. Holding Ctrl-C, and Ctrl-\\, need a terminal.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import TOP

GO = "io.stdout:write('g', 'o\\n') io.stdout:flush() "
QUICK = 2.0  # seconds; 0.2 where the machine does nothing else
LATER = 20.0  # seconds that nothing takes on a busy machine
NOTICE = re.compile("\nstill running: .*\n")  # where that takes longer than PATIENCE


class Talk:
    """A th whose output is read as it comes. reader, writer: descriptors."""

    def __init__(self, reader: int, writer: int, pid: int) -> None:
        self.pid = pid
        self._reader = reader
        self._writer = writer
        self._seen = ""

    def send(self, text: str) -> None:
        os.write(self._writer, text.encode())

    def until(self, text: str, seconds: float = LATER) -> str:
        """What was printed up to a text and with it, since the last call."""
        end = time.monotonic() + seconds
        while text not in self._seen:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} is not in {self._seen!r}"
            if select.select([self._reader], [], [], left)[0]:
                more = os.read(self._reader, 65536)
                assert more, f"th has ended: {self._seen!r}"
                self._seen += more.decode().replace("\r\n", "\n")
        before, _, self._seen = self._seen.partition(text)
        return before + text

    def interrupt(self) -> None:
        os.kill(self.pid, signal.SIGINT)


def _environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TREPL", "LUA_"))}
    return kept | {"PYTHONPATH": str(TOP), "HOME": str(home), "TERM": "xterm", "NO_COLOR": "1"}


COMMAND = [sys.executable, "-m", "th_shell"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interrupts")


@pytest.fixture(scope="module")
def talk(folder: Path) -> Iterator[Talk]:
    """A th that reads the inputs of a pipe, with a kept value."""
    with subprocess.Popen(
        [*COMMAND, "-i"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=_environment(folder),
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        talk = Talk(program.stdout.fileno(), program.stdin.fileno(), program.pid)
        talk.send("x = torch.zeros(3) kept = 5\n")
        yield talk
        program.kill()


STOPPED = data(__file__, "STOPPED")


def _check_stop(talk: Talk, source: str) -> None:
    talk.send(f"{source}\n")
    talk.until("go\n")
    time.sleep(0.05)
    start = time.monotonic()
    talk.interrupt()
    assert NOTICE.sub("", talk.until("interrupted!\n")) == "interrupted!\n"
    assert time.monotonic() - start < QUICK
    # Nothing of the interrupt is left for the next inputs: both run for some steps.
    talk.send("for i = 1, 1e6 do kept = kept + 0 end\n=kept\n")
    assert talk.until("5\t\n") == "5\t\n"


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", STOPPED)
def test_it_stops_what_is_typed(talk: Talk, name: str) -> None:
    _check_stop(talk, GO + STOPPED[name])


def test_it_stops_small_calls_of_nns_backend(talk: Talk) -> None:
    talk.send(
        "require 'nn.THNN' a, b, i = torch.rand(2, 9, 9), torch.Tensor(), torch.LongTensor()\n"
    )
    call = "a.THNN.SpatialMaxPooling_updateOutput(a:cdata(), b:cdata(), i:cdata(), "
    call += "2, 2, 2, 2, 0, 0, false)"
    talk.send(f"{call}\n")
    _check_stop(talk, f"{GO}while true do {call} end")


@pytest.mark.parametrize(
    "name", ["while", "nested short loops", "elements", "pcall", "short applies"]
)
@pytest.mark.parametrize("load", ["dofile('loop.lua')", "package.loaded.loop = nil require 'loop'"])
def test_it_stops_loops_in_files(talk: Talk, folder: Path, name: str, load: str) -> None:
    (folder / "loop.lua").write_text(f"{GO}\n{STOPPED[name]}\n")
    _check_stop(talk, load)


def test_it_stops_functions_that_were_loaded_before(talk: Talk, folder: Path) -> None:
    (folder / "later.lua").write_text(
        "function later() local i = 0 while true do i = i + 1 end end"
    )
    talk.send("dofile 'later.lua'\n")
    _check_stop(talk, GO + "later()")


def test_it_stops_a_loop_after_a_program_had_a_hook(talk: Talk) -> None:
    talk.send("debug.sethook(function() end, '', 1000)\n")
    _check_stop(talk, GO + "while true do end")
    talk.send("debug.sethook()\n")
    _check_stop(talk, GO + "while true do string.format('%d', 1) end")


def test_it_stops_finalizers(talk: Talk) -> None:
    source = "getmetatable(newproxy(true)).__gc = function() while true do end end collectgarbage()"
    talk.send(f"{GO}{source} collectgarbage() while true do end\n")
    talk.until("go\n")
    time.sleep(0.05)
    talk.interrupt()
    talk.until("ERROR in finalizer: interrupted!\ninterrupted!\n")
    talk.send("=kept\n")
    assert talk.until("5\t\n") == "5\t\n"


def test_a_command_that_it_has_ended_ends_the_loop_around(talk: Talk) -> None:
    talk.send(f"{GO} while true do os.execute('kill -INT $$') end\n=kept\n")
    talk.until("go\n")
    assert talk.until("5\t\n") == "interrupted!\n5\t\n"


@pytest.mark.thorough
def test_it_says_what_runs_where_that_goes_on(talk: Talk) -> None:
    talk.send(f"{GO} io.popen('sleep 0.8'):close()\n")
    talk.until("go\n")
    time.sleep(0.05)
    talk.interrupt()
    talk.interrupt()
    assert talk.until("interrupted!\n") == (
        "\nstill running: a function of Lua or of a C library; returns to the prompt when it is "
        "done"
        "\ninterrupted!\n"
    )


# -------------------------------------------------------------------- at a terminal


@pytest.fixture
def terminal(folder: Path) -> Iterator[Callable[[], Talk]]:
    """Starts th at a terminal of its own."""
    started: list[tuple[int, int]] = []

    def start() -> Talk:
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve(sys.executable, COMMAND, _environment(folder))
        started.append((pid, master))
        talk = Talk(master, master, pid)
        talk.until("th>")
        return talk

    yield start
    for pid, master in started:
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(master)


@pytest.mark.thorough
def test_at_a_terminal_it_can_be_held(terminal: Callable[[], Talk]) -> None:
    talk = terminal()
    talk.send("kept = 5\r")
    # Held before, while and after something runs that nothing can stop.
    talk.send(f"{GO} t = {{}} for i = 1, 3e6 do t[i] = -i end table.sort(t)\r")
    talk.until("go\n")
    for _ in range(40):
        time.sleep(0.03)
        talk.send("\x03")
    talk.send("=('he%s'):format('re')\r")
    talk.until("here")
    talk.until("th>")
    # Ctrl-\ at the prompt does nothing; while something runs it ends th.
    talk.send("\x1c")
    talk.send("=kept * 111\r")
    talk.until("555")
    talk.send(f"{GO} while true do end\r")
    talk.until("go\n")
    talk.send("\x1c")
    assert os.waitstatus_to_exitcode(os.waitpid(talk.pid, 0)[1]) == 128 + signal.SIGQUIT
