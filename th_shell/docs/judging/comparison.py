"""Compares printed texts with documented ones, and numbers by the digits that the page shows.

These differences do not count: white space, colours, 'of size' and 'of dimension', the dots in the
heading of a slice '(1,.,.) =', addresses, the times that a prompt shows, and comments in the page.
A line '...' in the page stands for any text, as does `ANYTHING` within a line. Of Python's errors
the last line counts, and of its warnings everything but the place in code. Numbers are compared by
value, to half a unit of the last digit that the page shows. Residues of rounding in place of 0, up
to 1e-12 of the largest number of their tensor, do not count, nor the other format in which the
tensor is printed because of them. Whole numbers must be the same, and so must numbers among words
that only a format prints so: 'version 2.10'. A page may allow more: its tolerance.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Sized
from difflib import SequenceMatcher
from functools import lru_cache, partial
from itertools import pairwise
from math import isfinite, sqrt
from typing import TypeVar

from th_shell.docs.judging import printout
from th_shell.docs.judging.tables import in_order
from th_shell.docs.settings.settings import Tolerance
from th_shell.patterns import pattern

_Piece = TypeVar("_Piece", bound=Sized)

_QUOTES = pattern(r"[\"']")
#: Dots for the rest of the numbers in the last line.
_OPEN_END = pattern(r"(?<=\d)[^\S\n]\.{3,4}\s*\Z")
_WORD = pattern(r"[^\W\d_]{2}")
_TABLE = pattern(r"^[^\S\n]*\{[^\S\n]*$", re.M)

#: The program that tells of an error.
_PROGRAM = pattern(r"(?i)\A(?:(?:\S*/)?(?:lua\S*|th): )?(?:error: )?")
#: The names of operands in an error of Torch7, which had none before.
_OPERANDS = pattern(r"\bm[12]: ")
#: The function whose argument is wrong; LuaJIT has no name for it where `pcall` calls it.
_CALLED, _WITHOUT_NAME = pattern(r"(?<=\d) to '[\w.:]+' \("), " to '?' ("
#: What doctest takes for what Python prints, from before it had these names.
_TRUTHS = {"0": "False", "1": "True"}
_MOMENT = pattern(r"(datetime\.datetime\(\d+, \d+, \d+)(?:, \d+)+")
#: The end of a line behind a bracket or before one.
_LAID_OUT = pattern(r"(?<=[\[({])[ \t]*\n[ \t]*|,?\n[ \t]*(?=[\])}])")
#: A result may be off by so many times the effect of one change of the inputs within rounding.
_MOST_SPREAD = 4.0
#: The largest residue of rounding: relative to the largest number of a tensor, and absolute.
_RESIDUE, _LARGEST_RESIDUE = 1e-12, 1e-4
#: One unit in the last place of numbers in whose last digit rounding may end otherwise.
_ALL_DIGITS = 1e-10
#: A number with zeros before it, which Lua prints only where it is told to.
_ZERO_FILLED = pattern(r"\s*[-+]?0\d+(?:\.\d*)?\s*")
_EXACT = Tolerance()


@lru_cache(maxsize=1 << 13)  # most runs print the same, and each is judged
def agrees(expected: str, got: str, tolerance: Tolerance = _EXACT) -> bool:
    """Tell whether a printed text agrees with the documented one."""
    if _ZERO_FILLED.fullmatch(expected):
        return expected.strip() == got.strip()
    expected, got = printout.without_places(expected), printout.without_places(got)
    if _WITHOUT_NAME in got:
        expected = _CALLED.sub(_WITHOUT_NAME, expected)
    if printout.ANYTHING in expected:
        if "..." in got:  # also the mark of a long array
            expected = expected.replace(printout.ANYTHING, "...")
        elif _covers(*(" ".join(text.split()) for text in (expected, got))):
            return True
    printed_tokens = printout.tokens(got)
    texts = printout.readings(expected)
    if any(_match(printout.tokens(text), printed_tokens, tolerance) for text in texts):
        return True
    printed = printout.only_tensors(got)
    return bool(printed) and any(
        _same_tensors(printout.only_tensors(text), printed, tolerance) for text in texts
    )


def is_same_text(expected: str, got: str) -> bool:
    """Tell whether a printed text is the documented one word for word, as in doctest.

    White space counts only where there is none on the other side, and beside brackets not where
    lines are broken that Python prints as one.
    """
    if _TRUTHS.get(expected.strip()) == got.strip():
        return True
    if "\n" not in got.strip():
        expected = _LAID_OUT.sub("", expected)
    expected, got = printout.spaced(expected), printout.spaced(got)
    if printout.ANYTHING in expected and "..." in got:  # also the mark of a long array
        expected = expected.replace(printout.ANYTHING, "...")
    return _covers(expected, got)


def agrees_within(expected: str, got: str, varied: str, tolerance: Tolerance = _EXACT) -> bool:
    """Tell whether a printed text differs from the documented one only by rounded inputs.

    varied: the text that is printed when the numbers that the input uses are changed within their
    rounding. It tells how far each printed number may be off.
    """
    printed_tokens, varied_tokens = printout.tokens(got), printout.tokens(varied)
    if len(printed_tokens) != len(varied_tokens):
        return False
    pairs = list(zip(printed_tokens, varied_tokens, strict=True))
    spread = [_apart(a, b) for a, b in pairs]
    usual = sqrt(sum(s * s for s in spread) / max(1, sum(s > 0 for s in spread)))
    slack = [tolerance.plus(_MOST_SPREAD * s + usual) for s in spread]
    return any(
        len(documented) == len(printed_tokens)
        and all(map(_equal, documented, printed_tokens, slack))
        for documented in map(printout.tokens, printout.readings(expected))
    )


def agrees_by_layout(expected: str, first: str, second: str, is_part: bool = False) -> bool:
    """Tell whether one of the different texts of two runs has the documented layout.

    The layout is the words, the count of numbers, and the lines with class and sizes. If the runs
    differ in their layouts, too, it is only the words and the classes in these lines. Python shows
    no seconds of a moment that has none. is_part: whether the last lines may be all that is shown.
    """
    expected, first, second = (_MOMENT.sub(r"\1", text) for text in (expected, first, second))
    layouts = [printout.layout(text) for text in (first, second)]
    simplify = printout.layout if layouts[0] == layouts[1] else printout.loose_layout
    return any(
        simplify(text) == simplify(part) or _covers_layout(text, got)
        for text in printout.readings(expected)
        for got in (first, second)
        for part in (got, *(_last_lines(text, got) if is_part else ()))
    ) or _sorted_layouts(expected) == _sorted_layouts(first)


def _sorted_layouts(text: str) -> list[tuple[list[str], int]]:
    """Return the layouts of the lines of a text, where a table's fields are sorted."""
    return list(map(printout.layout, in_order(text)))


