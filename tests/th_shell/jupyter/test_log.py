from __future__ import annotations

from typing import Any

import pytest

from th_shell.jupyter.assistance import Log


@pytest.fixture
def log() -> Log:
    log = Log()
    for number, code in enumerate(["a = 1", "a", "b = 2", "a"], 1):
        log.add(number, code, "1" if code == "a" else None)
    return log


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"hist_access_type": "tail", "n": 2}, [(0, 3, "b = 2"), (0, 4, "a")]),
        ({"hist_access_type": "tail", "n": 0}, []),
        ({"hist_access_type": "tail", "n": 1, "output": True}, [(0, 4, ("a", "1"))]),
        (
            {"hist_access_type": "range", "session": 0, "start": 1, "stop": 3},
            [(0, 1, "a = 1"), (0, 2, "a")],
        ),
        ({"hist_access_type": "range", "start": 4}, [(0, 4, "a")]),
        ({"hist_access_type": "range", "session": -1, "start": 1}, []),
        (
            {"hist_access_type": "search", "pattern": "a*"},
            [(0, 1, "a = 1"), (0, 2, "a"), (0, 4, "a")],
        ),
        ({"hist_access_type": "search", "pattern": "?", "unique": True}, [(0, 4, "a")]),
        ({"hist_access_type": "search", "pattern": "*=*", "n": 1}, [(0, 3, "b = 2")]),
    ],
)
def test_what_a_request_finds(log: Log, request_: dict[str, Any], expected: list[Any]) -> None:
    assert log.find(request_) == expected
