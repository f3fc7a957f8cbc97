"""Completion with Tab: shows prompt_toolkit what `th_shell.completing` finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from runtime import Engine
from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.completing.complete import Candidate

__all__ = ["LuaCompleter"]


class LuaCompleter(Completer):
    """Completes what stands before the cursor."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ready: tuple[Document, list[Completion]] | None = None

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """What fits the text before the cursor, in alphabetic order."""
        ready, self._ready = self._ready, None
        if ready and ready[0] == document:
            return ready[1]
        return list(self._found(document))

    def prepare(self, document: Document) -> list[Completion]:
        """The same, which are then not looked for again when the menu asks for them."""
        found = list(self._found(document))
        self._ready = document, found
        return found

    def _found(self, document: Document) -> Iterator[Completion]:
        from th_shell.completing.complete import complete  # late: the first prompt does without

        at = document.cursor_position
        found = complete(document.text, at, self._engine)
        if found.more:
            # First, so that it is seen; it changes nothing where it is chosen.
            typed = document.text[found.start : at]
            yield Completion(typed, found.start - at, display=f"({found.more:,} more)")
        for candidate in found.candidates:
            yield _shown(candidate, found.start - at)


def _shown(candidate: Candidate, start: int) -> Completion:
    def detail() -> str:  # called only when it is shown
        return visible(candidate.detail)

    return Completion(candidate.text, start, display=visible(candidate.text), display_meta=detail)
