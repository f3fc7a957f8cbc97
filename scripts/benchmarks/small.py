"""Small tensors: what a call costs."""

from run import Row

_LUA = (
    "local x, y, m, r = torch.rand(100), torch.rand(100), torch.rand(10, 10), torch.Tensor(10, 10)"
)
_PYTHON = """
x, y, m = np.random.rand(100), np.random.rand(100), np.random.rand(10, 10)
r = np.empty((10, 10))
"""


def _row(name: str, lua: str, numpy: str) -> Row:
    return Row(name, 1, lua, numpy, _LUA, _PYTHON)


ROWS = [
    _row("x:add(1)", "x:add(1)", "np.add(x, 1, out=x)"),
    _row("x:add(y)", "x:add(y)", "np.add(x, y, out=x)"),
    _row("x + y", "local z = x + y", "x + y"),
    _row("torch.exp(x)", "local z = torch.exp(x)", "np.exp(x)"),
    _row("x:sum()", "local s = x:sum()", "x.sum()"),
    _row("x:dot(y)", "local s = x:dot(y)", "x.dot(y)"),
    _row("m:max(1)", "local a, b = m:max(1)", "m.max(0), m.argmax(0)"),
    _row("x:clone()", "local z = x:clone()", "x.copy()"),
    _row("torch.zeros(10, 10)", "local z = torch.zeros(10, 10)", "np.zeros((10, 10))"),
    _row("m:select(1, 3)", "local z = m:select(1, 3)", "m[2]"),
    _row("m:t()", "local z = m:t()", "m.T"),
    _row("x:view(10, 10)", "local z = x:view(10, 10)", "x.reshape(10, 10)"),
    _row("m[{{2, 4}, {3, 5}}]", "local z = m[{{2, 4}, {3, 5}}]", "m[1:4, 2:5]"),
    _row("torch.mm(r, m, m)", "torch.mm(r, m, m)", "np.matmul(m, m, out=r)"),
    _row("x:lt(0.5)", "local z = x:lt(0.5)", "x < 0.5"),
]
