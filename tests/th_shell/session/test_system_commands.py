from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.session.session import Session
from th_shell.session.system_commands import WrongVariable, run_command, substitute


@pytest.mark.parametrize(
    ("line", "expected"), [("echo a b", b"a b\n"), ("printf '\\377'", b"\xff"), ("true", b"")]
)
def test_output_is_shown_and_returned(line: str, expected: bytes) -> None:
    shown: list[bytes] = []
    assert run_command(line, shown.append) == expected
    assert b"".join(shown) == expected


def test_a_command_that_ctrl_c_ends_leaves_a_new_line() -> None:
    shown: list[bytes] = []
    assert run_command("kill -INT $$", shown.append) == b""
    assert shown == [b"\n"]


def test_cd_changes_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir("/")
    shown: list[bytes] = []
    assert run_command(f"cd '{tmp_path}'", shown.append) == b""
    assert Path.cwd() == tmp_path.resolve()
    run_command("cd nowhere", shown.append)
    assert shown == [b"cd: nowhere: No such file or directory\n"]


# -- variables in commands

VALUES = {
    "name": ("string", "a b"),
    "n": ("number", "3"),
    "flag": ("boolean", "true"),
    "evil": ("string", "'; echo \"$(boom)` \\"),
    "t": ("table", None),
    "zero": ("string", "a\0b"),
}


def lookup(name: str) -> tuple[str, str | None]:
    return VALUES.get(name, ("nil", None))


@pytest.mark.parametrize(("command", "expected"), data(__file__, "test_what_a_command_becomes"))
def test_what_a_command_becomes(command: str, expected: str) -> None:
    assert substitute(command, lookup) == expected


@pytest.mark.parametrize("command", ["printf %s $evil", 'printf %s "$evil"'])
def test_a_value_is_one_word_whatever_is_in_it(command: str) -> None:
    run = subprocess.run(
        ["/bin/sh", "-c", substitute(command, lookup)], capture_output=True, check=True
    )
    assert run.stdout.decode() == VALUES["evil"][1]


@pytest.mark.parametrize(
    ("command", "message"), data(__file__, "test_what_cannot_stand_in_a_command")
)
def test_what_cannot_stand_in_a_command(command: str, message: str) -> None:
    with pytest.raises(WrongVariable) as caught:
        substitute(command, lookup)
    assert str(caught.value) == message


def test_a_session_has_them(session: Session, printed: Callable[[], str]) -> None:
    session.submit("name = 'a  b'\nt = {}\n$ echo $name\n$ echo $t\n_LAST")
    assert printed() == (
        "a  b\n$t is a table: only strings, numbers and booleans can stand in a command; "
        "$$t is the shell's own\na  b\n\t\n"
    )
