"""The program that runs the suites of Torch7's packages, on small suites of our own."""

from pathlib import Path

import pytest

from tests.reference.__main__ import main
from tests.reference.suites import Suite

_SUITE = """
local tester, tests = torch.Tester(), torch.TestSuite()
function tests.passes() tester:eq(1, 1) end
function tests.fails() tester:eq(1, FOUND) end
tester:add(tests):run()
"""


def _suite(folder: Path, found: int) -> Suite:
    """A suite of two tests; the second one passes where 1 is found."""
    test = folder / "tiny" / "test"
    test.mkdir(parents=True)
    (test / "test.lua").write_text(_SUITE.replace("FOUND", str(found)))
    return Suite("tiny", 2, ("dofile 'test.lua'",))


@pytest.mark.thorough
@pytest.mark.parametrize(("found", "passed"), [(1, 2), (2, 1)])
def test_what_passes_is_counted(
    found: int, passed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([str(tmp_path)], [_suite(tmp_path, found)])
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].split()[:4] == ["tiny", str(passed), "2", "2"]
    assert status == (passed < 2)
    assert ("short: tiny" in printed) == ("fails" in printed) == (passed < 2)


@pytest.mark.thorough
def test_a_crash_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = _suite(tmp_path, 1)
    killed = "dofile 'test.lua' io.popen('kill -9 $PPID'):close()"
    assert main([str(tmp_path)], [Suite("tiny", 2, (killed,))]) == 1
    assert suite.name in capsys.readouterr().out.splitlines()[-1]


def test_a_suite_whose_checkouts_are_missing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _suite(tmp_path, 1)
    suites = [Suite("tiny", 2, (), needs=("other",)), Suite("absent", 1, ())]
    assert main([str(tmp_path)], suites) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split() for line in lines] == [
        ["tiny", "missing:", "it", "needs", "other"],
        ["absent", "missing"],
    ]
