from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.config import Config
from th_shell.session.session import Session

PAGE = data(__file__, "PAGE")
SHOWN = data(__file__, "SHOWN")
Printed = Callable[[], str]


@pytest.fixture
def session(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    (tmp_path / "sums.md").write_text(PAGE)
    monkeypatch.setattr(
        "th_shell.help.pages.page_folders",
        lambda named: [str(tmp_path), *filter(None, [named])],
    )
    return session


def test_examples_are_shown(session: Session, printed: Printed) -> None:
    assert session.submit("?? torch.sum")
    assert printed() == SHOWN


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_where_nothing_is_shown"))
def test_where_nothing_is_shown(
    session: Session, printed: Printed, text: str, expected: str
) -> None:
    session.submit(text)
    assert printed() == expected


def test_a_folder_without_pages_is_told(session: Session, printed: Printed, tmp_path: Path) -> None:
    pages = str(tmp_path / "none")
    session.config = Config(pages=pages)
    (tmp_path / "none").mkdir()
    session.submit("?? torch.sum")
    assert printed() == (f"?? has not read a page: {pages}: no pages in this folder\n" + SHOWN)


@pytest.mark.thorough
def test_help_on_a_name_loads_nothing_of_th_docs() -> None:
    source = "import sys, th_shell.magics.explaining; print('th_shell.docs' in sys.modules)"
    assert run_python("-c", source).stdout == "False\n"
