"""Text and tables: ns an element."""

from run import Row

ROWS = [
    Row(
        "tostring(m)",
        10_000,
        "local s = tostring(m)",
        "s = np.array2string(m, threshold=1 << 30)",
        "local m = torch.rand(100, 100)",
        "m = np.random.rand(100, 100)",
    ),
    Row(
        "torch.Tensor(table)",
        100_000,
        "local x = torch.Tensor(t)",
        "x = np.array(t)",
        "local t = {} for i = 1, 1e5 do t[i] = i end",
        "t = [float(i) for i in range(100_000)]",
    ),
    Row(
        "x:totable()",
        100_000,
        "local t = x:totable()",
        "t = x.tolist()",
        "local x = torch.rand(1e5)",
        "x = np.random.rand(100_000)",
    ),
]
