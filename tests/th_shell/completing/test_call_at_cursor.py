from __future__ import annotations

import pytest

from th_shell.completing.signatures import call_at_cursor
from th_shell.runtime.shell import tokens


def _found(text: str) -> tuple[str, int] | None:
    call = call_at_cursor(tokens(text))
    if call is None:
        return None
    return "".join(call.steps) + ":" * call.is_method, call.argument


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.cat(", (".torch.cat", 0)),
        ("torch.cat(x, y, ", (".torch.cat", 2)),
        ("x:view(2, ", (".x.view:", 1)),
        ("f(g(1, 2), ", (".f", 1)),
        ("f(g(1, ", (".g", 1)),
        ("f({1, 2, 3}, ", (".f", 1)),
        ("f(1, {1, 2, ", (".f", 1)),
        ("f(t[1", (".f", 0)),
        ("f(1, (2 + ", (".f", 1)),
        ("f(1, 'a, (b", (".f", 1)),
        ("f(function(a, b) if a then return a, b end end, ", (".f", 1)),
        ("f(a and b, not nil, ", (".f", 2)),
        ("f(1, 2)\ng(3, ", (".g", 1)),
        ("y = 5 + math.max(", (".math.max", 0)),
        ("local z = torch\nz.cat(x, ", (".torch.cat", 1)),
    ],
)
def test_the_call_and_its_argument_are_found(text: str, expected: tuple[str, int]) -> None:
    assert _found(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "x = 1", "f(1, 2)", "(", "f{1, ", "function f(a, ", "f(function(a, ", "f(function() g"]
    + ["f(function() return 1, ", "if (", "f()(1, ", "x:apply(function(v) local w = "],
)
def test_where_no_named_call_is_open(text: str) -> None:
    assert _found(text) is None
