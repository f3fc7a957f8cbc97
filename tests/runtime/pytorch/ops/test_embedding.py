"""What PyTorch 2.15 gave for select_scatter, slice_scatter, diagonal_scatter."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    (
        "x.select_scatter(v,0,1)",
        "[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.select_scatter(L(1,2,3),1,0)",
        "[[1.0, 1.0, 2.0, 3.0], [2.0, 5.0, 6.0, 7.0], [3.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.slice_scatter(torch.zeros(2,4),0,1)",
        "[[0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    (
        "x.slice_scatter(torch.zeros(2,4),0,0,2)",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.slice_scatter(torch.zeros(2,4),0,0,4,2)",
        "[[0.0, 0.0, 0.0, 0.0], [4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    (
        "x.slice_scatter(torch.zeros(3,4))",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    (
        "x.slice_scatter(torch.zeros(1,4),dim=0,start=-1)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    (
        "x.diagonal_scatter(v[:3])",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 1.0, 6.0, 7.0], [8.0, 9.0, 2.0, 11.0]] (4, 1)",
    ),
    (
        "x.diagonal_scatter(v[:3],1)",
        "[[0.0, 0.0, 2.0, 3.0], [4.0, 5.0, 1.0, 7.0], [8.0, 9.0, 10.0, 2.0]] (4, 1)",
    ),
    (
        "x.as_strided_scatter(torch.zeros(2,2),(2,2),(1,2))",
        "[[0.0, 0.0, 0.0, 0.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
]

ERRORS = [
    (
        "x.select_scatter(v,0,5)",
        "IndexError: select(): index 5 out of range for tensor of size [3, 4] at dimension 0",
    ),
    (
        "x.select_scatter(v,1,0)",
        "RuntimeError: expected src to have a size equal to the slice of self. src size = "
        "[4], slice size = [3]",
    ),
    (
        "x.slice_scatter(torch.zeros(2,4))",
        "RuntimeError: expected src to have a size equal to the slice of self. src size = "
        "[2, 4], slice size = [3, 4]",
    ),
    ("x.slice_scatter(torch.zeros(2,4),0,1,step=-1)", "RuntimeError: slice step must be positive"),
    (
        "x.diagonal_scatter(v)",
        "RuntimeError: expected src to have a size equal to the slice of self. src size = "
        "[4], slice size = [3]",
    ),
    (
        "x.as_strided_scatter(torch.zeros(2),(2,2),(1,2))",
        "RuntimeError: expected src to have a size equal to the slice of self. src size = "
        "[2], slice size = [2, 2]",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
