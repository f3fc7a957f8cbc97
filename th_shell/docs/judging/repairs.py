"""Proposes small repairs of a page's text, for examples that fail.

They undo what conversion, print and typing do to pages: a name became a capital letter, the colon
of a method call a dot, a brace a bracket, a quote a curly one; the end of a comment stands on a
line of its own; a prompt or the spaces between digits were lost. A repair is only a proposal:
`healing` tries it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from th_shell.docs.judging.printout import contradictions, only_rows
from th_shell.docs.reading.examples import LUA, PYTHON, Line, edited
from th_shell.docs.reading.naming import read_names


@dataclass(frozen=True)
class Passage:
    """The lines of an example in its page.

    above: those of the input above that gave a value to a name which the example uses. input,
    documented: those of its input and of the text under it. below: those up to the next input that
    are neither. bound: the names that the page has given values so far. modules: those of them
    which are modules. got: what the example has printed. language: that of the example.
    """

    above: Sequence[Line]
    input: Sequence[Line]
    documented: Sequence[Line]
    below: Sequence[Line]
    bound: frozenset[str]
    modules: frozenset[str] = frozenset()
    got: str = ""
    language: str = LUA


@dataclass(frozen=True)
class Repair:
    """A change of some lines of a page.

    why: what was wrong. lines: the new lines, by the number of the line that they replace.
    """

    why: str
    lines: Mapping[int, Sequence[str]]


def repairs(passage: Passage) -> Iterator[Repair]:
    """Repairs of an example: the single ones, the likeliest first, then pairs of them."""
    proposals = _PROPOSALS[passage.language]
    single = [
        (number, repair)
        for number, propose in enumerate(proposals, 1)
        for repair in propose(passage)
    ]
    pairs = (
        Repair(f"{first.why}; {second.why}", {**first.lines, **second.lines})
        for number, first in single
        for propose in proposals[number:]
        for second in propose(_applied(first, passage))
    )
    for repair in (*(repair for _, repair in single), *pairs):
        if not _contradicts_itself(_applied(repair, passage)):
            yield repair


def _applied(repair: Repair, passage: Passage) -> Passage:
    return replace(
        passage,
        above=edited(passage.above, repair.lines),
        input=edited(passage.input, repair.lines),
        documented=edited(passage.documented, repair.lines),
        below=edited(passage.below, repair.lines),
    )


def _contradicts_itself(passage: Passage) -> bool:
    """Whether a documented tensor has too few numbers or too many: then nothing makes it hold."""
    text = "\n".join(line.text for line in passage.documented)
    return any(tensor.count != prod(tensor.sizes) for tensor in contradictions(text, passage.got))


#: Python's parser takes no prompts.
_MARK = re.compile(r"^\s*(?:>>>|\.\.\.|(?:In ?\[\d*\]|\.{3,}):)(?: |$)")


def _capital_name(passage: Passage) -> Iterator[Repair]:
    source = "\n".join(_MARK.sub("", line.text) for line in passage.input)
    used = read_names(passage.language, source) - passage.bound
    wrong = [name for name in sorted(used) if name.lower() in passage.bound - {name}]
    if wrong:
        pattern = re.compile(rf"(?<![\w.:])(?:{'|'.join(wrong)})\b")
        why = f"a small letter became a capital one: {', '.join(wrong)}"
        yield from _changed(why, passage.input, pattern, lambda match: match[0].lower())


_DOT = re.compile(r"(?<![\w.:])([A-Za-z_]\w*)\.(?=[A-Za-z_]\w*\s*[({'\"])")


def _dot_for_colon(passage: Passage) -> Iterator[Repair]:
    def colon(match: re.Match[str]) -> str:
        is_object = match[1] in passage.bound - passage.modules
        return f"{match[1]}:" if is_object else match[0]

    why = "the colon of a method call became a dot"
    for lines in (passage.input, passage.above):
        yield from _changed(why, lines, _DOT, colon)


_ESCAPED = re.compile(r"\\([{}\[\]_*#])")


def _escaped(passage: Passage) -> Iterator[Repair]:
    why = "a backslash stands before a bracket"
    for lines in (passage.input, passage.documented, passage.above, passage.below):
        yield from _changed(why, lines, _ESCAPED, lambda match: match[1])


_BRACKET = re.compile(r"(\w(?:Tensor|Storage))\[(\{[^\[\]]*\})\]")


def _bracket_for_brace(passage: Passage) -> Iterator[Repair]:
    lines = [*passage.input, *passage.documented]
    text = "\n".join(line.text for line in lines)
    new = _BRACKET.sub(r"\1{\2}", text).split("\n")
    if changed := _different(lines, new):
        yield Repair("a brace became a bracket", changed)


_DOUBLED = re.compile(r"([-+*/,])[ \t]*\n(\s*)\1")


def _doubled_operator(passage: Passage) -> Iterator[Repair]:
    lines = [*passage.input, *passage.documented]
    new = _DOUBLED.sub(r"\n\2\1", "\n".join(line.text for line in lines)).split("\n")
    if changed := _different(lines, new):
        yield Repair("an operator stands twice where the line breaks", changed)


#: A word of prose; a string, a path or a place in a program is none.
_WORD = re.compile(r"(?<!\S)[(\"]?[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?)\"]*(?!\S)")
_COMMENTS = {LUA: re.compile(r"--(?!\[)"), PYTHON: re.compile(r"#")}
_SHAPE = re.compile(r"[\[(]\s*torch\.\w+")
_WRAPPED = 3  # lines at most that the end of a comment has


def _wrapped_comment(passage: Passage) -> Iterator[Repair]:
    comment = _COMMENTS[passage.language]
    if not passage.input or not comment.search(passage.input[-1].text):
        return
    last, wrapped = passage.input[-1], list[str]()
    removed: dict[int, Sequence[str]] = {}
    silent = not passage.got.strip()
    for line in passage.documented[:_WRAPPED]:
        # A number may be the end of a comment, but also what the example prints.
        is_part = silent or _WORD.search(line.text)
        if not line.text.strip() or not is_part or _SHAPE.search(line.text):
            return
        wrapped.append(line.text.strip())
        removed[line.number] = ()
        whole = " ".join([last.text.rstrip(), *wrapped])
        yield Repair("the end of the comment stands under it", {**removed, last.number: (whole,)})


_STATEMENT = re.compile(
    r"^\s*(?P<prompt>(?:th)?>\s?)?(?:local\s+)?(?P<name>[A-Za-z_]\w*)\s*(?:=(?!=)|[:\[])"
)


def _lost_prompt(passage: Passage) -> Iterator[Repair]:
    if not passage.documented:
        return
    last = passage.input[-1]
    statement = _STATEMENT.match(passage.input[0].text)
    if statement and not (statement["prompt"] and passage.got.strip()):  # it shows its own value
        new = (last.text, f"> {statement['name']}")
        yield Repair("the prompt that shows the variable is missing", {last.number: new})


_SHOWN = re.compile(r"^(?P<prompt>\s*>>> )(?P<name>[^\W\d]\w*)\s*=(?!=)")


def _lost_python_prompt(passage: Passage) -> Iterator[Repair]:
    statement = _SHOWN.match(passage.input[0].text)
    if passage.documented and statement and not passage.got.strip():
        last = passage.input[-1]
        new = (last.text, f"{statement['prompt']}{statement['name']}")
        yield Repair("the prompt that shows the variable is missing", {last.number: new})


_CURLY = re.compile("[‘’‚‛′“”„‟″−–]")
_STRAIGHT = str.maketrans("‘’‚‛′“”„‟″−–", "'''''\"\"\"\"\"--")


def _curly_quotes(passage: Passage) -> Iterator[Repair]:
    why = "quotes became curly ones, or a minus a dash"
    yield from _changed(why, passage.input, _CURLY, lambda match: match[0].translate(_STRAIGHT))


_GLUED = re.compile(r"^\s*\d{2,}\s*$")


def _glued_digits(passage: Passage) -> Iterator[Repair]:
    why = "the spaces between the digits are missing"
    yield from _changed(why, passage.documented, _GLUED, lambda match: " ".join(match[0].strip()))


_ALIAS = re.compile(r"\[torch\.Tensor(?= of )")


def _alias(passage: Passage) -> Iterator[Repair]:
    why = "torch.Tensor stands for the type that is printed"
    yield from _changed(why, passage.documented, _ALIAS, lambda _: "[torch.DoubleTensor")


_PARENTHESIS = re.compile(r"^(\s*)\((torch\.\w+ of (?:size|dimension) [\dx]+)[\])]")


def _parenthesis(passage: Passage) -> Iterator[Repair]:
    why = "a bracket became a parenthesis"
    lines = passage.documented
    yield from _changed(why, lines, _PARENTHESIS, lambda match: f"{match[1]}[{match[2]}]")


def _missing_sizes(passage: Passage) -> Iterator[Repair]:
    rows = [line for line in passage.documented if line.text.strip()]
    lengths = {len(row.text.split()) for row in rows}
    if len(lengths) != 1 or not only_rows("\n".join(row.text for row in rows)):
        return
    (length,) = lengths
    for sizes in (f"{len(rows)}x{length}", f"{len(rows)}")[length == 1 :]:
        new = (rows[-1].text, f"[torch.DoubleTensor of dimension {sizes}]")
        why = "the line with the class and the sizes is missing"
        yield Repair(why, {rows[-1].number: new})


_PROPOSALS: dict[str, tuple[Callable[[Passage], Iterator[Repair]], ...]] = {
    LUA: (
        _capital_name,
        _dot_for_colon,
        _escaped,
        _bracket_for_brace,
        _doubled_operator,
        _wrapped_comment,
        _glued_digits,
        _alias,
        _parenthesis,
        _missing_sizes,
        _lost_prompt,
    ),
    PYTHON: (_capital_name, _curly_quotes, _escaped, _wrapped_comment, _lost_python_prompt),
}


def _changed(
    why: str,
    lines: Sequence[Line],
    pattern: re.Pattern[str],
    replacement: Callable[[re.Match[str]], str],
) -> Iterator[Repair]:
    changed = _different(lines, [pattern.sub(replacement, line.text) for line in lines])
    if changed:
        yield Repair(why, changed)


def _different(lines: Sequence[Line], new: Sequence[str]) -> dict[int, Sequence[str]]:
    pairs = zip(lines, new, strict=True)
    return {line.number: (text,) for line, text in pairs if text != line.text}
