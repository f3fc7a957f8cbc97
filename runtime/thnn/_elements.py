"""What functions of nn's backend that go element by element share.

A layer may work in place: then the elements of the tensor that it gets are replaced, and its result
becomes the same view of them.
"""

from __future__ import annotations

from runtime.core.tensor import Tensor
from runtime.ops._operands import Compute, elementwise

__all__ = ["compute_each"]


def compute_each(
    result: Tensor,
    compute: Compute,
    source: Tensor,
    *others: Tensor,
    inplace: bool = False,
    like: Tensor | None = None,
) -> None:
    """result = compute(source, *others), element by element, with the sizes of like.

    All tensors have as many elements; the caller has checked it. inplace: source is replaced.
    like: by default source.
    """
    if inplace:
        elementwise(source, compute, source, *others)
        result.set(source.storage, source.offset, source.sizes, source.strides)
    else:
        result.resize((like or source).sizes)
        elementwise(result, compute, source, *others)
