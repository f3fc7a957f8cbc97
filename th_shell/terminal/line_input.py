"""Reads inputs in a terminal that cannot move its cursor (TERM=dumb): an editor's shell, say.

The lines are edited by readline, as far as Python has it, which writes no escape sequences there:
with completion, history and the search in it. Enter runs an input that is complete.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType

from th_shell.session.conversation import Conversation
from th_shell.session.interrupt import handled
from th_shell.terminal.language import Language


def line_reader(session: Conversation, language: Language) -> Callable[[], str]:
    """Return a function that reads the next input; it raises EOFError and KeyboardInterrupt."""
    readline = _readline()
    if readline:
        _prepare(readline, language, session.config.keys)

    def read() -> str:
        with _ctrl_c():
            text = input(session.numbered_prompt())
        while session.wants_more(text):
            with _ctrl_c():
                text += "\n" + input(session.continuation)
        if text.strip():
            language.history.append_string(text)
        return text

    return read


@contextmanager
def _ctrl_c() -> Iterator[None]:
    """Let Ctrl-C, which does nothing between two inputs, drop the line that is being typed."""
    try:
        with handled(signal.SIGINT, signal.default_int_handler):
            yield
    except KeyboardInterrupt:
        print()  # the next prompt has a line of its own
        raise


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # Python was built without it
        return None
    return readline


def _prepare(readline: ModuleType, language: Language, keys: str) -> None:
    for text in reversed(list(language.history.load_history_strings())):
        for line in text.split("\n"):
            with suppress(ValueError):  # the terminal cannot show it; the file keeps it
                readline.add_history(line)
    readline.set_completer_delims("")  # what is completed begins where `complete` says
    readline.set_completer(_completer(readline, language))
    readline.parse_and_bind("tab: complete")
    readline.parse_and_bind("set enable-bracketed-paste off")
    for arrow in ("[", "O"):  # the two ways in which terminals send Up and Down
        readline.parse_and_bind(f'"\\e{arrow}A": history-search-backward')
        readline.parse_and_bind(f'"\\e{arrow}B": history-search-forward')
    readline.parse_and_bind(f"set editing-mode {keys}")


def _completer(readline: ModuleType, language: Language) -> Callable[[str, int], str | None]:
    """Return the function that gives readline the completions of the line, one by one."""
    texts: list[str] = []

    def completion(_: str, number: int) -> str | None:
        nonlocal texts
        if number == 0:
            line, at = readline.get_line_buffer(), readline.get_endidx()
            listed = language.complete(line, at)
            texts = [line[: listed.start] + candidate.text for candidate in listed.candidates]
        return texts[number] if number < len(texts) else None

    return completion
