from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine

VALUES = data(__file__, "VALUES").encode()
LISTED = data(__file__, "LISTED")

Run = Callable[[bytes], str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> tuple[Engine, Run]:
    engine = Engine()

    def read(source: bytes) -> str:
        engine.run(engine.compile(source))
        engine.flush()
        return capfd.readouterr().out

    return engine, read


def test_a_prompt_lists_sizes_bytes_and_sharing(run: tuple[Engine, Run]) -> None:
    engine, read = run
    engine.use_prompt_who()
    read(VALUES)
    assert read(b"who()") == LISTED


def test_without_variables(run: tuple[Engine, Run]) -> None:
    engine, read = run
    engine.use_prompt_who()
    assert read(b"who()") == "0 variables\n"


def test_the_system_variables_are_those_of_the_reference(run: tuple[Engine, Run]) -> None:
    engine, read = run
    engine.use_prompt_who()
    assert read(b"who(true)").startswith("== System Variables ==")


def test_scripts_have_the_function_of_the_reference(run: tuple[Engine, Run]) -> None:
    assert run[1](b"n = 3 who()") == "== User Variables ==\t\n[n]              = 3\t\n==\t\n"


def test_a_function_of_the_program_stays(run: tuple[Engine, Run]) -> None:
    engine, read = run
    read(b"function who() print('mine') end")
    engine.use_prompt_who()
    assert read(b"who()") == "mine\t\n"
