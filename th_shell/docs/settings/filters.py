"""Filters: parts of documented and printed texts in place of which another text is compared.

A filter counts only where it has something to replace in all texts: so one that is too wide cannot
hide that a part of the output is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from th_shell.docs.settings.settings import Filter


def filtered(filters: Iterable[Filter], *texts: str) -> tuple[str, ...]:
    """Texts with what filters put in place, each of which matches all the texts or does nothing."""
    for one in filters:
        if all(one.pattern.search(text) for text in texts):
            texts = tuple(one.pattern.sub(one.replacement, text) for text in texts)
    return texts
