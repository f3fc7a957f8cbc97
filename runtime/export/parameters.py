"""Parameters of a net: tensors of a file, or arrays made from them; their state_dict as a file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from math import prod
from typing import IO, Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Tensor as LuaTensor
from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.runtime.t7.tensors import elements, lua_tensor
from th_shell.runtime.t7.values import T7Error
from th_shell.torch.base.dtypes import NUMPY_DTYPES
from th_shell.torch.files.saving import Elements, View, write_archive
from th_shell.torch.tensors.tensor import Tensor

#: numpy's names of the types of numbers with a fraction, by those that options have.
FLOATS = {"float": "float32", "double": "float64"}


@dataclass(eq=False)
class Parameter:
    """Elements that are written, of a tensor in the file or of an array."""

    data: LuaTensor | Array
    #: The sizes, in the order of memory.
    shape: tuple[int, ...]
    #: Equal for parameters that are the same memory, which stay shared.
    key: Any
    #: False for a buffer.
    trained: bool = True
    #: Whether it is written in the type that it has.
    keeps_type: bool = False

    @classmethod
    def of(cls, tensor: Tensor, trained: bool = True) -> Parameter:
        """Return the parameter for a tensor of `load`."""
        data = lua_tensor(tensor)
        layout = () if data.is_contiguous else (data.strides, data.sizes)
        key = (id(data.storage), data.offset, data.nelement, layout)
        return cls(data, tuple(data.sizes) or (0,), key, trained)

    @classmethod
    def made(
        cls, array: Any, *origins: Parameter, trained: bool = True, part: str = ""
    ) -> Parameter:
        """Return an array that was computed; origins: the parameters it was computed from, if any.

        part: tells arrays of one shape apart that come from different places of one parameter.
        """
        array = np.asarray(array)
        key: Any = id(array)
        if origins:  # may have been computed from these in several ways
            digest = blake2b(np.ascontiguousarray(array).data).digest()
            key = (*(each.key for each in origins), array.shape, part, digest)
        return cls(array, array.shape, key, trained)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    def array(self) -> Array:
        """Return the elements, all in memory."""
        data = self.data.array if isinstance(self.data, LuaTensor) else self.data
        return data.reshape(self.shape)

    def view(self, *shape: int) -> Parameter:
        """Return the same elements with other sizes, of which there must be as many."""
        assert prod(shape) == self.size
        return replace(self, shape=shape)

    def dtype(self, floats: str | None) -> np.dtype[Any]:
        """Return the type that is written: `floats` for numbers with a fraction, or its own."""
        changes = floats and not self.keeps_type and self.own_dtype.kind == "f"
        return np.dtype(floats if changes else self.own_dtype)

    @property
    def own_dtype(self) -> np.dtype[Any]:
        """Return the type that it has in the file."""
        data = self.data
        return data.dtype.numpy if isinstance(data, LuaTensor) else data.dtype

    def parts(self, floats: str | None) -> Iterator[memoryview]:
        """Yield the bytes of the elements, little-endian; one part is in memory at a time.

        floats: see `dtype`.
        """
        dtype = self.dtype(floats).newbyteorder("<")
        for part in elements(self.data) if isinstance(self.data, LuaTensor) else (self.data,):
            with np.errstate(over="ignore"):
                flat = np.ascontiguousarray(part, dtype).reshape(-1)
            if dtype.itemsize < part.itemsize and (np.isinf(flat).sum() > np.isinf(part).sum()):
                raise T7Error("a number is too large for float: --type double")
            yield flat.view(np.uint8).data

    def length(self, floats: str | None) -> int:
        """Return how many bytes these are."""
        return self.size * self.dtype(floats).itemsize

    def write(self, file: IO[bytes], floats: str | None) -> None:
        """Write them to a file."""
        for part in self.parts(floats):
            file.write(part)


def owner_names(parameters: Iterable[tuple[str, Parameter]]) -> dict[str, str]:
    """Return for each name the name of the first parameter that is the same memory, often itself.

    The two have the same sizes, and are both trained or both not.
    """
    first: dict[Any, str] = {}
    return {
        name: first.setdefault((each.key, each.shape, each.trained), name)
        for name, each in parameters
    }


def write_state_dict(file: IO[bytes], parameters: Mapping[str, Parameter], floats: str) -> None:
    """Write parameters by their names; those that are shared in memory share a storage.

    floats: "float32" or "float64".
    """
    stored: dict[Any, Elements] = {}
    state: OrderedDict[str, View] = OrderedDict()
    for name, each in parameters.items():
        kind = NUMPY_DTYPES[each.dtype(floats)]
        elements = Elements(kind, each.size, partial(each.parts, floats))
        elements = stored.setdefault((each.key, each.shape), elements)
        state[name] = View(elements, 0, each.shape, contiguous_strides(each.shape))
    write_archive(file, state)
