"""Tab, which completes what stands before the cursor; and how lines are indented as they are typed.

A new line stands behind the block or bracket that is open, and what closes it (`end`, `else`, `}`)
goes back to where it was opened. Only blanks that were put there by Enter are changed: a pasted
text stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import (
    CompleteEvent,
    Completer,
    Completion,
    get_common_complete_suffix,
)
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_completions, has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from th_shell.completing.candidates import Candidate, Completions
from th_shell.terminal.history import InputHistory
from th_shell.terminal.language import LUA_MARGINS, Margins
from th_shell.tokens import blanks_of
from th_shell.visible import visible


class InputCompleter(Completer):
    """Completes what stands before the cursor. complete: what may stand there in a text."""

    def __init__(self, complete: Callable[[str, int], Completions]) -> None:
        self._complete = complete
        self._ready: tuple[Document, list[Completion]] | None = None
        #: Is told how many completions there are, before a menu shows them.
        self.when_found: Callable[[int], None] = lambda _: None

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Return the completions of the text before the cursor, in alphabetic order."""
        ready, self._ready = self._ready, None
        return ready[1] if ready and ready[0] == document else list(self._found(document))

    def prepare(self, document: Document) -> list[Completion]:
        """Find what fits before the menu asks for it, which then looks for nothing again."""
        completions = list(self._found(document))
        self._ready = document, completions
        self.when_found(len(completions))
        return completions

    def _found(self, document: Document) -> Iterator[Completion]:
        at = document.cursor_position
        completions = self._complete(document.text, at)
        if completions.more:
            # First, so that it is seen; it changes nothing where it is chosen.
            typed = document.text[completions.start : at]
            yield Completion(typed, completions.start - at, display=f"({completions.more:,} more)")
        for candidate in completions.candidates:
            yield _shown(candidate, completions.start - at)


def _shown(candidate: Candidate, start: int) -> Completion:
    def detail() -> str:  # called only when it is shown
        explained = candidate.explain()
        is_value = explained and candidate.kind != "function"
        return visible(explained if is_value else f"{candidate.detail}  {explained}".rstrip())

    return Completion(candidate.text, start, display=visible(candidate.text), display_meta=detail)


# -- keys

_INDENT = 2  # blanks that Tab inserts at the beginning of a line where none are wanted


def is_typed(event: KeyPressEvent) -> bool:
    """Tell whether a key was pressed by itself.

    In a terminal that does not mark what is pasted, the keys of a paste come all at once.
    """
    return not event.key_processor.input_queue


def completion_keys(indent: int, completer: InputCompleter) -> KeyBindings:
    """Return the keys of completion: Tab, and a quote that completion has closed.

    Such a quote may be typed nevertheless. indent: blanks that Tab inserts at the beginning of a
    line.
    """
    bindings = KeyBindings()
    editing = has_focus(DEFAULT_BUFFER)
    completed = Document()  # as completion has left it

    @bindings.add("tab", filter=editing & ~has_completions)
    def _(event: KeyPressEvent) -> None:
        nonlocal completed
        _complete(event.current_buffer, completer, " " * (indent or _INDENT))
        completed = event.current_buffer.document

    @Condition
    def closed_by_completion() -> bool:
        return completed.text != "" and get_app().current_buffer.document == completed

    for quote in "'\"":

        @bindings.add(quote, filter=editing & closed_by_completion)
        def _(event: KeyPressEvent) -> None:
            nonlocal completed
            if not completed.text_before_cursor.endswith(event.data):
                event.current_buffer.insert_text(event.data)
            completed = Document()

    return bindings


def history_keys(history: InputHistory) -> KeyBindings:
    """Return bindings that hold keys until the editor has got the history.

    The first is one that may need it, such as Up; all that are pressed behind it wait, too. Ctrl-C
    drops them.
    """
    bindings = KeyBindings()
    held: list[KeyPress] = []
    is_loading, holds = Condition(lambda: not history.is_loaded), Condition(lambda: bool(held))

    def release() -> None:
        processor = get_app().key_processor
        processor.feed_multiple(held)
        held.clear()
        processor.process_keys()

    def hold(event: KeyPressEvent) -> None:
        held.extend(event.key_sequence)

    def drop(event: KeyPressEvent) -> None:
        held.clear()
        event.app.exit(exception=KeyboardInterrupt(), style="class:aborting")

    history.when_loaded = release
    for key in ("up", "pageup", "right", "end", "escape", "c-p", "c-r", "c-f", "c-e"):
        bindings.add(key, filter=is_loading, eager=True)(hold)
    bindings.add(Keys.Any, filter=is_loading & holds, eager=True)(hold)
    bindings.add("c-c", filter=is_loading & holds, eager=True)(drop)
    return bindings


def _complete(buffer: Buffer, completer: InputCompleter, blanks: str) -> None:
    """Insert what all completions have in common; show a menu if there are several."""
    document = buffer.document
    if not document.current_line_before_cursor.strip():
        buffer.insert_text(blanks)
        return
    # Not in the editor's background task, which keys that were typed in advance would cancel.
    completions = completer.prepare(document)
    suffix = get_common_complete_suffix(document, completions)
    buffer.insert_text(suffix)
    if len(completions) > 1:
        if suffix:
            completer.prepare(buffer.document)
        buffer.start_completion()


# -- indentation


class Indenter:
    """Indents the lines of a buffer. width: blanks for each level; 0: nothing is indented."""

    def __init__(self, width: int, margins: Margins = LUA_MARGINS) -> None:
        self._width = width
        self._margins = margins
        self._row = -1  # of the line that was begun by Enter
        self._blanks = ""  # that were put at its beginning

    def watch(self, buffer: Buffer) -> None:
        """Let the lines of a buffer go back when what closes them has been typed."""
        buffer.on_text_insert += self._inserted

    def newline(self, buffer: Buffer, *, typed: bool) -> None:
        """Begin a new line. typed: by a key that was pressed, and not by one in a pasted text."""
        document = buffer.document
        self._row = -1
        before, is_wanted = document.text_before_cursor, typed and self._width > 0
        blanks = self._margins.below(before, self._width) if is_wanted else None
        if blanks is None:
            buffer.newline(copy_margin=False)
            return
        if not document.current_line.strip():
            buffer.delete_before_cursor(len(document.current_line_before_cursor))
        after = document.current_line_after_cursor
        buffer.delete(len(after) - len(after.lstrip(" \t")))
        buffer.newline(copy_margin=False)
        buffer.insert_text(blanks)
        self._row, self._blanks = buffer.document.cursor_position_row, blanks

    def make_room(self, buffer: Buffer) -> None:
        """Take back the blanks of the line, where a text of several lines is to be pasted."""
        line = buffer.document.current_line
        if buffer.document.cursor_position_row == self._row and line == self._blanks:
            buffer.delete_before_cursor(len(buffer.document.current_line_before_cursor))

    def _inserted(self, buffer: Buffer) -> None:
        document = buffer.document
        line = document.current_line_before_cursor
        if document.cursor_position_row != self._row or document.current_line_after_cursor:
            return
        now = blanks_of(line)
        blanks = self._blanks
        if self._margins.closed.match(line):
            blanks = self._margins.of_closing(document.text_before_cursor) or ""
        elif not re.match(r"[ \t]*\w+$", line):
            return
        if now != blanks and len(blanks) <= len(self._blanks):
            buffer.delete_before_cursor(len(line))
            buffer.insert_text(blanks + line[len(now) :], fire_event=False)
