"""What PyTorch 2.15 gave for strides, contiguous memory, as_strided."""

from __future__ import annotations

from tests.runtime.pytorch.ops.facts import answering

#: An expression, its elements and strides (and type, but for float32).
FACTS = [
    ("x[1].as_strided((2,),(1,)).storage_offset()", "4"),
    ("z.stride()", "()"),
    ("x.is_contiguous(memory_format=torch.contiguous_format)", "True"),
    ("x.is_contiguous(memory_format=torch.channels_last)", "False"),
    ("torch.zeros(2,3,4,5).is_contiguous(memory_format=torch.channels_last)", "False"),
    (
        "torch.zeros(2,3,4,5).contiguous(memory_format=torch.channels_last).stride()",
        "(60, 1, 15, 3)",
    ),
    (
        "torch.zeros(2,3,4,5).contiguous(memory_format=torch.channels_last)[:1].stride()",
        "(60, 1, 15, 3)",
    ),
    (
        "x.contiguous(memory_format=torch.preserve_format)",
        "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]] (4, 1)",
    ),
    ("x.contiguous() is x", "True"),
]

ERRORS = [
    ("x.as_strided((2,),(1,2))", "RuntimeError: mismatch in length of strides and shape"),
    (
        "x.as_strided((20,),(1,))",
        "RuntimeError: setStorage: sizes [20], strides [1], storage offset 0, and itemsize 4 "
        "requiring a storage size of 80 are out of bounds for storage of size 48",
    ),
    (
        "x.as_strided((2,),(-1,))",
        "RuntimeError: as_strided: Negative strides are not supported at the moment, got "
        "strides: [-1]",
    ),
    ("x.as_strided((2,),(1,),-1)", "RuntimeError: Tensor: invalid storage offset -1"),
    (
        "x.as_strided((-2,),(1,))",
        "RuntimeError: Storage size calculation overflowed with sizes=[-2] and strides=[1]",
    ),
    (
        "x.as_strided((2,),(1,),12)",
        "RuntimeError: setStorage: sizes [2], strides [1], storage offset 12, and itemsize 4 "
        "requiring a storage size of 56 are out of bounds for storage of size 48",
    ),
    (
        "x.contiguous(memory_format=torch.channels_last)",
        "RuntimeError: required rank 4 tensor to use channels_last format",
    ),
]


test_values_and_strides, test_errors = answering(FACTS), answering(ERRORS)
