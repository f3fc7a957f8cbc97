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


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("x = [[\nend\n]] end", 0, "name.variable x, operator =, literal.string [["),
        ("x = [[\nend\n]] end", 1, "literal.string end"),
        ("x = [[\nend\n]] end", 2, "literal.string ]], keyword.reserved end"),
        ("--[==[ a ]]\nend ]==] end", 0, "comment --[==[ a ]]"),
        ("--[==[ a ]]\nend ]==] end", 1, "comment end ]==], keyword.reserved end"),
        ("'[[' -- [[\nend", 1, "keyword.reserved end"),
        ("f{[[a]], [[b\nend]]}", 1, "literal.string end]], punctuation }"),
    ],
)
def test_long_brackets_go_on_from_line_to_line(text: str, line: int, expected: str) -> None:
    parts = InputLexer().lex_document(Document(text))(line)
    shown = [(p[0].replace("class:pygments.", ""), p[1].strip()) for p in parts if p[1].strip()]
    assert ", ".join(f"{style} {word}" for style, word in shown) == expected


def test_a_key_in_a_long_input_reads_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lexer = InputLexer()
    lines = ["local x = 1"] * 1000
    lexer.lex_document(Document("\n".join(lines)))(999)
    lexed = []
    monkeypatch.setattr(lexer, "_plain", lambda text: lexed.append(text) or [])
    show = lexer.lex_document(Document("\n".join([*lines[:-1], "local y"])))
    for number in range(960, 1000):
        show(number)
    assert lexed == ["local y"]


@pytest.mark.parametrize("text", ["? local", "$ echo local"])
def test_lines_for_the_shell_itself_are_not_lua(text: str) -> None:
    assert styles(text) == {text: "class:command"}


def test_colours_are_the_terminals_own() -> None:
    words = {word for _, rule in STYLE.style_rules for word in rule.split()}
    assert all(word.startswith("ansi") or word in ("bold", "italic") for word in words)
