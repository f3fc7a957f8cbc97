"""What completion lists, for any language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

LIMIT = 1000  # names that are listed


@dataclass(frozen=True)
class Candidate:
    """A text that may stand at the cursor.

    kind: 'function', 'number' and so on for names, 'local', 'keyword', 'module', 'program',
    'command', 'file' or 'folder'.
    """

    text: str
    kind: str

    @property
    def detail(self) -> str:
        """What is shown beside it."""
        return self.kind


@dataclass(frozen=True)
class Completions:
    """The candidates for the text from `start` to the cursor.

    more: how many others there are at least.
    """

    start: int
    candidates: Sequence[Candidate] = field(default_factory=list)
    more: int = 0


def file_candidate(name: str, is_folder: bool, ending: str = "") -> Candidate:
    """A file, or a folder."""
    return Candidate(f"{name}/", "folder") if is_folder else Candidate(name + ending, "file")
