"""Reads printed and documented texts: the tensors in them, and the tokens that count.

A printed tensor is its numbers and a line with its class and sizes. The numbers may be scaled by a
factor, stand in groups of columns and, for more than two dimensions, under headings of slices.

White space, colours, the times that a prompt shows, addresses, and where in code an error or a
warning comes from are no part of the tokens. 'of size' and 'of dimension' are one token with the
class and the sizes, and so is a line '...', which stands for any text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from math import isfinite, prod

from th_shell.docs.reading.languages import COMMAND
from th_shell.patterns import pattern

#: A printed number.
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf"

_BLANKS = r"[^\S\n]*"  # of one line: what may be many lines is looked through from each of them
_SHAPE_LINE = pattern(r"^\s*\[(torch\.\w+) of (?:size|dimension) (\d{1,18}(?:x\d{1,18})*)\]\s*$")
_SCALE_LINE = pattern(rf"^\s*({NUMBER})\s*\*\s*$")
_COLUMNS = pattern(r"^\s*Columns\s+(\d{1,18})\s+(?:to|and)\s+(\d+)\s*$")
_SLICE = pattern(rf"^{_BLANKS}\((\d{{1,18}}(?:,\d{{1,18}})*)[,.]+\){_BLANKS}={_BLANKS}$", re.M)
_ROW = pattern(rf"^\s*(?:{NUMBER})(?:\s+(?:{NUMBER}))*\s*$")


@dataclass(frozen=True)
class PrintedTensor:
    """A tensor as it was printed."""

    class_name: str
    sizes: tuple[int, ...]
    #: In the order of a contiguous tensor; none where there is a problem.
    values: tuple[float, ...] = ()
    #: For each value, one unit in its last place; 0 for a whole number.
    units: tuple[float, ...] = ()
    #: How the numbers contradict the sizes; '' where they fit.
    problem: str = ""
    #: How many numbers there are.
    count: int = 0


def printed_tensors(text: str) -> Iterator[PrintedTensor]:
    """Yield the tensors in a text, in order; other lines are left out."""
    lines: list[str] = []
    for line in text.split("\n"):
        shape = _SHAPE_LINE.match(line)
        if not shape:
            lines.append(line)
            continue
        yield _read(shape[1], tuple(map(int, shape[2].split("x"))), lines)
        lines = []


def contradictions(text: str, printed: str) -> list[PrintedTensor]:
    """Return the tensors in a documented text whose numbers contradict their sizes.

    Printed texts have such tensors, too, where a number stands before a tensor: `print(1, x)`. So a
    tensor whose like is in the printed text is left out. A line `...` stands for any rows.
    """
    if ELLIPSIS.search(text):
        return []
    usual = {(t.sizes, t.count) for t in printed_tensors(printed) if t.problem}
    contradicting = (tensor for tensor in printed_tensors(text) if tensor.problem)
    return [tensor for tensor in contradicting if (tensor.sizes, tensor.count) not in usual]


def only_tensors(text: str) -> list[PrintedTensor]:
    """Return the tensors in a text that consists of tensors alone; none for other texts."""
    lines = text.rstrip().split("\n")
    is_alone = all(_belongs(line) or _SHAPE_LINE.match(line) for line in lines)
    return list(printed_tensors(text)) if is_alone and _SHAPE_LINE.match(lines[-1]) else []


def only_rows(text: str) -> bool:
    """Tell whether a text is nothing but rows of numbers, as a tensor's without its sizes."""
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(_ROW.match(line) for line in lines)


def precision(number: str) -> float:
    """Return one unit in the last place of a printed number; 0 where it is whole."""
    digits, _, exponent = number.lower().partition("e")
    _, point, fraction = digits.partition(".")
    if not (point and fraction):
        return 0.0
    unit = float(f"0.{'1':0>{len(fraction)}}e{exponent or 0}")
    return unit if isfinite(unit) else 0.0


