"""What an engine gets before people type into it."""

from collections.abc import Callable

import pytest

from th_shell.config import Config
from th_shell.runtime.shell import Engine
from th_shell.session.session import prepare


@pytest.mark.parametrize(("most", "lines"), [(1000, 14), (2000, 1502), (0, 1502)])
def test_large_values_are_elided(
    engine: Engine, printed: Callable[[], str], most: int, lines: int
) -> None:
    prepare(engine, Config(elide=most))
    engine.inputs.evaluate(b"torch.ones(1500)")
    assert printed().count("\n") == lines


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (b"io.write('hi\\n')", "hi\n"),
        (b"io.write 'a\\n'; io.stdout:write('b\\n')", "a\nb\n"),
        (b"io.stdout:write('hi\\n'), 5", "hi\nfile (0x"),
        (b"io.stdout", "file (0x"),
    ],
)
def test_what_writes_shows_no_handle(
    engine: Engine, printed: Callable[[], str], source: bytes, shown: str
) -> None:
    prepare(engine, Config())
    engine.inputs.enter(source)
    assert printed().partition("x")[0] + "x" * ("x" in shown) == shown


def test_pictures_can_be_drawn(engine: Engine) -> None:
    prepare(engine, Config())
    assert "show" in engine.variables.names("")
