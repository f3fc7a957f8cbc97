"""The prompt at a terminal: reads inputs with prompt_toolkit and passes them to the session.

Enter runs an input that is complete, and otherwise begins a new line; also in a pasted block.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, get_common_complete_suffix
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_completions, has_focus
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle

from runtime import Engine
from th_shell.session.interrupt import calm
from th_shell.session.look import ASCII, UNICODE, Look
from th_shell.session.session import Session
from th_shell.terminal.banner import BANNER, PROMPT
from th_shell.terminal.completion import LuaCompleter
from th_shell.terminal.first_prompt import FirstPrompt
from th_shell.terminal.history import LineHistory, history_path
from th_shell.terminal.lexer import STYLE, InputLexer

__all__ = ["CONTINUATION", "PROMPT", "create_prompt", "loop", "run"]

CONTINUATION = "..> "
INDENT = "  "
_BEHIND_KEYS = 0.01  # seconds: keys that were pressed in advance are shown before the engine starts


def run(engine: Engine, first: FirstPrompt | None = None) -> int:
    """Run the prompt until the user leaves it; returns the exit status.

    first: the prompt that stands there already, for an engine that is not started yet.
    """
    session = Session(engine, _time_format(), numbered=True, look=_look())
    session.serve_person(lambda question: PromptSession[str](output=_output()).prompt(question))
    if first is not None:
        with calm():
            return loop(session, _reading_first(engine, session, first))
    engine.write(BANNER)
    engine.flush()
    prompt = create_prompt(session, output=_output())
    with calm():
        return loop(session, lambda: prompt.prompt(default=session.take_next_input()))


def _reading_first(engine: Engine, session: Session, first: FirstPrompt) -> Callable[[], str]:
    """What reads the inputs, the first of them while the engine is started in the background."""
    prompt = create_prompt(session, output=_output(), ready=engine.start)
    shown = prompt.app.after_render
    reads = [lambda: first.read_with(prompt.prompt)]

    def start(_: object) -> None:
        shown.remove_handler(start)
        asyncio.get_running_loop().call_later(_BEHIND_KEYS, _start_in_background, engine)

    shown.add_handler(start)
    return lambda: reads.pop()() if reads else prompt.prompt(default=session.take_next_input())


def _start_in_background(engine: Engine) -> None:
    with suppress(MemoryError, RuntimeError):  # no thread: its first use starts the engine
        Thread(target=_start, args=(engine,)).start()


def _start(engine: Engine) -> None:
    with suppress(Exception):  # the first use of the engine raises it again
        engine.start()


def loop(session: Session, read: Callable[[], str]) -> int:
    """Run the inputs that read returns until it raises EOFError or the session is over.

    Returns the exit status.
    """
    while True:
        try:
            if not session.submit(read()):
                return 0
        except KeyboardInterrupt:
            continue  # Ctrl-C drops the line that is being typed.
        except EOFError:
            return 0


def create_prompt(
    session: Session,
    input: Input | None = None,
    output: Output | None = None,
    ready: Callable[[], None] | None = None,
) -> PromptSession[str]:
    """The line editor of a session; input and output are by default the terminal.

    ready: waits until the session's engine can be used; None where it can now.
    """
    return PromptSession(
        [("class:prompt", PROMPT)],
        multiline=True,
        prompt_continuation=[("class:prompt", CONTINUATION)],
        key_bindings=_bindings(session),
        lexer=InputLexer(),
        style=STYLE,
        include_default_pygments_style=False,
        completer=LuaCompleter(session.engine.names),
        complete_while_typing=False,
        complete_style=CompleteStyle.MULTI_COLUMN,
        history=LineHistory(history_path(os.environ), session.judge, session.inputs, ready),
        enable_suspend=True,
        input=input,
        output=output,
    )


def _bindings(session: Session) -> KeyBindings:
    bindings = KeyBindings()
    editing = has_focus(DEFAULT_BUFFER)

    @bindings.add("enter", filter=editing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        menu = buffer.complete_state
        if menu is not None and menu.current_completion is not None:
            buffer.complete_state = None
        elif not buffer.document.on_last_line or session.wants_more(buffer.text):
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @bindings.add("tab", filter=editing & ~has_completions)
    def _(event: KeyPressEvent) -> None:
        _complete(event.current_buffer)

    @bindings.add(Keys.BracketedPaste, filter=editing)
    def _(event: KeyPressEvent) -> None:
        # Without the last newline: the next Enter then runs the block.
        event.current_buffer.insert_text("\n".join(event.data.splitlines()))

    return bindings


def _complete(buffer: Buffer) -> None:
    """Insert what all completions have in common; show a menu if there are several."""
    document = buffer.document
    if not document.current_line_before_cursor.strip():
        buffer.insert_text(INDENT)
        return
    # Not in the editor's background task, which keys that were typed in advance would cancel.
    found = list(buffer.completer.get_completions(document, CompleteEvent()))
    buffer.insert_text(get_common_complete_suffix(document, found))
    if len(found) > 1:
        buffer.start_completion()


def _output() -> Output:
    output = create_output(always_prefer_tty=True)
    if isinstance(output, Vt100_Output):
        # The terminal answers a request for the cursor's position on its input, which a program
        # that was just started would read.
        output.enable_cpr = False
    return output


def _time_format() -> str:
    return "{}" if _is_plain() else "\x1b[90m{}\x1b[0m"


def _look() -> Look:
    """How examples of pages are marked on this terminal."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    look = UNICODE if is_unicode and os.environ.get("TERM") != "dumb" else ASCII
    look = look._replace(prompt=PROMPT, more=CONTINUATION)
    return look if _is_plain() else look.coloured()


def _is_plain() -> bool:
    no_colours = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return no_colours or not sys.stdout.isatty()
