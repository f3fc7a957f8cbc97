"""What PyTorch 2.15 gave for narrow, select, split, unfold, diagonal."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("z.unfold(0,1,1)", "[3.0] (1,)"),
    ("z.unfold(0,0,1)", "[] (1,)"),
    ("x.narrow(0,-1,1)", "[[8.0, 9.0, 10.0, 11.0]] (4, 1)"),
    ("x.narrow(0,torch.tensor(1),1)", "[[4.0, 5.0, 6.0, 7.0]] (4, 1)"),
    ("e.chunk(3)", "([] (3, 1), [] (3, 1), [] (3, 1))"),
    ("e.split(0)", "([] (3, 1))"),
    ("e.split(2)", "([] (3, 1))"),
    ("e.split(0,0)", "([] (3, 1))"),
    ("x.split_with_sizes([1,2,1],1)[1].stride()", "(4, 1)"),
    (
        "x.tensor_split(2,1)",
        "([[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]] (4, 1), [[2.0, 3.0], [6.0, 7.0], [10.0, "
        "11.0]] (4, 1))",
    ),
    (
        "x.tensor_split((1,5,2))",
        "([[0.0, 1.0, 2.0, 3.0]] (4, 1), [[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, "
        "1), [] (4, 1), [[8.0, 9.0, 10.0, 11.0]] (4, 1))",
    ),
    (
        "x.tensor_split(torch.tensor([1,2]))",
        "([[0.0, 1.0, 2.0, 3.0]] (4, 1), [[4.0, 5.0, 6.0, 7.0]] (4, 1), [[8.0, 9.0, 10.0, "
        "11.0]] (4, 1))",
    ),
    (
        "x.tensor_split(torch.tensor(2))",
        "([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]] (4, 1), [[8.0, 9.0, 10.0, 11.0]] (4, 1))",
    ),
    (
        "x.tensor_split((-1,))",
        "([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]] (4, 1), [[8.0, 9.0, 10.0, 11.0]] (4, 1))",
    ),
    (
        "x.vsplit((1,))",
        "([[0.0, 1.0, 2.0, 3.0]] (4, 1), [[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1))",
    ),
    ("c.dsplit((1,))[0].shape", "torch.Size([2, 3, 1])"),
    ("v.hsplit(2)", "([0.0, 1.0] (1,), [2.0, 3.0] (1,))"),
    ("e.unbind()", "()"),
    ("e.unbind(1)", "([] (3,), [] (3,), [] (3,))"),
    ("torch.narrow_copy(x,0,1,2).stride()", "(4, 1)"),
    ("torch.hsplit(x,2)[0].shape", "torch.Size([3, 2])"),
]

ERRORS = [
    ("x.unfold(0,5,1)", "RuntimeError: maximum size for tensor at dimension 0 is 3 but size is 5"),
    ("x.unfold(0,2,0)", "RuntimeError: step is 0 but must be > 0"),
    (
        "x.unfold(2,2,1)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    ("x.unfold(0,-1,1)", "RuntimeError: size is -1 but must be >= 0"),
    ("z.unfold(0,2,1)", "RuntimeError: maximum size for tensor at dimension 0 is 1 but size is 2"),
    ("x.narrow(0,1,5)", "RuntimeError: start (1) + length (5) exceeds dimension size (3)."),
    (
        "x.narrow(0,4,1)",
        "IndexError: start out of range (expected to be in range of [-3, 3], but got 4)",
    ),
    ("x.narrow(0,1,-1)", "RuntimeError: narrow(): length must be non-negative."),
    (
        "x.narrow(0,-4,1)",
        "IndexError: start out of range (expected to be in range of [-3, 3], but got -4)",
    ),
    ("z.narrow(0,0,1)", "RuntimeError: narrow() cannot be applied to a 0-dim tensor."),
    ("x.narrow(0,torch.tensor([1]),1)", "RuntimeError: start must be an 0-dim integral Tensor."),
    ("x.narrow(0,torch.tensor(1.),1)", "RuntimeError: start must be an 0-dim integral Tensor."),
    (
        "x.narrow(5,0,1)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    (
        "x.select(0,5)",
        "IndexError: select(): index 5 out of range for tensor of size [3, 4] at dimension 0",
    ),
    (
        "x.select(0,-4)",
        "IndexError: select(): index -4 out of range for tensor of size [3, 4] at dimension 0",
    ),
    ("z.select(0,0)", "IndexError: select() cannot be applied to a 0-dim tensor."),
    (
        "x.select(2,0)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    ("x.chunk(0)", "RuntimeError: chunk expects `chunks` to be greater than 0, got: 0"),
    (
        "x.chunk(2,5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    ("z.chunk(1)", "RuntimeError: chunk expects at least a 1-dimensional tensor"),
    (
        "x.split(0)",
        "RuntimeError: split_size can only be 0 if dimension size is 0, but got dimension "
        "size of 3",
    ),
    (
        "x.split(-1)",
        "RuntimeError: split expects split_size be non-negative, but got split_size=-1",
    ),
    (
        "x.split([1,1])",
        "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 3 (input "
        "tensor's size at dimension 0), but got split_sizes=[1, 1]",
    ),
    (
        "x.split([1,-1,3])",
        "RuntimeError: split_with_sizes expects split_sizes have only non-negative entries, "
        "but got split_sizes=[1, -1, 3]",
    ),
    (
        "x.split((1,2),1)",
        "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 4 (input "
        "tensor's size at dimension 1), but got split_sizes=[1, 2]",
    ),
    ("z.split(1)", "RuntimeError: split expects at least a 1-dimensional tensor"),
    (
        "x.split(2,dim=2)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        "x.split('a')",
        "TypeError: split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of "
        "ints, not str",
    ),
    (
        "x.split(1.5)",
        "TypeError: split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of "
        "ints, not float",
    ),
    ("x.tensor_split(0)", "RuntimeError: number of sections must be larger than 0, got 0"),
    (
        "x.tensor_split(torch.tensor([[1,2]]))",
        "RuntimeError: tensor_split expected tensor_indices_or_sections to be a "
        "zero-dimensional or one-dimensional tensor, but got a tensor with 2 dims",
    ),
    (
        "x.tensor_split(torch.tensor(2.))",
        "RuntimeError: tensor_split expected tensor_indices_or_sections to have dtype of "
        "long, but got Float",
    ),
    (
        "z.tensor_split(1)",
        "RuntimeError: tensor_split expected at least a 1-dimensional tensor, but got a "
        "tensor with 0 dims",
    ),
    (
        "x.hsplit(3)",
        "RuntimeError: torch.hsplit attempted to split along dimension 1, but the size of "
        "the dimension 4 is not divisible by the split_size 3!",
    ),
    (
        "z.hsplit(1)",
        "RuntimeError: torch.hsplit requires a tensor with at least 1 dimension, but got a "
        "tensor with 0 dimensions!",
    ),
    (
        "v.vsplit(2)",
        "RuntimeError: torch.vsplit requires a tensor with at least 2 dimension, but got a "
        "tensor with 1 dimensions!",
    ),
    (
        "x.dsplit(2)",
        "RuntimeError: torch.dsplit requires a tensor with at least 3 dimension, but got a "
        "tensor with 2 dimensions!",
    ),
    (
        "x.vsplit(2)",
        "RuntimeError: torch.vsplit attempted to split along dimension 0, but the size of "
        "the dimension 3 is not divisible by the split_size 2!",
    ),
    (
        "x.hsplit(0)",
        "RuntimeError: torch.hsplit attempted to split along dimension 1, but the size of "
        "the dimension 4 is not divisible by the split_size 0!",
    ),
    (
        "c.hsplit(2)",
        "RuntimeError: torch.hsplit attempted to split along dimension 1, but the size of "
        "the dimension 3 is not divisible by the split_size 2!",
    ),
    ("z.unbind()", "IndexError: Dimension specified as 0 but tensor has no dimensions"),
    (
        "x.unbind(2)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
