"""The kernel: Jupyter's messages, answered by an engine.

ipykernel has the sockets and the protocol, and calls the methods ``do_…`` here in the main thread,
one at a time. Ctrl-C or an interrupt is SIGINT in that thread.
"""

from __future__ import annotations

import base64
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ipykernel._version import kernel_protocol_version
from ipykernel.kernelbase import Kernel

from th_shell.config import load
from th_shell.debugging.console import Console, attach, line_reader
from th_shell.entry import texts_of
from th_shell.jupyter.cells import Cells, Data, FrontEnd, Outcome, complete, explain, is_complete
from th_shell.jupyter.streams import Streams
from th_shell.packages.place import search_users_tree
from th_shell.runtime.shell import Engine, Interrupted, LuaError, LuaSyntaxError, preload_operations
from th_shell.session.conversation import UNICODE
from th_shell.session.errors import error_lines
from th_shell.session.session import Session, prepare
from th_shell.show import set_display
from th_shell.visible import BANNER, visible

if TYPE_CHECKING:
    from th_shell.images import Image

Content = dict[str, Any]

_LEAST_PIXELS = 200  # of the longer side of an image: smaller ones are shown larger
_TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")


class TorchKernel(Kernel):  # type: ignore[misc]
    """Runs cells of Lua with torch."""

    implementation = "th"
    implementation_version = version("th-shell")
    banner = BANNER
    language_info = {
        "name": "lua",
        "version": "5.1",
        "mimetype": "text/x-lua",
        "file_extension": ".lua",
        "pygments_lexer": "lua",
        "codemirror_mode": "lua",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._cell: Content = {}  # the request that output belongs to
        self._silent = False
        self._interrupted = threading.Event()
        self._saved_handler: Any = signal.SIG_IGN
        self._streams = Streams(self._publish)
        self._config = load()
        self._engine = Engine(self._prepare)
        for kind in ("comm_open", "comm_msg", "comm_close"):
            self.shell_handlers[kind] = self._ignore

    async def _ignore(self, *_: Any) -> None:
        """Ignore a message about widgets, of which there are none here."""

    @cached_property
    def _cells(self) -> Cells:
        session = Session(self._engine, config=self._config, numbered=True)
        session.serve_person()
        attach(session)
        session.debugger = Console(line_reader(self._question), session.sources)
        front_end = FrontEnd(self._ask, self._show, self._clear)
        return Cells(session, self._streams, front_end, self._interrupted)

    def _prepare(self, engine: Engine) -> None:
        engine.count_loops()
        engine.set_arguments(b"th", [])
        search_users_tree(engine)
        prepare(engine, self._config)
        set_display(self._show_image)
        with suppress(Exception):  # the first operation raises it again
            preload_operations()

    def _start_engine(self) -> None:
        with suppress(Exception):  # its first use raises it again
            self._engine.start()

    def _show_image(self, image: Image) -> None:
        png = base64.b64encode(image.to_png(_LEAST_PIXELS)).decode()
        self._display({"image/png": png, "text/plain": "<image>"})  # the text is for a terminal

    @property
    def kernel_info(self) -> Content:
        """The description of the kernel; ipykernel's own would load a debugger of Python."""
        own = "implementation", "implementation_version", "language_info", "banner", "help_links"
        return {
            "protocol_version": kernel_protocol_version,
            **{name: getattr(self, name) for name in own},
            "supported_features": [],
        }

    def start(self) -> None:
        """Answer requests from now on; the engine starts while the first one is awaited."""
        super().start()
        for warning in self._config.warnings:
            self.log.warning("%s", visible(warning))
        threading.Thread(target=self._start_engine, daemon=True).start()

    def pre_handler_hook(self) -> None:
        """Begin a request: an interrupt of code other than Lua's ends the cell at its next input.

        By default Python would raise KeyboardInterrupt at any place here.
        """
        self._saved_handler = signal.signal(signal.SIGINT, lambda *_: self._interrupted.set())

    def post_handler_hook(self) -> None:
        """End a request."""
        signal.signal(signal.SIGINT, self._saved_handler)

    # -- requests

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: dict[str, str] | None = None,
        allow_stdin: bool = False,
        **_: Any,
    ) -> Content:
        """Run a cell."""
        self._cell, self._silent = self.get_parent("shell"), silent
        self._allow_stdin = allow_stdin
        try:
            outcome = self._cells.run(code, 0 if silent else self.execution_count)
        except Exception as error:
            self.log.exception("in a cell")
            outcome = Outcome(LuaError(f"internal error: {type(error).__name__}: {error}"))
        self._show_outcome(outcome)
        return self._reply(outcome)

    def _show_outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            if outcome.result is not None:  # what was printed of the values
                self._publish("stdout", outcome.result["text/plain"] + "\n")
            self._send("error", self._error(outcome.error))
        elif outcome.result is not None:
            content = {"execution_count": self.execution_count, "metadata": {}}
            self._send("execute_result", content | {"data": outcome.result})

    def _reply(self, outcome: Outcome) -> Content:
        reply: Content = {"execution_count": self.execution_count}
        if outcome.error is not None:
            return reply | {"status": "error"} | self._error(outcome.error)
        payload: list[Content] = []
        if outcome.page:
            payload.append({"source": "page", "data": {"text/plain": outcome.page}, "start": 0})
        if outcome.next_input:
            text = outcome.next_input
            payload.append({"source": "set_next_input", "text": text, "replace": True})
        if outcome.leave:
            payload.append({"source": "ask_exit", "keepkernel": False})
            self.io_loop.call_later(0.1, self.io_loop.stop)  # when the reply was sent
        return reply | {"status": "ok", "payload": payload, "user_expressions": {}}

    async def do_complete(self, code: str, cursor_pos: int) -> Content:
        """Return the names that fit at the cursor."""
        return {"status": "ok"} | complete(self._cells.session, code, cursor_pos)

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()
    ) -> Content:
        """Return the help on the name at the cursor."""
        text = explain(self._cells.session, code, cursor_pos)
        data = {"text/plain": text} if text else {}
        return {"status": "ok", "found": bool(text), "data": data, "metadata": {}}

    async def do_is_complete(self, code: str) -> Content:
        """Tell whether Enter runs the text or begins a new line."""
        return is_complete(self._cells.session, code)

    async def do_history(self, output: bool, unique: bool = False, **asked: Any) -> Content:
        """Return cells of this session: the last n of a range that are like a pattern."""
        first, end = asked.get("start") or 0, asked.get("stop") or sys.maxsize
        rows = {
            (text if unique else number): (0, number, (text, None) if output else text)
            for number, text in texts_of(self._cells.session.log).items()
            if first <= number < end and fnmatchcase(text, asked.get("pattern") or "*")
        }
        return {"status": "ok", "history": [*rows.values()][-(asked.get("n") or 0) :]}

    def _error(self, error: LuaError) -> Content:
        names = {LuaSyntaxError: "SyntaxError", Interrupted: "Interrupted"}
        marks = UNICODE.coloured() if self._config.in_colour else UNICODE
        lines = error_lines(error, self._cells.session.hints_on(error), marks)
        return {
            "ename": names.get(type(error), "LuaError"),
            "evalue": visible(error.message),
            "traceback": lines,
        }

    # -- what cells ask for

    def _send(self, kind: str, content: Content) -> None:
        if not self._silent and self.session:
            topic = self._topic(kind)
            self.session.send(self.iopub_socket, kind, content, self._cell, ident=topic)

    def _publish(self, name: str, text: str) -> None:
        self._send("stream", {"name": name, "text": text})

    def _display(self, data: Data) -> None:
        """Show data by their MIME types, below what the cell has shown so far."""
        self._streams.drain()
        self._send("display_data", {"data": data, "metadata": {}, "transient": {}})

    def _show(self, *words: bytes) -> None:
        kinds = [word.decode() for word in words[::2]]
        self._display({kind: _encoded(kind, x) for kind, x in zip(kinds, words[1::2], strict=True)})

    def _clear(self, wait: bool) -> None:
        self._streams.drain()
        self._send("clear_output", {"wait": wait})

    def _question(self, text: str, _: Sequence[str]) -> str:
        """Return the answer to a question of the debugger. Raises EOFError, KeyboardInterrupt."""
        self._streams.drain()
        if not self._allow_stdin:
            os.write(1, b"this front end answers no questions\n")
            raise EOFError
        answer: str = self.raw_input(text)
        return answer

    def _ask(self, whole: bool) -> bytes | None | bool:
        if not self._allow_stdin:
            return False
        self._streams.drain()
        try:
            answer: str = self.raw_input("(an empty line ends the input) " if whole else "")
        except EOFError:
            return None
        return None if whole and not answer else answer.encode("utf-8", "surrogateescape")


def _encoded(kind: str, data: bytes) -> str:
    """Return data as the protocol has them: bytes of images in base64."""
    if kind.startswith(_TEXTS):
        return data.decode("utf-8", "replace")
    return base64.b64encode(data).decode()
