"""Finds the examples in text that was copied from a page: inputs, with the outputs under them.

It is read as `th-docs` reads pages, so that what is no example is not run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, Block, Example, Kind, Line, numbered
from th_shell.docs.reading.page import read_text
from th_shell.docs.reading.prose import is_prose
from th_shell.docs.reading.refining import examples_of
from th_shell.docs.running.configured import decided
from th_shell.docs.running.evaluation import unrunnable
from th_shell.docs.settings.conditions import Facts
from th_shell.docs.settings.placement import cut_text_with_settings
from th_shell.docs.settings.settings import SettingsError
from th_shell.session.commands import is_command
from th_shell.session.inputs import FENCE, PROMPT
from th_shell.syntax import Syntax

_CONTINUATION = re.compile(r"\s*(?:>>|\.\.\.?>)")


def read_examples(text: str, compiler: Compiler) -> tuple[list[Example], str]:
    """The examples of a page, in order; and why its directives are not followed, or ''."""
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if FENCE.match(line)), None)
    if first is None:
        return _cut(text, list(_blocks(lines, compiler)), compiler)
    if any(map(PROMPT.match, lines[:first])):
        lines.insert(0, "```")  # the copy begins within a block
    text = "\n".join(lines)
    return _cut(text, read_text(text, ""), compiler)


def _cut(text: str, blocks: Sequence[Block], compiler: Compiler) -> tuple[list[Example], str]:
    try:
        found = cut_text_with_settings(text, blocks, compiler, locals_stay=True)
    except SettingsError as error:  # perhaps what a directive holds for was not copied
        return examples_of(blocks, compiler, locals_stay=True), str(error)
    facts = Facts(sys.platform, "th", os.environ, frozenset())
    return [one if _asks_for_modules(one) else decided(one, facts) for one in found], ""


def _asks_for_modules(example: Example) -> bool:
    """Whether it depends on modules what holds for an example: it is skipped then."""
    marks = (example.settings.skip, example.settings.xfail)
    return any(mark and mark.condition and mark.condition.modules for mark in marks)


def input_of(example: Example) -> str:
    """An example's input as it is typed at the prompt."""
    return f"$ {example.source}" if example.kind is Kind.SHELL else example.source


def open_input(examples: Sequence[Example]) -> str:
    """The input behind the last prompt where no output stands under it, which may go on; or ''."""
    for example in reversed(examples):
        is_output = not all(map(_CONTINUATION.match, example.expected.splitlines()))
        if is_output or example.kind is Kind.SHELL:
            return ""
        if example.kind is Kind.PROMPT:
            return example.source
    return ""


def is_run(example: Example) -> bool:
    """Whether the prompt runs an example."""
    if example.kind is Kind.PROMPT and is_command(example.source):
        return not example.settings.skip
    return example.language == LUA and not unrunnable(example)


def _blocks(lines: Sequence[str], compiler: Compiler) -> Iterator[Block]:
    """The blocks of a page without fences: what stands between paragraphs of prose."""
    inside: list[Line] = []
    is_text = False
    for line in numbered([line.replace("\N{NO-BREAK SPACE}", " ") for line in lines], 1):
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


def _is_text(line: str, compiler: Compiler) -> bool:
    is_code = PROMPT.match(line) or compiler.typed(line) is not Syntax.WRONG
    return not is_code and is_prose(line, ())


def _block(lines: Sequence[Line]) -> Block:
    return Block(lines[0].number - 1, lines[-1].number + 1, LUA, tuple(lines))
