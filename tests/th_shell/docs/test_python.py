"""How blocks of Python are cut into inputs and the text under each."""

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data_files import data
from tests.th_shell.docs.conftest import read_page
from th_shell.docs.judging.python_output import comparable, comparable_outcome
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.cutting import cut
from th_shell.docs.reading.examples import PYTHON, Example, Kind
from th_shell.docs.running.evaluation import Outcome
from th_shell.python_syntax import (
    bound_names,
    read_names,
    syntax,
    without_magics,
)
from th_shell.syntax import Syntax

COMPILER = Compiler()


def read(folder: Path, text: str, name: str = "page.md") -> list[Example]:
    page = folder / name
    page.write_text(text)
    return cut(read_page(page).blocks, COMPILER)


def short(examples: list[Example]) -> list[tuple[str, str]]:
    return [(e.source, e.expected) for e in examples]


SESSIONS = {
    "a value": (">>> 1 + 1\n2", [("1 + 1", "2")]),
    "nothing under it": (">>> x = 1\n>>> x\n1", [("x = 1", ""), ("x", "1")]),
    "continued": (
        ">>> for i in (1, 2):\n...     print(i)\n...\n1\n2",
        [("for i in (1, 2):\n    print(i)", "1\n2")],
    ),
    "continued in brackets": (">>> f(1,\n...   2)\n3", [("f(1,\n  2)", "3")]),
    "prompts lost": (
        ">>> def f():\n    a = 1\n    return a\n>>> f()\n1",
        [("def f():\n    a = 1\n    return a", ""), ("f()", "1")],
    ),
    "prompts lost in brackets": (
        ">>> x = [1,\n 2]\n>>> x\n[1, 2]",
        [("x = [1,\n 2]", ""), ("x", "[1, 2]")],
    ),
    "prompts instead of dots": (
        ">>> def f():\n>>>     a = 1\n>>>\n>>>     return a\n>>> f()\n1",
        [("def f():\n    a = 1\n\n    return a", ""), ("f()", "1")],
    ),
    "prompts in brackets": (
        ">>> x = [a\n>>> for a in b]\n>>> x\n[1]",
        [("x = [a\nfor a in b]", ""), ("x", "[1]")],
    ),
    "prompts that continue nothing": (
        ">>> def f():\n>>> x = 1\n>>> x\n1",
        [("def f():", ""), ("x = 1", ""), ("x", "1")],
    ),
    "output between prompts": (
        ">>> for a in b:\nTraceback\n>>>     a\n1",
        [("for a in b:", "Traceback"), ("a", "1")],
    ),
    "dots of output": (">>> f()\n...\nlast", [("f()", "...\nlast")]),
    "dots and words of output": (">>> f()\n... and so on", [("f()", "... and so on")]),
    "two statements": (">>> x = 1\n... y = 2\n>>> y\n2", [("x = 1\ny = 2", ""), ("y", "2")]),
    "blank lines": (
        ">>> t\ntensor([[1],\n\n        [2]])\n",
        [("t", "tensor([[1],\n\n        [2]])")],
    ),
    "comments": (">>> x\n1\n# so it is 1\n>>> # no\n>>> y\n# that is\n2", [("x", "1"), ("y", "2")]),
    "no code": (
        ">>> x = = 1\nSyntaxError: invalid syntax",
        [("x = = 1", "SyntaxError: invalid syntax")],
    ),
    "text above": ("what\n>>> 1\n1", [("", "what"), ("1", "1")]),
    "IPython": (
        "In [1]: x = [1,\n   ...:      2]\n\nIn [2]: x\nOut[2]: [1, 2]",
        [("x = [1,\n     2]", ""), ("x", "[1, 2]")],
    ),
    "IPython prints, too": (
        "In [1]: print(3)\n   ...: 4\n3\nOut[1]: 4\n\nIn [2]: 5\nOut[2]: 5",
        [("print(3)\n4", "3\n4"), ("5", "5")],
    ),
    "outputs behind all inputs": (
        "In [1]: 7\nIn [2]: 8\nOut[1]: 7\nOut[2]: 8",
        [("7", "7"), ("8", "8")],
    ),
}


