"""What ``th_shell`` uses of the runtime besides `import runtime`: an engine with more methods, what
reads Lua without running it, and the table of operations.

Engine is `ShellEngine` here. numpy, and what needs it, is loaded at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from runtime.compute.luajit import luajit_version
from runtime.compute.processors import PROCESSORS
from runtime.core.lua_text import KEYWORDS, Token, structure, tokens
from runtime.core.machine import without_limit
from runtime.engine.answers import Facts, Member, Members
from runtime.engine.ctrl_c import SignalWatcher, signal_watcher
from runtime.engine.debugging import Debugger, Dialogue, Stop
from runtime.engine.shell_engine import ShellEngine as Engine
from runtime.errors import Interrupted, LuaError, LuaSyntaxError
from runtime.host.late import load_operations
from runtime.host.preload import preload_lapack, preload_operations, preload_random
from runtime.io.replacement import Replacement

if TYPE_CHECKING:
    from runtime.calls.table import ALL, TABLE, Row
    from runtime.core.dtypes import DOUBLE

__all__ = [
    "ALL",
    "DOUBLE",
    "Debugger",
    "Dialogue",
    "Engine",
    "Facts",
    "Interrupted",
    "KEYWORDS",
    "LuaError",
    "LuaSyntaxError",
    "Member",
    "Members",
    "PROCESSORS",
    "Replacement",
    "Row",
    "SignalWatcher",
    "Stop",
    "TABLE",
    "Token",
    "luajit_version",
    "preload_lapack",
    "preload_operations",
    "preload_random",
    "signal_watcher",
    "structure",
    "tokens",
    "without_limit",
]

_WITH_OPERATIONS = {
    "ALL": "runtime.calls.table",
    "DOUBLE": "runtime.core.dtypes",
    "Row": "runtime.calls.table",
    "TABLE": "runtime.calls.table",
}


def __getattr__(name: str) -> Any:
    if name not in _WITH_OPERATIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_operations()
    found = globals()[name] = getattr(import_module(_WITH_OPERATIONS[name]), name)
    return found
