"""``$ command`` at the prompt: runs a line in the system's shell."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable

from th_shell.runtime.shell import without_limit
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
    """Run a line in the system's shell; returns its standard output.

    write is called with each part of the output as it comes. `cd` changes the folder of th itself.
    At a terminal, the command has a terminal, too.
    """
    words = command.split(maxsplit=1)
    if words and words[0] == "cd":
        return _change_folder(words[1] if len(words) > 1 else "~", write)
    run = _run_piped
    if os.isatty(0) and os.isatty(1):
        from th_shell.session.terminal_commands import run_in_terminal as run
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
        why = error.strerror if isinstance(error, OSError) else error
        write(f"cd: {argument}: {why}\n".encode("utf-8", "surrogateescape"))
    return b""


# -- `$name` in a command of the system's shell: the value of a variable of the language
#
# A name that the session knows stands for its value, quoted so that the shell takes it as one word.
# Other names are the shell's own, and so are `$$name`, `${name}`, names that the command itself
# sets (`for name in`, `name=`), and what stands in single quotes. Values are strings, numbers and
# booleans.

#: The Lua type of a variable's value, and its text if it is a string, number or boolean.
Lookup = Callable[[str], tuple[str, str | None]]

_PART = re.compile(
    r"(?P<kept>\\[\s\S]|\$\{[^}]*\}?)|(?P<quote>['\"])|(?P<double>\$\$(?=[A-Za-z_]))"
    r"|\$(?P<name>[A-Za-z_]\w*)",
    re.ASCII,
)
_SET = re.compile(r"\bfor\s+([A-Za-z_]\w*)|(?:^|[\s;&|(])([A-Za-z_]\w*)=|\bread\s+([A-Za-z_]\w*)")
_SPECIAL = re.compile(r'([\\"$`])')


class WrongVariable(Exception):
    """A variable whose value cannot stand in a command; the message says why."""


def substitute(command: str, lookup: Lookup) -> str:
    """A command with the values of Lua's variables in it. Raises WrongVariable."""
    own = {name for names in _SET.findall(command) for name in names}
    quote = ""

    def replaced(part: re.Match[str]) -> str:
        nonlocal quote
        text = part[0]
        if part["quote"]:
            quote = "" if quote == text else quote or text
        elif quote != "'" and part["double"]:
            return "$"
        elif quote != "'" and part["name"] and part["name"] not in own:
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
