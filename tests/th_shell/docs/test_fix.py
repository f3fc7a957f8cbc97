"""Documented outputs and inputs are mended in place; everything else stays byte for byte."""

import time
from pathlib import Path

import pytest

from th_shell.docs.checking import assess_page
from th_shell.docs.fixing.fix import find_fix
from th_shell.docs.fixing.rewriting import rewritten
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner


@pytest.mark.parametrize(
    ("documented", "printed", "new"),
    [
        (["1"], "2\t\n", ["2"]),
        (["  1"], "2\n", ["  2"]),
        (["1", "3"], "1\n2\n3\n", ["1", "2", "3"]),
        (["1", "2", "3"], "1\n3\n", ["1", "3"]),
        (["1.5 2.50", "a"], " 1.5000  2.7500\nb\n", ["1.5 2.75", "b"]),
        (
            [" 1  2", " 3  5", "[torch.DoubleTensor of size 2x2]"],
            " 1  2\n 3  4\n[torch.DoubleTensor of dimension 2x2]\n\n",
            [" 1  2", " 3  4", "[torch.DoubleTensor of size 2x2]"],
        ),
        (["   7    8"], "  7  100\n", ["   7  100"]),
        (["5 5"], "  5  5\n  5  5\n", ["5 5", "5 5"]),
        (["words and 3"], "words and 4.5\n", ["words and 4.5"]),
        (["old", "", "text"], "new\n", ["new"]),
    ],
)
def test_the_page_keeps_its_ways(documented: list[str], printed: str, new: list[str]) -> None:
    assert [line for lines in rewritten(documented, printed) for line in lines] == new


def test_long_outputs_are_rewritten_in_little_time() -> None:
    documented = [f"{number} {number + 1}" for number in range(300)]
    wanted = [*documented[:50], *(f"{n} {n}" for n in range(200)), *documented[250:]]
    start = time.monotonic()
    new = rewritten(documented, "\n".join(wanted))
    assert [line.split() for lines in new for line in lines] == [w.split() for w in wanted]
    assert time.monotonic() - start < 5


PAGE = """\
# A page\r
\r
```lua\r
> x = torch.range(1, 4):resize(2, 2)\r
> x\r
 1 2\r
 3 5\r
[torch.DoubleTensor of size 2x2]\r
\r
> X:sum()\r
10\r
> torch.rand(1)[1] > 2\r
true\r
> error('no')\r
yes\r
> torch.rand(2)\r
 7\r
```\r
The end."""


def fixed(
    folder: Path, runner: Runner, text: str, name: str = "page.md"
) -> tuple[str, int, list[str]]:
    path = folder / name
    path.write_bytes(text.encode())
    page = read(path, Compiler())
    fix = find_fix(text, page, assess_page(page, runner))
    return fix.text, fix.examples, [r.example.source for r in fix.left]


def test_a_page(runner: Runner, tmp_path: Path) -> None:
    text, count, left = fixed(tmp_path, runner, PAGE)
    assert text == (
        PAGE.replace("3 5", "3 4").replace("> X:sum", "> x:sum").replace("true", "false")
    )
    assert (count, left) == (3, ["error('no')", "torch.rand(2)"])
    assert fixed(tmp_path, runner, text)[:2] == (text, 0)


def test_margins_of_indented_fences(runner: Runner, tmp_path: Path) -> None:
    page = "- An item\n\n  ```lua\n  > 1 + 1\n  3\n  ```\n"
    assert fixed(tmp_path, runner, page)[0] == page.replace("  3", "  2")


def test_an_output_in_a_block_of_its_own(runner: Runner, tmp_path: Path) -> None:
    page = "```lua\nprint(1 + 1)\n```\n\nIt prints:\n\n```\n3\n```\n"
    assert fixed(tmp_path, runner, page)[:2] == (page.replace("3", "2"), 1)


def test_errata_stay(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "page.md.th-docs").write_text(
        "[[errata]]\nreason = 'Two.'\ninput = '1 + 1'\nprints = '2'\n"
    )
    page = "```lua\n> 1 + 1\n3\n```\n"
    assert fixed(tmp_path, runner, page) == (page, 0, [])


RST = """\
Title
=====

.. code-block:: lua

   > print('1\\n2\\n3')
   5

   6
"""

LUA = """\
--- Adds.
-- @usage
-- > 1 + 1
-- 3
-- > print('a\\nb')
-- c
local x = 1
"""


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        # A blank line has no margin.
        ("page.rst", RST, RST.replace("   5\n\n   6", "   1\n   2\n   3")),
        ("page.lua", LUA, LUA.replace("-- 3", "-- 2").replace("-- c", "-- a\n-- b")),
        ("page.md", "> ```lua\n> > 1 + 1\n> 3\n> ```\n", "> ```lua\n> > 1 + 1\n> 2\n> ```\n"),
        ("page.md", "```lua\n> 'a b'\na\u00a0c\n```\n", "```lua\n> 'a b'\na b\n```\n"),
    ],
)
def test_margins_and_marks_of_formats(
    runner: Runner, tmp_path: Path, name: str, text: str, new: str
) -> None:
    assert fixed(tmp_path, runner, text, name)[0] == new
    assert fixed(tmp_path, runner, new, name) == (new, 0, [])


@pytest.mark.parametrize(
    "example",
    [
        "> print('```')\nx\n",  # the end of the fence
        "> print('> 1')\nx\n",  # a prompt
        "print('y = 5')\n7\n",  # a statement
        "> print('\\27[1mx')\ny\n",  # no text
        "> print('a\\rb')\ny\n",
        "print(1)\nprint(2)\n1\n3\n",  # may be what both print
    ],
)
def test_what_would_be_read_as_something_else_stays(
    runner: Runner, tmp_path: Path, example: str
) -> None:
    page = f"```lua\n{example}> 1 + 1\n3\n```\n"
    text, count, left = fixed(tmp_path, runner, page)
    assert (text, count, len(left)) == (page.replace("+ 1\n3", "+ 1\n2"), 1, 1)
