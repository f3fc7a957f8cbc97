"""The process that starts runs: it has loaded the runtime, and forks for each run.

A run has two processes. The keeper is forked here; it forks the engine's process and waits. It
ends all that the engine's process has started, and deletes the run's folder: when that process has
ended, when th-docs closes the run's line to it, or when th-docs itself is no more.

Requests come by a socket, each a JSON object with four descriptors: the run's line, the
requests and replies of the engine, and the file for the output. See `processes`, the other side.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import socket
from contextlib import suppress
from typing import Any, NoReturn

from runtime import Engine, preload_lapack, preload_random
from th_shell.docs.running.protocol import REPLIES
from th_shell.docs.running.system import adopt_orphans, end_children, limit_memory
from th_shell.docs.running.worker import serve

__all__ = ["main"]

_DESCRIPTORS = 4  # that come with a request
_RUNS = -1  # instead of the status of a process that has not ended

#: What many runs would load each by itself is loaded here, behind so many runs: the generator of
#: random numbers after the two of a first page, what takes longer when there are more pages.
_PRELOADS = {2: preload_random, 12: preload_lapack}


def main(descriptor: int, engines: int) -> NoReturn:
    """Start runs as a socket asks, until it is closed. engines: how many different ones to have."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for th-docs, which closes the socket
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers tell by their lines how runs ended
    requests = socket.socket(fileno=descriptor)
    # Lua orders the fields of tables by a number that is each engine's own: so each run of a page
    # has another engine.
    made = [Engine() for _ in range(engines)]
    gc.freeze()
    runs = 0
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 1 << 20, _DESCRIPTORS)
        if not data:
            os._exit(0)  # at once: the engines need not end
        if runs in _PRELOADS:
            _PRELOADS[runs]()
            gc.freeze()
        runs += 1
        if os.fork() == 0:
            requests.close()
            _Keeper(json.loads(data), descriptors, made).run()
        for used in descriptors:
            os.close(used)


class _Keeper:
    """The process that watches over a run."""

    def __init__(self, plan: dict[str, Any], descriptors: list[int], engines: list[Engine]) -> None:
        self._plan = plan
        line, self._requests, self._replies, self._capture = descriptors
        self._line = socket.socket(fileno=line)
        self._engines = engines

    def run(self) -> NoReturn:
        status, process = 1, 0
        try:
            os.setsid()
            adopt_orphans()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for ends in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(ends, signal.SIG_IGN)  # of its group, by a program of the page
            process = os.fork()
            if process == 0:
                self._be_engine()
            status = self._watch(process)
        finally:
            end_children(process if status == _RUNS else 0)
            shutil.rmtree(self._plan["folder"], ignore_errors=True)
            with suppress(OSError):
                self._line.send(b"%d" % status)
            os._exit(0)

    def _watch(self, process: int) -> int:
        """Wait until the engine's process ends or the line is closed; its status, or _RUNS."""
        ended, noticed = os.pipe()
        os.set_blocking(noticed, False)
        signal.set_wakeup_fd(noticed, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        command = 0
        while True:
            with suppress(ChildProcessError):
                while (found := os.waitpid(-1, os.WNOHANG))[0]:
                    if found[0] == process:
                        return found[1]
                    if found[0] == command:
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

    def _shell(self, text: bytes) -> int:
        """Start a line of the system's shell where the engine runs; its process."""
        process = os.fork()
        if process:
            return process
        try:
            self._prepare()
            os.execv("/bin/sh", ["sh", "-c", os.fsdecode(text)])
        finally:
            os._exit(127)

    def _be_engine(self) -> NoReturn:
        status = 1
        try:
            self._prepare()
            command = self._plan["command"]
            if command:
                os.environ.update(self._plan["environment"])
                try:
                    os.execvp(command[0], command)
                except OSError as error:
                    os.write(2, f"th-docs: {command[0]}: {error.strerror}\n".encode())
                    os._exit(status)
            serve(self._engines[self._plan["number"] % len(self._engines)])
            status = 0
        except BaseException as error:
            os.write(2, f"th-docs: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def _prepare(self) -> None:
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
        os.chdir(self._plan["page"])
        limit_memory(self._plan["memory"])
