"""The Torch7 runtime: an embedded LuaJIT whose ``torch`` is implemented over numpy.

This is its only door: what programs and ``th_shell`` use stands here. README.md beside this file
tells how it is built. numpy, and what needs it, is loaded at its first use: so an engine starts
quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from runtime.core.platform import require

require()  # first: what is loaded from here on fails in less clear ways

from runtime.compute.processors import PROCESSORS  # noqa: E402
from runtime.core.machine import without_limit  # noqa: E402
from runtime.engine import Engine  # noqa: E402
from runtime.errors import Interrupted, LuaError, LuaSyntaxError  # noqa: E402
from runtime.facts import Facts  # noqa: E402
from runtime.host.late import load  # noqa: E402
from runtime.host.preload import (  # noqa: E402
    preload_lapack,
    preload_operations,
    preload_random,
)
from runtime.luajit import luajit_version  # noqa: E402
from runtime.members import Member, Members  # noqa: E402

if TYPE_CHECKING:
    from runtime.calls.table import ALL, TABLE, Row
    from runtime.core.dtypes import DOUBLE
    from runtime.io.replacement import Replacement

__all__ = [
    "ALL",
    "DOUBLE",
    "PROCESSORS",
    "TABLE",
    "Engine",
    "Facts",
    "Interrupted",
    "LuaError",
    "LuaSyntaxError",
    "Member",
    "Members",
    "Replacement",
    "Row",
    "luajit_version",
    "preload_lapack",
    "preload_operations",
    "preload_random",
    "without_limit",
]

_LATE = {
    "ALL": "runtime.calls.table",
    "DOUBLE": "runtime.core.dtypes",
    "Replacement": "runtime.io.replacement",
    "Row": "runtime.calls.table",
    "TABLE": "runtime.calls.table",
}
_WITHOUT_NUMPY = ("Replacement",)


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _WITHOUT_NUMPY:
        load()
    return getattr(import_module(_LATE[name]), name)
