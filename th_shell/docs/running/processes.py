"""Starts and talks to the processes that run pages; `starter` is the code on their side."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO
from pathlib import Path

from th_shell.docs.running.protocol import (
    GO,
    PROCESS_FILE,
    Message,
    may_begin,
    message_of,
    read_message,
    write_message,
)
from th_shell.docs.running.shell_lines import ShellLine
from th_shell.docs.running.system import (
    MOST_WRITTEN,
    opened_waits,
    randomize_programs,
    seconds_of_waits,
)

#: Seconds that an example may go on after it was asked to stop.
_GRACE = 2.0
#: A limit is put off by the seconds that an engine has lacked a processor, if there are more.
_NOTICEABLE = 0.05
#: Seconds that a system call can wait in any case: who gives more time means no limit.
_LONGEST = 1e6
#: Seconds in which the replies to quick inputs come together, to be read at a time.
_GATHERING = 0.001
#: For so many replies, waiting takes longer than to read each as it comes.
_FEW = 8
_TOO_LONG = "was killed: it did not stop at the end of its time"
_MEDDLED = "was ended: it has written to the files of its engine"
_TOO_MUCH = f"was killed: it has written more than {MOST_WRITTEN >> 20} MB into a file"
MAX_OUTPUT = 1 << 20  # bytes of an example's output that are kept

#: The module that makes `import torch` this project's torch. It is loaded by engines alone.
_TORCH_ALIAS = "th_shell.python.alias"
_TOP = str(Path(__file__).resolve().parents[3])

#: The code of a starter, which is isolated but has the module path of this process, and its
#: prefixes: so it does without `site`, which would take its time to find them.
_START = """\
import json, sys
sys.path[:], sys.prefix, sys.exec_prefix = json.loads(sys.argv[1])
from th_shell.docs.running.starter import main
main(int(sys.argv[2]), with_runtime=len(sys.argv) > 3)
"""


@dataclass(frozen=True)
class Engine:
    """A program that runs examples."""

    #: The words of a command that speaks the protocol of `protocol`; () for the runtime.
    command: Sequence[str] = ()
    #: Variables that are added to those of th-docs.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Bytes that a run may take; 0 where there is no limit.
    memory: int = 4 << 30
    #: The run is kept to its folder, see `sandbox`.
    sandboxed: bool = False
    #: Files and folders that a sandboxed run may read besides.
    read: Sequence[str] = ()


def lua_engine(command: Sequence[str]) -> Engine:
    """Return the engine for a command that runs a Lua script: Lua, LuaJIT, or the real Torch7."""
    scripts = (str(Path(__file__).with_name(name)) for name in ("lua_engine.lua", "begin.lua"))
    return Engine([*command, *scripts])


def python_engine(command: Sequence[str] = (), has_torch_alias: bool = True) -> Engine:
    """Return the engine for a command that runs a Python script; by default, th-docs' Python.

    has_torch_alias: let `import torch` be this project's torch. Another command imports packages of
    its own environment.
    """
    script = str(Path(__file__).with_name("python_engine.py"))
    alias = ["--torch-alias", _TORCH_ALIAS, _TOP] if has_torch_alias and not command else []
    return Engine([*(command or [sys.executable]), script, *alias])


class LostError(Exception):
    """A run has ended before it has replied. The message says how; output: the printed text."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class StoppedError(Exception):
    """The starter was stopped: results are no longer asked for, and there are none."""


@dataclass(frozen=True)
class Reply:
    """The effects of a request."""

    #: The text that it has printed.
    output: str = ""
    #: The text before the values that the prompt shows.
    printed: str = ""
    #: The message of its error.
    error: str | None = None
    #: It was stopped because its time was over.
    late: bool = False
    #: It should have printed something, and has not.
    silent: bool = False
    #: Its error is one of printing the values of an input.
    fails_to_show: bool = False

    @property
    def is_last(self) -> bool:
        """Tell whether nothing more is done of what was sent with the request."""
        return self.silent or self.error is not None


