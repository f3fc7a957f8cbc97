"""Decides which examples of a page each directive holds for, and gives them their settings.

Outside of blocks, a directive holds for the block right under it; within a block, for the input
that it stands behind, or for the one under it; with `page`, for the page. `setup` is done before
the next example, wherever that is, with which a new session begins after `reset`; `teardown` is
done at the end of the session that it stands in. A directive that holds for nothing is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import dedent

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import PYTHON, Block, Example, Kind, PageText, Role
from th_shell.docs.reading.refining import examples_of
from th_shell.docs.settings import directives
from th_shell.docs.settings.beside import Beside, Placed
from th_shell.docs.settings.captures import shown_captures
from th_shell.docs.settings.settings import NOTHING, Hidden, Layer, SettingsError


def cut_with_settings(
    page: PageText,
    compiler: Compiler,
    below: Layer = NOTHING,
    files: Sequence[Beside] = (),
    locals_stay: bool = False,
) -> tuple[Sequence[Block], Sequence[Example]]:
    """A page's blocks without directives, and their examples with all that is said of them.

    below: what is said of the whole page elsewhere. files: those beside it. locals_stay: whether
    what runs them keeps the locals of one for the next. Raises OSError and SettingsError.
    """
    comments = directives.find_comments(page)
    own = directives.without_comments(page.blocks, comments)
    examples = examples_of(own, compiler, locals_stay)
    placed = [Placed(0, below, range(len(examples)), "")]
    placed += [one for file in files for one in file.layers(examples)]
    finder = _Finder(page, examples, comments)
    placed += [finder.placed(one) for one in directives.read_directives(page.name, comments)]
    placed += _prepared(page.name, own, examples)
    return own, _in_sessions(_with_layers(examples, sorted(placed, key=lambda one: one.rank)))


#: What is done with code that a page runs beside its examples.
_HIDDEN = {Role.SETUP: "setup", Role.TEARDOWN: "teardown"}
_ALL_GROUPS = "*"


def _prepared(page: str, blocks: Sequence[Block], examples: Sequence[Example]) -> Iterator[Placed]:
    """What blocks of Sphinx say: code that is run before and behind the examples of their group."""
    own = [(i, example.group) for i, example in enumerate(examples) if example.language == PYTHON]
    groups = {group for _, group in own}
    for block in blocks:
        if block.role not in _HIDDEN:
            continue
        place = f"{page}:{block.opening}"
        code = dedent("\n".join(line.text for line in block.lines))
        layer = Layer(hidden=(Hidden(_HIDDEN[block.role], code, place),))
        for group in groups if block.group == _ALL_GROUPS else {block.group} & groups:
            yield Placed(4, layer, [i for i, other in own if other == group], place)


def _with_layers(examples: Sequence[Example], placed: Iterable[Placed]) -> list[Example]:
    found = list(examples)
    for one in placed:
        _check_captures(one, examples)
        for at in one.examples if one.layer.settings != NOTHING.settings else ():
            settings = one.layer.settings.over(found[at].settings)
            found[at] = replace(found[at], settings=settings)
        if one.layer.hidden and one.examples:
            first = one.examples[0]
            hidden = (*found[first].hidden, *one.layer.hidden)
            found[first] = replace(found[first], hidden=hidden)
    return found


def _in_sessions(examples: Iterable[Example]) -> list[Example]:
    """Examples, whose groups have other names from each on with which a new session begins."""
    found: list[Example] = []
    resets = 0
    for example in examples:
        resets += bool(example.settings.reset)
        group = f"{example.group}\n{resets}"
        found.append(replace(example, group=group) if resets else example)
    return found


def _check_captures(placed: Placed, examples: Sequence[Example]) -> None:
    shown = {name for at in placed.examples for name in shown_captures(examples[at].expected)}
    for name in placed.layer.settings.capture:
        if name not in shown:
            raise SettingsError(f"{placed.place}: no documented output has <{name}>")


class _Finder:
    """Finds what the directives of one page hold for."""

    def __init__(
        self, page: PageText, examples: Sequence[Example], comments: Iterable[directives.Comment]
    ) -> None:
        self._page, self._examples = page, examples
        self._covered = {number for one in comments for number in range(one.line, one.last + 1)}

    def placed(self, directive: directives.Directive) -> Placed:
        """A directive's layer with its examples. Raises SettingsError."""
        rank, examples, why = self._find(directive)
        if not examples:
            raise SettingsError(f"{directive.place}: the directive holds for nothing: {why}")
        return Placed(rank, directive.layer, examples, directive.place)

    def _find(self, directive: directives.Directive) -> tuple[int, Sequence[int], str]:
        """The rank, the examples, and why there are none."""
        comment = directive.comment
        kinds = {hidden.kind for hidden in directive.layer.hidden}
        if directive.page or "teardown" in kinds:
            lines = [] if directive.page else [one.line for one in self._examples]
            above = [at for at, line in enumerate(lines) if line < comment.line][-1:]
            return 2, above or range(len(self._examples)), "the page has no examples"
        is_next = "setup" in kinds or directive.layer.settings.reset is True
        if comment.block is not None:
            return 5, *self._in_block(comment, comment.block, is_next)
        if is_next:
            return 5, self._next(comment), "no example follows"
        return 3, self._under(comment), "no block of examples stands right under it"

    def _in_block(
        self, comment: directives.Comment, block: int, is_next: bool
    ) -> tuple[Sequence[int], str]:
        examples = self._examples
        for at, example in enumerate(examples):
            if example.block != block or not example.line <= comment.line <= example.end:
                continue
            if comment.code.strip() and example.source and comment.line <= example.last:
                return [at], ""
            return [], "it stands within an example, neither behind an input nor before one"
        if comment.code.strip():
            return [], "it stands behind no input"
        found = self._next(comment)
        if is_next:
            return found, "no example follows"
        if not found or examples[found[0]].block != block:
            return [], "no example follows in its block"
        is_text = examples[found[0]].kind is Kind.TEXT
        return ([], "what follows is no input") if is_text else (found, "")

    def _next(self, comment: directives.Comment) -> Sequence[int]:
        return [at for at, one in enumerate(self._examples) if one.line > comment.last][:1]

    def _under(self, comment: directives.Comment) -> Sequence[int]:
        for number, block in enumerate(self._page.blocks):
            start = block.opening
            if start <= comment.last and block.lines:
                start = block.lines[0].number
            if start > comment.last:
                between = range(comment.last + 1, start)
                if any(at not in self._covered and self._has_text(at) for at in between):
                    return []
                return [at for at, one in enumerate(self._examples) if one.block == number]
        return []

    def _has_text(self, number: int) -> bool:
        """Whether a line has something: more than the mark of a comment in Lua."""
        return bool(self._page.lines[number - 1].strip().strip("-"))
