"""Repairs of a page's text: what they mend, and that nothing else is called healed."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import CheckPage
from th_shell.toml import loads

X = "x = torch.range(1, 3)\n"
SHOWN = " 1\n 2\n 3\n[torch.DoubleTensor of size 3]\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "why", "repaired"),
    [
        (f"> X\n{SHOWN}", "a small letter became a capital one: X", "> x"),
        ("> x.sum()\n6\n", "the colon of a method call became a dot", "> x:sum()"),
        (
            f"y = x.clone()\n> y\n{SHOWN}",
            "the colon of a method call became a dot",
            "y = x:clone()",
        ),
        (
            "> torch.LongTensor[{1, 2}]\n 1 2\n[torch.LongTensor of size 1x2]\n",
            "a brace became a bracket",
            "> torch.LongTensor{{1, 2}}",
        ),
        (
            "> (x[1] +\n + x[2])\n3\n",
            "an operator stands twice where the line breaks",
            "> (x[1]",
        ),
        (
            "> x:sum() -- the sum of\nall elements  -- or all\nof x\n6\n",
            "the end of the comment stands under it",
            "> x:sum() -- the sum of all elements  -- or all of x",
        ),
        (
            "> x:reshape(1, 3)\n123\n[torch.DoubleTensor of size 1x3]\n",
            "the spaces between the digits are missing",
            "1 2 3",
        ),
        (
            "> x\n 1\n 2\n 3\n[torch.Tensor of size 3]\n",
            "torch.Tensor stands for the type that is printed",
            "[torch.DoubleTensor of size 3]",
        ),
        (
            "> x\n 1\n 2\n 3\n(torch.DoubleTensor of size 3]\n",
            "a bracket became a parenthesis",
            "[torch.DoubleTensor of size 3]",
        ),
        (
            "> x\n 1\n 2\n 3\n",
            "the line with the class and the sizes is missing",
            " 3\n[torch.DoubleTensor of dimension 3]",
        ),
        (
            f"> x:dim()\n1\ny = x:clone()\n{SHOWN}z = torch.Tensor\\{{\\{{1\\}}\\}}\n",
            "a backslash stands before a bracket; the prompt that shows the variable is missing",
            None,
        ),
        (f"y = x:clone()\n{SHOWN}", "the prompt that shows the variable is missing", None),
        ("> x\\[1\\]\n1\n", "a backslash stands before a bracket", "> x[1]"),
        (
            "> X\n 1\n 2\n 3\n",
            "a small letter became a capital one: X; "
            "the line with the class and the sizes is missing",
            "> x\n 3\n[torch.DoubleTensor of dimension 3]",
        ),
    ],
)
def test_a_repair(check_text: CheckPage, text: str, why: str, repaired: str | None) -> None:
    result = check_text(f"```\n{X}{text}```\n")
    healed = [r for r in result.results if r.verdict.value == "healed"]
    assert {r.note for r in healed} == {why}
    assert repaired is None or healed[0].repaired.rstrip() == repaired
    assert result.failed
    assert not [r for r in result.results if r.failed and r not in healed]


LIST = ">>> x = [1, 2, 3]\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "why", "repaired"),
    [
        (">>> X\n[1, 2, 3]\n", "a small letter became a capital one: X", ">>> x"),
        (">>> Sum(x)\n6\n", "a small letter became a capital one: Sum", ">>> sum(x)"),
        (
            ">>> for i in X:\n...     i\n1\n2\n3\n",
            "a small letter became a capital one: X",
            ">>> for i in x:",
        ),
        (
            ">>> ‘a’ + “b” * (3 – 2)\n'ab'\n",
            "quotes became curly ones, or a minus a dash",
            ">>> 'a' + \"b\" * (3 - 2)",
        ),
        (">>> x\\[0\\]\n1\n", "a backslash stands before a bracket", ">>> x[0]"),
        (
            ">>> len(x) # how many there\nare in it\n3\n",
            "the end of the comment stands under it",
            ">>> len(x) # how many there are in it",
        ),
        (
            ">>> y = sum(x)\n6\n",
            "the prompt that shows the variable is missing",
            ">>> y = sum(x)\n>>> y",
        ),
        ("In [1]: len(‘abc’)\nOut[1]: 3\n", "quotes became curly ones, or a minus a dash", None),
    ],
)
def test_a_repair_in_python(
    check_text: CheckPage, text: str, why: str, repaired: str | None
) -> None:
    session = text if text.startswith("In") else LIST + text
    result = check_text(f"```python\n{session}```\n")
    (healed,) = [r for r in result.results if r.failed]
    assert (healed.verdict.value, healed.note) == ("healed", why)
    assert repaired is None or healed.repaired.rstrip() == repaired


@pytest.mark.thorough
@pytest.mark.parametrize("text", data(__file__, "test_what_no_repair_makes_hold_in_python"))
def test_what_no_repair_makes_hold_in_python(check_text: CheckPage, text: str) -> None:
    verdicts = {r.verdict.value for r in check_text(f"```\n{LIST}{text}```\n").results}
    assert "healed" not in verdicts
    assert {"differs", "error", "damaged", "fragment"} & verdicts


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "> X\n 1\n 2\n 4\n[torch.DoubleTensor of size 3]\n",
        "> x.sum()\n7\n",
        "> Y = x:sum()\n> y\n6\n",
        "> x:sum() -- the sum\n7\n",
        "> x\n 1\n 2\n 4\n",
        f"y = x:clone():add(1)\n{SHOWN}",
        "> torch.nothing(x)\n1\n",
    ],
)
def test_what_no_repair_makes_hold(check_text: CheckPage, text: str) -> None:
    verdicts = [r.verdict.value for r in check_text(f"```\n{X}{text}```\n").results]
    assert "healed" not in verdicts
    assert {"differs", "error", "damaged", "fragment"} & set(verdicts)


@pytest.mark.thorough
def test_a_repair_that_spoils_what_holds_is_none(check_text: CheckPage) -> None:
    # With x.y(...) made x:y(...), the last example would hold no more.
    text = (
        "n = 0\nx = {f = function(a) n = n + (a and 1 or 0) return a and 5 end}\n"
        "> x.f()\n5\n> n\n0\n"
    )
    verdicts = [r.verdict.value for r in check_text(f"```\n{text}```\n").results]
    assert verdicts == ["ran", "ran", "differs", "pass"]


@pytest.mark.thorough
def test_update_writes_the_repaired_input(check_text: CheckPage, tmp_path: Path) -> None:
    page = f"```\n{X}> X\n{SHOWN}> x.sum()\n7\n```\n"
    assert not check_text(page, update=True).failed
    errata = loads((tmp_path / "page.md.th-docs").read_text())["errata"]
    assert [(one["reason"], one["input"], one.get("right")) for one in errata] == [
        ("A small letter became a capital one: X.", "X", "x"),
        ("No reason is given yet.", "x.sum()", None),
    ]
    assert not check_text(page).failed
    assert check_text(page.replace("range(1, 3)", "range(2, 4)")).failed


@pytest.mark.thorough
def test_a_text_in_the_block_below_is_repaired(check_text: CheckPage) -> None:
    text = "1\n 1\n[torch.Tensor of size 2]"
    page = f"```\nx = torch.ones(2)\nprint(x)\n```\nIt prints:\n```\n {text}\n```\n"
    found = check_text(page).results[-1]
    assert (found.verdict.value, found.repaired) == ("healed", "[torch.DoubleTensor of size 2]")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "text",
    data(__file__, "test_what_is_no_damage_is_not_repaired"),
)
def test_what_is_no_damage_is_not_repaired(check_text: CheckPage, text: str) -> None:
    results = check_text(f"```\n{text}```\n").results
    assert results[-1].verdict.value == "differs"
