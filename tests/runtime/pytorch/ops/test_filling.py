"""What PyTorch 2.15 gave for masked_fill and masked_scatter."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("x.masked_fill(x>5,0)[2]", "[0.0, 0.0, 0.0, 0.0] (1,)"),
    ("x.masked_fill(x>5,torch.tensor(0))[2]", "[0.0, 0.0, 0.0, 0.0] (1,)"),
    ("x.masked_fill(L(True,False,False,True),1.5)[0]", "[1.5, 1.0, 2.0, 1.5] (1,)"),
    ("x.long().masked_fill(x>5,1.5)", "int64 [[0, 1, 2, 3], [4, 5, 1, 1], [1, 1, 1, 1]] (4, 1)"),
    (
        "x.long().masked_fill(x>5,torch.tensor(1.5))",
        "int64 [[0, 1, 2, 3], [4, 5, 1, 1], [1, 1, 1, 1]] (4, 1)",
    ),
    ("x.masked_fill(torch.ones(2,3,4).bool(),1).shape", "torch.Size([2, 3, 4])"),
    (
        "x.bool().masked_fill(x>3,2)",
        "bool [[False, True, True, True], [True, True, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    (
        "x.bool().masked_fill(x>3,2.5)",
        "bool [[False, True, True, True], [True, True, True, True], [True, True, True, "
        "True]] (4, 1)",
    ),
    ("x.byte().masked_fill(x>3,-1)[1]", "uint8 [255, 255, 255, 255] (1,)"),
    (
        "x.masked_scatter(x>5,torch.arange(10.))",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 0.0, 1.0], [2.0, 3.0, 4.0, 5.0]] (4, 1)",
    ),
    (
        "x.masked_scatter(L(True,False,False,True),torch.arange(10.))",
        "[[0.0, 1.0, 2.0, 1.0], [2.0, 5.0, 6.0, 3.0], [4.0, 9.0, 10.0, 5.0]] (4, 1)",
    ),
    ("x.masked_scatter(torch.ones(2,3,4).bool(),torch.arange(30.)).shape", "torch.Size([2, 3, 4])"),
    ("x.masked_fill(mask=x>5,value=2)[2]", "[2.0, 2.0, 2.0, 2.0] (1,)"),
    ("torch.masked_fill(x,x>5,2)[2]", "[2.0, 2.0, 2.0, 2.0] (1,)"),
]

ERRORS = [
    (
        "x.masked_fill(x>5,L(0))",
        "RuntimeError: masked_fill_ only supports a 0-dimensional value tensor, but got "
        "tensor with 1 dimension(s).",
    ),
    (
        "x.masked_fill((x>5).byte(),1)",
        "RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype "
        "unsigned char",
    ),
    (
        "x.masked_fill(x,1)",
        "RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype float",
    ),
    (
        "x.clone().masked_fill_(torch.ones(2,3,4).bool(),1).shape",
        "RuntimeError: output with shape [3, 4] doesn't match the broadcast shape [2, 3, 4]",
    ),
    (
        "x.clone().masked_fill_(torch.ones(3).bool(),1).shape",
        "RuntimeError: The size of tensor a (4) must match the size of tensor b (3) at "
        "non-singleton dimension 1",
    ),
    (
        "x.byte().masked_fill(x>3,300)[1]",
        "RuntimeError: value cannot be converted to type uint8_t without overflow",
    ),
    (
        "x.half().masked_fill(x>3,1e6)[1]",
        "RuntimeError: value cannot be converted to type c10::Half without overflow",
    ),
    (
        "x.masked_fill(x>3,1e40)[1]",
        "RuntimeError: value cannot be converted to type float without overflow",
    ),
    (
        "x.masked_scatter(x>5,torch.arange(3.))",
        "RuntimeError: Number of elements of source < number of ones in mask",
    ),
    (
        "x.masked_scatter(x>5,torch.arange(10))",
        "RuntimeError: masked_scatter: expected self and source to have same dtypes but "
        "gotFloat and Long",
    ),
    (
        "x.masked_scatter((x>5).byte(),torch.arange(10.))",
        "RuntimeError: masked_scatter_ only supports boolean masks, but got mask with dtype Byte",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
