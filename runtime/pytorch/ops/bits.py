"""Functions of the bits of whole numbers, and of bools. PyTorch's documentation: Pointwise Ops."""

from __future__ import annotations

import numpy as np

from runtime.pytorch.base.dtypes import NUMPY_DTYPES
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import WHOLE, Pointwise
from runtime.pytorch.ops.pairs import binary

_BITS = frozenset(kind.num for kind in NUMPY_DTYPES if kind.kind != "f")


def _bits(name: str, function: Pointwise) -> None:
    binary(
        function,
        f"{name}(Tensor input, Tensor other)",
        f"{name}(Number self, Tensor other|)",
        f"{name}(Tensor input, Number other)",
        doc=f"The function {name} of the bits of two whole numbers, or of bools.",
    )


#: The functions of bits by the names of their operators.
BITS = {
    "and": Pointwise(np.bitwise_and, _BITS, kernel="bitwise_and_cpu", takes=_BITS),
    "or": Pointwise(np.bitwise_or, _BITS, kernel="bitwise_or_cpu", takes=_BITS),
    "xor": Pointwise(np.bitwise_xor, _BITS, kernel="bitwise_xor_cpu", takes=_BITS),
    "lshift": Pointwise(formulas.left_shift, WHOLE, kernel="lshift_cpu", takes=WHOLE),
    "rshift": Pointwise(formulas.right_shift, WHOLE, kernel="rshift_cpu", takes=WHOLE),
}
_NAMES = {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
for _name, _function in BITS.items():
    _bits(_NAMES.get(_name, f"bitwise_{_name}"), _function)
