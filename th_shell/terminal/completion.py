"""Completion with Tab: shows prompt_toolkit what `th_shell.completing` finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from th_shell.completing.candidates import Candidate, Completions
from th_shell.visible import visible


class InputCompleter(Completer):
    """Completes what stands before the cursor. complete: what may stand there in a text."""

    def __init__(self, complete: Callable[[str, int], Completions]) -> None:
        self._complete = complete
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
        at = document.cursor_position
        found = self._complete(document.text, at)
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
