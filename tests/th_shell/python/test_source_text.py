"""Lines of Python are indented while they are typed."""

from __future__ import annotations

import pytest
from prompt_toolkit.buffer import Buffer

from th_shell.python.source_text import MARGINS
from th_shell.terminal.indentation import Indenter


def typed(keys: str, width: int = 4) -> str:
    """The text of a buffer in which keys were pressed; a newline is Enter."""
    indenter, buffer = Indenter(width, MARGINS), Buffer()
    indenter.watch(buffer)
    for key in keys:
        if key == "\n":
            indenter.newline(buffer, typed=True)
        else:
            buffer.insert_text(key)
    return buffer.text


@pytest.mark.parametrize(
    "expected",
    [
        "def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n    f",
        "if x:\n    y\nelif z:\n    w\nelse:\n    for i in x:\n        y",
        "for i in x:\n    if i:\n        break\n    else:\n        z",
        "try:\n    x\nexcept A:\n    pass\nfinally:\n    y",
        "try:\n    x\nexcept:\n    y",
        "f(\n    1,\n    2\n)",
        "def f(a,\n    b):\n    return a",
        "def f():\n    return [1,\n        2]\nx",
        "x = {\n    'a': 1,\n}",
        "def f():\n    '''doc\ntext'''\n    x",
        "if x:  # note\n    y",
        "x = 'a:'\ny",
        "x = ':\ny",
        "x[1:\n    2]",
        "while x:\n    else_ = 1\nelse:\n    y",
        "@f\ndef g():\n    raise x\nx",
        "print('''\nelse:",
    ],
)
def test_lines_are_indented(expected: str) -> None:
    # What Enter and the closing words put there is not typed.
    keys = "\n".join(line.lstrip(" ") for line in expected.split("\n"))
    assert typed(keys) == expected


def test_the_width_is_configured() -> None:
    assert typed("if x:\ny", 2) == "if x:\n  y"
    assert typed("if x:\ny", 0) == "if x:\ny"
