"""The calls of which all ways are compared: at least one for each row of the table of operations.

Most follow from the words of a row's form; `MADE` has those whose arguments must fit together, and
`LEFT_OUT` the operations that work on no elements, or have one way only, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
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
LEFT_OUT = {
    "no elements": "Generator.new seed initialSeed manualSeed getRNGState setRNGState size stride "
    "nDimension dim nElement numel elementSize storage storageOffset isContiguous isSize "
    "isSameSizeAs isSetTo type retain free",
    "called by functions of Lua alone": "multinomialAlias_",
    "storages, whose functions have one way": "Storage.new Storage.size Storage.elementSize "
    "Storage.resize Storage.fill Storage.copy Storage.string Storage.retain Storage.free "
    "Storage.tostring tostring",
    "views, which tests/runtime/test_views_model.py compares": "new set narrow select sub "
    "transpose t permute unfold squeeze expand expandAs view viewAs reshape resize resizeAs",
    "operators, which are other rows": "operator_add operator_sub operator_mul operator_div "
    "operator_mod operator_unm",
}

#: Operations that move elements one after the other, as the reference does, where the destination
#: shares memory with what they read.
IN_TURN = (
    "gather scatter index indexCopy indexAdd indexFill maskedSelect maskedCopy maskedFill "
    "multinomialAliasSetup_"  # whose destinations are its last arguments
).split()

#: Arguments of calls, by operation; `|` between several, a star before those of functions. n: the
#: number of elements; q(5): a fifth of it.
MADE = {
    "range": "E(), 1, n, 1 | E(), n, 1, -1 | *1, n, 1",
    "linspace": "E(), -3, 5, n | *-3, 5, n",
    "logspace": "E(), -3, 2, n | *-3, 2, n",
    "zeros": "R(), n | *n | *torch.LongStorage{q(4), 4}",
    "ones": "R(), n | *n | R(), torch.LongStorage{3, q(3)}",
    "eye": "E(), math.floor(math.sqrt(n)) | *7, q(7)",
    "diag": "X(math.floor(math.sqrt(n)) + 1, math.floor(math.sqrt(n))), 1 | X(n % 120 + 1), -2",
    "tril": "E(), X(n % 3 + 2, q(3)), 1 | R(), T(), -1",
    "triu": "E(), X(n % 3 + 2, q(3)), 1 | R(), T(), -1",
    "cat": "R(), T(), T(), 1 | E(), T(), T(), 1 | *T(), T(), 1 | *{T(), T(), S()}, 1 "
    "| Y(3, n), {X(1, n), X(2, n)}, 1 | Y(2, n), {X(2, q(2)), "
    "X(2, math.ceil(n / 2))}, 2",
    "histc": "T(), 10 | R(), T(), 10, -5, 5",
    "bhistc": "X(3, q(3)), 10",
    "conv2": "X(10, q(10)), X(3, 3)",
    "xcorr2": "X(10, q(10)), X(3, 3) | X(2, 10, q(20)), X(2, 3, 3)",
    "conv3": "X(5, 6, q(30)), X(2, 3, 3)",
    "xcorr3": "X(5, 6, q(30)), X(2, 3, 3)",
    "cross": "X(q(3), 3), X(q(3), 3), 2",
    "clamp": "T(), -1, 2 | R(), S(), -1, 2",
    "lerp": "R(), S(), T(), 0.3",
    "kthvalue": "T(), 1 | R(), L(), S(), 1",
    "topk": "T(), 1, 1, true, true | R(), L(), T(), 1",
    "gather": "Y(n, 2), X(n, 2), 1, I(n, n, 2) | X(5, n), 2, I(n, 5, n)",
    "index": "X(n, 2), 1, I(n, 7) | X(n), 1, I(n, 9) | R(), X(3, n), 2, I(n, 9) "
    "| X(9, 5), 1, I(9, n)",
    "indexCopy": "X(n, 2), 1, I(n, 3), X(3, 2) | X(5, n), 1, I(5, 5), X(5, n)",
    "indexAdd": "X(n, 2), 1, I(n, 3), X(3, 2) | X(5, n), 1, I(5, 5), X(5, n)",
    "indexFill": "X(n, 2), 1, I(n, 3), 7 | X(5, n), 2, I(n, n), 7",
    "scatter": "X(n, 2), 1, I(n, n, 2), X(n, 2) | X(5, n), 2, I(n, 5, n), 7",
    "maskedSelect": "T(), M() | R(), S(), M()",
    "maskedCopy": "R(), M(), X(n)",
    "maskedFill": "R(), M(), 7",
    "dot": "T(), T() | X(n), X(n)",
    "mv": "Y(9), X(9, q(9)), X(q(9))",
    "mm": "Y(4, q(4)), X(4, 3), X(3, q(4)) | *X(30, 7), X(7, n % 50 + 1)",
    "ger": "Y(7, q(7)), X(7), X(q(7))",
    "bmm": "Y(3, 5, q(15)), X(3, 5, 4), X(3, 4, q(15))",
    "addmv": "Y(9), 0.5, X(9, q(9)), X(q(9)) | Y(9), X(9), "
    "X(9, q(9)), X(q(9)) | Y(9), 2, X(9), 3, X(9, 5), X(5)"
    "| *Y(9), X(9, q(9)), X(q(9))",
    "addmm": "Y(4, q(4)), 2, X(4, 3), X(3, q(4)) "
    "| Y(4, 5), 2, X(4, 5), 3, X(4, q(5)), X(q(5), 5) | *X(4, 5), X(4, q(5)), X(q(5), 5)",
    "addr": "Y(7, q(7)), 2, X(7), X(q(7)) "
    "| Y(7, 5), 2, X(7, 5), 3, X(7), X(5) | *X(7, 5), X(7), X(5)",
    "addbmm": "Y(4, 5), 2, X(3, 4, q(12)), X(3, q(12), 5) "
    "| Y(4, 5), 2, X(4, 5), 3, X(3, 4, 6), X(3, 6, 5) "
    "| *X(4, 5), X(3, 4, 6), X(3, 6, 5)",
    "baddbmm": "Y(3, 4, 5), 2, X(3, 4, q(12)), X(3, q(12), 5) "
    "| Y(3, 4, 5), 2, X(3, 4, 5), 3, X(3, 4, 6), X(3, 6, 5) | *X(3, 4, 5), X(3, 4, 6), X(3, 6, 5)",
    "match": "Y(4, 5), X(4, 3), X(5, 3), 2",
    "trace": "X(math.floor(math.sqrt(n)), math.floor(math.sqrt(n)))",
    "renorm": "X(2, n), 2, 1, 3 | R(), X(5, q(5)), 1, 1, 3",
    "norm": "T() | T(), 3 | R(), T(), 2, 1 | R(), T(), 1, D()",
    "random": "R(), 5, 70 | R(), 9 | R() | *5, 70 | *9 | *",
    "uniform": "R(), -1, 3 | *-1, 3",
    "normal": "R(), 1, 2 | *1, 2",
    "rand": "E(), n | *n",
    "randn": "E(), n | *n",
    "exponential": "R(), 2 | *2",
    "cauchy": "R(), 1, 2 | *1, 2",
    "logNormal": "R(), 1, 2 | *1, 2",
    "geometric": "R(), 0.3 | *0.3",
    "bernoulli": "R(), 0.3 | *0.3 | R(), U():float() | R(), U():double()",
    "nonzero": "T() | S() | *T()",
    "cmax": "R(), T() | R(), S(), T() | R(), 3 | *S(), T() | *T(), 2",
    "cmin": "R(), T() | R(), S(), T() | R(), 3 | *S(), T() | *T(), 2",
    "randperm": "E(), n | *n",
    "multinomial": " *X(n):abs(), 3 | *torch.rand(3, n), n, true",
    "multinomialAliasSetup_": "U():abs(), L(), R()",
    "repeatTensor": "T(), 2, 3 | X(2, 2), q(4), 1",
    "atan2": "R(), S(), T() | *1, 2",
    "pow": "R(), 3 | R(), S(), 3 | R(), 2, T() | T(), 0.5 | *3, 2",
    "fill": "R(), 3",
    "zero": "R()",
    "copy": "R(), T() | R(), M() | R(), L() | R(), O('Float') | R(), O('Double') | R(), O('Int')",
    "clone": "T()",
    "contiguous": "T()",
    "typeAs": "T(), M() | T(), L()",
    "symeig": "*P(n % 70 + 2, n % 70 + 2), 'V'",
    "eig": "*P(n % 40 + 2, n % 40 + 2), 'V'",
    "svd": "*P(n % 70 + 2, n % 70 + 5)",
    "qr": "*P(n % 70 + 5, n % 70 + 2)",
    "geqrf": "*P(n % 70 + 5, n % 70 + 2)",
    "orgqr": "*P(5, 3), X(3)",
    "ormqr": "*P(5, 5), X(5), X(5, 2)",
    "gesv": "*X(n % 150 + 2, 3), P(n % 150 + 2, n % 150 + 2)",
    "gels": "*X(n % 70 + 5, 2), P(n % 70 + 5, n % 70 + 2)",
    "trtrs": "*X(n % 70 + 2, 3), P(n % 70 + 2, n % 70 + 2)",
    "potrf": "*torch.mm(P(9, 9), P(9, 9):t())",
    "potrs": "*X(9, 2), P(9, 9)",
    "potri": "*P(9, 9)",
    "pstrf": "*torch.mm(P(9, 9), P(9, 9):t())",
    "inverse": "*P(n % 170 + 2, n % 170 + 2) | *P(n % 9 + 200, n % 9 + 200)",
}

_WORDS = {
    "*T*": ("R()", "R()"),
    "[*T*]": ("", "R()", "Z()", "R()"),
    "[*ByteTensor*]": ("", "B()"),
    "[*LongTensor*]": ("", "L()", "ZL()", "L()"),
    "*real*": ("W()",),
    "T": ("T()", "S()"),
    "[T=1]": ("", "S()"),
    "ByteTensor": ("M()",),
    "LongTensor": ("L()",),
    "Tensor": ("T()",),
    "real": ("N()",),
    "[real=1]": ("", "N()"),
    "[real=2]": ("", "N()"),
    "index": ("D()", "F()", "F()", "D()"),
    "[index=1]": ("", "D()"),
    "[index=last]": ("", "F()"),
    "[boolean=false]": ("", "true"),
    "double": ("N()",),
}


#: Of sums with a factor: BLAS's axpy adds nothing where it is 0 and the sum takes t's place.
_IN_PLACE = ("R(), 0, S()", "R(), A(), 0, S()")

#: Of calls along a dimension: many short rows, and many short columns.
_SHORT = (("X(q(5) + 8, 5)", "2"), ("X(q(5) + 8, 5)", "1"), ("X(3, q(15) + 8, 4)", "2"))


#: Calls of few elements that go to Python although Lua has a way for others: words and names. Most
#: have destinations of other sizes, or values that Lua's numbers do not hold. There are more in
#: `goes_to_python`.
_IN_PYTHON = {
    "R(), n": "ones zeros",
    "R(), torch.LongStorage{3, q(3)}": "ones",
    "E(), n": "rand randn randperm",
    "E(), 1, n, 1": "range",
    "E(), n, 1, -1": "range",
    "E(), -3, 5, n": "linspace",
    "R(), T(), T(), 1": "cat",
    "E(), T(), T(), 1": "cat",
    "R(), S(), F()": "sum prod mean",
    "R(), S(), D()": "sum prod mean",
    "R(), S(), F(), true": "var std",
    "R(), S(), D(), true": "var std",
    "X(3, q(15) + 8, 4), 2": "var std",
    "R(), T(), 2, 1": "norm",
    "R(), T(), 1, D()": "norm",
    "T(), 3": "norm",
    "S(), S(), N()": "dist",
    "R(), X(5, q(5)), 1, 1, 3": "renorm",
    "R(), L(), S(), F()": "max min median mode",
    "R(), L(), S(), D()": "max min",
    "R(), L(), S(), 1": "kthvalue",
    "R(), L(), T(), 1": "topk",
    "R(), X(3, n), 2, I(n, 9)": "index",
    "R(), S(), M()": "maskedSelect",
    "R(), U():float()": "bernoulli",
    "R(), U():double()": "bernoulli",
    "R()": "random",
    "S()": "byte char short int long half float",
    "T()": "half",
    "3, 2": "pow",
    "1, 2": "atan2",
}


def goes_to_python(call: Call) -> bool:
    """Whether few elements are left to Python: of numbers alone, and for a result of one row."""
    special = call.words.startswith(("Z()", "N()"))
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
