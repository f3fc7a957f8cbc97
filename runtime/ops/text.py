"""The operation that `tostring` and `print` call for tensors and storages."""

from __future__ import annotations

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.table import checked
from th_shell.runtime.core.printing import storage_text, tensor_text


@checked("tostring", method="T")
def tensor_tostring(call: Call) -> bytes:
    """The text of a tensor, as print shows it."""
    return tensor_text(call.tensor(1)).encode()


@checked("Storage.tostring", method="Storage")
def storage_tostring(call: Call) -> bytes:
    """The text of a storage, as print shows it."""
    return storage_text(call.storage(1)).encode()
