"""What all operations element by element share."""

import numpy as np
import pytest

from th_shell.runtime.calls.table import TABLE
from th_shell.runtime.core.dtypes import INT
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor


@pytest.mark.parametrize("sizes", [(3,), (5, 7)])
def test_a_finalizer_that_resizes_an_operand(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...]
) -> None:
    int_tensor = next(c for c in TENSOR_CLASSES if c.dtype is INT)
    source, result = int_tensor.of(np.ones((3, 3, 3), np.int32)), int_tensor.new((27,))
    resize = Tensor.resize

    def resized(self: Tensor, *args: object) -> None:
        # Memory for the result lets Lua collect, and a finalizer run.
        resize(self, *args)  # type: ignore[arg-type]
        if self is result:
            resize(source, sizes)

    monkeypatch.setattr(Tensor, "resize", resized)
    add = next(row for row in TABLE["add"] if INT in row.types)
    with pytest.raises(TorchError, match="a finalizer has resized a tensor in use"):
        add.implementation(result, source, 1)
