"""Which operations and documented functions have checked examples."""

from pathlib import Path

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reporting.coverage import (
    Covered,
    coverage_lines,
    documented,
    measure,
    torch_names,
)

PASS, RAN, SKIPPED, ERROR = Verdict.PASS, Verdict.RAN, Verdict.SKIPPED, Verdict.ERROR


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("torch.add(x, 1)", True),
        ("x:add(1)", True),
        ("add(1)", True),
        ("add{1}", True),
        ("y = add", False),
        ("-- torch.add(x)", False),
        ("'torch.add(x)'", False),
        ("torch.addmm(x)", False),
    ],
)
def test_a_name_is_covered_where_it_is_called(source: str, used: bool) -> None:
    names = measure([page(result(PASS, "1", source=source))], ["add"]).names
    assert names == (Covered(("add",), (), ()) if used else Covered((), (), ("add",)))


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
def test_what_is_shown_below_is_checked(results: list[object], kind: str) -> None:
    names = measure([page(*results)], ["f"]).names  # type: ignore[arg-type]
    assert getattr(names, kind) == ("f",)


def test_the_text() -> None:
    lines = coverage_lines(measure([page(result(line=3))], [f"name{i}" for i in range(20)]))
    assert (
        "\n".join(lines)
        == """\
torch: 0 of 20 have a checked example
  no example: name0 name1 name2 name3 name4 name5 name6 name7 name8 name9 name10 name11 name12
    name13 name14 name15 name16 name17 name18 name19"""
    )


def test_the_operations_of_torch() -> None:
    names = torch_names()
    assert {"add", "gesv", "fill", "range"} <= set(names)
    assert not any("_" in name or "." in name for name in names)
    assert names == sorted(set(names))


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
def test_names_in_python(source: str, covered: tuple[str, ...]) -> None:
    example = Example(1, 0, Kind.PROMPT, source, "1", language="python")
    found = measure([page(Result(example, Verdict.PASS))], ["add", "sum", "view"])
    assert found.names.checked == covered


FUNCTIONS = """\
# Lume (a library)
## Numbers: round(x)
### lume.round(x [, increment])
### `lume.lerp(a, b)`
### [res] torch.abs([res,] x)
### <a name="x"></a>array:map(f(x))
```sh
# not.code(x)
```
text.call(x)

.. function:: fun.range([start,] stop)
   .. py:method:: Class.run(x)
.. autofunction:: more.chunked
.. function::
"""


def test_the_functions_that_pages_document(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(FUNCTIONS)
    pages = [page(name=str(path)), page(name="none.md", problem="bad")]
    names = "round lume.round lume.lerp torch.abs array:map fun.range Class.run more.chunked"
    assert documented(pages) == names.split()


def test_the_last_part_of_the_name_of_a_function_is_what_examples_use(tmp_path: Path) -> None:
    pages = [page(result(PASS, source="x:map(f)"), result(RAN, source="lume.round(1)", block=1))]
    found = measure(pages, [], ["array:map", "lume.round", "lume.lerp"])
    assert found.functions == Covered(("array:map",), ("lume.round",), ("lume.lerp",))
    assert list(coverage_lines(found)) == [
        "documented functions: 1 of 3 have a checked example",
        "  only run: lume.round",
        "  no example: lume.lerp",
    ]
