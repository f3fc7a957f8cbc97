"""HalfTensor: its methods return new tensors, and numbers become halves by way of floats."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

# Each is rounded up on its way to a float, or down, and then once more.
_NUMBERS = "{1 + 2^-11 + 2^-30, 65519.9999999, 2^-25 + 2^-60}"


@pytest.mark.parametrize(
    "count",
    [pytest.param(1, id="few"), pytest.param(70_000, id="many", marks=pytest.mark.thorough)],
)
@pytest.mark.parametrize("halves", data(__file__, "test_doubles_become_floats_first"))
def test_doubles_become_floats_first(lua: Lua, halves: str, count: int) -> None:
    lua(
        "function filled(f) local h = torch.HalfTensor(#numbers) for i, v in ipairs(numbers) do "
        "h:narrow(1, i, 1):copy(f(v)) end return h end"
    )
    some = f"for i = 1, {3 * count} do numbers[i] = some[(i - 1) % 3 + 1] end"
    lua(f"local some = {_NUMBERS} numbers = {{}} {some} h = {halves}:double()")
    assert lua("print(h[1], h[2], h[3])") == "1\tinf\t0\t\n"
    assert lua("print(h:view(-1, 3):select(2, 1):min(), h:max(), h:min())") == "1\tinf\t0\t\n"


@pytest.mark.parametrize(("call", "result"), data(__file__, "test_methods_return_new_tensors"))
def test_methods_return_new_tensors(lua: Lua, call: str, result: str) -> None:
    lua(f"x = torch.HalfTensor{{-1, 2}} y = {call}")
    assert lua("print(torch.type(y), rawequal(x, y))") == "torch.HalfTensor\tfalse\t\n"
    numbers = "table.concat(y:double():view(-1):totable(), ' ')"
    assert lua(f"print(x[1], x[2], {numbers})") == f"-1\t2\t{result}\t\n"


def test_sizes_differ(lua: Lua) -> None:
    error = lua.error("torch.HalfTensor(2):add(1, torch.HalfTensor(3))")
    assert error == (
        "inconsistent tensor size, expected r_ [2], t [2] and src [3] to have the same number "
        "of elements, but got 2, 2 and 3 elements respectively"
    )
