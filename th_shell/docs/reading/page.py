"""A page as it is read: its blocks, and the examples in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from th_shell.docs.reading.blocks import Block
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.document import read_page
from th_shell.docs.reading.examples import Example, cut
from th_shell.docs.reading.refining import refined

__all__ = ["Page", "page_of", "read"]


@dataclass(frozen=True)
class Page:
    """A page's blocks and examples. compiler: what has cut the blocks into examples."""

    blocks: Sequence[Block]
    examples: Sequence[Example]
    compiler: Compiler


def read(path: Path, compiler: Compiler) -> Page:
    """Read a page. Raises OSError."""
    return page_of(read_page(path), compiler)


def page_of(blocks: Sequence[Block], compiler: Compiler) -> Page:
    """The page that has these blocks."""
    return Page(blocks, refined(cut(blocks, compiler), blocks), compiler)
