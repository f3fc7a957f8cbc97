"""The runtime for ``th_shell``: an engine with more methods, functions that read Lua
without running it, and the table of operations.

Engine is `ShellEngine` here. numpy, and what needs it, is loaded at its first use.
"""
# ruff: noqa: F401

from importlib import import_module
from typing import TYPE_CHECKING, Any

from th_shell.runtime.compute.blas_threads import blas_version
from th_shell.runtime.compute.luajit import luajit_version
from th_shell.runtime.compute.thread_pool import PROCESSORS
from th_shell.runtime.core.lua_text import KEYWORDS, Token, structure, tokens
from th_shell.runtime.core.machine import without_limit
from th_shell.runtime.engine.ctrl_c import SignalWatcher, signal_watcher
from th_shell.runtime.engine.debugging import Dialogue, Stop
from th_shell.runtime.engine.shell_engine import ShellEngine as Engine
from th_shell.runtime.engine.variables import Facts, Member
from th_shell.runtime.errors import Interrupted, LuaError, LuaSyntaxError
from th_shell.runtime.host.lazy_loading import (
    load_numpy,
    load_operations,
    preload_lapack,
    preload_operations,
    preload_random,
)
from th_shell.runtime.io.replacement import Replacement

if TYPE_CHECKING:
    from th_shell.runtime.calls.table import ALL, TABLE, Row
    from th_shell.runtime.core.dtypes import DOUBLE

_WITH_OPERATIONS = {
    "ALL": "th_shell.runtime.calls.table",
    "DOUBLE": "th_shell.runtime.core.dtypes",
    "Row": "th_shell.runtime.calls.table",
    "TABLE": "th_shell.runtime.calls.table",
}


def __getattr__(name: str) -> Any:
    if name not in _WITH_OPERATIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_operations()
    value = globals()[name] = getattr(import_module(_WITH_OPERATIONS[name]), name)
    return value
