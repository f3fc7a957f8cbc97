"""Results of indices that share memory with something else of the call."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

PREPARE = "x = torch.LongTensor{3, 1, 2} r = torch.LongTensor{7, 8} "


@pytest.mark.parametrize("call", data(__file__, "test_results_over_each_other_are_refused"))
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


@pytest.mark.sample(1)
@pytest.mark.parametrize("descending", ["false", "true"])
def test_a_long_row_in_the_opposite_order_takes_no_square_of_time(
    lua: Lua, descending: str
) -> None:
    """A row beside it, of random numbers, is sorted as it is by itself."""
    n = 200_000
    lua(
        f"x = torch.rand(2, {n}) torch.range(x[1], 1, {n}) if not {descending} then x:mul(-1) end "
        f"y, i = torch.sort(x, 2, {descending}) z, j = torch.sort(x[2], {descending})"
    )
    assert lua(f"print(i[1]:equal(torch.range({n}, 1, -1):long()), y[1][1], y[1][{n}])") == (
        f"true\t{n}\t1\t\n" if descending == "true" else f"true\t-{n}\t-1\t\n"
    )
    assert lua("print(y[2]:equal(z), i[2]:equal(j))") == "true\ttrue\t\n"


ZEROS = data(__file__, "ZEROS")
LAYOUTS = data(__file__, "LAYOUTS")


@pytest.mark.sample(12)
@pytest.mark.parametrize("kind", ["Float", "Double"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rows", [2, 9, 500, 40_000])
def test_extrema_are_the_elements_at_their_indices(
    lua: Lua, rows: int, layout: str, kind: str
) -> None:
    """Also of zeros, of which numpy gives any."""
    layout = layout.replace("ROWS", str(rows)).replace("torch.", f"torch.{kind}")
    lua(
        f"x = {layout} {ZEROS} wrong = 0 first = x[1][1] "
        "for _, name in ipairs{ 'max', 'min' } do for d = 1, 2 do "
        "local v, i = x[name](x, d) local e = x:gather(d, i) "
        "local a, b = v:view(-1), e:view(-1) "
        "for k = 1, a:size(1) do if not same(a[k], b[k]) then wrong = wrong + 1 end end end "
        "if not same(x[name](x), first) then wrong = wrong + 1 end end"
    )
    assert lua("print(wrong)") == "0\t\n"


def test_extrema_of_zeros_and_nans(lua: Lua) -> None:
    lua("x = torch.Tensor{{-0.0, 0, 1}, {0/0, 0, -0.0}} v, i = x:max(2)")
    assert lua("print(v[1][1], v[2][1] ~= v[2][1], i[1][1], i[2][1])") == "1\ttrue\t3\t1\t\n"
    lua("x = torch.Tensor{{-0.0, 0, -1}, {0/0, 0, -0.0}} v, i = x:max(2)")
    assert lua("print(1 / v[1][1], v[2][1] ~= v[2][1], i[1][1])") == "-inf\ttrue\t1\t\n"