def _last_lines(expected: str, got: str) -> Iterator[str]:
    """Yield the last lines of a printed text, of which the page shows so many, each with words."""
    lines, shown = got.strip().split("\n"), expected.strip().split("\n")
    if 1 < len(shown) < len(lines) and all(map(_WORD.search, shown)):
        yield "\n".join(lines[-len(shown) :])


def _covers_layout(expected: str, got: str) -> bool:
    """Tell whether a text with lines `...` has the layout of a printed one around them."""
    expected = _OPEN_END.sub("\n...", expected)
    if not printout.ELLIPSIS.search(expected):
        return False
    documented, printed = (
        ["0" if printout.is_number(token) else token for token in printout.tokens(text)]
        for text in (expected, got)
    )
    return _match(documented, printed, _EXACT)


def agrees_in_any_order(expected: str, got: str, tolerance: Tolerance = _EXACT) -> bool:
    """Tell whether a printed table is the documented one except for the order of fields.

    LuaJIT traverses named fields in a different order in each process.
    """
    if not _TABLE.search(got):
        return False
    sorted_text = "\n".join(in_order(got))
    return any(
        agrees("\n".join(in_order(text)), sorted_text, tolerance)
        for text in printout.readings(expected)
    )


#: From fine to coarse: what sorts the lines of a text, its words, or its letters.
_SORTS: Sequence[Callable[[str], str]] = (
    lambda text: "\n".join(sorted(" ".join(printout.tokens(line)) for line in in_order(text))),
    lambda text: " ".join(sorted(printout.tokens(_QUOTES.sub(" ", text)))),
    lambda text: " ".join(sorted("".join(_QUOTES.sub("", text).split()))),
)


