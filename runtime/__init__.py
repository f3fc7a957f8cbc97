"""The Torch7 runtime: an embedded LuaJIT whose ``torch`` is implemented over numpy.

This is its only door: what programs and ``th_shell`` use stands here. README.md beside this file
tells how it is built.
"""

from runtime.compute.blas_threads import one_thread_at_load
from runtime.core.platform import require

require()  # first: what is loaded from here on fails in less clear ways

with one_thread_at_load():
    from runtime.calls.table import ALL, TABLE, Row
    from runtime.compute.processors import PROCESSORS
    from runtime.core.dtypes import DOUBLE
    from runtime.engine import Engine, Interrupted, LuaError, LuaSyntaxError, luajit_version
    from runtime.host.preload import preload_lapack, preload_random
    from runtime.io.replacement import Replacement
    from runtime.members import Member, Members

__all__ = [
    "ALL",
    "DOUBLE",
    "PROCESSORS",
    "TABLE",
    "Engine",
    "Interrupted",
    "LuaError",
    "LuaSyntaxError",
    "Member",
    "Members",
    "Replacement",
    "Row",
    "luajit_version",
    "preload_lapack",
    "preload_random",
]
