"""Which names and anchors have checked examples."""

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
    read_api,
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


ANCHORED = """\
<a name="top"></a>
Words.
<a name="one"></a>
# Heading

<A class=x id='two'></A> <a name=three>
> 1
<a href="#one" title="no anchor">
> 2
<a name="four"/>
"""


def test_anchors_have_the_examples_under_them(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(ANCHORED)
    found = measure([page(result(RAN, line=7), result(PASS, line=9), name=str(path))], [])
    assert found.anchors[path] == Covered(("one", "two", "three"), (), ("top", "four"))
    found = measure([page(result(RAN, line=2), result(PASS, line=11), name=str(path))], [])
    assert found.anchors[path] == Covered(("four",), ("top",), ("one", "two", "three"))


def test_pages_without_anchors_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("> 1\n")
    pages = [page(result(), name=str(tmp_path / "page.md")), page(name="none.md", problem="bad")]
    assert measure(pages, []).anchors == {}


def test_the_text(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("<a name='x\x1b'></a>\n<a name='y'></a>\n")
    pages = [page(result(line=3), name=str(tmp_path / "a.md")), page(name=str(tmp_path / "b.md"))]
    lines = coverage_lines(measure(pages, [f"name{i}" for i in range(20)]), "names")
    assert (
        "\n".join(lines).replace(f"{tmp_path}/", "")
        == """\
names: 0 of 20 have a checked example
  no example: name0 name1 name2 name3 name4 name5 name6 name7 name8 name9 name10 name11 name12
    name13 name14 name15 name16 name17 name18 name19
a.md: anchors: 2 of 2 have a checked example
b.md: anchors: 0 of 2 have a checked example
  no example: x\\027 y
2 pages: anchors: 2 of 4 have a checked example"""
    )


def test_the_operations_of_torch() -> None:
    names = torch_names()
    assert {"add", "gesv", "fill", "range"} <= set(names)
    assert not any("_" in name or "." in name for name in names)
    assert names == sorted(set(names))


def test_names_of_another_api(tmp_path: Path) -> None:
    (tmp_path / "api").write_text("# ours\nsplit\n\n  join # two strings\nsplit\n")
    assert read_api(tmp_path / "api") == ["join", "split"]


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
    assert list(coverage_lines(found, "names")) == [
        "documented functions: 1 of 3 have a checked example",
        "  only run: lume.round",
        "  no example: lume.lerp",
    ]