@pytest.mark.parametrize("session", [s for s in SESSIONS if s != "text above"])
def test_a_session(tmp_path: Path, session: str) -> None:
    text, examples = SESSIONS[session]
    for fence, name in product(["", "python", "pycon"], ["page.md", "page.txt"]):
        found = read(tmp_path, f"```{fence}\n{text}\n```\n", name)
        assert short(found) == examples, (fence, name)
        assert {example.language for example in found} == {"python"}, (fence, name)


def test_text_above_the_first_prompt(tmp_path: Path) -> None:
    text, examples = SESSIONS["text above"]
    found = read(tmp_path, f"```python\n{text}\n```\n")
    assert short(found) == examples
    assert found[0].kind.value == "text"


def test_lines_of_a_page(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "# T\n\n```\n>>> (1,\n...  2)\n# a pair\n(1,\n 2)\n# so\n```\n")
    assert (example.line, example.last, example.documented) == (4, 5, (7, 8))
    assert (example.heading, example.kind.value) == ("T", "prompt")


def test_a_block_without_prompts_is_one_cell(tmp_path: Path) -> None:
    page = (
        "```python\n# one\nx = 1\n\nprint(x)\n```\n\n```python\nx =\n```\n\n```py\n# no code\n```\n"
    )
    code, text = read(tmp_path, page)
    assert (code.kind.value, code.source) == ("bare", "# one\nx = 1\n\nprint(x)")
    assert (code.line, code.last, code.expected) == (2, 5, "")
    assert (text.kind.value, text.source, text.expected) == ("text", "", "x =")


def test_lua_stays_lua(tmp_path: Path) -> None:
    found = read(
        tmp_path, "```\n> x = 1\n>> y\n```\n\nText.\n\n```\n>>> x\n```\n\n```lua\n>>> x\n```\n"
    )
    assert [example.language for example in found] == ["lua", "python", "lua"]


@pytest.mark.parametrize("option", ["+SKIP", "+ELLIPSIS, +SKIP"])
def test_skipped_as_doctest_does(tmp_path: Path, option: str) -> None:
    found = read(
        tmp_path, f"```\n>>> f()  # doctest: {option}\n1\n>>> g()  # doctest: +ELLIPSIS\n1\n```\n"
    )
    assert [bool(example.settings.skip) for example in found] == [True, False]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("x = 1\ny", Syntax.COMPLETE),
        ("", Syntax.COMPLETE),
        ("def f():", Syntax.INCOMPLETE),
        ("f(1,", Syntax.INCOMPLETE),
        ("'''a", Syntax.INCOMPLETE),
        ("x = = 1", Syntax.WRONG),
        ("tensor of numbers", Syntax.WRONG),
        ("\0", Syntax.WRONG),
        (r"'\d'", Syntax.COMPLETE),
    ],
)
def test_syntax(text: str, state: Syntax) -> None:
    assert syntax(text) is state


@pytest.mark.parametrize(
    ("source", "bound", "read_"),
    [
        ("x = y.z", {"x"}, {"y"}),
        ("import a.b, c as d", {"a", "d"}, set()),
        ("from a import *", {"*"}, set()),
        ("def f(a, *b, c=g): return a + h", {"f", "a", "b", "c"}, {"g", "a", "h"}),
        ("class A(B): pass", {"A"}, {"B"}),
        ("[i for i in x]", {"i"}, {"i", "x"}),
        ("with f() as g: pass", {"g"}, {"f"}),
        ("try: pass\nexcept E as e: pass", {"e"}, {"E"}),
        ("x = = 1", set(), set()),
    ],
)
def test_names(source: str, bound: set[str], read_: set[str]) -> None:
    assert (bound_names(source), read_names(source)) == (bound, read_)


