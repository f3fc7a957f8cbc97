"""The prompt at a terminal: reads inputs with prompt_toolkit and passes them to the session.

Enter runs an input that is complete, and otherwise begins a new line; also in a pasted block.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from threading import Thread

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig
from prompt_toolkit.enums import DEFAULT_BUFFER, EditingMode
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import HighlightMatchingBracketProcessor
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.utils import is_dumb_terminal

from th_shell.config import VI, Config, load
from th_shell.debugging.console import Console, attach, line_reader
from th_shell.lines import usual_lines
from th_shell.runtime.shell import Engine
from th_shell.session.conversation import Conversation
from th_shell.session.interrupt import EARLY, calm, handled
from th_shell.session.session import Session, prepare
from th_shell.terminal.colours import color_depth, page_marks, style
from th_shell.terminal.first_prompt import FirstPrompt, KeptKeys
from th_shell.terminal.keys import (
    Indenter,
    InputCompleter,
    completion_keys,
    history_keys,
    is_typed,
)
from th_shell.terminal.language import Language, lua
from th_shell.terminal.signature_line import SignatureLine
from th_shell.terminal.without_terminal import run as run_lines
from th_shell.visible import banner, visible

_SHORT_MENU = 12  # completions that are shown in lines of their own, with help beside each
_BEHIND_KEYS = 0.01  # seconds: keys that were pressed in advance are shown before the engine starts


def run(
    engine: Engine, config: Config, first: FirstPrompt | None = None, greeting: str = ""
) -> int:
    """Run the prompt until the user leaves it; return the exit status.

    first: the prompt that stands there already, for an engine that is not started yet. greeting:
    what stands above the prompt, by default the banner.
    """
    session = Session(engine, config, numbered=True, marks=page_marks(config))
    session.serve_person(ask)
    attach(session)
    language = lua(session, engine.start if first is not None else None)
    return converse(session, language, greeting or banner(), first, engine.start)


# -- the debugger and the prompt that scripts may open while they run


@cache
def console() -> Console:
    """Return the debugger of a script, at the terminal or with what is piped in."""
    return Console(line_reader(ask if sys.stdin.isatty() else None))


def open_prompt(engine: Engine, place: str) -> None:
    """Run a prompt whose inputs use the variables of the function that has called for it.

    place: of the call, as `file.lua:12`. To be used in the main thread.
    """
    engine.inputs.use_lent_locals()
    engine.count_loops()
    # As at any prompt: a command that has ended must not end th.
    with (
        handled(signal.SIGINT, signal.default_int_handler),
        handled(signal.SIGPIPE, lambda *_: None),
    ):
        if not sys.stdin.isatty():
            run_lines(engine)
            return
        settings = load()
        prepare(engine, settings)
        run(engine, settings, greeting=f"{place}: the prompt; Ctrl-D goes on\n")
        engine.inputs.set_elision(None)


# -- reading inputs, in any language


def converse(
    session: Conversation,
    language: Language,
    greeting: str,
    first: FirstPrompt | None = None,
    start: Callable[[], None] | None = None,
) -> int:
    """Run what the user types until they leave; return the exit status.

    first: the prompt that stands there already, behind the greeting. start: what is then done in
    the background.
    """
    warnings = "".join(f"{session.fitted(visible(each))}\n" for each in session.config.warnings)
    with calm():
        if first is not None:
            first.say(warnings)
            return loop(session, _reading_first(session, language, first, start))
        session.write_through((greeting + warnings).encode("utf-8", "surrogateescape"))
        return loop(session, _reader(session, language))


@cache
def _answers() -> InMemoryHistory:
    return InMemoryHistory()


def ask(question: str, words: Sequence[str] = ()) -> str:
    """Ask the user a question; Up finds former answers, and Tab completes words.

    Raises EOFError and KeyboardInterrupt.
    """
    completer = WordCompleter(sorted(words)) if words else None
    prompt = PromptSession[str](output=_output(), history=_answers(), completer=completer)
    return prompt.prompt(question, complete_while_typing=False)


def _reader(session: Conversation, language: Language) -> Callable[[], str]:
    """Return the function that reads the inputs at a terminal."""
    if is_dumb_terminal():
        with suppress(ImportError):  # Python was built without it
            import readline  # by which `input` edits a line

            readline.parse_and_bind("set enable-bracketed-paste off")
        return partial(_read_lines, session, language)
    prompt = create_prompt(session, language, output=_output())
    return lambda: _read(prompt, KeptKeys(), session)


def _read_lines(session: Conversation, language: Language) -> str:
    """Read an input where the terminal cannot move its cursor (TERM=dumb)."""
    text = _line(session.numbered_prompt())
    while session.wants_more(text):
        text += "\n" + _line(session.continuation)
    if text.strip():
        language.history.append_string(text)
    return text


def _line(prompt: str) -> str:
    """Read a line; Ctrl-C, which does nothing between two inputs, drops it."""
    try:
        with handled(signal.SIGINT, signal.default_int_handler):
            return input(prompt)
    except KeyboardInterrupt:
        print()  # the next prompt has a line of its own
        raise


def _read(prompt: PromptSession[str], keys: KeptKeys, session: Conversation) -> str:
    """Read an input; a Ctrl-C that was pressed behind it stops it when it begins."""

    def edit() -> str:
        text = prompt.prompt(default=session.take_next_input())
        EARLY.take()  # what was pressed before Enter does not count
        return text

    return keys.read_with(edit, lambda: _take_ahead(prompt.app.input))


def _take_ahead(input: Input) -> None:
    """Look for Ctrl-C among the keys that were pressed behind an input; keep those after it."""
    keys = get_typeahead(input)
    while more := input.read_keys():
        keys += more
    at = max((at for at, key in enumerate(keys, 1) if key.key is Keys.ControlC), default=0)
    if at:
        EARLY.press()
    store_typeahead(input, keys[at:])


def _reading_first(
    session: Conversation, language: Language, first: FirstPrompt, start: Callable[[], None] | None
) -> Callable[[], str]:
    """Return the function that reads the inputs, the first while something else starts."""
    prompt = create_prompt(session, language, output=_output())
    shown = prompt.app.after_render
    first_keys: list[KeptKeys] = [first]

    def begin(_: object) -> None:
        shown.remove_handler(begin)
        if start is not None:
            asyncio.get_running_loop().call_later(_BEHIND_KEYS, _start_in_background, start)

    def read() -> str:
        if not first_keys:
            return _read(prompt, KeptKeys(), session)
        _type(prompt.app.input, first.take_keys())
        return _read(prompt, first_keys.pop(), session)

    shown.add_handler(begin)
    return read


def _type(input: Input, keys: str) -> None:
    """Let the editor find keys that were pressed before; the last may be a part of what follows."""
    if isinstance(input, Vt100Input):
        pressed: list[KeyPress] = []
        parser = input.vt100_parser
        waiting, parser.feed_key_callback = parser.feed_key_callback, pressed.append
        parser.feed(keys)
        parser.feed_key_callback = waiting
        store_typeahead(input, pressed)


def _start_in_background(start: Callable[[], None]) -> None:
    with suppress(MemoryError, RuntimeError):  # no thread: what needs it starts it
        Thread(target=_start, args=(start,)).start()


def _start(start: Callable[[], None]) -> None:
    with suppress(Exception):  # what needs it raises it again
        start()


def loop(session: Conversation, read: Callable[[], str]) -> int:
    """Run the inputs that read returns until it raises EOFError or the session is over.

    Returns the exit status.
    """
    while True:
        try:
            EARLY.take()
            if not session.submit(read()):
                return 0
        except KeyboardInterrupt:
            continue  # Ctrl-C drops the line that is being typed.
        except EOFError:
            return 0


def create_prompt(
    session: Conversation,
    language: Language,
    input: Input | None = None,
    output: Output | None = None,
) -> PromptSession[str]:
    """Return the line editor of a session; input and output are by default the terminal."""
    config = session.config
    completer = InputCompleter(language.complete)
    indenter = Indenter(language.indent, language.margins)
    prompt: PromptSession[str] = PromptSession(
        lambda: [("class:prompt", session.numbered_prompt())],
        multiline=True,
        prompt_continuation=partial(_continuation, session.continuation),
        key_bindings=merge_key_bindings(
            [
                _bindings(session, indenter),
                completion_keys(language.indent, completer),
                history_keys(language.history),
            ]
        ),
        editing_mode=EditingMode.VI if config.keys == VI else EditingMode.EMACS,
        cursor=ModalCursorShapeConfig() if config.keys == VI else None,
        rprompt=_vi_mode if config.keys == VI else None,
        enable_history_search=True,
        auto_suggest=AutoSuggestFromHistory() if _suggests(config) else None,
        enable_open_in_editor=True,
        tempfile_suffix=session.suffix,
        lexer=language.lexer,
        input_processors=[HighlightMatchingBracketProcessor(chars="[](){}")],
        style=style(config),
        color_depth=color_depth(config),
        include_default_pygments_style=False,
        completer=completer,
        complete_while_typing=False,
        history=language.history,
        enable_suspend=True,
        input=input,
        output=output,
    )
    prompt.app.on_reset += language.history.expect  # before each input the editor asks anew
    indenter.watch(prompt.default_buffer)
    completer.when_found = partial(_choose_menu, prompt)
    if language.signatures is not None:
        SignatureLine(language.signatures, prompt)
    return prompt


def _choose_menu(prompt: PromptSession[str], count: int) -> None:
    """Choose the menu for so many completions: in columns, or one a line with help beside it."""
    is_short = count <= _SHORT_MENU
    prompt.complete_style = CompleteStyle.COLUMN if is_short else CompleteStyle.MULTI_COLUMN


def _vi_mode() -> StyleAndTextTuples:
    """Return the name of vi's mode, which stands at the right edge."""
    return [("class:signature", get_app().vi_state.input_mode.name.lower().replace("_", " "))]


