"""Rows of torch in Python, on few elements and on many; `torch.py` times them."""

from __future__ import annotations

#: What all rows see.
SETUP = """
import torch
torch.manual_seed(0)
a, b, c = torch.rand(10), torch.rand(10), torch.rand(10)
m, n = torch.rand(5, 5), torch.rand(5, 5)
i = torch.tensor([3, 1, 4])
A, B, C = torch.rand(1_000_000), torch.rand(1_000_000), torch.rand(1_000_000)
M, N = torch.rand(1000, 1000), torch.rand(1000, 1000)
P, Q = torch.rand(400, 400), torch.rand(400, 400)
I = torch.randint(1000, (1000,))
"""

#: Name and expression.
SMALL = (
    ("tensor of a list", "torch.tensor([1., 2., 3.])"),
    ("zeros", "torch.zeros(2, 3)"),
    ("arange", "torch.arange(10)"),
    ("add", "a + b"),
    ("add, function", "torch.add(a, b)"),
    ("multiply by a number", "a * 2.5"),
    ("add in place", "c.add_(b)"),
    ("exp", "a.exp()"),
    ("compare", "a < b"),
    ("view", "m.view(25)"),
    ("transpose", "m.t()"),
    ("select", "m[1]"),
    ("element", "m[1, 2]"),
    ("slice", "m[1:3]"),
    ("assign", "m[1] = 2.0"),
    ("gather rows", "m[i]"),
    ("sum", "a.sum()"),
    ("sum along", "m.sum(0)"),
    ("max along", "m.max(1)"),
    ("mean", "a.mean()"),
    ("matmul", "m @ n"),
    ("cat", "torch.cat([a, b])"),
    ("unsqueeze", "m.unsqueeze(0)"),
    ("size", "m.size()"),
    ("item", "a.sum().item()"),
)

LARGE = (
    ("zeros", "torch.zeros(1_000_000)"),
    ("add", "A + B"),
    ("multiply by a number", "A * 2.5"),
    ("add in place", "C.add_(B)"),
    ("exp", "A.exp()"),
    ("tanh", "A.tanh()"),
    ("sqrt", "A.sqrt()"),
    ("compare", "A < B"),
    ("transposed copy", "M.t().contiguous()"),
    ("gather rows", "M[I]"),
    ("mask", "A[A > 0.5]"),
    ("sum", "A.sum()"),
    ("sum along", "M.sum(0)"),
    ("max along", "M.max(1)"),
    ("mean along", "M.mean(1)"),
    ("std", "A.std()"),
    ("sort", "A.sort()"),
    ("matmul", "P @ Q"),
    ("broadcast", "M + M[0]"),
    ("rand", "torch.rand(1_000_000)"),
    ("cumsum", "A.cumsum(0)"),
    ("where", "torch.where(A > 0.5, A, B)"),
)
