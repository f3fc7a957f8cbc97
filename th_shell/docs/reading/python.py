"""Splits blocks of Python into examples.

A block is a session with prompts, `>>>` and `...`; a session of IPython, `In [1]:`; or code without
prompts, all of which is one cell. Python's parser decides where an input ends whose lines have lost
their prompts, and that text without prompts is no code.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from textwrap import dedent

from th_shell import python_syntax
from th_shell.docs.reading.cells import CELL, cells
from th_shell.docs.reading.examples import Block, Example, Kind, Line, example_of, with_output
from th_shell.patterns import pattern
from th_shell.python_syntax import PROMPT, statements, syntax, without_magics
from th_shell.syntax import Syntax

_BEHIND = pattern(r"^\s*>>> ?")
_MORE = pattern(r"^\s*\.\.\.(?: (?P<input>.*)|\s*)$")
#: Lines of an input, at most, whose ends are looked for one by one.
_MOST_LINES = 500
_FLAGS = pattern(r"#\s*doctest:(?P<flags>.*)")
_FLAG = pattern(r"\+(\w+)")
#: The flags for words in code of numpy's pages and nbval, and for tags of cells.
_MARKS = {
    **dict.fromkeys(("may vary", "random", "NBVAL_IGNORE_OUTPUT", "nbval-ignore-output"), "VARIES"),
    **dict.fromkeys(("NBVAL_RAISES_EXCEPTION", "nbval-raises-exception"), "RAISES"),
    "raises-exception": "RAISES",
    "NBVAL_SKIP": "SKIP",
}
_MARK = pattern(rf"#\s*(?P<mark>{'|'.join(_MARKS)})\b")


def cut_python(block: Block) -> list[Example]:
    """Return the examples of a block of Python."""
    texts = [line.text for line in block.lines]
    if block.output is not None:
        return _cell(block, block.lines, block.output)
    if any(map(PROMPT.match, texts)):
        return _answered(block) or _session(block)
    if any(map(CELL.match, texts)):
        read = cells(block.lines, with_prose=False)
        return [e for cell in read for e in _cell(block, cell.code, cell.output)]
    source = without_magics(dedent("\n".join(texts)))
    if syntax(source) is not Syntax.COMPLETE:
        return as_text(block, block.lines)
    return _example(block, Kind.BARE, block.lines, source, ())


def typed_inputs(lines: Sequence[Line]) -> Iterator[tuple[str, int, int, int]]:
    """Yield the inputs behind prompts in lines of a page, in order.

    With each are the indices of the lines where it, its output, and what is next begin.
    """
    starts = [at for at, line in enumerate(lines) if PROMPT.match(line.text)]
    ends = [*starts[1:], len(lines)]
    at = 0
    while at < len(starts):
        source, used = _typed_input(lines[starts[at] : ends[at]])
        more = 0
        if starts[at] + used == ends[at] and syntax(source) is Syntax.INCOMPLETE:
            source, more = _with_prompts(source, lines, starts[at + 1 :])
        middle = starts[at + more] + 1 if more else starts[at] + used
        yield source, starts[at], middle, ends[at + more]
        at += 1 + more


def hidden_code(lines: Sequence[Line]) -> str:
    """Return the code of a testsetup: what is behind its prompts, if it has some."""
    typed = "\n".join(source for source, *_ in typed_inputs(lines))
    return typed or dedent("\n".join(line.text for line in lines))


def _with_prompts(source: str, lines: Sequence[Line], starts: Sequence[int]) -> tuple[str, int]:
    """Return an incomplete input with the lines below that continue it behind `>>>`; how many.

    Some pages have that prompt where Python itself has `...`. starts: of the prompts below. Those
    behind an output do not count.
    """
    next_to = takewhile(lambda pair: pair[1] == starts[0] + pair[0], enumerate(starts))
    return _completed(source, [_BEHIND.sub("", lines[start].text) for _, start in next_to], False)


def _completed(source: str, below: Sequence[str], blank_ends: bool) -> tuple[str, int]:
    """Return an incomplete input with the lines below that complete it; how many.

    blank_ends: whether a blank line ends the body of a compound statement.
    """
    text, completed = source, (source, 0)
    for count, line in enumerate(below[:_MOST_LINES], 1):
        if completed[1] and (line or blank_ends) and not line[:1].isspace():
            break  # complete, and not within the body of a compound statement
        text += "\n" + line
        state = syntax(text)
        if state is Syntax.WRONG:
            break
        if state is Syntax.COMPLETE:
            completed = text, count
    return completed


def _typed_input(lines: Sequence[Line]) -> tuple[str, int]:
    """Return the input of a prompt and how many lines it takes.

    lines: the prompt's line and all below, up to the next prompt.
    """
    prompt = PROMPT.match(lines[0].text)
    source = prompt["input"] or "" if prompt else ""
    marked = takewhile(bool, (_MORE.match(line.text) for line in lines[1:]))
    source, used = _with_marked(source, list(marked))
    if syntax(source) is Syntax.INCOMPLETE:
        below = [line.text for line in lines[1 + used :]]
        source, more = _completed(source, below, blank_ends=True)
        used += more
    return source, 1 + used


def _with_marked(source: str, marked: Sequence[re.Match[str] | None]) -> tuple[str, int]:
    """Return an input with those of the lines behind `...` that continue it; how many."""
    texts = [match["input"] or "" for match in marked if match]
    everything = "\n".join([source, *texts])
    if all(text.strip() for text in texts) and syntax(everything) is Syntax.COMPLETE:
        return everything, len(texts)  # the usual case: without a look at each line
    for used, text in enumerate(texts):
        if used == _MOST_LINES or not _goes_on(source, text):
            return source, used
        source += "\n" + text
    return source, len(texts)


def _session(block: Block) -> list[Example]:
    lines = block.lines
    first = next(at for at, line in enumerate(lines) if PROMPT.match(line.text))
    examples = as_text(block, lines[:first])
    for source, start, middle, end in typed_inputs(lines):
        typed, output = lines[start:middle], _without_value(source, lines[middle:end])
        examples += _example(block, Kind.PROMPT, typed, source, output)
    return examples


def _answered(block: Block) -> list[Example]:
    """Return the examples of a block that shows results behind `>>>`, below their code.

    There are none where it is a session, which has code behind its prompts. What a call prints, or
    returns as well, authors write as they like: it counts where it agrees.
    """
    examples: list[Example] = []
    lines = block.lines
    while lines:
        code = list(takewhile(lambda line: not PROMPT.match(line.text), lines))
        marked = list(takewhile(lambda line: PROMPT.match(line.text), lines[len(code) :]))
        shown = [Line(line.number, _BEHIND.sub("", line.text)) for line in marked]
        lines, texts = lines[len(code) + len(shown) :], [line.text for line in shown]
        source = dedent("\n".join(line.text for line in code))
        is_result = python_syntax.ends_with_value(source) and all(
            map(python_syntax.is_literal, texts)
        )
        if python_syntax.is_literal(source) or not (is_result or statements(source) and not shown):
            return []
        is_call = isinstance(getattr(statements(source)[-1], "value", None), ast.Call)
        read = _example(block, Kind.CELL, code, source, shown)
        examples += [replace(e, apart=is_call, announced=not is_call) for e in read]
    return examples


def _without_value(source: str, below: Sequence[Line]) -> Sequence[Line]:
    """Return the lines under an input without those that show the value of what it assigns.

    Behind a blank line, a comment has nothing but that name: `# result`.
    """
    texts = [line.text.strip() for line in below]
    named = next(filter(None, texts), "")
    is_apart = named.startswith("#") and not texts[0] and not python_syntax.ends_with_value(source)
    return () if is_apart and named.strip("# :") in python_syntax.bound_names(source) else below


def _goes_on(source: str, line: str) -> bool:
    """Return whether a line behind `...` continues an input; else the dots stand for output."""
    if syntax(source) is not Syntax.COMPLETE:
        return True
    if not line.strip():
        return any(hasattr(node, "body") for node in statements(source)[-1:])
    return syntax(f"{source}\n{line}") is not Syntax.WRONG


def _cell(block: Block, code: Sequence[Line], output: Sequence[Line]) -> list[Example]:
    source = without_magics("\n".join(line.text for line in code))
    return _example(block, Kind.CELL, code, source, output)


def _example(
    block: Block, kind: Kind, lines: Sequence[Line], source: str, output: Sequence[Line]
) -> list[Example]:
    """Return the example of an input; none where it has nothing but comments."""
    if syntax(source) is Syntax.COMPLETE and not statements(source):
        return []
    inputs = [line for line in lines if line.text.strip()]
    flags = _flags("\n".join(line.text for line in (*lines, *output)), block.marks)
    example = example_of(block, kind, inputs, source.strip("\n").rstrip(), flags)
    # Around what a page shows under an input, comments are the author's.
    return [with_output(example, _trimmed(output, with_comments=block.output is not None))]


def _flags(text: str, marks: Iterable[str]) -> frozenset[str]:
    """Return the flags in comments of an input and its output, and among the marks of its block."""
    flags = [flag for comment in _FLAGS.findall(text) for flag in _FLAG.findall(comment)]
    flags += [*_MARK.findall(text), *marks]
    return frozenset(_MARKS.get(flag, flag) for flag in flags)


def _trimmed(lines: Sequence[Line], with_comments: bool = False) -> Sequence[Line]:
    """Lines without blank ones, and comments, at both ends."""
    texts = [line.text.strip() for line in lines]
    indices = [i for i, text in enumerate(texts) if text and (with_comments or text[0] != "#")]
    return lines[indices[0] : indices[-1] + 1] if indices else ()


def as_text(block: Block, lines: Sequence[Line]) -> list[Example]:
    """Return an example that is not run, for text without an input above it."""
    shown = _trimmed(lines, with_comments=block.role is not None)
    return [with_output(example_of(block, Kind.TEXT, shown[:1], ""), shown)] if shown else []
