"""The Python prompt, by keys: prompt_toolkit's pipe stands for the terminal."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input

from tests.th_shell.terminals import CONTROLLED, Terminal
from tests.th_shell.typists import paste, type_at_once, type_slowly
from th_shell.config import Config
from th_shell.python.prompt import python as language
from th_shell.python.session import PythonSession

ENTER, TAB, ESCAPE, CTRL_C, UP = "\r", "\t", "\x1b", "\x03", "\x1b[A"

Slowly = Callable[..., str]


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PipeInput]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with create_pipe_input() as pipe:
        yield pipe


@pytest.fixture
def typed(
    session: PythonSession, keyboard: PipeInput, printed: Callable[[], str]
) -> Callable[[str], str]:
    """What a conversation prints in which some keys and then Ctrl-D are pressed at once."""

    def talk(keys: str) -> str:
        type_at_once(session, language(session), keyboard, keys)
        return printed()

    return talk


@pytest.fixture
def typed_slowly(session: PythonSession, keyboard: PipeInput, printed: Callable[[], str]) -> Slowly:
    """The same, the keys of each prompt pressed when it stands there; a list: with pauses."""

    def talk(*keys: str | list[str]) -> str:
        type_slowly(session, language(session), keyboard, keys)
        return printed()

    return talk


FUNCTION = "def f(x):\n\n    return x * 2"


HELD = "✓\n2 inputs: 1 as documented, 1 without output\n"


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", ""),
        ("1 + 2" + ENTER, "3\n"),
        (ENTER + ENTER + "5" + ENTER, "5\n"),
        ("x = (1," + ENTER + "2)" + ENTER + "x" + ENTER, "(1, 2)\n"),
        ("for i in range(2):" + ENTER + "  i" + ENTER + ENTER, "0\n1\n"),
        (paste(FUNCTION + "\n") + ENTER + ENTER + "f(4)" + ENTER, "8\n"),
        (paste(f"{FUNCTION}\n\nf(4)\n") + ENTER, "8\n"),
        (paste(">>> x = 3\n>>> x\n3\n") + ENTER, ">>> x = 3\n>>> x\n3\n" + HELD),
        (paste("In [1]: x = 3\n\nIn [2]: x\nOut[2]: 3\n") + ENTER, ">>> x = 3\n>>> x\n3\n" + HELD),
        (">>> 5" + ENTER, "5\n"),
        ("half a line" + CTRL_C + "5" + ENTER, "5\n"),
        ("def f(" + ENTER + CTRL_C + "5" + ENTER, "5\n"),
        ("exit" + ENTER + "5" + ENTER, ""),
        ("isinst" + TAB + "(1, int)" + ENTER, "True\n"),
        (
            "import fracti" + TAB + ENTER + "fractions.Frac" + TAB + "(2)" + ENTER,
            "Fraction(2, 1)\n",
        ),
    ],
)
def test_a_conversation(
    typed: Callable[[str], str], write_to_descriptor: Callable[[], None], keys: str, expected: str
) -> None:
    write_to_descriptor()
    assert typed(keys) == expected


@pytest.mark.thorough
def test_lines_are_indented(typed_slowly: Slowly, tmp_path: Path) -> None:
    keys = ["if True:", ENTER, "x = 1", ENTER, *"else:", ENTER, "x = 2", ENTER, ENTER]
    assert typed_slowly(keys, "x" + ENTER) == "1\n"
    history = (tmp_path / ".th_python_history").read_bytes()
    assert history == b"if True:\r\n    x = 1\r\nelse:\r\n    x = 2\nx\n"


def test_former_inputs_come_back_whole(typed_slowly: Slowly) -> None:
    block = ["for i in range(2):", ENTER, "i", ENTER, ENTER]
    assert typed_slowly(block, "7" + ENTER, UP * 2 + "\x1b[F" + ENTER) == "0\n1\n7\n0\n1\n"


@pytest.mark.thorough
def test_the_history_outlives_the_conversation(typed_slowly: Slowly) -> None:
    typed_slowly(["for i in range(2):", ENTER, "i", ENTER, ENTER])
    assert typed_slowly(UP + "\x1b[F" + ENTER) == "0\n1\n"


def test_the_keys_of_vi(session: PythonSession, typed_slowly: Slowly) -> None:
    session.config = replace(session.config, keys="vi")
    assert typed_slowly(["5", ESCAPE, "i", "6", ENTER]) == "65\n"


def test_settings(session: PythonSession, tmp_path: Path) -> None:
    session.config = Config(python_indent=2, python_history=str(tmp_path / "h"), prompt_number=True)
    found = language(session)
    found.history.append_string("x")
    assert (found.indent, (tmp_path / "h").read_text()) == (2, "x\n")
    assert session.numbered_prompt() == "[1] >>> "


@pytest.mark.parametrize(
    ("text", "styles"),
    [
        ("if x: 'a'", {"class:pygments.keyword", "class:pygments.literal.string.single"}),
        ("%time x", {"class:command"}),
        ("?x", {"class:command"}),
    ],
)
def test_inputs_are_highlighted(session: PythonSession, text: str, styles: set[str]) -> None:
    parts = language(session).lexer.lex_document(Document(text))(0)
    assert styles <= {style for style, *_ in parts}
    assert "".join(part for _, part, *_ in parts).rstrip("\n") == text


@pytest.mark.thorough
def test_a_person_at_a_terminal(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    words = [command[0], "-c", CONTROLLED, *command[1:], "--python"]
    with terminal.running(words, env=environment, start_new_session=True) as program:
        for keys, shown in (
            (b"", b"; import torch gives th's torch, which is on numpy\r\n"),
            (b"", b">>> "),
            (b"1/0\r", b"ZeroDivisionError: division by zero\r\n"),
            (b"print('go' * 2); sum(0 for _ in iter(int, 1))\r", b"gogo\r\n"),
            (b"\x03", b"KeyboardInterrupt\r\n"),
            (b"", b">>> "),
            (b"import time\r", b">>> "),
            (b"print('go' * 2); time.sleep(60)\r", b"gogo\r\n"),
        ):
            terminal.press(keys)
            terminal.until(shown)
        terminal.press(b"\x1c")
        assert program.wait(60) == 131
    terminal.close()


@pytest.mark.thorough
def test_the_exit_status_of_a_session(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    words = [*command, "--python", "-i", "-c", "x = 5; raise SystemExit(1)"]
    with terminal.running(words, env=environment | {"TERM": "dumb"}) as program:
        terminal.until(b"SystemExit: 1\r\n")
        for keys, shown in (
            (b"", b">>> "),
            (b"x +\\\r", b"... "),
            (b"1\r", b"6\r\n"),
            (b"", b">>> "),
            (b"import sys; sys.exit(3)\r", b"\n"),
        ):
            terminal.press(keys)
            terminal.until(shown)
        assert program.wait(60) == 3
    assert b"\x1b" not in terminal.raw
    terminal.close()
