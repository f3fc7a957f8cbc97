"""The pages this project was founded on: whatever holds in Torch7 and PyTorch holds here.

They went through PDF extraction. What that and the manual itself made wrong stands in their
errata, in errata/; it was taken from a run of Torch7, or PyTorch, on the same examples. The pages
are no part of the repository: tests/docs/converted.txt has their difficulties.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from th_shell.docs.cli import main

SEEDS = Path(__file__).parents[4] / "shared" / "seeds"
ERRATA = Path(__file__).parent / "errata"

PAGES = {
    "000_d2744a8b3ab95f21.txt": (329, 80, 6),
    "001_fc3f51f0c883e84a.txt": (379, 23, 6),
    "004_3ba5ce6e8f3812bd.txt": (36, 3, 4),
}

#: Of these, PyTorch's, the counts of all verdicts.
PYTHON_PAGES = {
    "002_90057bba74f56b9a.txt": {"pass": 3, "ran": 16, "erratum": 1},
    "003_f6a2b82325ffd9ad.txt": {"pass": 22, "layout": 2, "device": 4, "erratum": 1},
}
if sys.version_info < (3, 11):  # in which the ids that its erratum tells of differ, as in the page
    del PYTHON_PAGES["003_f6a2b82325ffd9ad.txt"]

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="needs ../shared/seeds")


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "counts"), PAGES.items())
def test_page_holds_but_for_its_errata(
    name: str, counts: tuple[int, int, int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.json"
    status = main(["--errata", str(ERRATA), "--json", str(results), str(SEEDS / name)])
    assert status == 0, capfd.readouterr().out
    (page,) = json.loads(results.read_text())["pages"]
    found = Counter(example["verdict"] for example in page["examples"])
    assert (sum(found.values()), found["erratum"], found["skipped"] + found["text"]) == counts


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "counts"), PYTHON_PAGES.items())
def test_python_page_holds_but_for_its_errata(
    name: str, counts: dict[str, int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.json"
    status = main(["--errata", str(ERRATA), "--json", str(results), str(SEEDS / name)])
    assert status == 0, capfd.readouterr().out
    assert json.loads(results.read_text())["counts"] == counts


@pytest.mark.slow
def test_without_errata_every_failure_is_told_apart(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    pages = [str(SEEDS / name) for name in PAGES]
    assert main(["--errata", str(tmp_path), "--json", str(results), *pages]) == 1
    examples = [e for page in json.loads(results.read_text())["pages"] for e in page["examples"]]
    found = Counter(example["verdict"] for example in examples)
    assert found["healed"] >= 37
    assert found["damaged"] >= 50
    # Two printouts lack characters, one line ends a comment: nothing in them tells of that.
    plain = [e["line"] for e in examples if e["verdict"] in ("differs", "error")]
    assert plain == [2233, 148, 162]
