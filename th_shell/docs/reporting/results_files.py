"""Writes results for programs: as JSON, and as JUnit's XML, as pytest does for the same pages."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from th_shell.docs.judging.verdicts import EXPECTED_TO_FAIL, NOT_CHECKED, PageResult, Result
from th_shell.docs.reading.examples import Example, Identity, identities
from th_shell.docs.reporting.coverage import Coverage
from th_shell.docs.reporting.report import describe_failure, tally
from th_shell.visible import encodable, visible

#: The version of the format of JSON: another one where a field goes or changes its meaning.
_VERSION = 2
_LONGEST = 150  # characters of a test's name
#: What XML cannot have, control codes and lone surrogates aside.
_NO_CHARACTERS = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}


def results_json(pages: Sequence[PageResult], coverage: Coverage | None = None) -> str:
    """All results as a text in JSON."""
    results = {
        "version": _VERSION,
        "failed": any(page.failed for page in pages),
        "counts": tally(pages),
        "pages": [_page_json(page) for page in pages],
    }
    if coverage:
        results["coverage"] = {
            kind: list(map(encodable, names)) for kind, names in coverage._asdict().items()
        }
    return json.dumps(results, indent=1) + "\n"


def _page_json(page: PageResult) -> dict[str, Any]:
    names = identities([result.example for result in page.results])
    return {
        "page": encodable(str(page.page)),
        "failed": page.failed,
        "problem": encodable(page.problem),
        "checked": page.checked,
        "counts": tally([page]),
        "examples": list(map(_example_json, page.results, names)),
    }


def _example_json(result: Result, identity: Identity) -> dict[str, Any]:
    example = result.example
    return {
        "id": str(identity),
        "line": example.line,
        "last": max(example.line, example.last),
        "documented": list(example.documented) if example.documented else None,
        "heading": encodable(example.heading),
        "kind": example.kind.value,
        "language": example.language,
        "input": encodable(example.source),
        "expected": encodable(example.expected),
        "got": encodable(result.got),
        "verdict": result.verdict.value,
        "failed": result.failed,
        "checked": result.checked,
        "note": encodable(result.note),
        "original": encodable(result.original),
        "repaired": encodable(result.repaired),
    }


# -- JUnit


def names_of_tests(examples: Sequence[Example]) -> list[str]:
    """Return the names of examples as tests, in ASCII: they are in files and on command lines."""
    return [_name(visible(str(identity))) for identity in identities(examples)]


def _name(text: str) -> str:
    # What is between '::' is the name of a test for pytest.
    name = text.replace("::", ":\\:").encode("ascii", "backslashreplace").decode()
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[:_LONGEST]}...{digest}"


def junit_xml(pages: Sequence[PageResult]) -> str:
    """All results as a text in XML: a test case for each example, with its verdict."""
    top = ElementTree.Element("testsuites", name="th-docs")
    suite = ElementTree.SubElement(top, "testsuite", name="th-docs")
    for page in pages:
        place = _text(str(page.page).lstrip("/").replace("/", "."))
        if page.problem:
            case = ElementTree.SubElement(suite, "testcase", classname=place, name="", time="0.000")
            _say(case, "error", page.problem, page.problem)
        names = names_of_tests([result.example for result in page.results])
        for result, name in zip(page.results, names, strict=True):
            time = f"{result.seconds:.3f}"
            case = ElementTree.SubElement(suite, "testcase", classname=place, name=name, time=time)
            _add(case, page, result)
    for name, tag in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    suite.set("time", f"{sum(result.seconds for page in pages for result in page.results):.3f}")
    text: bytes = ElementTree.tostring(top, "utf-8", xml_declaration=True)
    return f"{text.decode()}\n"


def _add(case: ElementTree.Element, page: PageResult, result: Result) -> None:
    """Add what an example has reached to its test case."""
    verdict = result.verdict
    properties = ElementTree.SubElement(case, "properties")
    ElementTree.SubElement(properties, "property", name="verdict", value=verdict.value)
    if result.failed:
        report = describe_failure(page, result)
        _say(case, "failure", report.split("\n")[0], report)
    elif verdict in EXPECTED_TO_FAIL:
        _say(case, "skipped", f"{verdict.value}: {result.note}", kind="pytest.xfail")
    elif verdict in NOT_CHECKED:
        _say(case, "skipped", result.note, kind="pytest.skip")


def _say(case: ElementTree.Element, tag: str, message: str, text: str = "", kind: str = "") -> None:
    more = {"type": kind} if kind else {}
    ElementTree.SubElement(case, tag, more, message=_text(message)).text = _text(text)


def _text(text: str) -> str:
    return encodable(visible(text)).translate(_NO_CHARACTERS)
