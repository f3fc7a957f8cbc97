from __future__ import annotations

import pytest
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from th_shell.config import Config
from th_shell.terminal.colours import STYLE, color_depth, in_colour, style


def test_colours_are_the_terminals_own() -> None:
    words = {word for _, rule in STYLE.style_rules for word in rule.split()}
    others = ("bold", "italic", "underline", "noinherit")
    assert all(word.startswith("ansi") or word in others for word in words)
    assert style(Config()) is STYLE


@pytest.mark.parametrize(
    ("theme", "variable", "expected"),
    [
        ("terminal", "", True),
        ("terminal", "1", False),
        ("none", "", False),
    ],
)
def test_whether_there_are_colours(
    monkeypatch: pytest.MonkeyPatch, theme: str, variable: str, expected: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    config = Config(theme=theme)
    assert in_colour(config) is expected
    assert color_depth(config) == (None if expected else ColorDepth.DEPTH_1_BIT)
    if not expected:
        found = style(config)
        assert isinstance(found, Style) and found.style_rules == []
