"""The passages of a page that are changed: an example's input, its output, or a comment's value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from th_shell.docs.reading.examples import PYTHON, Block, Example, Kind, Line

#: New texts of lines of a page, by their numbers.
New = tuple[tuple[int, tuple[str, ...]], ...]

_TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Part:
    """What can be changed in a line: a text, with what stands before and behind it."""

    number: int
    before: str
    text: str
    behind: str = ""

    def with_text(self, text: str) -> str:
        """The line with another text."""
        return f"{self.before}{text}{self.behind}"


@dataclass(frozen=True)
class Passage:
    """The lines that are changed as one text; form: what they are in the page."""

    form: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """What can be changed, in lines."""
        return "\n".join(part.text for part in self.parts)

    def edited(self, text: str) -> New:
        """The new lines of the page for a changed text, which may have other lines."""
        olds, news = [part.text for part in self.parts], text.split("\n")
        pairs = enumerate(zip(olds, news, strict=False))
        at = next((i for i, (old, new) in pairs if old != new), min(len(olds), len(news)))
        more = len(news) - len(olds)
        found = [(p.number, (p.with_text(new),)) for p, new in zip(self.parts, news, strict=False)]
        if not text:
            return tuple((p.number, _rest(p)) for p in self.parts)
        if more > 0:  # lines that stand twice
            repeated = min(at, len(olds) - 1)
            part = self.parts[repeated]
            mark = part.before[max(part.before.find("--"), 0) :]
            found = [(p.number, (p.with_text(p.text),)) for p in self.parts]
            found[repeated] = part.number, (*found[repeated][1], mark + part.text + part.behind)
        elif more < 0:
            found = [(p.number, (p.with_text(p.text),)) for p in self.parts]
            found[at] = self.parts[at].number, _rest(self.parts[at])
        return tuple(found)


def _rest(part: Part) -> tuple[str, ...]:
    """A line without its text, and without the mark of a comment that tells nothing."""
    code = part.before.partition("--")[0].rstrip()
    return (code,) if code else ()


def passage_of(
    blocks: Sequence[Block], examples: Sequence[Example], index: int, is_input: bool
) -> Passage | None:
    """What can be changed of an example; None where nothing can."""
    example = examples[index]
    block = blocks[example.block]
    if is_input:
        lines = [one for one in block.lines if example.line <= one.number <= example.last]
        return Passage("input", tuple(Part(line.number, "", line.text) for line in lines))
    if example.documented:
        parts = tuple(_of_output(example, blocks))
        form = "cell" if block.output is not None else "output"
    else:
        until = next((e.line for e in examples[index + 1 :]), block.closing)
        lines = [
            one for one in block.lines if example.line <= one.number < max(until, example.line + 1)
        ]
        parts = tuple(_of_comment(example, lines))
        form = "comment"
    numbers = [part.number for part in parts]
    everything = [line.number for one in blocks for line in chain(one.lines, one.output or ())]
    is_placed = all(everything.count(number) == 1 for number in numbers)
    return Passage(form, parts) if parts and is_placed else None


def _of_output(example: Example, blocks: Sequence[Block]) -> Iterator[Part]:
    first, last = example.documented or (0, -1)
    block = blocks[example.block + example.apart]
    found = [
        line
        for line in (block.lines if block.output is None else block.output)
        if first <= line.number <= last and line.text.strip()
    ]
    if example.language == PYTHON and any(_TRACEBACK in line.text for line in found):
        found = found[-1:]  # of an error, its last line counts
        if "IGNORE_EXCEPTION_DETAIL" in example.flags:
            return _of_class(found[0])
    return (Part(line.number, "", line.text) for line in found)


def _of_class(line: Line) -> Iterator[Part]:
    """What counts of an error whose module and message do not."""
    head, mark, message = line.text.partition(":")
    module, dot, name = head.rpartition(".")
    yield Part(line.number, module + dot, name, mark + message)


def _of_comment(example: Example, lines: Sequence[Line]) -> Iterator[Part]:
    value = example.value
    if value is None or example.kind is Kind.CELL:
        return
    texts = value.text.split("\n")
    if value.codes and value.text.startswith(value.codes[0]):
        texts = value.codes[0].split("\n")  # what stands behind is prose
    rest = iter(lines)
    for text in texts:
        line = next((one for one in rest if text in one.text.partition("--")[2]), None)
        if line is None or not text:
            return
        at = line.text.index(text, line.text.index("--"))
        yield Part(line.number, line.text[:at], text, line.text[at + len(text) :])
