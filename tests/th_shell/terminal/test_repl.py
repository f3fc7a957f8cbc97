from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from tests.th_shell.typists import paste, type_at_once, type_slowly
from th_shell.config import Config
from th_shell.session.session import Session
from th_shell.terminal.language import lua
from th_shell.terminal.repl import _continuation, create_prompt, loop

ENTER, TAB, ESCAPE, CTRL_C, CTRL_D, CTRL_X = "\r", "\t", "\x1b", "\x03", "\x04", "\x18"
UP, RIGHT, HOME = "\x1b[A", "\x1b[C", "\x1b[H"


Type = Callable[[str], str]
Slowly = Callable[..., str]
Settings = Callable[..., None]


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PipeInput]:
    monkeypatch.setenv("TREPL_HISTORY", str(tmp_path / "history"))
    monkeypatch.chdir(tmp_path)
    with create_pipe_input() as pipe:
        yield pipe


@pytest.fixture
def typed(session: Session, keyboard: PipeInput, printed: Callable[[], str]) -> Type:
    """What a conversation prints in which some keys and then Ctrl-D are pressed at once."""

    def talk(keys: str) -> str:
        type_at_once(session, lua(session), keyboard, keys)
        return printed()

    return talk


@pytest.fixture
def typed_slowly(session: Session, keyboard: PipeInput, printed: Callable[[], str]) -> Slowly:
    """The same, the keys of each prompt pressed when it stands there; a list: with pauses."""

    def talk(*keys: str | list[str]) -> str:
        type_slowly(session, lua(session), keyboard, keys)
        return printed()

    return talk


@pytest.fixture
def settings(session: Session) -> Settings:
    """Sets settings of the prompt."""

    def change(**values: object) -> None:
        session.config = replace(session.config, **values)  # type: ignore[arg-type]

    return change


FUNCTION = "function f(x)\n\n  return x * 2\nend"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", ""),
        ("1 + 2" + ENTER, "3\t\n"),
        ("1 + 2\n", "3\t\n"),
        (ENTER + ENTER + "5" + ENTER, "5\t\n"),
        ("x = 2" + ENTER + "x" + ENTER, "2\t\n"),
        (FUNCTION.replace("\n", ENTER) + ENTER + "f(4)" + ENTER, "8\t\n"),
        (paste(FUNCTION + "\n") + ENTER + "f(4)" + ENTER, "8\t\n"),
        (paste(f"x = 3\r\nx\r\n{FUNCTION}\r\nf(x)\r\n") + ENTER, "3\t\n6\t\n"),
        (
            paste("> x = 3\n> x\n3\n\n> x + 1\n5\n") + ENTER,
            "th> x = 3\nth> x\n3\t\n✓\nth> x + 1\n4\t\n✗ page: 5 here: 4\n"
            "3 inputs: 1 as documented, 1 different, 1 without output\n",
        ),
        (paste("local a = 3\nprint(a)\n") + ENTER, "3\t\n"),
        ("half a line" + CTRL_C + "5" + ENTER, "5\t\n"),
        ("function f(" + ENTER + CTRL_C + "5" + ENTER, "5\t\n"),
        ("exit" + ENTER + "5" + ENTER, ""),
        ("for i = 1, 2 do" + ENTER + TAB + "print(i)" + ENTER + "end" + ENTER, "1\t\n2\t\n"),
        ("#torch.typen" + TAB + "(torch.Tensor())" + ENTER, "18\t\n"),
        (
            "error('a', 0)" + ENTER + "5" + ENTER,
            "a\nstack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n5\t\n",
        ),
    ],
)
def test_a_conversation(typed: Type, keys: str, expected: str) -> None:
    assert typed(keys) == expected


def test_a_file_name_is_completed(typed: Type, tmp_path: Path) -> None:
    (tmp_path / "some_script.lua").write_text("print('ran')")
    assert typed("dofile('some" + TAB + "')" + ENTER) == "ran\t\n"


@pytest.mark.thorough
def test_former_inputs_come_back(typed_slowly: Slowly) -> None:
    assert typed_slowly("1" + ENTER, "2" + ENTER, UP + UP + ENTER) == "1\t\n2\t\n1\t\n"


@pytest.mark.thorough
def test_the_history_outlives_the_conversation(typed_slowly: Slowly, tmp_path: Path) -> None:
    function = FUNCTION.replace("\n", ENTER) + ENTER
    assert typed_slowly("f = nil" + ENTER, function, "f(2)" + ENTER) == "4\t\n"
    assert (tmp_path / "history").read_text() == f"f = nil\n{FUNCTION}\nf(2)\n"
    assert typed_slowly("f = nil" + ENTER, UP * 3 + "\x1b[F" + ENTER, "f(3)" + ENTER) == "6\t\n"


def test_what_stands_before_the_cursor_chooses_former_inputs(typed_slowly: Slowly) -> None:
    assert typed_slowly("1 + 1" + ENTER, "2 + 3" + ENTER, "1" + UP + ENTER) == "2\t\n5\t\n2\t\n"