def sorting(*texts: str) -> Callable[[str], str] | None:
    """Return the finest sorting that makes the texts of some runs the same; None if none does.

    Texts differ in order alone where a program goes through the fields of a table, or through a
    set.
    """
    return next((sort for sort in _SORTS if len(set(map(sort, texts))) == 1), None)


#: Marks in which code and printed tables differ: quotes, signs, and the numbers of elements.
_FORM = pattern(r"[\"',{}]|^[^\S\n]*\d+ :(?=\s)", re.M)
#: The share of letters in which similar texts agree; the longest text that is compared so.
_NEARLY, _LETTERS = 0.6, 2000


def is_nearly(expected: str, got: str) -> bool:
    """Tell whether a comment resembles a printed text, apart from some letters and line order."""
    texts = (_FORM.sub("", text).split("\n") for text in (expected, got))
    first, second = (" ".join(" ".join(sorted(lines)).split()) for lines in texts)
    if not first or not second or max(len(first), len(second)) > _LETTERS:
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= _NEARLY


def is_error_message(expected: str, message: str) -> bool:
    """Tell whether the page documents this error, wherever it was raised."""
    texts = printout.without_places(expected), printout.without_places(message)
    if texts[0].strip() == printout.ANYTHING:
        return False  # of an error, the page must tell something
    documented, printed = printout.bare_message(_PROGRAM.sub("", texts[0])), texts[1]
    documented, printed = _PROGRAM.sub("", documented), printout.bare_message(printed)
    # Torch7 has told more of its own errors from version to version.
    is_of_c = printout.is_of_c(texts[0])
    is_begun = is_of_c and printed.startswith(f"{documented},")
    is_older = is_of_c and agrees(documented, _OPERANDS.sub("", printed))
    return is_begun or is_older or agrees(documented, printed)


def line_readings(line: str) -> list[tuple[str, ...]]:
    """Return the tokens of a line, and those without a comment, where these differ.

    'of size' and 'of dimension' are one token with the sizes; a line '...' is one token, too.
    """
    return list(dict.fromkeys(tuple(printout.tokens(text)) for text in printout.readings(line)))


def tokens_agree(expected: Sequence[str], got: Sequence[str]) -> bool:
    """Tell whether the tokens of a printed line agree with documented ones, numbers by value."""
    return _match(list(expected), list(got), _EXACT)


def _covers(expected: str, got: str) -> bool:
    """Tell whether a printed text matches a documented one with marks for any text.

    In both texts, one space stands before each word.
    """
    pieces = [piece.strip() for piece in expected.split(printout.ANYTHING)]
    return _are_in_order(pieces, len(got), got.startswith)


def _match(expected: list[str], got: list[str], slack: Tolerance) -> bool:
    """Tell whether printed tokens match documented ones with marks for any text."""

    def begins(piece: list[str], at: int) -> bool:
        return all(_equal(token, got[i], slack) for i, token in enumerate(piece, at))

    return _are_in_order(_pieces(expected), len(got), begins)


def _are_in_order(
    pieces: Sequence[_Piece], length: int, begins: Callable[[_Piece, int], bool]
) -> bool:
    """Tell whether pieces are found in order in a sequence, the outer ones at its ends.

    length: that of the sequence. begins: tells whether a piece, for which there is room, begins at
    an index.
    """
    first, *following = pieces
    if not following:
        return len(first) == length and begins(first, 0)
    *middle, last = following
    at, end = len(first), length - len(last)
    if at > end or not (begins(first, 0) and begins(last, end)):
        return False
    for piece in middle:  # each as early as it can be
        places = range(at, end - len(piece) + 1)
        start = next((place for place in places if begins(piece, place)), None)
        if start is None:
            return False
        at = start + len(piece)
    return True


