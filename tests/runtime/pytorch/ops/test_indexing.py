"""What PyTorch 2.15 gave for elements and parts in brackets."""

from __future__ import annotations

import pytest

from tests.runtime.pytorch.ops.facts import answering, changed

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("x.stride(-1)", "1"),
    ("c[torch.ones(2,3).bool(),1].shape", "torch.Size([6])"),
    ("c[torch.ones(2,3).bool(),:2].shape", "torch.Size([6, 2])"),
    ("c[torch.ones(2,3).bool(),L(1)].shape", "torch.Size([6])"),
    ("c[0,torch.ones(3,4).bool()].shape", "torch.Size([12])"),
    ("c[:,torch.ones(3,4).bool()].shape", "torch.Size([2, 12])"),
    ("x[L(1),None].shape", "torch.Size([1, 1, 4])"),
    ("x[True,True].shape", "torch.Size([1, 3, 4])"),
    ("x[True,L(0,1)].shape", "torch.Size([2, 4])"),
    ("x[0,...,...].shape", "torch.Size([4])"),
    (
        "x[np.ones((3,4),bool)]",
        "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0] (1,)",
    ),
    ("x[np.ones((3,),bool),0]", "[0.0, 4.0, 8.0] (1,)"),
    (
        "x[np.ones((3,4),bool),]",
        "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0] (1,)",
    ),
    ("x[[[True,False,True,True]]*3,].shape", "torch.Size([9])"),
    ("x[[1,[2]]]", "[6.0] (1,)"),
    ("x[[1,2.5]]", "[[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)"),
    ("x[[np.int64(1),2]]", "[[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)"),
    ("x[[L(1),2]]", "[6.0] (1,)"),
    ("x[[torch.tensor(1),2]]", "6.0 ()"),
    ("x[[[1,2],[1]]]", "[5.0, 9.0] (1,)"),
    ("x[[True,1]]", "[[4.0, 5.0, 6.0, 7.0], [4.0, 5.0, 6.0, 7.0]] (4, 1)"),
    ("x[[1,True]]", "[[4.0, 5.0, 6.0, 7.0], [4.0, 5.0, 6.0, 7.0]] (4, 1)"),
    ("x[[0,1,2,0]*10].shape", "torch.Size([40, 4])"),
    ("x[np.array([1.5])]", "[[4.0, 5.0, 6.0, 7.0]] (4, 1)"),
    ("x[np.array(True)].shape", "torch.Size([1, 3, 4])"),
    ("x[np.array([0,1],np.int32)].shape", "torch.Size([2, 4])"),
    ("x[np.array([0,1],np.int8)].shape", "torch.Size([2, 4])"),
    ("x[torch.tensor(1,dtype=torch.int8)]", "[4.0, 5.0, 6.0, 7.0] (1,)"),
    ("x[torch.tensor(-1)]", "[8.0, 9.0, 10.0, 11.0] (1,)"),
    ("x[:2**70].shape", "torch.Size([3, 4])"),
    ("x[-2**70:].shape", "torch.Size([3, 4])"),
    ("x[1:2**63].shape", "torch.Size([2, 4])"),
    ("c[L(0),:,L(0)].shape", "torch.Size([1, 3])"),
    ("c[0,:,L(0)].shape", "torch.Size([3, 1])"),
    ("c[:,0,L(0)].shape", "torch.Size([2, 1])"),
    ("c[L(0),0,L(1)].shape", "torch.Size([1])"),
    ("c[L([0,1]),None,L(1)].shape", "torch.Size([1, 2, 1, 4])"),
    ("c[:,None,L(0,1),None].shape", "torch.Size([2, 1, 2, 1, 4])"),
    ("c[torch.ones(2,3,4).bool()].shape", "torch.Size([24])"),
    ("torch.zeros(0,4)[torch.zeros(0,dtype=torch.long)].shape", "torch.Size([0, 4])"),
    ("torch.zeros(3,0)[L(0)].shape", "torch.Size([1, 0])"),
    ("torch.zeros(3,0)[L(7)].shape", "torch.Size([1, 0])"),
    ("torch.tensor(3.)[()]", "3.0 ()"),
    ("torch.tensor(3.)[torch.tensor(True)]", "[3.0] (1,)"),
    ("x[1:2:None].shape", "torch.Size([1, 4])"),
    ("x[True:2].shape", "torch.Size([1, 4])"),
    ("x[L(1):].shape", "torch.Size([2, 4])"),
    ("x[np.int64(1):].shape", "torch.Size([2, 4])"),
    ("x[[]].shape", "torch.Size([0, 4])"),
    ("x[[],0].shape", "torch.Size([0])"),
    ("x[[[]]].shape", "torch.Size([0, 4])"),
    ("x[()] is x, x[...] is x, x[:] is x", "(False, False, False)"),
    ("x[torch.ones(3).bool(),L(0,1,2)]", "[0.0, 5.0, 10.0] (1,)"),
    ("x[torch.tensor([1,0,1],dtype=torch.uint8),0]", "[0.0, 8.0] (1,)"),
    ("x[Ellipsis,1:2,None].shape", "torch.Size([3, 1, 1])"),
    ("x.int()[L(1,0)].dtype", "torch.int32"),
    ("x[x>5], x[(x>5)&(x<8)]", "([6.0, 7.0, 8.0, 9.0, 10.0, 11.0] (1,), [6.0, 7.0] (1,))"),
    ("c.transpose(0,2)[L(0,1)].stride()", "(6, 1, 3)"),
    ("c.transpose(0,2)[:,L(0,1)].stride()", "(1, 4, 8)"),
    ("c.permute(1,2,0)[:,L(0,1)].stride()", "(1, 3, 6)"),
    ("c.permute(1,2,0)[L(0,1)].stride()", "(8, 1, 4)"),
    ("c.permute(1,2,0)[L(0,1),:,L(0,1)].stride()", "(4, 1)"),
    ("c.permute(1,2,0)[L(0,1),L(0,1)].stride()", "(2, 1)"),
    ("c.permute(2,0,1)[:,:,L([0,1],[1,2])].stride()", "(4, 16, 2, 1)"),
    ("c.permute(2,0,1)[L([0,1],[1,2])].stride()", "(12, 6, 3, 1)"),
    ("c.permute(1,2,0)[c.permute(1,2,0)[...,0]>2].stride()", "(2, 1)"),
]

