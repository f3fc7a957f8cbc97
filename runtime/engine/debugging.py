"""The dialogue of a debugger with a program: it asks about frames, and tells how to go on.

A debugger is a generator: it yields requests, gets their answers, and ends where the program goes
on. So it may look at the frames of an error that is over, and at those of a program that waits,
which Lua alone can do: the generator runs while Lua has called Python. The requests are:

    frames                            name, source, line of each: the innermost is number 1
    variables FRAME                   kind, name, text, type, number of each
    parts NUMBER                      name, text, type, number of each part of a value
    evaluate FRAME CODE WHOLE         True, text, type, number; or False, message. WHOLE: the text
                                      of a tensor has its numbers
    show FRAME CODE                   the same; prints the values as the prompt does: True
    set FRAME NUMBER NAME CODE        sets a part of a value
    write TEXT                        writes a text in order with what the program writes
    breakpoints (FILE LINE COND HITS LOG)...
                                      all of them; the lines that they are at, 0, or a message;
                                      of a function: its name in place of FILE, and LINE 0
    lend FRAME, give_back             lets the session's names be those of the frame; ends it
    watch FRAME CODE, unwatch         stops where the value changes
    enter FILE                        stops at the file's first line
    errors WHICH                      stops at errors that nothing has caught; '': does not
    go HOW FRAME                      the last one: step, next, finish, continue, pause (at
                                      the next line), on (as before), quit

The number of a value with parts asks for these; others have 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, NamedTuple

from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.engine.ctrl_c import CtrlC
from th_shell.runtime.engine.inputs import LuaCall
from th_shell.runtime.host.lua_calls import guarded, with_marked_texts

Answer = list[Any]
#: A debugger as a generator: it yields requests and gets answers.
Dialogue = Generator[tuple[Any, ...], Answer, None]


class Stop(NamedTuple):
    """Why a program waits. reason: as lua/debugging/stepper.lua tells; detail: more, or ''."""

    reason: str
    detail: str = ""


Debugger = Callable[[Stop], Dialogue]


class DebuggerLine:
    """The functions that Lua calls where a program stops; Lua keeps them, so not the engine.

    debugger: what is asked then, or None. prompt: opens a prompt within the program, or None.
    """

    prompt: Callable[[str], object] | None = None

    def __init__(self) -> None:
        self.debugger: Debugger | None = None
        self._dialogue: Dialogue | None = None

    def functions(self) -> dict[bytes, Any]:
        """Return the functions that Lua calls, by name."""
        return {
            b"debugger": guarded(with_marked_texts(self._next_request)),
            b"has_debugger": lambda: self.debugger is not None,
            b"prompt": guarded(self._open_prompt),
            b"has_prompt": lambda: self.prompt is not None,
        }

    def _open_prompt(self, place: bytes) -> None:
        assert self.prompt is not None
        self.prompt(to_text(place))

    def _next_request(self, begins: bool, *fields: Any) -> bytes:
        """Return the debugger's next request, after a stop or an answer."""
        try:
            if begins:
                assert self.debugger is not None
                self._dialogue = self.debugger(Stop(*(_text(part) or "" for part in fields)))
                return _encoded(next(self._dialogue))
            assert self._dialogue is not None
            return _encoded(self._dialogue.send(_decoded(fields)))
        except StopIteration:
            return _encoded(("go", "continue", 1))


class Debugging:
    """The questions of debuggers about frames, and the settings of where a program stops."""

    def __init__(self, call: LuaCall, line: DebuggerLine, ctrl_c: CtrlC) -> None:
        """Make it for a `LuaState`, which has call, line and ctrl_c."""
        self._call = call
        self._line = line
        self._ctrl_c = ctrl_c

    def debug_by(self, debugger: Debugger) -> None:
        """Let a debugger be asked where the program stops."""
        self._line.debugger = debugger

    def prompt_by(self, prompt: Callable[[str], object] | None) -> None:
        """Let a function open a prompt where the program asks for it, as `file.lua:12`.

        It calls `use_lent_locals`, and runs inputs; the program goes on when it returns.
        """
        self._line.prompt = prompt

    def offer_debugger(self) -> None:
        """Let programs stop by calling the global `debugger`."""
        self._call(b"offer_debugger")

    def keep_frames(self) -> None:
        """Keep the frames of each error of an input from now on, until the next one."""
        self._call(b"keep_frames")

    def forget_frames(self) -> None:
        """Let go of them."""
        self._call(b"forget_frames")

    def ask_debugger(self) -> None:
        """Have the debugger asked soon, while the program runs. Any thread may call this."""
        self._ctrl_c.attend()

    def examine(self, dialogue: Dialogue) -> None:
        """Answer what a debugger asks about the frames of the last error, until it ends."""
        with suppress(StopIteration):
            request = next(dialogue)
            while request[0] != "go":
                answer = self._call(b"debug", _encoded(request))
                request = dialogue.send(_decoded(answer))

    def request(self, *request: Any) -> Answer:
        """Return the answer to one request, while no program runs."""
        return _decoded(self._call(b"debug", _encoded(request)))


def _encoded(request: tuple[Any, ...]) -> bytes:
    text = "\0".join(str(field).replace("\0", "") for field in request)
    return to_bytes(re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", text))  # halves of characters


def _decoded(answer: Any) -> Answer:
    if answer is None:
        return []
    return [_text(part) for part in (answer if isinstance(answer, tuple) else (answer,))]


def _text(part: Any) -> Any:
    return to_text(part) if isinstance(part, bytes) else part
