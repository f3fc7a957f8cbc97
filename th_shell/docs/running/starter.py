"""Runs in the process that starts runs: forks for each run, with the runtime loaded for Lua.

A run has two processes. The keeper is forked here; it forks the engine's process and waits. It ends
all processes that the engine's process has started, and deletes the run's folder: when that process
has ended, when th-docs closes the run's line to it, or when th-docs itself is no more.

A keeper that a page has killed leaves its children to the starter, which ends them and deletes the
folder in its place.

Requests come by a socket, each a JSON object with four descriptors: the run's line, the requests
and replies of the engine, and the file for the output. See `processes`, the other side.
"""

import gc
import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from th_shell.docs.running import system
from th_shell.docs.running.protocol import PROCESS_FILE, REPLIES

if TYPE_CHECKING:
    from th_shell.runtime.shell import Engine

#: The module that is loaded before the first sandboxed run is forked.
_SANDBOX = "th_shell.docs.running.sandbox"
_DESCRIPTORS = 4  # that come with a request
_PATIENCE = 10  # seconds in which keepers must have ended when there is nothing more to do
_RUNS = -1  # instead of the status of a process that has not ended

#: After so many runs, libraries are loaded here that each run would load by itself: little after
#: the first page, slower ones when there are more pages.
_FEW, _MANY = 1, 6


def main(descriptor: int, with_runtime: bool) -> NoReturn:
    """Start runs as a socket asks, until it is closed. with_runtime: load it before that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for th-docs, which closes the socket
    requests = socket.socket(fileno=descriptor)
    runtime = _Runtime()
    system.adopt_orphans()
    ended = _notice_endings()
    keepers: dict[int, str] = {}
    if with_runtime:
        with suppress(ImportError):  # th-docs itself says what is missing
            runtime.load()
    while True:
        ready, _, _ = select.select([requests.fileno(), ended], [], [])
        if ended in ready:
            _collect(keepers, ended)
        if requests.fileno() in ready:
            data, descriptors, _, _ = socket.recv_fds(requests, 1 << 20, _DESCRIPTORS)
            if not data:
                _end(keepers, ended)
            plan = json.loads(data)
            if not plan["command"]:
                runtime.load_more()
            if plan["sandboxed"]:
                import_module(_SANDBOX)
            keeper = os.fork()
            if keeper == 0:
                requests.close()
                _Keeper(plan, descriptors, runtime).run()
            keepers[keeper] = plan["folder"]
            for used in descriptors:
                os.close(used)


class _Runtime:
    """The engine that runs in Lua are forked with, and libraries loaded once for all of them."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._runs = 0

    def load(self) -> None:
        """Load the runtime, and make an engine."""
        from th_shell.docs.running.worker import new_engine  # late: other engines need no runtime

        self._engine = new_engine()

    def load_more(self) -> None:
        """Load what many runs need, the more the more runs there were before."""
        from th_shell.docs.running.worker import rehearse  # late, as above
        from th_shell.runtime.shell import preload_lapack, preload_random

        if self._engine is None:
            self.load()
            assert self._engine is not None
        if self._runs == _FEW:
            preload_random()
            rehearse(self._engine)
        elif self._runs == _MANY:
            preload_lapack()
        self._runs += 1
        gc.freeze()

    def serve(self) -> None:
        """Run a page in this process."""
        from th_shell.docs.running.worker import serve

        assert self._engine is not None
        serve(self._engine)


