"""An engine as the door for Python programs: run Lua, call its functions, share its tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from th_shell.runtime.core.encoding import to_bytes
from th_shell.runtime.core.system import Commands
from th_shell.runtime.engine.lua_state import LuaState
from th_shell.runtime.engine.output import PROCESS
from th_shell.runtime.host.lazy_loading import load_numpy

if TYPE_CHECKING:
    from th_shell.runtime.engine.proxies import LuaTable
    from th_shell.runtime.engine.values import Values

Self = TypeVar("Self", bound="Engine")


class Engine:
    """One Lua state with torch in it.

        lua = Engine()
        lua.run("x = torch.range(1, 6):resize(2, 3)")
        lua["x"]                                        # a tensor over the same memory
        total = lua.eval("function(t) return t:sum() end")
        total(numpy.ones(5))                            # 5

    How values cross is told in ``help(runtime)``.

    Each has its own default type, random stream, memory and threads; README.md of the runtime
    tells what all engines of a process share. An engine may be used by several threads of Python,
    which wait for each other. `close` gives back what it holds; so does the end of a ``with``
    block, or of the last reference to the engine.
    """

    __module__ = "th_shell"  # where programs find it

    _values: Values | None = None
    _globals: LuaTable | None = None
    _arrays = False
    _is_stoppable = True
    _stdout: Any = None

    def __init__(self, *, arrays: bool = False, stoppable: bool = True, stdout: Any = None) -> None:
        """Make the Lua state.

        arrays: tensors of Lua are arrays of numpy in Python.
        stoppable: whether signals, timeouts, `interrupt` and `close` also stop loops that LuaJIT
        has compiled, which count their turns for that; short ones take up to twice as long.
        stdout: the file, of text or bytes, to which Lua writes its output: by default where
        `sys.stdout` leads. What C functions and commands write goes to the process's output.
        """
        self._lua = LuaState()
        self._arrays = arrays
        self._is_stoppable = stoppable
        self._stdout = stdout

    def close(self) -> None:
        """End the engine's threads and give back its memory; nothing runs in it any more.

        What another thread runs in it is stopped as by `interrupt`.
        Where a Python function that Lua has called does this, that call is an error in Lua, and the
        engine ends with the code that runs.
        """
        self._lua.close()

    def interrupt(self) -> None:
        """Stop the Lua code that runs, by an Interrupted error. Any thread may call this.

        It ends no function of Python's. Where no Lua runs, nothing is done; nor is it for inputs of
        a prompt that are not `interruptible`.
        """
        self._lua.interrupt()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine stays in its process: make one in each")

    def flush(self) -> None:
        """Write out what Lua has written to the standard output, and is buffered."""
        self._lua.call(b"flush")

    def _crossing(self) -> Values:
        if self._values is None:
            load_numpy()
            from th_shell.runtime.engine.values import Values  # late: it needs numpy

            self._lua.start()
            self._lua.ctrl_c.end_commands = self._lua.state.part(Commands).kill
            self._values = Values(self._lua, self._is_stoppable, self._stdout, self._arrays)
        return self._values

    def run(
        self, source: str | bytes, *args: Any, name: str = "lua", timeout: float | None = None
    ) -> None:
        """Run Lua code. Its results are dropped.

        args: what the code gets as ``...``. name: that of the text in errors, as ``lua:1:``.
        timeout: the seconds that it may take, its commands and waiting among it; a single call of
        Lua's own functions, as string.find, or of an operation is not ended. Raises LuaError, for
        a text that does not compile, too; LuaTimeout; and LuaExit where it calls ``os.exit``.
        """
        with self.timeout(timeout):
            self._crossing().ask(b"run", _text(source), b"=" + to_bytes(name), values=args)

    def eval(self, source: str | bytes, name: str = "lua", timeout: float | None = None) -> Any:
        """Return the value of a Lua expression, or what a chunk returns; of several a tuple.

        timeout, and what is raised: as for `run`.
        """
        with self.timeout(timeout):
            return self._crossing().value(b"eval", _text(source), b"=" + to_bytes(name))

    def timeout(self, seconds: float | None) -> AbstractContextManager[None]:
        """Stop Lua that runs in the block when so many seconds are over, by LuaTimeout.

            with lua.timeout(2):
                lua.run(source)

        Calls that begin later raise it at once; the wait for other threads' calls counts. It is a
        TimeoutError, too, and no pcall catches it. Python in the block is not stopped, nor is what
        is told at `run`. The block's calls are those of its context (`contextvars`): of its thread
        or task, and of what that gives to asyncio.to_thread. Blocks may be nested. None: no limit.
        """
        if seconds is None:
            return nullcontext()
        if not self._is_stoppable:
            self._lua.call(b"count_loops")
        return self._crossing().limits.within(seconds)

    def require(self, name: str | bytes) -> Any:
        """Return the module that Lua's require loads, or has loaded. Raises LuaError."""
        return self["require"](name)

    @property
    def globals(self) -> LuaTable:
        """Return the table of Lua's globals."""
        if self._globals is None:
            self._globals = self._crossing().value(b"globals")
        return self._globals

    def __getitem__(self, name: str) -> Any:
        """Return the value of a global of Lua; None where there is none."""
        return self.globals[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a global of Lua; None removes it."""
        self.globals[name] = value

    def __delitem__(self, name: str) -> None:
        """Remove a global of Lua."""
        self.globals[name] = None

    def __contains__(self, name: str) -> bool:
        """Tell whether there is a global of Lua of this name."""
        return self.globals[name] is not None

    def __iter__(self) -> Iterator[Any]:
        """Return the names of Lua's globals."""
        return iter(self.globals)


def engine_on(lua: LuaState) -> Engine:
    """Return an engine on a Lua state that is there; Lua writes to the process's output."""
    engine = Engine.__new__(Engine)
    engine._lua = lua
    engine._stdout = PROCESS
    return engine


def _text(source: str | bytes) -> bytes:
    return to_bytes(source) if isinstance(source, str) else source
