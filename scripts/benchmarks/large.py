"""Large tensors: ns an element."""

from run import Row

_LUA = """
local x, y, r = torch.rand(1e6), torch.rand(1e6), torch.Tensor(1e6)
local m, s = torch.rand(1000, 1000), torch.Tensor(1000, 1000)
local i = torch.randperm(1000):long()
"""
_PYTHON = """
x, y, r = np.random.rand(1_000_000), np.random.rand(1_000_000), np.empty(1_000_000)
m, s = np.random.rand(1000, 1000), np.empty((1000, 1000))
i = np.random.permutation(1000)
g = np.random.Generator(np.random.MT19937())
"""


def _row(name: str, lua: str, numpy: str) -> Row:
    return Row(name, 1_000_000, lua, numpy, _LUA, _PYTHON)


ROWS = [
    _row("x:add(1)", "x:add(1)", "np.add(x, 1, out=x)"),
    _row("x:add(0.5, y)", "x:add(0.5, y)", "np.add(x, 0.5 * y, out=x)"),
    _row("torch.cmul(r, x, y)", "torch.cmul(r, x, y)", "np.multiply(x, y, out=r)"),
    _row("x + y", "local z = x + y", "x + y"),
    _row("torch.exp(r, y)", "torch.exp(r, y)", "np.exp(y, out=r)"),
    _row("torch.sigmoid(r, y)", "torch.sigmoid(r, y)", "np.divide(1, 1 + np.exp(-y), out=r)"),
    _row("x:sum()", "local z = x:sum()", "x.sum()"),
    _row("m:sum(1)", "local z = m:sum(1)", "m.sum(0)"),
    _row("m:max(2)", "local a, b = m:max(2)", "m.max(1), m.argmax(1)"),
    _row("x:std()", "local z = x:std()", "x.std(ddof=1)"),
    _row("torch.sort(y)", "local a, b = torch.sort(y)", "k = y.argsort(); y[k]"),
    _row("torch.cumsum(y)", "local z = torch.cumsum(y)", "y.cumsum()"),
    _row("x:clone()", "local z = x:clone()", "x.copy()"),
    _row("s:copy(m:t())", "s:copy(m:t())", "np.copyto(s, m.T)"),
    _row("x:float()", "local z = x:float()", "x.astype(np.float32)"),
    _row("x[x:lt(0.5)]", "local z = y[y:lt(0.5)]", "y[y < 0.5]"),
    _row("m:index(1, i)", "local z = m:index(1, i)", "m[i]"),
    _row("r:uniform()", "r:uniform()", "g.random(out=r)"),
    _row("r:normal()", "r:normal()", "g.standard_normal(out=r)"),
    _row("torch.mm(s, m, m)", "torch.mm(s, m, m)", "np.matmul(m, m, out=s)"),
]
