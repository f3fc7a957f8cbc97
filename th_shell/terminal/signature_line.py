"""The lines under an input that show how the call is made that the cursor is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_focus, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import ConditionalContainer, FormattedTextControl, HSplit, Window

from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.completing.signatures import Signature, Signatures

_STYLE = "class:signature"


class SignatureLine:
    """Shows signatures below a prompt; finds them once for each state of the input.

    signatures: gives what finds them, when the first bracket is typed.
    """

    def __init__(self, signatures: Callable[[], Signatures], prompt: PromptSession[str]) -> None:
        self._signatures = signatures
        self._buffer = prompt.default_buffer
        self._shown: tuple[Document | None, StyleAndTextTuples] = (None, [])
        window = Window(FormattedTextControl(self._text), dont_extend_height=True)
        wanted = Condition(lambda: bool(self._text())) & has_focus(self._buffer) & ~is_done
        layout = prompt.layout.container
        assert isinstance(layout, HSplit)
        layout.children.insert(1, ConditionalContainer(window, wanted))

    def _text(self) -> StyleAndTextTuples:
        document = self._buffer.document
        if document != self._shown[0]:
            self._shown = document, self._found(document)
        return self._shown[1]

    def _found(self, document: Document) -> StyleAndTextTuples:
        if "(" not in document.text_before_cursor:
            return []
        signatures, app = self._signatures(), get_app()

        def show_again() -> None:
            self._shown = None, []
            with suppress(RuntimeError):  # the input has been read, and the loop is over
                app.invalidate()

        signatures.load(show_again)
        return _fragments(signatures.at(document.text, document.cursor_position))


def _fragments(signatures: Sequence[Signature]) -> StyleAndTextTuples:
    lines: StyleAndTextTuples = []
    for at, one in enumerate(signatures):
        lines.append((_STYLE, "\n" * bool(at) + visible(one.name) + "("))
        for number, word in enumerate(one.words):
            lines.append((_STYLE, one.between * bool(number)))
            style = f"{_STYLE}.argument bold" if number == one.current else _STYLE
            lines.append((style, visible(word)))
        lines.append((_STYLE, ")"))
    return lines
