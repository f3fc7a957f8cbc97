"""Tensors are read back from what they print."""

import pytest

from tests.data_files import data
from th_shell.docs.judging.printout import only_tensors, precision, printed_tensors
from th_shell.runtime.shell import Engine


@pytest.mark.parametrize("source", data(__file__, "test_values_come_back"))
def test_values_come_back(engine: Engine, capfd: pytest.CaptureFixture[str], source: str) -> None:
    engine.inputs.evaluate(source.encode())
    engine.flush()
    (tensor,) = only_tensors(capfd.readouterr().out)
    assert tensor.problem == ""
    numbers = ", ".join(map(str, tensor.values)).replace("nan", "0 / 0").replace("inf", "1 / 0")
    engine.inputs.evaluate(
        f"x, y = {source}, torch.Tensor{{{numbers}}} "
        "if torch.isStorage(x) then x = torch.DoubleTensor(x:totable()) end x = x:double() "
        "print(table.concat(x:size():totable(), 'x')) x:resize(y:nElement()) "
        "same = x:ne(x):eq(y:ne(y)):all() x[x:ne(x)] = 0 y[y:ne(y)] = 0 "
        "x[x:eq(1 / 0)] = 1 y[y:eq(1 / 0)] = 1 x[x:eq(-1 / 0)] = 1 y[y:eq(-1 / 0)] = 1 "
        "print(same and (x - y):abs():max() <= 1e-4 * x:abs():max())".encode()
    )
    engine.flush()
    sizes = "x".join(map(str, tensor.sizes))
    assert capfd.readouterr().out == f"{sizes}\t\ntrue\t\n"


@pytest.mark.parametrize(
    ("text", "problem"), data(__file__, "test_numbers_that_contradict_the_sizes")
)
def test_numbers_that_contradict_the_sizes(text: str, problem: str) -> None:
    (tensor,) = printed_tensors(text)
    assert (tensor.problem, tensor.values) == (problem, ())


def test_other_text_is_left_out() -> None:
    text = "a 1\n 5\n[torch.LongTensor of size 1]\n\nb\n1 2\n[torch.LongTensor of size 1x2]\n"
    assert [tensor.values for tensor in printed_tensors(text)] == [(5,), (1, 2)]
    assert only_tensors(text) == []


@pytest.mark.parametrize(
    ("number", "unit"),
    [("5", 0), ("5.", 0), ("1.25", 0.01), ("1.5e+03", 100), ("2e5", 0), ("-0.0001", 1e-4)],
)
def test_precision(number: str, unit: float) -> None:
    assert precision(number) == pytest.approx(unit)
