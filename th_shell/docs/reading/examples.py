"""Examples: inputs, each with the text that its page documents under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from th_shell.docs.reading.blocks import Block, Line
from th_shell.docs.reading.comment_values import Value
from th_shell.docs.settings.settings import Hidden, Mark, Settings


class Kind(Enum):
    """What an example's input is in its page."""

    PROMPT = "prompt"  #: code behind a prompt
    BARE = "bare"  #: code without a prompt
    CELL = "cell"  #: code that a notebook runs at a time
    SHELL = "shell"  #: a line of the system's shell, '$ command'
    TEXT = "text"  #: none: text without an input above it


@dataclass(frozen=True)
class Example:
    """An input and the text under it.

    line: the line of the page where the input begins, from 1. block: the number of its block.
    source: the input without prompts. expected: the text under it. last: the line where the input
    ends. documented: the first and the last line of the text under it, None where there is none.
    apart: whether that text stands in a block of its own; announced: whether the page says that the
    text of this block is what the input prints. heading: the heading above. language:
    that of source. value: what a comment behind the input tells of its value. settings: how it is
    run and judged. hidden: what is done before it, or at the page's end, and not shown.
    """

    line: int
    block: int
    kind: Kind
    source: str
    expected: str = ""
    last: int = 0
    documented: tuple[int, int] | None = None
    heading: str = ""
    language: str = "lua"
    apart: bool = False
    announced: bool = True
    value: Value | None = None
    settings: Settings = Settings()
    hidden: tuple[Hidden, ...] = ()


def said_of(block: Block) -> Settings:
    """What a block itself says of its examples."""
    return Settings(skip=Mark()) if block.skip else Settings()


def with_output(example: Example, output: Sequence[Line]) -> Example:
    """An example with the lines that are documented under it."""
    shown = [line.number for line in output if line.text.strip()]
    return replace(
        example,
        expected="\n".join(line.text for line in output).strip("\n"),
        documented=(shown[0], shown[-1]) if shown else None,
    )