ERRORS = [
    (
        "x.stride(2)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    ("z.stride(0)", "IndexError: Dimension specified as 0 but tensor has no dimensions"),
    ("c[None,0,7]", "IndexError: index 7 is out of bounds for dimension 2 with size 3"),
    ("c[None,7]", "IndexError: index 7 is out of bounds for dimension 1 with size 2"),
    ("c[...,7]", "IndexError: index 7 is out of bounds for dimension 1 with size 4"),
    ("c[0,...,7]", "IndexError: index 7 is out of bounds for dimension 2 with size 4"),
    ("x[None,5,None]", "IndexError: index 5 is out of bounds for dimension 1 with size 3"),
    (
        "x[False,L(0,1)].shape",
        "IndexError: shape mismatch: indexing tensors could not be broadcast together with "
        "shapes [0], [2]",
    ),
    ("x[...,...,0].shape", "IndexError: index 0 is out of bounds for dimension 2 with size 0"),
    (
        "x[...,...,None].shape",
        "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 4)",
    ),
    ("c[...,...,0].shape", "IndexError: index 0 is out of bounds for dimension 2 with size 0"),
    ("c[0,...,...,0]", "IndexError: index 0 is out of bounds for dimension 3 with size 0"),
    (
        "x[[[True,False,True,True]]*3].shape",
        "IndexError: too many indices for tensor of dimension 2",
    ),
    (
        "x[[True,False]]",
        "IndexError: The shape of the mask [2] at index 0 does not match the shape of the "
        "indexed tensor [3, 4] at index 0",
    ),
    ("x[[1,'a']]", "TypeError: new(): invalid data type 'str'"),
    ("x[['a']]", "TypeError: new(): invalid data type 'str'"),
    ("x[[[1,2],[1]],]", "ValueError: expected sequence of length 2 at dim 1 (got 1)"),
    ("x[:,[[1,2],[1]]]", "ValueError: expected sequence of length 2 at dim 1 (got 1)"),
    ("x[:,[1,[2]]]", "TypeError: 'list' object cannot be interpreted as an integer"),
    ("x[b'a']", "TypeError: new(): invalid data type 'bytes'"),
    ("x[bytearray(b'a')]", "IndexError: index 97 is out of bounds for dimension 0 with size 3"),
    (
        "x[np.array(['a'])]",
        "TypeError: can't convert np.ndarray of type numpy.str_. The only supported types "
        "are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
        "uint64, uint32, uint16, uint8, and bool.",
    ),
    (
        "x[np.float32(1)]",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        "Variables are valid indices (got numpy.float32)",
    ),
    (
        "x[np.bool_(True)].shape",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        "Variables are valid indices (got numpy.bool)",
    ),
    (
        "x[np.bool_(True),0].shape",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        "Variables are valid indices (got numpy.bool)",
    ),
    (
        "x[np.array([0,1],np.uint8)].shape",
        "IndexError: The shape of the mask [2] at index 0 does not match the shape of the "
        "indexed tensor [3, 4] at index 0",
    ),
    ("x[torch.tensor(5)]", "IndexError: index 5 is out of bounds for dimension 0 with size 3"),
    ("x[0,torch.tensor(9)]", "IndexError: index 9 is out of bounds for dimension 1 with size 4"),
    (
        "x[torch.tensor(1.)]",
        "IndexError: tensors used as indices must be long, int, byte or bool tensors",
    ),
    (
        "x[torch.tensor([1.]),0]",
        "IndexError: tensors used as indices must be long, int, byte or bool tensors",
    ),
    ("x[L(5),0]", "IndexError: index 5 is out of bounds for dimension 0 with size 3"),
    ("x[0,L(5)]", "IndexError: index 5 is out of bounds for dimension 0 with size 4"),
    ("x[None,L(5)]", "IndexError: index 5 is out of bounds for dimension 0 with size 3"),
    ("x[:,None,L(5)]", "IndexError: index 5 is out of bounds for dimension 0 with size 4"),
    ("x[2**70]", "ValueError: Overflow when unpacking long long"),
    ("x[2**63]", "ValueError: Overflow when unpacking long long"),
    (
        "x[-2**63]",
        "IndexError: index -9223372036854775808 is out of bounds for dimension 0 with size 3",
    ),
    (
        "c[torch.ones(2,3,5).bool()].shape",
        "IndexError: The shape of the mask [2, 3, 5] at index 2 does not match the shape of "
        "the indexed tensor [2, 3, 4] at index 2",
    ),
    (
        "c[:,torch.ones(2,3).bool()].shape",
        "IndexError: The shape of the mask [2, 3] at index 0 does not match the shape of the "
        "indexed tensor [2, 3, 4] at index 1",
    ),
    (
        "x[torch.zeros(3,0).bool()]",
        "IndexError: The shape of the mask [3, 0] at index 1 does not match the shape of the "
        "indexed tensor [3, 4] at index 1",
    ),
    (
        "x[torch.zeros(0,4).bool()]",
        "IndexError: The shape of the mask [0, 4] at index 0 does not match the shape of the "
        "indexed tensor [3, 4] at index 0",
    ),
    ("torch.zeros(0,4)[L(0)]", "IndexError: index is out of bounds for dimension with size 0"),
    (
        "torch.zeros(3,0)[:,L(0)].shape",
        "IndexError: index is out of bounds for dimension with size 0",
    ),
    ("torch.tensor(3.)[L(0)]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[...,0]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[None,0]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[torch.tensor(0)]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[2]", "IndexError: index 2 is out of bounds for dimension 0 with size 0"),
    ("torch.tensor(3.)[0,0]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[:]", "IndexError: slice() cannot be applied to a 0-dim tensor."),
    ("torch.tensor(3.)[None,:]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[[]]", "IndexError: too many indices for tensor of dimension 0"),
    ("torch.tensor(3.)[[0]]", "IndexError: too many indices for tensor of dimension 0"),
    ("x[0:'a']", "TypeError: slice indices must be integers or None or have an __index__ method"),
    ("x['a':]", "TypeError: slice indices must be integers or None or have an __index__ method"),
    ("x[1.0:2]", "TypeError: slice indices must be integers or None or have an __index__ method"),
    ("x[::2.0]", "TypeError: slice indices must be integers or None or have an __index__ method"),
    ("x[:,::-2]", "ValueError: step must be greater than zero"),
    ("x[slice(None,None,-1)]", "ValueError: step must be greater than zero"),
    (
        "x[torch.tensor(1.):].shape",
        "TypeError: only integer tensors of a single element can be converted to an index",
    ),
    (
        "x[torch.ones(3).bool(),torch.ones(4).bool()]",
        "IndexError: shape mismatch: indexing tensors could not be broadcast together with "
        "shapes [3], [4]",
    ),
]

#: A statement, the name of the tensor that it changes, and what that is then.
CHANGES = [
    (
        "y.t_()",
        "y",
        "[[0.0, 4.0, 8.0], [1.0, 5.0, 9.0], [2.0, 6.0, 10.0], [3.0, 7.0, 11.0]] (1, 4)",
    ),
    (
        "y.transpose_(0,1)",
        "y",
        "[[0.0, 4.0, 8.0], [1.0, 5.0, 9.0], [2.0, 6.0, 10.0], [3.0, 7.0, 11.0]] (1, 4)",
    ),
    (
        "y.swapaxes_(0,1)",
        "y",
        "[[0.0, 4.0, 8.0], [1.0, 5.0, 9.0], [2.0, 6.0, 10.0], [3.0, 7.0, 11.0]] (1, 4)",
    ),
    (
        "y.squeeze_()",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y.unsqueeze_(0)",
        "y",
        "[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]] (12, 4, 1)",
    ),
    ("c.t_()", "c", "RuntimeError: t_() expects a tensor with <= 2 dimensions, but self is 3D"),
    ("y.as_strided_((2,2),(1,1),3)", "y", "[[3.0, 4.0], [4.0, 5.0]] (1, 1)"),
    ("y.resize_(2,2)", "y", "[[0.0, 1.0], [2.0, 3.0]] (2, 1)"),
    ("y.resize_((2,3))", "y", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] (3, 1)"),
    ("y.resize_(-1,2)", "y", "RuntimeError: numel: integer multiplication overflow"),
    ("y.resize_(0)", "y", "[] (1,)"),
    ("y.resize_()", "y", 'TypeError: resize_() missing 1 required positional arguments: "size"'),
    (
        "y.t_().resize_(4,3)",
        "y",
        "[[0.0, 4.0, 8.0], [1.0, 5.0, 9.0], [2.0, 6.0, 10.0], [3.0, 7.0, 11.0]] (1, 4)",
    ),
    (
        "y.t_().resize_(3,4)",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("y.t_().resize_(2,2)", "y", "[[0.0, 1.0], [2.0, 3.0]] (2, 1)"),
    ("y.resize_as_(torch.zeros(2,2))", "y", "[[0.0, 1.0], [2.0, 3.0]] (2, 1)"),
    ("y.resize_as_(torch.zeros(2,2).t())", "y", "[[0.0, 1.0], [2.0, 3.0]] (2, 1)"),
    ("y.set_(torch.zeros(2))", "y", "[0.0, 0.0] (1,)"),
    ("y.set_(w)", "y", "RuntimeError: Could not set tensor of type int to a tensor of type float"),
    ("y.set_()", "y", "[] (1,)"),
    ("y.set_(torch.arange(5.),1,(2,),(2,))", "y", "[1.0, 3.0] (2,)"),
    ("y.set_(torch.arange(5.),1,(2,))", "y", "[1.0, 2.0] (1,)"),
    ("y.set_(torch.arange(5.),-1,(1,))", "y", "RuntimeError: Tensor: invalid storage offset -1"),
    (
        "y.set_(torch.arange(5.),4,(2,),(-1,))",
        "y",
        "RuntimeError: Storage size calculation overflowed with sizes=[2] and strides=[-1]",
    ),
    (
        "y.detach_()",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[1].resize_(2,4)",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y.squeeze_(0)",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y.unsqueeze_(0).squeeze_(0)",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y.unsqueeze_(7)",
        "y",
        "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 7)",
    ),
    (
        "y.resize_('a')",
        "y",
        "TypeError: resize_(): argument 'size' (position 1) must be tuple of ints, not str",
    ),
    (
        "y.resize_(2,'a')",
        "y",
        "TypeError: resize_(): argument 'size' failed to unpack the object at pos 2 with "
        'error "type must be tuple of ints,but got str"',
    ),
    (
        "y.resize_(2.5)",
        "y",
        "TypeError: resize_(): argument 'size' (position 1) must be tuple of ints, not float",
    ),
    (
        "y.as_strided_((9,9),(9,9))",
        "y",
        "RuntimeError: setStorage: sizes [9, 9], strides [9, 9], storage offset 0, and "
        "itemsize 4 requiring a storage size of 580 are out of bounds for storage of size 48",
    ),
    (
        "y[1:]=y[:-1]",
        "y",
        "RuntimeError: unsupported operation: some elements of the input tensor and the "
        "written-to tensor refer to a single memory location. Please clone() the tensor "
        "before performing the operation.",
    ),
    (
        "y[0]=y[1]",
        "y",
        "[[4.0, 5.0, 6.0, 7.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y.expand(2,3,4)[0]=y",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[:1].expand(3,4)[:]=x",
        "y",
        "RuntimeError: unsupported operation: more than one element of the written-to tensor "
        "refers to a single memory location. Please clone() the tensor before performing the "
        "operation.",
    ),
    (
        "y[:1].expand(3,4)[:]=1",
        "y",
        "[[1.0, 1.0, 1.0, 1.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[:1].expand(3,4)[...]=torch.tensor(1.)",
        "y",
        "RuntimeError: unsupported operation: more than one element of the written-to tensor "
        "refers to a single memory location. Please clone() the tensor before performing the "
        "operation.",
    ),
    (
        "y[:1].expand(3,4)[L(0)]=1",
        "y",
        "[[1.0, 1.0, 1.0, 1.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("w[w>2]=F([1.5])", "w", "int32 [[0, 1, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1]] (4, 1)"),
    ("w[w>2]=F(1.5)", "w", "int32 [[0, 1, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1]] (4, 1)"),
    (
        "w[w>2]=F([1.5,2]*4+[1])",
        "w",
        "RuntimeError: Index put requires the source and destination dtypes match, got Int "
        "for the destination and Float for the source.",
    ),
    (
        "w[w>2]=F([1]*9)",
        "w",
        "RuntimeError: Index put requires the source and destination dtypes match, got Int "
        "for the destination and Long for the source.",
    ),
    (
        "w[L(0,1)]=F([[1]])",
        "w",
        "RuntimeError: Index put requires the source and destination dtypes match, got Int "
        "for the destination and Long for the source.",
    ),
    ("w[w[:,0]>2]=F([1.5])", "w", "int32 [[0, 1, 2, 3], [1, 1, 1, 1], [1, 1, 1, 1]] (4, 1)"),
    ("w[w>2,]=2.5", "w", "int32 [[0, 1, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2]] (4, 1)"),
    ("w[w[:,0]>2,0]=F([1.5])", "w", "int32 [[0, 1, 2, 3], [1, 5, 6, 7], [1, 9, 10, 11]] (4, 1)"),
    (
        "y[y>2]=F([[1.]])",
        "y",
        "[[0.0, 1.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]] (4, 1)",
    ),
    (
        "y[L(0,1)]=F([[[1.,2,3]]])",
        "y",
        "RuntimeError: shape mismatch: value tensor of shape [3] cannot be broadcast to "
        "indexing result of shape [2, 4]",
    ),
    (
        "y[L(0,1)]=torch.ones(1,3)",
        "y",
        "RuntimeError: shape mismatch: value tensor of shape [3] cannot be broadcast to "
        "indexing result of shape [2, 4]",
    ),
    (
        "y[L(0,1)]=torch.ones(1,2,4)",
        "y",
        "[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[L(0,1)]=torch.ones(0)",
        "y",
        "RuntimeError: shape mismatch: value tensor of shape [0] cannot be broadcast to "
        "indexing result of shape [2, 4]",
    ),
    (
        "y[L(0,1)]=torch.ones(2)",
        "y",
        "RuntimeError: shape mismatch: value tensor of shape [2] cannot be broadcast to "
        "indexing result of shape [2, 4]",
    ),
    (
        "y[0]=torch.ones(1,1,2)",
        "y",
        "RuntimeError: The expanded size of the tensor (4) must match the existing size (2) "
        "at non-singleton dimension 0.  Target sizes: [4].  Tensor sizes: [2]",
    ),
    (
        "y[0]=torch.ones(0)",
        "y",
        "RuntimeError: The expanded size of the tensor (4) must match the existing size (0) "
        "at non-singleton dimension 0.  Target sizes: [4].  Tensor sizes: [0]",
    ),
    (
        "y[:0]=torch.ones(5)",
        "y",
        "RuntimeError: The expanded size of the tensor (4) must match the existing size (5) "
        "at non-singleton dimension 1.  Target sizes: [0, 4].  Tensor sizes: [5]",
    ),
    ("y[:0]=1", "y", "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)"),
    (
        "y[0:1]=torch.ones(1,2,4)",
        "y",
        "RuntimeError: The expanded size of the tensor (1) must match the existing size (2) "
        "at non-singleton dimension 0.  Target sizes: [1, 4].  Tensor sizes: [2, 4]",
    ),
    ("l[0]=1.5", "l", "int64 [[1, 1, 1, 1], [4, 5, 6, 7], [8, 9, 10, 11]] (4, 1)"),
    ("l[0]=1e30", "l", "RuntimeError: value cannot be converted to type int64_t without overflow"),
    (
        "l[0]=float('inf')",
        "l",
        "RuntimeError: value cannot be converted to type int64_t without overflow",
    ),
    ("l[0]=2**63", "l", "ValueError: Overflow when unpacking long long"),
    ("u[0]=-1", "u", "uint8 [[255, 255, 255, 255], [4, 5, 6, 7], [8, 9, 10, 11]] (4, 1)"),
    ("u[0]=256", "u", "RuntimeError: value cannot be converted to type uint8_t without overflow"),
    ("u[0]=-1.5", "u", "RuntimeError: value cannot be converted to type uint8_t without overflow"),
    ("u[0]=1000", "u", "RuntimeError: value cannot be converted to type uint8_t without overflow"),
    (
        "b[0]=5",
        "b",
        "bool [[True, True, True, True], [False, False, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    (
        "b[0]=0.0",
        "b",
        "bool [[False, False, False, False], [False, False, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    ("h[0]=1e6", "h", "RuntimeError: value cannot be converted to type c10::Half without overflow"),
    (
        "h[0]=65504",
        "h",
        "float16 [[65504.0, 65504.0, 65504.0, 65504.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, "
        "10.0, 11.0]] (4, 1)",
    ),
    (
        "h[0]=65520",
        "h",
        "RuntimeError: value cannot be converted to type c10::Half without overflow",
    ),
    ("h[0]=10**30", "h", "ValueError: Overflow when unpacking long long"),
    ("y[0]=1e39", "y", "RuntimeError: value cannot be converted to type float without overflow"),
    (
        "y[0]=float('inf')",
        "y",
        "[[inf, inf, inf, inf], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("y[0]=2**63", "y", "ValueError: Overflow when unpacking long long"),
    ("y[0]=-2**64", "y", "ValueError: Overflow when unpacking long long"),
    (
        "w[0]=-2**31",
        "w",
        "int32 [[-2147483648, -2147483648, -2147483648, -2147483648], [4, 5, 6, 7], [8, 9, "
        "10, 11]] (4, 1)",
    ),
    ("w[0]=2**31", "w", "RuntimeError: value cannot be converted to type int without overflow"),
    ("w[0]=2.5e9", "w", "RuntimeError: value cannot be converted to type int without overflow"),
    ("w[L(0)]=2**31", "w", "RuntimeError: value cannot be converted to type int without overflow"),
    ("w[w>1]=2**31", "w", "RuntimeError: value cannot be converted to type int without overflow"),
    ("u[u>1]=256", "u", "RuntimeError: value cannot be converted to type uint8_t without overflow"),
    (
        "u[L(0)]=300",
        "u",
        "RuntimeError: value cannot be converted to type uint8_t without overflow",
    ),
    ("u[0,0]=F(300)", "u", "uint8 [[44, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]] (4, 1)"),
    (
        "y[0]=np.int64(3)",
        "y",
        "[[3.0, 3.0, 3.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[0]=np.float64(3)",
        "y",
        "[[3.0, 3.0, 3.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("y[0]=np.bool_(True)", "y", "TypeError: can't assign a numpy.bool to a torch.FloatTensor"),
    (
        "y[0]=F(True)",
        "y",
        "[[1.0, 1.0, 1.0, 1.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "b[b]=F(2)",
        "b",
        "bool [[False, False, False, False], [False, False, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    (
        "y[...]=F([1,2,3,4])",
        "y",
        "[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]] (4, 1)",
    ),
    (
        "y[None]=F([1,2,3,4])",
        "y",
        "[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]] (4, 1)",
    ),
    ("y[0,0,0]=1", "y", "IndexError: too many indices for tensor of dimension 2"),
    ("y['a']=1", "y", "TypeError: new(): invalid data type 'str'"),
    (
        "y[None,...,0]=L(1,2,3)",
        "y",
        "[[1.0, 1.0, 2.0, 3.0], [2.0, 5.0, 6.0, 7.0], [3.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[True]=L(1,2,3,4)",
        "y",
        "[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]] (4, 1)",
    ),
    (
        "y[True]=F([1.,2,3,4])",
        "y",
        "[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]] (4, 1)",
    ),
    (
        "y[True]=F([[[1.,2,3,4]]])",
        "y",
        "[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]] (4, 1)",
    ),
    (
        "y[False]=F([1.,2,3,4])",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[torch.tensor(True)]=0",
        "y",
        "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]] (4, 1)",
    ),
    (
        "y[torch.tensor(1)]=0",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[torch.tensor([0,2]),1:3]=F([[1.,2.]])",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 1.0, 2.0, 11.0]] (4, 1)",
    ),
    (
        "y[[0,2],::2]=9",
        "y",
        "[[9.0, 1.0, 9.0, 3.0], [4.0, 5.0, 6.0, 7.0], [9.0, 9.0, 9.0, 11.0]] (4, 1)",
    ),
    (
        "y[0,[1,1,1]]=F([1.,2,3])",
        "y",
        "[[0.0, 3.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[y>100]=F([])",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[y>100]=F([1.,2.])",
        "y",
        "RuntimeError: shape mismatch: value tensor of shape [2] cannot be broadcast to "
        "indexing result of shape [0]",
    ),
    (
        "y[y>100]=5",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[L()]=5",
        "y",
        "IndexError: tensors used as indices must be long, int, byte or bool tensors",
    ),
    (
        "y[L().long()]=F([1.,2])",
        "y",
        "RuntimeError: shape mismatch: value tensor of shape [2] cannot be broadcast to "
        "indexing result of shape [0, 4]",
    ),
    (
        "y[torch.ones(3).bool(),1]=F([1.,2,3])",
        "y",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 2.0, 6.0, 7.0], [8.0, 3.0, 10.0, 11.0]] (4, 1)",
    ),
    ("y[L(0),L(7)]=1", "y", "IndexError: index 7 is out of bounds for dimension 1 with size 4"),
    (
        "y[1.5]=2",
        "y",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        "Variables are valid indices (got float)",
    ),
    ("y[0]=object()", "y", "TypeError: can't assign a object to a torch.FloatTensor"),
    ("y[0]={}", "y", "TypeError: can't assign a dict to a torch.FloatTensor"),
    ("y[0]=slice(1)", "y", "TypeError: can't assign a slice to a torch.FloatTensor"),
    (
        "y[0]=x",
        "y",
        "RuntimeError: expand(torch.FloatTensor{[3, 4]}, size=[4]): the number of sizes "
        "provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
    ),
    (
        "y[:,0]=x[:,1]",
        "y",
        "[[1.0, 1.0, 2.0, 3.0], [5.0, 5.0, 6.0, 7.0], [9.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "y[::2]=x[1:]",
        "y",
        "[[4.0, 5.0, 6.0, 7.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    (
        "c[:,L(0,1)]=F([[1.],[2.]])",
        "c",
        "RuntimeError: Index put requires the source and destination dtypes match, got Long "
        "for the destination and Float for the source.",
    ),
    (
        "c[:,L(0,1),L(0,1)]=F([[1.,2],[3,4]])",
        "c",
        "RuntimeError: Index put requires the source and destination dtypes match, got Long "
        "for the destination and Float for the source.",
    ),
    (
        "c[L(0,1),:,L(0,1)]=F([[1.],[2.]])",
        "c",
        "RuntimeError: Index put requires the source and destination dtypes match, got Long "
        "for the destination and Float for the source.",
    ),
    (
        "c[c>5]=0",
        "c",
        "int64 [[[0, 1, 2, 3], [4, 5, 0, 0], [0, 0, 0, 0]], [[0, 0, 0, 0], [0, 0, 0, 0], [0, "
        "0, 0, 0]]] (12, 4, 1)",
    ),
    (
        "c[:,c[0]>5]=F(1.)",
        "c",
        "int64 [[[0, 1, 2, 3], [4, 5, 1, 1], [1, 1, 1, 1]], [[12, 13, 14, 15], [16, 17, 1, "
        "1], [1, 1, 1, 1]]] (12, 4, 1)",
    ),
    (
        "c[0,c[0]>5]=F([1.]*6)",
        "c",
        "RuntimeError: Index put requires the source and destination dtypes match, got Long "
        "for the destination and Float for the source.",
    ),
    (
        "c[c[:,0,0]>5]=F([1.,2,3,4])",
        "c",
        "RuntimeError: Index put requires the source and destination dtypes match, got Long "
        "for the destination and Float for the source.",
    ),
    ("y[5,0]=1", "y", "IndexError: index 5 is out of bounds for dimension 0 with size 3"),
    (
        "y[0,5]=torch.ones(1)",
        "y",
        "IndexError: index 5 is out of bounds for dimension 1 with size 4",
    ),
    ("y[:,:,0]=1", "y", "IndexError: too many indices for tensor of dimension 2"),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_changes() -> None:
    found = [(statement, name, changed(statement, name)) for statement, name, _ in CHANGES]
    assert [fact for fact in found if fact not in CHANGES] == []
