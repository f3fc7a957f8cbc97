"""Tensors that Lua and Python share."""

import th_shell.torch as torch
from th_shell.runtime.core.tensor import TENSOR_CLASSES
from th_shell.torch.tensors.lua_tensors import from_lua, to_lua

DOUBLE = TENSOR_CLASSES[6]


def test_tensor_of_lua_is_followed() -> None:
    lua = DOUBLE.new((2, 3))
    lua.array[...] = 1
    tensor = from_lua(lua)
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype is torch.float64
    tensor.add_(1)
    assert lua.array.tolist() == [[2, 2, 2]] * 2
    lua.resize((40, 40))
    assert tensor.shape == (40, 40)
    assert tensor[0, :3].tolist() == [2, 2, 2]
    assert to_lua(tensor) is lua


def test_view_of_a_tensor_of_lua_keeps_its_place() -> None:
    lua = DOUBLE.new((2, 3))
    lua.array[...] = 0
    row = from_lua(lua)[1]
    row.fill_(4)
    assert lua.array.tolist() == [[0, 0, 0], [4, 4, 4]]
    assert row.storage_offset() == 3
    lua.resize((300,))
    assert row.tolist() == [4, 4, 4]


def test_tensor_of_python_goes_to_lua_with_its_memory() -> None:
    tensor = torch.arange(6.0).view(2, 3).t()
    lua = to_lua(tensor)
    assert (lua.sizes, lua.strides, lua.dtype.name) == ((3, 2), (1, 3), "Float")
    lua.array[0, 1] = 9
    assert tensor[0, 1] == 9


def test_what_lua_lacks() -> None:
    assert to_lua(torch.tensor(5.0)).sizes == (1,)
    assert to_lua(torch.zeros(0, 3)).sizes == ()
    flags = torch.tensor([True, False])
    lua = to_lua(flags)
    lua.array[1] = 1
    assert lua.dtype.name == "Byte"
    assert flags.tolist() == [True, True]


def test_tensor_of_lua_takes_views_that_lua_can_have() -> None:
    tensor = from_lua(DOUBLE.new((4,)))
    tensor.resize_(2, 3)
    assert to_lua(tensor).sizes == (2, 3)
    tensor.fill_(1)
    assert tensor.t_().shape == (3, 2)
    assert to_lua(tensor).strides == (1, 3)
