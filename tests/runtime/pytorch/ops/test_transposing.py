"""What PyTorch 2.15 gave for permute, transpose, movedim."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("c.T.shape", "torch.Size([4, 3, 2])"),
    ("z.mT", "3.0 ()"),
    ("z.T", "3.0 ()"),
    ("c.mH.shape", "torch.Size([2, 4, 3])"),
    ("z.H", "3.0 ()"),
    ("c.adjoint().shape", "torch.Size([2, 4, 3])"),
    ("c.transpose(0,1).flatten(1).stride()", "(8, 1)"),
    ("c.transpose(0,1).flatten().stride()", "(1)"),
    ("torch.zeros(3,0).t().is_contiguous()", "True"),
    ("torch.zeros(2,0).t().view(0,2).stride()", "(1, 1)"),
    (
        "x.ravel().storage_offset(), x.t().ravel()",
        "(0, [0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0] (1,))",
    ),
    ("torch.swapaxes(x,0,1).shape", "torch.Size([4, 3])"),
]

ERRORS = [
    (
        "x.t().view(12)",
        "RuntimeError: view size is not compatible with input tensor's size and stride (at "
        "least one dimension spans across two contiguous subspaces). Use .reshape(...) "
        "instead.",
    ),
    (
        "x.t().view(torch.float64)",
        "RuntimeError: self.size(-1) must be divisible by 2 to view Float as Double "
        "(different element sizes), but got 3",
    ),
    (
        "x.t().view(torch.int16)",
        "RuntimeError: self.stride(-1) must be 1 to view Float as Short (different element "
        "sizes), but got 4",
    ),
    (
        "x.permute(0)",
        "RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does "
        "not match the length of the desired ordering of dimensions i.e. input.dim() = 2 is "
        "not equal to len(dims) = 1",
    ),
    ("x.permute(0,0)", "RuntimeError: permute(): duplicate dims are not allowed."),
    (
        "x.permute(0,3)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    ("c.t()", "RuntimeError: t() expects a tensor with <= 2 dimensions, but self is 3D"),
    (
        "x.transpose(0,2)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        "v.mT",
        "RuntimeError: tensor.mT is only supported on matrices or batches of matrices. Got "
        "1-D tensor.",
    ),
    ("v.H", "RuntimeError: tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor."),
    (
        "c.H",
        "RuntimeError: tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor. "
        "For batches of matrices, consider using tensor.mH",
    ),
    (
        "v.adjoint()",
        "RuntimeError: tensor.adjoint() is only supported on matrices or batches of "
        "matrices. Got 1-D tensor.",
    ),
    (
        "torch.movedim(c,(0,1),(0,))",
        "RuntimeError: movedim: Invalid source or destination dims: source ([0, 1] dims) "
        "should contain the same number of dims as destination ([0] dims)",
    ),
    ("torch.movedim(c,(0,0),(0,1))", "RuntimeError: movedim: repeated dim in `source` ([0, 0])"),
    (
        "torch.movedim(c,(0,1),(1,1))",
        "RuntimeError: movedim: repeated dim in `destination` ([1, 1])",
    ),
    (
        "torch.movedim(c,0,5)",
        "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 5)",
    ),
    (
        "x.swapaxes(0,5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
