"""Which documented functions have checked examples."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reporting.coverage import Coverage, coverage_lines, documented, measure

PASS, RAN, SKIPPED, ERROR = Verdict.PASS, Verdict.RAN, Verdict.SKIPPED, Verdict.ERROR


def measured(folder: Path, names: str, *results: Result) -> Coverage:
    """The coverage of a page that documents functions of these names."""
    path = folder / "page.md"
    path.write_text("".join(f"# {name}(x)\n" for name in names.split()))
    return measure([page(*results, name=str(path))])


@pytest.mark.parametrize(
    ("source", "used"), data(__file__, "test_a_name_is_covered_where_it_is_called")
)
def test_a_name_is_covered_where_it_is_called(tmp_path: Path, source: str, used: bool) -> None:
    found = measured(tmp_path, "add", result(PASS, "1", source=source))
    assert found == (Coverage(("add",), (), ()) if used else Coverage((), (), ("add",)))


@pytest.mark.parametrize(
    ("results", "kind"),
    [
        ([result(PASS, source="x:f()")], "checked"),
        ([result(RAN, source="x:f()")], "ran"),
        ([result(SKIPPED, source="x:f()")], "none"),
        ([result(RAN, source="x = f()"), result(PASS, source="x")], "checked"),
        ([result(RAN, source="x:f()"), result(PASS, source="x")], "checked"),
        ([result(RAN, source="x:f()"), result(PASS, source="y")], "ran"),
        ([result(RAN, source="x:f()"), result(PASS, source="x", block=1)], "ran"),
        ([result(PASS, source="x"), result(RAN, source="x:f()")], "ran"),
    ],
)
def test_what_is_shown_below_is_checked(tmp_path: Path, results: list[Result], kind: str) -> None:
    assert getattr(measured(tmp_path, "f", *results), kind) == ("f",)


@pytest.mark.parametrize(
    ("source", "covered"),
    [
        ("torch.add(x, 1)", ("add",)),
        ("x.sum().view(2)", ("sum", "view")),
        ("add(x)  # not sum(x)", ("add",)),
        ("'x.add(1)'", ()),
        ("add = 1", ()),
    ],
)
def test_names_in_python(tmp_path: Path, source: str, covered: tuple[str, ...]) -> None:
    example = Example(1, 0, Kind.PROMPT, source, "1", language="python")
    found = measured(tmp_path, "add sum view", Result(example, Verdict.PASS))
    assert found.checked == covered


FUNCTIONS = data(__file__, "FUNCTIONS")


def test_the_functions_that_pages_document(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(FUNCTIONS)
    pages = [page(name=str(path)), page(name="none.md", problem="bad")]
    names = "round lume.round lume.lerp torch.abs array:map fun.range Class.run more.chunked"
    assert documented(pages) == names.split()


def test_the_report(tmp_path: Path) -> None:
    results = [result(PASS, source="x:map(f)"), result(RAN, source="lume.round(1)", block=1)]
    found = measured(tmp_path, "array:map lume.round lume.lerp", *results)
    assert found == Coverage(("array:map",), ("lume.round",), ("lume.lerp",))
    assert list(coverage_lines(found)) == [
        "documented functions: 1 of 3 have a checked example",
        "  only run: lume.round",
        "  no example: lume.lerp",
    ]


def test_long_lists_of_names() -> None:
    lines = coverage_lines(Coverage((), (), tuple(f"name{i}" for i in range(20))))
    assert (
        "\n".join(lines)
        == """\
documented functions: 0 of 20 have a checked example
  no example: name0 name1 name2 name3 name4 name5 name6 name7 name8 name9 name10 name11 name12
    name13 name14 name15 name16 name17 name18 name19"""
    )