def _pieces(expected: list[str]) -> list[list[str]]:
    """Split documented tokens at the marks for any text."""
    pieces: list[list[str]] = [[]]
    for token in expected:
        if token == printout.ANYTHING:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def _equal(expected: str, got: str, slack: Tolerance) -> bool:
    """Tell whether a printed token agrees with the documented one."""
    if expected == got:
        return True
    if not _are_numbers(expected, got):
        return False
    unit, shown = printout.precision(expected), printout.precision(got)
    is_formatted = isinstance(expected, printout.FixedNumber) and (shown or not unit)
    if slack == _EXACT and (is_formatted or isinstance(got, printout.FixedNumber)):
        return False
    return _near(float(expected), float(got), (unit, shown), slack)


def _near(
    expected: float, got: float, units: tuple[float, float], slack: Tolerance, largest: float = 1.0
) -> bool:
    """Tell whether two numbers agree.

    units: one in the last place of each, 0 where it is whole. largest: the largest number of their
    tensor.
    """
    if expected != expected or got != got:
        return expected != expected and got != got
    unit, shown = units
    has_all_digits = unit == shown <= _ALL_DIGITS * abs(expected)
    allowed = slack.of(expected, unit if has_all_digits else unit / 2)
    is_whole = expected.is_integer() and got.is_integer()
    residue = 0.0 if is_whole else min(_RESIDUE * largest, _LARGEST_RESIDUE)
    apart = abs(expected - got)
    return expected == got or apart <= allowed or max(abs(expected), abs(got)) <= residue


def _are_numbers(*tokens: str) -> bool:
    return all(printout.is_number(token) for token in tokens)


def _apart(first: str, second: str) -> float:
    """Return the distance of two numbers; 0 for words, and where one number is not finite."""
    apart = abs(float(first) - float(second)) if _are_numbers(first, second) else 0.0
    return apart if isfinite(apart) else 0.0


def _same_tensors(
    expected: Sequence[printout.PrintedTensor],
    got: Sequence[printout.PrintedTensor],
    slack: Tolerance,
) -> bool:
    """Tell whether printed tensors agree with documented ones in class, sizes and numbers."""

    def same(documented: printout.PrintedTensor, printed: printout.PrintedTensor) -> bool:
        units = zip(documented.units, printed.units, strict=False)
        largest = max((abs(value) for value in printed.values if isfinite(value)), default=1.0)
        near = partial(_near, slack=slack, largest=max(1.0, largest))
        return (
            (documented.class_name, documented.sizes) == (printed.class_name, printed.sizes)
            and not documented.problem
            and all(map(near, documented.values, printed.values, units))
        )

    return len(expected) == len(got) and all(map(same, expected, got))


# -- errors that comments announce
#
# `-- this fails` announces one, `-- compute the error` and `-- no error here` do not. The text of a
# comment behind `error:` may be in other words than the message, but must not name other things.

