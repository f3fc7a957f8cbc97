"""Proposes small repairs of a page's text, for examples that fail.

They undo damage by conversion, print and typing: a name became a capital letter, the colon of a
method call a dot, a brace a bracket, a quote a curly one; the end of a comment stands on a line of
its own; a prompt or the spaces between digits were lost. A repair is only a proposal: `healing`
tries it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from th_shell.docs.judging.printout import contradictions, only_rows
from th_shell.docs.reading.examples import LUA, PYTHON, Line, edited
from th_shell.docs.reading.names import read_names
from th_shell.patterns import pattern


class Passage(NamedTuple):
    """The lines of an example in its page."""

    #: The lines of the inputs above that gave a value to a name that the example uses.
    above: Sequence[Line]
    #: The lines of its input.
    input: Sequence[Line]
    #: The lines of the text under it.
    documented: Sequence[Line]
    #: The lines up to the next input that are neither.
    below: Sequence[Line]
    #: The names that the page has given values so far.
    bound: frozenset[str]
    #: The names in `bound` whose values are modules.
    modules: frozenset[str] = frozenset()
    #: The functions in tables that the page has made: `m.f`.
    made: frozenset[str] = frozenset()
    #: The text that the example has printed.
    got: str = ""
    #: The language of the example.
    language: str = LUA


class Repair(NamedTuple):
    """A change of some lines of a page."""

    #: The fault that it mends.
    why: str
    #: The new lines, by the number of the line that they replace.
    lines: Mapping[int, Sequence[str]]


#: The replacement of a pattern, as re.sub takes it.
_Replacement = str | Callable[[re.Match[str]], str]
#: A function that proposes repairs.
_Proposal = Callable[[Passage], Iterator[Repair]]


def repairs(passage: Passage) -> Iterator[Repair]:
    """Yield repairs of an example: the single ones, the likeliest first, then pairs of them."""
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
    """Return a passage as a repair changes it."""
    names = ("above", "input", "documented", "below")
    parts: dict[str, Any] = {n: edited(getattr(passage, n), repair.lines) for n in names}
    return passage._replace(**parts)


def _contradicts_itself(passage: Passage) -> bool:
    """Tell whether a documented tensor has too few or too many numbers to ever hold."""
    text = "\n".join(line.text for line in passage.documented)
    return any(tensor.count != prod(tensor.sizes) for tensor in contradictions(text, passage.got))


#: A prompt at the beginning of a line, which Python's parser would refuse.
_MARK = pattern(r"^\s*(?:>>>|\.\.\.|(?:In ?\[\d*\]|\.{3,}):)(?: |$)")


def _capital_name(passage: Passage) -> Iterator[Repair]:
    """Propose small letters for a name that has a value only if it is written in small letters."""
    source = "\n".join(_MARK.sub("", line.text) for line in passage.input)
    used = read_names(passage.language, source) - passage.bound
    wrong = [name for name in sorted(used) if name.lower() in passage.bound - {name}]
    if wrong:
        pattern = re.compile(rf"(?<![\w.:])(?:{'|'.join(wrong)})\b")
        why = f"a small letter became a capital one: {', '.join(wrong)}"
        yield from _changed(why, passage.input, pattern, lambda match: match[0].lower())


#: Not behind a quote: there, it may be the name of a class.
_DOT = pattern(r"(?<![\w.:'\"])([A-Za-z_]\w*)\.(?=([A-Za-z_]\w*)\s*[({'\"])")


def _dot_for_colon(passage: Passage) -> Iterator[Repair]:
    """Propose colons for the dots of method calls on objects."""

    def colon(match: re.Match[str]) -> str:
        is_object = match[1] in passage.bound - passage.modules
        # What the page makes without `self`, it means to be called by a dot.
        is_object = is_object and f"{match[1]}.{match[2]}" not in passage.made
        return f"{match[1]}:" if is_object else match[0]

    why = "the colon of a method call became a dot"
    for lines in (passage.input, passage.above):
        yield from _changed(why, lines, _DOT, colon)


def _substitution(why: str, pattern: str, by: _Replacement, *parts: Sequence[str]) -> _Proposal:
    """Return a function that proposes to replace a pattern in the lines of a passage.

    parts: names of fields of a passage; each tuple of them is a proposal of its own.
    """
    searched = re.compile(pattern, re.M)

    def propose(passage: Passage) -> Iterator[Repair]:
        for names in parts:
            lines = [line for name in names for line in getattr(passage, name)]
            yield from _changed(why, lines, searched, by)

    return propose


_INPUT, _DOCUMENTED = ("input",), ("documented",)

_escaped = _substitution(
    "a backslash stands before a bracket",
    r"\\([{}\[\]_*#])",
    r"\1",
    *(_INPUT, _DOCUMENTED, ("above",), ("below",)),
)
_STRAIGHT = str.maketrans("‘’‚‛′“”„‟″−–", "'''''\"\"\"\"\"--")
_curly_quotes = _substitution(
    "quotes became curly ones, or a minus a dash",
    "[‘’‚‛′“”„‟″−–]",
    lambda match: match[0].translate(_STRAIGHT),
    _INPUT,
)


#: A word of prose, and no string, path or name of a program.
_WORD = pattern(r"(?<!\S)[(\"]?[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?)\"]*(?!\S)")
_COMMENTS = {LUA: re.compile(r"--(?!\[)"), PYTHON: re.compile(r"#")}
#: Lines that never end a comment: that with a tensor's sizes, a printed object, code.
_NO_COMMENT = pattern(
    r"[\[(]\s*torch\.\w+|^\s*[<{\[]|^\s*[\w.:]+\(|\w\s*=|\w\(\w*\)"
    r"|^\s*(?:local|for|while|if|function|return|end)\b[^.]*\b(?:do|then|end|function|return)\b"
)
_WRAPPED = 3  # lines at most that the end of a comment has


def _wrapped_comment(passage: Passage) -> Iterator[Repair]:
    """Propose to append the first documented lines to the comment at the end of the input."""
    comment = _COMMENTS[passage.language]
    if not passage.input or not comment.search(passage.input[-1].text):
        return
    last, wrapped = passage.input[-1], list[str]()
    removed: dict[int, Sequence[str]] = {}
    printed = [line.strip() for line in passage.got.split("\n")]
    silent = not any(printed)
    # What is printed has to stand below.
    lines = passage.documented if silent else passage.documented[:-1]
    for line in lines[:_WRAPPED]:
        # A number may be the end of a comment, but also what the example prints.
        is_part = silent or _WORD.search(line.text)
        text = line.text.strip()
        is_code = _NO_COMMENT.search(text) or silent and comment.search(text)
        if not text or not is_part or text in printed or is_code:
            return
        wrapped.append(text)
        removed[line.number] = ()
        whole = " ".join([last.text.rstrip(), *wrapped])
        yield Repair("the end of the comment stands under it", {**removed, last.number: (whole,)})


_STATEMENTS = {
    LUA: re.compile(
        r"^\s*(?P<prompt>(?:th)?>\s?)?(?:local\s+)?(?P<name>[A-Za-z_]\w*)\s*(?:=(?!=)|[:\[])"
    ),
    PYTHON: re.compile(r"^(?P<prompt>\s*>>> )(?P<name>[^\W\d]\w*)\s*=(?!=)"),
}


def _lost_prompt(passage: Passage) -> Iterator[Repair]:
    """Propose a prompt that shows the variable that the input assigns."""
    statement = _STATEMENTS[passage.language].match(passage.input[0].text)
    if not passage.documented or not statement or (statement["prompt"] and passage.got.strip()):
        return  # with a prompt, it shows its own value
    last, prompt = passage.input[-1], "> " if passage.language == LUA else statement["prompt"]
    new = (last.text, f"{prompt}{statement['name']}")
    yield Repair("the prompt that shows the variable is missing", {last.number: new})


def _missing_sizes(passage: Passage) -> Iterator[Repair]:
    """Propose a line with class and sizes under rows of numbers, unless just these are printed."""
    if passage.got.strip() and only_rows(passage.got):
        return
    rows = [line for line in passage.documented if line.text.strip()]
    lengths = {len(row.text.split()) for row in rows}
    if len(lengths) != 1 or not only_rows("\n".join(row.text for row in rows)):
        return
    (length,) = lengths
    shapes = [f"{len(rows)}"] if length == 1 else [f"{len(rows)}x{length}", f"{len(rows)}"]
    for sizes in shapes:
        new = (rows[-1].text, f"[torch.DoubleTensor of dimension {sizes}]")
        why = "the line with the class and the sizes is missing"
        yield Repair(why, {rows[-1].number: new})


_PROPOSALS: dict[str, tuple[_Proposal, ...]] = {
    LUA: (
        _capital_name,
        _dot_for_colon,
        _escaped,
        _substitution(
            "a brace became a bracket",
            r"(\w(?:Tensor|Storage))\[(\{[^\[\]]*\})\]",
            r"\1{\2}",
            _INPUT + _DOCUMENTED,
        ),
        _substitution(
            "an operator stands twice where the line breaks",
            r"([-+*/,])[ \t]*\n(\s*)\1",
            r"\n\2\1",
            _INPUT + _DOCUMENTED,
        ),
        _wrapped_comment,
        _substitution(
            "the spaces between the digits are missing",
            r"^[ \t]*\d{2,}[ \t]*$",
            lambda match: " ".join(match[0].strip()),
            _DOCUMENTED,
        ),
        _substitution(
            "torch.Tensor stands for the type that is printed",
            r"\[torch\.Tensor(?= of )",
            "[torch.DoubleTensor",
            _DOCUMENTED,
        ),
        _substitution(
            "a bracket became a parenthesis",
            r"^([ \t]*)\((torch\.\w+ of (?:size|dimension) [\dx]+)[\])]",
            r"\1[\2]",
            _DOCUMENTED,
        ),
        _missing_sizes,
        _lost_prompt,
    ),
    PYTHON: (_capital_name, _curly_quotes, _escaped, _wrapped_comment, _lost_prompt),
}


def _changed(
    why: str, lines: Sequence[Line], pattern: re.Pattern[str], by: _Replacement
) -> Iterator[Repair]:
    """Yield the repair that replaces a pattern in lines, if it changes any."""
    new = pattern.sub(by, "\n".join(line.text for line in lines)).split("\n")
    pairs = zip(lines, new, strict=False)
    changed = {line.number: (text,) for line, text in pairs if text != line.text}
    if changed:
        yield Repair(why, changed)
