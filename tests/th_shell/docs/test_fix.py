"""Documented outputs and inputs are mended in place; everything else stays byte for byte."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data
from th_shell.docs import checking, cli
from th_shell.docs.checking import Checker
from th_shell.docs.fix import Correction
from th_shell.docs.judging.comparison import agrees
from th_shell.docs.judging.printout import ANYTHING
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example
from th_shell.docs.rewriting import rewritten
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import Configuration


def by_value(documented: str, printed: str) -> bool:
    return agrees(documented.replace("...", ANYTHING), printed)


@pytest.mark.parametrize(
    ("documented", "printed", "new"),
    [
        (["1"], "2\t\n", ["2"]),
        (["  1"], "2\n", ["  2"]),
        (["  10"], "9\n", ["  9"]),
        (["x = 10"], "x = 9\n", ["x = 9"]),
        (["1", "3"], "1\n2\n3\n", ["1", "2", "3"]),
        (["1"], "1\n2\n3\n", None),  # one line tells nothing of two others
        (["1", "2", "4"], "1\n2\n3\n4\n", ["1", "2", "3", "4"]),
        (["1", "2", "3"], "1\n3\n", ["1", "3"]),
        (["1", "2", "The end."], "1\n2\n", None),  # it may be no output
        (["1.5 2.50", "a"], " 1.5000  2.7500\nb\n", ["1.5 2.75", "b"]),
        (["0.53"], "0.33333333333333\n", ["0.33"]),
        (["-0.5"], "0.5\n", ["0.5"]),
        (["nan"], "0.33333333333333\n", ["0.33333333333333"]),
        (["nan 0.33"], "0.66666666666667 0.33333333333333\n", None),  # it shows fewer digits
        (["nan"], "0.5\n", ["0.5"]),
        (["1e-3"], "0.0025\n", None),
        (
            [" 1  2", " 3  5", "[torch.DoubleTensor of size 2x2]"],
            " 1  2\n 3  4\n[torch.DoubleTensor of dimension 2x2]\n\n",
            [" 1  2", " 3  4", "[torch.DoubleTensor of size 2x2]"],
        ),
        (
            ["   1   2", "  10   4", "  [torch.DoubleTensor of dimension 2x2]"],
            "  1   2\n  3   4\n[torch.DoubleTensor of dimension 2x2]\n",
            ["   1   2", "   3   4", "  [torch.DoubleTensor of dimension 2x2]"],
        ),
        (
            ["   1   2", "  10   4", "  5   6", "  [torch.DoubleTensor of dimension 3x2]"],
            " 1   2\n 3   4\n5   6\n[torch.DoubleTensor of dimension 3x2]\n",
            ["   1   2", "   3   4", "  5   6", "  [torch.DoubleTensor of dimension 3x2]"],
        ),
        (["   7    8"], "  7  100\n", None),  # how wide the columns are is not known
        (["5 5"], "  5  5\n  5  5\n", ["5 5", "5 5"]),
        (["5 5"], "  5  5\n  5  12\n", None),  # where its columns begin is not known
        (["{1,2}", "{3, 4}"], "{1, 2}\n{3, 4}\n", ["{1,2}", "{3, 4}"]),
        ([" 0  0    0", "  [torch]"], " 0  0  0  0\n[torch]\n", [" 0  0  0  0", "  [torch]"]),
        (["words and 3"], "words and 4.5\n", ["words and 4.5"]),
        (["words and more"], "more words\n", None),
        (["{1, 2}"], "{1, 2, 3}\n", ["{1, 2, 3}"]),
        (["{1,2}"], "{1, 2, 3}\n", None),
        (["{0.33, 0.5}"], "{0.33333333333333, 0.5, 1}\n", None),
        (["old", "", "text"], "new\n", None),
        (["chain(1)", "  :add(2)"], "{", None),
        (["1  -- one", "3  -- two"], "1\n2\n", ["1  -- one", "2  -- two"]),
        (["1", "-- then", "3"], "1\n2\n", ["1", "-- then", "2"]),
        (["1", "...", "7"], "1\n2\n3\n", None),
        (["<C object at ...>", "7"], "<C object at 0x7f12>\n8\n", ["<C object at ...>", "8"]),
        (["<C with ..., 1>"], "<C with x, 2>\n", None),
        (["table: 0x7f12 5"], "table: 0x7f34 6\n", None),
        (["1 5"], "table: 0x7f34\n", None),
        (["1\t5"], "1\t6\t\n", ["1\t6"]),
        (["1\t5\t", "2\t6\t"], "1\t5\t\n2\t6\t\n3\t7\t\n", ["1\t5\t", "2\t6\t", "3\t7\t"]),
        (["1    5"], "1\t6\t\n", ["1    6"]),
        (["1    5"], "1\t16\t\n", None),
        (["4  5", "1    3"], "4 5\n1 2 3\n", None),  # the page has wider columns
        (["5  10  -2", "-19  -8  16"], "  5  10   2\n-19  -8  16\n", None),
        (["2  6  -1", "-1  -8  9"], "-1 -8  9\n 2  6 -1\n", ["-1  -8  9", "2  6  -1"]),
        (["1", "", "3"], "1\n2\n3\n", ["1", "2", "3"]),  # a line was lost
        (["1", "", "4"], "1\n2\n3\n", None),
        ([" 14  19", " nan   3"], " 14  19\n  2   3\n", [" 14  19", "  2   3"]),
        (["[1]  # not 3"], "[1, 2]\n", None),  # a comment is not dropped
        (["1  # not 3"], "2  # not 3\n", ["2  # not 3"]),
        (["1 ", "4 4  ", "x"], "1\n4\nx\n", ["1 ", "4  ", "x"]),
        (["  1 -- one", "   3"], " 3\n 1\n", None),  # whose comment it is, is not known
    ],
)
def test_the_page_keeps_its_ways(
    documented: list[str], printed: str, new: list[str] | None
) -> None:
    found = rewritten(documented, printed, by_value)
    assert (found if found is None else [line for lines in found for line in lines]) == new


def test_long_outputs_are_rewritten_in_little_time() -> None:
    documented = [f"{number} {number + 1}" for number in range(300)]
    wanted = [*documented[:50], *(f"{n} {n}" for n in range(200)), *documented[250:]]
    start = time.monotonic()
    new = rewritten(documented, "\n".join(wanted), by_value)
    assert new and [line.split() for lines in new for line in lines] == [w.split() for w in wanted]
    assert time.monotonic() - start < 5


PAGE = data(__file__, "PAGE")


Fixed = Callable[..., tuple[str, list[str]]]


@pytest.fixture
def fixed(starter: Starter, tmp_path: Path) -> Fixed:
    """Mends a page of this text: its new text, and the inputs of what is left."""

    def fixed(text: str, name: str = "page.md") -> tuple[str, list[str]]:
        (tmp_path / name).write_bytes(text.encode())
        found = Correction(tmp_path / name, Checker(starter, Compiler(), Configuration()))
        left = [result.example.source for result in found.left]
        return found.changed(found.changes), left

    return fixed


@pytest.mark.thorough
def test_a_page(fixed: Fixed) -> None:
    text, left = fixed(PAGE)
    assert text == PAGE.replace("3 5", "3 4").replace("true", "false")
    assert left == ["X:sum()", "error('no')", "torch.rand(2)"]
    assert fixed(text) == (text, left)


@pytest.mark.thorough
def test_margins_of_indented_fences(fixed: Fixed) -> None:
    page = "- An item\n\n  ```lua\n  > 1 + 1\n  3\n  ```\n"
    assert fixed(page)[0] == page.replace("  3", "  2")


@pytest.mark.thorough
def test_an_output_in_a_block_of_its_own(fixed: Fixed) -> None:
    page = "```lua\nprint(1 + 1)\n```\n\nIt prints:\n\n```\n3\n```\n"
    assert fixed(page) == (page.replace("3", "2"), [])


@pytest.mark.thorough
def test_errata_stay(fixed: Fixed, tmp_path: Path) -> None:
    (tmp_path / "page.md.th-docs").write_text(
        "[[errata]]\nreason = 'Two.'\ninput = '1 + 1'\nprints = '2'\n"
    )
    page = "```lua\n> 1 + 1\n3\n```\n"
    assert fixed(page) == (page, [])


RST = data(__file__, "RST")

LUA = data(__file__, "LUA")

AN_OBJECT = "<object object at 0x12345678>\n"
SCRIPT = "```lua\nx = torch.ones(1)\nx:mul(4)\nprint(x)\n 4\n[torch.DoubleTensor of size 1]\n```\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("page.rst", RST, RST.replace("   5\n   2\n\n   6", "   1\n   2\n\n   3")),
        ("page.lua", LUA, LUA.replace("-- 3", "-- 2").replace("-- c", "-- b\n-- c")),
        ("page.md", "> ```lua\n> > 1 + 1\n> 3\n> ```\n", "> ```lua\n> > 1 + 1\n> 2\n> ```\n"),
        ("page.md", "```lua\n> 'a b'\na\u00a0c\n```\n", "```lua\n> 'a b'\na b\n```\n"),
        ("page.md", ">>> ('a', 'b')\n('a','b')\n", ">>> ('a', 'b')\n('a', 'b')\n"),
        ("page.md", ">>> 2 > 1  # so it is\nTrux\n", ">>> 2 > 1  # so it is\nTrue\n"),
        ("page.md", ">>> 2 > 1  # so it is\nTrue\nTrue\n", ">>> 2 > 1  # so it is\nTrue\n"),
        ("page.md", f">>> object()\n{2 * AN_OBJECT}", f">>> object()\n{AN_OBJECT}"),
        (
            "page.md",
            ">>> {'a': 1, 'b': 2}\n 'b': 2}\n{'a': 1,\n",
            ">>> {'a': 1, 'b': 2}\n{'a': 1,\n 'b': 2}\n",
        ),
        ("page.md", SCRIPT.replace("\n 4", "\n 5"), SCRIPT),
    ],
)
def test_margins_and_marks_of_formats(fixed: Fixed, name: str, text: str, new: str) -> None:
    assert fixed(text, name) == (new, [])
    assert fixed(new, name) == (new, [])


@pytest.mark.thorough
def test_a_line_is_not_put_in_where_a_page_break_is(fixed: Fixed) -> None:
    page = "```lua\n> for n = 1, 3 do print(n) end\n1\n```\n```lua\n3\n```\n"
    assert fixed(page, "page.txt")[0] == page
    blank = page.replace("\n1\n", "\n1\n\n")
    assert fixed(blank, "page.txt")[0] == blank
    whole = page.replace("```\n```lua\n", "")
    assert fixed(whole, "page.txt") == (whole.replace("\n3", "\n2\n3"), [])


TRACEBACK = ">>> int('x')\nTraceback (most recent call last):\n  ...\nValueError: {}\n"
MESSAGE = "invalid literal for int() with base {}: 'x'"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "text", "new"),
    [
        ("lua", "> error('one two 3')\nstdin:1: one two 4\n", "\nstdin:1: one two 3\n"),
        ("lua", "> error('one two 3')\n7\n", None),
        ("lua", "> error('one ' .. math.random(9))\nstdin:1: one 77\n", None),
        (
            "python",
            TRACEBACK.format(MESSAGE.format(20)),
            f"  ...\nValueError: {MESSAGE}".format(10),
        ),
        ("python", TRACEBACK.format("no number"), None),
        (
            "python",
            TRACEBACK.replace("ValueError: {}\n", ""),
            f"  ...\nValueError: {MESSAGE}".format(10),
        ),
    ],
)
def test_the_message_of_an_error(fixed: Fixed, language: str, text: str, new: str | None) -> None:
    page = f"```{language}\n{text}```\n"
    found, left = fixed(page)
    assert (found == page, len(left)) == ((True, 1) if new is None else (False, 0))
    assert new is None or new in found


LEFT_OUT = ">>> 1\n1\n>>> 2\n>>> 3\n3\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "text", "new"),
    [
        ("python", LEFT_OUT, LEFT_OUT.replace("2\n", "2\n2\n")),
        ("python", LEFT_OUT.replace("> 2", "> print('2\\t2')"), None),
        ("python", LEFT_OUT.replace("> 2", "> print('2\\n')"), "\n2\n<BLANKLINE>\n>>> 3\n"),
        ("lua", "> 1\n1\n" * 5 + "> x = torch.ones(2)\n> x\n> 3\n3\n", "> x\n 1\n 1\n"),
        ("lua", "> 1\n1\n" * 5 + "> x = 7\n> x\n\n> 3\n3\n", "> x\n7\n"),
        ("python", LEFT_OUT.replace("2\n", "2\n\n"), LEFT_OUT.replace("2\n", "2\n2\n")),
        ("python", ">>> 1\n1\n```\n```python\n>>> 4\n\n>>> 5\n5\n", ">>> 4\n4\n\n>>> 5\n"),
        ("lua", "> 1\n1\n\n" * 5 + "> x = 7\n> x\n\n> 3\n3\n", "> x\n7\n\n"),
    ],
)
def test_an_output_that_the_page_leaves_out(
    fixed: Fixed, language: str, text: str, new: str | None
) -> None:
    page = f"```{language}\n{text}```\n"
    found, left = fixed(page)
    assert (found == page, len(left)) == ((True, 1) if new is None else (False, 0))
    assert new is None or new in found


@pytest.mark.thorough
def test_cells_of_a_page(fixed: Fixed) -> None:
    page = "In [1]:\nx = 5\n\nIn [2]:\nx + 1\n\n7\n\nIn [3]:\nx\n\n5\n"
    assert fixed(page, "page.txt") == (page.replace("7", "6"), [])


@pytest.mark.thorough
def test_what_a_line_has_lost_before_blanks_at_its_end(fixed: Fixed) -> None:
    page = "```python\n>>> for n in range(2): print(n, n)\n0 \n1 1\n```\n"
    for line, new in (("0 \n", "0 0\n"), ("0 2 \n", "0 0 \n"), ("2 0 \n", "0 0 \n")):
        assert fixed(page.replace("0 \n", line))[0] == page.replace("0 \n", new)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "example", data(__file__, "test_what_would_be_read_as_something_else_stays")
)
def test_what_would_be_read_as_something_else_stays(fixed: Fixed, example: str) -> None:
    page = f"```lua\n{example}> 1 + 1\n3\n```\n"
    text, left = fixed(page)
    assert (text, len(left)) == (page.replace("+ 1\n3", "+ 1\n2"), 1)


@pytest.mark.thorough
@pytest.mark.parametrize("example", data(__file__, "test_what_is_left"))
def test_what_is_left(fixed: Fixed, example: str) -> None:
    page = f"```lua\n{example}```\n"
    assert fixed(page)[0] == page


@pytest.mark.thorough
def test_what_follows_from_a_failure_is_left(fixed: Fixed) -> None:
    page = (
        "```python\n>>> class C:\n...     x = 1\n>>> def f(x=Missing): pass\n"
        ">>> class C:\n...     x = f\n>>> c = C()\n>>> c.x\n2\n```\n"
    )
    assert fixed(page) == (page, [])


@pytest.mark.thorough
def test_python_keeps_its_marks(fixed: Fixed) -> None:
    page = (
        "```python\n>>> print('a\\n\\nb', object())\na\n<BLANKLINE>\nc <object object at ...>\n"
        ">>> print('a\\n\\nb')\na\nx\nb\n>>> 1 / 3\n0.33\n```\n"
    )
    text, left = fixed(page)
    new = page.replace("\nx\n", "\n<BLANKLINE>\n").replace("\n0.33\n", "\n0.3333333333333333\n")
    assert (text, len(left)) == (new, 1)


@pytest.mark.thorough
def test_a_fault_on_one_page_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    judge = checking.judge_page

    def judge_page(examples: Sequence[Example], *rest: Any) -> Any:
        if examples[0].source in ("odd", "1 + 2") and examples[0].expected != "5":
            raise LookupError("nobody\nknows")
        return judge(examples, *rest)

    monkeypatch.setattr(checking, "judge_page", judge_page)
    monkeypatch.chdir(tmp_path)
    for name, source in (("a", "1 + 1"), ("b", "odd"), ("c", "1 + 2"), ("d", "2 + 2")):
        Path(f"{name}.md").write_text(f"```lua\n> {source}\n5\n```\n")
    Path("b.md").write_text("```lua\n> odd\n```\n")
    assert cli.main(["fix", "."]) == 1
    assert capfd.readouterr() == (
        "a.md: 1 mended, 0 left\n"
        "b.md: th-docs cannot check it: LookupError: nobody\\010knows\n"
        "c.md:2: left: differs: 1 + 2\n"
        "c.md: 0 mended, 1 left\n"
        "d.md: 1 mended, 0 left\n",
        "",
    )
    assert [Path(f"{name}.md").read_text()[-6] for name in "acd"] == ["2", "5", "4"]


@pytest.mark.thorough
def test_the_file_stays_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page, link = Path("page.md"), Path("link.md")
    page.write_bytes(b"```lua\r\n> 1 + 1\r\n3\r\n```\r\nNo newline")
    page.chmod(0o640)
    link.symlink_to(page)
    assert cli.main(["fix", "--diff", "link.md"]) == 1
    assert "-3\n+2\n" in capfd.readouterr().out
    assert cli.main(["fix", "link.md", "./page.md", "page.md"]) == 0
    assert capfd.readouterr().out == "link.md: 1 mended, 0 left\npage.md: 0 mended, 0 left\n"
    assert link.is_symlink() and page.stat().st_mode & 0o777 == 0o640
    assert page.read_bytes() == b"```lua\r\n> 1 + 1\r\n2\r\n```\r\nNo newline"


@pytest.mark.thorough
def test_a_page_that_others_change_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path("page.md").absolute()
    page.write_text(
        f"```lua\n> f = io.open('{page}', 'w') f:write('new') f:close()\n> 1 + 1\n3\n```\n"
    )
    assert cli.main(["fix", "page.md"]) == 1
    assert (
        capfd.readouterr().out == "page.md: it has been changed meanwhile, and is left as it is\n"
    )
    assert page.read_text() == "new"


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "said", "left"), data(__file__, "test_what_fails_else_is_left"))
def test_what_fails_else_is_left(
    tmp_path: Path, words: list[str], said: str, left: str, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\n> a:b()\n> 1\n1\n```\n")
    (tmp_path / "page.md.th-docs").write_text(said)
    assert cli.main(["fix", *words, str(page)]) == cli.main([*words, str(page)]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert any(line in (f"{page}: {left}", f"{page}{left}") for line in lines)
