"""Functions of elements: what is written, before an error and while others compute."""

import pytest

import th_shell.torch as torch
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.torch.base.quiet import run_first


@pytest.mark.parametrize("count", [3, 2 * LARGE])
@pytest.mark.parametrize("name", ["remainder_", "floor_divide_", "fmod_"])
def test_division_by_zero_changes_nothing(name: str, count: int) -> None:
    tensor = torch.full((count,), 6)
    divisor = torch.full((count,), 4)
    divisor[-1] = 0
    with pytest.raises(RuntimeError, match="^ZeroDivisionError$"):
        getattr(tensor, name)(divisor)
    assert bool((tensor == 6).all())


def _in_all_ways() -> list[list[float]]:
    huge = torch.tensor([3e38, -1.0])
    doubled = huge.clone().mul_(2)
    return [x.tolist() for x in (huge + huge, huge * 2.0, huge.sqrt().exp(), huge.log(), doubled)]


def test_functions_compute_while_the_context_of_all_threads_is_taken() -> None:
    # As another thread may have it; warnings of numpy's would be errors here.
    assert str(run_first(_in_all_ways)) == str(_in_all_ways())


@pytest.mark.parametrize("count", [6, 2 * LARGE])
def test_the_tensor_of_out_gets_the_values(count: int) -> None:
    a, b = torch.rand(2, count), torch.rand(2, count)
    targets = torch.empty(2, count), torch.empty(count, 2).t(), torch.empty(2, 2 * count)[:, ::2]
    for target in targets:
        for name, expected in (("add", a + b), ("atan2", torch.atan2(a, b))):
            assert getattr(torch, name)(a, b, out=target) is target
            assert torch.equal(target, expected)
        assert torch.equal(torch.exp(a, out=target), a.exp())
    shared = torch.rand(3, count)
    with pytest.raises(RuntimeError, match="^unsupported operation: some elements of the input"):
        torch.exp(shared[:2], out=shared[1:])
