"""New Lua states: the options of the embedded LuaJIT, and the sources that a state begins with.

The only module that imports lupa.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, NoReturn

try:
    from lupa import luajit21
except ImportError as error:
    raise ImportError(
        f"th needs LuaJIT 2.1 in lupa, whose wheels have it for Linux and not for macOS ({error}); "
        "the README tells how to build it"
    ) from error

from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.core import bytecode
from th_shell.runtime.core.encoding import to_text

#: What lupa raises for an error of Lua's; its first argument is the message.
RawError: type[Exception] = luajit21.LuaError

_RUNTIME = os.fsencode(os.path.dirname(os.path.dirname(__file__)))
#: The rooms of Python with modules that have a Lua half beside them; all other Lua is in lua/.
_WITH_LUA = (b"compute/", b"engine/", b"ops/", b"packages/", b"thnn/")


def shell_functions(host: dict[bytes, Any]) -> dict[bytes, Any]:
    """The functions that Python's engine calls, by name, in a new Lua state with torch.

    host: what Lua finds in Python, by name; how it reaches LuaJIT and Python's lock is added.
    """
    lua = _new_state()
    host = {**host, b"export_lua": _export_lua, **_lock_functions()}
    return dict(_importer(lua, lua.table_from(host))(b"engine.init").items())


def worker_functions() -> dict[bytes, Any]:
    """The functions of lua/parallel/thread_pool.lua in a Lua state of its own, for a thread."""
    import_module = _importer(_new_state())
    thread_pool = import_module(b"parallel.thread_pool")
    import_module(b"thnn.all_jobs")
    return dict(thread_pool.items())


def draw_functions() -> dict[bytes, Any]:
    """The functions of lua/streams/draws.lua, by name, in a Lua state of their own."""
    return dict(_importer(_new_state())(b"streams.draws").items())


def luajit_version() -> str:
    """The version of LuaJIT, as `jit.version` tells it: 'LuaJIT 2.1.1700000000'."""
    return to_text(_new_state().eval(b"jit.version"))


def _new_state() -> Any:
    return luajit21.LuaRuntime(
        encoding=None,
        source_encoding="utf-8",
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
        attribute_handlers=(_refuse, _refuse),
    )


def _refuse(*_: Any) -> NoReturn:
    raise AttributeError("no access")


def _importer(lua: Any, host: Any = None) -> Any:
    """The loader of the modules of Lua in a state, as they have it: see lua/core/loader.lua."""
    loader = lua.eval(b"loadstring")(_source(b"core/loader"), b"=[th] core/loader.lua")
    return loader(_chunk_or_error, _keep, host)


def _path(name: bytes) -> bytes:
    """The file of a module of Lua: 'core/errors' in lua/, 'ops/order' beside ops/order.py."""
    folder = _RUNTIME if name.startswith(_WITH_LUA) else _RUNTIME + b"/lua"
    return b"%s/%s.lua" % (folder, name)


def _source(name: bytes) -> bytes:
    with open(_path(name), "rb") as file:
        return file.read()


def _chunk_or_error(name: bytes, compiler: bytes) -> bytes:
    """Return the bytecode of a module, where it is kept, or its source, or an error."""
    try:
        return bytecode.kept(_path(name), compiler) or _source(name)
    except Exception as error:
        return encode_error(error)


def _keep(name: bytes, compiler: bytes, dumped: bytes) -> None:
    bytecode.keep(_path(name), compiler, dumped)


def _export_lua() -> None:
    """Let C modules that Lua loads see Lua's C API, which the embedding library keeps private."""
    ctypes.CDLL(luajit21.__file__, ctypes.RTLD_GLOBAL)


def _lock_functions() -> dict[bytes, int]:
    """Addresses of functions of Python's C API: see lua/core/python_lock.lua."""
    api = ctypes.pythonapi
    public = hasattr(api, "PyThreadState_GetUnchecked")  # from Python 3.13 on
    functions = {
        b"thread_with_lock": api[
            "PyThreadState_GetUnchecked" if public else "_PyThreadState_UncheckedGet"
        ],
        b"this_thread": api.PyGILState_GetThisThreadState,
        b"release_lock": api.PyGILState_Release,
    }
    return {
        name: ctypes.cast(function, ctypes.c_void_p).value or 0
        for name, function in functions.items()
    }
