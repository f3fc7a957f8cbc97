"""The parts of pages: lines, blocks of code, and the examples in these.

A page format hands on blocks, with the numbers of their lines in the page and their languages. An
example is an input with the text that its page documents under it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from th_shell.docs.reading.comment_values import Value
from th_shell.docs.settings.settings import Hidden, Mark, Settings
from th_shell.visible import encodable


class Line(NamedTuple):
    """A line of a page."""

    #: The number of the line in its page, from 1.
    number: int
    text: str


class ModuleName(NamedTuple):
    """A module of Python, in whose namespace the examples of its docstrings run."""

    #: The folder that `import` must search.
    folder: str
    #: The name, with those of its packages.
    name: str


class Role(Enum):
    """The use of a block whose text is no examples."""

    OUTPUT = "output"  #: what the code above it prints, if the page says so or it agrees
    ANNOUNCED = "announced"  #: what the code above it prints: its language says so
    SETUP = "setup"  #: code that is run before what is below
    TEARDOWN = "teardown"  #: code that is run at the end of the page


#: The roles of what code prints.
OUTPUTS = (Role.OUTPUT, Role.ANNOUNCED)


@dataclass(frozen=True)
class Block:
    """The lines between two fences."""

    #: The line number of the opening fence; where a format has none, of the line that announces the
    #: block, or of the one above its first.
    opening: int
    #: The line number of the closing fence, or of the line below the last one.
    closing: int
    #: The language that the page names, in small letters; '' where it names none.
    language: str
    lines: tuple[Line, ...]
    #: True if the page says not to run this.
    skip: bool = False
    #: The text of the heading above; '' where there is none.
    heading: str = ""
    #: The line of text above; '' where there is none.
    lead: str = ""
    #: The output under the block, which is one cell of a notebook; None where outputs stand among
    #: the lines.
    output: tuple[Line, ...] | None = None
    #: The tags of a notebook's cell, doctest's flags.
    marks: frozenset[str] = frozenset()
    #: The name of the blocks whose examples share their variables.
    group: str = ""
    #: The module whose docstrings its examples are in.
    module: ModuleName | None = None
    #: The use of the text, if it is no examples.
    role: Role | None = None
    #: Its index among the blocks of its page.
    number: int = 0

    @property
    def all_lines(self) -> tuple[Line, ...]:
        """Its lines, and those of its output."""
        return (*self.lines, *(self.output or ()))


class PageText(NamedTuple):
    """The text of a page, with the blocks that its format finds in it."""

    #: The name of the page, for messages.
    name: str
    #: The suffix of the page's name, in small letters.
    suffix: str
    lines: Sequence[str]
    #: The blocks that are run.
    blocks: Sequence[Block]
    #: The numbers of the lines of code in other languages.
    unread_lines: Set[int] = frozenset()
    #: The number of blocks in other languages.
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
    """The form of an example's input in its page."""

    PROMPT = "prompt"  #: code behind a prompt
    BARE = "bare"  #: code without a prompt
    CELL = "cell"  #: code that a notebook runs at a time
    SHELL = "shell"  #: a line of the system's shell, '$ command'
    TEXT = "text"  #: none: text without an input above it


@dataclass(frozen=True)
class Example:
    """An input and the text under it."""

    #: The line of the page where the input begins, from 1.
    line: int
    #: The number of its block.
    block: int
    kind: Kind
    #: The input without prompts.
    source: str
    #: The text under the input.
    expected: str = ""
    #: The line where the input ends.
    last: int = 0
    #: The first and the last line of the text under it, None where there is none.
    documented: tuple[int, int] | None = None
    #: The text of the heading above.
    heading: str = ""
    #: The language of the source.
    language: str = "lua"
    #: The name of the examples that share its variables.
    group: str = ""
    #: The module with whose names its group begins.
    module: ModuleName | None = None
    #: True if the text under it stands in a block of its own.
    apart: bool = False
    #: True if the page says that the text of that block is printed by the input.
    announced: bool = True
    #: Rules of the comparison, by the names of doctest's and pytest's flags, and VARIES and RAISES.
    flags: frozenset[str] = frozenset()
    #: True if `local` stands before it in the page.
    is_local: bool = False
    #: The value of the input as a comment behind it tells it.
    value: Value | None = None
    #: The rules by which it is run and judged.
    settings: Settings = Settings()
    #: Code and seeds before it, or at the page's end, which the page does not show.
    hidden: tuple[Hidden, ...] = ()

    @property
    def end(self) -> int:
        """The last line of the text under it, or of the input where there is none."""
        return self.documented[1] if self.documented else self.last


def example_of(
    block: Block, kind: Kind, lines: Sequence[Line], source: str, flags: Set[str] = frozenset()
) -> Example:
    """Return an example of a block without what it documents.

    lines: those of its input.
    """
    return Example(
        lines[0].number,
        block.number,
        kind,
        source,
        last=lines[-1].number,
        heading=block.heading,
        language=PYTHON if block.language == PYTHON else LUA,
        group=block.group,
        module=block.module,
        flags=frozenset(flags),
        settings=Settings(skip=Mark()) if block.skip or "SKIP" in flags else Settings(),
    )


def with_output(example: Example, output: Sequence[Line]) -> Example:
    """Return an example with the lines that are documented under it."""
    shown = [line.number for line in output if line.text.strip()]
    return replace(
        example,
        expected="\n".join(line.text for line in output).strip("\n"),
        documented=(shown[0], shown[-1]) if shown else None,
    )


class Identity(NamedTuple):
    """The name of an example among the others of its page."""

    #: The heading above.
    heading: str
    #: The first line of the input; for a text without an input, of the text.
    input: str
    #: The number of the example, from 1, among those under this heading with the same first line.
    ordinal: int
    #: A hash of the text that the page documents.
    documented: str

    def __str__(self) -> str:
        """Its name, which stays the same where the documented text changes."""
        return f"{self.heading}/{self.ordinal}/{self.input}"


def identities(examples: Sequence[Example]) -> list[Identity]:
    """Return the identities of a page's examples, each of which is another one.

    A byte that is no UTF-8 is written as \\xNN.
    """
    import hashlib  # late: few pages need names, and it loads a large library

    seen = Counter[tuple[str, str]]()
    named = []
    for example in examples:
        headline = (example.source or example.expected).split("\n")[0]
        texts = (example.heading, headline, example.expected)
        heading, line, documented = (" ".join(text.split()) for text in texts)
        seen[heading, line] += 1
        hashed = hashlib.sha256(documented.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        names = encodable(heading), encodable(line)
        named.append(Identity(*names, seen[heading, line], hashed))
    return named


def completes(example: Example) -> bool:
    """Return whether an input is the beginning of a name, and its output lists the names."""
    start = example.source
    is_begun = start.endswith((".", ":")) and len(start) > 1
    words = [word for word in example.expected.split() if word.startswith(start)]
    return is_begun and len(words) >= max(2, len(example.expected.split()) / 2)
