"""%time, %timeit and %profile."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.magics import timing
from th_shell.magics.timing import duration
from th_shell.runtime.shell import Engine
from th_shell.session.conversation import UNICODE
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_BATCH", 0.002)


@pytest.mark.parametrize(("seconds", "text"), data(__file__, "test_durations"))
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_time_of_one_run(session: Session, printed: Printed) -> None:
    session.submit("%time 1 + 2")
    assert re.fullmatch(r"3\t\nwall [\d.]+ [µm]?s, CPU [\d.]+ [µm]?s\n", printed())
    session.submit("%time error('no')")
    assert printed().startswith("stdin:1: no\n")


def test_the_prompts_own_time_is_shown_once(
    engine: Engine, printed: Printed, tmp_path: Path
) -> None:
    session = Session(engine, marks=UNICODE._replace(time="{}"))
    (tmp_path / "a.lua").write_text("print('run')")
    for text, times in [("1 + 1", 1), ("%time 1 + 1", 0), (f"%run {tmp_path}/a.lua", 1)]:
        session.submit(text)
        assert len(re.findall(r"\[\d+\.\d+s\]", printed())) == times


def test_each_of_many_runs_does_all(session: Session) -> None:
    session.submit("x = torch.ones(3)")
    best, mean, _ = timing._measured(session, timing._runs(session.engine, "x:sum()"))
    assert mean >= best > 1e-8  # 2e-9 if the sum were computed once


def test_what_the_first_run_loads_is_not_measured(session: Session) -> None:
    session.submit("first = true")
    source = "if first then first = false sys.sleep(0.05) end"
    _, mean, _ = timing._measured(session, timing._runs(session.engine, source))
    assert mean < 5e-3  # a tenth of the pause: one of five batches would have a run with it


@pytest.mark.parametrize("text", ["x:add(1)", "= 1 + 1", "n = n + 1", "x:sum();", "return 1"])
def test_the_time_of_many_runs(session: Session, printed: Printed, text: str) -> None:
    session.submit("x, n = torch.ones(3), 0")
    session.submit(f"%timeit {text}")
    number = r"[\d.]+ [nµm]s"
    assert re.fullmatch(
        rf"{number} a run \(best of 5 times [\d,]+ runs?; mean {number}\)\n", printed()
    )
    assert len(session.log) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    data(__file__, "test_what_cannot_be_timed"),
)
def test_what_cannot_be_timed(session: Session, printed: Printed, text: str, message: str) -> None:
    session.submit(f"%timeit {text}")
    assert printed() == f"%timeit: {message}\n"


def test_the_lines_that_take_long(session: Session, printed: Printed, tmp_path: Path) -> None:
    path = tmp_path / "slow.lua"
    path.write_text(
        "function slow()\n  local s = 0\n  for i = 1, 2e7 do s = s + i % 3 end\n  return s\nend\n"
    )
    session.submit(f"dofile('{path}')")
    session.submit("%profile slow()")
    lines = printed().splitlines()
    assert lines[0] == "20000001\t"
    assert re.fullmatch(rf" +\d+%  {path}:3 +for i = 1, 2e7 do s = s \+ i % 3 end", lines[1])
    assert re.fullmatch(r"\d+ samples?(, \d+% of it collecting garbage)?", lines[-1])


@pytest.mark.thorough
def test_time_in_operations_belongs_to_the_line_that_calls_them(
    session: Session, printed: Printed
) -> None:
    session.submit("x = torch.randn(60, 60)")
    session.submit("%profile for i = 1, 300 do torch.svd(x) end")
    assert re.match(r" +\d+%  stdin:1\n", printed())


def test_what_is_too_short_to_be_seen(session: Session, printed: Printed) -> None:
    session.submit("%profile x = 1")
    assert printed().splitlines()[-1] in (
        "no sample: it takes a few milliseconds at most",
        "1 sample",
    )
