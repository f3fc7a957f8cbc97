"""What PyTorch 2.15 gave for repeat, roll, flip, tril, diag."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("x.diagonal(5).shape", "torch.Size([0])"),
    ("x.diagonal(-7).stride()", "(5)"),
    (
        "x.diagonal(1).storage_offset(),x.diagonal(-1).storage_offset(),x.diagonal(9).storage"
        "_offset()",
        "(1, 4, 0)",
    ),
    ("torch.diag(x,-5)", "[] (1,)"),
    ("torch.diag(v[:2],-1)", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]] (3, 1)"),
    ("x.repeat(2,1,1).shape", "torch.Size([2, 3, 4])"),
    ("x.repeat((2,1)).shape", "torch.Size([6, 4])"),
    ("x.repeat(0,1).shape", "torch.Size([0, 4])"),
    ("z.repeat(2)", "[3.0, 3.0] (1,)"),
    ("z.repeat(()).shape", "torch.Size([])"),
    ("x.tile(2).shape", "torch.Size([3, 8])"),
    ("x.tile((2,2,1)).shape", "torch.Size([2, 6, 4])"),
    ("x.tile(()).shape", "torch.Size([3, 4])"),
    ("torch.tile(x,(2,))[0]", "[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0] (1,)"),
    ("v.repeat_interleave(2)", "[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0] (1,)"),
    (
        "x.repeat_interleave(2)",
        "[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 6.0, 7.0, 7.0, "
        "8.0, 8.0, 9.0, 9.0, 10.0, 10.0, 11.0, 11.0] (1,)",
    ),
    ("x.repeat_interleave(2,dim=0).shape", "torch.Size([6, 4])"),
    ("x.repeat_interleave(L(1,2,0),dim=0).shape", "torch.Size([3, 4])"),
    ("v.repeat_interleave(L(1,2,0,1))", "[0.0, 1.0, 1.0, 3.0] (1,)"),
    ("v.repeat_interleave(L(2))", "[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0] (1,)"),
    ("torch.repeat_interleave(L(1,2,0,1))", "int64 [0, 1, 1, 3] (1,)"),
    ("torch.repeat_interleave(L(1,2,0,1),output_size=4)", "int64 [0, 1, 1, 3] (1,)"),
    ("v.repeat_interleave(2,output_size=8)", "[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0] (1,)"),
    ("z.repeat_interleave(2)", "[3.0, 3.0] (1,)"),
    ("x.roll(1)", "[[11.0, 0.0, 1.0, 2.0], [3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0]] (4, 1)"),
    ("x.roll(1,0)", "[[8.0, 9.0, 10.0, 11.0], [0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]] (4, 1)"),
    (
        "x.roll((1,2),(0,1))",
        "[[10.0, 11.0, 8.0, 9.0], [2.0, 3.0, 0.0, 1.0], [6.0, 7.0, 4.0, 5.0]] (4, 1)",
    ),
    (
        "x.roll((1,),())",
        "[[11.0, 0.0, 1.0, 2.0], [3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0]] (4, 1)",
    ),
    ("x.roll(-7,1)[0]", "[3.0, 0.0, 1.0, 2.0] (1,)"),
    ("z.roll(1)", "3.0 ()"),
    ("e.roll(1,0)", "[] (3, 1)"),
    (
        "x.roll((1,2),(0,0))",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("x.flip(0)[0]", "[8.0, 9.0, 10.0, 11.0] (1,)"),
    ("x.flip(0,1)[0]", "[11.0, 10.0, 9.0, 8.0] (1,)"),
    ("x.flip(())", "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)"),
    ("z.flip(0)", "3.0 ()"),
    ("z.flip(())", "3.0 ()"),
    ("x.t().flip(0).stride()", "(1, 4)"),
    ("x.fliplr()[0]", "[3.0, 2.0, 1.0, 0.0] (1,)"),
    ("x.flipud()[0]", "[8.0, 9.0, 10.0, 11.0] (1,)"),
    ("x.rot90()", "[[3.0, 7.0, 11.0], [2.0, 6.0, 10.0], [1.0, 5.0, 9.0], [0.0, 4.0, 8.0]] (1, 4)"),
    ("x.rot90(2)", "[[11.0, 10.0, 9.0, 8.0], [7.0, 6.0, 5.0, 4.0], [3.0, 2.0, 1.0, 0.0]] (4, 1)"),
    (
        "x.rot90(-1)",
        "[[8.0, 4.0, 0.0], [9.0, 5.0, 1.0], [10.0, 6.0, 2.0], [11.0, 7.0, 3.0]] (1, 4)",
    ),
    (
        "x.rot90(3).stride(),x.rot90(1).stride(),x.rot90(0).stride(),x.rot90(2).stride()",
        "((1, 4), (1, 4), (4, 1), (4, 1))",
    ),
    (
        "x.rot90(1,[1,0])",
        "[[8.0, 4.0, 0.0], [9.0, 5.0, 1.0], [10.0, 6.0, 2.0], [11.0, 7.0, 3.0]] (1, 4)",
    ),
    (
        "torch.tril(x,1)",
        "[[0.0, 1.0, 0.0, 0.0], [4.0, 5.0, 6.0, 0.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "torch.triu(x,-1)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [0.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "torch.tril(x.bool())",
        "bool [[False, False, False, False], [True, True, False, False], [True, True, True, "
        "False]] (4, 1)",
    ),
    (
        "c.tril(-1)",
        "int64 [[[0, 0, 0, 0], [4, 0, 0, 0], [8, 9, 0, 0]], [[0, 0, 0, 0], [16, 0, 0, 0], "
        "[20, 21, 0, 0]]] (12, 4, 1)",
    ),
    ("x.t().tril().stride()", "(3, 1)"),
    (
        "torch.diag_embed(v)",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, "
        "3.0]] (4, 1)",
    ),
    (
        "torch.diag_embed(x[:2,:2],1)",
        "[[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[0.0, 4.0, 0.0], [0.0, 0.0, "
        "5.0], [0.0, 0.0, 0.0]]] (9, 3, 1)",
    ),
    (
        "torch.diag_embed(x[:2,:2],-1,0,2)",
        "[[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]], [[0.0, "
        "1.0, 0.0], [0.0, 5.0, 0.0]]] (6, 3, 1)",
    ),
    ("torch.diag_embed(v[:2],0,1,0)", "[[0.0, 0.0], [0.0, 1.0]] (2, 1)"),
    ("torch.diag_embed(x[:2,:2],0,0,1).stride()", "(4, 2, 1)"),
    ("torch.diagflat(v[:2],1)", "[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]] (3, 1)"),
    (
        "torch.diagflat(x[:2,:2])",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, "
        "5.0]] (4, 1)",
    ),
    ("torch.diagflat(z)", "[[3.0]] (1, 1)"),
    ("torch.tril_indices(3,3)", "int64 [[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]] (6, 1)"),
    (
        "torch.triu_indices(2,4,1,dtype=torch.int32)",
        "int32 [[0, 0, 0, 1, 1], [1, 2, 3, 2, 3]] (5, 1)",
    ),
    (
        "torch.diag(x),torch.diag(x,1).stride(),torch.diag(x).storage_offset()",
        "([0.0, 5.0, 10.0] (1,), (1), 0)",
    ),
    ("torch.diag(v,2).shape", "torch.Size([6, 6])"),
    ("x.tile(0).shape", "torch.Size([3, 0])"),
]

ERRORS = [
    ("x.diagonal(0,0,0)", "RuntimeError: diagonal dimensions cannot be identical 0, 0"),
    (
        "v.diagonal()",
        "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
    (
        "x.diagonal(0,0,3)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    ("torch.diag(c)", "RuntimeError: diag(): Supports 1D or 2D tensors. Got 3D"),
    ("torch.diag(z)", "RuntimeError: diag(): Supports 1D or 2D tensors. Got 0D"),
    (
        "x.repeat(2)",
        "RuntimeError: Number of dimensions of repeat dims can not be smaller than number of "
        "dimensions of tensor",
    ),
    ("x.repeat(2,-1)", "RuntimeError: Trying to create tensor with negative dimension -4: [6, -4]"),
    ("z.repeat()", 'TypeError: repeat() missing 1 required positional arguments: "repeats"'),
    ("x.repeat()", 'TypeError: repeat() missing 1 required positional arguments: "repeats"'),
    (
        "x.repeat_interleave(L(1,2),dim=0).shape",
        "RuntimeError: repeats must have the same size as input along dim, but got "
        "repeats.size(0) = 2 and input.size(0) = 3",
    ),
    ("x.repeat_interleave(L(1,2,-1),dim=0).shape", "RuntimeError: repeats can not be negative"),
    ("x.repeat_interleave(-1)", "RuntimeError: Repeats must be non-negative"),
    (
        "torch.repeat_interleave(L(1,2,0,1).float())",
        "NotImplementedError: \"repeat_interleave_cpu\" not implemented for 'Float'",
    ),
    (
        "torch.repeat_interleave(L(1,2,0,1),output_size=5)",
        "RuntimeError: allocated size does not match required size",
    ),
    (
        "v.repeat_interleave(L(1,2,0,1).float())",
        "NotImplementedError: \"repeat_interleave_cpu\" not implemented for 'Float'",
    ),
    ("x.repeat_interleave(L([1,2]))", "RuntimeError: repeats must be 0-dim or 1-dim tensor"),
    (
        "x.repeat_interleave(2,dim=5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    ("x.roll((1,2),0)", "RuntimeError: shifts and dimensions must align. shifts: 2, dims:1"),
    ("x.roll((1,2))", "RuntimeError: shifts and dimensions must align. shifts: 2, dims:0"),
    (
        "x.roll(1,5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    ("x.roll((),())", "RuntimeError: `shifts` required"),
    ("z.roll(1,0)", "IndexError: Dimension specified as 0 but tensor has no dimensions"),
    ("x.flip((0,0))", "RuntimeError: dim 0 appears multiple times in the list of dims"),
    (
        "x.flip(3)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    ("x.flip()", 'TypeError: flip() missing 1 required positional arguments: "dims"'),
    ("v.fliplr()", "RuntimeError: Input must be >= 2-d."),
    ("z.flipud()", "RuntimeError: Input must be >= 1-d."),
    (
        "x.rot90(1,(0,0))",
        "RuntimeError: expected rotation dims to be different, but got dim0 = 0 and dim1 = 0",
    ),
    ("x.rot90(1,(0,))", "RuntimeError: expected total rotation dims == 2, but got dims = 1"),
    (
        "x.rot90(1,(0,2))",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    ("v.rot90()", "RuntimeError: expected total dims >= 2, but got total dims = 1"),
    (
        "x.rot90(1,(0,-2))",
        "RuntimeError: expected rotation dims to be different, but got dim0 = 0 and dim1 = -2",
    ),
    ("torch.tril(v)", "RuntimeError: tril: input tensor must have at least 2 dimensions"),
    ("torch.triu(z)", "RuntimeError: triu: input tensor must have at least 2 dimensions"),
    (
        "torch.tril(x,1.5)",
        "TypeError: tril(): argument 'diagonal' (position 2) must be int, not float",
    ),
    (
        "torch.diag_embed(z)",
        "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got -2)",
    ),
    ("torch.diag_embed(v,0,0,0)", "RuntimeError: diagonal dimensions cannot be identical 0, 0"),
    (
        "torch.diag_embed(v,0,3,0)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    ("torch.tril_indices(-1,2)", "RuntimeError: row must be non-negative, got-1"),
    (
        "torch.tril_indices(3,3,dtype=torch.float32)",
        "NotImplementedError: \"tril_indices\" not implemented for 'Float'",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
