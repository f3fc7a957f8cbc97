"""The prompt at a terminal: reads inputs with prompt_toolkit and passes them to the session.

Enter runs an input that is complete, and otherwise begins a new line; also in a pasted block.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

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
from th_shell.session.session import Session
from th_shell.terminal.banner import BANNER
from th_shell.terminal.completion import LuaCompleter
from th_shell.terminal.history import LineHistory, history_path
from th_shell.terminal.lexer import STYLE, InputLexer

__all__ = ["CONTINUATION", "PROMPT", "create_prompt", "loop", "run"]

PROMPT = "th> "
CONTINUATION = "..> "
INDENT = "  "


def run(engine: Engine) -> int:
    """Run the prompt until the user leaves it; returns the exit status."""
    session = Session(engine, _time_format())
    session.serve_person(lambda question: PromptSession[str](output=_output()).prompt(question))
    engine.write(BANNER)
    engine.flush()
    return loop(session, create_prompt(session, output=_output()).prompt)


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
    session: Session, input: Input | None = None, output: Output | None = None
) -> PromptSession[str]:
    """The line editor of a session; input and output are by default the terminal."""
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
        history=LineHistory(history_path(os.environ), session.judge),
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
    plain = "NO_COLOR" in os.environ or not sys.stdout.isatty()
    return "{}" if plain else "\x1b[90m{}\x1b[0m"
