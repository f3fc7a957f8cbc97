"""The page tests/docs/session.md, pasted at a prompt: all that it shows is so."""

import re
from collections.abc import Callable

import pytest

from tests.data_files import data
from tests.th_shell.conftest import TOP
from th_shell.config import Config
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session, prepare

Printed = Callable[[], str]

PAGE = (TOP / "tests/docs/session.md").read_text()
_BAD = re.compile(r"^✗.*|^≈.*", re.MULTILINE)


def pasted(engine: Engine, printed: Printed, page: str) -> str:
    """What a prompt that has just been opened shows for a page."""
    config = Config()
    prepare(engine, config)
    session = Session(engine, config=config, numbered=True)
    session.serve_person()
    assert session.submit(page)
    return printed()


def test_the_page_holds(engine: Engine, printed: Printed) -> None:
    text = pasted(engine, printed, PAGE)
    assert _BAD.findall(text) == []
    outputs = len(re.findall(r"^th> .*\n(?:\.\.> .*\n)*(?!th> |\.\.> |```)", PAGE, re.MULTILINE))
    inputs = len(re.findall(r"^th> ", PAGE, re.MULTILINE))
    summary = f"{inputs} inputs: {outputs} as documented, {inputs - outputs} without output\n"
    assert text.endswith(summary)
    # Of an error, only the message counts for the mark; the page shows all of what is printed.
    for line in re.findall(r"^hint: .*|^\[\d+\]:\d+:  .*", PAGE, re.MULTILINE):
        assert f"\n{line}\n" in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("shown", "wrong", "mark"), data(__file__, "test_a_page_that_does_not_hold")
)
def test_a_page_that_does_not_hold(
    engine: Engine, printed: Printed, shown: str, wrong: str, mark: str
) -> None:
    assert PAGE.count(shown) >= 1
    assert mark in pasted(engine, printed, PAGE.replace(shown, wrong, 1))
