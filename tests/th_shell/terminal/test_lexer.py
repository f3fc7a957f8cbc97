from __future__ import annotations

import pytest
from prompt_toolkit.document import Document

from th_shell.terminal.lexer import STYLE, InputLexer


def styles(text: str) -> dict[str, str]:
    """The style of each word of a text's first line."""
    parts = InputLexer().lex_document(Document(text))(0)
    return {part[1]: part[0] for part in parts if part[1].strip()}


def test_lua_is_coloured_as_lua() -> None:
    found = styles("local x = 12 -- note")
    assert "keyword" in found["local"]
    assert "number" in found["12"]
    assert "comment" in found["-- note"]


@pytest.mark.parametrize("text", ["? local", "$ echo local"])
def test_lines_for_the_shell_itself_are_not_lua(text: str) -> None:
    assert styles(text) == {text: "class:command"}


def test_colours_are_the_terminals_own() -> None:
    words = {word for _, rule in STYLE.style_rules for word in rule.split()}
    assert all(word.startswith("ansi") or word in ("bold", "italic") for word in words)
