"""Compiles code, and runs the inputs of a prompt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from th_shell.runtime.core.encoding import to_text
from th_shell.runtime.engine.input_reader import EMPTY, MUST_BE_READ, forms, read
from th_shell.runtime.errors import LuaSyntaxError, check

#: Calls a function of engine/shell.lua and its neighbours by name, with plain values.
LuaCall = Callable[..., Any]
#: A compiled Lua function, opaque to callers.
Chunk = Any


def compile_text(call: LuaCall, source: bytes, name: bytes) -> Chunk:
    """Compile Lua source; name is Lua's chunk name. Raises LuaSyntaxError."""
    return _compiled(call(b"compile", source, name))


def compile_file(call: LuaCall, path: str) -> Chunk:
    """Compile a file. Raises LuaSyntaxError, also for a file that cannot be read."""
    return _compiled(call(b"compile_file", os.fsencode(path)))


class Inputs:
    """The inputs of a session: runs them, shows their values, and keeps these as results."""

    def __init__(self, call: LuaCall) -> None:
        """Make it for a session; call: `LuaState.call` of its Lua state."""
        self._call = call
        self._has_locals = False  # whether an input has declared locals of the session

    def use_lent_locals(self) -> None:
        """Let the inputs of `enter` use the locals of the function that has opened a prompt."""
        self._has_locals = True

    def evaluate(
        self,
        source: bytes,
        name: bytes = b"=stdin",
        before_values: Callable[[], None] | None = None,
    ) -> None:
        """Run one input as the prompt does: print the values of an expression.

        A leading '=' is accepted, a trailing ';' silences. before_values: called between what
        the expression itself prints and its values. Raises LuaSyntaxError, LuaError.
        """
        text = _input(source)
        quiet = text.endswith(b";")
        _check_result(self._enter_plain(text, name, None, quiet, before_values))

    def check_syntax(self, source: bytes) -> None:
        """Raise LuaSyntaxError where an input would not compile (see `enter`).

        incomplete: its end is missing, be it an expression or a statement.
        """
        text = _input(source)
        if not text.strip(EMPTY):
            return
        errors = []
        for form in _forms_of_input(text):
            # With the newline, an open string in quotes is an error, and not incomplete.
            compiled = self._call(b"compile", form + b"\n", b"=stdin")
            if not isinstance(compiled, tuple) or isinstance(compiled[2], bytes):
                return  # or there is no memory to find out: so it is told when the input is run
            errors.append(compiled[1:])
        message, incomplete = next((error for error in reversed(errors) if error[1]), errors[0])
        raise LuaSyntaxError(to_text(message), incomplete)

    def enter(
        self,
        source: bytes,
        name: bytes = b"=stdin",
        number: int | None = None,
        before_values: Callable[[], None] | None = None,
    ) -> None:
        """Run one input of a session, as `evaluate` does.

        The locals that it declares outlive it; an expression behind statements, also a call, is
        printed, too; and an input of only semicolons does nothing. number: the input's first value
        is `_N` in later ones. Raises LuaSyntaxError, LuaError.
        """
        text = _input(source)
        quiet = text.endswith(b";") or (b"writes" if b"write" in text else False)
        if not text.strip(EMPTY):
            return
        # Torch7: the LuaJIT of its builds allows empty statements, as in `x = 5;;`.
        text = text.rstrip(EMPTY)
        _check_result(self._enter(text, name, number, quiet, before_values))

    def _enter_plain(self, text: bytes, *arguments: Any) -> Any:
        """Run an input that neither mentions nor declares locals of the session."""
        return self._call(b"enter", *arguments, b"", b"", *forms(text, None))

    def _enter(self, text: bytes, *arguments: Any) -> Any:
        if not (self._has_locals or any(mark in text for mark in MUST_BE_READ)):
            # Most inputs have nothing that must be found by reading them, if they compile.
            result = self._enter_plain(text, *arguments)
            if result is None or isinstance(result[1], bytes):
                return result
        reading = read(text)
        self._has_locals = self._has_locals or bool(reading.locals)
        names, declared = b" ".join(reading.names), b" ".join(reading.locals)
        return self._call(b"enter", *arguments, names, declared, *forms(text, reading))

    # -- their values

    def keep(self, value: bytes) -> None:
        """Put a string among the results of the session, as `evaluate` does with its values."""
        self._call(b"keep", value)

    def keep_results(self, count: int) -> None:
        """Set how many of the session's results are kept; others are dropped."""
        self._call(b"keep_results", count)

    def set_receiver(self, function: Chunk) -> None:
        """Let a function of `module` get the values of inputs before they are printed.

        Where it returns false, they are neither printed nor kept.
        """
        self._call(b"set_receiver", function)

    def set_elision(self, limit: int | None) -> None:
        """Let `evaluate` show values to people: control codes as digits, and of values with more
        elements than limit (0: any number) only a part. None: as `print` shows them.

        Elements are those of tensors, and entries of tables; ten characters of a string are one.
        """
        self._call(b"set_elision", limit)


def _check_result(result: Any) -> None:
    """Raise the error that an input has ended with, or why it does not compile."""
    if result is not None and not isinstance(result[1], bytes):
        raise LuaSyntaxError(to_text(result[0]), result[1])
    check(result)


def _compiled(result: Any) -> Chunk:
    if isinstance(result, tuple):
        _, message, incomplete = result
        check((message, incomplete) if isinstance(incomplete, bytes) else None)
        raise LuaSyntaxError(to_text(message), incomplete)
    return result


def _forms_of_input(text: bytes) -> Iterator[bytes]:
    """Yield the texts of which one must compile: it is read only where all of it does not."""
    yield text
    yield b"return " + text.rstrip(EMPTY)
    last = read(text).last
    if last is not None:
        yield text[: last.offset] + b"return " + text[last.offset :].rstrip(EMPTY)


def _input(source: bytes) -> bytes:
    """Return the text that the prompt compiles of an input: no blanks around it, no leading '='.

    The lines above it stay, for the line numbers.
    """
    text = source.lstrip()
    above = source.count(b"\n", 0, len(source) - len(text))
    # LuaJIT skips a chunk's first line if it begins with #. In an input # is the length operator.
    is_length = not above and text[:1] == b"#" and text[:2] != b"#!"
    return b"\n" * above + b" " * is_length + text.rstrip().removeprefix(b"=")
