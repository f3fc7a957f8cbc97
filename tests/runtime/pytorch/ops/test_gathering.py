"""What PyTorch 2.15 gave for index_select, gather, take, where, nonzero."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("x.index_select(0,L(0,2).int())", "[[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)"),
    ("x.index_select(1,L(0,0,3)).stride()", "(3, 1)"),
    ("x.t().index_select(1,L(0,1)).stride()", "(2, 1)"),
    ("x.index_select(0,torch.tensor(1))", "[[4.0, 5.0, 6.0, 7.0]] (4, 1)"),
    ("z.index_select(0,torch.tensor(0))", "3.0 ()"),
    ("z.index_select(0,L(0))", "3.0 ()"),
    ("v.index_select(0,torch.tensor(1))", "[1.0] (1,)"),
    ("x.take(L(0,-1,5))", "[0.0, 11.0, 5.0] (1,)"),
    ("x.take(L([0,1],[2,3]))", "[[0.0, 1.0], [2.0, 3.0]] (2, 1)"),
    ("x.t().take(L(1))", "[4.0] (1,)"),
    ("torch.zeros(0).take(L().long())", "[] (1,)"),
    ("x.gather(0,L([0,1,2,0]))", "[[0.0, 5.0, 10.0, 3.0]] (4, 1)"),
    ("x.gather(1,L([0],[1],[2]))", "[[0.0], [5.0], [10.0]] (1, 1)"),
    ("x.gather(0,L([0]).int())", "[[0.0]] (1, 1)"),
    ("z.gather(0,torch.tensor(0))", "3.0 ()"),
    ("z.gather(0,L(0))", "[3.0] (1,)"),
    ("x.gather(0,L([]).long())", "[[]] (1, 1)"),
    ("x.gather(0,torch.zeros(0,2).long())", "[] (2, 1)"),
    ("v.gather(0,torch.tensor(2))", "2.0 ()"),
    ("x.gather(0,L([0]),sparse_grad=True)", "[[0.0]] (1, 1)"),
    ("x.t().gather(0,L([0,1])).stride()", "(2, 1)"),
    ("x.take_along_dim(L([0,1,2,0]),0)", "[[0.0, 5.0, 10.0, 3.0]] (4, 1)"),
    ("x.take_along_dim(L([0],[1],[2]),1)", "[[0.0], [5.0], [10.0]] (1, 1)"),
    ("x.take_along_dim(L([-1]),1)", "[[3.0], [7.0], [11.0]] (1, 1)"),
    ("x.masked_select(x>5)", "[6.0, 7.0, 8.0, 9.0, 10.0, 11.0] (1,)"),
    ("x.masked_select(L(True,False,True,False))", "[0.0, 2.0, 4.0, 6.0, 8.0, 10.0] (1,)"),
    ("x.masked_select(torch.ones(2,3,4).bool()).shape", "torch.Size([24])"),
    ("z.masked_select(torch.tensor(True))", "[3.0] (1,)"),
    ("torch.where(x>5)", "(int64 [1, 1, 2, 2, 2, 2] (1,), int64 [2, 3, 0, 1, 2, 3] (1,))"),
    (
        "torch.where(x>5,x,0)",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "torch.where(x>5,0,x)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    ("torch.where(x>5,1,0)", "int64 [[0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] (4, 1)"),
    (
        "torch.where(x>5,1,0.5)",
        "[[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]] (4, 1)",
    ),
    (
        "torch.where(x>5,1.,0)",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]] (4, 1)",
    ),
    (
        "torch.where(x>5,True,False)",
        "bool [[False, False, False, False], [False, False, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    (
        "torch.where(x>5,x,x.long())",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "torch.where(x>5,x.long(),1.5)",
        "[[1.5, 1.5, 1.5, 1.5], [1.5, 1.5, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("torch.where(x>5,x.int(),torch.tensor(1.5,dtype=torch.float64)).dtype", "torch.float64"),
    ("torch.where(x>5,x.half(),torch.tensor(1.5,dtype=torch.float64)).dtype", "torch.float16"),
    (
        "torch.where((x>5).byte(),x,0)",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.where(x>5,0)",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.where(x>5,L(1,2,3,4))",
        "[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "torch.where(x>5,x.double(),x,out=torch.zeros(3,4,dtype=torch.float64))[2]",
        "float64 [8.0, 9.0, 10.0, 11.0] (1,)",
    ),
    ("torch.where(x.t()>5,x.t(),0).stride()", "(1, 4)"),
    ("torch.where(condition=x>5,input=x,other=v)[2]", "[8.0, 9.0, 10.0, 11.0] (1,)"),
    (
        "torch.nonzero(x)",
        "int64 [[0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [1, 2], [1, 3], [2, 0], [2, 1], [2, "
        "2], [2, 3]] (1, 11)",
    ),
    ("torch.nonzero(z)", "int64 [[]] (1, 1)"),
    (
        "torch.nonzero(x,as_tuple=True)",
        "(int64 [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2] (1,), int64 [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, "
        "3] (1,))",
    ),
    ("torch.nonzero(z,as_tuple=True)", "(int64 [0] (1,))"),
    ("torch.nonzero(x).stride()", "(1, 11)"),
    ("x.nonzero(as_tuple=False)[0]", "int64 [0, 1] (11,)"),
    (
        "x.nonzero(as_tuple=True)",
        "(int64 [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2] (1,), int64 [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, "
        "3] (1,))",
    ),
    ("torch.argwhere(x>9)", "int64 [[2, 2], [2, 3]] (1, 2)"),
    ("torch.argwhere(z)", "int64 [[]] (1, 1)"),
    ("torch.masked_select(x,x>5,out=torch.zeros(0))", "[6.0, 7.0, 8.0, 9.0, 10.0, 11.0] (1,)"),
]

ERRORS = [
    ("x.index_select(0,L(5))", "IndexError: index out of range in self"),
    ("x.index_select(0,L(-1))", "IndexError: index out of range in self"),
    (
        "x.index_select(0,L(0,2).short())",
        "RuntimeError: index_select(): Expected dtype int32 or int64 for index",
    ),
    ("x.index_select(0,L([0,2]))", "IndexError: index_select(): Index is supposed to be a vector"),
    (
        "x.index_select(2,L(0))",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        "z.index_select(0,L(0,0))",
        "RuntimeError: index_select(): Index to scalar can have only 1 value, got 2 value(s)",
    ),
    ("z.index_select(0,L(1))", "IndexError: index out of range in self"),
    (
        "x.index_select(0,L(0.5))",
        "RuntimeError: index_select(): Expected dtype int32 or int64 for index",
    ),
    (
        "x.index_select(1,L(7))",
        "RuntimeError: INDICES element is out of DATA bounds, id=7 axis_dim=4",
    ),
    ("v.index_select(0,L(7))", "IndexError: index out of range in self"),
    (
        "torch.index_select(x,0,L(1),out=torch.zeros(3,dtype=torch.int64))",
        "RuntimeError: index_select(): self and result must have the same scalar type",
    ),
    (
        "torch.zeros(0,3).index_select(0,L(0))",
        "RuntimeError: index_select(): self indexing axis dim should be positive",
    ),
    (
        "x.take(L(12))",
        "IndexError: out of range: tried to access index 12 on a tensor of 12 elements.",
    ),
    (
        "x.take(L(-13))",
        "IndexError: out of range: tried to access index -13 on a tensor of 12 elements.",
    ),
    ("x.take(L(0).int())", "RuntimeError: take(): Expected a long tensor for index, but got Int"),
    ("torch.zeros(0).take(L(0))", "IndexError: take(): tried to take from an empty tensor"),
    (
        "x.gather(0,L([0,1,2,0,1]))",
        "RuntimeError: Size does not match at dimension 1 expected index [1, 5] to be no "
        "larger than self [3, 4] apart from dimension 0",
    ),
    (
        "x.gather(1,L([0],[1],[2],[3]))",
        "RuntimeError: Size does not match at dimension 0 expected index [4, 1] to be no "
        "larger than self [3, 4] apart from dimension 1",
    ),
    (
        "x.gather(0,L(0))",
        "RuntimeError: Index tensor must have the same number of dimensions as input tensor",
    ),
    ("x.gather(0,L([3]))", "RuntimeError: index 3 is out of bounds for dimension 0 with size 3"),
    ("x.gather(0,L([-1]))", "RuntimeError: index -1 is out of bounds for dimension 0 with size 3"),
    ("x.gather(0,L([0.]))", "RuntimeError: gather(): Expected dtype int32/int64 for index"),
    (
        "x.gather(2,L([0]))",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        "torch.gather(x,0,L([0]),out=torch.zeros(1,1,dtype=torch.int32))",
        "RuntimeError: Expected out tensor to have dtype float, but got int instead",
    ),
    (
        "x.take_along_dim(L(0,1,2),0)",
        "RuntimeError: torch.take_along_dim(): input and indices should have the same number "
        "of dimensions, but got 2 dimensions for input, and 1 dimensions for indices",
    ),
    (
        "x.take_along_dim(L(0,13))",
        "RuntimeError: index 13 is out of bounds for dimension 0 with size 12",
    ),
    (
        "x.take_along_dim(L([0],[1]),1)",
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at "
        "non-singleton dimension 0",
    ),
    (
        "x.take_along_dim(L([0],[1],[2]).int(),1)",
        "RuntimeError: torch.take_along_dim(): dtype of indices should be Long but got Int",
    ),
    (
        "x.take_along_dim(L([0]),5)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    (
        "x.masked_select(L(True,False))",
        "RuntimeError: The size of tensor a (2) must match the size of tensor b (4) at "
        "non-singleton dimension 1",
    ),
    ("x.masked_select(x)", "RuntimeError: masked_select: expected BoolTensor for mask"),
    ("x.masked_select((x>5).byte())", "RuntimeError: masked_select: expected BoolTensor for mask"),
    (
        "torch.where(x,x,x)",
        "RuntimeError: where expected condition to be a boolean tensor, but got a tensor "
        "with dtype Float",
    ),
    (
        "torch.where(x.long(),x,0)",
        "RuntimeError: where expected condition to be a boolean tensor, but got a tensor "
        "with dtype Long",
    ),
    (
        "torch.where(x>5,v,L(1,2,3))",
        "RuntimeError: The size of tensor a (4) must match the size of tensor b (3) at "
        "non-singleton dimension 1",
    ),
    (
        "torch.where(L(True,False),x,x)",
        "RuntimeError: The size of tensor a (2) must match the size of tensor b (4) at "
        "non-singleton dimension 1",
    ),
    (
        "torch.where(x>5,x.t(),0)",
        "RuntimeError: The size of tensor a (4) must match the size of tensor b (3) at "
        "non-singleton dimension 1",
    ),
    (
        "torch.where(x>5,x.double(),x,out=torch.zeros(3,4))[2]",
        "RuntimeError: Expected out type to be Double but got Float",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
