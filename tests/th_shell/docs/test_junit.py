"""The file of results that CI systems read, held against the one that pytest writes."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.data_files import data
from tests.th_shell.docs.results import page, result
from th_shell.docs.cli import main
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reporting.results_files import junit_xml

pytest_plugins = "pytester"

PAGE = data(__file__, "PAGE")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    Path("docs/page.md").write_text(PAGE)


def cases(file: str, top: str = "\0") -> list[tuple[object, ...]]:
    """What a file says of each test case, times aside. top: the folder that names of pages have."""
    found = []
    text = Path(file).read_text("utf-8").replace(top, "")
    for case in ElementTree.fromstring(text).iter("testcase"):
        rows = [(one.tag, dict(one.attrib)) for one in case.iter("property")]
        said = [one for one in case if one.tag != "properties"]
        kinds = [
            (one.tag, one.get("type"), (one.get("message") or "").split("\n")[0]) for one in said
        ]
        texts = [one.text for one in said if one.tag == "failure"]
        found.append((case.get("classname"), case.get("name"), rows, kinds, texts))
    return found


@pytest.mark.thorough
def test_it_says_what_the_file_of_pytest_says(pytester: pytest.Pytester, tmp_path: Path) -> None:
    pytester.makeini("[pytest]\n")
    pytester.mkdir("docs").joinpath("page.md").write_text(PAGE)
    pytester.runpytest_inprocess("--th-docs", "--junitxml=pytest.xml")
    assert main(["--junitxml", "own.xml", "docs/page.md"]) == 1
    theirs, own = cases(f"{pytester.path}/pytest.xml", f"{pytester.path}/"), cases("own.xml")
    assert own == theirs
    kinds = Counter(rows[0][1]["value"] for _, _, rows, _, _ in own)  # type: ignore[index]
    assert kinds == {
        "ran": 1, "pass": 1, "differs": 2, "error": 1, "xfail": 1, "skipped": 1, "fragment": 1,
        "text": 1,
    }  # fmt: skip
    attributes = ("tests", "failures", "errors", "skipped")
    (their_suite,) = ElementTree.parse(pytester.path / "pytest.xml").iter("testsuite")
    (suite,) = ElementTree.parse("own.xml").iter("testsuite")
    assert [suite.get(name) for name in attributes] == ["9", "3", "0", "4"]
    assert [their_suite.get(name) for name in attributes] == ["9", "3", "0", "4"]
    assert float(suite.get("time", "")) > 0


@pytest.mark.thorough
def test_a_page_with_a_problem_is_an_error() -> None:
    assert main(["--junitxml", "own.xml", "none.md", "docs/page.md"]) == 1
    suite = ElementTree.parse("own.xml").getroot()[0]
    assert suite.get("errors") == "1"
    case = suite[0]
    assert (case.get("classname"), case.get("name")) == ("none.md", "")
    error = case[0]
    assert (error.tag, error.get("message")) == (
        "error",
        "cannot be read: No such file or directory",
    )


def test_what_xml_cannot_have() -> None:
    odd = "\0\x1b\ufffe\uffff \udcff\udc80\x85 ä 𝄞"
    text = junit_xml([page(result(Verdict.DIFFERS, odd, odd, source=odd), name=f"a{odd}")])
    failure = next(ElementTree.fromstring(text.encode()).iter("failure"))
    assert "\\000\\027\\ufffe\\uffff \\xff\\128\\194\\133 ä 𝄞" in (failure.text or "")


def test_a_file_that_cannot_be_written(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--junitxml", "none/a", "docs/page.md"]) == 2
    problem = "th-docs: none/a cannot be written: No such file or directory\n"
    assert capfd.readouterr().err == problem
