"""What PyTorch 2.15 gave for index_add, index_copy, index_fill, index_put, put."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    (
        "x.index_add(0,L(0,0),torch.ones(2,4))",
        "[[2.0, 3.0, 4.0, 5.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.index_add(0,L(0,0),torch.ones(2,4),alpha=2)",
        "[[4.0, 5.0, 6.0, 7.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("x.index_add(0,L(0,1).int(),torch.ones(2,4))[0]", "[1.0, 2.0, 3.0, 4.0] (1,)"),
    (
        "x.long().index_add(0,L(0,1),torch.ones(2,4).long(),alpha=1.5)",
        "int64 [[1, 2, 3, 4], [5, 6, 7, 8], [8, 9, 10, 11]] (4, 1)",
    ),
    ("v.index_add(0,L(0,0,1),torch.ones(3))", "[2.0, 2.0, 2.0, 3.0] (1,)"),
    ("z.index_add(0,torch.tensor(0),torch.tensor(1.))", "4.0 ()"),
    (
        "x.bool().index_add(0,L(0),x[:1].bool())",
        "bool [[False, True, True, True], [True, True, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    (
        "x.index_copy(0,L(0,2),torch.zeros(2,4))",
        "[[0.0, 0.0, 0.0, 0.0], [4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    (
        "x.index_copy(0,torch.tensor(0),torch.zeros(1,4))",
        "[[0.0, 0.0, 0.0, 0.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("z.index_copy(0,torch.tensor(0),torch.tensor(9.))", "9.0 ()"),
    (
        "x.index_fill(0,L(0,2),-1)",
        "[[-1.0, -1.0, -1.0, -1.0], [4.0, 5.0, 6.0, 7.0], [-1.0, -1.0, -1.0, -1.0]] (4, 1)",
    ),
    (
        "x.index_fill(0,L(0,2),torch.tensor(-1))",
        "[[-1.0, -1.0, -1.0, -1.0], [4.0, 5.0, 6.0, 7.0], [-1.0, -1.0, -1.0, -1.0]] (4, 1)",
    ),
    (
        "x.index_fill(0,L(0,-1),-1)",
        "[[-1.0, -1.0, -1.0, -1.0], [4.0, 5.0, 6.0, 7.0], [-1.0, -1.0, -1.0, -1.0]] (4, 1)",
    ),
    (
        "x.index_fill(1,torch.tensor(2),-1)",
        "[[0.0, 1.0, -1.0, 3.0], [4.0, 5.0, -1.0, 7.0], [8.0, 9.0, -1.0, 11.0]] (4, 1)",
    ),
    (
        "x.long().index_fill(0,L(0),1.5)",
        "int64 [[1, 1, 1, 1], [4, 5, 6, 7], [8, 9, 10, 11]] (4, 1)",
    ),
    ("z.index_fill(0,L(0),5)", "5.0 ()"),
    (
        "x.index_put((L(0,1),L(0,1)),L(7.,8.))",
        "[[7.0, 1.0, 2.0, 3.0], [4.0, 8.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.index_put((L(0,1),),v)",
        "[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.index_put([L(0,0)],torch.ones(2,4),accumulate=True)",
        "[[2.0, 3.0, 4.0, 5.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.index_put((x>5,),torch.tensor(5.))",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 5.0, 5.0], [5.0, 5.0, 5.0, 5.0]] (4, 1)",
    ),
    (
        "x.index_put((x>5,),torch.tensor(5))",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 5.0, 5.0], [5.0, 5.0, 5.0, 5.0]] (4, 1)",
    ),
    (
        "x.index_put((L(0,0),L(0,0)),L(1.,1.),True)",
        "[[2.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.put(L(0,5),L(-1.,-2.))",
        "[[-1.0, 1.0, 2.0, 3.0], [4.0, -2.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.put(L(0,0),L(1.,2.),accumulate=True)",
        "[[3.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "x.put(L(0,-1),L(1.,2.))",
        "[[1.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 2.0]] (4, 1)",
    ),
    ("torch.index_fill(x,0,L(0),2)[0]", "[2.0, 2.0, 2.0, 2.0] (1,)"),
]

ERRORS = [
    (
        "x.index_add(0,L(0,5),torch.ones(2,4))",
        "RuntimeError: index 5 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_add(0,L(0,-1),torch.ones(2,4))",
        "RuntimeError: index -1 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_add(0,L(0,1),torch.ones(3,4))",
        "RuntimeError: index_add_(): Number of indices (2) should be equal to "
        "source.size(dim): (3), for dim: 0",
    ),
    (
        "x.index_add(0,L(0,1),torch.ones(2,3))",
        "RuntimeError: source tensor shape must match self tensor shape, excluding the "
        "specified dimension. Got self.shape = [3, 4] source.shape = [2, 3]",
    ),
    (
        "x.index_add(0,L(0,1),torch.ones(2,4).long())",
        "RuntimeError: index_add_(): self (Float) and source (Long) must have the same scalar type",
    ),
    (
        "x.index_add(0,L(0,1),torch.ones(2))",
        "RuntimeError: source tensor shape must match self tensor shape, excluding the "
        "specified dimension. Got self.shape = [3, 4] source.shape = [2]",
    ),
    (
        "x.index_add(0,L(0,1).short(),torch.ones(2,4))[0]",
        "RuntimeError: index_add_(): Expected dtype int32/int64 for index but got: Short",
    ),
    (
        "x.index_add(3,L(0,1),torch.ones(2,4))[0]",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    (
        "v.index_add(0,torch.tensor(0),torch.tensor(5.))",
        "RuntimeError: source tensor shape must match self tensor shape, excluding the "
        "specified dimension. Got self.shape = [4] source.shape = []",
    ),
    (
        "z.index_add(0,L(0),torch.ones(1))",
        "RuntimeError: source tensor shape must match self tensor shape, excluding the "
        "specified dimension. Got self.shape = [] source.shape = [1]",
    ),
    (
        "x.index_copy(0,L(0,5),torch.zeros(2,4))",
        "IndexError: index_copy_(): index 5 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_copy(0,L(0,-1),torch.zeros(2,4))",
        "IndexError: index_copy_(): index -1 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_copy(0,L([0,2]),torch.zeros(2,4))",
        "IndexError: index_copy_(): Index should have dimension 1 or 0 (got 2)",
    ),
    (
        "x.index_fill(0,L(0,2),L(1))",
        "RuntimeError: index_fill_ only supports a 0-dimensional value tensor, but got "
        "tensor with 1 dimension(s).",
    ),
    (
        "x.index_fill(0,L(0,5),-1)",
        "IndexError: index 5 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_fill(0,L(0,-4),-1)",
        "IndexError: index -4 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_fill(0,L(0,2).int(),-1)",
        "IndexError: index_fill_(): Expected dtype int64 for index.",
    ),
    ("x.index_fill(0,L([0,2]),-1)", "RuntimeError: Index has to be a vector/scalar"),
    (
        "x.index_put((L(0,1),None),torch.tensor(5.))",
        "TypeError: expected Tensor as element 1 in argument 0, but got NoneType",
    ),
    (
        "x.index_put((None,L(0,1)),torch.tensor(5.))",
        "TypeError: expected Tensor as element 0 in argument 0, but got NoneType",
    ),
    (
        "x.index_put((x>5,),L(5.,6.))",
        "RuntimeError: shape mismatch: value tensor of shape [2] cannot be broadcast to "
        "indexing result of shape [6]",
    ),
    (
        "x.index_put((L(0),L(0),L(0)),torch.tensor(5.))",
        "IndexError: too many indices for tensor of dimension 2 (got 3)",
    ),
    (
        "x.index_put((L(9),),torch.tensor(5.))",
        "IndexError: index 9 is out of bounds for dimension 0 with size 3",
    ),
    (
        "x.index_put((L(0.5),),torch.tensor(5.))",
        "IndexError: tensors used as indices must be long, int, byte or bool tensors",
    ),
    (
        "x.index_put((L(0,1),L(0,1,2)),torch.tensor(5.))",
        "IndexError: shape mismatch: indexing tensors could not be broadcast together with "
        "shapes [2], [3]",
    ),
    (
        "x.index_put((L(0,1),),torch.tensor(5))",
        "RuntimeError: Index put requires the source and destination dtypes match, got Float "
        "for the destination and Long for the source.",
    ),
    (
        "x.index_put((1,),torch.tensor(5.))",
        "TypeError: expected Tensor as element 0 in argument 0, but got int",
    ),
    (
        "x.put(L(0,0),L(1.,2.,3.))",
        "IndexError: put_(): Expected source and index to have the same number of elements, "
        "but got source.numel() = 3, index.numel() = 2",
    ),
    (
        "x.put(L(0,50),L(1.,2.))",
        "IndexError: out of range: tried to access index 50 on a tensor of 12 elements.",
    ),
    (
        "x.put(L(0,-50),L(1.,2.))",
        "IndexError: out of range: tried to access index -50 on a tensor of 12 elements.",
    ),
    (
        "x.put(L(0,1),L(1,2))",
        "RuntimeError: put_(): self and source expected to have the same dtype, but got "
        "self.dtype = Float and source.dtype = Long",
    ),
    (
        "x.put(L(0,1).int(),L(1.,2))",
        "RuntimeError: put_(): Expected a long tensor for index, but got Int",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
