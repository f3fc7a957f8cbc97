"""Runs programs of the system: ``$ command`` at the prompt, ``cd``, `%cd` and `%pwd`.

At a terminal, a command has a terminal of its own (a pseudo-terminal) of the size of the real one,
so that a pager or an editor works as in the system's shell, and th still has what was printed. What
is typed goes to it as it is, so that its Ctrl-C ends the command and not th.
"""

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from th_shell.runtime.shell import without_limit
from th_shell.session.commands import MagicError, errors_of
from th_shell.session.conversation import Conversation
from th_shell.session.interrupt import handled, nothing

Write = Callable[[bytes], None]


def run_line(session: Conversation, line: str) -> None:
    """Run a command of the system's shell, with the values of variables in it."""
    try:
        command = substitute(line, session.text_of)
    except WrongVariable as error:
        session.write(f"{error}\n")
        return
    session.keep(run_command(command, session.write_through))


def run_command(command: str, write: Write) -> bytes:
    """Run a line in the system's shell; return its standard output.

    write is called with each part of the output as it comes. `cd` changes the folder of th itself.
    At a terminal, the command has a terminal, too.
    """
    words = command.split(maxsplit=1)
    if words and words[0] == "cd":
        return _change_folder(words[1] if len(words) > 1 else "~", write)
    run = _run_in_terminal if os.isatty(0) and os.isatty(1) else _run_piped
    output, status = run(command, write)
    if status in (-signal.SIGINT, 128 + signal.SIGINT):
        write(b"\n")  # The terminal has shown ^C in this line.
    return output


def _run_piped(command: str, write: Write) -> tuple[bytes, int]:
    output = bytearray()
    # Ctrl-C is to end the command and not th. The command would inherit SIG_IGN and not be ended.
    with handled(signal.SIGINT, nothing), _start(command) as process:
        assert process.stdout is not None
        while part := os.read(process.stdout.fileno(), 65536):
            output += part
            write(part)
    return bytes(output), process.returncode


def _start(command: str) -> subprocess.Popen[bytes]:
    with without_limit():
        return subprocess.Popen(command, shell=True, stdout=subprocess.PIPE, bufsize=0)


def _change_folder(argument: str, write: Write) -> bytes:
    # In a child process, cd would not change the folder of this one.
    try:
        os.chdir(os.path.expanduser("".join(shlex.split(argument)[:1])))
    except (OSError, ValueError) as error:
        write(f"cd: {MagicError.of(argument, error)}\n".encode("utf-8", "surrogateescape"))
    return b""


def change_folder(session: Conversation, text: str) -> None:
    """Change the current folder, by default to the home folder, and tell it: `%cd`."""
    with errors_of(text):
        os.chdir(os.path.expanduser(text or "~"))
    tell_folder(session, "")


def tell_folder(session: Conversation, _: str) -> None:
    """Tell the current folder: `%pwd`."""
    with errors_of("the current folder"):
        session.write(os.getcwd() + "\n")


# -- a command with a terminal of its own

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


def _run_in_terminal(command: str, write: Write) -> tuple[bytes, int]:
    """Run a command in a terminal of its own; return its output and its exit status.

    The output has no control codes. write is called with each part as it comes. Standard input and
    output of th must be a terminal.
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
    """Return a terminal's output without control codes and full screens."""
    output = _FULL_SCREEN.sub(b"", output).replace(b"\r\n", b"\n")
    return _CONTROL.sub(b"", output)


def _parts(ours: int, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield the parts of the output; pass on what is typed."""
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


# -- `$name` in a command of the system's shell: the value of a variable of the language
#
# A name that the session knows stands for its value, quoted so that the shell takes it as one word.
# Other names are the shell's own, and so are `$$name`, `${name}`, names that the command itself
# sets (`for name in`, `name=`), and what stands in single quotes. Values are strings, numbers and
# booleans.

#: The Lua type of a variable's value, and its text if it is a string, number or boolean.
Lookup = Callable[[str], tuple[str, str | None]]

_PART = re.compile(
    r"(?P<escaped>\\[\s\S]|\$\{[^}]*\}?)|(?P<quote>['\"])|(?P<double>\$\$(?=[A-Za-z_]))"
    r"|\$(?P<name>[A-Za-z_]\w*)",
    re.ASCII,
)
_SET = re.compile(r"\bfor\s+([A-Za-z_]\w*)|(?:^|[\s;&|(])([A-Za-z_]\w*)=|\bread\s+([A-Za-z_]\w*)")
_SPECIAL = re.compile(r'([\\"$`])')


class WrongVariable(Exception):
    """A variable whose value cannot stand in a command; the message says why."""


def substitute(command: str, lookup: Lookup) -> str:
    """Return a command with the values of Lua's variables in it. Raises WrongVariable."""
    set_names = {name for names in _SET.findall(command) for name in names}
    quote = ""

    def replaced(part: re.Match[str]) -> str:
        nonlocal quote
        text = part[0]
        if part["quote"]:
            quote = "" if quote == text else quote or text
        elif quote != "'" and part["double"]:
            return "$"
        elif quote != "'" and part["name"] and part["name"] not in set_names:
            return _value(part["name"], quote, lookup)
        elif quote == "'" and text.startswith("\\") and text[1:] == "'":
            quote = ""  # a backslash means nothing in single quotes: the quote ends them
        return text

    return _PART.sub(replaced, command)


def _value(name: str, quote: str, lookup: Lookup) -> str:
    kind, text = lookup(name)
    if kind == "nil":
        return f"${name}"
    if text is None:
        raise WrongVariable(
            f"${name} is a {kind}: only strings, numbers and booleans can stand in a command; "
            f"$${name} is the shell's own"
        )
    if "\0" in text:
        raise WrongVariable(f"${name} has a zero byte, which no command can be given")
    return _SPECIAL.sub(r"\\\1", text) if quote else shlex.quote(text)