def _suggests(config: Config) -> bool:
    # Without colours, a suggestion would look like what was typed.
    return config.suggestions and config.in_colour


def _continuation(text: str, width: int, _: int, wrap_count: int) -> StyleAndTextTuples:
    """Return the prompt of a line of an input that is not the first, or of a wrapped part."""
    text = " " * len(text) if wrap_count else text
    return [("class:prompt", text.rjust(width))]


def _bindings(session: Conversation, indenter: Indenter) -> KeyBindings:
    bindings = KeyBindings()
    editing = has_focus(DEFAULT_BUFFER)

    @bindings.add("enter", filter=editing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        menu = buffer.complete_state
        if menu is not None and menu.current_completion is not None:
            buffer.complete_state = None
        elif not buffer.document.on_last_line or (
            not _is_recalled(buffer) and session.wants_more(buffer.text)
        ):
            indenter.newline(buffer, typed=is_typed(event))
        else:
            buffer.validate_and_handle()

    @bindings.add("c-x", "c-e", filter=editing)  # also in vi's mode of insertion
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()

    @bindings.add(Keys.BracketedPaste, filter=editing)
    def _(event: KeyPressEvent) -> None:
        # Without the last newline: the next Enter then runs the block.
        lines = usual_lines(event.data)
        if len(lines) > 1:
            indenter.make_room(event.current_buffer)
        event.current_buffer.insert_text("\n".join(lines))

    return bindings


def _is_recalled(buffer: Buffer) -> bool:
    """Tell whether a buffer has a former input, as it was: that is complete."""
    at = buffer.working_index
    return buffer.history.get_strings()[at : at + 1] == [buffer.text]


def _output() -> Output:
    output = create_output(always_prefer_tty=True)
    if isinstance(output, Vt100_Output):
        # The terminal answers a request for the cursor's position on its input, which a program
        # that was just started would read.
        output.enable_cpr = False
    return output