@pytest.mark.parametrize(
    ("source", "code"), data(__file__, "test_lines_for_the_notebook_are_comments")
)
def test_lines_for_the_notebook_are_comments(source: str, code: str) -> None:
    assert without_magics(source) == code


PIECES = st.sampled_from(
    [
        *(">>> ", "... ", "In [1]: ", "   ...: ", "Out[1]: ", "In [2]:", "x = 1", "x", "f(", ")"),
        *("for i in x:", "    y", "", "'''", "%%bash", "!ls", r"'\d'", "# c", "{1, 2}", "```", "é"),
        "A sentence has words.",
    ]
)


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(PIECES, PIECES).map("".join), max_size=10), st.booleans())
def test_any_text_is_cut(lines: list[str], with_fence: bool) -> None:
    text = "\n".join(["```python", *lines] if with_fence else lines)
    with TemporaryDirectory() as folder:
        found = read(Path(folder), text, "page.txt")
    page = text.split("\n")
    for example in found:
        assert example.source or example.expected
        assert page[example.line - 1].strip()
        if example.documented:
            assert example.expected.split("\n")[0] in page[example.documented[0] - 1]
            assert example.expected.split("\n")[-1] in page[example.documented[1] - 1]


# -- pages without fences


PLAIN = data(__file__, "PLAIN")


def test_sessions_in_a_text_without_fences(tmp_path: Path) -> None:
    assert short(read(tmp_path, PLAIN, "page.txt")) == [
        ("x = 1", ""),
        ("x + 1", "2"),
        (
            "f(1)",
            "ValueError: the number is too small\n"
            "Only a larger number makes this work as it should.",
        ),
        ("[[1,\n  2]]", "[[1,\n\n  2]]"),
        (
            "g()",
            "page:1: UserWarning: this is going to change\n"
            "The way to go on is not to call it any more.",
        ),
    ]


@pytest.mark.parametrize("name", ["page.txt", "page.md"])
def test_pages_without_fences(tmp_path: Path, name: str) -> None:
    page = "# T\n\nText.\n\n>>> x = 1\n>>> x\n1\n\nMore text.\n\n```python\n>>> x\n1\n```\n"
    found = read(tmp_path, page, name)
    assert short(found) == [("x = 1", ""), ("x", "1"), ("x", "1")]
    assert [example.line for example in found] == [5, 6, 12]
    assert short(read(tmp_path, "Text.\n\nIn [1]:\nx\n\n1\n", name)) == [("x", "1")]


def test_cells_and_sessions_in_one_page(tmp_path: Path) -> None:
    page = ">>> a\n1\n\nIn [1]:\nb\n\n2\n\n>>> c\n3\n\nIn [2]:\nd\n\n4\n"
    found = read(tmp_path, page, "page.txt")
    assert short(found) == [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]
    assert [example.kind.value for example in found] == ["prompt", "cell", "prompt", "cell"]


def test_quotations_in_markdown_are_no_sessions(tmp_path: Path) -> None:
    assert read(tmp_path, "Text.\n\n>>> Who has said that?\n> He.\n", "page.md") == []


CELLS = data(__file__, "CELLS")


def test_a_notebook_in_a_text(tmp_path: Path) -> None:
    found = read(tmp_path, CELLS, "page.txt")
    assert short(found) == [
        (
            "from m import tensor\n\ndef f(x):\n    y = 1\n\n    return x + y\n\n"
            "points = tensor([1., 2.])\npoints",
            "tensor([1., 2.])",
        ),
        ("points.storage()  # 저장", "  points.storage()\n\n\n 1.0\n 2.0\n[storage of size 2]"),
        ("# 주석\na = 1\n\nprint(a)\na", "1\n\n\n1"),
        ("b = tensor([3., 4.])", ""),
        ("print((1, 2))\nprint('값')", "(1, 2)\n값"),
        ("a == 1", "True"),
    ]
    assert {example.kind.value for example in found} == {"cell"}
    assert (found[0].line, found[0].last, found[0].documented) == (4, 12, (14, 14))


