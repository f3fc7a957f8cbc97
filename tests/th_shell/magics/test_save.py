"""%save: pages of inputs, and that th-docs verifies them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.terminals import Terminal
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


@pytest.mark.thorough
def test_what_the_session_has_printed(
    command: list[str], environment: dict[str, str], folder: Path
) -> None:
    (folder / "seven.lua").write_text("count = (count or 0) + 1 return 7")
    terminal = Terminal()
    with terminal.running(command, env=environment, cwd=folder) as program:
        for keys in (
            "require 'seven'",
            "x = torch.rand(1)[1]; print(1, count)",
            "io.write('\\27[1mbold\\27[0m 10 %\\rdone\\n')",
            "error('no')",
            "torch.isatty(io.stdout)",
            "%save page.md --verify",
        ):
            terminal.until(b"th> ")
            terminal.press(keys.encode() + b"\r")
        terminal.until(b"page.md: 4 inputs, with what they have printed\r\n")
        terminal.until(b"FAIL page.md:")
        terminal.until(b"page.md: checked 4 of 4 examples: 3 pass, 1 differs\r\n")
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(60) == 0
    terminal.close()
    inputs = (folder / "page.md").read_text().split("```")[1].split("\n")[1:-1]
    assert inputs == [
        *("> require 'seven'", "7"),
        *("> x = torch.rand(1)[1]; print(1, count)", "1       1"),
        *("> io.write('\\27[1mbold\\27[0m 10 %\\rdone\\n')", "done"),
        *("> torch.isatty(io.stdout)", "true"),
    ]
