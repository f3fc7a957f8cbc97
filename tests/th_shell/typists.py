"""Persons who type at a prompt: prompt_toolkit's pipe stands for the terminal."""

import asyncio
from typing import Any

from prompt_toolkit.input import PipeInput
from prompt_toolkit.output import DummyOutput

from th_shell.terminal.repl import create_prompt, loop

CTRL_D = "\x04"
#: Seconds before the first key of a prompt, whose history and menu come in the background; and
#: those between keys.
_FIRST, _PAUSE = 0.1, 0.05


def paste(text: str) -> str:
    """A text as a terminal sends it when it is pasted."""
    return f"\x1b[200~{text}\x1b[201~"


def type_at_once(session: Any, language: Any, keyboard: PipeInput, keys: str) -> None:
    """Have a conversation in which some keys and then Ctrl-D are pressed at once."""
    keyboard.send_text(keys + CTRL_D)
    prompt = create_prompt(session, language, keyboard, DummyOutput())
    assert loop(session, prompt.prompt) == 0


def type_slowly(
    session: Any, language: Any, keyboard: PipeInput, prompts: tuple[str | list[str], ...]
) -> None:
    """The same, the keys of each prompt pressed when it stands there; a list: with pauses."""
    rest = iter([*prompts, CTRL_D])
    prompt = create_prompt(session, language, keyboard, DummyOutput())

    def press() -> None:
        some = next(rest)
        waiting = [some] if isinstance(some, str) else list(some)
        clock = asyncio.get_running_loop()

        def send() -> None:
            # Only then is the pause for the next key begun: a busy machine joins no keys.
            keyboard.send_text(waiting.pop(0))
            if waiting:
                clock.call_later(_PAUSE, send)

        clock.call_later(_FIRST, send)

    assert loop(session, lambda: prompt.prompt(pre_run=press)) == 0
