"""Tells examples from text, and finds their outputs, where single lines are not enough.

In a block without prompts, a line is code if it compiles. In what is no code as a whole, lines
compile by chance: in formulas, signatures, configuration files, tables of contents. So a paragraph
is text as a whole if it begins with words that do not compile, or if it has such words and its code
only assigns, which prints nothing.

A block that has nothing but text may be what the last input of the block before prints, if nothing
stands under that input. Below a line such as 'It prints:' it is.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from th_shell.docs.reading.comment_values import is_words
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.cutting import cut
from th_shell.docs.reading.examples import LUA, PRINTED, PYTHON, Block, Example, Kind, Role
from th_shell.docs.reading.languages import RUNS_SCRIPT
from th_shell.patterns import pattern

#: A line of output, or one that says nothing: '...', and a query that does not compile.
_NO_PROSE = pattern(rf"\s*(?:(?:{PRINTED}|\.\.\.|…|=.*)\s*)?")
_ASSIGNMENT = pattern(r"(?:local\s+)?[A-Za-z_][^={}()\n]*=(?!=)")
#: The last words of a line that announces output, such as 'This gives the output:'.
_ANNOUNCES = pattern(
    r"\b(?:displays?|gets?|gives?|looks?\s+like|outputs?|prints?|results?|returns?|shows?|yields?"
    r"|(?:can|could|should|will|would|you|'ll)\s+(?:look|see)\b)(?:\s+[a-z]+){0,3}\s*:*$"
    r"|(?:结果|結果|输出|輸出|打印|出力)[^:：]{0,9}[:：]\s*$|如下[:：.。]?\s*$"
    r"|(?:결과|출력)[^:.]{0,15}(?::|다음과 같\S*[.:])\s*$"
    r"|\b(?:affiche|donne|imprime|muestra|salida|sa[ií]da|resultado|ergibt|Ausgabe|stampa"
    r"|вывод\w*|выведет|результат\w*)[^:]{0,15}:\s*$",
    re.I,
)
#: An equation as programs print them, which compiles.
_PRINTS = pattern(r"print|write")
_EQUATION = pattern(r"[A-Za-z_]\w*\s*=\s*(?:[-+]?[\d.]+(?:e[-+]?\d+)?|nil|true|false)")
#: The beginnings of text that no input prints: commands for a terminal; in Python, a comment that
#: names what is below it.
_COMMAND = pattern(r"\s*(?:\$|sudo|luarocks|git|cd|pip3?|apt-get|brew|curl|wget|make)\s+[\w./~-]")
_PRINT = pattern(r"\s*print\s+[A-Za-z_]\w*\s*$")  # of Lua, but for brackets
#: The assignment of a field, in a block of Lua: code, also where LuaJIT does not compile it.
_FIELD_SET = pattern(r"\s*[A-Za-z_]\w*(?:\.\w+)+\s*=(?!=)")
#: A line with a remark of Lua at its end: code, also where LuaJIT does not compile it.
_REMARKED = pattern(r"\s*[^\s-].*\s--\s*[^\W\d]")
_NAMED = pattern(r"\s*#(?!#)\s*[^\W\d]")
#: Inputs that are no text, whatever stands beside them.
_MARKED = (Kind.PROMPT, Kind.SHELL, Kind.CELL)


def examples_of(
    blocks: Sequence[Block], compiler: Compiler, locals_stay: bool = False
) -> list[Example]:
    """Return the examples of a page's blocks, in order. locals_stay: see `cut`."""
    classified: list[Example] = []
    examples = cut(blocks, compiler, locals_stay)
    for number, group in groupby(examples, key=lambda example: example.block):
        block = blocks[number]
        inside = _without_prose(list(group), block)
        if _may_be_output(inside, classified, block):
            text = _as_text(inside, block)
            classified[-1] = replace(
                classified[-1],
                expected=text.expected,
                documented=text.documented,
                value=None,
                apart=True,
                announced=block.role is Role.ANNOUNCED or bool(_ANNOUNCES.search(block.lead)),
            )
        else:
            classified += inside
    return classified


# -- text among code


def _without_prose(examples: list[Example], block: Block) -> list[Example]:
    is_marked = any(example.kind in _MARKED for example in examples)
    if block.role or block.language == PYTHON or is_marked:
        return examples
    classified: list[Example] = []
    for paragraph in _paragraphs(examples, block):
        classified += [_as_text(paragraph, block)] if _is_text(paragraph) else paragraph
    return classified


def _paragraphs(examples: Sequence[Example], block: Block) -> Iterator[list[Example]]:
    """Yield the examples with no blank line between them."""
    blank = [line.number for line in block.lines if not line.text.strip()]
    paragraph: list[Example] = []
    for example in examples:
        if paragraph and bisect(blank, paragraph[-1].end) < bisect(blank, example.line):
            yield paragraph
            paragraph = []
        paragraph.append(example)
    if paragraph:
        yield paragraph


def _is_text(paragraph: Sequence[Example]) -> bool:
    code = [example for example in paragraph if example.kind is Kind.BARE]
    if len(code) == len(paragraph) and not any(map(_has_prose, code)):
        return False
    begins_with_text = paragraph[0].kind is Kind.TEXT and _has_prose(paragraph[0])
    only_assigns = all(_ASSIGNMENT.match(example.source) for example in code)
    return begins_with_text or only_assigns and any(map(_has_prose, paragraph))


def _has_prose(example: Example) -> bool:
    return not all(_NO_PROSE.fullmatch(line) for line in example.expected.split("\n"))


def _as_text(paragraph: Sequence[Example], block: Block) -> Example:
    first, last = paragraph[0], paragraph[-1].end
    texts = [line.text for line in block.lines if first.line <= line.number <= last]
    text = replace(first, kind=Kind.TEXT, source="", value=None, last=first.line)
    return replace(text, expected="\n".join(texts).strip("\n"), documented=(first.line, last))


# -- output in a block of its own


def _may_be_output(inside: Sequence[Example], before: Sequence[Example], block: Block) -> bool:
    if not before or not all(_may_be_printed(example, before[-1], block) for example in inside):
        return False
    first = block.lines[0].text
    is_named = block.language == PYTHON and _NAMED.match(first)
    is_script = len(block.lines) > 1 and RUNS_SCRIPT.match(first)
    is_command = _COMMAND.match(first) and not is_script
    is_input = is_command or block.language != PYTHON and _PRINT.match(first)
    is_input = is_input or block.language == LUA and _FIELD_SET.match(first)
    is_code = block.language == LUA and all(
        _REMARKED.match(line.text) for line in block.lines if line.text.strip()
    )
    if not block.role and (is_named or is_input or is_code):
        return False
    last = before[-1]
    is_next = last.block == inside[0].block - 1 or block.role is Role.ANNOUNCED
    has_value = last.value and not is_words(last.value, last.source)
    return is_next and last.kind in (Kind.PROMPT, Kind.BARE) and not last.expected and not has_value


def _may_be_printed(example: Example, above: Example, block: Block) -> bool:
    """Return whether an example is text, or an equation in the output that the page announces."""
    if example.kind is not Kind.BARE:
        return example.kind is Kind.TEXT
    is_equation = _PRINTS.search(above.source) and _EQUATION.fullmatch(example.source)
    return bool(is_equation and _ANNOUNCES.search(block.lead))