def _read(class_name: str, sizes: tuple[int, ...], lines: list[str]) -> PrintedTensor:
    """Return the tensor of some sizes that is printed by the last of some lines."""
    elements: dict[tuple[int, ...], tuple[float, float]] = {}
    leading: tuple[int, ...] = ()
    scale, row, column = 1.0, 0, 0
    for line in _own_lines(lines):
        if match := _SCALE_LINE.match(line):
            scale = float(match[1])
        elif match := _COLUMNS.match(line):
            row, column = 0, int(match[1]) - 1
        elif match := _SLICE.match(line):
            leading = tuple(int(index) - 1 for index in match[1].split(","))
            row, column = 0, 0
        elif line.strip():
            words = line.split()
            for at, word in enumerate(words, column):
                place = (*leading, row, at)
                if len(sizes) == 1:
                    place = (row,) if len(words) == 1 and not leading else (row, at)
                elements[place] = float(word) * scale, precision(word) * scale
            row += 1
    # The sizes may be those of far more elements than anyone has printed.
    problem, count = "", prod(sizes)
    if len(elements) != count:
        problem = f"{len(elements)} numbers for {count} elements"
    elif not elements or set(elements) != set(product(*map(range, sizes))):
        problem = "the numbers are in other rows"
    if problem:
        return PrintedTensor(class_name, sizes, problem=problem, count=len(elements))
    ordered = [elements[place] for place in sorted(elements)]
    values, units = zip(*ordered, strict=True)
    return PrintedTensor(class_name, sizes, values, units, count=len(values))


def _own_lines(lines: list[str]) -> list[str]:
    """Return the last lines that can belong to a tensor; the lines before are other text."""
    return list(takewhile(_belongs, reversed(lines)))[::-1]


def _belongs(line: str) -> bool:
    """Tell whether a line can belong to a printed tensor."""
    patterns = (_SCALE_LINE, _COLUMNS, _SLICE, _ROW)
    return not line.strip() or any(pattern.match(line) for pattern in patterns)


#: In a documented text: stands for any text.
ANYTHING = "\0"