@pytest.mark.thorough
def test_up_moves_inside_of_an_input_first(typed_slowly: Slowly) -> None:
    keys = ["do x = 1", ENTER, "x = x + 1 end", UP, HOME, "x = 5 ", "\x1b[B", "\x1b[F", ENTER]
    assert typed_slowly("x = 3" + ENTER, keys, "x" + ENTER) == "2\t\n"


@pytest.mark.thorough
def test_ctrl_r_searches_former_inputs(typed_slowly: Slowly) -> None:
    keys = "\x12" + "+ 1" + ENTER + ENTER
    assert typed_slowly("1 + 1" + ENTER, "7" + ENTER, keys) == "2\t\n7\t\n2\t\n"


@pytest.mark.sample(1)
@pytest.mark.parametrize("accept", [RIGHT, "\x05"])
def test_a_suggestion_is_taken(typed_slowly: Slowly, accept: str) -> None:
    assert typed_slowly("1 + 10" + ENTER, ["1 +", accept, ENTER]) == "11\t\n11\t\n"


def test_suggestions_can_be_off(typed_slowly: Slowly, settings: Settings) -> None:
    settings(suggestions=False)
    assert typed_slowly("1 + 10" + ENTER, ["1", RIGHT, ENTER]) == "11\t\n1\t\n"


def test_the_keys_of_vi(typed_slowly: Slowly, settings: Settings) -> None:
    settings(keys="vi")
    assert typed_slowly(["5", ESCAPE, "i", "6", ENTER]) == "65\t\n"


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["emacs", "vi"])
def test_the_input_is_edited_in_an_editor(
    typed_slowly: Slowly,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    keys: str,
) -> None:
    settings(keys=keys)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho $1 >name\nsed -i s/1/4/ $1\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    assert typed_slowly(["1 + 2", CTRL_X + "\x05", "", "", "", ENTER]) == "6\t\n"
    assert (tmp_path / "name").read_text().endswith(".lua\n")


LOOP = [
    "for i = 1, 2 do",
    ENTER,
    "if i then",
    ENTER,
    "x = i",
    ENTER,
    "e",
    "nd",
    ENTER,
    "end",
    ENTER,
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (2, "for i = 1, 2 do\n  if i then\n    x = i\n  end\nend\n"),
        (0, "for i = 1, 2 do\nif i then\nx = i\nend\nend\n"),
    ],
)
def test_lines_are_indented_while_they_are_typed(
    typed_slowly: Slowly, settings: Settings, tmp_path: Path, width: int, expected: str
) -> None:
    settings(indent=width)
    keys = [key for part in LOOP for key in (part if part in ("e", "nd", "end") else [part])]
    typed_slowly(keys)
    assert (tmp_path / "history").read_text() == expected


def test_a_pasted_block_keeps_its_margins(typed_slowly: Slowly, tmp_path: Path) -> None:
    block = "do\n      x = 1\n   end"
    typed_slowly(["if true then", ENTER, paste(f"{block}\n"), ENTER, "e", "nd", ENTER])
    assert (tmp_path / "history").read_text() == f"if true then\n{block}\nend\n"


def test_what_comes_all_at_once_is_not_indented(typed: Type, tmp_path: Path) -> None:
    typed("do" + ENTER + "    x = 1" + ENTER + "   end" + ENTER)
    assert (tmp_path / "history").read_text() == "do\n    x = 1\n   end\n"


@pytest.mark.thorough
def test_a_quote_that_completion_has_closed_may_be_typed(typed_slowly: Slowly) -> None:
    table = "t = { alpha = 5 }" + ENTER
    assert typed_slowly(table, ["t['a" + TAB + ENTER]) == "5\t\n"
    assert typed_slowly(table, ["t['a|", "\x7f" + TAB + ENTER]) == "5\t\n"
    assert typed_slowly(["#'e" + TAB + "'" + ENTER]) == "1\t\n"


def test_the_number_of_the_input(session: Session) -> None:
    assert session.numbered_prompt() == "th> "
    session.config = Config(prompt_number=True)
    session.submit("1\n2")
    assert session.numbered_prompt() == "[3] th> "


@pytest.mark.parametrize(("wrapped", "expected"), [(0, "..> "), (1, "    ")])
def test_only_new_lines_have_a_prompt_of_their_own(wrapped: int, expected: str) -> None:
    assert _continuation("..> ", 4, 1, wrapped) == [("class:prompt", expected)]


@pytest.mark.thorough
def test_the_menu_is_closed_by_enter(typed_slowly: Slowly) -> None:
    menu = "t = { alpha = 1, beta = 2 }" + ENTER
    assert typed_slowly(menu, ["t." + TAB, TAB, ENTER, ENTER]) == "1\t\n"


def test_the_next_input_may_begin_with_a_text(
    session: Session, keyboard: PipeInput, printed: Callable[[], str]
) -> None:
    prompt = create_prompt(session, lua(session), keyboard, DummyOutput())
    session.next_input = "x = 1\nprint(x"
    keyboard.send_text(" + 1)" + ENTER + "= 2" + ENTER + CTRL_D)
    assert loop(session, lambda: prompt.prompt(default=session.take_next_input())) == 0
    assert printed() == "2\t\n2\t\n"
