"""The results in JSON, against their published schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import PageResult, Verdict
from th_shell.docs.reporting import results_json as module
from th_shell.docs.reporting.coverage import Coverage, Covered
from th_shell.docs.reporting.results_json import results_json

SCHEMA = json.loads(Path(module.__file__).with_name("results.schema.json").read_text())

EVERY = page(*(result(verdict, "1", "2", source=f"x{at}") for at, verdict in enumerate(Verdict)))
BYTES = page(
    result(source="'\udcff\x1b'", got="\udc80", expected="\ud7ff", note="\udcfe"),
    name="\udcff.md",
    problem="\udcff",
)
COVERAGE = Coverage(
    Covered(("a",), (), ("b",)),
    Covered((), ("x.f",), ()),
    {Path("p.md"): Covered((), ("c",), ("\udcff",))},
)


def valid(text: str) -> Any:
    found = json.loads(text)
    Draft202012Validator(SCHEMA).validate(found)
    return found


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("pages", [[], [page()], [EVERY], [EVERY, BYTES]])
@pytest.mark.parametrize("coverage", [None, COVERAGE])
def test_results_are_as_the_schema_says(pages: list[PageResult], coverage: Coverage | None) -> None:
    valid(results_json(pages, coverage))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["version"], 2),
        (["pages", 0, "examples", 0, "verdict"], "good"),
        (["pages", 0, "examples", 0, "line"], 0),
        (["pages", 0, "examples", 0, "documented"], [1]),
        (["pages", 0, "other"], 1),
        (["counts"], {"good": 1}),
    ],
)
def test_the_schema_refuses_what_is_not_so(path: list[Any], value: object) -> None:
    found = json.loads(results_json([EVERY]))
    *parents, last = path
    holder = found
    for key in parents:
        holder = holder[key]
    holder[last] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMA).validate(found)


def test_bytes_that_are_no_utf8() -> None:
    text = results_json([BYTES], COVERAGE)
    text.encode("ascii")
    found = valid(text)
    (example,) = found["pages"][0]["examples"]
    assert found["pages"][0]["page"] == r"\xff.md"
    assert (example["input"], example["got"], example["note"]) == ("'\\xff\x1b'", r"\x80", r"\xfe")


def test_causes() -> None:
    pages = [page(result(expected="1")), page(result(expected="2", line=9), name="b.md")]
    assert valid(results_json(pages))["causes"] == [
        {
            "verdict": "differs",
            "cause": "the program prints nothing",
            "places": [{"page": "page.md", "line": 5}, {"page": "b.md", "line": 9}],
        }
    ]
