"""Regular expressions that are compiled when they are first used.

th-docs has about 270 of them, of which a page needs few. Compiling all takes 25 ms.
"""

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression as `re.compile` does, compiled when it is first used."""
    return cast("re.Pattern[str]", _Late(text, flags))


class _Late:
    """Compiles a regular expression at the first look at an attribute of it."""

    def __init__(self, text: str, flags: int) -> None:
        self._parts = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._parts), name)
        setattr(self, name, value)  # the next look finds it without this method
        return value
