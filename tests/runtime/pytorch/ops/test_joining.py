"""What PyTorch 2.15 gave for cat, stack, meshgrid, combinations."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("torch.atleast_2d(z,v)", "([[3.0]] (1, 1), [[0.0, 1.0, 2.0, 3.0]] (4, 1))"),
    ("torch.atleast_2d((z,v))", "([[3.0]] (1, 1), [[0.0, 1.0, 2.0, 3.0]] (4, 1))"),
    ("torch.atleast_2d([z,v])", "([[3.0]] (1, 1), [[0.0, 1.0, 2.0, 3.0]] (4, 1))"),
    ("torch.atleast_1d()", "()"),
    ("torch.atleast_2d(z).stride()", "(1, 1)"),
    ("torch.atleast_3d(z).stride()", "(1, 1, 1)"),
    (
        "torch.cat([x,torch.zeros(0)])",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("torch.cat([torch.zeros(0),torch.zeros(0,dtype=torch.int64)]).dtype", "torch.float32"),
    ("torch.cat([v.int(),v.bool()]).dtype", "torch.int32"),
    ("torch.cat([v.int(),v.half()]).dtype", "torch.float16"),
    ("torch.cat((v,v),axis=0)", "[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0] (1,)"),
    ("torch.cat((v,v),out=torch.zeros(3))", "[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0] (1,)"),
    (
        "torch.cat((v.int(),v.int()),out=torch.zeros(3))",
        "[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0] (1,)",
    ),
    ("torch.cat((x.t(),x.t())).stride()", "(3, 1)"),
    ("torch.cat((x.t(),x.t()),1).stride()", "(6, 1)"),
    ("torch.stack((x.t(),x.t()),1).stride()", "(6, 3, 1)"),
    ("torch.stack([x,x],-3).shape", "torch.Size([2, 3, 4])"),
    ("torch.stack([z,z])", "[3.0, 3.0] (1,)"),
    ("torch.stack([v,v.int()]).dtype", "torch.float32"),
    ("torch.hstack([z,z])", "[3.0, 3.0] (1,)"),
    (
        "torch.vstack([v,x])",
        "[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, "
        "11.0]] (4, 1)",
    ),
    ("torch.vstack([z,z])", "[[3.0], [3.0]] (1, 1)"),
    ("torch.dstack([v,v]).shape", "torch.Size([1, 4, 2])"),
    ("torch.dstack([x,x]).shape", "torch.Size([3, 4, 2])"),
    ("torch.column_stack([v,v])", "[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]] (2, 1)"),
    ("torch.row_stack([v,v]).shape", "torch.Size([2, 4])"),
    (
        "torch.meshgrid(v[:2],v[:3])",
        "([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]] (1, 0), [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]] (0, 1))",
    ),
    (
        "torch.meshgrid(v[:2],v[:3],indexing='xy')",
        "([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]] (0, 1), [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]] "
        "(1, 0))",
    ),
    ("torch.meshgrid(v[:2],v[:3],indexing='ij')[0].stride()", "(1, 0)"),
    ("torch.meshgrid([v[:2],v[:3]],indexing='ij')[0].stride()", "(1, 0)"),
    ("torch.meshgrid(z,v[:2],indexing='ij')", "([[3.0, 3.0]] (1, 0), [[0.0, 1.0]] (2, 1))"),
    ("torch.meshgrid(v,v[:2],v[:3],indexing='xy')[0].shape", "torch.Size([2, 4, 3])"),
    (
        "torch.cartesian_prod(v[:2],v[:2])",
        "[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] (2, 1)",
    ),
    ("torch.cartesian_prod(v)", "[0.0, 1.0, 2.0, 3.0] (1,)"),
    ("torch.combinations(v[:3])", "[[0.0, 1.0], [0.0, 2.0], [1.0, 2.0]] (2, 1)"),
    ("torch.combinations(v[:3],r=3)", "[[0.0, 1.0, 2.0]] (3, 1)"),
    ("torch.combinations(v[:3],r=0)", "[] (1,)"),
    (
        "torch.combinations(v[:3],r=2,with_replacement=True)",
        "[[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 2.0]] (2, 1)",
    ),
    ("torch.combinations(v[:3],1)", "[[0.0], [1.0], [2.0]] (1, 1)"),
    ("torch.combinations(v[:1],2)", "[] (2, 1)"),
    ("torch.concat((v,v)).shape", "torch.Size([8])"),
    ("torch.concatenate((v,v),axis=0).shape", "torch.Size([8])"),
    ("torch.atleast_2d(v).stride()", "(4, 1)"),
]

ERRORS = [
    ("torch.cat([])", "ValueError: torch.cat(): expected a non-empty list of Tensors"),
    ("torch.cat([x,v])", "RuntimeError: Tensors must have same number of dimensions: got 2 and 1"),
    (
        "torch.cat([x,e])",
        "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 4 "
        "but got size 3 for tensor number 1 in the list.",
    ),
    (
        "torch.cat([x,x[:, :2]])",
        "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 4 "
        "but got size 2 for tensor number 1 in the list.",
    ),
    (
        "torch.cat([x,x[:2]],1)",
        "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 3 "
        "but got size 2 for tensor number 1 in the list.",
    ),
    (
        "torch.cat([z,z])",
        "RuntimeError: zero-dimensional tensor (at position 0) cannot be concatenated",
    ),
    (
        "torch.cat([x,z])",
        "RuntimeError: zero-dimensional tensor (at position 1) cannot be concatenated",
    ),
    (
        "torch.cat([x],5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    (
        "torch.cat(x)",
        "TypeError: cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
    ),
    ("torch.cat([x,1])", "TypeError: expected Tensor as element 1 in argument 0, but got int"),
    (
        "torch.cat((v,v),out=torch.zeros(3,dtype=torch.int64))",
        "TypeError: torch.cat(): input types can't be cast to the desired output type Long",
    ),
    ("torch.stack([])", "RuntimeError: stack expects a non-empty TensorList"),
    (
        "torch.stack([x,v])",
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 4] at entry 0 "
        "and [4] at entry 1",
    ),
    (
        "torch.stack([x,x],4)",
        "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 4)",
    ),
    (
        "torch.hstack([v,x])",
        "RuntimeError: Tensors must have same number of dimensions: got 1 and 2",
    ),
    ("torch.hstack([])", "RuntimeError: hstack expects a non-empty TensorList"),
    ("torch.vstack([])", "RuntimeError: vstack expects a non-empty TensorList"),
    ("torch.dstack([])", "RuntimeError: dstack expects a non-empty TensorList"),
    (
        "torch.column_stack([x,v[:3],z])",
        "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 3 "
        "but got size 1 for tensor number 2 in the list.",
    ),
    ("torch.column_stack([])", "RuntimeError: column_stack expects a non-empty TensorList"),
    (
        "torch.meshgrid(v[:2],v[:3],indexing='yy')",
        'RuntimeError: torch.meshgrid: indexing must be one of "xy" or "ij", but received: yy',
    ),
    ("torch.meshgrid()", "RuntimeError: meshgrid expects a non-empty TensorList"),
    (
        "torch.meshgrid(v,v.int())",
        "RuntimeError: meshgrid expects all tensors to have the same dtype",
    ),
    ("torch.cartesian_prod(x)", "RuntimeError: Expect a 1D vector, but got shape [3, 4]"),
    ("torch.cartesian_prod()", "RuntimeError: meshgrid expects a non-empty TensorList"),
    ("torch.combinations(v[:3],r=-1)", "RuntimeError: Expect a non-negative number, but got -1"),
    ("torch.combinations(x)", "RuntimeError: Expect a 1D vector, but got shape [3, 4]"),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
