"""Writes a documented text anew, with what an example prints, in the way the page writes it.

A line that agrees with what is printed stays as it is, with its comment. In one of which only some
words are wrong, only these are replaced, with as many digits as the page shows. Lines are taken
over whole, put in or left out only where the others tell that the page has them as they are
printed. What would be a guess is not written: the columns of numbers of other lengths that are not
those of the printed line, lines that `...` stands for, addresses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from th_shell.docs.judging.printout import ELLIPSIS, is_number, spaced
from th_shell.docs.reporting.differences import WORD, agreeing
from th_shell.patterns import pattern

#: Returns whether a printed text, the second, is the documented one.
IsSame = Callable[[str, str], bool]

_COMMENT = pattern(r"(?:^|(?<!\s)\s+)--.*$")
#: A possible comment of Python, which counts as output there: so it cannot be kept.
_REMARK = pattern(r"\s# .*$")
_WIDE = pattern(r"\S  +(?!--)\S")
#: The most digits of a number that is written where the page's number has no digits behind a point.
_FEW_DIGITS = 2


def rewritten(documented: Sequence[str], printed: str, is_same: IsSame) -> list[list[str]] | None:
    """For each documented line, the lines that take its place; None where they cannot be known."""
    text = "\n".join(documented)
    if ELLIPSIS.search(text):
        return None
    if "of size" in text:
        printed = printed.replace("of dimension", "of size")
    if "\t" not in text:
        printed = printed.expandtabs() if _WIDE.search(text) else printed.replace("\t", " ")
    output = [line.rstrip() for line in printed.split("\n") if line.strip()]
    shown = [at for at, line in enumerate(documented) if not is_same(line, "")]
    if _is_same_but_for_blanks(documented, output, is_same):
        shown = list(range(len(documented)))  # a blank line is the place of a lost one
    texts = [documented[at] for at in shown]
    bare = [_COMMENT.sub("", text) for text in texts]
    new = [[] if at in shown else [line] for at, line in enumerate(documented)]
    if _words(output) in (_words(texts), _words(bare)):
        if bare != texts:
            return None  # comments do not tell what they belong to
        moved = iter(_in_order(texts, output))
        return [[next(moved)] if at in shown else lines for at, lines in enumerate(new)]
    output = _as_narrow(output, texts)
    pairs = list(_paired(texts, output))
    rewriter = _Rewriter(output, is_same, _shifts(pairs, is_same))
    ends = {line[len(line.rstrip()) :] for line in texts}
    end = "".join(ends) if len(ends) == 1 else ""  # blanks behind each line of the page
    for at, old, new_line in pairs:
        lines = rewriter.lines(old, new_line)
        if lines is None or old is None and len(shown) < len(documented):
            return None  # a blank line may be what was printed
        new[shown[at]] += lines if old is not None else [line + end for line in lines]
    return new


#: A documented line and the printed one in its place, where there are such, and the index of the
#: former, or of the one above it.
_Pair = tuple[int, str | None, str | None]


def _paired(lines: Sequence[str], output: Sequence[str]) -> Iterator[_Pair]:
    if len(lines) == len(output):
        yield from zip(range(len(lines)), lines, output, strict=True)
        return
    at, used = 0, 0
    for old, new in [*agreeing(lines, output), (len(lines), len(output))]:
        for i in range(at, old):
            yield i, lines[i], output[used] if used < new else None
            used += used < new
        for text in output[used:new]:
            yield max(old - 1, 0), None, text
        if old < len(lines):
            yield old, lines[old], output[new]
        at, used = old + 1, new + 1


def _shifts(pairs: Sequence[_Pair], is_same: IsSame) -> dict[bool, int] | None:
    """Return how far the page indents lines, where most are as they are printed.

    By whether they begin with numbers: these stand in columns. None where lines have the words that
    are printed, and other spaces between them.
    """
    agree = [(old, new) for _, old, new in pairs if old and new and is_same(old, new)]
    if any(old.split() == new.split() and old.strip() != new.strip() for old, new in agree):
        return None
    if any(old.strip() != new.strip() for old, new in agree) or 2 * len(agree) < len(pairs):
        return {}
    indents = {(_is_row(new), _margin(old) - _margin(new)) for old, new in agree}
    shifts = dict(indents)
    return shifts if len(shifts) == len(indents) else {}


def _words(lines: Sequence[str]) -> list[list[str]]:
    return sorted(line.split() for line in lines)


def _is_same_but_for_blanks(lines: Sequence[str], output: Sequence[str], is_same: IsSame) -> bool:
    """Return whether lines are the printed ones, where they are not blank."""
    pairs = zip(lines, output, strict=False)
    return len(lines) == len(output) and all(not a.strip() or is_same(a, b) for a, b in pairs)


def _in_order(lines: Sequence[str], output: Sequence[str]) -> list[str]:
    """Return lines in the order of printed ones, which have the same words."""
    rest = list(lines)
    return [
        rest.pop(next(at for at, line in enumerate(rest) if line.split() == printed.split()))
        for printed in output
    ]


def _as_narrow(output: list[str], documented: Sequence[str]) -> list[str]:
    """Return printed lines with single spaces, where the page has them so, and needs no more."""
    agree = [output[at] for _, at in agreeing(documented, output)]
    narrow = [" " * _margin(line) + " ".join(line.split()) for line in output]
    lengths = {len(line) for line in narrow if _is_row(line)}
    is_narrow = any(map(_WIDE.search, agree)) and not any(map(_WIDE.search, documented))
    return narrow if is_narrow and len(lengths) == 1 else output


def _is_row(line: str) -> bool:
    return is_number(line.split()[0])


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


@dataclass(frozen=True)
class _Rewriter:
    """Writes single lines anew."""

    #: All printed lines.
    _printed: Sequence[str]
    _is_same: IsSame
    #: See `_shifts`.
    _shifts: Mapping[bool, int] | None

    def lines(self, old: str | None, new: str | None) -> list[str] | None:
        """Return the lines in place of a documented one, None for a guess.

        old, new: the documented and the printed line, None where there is no such line.
        """
        if new is None:
            is_output = self._shifts and _form(old or "") in map(_form, self._printed)
            return [] if is_output else None
        if old is None:
            text = self._shifted(new)
            return None if text is None else [text]
        if self._is_same(old, new):
            return [old]
        if not old.strip():
            text = self._shifted(new)
            return None if text is None else [text]
        body = _COMMENT.sub("", old)
        body = (body if self._is_same(old, body) else old).rstrip()
        text = self._with_words(body, new)
        if text is None and body == old.rstrip():
            text = self._as_printed(old, new)
        if text is None or "..." in body or spaced(text) != " ".join(text.split()):
            return None
        remark = _REMARK.search(body)
        if remark and not text.endswith(remark[0]):
            return None
        added = text.removeprefix(body) if text.startswith(body) else ""
        gap = added[: _margin(added)]  # which is still there where words behind it have been lost
        return [text + old[len(body) :].removeprefix(gap)]

    def _shifted(self, new: str) -> str | None:
        shifts = self._shifts or {}
        # A page that has some lines at their margins has the others there, too.
        unknown = 0 if set(shifts.values()) == {0} else -len(new)
        margin = _margin(new) + shifts.get(_is_row(new), unknown)
        return None if margin < 0 else " " * margin + new.strip()

    def _with_words(self, old: str, new: str) -> str | None:
        """Return a documented line with a printed one's words; None if they do not pair."""
        left, right = WORD.findall(old), WORD.findall(new)
        if len(left) != len(right):
            return None
        olds, news = [word for _, word in left], [word for _, word in right]
        exact = all(a == b for a, b in zip(olds, news, strict=True) if self._is_same(a, b))
        words = [self._word(*pair, exact) for pair in zip(olds, news, strict=True)]
        same = sum(map(self._is_same, olds, news))
        is_alike = _form(old) == _form(new) or len(olds) == 1 or 2 * same >= len(olds)
        moves = [len(word or "") != len(former) for word, former in zip(words, olds, strict=True)]
        in_columns = any(len(gap) > 1 for gap, _ in left[1:] + right[1:])
        in_columns = in_columns or bool(moves[0] and self._shifts)
        if None in words or not is_alike:
            return None
        gaps = [gap for gap, _ in left]
        if olds == news:  # spaces have been lost or put in
            gaps[1:] = [a if a and b else b for a, (b, _) in zip(gaps[1:], right[1:], strict=True)]
        text = "".join(f"{gap}{word}" for gap, word in zip(gaps, words, strict=True))
        if any(moves) and in_columns:
            return self._shifted(new) if text.strip() == new.strip() else None
        return text

    def _word(self, old: str, new: str, exact: bool) -> str | None:
        """Return a word in place of a documented one; None for a guess.

        exact: whether the page writes the other words as they are printed.
        """
        if old == new or not (is_number(old) and is_number(new)):
            return new
        if exact and old.lstrip("+-").isalpha():  # nan
            return new
        if self._is_same(old, new):
            return old
        shown, printed = (len(number.partition(".")[2]) for number in (old, new))
        if "e" in f"{old}{new}".lower() or not shown and printed > _FEW_DIGITS:
            return None
        rounded = f"{float(new):.{shown}f}"
        return rounded if shown and printed and self._is_same(rounded, new) else new

    def _as_printed(self, old: str, new: str) -> str | None:
        """Return a printed line, where nothing tells that the page writes it in another way."""
        left, right = WORD.findall(old), WORD.findall(new)
        olds, news = [word for _, word in left], [word for _, word in right]
        same = SequenceMatcher(None, olds, news, autojunk=False).get_matching_blocks()
        spaces = all(
            [gap for gap, _ in left[i + 1 : i + n]] == [gap for gap, _ in right[k + 1 : k + n]]
            for i, k, n in same
        )
        unchanged = {i + at for i, _, n in same for at in range(n)}
        changed = [word for i, word in enumerate(olds) if i not in unchanged]
        is_wide = new.split() != new.strip().split(" ")
        if is_wide and old.split() == old.strip().split(" ") and len(left) > 1:
            return None
        gaps = {gap for gap, _ in right[1:]}
        is_usual = len(gaps) == 1 and gaps <= {gap for gap, _ in left[1:]}
        if not (spaces or is_usual) or any(
            a != b and self._is_same(a, b) for a in changed for b in news
        ):
            return None
        is_known = 2 * len(unchanged) >= len(left) and not is_wide and not _margin(old)
        text = new.strip() if is_known and self._shifts == {} else self._shifted(new)
        if text is None and self._shifts and olds[:1] == news[:1] and _margin(old) == _margin(new):
            text = new
        is_moved = text and olds[:1] == news[:1] and _margin(text) != _margin(old)
        return None if is_moved else text


def _form(line: str) -> tuple[str, ...]:
    """Return the words of a line, with all numbers alike."""
    return tuple("0" if is_number(word) else word for _, word in WORD.findall(line))
