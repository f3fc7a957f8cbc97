from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.config import Config
from th_shell.entry import Entry
from th_shell.runtime.shell import Interrupted, LuaError
from th_shell.session.session import Session

PAGE = data(__file__, "PAGE")
SHOWN = data(__file__, "SHOWN")
FIRST = "th> x = torch.Tensor{1, 2}\nth> x:sum()\n3\t\n"
SECOND = "th> x = torch.Tensor{1, 2}\nth> y = torch.sum(x) + 1\nth> y\n4\t\n"
THIRD = "th> for i = 1, 2 do\n..>   print(torch.sum(torch.ones(i)))\n..> end\n1\t\n2\t\n"

Printed = Callable[[], str]


@pytest.fixture
def session(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    (tmp_path / "sums.md").write_text(PAGE)
    monkeypatch.setattr(
        "th_shell.magics.explaining.page_folders",
        lambda named: [str(tmp_path), *filter(None, named)],
    )
    return session


def answering(session: Session, *answers: str | BaseException) -> list[str]:
    """Let a session's questions have answers; returns the list of the questions."""
    questions: list[str] = []
    rest: Iterator[str | BaseException] = iter(answers)

    def ask(question: str) -> str:
        questions.append(question)
        answer = next(rest)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    session.ask = ask
    return questions


def test_without_a_terminal_examples_are_shown(session: Session, printed: Printed) -> None:
    assert session.submit("?? torch.sum")
    assert printed() == SHOWN


def test_enter_runs_one_after_the_other(session: Session, printed: Printed) -> None:
    questions = answering(session, "", " ", "")
    session.submit("?? torch.sum(x)")
    assert printed() == SHOWN + FIRST + SECOND + THIRD
    assert questions == [
        "Enter runs 1 (sets x), 1 to 3 another, q leaves: ",
        "Enter runs 2 (sets x, y), 1 to 3 another, q leaves: ",
        "Enter runs 3, 1 to 3 another, q leaves: ",
    ]
    assert [entry.source for entry in session.log][:2] == ["x = torch.Tensor{1, 2}", "x:sum()"]


def test_a_number_runs_that_one(session: Session, printed: Printed) -> None:
    questions = answering(session, "3", "unused")
    session.submit("?? sum")
    assert printed() == SHOWN + THIRD
    assert len(questions) == 1


@pytest.mark.parametrize("answer", ["q", "Q", "exit", EOFError(), KeyboardInterrupt()])
def test_leaving(session: Session, printed: Printed, answer: str | BaseException) -> None:
    answering(session, answer)
    assert session.submit("?? sum")
    assert printed() == SHOWN


def test_ctrl_c_in_an_example_leaves(
    session: Session, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(source: str) -> LuaError:
        error = Interrupted("interrupted!")
        session.log.append(Entry(1, source, error))
        return error

    monkeypatch.setattr(session, "evaluate", stopped)
    questions = answering(session, "", "")
    session.submit("?? sum")
    assert printed() == SHOWN + "th> x = torch.Tensor{1, 2}\ninterrupted!\n"
    assert len(questions) == 1


@pytest.mark.parametrize("answer", ["0", "4", "what"])
def test_other_answers_are_asked_again(session: Session, printed: Printed, answer: str) -> None:
    answering(session, answer, "q")
    session.submit("?? sum")
    assert printed() == SHOWN + "Enter, a number from 1 to 3, or q\n"


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
