"""What is told of a file, word for word."""

from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from tests.runtime.export.nets import conv, linear, module, tensor
from th_shell.runtime import Function, Table, TorchObject
from th_shell.runtime.export import ExportError, describe
from th_shell.runtime.t7.tensors import tensor_of


def told(text: str, value: Any, **options: Any) -> None:
    assert describe(value, **options) == text.strip("\n")


def test_a_checkpoint() -> None:
    body = module("Sequential", conv(3, 8, 3, padW=1, padH=1), module("ReLU"))
    branches = module("ConcatTable", module("Identity"), TorchObject("my.Scale", {"_type": "x"}))
    net = module("Sequential", body, branches, module("JoinTable", dimension=2), conv(16, 2, 3))
    net.fields["output"] = tensor(5)
    entries = Table({"epoch": 3, "model": net, "criterion": module("MSECriterion")})
    entries["mean"] = tensor_of(np.ones(3))
    entries["options"] = Table({"rate": 0.1, "name": "x" * 90})
    text = data(__file__, "test_a_checkpoint")
    told(text, entries, width=80)


def test_a_part_and_sizes() -> None:
    view = module("View", size=Table.of([12]), numElements=12)
    net = module("Sequential", view, linear(12, 2))
    text = """
nn.Sequential, 26 parameters, 104 bytes of float32
  --select net
  input: batch x 3 x 2 x 2
  1  nn.View -> nn.Flatten()
  2  nn.Linear, weight 2x12, bias 2 -> nn.Linear(12, 2)
"""
    told(text, Table({"net": net}), select="net", input="1x3x2x2")
    with pytest.raises(ExportError, match="^there is no 'x' of 'x'; there are net$"):
        describe(Table({"net": net}), select="x")


def test_repetitions() -> None:
    shared = linear(4, 4)
    chain = [linear(3, 4)] + [each for _ in range(4) for each in (linear(4, 4), module("Tanh"))]
    text = """
nn.Sequential, 116 parameters, 464 bytes of float32
  input: batch x 3
  1   nn.Linear, weight 4x3, bias 4 -> nn.Linear(3, 4)
  2   nn.Linear, weight 4x4, bias 4 -> nn.Linear(4, 4)
  3   nn.Tanh -> nn.Tanh()
  4-9  3 more like 2-3
  10  nn.Linear, weight 4x4, bias 4 -> nn.Linear(4, 4)
  11  the same as 10
"""
    told(text, module("Sequential", *chain, shared, shared))
    unknown = [TorchObject("my.Scale", {"gradInput": tensor(1), "n": n}) for n in range(4)]
    for one in unknown[:2]:
        one.fields["weight"] = tensor(3)
    text = """
nn.Sequential, 6 parameters, 24 bytes of float32
  1  my.Scale, weight 3
    -> cannot be converted: this class is not known here; its fields are n, weight. --stub leaves
    its place empty in a .pt file's source
  2  my.Scale, weight 3 -> cannot be converted: see 1
  3  my.Scale -> cannot be converted: see 1
  4  my.Scale -> cannot be converted: see 1
"""
    told(text, module("Sequential", *unknown))


def test_what_is_no_net() -> None:
    table = Table(
        {"list": Table.of([tensor(2), tensor(2), tensor(2), tensor(2)]), "f": Function(b"")}
    )
    table["self"] = table
    table["object"] = TorchObject("my.Data", {"x": tensor(2, 3)})
    text = data(__file__, "test_what_is_no_net")
    told(text, table)
    many = Table({f"x{n}": tensor(n) for n in range(1, 60)})
    lines = describe(many).splitlines()
    assert (len(lines), lines[-1]) == (42, "  ...  19 more entries")
    told("'text'", "text")
    told("torch.FloatTensor empty", tensor(0))


def test_modules_that_are_damaged() -> None:
    text = """
nn.Sequential
  input: unknown sizes
  1  nn.Linear -> cannot be converted: its field weight is no tensor
  2  nn.gModule -> cannot be converted: its field forwardnodes is no table
"""
    told(text, module("Sequential", module("Linear"), module("gModule")))


def test_a_net_that_holds_itself() -> None:
    net = module("Sequential", module("Tanh"))
    net.modules[2] = net
    text = """
nn.Sequential -> cannot be converted: it holds itself
  input: unknown sizes
  1  nn.Tanh -> nn.Tanh()
  2  the same as the whole
"""
    told(text, net)
