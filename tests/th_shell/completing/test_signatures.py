from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.data_files import data
from th_shell.completing.signatures import Signatures
from th_shell.runtime.shell import Engine

SETUP = data(__file__, "SETUP").encode()

Shown = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def shown() -> Shown:
    """The signatures at the end of a text, with the argument at the cursor between < and >."""
    engine = Engine()
    engine.run(engine.compile(SETUP))
    signatures = Signatures(engine)

    def texts(text: str) -> list[str]:
        found = []
        for one in signatures.at(text, len(text)):
            words = [
                f"<{word}>" if at == one.current else word for at, word in enumerate(one.words)
            ]
            found.append(f"{one.name}({', '.join(words)})")
        return found

    return texts


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_the_argument_at_the_cursor"))
def test_the_argument_at_the_cursor(shown: Shown, text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text", ["", "f", "f(1)", "unknown(", "f.g(", "$ echo (", "? f(", "x(", "-- f("]
)
def test_where_no_signature_is_shown(shown: Shown, text: str) -> None:
    assert shown(text) == []


def test_a_function_that_is_defined_anew(shown: Shown) -> None:
    engine = Engine()
    signatures = Signatures(engine)
    for parameters in ("a", "b"):
        engine.run(engine.compile(b"function g(%s) end" % parameters.encode()))
        assert [one.words for one in signatures.at("g(", 2)] == [[parameters]]
        assert signatures.at("", 0) == []


def test_an_engine_that_is_not_started_is_not_waited_for() -> None:
    engine = Engine(lambda _: None)
    assert Signatures(engine).at("print(", 6) == []
    assert not engine.is_started
