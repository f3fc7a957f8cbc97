"""A page as it is read: its blocks, and the examples in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from th_shell.docs.reading.blocks import Block
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.document import read_page
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.languages import LUA
from th_shell.docs.settings.placement import cut_with_settings
from th_shell.docs.settings.settings import NOTHING, Layer


@dataclass(frozen=True)
class Page:
    """A page's blocks and examples. compiler: what has cut the blocks into examples."""

    blocks: Sequence[Block]
    examples: Sequence[Example]
    compiler: Compiler


def read(path: Path, compiler: Compiler, below: Layer = NOTHING, language: str = LUA) -> Page:
    """Read a page. below: what its folder says of it. language: see `read_page`.

    Raises OSError, PageError and SettingsError.
    """
    return Page(*cut_with_settings(path, read_page(path, language), compiler, below), compiler)
