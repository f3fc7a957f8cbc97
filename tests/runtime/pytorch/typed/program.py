"""What checkers of types must find right: they read it, and nothing runs it."""

import numpy as np
from typing_extensions import assert_type

import th_shell.torch as torch
from th_shell import Engine, LuaError, Table, Tensor, TorchObject, load, save


def total(path: str) -> float:
    found = load(path)
    if isinstance(found, Tensor):
        return float(found.sum())
    if isinstance(found, TorchObject):
        return len(found.fields)
    if isinstance(found, Table):
        return sum(1 for _ in found)
    raise TypeError(type(found))


x = torch.arange(6.0).reshape(2, 3)
assert_type(x, Tensor)
assert_type(torch.add(x, 1, alpha=2), Tensor)
assert_type(x.max(1).values, Tensor)
assert_type(torch.max(x, 0).indices, Tensor)
assert_type(x @ x.T + 1 - 2 / x, Tensor)
assert_type(x.shape[0], int)
assert_type(x.dim(), int)
assert_type(x.split(1), tuple[Tensor, ...])
assert_type(torch.linalg.inv(x), Tensor)
assert_type(torch.zeros(2, 3, dtype=torch.float64), Tensor)
assert_type(x.view(3, 2).mul_(2), Tensor)
assert_type(x.is_contiguous(), bool)
array: np.ndarray = x.numpy()
with Engine(arrays=True) as lua:
    lua.run("x = ...", array, timeout=5.0)
    lua.globals.x = x
save("x.t7", {"x": x})
try:
    total("x.t7")
except LuaError as error:
    print(error.traceback)
