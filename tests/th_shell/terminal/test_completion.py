from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from th_shell.completing.complete import complete
from th_shell.paragraphs import MOST_NAMES
from th_shell.runtime.shell import Engine
from th_shell.terminal.keys import InputCompleter


@pytest.fixture
def completer(engine: Engine) -> InputCompleter:
    engine.run(engine.compile(b"x = torch.Tensor(3) odd = { ['\\27'] = 1 }"))
    return InputCompleter(lambda text, at: complete(text, at, engine))


def test_candidates_replace_what_was_typed(completer: InputCompleter) -> None:
    (found,) = completer.get_completions(Document("x:narr|()", 6), CompleteEvent())
    assert (found.text, found.start_position) == ("narrow", -4)
    assert found.display_meta_text.startswith("narrow Tensor index long long  A view of a range")


def test_control_codes_are_shown_as_digits(completer: InputCompleter) -> None:
    (found,) = completer.get_completions(Document("odd['"), CompleteEvent())
    assert (found.text, found.display_text) == ("\x1b']", "\\027']")


def test_what_is_left_out_is_counted(completer: InputCompleter, engine: Engine) -> None:
    engine.run(engine.compile(b"big = {} for i = 1, 3000 do big['k' .. i] = i end"))
    first, *names = completer.get_completions(Document("big.k"), CompleteEvent())
    assert len(names) == MOST_NAMES
    assert (first.text, first.start_position, first.display_text) == ("k", -1, "(2,000 more)")


def test_what_was_prepared_is_used_once(completer: InputCompleter, engine: Engine) -> None:
    document = Document("torch.narr")
    prepared = completer.prepare(document)
    engine.run(engine.compile(b"torch.narrower = 1"))
    assert completer.get_completions(document, CompleteEvent()) is prepared
    again = completer.get_completions(document, CompleteEvent())
    assert [found.text for found in again] == ["narrower"]
