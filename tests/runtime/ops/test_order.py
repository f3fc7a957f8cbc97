"""Results of indices that share memory with something else of the call."""

import pytest

from tests.conftest import Lua

PREPARE = "x = torch.LongTensor{3, 1, 2} r = torch.LongTensor{7, 8} "


@pytest.mark.parametrize(
    "call",
    [
        "torch.sort(r, r, x)",
        "torch.sort(x, x, x)",
        "torch.topk(r, r, x, 2)",
        "torch.topk(r, x, x, 2)",
        "torch.kthvalue(r, r, x, 2)",
        "torch.kthvalue(r, x, x, 2)",
        "torch.median(r, x, x)",
        "torch.mode(x, x, x)",
        "torch.max(r, r, x, 1)",
        "torch.min(r, x, x, 1)",
        "torch.nonzero(x, x)",
        "torch.max(r:narrow(1, 1, 1), torch.LongTensor(r:storage(), 1, 1), x, 1)",
        "torch.sort(torch.LongTensor(x:storage(), 1, 1), torch.LongTensor(x:storage(), 3, 1), x)",
    ],
)
def test_results_over_each_other_are_refused(lua: Lua, call: str) -> None:
    lua(PREPARE)
    message = "the tensor of indices shares elements with another one of the call"
    assert lua.error(call) == message
    assert lua("print(x[1], x[2], x[3], x:size(1), r[1], r[2], r:size(1), x:storage():size())") == (
        "3\t1\t2\t3\t7\t8\t2\t3\t\n"
    )


@pytest.mark.parametrize("indices", ["x", "torch.LongTensor()", "memory:select(2, 2)"])
def test_the_tensor_that_is_sorted_gets_the_indices(lua: Lua, indices: str) -> None:
    lua(PREPARE + "memory = torch.LongTensor(3, 2)")
    lua(f"i = {indices} torch.sort(memory:select(2, 1), i, x)")
    assert lua("print(i[1], i[2], i[3], memory[1][1], memory[3][1])") == "2\t3\t1\t1\t3\t\n"
