"""Finds the examples in text that was copied from a page: inputs, with the outputs under them.

It is read as `th-docs` reads pages, so that what is no example is not run. What depends on chance
is told by the source of the inputs.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence

import th_shell.docs.library as docs
from th_shell.lines import usual_lines
from th_shell.session.commands import is_command
from th_shell.session.inputs import FENCE, PROMPT
from th_shell.syntax import Syntax

_NAME = "the text"
_CONTINUATION = re.compile(r"\s*(?:>>|\.\.\.?>)")


def read_examples(text: str, compiler: docs.Compiler) -> tuple[list[docs.Example], str]:
    """The examples of a page, in order; and why its directives are not followed, or ''."""
    lines = usual_lines(text)
    first = next((at for at, line in enumerate(lines) if FENCE.match(line)), None)
    if first is None:
        blocks = list(_blocks(lines, compiler))
        return _cut(docs.PageText(_NAME, "", lines, blocks), compiler)
    if any(map(PROMPT.match, lines[:first])):
        lines.insert(0, "```")  # the copy begins within a block
    return _cut(docs.read_text("\n".join(lines), _NAME), compiler)


def _cut(page: docs.PageText, compiler: docs.Compiler) -> tuple[list[docs.Example], str]:
    try:
        _, found = docs.cut_with_settings(page, compiler, locals_stay=True)
    except docs.SettingsError as error:  # perhaps what a directive holds for was not copied
        return docs.examples_of(page.blocks, compiler, locals_stay=True), str(error)
    facts = docs.Facts(sys.platform, "th", os.environ, frozenset())
    return [one if _asks_for_modules(one) else docs.decided(one, facts) for one in found], ""


def _asks_for_modules(example: docs.Example) -> bool:
    """Whether it depends on modules what holds for an example: it is skipped then."""
    marks = (example.settings.skip, example.settings.xfail)
    return any(mark and mark.condition and mark.condition.modules for mark in marks)


def input_of(example: docs.Example) -> str:
    """An example's input as it is typed at the prompt."""
    return f"$ {example.source}" if example.kind is docs.Kind.SHELL else example.source


def open_input(examples: Sequence[docs.Example]) -> str:
    """The input behind the last prompt where no output stands under it, which may go on; or ''."""
    for example in reversed(examples):
        is_output = not all(map(_CONTINUATION.match, usual_lines(example.expected)))
        if is_output or example.kind is docs.Kind.SHELL:
            return ""
        if example.kind is docs.Kind.PROMPT:
            return example.source
    return ""


def is_run(example: docs.Example) -> bool:
    """Whether the prompt runs an example."""
    if example.kind is docs.Kind.PROMPT and is_command(example.source):
        return not example.settings.skip
    return example.language == docs.LUA and not docs.unrunnable(example)


def _blocks(lines: Sequence[str], compiler: docs.Compiler) -> Iterator[docs.Block]:
    """The blocks of a page without fences: what stands between paragraphs of prose."""
    inside: list[docs.Line] = []
    is_text = False
    for line in docs.numbered([line.replace("\N{NO-BREAK SPACE}", " ") for line in lines], 1):
        starts = not inside or not inside[-1].text.strip()
        if line.text.strip() and (starts or is_text):
            is_text = _is_text(line.text, compiler)
        if is_text and inside:
            yield _block(inside)
            inside = []
        elif not is_text:
            inside.append(line)
    if inside:
        yield _block(inside)


def _is_text(line: str, compiler: docs.Compiler) -> bool:
    is_code = PROMPT.match(line) or compiler.typed(line) is not Syntax.WRONG
    return not is_code and docs.is_prose(line, ())


def _block(lines: Sequence[docs.Line]) -> docs.Block:
    return docs.Block(lines[0].number - 1, lines[-1].number + 1, docs.LUA, tuple(lines))


# -- `Chance`: tells by its source whether what an input prints may depend on chance

#: Functions and methods whose results differ from run to run.
_DRAWS = frozenset(
    "bernoulli cauchy clock date exponential geometric getRNGState initialSeed logNormal "
    "multinomial normal rand randn random randperm seed time tmpname uniform".split()
)
#: What does not depend on the values of a tensor.
_GEOMETRY = frozenset(
    "dim isContiguous isSameSizeAs isSetTo nDimension nElement numel size storageOffset stride "
    "type".split()
)
#: New memory, whose values are whatever was there before: by sizes, and not by values.
_NEW = re.compile(r"\b\w*(?:Tensor|Storage)\s*\(\s*\w|\b(?:resize|resizeAs|new)\s*\(")
_FILLS = frozenset("apply copy fill map ones range zero zeros".split())
_ASSIGNED = re.compile(r"\s*(?:local\s+)?([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*=(?!=)")
_RECEIVER = re.compile(r"\b([A-Za-z_]\w*)\s*:")


class Chance:
    """Follows the names of what depends on chance through the inputs of a page.

    An input depends on chance if it draws random numbers, asks the clock, makes new memory without
    filling it, or uses what such an input has made. known: the names there are without a page.
    """

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._names: set[str] = set()

    def affects(self, source: str) -> bool:
        """Whether the next input depends on chance."""
        called = docs.called_names(source)
        fills = bool(called & _FILLS)
        draws = bool(called & _DRAWS or _NEW.search(source) and not fills)
        assignment = _ASSIGNED.match(source)
        assigned = docs.bound_names(source) - self._known
        used = docs.read_names(source[assignment.end() :] if assignment else source) - self._known
        if called and called <= _GEOMETRY:
            return False
        if not draws and not used & self._names:
            self._names -= assigned
            return False
        if draws:
            self._names |= assigned | set(_RECEIVER.findall(source)) - self._known
        elif fills and len(used) == 1 and not assignment:
            self._names -= used
        else:
            self._names |= assigned if assignment else assigned | used
        return True
