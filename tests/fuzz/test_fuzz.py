"""Short runs of the fuzzers, always the same; long ones with `-m slow`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from tests.fuzz import harness
from tests.fuzz.campaign import Campaign
from tests.fuzz.fuzzers import FUZZERS
from tests.fuzz.harness import Tally

#: Programs of a short run.
SHORT = {"files": 150, "calls": 40, "nans": 5, "collections": 15, "sizes": 8}
#: The guard modes of these, where it is not off.
GUARDED = {"files": ["1"], "calls": ["1", "front"], "sizes": ["1", "front"]}

#: Seconds of work of a short run, besides the start of the process.
BRIEF = data(__file__, "BRIEF")

#: Seconds of a long run.
LONG = 120


@pytest.fixture(scope="module", autouse=True)
def originals() -> Iterator[None]:
    with harness.originals():
        yield


def found(tally: Tally) -> list[str]:
    """What went wrong, each kind once, with the seed that shows it again."""
    kinds = {finding.kind: f"{finding.seed}: {finding.wrong}" for finding in tally.findings}
    return sorted(kinds.values())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "guard"), [(name, guard) for name in SHORT for guard in GUARDED.get(name, [""])]
)
def test_programs(name: str, guard: str) -> None:
    tally = Tally()
    harness.programs(name, "1", 0, SHORT[name], tally, 60, guard)
    assert found(tally) == []
    assert tally.counts["programs"] == SHORT[name]
    assert tally.counts["passed"] > tally.counts["calls"] / 3


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", BRIEF)
def test_processes(name: str) -> None:
    tally = Tally()
    harness.worker(name, "1", 0, tally, BRIEF[name])
    assert found(tally) == []
    assert sum(tally.counts.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZERS)
def test_for_long(name: str, tmp_path: Path) -> None:
    campaign = Campaign([name], 2, tmp_path)
    campaign.run(LONG, 1)
    assert not campaign.kinds, campaign.table()
