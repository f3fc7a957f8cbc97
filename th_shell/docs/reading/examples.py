"""What pages consist of: blocks of code, and the examples in them.

A page format hands on blocks, with the numbers of their lines in the page and their languages. An
example is an input with the text that its page documents under it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from th_shell.docs.reading.comment_values import Value
from th_shell.docs.settings.settings import Hidden, Mark, Settings
from th_shell.visible import encodable


class Line(NamedTuple):
    """A line of a page; number: counted from 1."""

    number: int
    text: str


class Role(Enum):
    """What a block is whose text is no examples."""

    OUTPUT = "output"  #: what the code above it prints, if the page says so or it agrees
    ANNOUNCED = "announced"  #: what the code above it prints: its language says so
    SETUP = "setup"  #: code that is run before what is below
    TEARDOWN = "teardown"  #: code that is run at the end of the page


#: The roles of what code prints.
OUTPUTS = (Role.OUTPUT, Role.ANNOUNCED)


@dataclass(frozen=True)
class Block:
    """The lines between two fences.

    opening, closing: the line numbers of the fences; where a format has no fences, the line that
    announces the block, or the one above its first, and the one below its last. language: what the
    page says, in small letters; '' where it says nothing. skip: whether it says not to run this.
    heading: the text of the heading above, lead: the line of text above; '' where there is none.
    output: what a notebook shows under the block, which is one cell; None where outputs stand among
    the lines. marks: the tags of a notebook's cell, doctest's flags. group: of the blocks whose
    examples share their variables. role: what its text is.
    """

    opening: int
    closing: int
    language: str
    lines: tuple[Line, ...]
    skip: bool = False
    heading: str = ""
    lead: str = ""
    output: tuple[Line, ...] | None = None
    marks: frozenset[str] = frozenset()
    group: str = ""
    role: Role | None = None

    @property
    def all_lines(self) -> tuple[Line, ...]:
        """Its lines, and those of its output."""
        return (*self.lines, *(self.output or ()))


class PageText(NamedTuple):
    """What a page's format says of its text.

    name: for messages. suffix: of the page's name, in small letters. blocks: those that are run.
    other: the numbers of the lines of code in other languages; unread: how many blocks these are.
    """

    name: str
    suffix: str
    lines: Sequence[str]
    blocks: Sequence[Block]
    other: Set[int] = frozenset()
    unread: int = 0


def edited(lines: Sequence[Line], new: Mapping[int, Sequence[str]]) -> tuple[Line, ...]:
    """Lines with new texts in place of some, by their numbers; all of these have that number."""
    return tuple(
        Line(line.number, text) for line in lines for text in new.get(line.number, (line.text,))
    )


def numbered(texts: Sequence[str], first: int) -> tuple[Line, ...]:
    """Lines with their numbers, of which the first is given."""
    return tuple(Line(number, text) for number, text in enumerate(texts, first))


_NUMBER = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf)"
#: A line of a printed tensor.
PRINTED = (
    rf"{_NUMBER}(?:\s+{_NUMBER})*(?:\s*\*)?|\(\d+(?:,\d+)*[,.]+\)\s*=|Columns\s+\d.*"
    r"|\[torch\.\w+ .*\]"
)

LUA = "lua"
PYTHON = "python"


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
    text of this block is what the input prints. flags: what the page says of the comparison, by
    the names of doctest's and pytest's flags, and VARIES and RAISES. heading: the heading above.
    language: that of source. group: of the examples that share its variables. value: what a
    comment behind the input tells of its value. settings: how it is run and judged. hidden: what is
    done before it, or at the page's end, and not shown.
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
    group: str = ""
    apart: bool = False
    announced: bool = True
    flags: frozenset[str] = frozenset()
    value: Value | None = None
    settings: Settings = Settings()
    hidden: tuple[Hidden, ...] = ()

    @property
    def end(self) -> int:
        """The last line of the text under it, or of the input where there is none."""
        return self.documented[1] if self.documented else self.last


def example_of(
    block: Block,
    number: int,
    kind: Kind,
    lines: Sequence[Line],
    source: str,
    flags: frozenset[str] = frozenset(),
) -> Example:
    """An example of a block, whose number in the page is given, without what it documents.

    lines: those of its input.
    """
    return Example(
        lines[0].number,
        number,
        kind,
        source,
        last=lines[-1].number,
        heading=block.heading,
        language=PYTHON if block.language == PYTHON else LUA,
        group=block.group,
        flags=flags,
        settings=Settings(skip=Mark()) if block.skip or "SKIP" in flags else Settings(),
    )


def with_output(example: Example, output: Sequence[Line]) -> Example:
    """An example with the lines that are documented under it."""
    shown = [line.number for line in output if line.text.strip()]
    return replace(
        example,
        expected="\n".join(line.text for line in output).strip("\n"),
        documented=(shown[0], shown[-1]) if shown else None,
    )


class Identity(NamedTuple):
    """What tells an example from the others of its page.

    heading: the heading above. input: the first line of the input; for a text without an input, of
    the text. ordinal: the number of the example among those under this heading that begin with the
    same line, from 1. documented: a hash of the text that the page documents.
    """

    heading: str
    input: str
    ordinal: int
    documented: str

    def __str__(self) -> str:
        """Its name, which stays the same where the documented text changes."""
        return f"{self.heading}/{self.ordinal}/{self.input}"


def identities(examples: Sequence[Example]) -> list[Identity]:
    """The identities of a page's examples, each of which is another one.

    A byte that is no UTF-8 is written as \\xNN.
    """
    import hashlib  # late: few pages need names, and it loads a large library

    seen = Counter[tuple[str, str]]()
    found = []
    for example in examples:
        headline = (example.source or example.expected).split("\n")[0]
        texts = (example.heading, headline, example.expected)
        heading, line, documented = (" ".join(text.split()) for text in texts)
        seen[heading, line] += 1
        hashed = hashlib.sha256(documented.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        names = encodable(heading), encodable(line)
        found.append(Identity(*names, seen[heading, line], hashed))
    return found
