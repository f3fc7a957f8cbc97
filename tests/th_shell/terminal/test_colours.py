from __future__ import annotations

import time

import pytest
from prompt_toolkit.document import Document
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from tests.data_files import data
from th_shell.config import Config
from th_shell.terminal.colours import STYLE, InputLexer, color_depth, style


def styles(text: str, line: int = 0) -> dict[str, str]:
    """The style of each word of a line of a text."""
    parts = InputLexer().lex_document(Document(text))(line)
    assert "".join(part[1] for part in parts) == text.split("\n")[line]
    return {part[1]: part[0] for part in parts if part[1].strip()}


def test_lua_is_coloured_as_lua() -> None:
    found = styles("local x = 12 -- note")
    assert "keyword" in found["local"]
    assert "number" in found["12"]
    assert "comment" in found["-- note"]


@pytest.mark.parametrize(
    ("text", "line", "expected"), data(__file__, "test_long_brackets_go_on_from_line_to_line")
)
def test_long_brackets_go_on_from_line_to_line(text: str, line: int, expected: str) -> None:
    parts = InputLexer().lex_document(Document(text))(line)
    shown = [(p[0].replace("class:pygments.", ""), p[1].strip()) for p in parts if p[1].strip()]
    assert ", ".join(f"{style} {word}" for style, word in shown) == expected


@pytest.mark.parametrize("text", ["? local", "$ echo local"])
def test_lines_for_the_shell_itself_are_not_lua(text: str) -> None:
    assert styles(text) == {text: "class:command"}


@pytest.mark.parametrize(
    ("text", "line", "word", "style"),
    data(__file__, "test_strings_and_comments_go_on_in_the_next_line"),
)
def test_strings_and_comments_go_on_in_the_next_line(
    text: str, line: int, word: str, style: str
) -> None:
    found = {part.strip(): name for part, name in styles(text, line).items()}
    assert style in found[word.strip()]


def test_lines_beyond_the_end_are_empty() -> None:
    assert InputLexer().lex_document(Document("x"))(5) == []


def test_a_key_in_a_long_input_costs_one_line() -> None:
    lines = [f"x{i} = torch.randn({i}, 3):add(1) -- a note" for i in range(1000)]
    text = "\n".join(lines)
    InputLexer().lex_document(Document(text))(999)
    seconds = []
    for number in range(5):
        start = time.process_time()
        InputLexer().lex_document(Document(f"{text}{number}"))(999)
        seconds.append(time.process_time() - start)
    assert min(seconds) <= 0.005


def test_colours_are_the_terminals_own() -> None:
    words = {word for _, rule in STYLE.style_rules for word in rule.split()}
    others = ("bold", "italic", "underline", "noinherit")
    assert all(word.startswith("ansi") or word in others for word in words)
    assert style(Config()) is STYLE


def test_a_theme_of_pygments() -> None:
    attrs = style(Config(theme="monokai")).get_attrs_for_style_str("class:pygments.keyword")
    assert attrs.color == "66d9ef"


@pytest.mark.parametrize(
    ("theme", "variable", "expected"),
    data(__file__, "test_whether_there_are_colours"),
)
def test_whether_there_are_colours(
    monkeypatch: pytest.MonkeyPatch, theme: str, variable: str, expected: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    config = Config(theme=theme)
    assert config.in_colour is expected
    assert color_depth(config) == (None if expected else ColorDepth.DEPTH_1_BIT)
    if not expected:
        found = style(config)
        assert isinstance(found, Style) and found.style_rules == []