#: The ends of clauses: each clause of a comment is judged by itself.
_CLAUSE_ENDS = pattern(r"[;:,.!?()\[\]>]|\s-+\s")
#: Words before the predicate by which a clause announces no error: `no error`, `catch the error`.
_NEGATED = pattern(
    r"\b(?:no|not(?! allowed)|never|without|nothing|cannot|if|unless|whether|until|instead|avoids?"
    r"|prevents?|handl\w+|catch\w*|checks?|comput\w+|prints?|returns?|logs?|ignores?)\b|n't\b",
    re.I,
)
#: The object of a verb: `an error`, `the following exception`.
_RAISED = r"(?:(?:an?|the|\w+) )?(?:\w+ )?(?:errors?|exceptions?)"
#: The words of an announcement, such as `fails` or `raises an error`: they stand at the end of a
#: clause, or before a quoted message or a reason.
_PREDICATE = pattern(
    rf"(?:\bfails?|\b(?:raises?|throws?|gives?|causes?|produces?|results? in)(?: {_RAISED})"
    r"|\b(?:raises?|throws?|crash(?:es)?)|\b(?:illegal|invalid|not allowed)"
    r"|(?:^|\b(?:an?|also|now|is|will|would|should|must|syntax|type|run-?time) )errors?(?: out)?)"
    r"(?=\s*(?:$|['\"`]|\b(?:because|since|as|here|again|too|now|when|after|before)\b))"
    r"|^(?:illegal|invalid)(?: \w+){1,2}$|^wrong$"
    r"|^(?:(?:index|is) )?out of (?:bounds|range)(?: error)?$",
    re.I,
)
#: The words that something does not work, or what will be raised.
_NO_WORK = pattern(
    r"\b(?:doesn['’]?t|does not|won['’]?t|will not) work\b"
    r"|\b(?:error|exception) (?:will|would) be (?:raised|thrown)\b",
    re.I,
)
#: Errors that comments in other languages announce, and words by which there is none, or none yet.
_IN_OTHERS = pattern(
    r"报错|出错|错误(?!的)|報錯|錯誤(?!的)|エラー|에러|오류|ошибк|помилк"
    r"|\b(?:erreur|fehler|errore|erro|lỗi)\b",
    re.I,
)
_NONE_IN_OTHERS = pattern(
    r"[不没沒无無未若]|如果|处理|捕获|检查|判断|返回|なし|ない|없|않|\bне\b|\bбез\b|\bесли\b"
    r"|\b(?:pas|sans|aucune?|si|se|kein\w*|ohne|nicht|wenn|senza|non|sin|ning[uú]n|sem|não|no"
    r"|không)\b",
    re.I,
)
#: A message behind `error:`.
_ANNOUNCEMENT = pattern(r"\berrors?\b[\])]*\s*:\s*(?P<text>.+)", re.I | re.S)
_LETTER = pattern(r"\w")
_QUOTED = pattern(r"(?<!\w)(['\"`])([^'\"`]+)\1")


def announces_error(comment: str) -> bool:
    """Tell whether a comment says that its code raises an error."""
    if _NO_WORK.search(comment):
        return True
    for clause in _CLAUSE_ENDS.split(comment):
        predicate = _PREDICATE.search(clause.strip())
        if predicate and not _NEGATED.search(clause.strip(), 0, predicate.end()):
            return True
    return bool(_IN_OTHERS.search(comment)) and not _NONE_IN_OTHERS.search(comment)


def rules_out(comment: str, message: str) -> bool:
    """Tell whether a comment is about another error than the message: nearly it, or other names."""
    announcement = _ANNOUNCEMENT.search(comment)
    if not announcement:
        return False
    text = announcement["text"]
    if is_error_message(text, message):
        return False
    names = [name for _, name in _QUOTED.findall(text)] + printout.number_words(text)
    return is_nearly(text, message) or any(not says(message, name) for name in names)


def says(text: str, words: str) -> bool:
    """Return whether a text has these words in it, and not as parts of longer ones."""
    pieces = text.split(words) if words else []
    return any(not _LETTER.search(before[-1:] + after[:1]) for before, after in pairwise(pieces))


#: What makes a longer word of words beside it, in front and behind: `a.b`, `/a`.
_JOINED_FRONT = pattern(r"[\w/\\@]\Z|\w[-+.:]\Z")
_JOINED_BEHIND = pattern(r"[-+\w/\\@]|[.,:]\w")
#: What may stand behind the value with which a marked comment begins.
_BEHIND = pattern(
    r"\s*(?:，|,\s(?:an?|the|of)\s"
    r"|[\"'`.;]\s*|\Z|\s[(\[#]|\s?[;.]\s|\s(?:-+|\N{EN DASH}|\N{EM DASH})\s"
    r"|,?\s(?:(?:and|as|because|but|for|if|not|since|so|which|while)\s))"
)


def tells_among_words(comment: str, printed: str, is_marked: bool) -> bool:
    """Tell whether a comment has a printed text among other words, and not in a longer one.

    is_marked: an arrow or a word says that it is the value: only a remark may stand behind it.
    """
    pieces = comment.split(printed) if printed else []
    if is_marked and pieces and not pieces[0]:
        return _BEHIND.match(pieces[1]) is not None
    return any(
        not _JOINED_FRONT.search(before) and not _JOINED_BEHIND.match(after)
        for before, after in pairwise(pieces)
    )
