"""Reads pickles of tensors and plain containers. No code of a file's choice runs.

A name in a pickle leads to what is listed here, or is an error. What is called is one of these
makers; a pickle cannot set attributes of any object but its own ordered dictionaries and tensors.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import index
from pickle import UnpicklingError
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np

from th_shell.torch.base.device import device
from th_shell.torch.base.dtypes import ALIASES, DTYPES, dtype, strided, uint8
from th_shell.torch.base.missing import MISSING
from th_shell.torch.base.shapes import Size
from th_shell.torch.tensors.storages import TypedStorage
from th_shell.torch.tensors.tensor import Tensor, wrap

DAMAGED = "the file is incomplete, or was damaged"
#: What Python raises where a pickle is not what was written.
_ODD = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError),
    *(RecursionError, struct.error),
)


@contextmanager
def pytorch_errors() -> Iterator[None]:
    """Turn what a damaged file makes Python raise into UnpicklingError and EOFError."""
    try:
        yield
    except UnpicklingError as error:
        raise UnpicklingError(f"Weights only load failed. {error}") from None
    except EOFError:
        raise EOFError("Ran out of input") from None
    except _ODD as error:
        raise UnpicklingError(f"Weights only load failed. {DAMAGED}: {error}") from error


class _Maker(NamedTuple):
    """A function that a pickle may call."""

    make: Callable[..., Any]


class StorageKind(NamedTuple):
    """The class of a storage, as a pickle names it."""

    elements: dtype


def _rebuild(
    storage: Any, offset: Any, size: Any, stride: Any, _: Any = None, __: Any = None, lazy: Any = ()
) -> Tensor:
    """Return a tensor of a storage; offset and strides count elements.

    lazy: what PyTorch does to the elements when they are read, which is not done here.
    """
    sizes, strides = tuple(map(index, size)), tuple(map(index, stride))
    if type(storage) is not TypedStorage:
        raise UnpicklingError(f"a tensor needs a storage, not {storage!r}")
    if len(sizes) != len(strides) or min((0, *sizes, *strides)) < 0:
        raise UnpicklingError(f"a tensor has the sizes {sizes} and the strides {strides}")
    if any(lazy[name] for name in lazy or ()):
        raise UnpicklingError(
            f"a tensor that PyTorch changes when it is read ({', '.join(lazy)}): there, save "
            "what resolve_neg() gives"
        )
    width = storage.dtype.itemsize
    tensor = wrap(np.empty(0, storage.dtype.numpy))
    steps = tuple([step * width for step in strides])
    tensor.set_view(storage.object, index(offset) * width, sizes, steps)
    return tensor


def _rebuild_with_attributes(maker: Any, _: Any, args: Any, state: Any) -> Any:
    tensor = _make(maker, args)
    if not isinstance(tensor, Tensor) or type(state) is not dict:
        raise UnpicklingError("only tensors have attributes")
    vars(tensor).update(state)
    return tensor


def _make(maker: Any, args: Any) -> Any:
    if type(maker) is not _Maker:
        raise UnpicklingError(f"Trying to call reduce for unrecognized function {maker!r}")
    return maker.make(*args)


#: What pickles may call, by name.
_MAKERS: dict[str, Callable[..., Any]] = {
    "__builtin__.bytearray": bytearray,
    "__builtin__.complex": complex,
    "__builtin__.set": set,
    "_codecs.encode": lambda text, encoding: text.encode(encoding),
    "collections.Counter": Counter,
    "collections.OrderedDict": OrderedDict,
    "torch.Size": Size,
    "torch._tensor._rebuild_from_type_v2": _rebuild_with_attributes,
    "torch._utils._rebuild_parameter": lambda data, *_: data,
    "torch._utils._rebuild_parameter_with_state": lambda data, *_: data,
    "torch._utils._rebuild_tensor": _rebuild,
    "torch._utils._rebuild_tensor_v2": _rebuild,
    "torch.device": device,
    "torch.serialization._get_layout": lambda name: strided,
}
#: All that pickles may name.
_NAMED: dict[str, Any] = {
    **{name: _Maker(make) for name, make in _MAKERS.items()},
    **{f"torch.{kind.name}": kind for kind in DTYPES},
    **{
        f"{module}.{kind.scalar}Storage": StorageKind(kind)
        for module in ("torch", "torch.cuda")
        for kind in DTYPES
    },
    "torch.storage.UntypedStorage": StorageKind(uint8),
    **{name: name for name in ("torch.Tensor", "torch.nn.parameter.Parameter")},
    **{f"torch.{kind.scalar}Tensor": kind.scalar for kind in DTYPES},
}
_NAMED |= {f"torch.{alias}": _NAMED[f"torch.{name}"] for alias, name in ALIASES.items()}


class Unpickler(pickle._Unpickler):
    """Reads a pickle. load_storage: gives the storage of what stands for one in the pickle."""

    stack: list[Any]

    def __init__(self, file: IO[bytes], load_storage: Callable[[Any], Any]) -> None:
        super().__init__(file)
        self._load_storage = load_storage

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Return the object of a name. Raises UnpicklingError for names that are not listed."""
        module = "__builtin__" if module_name == "builtins" else module_name
        value = _NAMED.get(f"{module}.{global_name}")
        if value is None:
            raise _not_allowed(f"{module_name}.{global_name}")
        return value

    def persistent_load(self, pid: Any) -> Any:
        """Return the storage that something stands for."""
        return self._load_storage(pid)

    def load_reduce(self) -> None:
        """Call a maker."""
        args = self.stack.pop()
        self.stack[-1] = _make(self.stack[-1], args)

    def load_build(self) -> None:
        """Give an ordered dictionary its attributes."""
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is not OrderedDict:
            raise UnpicklingError(
                f"Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {type(target)}"
            )
        vars(target).update(state)

    def refuse(self) -> None:
        """Raise UnpicklingError for what the pickle asks for."""
        raise UnpicklingError("the pickle makes objects of classes, or names what it may not")

    dispatch: ClassVar[dict[int, Callable[..., None]]] = {**pickle._Unpickler.dispatch}
    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.BUILD[0]] = load_build
    for _code in ("INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "NEXT_BUFFER"):
        dispatch[getattr(pickle, _code)[0]] = refuse


def _not_allowed(name: str) -> UnpicklingError:
    name = name.removeprefix("builtins.").removeprefix("__builtin__.")
    why = MISSING.get(name.removeprefix("torch."))
    reason = f" ({why})" if why else ""
    return UnpicklingError(
        f"Unsupported global: GLOBAL {name} was not an allowed global by default{reason}. Of what "
        "a file names, only tensors and plain containers are made here: let PyTorch read the "
        "file, and save the tensors of it, as a state_dict() for example."
    )
