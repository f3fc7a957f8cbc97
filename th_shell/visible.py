"""Texts for people at a terminal: banner, prompts, texts that are safe to show, and complaints.

Names and texts from files can contain control codes that move the cursor, hide text, or make the
terminal type something. They are shown as Lua writes them in strings.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

from th_shell.patterns import pattern


class UsageError(Exception):
    """A command line that th does not understand; the message says why."""


_USUAL_COLUMNS = 80

# The control codes other than newline and tab, and bytes 0x80 to 0x9f that are no UTF-8.
_CONTROL = pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]")


def columns() -> int:
    """Return the number of columns of the terminal that the standard output goes to."""
    try:
        return os.get_terminal_size(1).columns or _USUAL_COLUMNS
    except OSError:  # the output goes somewhere else
        return _USUAL_COLUMNS


def can_show_first() -> bool:
    """Tell whether there is a terminal at which a prompt can stand before the editor is loaded."""
    is_dumb = os.environ.get("TERM", "") in ("dumb", "unknown")  # these cannot move their cursor
    return os.name == "posix" and os.isatty(0) and os.isatty(1) and not is_dumb


# -- the lines that th shows at its start, and its prompts

BANNER = """\
th: the Torch7 shell, on LuaJIT and numpy
? for an overview, ? torch.randn for one function, Ctrl-D to leave
"""

PROMPT = "th> "
CONTINUATION = "..> "


def banner() -> str:
    """Return the lines, broken where the terminal is narrower."""
    width = max(columns() - 1, 20)
    lines = BANNER.rstrip().split("\n")
    if all(len(line) <= width for line in lines):
        return BANNER
    import textwrap  # late: the first prompt does without where there is room

    return "".join(f"{textwrap.fill(line, width)}\n" for line in lines)


# -- texts that are safe to show, and complaints


def visible(text: str) -> str:
    r"""Return a text with its control codes written as digits: ``\027[2J``."""
    return _CONTROL.sub(_escaped, text)


def visible_line(text: str) -> str:
    """Return a text in one line with its control codes, newlines among them, as digits."""
    return visible(text).replace("\n", "\\010")


def encodable(text: str) -> str:
    r"""Return a text without lone surrogates: bytes that are no UTF-8 become \xNN."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def escaped(text: str, quote: str) -> str:
    """Return a text as it stands in a string between quotes, in Lua and in Python."""
    text = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")


def complain(message: object, program: str = "th") -> None:
    """Say in one line on the standard error what is wrong: 'th: message'."""
    print(f"{program}: {visible_line(str(message))}", file=sys.stderr)


def _escaped(code: re.Match[str]) -> str:
    return "".join(f"\\{byte:03d}" for byte in code[0].encode("utf-8", "surrogateescape"))


def read_words(
    option: str, words: Sequence[str], needs: Mapping[str, str], flags: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Return the words behind an option that are no options themselves, and the options.

    needs: what the word is that must stand behind one of these; flags have none. Raises
    UsageError.
    """
    names: list[str] = []
    options: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        if word in needs:
            options[word] = next(remaining, "")
            if not options[word]:
                raise UsageError(f"{word} needs {needs[word]}")
        elif word in flags:
            options[word] = word
        elif word.startswith("-"):
            raise UsageError(f"unrecognized option {word} of --{option}")
        else:
            names.append(word)
    return names, options
