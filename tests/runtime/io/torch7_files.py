"""Files of the real Torch7: what it writes for objects of all kinds, in each mode.

The objects are those of a collection of files that Torch7 wrote, and so are the bytes: all but
function.t7 were compared with it (test_roundtrip.py does that again where it finds it), and
function.t7 with what Torch7 wrote for its source.
"""

import math
from collections.abc import Iterator
from typing import Any

from tests.runtime.io.t7 import MODES, Function, Object, Storage, Table, Tensor, written


def _list(*values: Any) -> Table:
    return Table([(number, value) for number, value in enumerate(values, 1)])


def _types() -> Table:
    """A tensor and its storage of every type: the elements 1, 2, 3, 4."""
    names = ("Byte", "Short", "Int", "Long", "Float", "Double", "Half", "Char")
    storages = {name: Storage(name, range(1, 5)) for name in names}
    values: dict[str, Any] = {f"{name}Storage": storage for name, storage in storages.items()}
    values |= {name: Tensor(name, [4], [1], storage) for name, storage in storages.items()}
    order = """Byte ByteStorage Short Int Long Float Double Half HalfStorage DoubleStorage
        FloatStorage LongStorage CharStorage Char ShortStorage IntStorage"""
    return Table([(name.encode(), values[name]) for name in order.split()])


def _views() -> Table:
    """Views of one storage of twelve numbers, base twice, and an empty tensor."""
    storage = Storage("Double", range(1, 13))
    base = Tensor("Double", [3, 4], [4, 1], storage)
    return Table(
        [
            (b"column", Tensor("Double", [3], [4], storage, offset=3)),
            (b"again", base),
            (b"t", Tensor("Double", [4, 3], [1, 4], storage)),
            (b"base", base),
            (b"empty", Tensor("Double")),
            (b"storage", storage),
            (b"row", Tensor("Double", [4], [1], storage, offset=5)),
        ]
    )


def _table() -> Table:
    """Keys and values of all kinds, and a table that holds itself twice."""
    fields: list[tuple[Any, Any]] = []
    table = Table(fields)
    fields += enumerate([1, 2.5, -1e300, math.inf, True, False, b'b\0in\n"ary'], 1)
    fields += [(0.5, b"half"), (b"list", _list(Table([]), _list(table)))]
    fields += [(b"name", b"node"), (True, b"yes"), (b"self", table)]
    return table


def _objects() -> Table:
    """Objects of two classes of Lua; the second has a method `write` of its own."""
    x = Tensor("Double", [2], [1], Storage("Double", [3, 2]))
    point = Object("fixture.Point", [Table([(b"x", x)])])
    position = Tensor("Long", [2], [1], Storage("Long", [4, 3]))
    return _list(point, point, Object("fixture.Weighted", [position, 0.5]))


#: string.dump of the function `function(a) return a + up end` in a file up.lua.
_BYTECODE = bytes.fromhex(
    "1b4c4a0208074075702e6c756123000102010000030b02002d01000020010100"
    "4c01020000c0000000757000610000040000"
)


def _function() -> Table:
    """A function with one upvalue."""
    upvalue = Table([(b"name", b"up"), (b"id", 1), (b"value", 3)])
    return Table([(b"f", Function(_BYTECODE, _list(upvalue))), (b"n", 3)])


def _files() -> Iterator[tuple[str, bytes]]:
    for mode in MODES:
        for name, table in (("types", _types()), ("views", _views()), ("table", _table())):
            yield f"{name}.{mode}.t7", written(table, mode)
    yield "objects.t7", written(_objects(), "binary")
    yield "objects.ascii.t7", written(_objects(), "ascii")
    yield "function.t7", written(_function(), "binary")
    yield "nil.t7", written(None, "binary")
    for number, value in enumerate((1, b"text", True, False), 1):
        yield f"scalar{number}.t7", written(value, "binary")


#: The files by name.
FILES = dict(_files())


def mode_of(name: str) -> str:
    """How a file was written, by its name."""
    return next((mode for mode in ("ascii", "b32") if f".{mode}." in name), "binary")
