"""The programs: the command line and the prompt of ``th``, and the documentation runner.

For Python programs, the names of the runtime: ``from th_shell import Engine, load, save``, told in
``help(runtime)``. The runtime is loaded when they are asked for.
"""
# ruff: noqa: F403, F405

TYPE_CHECKING = False  # as that of `typing`, which takes a while to load
if TYPE_CHECKING:
    from typing import Any

    from th_shell.runtime import *

__version__ = "0.1.0"

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


def __getattr__(name: str) -> "Any":
    if name not in __all__ and name != "restored":  # which pickles call
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from th_shell import runtime

    value = globals()[name] = getattr(runtime, name)
    return value
