"""Keys of the prompt besides those of prompt_toolkit's emacs and vi modes."""

from __future__ import annotations

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import get_common_complete_suffix
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_completions, has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from th_shell.terminal.completion import InputCompleter

_INDENT = 2  # blanks that Tab inserts at the beginning of a line where none are wanted


def is_typed(event: KeyPressEvent) -> bool:
    """Whether a key was pressed by itself.

    In a terminal that does not mark what is pasted, the keys of a paste come all at once.
    """
    return not event.key_processor.input_queue


def editor_keys() -> KeyBindings:
    """Ctrl-X Ctrl-E: the input in $VISUAL or $EDITOR; also in vi's mode of insertion."""
    bindings = KeyBindings()

    @bindings.add("c-x", "c-e", filter=has_focus(DEFAULT_BUFFER))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()

    return bindings


def completion_keys(indent: int, completer: InputCompleter) -> KeyBindings:
    """Tab completes; a quote that completion has closed may be typed nevertheless.

    indent: blanks that it inserts at the beginning of a line.
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


def _complete(buffer: Buffer, completer: InputCompleter, blanks: str) -> None:
    """Insert what all completions have in common; show a menu if there are several."""
    document = buffer.document
    if not document.current_line_before_cursor.strip():
        buffer.insert_text(blanks)
        return
    # Not in the editor's background task, which keys that were typed in advance would cancel.
    found = completer.prepare(document)
    suffix = get_common_complete_suffix(document, found)
    buffer.insert_text(suffix)
    if len(found) > 1:
        if suffix:
            completer.prepare(buffer.document)
        buffer.start_completion()
