"""Pages as tests of pytest, in a pytest of their own."""

import re
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reporting.results_files import names_of_tests

pytest_plugins = "pytester"

# A pytest inside of this one forgets the modules that it has loaded, and would load them each time.
for module in ("th_shell.docs.reading.formats.markdown", "th_shell.docs.reading.formats.text"):
    import_module(module)

PAGE = data(__file__, "PAGE")
GOOD = "```lua\n> 1 + 1\n2\n```\n"
COUNTS = (
    "```lua\n> f = io.open('{log}', 'a'):write('run\\n'):close()\n" + "> 1 + 1\n2\n" * 20 + "```\n"
)


@pytest.fixture(autouse=True)
def folder(pytester: pytest.Pytester) -> Path:
    pytester.makeini("[pytest]\naddopts = --th-docs\nth_docs_glob = *.md\n")
    return pytester.path


def _results(run: pytest.RunResult) -> dict[str, str]:
    """The results of tests by their names, as `-v` shows them."""
    lines = re.findall(r"^(\S+::.*?) (PASSED|FAILED|SKIPPED|XFAIL)", run.stdout.str(), re.M)
    return dict(lines)


@pytest.mark.thorough
def test_an_example_is_a_test(folder: Path, pytester: pytest.Pytester) -> None:
    (folder / "page.md").write_text(PAGE)
    (folder / "other.txt").write_text(PAGE)
    run = pytester.runpytest_inprocess("-v", "--junitxml=junit.xml")
    # pytest shows the dots of a name as colons.
    assert _results(run) == {
        "page.md::Sums/1/x = torch::Tensor{1, 2}": "PASSED",
        "page.md::Sums/1/x:sum()": "PASSED",
        "page.md::Sums/1/x[1]": "FAILED",
        "page.md::Sums/1/prose": "SKIPPED",
    }
    assert f"FAIL {folder}/page.md:7: differs" in run.outlines
    run.assert_outcomes(failed=1, passed=2, skipped=1)
    cases = ElementTree.parse(folder / "junit.xml").findall(".//testcase")
    assert [case.get("name") for case in cases] == [
        "Sums/1/x = torch.Tensor{1, 2}",
        "Sums/1/x:sum()",
        "Sums/1/x[1]",
        "Sums/1/prose",
    ]


@pytest.mark.thorough
def test_tests_are_found_again_where_lines_have_moved(
    folder: Path, pytester: pytest.Pytester
) -> None:
    (folder / "page.md").write_text(PAGE)
    pytester.runpytest_inprocess()
    (folder / "page.md").write_text("New lines.\n\n" + PAGE)
    run = pytester.runpytest_inprocess("--lf", "-v")
    assert _results(run) == {"page.md::Sums/1/x[1]": "FAILED"}
    run = pytester.runpytest_inprocess("-v", "-k", "sum", "page.md::Sums/1/x:sum()")
    assert _results(run) == {"page.md::Sums/1/x:sum()": "PASSED"}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "pages"),
    [
        (["--th-docs"], {"docs/a.md", "docs/b.txt"}),
        (["--th-docs", "-o", "th_docs_glob=b.* *.rst"], {"docs/b.txt"}),
        (["--th-docs", "-o", "th_docs_glob=*.page a.*"], {"docs/a.md", "docs/c.page"}),
        ([], set()),
    ],
)
def test_which_pages_are_collected(
    folder: Path, pytester: pytest.Pytester, words: list[str], pages: set[str]
) -> None:
    pytester.makeini("[pytest]\n")
    (folder / "docs").mkdir()
    for name in ("a.md", "b.txt", "c.page"):
        (folder / "docs" / name).write_text(GOOD)
    run = pytester.runpytest_inprocess("--co", "-q", *words, "docs")
    found = [line for line in run.outlines if "::" in line]
    assert sorted(found) == sorted(f"{page}::/1/1 + 1" for page in pages)


@pytest.mark.thorough
def test_a_page_runs_once_for_all_workers(folder: Path, pytester: pytest.Pytester) -> None:
    (folder / "page.md").write_text(COUNTS.format(log=folder / "log"))
    run = pytester.runpytest_subprocess("--th-docs", "-n", "2", "--dist", "loadfile")
    run.assert_outcomes(passed=21)
    assert (folder / "log").read_text() == "run\n" * 2


@pytest.mark.thorough
def test_the_entry_point_loads_nothing_but_itself() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules)\n"
        "import th_shell.docs.pytest_entry\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = run_python("-c", code, check=True)
    own = ["th_shell", "th_shell.docs", "th_shell.docs.pytest_entry"]
    assert done.stdout == f"{own}\n"


@pytest.mark.parametrize(
    ("heading", "source", "name"),
    [
        ("Größe", "x", "Gr\\xf6\\xdfe/1/x"),
        ("a::b", "x", "a:\\:b/1/x"),
        ("", "print '\x1b[2J'", "/1/print '\\027[2J'"),
        ("", "x" * 200, "/1/" + "x" * 147 + "...f019101b"),
    ],
)
def testnames_of_tests(heading: str, source: str, name: str) -> None:
    assert names_of_tests([Example(1, 0, Kind.PROMPT, source, heading=heading)]) == [name]


@pytest.mark.thorough
def test_settings_hold_and_wrong_ones_are_errors(folder: Path, pytester: pytest.Pytester) -> None:
    (folder / "th-docs.toml").write_text("atol = 0.1\nsetup = 'y = 3'\n")
    (folder / "wrong.md").write_text("<!-- th-docs: skip -->\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "th-docs.toml").write_text("atol = 'x'\n")
    (folder / "sub" / "page.md").touch()
    page = "```\n> y + 0.05\n3.0000\n> y -- th-docs: xfail reason='a bug'\n4\n```\n"
    (folder / "page.md").write_text(page)
    run = pytester.runpytest_inprocess("-rx", "--continue-on-collection-errors")
    run.assert_outcomes(passed=1, xfailed=1, errors=2)
    printed = run.stdout.str()
    assert "a bug" in printed
    why = "wrong.md:1: the directive holds for nothing: no block of examples stands right under it"
    assert why in printed
    assert f"{folder}/sub/th-docs.toml: atol: not a number" in printed


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("> a:b()\n> 1\n1\n", "50% of what could be compared is checked, not 80%"),
        ("", "1 of its examples that were compared are gone, first: /1/1 (see --update)"),
    ],
)
def test_a_page_fails_as_a_whole(
    folder: Path, pytester: pytest.Pytester, page: str, problem: str
) -> None:
    (folder / "page.md").write_text(f"```\n{page}```\n")
    (folder / "page.md.th-docs").write_text("[verdicts]\n'/1/1' = 'pass'\n")
    (folder / "th-docs.toml").write_text("min_checked = 0.8\n" if page else "")
    run = pytester.runpytest_inprocess("--th-docs", "-v")
    run.assert_outcomes(failed=1, passed=bool(page), skipped=bool(page))
    assert _results(run)["page.md::page"] == "FAILED"
    assert problem in run.outlines
    (folder / "page.md.th-docs").unlink()
    (folder / "th-docs.toml").write_text("min_checked = 0.5\n" if page else "")
    run = pytester.runpytest_inprocess("--th-docs")
    run.assert_outcomes(passed=2 * bool(page), skipped=bool(page))
