"""The lines under an input that show how the call is made that the cursor is in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition, has_focus, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import ConditionalContainer, FormattedTextControl, HSplit, Window

from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.completing.signatures import Signature, Signatures

_STYLE = "class:signature"


#: Seconds behind a key: what is typed is shown first, and is not slowed down.
_PAUSE = 0.05


class SignatureLine:
    """Shows signatures below a prompt, soon after a key.

    make: makes what finds them; called in the background, when the first bracket is typed.
    """

    def __init__(self, make: Callable[[], Signatures], prompt: PromptSession[str]) -> None:
        self._make = make
        self._signatures: Signatures | None = None
        self._is_loading = False
        self._timer: asyncio.TimerHandle | None = None
        self._shown: StyleAndTextTuples = []
        self._app, self._buffer = prompt.app, prompt.default_buffer
        self._buffer.on_text_changed += self._change
        self._buffer.on_cursor_position_changed += self._change
        window = Window(FormattedTextControl(lambda: self._shown), dont_extend_height=True)
        is_shown = Condition(lambda: bool(self._shown)) & has_focus(self._buffer) & ~is_done
        layout = prompt.layout.container
        assert isinstance(layout, HSplit)
        layout.children.insert(1, ConditionalContainer(window, is_shown))

    def _change(self, _: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if "(" not in self._buffer.document.text_before_cursor:
            self._shown = []
        else:
            with suppress(RuntimeError):  # nobody types
                self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._update)

    def _update(self) -> None:
        if self._signatures is not None:
            document = self._buffer.document
            fragments = _fragments(self._signatures.at(document.text, document.cursor_position))
            if fragments != self._shown:
                self._shown = fragments
                self._app.invalidate()
        elif not self._is_loading:
            self._is_loading = True
            with suppress(MemoryError, RuntimeError):  # no thread: nothing is shown
                Thread(target=self._load, args=(asyncio.get_running_loop(),), daemon=True).start()

    def _load(self, loop: asyncio.AbstractEventLoop) -> None:
        self._signatures = self._make()
        with suppress(RuntimeError):  # the input has been read, and the loop is over
            loop.call_soon_threadsafe(self._update)


def _fragments(signatures: Sequence[Signature]) -> StyleAndTextTuples:
    lines: StyleAndTextTuples = []
    for signature in signatures:
        if lines:
            lines.append((_STYLE, "\n"))
        lines.append((_STYLE, f"{visible(signature.name)}("))
        for number, word in enumerate(signature.words):
            if number:
                lines.append((_STYLE, ", "))
            style = f"{_STYLE}.argument bold" if number == signature.current else _STYLE
            lines.append((style, visible(word)))
        lines.append((_STYLE, ")"))
    return lines
