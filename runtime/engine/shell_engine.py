"""The engine of prompts and of th-docs: what they do with a Lua state that has torch.

Its methods, and those of its parts, return text, names or compiled chunks, never Lua's objects, and
raise the errors of `th_shell.runtime.errors` alone; the engine for Python programs (`engine.py`)
returns values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.core.machine import refresh_limit
from th_shell.runtime.engine.debugging import Debugging
from th_shell.runtime.engine.engine import Engine, engine_on
from th_shell.runtime.engine.inputs import Chunk, Inputs, compile_file, compile_text
from th_shell.runtime.engine.lua_state import LuaState
from th_shell.runtime.engine.variables import Variables, is_done
from th_shell.runtime.errors import check
from th_shell.runtime.host.clocks import Clocks
from th_shell.runtime.host.lua_calls import callable_by_name, describe, guarded, with_marked_texts


class ShellEngine:
    """A Lua state with torch, as prompts, th-docs and editors use one.

    Its output goes to the process's standard output.
    """

    def __init__(self, prepare: Callable[[ShellEngine], None] | None = None) -> None:
        """Make the Lua state, unless there is something to prepare it with.

        prepare: called by `start`, which then makes the Lua state. Another thread may call that;
        the first use of the engine does, and waits until it is done.
        """
        self._lua = lua = LuaState(partial(prepare, self) if prepare else None)
        self.inputs = Inputs(lua.call)
        self.variables = Variables(lua.call)
        self.debugging = Debugging(lua.call, lua.debugger, lua.ctrl_c)

    @cached_property
    def values(self) -> Engine:
        """Return the engine for Python programs on the same Lua state: by it, values cross."""
        return engine_on(self._lua)

    def __enter__(self) -> ShellEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine's threads and give back its memory; nothing runs in it any more."""
        self._lua.close()

    def interrupt(self) -> None:
        """Stop the Lua code that runs, as `Engine.interrupt` does. Any thread may call this."""
        self._lua.interrupt()

    def start(self) -> None:
        """Make the Lua state, unless that is done."""
        self._lua.start()

    @property
    def is_started(self) -> bool:
        """Tell whether the Lua state is made. Calls before that wait until it is."""
        return self._lua.is_started

    def stay_open_at_exit(self) -> None:
        """Leave the engine as it is when the process ends: a thread may be at work in it then."""
        self._lua.end.atexit = False

    def load(self) -> None:
        """Load what the engine otherwise loads when a program first needs it: the operations."""
        self._lua.call(b"load")

    # -- code

    def compile(self, source: bytes, name: bytes = b"=stdin") -> Chunk:
        """Compile Lua source; name is Lua's chunk name. Raises LuaSyntaxError."""
        return compile_text(self._lua.call, source, name)

    def compile_file(self, path: str) -> Chunk:
        """Compile a file. Raises LuaSyntaxError, also for a file that cannot be read."""
        return compile_file(self._lua.call, path)

    def run(self, chunk: Chunk, *args: bytes) -> None:
        """Run what `compile` has made, as the process's program: ``os.exit`` ends it.

        args: what the code gets as ``...``. Raises LuaError.
        """
        check(self._lua.call(b"run", chunk, *args))

    def require(self, name: str | bytes) -> None:
        """Load a Lua library by name; no value is made of it. Raises LuaError."""
        check(self._lua.call(b"require", to_bytes(name) if isinstance(name, str) else name))

    def module(
        self,
        source: bytes,
        name: bytes,
        *functions: Callable[..., Any],
        interruptible: bool = False,
    ) -> dict[bytes, Chunk]:
        """Run a chunk that returns a table of functions, and return these by name.

        functions: what the chunk gets as arguments, for Lua to call with plain values. They
        return a number, a boolean, bytes or None. interruptible: whether Ctrl-C ends them. Raises
        LuaError.
        """
        chunk = self.compile(source, name)
        wrapped = [guarded(with_marked_texts(f), interruptible=interruptible) for f in functions]
        return dict(self._lua.call(b"module", chunk, *wrapped).items())

    def call(self, function: Chunk, *args: bytes) -> Any:
        """Call a function of `module`; returns its result, a plain value. Raises LuaError."""
        return self._lua.call(b"call", function, *args)

    # -- modules and packages

    def find_module(self, name: str) -> str | None:
        """Return the file that Lua's `require` would load for a module; nothing is loaded.

        '' for a module that is there without a file, None where there is none.
        """
        path = self._lua.call(b"find_module", to_bytes(name))
        return None if path is None else to_text(path)

    def package_sources(self) -> dict[str, str]:
        """Return the repositories of packages of Lua files that are known, by their names."""
        lines = to_text(self._lua.call(b"package_sources")).splitlines()
        rows = (line.split(" ", 2) for line in lines)
        return {name: f"https://github.com/{path}" for name, path, _ in rows}

    def impossible_packages(self) -> dict[str, tuple[str, str]]:
        """Return, by name, why there cannot be a package ("opens windows, …"), and what to do."""
        lines = to_text(self._lua.call(b"impossible_packages")).splitlines()
        return {name: (why, advice) for name, why, advice in (line.split("\t") for line in lines)}

    def penlight_names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of Penlight's modules, which are globals where it is installed.

        First those that programs hardly use for things of their own, then the others.
        """
        distinct, common = to_text(self._lua.call(b"penlight_names")).split("\n")
        return frozenset(distinct.split()), frozenset(common.split())

    def penlight_advice(self, message: str) -> str:
        """Return what is to be done about an error for want of Penlight; '' for others."""
        return to_text(self._lua.call(b"penlight_advice", to_bytes(message)))

    def changed_modules(self) -> list[str]:
        """Return the required modules whose files have changed since they were loaded."""
        return list(filter(None, to_text(self._lua.call(b"reloading", b"changed")).split("\n")))

    def reload(self, name: str) -> bool:
        """Load a module anew, in place: see engine/reloading.lua.

        Returns False where no module of this name was loaded from a file of Lua. Raises LuaError:
        then the old module stays.
        """
        return is_done(self._lua.call(b"reloading", b"reload", to_bytes(name)))

    # -- Ctrl-C, and what takes long

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C stop the code that `evaluate` runs, with an Interrupted error.

        To be used in the main thread. Code that LuaJIT has compiled stops where `count_loops` has
        put counters into it.
        """
        refresh_limit()
        self._lua.call(b"set_interruptible", True)
        try:
            with self._lua.ctrl_c.armed():
                yield
        finally:
            self._lua.call(b"set_interruptible", False)

    def count_loops(self) -> None:
        """Let Ctrl-C stop the loops of all that is loaded from now on.

        Counters are put into their bytecode, where programs do not see them.
        """
        self._lua.call(b"count_loops")

    def take_interrupt(self) -> bool:
        """Tell whether Ctrl-C was pressed within `interruptible` and has stopped nothing yet.

        From then on it was not: what is called next runs.
        """
        return self._lua.ctrl_c.take()

    def running(self) -> str:
        """Name what the main thread does now, as ``torch.sort``. Any thread may call this."""
        return describe(threading.main_thread().ident or 0)

    def start_samples(self) -> None:
        """Begin to note which line of the program runs, at every millisecond of processor time.

        Where the system's clock ticks less often, at every tick.
        """
        self._lua.call(b"start_samples")

    def end_samples(self) -> list[tuple[str, str, int]]:
        """End it; returns places 'chunk:line', LuaJIT's state there, and how often both were so.

        The states are N (compiled code), I (interpreted), C (C and Python), G (collects garbage)
        and J (compiles).
        """
        lines = to_text(self._lua.call(b"end_samples")).split("\n")
        fields = (line.rsplit("\t", 2) for line in lines if line)
        return [(place, state, int(count)) for place, state, count in fields]

    # -- what programs find

    def set_arguments(
        self, program: bytes, args: Sequence[bytes], before: Sequence[bytes] = ()
    ) -> None:
        """Set Lua's global `arg`: the program's name at 0, then the arguments.

        before: the words of the command line in front of it, which get the indices up to -1.
        """
        self._lua.call(b"set_arguments", program, len(before), *before, *args)

    def set_default_type(self, name: str) -> str:
        """Set the default type of tensors by its name; returns the former one. Raises LuaError."""
        return to_text(self._lua.call(b"set_default_type", to_bytes(name)) or b"")

    def set_fill_pattern(self, byte: int | None) -> None:
        """Fill new memory with a byte, instead of leaving it undetermined (None)."""
        self._lua.state.prepare("Memory", lambda memory: setattr(memory, "fill_pattern", byte))
        self._lua.call(b"set_fill_pattern", byte)

    def put_clocks_forward(self, seconds: float, step: float) -> None:
        """Put the clocks of torch, sys and socket forward, and by a step more at each look."""
        self._lua.state.part(Clocks).put_forward(seconds, step)

    def set_seed(self, seed: int) -> None:
        """Start the default stream of random numbers from a seed, as torch.manualSeed does."""
        self._lua.state.prepare("Generator", lambda generator: generator.manual_seed(seed))

    def define(self, name: str, function: Callable[..., str | None]) -> None:
        """Make a global of Lua from a function of Python, which gets values.

        Tensors and storages become arrays of numpy, copies, and strings str; other objects are an
        error. The text that it returns is printed. Its ValueError is an error of Lua's.
        """
        self._lua.call(b"define", to_bytes(name), callable_by_name(name, function))

    def show_pictures_by(self, function: Callable[..., str | None]) -> None:
        """Let Lua's image.display show pictures by a function, called as those of `define` are.

        Without this, it writes files.
        """
        self._lua.call(b"show_pictures_by", callable_by_name("image.display", function))

    def use_prompt_who(self) -> None:
        """Let the global function who list sizes, bytes and shared memory, as a prompt needs it.

        Without this, it is the reference's, which scripts and pages see.
        """
        self._lua.call(b"use_prompt_who")

    @contextmanager
    def before_exit(self, function: Callable[[], object]) -> Iterator[None]:
        """Let a function be called within the block when the program calls `os.exit`."""
        self._lua.at_exit.append(function)
        try:
            yield
        finally:
            self._lua.at_exit.remove(function)

    # -- output

    def flush(self) -> None:
        """Write out what Lua has written to the standard output, and is buffered."""
        self._lua.call(b"flush")

    def write(self, text: str) -> None:
        """Write to the standard output, in order with what Lua writes."""
        self._lua.call(b"write", to_bytes(text))

    def output_error(self) -> str:
        """Why not all that was written reached the standard output; '' where it did."""
        return to_text(self._lua.call(b"output_error") or b"")
