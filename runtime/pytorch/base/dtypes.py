"""The element types as PyTorch names them, how two of them are promoted, and their limits."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from th_shell.runtime.core.pickles import makes, restored


class Category(IntEnum):
    """Kinds of numbers, in the order of promotion: of operands of one rank, the highest decides."""

    BOOL = 0
    INTEGER = 1
    FLOAT = 2


class dtype:  # noqa: N801 (PyTorch's name)
    """An element type: ``torch.float32``.

    name: as it is printed behind 'torch.'. scalar: the name in most of PyTorch's messages
    ('Float'). real: the name of the C++ type, in the others ('float').
    """

    __slots__ = ("category", "is_signed", "itemsize", "name", "numpy", "real", "scalar")
    __module__ = "torch"

    def __init__(self, name: str, scalar: str, real: str, category: Category) -> None:
        self.name = name
        self.scalar = scalar
        self.real = real
        self.category = category
        #: numpy's type.
        self.numpy: np.dtype[Any] = np.dtype(name)
        self.itemsize = self.numpy.itemsize
        self.is_signed = self.numpy.kind in "if"

    @property
    def is_floating_point(self) -> bool:
        """Tell whether the elements are floating-point numbers."""
        return self.category is Category.FLOAT

    @property
    def is_complex(self) -> bool:
        """Tell whether the elements are complex numbers: never."""
        return False

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, ("dtype", self.name)


@makes("dtype")
def _by_name(name: str) -> dtype:
    return _BY_NAME[name]


_B, _I, _F = Category
#: All element types; those of one category stand in the order in which they are promoted.
DTYPES = (
    dtype("bool", "Bool", "bool", _B),
    dtype("uint8", "Byte", "unsigned char", _I),
    dtype("int8", "Char", "signed char", _I),
    dtype("int16", "Short", "short int", _I),
    dtype("int32", "Int", "int", _I),
    dtype("int64", "Long", "long int", _I),
    dtype("float16", "Half", "c10::Half", _F),
    dtype("float32", "Float", "float", _F),
    dtype("float64", "Double", "double", _F),
)
_BY_NAME = {t.name: t for t in DTYPES}
#: The names that PyTorch has besides, for the same types.
ALIASES = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
#: The types that tensors may have, by numpy's types.
NUMPY_DTYPES = {t.numpy: t for t in DTYPES}

bool_ = _BY_NAME["bool"]
uint8, int64 = _BY_NAME["uint8"], _BY_NAME["int64"]
float32, float64 = _BY_NAME["float32"], _BY_NAME["float64"]
_PYTHON = {bool: bool_, int: int64, float: float64}


def dtype_of(numpy: np.dtype[Any]) -> dtype:
    """Return the element type for one of numpy's. Raises TypeError in PyTorch's words."""
    kind = NUMPY_DTYPES.get(numpy) or NUMPY_DTYPES.get(numpy.newbyteorder("="))
    if kind is None or not numpy.isnative:
        if kind is not None:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported."
            )
        if numpy.kind == "c":
            raise NotImplementedError("complex numbers are not provided here")
        raise TypeError(
            f"can't convert np.ndarray of type {numpy.type.__module__}.{numpy.type.__name__}. "
            "The only supported types are: float64, float32, float16, int64, int32, int16, int8, "
            "uint8, and bool."
        )
    return kind


def dtype_of_python(python: type) -> dtype | None:
    """Return the element type that Python's own type of numbers stands for as a dtype."""
    return _PYTHON.get(python)


def _promote(a: dtype, b: dtype) -> dtype:
    if a.category is not b.category:
        return max(a, b, key=lambda t: t.category)
    if {a.name, b.name} == {"uint8", "int8"}:
        return _BY_NAME["int16"]
    return max(a, b, key=lambda t: t.itemsize)


#: The promoted type of each pair.
_PROMOTED = {(a, b): _promote(a, b) for a in DTYPES for b in DTYPES}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the type of results of two types.

    PyTorch's rule: the higher category decides; within one, the smallest type that both fit.
    """
    return _PROMOTED[type1, type2]


def can_cast(from_: dtype, to: dtype) -> bool:
    """Tell whether a result of one type may be written to a tensor of another."""
    if from_.category is Category.INTEGER and to.category is Category.BOOL:
        return False
    return from_.category <= to.category


class _Default:
    dtype = float32


def default_dtype() -> dtype:
    """Return the type of tensors that are made of Python's floats."""
    return _Default.dtype


def set_default_dtype(d: dtype) -> None:
    """Set the type of tensors that are made of Python's floats. Raises TypeError."""
    if not (isinstance(d, dtype) and d.is_floating_point):
        raise TypeError("only floating-point types are supported as the default type")
    _Default.dtype = d


class layout:  # noqa: N801 (PyTorch's name)
    """A tensor's layout in memory: torch.strided, and no other."""

    __module__ = "torch"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, ("constant", self.name)


strided = layout("strided")
makes("constant")(lambda name: strided)


# -- the limits of the element types, which numpy knows


class finfo:  # noqa: N801 (PyTorch's name)
    """The limits of a floating-point type; by default of the default type.

    max, min: the largest finite number and its negative. eps: from 1 to the next number.
    smallest_normal, tiny: the smallest positive number with full precision. resolution: of as
    many decimals as are certain.
    """

    __module__ = "torch"

    def __init__(self, type: dtype | None = None) -> None:
        """Make the limits of a type. Raises TypeError for types of other numbers."""
        kind = type or default_dtype()
        if not kind.is_floating_point:
            what = "a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            raise TypeError(f"torch.finfo() requires {what}")
        limits = np.finfo(kind.numpy)
        self.bits, self.dtype = 8 * kind.itemsize, kind.name
        self.max, self.min, self.eps = float(limits.max), float(limits.min), float(limits.eps)
        self.smallest_normal = self.tiny = float(limits.tiny)
        self.resolution = 10.0**-limits.precision

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo:  # noqa: N801 (PyTorch's name)
    """The limits of a type of whole numbers: max and min."""

    __module__ = "torch"

    def __init__(self, type: dtype) -> None:
        """Make the limits of a type. Raises TypeError for types of other numbers."""
        if type.category is not Category.INTEGER:
            what = "an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            raise TypeError(f"torch.iinfo() requires {what}")
        limits = np.iinfo(type.numpy)
        self.bits, self.dtype = limits.bits, type.name
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
