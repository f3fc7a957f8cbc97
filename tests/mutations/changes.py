"""Makes errors in pages: changes one documented output, or one input above an erratum.

Each kind of change is a function that takes a text and a source of chance, and returns the changed
text, or None where the text has nothing to change in this way.
"""

import random
import re
from collections.abc import Callable, Mapping

from th_shell.docs.judging.printout import NUMBER, precision

#: A function that makes one kind of change.
Change = Callable[[str, random.Random], "str | None"]

_FREE_NUMBER = re.compile(rf"(?<![\w.+-])(?:{NUMBER})(?![\w.])")
_SHAPE = re.compile(r"\b(\w+?)(Tensor|Storage) (?:of (?:size|dimension)|- size:) (\d+(?:x\d+)*)")
_STRUCTURE = re.compile(
    r"\w+(?:Tensor|Storage)\b|^\s*Columns\s|^\s*\([\d,.]+\) =|\*\s*$|^\s*\.\.\."
)
_ELLIPSIS = re.compile(r"\.\.\.|…")
#: In a printed table, the lines stand in any order.
_TABLE = re.compile(r"^\s*\{\s*$", re.M)
_COMMENT = re.compile(r"(?:^|\s)--.*$")
_WORD = re.compile(r"(?<![\w.])[A-Za-z]{3,}(?!\w)")
_LITERAL = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_POSITION = re.compile(r"\[string \".*?\"\]:\d+:|\[\d+\]:\d+:|[\w./-]+:\d+:")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+|(?<=: )0[0-9A-F]{7,15}\b")
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")

#: What is no difference between two results as large as 1.
_RESIDUE = 1e-12


def is_within_tolerance(before: str, after: str) -> bool:
    """Whether two texts differ in numbers alone, each by at most one in its last place."""
    olds, news = _FREE_NUMBER.findall(before), _FREE_NUMBER.findall(after)
    if len(olds) != len(news) or _FREE_NUMBER.sub("0", before) != _FREE_NUMBER.sub("0", after):
        return False
    largest = max([1.0, *(abs(float(number)) for number in olds if "n" not in number.lower())])
    return all(
        old == new or abs(float(old) - float(new)) <= 1.01 * precision(new) + _RESIDUE * largest
        for old, new in zip(olds, news, strict=True)
    )


def _digit(text: str, chance: random.Random) -> str | None:
    def other(number: str) -> str | None:
        places = [at for at, letter in enumerate(number) if letter.isdigit()]
        if not places:
            return None
        at = chance.choice(places)
        digit = chance.choice([digit for digit in "0123456789" if digit != number[at]])
        return number[:at] + digit + number[at + 1 :]

    return _with_number(text, chance, other)


def _sign(text: str, chance: random.Random) -> str | None:
    return _with_number(text, chance, lambda n: n[1:] if n[0] in "+-" else f"-{n}")


def _nan(text: str, chance: random.Random) -> str | None:
    return _with_number(text, chance, lambda _: "nan")


def _deleted_number(text: str, chance: random.Random) -> str | None:
    if _ELLIPSIS.search(text):
        return None  # it may stand for the number
    found = _with_number(text, chance, lambda _: "")
    return found if found and _COMMENT.sub("", found).strip() else None


def _added_number(text: str, chance: random.Random) -> str | None:
    return _with_number(text, chance, lambda number: f"{number} {number}")


def _dropped_line(text: str, chance: random.Random) -> str | None:
    lines = text.split("\n")
    if len(lines) < 2 or _ELLIPSIS.search(text):
        return None
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


def _repeated_line(text: str, chance: random.Random) -> str | None:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    if not lines[at].strip() or _ELLIPSIS.search(text):
        return None
    lines.insert(at, lines[at])
    return "\n".join(lines)