#: Paragraphs of a cell, each with what is code and what is output: `code`, or `output` to its end.
PARAGRAPHS = {
    "an attribute of a variable is code": ("x = f()\ng(x)", "x.grad", "code"),
    "a class in a module is a value": ("import m\nm.f", "m.Size([2])", "output"),
    "a call of a short name is code": ("import m.pyplot as p\np.f()", "p.axis('off')", "code"),
    "numpy's short name is in values": ("import numpy as np\nnp.f()", "np.float64(2.0)", "output"),
    "a builtin function is code": ("f(1)", "print()", "code"),
    "a builtin class is a value": ("f(1)", "float", "output"),
    "a class of the page is a value": ("class P: pass\n\nP(1)", "P(x=1)", "output"),
    "a value may begin as its variable": ("device = f()\ndevice", "device(type='cpu')", "output"),
    "a function with blank lines": ("x = 1", "def f():\n    a = 1\n\n    return a", "code"),
    "a list with blank lines": ("x = 1", "y = [1,\n\n     2]", "code"),
    "a tensor with blank lines": ("f(1)", "tensor([[[1.]],\n\n        [[2.]]])", "output"),
    "settings under imports": ("%matplotlib inline\nimport m", "m.set(width=75)", "code"),
}


@pytest.mark.parametrize("case", PARAGRAPHS)
def test_paragraphs_of_cells(tmp_path: Path, case: str) -> None:
    first, second, kind = PARAGRAPHS[case]
    (example,) = read(tmp_path, f"Text.\n\nIn [1]:\n{first}\n\n{second}\n", "page.txt")
    code = example.source.replace("# %", "%")
    assert (code, example.expected) == (
        (f"{first}\n\n{second}", "") if kind == "code" else (first, second)
    )


@pytest.mark.parametrize(
    "prose",
    data(__file__, "test_prose_under_the_output_of_a_cell"),
)
def test_prose_under_the_output_of_a_cell(tmp_path: Path, prose: str) -> None:
    cell = f"In [1]:\nx.shape\n\nSize([2])\n\n{prose}\n\nIn [2]:\n2\n\n2\n"
    assert short(read(tmp_path, cell, "page.txt")) == [("x.shape", "Size([2])"), ("2", "2")]


def test_definitions_print_nothing(tmp_path: Path) -> None:
    cell = "In [1]:\ndef f():\n    return 1\n\nAny text\n\nIn [2]:\nf()\n\nAny text\n"
    found = read(tmp_path, cell, "page.txt")
    assert [example.expected for example in found] == ["", "Any text"]


SEEDS = Path(__file__).parents[4] / "shared" / "seeds"


@pytest.mark.skipif(not SEEDS.is_dir(), reason="needs ../shared/seeds")
@pytest.mark.parametrize(
    ("name", "examples", "documented", "last"),
    [
        ("002_90057bba74f56b9a.txt", 20, 4, (63, 64)),
        ("003_f6a2b82325ffd9ad.txt", 29, 28, (309, 317)),
    ],
)
def test_pages_this_project_was_founded_on(
    name: str, examples: int, documented: int, last: tuple[int, int]
) -> None:
    found = cut(read_page(SEEDS / name).blocks, COMPILER)
    assert len(found) == examples
    assert sum(bool(example.expected) for example in found) == documented
    assert found[-1].documented == last


@pytest.mark.parametrize(("shown", "printed", "same"), data(__file__, "test_sets"))
def test_sets(shown: str, printed: str, same: bool) -> None:
    example = comparable(Example(1, 0, Kind.PROMPT, "x", shown, language=PYTHON))
    assert (comparable_outcome(example, Outcome(printed)).output == example.expected) is same
