"""%save: pages of inputs, and that th-docs verifies them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


PAGE = data(__file__, "PAGE")


@pytest.mark.thorough
def test_a_page_is_written_and_verified(session: Session, printed: Printed, folder: Path) -> None:
    for source in (
        "local x = torch.range(1, 4):resize(2, 2)",
        "x",
        "= x:sum()",
        "function f(a)\n  return a .. '```'\nend",
        "f(1)",
        "error('no')",
        "torch.rand(2)",
    ):
        session.submit(source)
    printed()
    session.submit("%save page.md")
    assert printed() == (
        "page.md: 6 inputs, run anew in a process of its own\n"
        "page.md: checked 4 of 6 examples: 3 pass, 1 layout, 2 ran\n"
    )
    before, _, behind = PAGE.partition("@")
    text = (folder / "page.md").read_text()
    assert text.startswith(before)
    assert text.endswith("[torch.DoubleTensor of dimension 2]" + behind)

    session.submit("%save page.md")
    assert printed() == "%save: page.md exists; -f replaces it\n"
    session.submit("%save -f page.md 2")
    assert printed().endswith("page.md: checked 1 of 1 example: 1 pass\n")


@pytest.mark.thorough
def test_inputs_that_build_on_others(session: Session, printed: Printed, folder: Path) -> None:
    for source in ("x = {1}", "x[1]"):
        session.submit(source)
    printed()
    session.submit("%save page.md 2")
    assert printed().startswith(
        "page.md: 1 input, run anew in a process of its own\nraised an error only in the page: 2\n"
    )


@pytest.mark.parametrize(("text", "message"), data(__file__, "test_what_is_not_written"))
def test_what_is_not_written(
    session: Session, printed: Printed, folder: Path, text: str, message: str
) -> None:
    session.submit("error('no')")
    printed()
    session.submit(text)
    assert printed() == f"%save: {message}\n"
    assert not list(folder.iterdir())


@pytest.mark.thorough
def test_what_th_docs_does_not_read_is_not_written(
    session: Session, printed: Printed, folder: Path
) -> None:
    session.submit("print('> x')")
    printed()
    session.submit("%save page.md")
    assert printed() == "%save: th-docs would read other inputs from such a page\n"
    assert not list(folder.iterdir())