class Starter:
    """Starts runs. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[int, tuple[subprocess.Popen[bytes], socket.socket]] = {}
        self._runs: set[Run] = set()
        self._stopped = False

    def start(self, engine: Engine, number: int) -> Run:
        """Start a run. number: its place among the runs of a page.

        The number decides which process starts the run; runs that one process starts have the same
        addresses. Raises LostError where no process can be started, StoppedError after `stop`.
        """
        try:
            with self._lock:
                if self._stopped:
                    raise StoppedError
                # A command has addresses of its own in each of its runs.
                connection = self._connection(0 if engine.command else number)
                run = Run(connection, engine, self._forget)
                self._runs.add(run)
        except OSError as error:
            raise LostError(f"could not be started: {error.strerror}") from None
        return run

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End all runs, and let no further run start."""
        with self._lock:
            self._stopped = True
            runs = list(self._runs)
            for _, connection in self._processes.values():
                connection.close()
        for run in runs:
            run.hang_up()
        for process, _ in self._processes.values():
            process.wait()

    def _forget(self, run: Run) -> None:
        """Forget a run that has ended."""
        with self._lock:
            self._runs.discard(run)

    def _connection(self, number: int) -> socket.socket:
        """Return the connection to the process of a number, which is started where needed."""
        process, connection = self._processes.get(number) or _new_process()
        if process.poll() is not None:  # a page may have killed it
            connection.close()
            process, connection = _new_process()
        self._processes[number] = process, connection
        return connection


#: Processes that were started ahead, and the connections to them.
_unused: list[tuple[subprocess.Popen[bytes], socket.socket]] = []


def start_ahead(with_runtime: bool) -> None:
    """Start the processes that a page of Lua needs, which then load while this process does.

    with_runtime: let them load the runtime, too, before they are asked for a run in Lua.
    """
    with suppress(OSError):  # the first page says why there are none
        _unused.extend([_start_process(with_runtime), _start_process(with_runtime)])


