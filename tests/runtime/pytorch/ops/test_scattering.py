"""What PyTorch 2.15 gave for scatter, scatter_add, scatter_reduce, and scatters of views."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    (
        "x.scatter(0,L([0,1,2,0]),x)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 1.0, 6.0, 7.0], [8.0, 9.0, 2.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter(0,L([0,1,2,0]),1.5)",
        "[[1.5, 1.0, 2.0, 1.5], [4.0, 1.5, 6.0, 7.0], [8.0, 9.0, 1.5, 11.0]] (4, 1)",
    ),
    (
        "x.scatter(0,L([0]*4,[1]*4,[0]*4,[1]*4),1)",
        "[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter(0,L([0]).int(),1)",
        "[[1.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter(0,L([0,1]),1,reduce='add')",
        "[[1.0, 1.0, 2.0, 3.0], [4.0, 6.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter(0,L([0,1]),2,reduce='multiply')",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 10.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter(0,L([0,1]),x,reduce='add')",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 6.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.long().scatter(0,L([0,1]),1.5)",
        "int64 [[1, 1, 2, 3], [4, 1, 6, 7], [8, 9, 10, 11]] (4, 1)",
    ),
    ("x.scatter(0,torch.zeros(0,4).long(),x)[0]", "[0.0, 1.0, 2.0, 3.0] (1,)"),
    ("z.scatter(0,torch.tensor(0),5)", "5.0 ()"),
    ("z.scatter(0,L(0),5)", "5.0 ()"),
    (
        "x.scatter_add(0,L([0,0],[0,0]),x)",
        "[[4.0, 7.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter_add(1,L([0,0,0,0,0]),torch.ones(1,5))",
        "[[5.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.bool().scatter_add(1,L([0,0]),x.bool())",
        "bool [[True, True, True, True], [True, True, True, True], [True, True, True, True]] "
        "(4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'sum')",
        "[[4.0, 7.0, 10.0, 13.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'prod')",
        "[[0.0, 5.0, 24.0, 63.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'mean')",
        "[[1.3333333730697632, 2.3333332538604736, 3.3333332538604736, 4.333333492279053], "
        "[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'amax')",
        "[[4.0, 5.0, 6.0, 7.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'amin',include_self=False)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'mean',include_self=False)",
        "[[2.0, 3.0, 4.0, 5.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.long().scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x.long()-4,'mean')",
        "int64 [[-2, -1, 0, 1], [4, 5, 6, 7], [8, 9, 10, 11]] (4, 1)",
    ),
    (
        "x.scatter_reduce(0,L([0]),x,'sum',include_self=False)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.bool().scatter_reduce(0,L([0]),x.bool(),'sum')",
        "bool [[False, True, True, True], [True, True, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
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
        "x.scatter(0,L([0,1,2,3]),1.5)",
        "RuntimeError: index 3 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.scatter(0,L([0,-1]),1.5)",
        "RuntimeError: index -1 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.scatter(0,L([0,1,2,0]),L([1,2,3,4]))",
        "RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
    ),
    (
        "x.scatter(0,L([0,1,2,0]),torch.ones(1,2))",
        "RuntimeError: Expected index [1, 4] to be no larger than self [3, 4] apart from "
        "dimension 0 and to be no larger size than src [1, 2]",
    ),
    (
        "x.scatter(0,L(0),v)",
        "RuntimeError: Index tensor must have the same number of dimensions as self tensor",
    ),
    (
        "x.scatter(0,L([0]*5),1)",
        "RuntimeError: Expected index [1, 5] to be no larger than self [3, 4] apart from "
        "dimension 0",
    ),
    (
        "x.scatter(1,L([0]*4,[1]*4,[0]*4,[1]*4),1)",
        "RuntimeError: Expected index [4, 4] to be no larger than self [3, 4] apart from "
        "dimension 1",
    ),
    (
        "x.scatter(0,L([0]).float(),1)",
        "RuntimeError: scatter(): Expected dtype int32/int64 for index",
    ),
    (
        "x.scatter(0,L([0,1]),2,reduce='foo')",
        "RuntimeError: reduce argument must be either add or multiply.",
    ),
    (
        "x.scatter(0,L([0,1]),x,reduce='amax')",
        "RuntimeError: reduce argument must be either add or multiply.",
    ),
    (
        "x.scatter(5,L([0,1]),1.5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    (
        "x.scatter_add(0,L([0,0],[0,0]),x.long())",
        "RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
    ),
    (
        "x.scatter_add(0,L([0,7]),x)",
        "RuntimeError: index 7 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.scatter_reduce(0,L([0,0,0,0],[0,0,0,0]),x,'foo')",
        "RuntimeError: reduce argument must be either sum, prod, mean, amax or amin, got foo",
    ),
    (
        "x.scatter_reduce(0,L([0]),x)",
        'TypeError: scatter_reduce() missing 1 required positional arguments: "reduce"',
    ),
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
