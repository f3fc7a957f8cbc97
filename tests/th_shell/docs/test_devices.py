"""Examples that need a device which this machine does not have."""

from collections.abc import Sequence

import pytest

from tests.data_files import data
from th_shell.docs.judging.devices import with_missing_devices
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, Kind

DRIVER = "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"
#: What PyTorch says without a device, by what was asked for.
MESSAGES = (
    "AssertionError: Torch not compiled with CUDA enabled",
    "AssertionError: Torch not compiled with XPU enabled",
    f"RuntimeError: {DRIVER}",
    "RuntimeError: No CUDA GPUs are available",
    "torch.AcceleratorError: CUDA error: CUDA driver version is insufficient for CUDA runtime",
    "torch.AcceleratorError: CUDA error: invalid device ordinal\nMore lines.",
    "NotImplementedError: Could not run 'aten::empty.memory_format' with arguments from the 'MPS'"
    " backend. This could be because the operator doesn't exist for this backend",
    "RuntimeError: Cannot execute deviceSynchronize() without MPS backend.",
)


def result(source: str, verdict: Verdict, got: str = "", expected: str = "") -> Result:
    example = Example(1, 0, Kind.CELL, source, expected, language="python")
    return Result(example, verdict, got)


def traceback(message: str) -> str:
    return (
        f'Traceback (most recent call last):\n  File "<input 1>", line 1, in f\n    g()\n{message}'
    )


def judged(*results: Result) -> list[str]:
    return [one.verdict.value for one in with_missing_devices(results)]


@pytest.mark.parametrize("message", MESSAGES)
def test_errors_that_say_so(message: str) -> None:
    (found,) = with_missing_devices(
        [result("x = f()", Verdict.ERROR, "printed\n" + traceback(message))]
    )
    assert (found.verdict, found.note) == (
        Verdict.DEVICE,
        "needs a device: " + message.split("\n")[0],
    )
    assert not found.failed and not found.checked and found.fails_unexpectedly


@pytest.mark.parametrize(
    "one",
    [
        result("f()", Verdict.ERROR, traceback("RuntimeError: no driver")),
        result("f()", Verdict.ERROR, traceback("NameError: name 'x' is not defined")),
        # The page shows an error for want of a device, though another one.
        result("f()", Verdict.ERROR, traceback(MESSAGES[0]), MESSAGES[3]),
        result("f()", Verdict.PASS, traceback(MESSAGES[0]), MESSAGES[0]),
        result("print(s)", Verdict.DIFFERS, MESSAGES[0]),
    ],
)
def test_what_is_judged_as_it_is(one: Result) -> None:
    assert list(with_missing_devices([one])) == [one]


GPU = result("x = make(device='cuda')", Verdict.ERROR, MESSAGES[0])


@pytest.mark.parametrize(("sources", "verdicts"), data(__file__, "test_what_follows"))
def test_what_follows(sources: Sequence[str], verdicts: Sequence[str]) -> None:
    below = [result(source, Verdict.ERROR, "NameError: …") for source in sources]
    assert judged(GPU, *below) == ["device", *verdicts]


def test_what_holds_all_the_same() -> None:
    stale = result("y = x", Verdict.RAN)
    shown = result("y", Verdict.DIFFERS, "tensor(1)", "tensor(1, device='cuda:0')")
    same = result("y.sum()", Verdict.PASS, "1", "1")
    assert judged(GPU, stale, shown, same) == ["device", "ran", "device", "pass"]
    _, _, found, _ = with_missing_devices([GPU, stale, shown, same])
    assert found.note == "needs a device, as does what gives a value to: y"


def test_a_method_that_is_a_statement_changes_its_object() -> None:
    moved = result("model.to('cuda')", Verdict.ERROR, MESSAGES[0])
    assert judged(moved, result("model", Verdict.DIFFERS)) == ["device", "device"]
    assert judged(moved, result("points", Verdict.DIFFERS)) == ["device", "differs"]


@pytest.mark.parametrize("imported", [True, False])
def test_modules_stay_as_they_are(imported: bool) -> None:
    ran = result("import torch", Verdict.RAN)
    waits = result("torch.cuda.synchronize()", Verdict.ERROR, MESSAGES[0])
    wrong = result("torch.ones(2)", Verdict.DIFFERS)
    found = with_missing_devices([ran, waits, wrong] if imported else [waits, wrong], ["torch"])
    assert [one.verdict.value for one in found][-2:] == ["device", "differs"]


def test_another_error_of_lua() -> None:
    lua = Result(Example(1, 0, Kind.PROMPT, "f()"), Verdict.ERROR, "stdin:1: there is no file")
    assert list(with_missing_devices([lua])) == [lua]
