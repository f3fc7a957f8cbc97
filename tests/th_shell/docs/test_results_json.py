"""The results in JSON."""

import json

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reporting.coverage import Coverage
from th_shell.docs.reporting.results_files import results_json

EVERY = page(*(result(verdict, "1", "2", source=f"x{at}") for at, verdict in enumerate(Verdict)))
BYTES = page(
    result(source="'\udcff\x1b'", got="\udc80", expected="\ud7ff", note="\udcfe"),
    name="\udcff.md",
    problem="\udcff",
)
COVERAGE = Coverage((), ("x.f",), ())


def test_pages_and_counts() -> None:
    found = json.loads(results_json([EVERY, page()]))
    assert found["version"] == 2
    assert found["failed"] is True
    assert found["counts"] == {verdict.value: 1 for verdict in Verdict}
    assert [len(entry["examples"]) for entry in found["pages"]] == [len(Verdict), 0]


def test_bytes_that_are_no_utf8() -> None:
    text = results_json([BYTES], COVERAGE)
    text.encode("ascii")
    found = json.loads(text)
    assert found["coverage"] == {"checked": [], "ran": ["x.f"], "none": []}
    (example,) = found["pages"][0]["examples"]
    assert found["pages"][0]["page"] == r"\xff.md"
    assert (example["input"], example["got"], example["note"]) == ("'\\xff\x1b'", r"\x80", r"\xfe")
