"""The calls of which all ways are compared: at least one for each row of the table of operations.

Most follow from the words of a row's form; `MADE` has those whose arguments must fit together, and
`LEFT_OUT` the operations that work on no elements, or have one way only, with the reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.data_files import data
from th_shell.runtime.shell import TABLE, Row


@dataclass(frozen=True)
class Call:
    """A call of a row in Lua.

    space: 'method', 'function' or 'metamethod'. words: what harness.lua makes of its arguments.
    types: names of element types. rough: how much results may differ; False: not at all.
    """

    name: str
    space: str
    words: str
    types: tuple[str, ...]
    rough: float | bool = False


#: Of operations that add up, or use BLAS or LAPACK: digits that depend on the order.
_ROUGH = 1e-11

_OF_AXPY = 1e-15  # it multiplies and adds with one rounding

#: Where two nans meet, numpy keeps the bits of one or the other, by how elements lie; numbers are
#: equal.
_OF_NANS = 1e-30
_SUMS = (
    "sum mean prod norm dist var std cumsum cumprod renorm trace conv2 xcorr2 conv3 xcorr3 addmv "
    "addmm addr addbmm baddbmm mv mm ger bmm dot match symeig eig svd qr geqrf orgqr ormqr gesv "
    "gels trtrs potrf potrs potri pstrf inverse histc bhistc"
).split()

#: Operations of which all ways are not compared here: the reason, and their names.
LEFT_OUT = data(__file__, "LEFT_OUT")

#: Operations that move elements one after the other, as the reference does, where the destination
#: shares memory with what they read.
IN_TURN = (
    "gather scatter index indexCopy indexAdd indexFill maskedSelect maskedCopy maskedFill "
    "multinomialAliasSetup_"  # whose destinations are its last arguments
).split()

#: Arguments of calls, by operation; `|` between several, a star before those of functions. n: the
#: number of elements; q(5): a fifth of it.
MADE = data(__file__, "MADE")

_WORDS = data(__file__, "_WORDS")


#: Of sums with a factor: BLAS's axpy adds nothing where it is 0 and the sum takes t's place.
_IN_PLACE = ("R(), 0, S()", "R(), A(), 0, S()")

#: Of calls along a dimension: many short rows, and many short columns.
_SHORT = (("X(q(5) + 8, 5)", "2"), ("X(q(5) + 8, 5)", "1"), ("X(3, q(15) + 8, 4)", "2"))


#: Calls of few elements that go to Python although Lua has a way for others: words and names. Most
#: have destinations of other sizes, or values that Lua's numbers do not hold. There are more in
#: `goes_to_python`.
_IN_PYTHON = data(__file__, "_IN_PYTHON")


def goes_to_python(call: Call) -> bool:
    """Whether few elements are left to Python: of numbers alone, and for a result of one row.

    So are matrices of many rows that the smallest number of elements makes, too.
    """
    special = call.words.startswith(("Z()", "N()", "P(n % 9 + 200"))
    return special or call.name in _IN_PYTHON.get(call.words, "").split()


def _from_form(form: str) -> Iterator[str]:
    """Calls of a form whose words are all known.

    Without what may be left out, with it, with destinations of size 1 along a dimension, and with
    those that are too large there; and along short rows and columns.
    """
    words = form.split()
    if not all(word in _WORDS for word in words):
        return
    for k in range(4):
        found = [_WORDS[word][min(k, len(_WORDS[word]) - 1)] for word in words]
        yield ", ".join(word for word in found if word)
    if words.count("T") + words.count("Tensor") == 1 and "index" in form:
        for source, dimension in _SHORT:
            short = {"T": source, "Tensor": source}
            short |= {word: dimension for word in words if "index" in word}
            found = [short.get(word, _WORDS[word][0]) for word in words]
            yield ", ".join(word for word in found if word)


def _of_row(row: Row) -> Iterator[tuple[str, str]]:
    for space in ("method", "function"):
        form = row.form(space)
        if form is not None and "|" not in form:
            for words in (*_from_form(form), *(_IN_PLACE if row.axpy else ())):
                yield space, words


def _made(name: str, text: str) -> Iterator[tuple[str, str]]:
    for part in text.split("|"):
        words = part.strip()
        has_method = any(row.method is not None for row in TABLE[name])
        space = "function" if words.startswith("*") or not has_method else "method"
        yield space, words.removeprefix("*").strip()


def _rough(name: str) -> float | bool:
    if name in _SUMS:
        return _ROUGH
    if name == "addcdiv":
        return _OF_NANS
    return _OF_AXPY if any(row.axpy for row in TABLE[name]) else False


def calls() -> list[Call]:
    """All calls."""
    out = {name for names in LEFT_OUT.values() for name in names.split()}
    found: dict[tuple[str, str, str], Call] = {}
    for name, rows in TABLE.items():
        if name in out:
            continue
        pairs = list(_made(name, MADE[name])) if name in MADE else []
        for row in rows:
            own = pairs or list(_of_row(row))
            types = tuple(dtype.name for dtype in row.types if dtype.name != "Half")
            rough = _rough(name)
            for space, words in own:
                if row.form(space) is not None:
                    found.setdefault((name, space, words), Call(name, space, words, types, rough))
    return list(found.values())
