"""Rows of torch in Python, on few elements and on many; `torch.py` times them."""

from __future__ import annotations

#: What all rows see.
SETUP = """
import torch
torch.manual_seed(0)
a, b, c = torch.rand(10), torch.rand(10), torch.rand(10)
m, n, o = torch.rand(5, 5), torch.rand(5, 5), torch.rand(5, 5)
e = torch.rand(())
i = torch.tensor([3, 1, 4])
A, B, C = torch.rand(1_000_000), torch.rand(1_000_000), torch.rand(1_000_000)
M, N = torch.rand(1000, 1000), torch.rand(1000, 1000)
P, Q, O = torch.rand(400, 400), torch.rand(400, 400), torch.rand(400, 400)
I = torch.randint(1000, (1000,))
"""

#: Name, and the expressions with few elements and with many; '' for none.
ROWS = (
    ("tensor of a list", "torch.tensor([1., 2., 3.])", ""),
    ("zeros", "torch.zeros(2, 3)", "torch.zeros(1_000_000)"),
    ("zeros_like", "torch.zeros_like(m)", "torch.zeros_like(A)"),
    ("full", "torch.full((2, 3), 1.5)", "torch.full((1000, 1000), 1.5)"),
    ("arange", "torch.arange(10)", "torch.arange(1_000_000)"),
    ("arange, steps", "torch.arange(0, 1, 0.1)", "torch.arange(0, 1, 1e-6)"),
    ("linspace", "torch.linspace(0, 1, 10)", "torch.linspace(0, 1, 1_000_000)"),
    ("add", "a + b", "A + B"),
    ("add, function", "torch.add(a, b)", ""),
    ("multiply by a number", "a * 2.5", "A * 2.5"),
    ("add in place", "c.add_(b)", "C.add_(B)"),
    ("add, out=", "torch.add(a, b, out=c)", "torch.add(A, B, out=C)"),
    ("exp", "a.exp()", "A.exp()"),
    ("exp, out=", "torch.exp(a, out=c)", "torch.exp(A, out=C)"),
    ("matmul, out=", "torch.mm(m, n, out=o)", "torch.mm(P, Q, out=O)"),
    ("clamp", "a.clamp(0.2, 0.8)", "A.clamp(0.2, 0.8)"),
    ("compare", "a < b", "A < B"),
    ("where", "torch.where(a < b, a, b)", "torch.where(A > 0.5, A, B)"),
    ("view", "m.view(25)", ""),
    ("transpose", "m.t()", ""),
    ("transpose, .T", "m.T", ""),
    ("select", "m[1]", ""),
    ("select, last", "m[..., 0]", ""),
    ("element", "m[1, 2]", ""),
    ("slice", "m[1:3]", ""),
    ("slice column", "m[:, 1:3]", ""),
    ("new dimension", "m[None]", ""),
    ("assign", "m[1] = 2.0", ""),
    ("gather rows", "m[i]", "M[I]"),
    ("sum", "a.sum()", "A.sum()"),
    ("sum along", "m.sum(0)", "M.sum(0)"),
    ("max along", "m.max(1)", "M.max(1)"),
    ("argmax", "a.argmax()", "A.argmax()"),
    ("argmax along", "m.argmax(1)", "M.argmax(1)"),
    ("topk", "a.topk(3)", "A.topk(100)"),
    ("sort", "a.sort()", "A.sort()"),
    ("mean", "a.mean()", ""),
    ("matmul", "m @ n", "P @ Q"),
    ("cat", "torch.cat([a, b])", "torch.cat([A, B])"),
    ("stack", "torch.stack([a, b])", "torch.stack([A, B])"),
    ("unsqueeze", "m.unsqueeze(0)", ""),
    ("size", "m.size()", ""),
    ("item", "e.item()", ""),
    ("sum, item", "a.sum().item()", ""),
    ("tolist", "m.tolist()", "A.tolist()"),
    ("tanh", "", "A.tanh()"),
    ("sqrt", "", "A.sqrt()"),
    ("transposed copy", "", "M.t().contiguous()"),
    ("mask", "", "A[A > 0.5]"),
    ("topk along", "", "M.topk(5)"),
    ("mean along", "", "M.mean(1)"),
    ("std", "", "A.std()"),
    ("broadcast", "", "M + M[0]"),
    ("rand", "", "torch.rand(1_000_000)"),
    ("cumsum", "", "A.cumsum(0)"),
)
SMALL = tuple([(name, few) for name, few, _ in ROWS if few])
LARGE = tuple([(name, many) for name, _, many in ROWS if many])
