"""The text of tensors and storages. PyTorch's documentation: torch.set_printoptions."""

from __future__ import annotations

from runtime.pytorch.base.dtypes import default_dtype
from runtime.pytorch.classes.storages import TypedStorage, UntypedStorage
from runtime.pytorch.tensors.tensor import Tensor
from runtime.pytorch.text.printing import scalar_format, storage_text, tensor_text


def _tensor(self: Tensor) -> str:
    return tensor_text(self.array, self.dtype, default_dtype())


def _format(self: Tensor, spec: str) -> str:
    return scalar_format(self, self.array, spec)


def _typed(self: TypedStorage) -> str:
    name = f"torch.storage.TypedStorage(dtype={self.dtype}, device=cpu)"
    return storage_text(self.array, name)


def _untyped(self: UntypedStorage) -> str:
    return storage_text(self.array, "torch.storage.UntypedStorage(device=cpu)")


setattr(Tensor, "__repr__", _tensor)  # noqa: B010 (mypy refuses an assignment)
setattr(Tensor, "__format__", _format)  # noqa: B010
setattr(TypedStorage, "__repr__", _typed)  # noqa: B010
setattr(UntypedStorage, "__repr__", _untyped)  # noqa: B010
