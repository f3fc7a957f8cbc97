"""What PyTorch 2.15 gave for view, reshape, squeeze, expand."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("x.view(torch.int32).dtype", "torch.int32"),
    (
        "x.view(torch.float64)",
        "float64 [[0.0078125, 32.00000762939453], [2048.0004920959473, 32768.007904052734], "
        "[262144.0634765625, 1048576.2543945312]] (2, 1)",
    ),
    ("x.view(torch.int16).stride()", "(8, 1)"),
    ("z.view(torch.int32)", "int32 1077936128 ()"),
    ("x.view(torch.float64).stride()", "(2, 1)"),
    ("x.expand(2,-1,4).stride()", "(0, 4, 1)"),
    ("torch.broadcast_tensors(x,v)[1].stride()", "(0, 1)"),
    ("torch.broadcast_tensors()", "()"),
    ("torch.broadcast_shapes()", "torch.Size([])"),
    ("torch.broadcast_shapes(2,(3,1))", "torch.Size([3, 2])"),
    ("torch.broadcast_shapes((2,3),[4,2,1],(1,))", "torch.Size([4, 2, 3])"),
    ("torch.broadcast_shapes((0,),(1,))", "torch.Size([0])"),
    ("c.squeeze((0,1)).shape", "torch.Size([2, 3, 4])"),
    ("x.unsqueeze(-3).stride()", "(12, 4, 1)"),
    ("z.flatten()", "[3.0] (1,)"),
    ("c.flatten(1).stride()", "(12, 1)"),
    ("x.flatten(0,0) is x", "True"),
    ("x.flatten(start_dim=0,end_dim=-1).shape", "torch.Size([12])"),
    ("x.unflatten(1,(2,-1)).shape", "torch.Size([3, 2, 2])"),
    ("torch.unflatten(x,1,(2,2)).shape", "torch.Size([3, 2, 2])"),
    ("x.data.storage_offset()", "0"),
    ("x.detach() is x", "False"),
    ("torch.zeros(0,1).expand(0,3).stride()", "(1, 0)"),
    ("torch.zeros(1,0).expand(3,0).stride()", "(0, 1)"),
    ("torch.zeros(2,0,3).view(0,6).stride()", "(6, 1)"),
    ("torch.zeros(2,0,3).view(3,0).stride()", "(1, 1)"),
    ("torch.zeros(2,0,3).view(-1)", "[] (1,)"),
    ("z.view(1,1).stride(),z.expand(2,1).stride(),z.view(()).stride()", "((1, 1), (0, 0), ())"),
    ("x.unflatten(0,(3,1)).stride(), x.unflatten(0,(1,3)).stride()", "((4, 4, 1), (12, 4, 1))"),
]

ERRORS = [
    ("x.view(5)", "RuntimeError: shape '[5]' is invalid for input of size 12"),
    ("x.view(-1,-1)", "RuntimeError: only one dimension can be inferred"),
    ("x.view(-2,6)", "RuntimeError: invalid shape dimension -2 at index 0 of shape [-2, 6]"),
    (
        "torch.zeros(3).view(torch.float64)",
        "RuntimeError: self.size(-1) must be divisible by 2 to view Float as Double "
        "(different element sizes), but got 3",
    ),
    (
        "z.view(torch.int16)",
        "RuntimeError: self.dim() cannot be 0 to view Float as Short (different element sizes)",
    ),
    (
        "x[:,1:3].view(torch.float64)",
        "RuntimeError: self.storage_offset() must be divisible by 2 to view Float as Double "
        "(different element sizes), but got 1",
    ),
    ("x.reshape(5,-1)", "RuntimeError: shape '[5, -1]' is invalid for input of size 12"),
    (
        "x.expand(2)",
        "RuntimeError: expand(torch.FloatTensor{[3, 4]}, size=[2]): the number of sizes "
        "provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
    ),
    (
        "x.expand(2,4)",
        "RuntimeError: The expanded size of the tensor (2) must match the existing size (3) "
        "at non-singleton dimension 0.  Target sizes: [2, 4].  Tensor sizes: [3, 4]",
    ),
    (
        "x.expand(-1,3,4)",
        "RuntimeError: The expanded size of the tensor (-1) isn't allowed in a leading, "
        "non-existing dimension 0",
    ),
    (
        "x.expand(-2,4)",
        "RuntimeError: The expanded size of the tensor (-2) must match the existing size (3) "
        "at non-singleton dimension 0.  Target sizes: [-2, 4].  Tensor sizes: [3, 4]",
    ),
    (
        "x.expand(5,4)",
        "RuntimeError: The expanded size of the tensor (5) must match the existing size (3) "
        "at non-singleton dimension 0.  Target sizes: [5, 4].  Tensor sizes: [3, 4]",
    ),
    (
        "x.expand(3,-3)",
        "RuntimeError: The expanded size of the tensor (-3) must match the existing size (4) "
        "at non-singleton dimension 1.  Target sizes: [3, -3].  Tensor sizes: [3, 4]",
    ),
    (
        "x.broadcast_to((2,4))",
        "RuntimeError: The expanded size of the tensor (2) must match the existing size (3) "
        "at non-singleton dimension 0.  Target sizes: [2, 4].  Tensor sizes: [3, 4]",
    ),
    (
        "torch.broadcast_tensors(x,torch.zeros(5))",
        "RuntimeError: The size of tensor a (4) must match the size of tensor b (5) at "
        "non-singleton dimension 1",
    ),
    (
        "torch.broadcast_tensors([x,v])[1].stride()",
        "TypeError: expected Tensor as element 0 in argument 0, but got list",
    ),
    (
        "torch.broadcast_shapes((2,),(3,))",
        "RuntimeError: Attempting to broadcast a dimension of length 3 at -1! Mismatching "
        "argument at index 1 had (3,); but expected shape should be broadcastable to [2]",
    ),
    (
        "torch.broadcast_shapes((2,3),(3,1))",
        "RuntimeError: Attempting to broadcast a dimension of length 3 at -2! Mismatching "
        "argument at index 1 had (3, 1); but expected shape should be broadcastable to [2, 3]",
    ),
    (
        "torch.broadcast_shapes((2,-1),(3,1))",
        "ValueError: Attempting to broadcast a dimension with negative length!",
    ),
    (
        "torch.broadcast_shapes('a')",
        "TypeError: '<' not supported between instances of 'str' and 'int'",
    ),
    (
        "torch.broadcast_shapes((1.5,))",
        "TypeError: torch.Size() takes an iterable of 'int' (item 0 is 'float')",
    ),
    (
        "torch.broadcast_shapes((0,),(3,))",
        "RuntimeError: Attempting to broadcast a dimension of length 3 at -1! Mismatching "
        "argument at index 1 had (3,); but expected shape should be broadcastable to [0]",
    ),
    (
        "x.squeeze(5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    ("x.squeeze((0,0))", "RuntimeError: dim 0 appears multiple times in the list of dims"),
    (
        "x.unsqueeze(3)",
        "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 3)",
    ),
    (
        "x.flatten(1,0)",
        "RuntimeError: flatten() has invalid args: start_dim cannot come after end_dim",
    ),
    (
        "x.flatten(5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    (
        "x.unflatten(1,(2,3))",
        "RuntimeError: unflatten: Provided sizes [2, 3] don't multiply up to the size of dim "
        "1 (4) in the input tensor",
    ),
    ("x.unflatten(1,())", "RuntimeError: unflatten: sizes must be non-empty"),
    (
        "x.unflatten(3,(2,3))",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    (
        "torch.zeros(2,0,3).view(-1,0)",
        "RuntimeError: cannot reshape tensor of 0 elements into shape [-1, 0] because the "
        "unspecified dimension size -1 can be any value and is ambiguous",
    ),
    (
        "torch.zeros(2,0,3).reshape(0,-1)",
        "RuntimeError: cannot reshape tensor of 0 elements into shape [0, -1] because the "
        "unspecified dimension size -1 can be any value and is ambiguous",
    ),
    ("x.view_as(v)", "RuntimeError: shape '[4]' is invalid for input of size 12"),
    (
        "x.expand_as(v)",
        "RuntimeError: expand(torch.FloatTensor{[3, 4]}, size=[4]): the number of sizes "
        "provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
    ),
    ("x.reshape_as(v)", "RuntimeError: shape '[4]' is invalid for input of size 12"),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
