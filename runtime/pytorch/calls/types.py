"""The types in the signatures of implementations, and how PyTorch's errors call them.

The names tell what a program may give; an implementation gets it converted (`kinds.py`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from runtime.pytorch.base.dtypes import dtype
from runtime.pytorch.base.formats import memory_format
from runtime.pytorch.tensors.tensor import Tensor

#: A number of Python's.
Number: TypeAlias = Any
#: A tensor, or a number where the row takes numbers for tensors.
Operand: TypeAlias = Any
#: A tensor, or in a further row a number.
TensorOrNumber: TypeAlias = Any
#: A tensor, or in a further row an int.
TensorOrInt: TypeAlias = Any
#: An int, or in a further row a tuple of ints.
IntOrShape: TypeAlias = Any
#: A tuple of ints, or a single int.
IntsOrOne: TypeAlias = Any
#: Some tensors.
Tensors: TypeAlias = tuple[Tensor, ...]
#: The tensor to which a result is written.
Out: TypeAlias = Tensor | None
#: The tensors to which several results are written.
Outs: TypeAlias = Any
#: The element type of a result, where the call names one.
Kind: TypeAlias = dtype | None
#: A device, or its name or number.
Place: TypeAlias = Any
#: How a result lies in memory, where the call names a way.
Format: TypeAlias = memory_format | None

#: What PyTorch calls each of them.
TYPES = {
    "Tensor": "Tensor",
    "Operand": "Tensor",
    "TensorOrNumber": "Tensor or Number",
    "TensorOrInt": "Tensor or int",
    "IntOrShape": "int or tuple of ints",
    "Out": "Tensor",
    "Outs": "tuple of Tensors",
    "Tensors": "tuple of Tensors",
    "Number": "Number",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "Shape": "tuple of ints",
    "IntsOrOne": "tuple of ints",
    "dtype": "torch.dtype",
    "Kind": "torch.dtype",
    "Place": "torch.device",
    "memory_format": "torch.memory_format",
    "Format": "torch.memory_format",
    "Generator": "torch.Generator",
    "Source": "torch.Generator",
    "SourceOrNone": "torch.Generator or none",
    "Any": "object",
}
#: Types each of whose alternatives makes a signature: one with '?' has to be given, though it may
#: be None; '' is not there.
ALTERNATIVES = {
    "Tensor or Number": ("Tensor", "Number"),
    "Tensor or int": ("Tensor", "int"),
    "int or tuple of ints": ("int", "tuple of ints"),
    "torch.Generator or none": ("torch.Generator?", ""),
}
#: Those for which a single int is taken as well.
SINGLE = {"IntsOrOne"}

#: What signatures have behind the implementation's parameters (`op`'s `more`): where the result, or
#: several of them, are written to; and the options of new tensors, but for their type.
OUT = "Tensor out = None"
OUTS = "tuple of Tensors out = None"
NEW = (
    "torch.layout layout = None, torch.device device = None, bool pin_memory = False, "
    "bool requires_grad = False"
)
