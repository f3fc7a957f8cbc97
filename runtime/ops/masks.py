"""Manual, Tensor: maskedSelect, maskedCopy, maskedFill.

Torch7: maskedFill, and maskedSelect with a destination, return their last argument; maskedCopy
returns the destination.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.table import ALL, checked
from th_shell.runtime.core.dtypes import BYTE, Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import check_counts, store, usage_error
from th_shell.runtime.ops._overlapping import Record, share_elements


def _mask(mask: Tensor) -> Array:
    """The elements of a mask in order, as booleans; raises TorchError unless all are 0 or 1."""
    values = mask.flat
    if values.size and values.max() > 1:
        raise TorchError("Mask tensor can take 0 and 1 values only")
    return values.view(np.bool_)


@checked("maskedSelect", method="[*T*] T ByteTensor", types=ALL, small="masks.maskedSelect")
def masked_select(call: Call) -> Tensor:
    """The elements where the mask is 1, as a vector; the mask has as many elements."""
    if len(call) == 2:
        src, mask = call.tensor(1), call.tensor(2, BYTE)
        r = type(src)()
    elif len(call) == 3:
        src, mask, r = call.tensor(2), call.tensor(3, BYTE), call.tensor(1)
    else:
        raise usage_error(call, "T, torch.ByteTensor | T, T, torch.ByteTensor expected")
    if share_elements(r, src, mask):
        _masked_select_in_turn(r, src, mask)
        return mask
    check_counts(src=src, mask=mask)
    # numpy selects faster by positions than by a mask.
    values = np.take(src.flat, np.flatnonzero(_mask(mask)))
    store(r, values)
    return r if len(call) == 2 else mask


def _masked_select_in_turn(r: Tensor, src: Tensor, mask: Tensor) -> None:
    record = Record(r, (int(mask.array.sum()),), src, mask)
    check_counts(src=record.tensor(src), mask=record.tensor(mask))
    to, source = (record.addresses(t).reshape(-1).tolist() for t in (r, src))
    for n, at in enumerate(record.ones(mask)):
        if n == len(to):
            raise TorchError("the mask has got more ones than the call found in it")
        record[to[n]] = record[source[at]]
    record.keep()


@checked("maskedCopy", method="*T* ByteTensor T", types=ALL, small="masks.maskedCopy")
def masked_copy(call: Call) -> Tensor:
    """Copy the first elements of a tensor, in order, to where the mask is 1.

    self is not resized. Raises TorchError where the tensor has too few elements.
    """
    if len(call) != 3:
        raise usage_error(call, "T, torch.ByteTensor, T expected")
    mask, src, t = call.tensor(2, BYTE), call.tensor(3), call.tensor(1)
    if t.nelement != mask.nelement:
        raise TorchError("Number of elements of destination tensor != Number of elements in mask")
    too_few = TorchError("Number of elements of src < number of ones in mask")
    if share_elements(t, mask, src):
        record = Record(t, t.sizes, mask, src)
        to, source = record.addresses(t).reshape(-1), record.contiguous(src)
        for n, at in enumerate(record.ones(mask)):
            if n == len(source):
                raise too_few
            record[int(to[at])] = record[int(source[n])]
        record.keep()
        return t
    chosen = _mask(mask)
    count = int(chosen.sum())
    if src.nelement < count:
        raise too_few
    t.array[chosen.reshape(t.sizes or (0,))] = src.flat[:count]
    return t


@checked("maskedFill", method="T ByteTensor *real*", types=ALL, small="masks.maskedFill")
def masked_fill(call: Call) -> float:
    """Set the elements where the mask is 1 to a number; self is not resized."""
    if len(call) != 3:
        raise usage_error(call, "T, torch.ByteTensor, number expected")
    mask, value, t = call.tensor(2, BYTE), call.real(3), call.tensor(1)
    check_counts(tensor=t, mask=mask)
    if share_elements(t, mask):
        record = Record(t, t.sizes, mask)
        to = record.addresses(t).reshape(-1)
        for at in record.ones(mask):
            record[int(to[at])] = value
        record.keep()
    else:
        t.array[_mask(mask).reshape(t.sizes or (0,))] = value
    return call.number(3)
