"""Wrong or empty tensors, nans and infinities: odd_calls.txt is what odd_calls.lua is to print.

The original prints the same up to the message that expects 100 planes, but for the sign of a zero;
with -1 planes it crashes, so the lines from there on are this project's.
"""

from pathlib import Path

import pytest

from th_shell.runtime.shell import Engine

HERE = Path(__file__).parent


def test_odd_calls_print_what_they_did(capfd: pytest.CaptureFixture[str]) -> None:
    with Engine() as engine:
        engine.call(engine.compile_file(f"{HERE}/odd_calls.lua"))
        engine.flush()
    found = [line.rstrip().replace("-0 0", "0 0") for line in capfd.readouterr().out.splitlines()]
    assert found == (HERE / "odd_calls.txt").read_text().splitlines()
