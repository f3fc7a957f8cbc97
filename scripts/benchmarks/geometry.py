"""Calls on small tensors that compute no elements: making, resizing and viewing them; LAPACK."""

from run import Row

_LUA = """
local x, y, m, r = torch.rand(100), torch.rand(100), torch.rand(10, 10), torch.Tensor(10, 10)
local f, t, e = torch.rand(10, 10):float(), { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, torch.Tensor()
local spd = torch.mm(m, m:t()):add(torch.eye(10))
local saved = torch.serialize{ x, m }
"""
_PYTHON = """
import pickle
x, y, m, r = np.random.rand(100), np.random.rand(100), np.random.rand(10, 10), np.empty((10, 10))
f, t = np.random.rand(10, 10).astype(np.float32), list(range(1, 11))
spd = m @ m.T + np.eye(10)
saved = pickle.dumps([x, m])
"""


def _row(name: str, lua: str, numpy: str) -> Row:
    return Row(name, 1, lua, numpy, _LUA, _PYTHON)


ROWS = [
    _row("torch.Tensor{...}", "local z = torch.Tensor(t)", "np.array(t, np.float64)"),
    _row(
        "torch.Tensor{{...}}",
        "local z = torch.Tensor{{1, 2}, {3, 4}}",
        "np.array([[1, 2], [3, 4]])",
    ),
    _row("torch.LongTensor{...}", "local z = torch.LongTensor{1, 2}", "np.array([1, 2])"),
    _row("torch.Tensor(10, 10)", "local z = torch.Tensor(10, 10)", "np.empty((10, 10))"),
    _row("torch.FloatTensor(10)", "local z = torch.FloatTensor(10)", "np.empty(10, np.float32)"),
    _row("m:size()", "local z = m:size()", "m.shape"),
    _row("m:storage()", "local z = m:storage()", "m.base"),
    _row("e:set(m)", "e:set(m)", "m.view()"),
    _row("r:resize(10, 10)", "r:resize(10, 10)", "r.shape"),
    _row("r:resizeAs(m)", "r:resizeAs(m)", "r.shape == m.shape"),
    _row("new:resizeAs(m)", "torch.Tensor():resizeAs(m)", "np.empty_like(m)"),
    _row("m:isSameSizeAs(r)", "local z = m:isSameSizeAs(r)", "m.shape == r.shape"),
    _row("m:transpose(1, 2)", "local z = m:transpose(1, 2)", "m.swapaxes(0, 1)"),
    _row("x:unfold(1, 10, 5)", "local z = x:unfold(1, 10, 5)", "m.view()"),
    _row("m:expandAs(m)", "local z = m:expandAs(m)", "np.broadcast_to(m, (10, 10))"),
    _row("r:copy(f)", "r:copy(f)", "r[...] = f"),
    _row("m:t():clone()", "local z = m:t():clone()", "m.T.copy()"),
    _row("m:float()", "local z = m:float()", "m.astype(np.float32)"),
    _row("m[2] = m[1]", "m[2] = m[1]", "m[1] = m[0]"),
    _row("torch.serialize", "local z = torch.serialize{x, m}", "pickle.dumps([x, m])"),
    _row("torch.deserialize", "local z = torch.deserialize(saved)", "pickle.loads(saved)"),
    _row("torch.qr(m)", "local q, z = torch.qr(m)", "np.linalg.qr(m)"),
    _row("torch.inverse(spd)", "local z = torch.inverse(spd)", "np.linalg.inv(spd)"),
    _row("torch.potrf(spd)", "local z = torch.potrf(spd)", "np.linalg.cholesky(spd)"),
    _row("torch.symeig(spd, 'V')", "local a, b = torch.symeig(spd, 'V')", "np.linalg.eigh(spd)"),
    _row("torch.svd(m)", "local a, b, c = torch.svd(m)", "np.linalg.svd(m)"),
]
