"""Functions of nn's backend that a finalizer calls in the middle of one of them."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th

_SCRIPT = data(__file__, "_SCRIPT")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prelu", "leaky", "relu", "pool", "sigmoid"])
def test_finalizers_that_call_the_same_function(tmp_path: Path, name: str) -> None:
    script = tmp_path / "script.lua"
    script.write_text(_SCRIPT)
    run = run_th(script, name, timeout=120)
    assert (run.stdout, run.stderr) == ("0 of many", "")


@pytest.mark.slow
def test_finalizers_that_resize_tensors_of_a_repeated_call(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text(data(__file__, "test_finalizers_that_resize_tensors_of_a_repeated_call"))
    run = run_th(script, timeout=120)
    assert (run.stdout, run.stderr) == ("0 of many", "")
