"""The contents of a session: its inputs by numbers, as commands take them, and its variables.

`%history`, `%who` and `%reset`.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from th_shell.entry import Entry
from th_shell.runtime.shell import Engine
from th_shell.session.commands import MagicError
from th_shell.session.conversation import Conversation
from th_shell.session.session import Session
from th_shell.show import NAME

_RANGE = re.compile(r"(\d+)(?:(-)(\d*))?\Z", re.ASCII)

_T = TypeVar("_T")


def numbers(words: Iterable[str], last: int) -> list[int]:
    """Return the numbers that words such as '3-9', '5' and '7-' name, in order, each once.

    Raises MagicError for other words, and numbers that are not from 1 to last.
    """
    chosen_numbers: set[int] = set()
    for word in words:
        match = _RANGE.match(word)
        if match is None:
            raise MagicError(f"{word} is no number, and no range such as 3-9")
        first = int(match[1])
        end = int(match[3] or last) if match[2] else first
        if not 1 <= first <= end <= last:
            raise MagicError(f"there is no {word}: numbers go from 1 to {last}")
        chosen_numbers.update(range(first, end + 1))
    return sorted(chosen_numbers)


def chosen(log: Sequence[Entry], words: Sequence[str]) -> list[Entry]:
    """Return the inputs that words name; without words, all."""
    if not log:
        raise MagicError("there are no inputs yet")
    if not words:
        return list(log)
    asked = numbers(words, log[-1].number)
    entries = [entry for entry in log if entry.number in asked]
    if not entries:  # cells without Lua
        raise MagicError(f"there is no input {' '.join(words)}")
    return entries


def to_save(
    log: Sequence[Entry], text: str, example: str, suffixes: Sequence[str], wrong: str
) -> tuple[Path, list[Entry]]:
    """Return the file and inputs that the words behind %save name: by default all without errors.

    example: what is asked for, and an input that says it. wrong: what an error says of a file with
    none of the suffixes. Raises MagicError.
    """
    words = text.split()
    replace = "-f" in words
    words = [word for word in words if word != "-f"]
    if not words:
        raise MagicError(f"which {example}")
    path = Path(words[0]).expanduser()
    if path.suffix not in suffixes:
        raise MagicError(f"{path}: {wrong}")
    if path.exists() and not replace:
        raise MagicError(f"{path} exists; -f replaces it")
    entries = chosen(log, words[1:])
    return path, entries if words[1:] else [entry for entry in entries if entry.error is None]


def history(session: Conversation, text: str) -> None:
    """List inputs; those that have raised an error are marked."""
    entries = chosen(session.log, text.split())
    width = len(str(entries[-1].number))
    lines = []
    for entry in entries:
        first, *more = entry.source.strip("\n").split("\n")
        mark = "!" if entry.error else " "
        lines.append(f"{entry.number:{width}}{mark} {first}\n")
        lines += [f"{'':{width}}  {line}\n" for line in more]
    session.show_text("".join(lines))


def confirm_reset(text: str, names: Sequence[str], what: str) -> None:
    """Let %reset go on where -f stands behind it. Raises MagicError, which lists what would go."""
    if text not in ("", "-f"):
        raise MagicError("takes nothing but -f")
    if not text:
        listed = textwrap.fill(" ".join(names), 78)
        raise MagicError(f"-f removes {len(names)} {what} and all results\n{listed}".rstrip())


# -- variables


def who(session: Session, _: str) -> None:
    """Show what `who()` shows."""
    with session.stoppable():
        session.engine.inputs.evaluate(b"who()")


def reset(session: Session, text: str) -> None:
    """Remove the globals of the session and its results; without -f, only list them."""
    with Engine() as fresh:
        built_in = fresh.variables.names("")
    staying = {*built_in, NAME, "arg"}
    names = sorted(name for name in session.engine.variables.names("") if name not in staying)
    confirm_reset(text, names, "globals")
    removed = "".join(f"_G['{name}'] = nil " for name in names) + "_RESULTS = {} _LAST = ''"
    session.engine.run(session.engine.compile(removed.encode("utf-8", "surrogateescape")))
    session.engine.debugging.forget_frames()
