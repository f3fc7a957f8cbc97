"""The formats of pages: which module reads a page, by the suffix of its name.

Each module has a function ``find(lines) -> Iterator[Block]``: it takes the lines of a page and
finds its blocks of code, in order, or raises PageError. A module is imported when the first of its
pages is read.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from th_shell.docs.reading.examples import Block

__all__ = ["FORMATS", "reader"]

#: The module of each suffix; all other pages are text pages.
FORMATS = {
    **dict.fromkeys((".htm", ".html"), "html"),
    **dict.fromkeys((".markdown", ".md"), "markdown"),
    **dict.fromkeys((".rest", ".rst"), "rst"),
    ".ipynb": "notebook",
    ".lua": "lua",
    ".py": "docstrings",
}


def reader(suffix: str) -> Callable[[Sequence[str]], Iterator[Block]]:
    """Return the function that finds the blocks of pages with this suffix, in any case."""
    module = import_module(f"{__name__}.{FORMATS.get(suffix.lower(), 'text')}")
    find: Callable[[Sequence[str]], Iterator[Block]] = module.find
    return find
