"""The prompt at a terminal: reads inputs with prompt_toolkit and passes them to the session.

Enter runs an input that is complete, and otherwise begins a new line; also in a pasted block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig
from prompt_toolkit.enums import DEFAULT_BUFFER, EditingMode
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.utils import is_dumb_terminal

from runtime import Engine
from th_shell.config import VI, Config, load
from th_shell.session.session import Session
from th_shell.terminal.banner import banner
from th_shell.terminal.completion import LuaCompleter
from th_shell.terminal.history import session_history
from th_shell.terminal.indentation import Indenter
from th_shell.terminal.keys import completion_keys, editor_keys, is_typed
from th_shell.terminal.lexer import InputLexer
from th_shell.terminal.prompts import CONTINUATION, prompt_text
from th_shell.terminal.theme import color_depth, in_colour, style
from th_shell.visible import visible

__all__ = ["create_prompt", "loop", "run"]


def run(engine: Engine) -> int:
    """Run the prompt until the user leaves it; returns the exit status."""
    config = load()
    session = Session(engine, _time_format(config), config)
    engine.write(banner())
    engine.write("".join(f"{visible(warning)}\n" for warning in config.warnings))
    engine.flush()
    if is_dumb_terminal():
        from th_shell.terminal.line_input import line_reader

        return loop(session, line_reader(session))
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
    config = session.config
    completer = LuaCompleter(session.engine)
    indenter = Indenter(config.indent)
    prompt: PromptSession[str] = PromptSession(
        lambda: [("class:prompt", prompt_text(session))],
        multiline=True,
        prompt_continuation=_continuation,
        key_bindings=merge_key_bindings(
            [_bindings(session, indenter), completion_keys(config, completer), editor_keys()]
        ),
        editing_mode=EditingMode.VI if config.keys == VI else EditingMode.EMACS,
        cursor=ModalCursorShapeConfig() if config.keys == VI else None,
        enable_history_search=True,
        auto_suggest=AutoSuggestFromHistory() if _suggests(config) else None,
        enable_open_in_editor=True,
        tempfile_suffix=".lua",
        lexer=InputLexer(),
        style=style(config),
        color_depth=color_depth(config),
        include_default_pygments_style=False,
        completer=completer,
        complete_while_typing=False,
        complete_style=CompleteStyle.MULTI_COLUMN,
        history=session_history(session),
        enable_suspend=True,
        input=input,
        output=output,
    )
    indenter.watch(prompt.default_buffer)
    return prompt


def _suggests(config: Config) -> bool:
    # Without colours, a suggestion would look like what was typed.
    return config.suggestions and in_colour(config)


def _continuation(width: int, _: int, wrap_count: int) -> StyleAndTextTuples:
    """What stands before a line of an input that is not the first, or before a wrapped part."""
    text = " " * len(CONTINUATION) if wrap_count else CONTINUATION
    return [("class:prompt", text.rjust(width))]


def _bindings(session: Session, indenter: Indenter) -> KeyBindings:
    bindings = KeyBindings()
    editing = has_focus(DEFAULT_BUFFER)

    @bindings.add("enter", filter=editing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        menu = buffer.complete_state
        if menu is not None and menu.current_completion is not None:
            buffer.complete_state = None
        elif not buffer.document.on_last_line or session.wants_more(buffer.text):
            indenter.newline(buffer, typed=is_typed(event))
        else:
            buffer.validate_and_handle()

    @bindings.add(Keys.BracketedPaste, filter=editing)
    def _(event: KeyPressEvent) -> None:
        # Without the last newline: the next Enter then runs the block.
        lines = event.data.splitlines()
        if len(lines) > 1:
            indenter.make_room(event.current_buffer)
        event.current_buffer.insert_text("\n".join(lines))

    return bindings


def _output() -> Output:
    output = create_output(always_prefer_tty=True)
    if isinstance(output, Vt100_Output):
        # The terminal answers a request for the cursor's position on its input, which a program
        # that was just started would read.
        output.enable_cpr = False
    return output


def _time_format(config: Config) -> str:
    plain = not in_colour(config) or is_dumb_terminal() or not sys.stdout.isatty()
    return "{}" if plain else "\x1b[90m{}\x1b[0m"