def _notice_endings() -> int:
    """Return a descriptor that can be read after a child has ended."""
    ended, noticed = os.pipe()
    os.set_blocking(noticed, False)
    signal.set_wakeup_fd(noticed, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return ended


def _ended_children() -> Iterator[tuple[int, int]]:
    """Yield the ids and the statuses of children that have ended, once each."""
    with suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            yield child


def _collect(keepers: dict[int, str], ended: int) -> None:
    """Forget keepers that have ended; clean up after those that were killed before they could."""
    os.read(ended, 512)
    left = []
    for child, status in _ended_children():
        folder = keepers.pop(child, None)
        if status and folder is not None:
            left.append(folder)
    if left:
        system.end_children(spared=keepers)
    for folder in left:
        system.remove_folder(folder)


def _end(keepers: dict[int, str], ended: int) -> NoReturn:
    """End when all keepers have ended; their lines are closed already."""
    until = time.monotonic() + _PATIENCE
    while keepers and (seconds := until - time.monotonic()) > 0:
        if select.select([ended], [], [], seconds)[0]:
            _collect(keepers, ended)
    if keepers:
        system.end_children()
    for folder in keepers.values():
        system.remove_folder(folder)
    os._exit(0)  # at once: the engines need not end


class _Keeper:
    """The process that watches over a run."""

    def __init__(self, plan: dict[str, Any], descriptors: list[int], runtime: _Runtime) -> None:
        self._plan = plan
        line, self._requests, self._replies, self._capture = descriptors
        self._line = socket.socket(fileno=line)
        self._runtime = runtime

    def run(self) -> NoReturn:
        """Start the engine's process, wait for its end, and clean up."""
        status, process = 1, 0
        try:
            signal.set_wakeup_fd(-1)
            os.setsid()
            system.adopt_orphans()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for ends in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(ends, signal.SIG_IGN)  # of its group, by a program of the page
            process = os.fork()
            if process == 0:
                self._be_engine()
            with open(f"{self._plan['folder']}/{PROCESS_FILE}", "w") as file:
                file.write(str(process))
            status = self._watch(process)
        finally:
            with suppress(OSError):  # at once: on a busy machine, the rest takes its time
                self._line.send(b"%d" % status)
            system.end_children()
            system.remove_folder(self._plan["folder"])
            os._exit(0)

    def _watch(self, process: int) -> int:
        """Wait for the engine's process, or the line, to end; return its status or _RUNS."""
        ended = _notice_endings()
        command = 0
        while True:
            for child, status in _ended_children():
                if child == process:
                    return status
                if child == command:
                    self._line.send(b"done")
            ready, _, _ = select.select([self._line.fileno(), ended], [], [])
            if ended in ready:
                os.read(ended, 512)
            if self._line.fileno() in ready:
                asked, _, text = self._line.recv(1 << 20).partition(b" ")
                if asked == b"interrupt":  # the example has had its time
                    os.kill(process, signal.SIGINT)
                elif asked == b"shell":
                    command = self._shell(text)
                else:
                    return _RUNS

    def _shell(self, command: bytes) -> int:
        """Start the command of a shell line where the engine runs; return the id of its process."""
        process = os.fork()
        if process:
            return process
        try:
            self._prepare()
            self._restrict(executes=True)
            _execute(*command.split(b"\0"))
        finally:
            os._exit(127)

    def _be_engine(self) -> NoReturn:
        """Run the engine in this process, or replace it by the command that does."""
        try:
            command = self._plan["command"]
            self._prepare()
            if command:
                self._restrict(executes=True)
                try:
                    os.execvp(command[0], command)
                except OSError as error:
                    os.write(2, f"th-docs: {command[0]}: {error.strerror}\n".encode())
                    os._exit(1)
            self._restrict()
            self._runtime.serve()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"th-docs: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(1)

    def _prepare(self) -> None:
        """Set up this process's signals, descriptors, environment and folder for an engine."""
        system.end_with_parent()
        os.setpgid(0, 0)  # a page may end the group of its process
        for ends in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
            signal.signal(ends, signal.SIG_DFL)
        high = [os.dup(fd) for fd in (self._requests, self._replies, self._capture)]
        while min(high) <= REPLIES:  # they must not be closed by one another
            high = [os.dup(fd) for fd in high]
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in zip((nothing, high[2], high[2], *high[:2]), range(5), strict=True):
            os.dup2(source, target, inheritable=True)
        os.closerange(REPLIES + 1, 4096)
        os.environ.update(self._plan["environment"])
        os.chdir(f"{self._plan['folder']}/page")

    def _restrict(self, executes: bool = False) -> None:
        """Limit the memory and files of this process, and enter the sandbox if there is one."""
        system.limit_memory(self._plan["memory"])
        system.limit_files()
        if not self._plan["sandboxed"]:
            return
        import tempfile  # late, as the sandbox: few runs need them

        from th_shell.docs.running import sandbox

        folder = self._plan["folder"]
        os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}/tmp"
        sandbox.enter(
            [f"{folder}/page", f"{folder}/tmp"],
            [*sandbox.readable_paths(self._plan["command"], os.environ), *self._plan["read"]],
            output=f"{folder}/output",
            executes=executes,
        )


def _execute(mark: bytes, output: bytes, *words: bytes) -> None:
    """Replace this process by a command.

    mark: `>` or `>>`, as in a shell. output: the file that gets its output; b'' for none.
    """
    try:
        if output:
            mode = os.O_APPEND if mark == b">>" else os.O_TRUNC
            os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | mode, 0o666), 1)
        os.execvp(words[0], words)
    except OSError as error:
        os.write(2, b"%s: %s\n" % (output or words[0], os.strerror(error.errno or 0).encode()))
