from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.jupyter.cells import complete, explain, is_complete
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(Engine())


@pytest.mark.parametrize(("code", "start", "matches"), data(__file__, "test_completion"))
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


@pytest.mark.parametrize(("code", "first"), data(__file__, "test_help_at_the_cursor"))
def test_help_at_the_cursor(session: Session, code: str, first: str) -> None:
    text = explain(session, code.replace("|", ""), code.index("|"))
    assert text.partition("\n")[0] == first


def test_a_cursor_behind_the_text(session: Session) -> None:
    """A front end may send one while the text changes."""
    assert complete(session, "torch.equa", 12)["matches"] == ["equal"]
    assert explain(session, "torch.numel(", 14).startswith("torch.numel\n")


@pytest.mark.parametrize(("code", "expected"), data(__file__, "test_whether_a_cell_is_complete"))
def test_whether_a_cell_is_complete(session: Session, code: str, expected: dict[str, str]) -> None:
    assert is_complete(session, code) == expected
