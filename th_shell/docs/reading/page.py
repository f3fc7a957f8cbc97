"""Reads a page: finds its blocks of code, and the examples in them.

How blocks are found depends on the page's format (`formats`). In text pages, blocks with only blank
lines between them are joined, since page breaks split blocks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from th_shell.docs.reading.classification import examples_of
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, OUTPUTS, PYTHON, Block, Example, PageText, edited
from th_shell.docs.reading.formats import FORMATS, reader
from th_shell.docs.reading.languages import language_of, role_of, session_lines
from th_shell.docs.settings.configuration import doctest_flags
from th_shell.docs.settings.directives import cut_with_settings
from th_shell.docs.settings.settings import Configuration
from th_shell.docs.settings.sidecar import Sidecar
from th_shell.files import read_file


def text_of(path: Path) -> str:
    """Return all text of a page. Raises OSError."""
    return read_file(path).decode("utf-8", "surrogateescape")


def read_text(text: str, name: str, usual: str = LUA) -> PageText:
    """Find the blocks in the text of a page. usual: the language of those that name none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    # In Lua a no-break space is part of a name; in a page it is a space. Where texts are compared,
    # a NUL stands for any text; in CommonMark a page has none.
    text = text.replace("\N{NO-BREAK SPACE}", " ").replace("\0", "\N{REPLACEMENT CHARACTER}")
    lines, suffix = text.split("\n"), Path(name).suffix.lower()
    run_blocks: list[Block] = []
    unread_lines: set[int] = set()
    unread = 0
    is_run = True
    blocks = _with_leads(reader(suffix)(lines), lines)
    if suffix not in FORMATS:
        blocks = _joined(blocks, lines)
    for block in blocks:
        texts = [line.text for line in block.lines]
        role = role_of(block.language, texts)
        language = language_of(block.language, texts, usual)
        if role in OUTPUTS:
            language = run_blocks[-1].language if run_blocks and is_run else ""
        block = replace(block, role=role)
        was_run, is_run = is_run, bool(language)
        if is_run:
            # The text below a command of the shell is announced as what the command prints.
            lead, inside = block.lead if was_run else "", session_lines(block)
            run_blocks.append(replace(block, language=language, lead=lead, lines=inside))
        else:
            unread_lines.update(line.number for line in block.lines)
            unread += any(text.strip() for text in texts)
    return PageText(name, suffix, lines, run_blocks, unread_lines, unread)


def _with_leads(blocks: Iterable[Block], lines: Sequence[str]) -> Iterator[Block]:
    """Yield blocks with the last line above each that is not blank, which may announce output."""
    for block in blocks:
        above = (lines[at].strip() for at in range(block.opening - 2, -1, -1))
        yield replace(block, lead=next(filter(None, above), ""))


def _joined(blocks: Iterable[Block], lines: Sequence[str]) -> Iterator[Block]:
    """Yield blocks, those with only blank lines between them as one."""
    parts: list[Block] = []
    for block in blocks:
        if parts and not _continues(block, parts[0], parts[-1], lines):
            yield _whole(parts)
            parts = []
        parts.append(block)
    if parts:
        yield _whole(parts)


def _continues(block: Block, first: Block, last: Block, lines: Sequence[str]) -> bool:
    """Tell whether a block continues the one that first and last begin and end."""
    if block.language not in ("", first.language):
        return False
    # In Python a block without prompts is one input: two fences that name Python stay two.
    is_new = block.language and language_of(block.language, ()) == PYTHON
    if is_new or block.output is not None or last.output is not None:
        return False
    return not any(lines[at].strip() for at in range(last.closing, block.opening - 1))


def _whole(parts: Sequence[Block]) -> Block:
    """Return the block that parts of it make up."""
    inside = tuple(line for part in parts for line in part.lines)
    return replace(parts[0], closing=parts[-1].closing, lines=inside)


@dataclass(frozen=True)
class Page:
    """A page's blocks and examples."""

    path: Path
    #: The file with its errata and verdicts.
    sidecar: Sidecar
    blocks: Sequence[Block]
    examples: Sequence[Example]
    #: The compiler that has cut blocks into examples.
    compiler: Compiler
    #: All text of the page.
    text: str
    #: The number of blocks in languages that no engine runs.
    unread: int
    #: The share of its examples that must be checked; None where the settings do not say.
    least: float | None

    @cached_property
    def code_lines(self) -> Mapping[int, str]:
        """The lines of the page's code and outputs, by their numbers."""
        return {line.number: line.text for block in self.blocks for line in block.lines}

    def edited(self, new: Mapping[int, Sequence[str]]) -> list[Example]:
        """Return the examples, without settings, with new texts of lines by their numbers."""
        blocks = [replace(block, lines=edited(block.lines, new)) for block in self.blocks]
        return examples_of(blocks, self.compiler)


def read(
    path: Path, compiler: Compiler, rules: Configuration | None = None, text: str | None = None
) -> Page:
    """Read a page.

    rules: the configuration of its folder. text: the page's text; None to read the path's file.
    Raises OSError and PageError.
    """
    rules = rules or Configuration()
    folder, language = rules.errata, rules.language or LUA
    files = [Sidecar.of(path), *([Sidecar.of(path, folder, rules.root)] if folder else [])]
    text = text_of(path) if text is None else text
    page = read_text(text, path.name, language)
    if page.suffix == ".lua":
        from th_shell.docs.reading.formats.lua import requiring  # late: few pages are such

        page = page._replace(blocks=[*requiring(page.lines, path), *page.blocks])
    elif page.suffix == ".ipynb":
        from th_shell.docs.reading.formats.notebook import with_kernel  # late: few pages are such

        page = page._replace(blocks=with_kernel(page.blocks))
    elif page.suffix == ".py":
        from th_shell.docs.reading.formats.docstrings import in_module  # late: few pages are such

        page = page._replace(blocks=in_module(page.blocks, path))
    if flags := doctest_flags(path):
        page = page._replace(blocks=[replace(b, marks=b.marks | flags) for b in page.blocks])
    cut = cut_with_settings(page, compiler, rules.layer, files)
    return Page(path, files[-1], *cut, compiler, text, page.unread, rules.min_checked)
