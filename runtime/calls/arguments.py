"""``Call``: the arguments of a call, for implementations that read them one by one."""

from typing import Any

from th_shell.runtime.calls.forms import as_number, lua_type, typename
from th_shell.runtime.core.dtypes import LONG, DType, cast_scalar
from th_shell.runtime.core.errors import TypeMismatch
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor

_ANY_LONG = 1 << 63  # whole numbers below it are unchanged

# Lua's types by their numbers in Lua's C interface.
_LUA_TYPES = "nil boolean userdata number string table function userdata thread".split()


class Call:
    """The arguments of one call, read by position, counted from 1, with the reference's errors.

    dtype: the element type of the class whose method was called.
    """

    __slots__ = ("args", "dtype")

    def __init__(self, dtype: DType, args: tuple[Any, ...]) -> None:
        self.dtype = dtype
        self.args = args

    def __len__(self) -> int:
        return len(self.args)

    def get(self, at: int) -> Any:
        """The argument as it is; None for nil and where the call has no such argument."""
        return self.args[at - 1] if at <= len(self.args) else None

    def type_name(self, at: int) -> str:
        """The argument's Lua type as error messages name it; 'no value' where it is absent."""
        return lua_type(self.args[at - 1]) if at <= len(self.args) else "no value"

    def mismatch(self, at: int, expected: str) -> TypeMismatch:
        """The error about an argument of the wrong class, which names the class it has.

        Torch7: where the argument has no class, the message names not its own Lua type but the
        one whose number is the argument's position.
        """
        name = typename(self.get(at))
        return TypeMismatch(at, expected, name or _LUA_TYPES[min(at, 8)])

    def tensor(self, at: int, dtype: DType | None = None) -> Tensor:
        """A tensor of an element type, by default that of the method's class."""
        value = self.get(at)
        dtype = dtype or self.dtype
        if type(value) is not TENSOR_CLASSES[dtype.index]:
            raise self.mismatch(at, dtype.tensor_name)
        return value

    def storage(self, at: int, dtype: DType | None = None) -> Storage:
        """A storage of an element type, by default that of the method's class."""
        value = self.get(at)
        dtype = dtype or self.dtype
        if type(value) is not STORAGE_CLASSES[dtype.index]:
            raise self.mismatch(at, dtype.storage_name)
        return value

    def number(self, at: int) -> float | int:
        """A number (or a string that holds one)."""
        value = as_number(self.get(at))
        if value is None:
            raise TypeMismatch(at, "number", self.type_name(at))
        return value

    def long(self, at: int, default: int | None = None) -> int:
        """A whole number; ``default`` where the argument is absent or nil."""
        value = self.get(at)
        if type(value) is int and abs(value) < _ANY_LONG:
            return value
        if value is None and default is not None:
            return default
        return int(cast_scalar(self.number(at), LONG))

    def real(self, at: int) -> float | int:
        """A number, converted to the element type of the method's class."""
        return cast_scalar(self.number(at), self.dtype)

    def sizes(self, at: int) -> tuple[int, ...] | None:
        """The elements of a LongStorage; None where the argument is none."""
        value = self.get(at)
        return tuple(value.data.tolist()) if type(value) is STORAGE_CLASSES[LONG.index] else None

    def longs(self, at: int) -> tuple[int, ...]:
        """All whole numbers from a position to the end of the call."""
        return tuple([self.long(i) for i in range(at, len(self.args) + 1)])
