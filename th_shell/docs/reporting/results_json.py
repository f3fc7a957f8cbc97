"""Writes results as JSON for programs. `results.schema.json` beside this file is the schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from th_shell.docs.judging.verdicts import PageResult, Result
from th_shell.docs.reading.examples import Identity, identities
from th_shell.docs.reporting.causes import Cluster, clusters
from th_shell.docs.reporting.coverage import Coverage, Covered
from th_shell.docs.reporting.report import tally
from th_shell.visible import encodable

_VERSION = 1


def results_json(pages: Sequence[PageResult], coverage: Coverage | None = None) -> str:
    """All results as a text in JSON."""
    results = {
        "version": _VERSION,
        "failed": any(page.failed for page in pages),
        "counts": tally(pages),
        "pages": [_page(page) for page in pages],
        "causes": [_cause(cluster) for cluster in clusters(pages)],
    }
    if coverage:
        results["coverage"] = {
            "names": _covered(coverage.names),
            "functions": _covered(coverage.functions),
            "anchors": [
                {"page": encodable(str(page)), **_covered(anchors)}
                for page, anchors in coverage.anchors.items()
            ],
        }
    return json.dumps(results, indent=1) + "\n"


def _page(page: PageResult) -> dict[str, Any]:
    names = identities([result.example for result in page.results])
    return {
        "page": encodable(str(page.page)),
        "failed": page.failed,
        "problem": encodable(page.problem),
        "checked": page.checked,
        "counts": tally([page]),
        "examples": list(map(_example, page.results, names)),
    }


def _example(result: Result, identity: Identity) -> dict[str, Any]:
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


def _cause(cluster: Cluster) -> dict[str, Any]:
    return {
        "verdict": cluster.cause.verdict.value,
        "cause": encodable(cluster.cause.words),
        "places": [
            {"page": encodable(str(path)), "line": result.example.line}
            for path, result in cluster.members
        ],
    }


def _covered(covered: Covered) -> dict[str, list[str]]:
    return {kind: list(map(encodable, names)) for kind, names in covered._asdict().items()}
