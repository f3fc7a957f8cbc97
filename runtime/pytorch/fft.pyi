# Written by runtime/pytorch/listing.py.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, override, misc"
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Iterator, Sequence
from typing import Any, overload

from numpy import ndarray

from runtime.pytorch import return_types
from runtime.pytorch.base.dtypes import (
    dtype as _dtype, layout as _layout, memory_format as _memory_format
)
from runtime.pytorch.base.shapes import Size as _Size
from runtime.pytorch.calls.device import device as _device
from runtime.pytorch.classes.generator import Generator as _Generator
from runtime.pytorch.classes.storages import (
    TypedStorage as TypedStorage, UntypedStorage as UntypedStorage
)
from runtime.pytorch.tensors.tensor import Tensor as Tensor

def fftfreq(n: _int, d: _float = ..., *, out: Tensor | None = ..., dtype: _dtype | None = ..., layout: _layout | None = ..., device: _device | _str | _int | None = ..., pin_memory: _bool = ..., requires_grad: _bool = ...) -> Tensor: ...
def rfftfreq(n: _int, d: _float = ..., *, out: Tensor | None = ..., dtype: _dtype | None = ..., layout: _layout | None = ..., device: _device | _str | _int | None = ..., pin_memory: _bool = ..., requires_grad: _bool = ...) -> Tensor: ...
def fftshift(input: Tensor, dim: Sequence[_int] | _int | None = ...) -> Tensor: ...
def ifftshift(input: Tensor, dim: Sequence[_int] | _int | None = ...) -> Tensor: ...
