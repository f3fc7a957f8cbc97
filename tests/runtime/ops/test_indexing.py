"""index*, gather, scatter, masks, nonzero."""

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.transcripts import Entry, cases, wrong


@pytest.mark.sample(1)
@pytest.mark.parametrize("programs", cases("indexing"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


LONGS = "x = torch.LongTensor{3, 1, 2} m = torch.LongTensor{{3, 1}, {1, 2}} b = x:byte() "


@pytest.mark.parametrize(
    ("call", "message"), data(__file__, "test_errors_where_indices_are_written_change_nothing")
)
def test_errors_where_indices_are_written_change_nothing(lua: Lua, call: str, message: str) -> None:
    lua(LONGS)
    assert lua.error(call) == message
    assert lua("print(unpack(x:totable())) print(m:sum(), m:dim(), b:sum())") == (
        "3\t1\t2\t\n7\t2\t6\t\n"
    )


def test_elements_side_by_side_are_not_shared(lua: Lua) -> None:
    lua("m = torch.range(1, 6000):long():resize(2000, 3) a, b = m:select(2, 1), m:select(2, 2)")
    lua("a:indexCopy(1, torch.range(2000, 1, -1):long(), b)")
    assert lua("print(a[1], a[2000], b[1], b[2000])") == "5999\t2\t2\t5999\t\n"


def test_masks_that_share_elements_beside_empty_tensors(lua: Lua) -> None:
    lua.run("x = torch.LongTensor{5} x.maskedSelect(x, x, torch.ByteTensor())")
    assert lua.run("io.write(x:dim())") == "0"
    lua.run("m = torch.ByteTensor{0} m[m] = torch.ByteTensor()")
    assert lua.run("io.write(m[1])") == "0"
    error = lua.error("m = torch.ByteTensor{1} m[m] = torch.ByteTensor()")
    assert "Number of elements of src < number of ones in mask" in error


def test_a_destination_that_reaches_past_its_storage(lua: Lua) -> None:
    lua.run("b = torch.ByteTensor(2, 2):fill(1) b:storage():resize(3)")
    error = lua.error("b:index(b, 1, torch.LongTensor{2, 1})")
    assert error == "tensor [2 x 2] needs 4 elements of its storage, which holds 3"
