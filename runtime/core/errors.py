"""The errors an operation may raise, in the reference's words.

    TorchError                 a plain message (Torch7: THError, luaL_error)
    ├── ArgError               about one argument: 'bad argument #2 to 'narrow' (out of range)'
    │   └── TypeMismatch       '... (torch.*Tensor expected, got function)'
    ├── InvalidArguments       no call form fits: 'invalid arguments: ... expected arguments: ...'
    └── StorageExceeded        a view reaches past the end of its storage

The texts leave out the reference's C source positions. An operation does not know by what name
Lua called it: ``runtime/lua/core/errors.lua`` adds the name to the message.
"""

from __future__ import annotations


class TorchError(Exception):
    """An error of an operation; ``str(error)`` is the message Lua sees."""


class ArgError(TorchError):
    """One argument is wrong.

    arg: its position in the Lua call, counted from 1 (a method's self is 1).
    detail: what is wrong with it.
    """

    def __init__(self, arg: int, detail: str) -> None:
        super().__init__(f"bad argument #{arg} ({detail})")
        self.arg = arg
        self.detail = detail


class TypeMismatch(ArgError):
    """An argument has the wrong type.

    expected, got: type names as Lua prints them.
    """

    def __init__(self, arg: int, expected: str, got: str) -> None:
        super().__init__(arg, f"{expected} expected, got {got}")
        self.expected = expected
        self.got = got


class InvalidArguments(TorchError):
    """No call form of a function fits the arguments.

    got: the arguments' types, each followed by a space, as the reference prints them.
    forms: the call forms in the reference's notation.
    """

    def __init__(self, got: str, forms: str) -> None:
        super().__init__(f"invalid arguments: {got}\nexpected arguments: {forms}")
        self.got = got
        self.forms = forms


class StorageExceeded(TorchError):
    """A tensor reaches past the end of its storage, which was made smaller after the tensor was.

    sizes: the tensor's. needed: how many elements the storage would have to hold. length: how
    many it holds. Torch7: reads and writes the memory behind the storage.
    """

    def __init__(self, sizes: tuple[int, ...], needed: int, length: int) -> None:
        shape = " x ".join(map(str, sizes))
        super().__init__(
            f"tensor [{shape}] needs {needed} elements of its storage, which holds {length}"
        )
        self.sizes = sizes
        self.needed = needed
        self.length = length
