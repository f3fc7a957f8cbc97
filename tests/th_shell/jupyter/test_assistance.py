from __future__ import annotations

import pytest

from th_shell.jupyter.assistance import complete, explain, is_complete
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(Engine())


@pytest.mark.parametrize(
    ("code", "start", "matches"),
    [
        ("torch.eq", 6, ["eq", "equal"]),
        ("print(1)\nx = torch.DoubleT|(3)", 19, ["DoubleTensor"]),
        ("'π' .. repe", 7, ["repeat"]),
        ("nothing.x", 8, []),
        ("local", 0, ["local"]),
        ("x = 1\n%timei", 6, ["%timeit"]),
        ("x = 1\n?? torch.equa", 15, ["equal"]),
    ],
)
def test_completion(session: Session, code: str, start: int, matches: list[str]) -> None:
    """Positions count characters; | is the cursor, by default at the end."""
    cursor = code.index("|") if "|" in code else len(code)
    found = complete(session, code.replace("|", ""), cursor)
    assert (found["matches"], found["cursor_start"], found["cursor_end"]) == (
        matches,
        start,
        cursor,
    )
    typed = found["metadata"]["_jupyter_types_experimental"]
    assert [entry["text"] for entry in typed] == matches
    assert all(entry["type"] in ("function", "table", "keyword", "command") for entry in typed)


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("torch.num|el", "torch.numel"),
        ("numel|", "torch.numel"),
        ("print(torch.numel(|", "torch.numel"),
        ("torch.numel(f(1), x|", "torch.numel"),
        ("string.rep|", "string.rep(text, count, [separator])"),
        ("nothing|", ""),
        ("f(g(|", ""),
        ("1 + |", ""),
        ("|", ""),
    ],
)
def test_help_at_the_cursor(session: Session, code: str, first: str) -> None:
    text = explain(session, code.replace("|", ""), code.index("|"))
    assert text.partition("\n")[0] == first


def test_a_cursor_behind_the_text(session: Session) -> None:
    """A front end may send one while the text changes."""
    assert complete(session, "torch.equa", 12)["matches"] == ["equal"]
    assert explain(session, "torch.numel(", 14).startswith("torch.numel\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1", {"status": "complete"}),
        ("", {"status": "complete"}),
        ("? torch.sum(", {"status": "complete"}),
        ("x = = 1", {"status": "invalid"}),
        ("x = 1\nend\ny = 2", {"status": "invalid"}),
        ("x =", {"status": "incomplete", "indent": ""}),
        ("for i = 1, 2 do", {"status": "incomplete", "indent": "  "}),
        ("if a then\n  f = function(x)", {"status": "incomplete", "indent": "    "}),
        ("if a then\n  b()\nelse", {"status": "incomplete", "indent": "  "}),
        ("if a then\n  b()", {"status": "incomplete", "indent": "  "}),
        ("while a do\n  if b then c() end", {"status": "incomplete", "indent": "  "}),
        ("x = {1, -- do", {"status": "incomplete", "indent": "  "}),
        ("x = {'do',\n  2,", {"status": "incomplete", "indent": "  "}),
    ],
)
def test_whether_a_cell_is_complete(session: Session, code: str, expected: dict[str, str]) -> None:
    assert is_complete(session, code) == expected
