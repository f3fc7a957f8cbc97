"""The lines of a text, by the ends of lines that its language has.

`str.splitlines` knows others: form feeds, U+2028, and more, which in a program are blanks, or
characters of a string or a comment.
"""

import re


def lua_lines(text: str) -> list[str]:
    """Return the lines of a program or an input of Lua, as its compiler counts them."""
    return _lines(re.sub(r"\r\n|\n\r|\r", "\n", text))


def usual_lines(text: str) -> list[str]:
    r"""Return the lines of any other text: of Python, a page, or what a terminal sends or shows.

    Python's compiler and CommonMark agree on these ends; unlike Lua's, both take '\n\r' for two.
    """
    return _lines(re.sub(r"\r\n?", "\n", text))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