def _new_process() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Return a process that was started ahead, or else start one."""
    return _unused.pop() if _unused else _start_process()


def _start_process(with_runtime: bool = False) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a process that starts runs; return it, and the connection to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    path = [*(os.path.abspath(path) for path in sys.path if path), _TOP]
    module_paths = json.dumps([path, sys.prefix, sys.exec_prefix])
    loads = ["runtime"] if with_runtime else []
    randomize_programs()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-ISuc", _START, module_paths, str(theirs.fileno()), *loads],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return process, ours


class Run:
    """A process that runs a page's examples in an empty folder, and the connection to it."""

    def __init__(
        self, connection: socket.socket, engine: Engine, forget: Callable[[Run], None]
    ) -> None:
        """Ask a starter for a run. forget: called when the run ends. Raises OSError."""
        self._forget = forget
        self._messages = deque[Message]()  # that have been received and not been read yet
        self._received = b""  # the beginning of the next one
        self._end = 0  # of what was printed before the last reply
        self._unread = b""  # what is known of the output behind that
        self._waits: int | None = None  # the file about the engine's waits for a processor
        self._ready = select.poll()
        with ExitStack() as opened, ExitStack() as theirs, ExitStack() as on_error:
            # The run ends when our side of the line is closed, however that comes.
            self._line, line = socket.socketpair(type=socket.SOCK_SEQPACKET)
            opened.enter_context(self._line)
            theirs.enter_context(line)
            requests, self._requests = os.pipe()
            self._replies, replies = os.pipe()
            self._folder = folder = Path(tempfile.mkdtemp(prefix="th-docs-"))
            on_error.callback(shutil.rmtree, folder, ignore_errors=True)
            for name in ("page", "tmp"):
                (folder / name).mkdir()
            flags = os.O_CREAT | os.O_RDWR | os.O_APPEND
            self._capture = os.open(folder / "output", flags, 0o600)
            for descriptor in (self._requests, self._replies, self._capture):
                opened.callback(os.close, descriptor)
            for descriptor in (requests, replies):
                theirs.callback(os.close, descriptor)
            from_here = replace(
                engine,
                command=_from_here(engine.command),
                read=[os.path.abspath(path) for path in engine.read],
            )
            plan = {**asdict(from_here), "folder": str(folder)}
            descriptors = [line.fileno(), requests, replies, self._capture]
            socket.send_fds(connection, [json.dumps(plan).encode()], descriptors)
            on_error.pop_all()  # the run deletes its folder
            self._opened = opened.pop_all()
        for end in (self._replies, self._line):
            self._ready.register(end, select.POLLIN)

    def ask(self, name: str, body: bytes = b"", seconds: float = 60) -> Reply:
        """Send a request and wait for its reply. Raises LostError.

        seconds: the time limit, to which is added how long the engine waits for a processor, so
        that a busy machine does not decide what is in time.
        """
        self._send(name, body)
        return self._answer(seconds)

    def ask_each(self, requests: Sequence[Message], seconds: float) -> Iterator[Reply]:
        """Send requests at a time, and yield the reply to each. Raises LostError.

        There is no further reply behind one that `is_last`. seconds: the time limit of each.
        """
        self._send("several", b"".join(map(message_of, requests)))
        for left in range(len(requests), 0, -1):
            if left > _FEW and not self._messages:
                time.sleep(_GATHERING)
            yield self._answer(seconds)

    def _send(self, name: str, body: bytes) -> None:
        """Send a request. Raises LostError."""
        try:
            if self._reply(0.0) or self._received:  # to no request: the page has written them
                raise self._lost(_MEDDLED)
            write_message(self._requests, Message(name, body))
        except BrokenPipeError:
            raise self._lost(self._ending()) from None

    def _answer(self, seconds: float) -> Reply:
        """Wait for a reply. Raises LostError."""
        deadline = time.monotonic() + min(seconds, _LONGEST)
        # Each call of the system hands Python over to the thread of the page's other run.
        starved = 0.0 if self._messages else self._starved_seconds()
        printed: int | None = None
        late = False
        try:
            while True:
                reply = self._reply(deadline)
                if reply is None:
                    if late:
                        raise self._lost(_TOO_LONG)
                    lacking = self._starved_seconds() - starved
                    if lacking > _NOTICEABLE:
                        deadline, starved = deadline + lacking, starved + lacking
                        continue
                    late, deadline = True, time.monotonic() + _GRACE
                    with suppress(OSError):
                        self._line.send(b"interrupt")
                elif reply.name == "values" and reply.body.isdigit():
                    printed = int(reply.body)
                elif reply.name == "values":
                    printed = self.position()
                    os.write(self._requests, GO)
                elif reply.name in ("done", "silent", "error"):
                    break
                else:
                    raise self._lost(_MEDDLED)
        except BrokenPipeError:
            raise self._lost(self._ending()) from None
        is_counted = reply.name != "error" and reply.body.isdigit()
        start, text = self._end, self._whole_output(int(reply.body) if is_counted else None)
        shown = _decoded(text)
        before = shown if printed is None else _decoded(text[: max(0, printed - start)])
        error = _decoded(reply.body) if reply.name == "error" else None
        fails_to_show = error is not None and printed is not None
        return Reply(shown, before, error, late, reply.name == "silent", fails_to_show)

    def shell(self, command: ShellLine, seconds: float = 60) -> Reply:
        """Run a command in the run's folder. Raises LostError."""
        self._line.settimeout(min(seconds, _LONGEST))
        try:
            words = (">>" if command.appends else ">", command.output, *command.words)
            self._line.send(b"shell " + "\0".join(words).encode("utf-8", "surrogateescape"))
            if self._line.recv(64) != b"done":
                raise self._lost("was ended from outside")
        except TimeoutError:
            raise self._lost(_TOO_LONG) from None
        except OSError:
            raise self._lost(self._ending()) from None
        text = _decoded(self._whole_output())
        return Reply(text, text)

    def position(self) -> int:
        """Return how many bytes were printed so far."""
        return os.fstat(self._capture).st_size

    def _starved_seconds(self) -> float:
        """Return how long the engine has waited for a processor; 0 where that is not known."""
        if self._waits is None:
            with suppress(OSError, ValueError):  # it has not begun yet, or has ended
                self._waits = opened_waits(int((self._folder / PROCESS_FILE).read_text()))
                self._opened.callback(os.close, self._waits)
        return 0.0 if self._waits is None else seconds_of_waits(self._waits)

    def hang_up(self) -> None:
        """Close our side of the line, which ends the run and all processes that it has started."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End the run; its processes and its folder are gone after that."""
        self._forget(self)
        self.hang_up()
        self._last_words()
        self._opened.close()

    def _reply(self, deadline: float) -> Message | None:
        """Return the next message from the engine; None if there is none before the deadline."""
        while not self._messages:
            seconds = max(0.0, deadline - time.monotonic())
            ready = dict(self._ready.poll(1000 * seconds))
            if not ready:
                return None
            if self._replies not in ready:  # a process that the page has started has them open
                raise BrokenPipeError
            data = os.read(self._replies, 1 << 16)
            if not data:
                raise BrokenPipeError
            self._receive(data)
        return self._messages.popleft()

    def _receive(self, data: bytes) -> None:
        """Add the messages that are whole now, and keep the rest."""
        data, whole = self._received + data, 0
        stream = BytesIO(data)
        while message := read_message(stream):
            self._messages.append(message)
            whole = stream.tell()
        self._received = data[whole:]
        if not may_begin(self._received):
            raise self._lost(_MEDDLED)

    def _ending(self) -> str:
        """Return how the run, which has closed the replies, has ended."""
        last_words = self._last_words()
        if last_words is None:
            self.hang_up()
            return "closed the files of its engine"
        status = int(last_words) if last_words.strip() else -1
        if status < 0:  # its keeper was killed, or was asked to end it
            return "was ended from outside"
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXFSZ:
            return _TOO_MUCH
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with status {code}" if code else "ended"

    def _last_words(self) -> bytes | None:
        """Return the status that the run's keeper sends at its end; None if it does not in time."""
        received = b""
        try:
            self._line.settimeout(_GRACE)
            while data := self._line.recv(64):
                received += data
        except TimeoutError:
            return received or None
        except OSError:
            pass
        return received

    def _lost(self, reason: str) -> LostError:
        """Return a LostError with the text that was printed since the last reply."""
        return LostError(reason, _decoded(self._output()))

    def _whole_output(self, end: int | None = None) -> bytes:
        """Return the text printed since the last reply. Raises LostError if the file is full.

        end: the number of bytes that were printed before this reply; None for all. The process that
        the full file has ended may be one that the page has started.
        """
        if (self.position() if end is None else end) >= MOST_WRITTEN:
            raise self._lost(_TOO_MUCH)
        return self._output(end)

    def _output(self, end: int | None = None) -> bytes:
        """Return at most MAX_OUTPUT bytes that were printed since the last reply."""
        start, self._end = self._end, self.position() if end is None else end
        if self._end < start:  # a page that opens /dev/stdout to write empties the file
            start, self._unread = 0, b""
        size = min(self._end - start, MAX_OUTPUT)
        if len(self._unread) < size:  # with it, read what further replies are about
            self._unread = os.pread(self._capture, MAX_OUTPUT, start)
        text, self._unread = self._unread[:size], self._unread[self._end - start :]
        return text


def _from_here(command: Sequence[str]) -> list[str]:
    """Return a command that also works in other folders: with an absolute path, if it has one."""
    words = list(command)
    if words and "/" in words[0]:
        words[0] = os.path.abspath(words[0])
    return words


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
