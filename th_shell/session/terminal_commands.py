"""Runs a command of the system's shell with a terminal of its own, whose output is also kept.

So a pager or an editor works as in the system's shell, and th still has what was printed. The
command's terminal (a pseudo-terminal) has the size of the real one; what is typed goes to it as it
is, so that its Ctrl-C ends the command and not th.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from th_shell.runtime.shell import without_limit
from th_shell.session.interrupt import handled

# Between the start of the new process and the command, the terminal has to be made the one that
# belongs to its session (in the sense of Unix). A function that Popen calls there is not safe in a
# program with threads; and the shell could only open the terminal by its name, which not every
# container lets it do.
_START = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and so would the command
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv("/bin/sh", ["sh", "-c", sys.argv[1]])
"""
_KEYS, _OUTPUT = 0, 1
_QUIET = 0.05  # seconds without output after which a command that has ended has written all

_FULL_SCREEN = re.compile(
    rb"\x1b\[\?(?:1049|1047|47)h.*?(?:\x1b\[\?(?:1049|1047|47)l|\Z)", re.DOTALL
)
_CONTROL = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
    rb"|[\x00-\x08\x0b-\x1f\x7f]"
)


def run_in_terminal(command: str, write: Callable[[bytes], None]) -> tuple[bytes, int]:
    """Run a command; returns what it has printed, without control codes, and its exit status.

    write is called with each part of the output as it comes. Standard input and output of th must
    be a terminal.
    """
    ours, theirs = pty.openpty()
    try:
        _copy_size(theirs)
        with without_limit():
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, os.fsencode(command)],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                start_new_session=True,
            )
    finally:
        os.close(theirs)
    output = bytearray()
    try:
        # The size of the command's terminal stays that of the real one.
        with _raw_terminal(), handled(signal.SIGWINCH, lambda *_: _copy_size(ours)):
            for part in _parts(ours, process):
                output += part
                write(part)
    finally:
        os.close(ours)
    return plain_text(bytes(output)), process.wait()


def plain_text(output: bytes) -> bytes:
    """What a command has printed in a terminal, without control codes and full screens."""
    output = _FULL_SCREEN.sub(b"", output).replace(b"\r\n", b"\n")
    return _CONTROL.sub(b"", output)


def _parts(ours: int, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """The parts of the output; passes on what is typed."""
    keys = [_KEYS]
    while True:
        ready = select.select([ours, *keys], [], [], _QUIET)[0]
        if ours in ready:
            part = _read(ours)
            if not part:
                return
            yield part
        elif process.poll() is not None:
            return  # what it has left running in the background may still have the terminal
        if _KEYS in ready:
            typed = os.read(_KEYS, 1024)
            if not typed:
                keys = []
            with suppress(OSError):  # it has ended
                os.write(ours, typed)


def _read(ours: int) -> bytes:
    try:
        return os.read(ours, 65536)
    except OSError:  # nobody has the terminal any more
        return b""


@contextmanager
def _raw_terminal() -> Iterator[None]:
    """Let every key come as it is pressed; the command's terminal makes of it what it wants."""
    before = termios.tcgetattr(_KEYS)
    try:
        tty.setraw(_KEYS, termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(_KEYS, termios.TCSADRAIN, before)


def _copy_size(descriptor: int) -> None:
    with suppress(OSError):
        size = fcntl.ioctl(_OUTPUT, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, size)
