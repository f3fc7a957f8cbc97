from __future__ import annotations

import pytest

from th_shell.jupyter.streams import Line


@pytest.mark.parametrize(
    ("texts", "sent"),
    [
        (["a\nb", "c\n"], ["a\nb", "c\n"]),
        (["a\rb", "\rc"], ["a\rb", "\rc"]),
        (["abc\b\bX"], ["\raXc"]),
        (["abc\b\b", "X", "\nab\n"], ["\rabc", "\raXc", "\raXc\nab\n"]),
        (["12%", "\b\b\b34%", "\rdone\n5"], ["12%", "\r34%", "\rdone\n5"]),
        (["\bx"], ["\rx"]),
        (["x" * 20000, "\b", "y\nab\bc"], ["x" * 20000, "\b", "y\n\rac"]),
        (["a\nb\b\bc\nd"], ["a\n\rc\nd"]),
    ],
)
def test_what_a_front_end_is_sent(texts: list[str], sent: list[str]) -> None:
    line = Line()
    assert [line.rewrite(text) for text in texts] == sent
