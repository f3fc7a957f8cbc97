"""Single elements and functions of elements: what LuaJIT does without Python."""

from run import Row

_VECTOR = "local v = torch.rand(100)"
_MATRIX = "local m = torch.rand(10, 10)"
_LARGE = "local x, y = torch.rand(1e6), torch.rand(1e6)"

ROWS = [
    Row(
        "x[i]",
        1000,
        "local s = 0 for i = 1, 1000 do s = s + v[i % 100 + 1] end",
        "sum(v[i % 100] for i in range(1000))",
        _VECTOR,
        "v = np.random.rand(100)",
    ),
    Row(
        "x[i] = v",
        1000,
        "for i = 1, 1000 do v[i % 100 + 1] = i end",
        "for i in range(1000): v[i % 100] = i",
        _VECTOR,
        "v = np.random.rand(100)",
    ),
    Row(
        "m[i][j]",
        1000,
        "local s = 0 for i = 1, 1000 do s = s + m[i % 10 + 1][5] end",
        "sum(m[i % 10][4] for i in range(1000))",
        _MATRIX,
        "m = np.random.rand(10, 10)",
    ),
    Row(
        "m[{i, j}]",
        1000,
        "local s = 0 for i = 1, 1000 do s = s + m[{i % 10 + 1, 5}] end",
        "sum(m[i % 10, 4] for i in range(1000))",
        _MATRIX,
        "m = np.random.rand(10, 10)",
    ),
    Row(
        "apply",
        1_000_000,
        "x:apply(function(a) return a + 1 end)",
        "np.add(x, 1, out=x)",
        _LARGE,
        "x = np.random.rand(1_000_000)",
    ),
    Row(
        "map",
        1_000_000,
        "x:map(y, function(a, b) return a * b end)",
        "np.multiply(x, y, out=x)",
        _LARGE,
        "x, y = np.random.rand(1_000_000), np.random.rand(1_000_000)",
    ),
]
