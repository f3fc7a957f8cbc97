"""Element by element, and sums, on few elements: what a training loop calls without Python."""

from run import Row

_LUA = """
torch.setdefaulttensortype('torch.{kind}Tensor')
local rows, columns = {rows}, {columns}
local x, y, r = torch.rand(rows, columns), torch.rand(rows, columns), torch.Tensor(rows, columns)
local c, s = torch.rand(rows, 1):expand(rows, columns), torch.Tensor(rows, 1)
local t, i = torch.rand(columns, rows):t(), torch.LongTensor(rows, 1)
torch.setdefaulttensortype('torch.DoubleTensor')
"""
_PYTHON = """
rows, columns, kind = {rows}, {columns}, np.{dtype}
x, y = np.random.rand(rows, columns).astype(kind), np.random.rand(rows, columns).astype(kind)
r, s = np.empty((rows, columns), kind), np.empty((rows, 1), kind)
c, t = np.random.rand(rows, 1).astype(kind), np.random.rand(columns, rows).astype(kind).T
"""

_WORK = [
    ("r:add(x, 0.5, y)", "np.add(x, y * 0.5, out=r)"),
    ("r:addcmul(0.5, x, y)", "np.add(r, x * 0.5 * y, out=r)"),
    ("r:cdiv(x, c)", "np.divide(x, c, out=r)"),
    ("r:cmul(x, t)", "np.multiply(x, t, out=r)"),
    ("r:cmax(x, y)", "np.maximum(x, y, out=r)"),
    ("r:clamp(x, 0.2, 0.8)", "np.clip(x, 0.2, 0.8, out=r)"),
    ("r:sigmoid(x)", "np.reciprocal(1 + np.exp(-x), out=r)"),
    ("r:log(x)", "np.log(x, out=r)"),
    ("local q = 1 - x", "q = 1 - x"),
    ("local q = x:gt(0.5)", "q = x > 0.5"),
    ("local q = x:sum()", "q = x.sum()"),
    ("local q = x:norm()", "q = np.sqrt((x * x).sum())"),
    ("torch.sum(s, x, 2)", "np.sum(x, axis=1, keepdims=True, out=s)"),
    ("torch.max(s, i, x, 2)", "np.max(x, axis=1, keepdims=True, out=s); x.argmax(1)"),
]


def _rows() -> list[Row]:
    rows_of_calls = []
    for kind, dtype in ("Double", "float64"), ("Float", "float32"):
        for rows, columns in (2, 5), (10, 10), (25, 40):
            values = {"kind": kind, "dtype": dtype, "rows": rows, "columns": columns}
            for lua, numpy in _WORK:
                name = f"{lua.removeprefix('local q = ')} {kind[0]}{rows * columns}"
                rows_of_calls.append(
                    Row(name, 1, lua, numpy, _LUA.format(**values), _PYTHON.format(**values))
                )
    return rows_of_calls


ROWS = _rows()
