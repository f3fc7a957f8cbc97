"""The Torch7 runtime: an embedded LuaJIT whose ``torch`` is implemented over numpy.

Python programs use the names of this module by ``th_shell``; th and th-docs use those of
``th_shell.runtime.shell``, too. README.md beside this file tells how it is built. numpy, and what
needs it, is loaded at its first use: so an engine starts quickly.

For Python programs:

    load, save              files of Torch7 (.t7), without Lua
    Table, TorchObject,     what files hold besides numbers, strings and tensors
    Function
    T7Error                 a damaged file, or a value that no file can have
    Engine                  a Torch7 in the program: runs Lua, calls its functions, shares tensors
    LuaTable, LuaFunction,  what stands for objects of Lua
    LuaCoroutine, LuaObject
    LuaError                an error of Lua
    LuaExit, LuaTimeout,    kinds of it: the code has called os.exit, has taken too long (a
    Interrupted             TimeoutError, too), or was stopped by `Engine.interrupt`

Values cross between Lua and Python so:

    Lua                     Python
    nil, booleans           None, bool
    numbers                 int where they are whole, otherwise float
    strings                 str where they are UTF-8, otherwise bytes
    tensors                 tensors of `th_shell.torch`, over the same memory
    other objects           LuaTable, LuaFunction, LuaCoroutine, LuaObject, which stand for them:
                            no copies

With `Engine(arrays=True)`, tensors are numpy's arrays in Python.

To Lua go the same, besides: arrays of numpy and tensors of PyTorch (tensors over the same memory;
copies of what is read-only, or lies in memory as no tensor does), numpy's numbers, dicts, lists and
tuples (copied as tables, whose lists count from 1), what `load` returns, and functions, which Lua
may call. A tuple that one of these returns is several values in Lua, and its exception an error,
which pcall sees as ``ValueError: text``. An iterator of Python's, as a generator, is one for Lua's
``for``; Python iterates over coroutines, and over functions as Lua's ``for`` does.

Fields of Lua's objects are attributes, methods are bound: ``model.forward(x)``, ``model.weight``.

Errors: LuaError, with Lua's message and traceback; where a Python function has raised what Lua did
not catch, that exception is its ``__cause__``. TypeError and ValueError (T7Error is one) for what
Lua cannot have. Signals are handled while Lua runs; what a handler raises, as KeyboardInterrupt for
Ctrl-C, stops Lua.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from th_shell.runtime.core.platform import require

require()  # first: what is loaded from here on fails in less clear ways

from th_shell.runtime.engine.engine import Engine  # noqa: E402
from th_shell.runtime.errors import Interrupted, LuaError, LuaExit, LuaTimeout  # noqa: E402
from th_shell.runtime.host.lazy_loading import load_numpy  # noqa: E402

if TYPE_CHECKING:
    from th_shell.runtime.engine.proxies import LuaCoroutine, LuaFunction, LuaObject, LuaTable
    from th_shell.runtime.t7.files import load, save
    from th_shell.runtime.t7.values import Function, T7Error, Table, TorchObject
    from th_shell.torch.tensors.tensor import Tensor

__all__ = [
    "Engine",
    "Function",
    "Interrupted",
    "LuaCoroutine",
    "LuaError",
    "LuaExit",
    "LuaFunction",
    "LuaObject",
    "LuaTable",
    "LuaTimeout",
    "T7Error",
    "Table",
    "Tensor",
    "TorchObject",
    "load",
    "save",
]

_LATE_MODULES = {
    "th_shell.runtime.engine.proxies": "LuaCoroutine LuaFunction LuaObject LuaTable",
    "th_shell.runtime.t7.files": "load save",
    "th_shell.runtime.t7.values": "Function T7Error Table TorchObject",
    "th_shell.torch": "Tensor",
    "th_shell.torch.names": "restored",  # which pickles call
}
_LATE = {name: module for module, names in _LATE_MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_numpy()
    value = globals()[name] = getattr(import_module(_LATE[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