_IS_NUMBER = pattern(rf"(?:{NUMBER})\Z")
_SHAPE = pattern(r"\[(torch\.\w+) of (?:size|dimension) ([\dx]+)\]")
#: The sizes of a tensor in a table.
_SIZES = pattern(r"(?<=Tensor - size: )\d+(?:x\d+)*")
_SHAPE_TOKEN = pattern(r"<(torch\.\w+)\|([\dx]+)>")
#: Characters that are tokens by themselves.
PUNCTUATION = r"{}()\[\],:=*：，（）"
_TOKEN = pattern(
    rf"{ANYTHING}|<torch\.\w+\|[\dx]+>|(?:{NUMBER})(?![\w.])"
    rf"|[{PUNCTUATION}]|[^\s{PUNCTUATION}]+"
)
_FIXED = pattern(r"[-+]?(?:0\d+(?:\.\d*)?|\d+\.\d*0)\Z")
_SCALE = pattern(rf"^{_BLANKS}\S+[^\S\n]\*{_BLANKS}$", re.M)
_COLOUR = pattern(r"\x1b\[[\d;]*m")
_OVERWRITTEN = pattern(r"^.*\r(?!$)", re.M)
#: In the text of an object. Lua prints it, on some systems, without '0x'.
_ADDRESS = pattern(
    r"(?:(?<=: )|(?<=\bat )|(?<=\bstorage )|(?<=[(\[<@]))0x[0-9a-fA-F]+\b"
    r"|(?:(?<=table: )|(?<=function: )|(?<=userdata: )|(?<=thread: ))[0-9A-Fa-f]{8,16}\b"
    r"|(?<=[^\W\d]: )0[0-9A-F]{7,15}\b|(?<=function: )builtin#\d+"
)
_HEXADECIMAL = pattern(r"\b0x([0-9a-fA-F]+)\b")
#: A prompt behind a text without an end of line.
_NEXT_PROMPT = pattern(r"(?<=\S) (?:th)?>\s*\Z")
_COMMENT = pattern(r"(?:^|\s)--.*$", re.M)
#: The fields of an object of nn, in the lines below its name.
_FIELDS = pattern(r"(?<=[\w)}]\n)\{[ \t]*\n[ \t]+\w+ : .*\n(?:[ \t].*\n)*\}[ \t]*(?:\n|\Z)")
_FIELD_STRING = pattern(r"^([ \t]+\S.* : )\"([^\"\n]*)\"$", re.M)
_TIMING = pattern(rf"^{_BLANKS}\[\d+\.\d+s\]{_BLANKS}$", re.M)
#: A first line that only names the output, or is the command of which it is.
_HEAD = pattern(
    r"\s*(?:(?:outputs?|results?|prints?|out|ausgabe|salida|sa[ií]da|r[ée]sultat|sortie|вывод"
    r"|结果|輸出|输出|出力|결과|출력)(?:[ \t]{0,9}(?:[:：]|=+>))?[ \t]*|=+>[ \t]*"
    rf"|{COMMAND})\n",
    re.I,
)
#: What may stand in front of each line of an output.
_MARKS = pattern(r"\s*(--(?!>)|[#>|])(?=[ \t])")
#: A line that stands for any text.
ELLIPSIS = pattern(
    rf"^{_BLANKS}(?:\.\.\.|…|⋮|[\[(]\.\.\.[\])]|\(?etc\.?\)?|\.(?:{_BLANKS}\n{_BLANKS}\.){{1,4}}){_BLANKS}$",
    re.M,
)
#: Also where `require` has looked for a module.
_TRACEBACK = pattern(rf"^{_BLANKS}(?:(?s:stack traceback:.*)|no fi(?:le '|eld p).*)", re.M)
#: Python's, up to the error's own line; and IPython's, which begins with the error's name.
_PYTHON_TRACEBACKS = (
    # What stands above that line is indented, or dots for it.
    re.compile(
        r"^[ \t]*Traceback \(most recent call last\):\n"
        r"(?:(?:[ \t]|File \").*\n|(?:\.\.\.|\0)\n)*",
        re.M,
    ),
    re.compile(r"^  File \".*\", line \d+\n(?:[ \t].*\n)*", re.M),
    re.compile(
        r"^(?:-{9,}\n)?(?P<name>[\w.]+) +Traceback \(most recent call last\):?\n.*\n"
        r"(?=(?P=name)\b)",
        re.M | re.S,
    ),
)
_WARNED_AT = pattern(r"^\S.*?:\d+: (?=\w*Warning: )", re.M)
_QUOTES_OF_TIMES = pattern(r"(?<=\d)'|'(?=\d)")
#: Between a number and its unit.
_UNIT = pattern(r"(?<=\d)(?=(?:[mun]?s|secs?|min|h|[kKMG]i?B|Hz)\b)")
#: The words of times: names of days, months and zones, `T` and `Z`.
_OF_TIMES = pattern(
    r"(?<=\d)(?:[T/](?=\d\d)|Z\b)|\b(?:[A-Z]{1,3}[SD]T|UTC|GMT|[AP]M"
    r"|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
    r"|Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_PROSE = pattern(r"\n[ \t]*\n(?:[A-Z][a-z]+|_?[A-Z]+:(?= \w))(?: [\w,]+)*:?\s*\Z")
#: The position before a message: 'name.lua:1: ', '[string "…"]:1: ', '[7]:1: ' at a prompt.
_POSITION = pattern(
    r"(?:\bsyntax error: )?"
    r"(?:\[(?:string \"[^\n]{0,80}?\"|\d+)\]|(?<![\w./+@~-])[\w./+@~-]+):\d+:(?:\s|(?=attempt\b))"
)
#: The name of what is no number or the like, as Lua 5.3 and later tell it.
_OF_LATER_LUA = pattern(r"\ba (\w+) value \((global|local|method|field|upvalue) '([^'\n]*)'\)")
#: Where in its sources in C Torch7 has raised an error: ' at /torch/generic/THTensor.c:350', which
#: a terminal may have broken.
_IN_C = pattern(r"\sat\s[^\s:()]+(?:\n[^\s:()]+)?\.(?:c|cc|cpp|cu|h):\d+")


def same(first: str, second: str) -> bool:
    """Tell whether two texts are the same apart from addresses."""
    return first == second or _ADDRESS.sub("0x", first) == _ADDRESS.sub("0x", second)


def without_fields(documented: str) -> str:
    """Return a text without the fields of objects, which older prompts show below their names.

    Below `nn.Tanh` stand lines `{`, `  output : DoubleTensor - empty`, `}`.
    """
    return _FIELDS.sub("", documented)


def without_quotes(printed: str) -> str:
    """Return a printed text without the quotes of strings in tables, as older prompts print it."""
    return _FIELD_STRING.sub(r"\1\2", printed)


def at_other_addresses(text: str) -> str:
    """Return a printed text with another address for each object."""
    return _ADDRESS.sub("0x0", text)


def with_exact_hex(documented: str, *printed: str) -> list[str]:
    """Return the documented text and those of runs with non-addresses marked by `0x_`.

    A hexadecimal number that all runs print is no address: runs have objects at other addresses.
    """
    if not all("0x" in text for text in printed):
        return [documented, *printed]
    exact = set.intersection(*(set(_HEXADECIMAL.findall(text)) for text in printed))

    def marked(match: re.Match[str]) -> str:
        return f"0x_{match[1]}" if match[1] in exact else match[0]

    return [_HEXADECIMAL.sub(marked, text) for text in (documented, *printed)]


def spaced(text: str) -> str:
    """Return the words of a text, with one space between them.

    Addresses are replaced; colours and the places of errors in code are left out.
    """
    return " ".join(_ADDRESS.sub("0x", without_colours(without_places(text))).split())


def tokens(text: str) -> list[str]:
    """Return the tokens of a text, in order."""
    text = without_places(text).replace(ANYTHING, f" {ANYTHING} ")
    text = _SHAPE.sub(r"<\1|\2>", _TIMING.sub("", without_colours(text)))
    text = _SLICE.sub(r"(\1) =", _ADDRESS.sub("0x", text))
    lines = map(_TOKEN.findall, ELLIPSIS.sub(ANYTHING, text).split("\n"))
    return [token for line in lines for token in _with_fixed_numbers(line)]


class FixedNumber(str):
    """A number among words that a format has made, or part of a name: 007, 2.10."""


def _with_fixed_numbers(line: list[str]) -> list[str]:
    """Return the tokens of a line; those that are numbers among words become FixedNumber."""
    if not any(token[0].isalpha() and not is_number(token) for token in line):
        return line
    return [FixedNumber(token) if _FIXED.match(token) else token for token in line]


def is_number(token: str) -> bool:
    """Tell whether a token is a number."""
    return _IS_NUMBER.match(token) is not None


def without_places(text: str) -> str:
    """Return a text without the places in code that Python's errors and warnings name."""
    if "Traceback" in text or 'File "' in text:
        for traceback in _PYTHON_TRACEBACKS:
            text = traceback.sub("", text)
    return _WARNED_AT.sub("", text) if "Warning: " in text else text


def readings(expected: str) -> Sequence[str]:
    """Return the texts that a documented text may stand for.

    These are the text of the page; the text without comments, since '--' may also be part of the
    output; and the text without words of prose at its end, such as the heading of the next example
    in a block, or without the next prompt. Also the text below a word for it, or below the command
    that runs a script, and what stands behind a mark in front of each line.
    """
    plain = _COMMENT.sub("", expected)
    texts = [expected, plain, _PROSE.sub("", plain), _NEXT_PROMPT.sub("", plain)]
    if mark := _MARKS.match(expected):
        lines = [line.lstrip() for line in expected.split("\n")]
        if all(line.startswith(mark[1]) for line in lines if line):
            texts.append("\n".join(line.removeprefix(mark[1]) for line in lines))
    head = _HEAD.match(expected)
    return [*texts, expected[head.end() :]] if head else texts


def numbers(text: str) -> list[float]:
    """Return the numbers in a printed text, in order; those of a tensor with its factor."""
    if not is_scaled(text):
        return list(map(float, number_words(text)))
    values, factor = list[float](), 1.0
    for line in text.split("\n"):
        if scale := _SCALE_LINE.match(line):
            factor = float(scale[1])
            continue
        values += [factor * float(word) for word in number_words(line)]
        factor = 1.0 if _SHAPE_LINE.match(line) else factor
    return values


def number_words(text: str) -> list[str]:
    """Return the numbers in a printed text as they are written there."""
    return [token for token in tokens(_SCALE.sub("", text)) if is_number(token)]


def is_scaled(text: str) -> bool:
    """Tell whether a printed text has numbers under a scale factor."""
    return bool(_SCALE.search(text))


def layout(text: str) -> tuple[list[str], int]:
    """Return the words of a text, without those of times, and the count of its numbers.

    Into how many columns of a line a tensor is cut depends on how long its numbers are.
    """
    text = "\n".join(line for line in text.split("\n") if not _COLUMNS.match(line))
    text = _QUOTES_OF_TIMES.sub(" ' ", _SCALE.sub("", _HEXADECIMAL.sub("0x", text)))
    text = _UNIT.sub(" ", text)
    all_tokens = tokens(_OF_TIMES.sub(" ", text))
    words = [token for token in all_tokens if not is_number(token)]
    return words, len(all_tokens) - len(words)


def loose_layout(text: str) -> list[str]:
    """Return the words of a text, without the sizes of its tensors."""
    return [_SHAPE_TOKEN.sub(r"<\1>", word) for word in layout(_SIZES.sub("", text))[0]]


def bare_message(error: str) -> str:
    """Return the message of an error of Lua without its position, traceback and search path."""
    message = _IN_C.sub("", _POSITION.sub("", _TRACEBACK.sub("", error))).strip()
    return _OF_LATER_LUA.sub(r"\2 '\3' (a \1 value)", message)


def is_of_c(error: str) -> bool:
    """Tell whether an error names where in its sources in C Torch7 has raised it."""
    return _IN_C.search(error) is not None


def without_colours(text: str) -> str:
    """Return a printed text as a terminal shows it, without colours or overwritten text."""
    return _OVERWRITTEN.sub("", _COLOUR.sub("", text))
