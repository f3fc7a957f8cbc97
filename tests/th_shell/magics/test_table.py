"""Commands that begin with %: finding them, and what is said of them."""

from collections.abc import Callable

import pytest

from tests.data_files import data
from th_shell.session.commands import COMMANDS
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.mark.parametrize("name", COMMANDS.rows)
def test_each_command_has_its_function(name: str) -> None:
    assert callable(COMMANDS.function(name))


@pytest.mark.parametrize("text", ["%", "%help", " % "])
def test_the_list_of_commands(session: Session, printed: Printed, text: str) -> None:
    session.submit(text)
    lines = printed().splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  %")] == COMMANDS.names()
    assert lines[-2:] == ["", "N-M are numbers of inputs, as %history lists them: 3-9, 1-3 5, 7-"]


@pytest.mark.parametrize(("text", "output"), data(__file__, "test_what_is_said"))
def test_what_is_said(session: Session, printed: Printed, text: str, output: str) -> None:
    session.submit(text)
    assert printed() == output.replace("\x1b", "\\027")