def _swapped_lines(text: str, chance: random.Random) -> str | None:
    lines = text.split("\n")
    places = range(len(lines))
    pairs = [(i, j) for j in places for i in range(j) if lines[i].split() != lines[j].split()]
    if not pairs or _TABLE.search(text) or _ELLIPSIS.search(text):
        return None
    i, j = chance.choice(pairs)
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def _class(text: str, chance: random.Random) -> str | None:
    def other(match: re.Match[str]) -> str:
        names = [name for name in ("Double", "Float", "Int", "Byte") if name != match[1]]
        return match[0].replace(match[1], chance.choice(names), 1)

    return _with_match(text, _SHAPE, chance, other)


def _size(text: str, chance: random.Random) -> str | None:
    def other(match: re.Match[str]) -> str:
        sizes = match[3].split("x")
        at = chance.randrange(len(sizes))
        sizes[at] = str(int(sizes[at]) + chance.choice([1, 10]))
        return match[0][: match.start(3) - match.start()] + "x".join(sizes)

    return _with_match(text, _SHAPE, chance, other)


def _word(text: str, chance: random.Random) -> str | None:
    lines = text.split("\n")
    found = [
        (at, match)
        for at, line in enumerate(lines)
        if not _STRUCTURE.search(line)
        for match in _WORD.finditer(_plain(line))
        if match[0] not in ("nan", "inf")
    ]
    if not found:
        return None
    at, match = chance.choice(found)
    changed = match[0][:-1] + ("y" if match[0][-1] == "x" else "x")
    lines[at] = lines[at][: match.start()] + changed + lines[at][match.end() :]
    return "\n".join(lines)


def _deleted(text: str, chance: random.Random) -> str | None:
    return ""


def _literal(source: str, chance: random.Random) -> str | None:
    found = list(_LITERAL.finditer(_hidden(_COMMENT.sub("", source), _STRING)))
    if not found:
        return None
    match = chance.choice(found)
    return f"{source[: match.start()]}{chance.choice([2, 3, 7, 77])}{source[match.end() :]}"


#: The changes of documented outputs, by what the table of results calls them.
IN_OUTPUTS: Mapping[str, Change] = {
    "digit": _digit,
    "sign": _sign,
    "nan": _nan,
    "number deleted": _deleted_number,
    "number added": _added_number,
    "line dropped": _dropped_line,
    "line repeated": _repeated_line,
    "lines swapped": _swapped_lines,
    "class": _class,
    "size": _size,
    "word": _word,
    "deleted": _deleted,
}

#: The changes of inputs.
IN_INPUTS: Mapping[str, Change] = {"input of erratum": _literal}


# -- where a text can be changed


def _with_number(
    text: str, chance: random.Random, change: Callable[[str], str | None]
) -> str | None:
    """A text with one of its results changed: no number in a heading, comment or line of a shape.

    None also where the changed number has the same value.
    """
    lines = text.split("\n")
    found = [
        (at, match)
        for at, line in enumerate(lines)
        if not _STRUCTURE.search(line)
        for match in _FREE_NUMBER.finditer(_plain(line))
    ]
    if not found:
        return None
    at, match = chance.choice(found)
    new = change(match[0])
    if new is None or (_FREE_NUMBER.fullmatch(new) and _equal(new, match[0])):
        return None
    lines[at] = lines[at][: match.start()] + new + lines[at][match.end() :]
    return "\n".join(lines)


def _equal(first: str, second: str) -> bool:
    return float(first) == float(second) or first.lstrip("+-") == second.lstrip("+-") == "nan"


def _with_match(
    text: str,
    pattern: re.Pattern[str],
    chance: random.Random,
    change: Callable[[re.Match[str]], str],
) -> str | None:
    found = list(pattern.finditer(text))
    if not found:
        return None
    match = chance.choice(found)
    return text[: match.start()] + change(match) + text[match.end() :]


def _plain(line: str) -> str:
    """A line with blanks in place of what does not count: positions, addresses and comments."""
    return _hidden(_hidden(_COMMENT.sub("", line), _POSITION), _ADDRESS)


def _hidden(text: str, pattern: re.Pattern[str]) -> str:
    """A text with blanks in place of what a pattern finds."""
    return pattern.sub(lambda match: " " * len(match[0]), text)
